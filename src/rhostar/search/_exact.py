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
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import BoundsWarning, ModelError, WeightError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.potentials import Potential
from rhostar.search._rho import potential_for, values_for

Below = Mapping[int, NDArray[np.int64]]
"""By row of weights: the edges whose weight is below its bound. Rows without such edges are left out."""

WORTH_SAYING = 0.9
"""A warning is given only if values become smaller than this share; a little less is usual if the bounds are the least
weights that were seen."""

_NONE = np.empty(0, dtype=np.int64)


def promised_above(rho: object, graph: Graph) -> NDArray[np.float64] | None:
    """Return the weights at or above which a heuristic promises optimal answers; None if it promises nothing."""
    if getattr(rho, "promise_", None) != "optimal":
        return None
    lower: NDArray[np.float64] | None = getattr(rho, "lower_", None)
    if lower is not None and lower.shape != (graph.m,):
        raise ModelError(f"lower_ must have one weight for each of the {graph.m} edges, got {lower.size}")
    return lower


def below(weights: NDArray[Any], lower: NDArray[np.float64], owner: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """Return the edges of one snapshot whose weight is below its bound.

    The answer for an array that cannot be written to, or that lies in an `owner` that does not change, is kept as long
    as that one lives.
    """
    owner = _owner(weights) if owner is None else owner
    if owner is None:
        return _compare(weights, lower)
    known = _known(owner, lower)
    place = weights.__array_interface__["data"][0]
    if place not in known:
        known[place] = _compare(weights, lower)
    return known[place]


def rows_below(instances: InstanceSet, lower: NDArray[np.float64]) -> Below:
    """Return the edges that are below their bounds, by row; every row is compared once per set and bounds."""
    whole = instances.weights
    found = {row: below(whole[row], lower, whole) for row in np.unique(instances.rows).tolist()}
    return {row: edges for row, edges in found.items() if edges.size}


def lowered(
    table: NDArray[np.float64], graph: Graph, weights: NDArray[Any], edges: NDArray[np.int64], reopen: bool
) -> NDArray[np.float64]:
    """Return values that do not overestimate although the weights of some edges are below their bounds.

    This is `table` itself if it is still consistent on all of these edges.
    """
    fall = table[graph.tail[edges]] - table[graph.head[edges]]
    cost = np.maximum(weights[edges], 0.0)  # a search rejects what is negative, if it reads it
    broken = fall > cost
    if not broken.any():
        return table
    scaled: NDArray[np.float64] = table * (cost[broken] / fall[broken]).min()
    return np.maximum(scaled, table - (fall - cost)[broken].sum()) if reopen else scaled


def safe(given: Any, found: Any, graph: Graph, weights: Any, goal: int, reopen: bool) -> Any:
    """Return what the kernel takes for one search: `found`, or lowered values if the weights require it."""
    lower = promised_above(given, graph)
    if lower is None:
        return found
    row = arrays.weight_row(weights, "weights", graph.m)
    edges = below(row, lower)
    if not edges.size:
        return found
    require_weights(graph, row, edges)
    potential = potential_for(given, graph, np.array([goal], dtype=np.int32))
    if potential is not None:
        return smaller(potential, graph, row, lower, edges, "this snapshot", stacklevel=6)._kernel
    values = values_for(given, graph, goal)
    usable = _lowered_aloud(values, graph, row, lower, edges, reopen)
    return found if usable is values else usable


def safe_table(
    table: NDArray[np.float64], graph: Graph, weights: NDArray[Any], lower: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the table, lowered if the weights require it, for a search with reopening."""
    edges = _compare(weights, lower)
    return table if not edges.size else _lowered_aloud(table, graph, weights, lower, edges, reopen=True)


def _lowered_aloud(
    table: NDArray[np.float64],
    graph: Graph,
    weights: NDArray[Any],
    lower: NDArray[np.float64],
    edges: NDArray[np.int64],
    reopen: bool,
) -> NDArray[np.float64]:
    """Return lowered values, and say so if they become much smaller."""
    usable = lowered(table, graph, weights, edges, reopen)
    kept = share_kept(usable, table) if usable is not table else 1.0
    if kept < WORTH_SAYING:
        warn(graph, weights, lower, edges, kept, "this snapshot", stacklevel=6)
    return usable


def require_weights(graph: Graph, weights: NDArray[Any], edges: NDArray[np.int64]) -> None:
    """Raise if one of these edges has a weight that is negative or NaN: the comparison has seen it anyway."""
    bad = edges[~(weights[edges] >= 0)]
    if bad.size:
        e = int(bad[0])
        raise WeightError(
            f"weights[{e}] (edge {graph.tail[e]} -> {graph.head[e]}) is {weights[e]}; it must not be negative or NaN"
        )


def smaller(
    potential: Potential,
    graph: Graph,
    weights: NDArray[Any],
    lower: NDArray[np.float64],
    edges: NDArray[np.int64],
    where: str,
    stacklevel: int,
    quiet: bool = False,
) -> Potential:
    """Return the potential times a factor, so that it is consistent on these weights; says so if it is small."""
    factor = float((np.maximum(weights[edges], 0.0) / lower[edges]).min())
    if factor < WORTH_SAYING and not quiet:
        warn(graph, weights, lower, edges, factor, where, stacklevel=stacklevel)
    last, found = getattr(potential, "_smaller", (None, potential))
    if last != factor:  # the same snapshot is often asked again
        found = potential.scaled(factor)
        potential._smaller = factor, found
    return found


def share_kept(lowered: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """Return how large the lowered values are on average, as a share of what they were."""
    return float(lowered.sum() / table.sum())


def safe_potential(given: object, potential: Potential, graph: Graph, weights: NDArray[Any]) -> Potential:
    """Return the potential, or a smaller one if the weights require it; `given` carries it and may promise."""
    lower = promised_above(given, graph)
    edges = _NONE if lower is None else below(weights, lower)
    if lower is None or not edges.size:
        return potential
    return smaller(potential, graph, weights, lower, edges, "this snapshot", stacklevel=5)


def warn(
    graph: Graph,
    weights: NDArray[Any],
    lower: NDArray[np.float64],
    edges: NDArray[np.int64],
    kept: float,
    where: str,
    stacklevel: int = 5,
) -> None:
    """Say that values were lowered, and name the edge that is furthest below its bound."""
    e = int(edges[np.argmax(np.minimum(lower[edges], 1e300) - weights[edges])])
    tail, head = (v if graph.labels is None else graph.labels[v] for v in (int(graph.tail[e]), int(graph.head[e])))
    bound = "it was never present in training" if np.isinf(lower[e]) else f"its lower bound is {lower[e]:.6g}"
    count = "1 edge is" if edges.size == 1 else f"{edges.size:,} edges are"
    warnings.warn(
        f"{count} below the lower bounds in {where}: {tail} -> {head} costs {weights[e]:.6g}, but "
        f"{bound}. The values were lowered to {kept:.0%}, so answers stay optimal but searches are slower; fit again "
        "with these weights or with true lower bounds",
        BoundsWarning,
        stacklevel=stacklevel,
    )


def _compare(weights: NDArray[Any], lower: NDArray[np.float64]) -> NDArray[np.int64]:
    fine = weights >= lower
    return _NONE if fine.all() else np.flatnonzero(~fine)


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
