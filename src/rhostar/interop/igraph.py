"""Converts igraph graphs to a :class:`~rhostar.datasets.Network`. Nothing here imports igraph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import GraphError, WeightError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.interop._checks import check_weights, coordinates, number_or_none


def from_igraph(graph: Any, weight: str | None = "weight") -> Network:
    """Return the network of an igraph graph, with its weights.

    Parameters
    ----------
    graph
        Directed or not. Distinct vertex names become labels; vertex attributes ``x`` and ``y`` are the coordinates,
        an edge attribute ``length`` the length.
    weight
        The edge attribute; None gives every edge the weight 1.

    Returns
    -------
    Network
        One snapshot. The cheapest of parallel edges is kept.

    Raises
    ------
    WeightError
        If there is no such attribute, or a weight is negative or not a number.

    Examples
    --------
    >>> import igraph, rhostar as rs
    >>> roads = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"minutes": [3, 4]})
    >>> rs.interop.from_igraph(roads, "minutes").weights.tolist()
    [[3.0, 3.0, 4.0, 4.0]]
    """
    if not hasattr(graph, "get_edgelist") or not hasattr(graph, "vcount"):
        raise GraphError(f"graph must be an igraph graph, got {type(graph).__name__}")
    if graph.vcount() == 0:
        raise GraphError("graph has no vertices")
    tail, head = np.array(graph.get_edgelist(), dtype=np.int32).reshape(-1, 2).T
    values = np.ones(tail.size) if weight is None else _edge_values(graph, weight)
    known = set(graph.vertex_attributes())
    length = _edge_values(graph, "length") if "length" in graph.edge_attributes() else None
    if length is not None and not ((length >= 0) & (length < np.inf)).all():
        length = None
    if not graph.is_directed():
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        values, length = np.tile(values, 2), None if length is None else np.tile(length, 2)
    names = list(graph.vs["name"]) if "name" in known else []
    places = None
    if {"x", "y"} <= known:
        points = list(zip(graph.vs["x"], graph.vs["y"], strict=True))
        places = coordinates(names or range(graph.vcount()), points)
        if places is not None and not np.isfinite(places).all():
            places = None
    labels = names if len(set(names)) == graph.vcount() else None
    made = Graph.from_edges(graph.vcount(), tail, head, labels=labels, coordinates=places, length=length)
    arranged = made.arrange(values)
    check_weights(made, arranged, weight or "weight")
    return Network(made, arranged)


def _edge_values(graph: Any, name: str) -> NDArray[np.float64]:
    known = graph.edge_attributes()
    if name not in known:
        raise WeightError(f"the edges have no attribute {name!r}; they have {', '.join(known) or 'none'}")
    values = graph.es[name]
    for k, value in enumerate(values):
        if number_or_none(value) is None:
            raise WeightError(f"{name!r} of edge {k} is not a number: {value!r}")
    return np.array(values, dtype=np.float64)
