"""Learners that wrap other learners: one ρ per goal, ρ rounded, limited or times a factor, the best of several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar import families
from rhostar.certificates import largest_excess, limited_excess
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet, Provenance, provenance
from rhostar.learners import _choosing as choosing
from rhostar.learners._base import Learner, Scorer, Seed, generator
from rhostar.learners._distances import MeanDistance
from rhostar.learners._weights import edge_statistics
from rhostar.search import Algorithm
from rhostar.search._tables import Tables
from rhostar.utilities import Expansions, Utility


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
    time_limit
        Seconds for all goals together, for a learner that has a `time_limit`: the fit for each goal gets an equal share
        of what is left. None leaves the learner's own limit as it is.

    Attributes
    ----------
    rho_
        A mapping from goals to arrays, which every function that takes ρ accepts.
    learners_
        A mapping from goals to fitted learners.
    goal_
        The goals, in order.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 1, 2], goal=[8, 8, 6])
    >>> learner = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(instances)
    >>> learner.goal_.tolist(), learner.rho_for(6)[:3].tolist()
    ([6, 8], [2.0, 3.0, 4.0])
    >>> rs.solve_many(instances, learner.rho_).cost.tolist()
    [4.0, 3.0, 4.0]
    """

    consistency = "That of the learner inside, for each goal separately."
    one_goal = False

    def __init__(self, learner: Learner | None = None, *, time_limit: float | None = None) -> None:
        self.learner, self.time_limit = learner, time_limit

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        inner, limit = self._inner(), self.time_limit
        if limit is not None:
            limit = arrays.number(limit, "time_limit", "positive, or None", lambda x: x > 0)
            if "time_limit" not in inner.get_params():
                raise InputError(f"time_limit must be None: {inner} has no time limit of its own")
        began = time.perf_counter()
        Provenance.of(instances)  # its parts take over what this computes
        parts = instances.by_goal()
        fitted = {}
        for k, (goal, part) in enumerate(parts.items()):
            own = clone(inner)
            if limit is not None:
                left = limit - (time.perf_counter() - began)
                own.set_params(time_limit=max(left / (len(parts) - k), 1e-6))
            try:
                fitted[goal] = own.fit(part)
            except InstanceError as error:
                raise InstanceError(f"goal {instances.graph._name_of(goal)}: {error}") from error
        if not all(isinstance(getattr(learner, "rho_", None), np.ndarray | Tables) for learner in fitted.values()):
            raise InputError(f"learner must fit values for one goal; {inner} serves all goals without PerGoal")
        tables = {goal: learner.rho_ for goal, learner in fitted.items()}
        seen = provenance(instances, *(learner.trained_on_ for learner in fitted.values()))
        learned = {"rho_": tables, "learners_": fitted, "goal_": np.array(sorted(fitted)), "trained_on_": seen}
        lower = [learner.lower_ for learner in fitted.values() if learner.lower_ is not None]
        if len(lower) == len(fitted):
            # Weights that are at least the largest of the bounds are at least each of them.
            learned["lower_"] = arrays.frozen(np.max(lower, axis=0))
            if all(learner.promise_ == "optimal" for learner in fitted.values()):
                learned["promise_"] = "optimal"
        return learned


class Rounded(Wrapper):
    """Rounds the ρ of a learner to few levels, which makes certificates for every ρ at once far tighter (Q).

    Parameters
    ----------
    learner
        Whose ρ to round; it is cloned. None is :class:`MeanDistance`.
    bits
        2 to the power of this is the number of levels, evenly spaced.
    low, high
        The lowest and the highest level, fixed beforehand. A `high` of None takes the largest value of ρ: the levels
        then depend on the training set, the family records that, and a certificate for every ρ needs other instances.
    levels
        The levels themselves, instead of `bits`, `low` and `high`.

    Attributes
    ----------
    learner_
        The learner inside, fitted.
    family_
        :class:`rhostar.families.Quantised`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(1, 6)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=5)
    >>> rs.learners.Rounded(bits=1, low=0, high=4).fit(instances).rho_.tolist()
    [4.0, 4.0, 4.0, 0.0, 0.0, 0.0]
    """

    consistency = "Rounding may break what the learner inside keeps: nothing is known."

    def __init__(
        self,
        learner: Learner | None = None,
        *,
        bits: int = 8,
        low: float = 0.0,
        high: float | None = None,
        levels: ArrayLike | None = None,
    ) -> None:
        self.learner, self.bits, self.low, self.high, self.levels = learner, bits, low, high, levels

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        levels = None if self.levels is None else np.asarray(self.levels, dtype=np.float64)
        bits = arrays.integer(self.bits, "bits", 1, 32)
        low = arrays.number(self.low, "low", "finite", lambda x: bool(np.isfinite(x)))
        high = self.high
        if high is not None:
            high = arrays.number(high, "high", f"finite and above low ({low})", lambda x: low < x < np.inf)
        inner = clone(self._inner()).fit(instances)
        if not isinstance(getattr(inner, "rho_", None), np.ndarray):
            raise InputError("learner must fit values for one goal; put Rounded inside PerGoal, not around it")
        # The family fixes ρ at the goal; subtracting a constant from all of ρ changes no run.
        rho = inner.rho_ - inner.rho_[inner.goal_]
        seen = inner.family_.built_from or ()
        if levels is None:
            if high is None:
                high = max(float(rho.max()), np.nextafter(low, np.inf))
                seen = provenance(inner.trained_on_, *seen).parts
            levels = np.linspace(low, high, 2**bits)
        family = families.Quantised(levels=levels, goal=inner.goal_, built_from=seen)
        learned = {"rho_": family.nearest(rho), "family_": family, "learner_": inner}
        return learned | {"trained_on_": inner.trained_on_}


