"""Learns ρ as a statistic of costs-to-go, which one backward Dijkstra search per snapshot computes, in parallel.

Instances that share a snapshot share its costs-to-go and count as often as they occur. Sums are taken in blocks
whose ends do not depend on the number of jobs, so that every number of jobs gives the same sums, bit for bit. To fit
many learners on parts of one set, compute its :class:`CostsToGo` once and pass them on; the results are the same.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_calls, map_chunks
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner, one_of

_BLOCKS = 32
"""Partial sums; each takes as much memory as two arrays of n values."""

_LARGEST_MATRIX = 2**27
"""Entries that a matrix of costs-to-go may have in float64; a larger one is kept in float32."""

_SORTED = 2**23
"""Entries sorted at once."""


class MeanDistance(Learner):
    """A statistic of the exact costs-to-go d(v, goal) over the training instances.

    Instances in which the goal cannot be reached from v do not count at v. If the goal can never be reached from a
    vertex and the graph has coordinates, the vertex gets the value of the nearest vertex that has one, plus the
    distance to it (at the median cost of a unit of distance); without coordinates it gets the largest of all values.

    Parameters
    ----------
    statistic
        "mean", "median", "min", or "quantile".
    quantile
        Which quantile, between 0 and 1, for "quantile"; interpolated linearly between two values.
    n_jobs
        As in joblib.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.from_edges(3, tail=[0, 1], head=[1, 2])
    >>> instances = rs.InstanceSet(graph, [[1.0, 2.0], [3.0, 4.0], [np.inf, 6.0]], sources=1, goal=2)
    >>> rs.learners.MeanDistance().fit(instances).rho_.tolist()
    [5.0, 4.0, 0.0]
    >>> rs.learners.MeanDistance("min").fit(instances).rho_.tolist()
    [3.0, 2.0, 0.0]
    """

    consistency = (
        "ρ is not consistent in general; with 'min' it never overestimates on a training instance, "
        "so that A* with reopening is optimal on those."
    )

    def __init__(
        self,
        statistic: Literal["mean", "median", "min", "quantile"] = "mean",
        *,
        quantile: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.statistic, self.quantile, self.n_jobs = statistic, quantile, n_jobs

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        one_of(self.statistic, "statistic", ("mean", "median", "min", "quantile"))
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        if self.statistic == "mean":
            rho, reached = sums(instances, self.n_jobs, costs)
            known = reached > 0
            np.divide(rho, reached, out=rho, where=known)
        elif self.statistic == "min":
            rho = lowest(instances, self.n_jobs, costs)
            known = np.isfinite(rho)
        else:
            rows, times = matrix(instances, self.n_jobs, costs)
            rho = finite_quantile(rows, times, 0.5 if self.statistic == "median" else level)
            known = np.isfinite(rho)
        weights = instances._stored[instances._stored_rows[0]]
        return {"rho_": fill(instances.graph, weights, rho, known)}


def finite_quantile(matrix: NDArray[Any], times: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Return the quantile of the finite entries of each column, in which row k counts times[k] times; inf for none."""
    result = np.empty(matrix.shape[1])
    step = max(1, _SORTED // int(times.sum()))
    for begin in range(0, matrix.shape[1], step):
        part = matrix[:, begin : begin + step].T
        part = np.sort(part if (times == 1).all() else np.repeat(part, times, axis=1), axis=1).astype(np.float64)
        count = np.isfinite(part).sum(axis=1)
        place = level * np.maximum(count - 1, 0)
        low = place.astype(np.int64)
        column = np.arange(len(part))
        below, above = part[column, low], part[column, np.minimum(low + 1, np.maximum(count - 1, 0))]
        with np.errstate(invalid="ignore"):
            between = below + (place - low) * (above - below)
        result[begin : begin + step] = np.where(count > 0, between, np.inf)
    return result


def fill(
    graph: Graph, weights: NDArray[Any], rho: NDArray[np.float64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return rho with its unknown values filled in; the goal's is known, and weights give the cost of a distance."""
    if known.all():
        return rho
    if graph.coordinates is None:
        return np.where(known, rho, rho[known].max())
    from scipy.spatial import cKDTree

    places = np.flatnonzero(known)
    distance, nearest = cKDTree(graph.coordinates[places]).query(graph.coordinates[~known])
    filled = rho.copy()
    filled[~known] = rho[places[nearest]] + distance * cost_of_distance(graph, weights)
    return filled


def cost_of_distance(graph: Graph, weights: NDArray[Any]) -> float:
    """Return the median of weight per distance over the edges that are present; 0 if there are none."""
    assert graph.coordinates is not None
    along = np.linalg.norm(graph.coordinates[graph.tail] - graph.coordinates[graph.head], axis=1)
    usable = (along > 0) & np.isfinite(weights)
    return float(np.median(weights[usable] / along[usable])) if usable.any() else 0.0


# ---------------------------------------------------------------- costs-to-go


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
    _, first, of, times = np.unique(instances._stored_rows, return_index=True, return_inverse=True, return_counts=True)
    return Snapshots(instances[first], times.astype(np.int64), of.astype(np.int64))


class CostsToGo:
    """The costs-to-go of all snapshots of a set with one goal.

    Parameters
    ----------
    instances
        The set. They serve it and its parts.
    n_jobs
        As in joblib.
    """

    def __init__(self, instances: InstanceSet, n_jobs: int | None = None) -> None:
        distinct = snapshots(instances).instances
        self._rows = distinct._stored_rows
        self._values = np.concatenate(map_chunks(_rows, distinct, n_jobs=n_jobs, dtype=np.float64))

    def on(self, instances: InstanceSet) -> NDArray[np.float64]:
        """Return (K, n) costs-to-go, those of the snapshot of each instance."""
        return self._values[np.searchsorted(self._rows, instances._stored_rows)]

    def at(self, instances: InstanceSet) -> NDArray[np.float64]:
        """Return the cost of an optimal path of each instance."""
        return self._values[np.searchsorted(self._rows, instances._stored_rows), instances.sources]


class Sums(NamedTuple):
    """Finite costs-to-go of every vertex, added up over instances."""

    total: NDArray[np.float64]
    reached: NDArray[np.int64]
    """In how many instances the goal can be reached."""


def sums(instances: InstanceSet, n_jobs: int | None = None, costs: CostsToGo | None = None) -> Sums:
    """Return the sum and the number of the finite costs-to-go d(v, goal) over the instances."""
    n = instances.graph.n
    whole = Sums(np.zeros(n), np.zeros(n, dtype=np.int64))
    calls = _blocks(instances)
    # Blocks are added up in order as they come: few of them are in memory at once.
    for block in (
        map_calls(_sums, calls, n_jobs=n_jobs, checkpoints=instances._checkpoints)
        if costs is None
        else (_sums_of(costs.on(part), times) for part, times in calls.values())
    ):
        np.add(whole.total, block.total, out=whole.total)
        np.add(whole.reached, block.reached, out=whole.reached)
    return whole


def lowest(instances: InstanceSet, n_jobs: int | None = None, costs: CostsToGo | None = None) -> NDArray[np.float64]:
    """Return the lowest cost-to-go d(v, goal) of the instances, inf if none has a path."""
    if costs is not None:
        return costs.on(snapshots(instances).instances).min(axis=0)
    whole = np.full(instances.graph.n, np.inf)
    for block in map_calls(_lowest, _blocks(instances), n_jobs=n_jobs, checkpoints=instances._checkpoints):
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


def matrix(
    instances: InstanceSet, n_jobs: int | None = None, costs: CostsToGo | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return (K, n) costs-to-go, inf where there is no path, and how often each of the K snapshots counts."""
    distinct = snapshots(instances)
    if costs is not None:
        return costs.on(distinct.instances), distinct.times
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
    parts = map_chunks(_trees, distinct.instances, n_jobs=n_jobs, starts=starts)
    edge, below = (np.concatenate(matrices) for matrices in zip(*parts, strict=True))
    return edge, below


def _sums(block: InstanceSet, times: NDArray[np.int64], stop: _core.Stop) -> Sums:
    n = block.graph.n
    found = Sums(np.zeros(n), np.zeros(n, dtype=np.int64))
    ending = block.graph._kernel.label_sums(
        block._stored, block._stored_rows, arrays.aligned(times), int(block.goals[0]), *found, stop
    )
    _require_done(ending, block, block._stored_rows)
    return found


def _lowest(block: InstanceSet, times: NDArray[np.int64], stop: _core.Stop) -> NDArray[np.float64]:
    found = np.full(block.graph.n, np.inf)
    ending = block.graph._kernel.label_least(block._stored, block._stored_rows, int(block.goals[0]), found, stop)
    _require_done(ending, block, block._stored_rows)
    return found


def _rows(chunk: InstanceSet, first: int, stop: _core.Stop, *, dtype: Any) -> NDArray[Any]:
    out = np.empty((len(chunk), chunk.graph.n), dtype=dtype)
    ending = chunk.graph._kernel.label_rows(chunk._stored, chunk._stored_rows, int(chunk.goals[0]), out, stop)
    _require_done(ending, chunk, chunk._stored_rows)
    return out


def _trees(
    chunk: InstanceSet, first: int, stop: _core.Stop, *, starts: Starts
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    edge = np.empty((len(chunk), chunk.graph.n), dtype=np.int32)
    below = np.empty(edge.shape)
    begin, end = (ends[first : first + len(chunk)] for ends in starts[:2])
    ending = chunk.graph._kernel.label_trees(
        chunk._stored,
        chunk._stored_rows,
        int(chunk.goals[0]),
        begin,
        end,
        starts.vertex,
        starts.weight,
        edge,
        below,
        stop,
    )
    _require_done(ending, chunk, chunk._stored_rows)
    return edge, below


def _require_done(ending: _core.Ending, chunk: InstanceSet, rows: NDArray[np.int64]) -> None:
    if ending.status is not _core.Status.DONE:
        raise failures.snapshot_failure(ending, chunk, rows)
