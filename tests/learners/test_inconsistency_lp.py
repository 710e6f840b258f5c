"""Informedness against inconsistency: the linear program, and the same one instance at a time."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import rhostar as rs
from rhostar.learners._inconsistency import inconsistency_terms, merge, solve_program
from support.instances import changing_graph, square_grid
from support.paths import children_of, optimal_path


def mean_inconsistency(instances: rs.InstanceSet, rho: np.ndarray, sources: str) -> float:
    """Return the mean inconsistency path by path."""
    n, total = instances.graph.n, 0.0
    share = np.bincount(instances.sources, minlength=n) / len(instances)
    for instance in instances:
        starts = {
            "own": {instance.source: 1.0},
            "all": {v: 1 / (n - 1) for v in range(n) if v != instance.goal},
            "seen": {v: share[v] for v in range(n) if v != instance.goal},
        }[sources]
        for v, weight in starts.items():
            path = optimal_path(children_of(instance), v, instance.goal) or []
            for u, c in pairwise(path[1:]):
                w = instance.weights[instances.graph.edge_index(u, c)[0]]
                total += weight * max(rho[u] - rho[c] - w, 0)
    return total / len(instances)


@pytest.mark.parametrize("sources", ["all", "seen", "own"])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_terms_are_the_mean_inconsistency(sources: str, seed: int) -> None:
    instances = changing_graph(seed, n=6, count=3, integers=True)
    rho = np.random.default_rng(seed).uniform(0, 8, 6)
    terms = inconsistency_terms(instances, sources)
    assert terms.value(rho) == pytest.approx(mean_inconsistency(instances, rho, sources), abs=1e-12)


def test_terms_by_hand() -> None:
    #  3 -> 2 -> 1 -> 0, and 4 -> 1: below 1 are 2, 3, 4, below 2 is 3
    graph = rs.Graph.from_edges(5, [3, 2, 1, 4], [2, 1, 0, 1])
    weights = graph.arrange([1.0, 2.0, 3.0, 4.0])
    instances = rs.InstanceSet(graph, weights, sources=[3, 4], goal=0)
    terms = inconsistency_terms(instances, "all")
    assert list(zip(*(part.tolist() for part in terms), strict=True)) == [(1, 0, 3.0, 3 / 4), (2, 1, 2.0, 1 / 4)]
    terms = inconsistency_terms(instances, "own")
    assert list(zip(*(part.tolist() for part in terms), strict=True)) == [(1, 0, 3.0, 1.0), (2, 1, 2.0, 0.5)]


def primal(terms, gain, largest, goal, penalty) -> float:
    """Return the optimum of the program as it is written in the paper: one slack for each term."""
    n, count = gain.size, terms.tail.size
    matrix = np.zeros((count, n + count))
    rows = np.arange(count)
    matrix[rows, terms.tail] = 1
    matrix[rows, terms.head] = -1
    matrix[rows, n + rows] = -1
    bounds = [(0, 0 if v == goal else max(largest[v], 0)) for v in range(n)] + [(0, None)] * count
    cost = np.r_[-gain, penalty * terms.share]
    return -scipy.optimize.linprog(cost, A_ub=matrix, b_ub=terms.weight, bounds=bounds, method="highs").fun


@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0, 5.0])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_the_flow_solves_the_program(penalty: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    instances = changing_graph(seed, n=8, count=5, absent=0.2)
    learner = rs.learners.InconsistencyLP(penalty, bins=None).fit(instances)
    every = np.array([rs.distances_to(*instance[:2], instance.goal) for instance in instances])
    largest = np.where(np.isfinite(every), every, -1).max(axis=0)
    gain = (largest >= 0) / 7
    terms = inconsistency_terms(instances, "all")

    def objective(rho: np.ndarray) -> float:
        return float(gain @ rho - penalty * terms.value(rho))

    rho = np.where(largest >= 0, learner.rho_, 0.0)
    assert learner.objective_ == pytest.approx(objective(rho), abs=1e-9)
    assert objective(rho) == pytest.approx(primal(terms, gain, largest, 7, penalty), abs=1e-7)
    assert (rho >= 0).all()
    assert (rho <= np.maximum(largest, 0)).all()
    assert rho[7] == 0
    for _ in range(30):  # nothing around it, and nothing anywhere, is better
        other = rng.choice([rho + rng.normal(0, 0.1, 8), rng.uniform(0, 1, 8) * largest])
        other = np.clip(other, 0, np.maximum(largest, 0))
        other[7] = 0
        assert objective(other) <= objective(rho) + 1e-9


def test_bins_are_exact_for_few_weights_and_close_for_many() -> None:
    few = changing_graph(3, n=8, count=20, integers=True, absent=0.0)
    whole, binned = (rs.learners.InconsistencyLP(bins=bins).fit(few) for bins in (None, 5))
    assert binned.objective_ == pytest.approx(whole.objective_, abs=1e-9)
    many = square_grid(200)
    objectives = []
    terms = inconsistency_terms(many, "all")
    for bins in (1, 12, None):
        merged = merge(many.graph, terms, bins)
        assert merged.share.sum() == pytest.approx(terms.share.sum())
        assert merged.share @ merged.weight == pytest.approx(terms.share @ terms.weight), "bins have mean weights"
        if bins is not None:
            assert np.unique(many.graph.edge_index(merged.tail, merged.head), return_counts=True)[1].max() <= bins
        learner = rs.learners.InconsistencyLP(2.0, bins=bins).fit(many)
        objectives.append(learner.rho_.sum() / 35 - 2.0 * learner.inconsistency_)
        assert learner.inconsistency_ == pytest.approx(terms.value(learner.rho_))
    assert objectives[0] < objectives[1] <= objectives[2] + 1e-9
    assert objectives[1] > 0.99 * objectives[2]


def test_the_penalty_trades_expansions_for_optimality() -> None:
    train, test = square_grid(300).split(0.5, seed=0)
    optimum = rs.solve_many(test, np.zeros(36)).cost
    expanded, over = [], []
    for penalty in (1.0, 3.0, 30.0):
        runs = rs.solve_many(test, rs.learners.InconsistencyLP(penalty).fit(train).rho_)
        expanded.append(runs.expanded.mean())
        over.append((runs.cost / optimum - 1).mean())
    assert expanded[0] < expanded[1] < expanded[2] < rs.solve_many(test, np.zeros(36)).expanded.mean()
    assert over[0] > over[1] > over[2]
    assert over[2] < 0.002


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_the_answer_is_at_most_the_inconsistency_above_the_optimum(seed: int) -> None:
    """L1 on the training set, for the same paths that the program counts."""
    instances = changing_graph(seed, n=8, count=6, integers=True)
    learner = rs.learners.InconsistencyLP(0.5, sources="own").fit(instances)
    over = rs.solve_many(instances, learner.rho_).cost - rs.solve_many(instances, np.zeros(8)).cost
    assert over.mean() <= learner.inconsistency_ + 1e-7


def test_sources_decide_whose_paths_count() -> None:
    instances = square_grid(60)
    tables = [rs.learners.InconsistencyLP(2.0, sources=s).fit(instances).rho_ for s in ("all", "seen", "own")]
    assert not np.array_equal(tables[0], tables[2])
    everywhere = rs.InstanceSet(instances.graph, instances.weights[:1], np.arange(35), 35, rows=np.zeros(35, int))
    tables = [rs.learners.InconsistencyLP(2.0, sources=s).fit(everywhere).rho_ for s in ("all", "seen", "own")]
    assert np.allclose(tables, tables[0], atol=1e-6), "all three are the same where every vertex is a source once"


def test_what_the_program_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = square_grid(50)
    for wrong in ({"penalty": -1}, {"sources": "mine"}, {"bins": 0}, {"time_limit": 0.0}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.InconsistencyLP(**wrong).fit(instances)
    learner = rs.learners.InconsistencyLP(bins=None, time_limit=1e-9)
    with pytest.raises(rs.errors.FitError, match="within time_limit = 1e-09 seconds"):
        learner.fit(instances)
    assert not hasattr(learner, "rho_")
    infeasible = scipy.optimize.OptimizeResult(status=2, message="The problem is infeasible.")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **kwargs: infeasible)
    with pytest.raises(rs.errors.FitError, match="not solved: The problem is infeasible"):
        rs.learners.InconsistencyLP().fit(instances)


def test_a_program_of_nothing() -> None:
    graph = rs.Graph.from_edges(2, [0], [1])
    learner = rs.learners.InconsistencyLP().fit(rs.InstanceSet(graph, [0.0], sources=0, goal=1))
    assert learner.rho_.tolist() == [0, 0]
    learner = rs.learners.InconsistencyLP().fit(rs.InstanceSet(graph, [3.0], sources=0, goal=1))
    assert learner.rho_.tolist() == [3, 0], "no edge but the first: nothing holds it back"


# ---------------------------------------------------------------- one at a time


@pytest.mark.parametrize("sources", ["all", "own"])
def test_regret_falls_and_the_table_comes_close_to_the_best(sources: str) -> None:
    instances = square_grid(900)
    learner = rs.learners.OnlineInconsistency(2.0, sources=sources).fit(instances)
    per_round = [learner.regret(instances, rounds) / rounds for rounds in (50, 200, 900)]
    assert per_round[0] > per_round[1] > per_round[2] > -1e-9
    assert per_round[2] < 0.3 * per_round[0]
    terms = inconsistency_terms(instances, sources)
    best = rs.learners.InconsistencyLP(2.0, sources=sources, bins=None).fit(instances)
    reached = learner.rho_.sum() / 35 - 2.0 * terms.value(learner.rho_)
    assert reached <= best.objective_ + 1e-9
    # Online to batch: the mean of the tables is at least as good as the tables were on average.
    assert best.objective_ - reached <= per_round[2] + 1e-9


def test_losses_are_those_of_the_tables_played() -> None:
    instances = square_grid(3, side=3)
    learner = rs.learners.OnlineInconsistency(2.0, average=False)
    tables = [np.zeros(9)] + [clone(learner).fit(instances[:k]).rho_ for k in (1, 2)]
    learner.fit(instances)
    for i, rho in enumerate(tables):
        loss = 2.0 * mean_inconsistency(instances[i : i + 1], rho, "all") - rho.sum() / 8
        assert learner.losses_[i] == pytest.approx(loss, abs=1e-12)
    averaged = rs.learners.OnlineInconsistency(2.0).fit(instances).rho_
    assert np.allclose(averaged, np.mean(tables, axis=0))


def test_parts_one_after_the_other_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    instances, other = square_grid(120), square_grid(10, seed=5)
    whole = rs.learners.OnlineInconsistency(1.5).fit(instances)
    parts = rs.learners.OnlineInconsistency(1.5)
    for begin, end in ((0, 7), (7, 8), (8, 120)):
        assert parts.partial_fit(instances[begin:end]) is parts
    for name in ("rho_", "last_", "losses_", "squares_"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name
    assert parts.trained_on_.overlap(instances) == 120
    monkeypatch.setattr("rhostar.learners._online._BLOCK", 36 * 11)
    assert np.array_equal(rs.learners.OnlineInconsistency(1.5, n_jobs=2).fit(instances).rho_, whole.rho_)
    parts.partial_fit(other)
    assert parts.trained_on_.overlap(other) == 10
    assert parts.rounds_ == 130
    again = parts.fit(instances)
    assert np.array_equal(again.rho_, whole.rho_), "fit begins anew"
    assert again.trained_on_.overlap(other) == 0


def test_what_the_online_learner_refuses() -> None:
    instances = square_grid(20)
    learner = rs.learners.OnlineInconsistency().fit(instances)
    before = learner.rho_.copy()
    smaller = square_grid(5, side=3)
    with pytest.raises(rs.errors.InstanceError, match="36 vertices and goal 35, got 9 and 8"):
        learner.partial_fit(smaller)
    with pytest.raises(rs.errors.InputError, match="the 20 that this was fitted on, got 5"):
        learner.regret(instances[:5])
    assert np.array_equal(learner.rho_, before)
    for wrong in ({"penalty": np.nan}, {"step_size": 0}, {"sources": "seen"}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.OnlineInconsistency(**wrong).fit(instances)


def test_solve_program_without_terms() -> None:
    terms = inconsistency_terms(rs.InstanceSet(rs.Graph.from_edges(2, [0], [1]), [1.0], 0, 1), "own")
    assert terms.tail.size == 0
    assert solve_program(terms, np.array([1.0, 0.0]), np.array([4.0, 0.0]), 1, 2.0).tolist() == [4.0, 0.0]
