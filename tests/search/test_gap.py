"""The certified gap of an answer : what both modes need, and that the twin without it is wrong."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.search import reference
from support.cases import random_case


def gap_without_ignored_improvements(case, run) -> float:
    """The broken twin: forgets the improvements of closed vertices that were not taken."""
    trace = rs.astar(
        case.graph, case.weights, case.source, case.goal, case.rho, reopen=case.reopen, budget=case.budget, trace=True
    ).trace
    state = trace.state(len(trace))
    least = min((state.g[v] + case.lower_bound[v] for v in state.open), default=np.inf)
    return run.cost - min(run.cost, max(0.0, least))


@pytest.mark.parametrize("reopen", [True, False])
def test_the_gap_holds_and_the_twin_fails_only_without_reopening(reopen: bool) -> None:
    rng = np.random.default_rng(4)
    checked = positive = twin_wrong = 0
    while checked < 4000:
        case = random_case(rng, 9)
        case.algorithm, case.reopen = "astar", reopen
        if case.lower_bound is None:
            continue
        run = case.run()
        if run.status == "no_path" or not len(run.path):
            continue
        optimum = reference.astar(case.children, case.source, case.goal, [0.0] * case.graph.n).cost
        slack = 1e-9 * (1 + optimum)
        assert run.cost - optimum <= run.gap + slack
        assert run.gap >= 0
        checked += 1
        positive += run.gap > slack
        twin_wrong += run.cost - optimum > gap_without_ignored_improvements(case, run) + slack
    assert positive > 100
    assert (twin_wrong == 0) if reopen else (twin_wrong > 20)


def test_with_exact_distances_the_gap_is_the_true_one() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 2, 3])
    weights = np.array([1.0, 3.0, 1.0, 3.0])
    exact = rs.distances_to(graph, weights, 3)
    run = rs.astar(graph, weights, 0, 3, np.array([0.0, 4.0, 0.0, 0.0]), reopen=False, lower_bound=exact)
    assert (run.cost, run.bound, run.gap) == (6.0, 5.0, 1.0)


def test_gaps_of_many_runs() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(8, 8)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (30, graph.m)), rng.integers(0, 40, 30), goal=63)
    lower = rs.distances_to(graph, np.ones(graph.m), 63)
    runs = rs.solve_many(instances, rng.uniform(0, 20, 64), lower_bound=lower, reopen=False)
    optimum = rs.solve_many(instances, np.zeros(64)).cost
    assert (runs.cost - optimum <= runs.gap).all()
    assert (runs.gap > 0).any()
    assert runs[3].gap == runs.gap[3]
    assert rs.solve_many(instances, np.zeros(64)).gap is None


def test_a_bound_that_overestimates_at_the_goal_is_refused() -> None:
    graph = rs.Graph.grid(2, 2)
    with pytest.raises(rs.errors.HeuristicError, match=r"lower_bound\[3\] must be 0"):
        rs.astar(graph, graph.length, 0, 3, np.zeros(4), lower_bound=np.ones(4))
