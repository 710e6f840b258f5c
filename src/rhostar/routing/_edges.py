"""The edges as the user knows them: in any order, with loops and parallels, for one direction or for both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, EdgeError
from rhostar.graph import Graph
from rhostar.graph._edges import Given
from rhostar.routing._names import VertexNames


class UserEdges:
    """The edges that a user gave, and the edges of the graph that they became.

    A graph has no loops, and one edge for parallel ones, which weighs as much as the cheapest of them. An undirected
    edge is two edges of the graph.

    Parameters
    ----------
    graph
        The graph.
    names
        How its vertices are named.
    given
        How the edges given became those of the graph; None if they are the same.
    undirected
        Whether the first half of the edges in `given` are the user's, and the second half the same turned round.
    labels
        The names of the user's edges.
    """

    def __init__(
        self,
        graph: Graph,
        names: VertexNames,
        given: Given | None = None,
        *,
        undirected: bool = False,
        labels: Sequence[Hashable] | None = None,
    ) -> None:
        self.graph, self.names, self.given, self.undirected = graph, names, given, undirected
        self.count = graph.m if given is None else given.size // 2 if undirected else given.size
        self.labels: tuple[Hashable, ...] | None = None if labels is None else _distinct(labels, self.count)
        self._index = None if self.labels is None else {label: k for k, label in enumerate(self.labels)}
        self._numbers_too = self.labels is None or not any(isinstance(x, int | np.integer) for x in self.labels)
        self.position: NDArray[np.int64] | None = None
        """The edge of the graph for each edge given; -1 for loops."""
        if given is not None:
            self.position = np.full(given.size, -1, dtype=np.int64)
            if given.starts is None:
                self.position[given.order] = np.arange(graph.m)
            else:
                sizes = np.diff(np.append(given.starts, given.order.size))
                self.position[given.order] = np.repeat(np.arange(graph.m), sizes)

    # ------------------------------------------------------------ weights

    def row(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return the weights of the graph's edges for those of the user's."""
        if self.given is None:
            return weights
        return self.given.arrange(np.concatenate([weights, weights]) if self.undirected else weights)

    def touched(self, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the edges of the graph that depend on some of the user's, each once."""
        if self.position is None:
            return np.unique(edges)
        both = np.concatenate([edges, edges + self.count]) if self.undirected else edges
        found = np.unique(self.position[both])
        return found[found >= 0]

    def least(self, weights: NDArray[Any], edges: NDArray[np.int64]) -> NDArray[Any]:
        """Return the weights of some edges of the graph for those of the user's."""
        members, starts = self._members(edges)
        of = weights[members]
        return of if starts is None else np.minimum.reduceat(of, starts) if edges.size else of

    def cheapest(self, weights: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return the edge of the user's behind each edge of the graph, the first of the cheapest; None: the same."""
        if self.given is None:
            return None
        members = self.given.order % max(self.count, 1)
        starts = self.given.starts
        if starts is None:
            return members
        of = weights[members]
        sizes = np.diff(np.append(starts, of.size))
        is_least = of == np.repeat(np.minimum.reduceat(of, starts), sizes)
        first: NDArray[np.int64] = np.minimum.reduceat(np.where(is_least, members, self.count), starts)
        return first

    def check(self, weights: NDArray[Any]) -> None:
        """Raise :class:`WeightError` if a weight is negative or NaN; loops are looked at too."""
        ending = _core.check_weights(weights[None, :], None).ending
        if ending.status is not _core.Status.DONE:
            raise self.bad_weight(ending, weights, np.arange(self.count))

    def bad_weight(self, ending: _core.Ending, weights: NDArray[Any], edges: NDArray[np.int64]) -> Exception:
        """Return the error for one of the weights of these edges."""
        at = ending.offender
        what = f"weights[{at}] (edge {self.name(int(edges[at]))})"
        limit = " and below 2**53" if weights.dtype == np.int64 else ""
        return failures.failure(ending, what=what, limit=limit, value=weights[at])

    def _members(self, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return the user's edges behind some edges of the graph, and where those of each begin; None if it is one."""
        if self.given is None:
            return edges, None
        order, starts = self.given.order, self.given.starts
        if starts is None:
            return order[edges] % self.count, None
        begin = starts[edges]
        sizes = np.append(starts, order.size)[edges + 1] - begin
        first = np.cumsum(sizes) - sizes
        at = np.arange(sizes.sum()) - np.repeat(first - begin, sizes)
        return order[at] % self.count, first

    # ------------------------------------------------------------ names

    def name(self, edge: int) -> str:
        """Return how to call an edge in messages."""
        if self.labels is not None:
            return repr(self.labels[edge])
        at = edge if self.position is None else int(self.position[edge])
        ends = "a loop" if at < 0 else self.graph._edge_name(at)
        return ends if self.position is None else f"{edge}, {ends}"

    def numbers(self, edges: Any) -> NDArray[np.int64]:
        """Return the numbers of the user's edges, which are given by number, by label or as (tail, head).

        Raises
        ------
        EdgeError, ArrayError
            If one of them does not exist; if a pair stands for several parallel edges.
        """
        if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2:
            edges = list(map(tuple, edges.tolist()))
        if self._index is None and isinstance(edges, np.ndarray):
            return _below(edges, self.count)
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise ArrayError(f"edges must be a list of edges, got {edges!r}")
        listed = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
        if self._index is None and all(isinstance(edge, int | np.integer) for edge in listed):
            return _below(np.array(listed, dtype=np.int64), self.count)
        return np.array([self._number(edge, i) for i, edge in enumerate(listed)], dtype=np.int64)

    def _number(self, edge: Any, i: int) -> int:
        if self._index is not None:
            try:
                found = self._index.get(edge)
            except TypeError:
                found = None
            if found is not None:
                return found
        if self._numbers_too and isinstance(edge, int | np.integer):
            return int(_below(np.array([edge]), self.count, i)[0])
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            example = "" if self.labels is None else f"; one of the labels is {self.labels[0]!r}"
            raise EdgeError(
                f"edges[{i}] must be an edge: a number, a label or a pair of vertices; got {edge!r}{example}"
            )
        tail, head = (self.names.one(end, f"edges[{i}]") for end in edge)
        at = int(self.graph.edge_index(tail, head, missing=-1)[0])
        if at < 0:
            raise EdgeError(f"edges[{i}]: there is no edge {edge[0]!r} -> {edge[1]!r}")
        members = np.unique(self._members(np.array([at]))[0])
        if members.size > 1:
            raise EdgeError(
                f"edges[{i}]: there are {members.size} edges {edge[0]!r} -> {edge[1]!r}; name one of them by its "
                f"number: {', '.join(map(str, members.tolist()))}"
            )
        return int(members[0])


def _below(edges: NDArray[Any], count: int, shift: int = 0) -> NDArray[np.int64]:
    """Return numbers of edges, checked."""
    if edges.size == 0:
        return np.empty(0, dtype=np.int64)
    if edges.dtype.kind not in "iu" or edges.ndim != 1:
        raise ArrayError(f"edges must be a list of edges, got an array of {edges.dtype} of shape {edges.shape}")
    outside = (edges < 0) | (edges >= count)
    if outside.any():
        first = int(np.argmax(outside))
        raise EdgeError(f"edges[{shift + first}] must be an edge in 0..{count - 1}, got {edges[first]}")
    return edges.astype(np.int64)


def _distinct(labels: Sequence[Hashable], count: int) -> tuple[Hashable, ...]:
    found = tuple(labels)
    if len(found) != count:
        raise ArrayError(f"edge_labels must name each of the {arrays.counted(count, 'edge')}, got {len(found)}")
    seen: dict[Hashable, int] = {}
    for k, label in enumerate(found):
        if seen.setdefault(label, k) != k:
            raise EdgeError(f"edge_labels must be distinct; {label!r} names edges {seen[label]} and {k}")
    return found
