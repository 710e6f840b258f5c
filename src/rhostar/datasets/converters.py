"""Graphs of other libraries as a :class:`Network`: networkx (OSMnx included) and igraph.

Nothing here imports them: their objects bring all that is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar.datasets.network import Network
from rhostar.errors import GraphError, WeightError
from rhostar.graph import Graph

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(network: nx.Graph, weight: str | None = "weight", *, default: float | None = None) -> Network:
    """Return a networkx graph with its weights; the graphs of OSMnx are such.

    Parameters
    ----------
    network
        Directed or not, with parallel edges or not. Node ids become labels; where every node has numbers ``x`` and
        ``y``, they are the coordinates; where every edge has a number ``length``, it is the length.
    weight
        The edge attribute, such as ``"length"`` or ``"travel_time"``; None gives every edge the weight 1. Text that
        is a number, as read from GraphML, is taken as one.
    default
        Weight of edges without that attribute; None raises.

    Returns
    -------
    Network
        One snapshot; of parallel edges the cheapest counts.

    Raises
    ------
    WeightError
        If an edge has no such attribute and there is no default, or its weight is negative or no number.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> streets = nx.MultiDiGraph()
    >>> streets.add_node(53, x=11.57, y=48.14)
    >>> streets.add_node(54, x=11.58, y=48.14)
    >>> _ = streets.add_edge(53, 54, length=80.0, travel_time=9.6), streets.add_edge(53, 54, length=120, travel_time=8)
    >>> network = rs.datasets.from_networkx(streets, "travel_time")
    >>> network.graph.labels, network.weights.tolist(), network.graph.length.tolist()
    ((53, 54), [[8.0]], [80.0])
    """
    has_length = (
        hasattr(network, "edges")
        and network.number_of_edges() > 0
        and all(_is_length(data.get("length")) for _, _, data in network.edges(data=True))
    )
    graph = Graph.from_networkx(network, length="length" if has_length else None)
    if weight is None:
        return Network(graph, np.ones(graph.m))
    values = graph.weights_of(network, weight, default=default)
    _check(graph, values, weight)
    return Network(graph, values)


def from_igraph(graph: Any, weight: str | None = "weight") -> Network:
    """Return an igraph graph with its weights.

    Parameters
    ----------
    graph
        Directed or not. Distinct vertex names become labels; vertex attributes ``x`` and ``y`` are the coordinates,
        an edge attribute ``length`` the length.
    weight
        The edge attribute; None gives every edge the weight 1.

    Raises
    ------
    WeightError
        If there is no such attribute, or a weight is negative or no number.

    Examples
    --------
    >>> import igraph, rhostar as rs
    >>> roads = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"minutes": [3, 4]})
    >>> rs.datasets.from_igraph(roads, "minutes").weights.tolist()
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
        try:
            places = np.array([graph.vs["x"], graph.vs["y"]], dtype=np.float64).T
        except (TypeError, ValueError):
            places = None
        if places is not None and not np.isfinite(places).all():
            places = None
    labels = names if len(set(names)) == graph.vcount() else None
    made = Graph.from_edges(graph.vcount(), tail, head, labels=labels, coordinates=places, length=length)
    arranged = made.arrange(values)
    _check(made, arranged, weight or "weight")
    return Network(made, arranged)


def _is_length(value: Any) -> bool:
    try:
        return 0 <= float(value) < np.inf
    except (TypeError, ValueError):
        return False


def _edge_values(graph: Any, name: str) -> NDArray[np.float64]:
    known = graph.edge_attributes()
    if name not in known:
        raise WeightError(f"the edges have no attribute {name!r}; they have {', '.join(known) or 'none'}")
    values = graph.es[name]
    for k, value in enumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            raise WeightError(f"edge {k} has no number as {name!r}: {value!r}") from None
    return np.array(values, dtype=np.float64)


def _check(graph: Graph, values: NDArray[np.float64], name: str) -> None:
    bad = ~(values >= 0)
    if bad.any():
        e = int(np.argmax(bad))
        names: Any = graph.labels or range(graph.n)
        ends = f"{names[graph.tail[e]]!r} -> {names[graph.head[e]]!r}"
        raise WeightError(f"{name!r} of the edge {ends} must be a number that is not negative, got {values[e]}")
