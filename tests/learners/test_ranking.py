"""Self-imitated ranking: its kernel against a count in plain Python, and what the learner promises."""

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar import _core
from rhostar.learners import _objective as shared
from rhostar.learners import _ranking
from rhostar.learners._ranking import comparisons
from rhostar.learners._smoothing import Blur
from support.cases import Case, random_case
from support.failures import ctrl_c
from support.instances import obstacle_worlds


def reference(case: Case, path: list[int] | None = None) -> list[int]:
    """Count, from the sets of the oracle, which vertices were in the way and which waited."""
    expected = case.expected()
    lower = [0] * case.graph.n
    if path is None:
        if expected.status != "solved":
            return lower
        path = expected.path
    for state in expected.states[: expected.expanded]:
        greedy = case.algorithm == "gbfs"
        u = min(state.open, key=lambda v: ((0.0 if greedy else state.g[v]) + case.rho[v], v))
        if u in path:
            continue
        waiting = next(v for v in path if v not in state.closed)
        assert waiting in state.open
        lower[u] -= 1
        if waiting != case.goal:
            lower[waiting] += 1
    return lower


def kernel(case: Case, path: list[int] | None = None) -> list[int]:
    one = [np.array([v], dtype=np.int32) for v in (case.source, case.goal)]
    vertices = None if path is None else np.array(path, dtype=np.int32)
    ends = None if path is None else np.array([len(path)], dtype=np.int64)
    budget = -1 if case.budget is None else case.budget
    weights = np.ascontiguousarray(case.weights)[None]
    only = _core.Instances(weights, np.zeros(1, dtype=np.int64), *one)
    options = _core.SearchOptions(case.algorithm == "gbfs", case.reopen, budget)
    found = case.graph._kernel.rank(only, options, case.rho, vertices, ends, None)
    assert found.ending.status is _core.Status.DONE
    assert found.expanded.tolist() == [case.expected().expanded]
    return found.lower.tolist()


