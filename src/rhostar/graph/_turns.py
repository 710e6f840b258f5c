"""Turn costs: a graph whose vertices are the edges of another graph, so that every turn has its own edge.

Here the edges of the given graph are called streets. In the new graph, vertex e is the end of street e. Each vertex v
of the old graph becomes two more vertices: trips begin at its start vertex, which leads to all streets that leave v,
and end at its end vertex, to which all streets into v lead. An edge into a street costs the street and the turn into
it; all other edges cost nothing. So each path in the new graph from the start vertex of s to the end vertex of t is a
sequence of streets from s to t, and costs what its streets and turns cost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, EdgeError, GraphError, WeightError

if TYPE_CHECKING:
    from rhostar.graph._graph import Graph


class Turns(NamedTuple):
    """All turns of a graph: from one edge into each edge that begins where it ends. Each field has one entry per turn.

    :meth:`rhostar.Graph.with_turns` makes them and passes them to a function of the user.
    """

    first: NDArray[np.int32]
    """The edge before the turn, by its position in the graph."""
    second: NDArray[np.int32]
    """The edge after it."""
    before: NDArray[np.int32]
    """Where the first edge begins."""
    at: NDArray[np.int32]
    """The vertex of the turn."""
    after: NDArray[np.int32]
    """Where the second edge ends."""
    coordinates: NDArray[np.float64] | None
    """Those of the graph."""

    @property
    def back(self) -> NDArray[np.bool_]:
        """Whether the turn leads back to where it came from: a U-turn."""
        return self.before == self.after

    @property
    def angle(self) -> NDArray[np.float64]:
        """The angle of the turn in degrees, by the coordinates: 0 is straight on, 90 left, -90 right, 180 back."""
        if self.coordinates is None:
            raise GraphError("the graph has no coordinates, so its turns have no angles")
        before, at, after = (self.coordinates[vertices] for vertices in (self.before, self.at, self.after))
        there, on = at - before, after - at
        angle = np.degrees(np.arctan2(there[:, 0] * on[:, 1] - there[:, 1] * on[:, 0], (there * on).sum(axis=1)))
        return np.where(self.back, 180.0, angle)


class TurnGraph:
    """A graph with turn costs, made by :meth:`rhostar.Graph.with_turns`.

    Its vertices are the edges of the original graph, called streets here. Each vertex of the original graph adds two
    more: one where trips start, and one where they end. A path in it is a sequence of streets.
    :class:`rhostar.routing.TurnRouter` answers in streets and vertices; searches, learners and everything else take
    :attr:`graph` and :meth:`weights`.

    Parameters
    ----------
    streets
        The graph without turn costs.
    turns
        Its turns.
    cost
        What each of them costs; inf if it is forbidden.

    Attributes
    ----------
    graph
        The graph of the turns that are allowed.
    streets
        The graph that it was made from.
    street
        For each edge of `graph`, the street that it leads into; -1 where a trip ends.
    cost
        For each edge of `graph`, its cost in addition to that of the street.

    Examples
    --------
    >>> import rhostar as rs
    >>> streets = rs.Graph.from_edges(4, [0, 1, 1, 2], [1, 2, 3, 3])
    >>> turns = streets.with_turns({(0, 1, 3): 15.0})
    >>> seconds = turns.weights([20.0, 20.0, 30.0, 5.0])
    >>> run = rs.astar(turns.graph, seconds, turns.start(0), turns.end(3), [0.0] * turns.graph.n)
    >>> run.cost, turns.streets_of(run.path).tolist()
    (45.0, [0, 1, 3])
    """

    graph: Graph
    streets: Graph
    street: NDArray[np.int32]
    cost: NDArray[Any]

    def __init__(self, streets: Graph, turns: Turns, cost: NDArray[np.float64]) -> None:
        n, m = streets.n, streets.m
        if m + 2 * n >= arrays.LARGEST_INDEX:
            raise GraphError(f"a graph with {n} vertices and {m} edges is too large for turn costs")
        allowed = np.flatnonzero(cost < np.inf)
        vertex, street = np.arange(n, dtype=np.int32), np.arange(m, dtype=np.int32)
        start, end = vertex + m, vertex + m + n
        # turns; the first street of a trip; its last; a trip without a street
        tail = np.concatenate([turns.first[allowed], start[streets.tail], street, start])
        head = np.concatenate([turns.second[allowed], street, end[streets.head], end])
        order = np.lexsort((head, tail))
        first_out = np.zeros(m + 2 * n + 1, dtype=np.int64)
        np.cumsum(np.bincount(tail, minlength=m + 2 * n), out=first_out[1:])
        places = streets.coordinates
        if places is not None:
            places = np.concatenate([places[streets.tail] / 2 + places[streets.head] / 2, places, places])
        self.graph = type(streets)(first_out, head[order], coordinates=places)
        self.streets = streets
        self.street = arrays.frozen(np.where(head[order] < m, head[order], -1))
        costs = np.concatenate([cost[allowed], np.zeros(2 * m + n)])[order]
        if (costs == np.floor(costs)).all() and costs.max(initial=0.0) < 2**53:
            costs = costs.astype(np.int64)  # so that integer weights stay exact
        self.cost = arrays.frozen(costs)

    def start(self, vertex: int) -> int:
        """Return the vertex of :attr:`graph` at which trips from a vertex of the streets begin.

        Parameters
        ----------
        vertex
            Its number.

        Returns
        -------
        int
        """
        return self.streets.m + arrays.vertex(vertex, "vertex", self.streets.n)

    def end(self, vertex: int) -> int:
        """Return the vertex of :attr:`graph` at which trips to a vertex of the streets end.

        Parameters
        ----------
        vertex
            Its number.

        Returns
        -------
        int
        """
        return self.streets.m + self.streets.n + arrays.vertex(vertex, "vertex", self.streets.n)

    def weights(self, weights: ArrayLike) -> NDArray[Any]:
        """Return the weights of :attr:`graph` for weights of the streets.

        Parameters
        ----------
        weights
            One weight per street on the last axis, in the order of the graph of the streets; inf for a closed one.

        Returns
        -------
        numpy.ndarray
            One weight per edge of :attr:`graph` on the last axis: the street and the turn into it.

        Raises
        ------
        ArrayError
            If there is not one weight per street.
        """
        given = arrays.as_array(weights, "weights")
        if given.ndim == 0 or given.shape[-1] != self.streets.m or given.dtype.kind not in "iuf":
            raise ArrayError(
                f"weights must have one number per street ({self.streets.m}) on the last axis, got shape {given.shape} "
                f"of {given.dtype}"
            )
        ending = np.zeros((*given.shape[:-1], 1), dtype=given.dtype)  # for street -1
        return np.concatenate([given, ending], axis=-1)[..., self.street] + self.cost

    def streets_of(self, path: ArrayLike) -> NDArray[np.int32]:
        """Return the streets along a path in :attr:`graph`, by their positions in the graph of the streets.

        Parameters
        ----------
        path
            Vertices of :attr:`graph`. If the first is a street, the trip begins at the end of that street, which is
            left out.

        Returns
        -------
        numpy.ndarray
        """
        along = arrays.vertices(path, "path", self.graph.n)[1:]
        return along[along < self.streets.m]

    def __repr__(self) -> str:
        n, m = self.streets.n, self.streets.m
        return f"TurnGraph({n} vertices, {m} streets, {self.graph.m - 2 * m - n} turns)"


def turns_of(graph: Graph) -> Turns:
    """Return all turns of a graph, ordered by the first edge and then by the second."""
    degree = np.diff(graph.first_out)[graph.head]
    total = int(degree.sum(dtype=np.int64))
    if total >= arrays.LARGEST_INDEX:
        raise GraphError(f"the graph has {total} turns; there must be fewer than 2**31")
    first = np.repeat(np.arange(graph.m, dtype=np.int32), degree)
    skipped = np.cumsum(degree, dtype=np.int64) - degree
    second = (np.arange(total) - np.repeat(skipped - graph.first_out[graph.head], degree)).astype(np.int32)
    return Turns(first, second, graph.tail[first], graph.head[first], graph.head[second], graph.coordinates)


def with_turns(
    graph: Graph, costs: Mapping[Any, float] | Callable[[Turns], ArrayLike] | None, u_turns: float
) -> TurnGraph:
    """Return the graph with turn costs; see :meth:`Graph.with_turns`."""
    turns = turns_of(graph)
    back = arrays.number(u_turns, "u_turns", "a number that is not negative, or inf", lambda x: x >= 0)
    if costs is None:
        cost = np.zeros(turns.first.size)
    elif isinstance(costs, Mapping):
        cost = _by_name(graph, turns, costs)
    elif callable(costs):
        cost = np.array(costs(turns), dtype=np.float64)
        if cost.shape not in ((), turns.first.shape):
            raise ArrayError(f"costs must return one number for each of {turns.first.size} turns, got {cost.shape}")
        cost = np.broadcast_to(cost, turns.first.shape).copy()
    else:
        raise ArrayError(f"costs must be a mapping (a, b, c) -> cost or a function of the turns, got {costs!r}")
    bad = ~(cost >= 0)
    if bad.any():
        k = int(np.argmax(bad))
        raise WeightError(f"the cost of turn {_name(graph, turns, k)} must be at least 0 and not NaN, got {cost[k]}")
    cost[turns.back] += back
    return TurnGraph(graph, turns, cost)


def _by_name(graph: Graph, turns: Turns, costs: Mapping[Any, float]) -> NDArray[np.float64]:
    cost = np.zeros(turns.first.size)
    begin = np.searchsorted(turns.first, np.arange(graph.m))
    for key, value in costs.items():
        if not isinstance(key, tuple) or len(key) != 3:
            raise EdgeError(f"costs: {key!r} is not a turn; a turn is three vertices (a, b, c)")
        a, b, c = (_vertex(graph, name) for name in key)
        first, second = (int(graph.edge_index(*ends, missing=-1)[0]) for ends in ((a, b), (b, c)))
        if first < 0 or second < 0:
            missing = key[:2] if first < 0 else key[1:]
            raise EdgeError(
                f"costs: there is no turn {key!r}, because there is no edge {missing[0]!r} -> {missing[1]!r}"
            )
        try:
            cost[begin[first] + second - graph.first_out[b]] = value
        except (TypeError, ValueError):
            raise WeightError(f"the cost of turn {key!r} must be a number, got {value!r}") from None
    return cost


def _vertex(graph: Graph, name: Hashable) -> int:
    if graph.labels is None and not isinstance(name, tuple):
        return arrays.vertex(name, "costs", graph.n)
    return graph.vertex(name)


def _name(graph: Graph, turns: Turns, k: int) -> str:
    return " -> ".join(graph._name_of(int(part[k])) for part in (turns.before, turns.at, turns.after))
