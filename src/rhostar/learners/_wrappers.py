"""Learners that wrap other learners: one ρ per goal, one for each group of snapshots, ρ times a factor."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar import heuristics
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance, provenance
from rhostar.learners._base import Learner, Seed, generator, table_of
from rhostar.learners._distances import CostsToGo, MeanDistance, snapshots

_PROBES = 250
"""Edges by which snapshots are compared."""
_ABSENT = 4.0
"""An absent edge counts as this many times the largest weight that the edge had in training."""


class Wrapper(Learner):
    """A learner around another one, for the same algorithm."""

    learner: Learner | None

    @property
    def algorithm(self) -> Literal["astar", "gbfs", "any"]:  # type: ignore[override]
        """The algorithm that the learner inside is for."""
        return self._inner().algorithm

    def _inner(self) -> Learner:
        if self.learner is None:
            return MeanDistance()
        if not isinstance(self.learner, Learner):
            raise InputError(f"learner must be a Learner, got {self.learner!r}")
        return self.learner


class PerGoal(Wrapper):
    """One fit for each goal that occurs.

    Parameters
    ----------
    learner
        What to fit for each goal; it is cloned. None is :class:`MeanDistance`.

    Attributes
    ----------
    heuristic_
        A :class:`rhostar.heuristics.PerGoal`.
    learners_
        A mapping from goals to fitted learners.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 1, 2], goal=[8, 8, 6])
    >>> learner = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(instances)
    >>> sorted(learner.heuristic_.goals), learner.heuristic_.table(6)[:3].tolist()
    ([6, 8], [2.0, 3.0, 4.0])
    >>> rs.solve_many(instances, learner).cost.tolist()
    [4.0, 3.0, 4.0]
    """

    consistency = "That of the learner inside, for each goal separately."
    one_goal = False

    def __init__(self, learner: Learner | None = None) -> None:
        self.learner = learner

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        inner = self._inner()
        Provenance.of(instances)  # its parts take over what this computes
        fitted = {}
        for goal, part in instances.by_goal().items():
            try:
                fitted[goal] = clone(inner).fit(part)
            except InstanceError as error:
                raise InstanceError(f"goal {instances.graph._name_of(goal)}: {error}") from error
        found = {goal: learner.heuristic_.only_table() or learner.heuristic_ for goal, learner in fitted.items()}
        if not all(
            isinstance(one, heuristics.Table | heuristics.ChosenByWeights) and one.goals for one in found.values()
        ):
            raise InputError(f"learner must fit values for one goal; {inner} serves all goals without PerGoal")
        bare = {"trained_on": None, "lower": None, "consistent_for": None}
        learned = {
            "heuristic_": heuristics.PerGoal(
                {goal: one.with_facts(**bare) for goal, one in found.items()}, instances.graph.n
            ),
            "learners_": fitted,
            "trained_on": provenance(instances, *(learner._seen for learner in fitted.values())),
        }
        known = [one.consistent_for for one in found.values() if one.consistent_for is not None]
        if len(known) == len(found):
            # Weights that are at least the largest of the bounds are at least each of them.
            learned["consistent_for"] = arrays.frozen(np.max(known, axis=0))
            if all(one.lower is not None for one in found.values()):
                learned["lower"] = learned["consistent_for"]
        return learned


class Scaled(Wrapper):
    """Multiplies the ρ of a learner by a factor: A* is greedier above 1, and more careful below.

    Cautious values, such as those of :class:`LowerEnvelope`, are far below the true distances. Times a factor they need
    far fewer expansions, and paths cost little more. :class:`Auto` finds the factor that keeps a mean excess.

    Parameters
    ----------
    learner
        Whose ρ to multiply; it is cloned. None is :class:`MeanDistance`.
    factor
        A positive number.

    Attributes
    ----------
    learner_
        The learner inside, fitted.

    Raises
    ------
    InputError
        Raised by ``fit`` if `factor` is not positive and finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(60, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=399)
    >>> optimum = rs.solve_many(instances, np.zeros(400)).cost
    >>> for factor in (1.0, 1.4, 1.6):
    ...     learner = rs.learners.Scaled(rs.learners.LowerEnvelope(), factor).fit(instances)
    ...     runs = rs.solve_many(instances, learner)
    ...     print(runs.expanded.mean().round(1), f"{runs.cost.sum() / optimum.sum() - 1:.2%}")
    393.6 0.00%
    258.6 0.01%
    91.7 1.96%
    """

    consistency = (
        "ρ is consistent where no weight is below ``consistent_for``: the factor times that of the learner inside. "
        "With a factor of at most 1, A* is optimal wherever it is with the learner inside."
    )

    def __init__(self, learner: Learner | None = None, factor: float = 1.0) -> None:
        self.learner, self.factor = learner, factor

    @property
    def one_goal(self) -> bool:  # type: ignore[override]
        """Whether all instances must have the same goal: as for the learner inside."""
        return self._inner().one_goal

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        factor = arrays.number(self.factor, "factor", "positive and finite", lambda x: 0 < x < np.inf)
        inner = clone(self._inner())._fit(instances, costs)
        return {"heuristic_": inner.heuristic_.scaled(factor), "learner_": inner}


class Portfolio(Wrapper):
    """Fits a learner to each of several groups of similar snapshots; each query uses the table of its group.

    Snapshots that resemble each other get a table of their own: one for the night, one for each rush hour. A query
    takes the table whose usual weights are nearest to its own: a group's, or that of all snapshots. Queries unlike all
    others are often the slowest ones, and even a group far from them is closer than the mean of all.

    Parameters
    ----------
    learner
        What to fit to each group; it is cloned. None is :class:`MeanDistance`. It must fit one goal; for several, put
        the portfolio into :class:`PerGoal`.
    n_clusters
        How many groups to look for, by k-means on the weights of a few edges.
    min_instances
        How many instances a group needs to have its own table. Snapshots of smaller ones use the nearest other table.
    random_state
        Seeds the choice of the edges by which snapshots are compared, and k-means.

    Attributes
    ----------
    heuristic_
        The tables and the rule that chooses among them, a :class:`rhostar.heuristics.ChosenByWeights`.
    learners_
        The fitted learners; the first one has seen all instances.
    cluster_of_
        For each training instance, which table the rule chooses.

    Raises
    ------
    InputError
        Raised by ``fit`` if a parameter is not accepted.

    Notes
    -----
    A choice that depends on the instance alone makes a portfolio *one* heuristic: certificates from a holdout apply as
    they are. Certificates for every ρ at once would have to count every combination of tables and every rule;
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
    >>> one, two = rs.learners.MeanDistance().fit(train), rs.learners.Portfolio(n_clusters=2).fit(train)
    >>> bool(rs.solve_many(test, two).expanded.mean() < rs.solve_many(test, one).expanded.mean())
    True
    """

    consistency = "Nothing is known about the consistency of the tables."
    cluster_of_: NDArray[np.int32]
    learners_: list[Learner]

    def __init__(
        self,
        learner: Learner | None = None,
        n_clusters: int = 8,
        *,
        min_instances: int = 10,
        random_state: Seed = 0,
    ) -> None:
        self.learner, self.n_clusters = learner, n_clusters
        self.min_instances, self.random_state = min_instances, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        count = arrays.integer(self.n_clusters, "n_clusters", 1)
        fewest = arrays.integer(self.min_instances, "min_instances", 1)
        found = clusters(instances, count, generator(self.random_state))
        goal, inner = int(instances.goals[0]), self._inner()
        fitted, usual = [clone(inner)._fit(instances, costs)], [found.common]
        table_of(fitted[0], "learner must fit one table for one goal")
        for k in range(len(found.usual) if len(found.usual) > 1 else 0):
            own = np.flatnonzero(found.of == k)
            if own.size >= max(fewest, inner.least_instances):
                fitted.append(clone(inner)._fit(instances[own], costs))
                usual.append(found.usual[k])
        rule = heuristics.ChosenByWeights(
            [heuristics.Table(table_of(one, "").values, goal) for one in fitted],
            found.probes,
            np.stack(usual),
            instances.graph.m,
            spread=found.common,
            cap=found.cap,
        )
        seen = provenance(instances, *(one._seen for one in fitted))
        return {"heuristic_": rule, "learners_": fitted, "cluster_of_": rule.which_of(instances), "trained_on": seen}


# ---------------------------------------------------------------- groups of similar snapshots


class Clusters(NamedTuple):
    """Clusters of the snapshots of a set, the one with the most instances first."""

    of: NDArray[np.int32]
    """The cluster of each instance."""
    probes: NDArray[np.int64]
    """The edges by which snapshots are compared; none if all snapshots are alike."""
    usual: NDArray[np.float64]
    """(clusters, probes) mean weights of these edges."""
    common: NDArray[np.float64]
    """The same over all instances; a snapshot is compared with it edge by edge, as a ratio."""
    cap: NDArray[np.float64]
    """What larger weights, and absent edges, count as for each probe."""


def clusters(instances: InstanceSet, count: int, rng: np.random.Generator) -> Clusters:
    """Return at most `count` clusters, by k-means on the weights of a few edges, each relative to its mean."""
    distinct, m = snapshots(instances), instances.graph.m
    probes = np.sort(rng.choice(m, min(m, _PROBES), replace=False))
    rows = distinct.instances._stored_rows
    seen = np.stack([instances._stored[row][probes].astype(np.float64) for row in rows.tolist()])
    cap = _ABSENT * np.where(np.isfinite(seen), seen, 0.0).max(axis=0)
    seen = np.minimum(seen, cap)
    varies = (seen != seen[0]).any(axis=0)
    probes, seen, cap = probes[varies], seen[:, varies], cap[varies]
    common = np.average(seen, axis=0, weights=distinct.times)
    label = _k_means(seen / common, distinct.times, count, int(rng.integers(2**31)))
    order = np.argsort(-np.bincount(label, distinct.times), kind="stable")
    label = np.argsort(order)[label]
    usual = [
        np.average(seen[label == k], axis=0, weights=distinct.times[label == k]) for k in range(int(label.max()) + 1)
    ]
    return Clusters(label[distinct.of].astype(np.int32), probes, np.stack(usual), common, cap)


def _k_means(points: NDArray[np.float64], times: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Return the cluster of each point, which counts as often as its weight says."""
    count = min(count, np.unique(points, axis=0).shape[0]) if points.size else 1
    if count < 2:
        return np.zeros(len(points), dtype=np.int64)
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # Several threads would add up in an order of their own, and round differently each time.
    with threadpool_limits(1):
        found = KMeans(count, n_init=4, random_state=seed).fit(points, sample_weight=times)
    return np.unique(found.labels_, return_inverse=True)[1].astype(np.int64)
