"""Learners that wrap other learners: one ρ per goal, ρ times a factor."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar import heuristics
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet, Provenance, provenance
from rhostar.learners._base import Learner
from rhostar.learners._costs_to_go import CostsToGo
from rhostar.learners._distances import MeanDistance


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
