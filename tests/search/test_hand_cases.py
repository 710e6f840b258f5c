"""Small cases worked out by hand: ties, stopping rules, reopening, counters."""

import numpy as np
import pytest

import rhostar as rs
from support.cases import ADMISSIBLE, DETOUR, Case, assert_same, binary_counter, from_triples

INF = np.inf


def test_reopening_repairs_what_an_inconsistent_rho_spoils() -> None:
    run = rs.astar(*DETOUR, 0, 3, ADMISSIBLE)
    assert (run.status, run.cost, run.path.tolist()) == ("solved", 5.0, [0, 1, 2, 3])
    # 0, 2, 1, 2 again; then the goal is selected.
    assert (run.expanded, run.generated, run.reopened, run.peak_open) == (4, 5, 1, 2)


def test_without_reopening_the_answer_is_worse_and_no_vertex_is_expanded_twice() -> None:
    run = rs.astar(*DETOUR, 0, 3, ADMISSIBLE, reopen=False)
    assert (run.cost, run.path.tolist()) == (6.0, [0, 2, 3])
    assert (run.expanded, run.generated, run.reopened, run.peak_open) == (3, 4, 0, 2)


def test_gbfs_returns_when_the_goal_is_generated() -> None:
    graph, weights = from_triples(4, (0, 1, 1), (0, 3, 9), (1, 3, 1))
    run = rs.gbfs(graph, weights, 0, 3, np.zeros(4), trace=True)
    # Children are scanned in index order: 1 enters OPEN before the goal is seen.
    assert (run.cost, run.path.tolist()) == (9.0, [0, 3])
    assert (run.expanded, run.generated, run.peak_open) == (1, 2, 1)
    assert run.trace.state(1).open == {0, 1}
    assert run.trace.state(1).closed == set()
    assert run.trace.state(1).pointer == {0: None, 1: 0, 3: 0}


def test_astar_returns_when_the_goal_is_selected() -> None:
    graph, weights = from_triples(4, (0, 1, 1), (0, 3, 9), (1, 3, 1))
    run = rs.astar(graph, weights, 0, 3, np.zeros(4), trace=True)
    assert (run.cost, run.path.tolist(), run.expanded) == (2.0, [0, 1, 3], 2)
    assert run.trace.selected.tolist() == [0, 1, 3]
    assert run.trace.state(3).open == {3}  # it returns before the goal moves to CLOSED


def test_gbfs_opens_each_vertex_once_and_keeps_its_first_pointer() -> None:
    graph, weights = from_triples(4, (0, 1, 5), (0, 2, 1), (2, 1, 1), (1, 3, 1))
    run = rs.gbfs(graph, weights, 0, 3, np.array([0.0, 2.0, 1.0, 0.0]))
    assert (run.cost, run.path.tolist(), run.expanded) == (6.0, [0, 1, 3], 3)


@pytest.mark.parametrize("algorithm", [rs.gbfs, rs.astar])
def test_ties_go_to_the_smaller_vertex(algorithm) -> None:
    graph, weights = from_triples(5, (0, 3, 1), (0, 1, 1), (0, 2, 1), (1, 4, 1), (2, 4, 1), (3, 4, 1))
    for rho in (np.zeros(5), np.array([0.0, 0.0, -0.0, -0.0, 0.0])):
        assert algorithm(graph, weights, 0, 4, rho).path.tolist() == [0, 1, 4]


def test_an_equal_g_is_no_improvement() -> None:
    graph, weights = from_triples(4, (0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1))
    run = rs.astar(graph, weights, 0, 3, np.zeros(4), trace=True)
    assert run.path.tolist() == [0, 1, 3]
    assert run.trace.state(3).pointer[3] == 1


def test_negative_rho_makes_no_difference_to_the_order_of_differences() -> None:
    graph, weights = DETOUR
    shifted = rs.astar(graph, weights, 0, 3, ADMISSIBLE - 100.0)
    assert (shifted.cost, shifted.expanded, shifted.reopened) == (5.0, 4, 1)


