"""Answers of a customized hierarchy on random digraphs, compared with those of an independent Dijkstra search."""

from __future__ import annotations

import numpy as np

import rhostar as rs
from support.digraphs import dijkstra, random_digraph, random_weights

UNIT = 2.0**-53


def compare_random_digraphs(seed: int, pairs: int, largest: int = 30) -> int:
    """Compare all kinds of calls on random digraphs until so many pairs of vertices are done; return how many.

    Zero weights, absent edges, one-way streets, several parts and graphs of one or two vertices are common. Where all
    weights are multiples of 1/8, answers must be equal, elsewhere as close as sums round.
    """
    rng = np.random.default_rng(seed)
    done = 0
    while done < pairs:
        graph = random_digraph(rng, int(rng.choice([1, 2, 8, largest])))
        weights = random_weights(rng, graph.m)
        today = rs.Hierarchy(graph).customize(weights)
        compare(today, weights)
        done += graph.n**2
        for _ in range(int(rng.integers(3)) if graph.m > 1 else 0):
            weights = weights.copy()
            edges = np.unique(rng.integers(1, graph.m, int(rng.integers(1, 6))))  # edge 0 keeps a finite weight
            fresh = random_weights(rng, edges.size + 1)[1:]
            weights[edges] = fresh if weights.dtype.kind == "f" else rng.integers(0, 9, edges.size)
            today = today.update(edges, weights[edges], in_place=bool(rng.integers(2)))
            compare(today, weights)
            done += graph.n**2
    return done


def compare(today: rs.hierarchy.CustomizedHierarchy, weights: np.ndarray) -> None:
    """Compare every pair of vertices, by every kind of call."""
    graph = today.graph
    everyone = np.arange(graph.n)
    exact = np.array([dijkstra(graph, weights, s) for s in everyone.tolist()])
    finite = weights[np.isfinite(weights)] * 8.0
    slack = 0.0 if np.array_equal(finite, np.floor(finite)) else 2 * graph.n * UNIT
    matrix = today.matrix(everyone, everyone)
    np.testing.assert_allclose(matrix, exact, rtol=slack, atol=0)
    for v in everyone.tolist():
        np.testing.assert_allclose(today.distances(v), exact[v], rtol=slack, atol=0)
        np.testing.assert_allclose(today.distances_to(v), exact[:, v], rtol=slack, atol=0)
        np.testing.assert_allclose(today.distances(v, everyone[::-1]), exact[v, ::-1], rtol=slack, atol=0)
        for t in everyone.tolist():
            assert today.distance(v, t) == matrix[v, t]
            check_path(today, weights, v, t, exact[v, t])


def check_path(today: rs.hierarchy.CustomizedHierarchy, weights: np.ndarray, s: int, t: int, exact: float) -> None:
    """Compare a path with the optimum: it leads over edges, and its sum in order is as close as promised."""
    graph = today.graph
    cost, path, edges = today.path(s, t)
    assert cost == today.distance(s, t)
    if exact == np.inf:
        assert cost == np.inf
        assert path.size == edges.size == 0
        return
    assert path[0] == s
    assert path[-1] == t
    assert path.size == edges.size + 1
    assert np.array_equal(graph.tail[edges], path[:-1])
    assert np.array_equal(graph.head[edges], path[1:])
    in_order = 0.0
    for edge in edges.tolist():
        in_order += float(weights[edge])
    assert in_order <= exact * (1 + 2 * edges.size * UNIT)
