"""Several tables of heuristic values, one of which is chosen for each query by a look at a few of its weights.

Snapshots that resemble each other get a table of their own: one for the night, one for each rush hour. They are found
by k-means on a few edges, the probes, and a query takes the table of the nearest centre: a group's, or the mean of all
snapshots, which has the table learned from all of them. Queries unlike all others are often the slowest ones, and even
a group far from them is closer than the mean of all. To keep single answers from becoming worse, each table is lowered
until its certain bound on a single answer (U5) is not above that of the common table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.certificates import largest_excess, limited_excess
from rhostar.errors import InputError
from rhostar.instances import InstanceSet, provenance
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, Seed, generator
from rhostar.learners._weights import edge_statistics
from rhostar.learners._wrappers import Wrapper
from rhostar.search._tables import Tables

_ABSENT = 4.0
"""An absent edge counts as this many times the largest weight that the edge had in training."""


class Portfolio(Wrapper):
    """Fits a learner to each of k groups of similar snapshots; each query uses the table of its group.

    Parameters
    ----------
    learner
        What to fit to each group; it is cloned. None is :class:`MeanDistance`. It must fit one goal; for several, put
        the portfolio into :class:`PerGoal`.
    k
        How many groups to look for. Snapshots in groups with fewer than `least` instances use the nearest other table.
    probes
        How many edges a query is recognised by. They are drawn from those that optimal paths use and whose weights
        vary, with probabilities in proportion to both.
    least
        The least number of instances that a group needs to have its own table.
    excess
        No table may have a larger certain bound on its excess (U5) than this; None takes that of the common table,
        and inf does not limit it, which saves expansions.
    lo
        (m,) lower bounds on the weights, for U5; None takes the least weights of the training set.
    random_state
        Seeds the draw of the probes and k-means.

    Attributes
    ----------
    rho_
        The tables and the rule that chooses among them: an object that is accepted wherever ρ is.
    learners_
        The fitted learners; the first one has seen all instances.
    groups_
        For each training instance, which table the rule chooses.

    Raises
    ------
    InputError
        Raised by ``fit`` if a parameter is not accepted.

    Notes
    -----
    A choice that depends on the instance alone makes a portfolio *one* heuristic: certificates from a holdout apply as
    they are. Certificates for every ρ at once would have to count every combination of k + 1 tables and every rule;
    :func:`rhostar.certify` does not compute them.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> rng = np.random.default_rng(0)
    >>> jam = np.where(np.arange(graph.m) % 2 == np.arange(200)[:, None] % 2, 3.0, 1.0)  # every other edge, by turns
    >>> weights = jam * rng.uniform(1, 1.2, jam.shape)
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.5, seed=0)
    >>> one, two = rs.learners.MeanDistance().fit(train), rs.learners.Portfolio(k=2, random_state=0).fit(train)
    >>> bool(rs.solve_many(test, two).expanded.mean() < rs.solve_many(test, one).expanded.mean())
    True
    """

    consistency = "Nothing is known about the consistency of the tables."
    rho_: Any
    groups_: NDArray[np.int32]
    learners_: list[Learner]

    def __init__(
        self,
        learner: Learner | None = None,
        k: int = 8,
        *,
        probes: int = 32,
        least: int = 10,
        excess: float | None = None,
        lo: ArrayLike | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.learner, self.k, self.probes, self.least = learner, k, probes, least
        self.excess, self.lo, self.random_state = excess, lo, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        k = arrays.integer(self.k, "k", 1)
        probes = arrays.integer(self.probes, "probes", 1)
        least = arrays.integer(self.least, "least", 1)
        excess = self.excess
        if excess is not None:
            excess = arrays.number(excess, "excess", "at least 0, or None", lambda x: x >= 0)
        rng = generator(self.random_state)
        common = clone(self._inner()).fit(instances)
        if not isinstance(getattr(common, "rho_", None), np.ndarray):
            raise InputError("learner must fit one table for one goal")
        edges, scale, cap = _probes(instances, probes, rng)
        finder = Tables(instances.graph.m, common.rho_[None], edges, scale, cap)
        fitted, tables = [common], [common.rho_]
        rows, of = np.unique(instances.rows, return_inverse=True)
        seen = np.stack([finder.features(instances.weights[row]) for row in rows])
        times = np.bincount(of)
        group = _groups(seen, times, k, rng) if edges.size else np.zeros(rows.size, dtype=np.int64)
        centres = [np.average(seen, axis=0, weights=times)]
        for number in range(int(group.max()) + 1 if edges.size else 0):
            own = np.flatnonzero(group[of] == number)
            if own.size < max(least, common.least_instances):
                continue
            learner = clone(self._inner()).fit(instances[own])
            fitted.append(learner)
            tables.append(self._guarded(instances, learner.rho_, common.rho_, excess))
            centres.append(np.average(seen[group == number], axis=0, weights=times[group == number]))
        rule = Tables(instances.graph.m, np.stack(tables), edges, scale, cap)
        rule.place(np.stack(centres))
        seen_by = provenance(instances, *(learner.trained_on_ for learner in fitted))
        return {"rho_": rule, "learners_": fitted, "groups_": rule.which_of(instances), "trained_on_": seen_by}

    def _guarded(
        self,
        instances: InstanceSet,
        rho: NDArray[np.float64],
        common: NDArray[np.float64],
        excess: float | None,
    ) -> NDArray[np.float64]:
        """Return a table lowered so that its certain bound on a single answer is at most the one that is allowed."""
        if excess == np.inf:
            return rho
        graph, goal = instances.graph, int(instances.goals[0])
        low = edge_statistics(instances, "min", 0.0).value if self.lo is None else self.lo
        most = largest_excess(graph, common, goal, low) if excess is None else excess
        return limited_excess(graph, rho, goal, low, most)


def _probes(
    instances: InstanceSet, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return edges to recognise a snapshot by, the spread of their weights, and what an absent edge counts as."""
    graph = instances.graph
    distinct = costs_to_go.snapshots(instances)
    starts = costs_to_go.same_starts(distinct, np.ones(graph.n))
    edge, below = costs_to_go.trees(distinct, starts)
    use = np.bincount(edge[edge >= 0], below[edge >= 0] + 1, graph.m)
    rows = distinct.instances.rows
    used = np.flatnonzero(use > 0)
    sample = instances.weights[:, used][rows].astype(np.float64)
    finite = np.where(np.isfinite(sample), sample, -np.inf).max(axis=0)
    cap = np.maximum(_ABSENT * finite, 1e-300)
    spread = np.minimum(sample, cap).std(axis=0)
    chance = use[used] * spread
    able = np.flatnonzero(chance > 0)
    if able.size == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    drawn = rng.choice(able, min(count, able.size), replace=False, p=chance[able] / chance[able].sum())
    drawn.sort()
    return used[drawn], spread[drawn], cap[drawn]


def _groups(seen: NDArray[np.float64], times: NDArray[np.int64], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the group of each snapshot, by k-means."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    k = min(k, np.unique(seen, axis=0).shape[0])
    found = KMeans(k, n_init=4, random_state=seed).fit(seen, sample_weight=times)
    return found.labels_.astype(np.int64)