def test_budget_is_tested_before_an_expansion() -> None:
    graph, weights = from_triples(3, (0, 1, 1), (1, 2, 1))
    assert rs.astar(graph, weights, 0, 2, np.zeros(3), budget=2).status == "solved"
    run = rs.astar(graph, weights, 0, 2, np.zeros(3), budget=1)
    assert (run.status, run.cost, run.path.tolist(), run.expanded) == ("budget", INF, [], 1)
    assert rs.astar(graph, weights, 0, 2, np.zeros(3), budget=0).expanded == 0
    assert rs.gbfs(graph, weights, 0, 2, np.zeros(3), budget=2).status == "solved"
    assert rs.gbfs(graph, weights, 0, 2, np.zeros(3), budget=1).status == "budget"
    assert rs.astar(graph, weights, 0, 2, np.zeros(3), budget=2**70).status == "solved"


def test_when_the_budget_runs_out_the_best_known_path_is_returned() -> None:
    graph, weights = from_triples(4, (0, 1, 1), (0, 3, 9), (1, 3, 1))
    run = rs.astar(graph, weights, 0, 3, np.zeros(4), budget=1, lower_bound=np.zeros(4))
    assert (run.status, run.cost, run.path.tolist(), run.bound, run.gap) == ("budget", 9.0, [0, 3], 1.0, 8.0)


def test_the_cost_out_of_budget_is_that_of_the_path_not_of_g() -> None:
    # 4 is generated over 1; then 1 is improved (1 -> 3 is cheaper) and the budget ends before 1 tells 4.
    graph, weights = from_triples(5, (0, 1, 5), (0, 2, 1), (2, 1, 1), (1, 4, 1))
    rho = np.array([0.0, -9.0, 0.0, 0.0, 9.0])
    run = rs.astar(graph, weights, 0, 4, rho, budget=3, trace=True)
    assert run.status == "budget"
    assert run.trace.state(len(run.trace)).g[4] == 6.0
    assert (run.cost, run.path.tolist()) == (3.0, [0, 2, 1, 4])


@pytest.mark.parametrize("algorithm", [rs.gbfs, rs.astar])
def test_source_and_goal_may_be_the_same_in_a_single_call(algorithm) -> None:
    for graph in (rs.Graph.from_edges(1, [], []), DETOUR[0]):
        run = algorithm(graph, np.ones(graph.m), 0, 0, np.zeros(graph.n))
        assert (run.status, run.cost, run.path.tolist()) == ("solved", 0.0, [0])
        assert (run.expanded, run.generated, run.peak_open) == (0, 1, 1)


@pytest.mark.parametrize("algorithm", [rs.gbfs, rs.astar])
def test_no_path(algorithm) -> None:
    graph, weights = from_triples(4, (0, 1, 1), (1, 2, INF), (2, 3, 1))
    run = algorithm(graph, weights, 0, 3, np.zeros(4))
    assert (run.status, run.cost, run.path.tolist()) == ("no_path", INF, [])
    assert (run.expanded, run.generated) == (2, 2)


def test_no_path_is_certain_with_a_lower_bound() -> None:
    graph, weights = from_triples(3, (0, 1, 1))[0], np.ones(1)
    run = rs.astar(graph, weights, 0, 2, np.zeros(3), lower_bound=np.zeros(3))
    assert (run.status, run.bound, run.gap) == ("no_path", INF, 0.0)


def test_integer_weights_are_exact_where_float32_would_not_be() -> None:
    graph = rs.Graph.from_edges(3, [0, 1, 0], [1, 2, 2])
    big = 2**40
    weights = graph.arrange(np.array([big, big, 2 * big + 1]))
    assert rs.astar(graph, weights, 0, 2, np.zeros(3)).cost == 2 * big


@pytest.mark.parametrize("k", [2, 3, 5, 10, 16])
def test_reopening_can_take_exponentially_many_expansions(k: int) -> None:
    case = binary_counter(k)
    run = rs.astar(*case)
    assert run.expanded == 2 ** (k - 1)
    assert run.cost == rs.distances_to(case[0], case[1], 0)[k]
    assert rs.astar(*case, reopen=False).expanded == k
    stopped = rs.astar(*case, budget=2 ** (k - 1) - 1)
    assert (stopped.status, stopped.expanded) == ("budget", 2 ** (k - 1) - 1)
    if k <= 10:
        assert_same(rs.astar(*case, trace=True), Case(*case, algorithm="astar").expected())
