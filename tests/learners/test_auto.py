"""Learning without naming a learner."""

import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar._parallel import stopped_after
from rhostar.errors import FitError
from rhostar.learners import _choosing as choosing
from rhostar.learners import _costs_to_go as costs_to_go
from support.instances import changing_graph, grid_instances, square_grid


def quality(instances: rs.InstanceSet, rho: object) -> tuple[float, float]:
    runs = rs.solve_many(instances, rho)
    return runs.expanded.mean(), runs.cost.sum() / rs.solve_many(instances, np.zeros(instances.graph.n)).cost.sum() - 1


def test_the_fewest_expansions_within_the_tolerance() -> None:
    train, test = square_grid(300, side=8).split(0.5, seed=0)
    results = {}
    for tolerance in (0.0, 0.01, 0.2):
        learner = rs.learn(train, promise=tolerance, time_limit=None)
        inside = [c for c in learner.candidates_ if c.over_bound <= tolerance]
        least = min(inside, key=lambda c: c.expanded)
        best = next(c for c in inside if repr(c.learner) == repr(learner.learner_))
        count = min(best.losses.size, least.losses.size)
        worse = best.losses[:count] - least.losses[:count]
        assert worse.mean() <= worse.std(ddof=1) / np.sqrt(worse.size) + 1e-12, "within one standard error"
        assert worse.mean() <= 0.02 * least.losses[:count].mean() + 1e-12
        assert best.losses.size == len(train), "every instance judged it"
        assert np.array_equal(learner.rho_, clone(best.learner).fit(train).rho_), "fitted again on all of it"
        assert learner.trained_on_.overlap(train) == len(train)
        results[tolerance] = quality(test, learner.rho_)
    assert results[0.2][0] < results[0.01][0] < results[0.0][0] < quality(test, np.zeros(64))[0]
    assert results[0.0][1] < 0.001
    assert results[0.01][1] < 0.015
    assert str(best).startswith(repr(best.learner))


def test_greedy_search_and_utilities() -> None:
    train, test = square_grid(80, side=8).split(0.5, seed=0)
    learner = rs.learn(train, algorithm="gbfs", time_limit=None)
    for c in learner.candidates_:
        assert c.expanded == c.losses.mean()
    assert (
        -learner.score(test)
        <= rs.solve_many(test, rs.heuristics.euclidean(test.graph, 63), algorithm="gbfs").expanded.mean()
    )
    for slow in (rs.learners.SelfImitatedRanking, rs.learners.BumpSearch):
        assert any(isinstance(c.learner, slow) for c in learner.candidates_)
    ratio = rs.learn(train, utility=rs.utilities.Ratio(limit=5.0), time_limit=None)
    assert quality(test, ratio.rho_)[1] < 0.005, "cost alone decides"
    fewest = rs.learn(train, utility=rs.utilities.Expansions(limit=1000), time_limit=None)
    assert quality(test, fewest.rho_)[0] < quality(test, ratio.rho_)[0]


def test_where_no_table_keeps_the_tolerance_the_closest_is_taken() -> None:
    train, other = square_grid(40), square_grid(60, seed=9)
    cheaper = np.random.default_rng(0).uniform(0.02, 1, other.weights.shape)
    wild = rs.InstanceSet(other.graph, other.weights * cheaper, other.sources, 35)  # every learner overestimates there
    learner = rs.learners.Auto(tolerance=0.0, validation=wild, time_limit=None).fit(train)
    over = [c.over_bound for c in learner.candidates_]
    assert min(over) > 0
    assert repr(learner.candidates_[int(np.argmin(over))].learner) == repr(learner.learner_)


def test_goals_that_differ_have_a_table_each() -> None:
    graph = rs.Graph.grid(5, 5)
    rng = np.random.default_rng(0)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (80, graph.m)), np.full(80, 12), rng.choice([0, 24], 80))
    learner = rs.learn(instances, promise="1%")
    assert sorted(learner.rho_) == [0, 24]
    assert quality(instances, learner.rho_)[1] < 0.02


def test_time_is_kept() -> None:
    instances = square_grid(100, side=10)
    learner = rs.learn(instances, promise="1%", time_limit=1e-6)
    assert len(learner.candidates_) == 1, "the quickest is always fitted"
    assert len(rs.learn(instances, promise="1%", time_limit=None).candidates_) > 10


