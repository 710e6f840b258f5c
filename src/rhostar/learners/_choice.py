"""Several tables for greedy search, and a rule, learned from runs, that chooses one by the weights of a query.

A single table must suit every world. If walls are in different places in different worlds, values that lead around one
wall lead into a trap behind another. Tables for groups of worlds with similar costs-to-go do better, if each query uses
the right one. The right one is not always that of the group with the most similar weights, because most edges do not
matter. Hence every table is run on every training instance, and a ridge regression on the weights of some edges
predicts how many vertices a search with each of them expands.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.heuristics import ChosenByWeights, Table
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import provenance
from rhostar.learners._base import Learner, Seed, generator
from rhostar.learners._clusters import _k_means, _seen
from rhostar.learners._distances import CostsToGo, MeanDistance, matrix, snapshots
from rhostar.learners._objective import Initial, initial_table
from rhostar.search import solve_many

_PROBES, _VERTICES = 1000, 2000
"""Edges that the rule looks at, and vertices by whose costs-to-go snapshots are grouped, drawn at random."""
_EACH = 4
"""There is at most one group per this many snapshots."""
_RUNS = 1000
"""Instances that every table is run on."""
_LONGEST = 10.0
"""A run ends after this many times the expansions that the first table needs on average."""
_PENALTIES = np.geomspace(1.0, 1e5, 11)
"""Of the ridge regression; it is chosen by cross-validation."""


class ChosenTables(Learner):
    """Fits a table to each of several groups of worlds, and learns from runs of greedy search when to use which.

    Snapshots are grouped by their costs-to-go (k-means), and each group has the mean of them as its table. One more
    table is made by another learner for all snapshots. Greedy search is run with every table on the training instances.
    Ridge regression then predicts the square root of the expansions that each table needs from the logarithms of the
    weights of 1,000 edges, and a query uses the table with the lowest prediction. A group that is hard to distinguish
    from others is chosen less often than with :class:`Portfolio`, whose rule is the similarity of weights.

    Parameters
    ----------
    initial
        The table for all snapshots: a learner, which is cloned and fitted, or an array; None is :class:`MeanDistance`.
    n_clusters
        How many groups to look for. There are at most a quarter as many as snapshots.
    random_state
        Seeds the choice of edges and vertices, and k-means.
    n_jobs
        As in joblib.

    Attributes
    ----------
    heuristic_
        The tables and the rule that chooses among them, a :class:`rhostar.heuristics.ChosenByWeights`; one table if
        there are too few snapshots to make groups.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(21, 21, neighbors=8)
    >>> rng, blocked = np.random.default_rng(0), np.zeros((200, 21, 21), dtype=bool)
    >>> for world in blocked:  # two walls, each open at one of its ends
    ...     world[[6, 13]] = True
    ...     world[[6, 13], rng.choice([1, 19], 2)] = False
    >>> instances = rs.InstanceSet.from_obstacles(graph, blocked, graph.n - 21, 20, corner_cutting=True)
    >>> train, test = instances.split(0.5, seed=0)
    >>> for learner in (rs.learners.MeanDistance(), rs.learners.ChosenTables(n_clusters=4)):
    ...     print(round(-rs.learners.Scorer(rs.utilities.Expansions(1e6), algorithm="gbfs")(learner.fit(train), test)))
    96
    37
    """

    algorithm: Literal["gbfs"] = "gbfs"
    consistency: ClassVar[str] = "Nothing is known about the consistency of the tables."

    def __init__(
        self, initial: Initial = None, n_clusters: int = 32, *, random_state: Seed = 0, n_jobs: int | None = None
    ) -> None:
        self.initial, self.n_clusters = initial, n_clusters
        self.random_state, self.n_jobs = random_state, n_jobs

    def most_work(self, instances: int, expanded: float) -> int:
        """Return how many vertices a fit may expand at most.

        Parameters
        ----------
        instances
            How many instances there are.
        expanded
            The expansions that the first table needs on average.

        Returns
        -------
        int
        """
        return int((self.n_clusters + 1) * min(instances, _RUNS) * _LONGEST * expanded)

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        count = arrays.integer(self.n_clusters, "n_clusters", 1)
        rng = generator(self.random_state)
        first, seen = initial_table(self.initial, instances, costs)
        of = self._groups(instances, costs, count, rng)
        tables = [first]
        for k in range(int(of.max()) + 1 if of.any() else 0):
            part = instances[np.flatnonzero(of == k)]
            tables.append(MeanDistance(n_jobs=self.n_jobs)._fit(part, costs).rho_)
        goal = int(instances.goals[0])
        learned: dict[str, Any] = {"trained_on": provenance(instances, seen)}
        rule = self._rule(instances, tables, rng) if len(tables) > 1 else None
        if rule is None:
            return learned | {"rho_": first}
        members = [Table(arrays.frozen(values), goal) for values in tables]
        return learned | {"heuristic_": ChosenByWeights(members, m=instances.graph.m, **rule)}

    def _groups(
        self, instances: InstanceSet, costs: CostsToGo | None, count: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the group of each instance."""
        distinct = snapshots(instances)
        cost, times = matrix(instances, self.n_jobs, costs)
        cost = cost[:, rng.permutation(instances.graph.n)[:_VERTICES]].astype(np.float64)
        known = np.isfinite(cost)
        cost = np.where(known, cost, np.nan)[:, known.any(axis=0)]
        cost = np.where(np.isnan(cost), np.nanmean(cost, axis=0), cost)
        return _k_means(cost, times, min(count, len(cost) // _EACH), int(rng.integers(2**31)))[distinct.of]

    def _rule(
        self, instances: InstanceSet, tables: list[NDArray[np.float64]], rng: np.random.Generator
    ) -> dict[str, Any] | None:
        """Return what :class:`ChosenByWeights` needs to choose the table that expands the fewest vertices."""
        from sklearn.linear_model import RidgeCV
        from threadpoolctl import threadpool_limits

        graph = instances.graph
        some = instances[np.sort(rng.permutation(len(instances))[:_RUNS])]
        probes = np.sort(rng.permutation(graph.m)[:_PROBES])
        distinct = snapshots(some)
        seen = _seen(some, distinct, probes)
        if not seen.varies.any():
            return None
        runs, budget = [], 100 * graph.n
        for table in tables:
            found = solve_many(some, table, algorithm="gbfs", budget=budget, n_jobs=self.n_jobs).expanded
            runs.append(np.sqrt(np.bincount(distinct.of, found) / distinct.times))
            budget = budget if len(runs) > 1 else max(1, int(_LONGEST * found.mean()))
        effort = np.stack(runs, axis=1)
        effort = np.minimum(effort, np.sqrt(budget))
        center = seen.points.mean(axis=0)
        # What all tables have in common, such as a world in which every search is long, decides nothing.
        with threadpool_limits(1):  # several threads would round differently each time
            ridge = RidgeCV(_PENALTIES).fit(
                seen.points - center, effort - effort.mean(axis=1, keepdims=True), sample_weight=distinct.times
            )
        return {
            "probes": np.append(probes[seen.varies], 0),
            "usual": np.exp(nearest_points(ridge.coef_, ridge.intercept_, center)),
            "low": np.append(seen.low, 1.0),
            "high": np.append(seen.high, 1.0),
        }


def nearest_points(
    slope: NDArray[np.float64], intercept: NDArray[np.float64], center: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return points such that the lowest of slope @ (x - center) + intercept is that of the point nearest to (x, 0).

    Every linear rule is one of nearest points if each point has its own distance in one more dimension.
    """
    scale = 1 / max(np.abs(intercept).max(), np.sqrt((slope**2).sum(axis=1).max()), 1e-12)
    slope, intercept = scale * slope, scale * intercept
    apart = 2 * intercept - (slope**2).sum(axis=1)
    return np.column_stack([center - slope, np.sqrt(apart - apart.min())])
