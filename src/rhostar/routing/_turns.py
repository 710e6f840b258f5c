"""Routes with turn costs: a router on the graph of turns that is asked, and answers, in streets and vertices."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.graph import TurnGraph
from rhostar.routing._answers import Nearest, Within
from rhostar.routing._edges import UserEdges
from rhostar.routing._names import VertexNames
from rhostar.routing._route import Found, Route
from rhostar.routing._router import Router
from rhostar.routing._work import Explanation


class Street(NamedTuple):
    """A place for a trip to begin or end: the end of a street, in the direction of driving.

    Examples
    --------
    >>> import rhostar as rs
    >>> router = rs.routing.TurnRouter(rs.Graph.grid(2, 2).with_turns(u_turns=30.0))
    >>> router.update([10.0] * 8)
    >>> router.route(rs.routing.Street((0, 1)), 0).path.tolist()  # having come from 0: around the block
    [1, 3, 2, 0]
    """

    edge: Any
    """An edge: by its number, or as (tail, head)."""


class TurnRouter:
    """Answers shortest-path queries with turn costs, in the edges and vertices of the original graph.

    It is a :class:`rhostar.Router` on the graph of turns. A trip begins and ends at vertices, or at the end of a
    :class:`Street`: then the turn out of it counts, and the street itself does not.

    Parameters
    ----------
    turns
        What :meth:`rhostar.Graph.with_turns` returns.

    Attributes
    ----------
    turns
        The same.

    Raises
    ------
    InputError
        If `turns` is not a TurnGraph.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> turns = graph.with_turns(lambda turns: np.where(turns.angle > 30, 15.0, 0.0), u_turns=np.inf)
    >>> router = rs.routing.TurnRouter(turns)
    >>> router.update(np.full(graph.m, 10.0))
    >>> route = router.route((0, 0), (2, 2))  # y is the row, so that one turn right is enough
    >>> route.cost, route.path.tolist()
    (40.0, [0, 5, 10, 11, 12])
    >>> router.route(rs.routing.Street((0, 1)), (1, 1)).cost  # from the street 0 -> 1, a left turn
    25.0
    """

    def __init__(self, turns: TurnGraph) -> None:
        if not isinstance(turns, TurnGraph):
            raise InputError(f"turns must be a TurnGraph (see Graph.with_turns), got {type(turns).__name__}")
        self.turns = turns
        self._names = VertexNames(turns.streets)
        self._known = UserEdges(turns.streets, self._names)
        self._router = Router(turns.graph)
        self._updating = threading.Lock()
        self._row: NDArray[Any] | None = None
        self._into: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def update(self, weights: ArrayLike, *, edges: Any = None) -> None:
        """Take new weights of all streets, or of some; as :meth:`rhostar.Router.update`.

        Parameters
        ----------
        weights
            One weight per edge of the graph of the streets; inf for one that is closed.
        edges
            The edges that change: numbers, or pairs (tail, head). None for all.

        Raises
        ------
        WeightError, EdgeError, VertexError, ArrayError, InputError
            As :meth:`rhostar.Router.update`; the old weights stay.
        """
        known, turns = self._known, self.turns
        if edges is None:
            row = arrays.weight_row(weights, "weights", turns.streets.m).copy()
            known.check(row)
            with self._updating:
                self._router.update(turns.weights(row))
                self._row = row
            return
        numbers = known.numbers(edges)
        fresh = known.fresh(weights, numbers, "weights")
        with self._updating:
            if self._row is None:
                raise InputError("the router has no weights yet: call update(weights) first")
            row = self._row if (fresh.astype(self._row.dtype) == fresh).all() else self._row.astype(np.float64)
            row = row.copy()
            row[numbers] = fresh
            into = self._edges_into(np.unique(numbers))
            self._router.update(edges=into, weights=row[turns.street[into]] + turns.cost[into])
            self._row = row

    def _edges_into(self, streets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the edges of the graph of turns that lead into some streets."""
        if self._into is None:
            order = np.argsort(self.turns.street, kind="stable")
            begin = np.searchsorted(self.turns.street[order], np.arange(self.turns.streets.m + 1))
            self._into = order, begin
        order, begin = self._into
        parts = [order[begin[street] : begin[street + 1]] for street in streets.tolist()]
        return arrays.joined(parts, np.int64)

    def prepare(self) -> None:
        """Customize the hierarchy to the current weights, as :meth:`rhostar.Router.prepare`."""
        self._router.prepare()

    def explain(self) -> Explanation:
        """Return what was done with the current weights, as :meth:`rhostar.Router.explain`.

        Returns
        -------
        Explanation
        """
        return self._router.explain()

    # ------------------------------------------------------------ questions

    def route(self, source: Any, target: Any) -> Route:
        """Return a shortest path with turn costs.

        Parameters
        ----------
        source, target
            Vertices, by label or number, or :class:`Street`.

        Returns
        -------
        Route
            Its cost is that of its edges and of the turns between them. It may visit a vertex more than once.

        Raises
        ------
        VertexError, EdgeError, InputError, WeightError
            As :meth:`rhostar.Router.route`.
        """
        start, end = self._place(source, "source", start=True), self._place(target, "target", start=False)
        found = self._router.route(start, end)
        return Route(self._in_streets(found, start), found.cost, found.bound, self._known, None)

    def _in_streets(self, found: Route, start: int) -> Found:
        streets, path = self.turns.streets, found.path
        if path.size == 0:
            return Found(found.cost, path, path)
        edges = self.turns.streets_of(path)
        first = streets.head[start] if start < streets.m else start - streets.m
        return Found(found.cost, np.concatenate([[first], streets.head[edges]]).astype(np.int32), edges)

    def routes(self, pairs: Any, *, n_jobs: int | None = None) -> list[Route]:
        """Return shortest paths with turn costs for many pairs.

        Parameters
        ----------
        pairs
            Pairs (source, target) as :meth:`route` takes them.
        n_jobs
            As for :meth:`rhostar.Router.routes`.

        Returns
        -------
        list of Route

        Raises
        ------
        VertexError, EdgeError, ArrayError, InputError, WeightError
            As :meth:`rhostar.Router.routes`.
        """
        listed = list(pairs)
        for i, pair in enumerate(listed):
            if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
                raise ArrayError(f"pairs[{i}] must be a pair of places, got {pair!r}")
        starts = self._places([pair[0] for pair in listed], "pairs", start=True)
        ends = self._places([pair[-1] for pair in listed], "pairs", start=False)
        found = self._router.routes(np.stack([starts, ends], axis=1), n_jobs=n_jobs)
        return [
            Route(self._in_streets(one, int(start)), one.cost, one.bound, self._known, None)
            for one, start in zip(found, starts, strict=True)
        ]

    def matrix(self, sources: Any, targets: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the costs, with turns, from each source to each target.

        Parameters
        ----------
        sources, targets
            Vertices or :class:`Street`.
        n_jobs
            As for :meth:`rhostar.Router.matrix`.

        Returns
        -------
        numpy.ndarray
            (number of sources, number of targets); inf where there is no path.

        Raises
        ------
        VertexError, EdgeError, ArrayError, InputError, WeightError
            As :meth:`rhostar.Router.matrix`.
        """
        starts, ends = (
            self._places(places, name, start=start)
            for places, name, start in ((sources, "sources", True), (targets, "targets", False))
        )
        return self._router.matrix(starts, ends, n_jobs=n_jobs)

    def nearest(self, source: Any, goals: Any, k: int = 1) -> Nearest:
        """Return the goals that are nearest to a place, with turn costs.

        Parameters
        ----------
        source
            A vertex or a :class:`Street`.
        goals
            Vertices to choose from.
        k
            How many.

        Returns
        -------
        Nearest

        Raises
        ------
        VertexError, EdgeError, ArrayError, InputError, WeightError
            As :meth:`rhostar.Router.nearest`.
        """
        shift = self.turns.streets.m + self.turns.streets.n
        ends = self._names.many(goals, "goals") + np.int32(shift)
        found = self._router.nearest(self._place(source, "source", start=True), ends, k)
        return Nearest(found.goals - np.int32(shift), found.costs, self._names)

    def within(self, vertex: Any, max_cost: float) -> Within:
        """Return all vertices that can be reached within a cost, turns included.

        Parameters
        ----------
        vertex
            A vertex or a :class:`Street`.
        max_cost
            The highest cost to get there, inclusive.

        Returns
        -------
        Within
            The parent of a vertex is the one before it on its own shortest path; with turn costs these paths need not
            form a tree.

        Raises
        ------
        VertexError, EdgeError, InputError, WeightError
            As :meth:`rhostar.Router.within`.
        """
        streets = self.turns.streets
        found = self._router.within(self._place(vertex, "vertex", start=True), max_cost)
        ends = found.vertices >= streets.m + streets.n
        parents = np.append(streets.tail, -1)[np.minimum(found.parents[ends], streets.m)]
        vertices = found.vertices[ends] - np.int32(streets.m + streets.n)
        return Within(vertices, found.costs[ends], parents.astype(np.int32), self._names)

    # ------------------------------------------------------------ places

    def _place(self, value: Any, name: str, *, start: bool) -> int:
        """Return the vertex of the graph of turns for a place."""
        if isinstance(value, Street):
            return int(self._known.numbers([value.edge])[0])
        vertex, turns = self._names.one(value, name), self.turns
        return turns.start(vertex) if start else turns.end(vertex)

    def _places(self, values: Any, name: str, *, start: bool) -> NDArray[np.int32]:
        if isinstance(values, np.ndarray) or not any(isinstance(value, Street) for value in values):
            streets = self.turns.streets
            return self._names.many(values, name) + np.int32(streets.m + (0 if start else streets.n))
        return np.array(
            [self._place(value, f"{name}[{i}]", start=start) for i, value in enumerate(values)], dtype=np.int32
        )

    def __repr__(self) -> str:
        return f"TurnRouter({self.turns!r})"
