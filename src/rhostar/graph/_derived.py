"""Graphs derived from a graph: the reverse, a subgraph, the largest strongly connected part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import GraphError
from rhostar.graph._components import strong_components

if TYPE_CHECKING:
    from rhostar.graph._graph import Graph


class Derived(NamedTuple):
    """A graph made from another, and where its vertices and edges come from.

    ``weights[..., edges]`` are the weights of the new graph, ``rho[vertices]`` its heuristic values.
    """

    graph: Graph
    """The new graph."""
    vertices: NDArray[np.int32]
    """The old number of each of its vertices."""
    edges: NDArray[np.int32]
    """The old position of each of its edges."""


def reverse(graph: Graph) -> Derived:
    """Return the graph with every edge reversed."""
    turned = graph._kernel.transpose()
    edges = turned.edge.copy()  # without the rest of the transpose
    reversed_graph = type(graph)(
        turned.first_out,
        turned.head,
        coordinates=graph.coordinates,
        labels=graph.labels,
        length=None if graph.length is None else graph.length[edges],
        shape=graph.shape,
    )
    return Derived(reversed_graph, np.arange(graph.n, dtype=np.int32), edges)


def subgraph(graph: Graph, vertices: ArrayLike) -> Derived:
    """Return the part of the graph on some vertices, which keep their order."""
    chosen = np.unique(arrays.vertices(vertices, "vertices", graph.n))
    if chosen.size == 0:
        raise GraphError("vertices must name at least one vertex")
    number = np.full(graph.n, -1, dtype=np.int32)
    number[chosen] = np.arange(chosen.size, dtype=np.int32)
    edges = np.flatnonzero((number[graph.tail] >= 0) & (number[graph.head] >= 0)).astype(np.int32)
    first_out = np.zeros(chosen.size + 1, dtype=np.int32)
    np.cumsum(np.bincount(number[graph.tail[edges]], minlength=chosen.size), out=first_out[1:])
    part = type(graph)(
        first_out,
        number[graph.head[edges]],
        coordinates=None if graph.coordinates is None else graph.coordinates[chosen],
        labels=None if graph.labels is None else [graph.labels[v] for v in chosen],
        length=None if graph.length is None else graph.length[edges],
    )
    return Derived(part, chosen, edges)


def largest_strong_part(graph: Graph) -> Derived:
    """Return the largest part in which all vertices reach one another; of several, the one with the smallest vertex."""
    component = strong_components(graph)
    size = np.bincount(component)[component]
    return subgraph(graph, np.flatnonzero(component == component[np.argmax(size)]))
