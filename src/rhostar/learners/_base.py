"""The base class of all learners: scikit-learn's interface, input checks, and the facts that certificates need.

To write a learner, implement ``_learn(instances)``. It returns what it learned and sets no attributes, so an error
leaves the learner unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError, not_fitted
from rhostar.heuristics import Heuristic, Table
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility, evaluate

if TYPE_CHECKING:
    from rhostar.learners._distances import CostsToGo

Seed = int | np.random.Generator | None

Advance = Callable[[str], None]
"""Called after each step of a long fit, with a few words about its state."""

_FACTS = ("lower", "consistent_for", "trained_on")
"""What a learner may say about its heuristic."""


class Learner(BaseEstimator):  # type: ignore[misc]
    """A way to learn ρ from instances. To write your own, implement ``_learn(instances)``; it returns the attributes.

    The constructor stores its parameters as they are; :meth:`fit` checks them. Many learners have `random_state`
    (None, an integer or a numpy Generator; equal integers give equal ρ), `n_jobs` (as in joblib; any number gives
    the same ρ) and `verbose` (0 is silent, 1 shows progress).

    Attributes
    ----------
    heuristic_
        What was learned, a :class:`rhostar.heuristics.Heuristic`. It knows its graph and its goals, the instances that
        it was learned from or chosen by (``trained_on``), for which weights it is consistent (``consistent_for``), and
        at or above which weights A* with it is optimal (``lower``).
    rho_
        (n,) the values, read-only, if there is exactly one table; ρ at the goal is 0 unless the learner says otherwise.

    Examples
    --------
    >>> import rhostar as rs
    >>> class FirstInstance(rs.learners.Learner):
    ...     def _learn(self, instances):
    ...         return {"rho_": rs.distances_to(instances.graph, instances[0].weights, instances.goal)}
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

    n_jobs: int | None = None
    """As in joblib, for learners that have it."""

    heuristic_: Heuristic
    rho_: NDArray[np.float64]

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
        return self._fit(instances, None)

    def _fit(self, instances: InstanceSet, costs: CostsToGo | None) -> Self:
        """Learn ρ, with costs-to-go of the snapshots that were computed before."""
        self._check_instances(instances)
        return self._keep(instances, self._learn_with(instances, costs))

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        """Return what ``_learn`` returns; learners that need costs-to-go take them from here, if they are known."""
        return self._learn(instances)

    def _keep(self, instances: InstanceSet, learned: dict[str, Any]) -> Self:
        """Set what was learned from instances."""
        facts = {name: learned.pop(name) for name in _FACTS if name in learned}
        found = learned.get("heuristic_")
        if found is None:
            found = Table(arrays.frozen(learned["rho_"]), instances.goal if isinstance(instances.goal, int) else None)
        if "trained_on" not in facts:
            facts["trained_on"] = found.trained_on or Provenance.of(instances)
        learned["heuristic_"] = found = found.with_facts(fingerprint=instances.graph.fingerprint, **facts)
        if (table := found.only_table()) is not None:
            learned["rho_"] = table.values
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # an earlier fit may have learned what this one does not
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        """Return the attributes that a fit sets, "rho_" or "heuristic_" among them.

        Facts about the heuristic may be among them too: "lower", "consistent_for" and "trained_on".
        """
        raise NotImplementedError

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
        self._fitted()
        algorithm: Algorithm = "gbfs" if self.algorithm == "gbfs" else "astar"
        budget = 100 * instances.graph.n
        runs = solve_many(instances, self, algorithm=algorithm, budget=budget, n_jobs=self.n_jobs)
        return -float(runs.expanded.mean())

    def _fitted(self) -> Heuristic:
        """Return the heuristic, or raise :class:`NotFittedError`."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        return self.heuristic_

    @property
    def _seen(self) -> Provenance:
        """Which instances it was learned from."""
        seen = self._fitted().trained_on
        assert seen is not None
        return seen

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
        return "heuristic_" in vars(self)

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
        learner._fitted()
        return self.of_values(learner, instances, n_jobs=learner.n_jobs)

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

        Returns
        -------
        float
            Larger is better.
        """
        return float(self.each(rho, instances, n_jobs).mean())

    def each(self, rho: Any, instances: InstanceSet, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the score of heuristic values on each instance.

        Parameters
        ----------
        rho, instances, n_jobs
            As for :meth:`of_values`.

        Returns
        -------
        numpy.ndarray
            One score per instance; larger is better.
        """
        options: dict[str, Any] = {"algorithm": self.algorithm, "reopen": self.reopen, "budget": self.budget}
        values = evaluate(rho, instances, self.utility, n_jobs=n_jobs, **options)[0].values
        return values if self.utility.better == "higher" else -values


def table_of(learner: Learner, otherwise: str) -> Table:
    """Return the table of a fitted learner, or raise :class:`InputError` if it has another number of tables."""
    found = learner.heuristic_.only_table()
    if found is None:
        raise InputError(otherwise)
    return found


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


@contextmanager
def progress(title: str, total: int | None, verbose: int) -> Iterator[Advance]:
    """Show how far a fit has come: a bar on standard error if `verbose` is set, otherwise nothing.

    Parameters
    ----------
    title
        What is being done.
    total
        How many steps there will be; None if unknown.
    verbose
        0 is silent.

    Examples
    --------
    >>> from rhostar.learners._base import progress
    >>> with progress("ranking", 3, verbose=0) as advance:
    ...     for k in range(3):
    ...         advance(f"best so far {k}")
    """
    if not verbose:
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[words]}"), console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda words: bar.update(task, advance=1, words=words)
