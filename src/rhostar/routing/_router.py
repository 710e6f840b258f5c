"""The class Router: today's weights, and every question about shortest paths on them."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike
from rhostar.instances import Snapshot
from rhostar.routing import _bulk as bulk
from rhostar.routing import _work as work
from rhostar.routing._answers import Nearest, Within
from rhostar.routing._edges import UserEdges
from rhostar.routing._guide import Guide
from rhostar.routing._names import VertexNames
from rhostar.routing._route import Found, Route, Routes
from rhostar.routing._state import Engine, State
from rhostar.routing._storage import read_router, write_router
from rhostar.search._outcome import Paths


class _Nothing:
    """Stands for the weights before the first update."""

    index = None


class Router:
    """Routes on one graph while its weights change: holds today's weights and answers every question about them.

    Answers are exact, unless an excess is allowed. After an update, queries are answered by searches; when searches on
    these weights have taken as much work as customizing a hierarchy (:class:`rhostar.Hierarchy`), that is done, and it
    answers from then on. Work is counted, not timed, so every run chooses alike: searches and customizing together are
    at most twice the work of the better choice in hindsight. :meth:`prepare` customizes at once, and :meth:`explain`
    says what was done.

    A query sees one set of weights whole. Threads may query while another updates; no lock is held during a search,
    and while one thread customizes, the others go on searching.

    Vertices are named by label if the graph has labels, and by number otherwise. With labels, numbers are accepted too
    if no label is an integer. The cells of a grid without labels may also be named (row, column).

    Parameters
    ----------
    graph
        The graph. Its edges are numbered as in ``graph.tail`` and ``graph.head``; :meth:`from_edges` keeps the user's
        own edges.
    heuristic
        Guides the searches: anything that :func:`rhostar.astar` takes as `rho`. None searches without one.
    max_excess
        How far the cost of a route may be above the optimum for certain, as a share of it.
    mean_excess
        The same on average, for a heuristic that was learned for it: it is used as it is.

    Attributes
    ----------
    graph
        The graph.

    Raises
    ------
    InputError
        If `graph` is not a Graph, an excess is negative, or the heuristic guarantees nothing and no mean excess is
        allowed.
    ModelError
        If the heuristic is for another graph.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(60, 60)
    >>> today = np.random.default_rng(0).uniform(1, 2, graph.m)
    >>> router = rs.Router(graph)
    >>> router.update(today)
    >>> route = router.route((0, 0), (59, 59))
    >>> round(route.cost, 3), route.path.size
    (146.541, 119)
    >>> router.update(edges=route.edges[:5], weights=np.full(5, np.inf))  # closed
    >>> round(router.route((0, 0), (59, 59)).cost, 3)
    147.429
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        heuristic: HeuristicLike | None = None,
        *,
        max_excess: float = 0.0,
        mean_excess: float | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        guide = Guide(graph, heuristic, max_excess, mean_excess)
        self._begin(Engine(graph, guide), UserEdges(graph, VertexNames(graph)))

    def _begin(self, engine: Engine, edges: UserEdges) -> None:
        self.graph, self._edges, self._names = engine.graph, edges, edges.names
        self._engine = engine
        self._index = self._names.index  # for the shortest way to the kernel
        self._same_edges = edges.given is None
        self._updating = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._state: Any = _Nothing

    @classmethod
    def from_edges(
        cls,
        n: int,
        tail: ArrayLike,
        head: ArrayLike,
        heuristic: HeuristicLike | None = None,
        *,
        undirected: bool = False,
        coordinates: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        max_excess: float = 0.0,
        mean_excess: float | None = None,
    ) -> Router:
        """Make a router that keeps the user's own edges: in any order, with loops and parallels.

        Updates and routes number the edges as they are given here. Of parallel edges a route names the cheapest.

        Parameters
        ----------
        n
            Number of vertices.
        tail, head
            Where each edge begins and ends.
        heuristic
            As for the class; learned on the same edges.
        undirected
            Whether each edge leads both ways. One update then sets both directions.
        coordinates, labels
            Of the vertices, as for :class:`rhostar.Graph`.
        edge_labels
            Names of the edges, distinct; :meth:`update` accepts them.
        max_excess, mean_excess
            As for the class.

        Returns
        -------
        Router

        Raises
        ------
        VertexError, ArrayError
            If a tail or head is not a vertex, or the arrays do not fit each other.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> router = rs.Router.from_edges(2, [0, 0], [1, 1], undirected=True)  # two parallel streets
        >>> router.update([5.0, 3.0])
        >>> router.route(0, 1).edges.tolist(), router.route(1, 0).cost
        ([1], 3.0)
        >>> router.update(edges=[1], weights=[np.inf])
        >>> router.route(0, 1).edges.tolist(), router.route(1, 0).cost
        ([0], 5.0)
        """
        tails, heads = (arrays.as_array(ends, name) for ends, name in ((tail, "tail"), (head, "head")))
        if undirected:
            if tails.shape != heads.shape:
                raise ArrayError(f"tail and head must have equal lengths, got {tails.size} and {heads.size}")
            tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        graph = Graph.from_edges(n, tails, heads, coordinates=coordinates, labels=labels)
        guide = Guide(graph, heuristic, max_excess, mean_excess)
        known = UserEdges(graph, VertexNames(graph), graph._given, undirected=bool(undirected), labels=edge_labels)
        made = cls.__new__(cls)
        made._begin(Engine(graph, guide), known)
        return made

    # ------------------------------------------------------------ weights

    @property
    def n_edges(self) -> int:
        """Number of edges that an update of all weights has to name."""
        return self._edges.count

    @property
    def snapshot(self) -> Snapshot:
        """The current weights, in the order of the graph; queries may name it after later updates."""
        if self._snapshot is None:
            raise _no_weights()
        return self._snapshot

    def update(self, weights: ArrayLike | Snapshot, *, edges: Any = None) -> None:
        """Take new weights, of all edges or of some.

        Queries that have begun go on with the weights that they began with. If the new weights cannot be used, the old
        ones stay.

        Parameters
        ----------
        weights
            One weight per edge, at least 0; inf for an edge that is closed. They are copied. With `edges`, one for each
            of these, or one for all of them.
        edges
            The edges that change; all others keep their weights. Each is a number, a label, or a pair (tail, head) of
            vertices. If one is there several times, its last weight counts. None for all edges.

        Raises
        ------
        WeightError
            If a weight is negative or NaN; the message names the edge.
        EdgeError, VertexError
            If an edge does not exist, or a pair stands for several parallel edges.
        ArrayError, InputError
            If there is not one weight per edge; if some are to change before the first update of all.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router.from_edges(3, [0, 1, 0], [1, 2, 2], labels=["a", "b", "c"])
        >>> router.update([1.0, 2.0, 4.0])
        >>> router.update(edges=[("b", "c")], weights=[9.0])
        >>> router.route("a", "c").cost
        4.0
        """
        if edges is not None:
            self._change(edges, weights)
            return
        known, engine = self._edges, self._engine
        if isinstance(weights, Snapshot):
            snapshot, state = weights, self._of(weights)
        elif self._same_edges:
            snapshot = Snapshot(self.graph, arrays.weight_row(weights, "weights", known.count))
            state = State(engine, snapshot.weights, None)
        else:
            given = arrays.weight_row(weights, "weights", known.count).copy()
            known.check(given)
            snapshot = Snapshot._of_checked(self.graph, known.row(given))
            state = State(engine, snapshot.weights, given)
        with self._updating:
            self._install(snapshot, state)

    def _change(self, edges: Any, weights: Any) -> None:
        known = self._edges
        numbers = known.numbers(edges)
        fresh = _fresh(weights, numbers, known)
        with self._updating:  # two updates of some edges must both count
            before = self._state
            if before is _Nothing:
                raise _no_weights()
            values = _changed(before.row if self._same_edges else before.given, numbers, fresh)
            touched = known.touched(numbers)
            if self._same_edges:
                row = values
            else:
                row = _changed(before.row, touched, known.least(values, touched))
            snapshot = Snapshot._of_checked(self.graph, row)
            given = None if self._same_edges else values
            state = State(self._engine, snapshot.weights, given, before, touched)
            self._install(snapshot, state)

    def _install(self, snapshot: Snapshot, state: State) -> None:
        snapshot.remember(self, "state", lambda _: state)
        self._snapshot, self._state = snapshot, state

    def _of(self, snapshot: Snapshot | None) -> State:
        """Return what is known about a snapshot; about the current one if it is None."""
        if snapshot is None:
            if self._state is _Nothing:
                raise _no_weights()
            current: State = self._state
            return current
        if not isinstance(snapshot, Snapshot):
            raise InputError(f"snapshot must be a Snapshot, got {type(snapshot).__name__}")
        snapshot.on(self.graph)

        def find(row: NDArray[Any]) -> State:
            if not self._same_edges:
                raise InputError(
                    "the snapshot is not one of this router, so the weights of its own edges are not known"
                )
            return State(self._engine, row, None)

        return snapshot.remember(self, "state", find)

    # ------------------------------------------------------------ questions

    def route(self, source: Any, target: Any, *, snapshot: Snapshot | None = None) -> Route:
        """Return a shortest path.

        Parameters
        ----------
        source, target
            Vertices, by label or number.
        snapshot
            Weights other than the current ones: what :attr:`snapshot` was before an update.

        Returns
        -------
        Route
            Its cost is inf if there is no path.

        Raises
        ------
        VertexError
            If there is no such vertex.
        InputError
            If there was no update yet, or the snapshot is of another graph.
        WeightError
            If a cost exceeds 2**53 (integers) or the largest float64.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> router.route((0, 0), (3, 3))
        Route(cost 6, 6 edges)
        """
        state = self._state if snapshot is None else self._of(snapshot)
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
        return self._route(self._of(snapshot), source, target)

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

    def routes(self, pairs: Any, *, snapshot: Snapshot | None = None, n_jobs: int | None = None) -> Routes:
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
        state = self._of(snapshot)
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
            rate = work.TABLE if state.guide.heuristic is None else work.GUIDED
            found = state.answer(by_search, by_index, (sources.size - 1) * self._engine.typical * rate)
        cost, bound, vertices, path_end, edges, edge_end = found
        cheapest = state.cheapest(self._edges.cheapest)
        return Routes(cost, bound, Paths(vertices, path_end), Paths(edges, edge_end), self._edges, cheapest)

    def matrix(
        self, sources: Any, targets: Any, *, snapshot: Snapshot | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the costs of shortest paths from each of some vertices to each of others.

        Parameters
        ----------
        sources, targets
            Vertices, by label or number.
        snapshot, n_jobs
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
        state = self._of(snapshot)
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

    def nearest(self, source: Any, goals: Any, k: int = 1, *, snapshot: Snapshot | None = None) -> Nearest:
        """Return the goals that are nearest to a vertex.

        Parameters
        ----------
        source
            A vertex, by label or number.
        goals
            Vertices to choose from; equal ones count once.
        k
            How many.
        snapshot
            As for :meth:`route`.

        Returns
        -------
        Nearest
            At most k of them, the nearest first; those that cannot be reached are left out.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex.
        InputError, WeightError
            If `k` is not positive, or as :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> found = router.nearest(0, [15, 10, 3], k=2)
        >>> found.goal, found.goals.tolist(), found.costs.tolist()
        (3, [3, 10], [3.0, 4.0])
        """
        start = self._names.one(source, "source")
        return self._nearest(start, self._names.many(goals, "goals"), k, snapshot, reverse=False)

    def nearest_source(self, sources: Any, target: Any, k: int = 1, *, snapshot: Snapshot | None = None) -> Nearest:
        """Return the sources from which a vertex is nearest: which of the vehicles is there first.

        Parameters
        ----------
        sources
            Vertices to choose from; equal ones count once.
        target
            A vertex, by label or number.
        k
            How many.
        snapshot
            As for :meth:`route`.

        Returns
        -------
        Nearest
            As :meth:`nearest`, with the sources as its goals.

        Raises
        ------
        VertexError, ArrayError, InputError, WeightError
            As :meth:`nearest`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.from_edges(3, [0, 1, 2], [1, 2, 0]))
        >>> router.update([1.0, 1.0, 5.0])
        >>> router.nearest_source([1, 2], 0).goal, router.nearest(0, [1, 2]).goal
        (2, 1)
        """
        end = self._names.one(target, "target")
        return self._nearest(end, self._names.many(sources, "sources"), k, snapshot, reverse=True)

    def _nearest(
        self, one: int, many: NDArray[np.int32], k: int, snapshot: Snapshot | None, *, reverse: bool
    ) -> Nearest:
        state = self._of(snapshot)
        goals = np.unique(many)
        wanted = min(arrays.integer(k, "k", 1), goals.size)
        if goals.size == 0:
            return Nearest(goals, np.empty(0), self._names)

        def by_search(left: float) -> tuple[Nearest | None, float]:
            found, spent = state.explore(one, reverse=reverse, goals=goals, wanted=wanted, left=left)
            return None if found is None else Nearest(found.vertex, found.cost, self._names), spent

        def by_index(index: _core.Customization) -> Nearest:
            if self.graph.n * wanted <= work.PER_GOAL * goals.size**2:  # there is probably a goal nearby
                early, _ = by_search(2 * work.PER_GOAL * goals.size)
                if early is not None:
                    return early
            found = index.distances(one, goals, reverse, math.inf, None)
            failures.require_done(found.ending)
            costs = bulk.exact(found.cost, state)
            # The first of equal costs: goals are in order.
            first = np.array([costs.argmin()]) if wanted == 1 else np.argsort(costs, kind="stable")[:wanted]
            first = first[costs[first] < np.inf]
            return Nearest(goals[first], costs[first], self._names)

        return state.answer(by_search, by_index)

    def within(
        self, vertex: Any, max_cost: float, *, reverse: bool = False, snapshot: Snapshot | None = None
    ) -> Within:
        """Return everything that can be reached for a cost: the area within 15 minutes.

        Parameters
        ----------
        vertex
            A vertex, by label or number.
        max_cost
            What it may cost to get there, inclusive; at least 0.
        reverse
            Whether to return what reaches the vertex instead.
        snapshot
            As for :meth:`route`.

        Returns
        -------
        Within
            Vertices, costs, and the tree of shortest paths.

        Raises
        ------
        VertexError
            If there is no such vertex.
        InputError, WeightError
            If `max_cost` is negative or NaN, or as :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> found = router.within(0, 1.0)
        >>> found.vertices.tolist(), found.costs.tolist(), found.parents.tolist()
        ([0, 1, 4], [0.0, 1.0, 1.0], [-1, 0, 0])
        """
        state = self._of(snapshot)
        start = self._names.one(vertex, "vertex")
        most = arrays.number(max_cost, "max_cost", "a number that is not negative", lambda x: x >= 0)
        found, _ = state.explore(start, reverse=bool(reverse), most=most)  # a hierarchy would not have saved this work
        assert found is not None
        return Within(found.vertex, found.cost, found.parent, self._names)

    def next_hops(
        self, goals: Any, *, snapshot: Snapshot | None = None, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return for every vertex where to go next on a shortest path to each of some goals.

        Parameters
        ----------
        goals
            Vertices, by label or number.
        snapshot, n_jobs
            As for :meth:`routes`.

        Returns
        -------
        numpy.ndarray
            (number of goals, n) the next vertex; -1 at the goal, and where the goal cannot be reached. Each row is a
            tree: following it leads to the goal, also where weights are zero.

        Raises
        ------
        VertexError, ArrayError, InputError, WeightError
            As :meth:`matrix`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(1, 4))
        >>> router.update(router.graph.length)
        >>> router.next_hops([0, 2]).tolist()
        [[-1, 0, 1, 2], [1, 2, -1, 2]]
        """
        state = self._of(snapshot)
        ends = self._names.many(goals, "goals")
        if ends.size == 0:
            return np.empty((0, self.graph.n), dtype=np.int32)
        return np.concatenate(bulk.in_chunks(bulk.hops, state, "goals", n_jobs, ends))

    # ------------------------------------------------------------ the engine

    def prepare(self) -> None:
        """Build the order of the graph, if that has not been done, and customize the hierarchy to the current weights.

        Before the first update, only the order is built. Nothing happens if the graph has no hierarchy of a reasonable
        size; :meth:`explain` says why.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> router.prepare()
        >>> router.explain().engine
        'hierarchy'
        """
        if self._state is _Nothing:
            with self._engine.customizing:
                self._engine.build()
        else:
            self._of(None).prepare()

    def explain(self) -> work.Explanation:
        """Return what was done with the current weights, and why.

        Returns
        -------
        Explanation
            ``print`` shows it in words.

        Raises
        ------
        InputError
            If there was no update yet.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> _ = router.route(0, 1)
        >>> print(router.explain())
        Queries are answered by searches (no heuristic).
        Since the last update 1 search took 1 expansions; customizing takes as much work as 8.
        The order of the vertices is built when the hierarchy is first customized.
        Every route is optimal.
        """
        state, engine = self._of(None), self._engine
        certificate = engine.guide.certificate
        return work.Explanation(
            "search" if state.index is None else "hierarchy",
            "no heuristic" if state.guide.heuristic is None else repr(state.guide.heuristic),
            state.searches,
            state.spent,
            state.work,
            engine.order,
            engine.guide.guarantee,
            None if certificate is None else certificate.get("sentence", json.dumps(certificate, default=str)),
        )

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the router to a file, whole or not at all: graph, order, hierarchy and heuristic, but no weights.

        Call :meth:`prepare` before, or there may be no order and no hierarchy yet.

        Parameters
        ----------
        path
            The file to write or replace.

        Raises
        ------
        StorageError
            If the disk refuses, an old file stays as it was; if a label is neither a number nor a string nor a tuple of
            these.

        Examples
        --------
        >>> import rhostar as rs, tempfile
        >>> router = rs.Router(rs.Graph.grid(10, 10))
        >>> router.prepare()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     router.save(f"{folder}/grid.npz")
        ...     again = rs.Router.load(f"{folder}/grid.npz")
        >>> again.update(again.graph.length)
        >>> again.route(0, 99).cost
        18.0
        """
        write_router(path, self._engine, self._edges)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Router:
        """Open a file that :meth:`save` wrote.

        The arrays of the hierarchy are mapped, so that processes on one machine share them. They are checked once, now.
        Replacing the file later is fine; changing it while it is in use is not supported.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Router
            Without weights.

        Raises
        ------
        StorageError
            If the file is missing, damaged, or not a router.
        """
        made = cls.__new__(cls)
        made._begin(*read_router(path))
        return made

    def __repr__(self) -> str:
        weights = "no weights yet" if self._state is _Nothing else f"weights of {self._edges.count} edges"
        return f"Router({self.graph.n} vertices, {weights})"


def _no_weights() -> InputError:
    return InputError("the router has no weights yet: call update(weights) first")


def _fresh(weights: Any, numbers: NDArray[np.int64], known: UserEdges) -> NDArray[Any]:
    """Return new weights of some edges, checked."""
    given = arrays.as_array(weights, "weights")
    if given.dtype.kind not in "iuf":
        raise ArrayError(f"weights must be an array of numbers, got dtype {given.dtype}")
    if given.shape not in ((), numbers.shape):
        what = arrays.counted(numbers.size, "edge")
        raise ArrayError(f"weights must have one value for each of the {what}, or one for all, got shape {given.shape}")
    if given.dtype.kind != "f" and given.size and (given.min() < 0 or given.max() >= 2**53):
        fresh = np.broadcast_to(given, numbers.shape).astype(np.float64)  # the check below would not see all of them
        bad = int(np.argmax((fresh < 0) | (fresh >= 2.0**53)))
        raise WeightError(
            f"weights[{bad}] (edge {known.name(int(numbers[bad]))}) is {fresh[bad]:.0f}; it must not be negative, and "
            "integers must be below 2**53"
        )
    fresh = np.ascontiguousarray(np.broadcast_to(given, numbers.shape), dtype=np.float64)
    ending = _core.check_weights(fresh[None, :], None).ending
    if ending.status is not _core.Status.DONE:
        raise known.bad_weight(ending, fresh, numbers)
    return fresh


def _changed(row: NDArray[Any], edges: NDArray[np.int64], fresh: NDArray[np.float64]) -> NDArray[Any]:
    """Return a copy with some weights replaced; in float64 if its own type cannot hold one of them."""
    kind = row.dtype
    with np.errstate(invalid="ignore", over="ignore"):
        if kind != np.float64 and not (fresh.astype(kind) == fresh).all():
            kind = np.dtype(np.float64)
    made = row.astype(kind)
    made[edges] = fresh
    return made
