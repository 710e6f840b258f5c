"""The edges as the user knows them: in any order, with loops and parallels, for one direction or for both."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, EdgeError, WeightError
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
        members, starts = self.members(edges)
        of = weights[members]
        return of if starts is None else np.minimum.reduceat(of, starts) if edges.size else of

    def cheapest(self, weights: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return the edge of the user's behind each edge of the graph, the first of the cheapest; None: the same."""
        if self.given is None:
            return None
        members = self.given.order % max(self.count, 1)
        return _first_least(weights[members], members, self.given.starts)[1]

    def repriced(
        self, edges: NDArray[np.int64], price: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the weights of some edges of the graph, and the user's edge behind each; `price` is of the user's."""
        members, starts = self.members(edges)
        return _first_least(price(members), members, starts)

    def check(self, weights: NDArray[Any]) -> None:
        """Raise :class:`WeightError` if a weight is negative or NaN; loops are looked at too."""
        ending = _core.check_weights(weights[None, :], None).ending
        if ending.status is not _core.Status.DONE:
            raise self.bad_weight(ending, weights, np.arange(self.count))

    def fresh(self, weights: Any, numbers: NDArray[np.int64], name: str) -> NDArray[np.float64]:
        """Return new weights of some edges, checked; `name` is that of the argument."""
        given = arrays.as_array(weights, name)
        if given.dtype.kind not in "iuf":
            raise arrays.not_numbers(weights, name)
        if given.shape not in ((), numbers.shape):
            what = arrays.counted(numbers.size, "edge")
            raise ArrayError(
                f"{name} must have one value for each of the {what}, or one for all, got shape {given.shape}"
            )
        if given.dtype.kind != "f" and given.size and (given.min() < 0 or given.max() >= 2**53):
            fresh = np.broadcast_to(given, numbers.shape).astype(
                np.float64
            )  # the check below would not see all of them
            bad = int(np.argmax((fresh < 0) | (fresh >= 2.0**53)))
            raise WeightError(
                f"{name}[{bad}] (edge {self.name(int(numbers[bad]))}) is {fresh[bad]:.0f}; it must not be negative, "
                "and integers must be below 2**53"
            )
        fresh = np.ascontiguousarray(np.broadcast_to(given, numbers.shape), dtype=np.float64)
        ending = _core.check_weights(fresh[None, :], None).ending
        if ending.status is not _core.Status.DONE:
            raise self.bad_weight(ending, fresh, numbers, name)
        return fresh

    def bad_weight(
        self, ending: _core.Ending, weights: NDArray[Any], edges: NDArray[np.int64], name: str = "weights"
    ) -> Exception:
        """Return the error for one of the weights of these edges; `name` is that of the argument."""
        at = ending.offender
        what = f"{name}[{at}] (edge {self.name(int(edges[at]))})"
        limit = " and below 2**53" if weights.dtype == np.int64 else ""
        return failures.failure(ending, what=what, limit=limit, value=weights[at])

    def members(self, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
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

    def numbers(self, edges: Any, what: str = "edges") -> NDArray[np.int64]:
        """Return the numbers of the user's edges, which are given by number, by label or as (tail, head).

        Parameters
        ----------
        edges
            The edges.
        what
            The name of the argument, for errors.

        Raises
        ------
        EdgeError, ArrayError
            If one of them does not exist; if a pair stands for several parallel edges.
        """
        if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2:
            edges = list(map(tuple, edges.tolist()))
        if self._index is None and isinstance(edges, np.ndarray):
            return _below(edges, self.count, what)
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise ArrayError(f"{what} must be a list of edges, got {edges!r}")
        listed = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
        if self._index is None and all(isinstance(edge, int | np.integer) for edge in listed):
            return _below(np.array(listed, dtype=np.int64), self.count, what)
        return np.array([self._number(edge, f"{what}[{i}]") for i, edge in enumerate(listed)], dtype=np.int64)

    def _number(self, edge: Any, what: str) -> int:
        if self._index is not None:
            try:
                found = self._index.get(edge)
            except TypeError:
                found = None
            if found is not None:
                return found
        if self._numbers_too and isinstance(edge, int | np.integer):
            if not 0 <= edge < self.count:
                raise EdgeError(f"{what} must be an edge in 0..{self.count - 1}, got {edge}")
            return int(edge)
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            example = "" if self.labels is None else f"; one of the labels is {self.labels[0]!r}"
            raise EdgeError(f"{what} must be an edge: a number, a label or a pair of vertices; got {edge!r}{example}")
        tail, head = (self.names.one(end, what) for end in edge)
        at = int(self.graph.edge_index(tail, head, missing=-1)[0])
        if at < 0:
            raise EdgeError(f"{what}: there is no edge {edge[0]!r} -> {edge[1]!r}")
        members = np.unique(self.members(np.array([at]))[0])
        if members.size > 1:
            raise EdgeError(
                f"{what}: there are {members.size} edges {edge[0]!r} -> {edge[1]!r}; name one of them by its "
                f"number: {', '.join(map(str, members.tolist()))}"
            )
        return int(members[0])


def _below(edges: NDArray[Any], count: int, what: str) -> NDArray[np.int64]:
    """Return numbers of edges, checked."""
    if edges.size == 0:
        return np.empty(0, dtype=np.int64)
    if edges.dtype.kind not in "iu" or edges.ndim != 1:
        raise ArrayError(f"{what} must be a list of edges, got an array of {edges.dtype} of shape {edges.shape}")
    found = edges.astype(np.int64)
    if found.view(np.uint64).max() >= count:  # what is negative is large there
        first = int(np.argmax((edges < 0) | (edges >= count)))
        raise EdgeError(f"{what}[{first}] must be an edge in 0..{count - 1}, got {edges[first]}")
    return found


def _first_least(
    values: NDArray[Any], members: NDArray[np.int64], starts: NDArray[np.int64] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the minimum of each group of values, and the smallest member that has it; the groups begin at `starts`."""
    if starts is None or starts.size == 0:
        return values, members
    least = np.minimum.reduceat(values, starts)
    is_least = values == np.repeat(least, np.diff(np.append(starts, values.size)))
    return least, np.minimum.reduceat(np.where(is_least, members, np.iinfo(np.int64).max), starts)


def _distinct(labels: Sequence[Hashable], count: int) -> tuple[Hashable, ...]:
    found = tuple(labels)
    if len(found) != count:
        raise ArrayError(f"edge_labels must name each of the {arrays.counted(count, 'edge')}, got {len(found)}")
    seen: dict[Hashable, int] = {}
    for k, label in enumerate(found):
        if seen.setdefault(label, k) != k:
            raise EdgeError(f"edge_labels must be distinct; {label!r} names edges {seen[label]} and {k}")
    return found