def test_a_fit_that_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise FitError("out of time")

    monkeypatch.setattr("rhostar.learners._inconsistency.solve_program", fail)
    learner = rs.learn(square_grid(40), promise="1%", time_limit=None)
    failed = [c for c in learner.candidates_ if isinstance(c.learner, rs.learners.InconsistencyLP)]
    assert failed
    assert all(c.losses.size == 0 for c in failed)
    assert not isinstance(learner.learner_, rs.learners.InconsistencyLP)


def test_the_program_is_left_out_where_it_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rhostar.learners._auto._PROGRAM_SECONDS", 1.0)
    tried = rs.learn(square_grid(30), promise="1%", time_limit=2.0).candidates_
    assert not any(isinstance(c.learner, rs.learners.InconsistencyLP) for c in tried)


def test_what_learn_refuses() -> None:
    instances = square_grid(30)
    for wrong in ({"algorithm": "dijkstra"}, {"promise": -1}, {"time_limit": 0, "promise": "1%"}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learn(instances, **wrong)
    with pytest.raises(rs.errors.InstanceError, match="at least 2"):
        rs.learn(instances[:1], promise="1%")
    with pytest.raises(rs.errors.InputError, match="InstanceSet"):
        rs.learn([1])


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
@pytest.mark.parametrize("goals", [1, 4])
def test_a_large_graph_ends_in_time_with_valid_values(algorithm: str, goals: int) -> None:
    graph = rs.Graph.grid(250, 250)
    rng = np.random.default_rng(0)
    count = 16 * goals
    goal = rng.choice(graph.n, goals, replace=False)[np.arange(count) % goals]
    source = rng.integers(0, graph.n - 1, count)
    weights = rng.uniform(1, 3, (count, graph.m)).astype(np.float32)
    instances = rs.InstanceSet(graph, weights, source + (source >= goal), goal if goals > 1 else int(goal[0]))
    promise = "1%" if algorithm == "astar" else "fast"
    rs.learn(square_grid(20), promise=promise, algorithm=algorithm, time_limit=0.2)  # imports what it needs
    spent = time.thread_time()
    learner = rs.learn(instances, promise=promise, algorithm=algorithm, time_limit=1.0)
    assert time.thread_time() - spent < 2.0, "MeanDistance alone would take more with every fold"
    runs = rs.solve_many(instances, learner.rho_, algorithm=algorithm)
    plain = rs.solve_many(instances, np.zeros(graph.n))
    assert runs.expanded.mean() < 0.7 * plain.expanded.mean()
    if algorithm == "astar":
        # With no time to compare learners, as on a slow machine, it is 0.9 %.
        assert runs.cost.sum() < 1.02 * plain.cost.sum()


def test_the_share_of_each_goal_is_what_is_left() -> None:
    instances = square_grid(60, side=5)
    goals = np.where(np.arange(60) % 3 == 0, 24, 0)
    sources = np.where(instances.sources == goals, 12, instances.sources)
    both = rs.InstanceSet(instances.graph, instances.weights, sources, goals)
    found = rs.learners.PerGoal(rs.learners.Auto(time_limit=None), time_limit=1000.0).fit(both)
    first, second = (found.learners_[goal].time_limit for goal in (0, 24))
    assert 400 < first <= 500
    assert first < second < 1000
    with pytest.raises(rs.errors.InputError, match="time_limit"):
        rs.learners.PerGoal(rs.learners.MeanDistance(), time_limit=1.0).fit(both)


def test_only_some_snapshots_are_used_if_there_is_no_time_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = square_grid(60, side=8)
    monkeypatch.setattr("rhostar.learners._contest._LARGEST_LABELS", 12 * instances.graph.n)
    learner = rs.learners.Auto(time_limit=None).fit(instances)
    seen = learner.trained_on_.overlap(instances)
    assert 12 <= seen <= 60
    assert learner.candidates_[0].losses.size == 12, "one instance on each of the 12 snapshots"
    monkeypatch.setattr("rhostar.learners._contest._LARGEST_LABELS", 1)
    instant = rs.learners.Auto(time_limit=None).fit(instances)
    assert isinstance(instant.learner_, rs.learners.LowerEnvelope), "not compared, so the safe one"
    assert instant.trained_on_.overlap(instances) == 60, "a pass over all weights is quick"
    fast = rs.learners.Auto(tolerance=None, time_limit=None).fit(instances)
    assert isinstance(fast.learner_, rs.learners.MeanWeights)
    assert np.isnan(fast.candidates_[0].expanded)


def test_fits_that_share_costs_to_go_are_the_same() -> None:
    instances = changing_graph(3, n=30, count=40)
    rows = np.unique(instances.rows)
    memory = costs_to_go.Memory(instances, np.random.default_rng(0).permutation(rows))
    memory.extend(rows.size - 3)
    memory.extend(3)
    memory.extend(1)
    assert sorted(memory.known) == rows.tolist()
    learners = [
        *(rs.learners.MeanDistance(statistic) for statistic in ("mean", "median", "min")),
        rs.learners.MeanWeights(),
        rs.learners.LowerEnvelope(),
        rs.learners.InconsistencyLP(1.0),
        rs.learners.InconsistencyLP(3.0),
    ]
    optimum = rs.solve_many(instances, np.zeros(instances.graph.n)).cost
    np.testing.assert_allclose(memory.at(instances), optimum, rtol=1e-12)
    for part in (instances, instances[::2], instances[:7]):
        plain = [clone(learner).fit(part).rho_ for learner in learners]
        with memory.used():
            assert costs_to_go.remembered(part) is memory
            for learner, rho in zip(learners, plain, strict=True):
                assert np.array_equal(clone(learner).fit(part).rho_, rho), learner
    other = changing_graph(4, n=30, count=40)
    with memory.used():
        assert costs_to_go.remembered(other) is None


def again_and_again(instances: rs.InstanceSet, n_jobs: int) -> None:
    for _ in range(1000):
        rs.solve_many(instances, np.zeros(instances.graph.n), n_jobs=n_jobs)


def test_kernels_stop_when_the_time_is_up() -> None:
    instances = square_grid(40, side=60)
    for n_jobs in (1, 2):
        with stopped_after(0.0), pytest.raises(rs.errors.StoppedError):
            again_and_again(instances, n_jobs)
        with stopped_after(60.0):
            assert rs.solve_many(instances, np.zeros(3600), n_jobs=n_jobs).solved.all()
    with stopped_after(60.0), stopped_after(0.0), pytest.raises(rs.errors.StoppedError):
        again_and_again(instances, 1)
    # Learners that improve values return what they have.
    with stopped_after(0.3):
        ranked = rs.learners.SelfImitatedRanking(rs.heuristics.euclidean(instances.graph, 3599)).fit(instances)
    assert ranked.rho_.shape == (3600,)


# ---------------------------------------------------------------- tolerance


def test_the_bound_holds_where_the_standard_error_does_not() -> None:
    # Seven of ten snapshots have no excess, the others 1.67 % in the mean, with a long tail.
    rng = np.random.default_rng(0)
    held = naive = 0
    for _ in range(400):
        excess = np.where(rng.random(60) < 0.3, 0.005 / 0.3 * rng.exponential(1.0, 60), 0.0)
        bound = choosing.upper_bound(excess, np.arange(60), np.ones(60), level=0.975)
        mean, error = choosing.estimate(excess, np.arange(60))
        held += bound >= 0.005
        naive += mean + error >= 0.005
    assert held >= 0.95 * 400
    assert naive < 0.85 * 400, "the twin: one standard error"


def test_bounds_by_hand() -> None:
    none = np.zeros(9)
    assert choosing.upper_bound(none, np.arange(9), np.ones(9), level=0.95) == 0.0
    least = choosing.upper_bound(none, np.arange(9), np.ones(9), level=0.95, least=0.1)
    # Nine zeros and one of 0.1: mean 0.01, standard error 0.01, Student's t with 9 degrees of freedom.
    assert least == pytest.approx(0.01 + 1.8331 * 0.01, rel=1e-4)
    assert choosing.upper_bound(none, np.arange(9), none, level=0.95) == 0.0
    # Instances of one snapshot count as one.
    value = np.repeat([0.0, 0.0, 0.3], 5)
    assert choosing.upper_bound(value, np.repeat([0, 1, 2], 5), np.ones(15), level=0.95) == pytest.approx(
        choosing.upper_bound(np.array([0.0, 0.0, 0.3]), np.arange(3), np.ones(3), level=0.95)
    )


def test_the_tolerance_holds_on_new_instances() -> None:
    held = []
    for seed in range(6):
        train, test = grid_instances(7, 7, 400, high=4.0, sources=None, seed=seed).split(0.25, seed=seed)
        learner = rs.learners.Auto(tolerance=0.01, time_limit=None).fit(train)
        held.append(quality(test, learner.rho_)[1] <= 0.01)
    assert sum(held) >= 4  # what a fit gets done in half a second is not the same on every machine


def test_the_tolerance_holds_for_short_paths_among_long_ones() -> None:
    grid = rs.Graph.grid(8, 8)
    graph = rs.Graph.from_edges(65, [*grid.tail.tolist(), 64], [*grid.head.tolist(), 63])
    rng = np.random.default_rng(5)
    # Every other trip takes a motorway, which costs a thousand times as much as the others and leaves no choice.
    weights = np.column_stack([rng.uniform(1, 4, (900, grid.m)), np.full(900, 1e5)])
    instances = rs.InstanceSet(graph, weights, np.where(np.arange(900) % 2, 64, rng.integers(0, 63, 900)), goal=63)
    train, test = instances[:300], instances[300:]
    learner = rs.learn(train, promise="1%", time_limit=None)
    share = rs.solve_many(test, learner.rho_).cost / rs.solve_many(test, np.zeros(65)).cost - 1
    assert 0.002 < share.mean() < 0.011
    chosen = next(c for c in learner.candidates_ if repr(c.learner) == repr(learner.learner_))
    greedier = [c for c in learner.candidates_ if c.over < 1e-3 and c.expanded < chosen.expanded]
    assert greedier, "in total, others are far within the tolerance"
    assert all(c.over_bound > 0.01 for c in greedier)


@pytest.mark.parametrize("goals", [1, 3, 40])
def test_instances_without_a_path_do_not_count_as_good(goals: int) -> None:
    """Their optimum is infinite: a share of the total would be 0 whatever the other paths cost."""
    rng = np.random.default_rng(5)
    graph = rs.Graph.grid(7, 7)
    weights = rng.uniform(1, 8, size=(240, graph.m))
    weights[rng.random(weights.shape) < 0.2] = np.inf
    goal = 48 - rng.integers(0, goals, 240) if goals < 9 else rng.permutation(np.resize(np.arange(25, 49), 240))
    instances = rs.InstanceSet(graph, weights, rng.integers(0, 24, 240), goal, infeasible="keep")
    train, test = instances.split(0.5, seed=0)
    assert 0 < np.isinf(rs.solve_many(train, np.zeros(49)).cost).sum() < 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # also those about bounds of candidates, and inf - inf
        learner = rs.learn(train, promise="1%", time_limit=2.0)
    best = rs.solve_many(test, np.zeros(49)).cost
    there = np.isfinite(best)
    assert rs.solve_many(test, learner).cost[there].sum() / best[there].sum() - 1 < 0.015
    bold = [c for one in getattr(learner, "learners_", {0: learner}).values() for c in one.candidates_]
    assert any(c.over > 0 for c in bold), "paths were judged"


def test_where_nothing_has_a_path_values_are_those_of_the_bounds() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 0])
    instances = rs.InstanceSet(graph, np.ones((4, 2)), 0, 2, infeasible="keep")
    assert rs.learn(instances, promise="1%", time_limit=1.0).rho_.tolist() == [0.0, 0.0, 0.0]


def test_without_a_tolerance_the_fewest_expansions_win() -> None:
    train, test = square_grid(200, side=8).split(0.5, seed=0)
    fast = quality(test, rs.learners.Auto(tolerance=None, time_limit=None).fit(train).rho_)
    safe = quality(test, rs.learners.Auto(tolerance=0.01, time_limit=None).fit(train).rho_)
    assert fast[0] < 0.9 * safe[0]
    assert fast[1] > safe[1]


def test_progress_says_what_runs_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    rs.learners.Auto("gbfs", time_limit=1.0, verbose=1).fit(square_grid(30))
    shown = capsys.readouterr().err
    assert "s left" in shown
    assert "learning" in shown
