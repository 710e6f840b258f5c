"""Picks a learner for you: tries several, compares them on instances they were not fitted on, and keeps the best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import BoundsWarning, FitError, InputError, LimitError, RhostarWarning
from rhostar.heuristics import Heuristic
from rhostar.instances import InstanceSet, provenance
from rhostar.learners import _selection as selection
from rhostar.learners._base import Learner, Seed, one_of
from rhostar.learners._bumps import BumpSearch
from rhostar.learners._distances import MeanDistance
from rhostar.learners._folds import Split
from rhostar.learners._landmarks import Landmarks
from rhostar.learners._portfolio import Portfolio
from rhostar.learners._potentials import Potentials
from rhostar.learners._progress import Advance, progress
from rhostar.learners._ranking import SelfImitatedRanking
from rhostar.learners._selection import Candidate
from rhostar.learners._validation import Validation
from rhostar.learners._weights import LowerEnvelope, MeanWeights
from rhostar.learners._wrappers import Scaled
from rhostar.search import Algorithm
from rhostar.utilities import Utility

EffortName = Literal["quick", "normal", "thorough"]
"""How much work a fit may take."""


class Effort(NamedTuple):
    """What a fit may do, in counted work."""

    work: int
    """How many vertices the searches that judge one candidate may expand: see :class:`Validation`."""
    folds: int
    """On how many folds values are improved and judged; 0 improves none."""
    bumps: int
    """How many bumps are tried on the best values."""


EFFORTS = {"quick": Effort(10**6, 0, 0), "normal": Effort(10**7, 1, 0), "thorough": Effort(10**8, 4, 2000)}

_UP, _DOWN = ([round(1.08**k, 3) for k in steps] for steps in (range(1, 24), range(-1, -8, -1)))
"""What tables for A* are multiplied by, besides 1: up to 6, down to 0.6."""
_ROUNDS = ((0.4, 1.0), (0.15, 0.0), (1.0, 4.0), (0.05, 0.0))
"""(step size, blur) of the rounds of ranking, the most promising first."""
_RANKING = 10
"""All rounds of ranking together may take this many times the work of judging one candidate."""


class Auto(Learner):
    """Tries learners in turn and keeps the one that does best on instances that it was not fitted on.

    Every candidate is fitted on all folds of the training set but one and judged on that one, for each fold in turn.
    The candidate with the fewest expansions wins; with A*, only among those that keep `mean_excess`. An earlier one
    wins if it is within one standard error and within 2 %. The winner is fitted again on the whole training set.

    By default, tables for A* are also multiplied by factors (:class:`Scaled`). Values for greedy search are improved by
    ranking (:class:`SelfImitatedRanking`) and bumps (:class:`BumpSearch`), which are judged on fewer folds. Work is
    counted in vertices that searches expand, so equal seeds give equal values on every machine, for any `n_jobs`.

    Parameters
    ----------
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    candidates
        Learners to clone and fit, from simple to complex; each is judged as it is. None is a list made for the
        algorithm.
    mean_excess
        By how much paths of A* may cost more than the optimum on new instances, as a share, both in total and on
        average over paths. An upper bound on both, from the instances that a candidate was not fitted on, must be
        within it. If no candidate's is, the closest one wins. inf is no limit: the fewest expansions win.
    utility
        The measure that decides instead of expansions and `mean_excess`, or None.
    effort
        "quick", "normal" or "thorough": how many instances judge, and how far values are improved. On a graph of 40,000
        vertices they take about 1, 10 and 100 seconds.
    time_limit
        After so many seconds no further candidate is tried; None for no limit. ``notes_`` says if that happened: the
        result then depends on the machine.
    folds
        How many parts the training set is split into.
    split
        What stays in one part: all instances of a "snapshot", or of a "day" (see :attr:`InstanceSet.days`), whose
        snapshots are often alike.
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
        What was tried, in order: :class:`Candidate`.
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
        split: Split = "snapshot",
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
            how = {"folds": self.folds, "split": self.split, "random_state": self.random_state, "n_jobs": self.n_jobs}
            validation = Validation(
                instances,
                algorithm=self.algorithm,
                utility=self.utility,
                mean_excess=mean_excess,
                work=effort.work,
                **how,  # type: ignore[arg-type]
            )
            trials = _Trials(validation, self._shared(), show, lambda: time.monotonic() < end)
            if candidates is not None:
                for one in candidates:
                    trials.enter(one)
            else:
                trials.enter_all(effort, self.utility)
            winner = trials.winner()
            show(f"the last fit of {type(winner.learner).__name__}")
            whole = validation.costs if len(validation.used) == len(instances) else None
            fitted = clone(winner.learner)._fit(instances, whole)
        notes = trials.notes(winner)
        for note in notes:
            warnings.warn(note, RhostarWarning, stacklevel=4)
        looked = {id(one): one for tried in trials.tried for one in tried.fits} if candidates is not None else {}
        seen = provenance(instances, fitted._seen, *(one.trained_on for one in looked.values() if one.trained_on))
        learned = {"learner_": fitted, "candidates_": trials.tried, "notes_": notes}
        return learned | {"heuristic_": fitted.heuristic_, "trained_on": seen}

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that all learners share."""
        return {"n_jobs": self.n_jobs, "random_state": self.random_state}


class _Trials:
    """The candidates that were tried so far, and how to try more."""

    def __init__(
        self, validation: Validation, shared: dict[str, Any], show: Advance, in_time: Callable[[], bool]
    ) -> None:
        self.validation, self.shared, self.show, self.in_time = validation, shared, show, in_time
        self.tried: list[Candidate] = []
        self.stopped = False
        self.failure: Exception | None = None

    def enter(self, learner: Learner, fit: Callable[[int], Heuristic] | None = None, folds: int | None = None) -> None:
        """Fit a learner on the folds and judge it; `fit` may fit it in another way, and on fewer `folds`."""
        validation = self.validation
        self.stopped = self.stopped or bool(self.tried and not self.in_time())
        if self.stopped:
            return
        self.show(type(learner).__name__)
        try:
            fits = [validation.fit(learner, k) if fit is None else fit(k) for k in range(len(validation.folds[:folds]))]
        except (FitError, LimitError) as error:
            self.failure = error
            self.tried.append(Candidate(learner, np.inf, np.nan, np.nan, np.empty(0), ()))
        else:
            self.tried.append(validation.judge(learner, fits))

    def enter_all(self, effort: Effort, utility: Utility | None) -> None:
        """Try the learners for the algorithm, their multiples, and improved values."""
        for learner in _learners(self.validation):
            own = learner.get_params()
            self.enter(learner.set_params(**{name: value for name, value in self.shared.items() if name in own}))
            if self.validation.algorithm == "astar" and not self.stopped and self.tried[-1].losses.size:
                self._enter_multiples(self.tried[-1])
        if not any(one.losses.size for one in self.tried):
            self.enter(Landmarks())  # the graph has no small separators
        if effort.folds and not self.validation.bounded and self.validation.costs is not None:
            self._improve(effort, utility)

    def _enter_multiples(self, start: Candidate) -> None:
        """Judge a table times factors: up to where paths cost too much, or down to where they do not."""
        validation = self.validation
        limit, bounded = validation.mean_excess, validation.bounded
        exact, inside = all(one.lower is not None for one in start.fits), not start.bound > limit
        for factors in (_UP if inside else [], _DOWN if not (exact or (bounded and inside)) else []):
            for factor in factors if limit > 0 else []:
                self.tried.append(validation.judge(Scaled(clone(start.learner), factor), start.fits, factor))
                if bounded and inside == (self.tried[-1].bound > limit):
                    break

    def _improve(self, effort: Effort, utility: Utility | None) -> None:
        """Improve the best values of two kinds by ranking, and the best of all by bumps."""
        validation = self.validation
        how = {"algorithm": validation.algorithm, "utility": utility, "budget": validation.budget} | self.shared
        left = _RANKING * effort.work
        for rounds in ((one,) for one in _ROUNDS):
            for start in self._starts():
                left -= 100 * (validation.used.graph.n + 100 * int(start.expanded))
                if left >= 0:
                    learner = SelfImitatedRanking(clone(start.learner), rounds=rounds, **how)
                    self._enter_improved(learner, start, effort.folds)
        if effort.bumps:
            start = selection.best(selection.within(self.tried, np.inf))
            self._enter_improved(BumpSearch(clone(start.learner), max_bumps=effort.bumps, **how), start, effort.folds)

    def _starts(self) -> list[Candidate]:
        """Return the best candidate of each of the two best kinds that are one table."""
        found: dict[type, Candidate] = {}
        for one in sorted((one for one in self.tried if one.losses.size), key=lambda one: float(one.losses.mean())):
            inner = one.learner.learner if isinstance(one.learner, Scaled) else one.learner
            if one.fits[0].only_table() is not None and not isinstance(inner, SelfImitatedRanking):
                found.setdefault(type(inner), one)
        return list(found.values())[:2]

    def _enter_improved(self, learner: Learner, start: Candidate, folds: int) -> None:
        """Judge values that are improved from those that a candidate has for each fold."""
        factor = start.learner.factor if isinstance(start.learner, Scaled) else 1.0

        def fit(k: int) -> Heuristic:
            table = start.fits[k].scaled(factor).only_table()
            return clone(learner).set_params(initial=table.values).fit(self.validation.folds[k].train).heuristic_

        self.enter(learner, fit, min(folds, len(start.fits)))

    def winner(self) -> Candidate:
        """Return the candidate that wins."""
        if not any(one.losses.size for one in self.tried):
            assert self.failure is not None
            raise self.failure
        allowed = selection.within(self.tried, self.validation.mean_excess)
        return selection.choose(allowed, self.validation.groups)

    def notes(self, winner: Candidate) -> list[str]:
        """Return what the user should know about the result."""
        found, limit = [], self.validation.mean_excess
        if self.validation.bounded:
            exact = (
                isinstance(winner.learner, LowerEnvelope | Landmarks | Potentials) and winner.fits[0].lower is not None
            )
            if winner.bound > limit:
                found.append(f"no candidate keeps a mean excess of {limit:g}; the closest one is used")
            elif exact and limit > 0:
                found.append(
                    f"nothing faster than exact values keeps a mean excess of {limit:g} on instances not learned from, "
                    "so every answer is optimal"
                )
        if self.stopped:
            found.append(
                "the time limit was reached, so not all candidates were tried: the result depends on the machine"
            )
        return found


def _learners(validation: Validation) -> Iterator[Learner]:
    """Yield learners for the algorithm and the goals, from simple to complex."""
    used = validation.used
    if validation.costs is None:
        yield Potentials()
        yield Potentials("mean")
        for clusters in (4, 8):
            yield Potentials(n_clusters=clusters)
    elif validation.algorithm == "gbfs":
        walls = not np.isfinite(used._stored[used._stored_rows[0]]).all()
        yield MeanDistance()
        for penalty in (3.0, 10.0, 30.0) if walls else (0.0,):
            yield MeanWeights(penalty=penalty)
    else:
        yield LowerEnvelope()
        yield MeanDistance()
        for level in (0.05, 0.25):
            yield MeanDistance("quantile", quantile=level)
        for clusters in (4, 8):
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
