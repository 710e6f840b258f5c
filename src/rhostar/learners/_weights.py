"""Learns one weight per edge, and takes the exact distances under these weights as ρ (Example 2 of the paper)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import WeightError
from rhostar.graph import Graph
from rhostar.heuristics import PerGoal, Table
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner, one_of
from rhostar.learners._distances import fill, finite_quantile, snapshots
from rhostar.learners._smoothing import Blur
from rhostar.search import distances_to

_BLOCK = 2**20
"""The number of weights processed at a time."""


class MeanWeights(Learner):
    """Distances under an estimate of each edge's weight (Example 2 of the paper).

    The estimate is a statistic of an edge's weights in the instances that have the edge, times
    ``1 + penalty * (share of the instances in which it is absent)``. An edge that is never present is estimated by its
    length, or the distance between its ends, at the median cost of a unit; without either it is left out.

    Parameters
    ----------
    statistic
        "mean", "median", "min" or "quantile" of the weights.
    quantile
        Which quantile, for "quantile".
    penalty
        How strongly absence counts: an edge that is always absent costs 1 + `penalty` times its estimate.
    blur
        How far the share absent is spread over the graph, in edges; 0 is not at all.

    Attributes
    ----------
    weights_
        (m,) the estimate.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.from_edges(3, tail=[0, 1], head=[1, 2])
    >>> instances = rs.InstanceSet(graph, [[1.0, 2.0], [np.inf, 4.0]], sources=1, goal=2)
    >>> rs.learners.MeanWeights(penalty=10).fit(instances).rho_.tolist()
    [9.0, 3.0, 0.0]
    """

    consistency = "ρ is consistent on every instance whose weights are all at least the estimate, ``consistent_for``."

    def __init__(
        self,
        statistic: Literal["mean", "median", "min", "quantile"] = "mean",
        *,
        quantile: float = 0.5,
        penalty: float = 10.0,
        blur: float = 0.0,
    ) -> None:
        self.statistic, self.quantile, self.penalty, self.blur = statistic, quantile, penalty, blur

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        one_of(self.statistic, "statistic", ("mean", "median", "min", "quantile"))
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        penalty = arrays.number(self.penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
        graph = instances.graph
        level = 0.5 if self.statistic == "median" else level
        found = edge_statistics(instances, "quantile" if self.statistic == "median" else self.statistic, level)
        absent = 1.0 - found.present
        width = arrays.number(self.blur, "blur", "finite and not negative", lambda x: 0 <= x < np.inf)
        if width > 0:
            absent = _over_edges(graph, Blur(graph, width)(_over_vertices(graph, absent)))
        weights = complete(graph, found.value) * (1.0 + penalty * absent)
        goal = int(instances.goals[0])
        whole = bool(np.isfinite(distances_to(graph, weights, goal)).all())  # filled-in values guarantee nothing
        rho = distances_under(graph, weights, goal)
        return {"weights_": weights, "rho_": rho, "consistent_for": weights if whole else None}


class LowerEnvelope(Learner):
    """Distances under lower bounds of the weights, with which A* is optimal as long as no weight is below them.

    Parameters
    ----------
    lower
        Lower bounds on the weights of every instance: a number, or (m,) one per edge, inf for edges that are never
        present. None takes the lowest weights of the training set, although later instances may have smaller ones.

    Raises
    ------
    WeightError
        Raised by ``fit`` if a training instance has a weight below `lower`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(30, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.LowerEnvelope(lower=1.0).fit(instances)
    >>> print(rs.evaluate(learner.rho_, instances, rs.utilities.Suboptimality(10))["suboptimality"].mean)
    0.0
    """

    algorithm = "astar"
    consistency = "ρ is consistent on every instance whose weights are all at least ``lower``: A* is optimal there."
    one_goal = False

    def __init__(self, lower: ArrayLike | None = None) -> None:
        self.lower = lower

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        graph = instances.graph
        lowest = edge_statistics(instances, "min", 0.0).value
        lower = arrays.frozen(lowest if self.lower is None else stated_bounds(self.lower, "lower", lowest, instances))
        tables = {}
        for goal in np.unique(instances.goals).tolist():
            rho = distances_to(graph, lower, goal)
            # Vertices that never reach the goal may take the largest value of all: ρ_v − ρ_c ≤ w still holds.
            known = np.isfinite(rho)
            tables[goal] = Table(arrays.frozen(np.where(known, rho, rho[known].max())), goal)
        heuristic = next(iter(tables.values())) if len(tables) == 1 else PerGoal(tables, graph.n)
        return {"heuristic_": heuristic, "lower": lower, "consistent_for": lower}


def stated_bounds(
    given: ArrayLike, name: str, lowest: NDArray[np.float64], instances: InstanceSet
) -> NDArray[np.float64]:
    """Return stated lower bounds, one per edge; raises :class:`WeightError` if `lowest`, seen in training, is below.

    A bound that is above it by no more than the rounding of the weights' own type is lowered to it.
    """
    graph, kind = instances.graph, instances._stored.dtype
    given = np.full(graph.m, given) if np.ndim(given) == 0 else given
    lower: NDArray[np.float64] = arrays.weight_row(given, name, graph.m).astype(np.float64)
    slack = 4 * np.finfo(kind).eps if kind.kind == "f" else 0.0
    lower = np.where(lowest >= lower * (1 - slack), np.minimum(lower, lowest), lower)
    below = np.flatnonzero(~(lowest >= lower))
    if below.size:
        e = int(below[0])
        more = "" if below.size == 1 else f" ({below.size:,} edges have training weights below {name})"
        raise WeightError(
            f"{name}[{e}] (edge {graph._edge_name(e)}) is {lower[e]}, but a training instance has "
            f"{lowest[e]} there{more}; to use the lower of both, pass their minimum (--weight-bounds FILE,from-data)"
        )
    return lower


class EdgeStatistics(NamedTuple):
    """Statistics of each edge over the instances."""

    value: NDArray[np.float64]
    """The statistic of its weights in the instances that have it; inf if none has."""
    present: NDArray[np.float64]
    """The share of the instances that have it."""


def edge_statistics(instances: InstanceSet, statistic: str, level: float) -> EdgeStatistics:
    """Return "mean", "min" or "quantile" of each edge's finite weights over the instances."""
    distinct = snapshots(instances)
    rows, times = distinct.instances._stored_rows, distinct.times
    m, total = instances.graph.m, int(times.sum())
    value, count = np.full(m, 0.0 if statistic == "mean" else np.inf), np.zeros(m, dtype=np.int64)
    if statistic in ("mean", "min"):
        # Snapshot by snapshot, in the order of the file: a mapped set may be larger than memory.
        for row, often in zip(rows.tolist(), times.tolist(), strict=True):
            weights = instances._stored[row]
            finite = weights < np.inf
            count += finite * np.int64(often)
            if statistic == "mean":
                value += np.where(finite, weights, 0.0) * often
            else:
                np.minimum(value, weights, out=value)
        if statistic == "mean":
            value = np.divide(value, count, out=np.full(m, np.inf), where=count > 0)
        return EdgeStatistics(value, count / total)
    step = max(1, _BLOCK // rows.size)
    for begin in range(0, m, step):
        part = instances._stored[rows, begin : begin + step].astype(np.float64)
        count[begin : begin + step] = ((part < np.inf) * times[:, None]).sum(axis=0)
        value[begin : begin + step] = finite_quantile(part, times, level)
    return EdgeStatistics(value, count / total)


def complete(graph: Graph, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values; those of edges that were never present are estimated from lengths or coordinates."""
    known = value < np.inf
    if known.all() or not known.any():
        return value
    length = graph.length
    if length is None and graph.coordinates is not None:
        length = np.linalg.norm(graph.coordinates[graph.tail] - graph.coordinates[graph.head], axis=1)
    if length is None or not (known & (length > 0)).any():
        return value
    unit = np.median(value[known & (length > 0)] / length[known & (length > 0)])
    return np.where(known, value, length * unit)


def distances_under(graph: Graph, weights: NDArray[np.float64], goal: int) -> NDArray[np.float64]:
    """Return the distances to the goal, filled in where there is no path."""
    rho = distances_to(graph, weights, goal)
    return fill(graph, weights, rho, np.isfinite(rho))


def _over_vertices(graph: Graph, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the edges at each vertex."""
    total = np.bincount(graph.tail, values, graph.n) + np.bincount(graph.head, values, graph.n)
    degree = np.bincount(graph.tail, minlength=graph.n) + np.bincount(graph.head, minlength=graph.n)
    return total / np.maximum(degree, 1)


def _over_edges(graph: Graph, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the ends of each edge."""
    return (values[graph.tail] + values[graph.head]) / 2
