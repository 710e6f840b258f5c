"""Finds vertices by label or cell, and edges by their ends."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, EdgeError, VertexError

if TYPE_CHECKING:
    from rhostar.graph._graph import Graph


def labeled_vertex(index: dict[Hashable, int], label: Hashable) -> int:
    """Return the vertex with this label; the error names a label that only looks the same, or any that exists."""
    try:
        return index[label]
    except (KeyError, TypeError):  # TypeError: not hashable, so not a label
        alike = next((name for name in index if str(name) == str(label)), None)  # 10 and "10"
        shown = next(iter(index), None)
        hint = (
            f"; a label looks like {shown!r}"
            if alike is None
            else f"; there is {alike!r}, of type {type(alike).__name__}"
        )
        raise VertexError(f"no vertex has the label {label!r}{hint}") from None


def cell_vertex(shape: tuple[int, int], cell: Hashable) -> int:
    """Return the vertex of the cell (row, column) of a grid."""
    try:
        row, column = (arrays.integer(part, "cell", 0) for part in cell)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        row, column = shape  # not a cell: rejected below
    if row >= shape[0] or column >= shape[1]:
        raise VertexError(f"{cell!r} is not a cell (row, column) of a grid of {shape}")
    return row * shape[1] + column


def edge_positions(graph: Graph, tail: ArrayLike, head: ArrayLike, missing: int | None) -> NDArray[np.int32]:
    """Return the positions of the edges tail -> head; absent ones get `missing`, or raise if it is None."""
    tails = arrays.vertices(np.atleast_1d(arrays.as_array(tail, "tail")), "tail", graph.n)
    heads = arrays.vertices(np.atleast_1d(arrays.as_array(head, "head")), "head", graph.n)
    if tails.size != heads.size:
        raise ArrayError(f"tail and head must have equal lengths, got {tails.size} and {heads.size}")
    found: NDArray[np.int32] = graph._kernel.edge_index(tails, heads)
    absent = found < 0
    if absent.any():
        if missing is None:
            first = int(np.argmax(absent))
            raise EdgeError(f"there is no edge {tails[first]} -> {heads[first]} (entry {first})")
        found[absent] = missing
    return found
