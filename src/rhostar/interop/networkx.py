"""Converts networkx graphs in both directions, and runs A* on a networkx graph directly.

:func:`from_networkx` and :func:`to_networkx` convert. :func:`astar_path` replaces ``networkx.astar_path`` and returns
the same results. For Dijkstra's algorithm, call networkx itself with ``backend="rhostar"``.

networkx is imported only where its own classes are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import EdgeError, GraphError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike
from rhostar.instances import Network
from rhostar.interop._checks import check_weights, coordinates, number_or_none
from rhostar.interop._networkx_links import links_of

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["astar_path", "astar_path_length", "from_networkx", "to_networkx"]


def from_networkx(network: nx.Graph, weight: str | None = "weight", *, default: float | None = None) -> Network:
    """Return the network of a networkx graph, with its weights; graphs of OSMnx are accepted, too.

    Parameters
    ----------
    network
        Directed or not, with parallel edges or not. Node ids become labels. If every node has numbers ``x`` and
        ``y``, they are the coordinates (if only some nodes have them, there is a warning and no coordinates). If every
        edge has a number ``length``, it is the length.
    weight
        The edge attribute, such as ``"length"`` or ``"travel_time"``; None gives every edge the weight 1. Text that
        is a number, as read from GraphML, is taken as one.
    default
        Weight of edges without that attribute; None raises.

    Returns
    -------
    Network
        One snapshot; the cheapest of parallel edges is kept.

    Raises
    ------
    WeightError
        If an edge has no such attribute and there is no default, or its weight is negative or not a number.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> streets = nx.MultiDiGraph()
    >>> streets.add_node(53, x=11.57, y=48.14)
    >>> streets.add_node(54, x=11.58, y=48.14)
    >>> _ = streets.add_edge(53, 54, length=80.0, travel_time=9.6), streets.add_edge(53, 54, length=120, travel_time=8)
    >>> network = rs.interop.from_networkx(streets, "travel_time")
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
    check_weights(graph, values, weight)
    return Network(graph, values)


def read_networkx(cls: type[Graph], network: nx.Graph, length: str | None) -> Graph:
    """Return the graph of all edges of `network`, both ways if it is undirected."""
    _require_networkx(network)
    number = {node: v for v, node in enumerate(network)}
    if not number:
        raise GraphError("network has no nodes")
    tail, head = _ends(network, number.__getitem__)
    values = None if length is None else _values(network, length, None)
    labels = list(number)
    places = coordinates(labels, [(data.get("x"), data.get("y")) for _, data in network.nodes(data=True)])
    return cls.from_edges(len(labels), tail, head, labels=labels, coordinates=places, length=values)


def read_weights(graph: Graph, network: nx.Graph, attribute: Attribute, default: float | None) -> NDArray[np.float64]:
    """Return the weights of `network` in the order of `graph`; +inf for edges that it lacks."""
    _require_networkx(network)
    number = graph.vertex if graph.labels is not None else lambda v: arrays.vertex(v, "node", graph.n)
    tail, head = _ends(network, number)
    values = _values(network, attribute, default)
    proper = tail != head
    tail, head, values = tail[proper], head[proper], values[proper]
    position = graph.edge_index(tail, head, missing=-1)
    if (position < 0).any():
        first = int(np.argmax(position < 0))
        u, v = (graph._name_of(int(ends[first])) for ends in (tail, head))
        raise EdgeError(f"network has the edge {u} -> {v}, which is not in the graph")
    weights = np.full(graph.m, np.inf)
    with np.errstate(invalid="ignore"):  # NaN stays NaN: using the weights raises then
        np.minimum.at(weights, position, values)
    return weights


