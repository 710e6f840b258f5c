"""``learn`` and ``Auto``: pick a learner for you, the best of several on instances that were not used to fit them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import BoundsWarning, FitError, InputError, LimitError, RhostarWarning
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import provenance
from rhostar.learners._base import Advance, Learner, Seed, generator, one_of, progress
from rhostar.learners._bumps import BumpSearch
from rhostar.learners._choice import ChosenTables
from rhostar.learners._distances import MeanDistance
from rhostar.learners._front import Front
from rhostar.learners._landmarks import Landmarks
from rhostar.learners._potentials import Potentials
from rhostar.learners._ranking import SelfImitatedRanking
from rhostar.learners._validation import Candidate, Split, Validation, best, choose, fewest, thriftiest, units, within
from rhostar.learners._weights import LowerEnvelope, MeanWeights
from rhostar.learners._with_confidence import WithConfidence, exact_values, has_every_goal
from rhostar.learners._wrappers import PerGoal, Portfolio, Scaled
from rhostar.search import Algorithm
from rhostar.utilities import Utility

EffortName = Literal["quick", "normal", "thorough"]
"""How much work a fit may take."""


class Effort(NamedTuple):
    """What a fit may do, in counted work."""

    work: int
    """How many vertices the searches that judge one candidate may expand: see :class:`Validation`."""
    improve: bool
    """Whether values for greedy search are improved by ranking."""
    bumps: int
    """How many bumps are tried on the best values after that."""


EFFORTS = {
    "quick": Effort(10**6, improve=False, bumps=0),
    "normal": Effort(10**7, improve=True, bumps=0),
    "thorough": Effort(10**8, improve=True, bumps=2000),
}

_UP, _DOWN = ([round(1.08**k, 3) for k in steps] for steps in (range(1, 24), range(-1, -8, -1)))
"""What values for A* are multiplied by, besides 1: up to 6, down to 0.6."""
_PATIENCE, _WORTH = 3, 0.005
"""Larger factors are no longer tried after this many that did not save this share of the expansions."""
_ROUNDS = ((0.4, 1.0), (0.15, 0.0), (1.0, 4.0), (0.05, 0.0))
"""(step size, blur) of the rounds of ranking, the most promising first."""
_HELD = 0.25
"""The share of the instances of a fit that decide which of its rounds, and which step of it, is taken."""
_RANKING = 10
"""All rounds of ranking together may take this many times the work of judging one candidate, on each fold."""


class Auto(Learner):
    """Tries learners in turn and keeps the one that does best on instances that it was not fitted on.

    Candidates are compared by cross-validation on the training set. The candidate with the fewest expansions wins. With
    A*, only candidates that keep `mean_excess` compete; of those within 2 % of the fewest expansions, the one with the
    lowest mean excess wins. With greedy search or `utility`, an earlier candidate wins if it is within one standard
    error and within 2 % of the best. The winner is fitted again on the whole training set.

    By default, the candidates for A* include values multiplied by factors (:class:`Scaled`). The first of these are the
    distances under lower bounds of the weights, which learn nothing else. The candidates and their results are the same
    for every `mean_excess`. So the choice for a larger one is never worse than that for a smaller one in both
    expansions and mean excess. Values for greedy search are improved by ranking (:class:`SelfImitatedRanking`) and
    bumps (:class:`BumpSearch`), and combined with tables for groups of snapshots (:class:`ChosenTables`). Work is
    counted in vertices that searches expand, so equal seeds give equal values on every machine, for any `n_jobs`.

    Parameters
    ----------
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    candidates
        Learners to clone and fit, from simple to complex; each is judged as it is. None is a list made for the
        algorithm.
    mean_excess
        A target: how far paths of A* may exceed the optimum on new instances, as a fraction of it, both in total cost
        and on average over paths. It is cross-validated, with a margin: from the instances that a candidate was not
        fitted on, an upper bound on both is computed, which must be within the target. If no candidate meets it, the
        closest one wins. inf is no limit: the fewest expansions win. :class:`WithConfidence` turns the target into a
        guarantee.
    utility
        The measure that decides instead of expansions and `mean_excess`, or None.
    effort
        "quick", "normal" or "thorough": how many instances judge, and how far values are improved. On a graph of 40,000
        vertices they take about 1, 10 and 100 seconds.
    time_limit
        Seconds after which no further candidate is tried; None for no limit. ``notes_`` says if that happened: the
        result then depends on the machine.
    folds
        How many parts the training set is split into.
    split
        What is not divided between folds: all instances of a "snapshot", or of a "day" (see :attr:`InstanceSet.days`),
        whose snapshots are often alike. None takes days if the set knows several, unless its instances are draws from a
        declared pool (:attr:`InstanceSet.pool`), and otherwise snapshots.
    random_state
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows what is being tried.

    Attributes
    ----------
    learner_
        The winner, fitted on the whole training set.
    candidates_
        The candidates that were tried, in order.
    front_
        For A* without `utility`: what each mean excess costs, a :class:`Front` to print or plot.
    notes_
        What the user should know, as sentences: that nothing faster than exact values keeps `mean_excess`, or that the
        time limit was reached.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(80, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.Auto("astar").fit(instances)
    >>> learner.learner_
    Scaled(factor=0.926, learner=MeanDistance())
    >>> print(learner.candidates_[0])
    LowerEnvelope(): 59.4 expansions, 0.00% above the optimum
    """

    consistency = "That of the winner."
    least_instances = 2
    one_goal = False
    algorithm: Algorithm

    learner_: Learner
    candidates_: list[Candidate]
    front_: Front
    notes_: list[str]

    def __init__(
        self,
        algorithm: Algorithm = "astar",
        *,
        candidates: Sequence[Learner] | None = None,
        mean_excess: float = 0.01,
        utility: Utility | None = None,
        effort: EffortName = "normal",
        time_limit: float | None = None,
        folds: int = 4,
        split: Split | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm, self.candidates, self.mean_excess, self.utility = algorithm, candidates, mean_excess, utility
        self.effort, self.time_limit, self.folds, self.split = effort, time_limit, folds, split
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        one_of(self.algorithm, "algorithm", ("astar", "gbfs"))
        one_of(self.effort, "effort", get_args(EffortName))
        mean_excess = arrays.number(self.mean_excess, "mean_excess", "at least 0", lambda x: x >= 0)
        limit = np.inf
        if self.time_limit is not None:
            limit = arrays.number(self.time_limit, "time_limit", "positive, or None", lambda x: x > 0)
        end = time.monotonic() + limit
        candidates = None if self.candidates is None else _checked(self.candidates)
        with progress("learning", None, self.verbose) as show, warnings.catch_warnings():
            # That the bounds of a candidate do not hold on what judges it is no news: it shows in its expansions.
            warnings.simplefilter("ignore", BoundsWarning)
            show("costs-to-go")
            effort = EFFORTS[self.effort]
            validation = Validation(
                instances,
                algorithm=self.algorithm,
                utility=self.utility,
                mean_excess=mean_excess,
                work=effort.work,
                folds=self.folds,
                split=self.split,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
            trials = _Trials(validation, show, lambda: time.monotonic() < end)
            for one in candidates or ():
                trials.enter(one)
            if candidates is None:
                trials.enter_all(effort, {"n_jobs": self.n_jobs, "random_state": self.random_state}, self.utility)
            winner = trials.winner()
            show(f"the last fit of {type(winner.learner).__name__}")
            whole = validation.costs if len(validation.used) == len(instances) else None
            fitted = clone(winner.learner)._fit(instances, whole)
        notes = trials.notes(winner)
        for note in notes:
            warnings.warn(note, RhostarWarning, stacklevel=4)
        # A user's learner may have looked at others, too.
        fits = [one for tried in trials.tried for one in tried.fits] if candidates is not None else []
        seen = provenance(instances, fitted._seen, *(one.trained_on for one in fits if one.trained_on is not None))
        learned = {"learner_": fitted, "candidates_": trials.tried, "notes_": notes}
        if validation.by_cost:
            learned["front_"] = Front.of(trials.judged, winner, f"{validation.unit}s")
        return learned | {"heuristic_": fitted.heuristic_, "trained_on": seen}


class _Trials:
    """The candidates that were tried so far, and how to try more."""

    def __init__(self, validation: Validation, show: Advance, in_time: Callable[[], bool]) -> None:
        self.validation, self.show, self.in_time = validation, show, in_time
        self.tried: list[Candidate] = []
        self.stopped = False
        self.failure: Exception | None = None

    @property
    def judged(self) -> list[Candidate]:
        """Those whose fits did not fail."""
        return [one for one in self.tried if one.losses.size]

    def enter(self, learner: Learner, start: Candidate | None = None) -> None:
        """Fit a learner on the folds and judge it; it may improve the values that another candidate has for each."""
        self.stopped = self.stopped or bool(self.tried and not self.in_time())
        if self.stopped:
            return
        self.show(type(learner).__name__)
        try:
            fits = [
                self.validation.fit(learner if start is None else _improving(learner, start, k), k)
                for k in range(len(self.validation.folds))
            ]
        except (FitError, LimitError) as error:
            self.failure = error
            self.tried.append(Candidate(learner, np.inf, np.nan, np.nan, np.empty(0), ()))
        else:
            self.tried.append(self.validation.judge(learner, fits))

    def enter_all(self, effort: Effort, shared: dict[str, Any], utility: Utility | None) -> None:
        """Try the learners for the algorithm, their multiples, and improved values."""
        validation = self.validation
        for learner in _learners(validation):
            own = learner.get_params()
            self.enter(learner.set_params(**{name: value for name, value in shared.items() if name in own}))
            if validation.algorithm == "astar" and not self.stopped and self.tried[-1].losses.size:
                self._enter_multiples(self.tried[-1])
        if not self.judged:
            self.enter(Landmarks())  # the graph has no small separators
            if self.judged:
                self._enter_multiples(self.tried[-1])
        if effort.improve and not validation.bounded and validation.costs is not None:
            how = {"algorithm": validation.algorithm, "utility": utility, "budget": validation.budget} | shared
            left = _RANKING * effort.work
            for start in self._starts():
                most = left // (2 * 100 * (validation.used.graph.n + 100 * int(start.expanded)))
                if most >= 1:
                    rounds = _ROUNDS[: int(most)]
                    self.enter(SelfImitatedRanking(clone(start.learner), rounds=rounds, validation=_HELD, **how))
            if effort.bumps:
                start = best(self._single_tables())
                self.enter(BumpSearch(clone(start.learner), max_bumps=effort.bumps, **how), start)
        if effort.improve and validation.algorithm == "gbfs" and utility is None and validation.costs is not None:
            start = best(self._single_tables())
            chosen = ChosenTables(clone(start.learner), **shared)
            if chosen.most_work(len(validation.folds[0].train), start.expanded) <= _RANKING * effort.work:
                self.enter(chosen, start)

    def _enter_multiples(self, start: Candidate) -> None:
        """Judge values times factors: up while that saves expansions, down while paths cost more than the optimum."""
        validation = self.validation
        least, waited = start.expanded, 0
        for factor in _UP:
            self.tried.append(validation.judge(Scaled(clone(start.learner), factor), start.fits, factor))
            waited += 1
            if self.tried[-1].expanded < (1 - _WORTH) * least:
                least, waited = self.tried[-1].expanded, 0
            if waited == _PATIENCE:
                break
        last = start
        for factor in _DOWN:
            if not last.mean_excess > 0:
                break
            last = validation.judge(Scaled(clone(start.learner), factor), start.fits, factor)
            self.tried.append(last)

    def _starts(self) -> list[Candidate]:
        """Return the best candidate of each of the two best kinds that are one table."""
        found: dict[type, Candidate] = {}
        for one in sorted(self._single_tables(), key=lambda one: float(one.losses.mean())):
            inner = one.learner.learner if isinstance(one.learner, Scaled) else one.learner
            if not isinstance(inner, SelfImitatedRanking):
                found.setdefault(type(inner), one)
        return list(found.values())[:2]

    def _single_tables(self) -> list[Candidate]:
        """Return the candidates that learned one table."""
        return [one for one in self.judged if one.fits[0].only_table() is not None]

    def winner(self) -> Candidate:
        """Return the candidate that wins."""
        if not self.judged:
            assert self.failure is not None
            raise self.failure
        inside = within(self.judged, self.validation.mean_excess)
        return thriftiest(inside) if self.validation.by_cost else choose(inside, self.validation.groups)

    def notes(self, winner: Candidate) -> list[str]:
        """Return what the user should know about the result."""
        found, limit = [], self.validation.mean_excess
        if self.validation.bounded:
            if winner.bound > limit:
                found.append(f"no candidate keeps a mean excess of {limit:g}; the closest one is used")
            elif winner.bound == 0 < limit:  # as only values that never overestimate have it
                found.append(
                    f"nothing faster than exact values keeps a mean excess of {limit:g} on instances not learned from, "
                    "so every answer is optimal"
                )
                there, needed = np.unique(self.validation.snapshots).size, fewest()
                days = np.unique(self.validation.groups).size
                if there < needed:
                    found[-1] += f"; {arrays.counted(there, 'snapshot')} cannot show it, at least {needed} are needed"
                elif self.validation.unit == "day" and days < needed:
                    found[-1] += f"; with more than {arrays.counted(days, 'day')}, the margin would be smaller"
        if self.stopped:
            found.append(
                "the time limit was reached, so not all candidates were tried: the result depends on the machine"
            )
        return found


def _improving(learner: Learner, start: Candidate, k: int) -> Learner:
    """Return a learner that starts from the values that a candidate learned from fold k."""
    factor = start.learner.factor if isinstance(start.learner, Scaled) else 1.0
    table = start.fits[k].scaled(factor).only_table()
    assert table is not None
    return clone(learner).set_params(initial=table.values)


def _learners(validation: Validation) -> Iterator[Learner]:
    """Yield learners for the algorithm and the goals, from simple to complex."""
    used = validation.used
    if validation.costs is None:
        yield Potentials(goal_delay=True)
        # Where a jam is usual but absent today, a ŵ far above the lowest weight leads far around it: ŵ is cut.
        for clusters, most in ((1, 1.0), (4, 1.0), (16, 1.0), (16, 3.0)):
            yield Potentials("median", n_clusters=clusters, max_excess=most, goal_delay=True)
        yield Potentials("quantile", n_clusters=16, quantile=0.25, max_excess=3.0, goal_delay=True)
    elif validation.algorithm == "gbfs":
        walls = not np.isfinite(used._stored[used._stored_rows[0]]).all()
        yield MeanDistance()
        for penalty in (3.0, 10.0, 30.0) if walls else (0.0,):
            yield MeanWeights(penalty=penalty)
        yield Portfolio(n_clusters=16)
    else:
        yield LowerEnvelope()
        yield MeanDistance()
        yield MeanDistance("median")
        for level in (0.05, 0.25):
            yield MeanDistance("quantile", quantile=level)
        for clusters in (4, 16):
            yield Portfolio(n_clusters=clusters)


def _checked(candidates: Any) -> list[Learner]:
    """Return copies of the candidates of a user."""
    found = list(candidates)
    for k, one in enumerate(found):
        if not isinstance(one, Learner):
            raise InputError(f"candidates[{k}] must be a Learner, got {one!r}")
    if not found:
        raise InputError("candidates must hold at least one learner")
    return [clone(one) for one in found]


# ---------------------------------------------------------------- with one call


def learn(
    instances: InstanceSet,
    *,
    max_excess: float | None = None,
    mean_excess: float | None = None,
    confidence: float | None = None,
    limit: float = 1.0,
    algorithm: Algorithm = "astar",
    utility: Utility | None = None,
    lower: ArrayLike | None = None,
    effort: EffortName = "normal",
    time_limit: float | None = None,
    split: Split | None = None,
    seed: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Learner:
    """Learn heuristic values; you say how far paths may exceed the optimum, and the learner is chosen for you.

    By default every answer of A* is optimal. The same seed gives the same values on every machine, for any `n_jobs`,
    unless a time limit is reached.

    Parameters
    ----------
    instances
        The training set. If it has several goals, each gets its own ρ; if it has fewer than 8 instances per goal, or
        too few of one of them to compare learners, one ρ that serves every goal is learned instead.
    max_excess
        How far any path of A* may exceed the optimum, as a fraction of it; 0, the default, means optimal. ρ is the
        exact distance under lower bounds of the weights, times 1 + `max_excess`. With 0, pass the learner to a search,
        not only its array: the search then compares each snapshot with the bounds, and stays optimal where a weight is
        below them (see :func:`rhostar.astar`). With a larger value, the limit holds where no weight is below the
        bounds.
    mean_excess
        Instead of `max_excess`: how far paths of A* may exceed the optimum on average, as a fraction of it. Single
        paths may exceed it by more. Without `confidence` this is a cross-validated target, not a guarantee: instances
        that were not learned from must meet it with a margin, both in total cost and on average over paths. inf is no
        limit: the fewest expansions win, as always with greedy search.
    confidence
        Turns `mean_excess` into a guarantee that holds with this probability over the draw of the instances. A part of
        them is held out, and :func:`rhostar.choose_weight` uses it to choose a factor on the learned values (see
        :class:`rhostar.learners.WithConfidence`). For 1 % and 0.95, at least 299 independent snapshots (or days, with
        ``split="day"``) must be held out.
    limit
        H, for `confidence`, fixed beforehand: a path that costs more than H above the optimum counts as H.
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs", which ignores the cost of a path.
    utility
        A measure that decides instead of expansions and the cost of paths.
    lower
        For `max_excess`: lower bounds on the weights, a number or one per edge. None takes the lowest weights of the
        training set. Weights of the training set may not be below.
    effort
        "quick", "normal" or "thorough"; see :class:`rhostar.learners.Auto`. `max_excess` needs none.
    time_limit
        Seconds, for all goals together, after which nothing further is tried, and ``notes_`` says so; None for no
        limit.
    split
        Where instances are held out to judge learners, what is not divided: all instances of a "snapshot", or of a
        "day" (see :attr:`InstanceSet.days`). None takes days if the set knows several, unless its instances are draws
        from a declared pool (:attr:`InstanceSet.pool`), and otherwise snapshots. `max_excess` holds out none.
    seed
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Returns
    -------
    Learner
        Fitted: ``heuristic_`` is what was learned, and ``rho_`` its values if there is one table. With `mean_excess`,
        ``learner_`` is the winner, ``candidates_`` what was tried, ``front_`` what each mean excess costs (a
        :class:`rhostar.learners.Front` to print or plot), and ``notes_`` what you should know: for instance that
        nothing faster than exact values keeps the mean excess. With `confidence`, ``choice_.sentence`` is the
        guarantee, and ``learner_`` is the learner, fitted on the instances that were not held out.

    Raises
    ------
    InstanceError
        If there are too few instances to hold some out; with `confidence`, it says how many are needed.
    WeightError
        If a training instance has a weight below `lower`.
    InputError
        If a parameter is not accepted.

    See Also
    --------
    rhostar.learners.Auto : compares learners by cross-validation; it is behind `mean_excess`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.8, seed=0)
    >>> exact = rs.learn(train, lower=1.0)
    >>> optimum = rs.solve_many(test, np.zeros(graph.n)).cost
    >>> bool(np.allclose(rs.solve_many(test, exact).cost, optimum))
    True
    >>> greedy = rs.learn(train, algorithm="gbfs")
    >>> rs.solve_many(test, greedy, algorithm="gbfs").expanded.mean() < 16
    np.True_
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    if split is None and instances.pool is not None:
        split = "snapshot"  # also for the instances of one goal, which are no draws from the whole pool
    units(instances, split)  # also where nothing is held out, days must be known
    free = arrays.algorithm(algorithm) == "gbfs" or utility is not None
    given = {"max_excess": max_excess, "mean_excess": mean_excess, "utility": utility}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} cannot be combined: give only one of them")
    if algorithm == "gbfs" and (max_excess is not None or mean_excess not in (None, np.inf)):
        raise InputError("greedy search ignores what a path costs: leave max_excess and mean_excess out")
    if confidence is not None and (free or mean_excess is None or not mean_excess < np.inf):
        raise InputError("confidence belongs to a finite mean_excess")
    if not free and mean_excess is None:
        most = 0.0 if max_excess is None else max_excess
        most = arrays.number(most, "max_excess", "finite and at least 0", lambda x: 0 <= x < np.inf)
        return exact_values(instances, most, lower).fit(instances)
    if lower is not None:
        raise InputError("lower belongs to max_excess: mean_excess and greedy search need no bounds")
    sure = None
    if confidence is not None and mean_excess is not None:
        seed = int(generator(seed).integers(2**31)) if not isinstance(seed, int | np.integer) else seed
        sure = WithConfidence(
            mean_excess=mean_excess, confidence=confidence, limit=limit, split=split, random_state=seed
        )
    taught = instances if sure is None else sure._parts(instances)[0]
    goals = max(1, np.unique(instances.goals).size)
    several = goals > 1 and has_every_goal(taught, np.unique(instances.goals))
    auto = Auto(
        algorithm,
        mean_excess=np.inf if free or mean_excess is None else mean_excess,
        utility=utility,
        effort=effort,
        time_limit=time_limit / goals if several and time_limit else time_limit,
        split=split,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # A table for each goal needs instances of each; with few, one weight per edge serves all goals.
    learner = PerGoal(auto) if several else auto
    return learner.fit(instances) if sure is None else sure.set_params(learner=learner).fit(instances)
