"""Checks which instances have a path from their source to their goal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph
from rhostar.graph._components import connected

# With up to this many goals in a snapshot, a search from each goal is quicker than finding components.
_FEW_GOALS = 8


def feasible(
    graph: Graph,
    weights: NDArray[Any],
    has_absent: NDArray[np.bool_],
    rows: NDArray[np.int64],
    sources: NDArray[np.int32],
    goals: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return for each instance whether its goal can be reached from its source.

    The time grows with the number of snapshots, not with the number of goals.

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
    answer = np.empty(rows.size, dtype=bool)
    for members in _groups(np.arange(rows.size), snapshot):
        k = snapshot[members[0]]
        row = None if k < 0 else weights[k]
        groups = _groups(members, goals)
        if len(groups) > _FEW_GOALS:
            present = None if row is None else row < np.inf
            answer[members] = connected(graph, present, sources[members], goals[members])
            continue
        for group in groups:
            answer[group] = graph._kernel.reaches(row, int(goals[group[0]]))[sources[group]]
    return answer


def _groups(members: NDArray[np.int64], key: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Split `members` by their key."""
    if members.size == 1:
        return [members]
    order = members[np.argsort(key[members], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