class Limited(Wrapper):
    """Lowers the ρ of a learner until no single answer of A* can be far above the optimum (U5).

    ρ becomes min(ρ_v, ρ_t + dist_lo(v, t) + excess). On every instance whose weights are at least `lo`, an answer of A*
    (with reopening, without a budget) then costs at most `excess` more than the optimum. It costs expansions: far from
    the goal, ρ can hardly rise above the distances under the least weights.

    Parameters
    ----------
    learner
        Whose ρ to lower; it is cloned. None is :class:`MeanDistance`.
    excess
        By how much an answer may exceed the optimum, in the unit of the weights.
    lo
        (m,) lower bounds on the weights of every instance, inf for edges that are never present; None takes the least
        weights of the training set: the limit then holds there, and later only where no weight is smaller.

    Attributes
    ----------
    learner_
        The learner inside, fitted.
    unlimited_
        The excess that its ρ would allow, by the same bound.

    Raises
    ------
    InputError
        Raised by ``fit`` if `excess` is negative, or the learner inside fits several goals.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(60, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> optimum = rs.solve_many(instances, np.zeros(64)).cost
    >>> for excess in (0.0, 1.0, np.inf):
    ...     learner = rs.learners.Limited(rs.learners.InconsistencyLP(0.5), excess).fit(instances)
    ...     runs = rs.solve_many(instances, learner)
    ...     print(runs.expanded.mean().round(1), (runs.cost - optimum).max().round(1))
    59.0 0.0
    56.4 0.3
    19.5 3.4
    """

    algorithm = "astar"
    consistency = (
        "Nothing is known, but no answer exceeds the optimum by more than `excess` where weights are at least lo."
    )

    def __init__(self, learner: Learner | None = None, excess: float = 0.0, *, lo: ArrayLike | None = None) -> None:
        self.learner, self.excess, self.lo = learner, excess, lo

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        excess = arrays.number(self.excess, "excess", "at least 0", lambda x: x >= 0)
        inner = clone(self._inner()).fit(instances)
        if not isinstance(getattr(inner, "rho_", None), np.ndarray):
            raise InputError("learner must fit values for one goal; put Limited inside PerGoal, not around it")
        graph, goal = instances.graph, int(instances.goals[0])
        low = edge_statistics(instances, "min", 0.0).value if self.lo is None else self.lo
        unlimited = largest_excess(graph, inner.rho_, goal, low)
        rho = limited_excess(graph, inner.rho_, goal, low, min(excess, unlimited))
        seen = inner.trained_on_
        return {"rho_": rho, "learner_": inner, "unlimited_": unlimited, "trained_on_": seen}


