"""Converts street networks of OSMnx, which are networkx multigraphs with OSMnx's own attributes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rhostar.errors import EdgeError, GraphError, InputError, RhostarWarning, VertexError, WeightError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.interop.networkx import edge_values, from_networkx
from rhostar.interop.pandas import from_pandas
from rhostar.routing import Route, Router

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_osmnx", "route_geojson"]


def from_osmnx(
    streets: nx.MultiDiGraph,
    weight: str = "travel_time",
    *,
    history: Any = None,
    missing: Literal["error", "closed", "last", "median"] = "error",
) -> Network:
    """Return the street network of OSMnx with its weights, or with a history of them.

    Parameters
    ----------
    streets
        What ``osmnx.graph_from_place`` and the like return. OSM ids become labels, ``x`` and ``y`` the coordinates,
        ``length`` the length in meters.
    weight
        The edge attribute to minimize: ``"travel_time"`` after ``osmnx.add_edge_travel_times``, or ``"length"``. With
        a `history`, its column.
    history
        A pandas table of measurements with the columns ``u`` and ``v`` (the OSM ids of the ends), ``time`` and
        `weight`. Each time is a snapshot; times that are time stamps also give :attr:`Network.days`.
    missing
        What to do about a street that has measurements, but not at each time, as in :func:`read_edge_table`. Streets
        without any are closed, and a warning counts them.

    Returns
    -------
    Network
        One snapshot, or one for each time; the cheapest of parallel edges is kept.

    Raises
    ------
    GraphError
        If a node has no ``x`` or ``y``: such a graph is not from OSMnx.
    WeightError
        If an edge lacks `weight`, or its value is negative or not a number.
    InputError
        If the `history` has a street that the graph lacks, or cannot be read.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> streets = nx.MultiDiGraph()
    >>> streets.add_nodes_from([(53, {"x": 11.57, "y": 48.14}), (54, {"x": 11.58, "y": 48.14})])
    >>> _ = streets.add_edge(53, 54, length=80.0, travel_time=9.6)
    >>> rs.interop.from_osmnx(streets)
    Network(2 vertices, 1 edge, 1 snapshot)
    """
    _require_places(streets)
    if history is None:
        return from_networkx(streets, weight)
    measured = from_pandas(history, tail="u", head="v", weight=weight, snapshot="time", missing=missing)
    graph = Graph.from_networkx(streets, length="length" if _has_length(streets) else None)
    names = measured.graph.labels or range(measured.graph.n)
    try:
        place = np.array([graph.vertex(name) for name in names])
    except VertexError as error:
        raise InputError(f"history: {error}") from None
    tail, head = place[measured.graph.tail], place[measured.graph.head]
    edges = graph.edge_index(tail, head, missing=-1)
    if (edges < 0).any():
        e = int(np.argmax(edges < 0))
        ends = names[measured.graph.tail[e]], names[measured.graph.head[e]]
        raise InputError(f"history has the street {ends[0]} -> {ends[1]}, which is not in the graph")
    if edges.size < graph.m:
        text = f"{graph.m - edges.size:,} of {graph.m:,} streets have no measurements in the history and are closed"
        warnings.warn(text, RhostarWarning, stacklevel=2)
    weights = np.full((len(measured.weights), graph.m), np.inf)
    weights[:, edges] = measured.weights
    return Network(graph, weights, names=measured.names, days=measured.days)


def read_router(cls: type[Router], streets: nx.MultiDiGraph, weight: str, **how: Any) -> Router:
    """Return a router with the edges of a street network as they are, and their weights; `how` as for the class."""
    _require_places(streets)
    if not streets.is_multigraph():
        raise GraphError("streets must be a multigraph, as those of OSMnx; nx.MultiDiGraph(streets) makes one")
    nodes = list(streets)
    number = {node: v for v, node in enumerate(nodes)}
    keys = list(streets.edges(keys=True))
    ends = np.array([(number[u], number[v]) for u, v, _ in keys], dtype=np.int32).reshape(-1, 2)
    values = edge_values(streets, weight)
    if (bad := ~(values >= 0)).any():
        i = int(np.argmax(bad))
        raise WeightError(f"{weight!r} of the edge {keys[i]!r} must be a non-negative number, got {values[i]}")
    places = [(float(data["x"]), float(data["y"])) for _, data in streets.nodes(data=True)]
    both = not streets.is_directed()
    router = cls.from_edges(
        len(nodes), *ends.T, undirected=both, coordinates=places, labels=nodes, edge_labels=keys, **how
    )
    router.update(values)
    return router


def route_geojson(streets: nx.MultiDiGraph, route: Route) -> dict[str, Any]:
    """Return a route of :meth:`rhostar.Router.from_osmnx` as a GeoJSON feature that follows the bends of its streets.

    Parameters
    ----------
    streets
        The street network that the router was made from, with longitudes and latitudes. Edges that OSMnx simplified
        have a ``geometry``; others are straight.
    route
        The route.

    Returns
    -------
    dict
        As :meth:`Route.to_geojson`, with the edges ``[u, v, key]`` among its properties.

    Raises
    ------
    EdgeError
        If the network lacks an edge of the route.
    GraphError
        If a place is not a longitude and a latitude.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> streets = nx.MultiDiGraph()
    >>> streets.add_nodes_from([(53, {"x": 11.57, "y": 48.14}), (54, {"x": 11.58, "y": 48.14})])
    >>> _ = streets.add_edge(53, 54, travel_time=9.6), streets.add_edge(53, 54, travel_time=8.0)
    >>> route = rs.Router.from_osmnx(streets).route(53, 54)
    >>> rs.interop.osmnx.route_geojson(streets, route)["properties"]
    {'cost': 8.0, 'labels': [53, 54], 'edges': [[53, 54, 1]]}
    """
    found, nodes = route.to_geojson(), route.labels
    points: list[list[float]] = []
    for step, edge in enumerate(route.edge_labels):
        if not isinstance(edge, tuple) or not streets.has_edge(*edge):
            raise EdgeError(f"the street network has no edge {edge!r}, which the route takes")
        shape = streets.edges[edge].get("geometry")
        ends = [(float(streets.nodes[v]["x"]), float(streets.nodes[v]["y"])) for v in nodes[step : step + 2]]
        line = ends if shape is None else [(float(x), float(y)) for x, y, *_ in shape.coords]
        if shape is not None and edge[0] != nodes[step]:  # an undirected street, driven the other way
            line.reverse()
        points += [list(point) for point in (line[1:] if points else line)]
    if points:
        found["geometry"] = {"type": "LineString", "coordinates": points}
    for x, y in points:
        if not (-180 <= x <= 180 and -90 <= y <= 90):
            raise GraphError(
                f"({x}, {y}) is not a longitude and latitude, which GeoJSON needs; "
                "osmnx.project_graph(streets, to_latlong=True) makes them"
            )
    found["properties"]["edges"] = [list(edge) for edge in route.edge_labels if isinstance(edge, tuple)]
    return found


def _require_places(streets: nx.MultiDiGraph) -> None:
    for node, data in streets.nodes(data=True):
        if data.get("x") is None or data.get("y") is None:
            raise GraphError(f"node {node!r} has no x and y; use from_networkx for graphs that are not from OSMnx")


def _has_length(streets: nx.MultiDiGraph) -> bool:
    return all("length" in data for *_, data in streets.edges(data=True))
