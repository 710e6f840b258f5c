"""Alternatives keep their conditions, by brute force; and where a path by way of a vertex does, one is found."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, VertexError
from support.digraphs import all_pairs, random_digraph, random_weights
from support.random_queries import seeds

CLOSE = 1 + 1e-8


def sums(weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(weights[edges].astype(float))])


def is_locally_optimal(path: list[int], along: np.ndarray, exact: np.ndarray, length: float) -> bool:
    """Return whether every part that costs at most `length` is a shortest path."""
    return all(
        along[j] - along[i] <= exact[path[i], path[j]] * CLOSE
        for i in range(len(path))
        for j in range(i, len(path))
        if along[j] - along[i] <= length
    )


def check(routes: list, weights: np.ndarray, exact: np.ndarray, ends: tuple, shares: tuple) -> None:
    """The routes are paths between the ends and keep the three conditions."""
    (s, t), (excess, overlap, local), graph = ends, shares, routes[0]._known.graph
    optimum = exact[s, t]
    assert routes[0].cost == pytest.approx(optimum, rel=1e-12)
    used: set[int] = set()
    best = set(routes[0].edges.tolist())
    for k, route in enumerate(routes):
        path, edges = route.path.tolist(), route.edges
        assert (path[0], path[-1]) == (s, t)
        assert len(set(path)) == len(path) or k == 0  # a shortest path may go around a loop that costs nothing
        assert graph.edge_index(path[:-1], path[1:]).tolist() == edges.tolist()
        along = sums(weights, edges)
        assert route.cost == pytest.approx(along[-1], rel=1e-12)
        assert route.bound == routes[0].cost
        if k:
            shared = sum(float(weights[e]) for e in edges.tolist() if e in used)
            assert shared <= overlap * optimum * CLOSE + 1e-12
            common = sum(float(weights[e]) for e in edges.tolist() if e in best)
            assert along[-1] - common <= (1 + excess) * (optimum - common) * CLOSE + 1e-12
            assert is_locally_optimal(path, along, exact, local * optimum / CLOSE)
        used.update(edges.tolist())


@pytest.mark.parametrize("seed", seeds(60, each=25))
def test_every_alternative_keeps_the_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_digraph(rng, 20) if seed % 3 else rs.Graph.grid(*rng.integers(3, 7, 2).tolist())
    weights = random_weights(rng, graph.m) if seed % 3 else rng.uniform(1, 2, graph.m)
    exact = all_pairs(graph, weights)
    router = rs.Router(graph)
    router.update(weights)
    found = 0
    for query in range(25):
        if query == 12:
            router.prepare()
        s, t = rng.integers(0, graph.n, 2).tolist()
        excess, overlap, local = rng.choice([0.1, 0.25, 1.0]), rng.choice([0.3, 0.7, 0.9]), rng.choice([0.0, 0.1, 0.25])
        k = int(rng.integers(1, 6))
        routes = router.alternatives(s, t, k, max_excess=excess, max_overlap=overlap, locality=local)
        assert len(routes) <= k
        if exact[s, t] == np.inf:
            assert routes == []
            continue
        check(routes, weights, exact, (s, t), (excess, overlap, local))
        found += len(routes) > 1
    assert found or seed % 3  # on grids there are some


@pytest.mark.parametrize("seed", range(12))
def test_no_alternative_is_missed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(9, 9)
    weights = rng.uniform(1, 2, graph.m)  # no ties: shortest paths are unique
    exact = all_pairs(graph, weights)
    router = rs.Router(graph)
    router.update(weights)

    def path(a: int, b: int) -> list[int]:
        return router.route(a, b).path.tolist()

    found = 0
    for _ in range(8):
        s, t = int(rng.integers(0, 9)), int(rng.integers(72, 81))
        best, optimum = path(s, t), exact[s, t]
        on_best = set(pairwise(best))
        for v in range(graph.n):
            way = path(s, v)[:-1] + path(v, t)
            edges = graph.edge_index(way[:-1], way[1:])
            along = sums(weights, edges)
            common = sum(weights[e] for e, pair in zip(edges, pairwise(way), strict=True) if pair in on_best)
            good = len(set(way)) == len(way) and common <= 0.7 * optimum / CLOSE and common < along[-1]
            good = good and along[-1] - common <= 1.25 * (optimum - common) / CLOSE
            if good and is_locally_optimal(way, along, exact, 0.25 * optimum):
                assert len(router.alternatives(s, t, 2)) == 2, (s, t, v)
                found += 1
    assert found > 0


def test_two_roads_around_a_lake() -> None:
    #    1 - 2
    #  0       5   the upper road takes 9, the lower one 10; between 3 and 6 there is a detour
    #    3 - 4
    tail, head = [0, 1, 2, 0, 3, 4, 3, 6], [1, 2, 5, 3, 4, 5, 6, 4]
    router = rs.Router.from_edges(7, tail, head, labels=list("abcdefg"))
    router.update([3.0, 3.0, 3.0, 3.0, 3.0, 4.0, 2.0, 1.2])
    first, second = router.alternatives("a", "f")
    assert first.labels == tuple("abcf")
    assert second.labels == tuple("adef")  # and not a third one by g, which has a local detour
    assert second.edges.tolist() == [3, 4, 5]
    assert len(router.alternatives("a", "f", max_excess=0.1)) == 1
    assert router.alternatives("a", "f", 1)[0].cost == 9.0
    assert [route.cost for route in router.alternatives("a", "a")] == [0.0]
    assert router.alternatives("f", "a") == []
    before = router.snapshot
    router.update(edges=[0], weights=[np.inf])
    assert len(router.alternatives("a", "f")) == 2  # the detour is 3.2 long, and parts of up to 2.5 are looked at
    assert len(router.alternatives("a", "f", locality=0.4)) == 1
    assert len(router.alternatives("a", "f", snapshot=before, locality=0.4)) == 2


def test_an_allowed_excess_of_the_router_does_not_count() -> None:
    graph = rs.Graph.grid(12, 12)
    weights = np.random.default_rng(0).uniform(1, 1.4, graph.m)
    heuristic = rs.heuristics.DistanceHeuristic(graph, np.ones(graph.m)).with_facts(lower=np.ones(graph.m))
    exact, loose = rs.Router(graph), rs.Router(graph, heuristic, max_excess=0.3)
    for router in (exact, loose):
        router.update(weights)
    same = [[r.path.tolist() for r in router.alternatives(0, 143)] for router in (exact, loose)]
    assert same[0] == same[1]


def test_costs_of_one_query_count() -> None:
    graph = rs.Graph.grid(12, 12)
    weights = np.random.default_rng(0).uniform(1, 1.4, graph.m)
    router, updated = rs.Router(graph), rs.Router(graph)
    router.update(weights)
    closed = router.route(0, 143).edges[8:10]
    updated.update(np.where(np.isin(np.arange(graph.m), closed), np.inf, weights))
    for _ in range(2):
        found, expected = router.alternatives(0, 143, avoid=closed), updated.alternatives(0, 143)
        assert [route.path.tolist() for route in found] == [route.path.tolist() for route in expected]
        assert [route.cost for route in found] == [route.cost for route in expected]
        router.prepare()


def test_bad_input() -> None:
    router = rs.Router(rs.Graph.grid(3, 3))
    with pytest.raises(InputError, match="no weights yet"):
        router.alternatives(0, 8)
    router.update(np.ones(router.graph.m))
    with pytest.raises(InputError, match="k must be at least 1, got 0"):
        router.alternatives(0, 8, 0)
    with pytest.raises(VertexError, match="target must be a vertex"):
        router.alternatives(0, 9)
    for name in ("max_excess", "max_overlap", "locality"):
        with pytest.raises(InputError, match=f"{name} must be a share that is not negative, got -0.1"):
            router.alternatives(0, 8, **{name: -0.1})
