"""What :class:`Auto` does with most of its time: improves the best values so far by ranking and by bumps.

Both are tried on the first part of the contest. What helps there is repeated on all instances at the end: the round of
ranking that was best, and as many bumps. If only expansions or one utility count, the search for bumps goes on instead,
from the values it has found, on all instances and as long as there is time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar.errors import StoppedError
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner
from rhostar.learners._bumps import BumpSearch
from rhostar.learners._contest import Candidate, Contest
from rhostar.learners._ranking import SelfImitatedRanking
from rhostar.learners._scaling import try_factors
from rhostar.search import Runs
from rhostar.utilities import Utility

_ROUNDS = (
    *((0.4, 1.0), (0.15, 0.0), (1.0, 4.0), (0.05, 0.0), (0.05, 4.0), (0.4, 4.0), (0.15, 1.0), (1.0, 1.0)),
    *((0.4, 2.0), (0.05, 1.0), (0.15, 2.0), (1.0, 2.0), (0.4, 0.0), (0.15, 4.0), (0.05, 2.0), (1.0, 0.0)),
)
"""(step size, blur) of the rounds of ranking, the most promising first."""
_SMALL_ROUNDS = ((0.05, 1.0), (0.02, 0.0), (0.15, 0.0), (0.05, 4.0), (0.15, 1.0), (0.02, 2.0))
"""The same for A*, where large steps spoil the paths, and for values that were ranked before."""
_BATCH, _EVERY, _SCREEN = 50, 4, 200
_GIVE_UP = 1.5
_MOST = 1000
"""The largest number of instances that values are improved on."""
_BUMPS = 500
"""How many bumps are tried if there is no time limit."""
_LAST = 0.02
"""The share of the time that is kept for the end when the search for bumps goes on."""
_QUICKER = 3
"""Runs soon take this much less time than with the initial values."""


@dataclass(frozen=True)
class Traded(Utility):
    """Expansions, plus a price for each share of the optimum that a path costs more."""

    needs_optimum: ClassVar[bool] = True
    price: float

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sum for each run."""
        assert optimum is not None
        matters = (optimum > 0) & (optimum < np.inf)  # where there is no path, none costs more
        more = np.subtract(runs.cost, optimum, out=np.zeros(optimum.size), where=matters)
        over = np.divide(more, optimum, out=np.zeros(optimum.size), where=matters)
        return np.asarray(runs.expanded + self.price * np.maximum(over, 0.0))


