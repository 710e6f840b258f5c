"""The class Router: today's weights, and every question about shortest paths on them."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike
from rhostar.routing import _work as work
from rhostar.routing._alternatives import Alternatives
from rhostar.routing._edges import UserEdges
from rhostar.routing._guide import Guide
from rhostar.routing._names import VertexNames
from rhostar.routing._query_costs import EdgeClasses
from rhostar.routing._sets import SetQuestions
from rhostar.routing._state import Engine
from rhostar.routing._storage import read_router, write_router


class Router(Alternatives, SetQuestions):
    """Answers shortest-path queries on one graph while its weights change.

    Answers are exact, unless an excess is allowed. After an update, queries are answered by searches. Once searches on
    these weights have taken as much work as customizing a hierarchy (:class:`rhostar.Hierarchy`) would, the hierarchy
    is customized and answers all later queries. Work is counted, not timed, so every run makes the same choice.
    Searches and customizing together take at most twice the work of the better choice in hindsight. :meth:`prepare`
    customizes at once, and :meth:`explain` says what was done.

    Each query uses one consistent set of weights. Threads may query while another one updates; no lock is held during a
    search, and while one thread customizes, the others go on searching.

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
        How far the cost of a route may exceed the optimum, as a fraction of it. Every route stays within this limit.
    mean_excess
        The same on average, for a heuristic that was learned for that purpose. Its values are used unchanged.
    edge_classes
        The class of each edge, such as "motorway" or 3, for queries with `factors`.
    criteria
        Weights for each of several criteria, such as ``{"time": ..., "toll": ...}``, for queries with `mix`. Queries
        without `mix` use the first. :meth:`update` takes new weights of one criterion.

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
        edge_classes: Any = None,
        criteria: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        guide = Guide(graph, heuristic, max_excess, mean_excess)
        self._start(Engine(graph, guide), UserEdges(graph, VertexNames(graph)), edge_classes, criteria)

    def _start(
        self, engine: Engine, known: UserEdges, edge_classes: Any, criteria: Mapping[str, ArrayLike] | None
    ) -> None:
        classes = None if edge_classes is None else EdgeClasses(known, edge_classes)
        given = {} if criteria is None else criteria
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise InputError(f"criteria must be a mapping from names to weights, got {given!r}")
        self._begin(engine, known, classes, tuple(given))
        for name, weights in given.items():
            self.update(weights, criterion=name)

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
        edge_classes: Any = None,
        criteria: Mapping[str, ArrayLike] | None = None,
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
        max_excess, mean_excess, edge_classes, criteria
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
        made._start(Engine(graph, guide), known, edge_classes, criteria)
        return made

    @classmethod
    def from_osmnx(
        cls,
        streets: Any,
        weight: str = "travel_time",
        heuristic: HeuristicLike | None = None,
        *,
        max_excess: float = 0.0,
        mean_excess: float | None = None,
    ) -> Router:
        """Make a router on a street network of OSMnx that keeps its parallel edges, with the weights that it has.

        Vertices are named by their OSM ids and edges by ``(u, v, key)``. They are in the order of ``streets.edges``, so
        :meth:`update` also takes one weight for each of these.

        Parameters
        ----------
        streets
            What ``osmnx.graph_from_place`` and the like return: a MultiDiGraph whose nodes have ``x`` and ``y``.
        weight
            The edge attribute to minimize: ``"travel_time"`` after ``osmnx.add_edge_travel_times``, or ``"length"``.
        heuristic, max_excess, mean_excess
            As for the class.

        Returns
        -------
        Router

        Raises
        ------
        GraphError
            If a node has no ``x`` or ``y``, or the network is no multigraph.
        WeightError
            If an edge lacks `weight`, or its value is negative or not a number.

        See Also
        --------
        rhostar.interop.osmnx.route_geojson : A route that follows the bends of its streets.

        Examples
        --------
        >>> import networkx as nx, rhostar as rs
        >>> streets = nx.MultiDiGraph()
        >>> streets.add_nodes_from([(53, {"x": 11.57, "y": 48.14}), (54, {"x": 11.58, "y": 48.14})])
        >>> _ = streets.add_edge(53, 54, travel_time=9.6), streets.add_edge(53, 54, travel_time=8.0)
        >>> router = rs.Router.from_osmnx(streets)
        >>> route = router.route(53, 54)
        >>> list(route.labels), list(route.edge_labels), route.cost
        ([53, 54], [(53, 54, 1)], 8.0)
        >>> router.update(edges=[(53, 54, 1)], weights=[float("inf")])  # closed
        >>> router.route(53, 54).edge_labels
        ((53, 54, 0),)
        """
        from rhostar.interop.osmnx import read_router as read_streets

        return read_streets(cls, streets, weight, heuristic=heuristic, max_excess=max_excess, mean_excess=mean_excess)

    # ------------------------------------------------------------ the engine

    def prepare(self, *, verbose: int = 0) -> None:
        """Order the vertices, if that has not been done, and customize the hierarchy to the current weights.

        Before the first update, the vertices are only ordered. Nothing happens if the graph has no hierarchy of a
        reasonable size; :meth:`explain` says why.

        Parameters
        ----------
        verbose
            1 shows a progress bar on standard error while the vertices are ordered.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> router.prepare()
        >>> router.explain().engine
        'hierarchy'
        """
        if self._snapshot is None:
            with self._engine.customizing:
                self._engine.build(verbose)
        else:
            self._of(None).prepare(verbose)

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
        """Write the router, without its weights, to a file, completely or not at all.

        The file holds the graph, the order of its vertices, the hierarchy, the heuristic, the classes of edges and the
        names of the criteria. Call :meth:`prepare` first; otherwise there may be no order and no hierarchy yet.

        Parameters
        ----------
        path
            The file to write or replace.

        Raises
        ------
        StorageError
            If the file cannot be written (an old one then stays as it was), or a label is neither a number nor a string
            nor a tuple of these.

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
        write_router(path, self._engine, self._edges, self._variants.classes, tuple(self._criteria))

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
        weights = "no weights yet" if self._snapshot is None else f"weights of {self._edges.count} edges"
        return f"Router({self.graph.n} vertices, {weights})"
