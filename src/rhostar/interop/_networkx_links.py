"""The form of a networkx graph that the core searches, with networkx's order of ties, and where it is cached.

:class:`Links` holds which nodes follow each node, and the very dicts in which networkx keeps the attributes of the
edges. A search reads a weight when it comes to the edge, so ``G[u][v]["weight"] = x`` takes effect in the next call,
and the graph need not be read again. Adding or removing nodes or edges empties networkx's own cache, where the links
are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.graph import Graph

if TYPE_CHECKING:
    import networkx as nx

_CACHE = "rhostar"


class Links:
    """The adjacency of a networkx graph.

    Parameters
    ----------
    G
        Directed or not, with parallel edges or not; also a view.

    Attributes
    ----------
    nodes
        The nodes in the order of ``G``.
    number
        The vertex of each node.
    """

    def __init__(self, G: nx.Graph) -> None:
        self.nodes: list[Any] = list(G)
        self.number: dict[Any, int] = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        self.parallel = bool(G.is_multigraph())
        self._after = G._adj
        self.core = self._read(G._adj)
        self._before = G._pred if G.is_directed() else None

    def _read(self, adjacency: Mapping[Any, Mapping[Any, Any]]) -> _core.Links:
        data: list[Any] = []
        heads: list[Any] = []
        first_out = np.zeros(len(self.nodes) + 1, dtype=np.int32)
        for v, node in enumerate(self.nodes, start=1):
            row = adjacency[node]
            heads.extend(row)
            data.extend(row.values())
            first_out[v] = len(heads)
        head = np.fromiter(map(self.number.__getitem__, heads), dtype=np.int32, count=len(heads))
        return _core.Links(first_out, head, data, self.nodes, self.parallel)

    @cached_property
    def back(self) -> _core.Links:
        """The same for a search backward."""
        return self.core if self._before is None else self._read(self._before)

    def weight(self, u: Any, v: Any, weight: Any) -> Any:
        """Return what networkx reads as the weight of the edge from u to v."""
        return min(found) if len(found := self.parallel_weights(u, v, weight)) > 1 else found[0]

    def parallel_weights(self, u: Any, v: Any, weight: Any) -> list[Any]:
        """Return what networkx reads as the weights of all edges from u to v."""
        item = self._after[u][v]
        if callable(weight):
            return [weight(u, v, item)]
        return [data.get(weight, 1) for data in (item.values() if self.parallel else [item])]

    def edges(self, link: int) -> list[tuple[Any, Any]]:
        """Return the edges that have a number among the links: forward, and in a search backward."""
        ends = ((u, v) for u in self.nodes for v in self._after[u])
        turned = ((u, v) for v in self.nodes for u in (self._before or self._after)[v])
        return [next(islice(side, link, None)) for side in (ends, turned)]

    def weights(self, weight: Any) -> NDArray[np.float64]:
        """Return what networkx reads as the weights now, in the edge order of :attr:`graph`; inf for a hidden edge.

        What is not a number stays NaN, for the search to find.
        """
        items = [item for u in self.nodes for item in self._after[u].values()]
        if callable(weight):
            found = (self.weight(u, v, weight) for u in self.nodes for v in self._after[u])
            read = [np.inf if value is None else value for value in found]
        elif self.parallel:
            read = [min([data.get(weight, 1) for data in item.values()]) for item in items]
        else:
            read = [data.get(weight, 1) for data in items]
        try:
            values = np.array(read, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array([value if isinstance(value, int | float) else np.nan for value in read])
        return self.graph.arrange(values)

    @cached_property
    def graph(self) -> Graph:
        """The same nodes and edges as a :class:`rhostar.Graph`, to compare with the one of a model."""
        counts = [len(self._after[node]) for node in self.nodes]
        tail = np.repeat(np.arange(len(self.nodes), dtype=np.int32), counts)
        heads = (self.number[head] for node in self.nodes for head in self._after[node])
        head = np.fromiter(heads, dtype=np.int32, count=tail.size)
        return Graph.from_edges(len(self.nodes), tail, head, labels=self.nodes)


def links_of(G: nx.Graph) -> Links:
    """Return the links of a graph: those kept from an earlier call, if the graph has the same nodes and edges."""
    cache = _cache_of(G)
    if cache is None:
        return Links(G)
    links = cache.get(_CACHE)
    if links is None:
        links = cache[_CACHE] = Links(G)
    return links


def is_view(G: nx.Graph) -> bool:
    """Whether a graph shows part of another one, whose changes do not empty the view's cache."""
    return hasattr(G, "_graph") or type(G._adj) is not dict


def _cache_of(G: nx.Graph) -> dict[str, Any] | None:
    import networkx as nx

    config = getattr(nx, "config", None)
    if is_view(G) or not getattr(config, "cache_converted_graphs", True):
        return None
    return getattr(G, "__networkx_cache__", None)
