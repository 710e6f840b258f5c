"""Learns ρ as the mean, median, minimum or any quantile of the exact costs-to-go of the training instances."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, one_of

_BLOCK = 2**23
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

    def _learn_with(self, instances: InstanceSet, costs: costs_to_go.CostsToGo | None) -> dict[str, Any]:
        one_of(self.statistic, "statistic", ("mean", "median", "min", "quantile"))
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        if self.statistic == "mean":
            rho, reached = costs_to_go.sums(instances, self.n_jobs, costs)
            known = reached > 0
            np.divide(rho, reached, out=rho, where=known)
        elif self.statistic == "min":
            rho = costs_to_go.lowest(instances, self.n_jobs, costs)
            known = np.isfinite(rho)
        else:
            matrix, times = costs_to_go.matrix(instances, self.n_jobs, costs)
            rho = finite_quantile(matrix, times, 0.5 if self.statistic == "median" else level)
            known = np.isfinite(rho)
        weights = instances._stored[instances._stored_rows[0]]
        return {"rho_": fill(instances.graph, weights, rho, known)}


def finite_quantile(matrix: NDArray[Any], times: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Return the quantile of the finite entries of each column, in which row k counts times[k] times; inf for none."""
    result = np.empty(matrix.shape[1])
    step = max(1, _BLOCK // int(times.sum()))
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