class Improvement:
    """Improves the best candidates of a contest, and enters what it finds."""

    def __init__(self, contest: Contest, shared: dict[str, Any], show: Any) -> None:
        self.contest, self.shared, self.show = contest, shared, show
        self.ranked: set[str] = set()
        self.train = [some(part.train) for part in contest.parts]

    def run(self) -> Candidate | None:
        """Rank and add bumps, as long as there is time; return which improved values lead, or None if each may win."""
        contest = self.contest
        if contest.algorithm == "gbfs" or not contest.bounded:
            utility = None if contest.scorer is None else contest.scorer.utility
            rounds = _ROUNDS if contest.algorithm == "gbfs" else _SMALL_ROUNDS
            first = contest.best
            lead = self._better(None, self.rank(first, utility, rounds, contest.seconds_left * 0.45))
            if lead is not None:  # once more from there, with smaller steps
                lead = self._better(lead, self.rank(lead, utility, _SMALL_ROUNDS, contest.seconds_left * 0.2))
            other = self._other(first)
            if other is not None and contest.seconds_left > contest.clock.share(0.35):
                lead = self._better(lead, self.rank(other, utility, rounds, contest.seconds_left * 0.3))
            if lead is not None and self._mean(first) <= self._mean(lead):
                lead = None
            return self._better(lead, self.bumps(lead or first, utility, contest.seconds_left))
        if contest.tolerance == 0:
            return None
        for dearer in (1.0, 4.0) if np.isfinite(contest.clock.limit) else (1.0,):
            best = contest.best
            price = dearer * float(best.losses.mean()) / contest.tolerance
            utility = Traded(1e18, price)
            self.rank(best, utility, _SMALL_ROUNDS, contest.seconds_left * 0.15)
            self.bumps(contest.best, utility, contest.seconds_left * (0.5 if dearer == 1.0 else 0.9))
            # Values that were improved may be just outside the tolerance, or well inside.
            if isinstance(contest.tried[-1].learner, BumpSearch):
                try_factors(contest, contest.tried[-1])
        return None

    def _better(self, lead: Candidate | None, new: Candidate | None) -> Candidate | None:
        """Return the better of two improved candidates, by all instances of the first part.

        The instances that they were not fitted on are too few: one world in which a search gets lost would decide.
        Bumps also win if they help on more of these instances than they hurt; the search for bumps, which goes on with
        these instances, then deals with the others.
        """
        if lead is None or new is None or not new.fits:
            return lead if new is None or not new.fits else new
        if self._mean(new) < self._mean(lead):
            return new
        change = self._unseen(new) - self._unseen(lead)
        helps = np.count_nonzero(change < 0) > np.count_nonzero(change > 0)
        return new if helps and isinstance(new.learner, BumpSearch) else lead

    def _unseen(self, candidate: Candidate) -> NDArray[np.float64]:
        """Return the losses on instances that it was not fitted on."""
        return candidate.losses[: len(self.contest.parts[0].judged)]

    def _mean(self, candidate: Candidate) -> float:
        """Return the mean loss on all instances of the first part, those that it was fitted on included."""
        seen = self.contest.losses(candidate.fits[0], self.train[0])
        return float(np.append(seen, self._unseen(candidate)).mean())

    def _other(self, first: Candidate) -> Candidate | None:
        """Return the best candidate of another kind, unless it is far behind."""
        kinds = type(first.learner)
        others = [
            one
            for one in self.contest.tried
            if one.losses.size and type(one.learner) is not kinds and not isinstance(one.learner, SelfImitatedRanking)
        ]
        if not others:
            return None
        best = min(others, key=lambda one: float(one.losses.mean()))
        return best if best.losses.mean() < 4 * first.losses.mean() else None

    def rank(self, start: Candidate, utility: Utility | None, rounds: Any, seconds: float) -> Candidate | None:
        """Rank from the values of a candidate, if there is time for a round of 30 iterations."""
        contest = self.contest
        if repr((start.learner, utility)) in self.ranked:
            return None
        self.ranked.add(repr((start.learner, utility)))
        train = self.train[0]
        each = (min(_BATCH, len(train)) + min(_SCREEN, len(train)) / _EVERY) * start.run_seconds / _QUICKER
        iterations = int(np.clip(seconds / max(each, 1e-9) / 2, 30, 100))
        if seconds < 30 * each:
            return None
        self.show(f"ranking from {_short(start.learner)}")
        limit = seconds if np.isfinite(seconds) else None
        options = {
            "algorithm": contest.algorithm,
            "utility": utility,
            "iterations": iterations,
            "batch": _BATCH,
            "every": _EVERY,
            "give_up": _GIVE_UP,
            "screen_size": _SCREEN,
            "budget": contest.budget,
        } | self.shared
        judged = None if contest.bounded else some(contest.used)
        began = time.perf_counter()
        try:
            with contest.clock.watched(seconds * 1.2):
                found = SelfImitatedRanking(
                    start.fits[0].rho_, rounds=rounds, validation=judged, time_limit=limit, **options
                ).fit(train)
        except StoppedError:
            return None
        took = time.perf_counter() - began
        done = max(1.0, found.history_.size * _EVERY / iterations)
        # If no round helped, it is entered as it was tried: its values are those of the start.
        kept = rounds if found.round_ is None else (found.round_,)
        learner = SelfImitatedRanking(clone(start.learner), rounds=kept, **options)

        def fit(k: int) -> Learner:
            if k == 0:
                return found
            own = clone(learner).set_params(initial=start.fits[k].rho_)
            return own.fit(self.train[k])

        parts = len(start.fits) if contest.bounded else 1
        return contest.enter(learner, fit, seconds=start.seconds + took / done, parts=parts)

    def bumps(self, start: Candidate, utility: Utility | None, seconds: float) -> Candidate | None:
        """Search for bumps from the values of a candidate; `seconds` are for all fits that this takes."""
        contest = self.contest
        parts = len(start.fits) if contest.bounded else 1
        seconds = seconds / (parts + 0.2 + contest.more)
        if seconds < 0.02 or seconds < 3 * len(self.train[0]) * start.run_seconds:
            return None
        self.show(f"bumps from {_short(start.learner)}")
        finite = bool(np.isfinite(seconds))
        options = {"algorithm": contest.algorithm, "utility": utility, "budget": contest.budget} | self.shared
        began = time.perf_counter()
        try:
            with contest.clock.watched(seconds * 1.2):
                found = BumpSearch(
                    start.fits[0].rho_,
                    max_bumps=None if finite else _BUMPS,
                    time_limit=seconds if finite else None,
                    **options,
                ).fit(self.train[0])
        except StoppedError:
            return None
        took = time.perf_counter() - began
        learner = BumpSearch(clone(start.learner), max_bumps=found.tried_, **options)

        def fit(k: int) -> Learner:
            if k == 0:
                return found
            limit = 1.5 * seconds if finite else None
            own = clone(learner).set_params(initial=start.fits[k].rho_, time_limit=limit)
            return own.fit(self.train[k])

        return contest.enter(learner, fit, seconds=start.seconds + took, parts=parts)


def continued(contest: Contest, won: Candidate) -> tuple[Learner, InstanceSet]:
    """Search for more bumps, on all instances and as long as there is time; return the learner and what it has seen."""
    found, clock = won.fits[0], contest.clock
    whole = some(contest.used)
    seconds = clock.left - clock.share(_LAST) if np.isfinite(clock.limit) else np.inf
    if seconds < 3 * len(whole) * won.run_seconds:
        return found, contest.parts[0].train
    more = clone(won.learner).set_params(initial=found.rho_)
    if np.isfinite(seconds):
        more.set_params(max_bumps=None, time_limit=seconds)
    try:
        with clock.watched(clock.left):
            more.fit(whole)
    except StoppedError:
        return found, contest.parts[0].train
    # Its parameters say where the values come from, without the values.
    return more.set_params(initial=clone(won.learner), max_bumps=more.tried_, time_limit=None), contest.used


def some(instances: InstanceSet) -> InstanceSet:
    """Return the set, or some of it if it is large."""
    if len(instances) <= _MOST:
        return instances
    return instances[np.sort(np.random.default_rng(0).permutation(len(instances))[:_MOST])]


def _short(learner: Learner) -> str:
    return type(learner).__name__
