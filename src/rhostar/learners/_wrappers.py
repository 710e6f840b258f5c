"""Learners that wrap other learners: one ρ per goal, one for each group of snapshots, ρ times a factor."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar import heuristics
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance, provenance
from rhostar.learners._base import Learner, Seed, generator, table_of
from rhostar.learners._clusters import clusters, own_share
from rhostar.learners._distances import CostsToGo, MeanDistance
from rhostar.learners._front import Front


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
    front_
        A :class:`Front` over all goals, if the learners have one.

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
        choices = [one for one in fitted.values() if hasattr(one, "front_")]
        if len(choices) == len(fitted):
            learned["front_"] = Front.over(
                [([tried for tried in one.candidates_ if tried.losses.size], one.front_) for one in choices]
            )
        known = [one.consistent_for for one in found.values() if one.consistent_for is not None]
        if len(known) == len(found):
            # Weights that are at least the largest of the bounds are at least each of them.
            learned["consistent_for"] = arrays.frozen(np.max(known, axis=0))
            if all(one.lower is not None for one in found.values()):
                learned["lower"] = learned["consistent_for"]
        return learned


class Scaled(Wrapper):
    """Multiplies the ρ of a learner by a factor: above 1 A* is greedier, below 1 more careful.

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
    takes the table whose usual weights are nearest to its own. Queries unlike all others are often the slowest ones,
    and even a distant group is closer to them than the mean of all. Groups are made and compared as in
    :class:`Potentials`. The table of a group with few snapshots is shrunk towards the table of all of them.

    Parameters
    ----------
    learner
        What to fit to each group; it is cloned. None is :class:`MeanDistance`. It must fit one goal; for several, put
        the portfolio into :class:`PerGoal`.
    n_clusters
        How many groups to look for; :func:`rhostar.learn` chooses it.
    random_state
        Seeds the choice of the edges by which snapshots are compared, and k-means.

    Attributes
    ----------
    heuristic_
        The tables and the rule that chooses among them, a :class:`rhostar.heuristics.ChosenByWeights`.
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

    def __init__(self, learner: Learner | None = None, n_clusters: int = 8, *, random_state: Seed = 0) -> None:
        self.learner, self.n_clusters, self.random_state = learner, n_clusters, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        count = arrays.integer(self.n_clusters, "n_clusters", 1)
        found = clusters(instances, count, generator(self.random_state))
        inner, graph = self._inner(), instances.graph
        common = clone(inner)._fit(instances, costs)
        table = table_of(common, "learner must fit one table for one goal")
        fitted, tables = [common], []
        for k in range(len(found.usual) if len(found.usual) > 1 else 0):
            part = instances[np.flatnonzero(found.of == k)]
            if len(part) >= inner.least_instances:
                fitted.append(clone(inner)._fit(part, costs))
                own = table_of(fitted[-1], "learner must fit one table for one goal").values
                share = own_share(part, found.pull)
                tables.append(share * own + (1 - share) * table.values)
            else:
                tables.append(table.values)
        rule = heuristics.ChosenByWeights(
            [heuristics.Table(arrays.frozen(values), int(instances.goals[0])) for values in tables or [table.values]],
            m=graph.m,
            **found.rule,
        )
        seen = provenance(instances, *(one._seen for one in fitted))
        return {"heuristic_": rule, "cluster_of_": rule.which_of(instances), "trained_on": seen}
