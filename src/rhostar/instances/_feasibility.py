"""Checks which instances have a path from their source to their goal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.graph import Graph
from rhostar.graph._components import connected

# With up to this many goals in a snapshot, one search from each goal is quickest.
_FEW_GOALS = 8
# A pivot decides most pairs of a network in one piece; after this many the graph must be in many pieces.
_PIVOTS = 8
# If the remaining searches read fewer edges than this, they take less time than importing scipy.
_FEW_EDGES = 1 << 26


def feasible(
    graph: Graph,
    weights: NDArray[Any],
    has_absent: NDArray[np.bool_],
    rows: NDArray[np.int64],
    sources: NDArray[np.int32],
    goals: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return for each instance whether its goal can be reached from its source.

    The time grows with the number of snapshots, not with the number of goals: see :func:`_by_pivots`.

    Parameters
    ----------
    graph, weights
        The graph and its (K, m) snapshots.
    has_absent
        Whether an edge is absent in each snapshot.
    rows, sources, goals
        Snapshot, source and goal of each instance.
    """
    # Snapshots without absent edges have the same paths: they count as one.
    snapshot = np.where(has_absent[rows], rows, -1)
    searches = _Searches(graph)
    answer = np.empty(rows.size, dtype=bool)
    for members in _groups(np.arange(rows.size), snapshot):
        k = snapshot[members[0]]
        row = None if k < 0 else weights[k]
        source, goal = sources[members], goals[members]
        left = np.arange(members.size)
        if members.size > _FEW_GOALS and np.unique(goal).size > _FEW_GOALS:
            here, left = _by_pivots(searches, row, source, goal)
        else:
            here = np.empty(members.size, dtype=bool)
        if left.size:
            here[left] = _by_goals(searches, row, source[left], goal[left])
        answer[members] = here
    return answer


class _Searches:
    """Which vertices reach a vertex, and which it reaches."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._turned: tuple[_core.Graph, NDArray[np.int32]] | None = None

    def reaching(self, row: NDArray[Any] | None, goal: int) -> NDArray[np.bool_]:
        return self.graph._kernel.reaches(row, goal).view(bool)

    def reached(self, row: NDArray[Any] | None, source: int) -> NDArray[np.bool_]:
        if self._turned is None:
            transpose = self.graph._kernel.transpose()
            self._turned = _core.Graph(transpose.first_out, transpose.head), transpose.edge
        kernel, edges = self._turned
        return kernel.reaches(None if row is None else row[edges], source).view(bool)


def _by_pivots(
    searches: _Searches, row: NDArray[Any] | None, sources: NDArray[np.int32], goals: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return whether each pair is connected, and the pairs for which that is still open.

    A pivot p, the goal of most pairs, is searched from in both directions. A pair (s, t) is then connected if s
    reaches p and p reaches t. It is not connected if t reaches p but s does not, or p reaches s but not t: with a path
    from s to t, s would reach p and p would reach t. This decides all pairs whose goal is p, and all pairs of a network
    in which every vertex reaches every other.
    """
    answer = np.zeros(sources.size, dtype=bool)
    left = np.arange(sources.size)
    for _ in range(_PIVOTS):
        names, times = np.unique(goals[left], return_counts=True)
        pivot = int(names[np.argmax(times)])
        reaching, reached = searches.reaching(row, pivot), searches.reached(row, pivot)
        source, goal = sources[left], goals[left]
        answer[left] = yes = reaching[source] & reached[goal]
        no = (reaching[goal] & ~reaching[source]) | (reached[source] & ~reached[goal])
        left = left[~(yes | no)]
        if left.size == 0:
            break
    return answer, left


def _by_goals(
    searches: _Searches, row: NDArray[Any] | None, sources: NDArray[np.int32], goals: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return whether each pair is connected: by a search from each goal, or by components if there are many goals."""
    graph = searches.graph
    groups = _groups(np.arange(goals.size), goals)
    if len(groups) > _FEW_GOALS and len(groups) * (graph.n + graph.m) > _FEW_EDGES:
        return connected(graph, None if row is None else row < np.inf, sources, goals)
    answer = np.empty(goals.size, dtype=bool)
    for group in groups:
        answer[group] = searches.reaching(row, int(goals[group[0]]))[sources[group]]
    return answer


def _groups(members: NDArray[np.int64], key: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Split `members` by their key."""
    if members.size == 1:
        return [members]
    order = members[np.argsort(key[members], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
