"""The graphs, weights and heuristics that the search benchmarks share; everything is seeded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
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

    The consistent one is the straight line at the least cost per length; without coordinates it is the best of eight
    landmarks. The noisy one is 0.9 of the exact cost-to-go, each value off by up to 10 % either way: it overestimates
    sometimes and is not consistent.
    """
    consistent = straight_line(graph, weights, goal)
    exact = rs.distances_to(graph, weights, goal)
    exact = np.where(np.isfinite(exact), exact, exact[np.isfinite(exact)].max())
    return {
        "zero": np.zeros(graph.n),
        "consistent": consistent,
        "noisy": 0.9 * exact * rng.uniform(0.9, 1.1, graph.n),
    }


def straight_line(graph: rs.Graph, weights: np.ndarray, goal: int) -> np.ndarray:
    """Return a consistent rho: the straight line, or landmarks where the straight line is always 0."""
    if graph.coordinates is not None:
        length = np.hypot(*(graph.coordinates[graph.tail] - graph.coordinates[graph.head]).T)
        scale = np.divide(weights, length, out=np.full(graph.m, np.inf), where=length > 0).min() * (1 - 1e-12)
        if scale > 0:
            return rs.heuristics.euclidean(graph, goal) * scale
    rho = np.zeros(graph.n)
    for landmark in np.random.default_rng(0).choice(graph.n, 8, replace=False):
        distance = rs.distances_to(graph, weights, int(landmark))
        # d(v, L) <= w(v, c) + d(c, L): the difference to the goal's own distance is consistent.
        rho = np.maximum(rho, distance - distance[goal])
    return rho


def real() -> Iterator[tuple[str, Workload]]:
    """Return the real networks that the folder RHOSTAR_DATA has: (f) Rome, (g) San Joaquin, (h) den520d."""
    folder = Path(os.environ.get("RHOSTAR_DATA", ""))
    kinds = {
        "Rome": (
            [folder / "roads" / "rome99.gr"],
            rs.datasets.read_dimacs,
        ),
        "San Joaquin": (
            [folder / "roads" / "TG.cnode.txt", folder / "roads" / "TG.cedge.txt"],
            rs.datasets.read_node_edge,
        ),
        "den520d": (
            [folder / "movingai" / "den520d.map"],
            rs.datasets.read_map,
        ),
    }
    for name, (files, read) in kinds.items():
        if not os.environ.get("RHOSTAR_DATA") or not all(file.is_file() for file in files):
            print(f"{name}: no data; set RHOSTAR_DATA to a folder that has {' and '.join(f.name for f in files)}")
            continue
        yield name, _connected(name, read(*files))


def _connected(name: str, network: rs.datasets.Network) -> Workload:
    """Return a long query on the largest strongly connected part, without absent edges."""
    graph, weights = network.graph, network.weights[0].astype(np.float64)
    there = weights < np.inf
    present = rs.Graph.from_edges(
        graph.n, graph.tail[there], graph.head[there], coordinates=graph.coordinates, length=weights[there]
    )
    part = present.largest_strong_part().graph
    weights = np.array(part.length)
    goal = rs.datasets.choose_goal(part)
    exact = rs.distances_to(part, weights, goal)
    source = int(np.argsort(exact)[int(0.9 * part.n)])  # farther than nine tenths of all vertices
    return Workload(name, part, weights, source, goal, heuristics(part, weights, goal, np.random.default_rng(5)))


def grid(side: int = 1000) -> Workload:
    """Return (a): a square grid with 8 neighbors, each step's length times a random factor from 1 to 2."""
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(side, side, neighbors=8)
    weights = symmetric(graph, rng.uniform(1, 2, graph.m)) * graph.length
    source, goal = graph.vertex((side // 4, side // 4)), graph.vertex((side // 2, side // 2))
    return Workload(f"grid {side}x{side}", graph, weights, source, goal, heuristics(graph, weights, goal, rng))


def road(n: int = 200_000, *, order: str = "rows") -> Workload:
    """Return (b): a road-like planar graph, about 2.6 roads per junction, some of them fast.

    Junctions form a jittered lattice; roads are the Delaunay edges of a minimum spanning tree and the shortest of
    the rest. Numbered row by row as a survey would ("rows"), or in random order ("random").
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
