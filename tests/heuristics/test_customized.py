"""A customized hierarchy as a heuristic for every goal."""

import warnings

import numpy as np
import pytest
from test_hierarchy import all_pairs, random_case

import rhostar as rs
from rhostar.errors import BoundsWarning, ModelError
from rhostar.heuristics import DistanceHeuristic, as_heuristic


def test_it_never_overestimates_and_answers_are_optimal_whatever_the_weights() -> None:
    rng = np.random.default_rng(31)
    below = 0
    for _ in range(200):
        graph, usual = random_case(rng)
        if graph.m == 0:
            continue
        customized = rs.Hierarchy(graph).customize(usual)
        rho = as_heuristic(customized, graph)
        assert isinstance(rho, DistanceHeuristic)
        assert np.array_equal(rho.lower, usual)
        exact = all_pairs(graph, usual)
        rises = usual + rng.integers(0, 4, graph.m)
        falls = np.where(rng.random(graph.m) < 0.2, rng.integers(0, 3, graph.m), rises).astype(float)
        for goal in range(graph.n):
            reached = np.isfinite(exact[:, goal])
            assert (rho.table(goal)[reached] <= exact[reached, goal]).all()
        for today in (usual, rises, falls):
            below += bool((today < usual).any())
            for source, goal in rng.integers(0, graph.n, (4, 2)).tolist():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BoundsWarning)
                    found = rs.astar(graph, today, source, goal, customized)
                assert found.cost == pytest.approx(rs.astar(graph, today, source, goal, np.zeros(graph.n)).cost)
    assert below > 50


def test_on_the_same_weights_a_search_expands_the_path_alone() -> None:
    town = rs.datasets.city(1500, seed=3)
    graph, today = town.graph, town.snapshots(1, seed=5)[0]
    index = rs.Hierarchy(graph).customize(today)
    rng = np.random.default_rng(0)
    for source, goal in rng.integers(0, graph.n, (50, 2)).tolist():
        run = rs.astar(graph, today, source, goal, index)
        assert run.status is rs.search.Status.NO_PATH or run.expanded == run.path.size - 1
        assert run.cost == pytest.approx(index.distance(source, goal), rel=1e-12)


def test_it_is_made_once_and_again_after_an_update_in_place() -> None:
    graph = rs.Graph.grid(8, 8)
    customized = rs.Hierarchy(graph).customize(np.ones(graph.m))
    before = as_heuristic(customized, graph)
    assert as_heuristic(customized, graph) is before
    later = customized.update([3], 7.0)
    assert as_heuristic(customized, graph) is before
    assert as_heuristic(later, graph) is not before
    customized.update(np.arange(graph.m), 2.0, in_place=True)
    after = as_heuristic(customized, graph)
    assert (before.table(63)[0], after.table(63)[0]) == (14.0, 28.0)
    assert (before.lower.max(), after.lower.min()) == (1.0, 2.0)
    with pytest.raises(ModelError, match="another graph"):
        as_heuristic(customized, rs.Graph.grid(4, 16))
