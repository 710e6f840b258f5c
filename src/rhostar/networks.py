"""networkx graphs in and out; what :class:`~rhostar.graph.Graph` calls for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import arrays
from rhostar.errors import EdgeError, GraphError, WeightError

if TYPE_CHECKING:
    import networkx as nx

    from rhostar.graph import Graph


def read_networkx(cls: type[Graph], network: nx.Graph, length: str | None) -> Graph:
    """Return the graph of all edges of `network`, both ways where it is undirected."""
    _require_networkx(network)
    labels = list(network.nodes)
    if not labels:
        raise GraphError("network has no nodes")
    number = {label: v for v, label in enumerate(labels)}
    pairs = [(number[u], number[v]) for u, v in network.edges()]
    tail, head = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    values = None if length is None else _values(network, length, None)
    if not network.is_directed():
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        values = None if values is None else np.tile(values, 2)
    return cls.from_edges(len(labels), tail, head, labels=labels, coordinates=_positions(network), length=values)


def read_weights(graph: Graph, network: nx.Graph, attribute: str, default: float | None) -> NDArray[np.float64]:
    """Return the weights of `network` in the order of `graph`; +inf for edges that it lacks."""
    _require_networkx(network)
    number = graph.vertex if graph.labels is not None else lambda v: arrays.vertex(v, "node", graph.n)
    pairs = [(number(u), number(v)) for u, v in network.edges()]
    tail, head = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    values = _values(network, attribute, default)
    if not network.is_directed():
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        values = np.tile(values, 2)
    proper = tail != head
    tail, head, values = tail[proper], head[proper], values[proper]
    position = graph.edge_index(tail, head, missing=-1)
    if (position < 0).any():
        first = int(np.argmax(position < 0))
        names = graph.labels or range(graph.n)
        raise EdgeError(f"network has the edge {names[tail[first]]!r} -> {names[head[first]]!r}, the graph has not")
    weights = np.full(graph.m, np.inf)
    np.minimum.at(weights, position, values)
    return weights


def write_networkx(graph: Graph, weights: ArrayLike | None, attribute: str) -> nx.DiGraph:
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


def _values(network: nx.Graph, attribute: str, default: float | None) -> NDArray[np.float64]:
    values = np.empty(network.number_of_edges())
    for i, (u, v, data) in enumerate(network.edges(data=True)):
        value = data.get(attribute)
        value = default if value is None else value
        try:
            values[i] = value
        except (TypeError, ValueError):
            raise WeightError(f"edge {u!r} -> {v!r} has no number as {attribute!r}: {value!r}") from None
        if value is None:
            raise WeightError(f"edge {u!r} -> {v!r} has no attribute {attribute!r} and there is no default")
    return values


def _positions(network: nx.Graph) -> NDArray[np.float64] | None:
    try:
        return np.array([(data["x"], data["y"]) for _, data in network.nodes(data=True)], dtype=float)
    except (KeyError, TypeError, ValueError):
        return None
