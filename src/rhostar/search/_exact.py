"""Keeps answers optimal when weights fall below the bounds that a heuristic rests on.

A learner that promises optimal answers (``promise_ == "optimal"``) has values that never overestimate as long as no
weight is below ``lower_``. To look only at the weights that a search reads would not do: with s → t 25, s → a 10,
a → b 10, and b → t bounded by 10 but costing 1 today, A* returns 25 and never reads b → t. So the whole snapshot is
compared with the bounds before a search.

Where edges are below, the values are lowered for that snapshot. Let d be the sum over these edges of what ρ falls by
beyond the weight, (ρ_v − ρ_c − w)⁺. A path without repeated vertices uses each of them at most once, so
it costs at least ρ − d. And c·ρ, with c the least w / (ρ_v − ρ_c) of these edges, is consistent again. The larger of
the two never overestimates, and A* with reopening is optimal with it. Without reopening only c·ρ keeps it optimal.

A potential is not turned into a table, which would take longer than a search. It is scaled by the least w / bound of
these edges: then its bounds are nowhere above the weights, for every goal.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import BoundsWarning, ModelError, WeightError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.potentials import Potential
from rhostar.search._rho import potential_for, values_for

WORTH_SAYING = 0.9
"""A warning is given only if values become smaller than this share; a little less is usual if the bounds are the least
weights that were seen."""

_COMPARED_AT_ONCE = 2**18
"""Weights of several small snapshots that are compared in one go."""

_NONE = np.empty(0, dtype=np.int64)


def promised_above(rho: object, graph: Graph) -> NDArray[np.float64] | None:
    """Return the weights at or above which a heuristic promises optimal answers; None if it promises nothing."""
    if getattr(rho, "promise_", None) != "optimal":
        return None
    lower: NDArray[np.float64] | None = getattr(rho, "lower_", None)
    if lower is not None and lower.shape != (graph.m,):
        raise ModelError(f"lower_ must have one weight for each of the {graph.m} edges, got {lower.size}")
    return lower


class Shortfall(NamedTuple):
    """The edges of a snapshot whose weights are below the bounds that a promise rests on; at least one."""

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

    def lowered(self, table: NDArray[np.float64], *, reopen: bool) -> NDArray[np.float64]:
        """Return values that do not overestimate here; `table` itself if it is consistent on all of these edges."""
        fall = table[self.graph.tail[self.edges]] - table[self.graph.head[self.edges]]
        cost = np.maximum(self.weights[self.edges], 0.0)  # a search rejects what is negative, if it reads it
        broken = fall > cost
        if not broken.any():
            return table
        scaled: NDArray[np.float64] = table * (cost[broken] / fall[broken]).min()
        return np.maximum(scaled, table - (fall - cost)[broken].sum()) if reopen else scaled

    def scaled(self, potential: Potential) -> tuple[Potential, float]:
        """Return the potential times a factor, so that it is consistent here for every goal, and the factor."""
        factor = float((np.maximum(self.weights[self.edges], 0.0) / self.lower[self.edges]).min())
        last, found = getattr(potential, "_smaller", (None, potential))
        if last != factor:  # the same snapshot is often asked again
            found = potential.scaled(factor)
            potential._smaller = factor, found
        return found, factor

    def say(self, kept: float, where: str = "this snapshot", *, stacklevel: int) -> bool:
        """Warn that values were lowered, if that is worth saying; return whether it was."""
        if kept >= WORTH_SAYING:
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


def shortfall(rho: object, graph: Graph, weights: NDArray[Any]) -> Shortfall | None:
    """Return where a snapshot is below the bounds that a heuristic promises by; None if nowhere, or if there are none.

    The answer for an array that nobody can write to is kept as long as the array lives.
    """
    lower = promised_above(rho, graph)
    edges = _NONE if lower is None else _below(weights, lower)
    return Shortfall(graph, weights, lower, edges) if lower is not None and edges.size else None


def shortfalls(rho: object, instances: InstanceSet) -> dict[int, Shortfall]:
    """Return where the snapshots of a set are below the bounds, by row; rows that are not below are left out."""
    graph, weights = instances.graph, instances.weights
    lower = promised_above(rho, graph)
    if lower is None:
        return {}
    rows = np.unique(instances.rows)
    owner = _owner(weights)
    known = {} if owner is None else _known(owner, lower)
    places = (weights.__array_interface__["data"][0] + rows * weights.strides[0]).tolist()
    unknown = np.flatnonzero([place not in known for place in places])
    step = max(1, _COMPARED_AT_ONCE // max(graph.m, 1))
    for first in range(0, unknown.size, step):
        block = unknown[first : first + step]
        some = rows[block]
        seen = weights[some] if some.size > 1 else weights[some[0] : some[0] + 1]  # a large one is not copied
        for k, edges in zip(block.tolist(), _compare(seen, lower), strict=True):
            known[places[k]] = edges
    return {
        row: Shortfall(graph, weights[row], lower, known[place])
        for row, place in zip(rows.tolist(), places, strict=True)
        if known[place].size
    }


def safe(given: Any, found: Any, graph: Graph, weights: Any, goal: int, reopen: bool) -> Any:
    """Return what the kernel takes for one search: `found`, or lowered values if the weights require it."""
    if promised_above(given, graph) is None:
        return found
    below = shortfall(given, graph, arrays.weight_row(weights, "weights", graph.m))
    if below is None:
        return found
    below.require_numbers()
    potential = potential_for(given, graph, np.array([goal], dtype=np.int32))
    if potential is not None:
        return _smaller(below, potential, stacklevel=6)._kernel
    table = values_for(given, graph, goal)
    usable = safe_table(below, table, reopen=reopen, stacklevel=6)
    return found if usable is table else usable


def safe_potential(given: object, potential: Potential, graph: Graph, weights: NDArray[Any]) -> Potential:
    """Return the potential, or a smaller one if the weights require it; `given` carries it and may promise."""
    below = shortfall(given, graph, weights)
    if below is None:
        return potential
    below.require_numbers()
    return _smaller(below, potential, stacklevel=5)


def safe_table(below: Shortfall, table: NDArray[np.float64], *, reopen: bool, stacklevel: int) -> NDArray[np.float64]:
    """Return lowered values, and say so if they become much smaller."""
    usable = below.lowered(table, reopen=reopen)
    if usable is not table:
        below.say(share_kept(usable, table), stacklevel=stacklevel)
    return usable


def share_kept(lowered: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """Return how large the lowered values are on average, as a share of what they were."""
    return float(lowered.sum() / table.sum())


def _smaller(below: Shortfall, potential: Potential, *, stacklevel: int) -> Potential:
    found, factor = below.scaled(potential)
    below.say(factor, stacklevel=stacklevel)
    return found


def _below(weights: NDArray[Any], lower: NDArray[np.float64]) -> NDArray[np.int64]:
    owner = _owner(weights)
    if owner is None:
        return _compare(weights[None], lower)[0]
    known = _known(owner, lower)
    place = weights.__array_interface__["data"][0]
    if place not in known:
        known[place] = _compare(weights[None], lower)[0]
    return known[place]


def _compare(snapshots: NDArray[Any], lower: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return for each of the snapshots the edges that are below."""
    fine = snapshots >= lower
    if fine.all():
        return [_NONE] * len(snapshots)
    which, edges = np.nonzero(~fine)
    return np.split(edges, np.searchsorted(which, np.arange(1, len(snapshots))))


# ---------------------------------------------------------------- arrays that were compared before

_answers: dict[tuple[int, int], tuple[Any, Any, dict[int, NDArray[np.int64]]]] = {}


def _owner(array: NDArray[Any]) -> NDArray[Any] | None:
    """Return the array that owns the memory; None if anybody can write to it through it or a view."""
    while not array.flags.writeable:
        if not isinstance(array.base, np.ndarray):
            return array
        array = array.base
    return None


def _known(owner: NDArray[Any], lower: NDArray[np.float64]) -> dict[int, NDArray[np.int64]]:
    """Return what is known about rows of an array, by their place in memory; forgotten with the array."""
    key = id(owner), id(lower)
    if key not in _answers:

        def forget(_: object) -> None:
            _answers.pop(key, None)

        _answers[key] = weakref.ref(owner, forget), weakref.ref(lower, forget), {}
    return _answers[key][2]
