"""Many queries at once: in threads, or on the cluster that joblib is set to. The engine is fixed before they start."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import _CHUNKS_PER_JOB, _jobs, map_calls
from rhostar.routing._state import State


class PathArrays(NamedTuple):
    """Many paths."""

    cost: NDArray[np.float64]
    bound: list[float | None]
    vertices: NDArray[np.int32]
    path_end: NDArray[np.int64]
    """Where the vertices of each path end."""
    edges: NDArray[np.int32]
    edge_end: NDArray[np.int64]


def in_chunks(
    function: Any, state: State, what: str, n_jobs: int | None, *own: NDArray[Any], **arguments: Any
) -> list[Any]:
    """Return the results of ``function(*own, stop, state=state, **arguments)`` for parts of the arrays `own`.

    Parameters
    ----------
    function
        A function defined in a module.
    state
        The weights and the engine.
    what
        What the arrays hold, for errors.
    n_jobs
        As in joblib.
    *own
        Arrays of equal length, which are cut.
    **arguments
        What all parts need.
    """
    size = own[0].size
    jobs, backend = _jobs(n_jobs)
    count = 1 if backend is None else min(size, _CHUNKS_PER_JOB * jobs)
    cuts = np.linspace(0, size, count + 1).astype(int).tolist()
    calls = {f"{what} {i} to {j - 1}": tuple(array[i:j] for array in own) for i, j in pairwise(cuts)}
    return list(map_calls(function, calls, n_jobs=n_jobs, state=state, **arguments))


def paths_by_index(
    sources: NDArray[np.int32], targets: NDArray[np.int32], stop: _core.Stop, *, state: State
) -> PathArrays:
    """Return paths between pairs by the customized hierarchy."""
    assert state.index is not None
    found = state.index.paths(sources, targets, stop)
    failures.require_done(found.ending)
    cost = state.exact(found.cost)
    return PathArrays(cost, cost.tolist(), found.vertices, found.path_end, found.edges, found.edge_end)


def paths_by_search(
    sources: NDArray[np.int32], targets: NDArray[np.int32], stop: _core.Stop, *, state: State
) -> PathArrays:
    """Return paths between pairs by searches."""
    found, _ = search_in_turn(sources, targets, state, math.inf, stop)
    assert found is not None
    return found


def search_in_turn(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    state: State,
    left: float,
    stop: _core.Stop | None = None,
) -> tuple[PathArrays | None, float]:
    """Return paths between pairs by searches, or None if the work is not enough; and the work."""
    parts, spent = [], 0.0
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        one, work = state.search(source, target, left - spent, stop)
        spent += work
        if one is None:
            return None, spent
        path, bound = one
        ends = np.array([path.vertices.size]), np.array([path.edges.size])
        parts.append(PathArrays(np.array([path.cost]), [bound], path.vertices, ends[0], path.edges, ends[1]))
    return joined(parts), spent


def joined(parts: list[PathArrays]) -> PathArrays:
    """Return the paths of all parts in order."""
    if len(parts) == 1:
        return parts[0]

    def chained(all_values: Iterable[NDArray[Any]], all_ends: Iterable[NDArray[np.int64]]) -> list[NDArray[Any]]:
        ends, last = [np.empty(0, dtype=np.int64)], 0
        for own in all_ends:
            ends.append(own + last)
            last = int(ends[-1][-1]) if own.size else last
        return [np.concatenate([np.empty(0, dtype=np.int32), *all_values]), np.concatenate(ends)]

    return PathArrays(
        np.concatenate([np.empty(0), *(part.cost for part in parts)]),
        [bound for part in parts for bound in part.bound],
        *chained((part.vertices for part in parts), (part.path_end for part in parts)),
        *chained((part.edges for part in parts), (part.edge_end for part in parts)),
    )


def matrix_by_index(
    sources: NDArray[np.int32], stop: _core.Stop, *, state: State, targets: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return costs among vertices by the customized hierarchy."""
    assert state.index is not None
    found = state.index.matrix(sources, targets, stop)
    failures.require_done(found.ending)
    return state.exact(found.cost).reshape(sources.size, targets.size)


def rows_by_search(
    sources: NDArray[np.int32], stop: _core.Stop, *, state: State, targets: NDArray[np.int32], reverse: bool
) -> NDArray[np.float64]:
    """Return costs among vertices, the targets distinct and in order, by one search from each source."""
    found, _ = rows_in_turn(sources, targets, state, math.inf, reverse=reverse, stop=stop)
    assert found is not None
    return found


def rows_in_turn(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    state: State,
    left: float,
    *,
    reverse: bool,
    stop: _core.Stop | None = None,
) -> tuple[NDArray[np.float64] | None, float]:
    """Return what :func:`rows_by_search` returns, or None if the work is not enough; and the work."""
    found, spent = np.full((sources.size, targets.size), np.inf), 0.0
    for row, source in zip(found, sources.tolist(), strict=True):
        one, cost = state.explore(
            source, reverse=reverse, goals=targets, wanted=targets.size, left=left - spent, stop=stop
        )
        spent += cost
        if one is None:
            return None, spent
        row[np.searchsorted(targets, one.vertex)] = one.cost
    return found, spent


def hops(goals: NDArray[np.int32], stop: _core.Stop, *, state: State) -> NDArray[np.int32]:
    """Return the tree of successors for each goal, by one search against the edges each."""
    found = np.full((goals.size, state.engine.graph.n), -1, dtype=np.int32)
    for row, goal in zip(found, goals.tolist(), strict=True):
        one, _ = state.explore(goal, reverse=True, stop=stop)
        assert one is not None, "a search without a limit ends"
        row[one.vertex] = one.parent
    return found