def to_networkx(graph: Graph, weights: ArrayLike | None = None, *, attribute: str = "weight") -> nx.DiGraph:
    """Return a DiGraph with labels as nodes, x and y from coordinates, and edges that are present.

    Parameters
    ----------
    graph
        The graph.
    weights
        Optional weights; edges of weight +inf are left out.
    attribute
        The edge attribute that holds them.

    Returns
    -------
    networkx.DiGraph

    Raises
    ------
    ArrayError
        If there is not one weight for each edge.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(2, [0, 1], [1, 0], labels=["home", "work"])
    >>> list(rs.interop.networkx.to_networkx(graph, [3.0, 4.0]).edges(data="weight"))
    [('home', 'work', 3.0), ('work', 'home', 4.0)]
    """
    import networkx as nx

    network = nx.DiGraph()
    names: Any = graph.labels or range(graph.n)
    if graph.coordinates is None:
        network.add_nodes_from(names)
    else:
        network.add_nodes_from(
            (name, {"x": x, "y": y}) for name, (x, y) in zip(names, graph.coordinates.tolist(), strict=True)
        )
    tail, head = graph.tail.tolist(), graph.head.tolist()
    lengths = None if graph.length is None else graph.length.tolist()
    row = None if weights is None else arrays.weight_row(weights, "weights", graph.m).tolist()
    for e in range(graph.m):
        if row is not None and row[e] == np.inf:
            continue
        data = {} if lengths is None else {"length": lengths[e]}
        if row is not None:
            data[attribute] = row[e]
        network.add_edge(names[tail[e]], names[head[e]], **data)
    return network


def _require_networkx(network: nx.Graph) -> None:
    if not hasattr(network, "is_directed") or not hasattr(network, "nodes"):
        raise GraphError(f"network must be a networkx graph, got {type(network).__name__}")


