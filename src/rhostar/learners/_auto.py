"""Picks a learner for you: tries several, compares them on instances they were not fitted on, and keeps the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import BoundsWarning, FitError, LimitError, StoppedError
from rhostar.instances import InstanceSet, provenance
from rhostar.learners._base import Learner, Seed, one_of
from rhostar.learners._bumps import BumpSearch
from rhostar.learners._choosing import Split
from rhostar.learners._contest import Candidate, Clock, Contest
from rhostar.learners._distances import MeanDistance
from rhostar.learners._improving import Improvement, continued, some
from rhostar.learners._inconsistency import InconsistencyLP
from rhostar.learners._potentials import Potentials
from rhostar.learners._progress import countdown
from rhostar.learners._scaling import Bracket, try_factors
from rhostar.learners._weights import LowerEnvelope, MeanWeights, PathUse
from rhostar.learners._wrappers import PerGoal, Scaled
from rhostar.search import Algorithm
from rhostar.utilities import Utility

_PROGRAM_SECONDS = 3e-6
"""About what a linear program takes, for each vertex of each snapshot."""
_SORTING_SECONDS = 1.2e-7
"""About what it takes to sort costs-to-go, for each of them."""
_FEWEST_FOR_BOUNDS = 50
"""Snapshots whose least weights are taken for bounds, however little time there is: fewer of them promise nothing."""
_HIERARCHY_SECONDS = 1.7e-7
"""About what a contraction hierarchy of a grid takes, for each n^1.4."""
_SIMPLE = 0.6
"""No further learner without iterations is started after this share of the time."""

_CHEAP = (LowerEnvelope, MeanDistance, MeanWeights)
"""Learners whose values are multiplied by factors at once; of the others only the best are."""


class Auto(Learner):
    """Tries learners in turn, from quick to slow, and keeps the one that does best on instances not fitted on.

    A learner is fitted on all folds of the training set but one and judged on that one, for each fold in turn. The
    first learner within one standard error of the best, and within 2 %, wins. Learners that take long are judged on one
    fold only. With a tolerance, tables are also multiplied by the factor that just keeps it (:class:`Scaled`). About
    half of the time goes into improving the best values so far, by :class:`SelfImitatedRanking` and
    :class:`BumpSearch`. If bumps help and paths may cost anything, the search for them goes on with the whole training
    set until the time is up.

    If there is no time for all snapshots, some are used: as many as the costs-to-go of which take a third of the time.
    If there is no time to compare anything, ρ is :class:`LowerEnvelope` where paths must be good, and otherwise
    :class:`MeanWeights`, or :class:`MeanDistance` of a single snapshot.

    Parameters
    ----------
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    utility
        The measure that decides. None counts expansions; with A*, only learners within `tolerance` can win.
    tolerance
        How much more than the optimum paths may cost on new instances, as a share, both in total and on average over
        paths; for A* without a `utility`. An upper bound on both, from the instances that a learner was not fitted on,
        must be within it. If no learner's is, the closest one wins. None is no limit: the fewest expansions win.
    time_limit
        The seconds that a fit may take; None for no limit. It may exceed them by little: by a sweep over the graph,
        and on a cluster by what its workers have begun.
    folds
        How many parts the training set is dealt into.
    split
        What stays in one part: all instances of a "snapshot", or of a "day" (see :attr:`InstanceSet.days`), whose
        snapshots are often alike.
    validation
        A separate set that judges too, or None.
    random_state
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows what is being tried, and the seconds left.

    Attributes
    ----------
    learner_
        The winner, fitted on the whole training set, or on as much of it as there was time for: ``trained_on_``.
    candidates_
        What was tried, in order: :class:`Candidate`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(80, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.Auto("astar", time_limit=None).fit(instances)
    >>> learner.learner_
    Scaled(factor=0.947, learner=MeanDistance())
    >>> print(learner.candidates_[0])
    LowerEnvelope(): 59.2 expansions, 0.00% above the optimum
    """

    consistency = "That of the winner."
    least_instances = 2
    one_goal = False
    algorithm: Algorithm

    learner_: Learner
    candidates_: list[Candidate]

    def __init__(
        self,
        algorithm: Algorithm = "astar",
        *,
        utility: Utility | None = None,
        tolerance: float | None = 0.01,
        time_limit: float | None = 10.0,
        folds: int = 4,
        split: Split = "snapshot",
        validation: InstanceSet | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm, self.utility, self.tolerance, self.time_limit = algorithm, utility, tolerance, time_limit
        self.folds, self.split, self.validation, self.random_state = folds, split, validation, random_state
        self.n_jobs, self.verbose = n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        one_of(self.algorithm, "algorithm", ("astar", "gbfs"))
        tolerance = np.inf
        if self.tolerance is not None:
            tolerance = arrays.number(self.tolerance, "tolerance", "at least 0, or None", lambda x: x >= 0)
        limit = np.inf
        if self.time_limit is not None:
            limit = arrays.number(self.time_limit, "time_limit", "positive, or None", lambda x: x > 0)
        clock = Clock(limit)
        with countdown("learning", limit, self.verbose) as show, warnings.catch_warnings():
            # That the bounds of a candidate do not hold on what judges it is no news: it shows in its expansions.
            warnings.simplefilter("ignore", BoundsWarning)
            show("distances")
            contest = Contest(self, instances, tolerance, clock)
            if contest.memory is None:
                return self._compete(contest, show)
            with contest.memory.used():
                return self._compete(contest, show)

    def _compete(self, contest: Contest, show: Callable[[str], None]) -> dict[str, Any]:
        """Return what was learned, within the time."""
        instances, lead = contest.instances, None
        if contest.parts:
            for learner in _learners(contest):
                self._pass_on(learner)
                if contest.tried and contest.clock.left < contest.clock.share(1 - _SIMPLE):
                    break
                show(type(learner).__name__)
                entered = contest.enter(learner)
                if isinstance(learner, _CHEAP):
                    try_factors(contest, entered)
            if contest.is_decided and isinstance(instances.goal, int):
                if not isinstance(contest.best.learner, (*_CHEAP, Scaled)):
                    try_factors(contest, contest.best)
                lead = Improvement(contest, self._shared(), show).run()
        if contest.is_decided:
            show("the last fit")
            winner, seen = _last_fit(contest, lead)
        else:
            winner, seen = _instant(contest, self._pass_on)
        judged = (part.judged for part in contest.parts)
        learned = {"learner_": winner, "candidates_": contest.tried, "trained_on_": provenance(seen, *judged)}
        names = ("rho_", "potential_", "family_", "lower_")
        return learned | {name: getattr(winner, name) for name in names if hasattr(winner, name)}

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that all learners share."""
        return {"n_jobs": self.n_jobs, "random_state": self.random_state}

    def _pass_on(self, learner: Learner) -> None:
        """Give a learner the parameters that all learners share."""
        own = learner.get_params()
        learner.set_params(**{name: value for name, value in self._shared().items() if name in own})


# ---------------------------------------------------------------- what is tried, from quick to slow


def _learners(contest: Contest) -> Iterator[Learner]:
    """Yield learners without iterations, as long as each is likely to end in time."""
    instances = contest.used
    graph, count = instances.graph, np.unique(instances.rows).size
    if not isinstance(instances.goal, int):
        yield from _for_all_goals(contest)
        return
    walls = not np.isfinite(instances.weights[instances.rows[0]]).all()
    quick = count * graph.n * _SORTING_SECONDS < contest.clock.share(0.05)
    if contest.bounded:
        yield LowerEnvelope()
    yield MeanDistance()
    if contest.algorithm == "gbfs":
        for penalty in (3.0, 1.0, 30.0, 10.0, 100.0, 0.0) if walls else (0.0,):
            yield MeanWeights(penalty=penalty)
        if len(instances) * contest.sweep < contest.clock.share(0.2):
            for epsilon, blur in ((0.3, 2.0), (0.03, 2.0), (0.3, 5.0)):
                yield PathUse(epsilon, blur=0.0 if graph.coordinates is None else blur)
        if quick:
            yield MeanDistance("median")
        return
    if not contest.bounded:
        yield LowerEnvelope()
    yield MeanWeights(penalty=30.0 if walls else 0.0)
    yield MeanDistance("min")
    if quick:
        yield MeanDistance("median")
        for level in (0.05, 0.25):
            yield MeanDistance("quantile", quantile=level)
    yield from _programs(contest, count)


def _programs(contest: Contest, count: int) -> Iterator[Learner]:
    """Yield linear programs, with the penalty that brings paths just within the tolerance: larger ones are safer."""
    seconds = _PROGRAM_SECONDS * count * contest.used.graph.n + 2 * count * contest.sweep
    bracket = Bracket(contest.tolerance)
    penalty, fewest = 1.0, np.inf
    for _ in range(8):
        if seconds * (2 + contest.more) > contest.seconds_left:
            return
        limit = None if np.isinf(contest.clock.limit) else contest.clock.share(0.3)
        yield InconsistencyLP(penalty, time_limit=limit)
        tried = contest.tried[-1]
        if not tried.losses.size:
            return
        seconds = tried.seconds
        if not contest.bounded:
            if tried.losses.mean() > 0.98 * fewest:
                return
            penalty, fewest = penalty / 2, float(tried.losses.mean())
            continue
        bracket.add(penalty, tried.over_bound)
        if bracket.outside is None or bracket.inside is None:
            penalty *= 0.5 if bracket.outside is None else 3.0
        else:
            found = bracket.next(0.1)
            if found is None:
                return
            penalty = found
        if not 0.1 <= penalty <= 300.0:
            return


def _for_all_goals(contest: Contest) -> Iterator[Learner]:
    """Yield learners for instances with many goals, and few instances of each."""
    instances = contest.used
    goals = np.unique(instances.goals).size
    seconds = _HIERARCHY_SECONDS * instances.graph.n**1.4
    if 2 * seconds * (1 + contest.more) > contest.clock.left and goals * contest.sweep < contest.clock.share(0.1):
        yield PerGoal(LowerEnvelope())
        return
    yield Potentials()
    for scale in (1.2, 1.4):
        yield Potentials(scale=scale)
    yield Potentials("mean")
    for clusters in (4, 8):
        yield Potentials(clusters=clusters)


# ---------------------------------------------------------------- what is fitted in the end


def _last_fit(contest: Contest, lead: Candidate | None) -> tuple[Learner, InstanceSet]:
    """Return the winner fitted on as many instances as there is time for, and these.

    If improved values win, those that lead among them are taken.
    """
    won, clock = contest.winner, contest.clock
    inner = won.learner.learner if isinstance(won.learner, Scaled) else won.learner
    iterates = hasattr(inner, "initial")
    if iterates and lead is not None:
        won = lead
        if isinstance(won.learner, BumpSearch):
            return continued(contest, won)
    fitted, seen = won.fits[0], contest.parts[0].train
    whole = contest.used
    if iterates:
        whole = some(contest.used)
    elif contest.memory is not None and len(contest.used) < len(contest.instances):
        whole = _more(contest, won, isinstance(inner, LowerEnvelope | MeanWeights))
    left = clock.left
    if left < contest.more * won.seconds:
        return fitted, seen
    try:
        with clock.watched(left):
            last = clone(won.learner).fit(whole)
            if iterates and not _is_as_good(contest, won, last):
                return fitted, seen
    except (FitError, LimitError, StoppedError):
        return fitted, seen
    return last, whole


def _more(contest: Contest, won: Candidate, by_weights: bool) -> InstanceSet:
    """Return as many instances as the winner can be fitted on, if there was no time for a contest on all.

    A learner that is fitted `by_weights` needs no costs-to-go.
    """
    memory, clock = contest.memory, contest.clock
    assert memory is not None
    rows = np.unique(contest.instances.rows)
    if by_weights:
        each = won.seconds / np.unique(contest.parts[0].train.rows).size
        count = rows.size if np.isinf(clock.limit) else int(0.7 * clock.left / max(each, 1e-9))
        known = np.concatenate([memory.known, np.setdiff1d(rows, memory.known)])[: max(count, memory.count)]
    else:
        count = 0 if np.isinf(clock.limit) else int(0.6 * clock.left / contest.sweep)
        memory.extend(min(count, memory.rows.size - memory.count))
        known = memory.known
    return _on(contest.instances, known)


def _on(instances: InstanceSet, rows: NDArray[np.int64]) -> InstanceSet:
    """Return the instances on these snapshots."""
    return instances[np.flatnonzero(np.isin(instances.rows, rows))]


def _is_as_good(contest: Contest, won: Candidate, last: Learner) -> bool:
    """Return whether values fitted on all instances do on some of them what those that did not see them do."""
    found = contest.judge(last, 0)
    before = won.losses[: found.losses.size]
    if contest.bounded and contest.excess([found], certain=True)[0] > contest.tolerance:
        return False
    return bool(found.losses.mean() <= 1.05 * before.mean())


def _instant(contest: Contest, pass_on: Callable[[Learner], None]) -> tuple[Learner, InstanceSet]:
    """Return a learner that takes one sweep, and the instances that it saw, when there is no time to compare any."""
    instances, clock = contest.instances, contest.clock
    every = np.unique(instances.rows)
    known = every if contest.memory is None else contest.memory.known
    began, seen = clock.left, instances
    if not isinstance(instances.goal, int):
        learner: Learner = PerGoal(LowerEnvelope())
    else:
        seen = _on(instances, known)
        if contest.bounded or contest.scorer is not None:
            learner = LowerEnvelope()
        else:
            learner = MeanWeights() if clock.left > 5 * contest.sweep else MeanDistance()
    pass_on(learner)
    fitted = clone(learner).fit(seen)
    seconds = began - clock.left
    # A pass over a snapshot takes less than a third of that.
    count = every.size if np.isinf(clock.limit) else int((0.5 * clock.left - seconds) / max(seconds / 3, 1e-9))
    if contest.bounded:
        count = max(count, _FEWEST_FOR_BOUNDS)
    if len(seen) < len(instances) and count > known.size and not isinstance(learner, MeanDistance):
        count = min(count, every.size)
        seen = _on(instances, every[np.arange(count) * every.size // count])  # spread over the days
        fitted = clone(learner).fit(seen)
    none = np.empty(0)
    contest.tried.append(Candidate(learner, np.nan, np.nan, np.nan, none, seconds, np.nan, (fitted,)))
    return fitted, seen
