"""Several tables of heuristic values, one of which is chosen for each query by a look at a few of its weights.

Snapshots that resemble each other get a table of their own: one for the night, one for each rush hour. A query takes
the table whose usual weights are nearest to its own: a group's, or that of all snapshots. Queries unlike all others are
often the slowest ones, and even a group far from them is closer than the mean of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.heuristics import ChosenByWeights, Table
from rhostar.instances import InstanceSet, provenance
from rhostar.learners._base import Learner, Seed, generator, table_of
from rhostar.learners._clusters import clusters
from rhostar.learners._costs_to_go import CostsToGo
from rhostar.learners._wrappers import Wrapper


class Portfolio(Wrapper):
    """Fits a learner to each of several groups of similar snapshots; each query uses the table of its group.

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
        rule = ChosenByWeights(
            [Table(table_of(one, "").values, goal) for one in fitted],
            found.probes,
            np.stack(usual),
            instances.graph.m,
            spread=found.common,
            cap=found.cap,
        )
        seen = provenance(instances, *(one._seen for one in fitted))
        return {"heuristic_": rule, "learners_": fitted, "cluster_of_": rule.which_of(instances), "trained_on": seen}
