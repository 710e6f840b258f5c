"""Computes the costs-to-go of all snapshots of a set in parallel, with one backward Dijkstra search per snapshot.

Instances that share a snapshot share its costs-to-go and count as often as they occur. Sums are taken in blocks
whose ends do not depend on the number of jobs, so that every number of jobs gives the same sums, bit for bit.

Whoever fits many learners on parts of one set computes the costs-to-go once, in a :class:`Memory`; fits inside
``with memory.used()`` read them there, with the same results.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_calls, map_chunks
from rhostar.instances import InstanceSet

T = TypeVar("T")

_BLOCKS = 32
"""Partial sums; each takes as much memory as two arrays of n values."""

_LARGEST_MATRIX = 2**27
"""Entries that a matrix of costs-to-go may have in float64; a larger one is kept in float32."""


_LARGEST_KEPT = 2**26
"""How many numbers a memory keeps besides costs-to-go and trees."""


class Snapshots(NamedTuple):
    """The distinct snapshots of a set with one goal."""

    instances: InstanceSet
    """One instance of each snapshot."""
    times: NDArray[np.int64]
    """How many instances of the set use it."""
    of: NDArray[np.int64]
    """For each instance of the set, the position of its snapshot here."""


def snapshots(instances: InstanceSet) -> Snapshots:
    """Return the distinct snapshots of a set, in order."""
    _, first, of, times = np.unique(instances.rows, return_index=True, return_inverse=True, return_counts=True)
    return Snapshots(instances[first], times.astype(np.int64), of.astype(np.int64))


class Memory:
    """Costs-to-go of some snapshots of a set with one goal.

    Parameters
    ----------
    instances
        The set. Its snapshots are remembered by their row in the matrix of weights.
    rows
        The snapshots to remember, at most. None of them is computed before :meth:`extend` is called.
    n_jobs
        As in joblib.
    """

    def __init__(self, instances: InstanceSet, rows: NDArray[np.int64], n_jobs: int | None = None) -> None:
        self.weights, self.graph, self.goal = instances.weights, instances.graph, int(instances.goals[0])
        self.rows, self.n_jobs = rows, n_jobs
        self._each = snapshots(instances).instances
        self._labels = np.empty((rows.size, instances.graph.n))
        self._place = np.full(len(instances.weights), -1)
        self.count = 0
        self._trees: dict[bytes, tuple[NDArray[np.int32], NDArray[np.float64]]] = {}
        self._kept: OrderedDict[Any, tuple[int, Any]] = OrderedDict()

    def extend(self, count: int) -> None:
        """Compute the costs-to-go of `count` more of the snapshots, in their order."""
        rows = self.rows[self.count : self.count + count]
        end = self.count + rows.size
        if rows.size == 0:
            return
        parts = map_chunks(_rows, self._on(rows), n_jobs=self.n_jobs, dtype=np.float64)
        self._labels[self.count : end] = np.concatenate(parts)
        self._place[rows] = np.arange(self.count, end)
        self.count = end

    @property
    def known(self) -> NDArray[np.int64]:
        """The snapshots that are there, by row."""
        return self.rows[: self.count]

    def holds(self, instances: InstanceSet) -> bool:
        """Return whether the snapshots of a set are all there, for its goal."""
        return (
            instances.weights is self.weights
            and bool((instances.goals == self.goal).all())
            and bool((self._place[instances.rows] >= 0).all())
        )

    def labels(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (K, n) costs-to-go of these snapshots, inf where there is no path."""
        return self._labels[self._place[rows]]

    def at(self, instances: InstanceSet) -> NDArray[np.float64]:
        """Return the cost of an optimal path of each instance of a set."""
        return self.between(instances.rows, instances.sources)

    def between(self, rows: NDArray[np.int64], sources: NDArray[Any]) -> NDArray[np.float64]:
        """Return the costs-to-go of some vertices, each on its own snapshot."""
        return self._labels[self._place[rows], sources]

    def trees(self, distinct: Snapshots, starts: Starts) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return what :func:`trees` returns for starts that all snapshots share; computed once for all of them."""
        key = starts.weight.tobytes()
        if key not in self._trees:
            everything = snapshots(self._on(self.known))
            same = same_starts(everything, starts.weight)
            edge, below = _all_trees(everything, same, self.n_jobs)
            order = np.argsort(np.argsort(self.known))  # snapshots come sorted by row
            self._trees = {key: (edge[order], below[order])}
        edge, below = self._trees[key]
        place = self._place[distinct.instances.rows]
        return edge[place], below[place]

    def keep(self, key: Any, size: int, function: Callable[[], T]) -> T:
        """Return what a function returned the last time it was called with this key; `size` counts its numbers."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        found = function()
        if size <= _LARGEST_KEPT:
            self._kept[key] = (size, found)
            while sum(each for each, _ in self._kept.values()) > _LARGEST_KEPT:
                self._kept.popitem(last=False)
        return found

    def _on(self, rows: NDArray[np.int64]) -> InstanceSet:
        """Return one instance on each of these snapshots."""
        return self._each[np.searchsorted(self._each.rows, rows)]

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let all fits inside read from here."""
        token = _memory.set(self)
        try:
            yield
        finally:
            _memory.reset(token)


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


def remembered(instances: InstanceSet) -> Memory | None:
    """Return the memory to read from, if it has all snapshots of a set."""
    memory = _memory.get()
    return memory if memory is not None and memory.holds(instances) else None


class Sums(NamedTuple):
    """Finite costs-to-go of every vertex, added up over instances."""

    total: NDArray[np.float64]
    reached: NDArray[np.int64]
    """In how many instances the goal can be reached."""


def sums(instances: InstanceSet, n_jobs: int | None = None) -> Sums:
    """Return the sum and the number of the finite costs-to-go d(v, goal) over the instances."""
    n = instances.graph.n
    whole = Sums(np.zeros(n), np.zeros(n, dtype=np.int64))
    memory = remembered(instances)
    calls = _blocks(instances)
    # Blocks are added up in order as they come: few of them are in memory at once.
    for block in (
        map_calls(_sums, calls, n_jobs=n_jobs)
        if memory is None
        else (_sums_of(memory.labels(part.rows), times) for part, times in calls.values())
    ):
        np.add(whole.total, block.total, out=whole.total)
        np.add(whole.reached, block.reached, out=whole.reached)
    return whole


def least(instances: InstanceSet, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return the least cost-to-go d(v, goal) of the instances, inf if none has a path."""
    whole = np.full(instances.graph.n, np.inf)
    memory = remembered(instances)
    if memory is not None:
        return np.minimum(whole, memory.labels(np.unique(instances.rows)).min(axis=0))
    for block in map_calls(_least, _blocks(instances), n_jobs=n_jobs):
        np.minimum(whole, block, out=whole)
    return whole


