"""Converts networkx graphs in both directions, and runs A* on a networkx graph directly.

:func:`from_networkx` and :func:`to_networkx` convert. :func:`astar_path` takes the place of ``networkx.astar_path``: it
keeps the compressed form of the graph in networkx's own cache, which networkx empties whenever nodes or edges are added
or removed. It reads the weights again in every call, because networkx does not report changed attributes. For many
queries on one graph it is faster to call ``Graph.from_networkx`` once and :func:`rhostar.astar` for each query.

networkx is imported only where its own classes are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import EdgeError, GraphError, HeuristicError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.interop._shared import check_weights, coordinates
from rhostar.search import astar

if TYPE_CHECKING:
    import networkx as nx

_CACHE = "rhostar"


def from_networkx(network: nx.Graph, weight: str | None = "weight", *, default: float | None = None) -> Network:
    """Return a networkx graph with its weights; this is also for the graphs of OSMnx.

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
    number = _numbered(network)
    if not number:
        raise GraphError("network has no nodes")
    tail, head = _ends(network, number.__getitem__)
    values = None if length is None else _values(network, length, None)
    labels = list(number)
    places = coordinates(labels, [(data.get("x"), data.get("y")) for _, data in network.nodes(data=True)])
    return cls.from_edges(len(labels), tail, head, labels=labels, coordinates=places, length=values)


def read_weights(graph: Graph, network: nx.Graph, attribute: str, default: float | None) -> NDArray[np.float64]:
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
        names = graph.labels or range(graph.n)
        raise EdgeError(f"network has the edge {names[tail[first]]!r} -> {names[head[first]]!r}, which the graph lacks")
    weights = np.full(graph.m, np.inf)
    with np.errstate(invalid="ignore"):  # NaN stays NaN: using the weights raises then
        np.minimum.at(weights, position, values)
    return weights


def to_networkx(graph: Graph, weights: ArrayLike | None = None, *, attribute: str = "weight") -> nx.DiGraph:
    """Return a DiGraph with labels as nodes, x and y from coordinates, and edges that are present."""
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


def _numbered(network: nx.Graph) -> dict[Any, int]:
    """Return the vertex of each node: nodes are numbered in their order."""
    return {node: v for v, node in enumerate(network)}


