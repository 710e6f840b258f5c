"""A* for those who have a networkx graph and want to change one line: :func:`astar_path`.

The compressed form of the graph is kept in networkx's own cache, which networkx empties whenever nodes or edges come
or go; weights are read anew in every call, since an attribute may change unseen. Whoever asks one graph many times is
better off with ``Graph.from_networkx`` once and :func:`rhostar.astar` from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import arrays
from rhostar.errors import HeuristicError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.search.run import astar

if TYPE_CHECKING:
    import networkx as nx

_CACHE = "rhostar"


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
        An edge attribute (1 where an edge lacks it; of parallel edges the cheapest), a function
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
        If a weight is negative or no number.
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
    values = _weights(G, weight)
    run = astar(
        graph,
        graph.arrange(values),
        graph.vertex(source),
        graph.vertex(target),
        _values(G, rho, target),
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
    number = {node: v for v, node in enumerate(G)}
    tail = np.repeat(np.arange(len(G), dtype=np.int32), [len(G._adj[node]) for node in G])
    head = np.fromiter((number[v] for node in G for v in G._adj[node]), dtype=np.int32, count=arcs)
    graph = Graph.from_edges(len(G), tail, head, labels=list(number))
    if cache is not None:
        cache[_CACHE] = graph
    return graph


def _weights(G: nx.Graph, weight: Any) -> NDArray[np.float64]:
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
        raise WeightError(f"the weight of {u!r} -> {v!r} must be a number that is not negative, got {values[k]!r}")
    return array


def _values(G: nx.Graph, rho: Any, target: Hashable) -> NDArray[np.float64]:
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
        return arrays.table(rho, "rho", len(G))
    for node, value in zip(G, values, strict=True):
        try:
            finite = np.isfinite(value)
        except TypeError:
            finite = False
        if not finite:
            raise HeuristicError(f"rho of the node {node!r} must be finite, got {value!r}")
    return np.array(values, dtype=np.float64)