def _blocks(instances: InstanceSet) -> dict[str, tuple[InstanceSet, NDArray[np.int64]]]:
    """Return the distinct snapshots in blocks, and how often each counts."""
    distinct = snapshots(instances)
    count = len(distinct.instances)
    size = max(1, -(-count // _BLOCKS))
    return {
        f"snapshots {begin} to {min(begin + size, count) - 1}": (
            distinct.instances[begin : begin + size],
            distinct.times[begin : begin + size],
        )
        for begin in range(0, count, size)
    }


def _sums_of(labels: NDArray[np.float64], times: NDArray[np.int64]) -> Sums:
    """Return the same as the core, bit for bit: it adds up one snapshot after the other."""
    n = labels.shape[1]
    total, reached = np.zeros(n), np.zeros(n, dtype=np.int64)
    for row, often in zip(labels, times.tolist(), strict=True):
        finite = row < np.inf
        total += np.where(finite, row, 0.0) * often
        reached += finite * np.int64(often)
    return Sums(total, reached)


def matrix(instances: InstanceSet, n_jobs: int | None = None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return (K, n) costs-to-go, inf where there is no path, and how often each of the K snapshots counts."""
    distinct = snapshots(instances)
    memory = remembered(instances)
    if memory is not None:
        return memory.labels(distinct.instances.rows), distinct.times
    wide = len(distinct.instances) * instances.graph.n <= _LARGEST_MATRIX
    parts = map_chunks(_rows, distinct.instances, n_jobs=n_jobs, dtype=np.float64 if wide else np.float32)
    return np.concatenate(parts), distinct.times


class Starts(NamedTuple):
    """Where paths begin: those of snapshot k are begin[k] to end[k] - 1 of (vertex, weight)."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    vertex: NDArray[np.int32]
    weight: NDArray[np.float64]


def same_starts(distinct: Snapshots, weight: NDArray[np.float64]) -> Starts:
    """Return starts at every vertex with these weights; each snapshot counts as often as it is used."""
    count, n = len(distinct.instances), weight.size
    return Starts(
        np.zeros(count, dtype=np.int64), np.full(count, n), np.arange(n, dtype=np.int32), np.ascontiguousarray(weight)
    )


def trees(
    distinct: Snapshots, starts: Starts, n_jobs: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the optimal tree of each distinct snapshot, as two (K, n) matrices.

    The path from a vertex is the one with the fewest edges among all optimal ones, and of those the
    lexicographically smallest. The first matrix holds the edge that leaves each vertex (-1 for the goal and where
    there is no path), the second the weight of all other starts that have this vertex on their path.
    """
    memory = remembered(distinct.instances)
    if memory is not None and not starts.begin.any() and bool((starts.end == starts.vertex.size).all()):
        return memory.trees(distinct, starts)
    return _all_trees(distinct, starts, n_jobs)


def _all_trees(
    distinct: Snapshots, starts: Starts, n_jobs: int | None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    parts = map_chunks(_trees, distinct.instances, n_jobs=n_jobs, starts=starts)
    edge, below = (np.concatenate(matrices) for matrices in zip(*parts, strict=True))
    return edge, below


def _sums(block: InstanceSet, times: NDArray[np.int64], stop: _core.Stop) -> Sums:
    n = block.graph.n
    found = Sums(np.zeros(n), np.zeros(n, dtype=np.int64))
    ending = block.graph._kernel.label_sums(
        block.weights, block.rows, arrays.aligned(times), int(block.goals[0]), *found, stop
    )
    _require_done(ending, block, block.rows)
    return found


def _least(block: InstanceSet, times: NDArray[np.int64], stop: _core.Stop) -> NDArray[np.float64]:
    found = np.full(block.graph.n, np.inf)
    ending = block.graph._kernel.label_least(block.weights, block.rows, int(block.goals[0]), found, stop)
    _require_done(ending, block, block.rows)
    return found


def _rows(chunk: InstanceSet, first: int, stop: _core.Stop, *, dtype: Any) -> NDArray[Any]:
    out = np.empty((len(chunk), chunk.graph.n), dtype=dtype)
    ending = chunk.graph._kernel.label_rows(chunk.weights, chunk.rows, int(chunk.goals[0]), out, stop)
    _require_done(ending, chunk, chunk.rows)
    return out


def _trees(
    chunk: InstanceSet, first: int, stop: _core.Stop, *, starts: Starts
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    edge = np.empty((len(chunk), chunk.graph.n), dtype=np.int32)
    below = np.empty(edge.shape)
    begin, end = (ends[first : first + len(chunk)] for ends in starts[:2])
    ending = chunk.graph._kernel.label_trees(
        chunk.weights, chunk.rows, int(chunk.goals[0]), begin, end, starts.vertex, starts.weight, edge, below, stop
    )
    _require_done(ending, chunk, chunk.rows)
    return edge, below


def _require_done(ending: _core.Ending, chunk: InstanceSet, rows: NDArray[np.int64]) -> None:
    if ending.status is not _core.Status.DONE:
        raise failures.snapshot_failure(ending, chunk, rows)