def _ends(network: nx.Graph, number: Callable[[Any], int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return tails and heads in the order of ``network.edges``, then the ways back if it is undirected."""
    pairs = [(number(u), number(v)) for u, v in network.edges()]
    tail, head = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    if network.is_directed():
        return tail, head
    return np.concatenate([tail, head]), np.concatenate([head, tail])


def _values(network: nx.Graph, attribute: str, default: float | None) -> NDArray[np.float64]:
    """Return one number for each entry of :func:`_ends`."""
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
    return values if network.is_directed() else np.tile(values, 2)


def _is_length(value: Any) -> bool:
    try:
        return 0 <= float(value) < np.inf
    except (TypeError, ValueError):
        return False


def astar_path(
    G: nx.Graph,
    source: Hashable,
    target: Hashable,
    rho: ArrayLike | Mapping[Any, float] | Callable[[Any, Any], float] | None = None,
    weight: str | Callable[[Any, Any, Any], float | None] | None = "weight",
    *,
    reopen: bool = True,
    budget: int | None = None,
) -> list[Any]:
    """Return a path found by A*, as ``networkx.astar_path`` does, with learned heuristic values.

    Parameters
    ----------
    G
        Any networkx graph: directed or not, with parallel edges or not.
    source, target
        Nodes.
    rho
        Heuristic values: an array in the order of ``G.nodes``, a mapping by node, a function ``rho(node, target)``
        as networkx takes it, or None for 0 everywhere.
    weight
        An edge attribute (1 if an edge lacks it; the cheapest of parallel edges), a function
        ``weight(u, v, data)`` that may return None to hide an edge, or None for 1 everywhere.
    reopen, budget
        As for :func:`rhostar.astar`.

    Returns
    -------
    list
        Nodes from source to target. Ties go to the node that comes first in ``G.nodes``.

    Raises
    ------
    networkx.NodeNotFound
        If source or target is not in the graph.
    networkx.NetworkXNoPath
        If there is no path.
    HeuristicError
        If `rho` has no finite value for a node.
    WeightError
        If a weight is negative or not a number.
    InputError
        If the budget ran out.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> G = nx.Graph()
    >>> G.add_weighted_edges_from([("a", "b", 1), ("b", "c", 1), ("a", "c", 5)])
    >>> rs.astar_path(G, "a", "c", rho={"a": 2, "b": 1, "c": 0})
    ['a', 'b', 'c']
    """
    import networkx as nx

    if not hasattr(G, "_adj") or not hasattr(G, "is_multigraph"):
        raise InputError(f"G must be a networkx graph, got {type(G).__name__}")
    for name, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{name} {node} is not in G")
    graph = _compressed(G)
    values = _adjacency_weights(G, weight)
    run = astar(
        graph,
        graph.arrange(values),
        graph.vertex(source),
        graph.vertex(target),
        _heuristic_values(G, rho, target),
        reopen=reopen,
        budget=budget,
    )
    if run.status == "budget":
        raise InputError(f"the budget of {budget} expansions ran out before {target!r} was reached")
    if run.status != "solved":
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    assert graph.labels is not None
    return [graph.labels[v] for v in run.path.tolist()]


def _compressed(G: nx.Graph) -> Graph:
    """Return the graph of all arcs in the order of the adjacency."""
    cache = getattr(G, "__networkx_cache__", None)
    # A view follows the graph behind it, whose changes do not empty the view's cache.
    cache = cache if type(G._adj) is dict else None
    kept = None if cache is None else cache.get(_CACHE)
    arcs = sum(map(len, G._adj.values()))
    if kept is not None and kept.n == len(G) and kept._given.size == arcs:
        return kept
    number = _numbered(G)
    tail = np.repeat(np.arange(len(G), dtype=np.int32), [len(G._adj[node]) for node in G])
    head = np.fromiter((number[v] for node in G for v in G._adj[node]), dtype=np.int32, count=arcs)
    graph = Graph.from_edges(len(G), tail, head, labels=list(number))
    if cache is not None:
        cache[_CACHE] = graph
    return graph


def _adjacency_weights(G: nx.Graph, weight: Any) -> NDArray[np.float64]:
    """Return one weight for each arc of the adjacency, inf for hidden ones."""
    if callable(weight):
        values = [weight(u, v, data) for u in G for v, data in G._adj[u].items()]
    elif G.is_multigraph():
        values = [min(d.get(weight, 1) for d in data.values()) for u in G for data in G._adj[u].values()]
    else:
        values = [data.get(weight, 1) for u in G for data in G._adj[u].values()]
    try:
        array = np.array([np.inf if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(len(values), np.nan)
        for k, value in enumerate(values):
            try:
                array[k] = float(value)
            except (TypeError, ValueError):
                break
    bad = ~(array >= 0)
    if bad.any():
        k = int(np.argmax(bad))
        u, v = [(u, v) for u in G for v in G._adj[u]][k]
        raise WeightError(f"the weight of {u!r} -> {v!r} must be a non-negative number, got {values[k]!r}")
    return array


def _heuristic_values(G: nx.Graph, rho: Any, target: Hashable) -> NDArray[np.float64]:
    """Return one heuristic value for each node, in their order."""
    if rho is None:
        return np.zeros(len(G))
    if isinstance(rho, Mapping):
        missing = [node for node in G if node not in rho]
        if missing:
            raise HeuristicError(f"rho has no value for the node {missing[0]!r} ({len(missing)} of {len(G)} have none)")
        values: list[Any] = [rho[node] for node in G]
    elif callable(rho):
        values = [rho(node, target) for node in G]
    else:
        return arrays.per_vertex(rho, "rho", len(G))
    for node, value in zip(G, values, strict=True):
        try:
            finite = np.isfinite(value)
        except TypeError:
            finite = False
        if not finite:
            raise HeuristicError(f"rho of the node {node!r} must be finite, got {value!r}")
    return np.array(values, dtype=np.float64)
