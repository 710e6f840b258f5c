"""Places the vertices of a graph without coordinates, so that neighbors in the graph are near in the picture.

Each connected part is placed by its numbers of steps to a few landmarks that are far apart: in the two directions in
which their squares vary most (landmark multidimensional scaling). Parts do not overlap: they are side by side in rows,
the largest first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph

LANDMARKS = 24
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

    matrix = coo_array((np.ones(graph.m), (graph.tail, graph.head)), shape=(graph.n, graph.n)).tocsr()
    count, part = connected_components(matrix, directed=False)
    sizes = np.bincount(part, minlength=count)
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
    members = [members[k] for k in np.argsort(-sizes, kind="stable")]
    inner = np.empty((graph.n, 2))
    for rank, own in enumerate(members):
        inner[own] = _scaled(matrix[own][:, own]) if rank < _PARTS and own.size > 2 else _circle(own.size)
    return inner if count == 1 else _side_by_side(inner, members)


def _scaled(matrix: Any) -> Places:
    """Return places in one connected part, with steps of about length 1."""
    from scipy.sparse.csgraph import dijkstra

    def steps_from(v: int) -> NDArray[np.float64]:
        return np.asarray(dijkstra(matrix, directed=False, unweighted=True, indices=v))

    away = [steps_from(int(steps_from(0).argmax()))]
    while len(away) < min(LANDMARKS, matrix.shape[0]):
        away.append(steps_from(int(np.min(away, axis=0).argmax())))  # the farthest from those before it
    square = np.stack(away, axis=1) ** 2
    square -= square.mean(axis=0)
    square -= square.mean(axis=1, keepdims=True)
    found = square @ np.linalg.svd(square.T @ square)[0][:, :2]
    tail, head = matrix.nonzero()
    return np.asarray(found / np.maximum(np.median(np.hypot(*(found[tail] - found[head]).T)), 1e-9))


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
