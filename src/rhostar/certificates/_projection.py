"""Lowering ρ until no difference along an edge is above the largest weight of the edge: the class that U2 is about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph
from rhostar.search import distances_to


def exceeding(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.bool_]:
    """Return for each edge whether ρ_v − ρ_c is above the cap; edges that leave the goal do not count."""
    return (rho[graph.tail] > rho[graph.head] + caps) & (graph.tail != goal)


def projected(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.float64]:
    """Return the largest ρ′ ≤ ρ with ρ′_v − ρ′_c ≤ D on every edge that does not leave the goal, whose value stays.

    Caps are at least 0. ρ′_v = min_u (ρ_u + dist_D(v, u)): distances to one more vertex, to which every vertex has an
    edge.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._projection import projected
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> projected(graph, np.array([9.0, 5.0, 0.0]), np.array([2.0]), goal=2).tolist()
    [4.0, 2.0, 0.0]
    """
    caps = np.broadcast_to(caps, graph.m)
    if not exceeding(graph, rho, caps, goal).any():
        return rho
    kept = graph.tail != goal
    n, least = graph.n, float(rho.min())
    tail = np.concatenate([graph.tail[kept], np.arange(n, dtype=np.int32)])
    head = np.concatenate([graph.head[kept], np.full(n, n, dtype=np.int32)])
    wider = Graph.from_edges(n + 1, tail, head)
    distance = distances_to(wider, wider.arrange(np.concatenate([caps[kept], rho - least])), goal=n)
    lowered = np.minimum(rho, distance[:n] + least)
    lowered[goal] = rho[goal]
    while True:  # what rounding left over the cap; ends at once, or nearly
        over = exceeding(graph, lowered, caps, goal)
        if not over.any():
            return lowered
        np.minimum.at(lowered, graph.tail[over], lowered[graph.head[over]] + caps[over])
