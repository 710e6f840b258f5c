"""One weight per edge, learned: exact, bounded and clustered potentials for every goal, and what is saved of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar.errors import (
    HeuristicError,
    InputError,
    ModelError,
    NotFittedError,
    StorageError,
    VertexError,
    WeightError,
)
from rhostar.heuristics import ChosenByWeights, DistanceHeuristic
from rhostar.learners import Potentials
from support.instances import changing_graph, square_grid


def trips(seed: int = 0, count: int = 60, side: int = 12) -> rs.InstanceSet:
    """Two kinds of days, calm and rush, on a grid; sources and goals are anywhere."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(side, side)
    rush = np.where(graph.coordinates[graph.head, 0] > side / 2, 4.0, 1.0)
    kind = np.arange(count) % 2
    weights = rng.uniform(1, 1.3, (count, graph.m)) * np.where(kind[:, None], rush, 1.0)
    sources = rng.integers(0, graph.n // 2, count)
    return rs.InstanceSet(graph, weights, sources, rng.integers(graph.n // 2, graph.n, count))


def test_minima_keep_the_optimum_for_every_goal_and_a_factor_bounds_it() -> None:
    instances = trips()
    optimal = rs.solve_many(instances, np.zeros(instances.graph.n))
    exact = Potentials().fit(instances)
    assert isinstance(exact.heuristic_, DistanceHeuristic)
    assert not hasattr(exact, "rho_")
    assert exact.weights_.shape == (1, instances.graph.m)
    assert (exact.weights_[0] == instances.weights.min(axis=0)).all()
    found = rs.solve_many(instances, exact)
    np.testing.assert_allclose(found.cost, optimal.cost, rtol=1e-14)
    assert found.expanded.sum() < optimal.expanded.sum()
    bounded = rs.solve_many(instances, Potentials(scale=1.4).fit(instances))
    assert (bounded.cost <= 1.4 * optimal.cost).all()
    assert bounded.expanded.sum() < found.expanded.sum()
    loose = rs.solve_many(instances, Potentials(scale=8.0).fit(instances))
    assert (loose.cost > 1.4 * optimal.cost).any(), "the twin: a larger factor goes beyond it"


def test_clusters_know_what_kind_of_day_it_is() -> None:
    instances = trips()
    learner = Potentials(n_clusters=2, random_state=3).fit(instances)
    assert isinstance(learner.heuristic_, ChosenByWeights)
    kinds = learner.cluster_of_
    assert len({*kinds[::2].tolist()}) == len({*kinds[1::2].tolist()}) == 1
    assert kinds[0] != kinds[1]
    common = Potentials("median").fit(instances).weights_[0]
    for k, part in ((kinds[0], instances.weights[::2]), (kinds[1], instances.weights[1::2])):
        # What all have counts little beside what so many snapshots of a clear kind have.
        own = np.log(learner.weights_[k] / common) / np.log(np.median(part, axis=0) / common)
        np.testing.assert_allclose(own, own[0], rtol=1e-6)
        assert 0.95 < own[0] < 1
    fresh = trips(seed=1)
    found = rs.solve_many(fresh, learner, n_jobs=2)
    one = rs.solve_many(fresh, Potentials("median").fit(instances))
    assert found.expanded.sum() < one.expanded.sum()
    for i in range(4):
        potential = learner.heuristic_.members[kinds[i]]
        expected = rs.astar(*fresh[i], potential.table(fresh[i].goal))
        assert rs.astar(*fresh[i], learner).expanded == expected.expanded == found.expanded[i]


def test_several_clusters_have_no_table_and_are_certified_as_they_run() -> None:
    instances = trips()
    learner = Potentials(n_clusters=2).fit(rs.InstanceSet(instances.graph, instances.weights, 0, 143))
    assert not hasattr(learner, "rho_")
    with pytest.raises(HeuristicError, match="chooses by the weights of the query"):
        learner.heuristic_.table(3)
    utility, holdout = rs.utilities.Expansions(limit=200.0), trips(seed=4)
    found = rs.certify(learner, holdout, utility)
    assert found.best.observed == pytest.approx(rs.evaluate(learner, holdout, utility)[0].mean, rel=1e-12)
    one = learner.heuristic_.members[0]
    assert found.best.observed != rs.evaluate(one, holdout, utility)[0].mean, "the twin: one of its tables"
    bad = -instances.weights[0]
    with pytest.raises(WeightError, match="weights"):
        rs.astar(instances.graph, bad, 0, 143, learner)


def test_clusters_have_at_least_two_snapshots_on_average() -> None:
    instances = trips(count=6)
    assert len(Potentials(n_clusters=9).fit(instances).weights_) == 3
    same = rs.InstanceSet(instances.graph, np.ones((4, instances.graph.m)), 0, [5, 6, 7, 8])
    assert len(Potentials(n_clusters=3).fit(same).weights_) == 1
    free = rs.InstanceSet(instances.graph, np.zeros((4, instances.graph.m)), 0, [5, 6, 7, 8])
    assert rs.solve_many(free, Potentials(n_clusters=3).fit(free)).cost.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("statistic", ["min", "median", "quantile"])
def test_one_goal_gets_its_table_too_and_it_agrees_with_mean_weights(statistic: str) -> None:
    for seed in range(20):
        instances = changing_graph(seed)
        learner = Potentials(statistic, quantile=0.3).fit(instances)
        expected, lowest, highest = (
            rs.learners.MeanWeights(kind, quantile=level, penalty=0.0).fit(instances).weights_
            for kind, level in ((statistic, 0.3), ("min", 0.0), ("quantile", 1.0))
        )
        if statistic != "min":  # drawn towards the lowest weights times a factor
            known = (lowest > 0) & (expected < np.inf)
            factor, count = np.median(expected[known] / lowest[known]), np.unique(instances._stored_rows).size
            towards = np.minimum(factor * lowest[known], highest[known])
            expected = expected.copy()
            expected[known] = expected[known] ** (count / (count + 4)) * towards ** (4 / (count + 4))
        np.testing.assert_allclose(learner.weights_[0], expected, rtol=1e-14)
        exact = rs.distances_to(instances.graph, learner.weights_[0], instances.goal)
        reached = np.isfinite(exact)
        assert (learner.rho_[reached] == exact[reached]).all()
        assert np.isfinite(learner.rho_).all()
        np.testing.assert_allclose(learner.heuristic_.table(instances.goal)[reached], exact[reached], rtol=3e-7)
        rho, lower = learner.rho_, learner.heuristic_.consistent_for
        assert (rho[instances.graph.tail] - rho[instances.graph.head] <= lower + 1e-12).all()


def test_lower_bounds_may_be_given() -> None:
    instances = trips()
    lower = np.ones(instances.graph.m)
    learner = Potentials(lower=lower).fit(instances)
    assert (learner.weights_ == 1).all()
    assert (learner.heuristic_.consistent_for == 1).all()
    lower[7] = 1.29
    with pytest.raises(WeightError, match=r"lower\[7\] .* is 1.29, but a training instance has 1\.0"):
        Potentials(lower=lower).fit(instances)
    with pytest.raises(rs.errors.InputError, match="leave statistic and n_clusters out"):
        Potentials("median", lower=np.ones(instances.graph.m)).fit(instances)


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize("stated", [False, True])
def test_the_worst_answer_can_be_bounded_for_every_goal(clusters: int, stated: bool) -> None:
    """Rare queues: mean weights are far above the least ones, and single answers of A* far above the optimum."""
    rng = np.random.default_rng(7)
    graph = rs.Graph.grid(9, 9)
    weights = np.where(rng.random((80, graph.m)) < 0.3, 30.0, 1.0) * rng.uniform(1, 1.2, (80, graph.m))
    lower = np.full(graph.m, 0.9) if stated else None
    learner = Potentials("quantile", clusters, 1.5, quantile=0.9, lower=lower, max_excess=0.25, random_state=0)
    if not stated:
        weights[0] = 1.0  # then these are the least weights, also for the instances that follow
    ends = np.array([rng.choice(graph.n, 2, replace=False) for _ in range(80)]).T
    instances = rs.InstanceSet(graph, weights, *ends)
    learner.fit(instances[:40])
    optimum = rs.solve_many(instances, np.zeros(graph.n))
    found = rs.solve_many(instances, learner)
    assert (found.cost <= 1.25 * (1 + 1e-12) * optimum.cost).all()
    assert found.expanded.sum() < optimum.expanded.sum()
    free = rs.solve_many(instances, Potentials("quantile", clusters, 1.5, quantile=0.9).fit(instances[:40]))
    assert (free.cost > 1.25 * optimum.cost).any(), "the twin"


@pytest.mark.parametrize("max_excess", [-0.1, np.nan, np.inf, "2"])
def test_what_max_excess_can_be(max_excess: object) -> None:
    with pytest.raises(rs.errors.InputError, match="max_excess must be"):
        Potentials(max_excess=max_excess).fit(trips())
    with pytest.raises(rs.errors.InputError, match="or give max_excess"):
        Potentials("median", lower=np.zeros(trips().graph.m)).fit(trips())


def test_it_is_an_estimator_like_the_others() -> None:
    instances = trips()
    learner = clone(Potentials("quantile", 2, 1.1, quantile=0.2)).fit(instances)
    assert learner.score(instances) == -rs.solve_many(instances, learner).expanded.mean()
    scorer = rs.learners.Scorer(rs.utilities.Expansions(limit=1000.0))
    assert scorer(learner, instances) == learner.score(instances)
    with pytest.raises(NotFittedError, match="Potentials is not fitted"):
        rs.solve_many(instances, Potentials())
    with pytest.raises(NotFittedError):
        Potentials().score(instances)
    with pytest.raises(VertexError):
        Potentials().fit(instances).heuristic_.table(10_000)
    for bad in ({"n_clusters": 0}, {"scale": -1.0}, {"statistic": "mean"}, {"quantile": 2.0}):
        with pytest.raises(InputError, match=next(iter(bad))):
            Potentials(**bad).fit(instances)


@pytest.mark.parametrize("learner", [Potentials(), Potentials(n_clusters=2), rs.learners.Landmarks(3, random_state=0)])
def test_a_model_keeps_the_potential(learner: rs.learners.Learner, tmp_path: Path) -> None:
    instances = trips()
    learner = clone(learner).fit(instances)
    rs.Model.of(learner, instances.graph).save(tmp_path / "any.npz")
    model = rs.Model.load(tmp_path / "any.npz")
    assert repr(model).startswith(f"Model({type(learner).__name__}, 144 vertices")
    assert "any" in repr(model)
    assert model.heuristic.n == 144
    fresh = trips(seed=5)
    assert (rs.solve_many(fresh, model).expanded == rs.solve_many(fresh, learner).expanded).all()
    assert rs.astar(*fresh[0], model).cost == rs.astar(*fresh[0], learner).cost
    other = rs.Graph.grid(9, 16)
    with pytest.raises(ModelError, match="another graph: 144 vertices"):
        rs.astar(other, other.length, 0, 9, model)


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    instances = trips()
    path = tmp_path / "any.npz"
    rs.Model.of(Potentials(n_clusters=2).fit(instances), instances.graph).save(path)
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    for name in ("0_rank", "0_rows", "0_up", "1_down", "probes", "usual"):
        np.savez_compressed(path, **{key: part for key, part in parts.items() if key != name})
        with pytest.raises(StorageError, match="damaged"):
            rs.Model.load(path)
        np.savez_compressed(path, **parts | {name: np.zeros_like(parts[name])[:-1] - 1})
        with pytest.raises(StorageError, match="damaged"):
            rs.Model.load(path)


def test_learn_picks_potentials_where_goals_vary() -> None:
    instances = trips()
    learner = rs.learn(instances, mean_excess=0.05)
    inner = learner.learner_.learner if isinstance(learner.learner_, rs.learners.Scaled) else learner.learner_
    assert isinstance(inner, Potentials)
    assert not hasattr(learner, "rho_")
    fresh = trips(seed=7)
    runs = rs.solve_many(fresh, learner)
    assert runs.expanded.sum() <= rs.solve_many(fresh, Potentials().fit(instances)).expanded.sum()
    assert runs.cost.sum() <= 1.05 * rs.solve_many(fresh, np.zeros(144)).cost.sum()


SLOW = """
import signal, sys, time
import numpy as np, rhostar as rs
sys.path.insert(0, sys.argv[1])
from support.failures import press_ctrl_c
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may start without it
graph = rs.Graph.grid(1500, 1500, neighbors=8)
begin = time.process_time()
press_ctrl_c(computed=1.0)
try:
    rs.heuristics.DistanceHeuristic(graph, graph.length, memory_limit=10**12)  # whole, it takes minutes
except KeyboardInterrupt:
    spent = time.process_time() - begin
    small = rs.Graph.grid(5, 5)
    print(rs.heuristics.DistanceHeuristic(small, small.length).table(24)[0], graph._elimination_order, spent)
"""


def test_ctrl_c_ends_a_build_at_once() -> None:
    command = [sys.executable, "-c", SLOW, str(Path(__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    *found, computed = done.stdout.split() or [0]
    assert found == ["8.0", "None"], done.stderr
    assert float(computed) < 10, "seconds of the processor, of which the interrupt came after one"


def test_where_one_table_is_needed_clusters_are_refused_by_name() -> None:
    instances, clusters = square_grid(12), rs.learners.Potentials(n_clusters=2)
    for around in (
        rs.learners.PerGoal(clusters),
        rs.learners.PerGoal(rs.learners.PerGoal()),
        rs.learners.Portfolio(clusters, 2),
        rs.learners.BumpSearch(initial=clusters),
        rs.learners.SelfImitatedRanking(initial=clusters),
    ):
        with pytest.raises(rs.errors.InputError, match=r"(learner|initial) must fit (values|one table) for one goal"):
            around.fit(instances)
    double = rs.learners.Scaled(clusters, 2.0).fit(instances)
    for chosen, plain in zip(double.heuristic_.members, clusters.fit(instances).heuristic_.members, strict=True):
        assert np.allclose(chosen.table(35), 2 * plain.table(35), rtol=1e-6)
    both = rs.learners.Auto(candidates=[rs.learners.MeanDistance(), clusters], mean_excess=np.inf).fit(instances)
    assert all(np.isfinite(one.expanded) for one in both.candidates_)
    alone = rs.learners.Auto(candidates=[clusters], mean_excess=np.inf).fit(instances)
    assert np.array_equal(
        rs.solve_many(instances, alone).expanded, rs.solve_many(instances, clusters.fit(instances)).expanded
    )