def drawn(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases = [random_case(rng, largest=14) for _ in range(400)]
    return [case for case in cases if case.source != case.goal]


@pytest.mark.parametrize("seed", range(5))
def test_comparisons_are_those_of_the_oracle(seed: int) -> None:
    reopened = 0
    for case in drawn(seed):
        assert kernel(case) == reference(case)
        reopened += case.expected().reopened
    assert reopened > 10


def test_comparisons_with_another_path_are_those_of_the_oracle() -> None:
    checked = 0
    for case in drawn(9):
        best = rs.astar(case.graph, case.weights, case.source, case.goal, np.zeros(case.graph.n))
        if best.status != "solved":
            continue
        path = best.path.tolist()
        assert kernel(case, path) == reference(case, path)
        checked += 1
    assert checked > 100


def test_a_case_by_hand() -> None:
    """The start 0 leads to 1 (into a dead end by 2) and 3, which leads to the goal 4."""
    graph = rs.Graph.from_edges(5, [0, 0, 1, 3], [1, 3, 2, 4])
    case = Case(graph, np.ones(4), 0, 4, np.array([9.0, 1.0, 2.0, 3.0, 0.0]), "gbfs")
    assert kernel(case) == [0, -1, -1, 2, 0]
    # With g + rho, 3 is selected between 1 and 2: g is 1, 2, 1.
    case = Case(graph, np.ones(4), 0, 4, np.array([9.0, 1.0, 3.0, 3.0, 0.0]), "astar")
    assert kernel(case) == [0, -1, 0, 1, 0]


def quick(**options: object) -> rs.learners.SelfImitatedRanking:
    rounds = [(step, blur) for blur in (0, 1) for step in (1.0, 0.4, 0.15, 0.05)]
    return rs.learners.SelfImitatedRanking(**{"iterations": 12, "random_state": 0, "rounds": rounds} | options)


@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_counts_are_the_same_for_any_number_of_jobs(algorithm: str) -> None:
    instances = obstacle_worlds()
    rho = rs.heuristics.euclidean(instances.graph, instances.graph.n - 1)
    found = [
        comparisons(instances, rho, shared.Objective(instances, None, algorithm, True, None, jobs))
        for jobs in (1, 2, 3)
    ]
    assert found[0].any()
    assert found[0].sum() <= 0 or algorithm == "gbfs"
    assert all((other == found[0]).all() for other in found)


@pytest.mark.parametrize(
    "options", [{}, {"algorithm": "astar"}, {"validation": True}, {"rounds": [(0.4, 0), (0.15, 0), (0.05, 0)]}]
)
def test_it_improves_and_is_never_worse_than_where_it_started(options: dict) -> None:
    instances = obstacle_worlds()
    if "validation" in options:
        options = {"validation": obstacle_worlds(20, seed=1)}
    learner = quick(**options).fit(instances)
    assert learner.best_ == learner.history_.min() < learner.history_[0]
    if "validation" not in options:
        runs = rs.solve_many(instances, learner.rho_, algorithm=options.get("algorithm", "gbfs"))
        assert runs.expanded.mean() == learner.best_
    assert learner.rho_[instances.graph.n - 1] == 0


def test_a_table_that_cannot_be_bettered_is_kept() -> None:
    graph = rs.Graph.grid(5, 5)
    instances = rs.InstanceSet(graph, graph.length, sources=[0, 1, 2], goal=24)
    learner = quick().fit(instances)
    assert learner.rho_.tolist() == learner.initial_.tolist() == rs.distances_to(graph, graph.length, 24).tolist()


@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
@pytest.mark.parametrize("power", [10, -20])
def test_scale_of_the_weights_changes_the_scale_of_the_table_alone(algorithm: str, power: int) -> None:
    one = quick(algorithm=algorithm).fit(obstacle_worlds())
    other = quick(algorithm=algorithm).fit(obstacle_worlds(scale=2.0**power))
    assert (one.rho_ != one.initial_).any()
    assert (other.rho_ == one.rho_ * 2.0**power).all()
    assert other.history_.tolist() == one.history_.tolist()


def test_greedy_search_follows_the_scale_of_the_table() -> None:
    instances = obstacle_worlds()
    table = rs.heuristics.euclidean(instances.graph, instances.graph.n - 1)
    one, other = quick(initial=table).fit(instances), quick(initial=table * 8).fit(instances)
    assert (one.rho_ * 8 == other.rho_).all()


def test_same_seed_same_table_whatever_the_jobs_clone_pickle_and_refit() -> None:
    instances, judges = obstacle_worlds(), obstacle_worlds(20, seed=1)
    learner = quick(initial=rs.learners.MeanDistance("median"), validation=judges).fit(instances)
    for other in (
        clone(learner).fit(instances),
        pickle.loads(pickle.dumps(learner)),
        quick(initial=rs.learners.MeanDistance("median"), validation=judges, n_jobs=2).fit(instances),
        learner.fit(instances),
    ):
        assert other.rho_.tobytes() == learner.rho_.tobytes()
    assert quick(random_state=1).fit(instances).rho_.tobytes() != quick().fit(instances).rho_.tobytes()


def test_the_best_table_is_judged_by_any_utility() -> None:
    """A* judged by what it expands grows dear; judged by the cost as well, it does not."""
    instances = obstacle_worlds(seed=3)
    within = rs.utilities.SolvedWithin(1.0)
    by_cost = quick(algorithm="astar", utility=within, initial=rs.learners.MeanDistance("min")).fit(instances)
    assert by_cost.history_[0] == 0.0  # H - u: all optimal, so nothing beats the start
    assert (by_cost.rho_ == by_cost.initial_).all()
    by_work = quick(algorithm="astar", initial=rs.learners.MeanDistance("min")).fit(instances)
    assert rs.evaluate(by_work.rho_, instances, within)[0].mean < 1


def test_blur_keeps_constants_and_spreads_as_far_as_it_says() -> None:
    grid = rs.Graph.grid(41, 41)
    plain = rs.Graph.from_edges(grid.n, grid.tail, grid.head)  # nobody knows that it is a grid
    point = np.zeros(grid.n)
    point[20 * 41 + 20] = 1.0
    squares = ((grid.coordinates - 20) ** 2).sum(axis=1)
    for graph, variance in ((grid, 8.0), (plain, 4.0)):
        blur = Blur(graph, 2.0)
        assert np.allclose(blur(np.ones(graph.n)), 1.0)
        assert math.isclose((blur(point) * squares).sum(), variance, rel_tol=0.05)
        assert (Blur(graph, 0.0)(point) == point).all()
    alone = rs.Graph.from_edges(3, [0], [1])
    assert Blur(alone, 1.0)(np.array([1.0, 0.0, 5.0])).tolist()[2] == 5.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rounds": ()}, "rounds must hold at least one"),
        ({"rounds": ((0.4,),)}, "rounds must hold pairs"),
        ({"rounds": 3}, "rounds must hold pairs"),
        ({"rounds": ((1.0, 0.0), (0.0, 1.0))}, r"rounds\[1\]\[0\]"),
        ({"rounds": ((1.0, -1.0),)}, r"rounds\[0\]\[1\]"),
        ({"iterations": 0}, "iterations"),
        ({"budget": 0}, "budget"),
        ({"algorithm": "dijkstra"}, "algorithm"),
        ({"utility": "cost"}, "utility"),
        ({"validation": 0.7}, "validation must be an InstanceSet"),
        ({"validation": "half"}, "validation must be an InstanceSet"),
        ({"initial": [1.0, 2.0]}, "initial"),
        ({"initial": np.full(196, np.nan)}, r"initial\[0\]"),
        ({"initial": rs.learners.PerGoal()}, "initial must fit values for one goal"),
        ({"random_state": "dice"}, "random_state"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_half_done(options: dict, words: str) -> None:
    learner = rs.learners.SelfImitatedRanking(**options)
    with pytest.raises(rs.errors.InputError, match=words):
        learner.fit(obstacle_worlds(10))
    assert not hasattr(learner, "rho_")


def test_a_part_of_the_instances_screens_and_all_of_them_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    train = obstacle_worlds()
    start = rs.solve_many(train, rs.learners.MeanDistance().fit(train).rho_, algorithm="gbfs").expanded
    for screen in (1, 5, 25):
        monkeypatch.setattr(_ranking, "_SCREEN", screen)
        learner = quick().fit(train)
        mean = rs.solve_many(train, learner.rho_, algorithm="gbfs").expanded.mean()
        assert learner.best_ == pytest.approx(mean, rel=1e-12), "over all of them"
        assert mean <= start.mean(), "never worse than the start on all, whatever the part says"
        assert float(learner.history_[0] * screen).is_integer(), "a mean over so many"
        assert np.array_equal(quick(n_jobs=2).fit(train).rho_, learner.rho_)


def test_instances_of_another_graph_cannot_judge() -> None:
    with pytest.raises(rs.errors.InputError, match="validation must be on the graph"):
        quick(validation=obstacle_worlds(5, side=6)).fit(obstacle_worlds(10))


def test_what_it_was_judged_on_counts_as_seen() -> None:
    instances = obstacle_worlds()
    train, validation, test = instances[:20], instances[20:40], instances[40:]
    learner = quick(validation=validation).fit(train)
    seen = [learner.heuristic_.trained_on.overlap(part) for part in (train, validation, test)]
    assert seen == [20, 20, 0]
    assert learner.judged_on_.overlap(validation) == 20
    elsewhere = obstacle_worlds(10, seed=1)
    other = quick(validation=elsewhere).fit(train)
    assert [other.heuristic_.trained_on.overlap(part) for part in (train, elsewhere, test)] == [20, len(elsewhere), 0]


def test_a_share_of_the_training_set_is_held_out_and_judges() -> None:
    instances = obstacle_worlds()
    learner = quick(initial=np.zeros(instances.graph.n), validation=0.25).fit(instances)
    held = np.flatnonzero([learner.judged_on_.overlap(instances[[k]]) for k in range(len(instances))])
    assert abs(4 * held.size - len(instances)) <= 4
    mean = rs.solve_many(instances[held], learner, algorithm="gbfs").expanded.mean()
    assert learner.best_ == pytest.approx(mean)
    assert learner.heuristic_.trained_on.overlap(instances) == len(instances), "all of it counts as seen"
    one = instances[[0]]
    assert quick(validation=0.25).fit(one).judged_on_.overlap(one) == 1, "of one snapshot nothing can be held out"


def test_goals_that_differ_are_refused() -> None:
    graph = rs.Graph.grid(3, 3)
    with pytest.raises(rs.errors.InstanceError, match="one goal"):
        quick().fit(rs.InstanceSet(graph, graph.length, [0, 1], goal=[8, 7]))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_leaves_what_was_there(jobs: int) -> None:
    instances = obstacle_worlds()
    learner = quick(n_jobs=jobs).fit(instances)
    before = learner.rho_
    learner.iterations = 10**6
    fresh = clone(learner)
    for fitted in (learner, fresh):
        with ctrl_c(), pytest.raises(KeyboardInterrupt):
            fitted.fit(instances)
    assert learner.rho_ is before
    assert not hasattr(fresh, "rho_")


def test_rounds_are_run_as_listed_and_a_bad_one_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = obstacle_worlds(40)
    listed = quick(rounds=((0.4, 1.0), (0.1, 0.0))).fit(instances)
    first = quick(rounds=((0.4, 1.0),)).fit(instances)
    assert np.array_equal(listed.history_[: first.history_.size], first.history_)
    assert listed.history_.size == 2 * first.history_.size - 1, "both start from the values that are judged first"
    assert listed.round_ in ((0.4, 1.0), (0.1, 0.0))
    found = []
    for give_up in (np.inf, 1.05):
        monkeypatch.setattr(_ranking, "_GIVE_UP", give_up)
        found.append(quick(rounds=((0.4, 1.0), (100.0, 0.0)), iterations=40).fit(instances))
    wild, stopped = found
    assert stopped.history_.size < wild.history_.size
    assert stopped.best_ == wild.best_
