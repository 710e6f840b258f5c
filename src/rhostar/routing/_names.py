"""Turns the vertices that a user names, by label or by number, into numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, VertexError
from rhostar.graph import Graph


class VertexNames:
    """How a user names the vertices of a graph.

    With labels, by label; by number only if no label is an integer itself, as 7 could mean either. Without labels, by
    number; on a grid also by (row, column).

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.index: dict[Hashable, int] | None = None
        """The number of each label."""
        self.numbers_too = True
        if graph.labels is not None:
            graph.vertex(graph.labels[0])  # makes the lookup
            self.index = graph._index
            self.numbers_too = not any(isinstance(label, int | np.integer) for label in graph.labels)

    def one(self, value: Any, name: str) -> int:
        """Return the number of a vertex, or raise :class:`VertexError`; `name` is that of the argument."""
        graph = self.graph
        if self.index is None:
            if isinstance(value, tuple) and graph.shape is not None:
                return graph.vertex(value)
            return arrays.vertex(value, name, graph.n)
        try:
            found = self.index.get(value)
        except TypeError:  # not hashable, so not a label
            found = None
        if found is not None:
            return found
        if self.numbers_too and isinstance(value, int | np.integer):
            return arrays.vertex(value, name, graph.n)
        try:
            return graph.vertex(value)
        except VertexError as error:
            raise VertexError(f"{name}: {error}") from None

    def many(self, values: Any, name: str) -> NDArray[np.int32]:
        """Return the numbers of several vertices."""
        if self.index is None and isinstance(values, np.ndarray):
            return arrays.vertices(values, name, self.graph.n)
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ArrayError(f"{name} must be a list of vertices, got {values!r}")
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if self.index is None and all(type(value) is int for value in listed):
            return arrays.vertices(np.array(listed, dtype=np.int64), name, self.graph.n)
        return np.array([self.one(value, f"{name}[{i}]") for i, value in enumerate(listed)], dtype=np.int32)

    def pairs(self, values: Any, name: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of the first and of the second vertices of several pairs."""
        if self.index is None and isinstance(values, np.ndarray):
            if values.ndim != 2 or values.shape[1] != 2:
                raise ArrayError(f"{name} must be pairs of vertices, got shape {values.shape}")
            return self.many(values[:, 0], name), self.many(values[:, 1], name)
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ArrayError(f"{name} must be pairs of vertices, got {values!r}")
        first, second = [], []
        for i, pair in enumerate(values):
            try:
                one, other = pair
            except (TypeError, ValueError):
                raise ArrayError(f"{name}[{i}] must be a pair of vertices, got {pair!r}") from None
            first.append(self.one(one, f"{name}[{i}][0]"))
            second.append(self.one(other, f"{name}[{i}][1]"))
        return np.array(first, dtype=np.int32), np.array(second, dtype=np.int32)

    def labels(self, vertices: NDArray[np.int32]) -> tuple[Hashable, ...]:
        """Return the labels of vertices; their numbers if there are no labels."""
        known = self.graph.labels
        return tuple(vertices.tolist() if known is None else (known[v] for v in vertices.tolist()))
