"""Keeps answers optimal when weights fall below the bounds that a heuristic is based on.

A heuristic with ``lower`` never overestimates as long as no weight is below it. It would not be enough to look only at
the weights that a search reads: with s → t 25, s → a 10, a → b 10, and b → t bounded by 10 but costing 1 today, A*
returns 25 and never reads b → t. So the whole snapshot is compared with the bounds before a search. A
:class:`rhostar.Snapshot` is compared once; an array may change, so it is compared every time.

Where edges are below, the values are lowered for that snapshot. Let d be the sum over these edges of what ρ falls by
beyond the weight, (ρ_v − ρ_c − w)⁺. A path without repeated vertices uses each of them at most once, so
it costs at least ρ − d. And c·ρ, with c the lowest w / (ρ_v − ρ_c) of these edges, is consistent again. The larger of
the two never overestimates, and A* with reopening is optimal with it. Without reopening only c·ρ keeps it optimal.

A heuristic for every goal is not turned into a table, which would take longer than a search. There are two ways:

- It is lowered for each value: d is the sum over these edges of bound − w, c the lowest w / bound, and the larger of
  ρ − d and c·ρ remains, as above. This takes no preparation, but searches expand more vertices.
- Distances under the lower of bounds and weights, for a :class:`DistanceHeuristic`: the hierarchy is customized for
  them, from that of the bounds. They are consistent, so that reopening is not needed.

The first is used until as many values were computed with it as the graph has vertices, for the same weights. That is
about the work of customizing, so the total is at most about twice the work of the better way.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.errors import BoundsWarning, WeightError
from rhostar.graph import Graph
from rhostar.heuristics._base import Heuristic, Weights
from rhostar.heuristics._computed import Computed
from rhostar.heuristics._distances import DistanceHeuristic
from rhostar.instances import InstanceSet, Snapshot

WARN_BELOW = 0.9
"""A warning is given only if values become smaller than this share; a little less is usual if the bounds are the lowest
weights that were seen."""

_MANY_QUERIES = 4
"""For this many queries or more on the same weights at once, a hierarchy is customized."""

_COMPARED_AT_ONCE = 2**18
"""Weights of several small snapshots that are compared in one go."""


class Shortfall(NamedTuple):
    """The edges of a snapshot whose weights are below the bounds of a heuristic; at least one."""

    graph: Graph
    weights: NDArray[Any]
    lower: NDArray[np.float64]
    edges: NDArray[np.int64]

    def require_numbers(self) -> None:
        """Raise if a weight is negative or NaN, which the comparison has seen also where no search reads it."""
        bad = self.edges[~(self.weights[self.edges] >= 0)]
        if bad.size:
            e = int(bad[0])
            ends = self.graph._edge_name(e)
            raise WeightError(f"weights[{e}] (edge {ends}) is {self.weights[e]}; it must not be negative or NaN")

    def lower_table(self, table: NDArray[np.float64], *, reopen: bool) -> tuple[NDArray[np.float64], float]:
        """Return values that do not overestimate here, and their size as a share of what they were.

        They are `table` itself if it is consistent on all of these edges.
        """
        fall = table[self.graph.tail[self.edges]] - table[self.graph.head[self.edges]]
        cost = np.maximum(self.weights[self.edges], 0.0)  # a search rejects what is negative, if it reads it
        broken = fall > cost
        if not broken.any():
            return table, 1.0
        usable: NDArray[np.float64] = table * (cost[broken] / fall[broken]).min()
        if reopen:
            usable = np.maximum(usable, table - (fall - cost)[broken].sum())
        return usable, float(usable.sum() / table.sum())

    def lowering(self, heuristic: Computed) -> Lowering:
        """Return how to lower a heuristic for every goal; that for the last weights is remembered."""
        known: Lowering | None = heuristic._lowering
        if known is None or not known.serves(self):
            known = heuristic._lowering = Lowering(self)
        return known

    def warn(self, kept: float, where: str = "this snapshot", *, stacklevel: int) -> bool:
        """Warn that values were lowered, if by much; return whether it did."""
        if kept >= WARN_BELOW:
            return False
        graph, lower, weights = self.graph, self.lower, self.weights
        e = int(self.edges[np.argmax(np.minimum(lower[self.edges], 1e300) - weights[self.edges])])
        tail, head = (v if graph.labels is None else graph.labels[v] for v in (int(graph.tail[e]), int(graph.head[e])))
        bound = "it was never present in training" if np.isinf(lower[e]) else f"its lower bound is {lower[e]:.6g}"
        count = "1 edge is" if self.edges.size == 1 else f"{self.edges.size:,} edges are"
        warnings.warn(
            f"{count} below the lower bounds in {where}: {tail} -> {head} costs {weights[e]:.6g}, but {bound}. The "
            f"values were lowered to {kept:.0%}, so answers stay optimal but searches are slower; fit again with these "
            "weights or with true lower bounds",
            BoundsWarning,
            stacklevel=stacklevel,
        )
        return True


class Lowering:
    """What becomes of a heuristic for every goal on weights below its bounds.

    It does not refer to the heuristic, so that a snapshot that remembers it does not keep the heuristic alive.

    Attributes
    ----------
    kept
        The sum of the bounds after lowering, as a share of what it was.
    """

    def __init__(self, below: Shortfall) -> None:
        self._graph, self._lower, self._edges = below.graph, below.lower, below.edges
        self._cost = _costs(below)
        bound = self._lower[self._edges]
        # Neither is rounded to the wrong side.
        self._factor = float((self._cost / bound).min()) * (1 - 2.0**-50)
        self._loss = float((bound - self._cost).sum()) * (1 + bound.size * 2.0**-50)
        finite = np.isfinite(bound)
        total = self._lower[np.isfinite(self._lower)].sum()
        self.kept = float(1 - (bound - self._cost)[finite].sum() / total) if finite.any() else 1.0
        self._simple: Computed | None = None
        self._exact: Computed | None = None

    def serves(self, below: Shortfall) -> bool:
        """Return whether other weights require the same."""
        if self._lower is not below.lower or not np.array_equal(self._edges, below.edges):
            return False
        return np.array_equal(self._cost, _costs(below))

    def usable(self, heuristic: Computed, *, reopen: bool, queries: int = 1) -> Computed:
        """Return a heuristic that does not overestimate here.

        Parameters
        ----------
        heuristic
            The same in every call.
        reopen
            Whether searches reopen vertices; if not, it is consistent.
        queries
            How many are about to use it.
        """
        if isinstance(heuristic, DistanceHeuristic):
            spent = 0 if self._simple is None else self._simple._kernel.evaluated
            if self._exact is None and (not reopen or queries >= _MANY_QUERIES or spent >= heuristic.n):
                self._exact = heuristic.below(self._graph, self._lower, self._edges, self._cost)
            if self._exact is not None:
                return self._exact
        if not reopen:
            return heuristic.lowered(self._factor, np.inf)
        if self._simple is None:
            self._simple = heuristic.lowered(self._factor, self._loss)
        return self._simple


def _costs(below: Shortfall) -> NDArray[np.float64]:
    costs: NDArray[np.float64] = np.maximum(below.weights[below.edges], 0.0).astype(np.float64)
    return costs


def shortfall(heuristic: Heuristic, graph: Graph, weights: Weights) -> Shortfall | None:
    """Return where weights are below the bounds of a heuristic; None if nowhere, or if it has no bounds."""
    if heuristic.lower is None:
        return None
    if isinstance(weights, Snapshot):
        return weights.remember(heuristic, "below", lambda row: _compared(heuristic, graph, row))
    return _compared(heuristic, graph, weights)


def shortfalls(heuristic: Heuristic, instances: InstanceSet) -> dict[int, Shortfall]:
    """Return where the snapshots of a set are below the bounds, by row; rows that are not below are left out."""
    lower, graph, weights = heuristic.lower, instances.graph, instances._stored
    if lower is None:
        return {}
    rows = np.unique(instances._stored_rows)
    step = max(1, _COMPARED_AT_ONCE // max(graph.m, 1))
    found = {}
    for first in range(0, rows.size, step):
        some = rows[first : first + step].tolist()
        seen = weights[some] if len(some) > 1 else weights[some[0] : some[0] + 1]  # a large one is not copied
        for row, edges in zip(some, _compare(seen, lower), strict=True):
            if edges.size:
                found[row] = Shortfall(graph, weights[row], lower, edges)
    return found


def kernel_for(
    heuristic: Heuristic, graph: Graph, weights: Weights, goal: int, reopen: bool, *, stacklevel: int
) -> NDArray[np.float64] | _core.Potential:
    """Return what the compiled search takes for one query, lowered if the weights require it.

    Parameters
    ----------
    heuristic, graph, weights, goal, reopen
        The query.
    stacklevel
        Of the warning, as in :func:`warnings.warn`.
    """
    found = heuristic.kernel(goal, weights)
    below = shortfall(heuristic, graph, weights)
    if below is None:
        return found
    below.require_numbers()
    if isinstance(found, np.ndarray):

        def lower(_: object) -> tuple[NDArray[np.float64], float]:
            return below.lower_table(heuristic.table(goal, weights), reopen=reopen)

        if isinstance(weights, Snapshot):
            found, kept = weights.remember(heuristic, f"lowered {goal} {reopen}", lower)
        else:
            found, kept = lower(weights)
    else:
        member: Computed = heuristic.on(weights)  # type: ignore[assignment]
        if isinstance(weights, Snapshot):
            lowering = weights.remember(heuristic, "lowering", lambda _: Lowering(below))
        else:
            lowering = below.lowering(member)
        found, kept = lowering.usable(member, reopen=reopen)._kernel, lowering.kept
    below.warn(kept, stacklevel=stacklevel + 1)
    return found


def _compared(heuristic: Heuristic, graph: Graph, weights: NDArray[Any]) -> Shortfall | None:
    assert heuristic.lower is not None
    (edges,) = _compare(weights[None], heuristic.lower)
    return Shortfall(graph, weights, heuristic.lower, edges) if edges.size else None


def _compare(snapshots: NDArray[Any], lower: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return for each of the snapshots the edges that are below."""
    fine = snapshots >= lower
    if fine.all():
        return [np.empty(0, dtype=np.int64)] * len(snapshots)
    which, edges = np.nonzero(~fine)
    return np.split(edges, np.searchsorted(which, np.arange(1, len(snapshots))))
