"""The graphs, weights and heuristics that the search benchmarks share; everything is seeded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import rhostar as rs


class Workload(NamedTuple):
    """One query with several heuristics."""

    name: str
    graph: rs.Graph
    weights: np.ndarray
    source: int
    goal: int
    rho: dict[str, np.ndarray]


def heuristics(graph: rs.Graph, weights: np.ndarray, goal: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return rho = 0, a consistent rho, and a noisy one that is not.

    The consistent one is the straight line at the least cost per length; the noisy one is 0.9 of the exact
    cost-to-go, each value off by up to 10 % either way: it neither underestimates always nor is consistent.
    """
    straight = rs.heuristics.euclidean(graph, goal)
    length = np.hypot(*(graph.coordinates[graph.tail] - graph.coordinates[graph.head]).T)
    scale = (weights / length).min() * (1 - 1e-12)
    exact = rs.distances_to(graph, weights, goal)
    exact = np.where(np.isfinite(exact), exact, exact[np.isfinite(exact)].max())
    return {
        "zero": np.zeros(graph.n),
        "consistent": straight * scale,
        "noisy": 0.9 * exact * rng.uniform(0.9, 1.1, graph.n),
    }


def grid(side: int = 1000) -> Workload:
    """Return (a): a square grid with 8 neighbours, each step's length times a random factor from 1 to 2."""
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(side, side, neighbours=8)
    weights = symmetric(graph, rng.uniform(1, 2, graph.m)) * graph.length
    source, goal = graph.vertex((side // 4, side // 4)), graph.vertex((side // 2, side // 2))
    return Workload(f"grid {side}x{side}", graph, weights, source, goal, heuristics(graph, weights, goal, rng))


def road(n: int = 200_000, *, order: str = "rows") -> Workload:
    """Return (b): a road-like planar graph, about 2.6 roads a junction, some of them fast.

    Junctions are a jittered lattice; roads the Delaunay edges in a minimum spanning tree and the shortest of
    the rest. Numbered row by row as a survey would ("rows"), or by chance ("random").
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    rng = np.random.default_rng(2)
    side = int(np.sqrt(n))
    cell = np.arange(side * side)
    points = np.stack([cell % side, cell // side], axis=1) + rng.uniform(-0.45, 0.45, (side * side, 2))
    if order == "random":
        points = points[rng.permutation(len(points))]
    triangles = Delaunay(points).simplices
    pairs = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])), axis=0
    )
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    length = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T)
    shape = (len(points), len(points))
    tree = minimum_spanning_tree(coo_array((length, pairs.T), shape=shape)).tocoo()
    in_tree = np.isin(pairs @ [len(points), 1], np.sort(np.stack([tree.row, tree.col], 1), axis=1) @ [len(points), 1])
    rest = np.flatnonzero(~in_tree)
    wanted = int(1.3 * len(points)) - int(in_tree.sum())
    kept = np.concatenate([np.flatnonzero(in_tree), rest[np.argsort(length[rest])[:wanted]]])
    u, v = pairs[kept].T
    graph = rs.Graph.from_edges(
        len(points), np.r_[u, v], np.r_[v, u], coordinates=points, length=np.tile(length[kept], 2)
    )
    slowness = rng.choice([0.35, 0.6, 1.0], p=[0.05, 0.25, 0.7], size=graph.m) * rng.uniform(1, 1.5, graph.m)
    weights = symmetric(graph, slowness) * graph.length
    x, y = points.T
    source = int(np.argmin((x - side * 0.25) ** 2 + (y - side * 0.3) ** 2))
    goal = int(np.argmin((x - side * 0.75) ** 2 + (y - side * 0.6) ** 2))
    return Workload(f"road {len(points)}", graph, weights, source, goal, heuristics(graph, weights, goal, rng))


def symmetric(graph: rs.Graph, values: np.ndarray) -> np.ndarray:
    """Give both directions of an edge one value, so that libraries of undirected graphs can take part."""
    back = graph.edge_index(graph.head, graph.tail)
    return np.maximum(values, values[back])
