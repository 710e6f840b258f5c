"""Builds the arrays of a graph: sorts a user's edges, or makes the edges of a grid."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import GraphError, InputError


class Given(NamedTuple):
    """How the edges that a user gave became edges of the graph."""

    size: int
    """The number of edges given."""
    order: NDArray[np.int64]
    """The given edges in graph order, without loops."""
    starts: NDArray[np.int64] | None
    """Where each edge of the graph begins in `order`; None if there are no parallels."""

    def arrange(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values with the last axis in graph order; of parallel edges the minimum."""
        in_order = values[..., self.order]
        if self.starts is None:
            return np.ascontiguousarray(in_order)
        return np.minimum.reduceat(in_order, self.starts, axis=-1)


def sort_edges(
    n: int, tail: NDArray[np.int32], head: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Given]:
    """Return (first_out, head, given) without loops and parallels, children in index order."""
    key = tail.astype(np.int64) * n + head
    order = np.argsort(key, kind="stable")
    order = order[tail[order] != head[order]]
    in_order = key[order]
    is_first = np.ones(order.size, dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    kept = order[starts]
    first_out = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(tail[kept], minlength=n), out=first_out[1:])
    given = Given(tail.size, order, starts if starts.size < order.size else None)
    return first_out, head[kept], given


def grid_edges(
    rows: int, columns: int, neighbors: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return (first_out, head, length) of a grid whose cells are numbered row by row."""
    if neighbors not in (4, 8):
        raise InputError(f"neighbors must be 4 or 8, got {neighbors!r}")
    n = rows * columns
    m = 2 * (rows * (columns - 1) + columns * (rows - 1))
    m += 4 * (rows - 1) * (columns - 1) if neighbors == 8 else 0
    if max(n, m) > arrays.LARGEST_INDEX:
        raise GraphError(f"a {rows}x{columns} grid has {n} cells and {m} edges; both must be below 2**31")
    # In this order the neighbors of a cell have increasing numbers.
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r or c) and (neighbors == 8 or not r * c)]
    cell = np.arange(n, dtype=np.int32)
    row, column = np.divmod(cell, columns)
    inside = np.stack(
        [(row + r >= 0) & (row + r < rows) & (column + c >= 0) & (column + c < columns) for r, c in steps],
        axis=1,
    )
    head = (cell[:, None] + np.array([r * columns + c for r, c in steps], dtype=np.int32))[inside]
    length = np.broadcast_to([np.hypot(r, c) for r, c in steps], inside.shape)[inside]
    first_out = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(inside.sum(axis=1), out=first_out[1:])
    return first_out, head, length
