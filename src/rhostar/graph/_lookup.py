"""Finds vertices by label or cell, and edges by their ends."""

from __future__ import annotations

import string
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, EdgeError, VertexError

if TYPE_CHECKING:
    from rhostar.graph._graph import Graph


def labeled_vertex(index: dict[Hashable, int], label: Hashable) -> int:
    """Return the vertex with this label; the error names a label that is almost the same, or any that exists."""
    try:
        return index[label]
    except (KeyError, TypeError):  # TypeError: not hashable, so not a label
        raise VertexError(f"no vertex has the label {label!r}; {similar_label(index, label)}") from None


def similar_label(index: dict[Hashable, int], label: Hashable) -> str:
    """Say which label may have been meant: one that only looks the same, or differs in one character, or any."""
    alike = next((name for name in index if str(name) == str(label)), None)  # 10 and "10"
    if alike is not None:
        return f"there is {alike!r}, of type {type(alike).__name__}"
    close = next((word for word in _edits(str(label)) if word in index), None)
    if close is not None:
        return f"a similar one is {close!r}"
    return f"a label looks like {next(iter(index), None)!r}"


def _edits(word: str) -> Iterator[str]:
    """Return what a typing error may have been meant to be: another case, or one character more, less or other."""
    yield from (word.strip(), word.lower(), word.upper(), word.title())
    if len(word) > 30:  # not a word that somebody typed
        return
    halves = [(word[:k], word[k:]) for k in range(len(word) + 1)]
    yield from (left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1)
    for letter in ("", *string.ascii_letters, *string.digits, *"-_ .:/"):
        yield from (left + letter + right[1:] for left, right in halves if right)
        yield from (left + letter + right for left, right in halves if letter)


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