class Scaled(Wrapper):
    """Multiplies the ρ of a learner by a factor: A* is greedier above 1, and more careful below.

    Cautious values, such as those of :class:`LowerEnvelope`, are far below the true distances. Times a factor they need
    far fewer expansions, and paths cost little more. :class:`Auto` finds the factor that keeps a tolerance.

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
        Raised by ``fit`` if `factor` is not positive and finite, or the learner inside fits several goals.

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
        "ρ is consistent on every instance whose weights are all at least lower_: the factor times that of the learner "
        "inside. With a factor of at most 1, A* is optimal wherever it is with the learner inside."
    )

    def __init__(self, learner: Learner | None = None, factor: float = 1.0) -> None:
        self.learner, self.factor = learner, factor

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        factor = arrays.number(self.factor, "factor", "positive and finite", lambda x: 0 < x < np.inf)
        return _times(clone(self._inner()).fit(instances), factor)


def scaled(learner: Learner, factor: float) -> Scaled:
    """Return a fitted learner times a factor, fitted as well."""
    found = Scaled(clone(learner), factor)
    for name, value in ({"goal_": learner.goal_, "family_": families.FullTable()} | _times(learner, factor)).items():
        setattr(found, name, value)
    return found


def _times(learner: Learner, factor: float) -> dict[str, Any]:
    """Return what a fitted learner learned, times a factor."""
    if not isinstance(getattr(learner, "rho_", None), np.ndarray):
        raise InputError("learner must fit values for one goal; put Scaled inside PerGoal, not around it")
    lower = learner.lower_
    return {
        "rho_": arrays.frozen(factor * learner.rho_),
        "lower_": None if lower is None else arrays.frozen(factor * lower),
        "promise_": learner.promise_ if factor <= 1 else None,
        "learner_": learner,
        "trained_on_": learner.trained_on_,
    }


class BestOf(Learner):
    """Fits several learners and keeps the one that does best on instances that it was not fitted on.

    Each learner is fitted on all folds of the training set but one and judged on that one, for each fold in turn. The
    first learner within one standard error of the best wins: put the simpler ones first.

    Parameters
    ----------
    learners
        Learners to clone and fit, from simple to complex; None is :class:`MeanDistance` with its three statistics.
    utility
        The measure that decides; None is the number of expansions.
    algorithm
        What to run: "astar" (with reopening) or "gbfs".
    folds
        How many parts the training set is dealt into.
    split
        What stays in one part: all instances of a "snapshot", or of a "day" (see :attr:`InstanceSet.days`).
    validation
        A separate set that judges too, or None.
    random_state
        Deals out the folds.
    n_jobs
        As in joblib, for running the learners.

    Attributes
    ----------
    learner_
        The winner, fitted on the whole training set.
    scores_
        The mean score of each learner, larger is better, in the order given.
    best_index_
        Which of them won.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(60, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> best = rs.learners.BestOf([rs.learners.MeanDistance(s) for s in ("min", "mean")], random_state=0)
    >>> best.fit(instances).learner_
    MeanDistance()
    """

    consistency = "That of the winner."
    least_instances = 2
    algorithm: Algorithm

    def __init__(
        self,
        learners: Sequence[Learner] | None = None,
        *,
        utility: Utility | None = None,
        algorithm: Algorithm = "astar",
        folds: int = 4,
        split: choosing.Split = "snapshot",
        validation: InstanceSet | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learners, self.utility, self.algorithm = learners, utility, algorithm
        self.folds, self.split = folds, split
        self.validation, self.random_state, self.n_jobs = validation, random_state, n_jobs

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        learners = self.learners
        if learners is None:
            learners = [MeanDistance(statistic) for statistic in ("mean", "median", "min")]
        for k, learner in enumerate(learners):
            if not isinstance(learner, Learner):
                raise InputError(f"learners[{k}] must be a Learner, got {learner!r}")
        if not learners:
            raise InputError("learners must hold at least one learner")
        parts = choosing.parts(instances, self.folds, self.validation, self.random_state, self.split)
        limit = 100 * instances.graph.n
        scorer = Scorer(self.utility or Expansions(limit), algorithm=self.algorithm, budget=limit)
        scores, seen = [], []
        for learner in learners:
            fitted = [clone(learner).fit(part.train) for part in parts]
            judged = zip(fitted, parts, strict=True)
            scores.append(np.concatenate([scorer.each(_values(one), part.judged, self.n_jobs) for one, part in judged]))
            seen += [one.trained_on_ for one in fitted]
        best = choosing.choose([-score for score in scores], np.concatenate([part.groups for part in parts]))
        winner = clone(learners[best]).fit(instances)
        learned = {"learner_": winner, "scores_": np.array([score.mean() for score in scores]), "best_index_": best}
        all_seen = provenance(instances, *(part.judged for part in parts), *seen)
        family = winner.family_
        # The choice between families was made by looking at all of these.
        if not family.every_rho and family.built_from is not None:
            family = replace(family, built_from=provenance(all_seen, *family.built_from).parts)
        learned |= {"family_": family, "lower_": winner.lower_, "trained_on_": all_seen}
        return learned | {name: getattr(winner, name) for name in ("rho_", "potential_") if hasattr(winner, name)}


def _values(fitted: Learner) -> Any:
    """Return the table of a learner, which promises nothing, or what computes it."""
    return fitted.rho_ if hasattr(fitted, "rho_") else fitted.potential_


def hold_out(
    instances: InstanceSet,
    validation: float | InstanceSet,
    random_state: Seed,
    split: choosing.Split = "snapshot",
) -> tuple[InstanceSet, InstanceSet]:
    """Return the training and the validation set: a share is held out by whole snapshots or days, or a set is given."""
    if isinstance(validation, InstanceSet):
        if len(validation) == 0:
            raise InstanceError("validation must hold at least one instance")
        return instances, validation
    share = arrays.number(validation, "validation", "between 0 and 1, or an InstanceSet", lambda x: 0 < x < 1)
    units = choosing.units(instances, split)
    groups = np.unique(units).size
    if groups < 2:
        raise InstanceError(f"the training set needs at least 2 {split}s to hold out a part of it, got 1")
    first = min(max(round((1 - share) * groups), 1), groups - 1)
    return instances.split(first / groups, generator(random_state), groups=units)
