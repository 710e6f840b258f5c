"""Checks the snapshots, rows, sources and goals of a set, and finds which instances have a path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, WeightError
from rhostar.graph import Graph
from rhostar.graph._components import connected

# With up to this many goals in a snapshot, a search from each goal is quicker than finding components.
_FEW_GOALS = 8


def matrix(weights: ArrayLike, m: int) -> NDArray[Any]:
    """Return weights as a (K, m) matrix that the core reads: a view if possible."""
    array = weights if isinstance(weights, np.memmap) else arrays.as_array(weights, "weights")
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != m:
        raise ArrayError(f"weights must have shape (K, {m}), one column per edge, got {array.shape}")
    if array.dtype not in arrays.WEIGHT_TYPES:
        if array.dtype.kind not in "biuf":
            raise ArrayError(f"weights must be numbers, got dtype {array.dtype}")
        if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
            raise WeightError("weights contain integers of 2**53 or more, whose sums are not exact in float64")
        small, wide = (np.float32, np.float64) if array.dtype.kind == "f" else (np.int32, np.int64)
        array = array.astype(small if array.dtype.itemsize < 4 else wide)
    if array.size and (array.strides[1] != array.itemsize or array.strides[0] % array.itemsize):
        array = np.ascontiguousarray(array)
    return arrays.frozen(arrays.aligned(array))


def align(
    graph: Graph, snapshots: int, rows: ArrayLike | None, sources: ArrayLike, goal: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return rows, sources and goals as arrays of equal length."""
    source = arrays.vertices(np.atleast_1d(arrays.as_array(sources, "sources")), "sources", graph.n)
    target = arrays.vertices(np.atleast_1d(arrays.as_array(goal, "goal")), "goal", graph.n)
    if rows is None:
        count = snapshots if snapshots != 1 else max(source.size, target.size)
        row = np.zeros(count, dtype=np.int64) if snapshots == 1 else np.arange(count, dtype=np.int64)
    else:
        row = arrays.vertices(rows, "rows", snapshots, what="snapshot").astype(np.int64)
    if source.size == 0 or target.size == 0:
        row = row[:0]
    for name, array in (("sources", source), ("goal", target)):
        if row.size and array.size not in (1, row.size):
            given = arrays.counted(row.size, "snapshot" if rows is None else "row")
            raise ArrayError(f"{name} has {array.size} entries for {given}; pass one for each, or one for all")
    return row, np.resize(source, row.size), np.resize(target, row.size)


def days(given: ArrayLike | None, count: int) -> NDArray[np.int64] | None:
    """Return the day of each of `count` snapshots."""
    if given is None:
        return None
    found = arrays.as_array(given, "days")
    if found.shape != (count,) or found.dtype.kind not in "iu":
        raise ArrayError(f"days must have an integer per snapshot ({count}), got {found.dtype} of shape {found.shape}")
    return found.astype(np.int64)


def check_weights(graph: Graph, snapshots: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each snapshot whether an edge is absent; raise WeightError at the first bad weight."""
    found = _core.check_weights(snapshots, None)
    ending = found.ending
    if ending.status is _core.Status.BAD_WEIGHT:
        users = np.flatnonzero(rows == ending.at)
        whose = f"instance {users[0]}" if users.size else "no instance uses this snapshot"
        name = f"weights[{ending.at}, {ending.offender}]"
        raise failures.weight_failure(ending, graph, snapshots[ending.at], name, f", {whose}")
    failures.require_done(ending)
    return found.absent.astype(bool)


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
