"""rhostar as a backend of networkx: ``nx.astar_path(G, s, t, backend="rhostar")``, and the other functions below.

networkx finds this module by the entry point ``networkx.backends`` in pyproject.toml and calls its functions by their
names. They return the results of networkx, including ties. :func:`can_run` and :class:`~._networkx_paths.RefusedError`
say when a call is left to networkx itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import networkx as nx

from rhostar.interop import _networkx_paths
from rhostar.interop._networkx_info import FUNCTIONS
from rhostar.interop._networkx_links import Links, is_view, links_of


class LinkedGraph:
    """What networkx calls a backend graph: the graph itself, with the links that the core needs.

    Nothing in it can be out of date. The links are kept in the graph's ``__networkx_cache__``, which networkx empties
    when nodes or edges are added or removed, and weights are read from the graph in every search.
    """

    __networkx_backend__ = "rhostar"

    def __init__(self, network: nx.Graph) -> None:
        self.network = network

    @property
    def links(self) -> Links:
        """The links of the graph as it is now."""
        # networkx keeps this object too. At the next call it would warn that weights may have changed since, which
        # does not matter here; and the graph would refer to itself, which keeps it in memory for longer.
        cache = getattr(self.network, "__networkx_cache__", None)
        if cache:
            cache.get("backends", {}).pop(self.__networkx_backend__, None)
        return links_of(self.network)

    def is_directed(self) -> bool:
        """Whether the graph is directed."""
        return bool(self.network.is_directed())

    def is_multigraph(self) -> bool:
        """Whether the graph may have parallel edges."""
        return bool(self.network.is_multigraph())

    def __iter__(self) -> Any:
        return iter(self.network)

    def __len__(self) -> int:
        return len(self.network)

    def __contains__(self, node: object) -> bool:
        return node in self.network


def convert_from_nx(graph: nx.Graph, **_: Any) -> LinkedGraph:
    """Return what the functions of this backend take; the attributes that networkx names are read from the graph."""
    return LinkedGraph(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Return the networkx graph behind a graph of this backend, and everything else as it is."""
    return result.network if isinstance(result, LinkedGraph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function runs with these arguments; if not, why."""
    if name not in ("shortest_path", "shortest_path_length"):
        return True
    given = dict(zip(("G", "source", "target", "weight", "method"), args, strict=False)) | kwargs
    if given.get("weight") is None:
        return "paths without weights are found by breadth-first search, which is networkx's own"
    if given.get("method", "dijkstra") != "dijkstra":
        return "only Dijkstra's algorithm is here"
    if given.get("source") is None:
        return "a source is needed"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function is worth converting the graph for; if not, why. Not asked if the caller names the backend."""
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, nx.Graph) and is_view(graph):
        return "a view is read again in every call"
    return True


def _takes_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(G: LinkedGraph, *args: Any, **kwargs: Any) -> Any:
        return function(G.links, *args, **kwargs)

    return call


def _for_every_source(name: str) -> Callable[..., Any]:
    mine = getattr(_networkx_paths, name)

    def call(G: LinkedGraph, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
        links = G.links
        for node in links.nodes:
            try:
                yield node, mine(links, node, cutoff=cutoff, weight=weight)
            except _networkx_paths.RefusedError:  # too late for networkx to take over the whole call
                theirs = getattr(nx, name)(G.network, node, cutoff=cutoff, weight=weight, backend="networkx")
                yield node, theirs

    return call


for _name in FUNCTIONS:
    _single = _name.replace("all_pairs_", "single_source_")
    globals()[_name] = _takes_graph(getattr(_networkx_paths, _name)) if _name == _single else _for_every_source(_single)
