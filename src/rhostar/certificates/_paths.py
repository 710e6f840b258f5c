"""The optimal path S* of every instance by a fixed rule, and the inconsistency Δ of a heuristic along it (L1)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.errors import InstanceError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet


@dataclass(frozen=True, eq=False)
class OptimalPaths:
    """S* of N instances: fewest edges among optimal paths, then lexicographically smallest."""

    graph: Graph
    cost: NDArray[np.float64]
    """Optimal costs, added up from the start."""
    edges: NDArray[np.int32]
    """The edges of all paths but the one that leaves the start, instance by instance: the terms of Δ."""
    instance: NDArray[np.int64]
    """The instance of each term."""
    weights: NDArray[np.float64]
    """The weight of each term in its instance."""

    def inconsistency(self, rho: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Δ of each instance: the sum of max(ρ_v − ρ_c − w, 0) over its terms.

        With or without reopening A* finds a path that costs at most Δ more than the optimum (L1).
        """
        tail, head = self.graph.tail[self.edges], self.graph.head[self.edges]
        terms = np.maximum(rho[tail] - rho[head] - self.weights, 0.0)
        return np.bincount(self.instance, weights=terms, minlength=self.cost.size).astype(np.float64)

    def take(self, which: NDArray[np.int64]) -> OptimalPaths:
        """Return the paths of some instances, each named once."""
        number = np.full(self.cost.size, -1)
        number[which] = np.arange(which.size)
        inside = number[self.instance] >= 0
        own = number[self.instance[inside]]
        return OptimalPaths(self.graph, self.cost[which], self.edges[inside], own, self.weights[inside])


_remembered: ContextVar[list[tuple[InstanceSet, OptimalPaths]] | None] = ContextVar("_remembered", default=None)


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Within this block the optimal paths of a set are found once: parts of the set take theirs from it.

    Curves against the number of instances use it, because they certify on ever larger parts of one set.
    """
    token = _remembered.set([])
    try:
        yield
    finally:
        _remembered.reset(token)


def _recall(instances: InstanceSet) -> OptimalPaths | None:
    for known, paths in _remembered.get() or ():
        if known.origin == instances.origin and known.graph is instances.graph:
            order = np.argsort(known.indices)
            place = np.searchsorted(known.indices, instances.indices, sorter=order)
            which = order[np.minimum(place, order.size - 1)]
            if (known.indices[which] == instances.indices).all() and np.unique(which).size == which.size:
                return paths.take(which)
    return None


def optimal_paths(instances: InstanceSet, *, n_jobs: int | None = None) -> OptimalPaths:
    """Return S* of every instance: one reverse Dijkstra for each pair of a snapshot and a goal.

    Parameters
    ----------
    instances
        The set.
    n_jobs
        As everywhere in joblib.

    Raises
    ------
    InstanceError
        If an instance has no path, naming the first.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._paths import optimal_paths
    >>> graph = rs.Graph.from_edges(4, [0, 1, 2, 0], [1, 2, 3, 3])
    >>> paths = optimal_paths(rs.InstanceSet(graph, [1.0, 5.0, 1.0, 1.0], sources=0, goal=3))
    >>> paths.cost.tolist(), paths.edges.tolist(), paths.inconsistency(np.array([9.0, 3.0, 1.0, 0.0])).tolist()
    ([3.0], [2, 3], [1.0])
    """
    if (known := _recall(instances)) is not None:
        return known
    # Instances of one snapshot and goal next to each other share the search.
    order = np.lexsort((instances.rows, instances.goals))
    parts = map_chunks(_chunk, instances[order], n_jobs=n_jobs)
    sorted_cost, length, edges = (np.concatenate(column) for column in zip(*parts, strict=True))
    cost = np.empty(len(instances))
    cost[order] = sorted_cost
    lost = ~np.isfinite(cost)
    if lost.any():
        i = int(np.argmax(lost))
        source, goal = (instances.graph._name_of(int(ends[i])) for ends in (instances.sources, instances.goals))
        raise InstanceError(f"instance {i} has no path from {source} to {goal}")
    owner = np.repeat(order, length)
    starts = np.cumsum(length) - length
    inner = np.ones(edges.size, dtype=bool)
    inner[starts] = False  # s ≠ t: every path has a first edge
    edges, owner = edges[inner], owner[inner]
    weights = instances.weights[instances.rows[owner], edges].astype(np.float64)
    paths = OptimalPaths(instances.graph, cost, edges, owner, weights)
    if (memory := _remembered.get()) is not None:
        memory.append((instances, paths))
    return paths


class _Part(NamedTuple):
    """S* of some instances, one after the other."""

    cost: NDArray[np.float64]
    length: NDArray[np.int64]
    """How many edges the path of each instance has."""
    edges: NDArray[np.int32]


def _chunk(chunk: InstanceSet, first: int, stop: _core.Stop) -> _Part:
    instances = _core.Instances(chunk.weights, chunk.rows, chunk.sources, chunk.goals)
    found = chunk.graph._kernel.optimal_paths(instances, stop)
    if found.ending.status is not _core.Status.DONE:
        raise failures.snapshot_failure(found.ending, chunk, chunk.rows)
    return _Part(found.cost, np.diff(found.end, prepend=0), found.edge)
