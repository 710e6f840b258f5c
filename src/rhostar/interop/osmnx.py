"""Converts street networks of OSMnx, which are networkx multigraphs with OSMnx's own attributes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rhostar.errors import GraphError, InputError, RhostarWarning, VertexError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.interop.networkx import from_networkx
from rhostar.interop.pandas import from_pandas

if TYPE_CHECKING:
    import networkx as nx


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
    for node, data in streets.nodes(data=True):
        if data.get("x") is None or data.get("y") is None:
            raise GraphError(f"node {node!r} has no x and y; use from_networkx for graphs that are not from OSMnx")
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
        raise InputError(f"history has the street {ends[0]} -> {ends[1]}, which the graph lacks")
    if edges.size < graph.m:
        text = f"{graph.m - edges.size:,} of {graph.m:,} streets have no measurements in the history and are closed"
        warnings.warn(text, RhostarWarning, stacklevel=2)
    weights = np.full((len(measured.weights), graph.m), np.inf)
    weights[:, edges] = measured.weights
    return Network(graph, weights, names=measured.names, days=measured.days)


def _has_length(streets: nx.MultiDiGraph) -> bool:
    return all("length" in data for *_, data in streets.edges(data=True))
