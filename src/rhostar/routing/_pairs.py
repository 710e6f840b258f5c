"""The second part of Router: questions about pairs of vertices."""

from __future__ import annotations

import math
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import WeightError
from rhostar.instances import Snapshot
from rhostar.routing import _bulk as bulk
from rhostar.routing._query_costs import QueryCosts
from rhostar.routing._route import Found, Route, Routes
from rhostar.routing._state import State
from rhostar.routing._time_of_day import TimedRoute, TimedWeights
from rhostar.routing._weights import _Nothing
from rhostar.search._outcome import Paths


class PairQuestions(TimedWeights):
    """Answers from one vertex to another: one route, many, and the costs among many."""

    @overload
    def route(
        self, source: Any, target: Any, *, snapshot: Snapshot | None = None, **costs: Unpack[QueryCosts]
    ) -> Route: ...
    @overload
    def route(self, source: Any, target: Any, *, depart: float) -> TimedRoute: ...
    @overload
    def route(self, source: Any, target: Any, *, arrive: float) -> TimedRoute: ...
    def route(
        self,
        source: Any,
        target: Any,
        *,
        snapshot: Snapshot | None = None,
        depart: float | None = None,
        arrive: float | None = None,
        **costs: Unpack[QueryCosts],
    ) -> Route:
        """Return a shortest path.

        The keywords in `costs` are costs of this query alone. They can be combined, all other queries accept them too,
        and answers are exact. Weights are not copied: a search reads the current ones and applies the changes as it
        goes. If a hierarchy has been customized already, it guides this search. Costs that recur get their own
        hierarchy, by the same rule as other weights.

        Parameters
        ----------
        source, target
            Vertices, by label or number.
        snapshot
            Weights to use instead of the current ones: the value of :attr:`snapshot` before an update.
        depart
            The time of departure, for weights by time of day (:meth:`update_by_time`): the path that arrives first.
        arrive
            The time of arrival instead: the path that departs last.
        **costs
            `avoid`: edges that are closed, named as for :meth:`update`. A closed edge leaves its parallels open, and an
            undirected edge is closed both ways. `avoid_vertices`: vertices that no route may pass; all their edges are
            closed. `changes`: a pair (edges, weights) with other weights for some edges, lower or higher. `factors`: a
            mapping from classes of edges to positive factors; other classes keep their weights. It needs a router with
            `edge_classes`. `mix`: a mapping from criteria to nonnegative coefficients; the weights are the weighted sum
            of the criteria. An edge that one criterion closes is closed in every mix. It needs a router with
            `criteria`. Factors multiply mixes and changes.

        Returns
        -------
        Route
            Its cost is inf if there is no path. With a time, a :class:`rhostar.routing.TimedRoute`.

        Raises
        ------
        VertexError
            If there is no such vertex.
        InputError
            If there was no update yet, or the snapshot is of another graph; if a time is outside the horizon, a factor
            is not positive, a class or criterion does not exist, or a mix adds up to 0.
        EdgeError, ArrayError
            If an edge does not exist, or there is not one weight for each.
        WeightError
            If a cost is 2**53 or more (integers), or exceeds the largest float64.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> router.route((0, 0), (3, 3))
        Route(cost 6, 6 edges)
        >>> router.route((0, 0), (0, 3), avoid=[((0, 1), (0, 2))])
        Route(cost 5, 5 edges)
        >>> router.route((0, 0), (0, 3), changes=([((0, 1), (0, 2))], [2.5]))
        Route(cost 4.5, 3 edges)

        A truck is slower on motorways:

        >>> streets = rs.Router.from_edges(2, [0, 0], [1, 1], edge_classes=["motorway", "road"])
        >>> streets.update([6.0, 8.0])
        >>> streets.route(0, 1).cost, streets.route(0, 1, factors={"motorway": 1.5}).edges.tolist()
        (6.0, [1])
        """
        if depart is not None or arrive is not None:
            return self._route_by_time(source, target, depart, arrive, snapshot is not None or bool(costs))
        state = self._state if snapshot is None and not costs else self._priced(snapshot, costs)
        kernel = state.index
        if kernel is not None:
            index = self._index
            try:
                found = kernel.path(source, target) if index is None else kernel.path(index[source], index[target])
            except (TypeError, KeyError):
                pass  # in another form; see below
            else:
                cost = found.cost
                if cost <= state.limit:  # False for NaN, which says that one of them is not a vertex
                    cheapest = None if self._same_edges else state.cheapest(self._edges.cheapest)
                    return Route(found, cost, cost, self._edges, cheapest)
        return self._route(self._of(None) if state is _Nothing else state, source, target)

    def _route(self, state: State, source: Any, target: Any) -> Route:
        s, t = self._names.one(source, "source"), self._names.one(target, "target")

        def by_index(index: _core.Customization) -> tuple[Found, float | None]:
            found = index.path(s, t)
            failures.require_done(found.ending)
            if state.limit < found.cost < math.inf:
                raise WeightError(
                    f"the path from {source!r} to {target!r} costs 2**53 or more; sums of integers are exact only "
                    "below it"
                )
            return Found(found.cost, found.vertices, found.edges), found.cost

        found, bound = state.answer(lambda left: state.search(s, t, left), by_index)
        return Route(found, found.cost, bound, self._edges, state.cheapest(self._edges.cheapest))

    def routes(
        self,
        pairs: Any,
        *,
        snapshot: Snapshot | None = None,
        n_jobs: int | None = None,
        **costs: Unpack[QueryCosts],
    ) -> Routes:
        """Return shortest paths for many pairs of vertices.

        Parameters
        ----------
        pairs
            Pairs (source, target), by label or number; or an array of shape (number of pairs, 2).
        snapshot
            As for :meth:`route`.
        n_jobs
            As in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1 means all cores. The answers
            are the same for any number.
        **costs
            As for :meth:`route`.

        Returns
        -------
        Routes
            In the order of the pairs.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a pair of vertices.
        InputError, WeightError
            As :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> [route.cost for route in router.routes([(0, 15), (5, 6)])]
        [6.0, 1.0]
        """
        state = self._priced(snapshot, costs)
        sources, targets = self._names.pairs(pairs, "pairs")

        def by_search(left: float) -> tuple[bulk.PathArrays | None, float]:
            if left < math.inf:
                return bulk.search_in_turn(sources, targets, state, left)
            parts = bulk.in_chunks(bulk.paths_by_search, state, "pairs", n_jobs, sources, targets)
            return bulk.joined(parts), 0.0

        def by_index(_: _core.Customization) -> bulk.PathArrays:
            return bulk.joined(bulk.in_chunks(bulk.paths_by_index, state, "pairs", n_jobs, sources, targets))

        if sources.size == 0:
            found = bulk.joined([])
        else:
            found = state.answer(by_search, by_index, state.expected(sources.size - 1))
        cost, bound, vertices, path_end, edges, edge_end = found
        cheapest = state.cheapest(self._edges.cheapest)
        return Routes(cost, bound, Paths(vertices, path_end), Paths(edges, edge_end), self._edges, cheapest)

    def matrix(
        self,
        sources: Any,
        targets: Any,
        *,
        snapshot: Snapshot | None = None,
        n_jobs: int | None = None,
        **costs: Unpack[QueryCosts],
    ) -> NDArray[np.float64]:
        """Return the costs of shortest paths from each source to each target.

        Parameters
        ----------
        sources, targets
            Vertices, by label or number.
        snapshot, n_jobs, **costs
            As for :meth:`routes`.

        Returns
        -------
        numpy.ndarray
            (number of sources, number of targets); inf where there is no path. Always exact.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex.
        InputError, WeightError
            As :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> router.matrix([0, 1], [3, 15]).tolist()
        [[3.0, 6.0], [2.0, 5.0]]
        """
        state = self._priced(snapshot, costs)
        rows, columns = self._names.many(sources, "sources"), self._names.many(targets, "targets")
        if rows.size == 0 or columns.size == 0:
            return np.empty((rows.size, columns.size))
        (own, of_own), (goals, of_goals) = (np.unique(some, return_inverse=True) for some in (rows, columns))
        reverse = bool(goals.size < own.size)
        if reverse:
            own, goals = goals, own

        def by_search(left: float) -> tuple[NDArray[np.float64] | None, float]:
            if left < math.inf:
                found, spent = bulk.rows_in_turn(own, goals, state, left, reverse=reverse)
            else:
                options: dict[str, Any] = {"targets": goals, "reverse": reverse}
                parts = bulk.in_chunks(bulk.rows_by_search, state, "sources", n_jobs, own, **options)
                found, spent = np.concatenate(parts), 0.0
            if found is None:
                return None, spent
            return (found.T if reverse else found)[np.ix_(of_own, of_goals)], spent

        def by_index(_: _core.Customization) -> NDArray[np.float64]:
            parts = bulk.in_chunks(bulk.matrix_by_index, state, "sources", n_jobs, rows, targets=columns)
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        return state.answer(by_search, by_index, (own.size - 1) * self.graph.n / 2)
