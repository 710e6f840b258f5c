"""Joint behaviours: against the plain oracle, against permutations, against runs, and by hand."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.search import reference
from rhostar.theory._behaviours import MEASURES
from support.instances import complete_graph
from support.symbolic_oracle import joint, reference_runs

MODES = [("gbfs", True), ("astar", True), ("astar", False)]


def course(run: reference.Result) -> tuple:
    return tuple((s.open, s.closed, tuple(sorted(s.pointer.items(), key=str))) for s in run.states)


# ---------------------------------------------------------------- against the oracle


@pytest.mark.slow
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), mode=st.sampled_from(MODES))
def test_the_same_behaviours_as_the_oracle(seed: int, mode: tuple[str, bool]) -> None:
    algorithm, reopen = mode
    instances = complete_graph(seed, size=2)
    found = rs.theory.joint_behaviours(instances, algorithm, reopen)
    expected = joint(instances, algorithm, reopen)
    assert len(set(expected)) == len(expected) == len(found)
    assert {found.selected(b) for b in range(len(found))} == set(expected)
    assert found.prefix[-1] == len(found)
    assert found.prefix[0] == len(joint(instances[:1], algorithm, reopen))


@pytest.mark.slow
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), mode=st.sampled_from(MODES))
def test_witnesses_run_as_the_leaves_say(seed: int, mode: tuple[str, bool]) -> None:
    algorithm, reopen = mode
    instances = complete_graph(seed)
    found = rs.theory.joint_behaviours(instances, algorithm, reopen)
    for b in range(min(len(found), 40)):
        for i, run in enumerate(reference_runs(instances, found.rho[b].tolist(), algorithm, reopen)):
            assert [getattr(run, name) for name in MEASURES] == [getattr(found, name)[b, i] for name in MEASURES]


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), mode=st.sampled_from(MODES))
def test_regions_divide_all_rho(seed: int, mode: tuple[str, bool]) -> None:
    """Every ρ, on a border too, lies in the region of the behaviour that the reference shows, and in no other."""
    algorithm, reopen = mode
    rng = np.random.default_rng(seed)
    instances = complete_graph(seed, size=2, most=4)
    found = rs.theory.joint_behaviours(instances, algorithm, reopen)
    regions = [found.region(b) for b in range(len(found))]
    courses = [
        tuple(course(r) for r in reference_runs(instances, rho.tolist(), algorithm, reopen)) for rho in found.rho
    ]
    assert len(set(courses)) == len(found)
    for _ in range(10):
        rho = rng.integers(-8, 9, instances.graph.n) / rng.choice([1.0, 2.0, 4.0])
        inside = [b for b, region in enumerate(regions) if rho in region]
        assert len(inside) == 1
        runs = reference_runs(instances, rho.tolist(), algorithm, reopen)
        assert tuple(course(run) for run in runs) == courses[inside[0]]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_greedy_search_behaves_as_under_all_orders(seed: int) -> None:
    """Without symbols: every order of ρ is tried."""
    instances = complete_graph(seed)
    n = instances.graph.n
    shown = {
        tuple(course(run) for run in reference_runs(instances, list(order), "gbfs", True))
        for order in itertools.permutations(range(n))
    }
    assert len(rs.theory.joint_behaviours(instances, "gbfs")) == len(shown)


# ---------------------------------------------------------------- by hand, and known counts


def test_two_ways_by_hand() -> None:
    """s → 0 → t costs 1 + 1, s → 1 → t costs 2 + 3: A* takes 0 first where 1 + ρ_0 ≤ 2 + ρ_1, and so on."""
    instances = rs.theory.instance_set(4, [{(2, 0): 1, (2, 1): 2, (0, 3): 1, (1, 3): 3}], sources=2, goal=3)
    greedy = rs.theory.joint_behaviours(instances, "gbfs")
    assert [greedy.selected(b) for b in range(len(greedy))] == [((2, 0),), ((2, 1),)]
    first, second = greedy.region(0), greedy.region(1)
    assert (first.upper[0, 1], first.strict[0, 1]) == (0, False)
    assert (second.upper[1, 0], second.strict[1, 0]) == (0, True)
    assert [0.0, 0.0, 0.0, 0.0] in first
    assert [0.0, 0.0, 0.0, 0.0] not in second
    astar = rs.theory.joint_behaviours(instances)
    assert sorted(astar.selected(b)[0] for b in range(len(astar))) == [
        (2, 0, 1, 3),
        (2, 0, 3),
        (2, 1, 0, 3),
        (2, 1, 3),
    ]
    assert sorted(astar.cost[:, 0].tolist()) == [2, 2, 2, 5]


@pytest.mark.parametrize(("algorithm", "behaviours"), [("gbfs", 180), ("astar", 3121)])
def test_the_papers_lower_bound(algorithm: str, behaviours: int) -> None:
    found = rs.theory.joint_behaviours(rs.theory.theorem5_instances(8).instances, algorithm)
    assert len(found) == behaviours
    assert len(found.vectors(rs.utilities.Cost(10))[0]) == 16
    assert len(found.vectors(rs.utilities.Cost(2.5))[0]) == 16  # clipping does not merge 2 and 2.5
    assert len(found.vectors(rs.utilities.Cost(2))[0]) == 1


@pytest.mark.slow
def test_ten_vertices() -> None:
    instances = rs.theory.theorem5_instances(10).instances
    answer = rs.theory.shattering(instances, "astar", rs.utilities.Cost(10))
    assert answer
    assert answer.verify() == 6


@pytest.mark.slow
def test_a_hundred_times_the_plain_implementation(sanitized: bool) -> None:
    if sanitized:
        pytest.skip("times mean nothing under a sanitizer")
    instances = rs.theory.theorem5_instances(8).instances
    start = time.process_time()
    assert len(joint(instances, "astar")) == 3121
    plain = time.process_time() - start
    compiled = []
    for _ in range(20):
        start = time.process_time()
        rs.theory.joint_behaviours(instances)
        compiled.append(time.process_time() - start)
    assert plain / min(compiled) > 100


# ---------------------------------------------------------------- utilities of leaves


def test_utilities_of_leaves_are_those_of_runs() -> None:
    instances = complete_graph(7)
    found = rs.theory.joint_behaviours(instances)

    def widest(_: rs.instances.Instance, trace: rs.search.Trace) -> float:
        return max(len(state.open) for state in trace.states())

    class Doubled(rs.utilities.Expansions):
        def raw(self, runs: rs.search.Runs, optimum: np.ndarray | None) -> np.ndarray:
            return 2 * super().raw(runs, optimum)

    measured = [
        rs.utilities.Cost(5),
        rs.utilities.Suboptimality(9),
        rs.utilities.Ratio(3),
        rs.utilities.SolvedWithin(1.0),
        rs.utilities.Expansions(4),
        rs.utilities.Generated(50),
        rs.utilities.PeakOpen(50),
        rs.utilities.Custom(50, widest),
        Doubled(50),
    ]
    for utility in measured:
        values = found.utility(utility)
        for b in range(len(found)):
            assert (values[b] == rs.evaluate(found.rho[b], instances, utility)[0].values).all()
    assert (found.utility(measured[-2]) == found.utility(rs.utilities.PeakOpen(50))).all()
    with pytest.raises(rs.errors.UtilityError, match="Utility"):
        found.utility("cost")


# ---------------------------------------------------------------- limits and bad input


def test_a_tree_that_is_too_large() -> None:
    instances = rs.theory.theorem5_instances(8).instances
    with pytest.raises(rs.errors.LimitError, match=r"more than max_behaviours=3120 joint behaviours; about 9\d"):
        rs.theory.joint_behaviours(instances, max_behaviours=3120)
    assert rs.theory.joint_behaviours(instances, max_behaviours=3121).complete
    some = rs.theory.joint_behaviours(instances, max_behaviours=100, partial=True)
    assert (len(some), some.complete) == (100, False)
    assert 0 < some.explored < 0.5
    assert "incomplete" in repr(some)
    with pytest.raises(rs.errors.LimitError):
        rs.theory.shattering(instances, "astar", rs.utilities.Cost(10), max_behaviours=100)


def test_progress_is_told_and_may_stop_it() -> None:
    told = []

    def listen(leaves: int, explored: float) -> None:
        told.append((leaves, explored))
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rs.theory.joint_behaviours(rs.theory.theorem5_instances(11).instances, progress=listen, max_behaviours=10**8)
    assert 0 < told[0][0] < told[1][0]
    assert 0 < told[0][1] < told[1][1] < 1


def test_bad_input() -> None:
    graph = rs.Graph.from_edges(3, [0, 1, 0], [1, 2, 2])
    with pytest.raises(rs.errors.WeightError, match=r"instance 1: the edge 0 -> 2 weighs 0.5"):
        rs.theory.joint_behaviours(rs.InstanceSet(graph, [[1, 2, 3], [1, 0.5, 2]], 0, 2))
    with pytest.raises(rs.errors.WeightError, match="sums are exact below"):
        rs.theory.joint_behaviours(rs.InstanceSet(graph, [[1, 2.0**50, 2]], 0, 2))
    with pytest.raises(rs.errors.InstanceError, match="instance 1 has goal 1, instance 0 has 2"):
        rs.theory.joint_behaviours(rs.InstanceSet(graph, [1.0, 1, 1], [0, 0], [2, 1]))
    kept = rs.InstanceSet(graph, [[1, 1, 1], [1, np.inf, np.inf]], 0, 2, infeasible="keep")
    with pytest.raises(rs.errors.InfeasibleError, match="instance 1 has no path from 0 to 2"):
        rs.theory.joint_behaviours(kept)
    large = rs.Graph.grid(9, 9)
    with pytest.raises(rs.errors.InputError, match="81 vertices"):
        rs.theory.joint_behaviours(rs.InstanceSet(large, large.length, 0, 80))
    single = rs.instances.Instance(graph, np.ones(3), 0, 2)
    other = rs.instances.Instance(rs.Graph.from_edges(4, [0, 1], [1, 2]), np.ones(2), 0, 2)
    with pytest.raises(rs.errors.InstanceError, match=r"instances\[1\] has 4 vertices, instances\[0\] has 3"):
        rs.theory.joint_behaviours([single, other])
    with pytest.raises(rs.errors.InstanceError, match=r"instances\[1\] has goal 1"):
        rs.theory.joint_behaviours([single, single._replace(goal=1)])
    with pytest.raises(rs.errors.InstanceError, match="empty"):
        rs.theory.joint_behaviours([])
    with pytest.raises(rs.errors.InputError, match="must be an Instance"):
        rs.theory.joint_behaviours([graph])
    with pytest.raises(rs.errors.InputError, match="algorithm"):
        rs.theory.joint_behaviours([single], "dijkstra")
    assert len(rs.theory.joint_behaviours([single, single])) == len(rs.theory.joint_behaviours([single]))


def test_integers_and_floats_that_are_integers_are_the_same() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    whole = rs.theory.joint_behaviours(rs.InstanceSet(graph, np.array([[1, 2, 3, 1]]), 0, 3))
    floats = rs.theory.joint_behaviours(rs.InstanceSet(graph, np.array([[1.0, 2, 3, 1]]), 0, 3))
    assert (whole.rho == floats.rho).all()
