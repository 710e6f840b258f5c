"""Learning without naming a learner."""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar.errors import FitError, RhostarWarning
from rhostar.heuristics._storage import to_parts
from rhostar.learners._auto import EFFORTS
from rhostar.learners._distances import CostsToGo
from support.instances import changing_graph, grid_instances, square_grid


def quality(instances: rs.InstanceSet, rho: object) -> tuple[float, float]:
    runs = rs.solve_many(instances, rho)
    return runs.expanded.mean(), runs.cost.sum() / rs.solve_many(instances, np.zeros(instances.graph.n)).cost.sum() - 1


def worlds(count: int, side: int = 14, seed: int = 0) -> rs.InstanceSet:
    """Return worlds with a wall whose gap moves."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(side, side, neighbors=8)
    blocked = rng.random((count, side, side)) < 0.15
    blocked[:, side // 2, :] = True
    blocked[np.arange(count), side // 2, rng.integers(0, side // 2, count)] = False
    blocked[:, 0, 0] = blocked[:, -1, -1] = False
    return rs.InstanceSet.from_obstacles(
        graph, blocked, 0, graph.n - 1, corner_cutting=True, dtype=np.float32, infeasible="drop"
    )


def test_the_fewest_expansions_within_the_mean_excess() -> None:
    train, test = square_grid(300, side=8).split(0.5, seed=0)
    results = {}
    for allowed in (0.01, 0.2):
        learner = rs.learn(train, mean_excess=allowed)
        inside = [c for c in learner.candidates_ if c.bound <= allowed]
        fewest = min(inside, key=lambda c: c.expanded)
        best = next(c for c in inside if repr(c.learner) == repr(learner.learner_))
        worse = best.losses - fewest.losses
        assert worse.mean() <= 0.02 * fewest.losses.mean() + 1e-12
        again = clone(best.learner).fit(train)
        assert np.array_equal(rs.solve_many(test, again).expanded, rs.solve_many(test, learner).expanded)
        assert learner.heuristic_.trained_on.overlap(train) == len(train)
        assert not learner.notes_
        results[allowed] = quality(test, learner)
    assert results[0.2][0] < results[0.01][0] < quality(test, rs.learn(train))[0] < quality(test, np.zeros(64))[0]
    assert results[0.01][1] < 0.015
    assert str(best).startswith(best.label)


def test_greedy_search_and_utilities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORTS, "thorough", EFFORTS["thorough"]._replace(bumps=50))
    train, test = square_grid(80, side=8).split(0.5, seed=0)
    learner = rs.learn(train, algorithm="gbfs", effort="thorough")
    for c in learner.candidates_:
        assert c.expanded == c.losses.mean()
    assert (
        -learner.score(test)
        <= rs.solve_many(test, rs.heuristics.euclidean(test.graph, 63), algorithm="gbfs").expanded.mean()
    )
    for slow in (rs.learners.SelfImitatedRanking, rs.learners.BumpSearch):
        assert any(isinstance(c.learner, slow) for c in learner.candidates_)
    ratio = rs.learn(train, utility=rs.utilities.Ratio(limit=5.0))
    assert quality(test, ratio)[1] < 0.005, "cost alone decides"
    fewest = rs.learn(train, utility=rs.utilities.Expansions(limit=1000))
    assert quality(test, fewest)[0] < quality(test, ratio)[0]


def test_values_for_greedy_search_are_improved() -> None:
    train, test = worlds(160, 24).split(0.5, seed=0)
    learner = rs.learn(train, algorithm="gbfs")
    assert "SelfImitatedRanking" in repr(learner.learner_)
    again = clone(learner.learner_).fit(train)
    assert np.array_equal(*(rs.solve_many(test, one, algorithm="gbfs").expanded for one in (learner, again))), (
        "fitted again on all of it"
    )
    assert learner.heuristic_.trained_on.overlap(train) == len(train)
    quick = rs.learn(train, algorithm="gbfs", effort="quick")
    assert not any(isinstance(c.learner, rs.learners.SelfImitatedRanking) for c in quick.candidates_)
    fewer, plain = (rs.solve_many(test, one, algorithm="gbfs").expanded.mean() for one in (learner, quick))
    assert fewer < plain


def test_goals_that_differ_have_a_table_each() -> None:
    graph = rs.Graph.grid(5, 5)
    rng = np.random.default_rng(0)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (80, graph.m)), np.full(80, 12), rng.choice([0, 24], 80))
    learner = rs.learn(instances, mean_excess=0.01)
    assert sorted(learner.heuristic_.goals) == [0, 24]
    assert quality(instances, learner)[1] < 0.02


def test_a_goal_with_a_single_instance() -> None:
    """One trip to another goal among a hundred: a table for it cannot be judged, and nothing was learned at all."""
    rng, graph = np.random.default_rng(0), rs.Graph.grid(5, 5)
    goals = np.full(100, 24)
    goals[7] = 23
    train = rs.InstanceSet(graph, rng.uniform(1, 2, (100, graph.m)), rng.integers(0, 10, 100), goals)
    for how in ({"mean_excess": 0.05}, {"algorithm": "gbfs"}):
        learned = rs.learn(train, effort="quick", **how)
        assert rs.solve_many(train, learned, algorithm=how.get("algorithm", "astar")).solved.all()


def test_candidates_of_a_user() -> None:
    instances = square_grid(80)
    learners = [rs.learners.MeanDistance("min"), rs.learners.MeanDistance("quantile", quantile=1.0)]
    fast = rs.learners.Auto(candidates=learners, mean_excess=np.inf).fit(instances)
    assert [repr(c.learner) for c in fast.candidates_] == [repr(one) for one in learners], "as they are"
    assert repr(fast.learner_) == repr(learners[1])
    assert np.array_equal(fast.rho_, clone(learners[1]).fit(instances).rho_), "fitted again on all of it"
    right = rs.learners.Auto(candidates=learners, utility=rs.utilities.SolvedWithin(1.0)).fit(instances)
    assert repr(right.learner_) == repr(learners[0])
    one = rs.InstanceSet(instances.graph, instances.weights[0], sources=[0, 1, 2], goal=35)
    with pytest.raises(rs.errors.InstanceError, match="at least 2 snapshots"):
        rs.learners.Auto(candidates=learners).fit(one)
    for wrong in ({"candidates": []}, {"candidates": [3]}, {"random_state": -1}, {"folds": 1}, {"time_limit": 0}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.Auto(**wrong).fit(instances)


def test_where_no_candidate_keeps_the_mean_excess_the_closest_is_taken() -> None:
    candidates = [rs.learners.MeanDistance(), rs.learners.MeanDistance("quantile", quantile=0.9)]
    with pytest.warns(RhostarWarning, match="no candidate keeps a mean excess of 1e-06; the closest one is used"):
        learner = rs.learners.Auto(candidates=candidates, mean_excess=1e-6).fit(square_grid(60))
    bounds = [c.bound for c in learner.candidates_]
    assert min(bounds) > 1e-6
    assert repr(learner.candidates_[int(np.argmin(bounds))].learner) == repr(learner.learner_)


def test_it_says_if_nothing_faster_than_exact_values_passes() -> None:
    """Two snapshots: nothing that may exceed the optimum can be shown to do so rarely."""
    train = square_grid(2)
    with pytest.warns(RhostarWarning, match=r"nothing faster than exact values keeps a mean excess of 0.01"):
        learner = rs.learn(train, mean_excess=0.01)
    assert learner.notes_[0].endswith("2 snapshots cannot show it, at least 6 are needed")
    assert learner.heuristic_.lower is not None, "so every answer is optimal"
    assert len(learner.notes_) == 1
    assert rs.learn(square_grid(60), mean_excess=0.2).notes_ == []


def test_the_fastest_is_not_dominated_by_a_small_excess() -> None:
    cities = [rs.datasets.city(n, seed=n).towards(17) for n in (150, 400)]
    for law in (*cities, None):
        train, test = (
            square_grid(400, side=10).split(0.3, seed=0) if law is None else (law.draw(60, 1), law.draw(300, 2))
        )
        fast, careful = (rs.learn(train, mean_excess=allowed) for allowed in (np.inf, 0.01))
        tried = {repr(c.learner): c.expanded for c in fast.candidates_}
        for c in careful.candidates_:
            assert tried[repr(c.learner)] == c.expanded, "it is among those that the fastest was chosen from"
        best = min(tried.values())
        assert tried[repr(fast.learner_)] <= 1.02 * best
        assert quality(test, fast)[0] <= 1.02 * quality(test, careful)[0]


def test_a_fit_that_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise FitError("out of time")

    monkeypatch.setattr("rhostar.learners._inconsistency.solve_program", fail)
    candidates = [rs.learners.InconsistencyLP(), rs.learners.MeanDistance()]
    learner = rs.learners.Auto(candidates=candidates, mean_excess=np.inf).fit(square_grid(40))
    assert learner.candidates_[0].losses.size == 0
    assert isinstance(learner.learner_, rs.learners.MeanDistance)
    with pytest.raises(FitError, match="out of time"):
        rs.learners.Auto(candidates=candidates[:1]).fit(square_grid(40))


def test_what_learn_refuses() -> None:
    instances = square_grid(30)
    for wrong in ({"algorithm": "dijkstra"}, {"mean_excess": -1}, {"time_limit": 0, "mean_excess": 0.01}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learn(instances, **wrong)
    with pytest.raises(rs.errors.InstanceError, match="at least 2"):
        rs.learn(instances[:1], mean_excess=0.01)
    with pytest.raises(rs.errors.InputError, match="InstanceSet"):
        rs.learn([1])


# ---------------------------------------------------------------- work and time


@contextmanager
def busy() -> Iterator[None]:
    """Keep a thread busy meanwhile."""
    over = threading.Event()

    def spin() -> None:
        while not over.is_set():
            hashlib.sha256(bytes(10**6)).digest()  # without the interpreter lock

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
def test_the_same_seed_gives_the_same_values_under_load_and_with_several_jobs(algorithm: str) -> None:
    if algorithm == "astar":
        train, how = rs.datasets.city(100, seed=1).towards(7).draw(40, seed=2), {"mean_excess": 0.05}
    else:
        train, how = worlds(40, side=10), {"algorithm": "gbfs"}
    first = rs.learn(train, **how)
    with busy():
        again = rs.learn(train, **how, n_jobs=2)
    assert [c.losses.tobytes() for c in again.candidates_] == [c.losses.tobytes() for c in first.candidates_]
    one, other = ([rs.astar(*i, learner.heuristic_) for i in train[:20]] for learner in (first, again))
    assert [run.expanded for run in one] == [run.expanded for run in other]
    parts, found = to_parts(first.heuristic_)[0], to_parts(again.heuristic_)[0]
    assert parts.keys() == found.keys()
    for name, part in parts.items():
        assert part.tobytes() == found[name].tobytes(), name


def test_time_is_a_cap_for_those_who_ask() -> None:
    instances = square_grid(100, side=10)
    with pytest.warns(RhostarWarning, match="the time limit was reached"):
        learner = rs.learn(instances, mean_excess=0.01, time_limit=1e-6)
    assert isinstance(learner.candidates_[0].learner, rs.learners.LowerEnvelope), "the first is always tried"
    assert all("LowerEnvelope" in repr(c.learner) for c in learner.candidates_)
    assert any("time limit was reached" in note for note in learner.notes_)
    began = time.monotonic()
    free = rs.learn(instances, mean_excess=0.01)
    assert len(free.candidates_) > 10
    capped = rs.learn(instances, mean_excess=0.01, time_limit=100 * (time.monotonic() - began))
    assert capped.notes_ == []
    assert repr(capped.learner_) == repr(free.learner_)


@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
@pytest.mark.parametrize("goals", [1, 4])
def test_a_large_graph_takes_little_work(algorithm: str, goals: int) -> None:
    graph = rs.Graph.grid(150, 150)
    rng = np.random.default_rng(0)
    count = 24 * goals
    goal = rng.choice(graph.n, goals, replace=False)[np.arange(count) % goals]
    source = rng.integers(0, graph.n - 1, count)
    weights = rng.uniform(1, 3, (count, graph.m)).astype(np.float32)
    instances = rs.InstanceSet(graph, weights, source + (source >= goal), goal if goals > 1 else int(goal[0]))
    how = {"mean_excess": 0.01} if algorithm == "astar" else {"algorithm": "gbfs"}
    learner = rs.learn(instances, effort="quick", **how)
    runs = rs.solve_many(instances, learner, algorithm=algorithm)
    plain = rs.solve_many(instances, np.zeros(graph.n))
    assert runs.expanded.mean() < 0.7 * plain.expanded.mean()
    if algorithm == "astar":
        assert runs.cost.sum() < 1.02 * plain.cost.sum()


class Counted(np.ndarray):
    """An array that counts how often a row is read."""

    reads = 0

    def __getitem__(self, key: object) -> object:
        if isinstance(key, int | np.integer):
            Counted.reads += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("goals", [1, 2, 40])
@pytest.mark.parametrize("lower", [None, 1.0])
def test_each_snapshot_is_read_once(goals: int, lower: float | None) -> None:
    given = square_grid(80)
    goal = np.random.default_rng(0).integers(25, 35, 80) if goals > 2 else np.where(np.arange(80) % goals, 34, 35)
    sources = np.where(given.sources == goal, 0, given.sources)
    instances = rs.InstanceSet(given.graph, given.weights, sources, goal)
    instances._stored = instances._stored.view(Counted)
    Counted.reads = 0
    learner = rs.learn(instances, lower=lower)
    assert Counted.reads == 80
    assert learner.heuristic_.lower is not None


def test_fits_that_share_costs_to_go_are_the_same() -> None:
    instances = changing_graph(3, n=30, count=40)
    costs = CostsToGo(instances)
    learners = [
        *(rs.learners.MeanDistance(statistic) for statistic in ("mean", "median", "min")),
        rs.learners.Scaled(rs.learners.MeanDistance(), 1.5),
        rs.learners.MeanWeights(),
        rs.learners.LowerEnvelope(),
        rs.learners.SelfImitatedRanking(rs.learners.MeanDistance("min"), iterations=3, random_state=0),
        rs.learners.BumpSearch(max_bumps=20, random_state=0),
    ]
    optimum = rs.solve_many(instances, np.zeros(instances.graph.n)).cost
    np.testing.assert_allclose(costs.at(instances), optimum, rtol=1e-12)
    for part in (instances, instances[::2], instances[:7]):
        for learner in learners:
            assert np.array_equal(clone(learner).fit(part).rho_, clone(learner)._fit(part, costs).rho_), learner
        plain = rs.learners.Portfolio(n_clusters=2).fit(part)
        other = rs.learners.Portfolio(n_clusters=2)._fit(part, costs)
        for one, two in zip(plain.heuristic_.members, other.heuristic_.members, strict=True):
            assert np.array_equal(one.values, two.values)


# ---------------------------------------------------------------- the mean excess


def test_the_mean_excess_holds_on_new_instances() -> None:
    held = []
    for seed in range(6):
        train, test = grid_instances(7, 7, 400, high=4.0, sources=None, seed=seed).split(0.25, seed=seed)
        learner = rs.learners.Auto(mean_excess=0.01).fit(train)
        held.append(quality(test, learner)[1] <= 0.01)
    assert sum(held) >= 5


def test_the_mean_excess_holds_for_short_paths_among_long_ones() -> None:
    grid = rs.Graph.grid(8, 8)
    graph = rs.Graph.from_edges(65, [*grid.tail.tolist(), 64], [*grid.head.tolist(), 63])
    rng = np.random.default_rng(5)
    # Every other trip takes a motorway, which costs a thousand times as much as the others and leaves no choice.
    weights = np.column_stack([rng.uniform(1, 4, (900, grid.m)), np.full(900, 1e5)])
    instances = rs.InstanceSet(graph, weights, np.where(np.arange(900) % 2, 64, rng.integers(0, 63, 900)), goal=63)
    train, test = instances[:300], instances[300:]
    learner = rs.learn(train, mean_excess=0.01)
    share = rs.solve_many(test, learner).cost / rs.solve_many(test, np.zeros(65)).cost - 1
    assert 0.002 < share.mean() < 0.011
    chosen = next(c for c in learner.candidates_ if repr(c.learner) == repr(learner.learner_))
    greedier = [c for c in learner.candidates_ if c.expanded < 0.98 * chosen.expanded]
    assert greedier, "in total, others are far within the mean excess"
    assert all(c.bound > 0.01 for c in greedier)