def _ends(network: nx.Graph, number: Callable[[Any], int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return tails and heads in the order of ``network.edges``, then the ways back if it is undirected."""
    pairs = [(number(u), number(v)) for u, v in network.edges()]
    tail, head = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    if network.is_directed():
        return tail, head
    return np.concatenate([tail, head]), np.concatenate([head, tail])


def edge_values(network: nx.Graph, attribute: str, default: float | None = None) -> NDArray[np.float64]:
    """Return one number for each of ``network.edges``, in their order."""
    values = np.empty(network.number_of_edges())
    for i, (u, v, data) in enumerate(network.edges(data=True)):
        value = data.get(attribute)
        value = default if value is None else value
        try:
            values[i] = value
        except (TypeError, ValueError):
            raise WeightError(f"{attribute!r} of edge {u!r} -> {v!r} is not a number: {value!r}") from None
        if value is None:
            raise WeightError(f"edge {u!r} -> {v!r} has no attribute {attribute!r} and there is no default")
    return values


Attribute = str | Callable[[Any, Any, Any], float | None]
"""An edge attribute, or a function of an edge as networkx takes it."""


def _values(network: nx.Graph, attribute: Attribute, default: float | None) -> NDArray[np.float64]:
    """Return one number for each entry of :func:`_ends`; inf for edges that a function hides."""
    if callable(attribute):
        pairs = [*network.edges(), *([] if network.is_directed() else ((v, u) for u, v in network.edges()))]
        found = [attribute(u, v, network[u][v]) for u, v in pairs]  # multigraphs: all parallel edges at once
        try:
            return np.array([np.inf if value is None else value for value in found], dtype=np.float64)
        except (TypeError, ValueError):
            raise WeightError("the weight function must return numbers, or None for edges to hide") from None
    values = edge_values(network, attribute, default)
    return values if network.is_directed() else np.tile(values, 2)


def _is_length(value: Any) -> bool:
    length = number_or_none(value)
    return length is not None and 0 <= length < np.inf


def astar_path(
    G: nx.Graph,
    source: Hashable,
    target: Hashable,
    heuristic: Callable[[Any, Any], float] | HeuristicLike | Mapping[Any, Any] | None = None,
    weight: str | Callable[[Any, Any, Any], float | None] | None = "weight",
    *,
    cutoff: float | None = None,
) -> list[Any]:
    """Return the same path as ``networkx.astar_path``, ties included, in a fraction of the time.

    The first call on a graph reads its nodes and edges; later calls find them in the graph's own cache, which networkx
    empties whenever nodes or edges are added or removed. Weights are read in every call, but only where the search
    looks. A heuristic function is evaluated only there, too.

    Parameters
    ----------
    G
        Any networkx graph: directed or not, with parallel edges or not.
    source, target
        Nodes.
    heuristic
        A function ``heuristic(node, target)`` as networkx takes it, None for 0 everywhere, or learned values: an array
        in the order of ``G.nodes``, a mapping by node, a mapping from targets to arrays, or a fitted learner or
        :class:`rhostar.Model`. One that guarantees optimal answers first compares all weights with its bounds.
    weight
        An edge attribute (1 if an edge lacks it; the cheapest of parallel edges), a function
        ``weight(u, v, data)`` that may return None to hide an edge, or None for 1 everywhere.
    cutoff
        Nodes whose cost so far and heuristic value add up to more are left out; None or 0 for no limit.

    Returns
    -------
    list
        Nodes from source to target.

    Raises
    ------
    networkx.NodeNotFound
        If source or target is not in the graph.
    networkx.NetworkXNoPath
        If there is no path.
    HeuristicError
        If the heuristic has no value for a node that the search reaches.
    WeightError
        If a weight that the search reads is NaN.
    ArrayError, ModelError, NotFittedError
        If an array, a model or a learner does not fit the graph.
    InputError
        If `G` is not a networkx graph.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> G = nx.Graph()
    >>> G.add_weighted_edges_from([("a", "b", 1), ("b", "c", 1), ("a", "c", 5)])
    >>> rs.astar_path(G, "a", "c", heuristic={"a": 2, "b": 1, "c": 0})
    ['a', 'b', 'c']
    >>> G["a"]["c"]["weight"] = 1
    >>> rs.astar_path(G, "a", "c")
    ['a', 'c']
    """
    return _answer("astar_path", G, source, target, heuristic, weight, cutoff)


def astar_path_length(
    G: nx.Graph,
    source: Hashable,
    target: Hashable,
    heuristic: Callable[[Any, Any], float] | HeuristicLike | Mapping[Any, Any] | None = None,
    weight: str | Callable[[Any, Any, Any], float | None] | None = "weight",
    *,
    cutoff: float | None = None,
) -> Any:
    """Return the length of the path of :func:`astar_path`, as ``networkx.astar_path_length`` does.

    Parameters
    ----------
    G, source, target, heuristic, weight, cutoff
        As for :func:`astar_path`.

    Returns
    -------
    int or float
        An integer if all weights on the path are.

    Raises
    ------
    Exception
        As :func:`astar_path` does.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> rs.interop.astar_path_length(nx.path_graph(5), 0, 4)
    4
    """
    return _answer("astar_path_length", G, source, target, heuristic, weight, cutoff)


def _answer(
    name: str, G: nx.Graph, source: Hashable, target: Hashable, heuristic: Any, weight: Any, cutoff: Any
) -> Any:
    if not hasattr(G, "_adj") or not hasattr(G, "is_multigraph"):
        raise InputError(f"G must be a networkx graph, got {type(G).__name__}")
    from rhostar.interop import _networkx_paths

    links = links_of(G)
    try:
        return getattr(_networkx_paths, name)(links, source, target, heuristic, weight, cutoff=cutoff)
    except _networkx_paths.RefusedError:  # numbers of other kinds, such as fractions: networkx itself
        import networkx as nx

        if heuristic is not None and not callable(heuristic):
            heuristic = _networkx_paths.as_function(links, heuristic, target, weight)
        return getattr(nx, name)(G, source, target, heuristic, weight, cutoff=cutoff, backend="networkx")
