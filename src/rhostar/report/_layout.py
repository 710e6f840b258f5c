"""Places the vertices of a graph without coordinates, so that near in the graph is near in the picture.

Each connected part is placed by its numbers of steps to a few landmarks that are far apart: first by the two
directions in which these numbers vary most (landmark multidimensional scaling), then by moving every vertex to where
its steps to the landmarks and to its neighbors are best kept (sparse stress majorisation). Parts do not overlap:
they lie side by side in rows, the largest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph
from rhostar.search import distances_to

LANDMARKS = 24
_SWEEPS = 12
_PARTS = 12  # further parts are placed on circles: they are small

Places = NDArray[np.float64]


def places(graph: Graph) -> Places:
    """Return a place in the plane for each vertex: an array of shape (n, 2), wider than high.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.report._layout import places
    >>> grid = rs.Graph.grid(4, 30)
    >>> found = places(rs.Graph(grid.first_out, grid.head))  # without coordinates
    >>> width, height = np.ptp(found, axis=0)
    >>> bool(width > 3 * height)
    True
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    apart = graph.tail != graph.head
    tail, head = graph.tail[apart].astype(np.int64), graph.head[apart].astype(np.int64)
    matrix = coo_array((np.ones(tail.size), (tail, head)), shape=(graph.n, graph.n))
    count, part = connected_components(matrix, directed=False)
    sizes = np.bincount(part, minlength=count)
    order = np.argsort(-sizes, kind="stable")
    inner = np.empty((graph.n, 2))
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
    number = np.empty(graph.n, dtype=np.int64)
    for rank, k in enumerate(order.tolist()):
        own = members[k]
        if rank < _PARTS and own.size > 2:
            number[own] = np.arange(own.size)
            inside = part[tail] == k
            inner[own] = _one_part(own.size, number[tail[inside]], number[head[inside]])
        else:
            inner[own] = _circle(own.size)
    return inner if count == 1 else _side_by_side(inner, [members[k] for k in order.tolist()])


def _one_part(n: int, tail: NDArray[np.int64], head: NDArray[np.int64]) -> Places:
    """Return places in one connected part, with steps of about length 1, wider than high."""
    pair = np.unique(np.minimum(tail, head) * n + np.maximum(tail, head))
    low, high = pair // n, pair % n
    both = Graph.from_edges(n, np.concatenate([low, high]), np.concatenate([high, low]))
    marks, steps = _far_apart(both)
    found = _kept_steps(_scaled(steps), both.tail.astype(np.int64), both.head.astype(np.int64), marks, steps)
    found -= found.mean(axis=0)
    turn = np.linalg.svd(found.T @ found)[0]  # the longer direction becomes the horizontal one
    return np.asarray(found @ turn)


def _far_apart(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return landmarks, each the farthest from those before it, and the steps of each vertex to each of them."""
    ones = np.ones(graph.m)
    mark = int(distances_to(graph, ones, 0).argmax())
    nearest = np.full(graph.n, np.inf)
    marks, steps = [], []
    for _ in range(min(LANDMARKS, graph.n)):
        away = distances_to(graph, ones, mark)
        marks.append(mark)
        steps.append(away)
        np.minimum(nearest, away, out=nearest)
        mark = int(nearest.argmax())
    return np.array(marks), np.stack(steps, axis=1).astype(np.float32)


def _scaled(steps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the two directions in which the steps to the landmarks vary most."""
    square = steps**2
    square -= square.mean(axis=0)
    square -= square.mean(axis=1, keepdims=True)
    directions = np.linalg.svd((square.T @ square).astype(np.float64))[0][:, :2]
    found: NDArray[np.float32] = square @ directions.astype(np.float32)
    if found.shape[1] < 2:
        found = np.concatenate([found, np.zeros_like(found)], axis=1)
    return found


def _kept_steps(
    start: NDArray[np.float32],
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    marks: NDArray[np.int64],
    steps: NDArray[np.float32],
) -> Places:
    """Return places whose distances to landmarks and neighbors are the steps, as well as a plane allows."""
    n = start.shape[0]
    # A landmark stands for the vertices that are nearest to it, but close by it counts no more than a neighbor.
    stands_for = np.bincount(steps.argmin(axis=1), minlength=marks.size)
    weight = np.where(steps > 0, np.minimum(stands_for / np.maximum(steps, 1) ** 2, 1), 0).astype(np.float32)
    total = weight.sum(axis=1) + np.bincount(tail, minlength=n)
    x, y = start[:, 0].copy(), start[:, 1].copy()
    away = np.hypot(x[:, None] - x[marks], y[:, None] - y[marks])
    size = float((weight * steps * away).sum() / max(float((weight * away**2).sum()), 1e-30))
    x *= size
    y *= size
    for _ in range(_SWEEPS):
        across, up = x[:, None] - x[marks], y[:, None] - y[marks]
        pull = weight * steps / np.maximum(np.sqrt(across**2 + up**2), 1e-6)
        from_tail, from_head = x[tail] - x[head], y[tail] - y[head]
        one = 1 / np.maximum(np.sqrt(from_tail**2 + from_head**2), 1e-6)
        x, y = (
            (
                (weight @ own[marks] + (pull * by).sum(axis=1) + np.bincount(tail, own[head] + one * step, minlength=n))
                / total
            ).astype(np.float32)
            for own, by, step in ((x, across, from_tail), (y, up, from_head))
        )
    return np.stack([x, y], axis=1).astype(np.float64)


def _circle(n: int) -> Places:
    angle = 2 * np.pi * np.arange(n) / n
    return max(n / (2 * np.pi), 0.5 if n > 1 else 0.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _side_by_side(inner: Places, members: list[NDArray[np.int64]]) -> Places:
    """Return the places of parts in rows below each other; a row is about as wide as all parts need to be a square."""
    spans = np.array([np.ptp(inner[own], axis=0) + 2.0 for own in members])
    width = max(float(spans[:, 0].max()), 1.3 * float(np.sqrt(spans.prod(axis=1).sum())))
    found = np.empty_like(inner)
    x = y = tallest = 0.0
    for own, (wide, high) in zip(members, spans, strict=True):
        if x > 0 and x + wide > width:
            x, y, tallest = 0.0, y - tallest, 0.0
        found[own] = inner[own] - [inner[own, 0].min() - x - 1, inner[own, 1].max() - y + 1]
        x, tallest = x + wide, max(tallest, high)
    return found
