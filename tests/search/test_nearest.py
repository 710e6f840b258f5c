"""The nearest of several goals, in one search."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, InputError, ModelError, NotFittedError, VertexError, WeightError
from rhostar.search import astar_to_nearest


def test_one_search_finds_the_nearest_goal_with_less_work_than_one_for_each() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(25, 25, neighbors=8)
    usual = rng.uniform(1, 2, graph.m)
    potentials = [rs.heuristics.DistanceHeuristic(graph, usual), rs.heuristics.octile(graph)]
    for _ in range(40):
        weights = np.maximum(usual, graph.length) * rng.uniform(1, 1.5, graph.m)
        source, goals = int(rng.integers(graph.n)), rng.integers(0, graph.n, int(rng.integers(1, 6)))
        exact = [rs.distances_to(graph, weights, int(goal))[source] for goal in goals]
        for potential in potentials:
            run = astar_to_nearest(graph, weights, source, goals, potential)
            assert run.cost == pytest.approx(min(exact), rel=1e-14)
            assert run.path[0] == source
            assert exact[goals.tolist().index(run.path[-1])] == min(exact)
            edges = graph.edge_index(run.path[:-1], run.path[1:])
            assert weights[edges].sum() == pytest.approx(run.cost)
            each = sum(rs.astar(graph, weights, source, int(goal), potential).expanded for goal in goals)
            assert run.expanded <= each
            # The same search with the table of the least values, to the goal that was found.
            table = potential.table(goals)
            assert run.expanded == rs.astar(graph, weights, source, int(run.path[-1]), table).expanded


def test_ties_go_to_the_smaller_goal_and_a_source_may_be_a_goal() -> None:
    graph = rs.Graph.grid(1, 7)
    octile = rs.heuristics.octile(graph)
    assert astar_to_nearest(graph, graph.length, 3, [6, 0], octile).path.tolist() == [3, 2, 1, 0]
    assert astar_to_nearest(graph, graph.length, 3, [6, 3], octile).path.tolist() == [3]


def test_without_a_path_or_within_a_budget() -> None:
    graph = rs.Graph.grid(1, 5)
    octile = rs.heuristics.octile(graph)
    closed = np.full(graph.m, np.inf)
    assert astar_to_nearest(graph, closed, 2, [0, 4], octile).status is rs.search.Status.NO_PATH
    assert astar_to_nearest(graph, graph.length, 2, [0, 4], octile, budget=1).status is rs.search.Status.BUDGET
    assert astar_to_nearest(graph, graph.length, 2, [0, 4], octile, budget=2**80).cost == 2.0


def test_learners_and_models_that_have_a_potential_are_taken() -> None:
    graph = rs.Graph.grid(6, 6)
    weights = np.random.default_rng(0).uniform(1, 2, (8, graph.m))
    learner = rs.learners.Potentials(n_clusters=2).fit(rs.InstanceSet(graph, weights, 0, np.arange(8) + 5))
    for rho in (learner, rs.Model.of(learner, graph)):
        assert astar_to_nearest(graph, weights[0], 0, [35, 7], rho).path[-1] == 7


def test_bad_input_is_refused() -> None:
    graph = rs.Graph.grid(3, 3)
    octile = rs.heuristics.octile(graph)
    with pytest.raises(ArrayError, match="at least one"):
        astar_to_nearest(graph, graph.length, 0, [], octile)
    with pytest.raises(VertexError, match="goals"):
        astar_to_nearest(graph, graph.length, 0, [3, 9], octile)
    with pytest.raises(VertexError, match="source"):
        astar_to_nearest(graph, graph.length, 9, [3], octile)
    with pytest.raises(InputError, match="rho must be a heuristic for every goal"):
        astar_to_nearest(graph, graph.length, 0, [3], np.zeros(9))
    with pytest.raises(NotFittedError):
        astar_to_nearest(graph, graph.length, 0, [3], rs.learners.Potentials())
    with pytest.raises(ModelError, match="another graph"):
        astar_to_nearest(rs.Graph.grid(1, 9), np.ones(16), 0, [3], octile)
    with pytest.raises(WeightError, match=r"weights\[0\]"):
        astar_to_nearest(graph, -graph.length, 0, [3], octile)
    delayed = rs.heuristics.DistanceHeuristic(graph, graph.length, goal_delay=True)
    with pytest.raises(WeightError, match=r"weights\[0\]"):
        astar_to_nearest(graph, -graph.length, 0, [3], delayed)
