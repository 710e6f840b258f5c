"""Sets of instances that several tests use; each is the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import rhostar as rs


def grid_instances(
    rows: int,
    columns: int,
    count: int,
    *,
    neighbors: int = 4,
    high: float = 2.0,
    sources: ArrayLike | None = 0,
    goal: ArrayLike | None = None,
    seed: int = 0,
) -> rs.InstanceSet:
    """Return a grid with weights between 1 and `high`; the goal is the last cell unless one is given.

    With ``sources=None`` the starts are drawn among all cells but the last.
    """
    graph = rs.Graph.grid(rows, columns, neighbors=neighbors)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(1, high, size=(count, graph.m))
    if sources is None:
        sources = rng.integers(0, graph.n - 1, count)
    return rs.InstanceSet(graph, weights, sources, graph.n - 1 if goal is None else goal)


def square_grid(count: int = 40, side: int = 6, seed: int = 0) -> rs.InstanceSet:
    """Return a square grid with weights between 1 and 3, starts anywhere and the goal in the last corner."""
    return grid_instances(side, side, count, high=3.0, sources=None, seed=seed)


def changing_graph(
    seed: int, n: int = 9, count: int = 12, *, absent: float = 0.3, integers: bool = False
) -> rs.InstanceSet:
    """Return instances on a random graph in which edges come and go and snapshots are shared."""
    rng = np.random.default_rng(seed)
    tail, head = rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)
    graph = rs.Graph.from_edges(n, np.r_[tail, 0], np.r_[head, n - 1])
    weights = rng.integers(0, 5, (count, graph.m)).astype(float) if integers else rng.uniform(0.5, 3, (count, graph.m))
    weights[rng.random(weights.shape) < absent] = np.inf
    weights[:, graph.edge_index(0, n - 1)] = 9.0  # at least one instance has a path
    rows, sources = rng.integers(0, count, 2 * count), rng.integers(0, n - 1, 2 * count)
    sources[0] = 0
    return rs.InstanceSet(graph, weights, sources, n - 1, rows=rows, infeasible="drop")


def complete_graph(seed: int, largest: int = 3, most: int = 5, size: int = 3) -> rs.InstanceSet:
    """Return up to `size` feasible instances on at most `most` vertices, with any edge absent or 0 to `largest`."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, most + 1))
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    graph = rs.Graph.from_edges(n, tail, head)
    goal = int(rng.integers(n))
    while True:
        count = int(rng.integers(1, size + 1))
        weights = rng.integers(0, largest + 1, size=(count, graph.m)).astype(float)
        weights[rng.random(weights.shape) > rng.choice([0.3, 0.5, 0.8])] = np.inf
        sources = rng.choice([v for v in range(n) if v != goal], count)
        try:
            return rs.InstanceSet(graph, weights, sources, goal)
        except rs.errors.InfeasibleError:
            continue


def obstacle_worlds(count: int = 60, side: int = 14, seed: int = 0, scale: float = 1.0) -> rs.InstanceSet:
    """Return worlds of which three tenths of the cells are blocked, from the first corner to the last."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(side, side, neighbors=8)
    blocked = rng.random((count, side, side)) < 0.3
    blocked[:, 0, 0] = blocked[:, -1, -1] = False
    made = rs.InstanceSet.from_obstacles(graph, blocked, 0, graph.n - 1, corner_cutting=True, infeasible="drop")
    return rs.InstanceSet(graph, made.weights[made.rows] * scale, made.sources, graph.n - 1)
