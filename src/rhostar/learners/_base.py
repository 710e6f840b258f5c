"""The base class of all learners: scikit-learn's interface, input checks, and the facts that certificates need.

To write a learner, implement ``_learn(instances)``. It returns what it learned and sets no attributes, so an error
halfway leaves the learner as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rhostar.errors import InputError, InstanceError, not_fitted
from rhostar.families import Family, FullTable
from rhostar.instances import InstanceSet, Provenance, Provenances
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility, evaluate

Seed = int | np.random.Generator | None


class Learner(BaseEstimator):  # type: ignore[misc]
    """A way to learn ρ from instances. To write your own, implement ``_learn(instances)``; it returns the attributes.

    The constructor stores its parameters as they are; :meth:`fit` checks them. Many learners have `random_state`
    (None, an integer or a numpy Generator; equal integers give equal ρ), `n_jobs` (as in joblib; any number gives
    the same ρ) and `verbose` (0 is silent, 1 shows progress).

    Attributes
    ----------
    rho_
        (n,) the heuristic values, read-only; ρ at the goal is 0 unless the learner says otherwise.
    potential_
        ρ for every goal, a :class:`rhostar.potentials.Potential`; only learners for any goal have it, and they may
        have no ``rho_``.
    goal_
        The goal that the values are for.
    family_
        The set of ρ that the learner chose from, a :class:`rhostar.families.Family`.
    trained_on_
        Which instances it saw, to learn from or to choose by: a :class:`rhostar.families.Provenance`, or
        :class:`rhostar.families.Provenances` if they come from several sets.
    lower_
        Weights w such that ρ is consistent on every instance whose weights are all at least w, so that A* is
        optimal there (U3: ρ_v − ρ_c ≤ w on every edge); None if no such weights are known.
    fingerprint_
        The hash of the graph that it was fitted on; searches on another graph raise :class:`ModelError`.
    promise_
        "optimal" if A* is meant to be optimal with these values. A search then compares the weights with ``lower_``,
        and lowers the values where weights are below it (see :func:`rhostar.astar`). None otherwise.

    Examples
    --------
    >>> import rhostar as rs
    >>> class FirstInstance(rs.learners.Learner):
    ...     def _learn(self, instances):
    ...         return {"rho_": rs.distances_to(instances.graph, instances.weights[0], instances.goal)}
    >>> graph = rs.Graph.grid(1, 3)
    >>> FirstInstance().fit(rs.InstanceSet(graph, graph.length, sources=0, goal=2)).rho_.tolist()
    [2.0, 1.0, 0.0]
    """

    algorithm: Literal["astar", "gbfs", "any"] = "any"
    """Which algorithm ρ is meant for."""
    consistency: ClassVar[str] = "Nothing is known about the consistency of ρ."
    """On which weights ρ is consistent, in words."""
    least_instances: ClassVar[int] = 1
    """How many instances a fit needs."""
    one_goal: ClassVar[bool] = True
    """Whether all instances must have the same goal."""

    rho_: NDArray[np.float64]
    goal_: int
    family_: Family
    trained_on_: Provenance | Provenances
    fingerprint_: str
    lower_: NDArray[np.float64] | None
    promise_: Literal["optimal"] | None

    def fit(self, instances: InstanceSet, y: object = None) -> Self:
        """Learn ρ.

        Parameters
        ----------
        instances
            The training set, with one goal.
        y
            Not used; scikit-learn passes it.

        Returns
        -------
        Learner
            Itself.

        Raises
        ------
        InstanceError
            If there are too few instances or their goals differ.
        InputError
            If a parameter is not accepted.
        """
        self._check_instances(instances)
        learned = {
            "goal_": instances.goal,
            "fingerprint_": instances.graph.fingerprint,
            "family_": FullTable(),
            "lower_": None,
            "promise_": None,
        } | self._learn(instances)
        if "trained_on_" not in learned:
            learned["trained_on_"] = Provenance.of(instances)
        if isinstance(learned.get("rho_"), np.ndarray):
            learned["rho_"].flags.writeable = False
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # an earlier fit may have learned what this one does not
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    @property
    def fingerprint(self) -> str | None:
        """The hash of the graph that it was fitted on; None before a fit."""
        return getattr(self, "fingerprint_", None)

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        """Return the attributes that a fit sets, "rho_" or "potential_" among them."""
        raise NotImplementedError

    def rho_for(self, goal: int) -> NDArray[np.float64]:
        """Return the heuristic values for a goal.

        Parameters
        ----------
        goal
            A goal of the training set.

        Returns
        -------
        numpy.ndarray
            (n,) one value per vertex.

        Raises
        ------
        InputError
            If it was not fitted for that goal.
        NotFittedError
            If it was not fitted at all.
        """
        table = self._fitted("rho_")
        if isinstance(table, Mapping):
            if goal not in table:
                raise InputError(f"goal {goal!r} is not a goal of the training set, which has {sorted(table)}")
            return table[goal]
        if goal != self.goal_:
            raise InputError(f"goal must be {self.goal_}, which this was fitted for, got {goal!r}")
        return self.rho_

    def score(self, instances: InstanceSet, y: object = None) -> float:
        """Return minus the mean number of expansions, with A* (reopening) unless the learner is meant for GBFS.

        Larger is better, as in scikit-learn. A run ends after 100 n expansions and counts as that many.
        Use :class:`Scorer` for another measure.

        Parameters
        ----------
        instances
            Where to measure.
        y
            Not used; scikit-learn passes it.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            If it was not fitted.
        """
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        algorithm: Algorithm = "gbfs" if self.algorithm == "gbfs" else "astar"
        budget = 100 * instances.graph.n
        runs = solve_many(instances, self, algorithm=algorithm, budget=budget, n_jobs=getattr(self, "n_jobs", None))
        return -float(runs.expanded.mean())

    def _fitted(self, name: str) -> Any:
        if not hasattr(self, name):
            raise not_fitted(self)
        return getattr(self, name)

    def _check_instances(self, instances: InstanceSet) -> None:
        if not isinstance(instances, InstanceSet):
            raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
        name, least = type(self).__name__, self.least_instances
        if len(instances) < least:
            raise InstanceError(f"{name} needs at least {least} instance{'s' * (least > 1)}, got {len(instances)}")
        if self.one_goal and not isinstance(instances.goal, int):
            i = int(np.argmax(instances.goals != instances.goals[0]))
            one, other = (instances.graph._name_of(int(instances.goals[k])) for k in (0, i))
            raise InstanceError(
                f"{name} fits one goal: instance 0 has goal {one}, instance {i} has goal {other}; use PerGoal, or "
                "instances.by_goal()"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rho_") or hasattr(self, "potential_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # an InstanceSet is not a matrix
        tags.input_tags.two_d_array = False
        return tags


class Scorer:
    """Judges fitted learners by a utility: for ``GridSearchCV(..., scoring=...)`` and the like.

    Parameters
    ----------
    utility
        What to measure. The score is its mean, or minus its mean if lower is better.
    algorithm
        "astar" or "gbfs".
    reopen
        Whether A* reopens closed vertices.
    budget
        How many vertices a run may expand.

    Raises
    ------
    InputError
        If `utility` is not a Utility.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(4, 4)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=15)
    >>> scorer = rs.learners.Scorer(rs.utilities.Expansions(limit=100), algorithm="gbfs")
    >>> scorer(rs.learners.MeanDistance().fit(instances), instances)
    -6.0
    """

    def __init__(
        self, utility: Utility, *, algorithm: Algorithm = "astar", reopen: bool = True, budget: int | None = None
    ) -> None:
        if not isinstance(utility, Utility):
            raise InputError(f"utility must be a Utility, got {utility!r}")
        self.utility, self.algorithm, self.reopen, self.budget = utility, algorithm, reopen, budget

    def __call__(self, learner: Learner, instances: InstanceSet, y: object = None) -> float:
        """Return the score of a fitted learner on instances; larger is better."""
        if not learner.__sklearn_is_fitted__():
            raise not_fitted(learner)
        return self.of_values(learner, instances, n_jobs=getattr(learner, "n_jobs", None))

    def of_values(self, rho: Any, instances: InstanceSet, n_jobs: int | None = None) -> float:
        """Return the score of heuristic values.

        Parameters
        ----------
        rho
            One value per vertex, or a mapping from goals to arrays.
        instances
            Where to measure.
        n_jobs
            As in joblib.
        """
        return float(self.each(rho, instances, n_jobs).mean())

    def each(self, rho: Any, instances: InstanceSet, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the score of heuristic values on each instance.

        Parameters
        ----------
        rho, instances, n_jobs
            As for :meth:`of_values`.
        """
        options: dict[str, Any] = {"algorithm": self.algorithm, "reopen": self.reopen, "budget": self.budget}
        values = evaluate(instances, rho, self.utility, n_jobs=n_jobs, **options)[0].values
        return values if self.utility.better == "higher" else -values


def generator(random_state: Seed) -> np.random.Generator:
    """Return the generator behind a `random_state`."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be None, a non-negative integer or a Generator, got {random_state!r}"
        ) from None


def one_of(value: Any, name: str, accepted: tuple[str, ...]) -> None:
    """Raise unless a parameter has one of these values."""
    if value not in accepted:
        raise InputError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}")
