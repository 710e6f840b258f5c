"""Strongly connected components of a graph, and which pairs of vertices are connected by a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.graph._edges import sort_edges

if TYPE_CHECKING:
    from rhostar.graph._graph import Graph


def strong_components(graph: Graph, present: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
    """Return the number of each vertex's strong component, counting from 0.

    Parameters
    ----------
    graph
        The graph.
    present
        Which edges to use; None uses all.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    first_out, head = graph.first_out, graph.head
    if present is not None:
        before = np.zeros(graph.m + 1, dtype=np.int32)
        np.cumsum(present, out=before[1:])
        first_out, head = before[first_out], head[present]
    # scipy works with float64: other numbers would be copied.
    matrix = csr_array((np.ones(head.size), head, first_out), shape=(graph.n, graph.n))
    component: NDArray[np.int32] = connected_components(matrix, connection="strong")[1]
    return component


def connected(
    graph: Graph, present: NDArray[np.bool_] | None, sources: NDArray[np.int32], goals: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return for each pair whether a path leads from the source to the goal.

    Pairs inside one strong component are connected. The others are looked up in the graph of components, which has
    no edges at all if every edge has its reverse, and is small for most road networks.

    Parameters
    ----------
    graph, present
        As for :func:`strong_components`.
    sources, goals
        The pairs.
    """
    component = strong_components(graph, present)
    source, goal = component[sources], component[goals]
    answer = source == goal
    left = np.flatnonzero(~answer)
    if left.size == 0:
        return answer
    tail, head = component[graph.tail], component[graph.head]
    between = tail != head
    if present is not None:
        between &= present
    if not between.any():
        return answer
    first_out, heads, _ = sort_edges(int(component.max()) + 1, tail[between], head[between])
    condensed = _core.Graph(first_out, heads)
    left = left[np.argsort(goal[left], kind="stable")]
    for pairs in np.split(left, np.flatnonzero(np.diff(goal[left])) + 1):
        answer[pairs] = condensed.reaches(None, int(goal[pairs[0]]))[source[pairs]]
    return answer
