"""Search with local bumps: every kept bump gains, and what is not run again would have been the same."""

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar import _core
from rhostar.learners import _bumps as bumps
from rhostar.learners._objective import Objective
from support.cases import random_case
from support.failures import ctrl_c
from support.instances import obstacle_worlds


def quick(**options: object) -> rs.learners.BumpSearch:
    return rs.learners.BumpSearch(**{"max_bumps": 300, "random_state": 0} | options)


def roads(count: int = 40, seed: int = 0, scale: float = 1.0) -> rs.InstanceSet:
    """Instances without coordinates."""
    rng = np.random.default_rng(seed)
    n = 60
    tail, head = rng.integers(0, n, (2, 5 * n))
    ring = np.arange(n)
    graph = rs.Graph.from_edges(n, np.r_[tail, ring], np.r_[head, np.roll(ring, 1)])
    return rs.InstanceSet(graph, rng.uniform(1, 4, (count, graph.m)) * scale, rng.integers(1, n, count), goal=0)


def noisy(instances: rs.InstanceSet) -> np.ndarray:
    """A table that leaves much to be gained, with answers far from optimal."""
    exact = rs.learners.MeanDistance().fit(instances).rho_
    return exact * np.random.default_rng(5).uniform(0.2, 3, exact.size)


def mixed(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    """Expansions and the cost of what was found."""
    return len(trace) + 0.1 * sum(len(trace.state(i).open) for i in range(0, len(trace), 5))


UTILITIES = {
    "expansions": None,
    "clipped": rs.utilities.Expansions(25),
    "clipped at a fraction": rs.utilities.Expansions(25.5),
    "generated": rs.utilities.Generated(1000),
    "ratio": rs.utilities.Ratio(3),
    "within": rs.utilities.SolvedWithin(1.1),
    "custom": rs.utilities.Custom(1000, mixed),
}


@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
@pytest.mark.parametrize("utility", UTILITIES)
def test_running_only_what_a_bump_reaches_changes_nothing(algorithm: str, utility: str, monkeypatch) -> None:
    instances = obstacle_worlds(30, side=10)
    options = {"algorithm": algorithm, "utility": UTILITIES[utility], "max_bumps": 100 if utility == "custom" else 150}
    options["initial"] = noisy(instances)
    one = quick(**options).fit(instances)
    everything = lambda trial, support: np.ones(len(instances), dtype=bool)  # noqa: E731
    monkeypatch.setattr(bumps.Trial, "affected", everything)
    monkeypatch.setattr(bumps.Trial, "touched", property(lambda t: t.__dict__["_kept"], _keep), raising=False)
    other = quick(**options).fit(instances)
    assert one.history_.size > 1
    assert other.rho_.tobytes() == one.rho_.tobytes()
    assert np.allclose(one.history_, other.history_, rtol=1e-12)
    judge = Objective(instances, UTILITIES[utility], algorithm, True, None, None)
    assert np.isclose(one.history_[-1], judge.mean(one.rho_), rtol=1e-12)


def _keep(trial: bumps.Trial, value: list) -> None:
    trial.__dict__["_kept"] = value


@pytest.mark.parametrize("seed", range(3))
def test_a_run_reads_only_what_it_is_said_to_have_touched(seed: int) -> None:
    rng = np.random.default_rng(seed)
    checked = 0
    for _ in range(300):
        case = random_case(rng)
        if case.source == case.goal:
            continue
        one = [np.array([v], dtype=np.int32) for v in (case.source, case.goal)]
        only = _core.Instances(np.ascontiguousarray(case.weights)[None], np.zeros(1, dtype=np.int64), *one)
        options = _core.SearchOptions(case.algorithm == "gbfs", case.reopen, -1 if case.budget is None else case.budget)
        found = case.graph._kernel.touched(only, options, case.rho, None)
        read = found.vertices
        states = case.expected().states
        known = set().union(*(s.open | s.closed for s in states))
        assert found.ending.status is _core.Status.DONE
        assert found.ends.tolist() == [read.size]
        assert sorted(read.tolist()) == sorted(known)
        case.lower_bound = None
        before = case.run(trace=True)
        elsewhere = np.setdiff1d(np.arange(case.graph.n), read)
        case.rho = case.rho.copy()
        case.rho[elsewhere] = rng.normal(0, 1e6, elsewhere.size)
        after = case.run(trace=True)
        assert before.path.tolist() == after.path.tolist()
        assert before.expanded == after.expanded
        checked += elsewhere.size > 0
    assert checked > 100


@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_spending_stops_where_the_total_is_reached(algorithm: str) -> None:
    instances = obstacle_worlds(20)
    rho = rs.heuristics.euclidean(instances.graph, instances.graph.n - 1)
    expanded = rs.solve_many(instances, rho, algorithm=algorithm).expanded
    parts = _core.Instances(instances.weights, instances.rows, instances.sources, instances.goals)
    options = _core.SearchOptions(algorithm == "gbfs", True, 10**6)
    for total in [1, *np.cumsum(expanded).tolist(), int(expanded.sum()) + 1]:
        found = instances.graph._kernel.spend(parts, options, rho, int(total), None)
        within = expanded.sum() < total
        assert found.ending.status is (_core.Status.DONE if within else _core.Status.LIMIT)
        assert found.expanded.tolist() == expanded[np.cumsum(expanded) < total].tolist()


@pytest.mark.parametrize("make", [obstacle_worlds, roads])
@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_every_bump_that_is_kept_gains(make, algorithm: str) -> None:
    instances = make()
    learner = quick(algorithm=algorithm, initial=noisy(instances)).fit(instances)
    assert (np.diff(learner.history_) < 0).all()
    assert learner.history_.size > 1
    runs = rs.solve_many(instances, learner.rho_, algorithm=algorithm)
    assert runs.expanded.mean() == learner.history_[-1]
    assert learner.rho_[instances.goal] == learner.initial_[instances.goal]


@pytest.mark.parametrize("utility", [None, rs.utilities.Generated(10**6)])
def test_a_bump_must_gain_on_the_screened_part_and_on_the_whole(utility: rs.utilities.Utility | None) -> None:
    instances = obstacle_worlds(30)
    objective = Objective(instances, utility, "gbfs", True, None, None)
    rho = rs.learners.MeanDistance().fit(instances).rho_
    rng = np.random.default_rng(0)
    space, seen = bumps.Space(instances), [0, 0]
    for _ in range(100):
        trial = bumps.Trial(objective, rho.copy())
        support, values = space.bump(trial.vertex(rng), rng.uniform(1, 4))
        change = rng.normal(0, 3) * values
        bumped = rho.copy()
        bumped[support] += change
        difference = objective.values(bumped) - trial.values
        losing, gaining = np.flatnonzero(difference > 0), np.flatnonzero(difference < 0)
        if not (losing.size and gaining.size):
            continue
        assert not trial.accept(support, change, losing[:1])
        assert trial.accept(support, change, gaining[:1]) == (difference.sum() < 0)
        assert trial.mean == (objective.mean(bumped) if difference.sum() < 0 else objective.mean(rho))
        seen[int(difference.sum() < 0)] += 1
    assert min(seen) > 0


@pytest.mark.parametrize("make", [obstacle_worlds, roads])
def test_a_bump_ends_at_three_widths_and_leaves_the_goal(make) -> None:
    instances = make(5)
    space = bumps.Space(instances)
    goal = int(instances.goals[0])
    for center in range(0, instances.graph.n, 7):
        support, values = space.bump(center, 1.5)
        assert goal not in support
        assert (values >= math.exp(-4.5) * (1 - 1e-9)).all()
        assert (values <= 1).all()
        if center != goal:
            assert values[support == center] == 1
        if instances.graph.coordinates is not None:
            distance = np.linalg.norm(instances.graph.coordinates - instances.graph.coordinates[center], axis=1)
            expected = np.flatnonzero(distance <= 4.5)
            assert sorted(support.tolist()) == expected[expected != goal].tolist()
        elsewhere = np.setdiff1d(np.arange(instances.graph.n), support)
        assert elsewhere.size > 0


@pytest.mark.parametrize("make", [obstacle_worlds, roads])
@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_scale_of_the_weights_changes_the_scale_of_the_table_alone(make, algorithm: str) -> None:
    table = noisy(make())
    one, other = (quick(algorithm=algorithm, initial=table * scale).fit(make(scale=scale)) for scale in (1.0, 1024.0))
    assert (one.rho_ != one.initial_).any()
    assert (other.rho_ == one.rho_ * 1024).all()


def test_same_seed_same_table_whatever_the_jobs_clone_pickle_and_refit() -> None:
    instances = obstacle_worlds()
    learner = quick().fit(instances)
    for other in (
        clone(learner).fit(instances),
        pickle.loads(pickle.dumps(learner)),
        quick(n_jobs=2).fit(instances),
        learner.fit(instances),
    ):
        assert other.rho_.tobytes() == learner.rho_.tobytes()
    assert quick(random_state=1).fit(instances).rho_.tobytes() != learner.rho_.tobytes()


def test_it_starts_from_any_learner() -> None:
    instances = obstacle_worlds()
    ranking = rs.learners.SelfImitatedRanking(iterations=5, random_state=0)
    learner = quick(initial=ranking).fit(instances)
    assert (learner.initial_ == clone(ranking).fit(instances).rho_).all()
    assert quick(max_bumps=0).fit(instances).rho_.tolist() == rs.learners.MeanDistance().fit(instances).rho_.tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_bumps": -1}, "max_bumps"),
        ({"budget": 0}, "budget"),
        ({"algorithm": "dijkstra"}, "algorithm"),
        ({"utility": "cost"}, "utility"),
        ({"initial": [1.0]}, "initial"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_half_done(options: dict, words: str) -> None:
    learner = rs.learners.BumpSearch(**options)
    with pytest.raises(rs.errors.InputError, match=words):
        learner.fit(obstacle_worlds(10))
    assert not hasattr(learner, "rho_")


def test_an_interrupt_leaves_what_was_there() -> None:
    instances = obstacle_worlds()
    learner = quick().fit(instances)
    before = learner.rho_
    learner.max_bumps = 10**9
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        learner.fit(instances)
    assert learner.rho_ is before
