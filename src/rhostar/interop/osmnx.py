"""Converts street networks of OSMnx, which are networkx multigraphs with OSMnx's own attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rhostar.errors import GraphError
from rhostar.instances import Network
from rhostar.interop.networkx import from_networkx

if TYPE_CHECKING:
    import networkx as nx


def from_osmnx(streets: nx.MultiDiGraph, weight: str = "travel_time") -> Network:
    """Return the street network of OSMnx with its weights.

    Parameters
    ----------
    streets
        What ``osmnx.graph_from_place`` and the like return. OSM ids become labels, ``x`` and ``y`` the coordinates,
        ``length`` the length in metres.
    weight
        The edge attribute to minimise: ``"travel_time"`` after ``osmnx.add_edge_travel_times``, or ``"length"``.

    Returns
    -------
    Network
        One snapshot; the cheapest of parallel edges is kept.

    Raises
    ------
    GraphError
        If a node has no ``x`` or ``y``: such a graph is not from OSMnx.
    WeightError
        If an edge lacks `weight`, or its value is negative or not a number.

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
    return from_networkx(streets, weight)
