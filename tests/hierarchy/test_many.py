"""Costs from one vertex to many, from many to one and among many are those of Dijkstra's algorithm."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, VertexError, WeightError


@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_has_the_same_bits_as_single_queries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    town = rs.datasets.city(1500, seed=seed)
    today = rs.Hierarchy(town.graph).customize(town.snapshots(1, seed=seed)[0])
    sources, targets = rng.integers(0, town.graph.n, 30), rng.integers(0, town.graph.n, 50)
    targets[0] = sources[0]
    found = today.matrix(sources, targets)
    assert found.tolist() == [[today.distance(s, t) for t in targets] for s in sources]
    assert found[0, 0] == 0.0
    np.testing.assert_allclose(today.distances(sources[3], targets), found[3], rtol=1e-14)
    np.testing.assert_allclose(today.distances_to(targets[7], sources), found[:, 7], rtol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_a_cost_limit_is_inclusive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(25, 25)
    weights = rng.integers(1, 9, graph.m)
    today = rs.Hierarchy(graph).customize(weights)
    some = rng.integers(0, graph.n, 40)
    for v in rng.integers(0, graph.n, 8).tolist():
        for compute in (today.distances, today.distances_to):
            exact = compute(v)
            for limit in (0, 3, float(exact[some[0]]), 60, np.inf):
                expected = np.where(exact <= limit, exact, np.inf)
                assert np.array_equal(compute(v, max_cost=limit), expected)
                assert np.array_equal(compute(v, some, max_cost=limit), expected[some])


def test_empty_and_large_requests() -> None:
    graph = rs.Graph.grid(8, 8)
    today = rs.Hierarchy(graph).customize(np.ones(graph.m))
    assert today.distances(0, []).shape == (0,)
    assert today.matrix([], [1, 2]).shape == (0, 2)
    assert today.matrix([1, 2], []).shape == (2, 0)
    many = np.arange(5000) % graph.n  # more than are taken together
    assert np.array_equal(today.matrix([3, 9], many), today.matrix([3, 9], np.arange(graph.n))[:, many])
    assert np.array_equal(today.matrix(many, [3, 9]), today.matrix(np.arange(graph.n), [3, 9])[many])


def test_bad_requests() -> None:
    graph = rs.Graph.grid(3, 3)
    today = rs.Hierarchy(graph).customize(np.ones(graph.m))
    with pytest.raises(VertexError, match=r"targets\[1\] must be a vertex in 0\.\.8, got 9"):
        today.distances(0, [1, 9])
    with pytest.raises(VertexError, match=r"sources\[0\] must be a vertex"):
        today.distances_to(0, [-1])
    with pytest.raises(VertexError, match=r"sources\[0\] must be a vertex"):
        today.matrix([77], [0])
    with pytest.raises(InputError, match="max_cost must be a number that is not negative, got nan"):
        today.distances(0, max_cost=float("nan"))
    large = rs.Hierarchy(graph).customize(np.full(graph.m, 2**52))
    with pytest.raises(WeightError, match=r"a path costs 2\*\*53 or more"):
        large.distances(0)
    with pytest.raises(WeightError, match=r"a path costs 2\*\*53 or more"):
        large.matrix([0], [8])
    assert large.distances(0, [1]).tolist() == [2.0**52]
