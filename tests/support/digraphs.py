"""Small random digraphs with weights, and their distances by algorithms that share nothing with the core."""

from __future__ import annotations

import heapq

import numpy as np

import rhostar as rs


def random_digraph(rng: np.random.Generator, largest: int = 24) -> rs.Graph:
    """Draw a digraph of 1 to `largest` vertices; one-way edges and separate parts are common."""
    n = int(rng.integers(1, largest + 1))
    m = int(rng.integers(0, rng.choice([2, 4, 8]) * n + 1))
    tail, head = rng.integers(0, n, (2, m))
    if rng.random() < 0.3:  # near a line, so that there are separators
        head = np.clip(tail + rng.integers(-2, 3, m), 0, n - 1)
    if rng.random() < 0.5:
        tail, head = np.r_[tail, head], np.r_[head, tail]
    coordinates = rng.integers(0, 4, (n, 2)) if rng.random() < 0.5 else None
    return rs.Graph.from_edges(n, tail, head, coordinates=coordinates)


def random_weights(rng: np.random.Generator, m: int) -> np.ndarray:
    """Draw weights with many zeros and ties; edges may be absent, but not all of them."""
    match rng.integers(5):
        case 0:
            weights = rng.uniform(0, 10, m)
        case 1:
            weights = rng.integers(0, 3, m).astype(float)
        case 2:
            weights = rng.choice([1.0, np.sqrt(2)], m)
        case 3:
            return rng.integers(0, 9, m).astype(rng.choice([np.int32, np.int64]))
        case _:
            weights = rng.exponential(1, m) * (rng.random(m) < 0.6)
    if rng.random() < 0.4:
        weights[rng.random(m) < rng.uniform(0, 0.6)] = np.inf
        weights[:1] = 1.0
    return weights


def all_pairs(graph: rs.Graph, weights: np.ndarray) -> np.ndarray:
    """Return distances from every vertex to every other, by the algorithm of Floyd and Warshall."""
    distance = np.full((graph.n, graph.n), np.inf)
    distance[graph.tail, graph.head] = weights
    np.fill_diagonal(distance, 0.0)
    for v in range(graph.n):
        np.minimum(distance, distance[:, v, None] + distance[None, v], out=distance)
    return distance


def dijkstra(graph: rs.Graph, weights: np.ndarray, source: int) -> list[float]:
    """Return the cost from `source` to every vertex; each sum is taken in order from the source."""
    cost = [float("inf")] * graph.n
    cost[source] = 0.0
    queue = [(0.0, source)]
    while queue:
        g, v = heapq.heappop(queue)
        if g > cost[v]:
            continue
        for edge in range(graph.first_out[v], graph.first_out[v + 1]):
            c, through = int(graph.head[edge]), g + float(weights[edge])
            if through < cost[c]:
                cost[c] = through
                heapq.heappush(queue, (through, c))
    return cost
