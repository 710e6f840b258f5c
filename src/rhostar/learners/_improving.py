"""What :class:`Auto` does with most of its time: improves the best values so far by ranking and by bumps.

Both are tried on the first part of the contest. What helps there is repeated on all instances at the end: the round of
ranking that was best, and as many bumps.
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

    def run(self) -> None:
        """Rank and add bumps, as long as there is time."""
        contest = self.contest
        if contest.algorithm == "gbfs" or not contest.bounded:
            utility = None if contest.scorer is None else contest.scorer.utility
            rounds = _ROUNDS if contest.algorithm == "gbfs" else _SMALL_ROUNDS
            first = contest.best
            self.rank(first, utility, rounds, contest.seconds_left * 0.45)
            if contest.best is not first:  # once more from there, with smaller steps
                self.rank(contest.best, utility, _SMALL_ROUNDS, contest.seconds_left * 0.2)
            other = self._other(first)
            if other is not None and contest.seconds_left > contest.clock.share(0.35):
                self.rank(other, utility, rounds, contest.seconds_left * 0.3)
            self.bumps(contest.best, utility, contest.seconds_left)
            return
        if contest.tolerance == 0:
            return
        for dearer in (1.0, 4.0) if np.isfinite(contest.clock.limit) else (1.0,):
            best = contest.best
            price = dearer * float(best.losses.mean()) / contest.tolerance
            utility = Traded(1e18, price)
            self.rank(best, utility, _SMALL_ROUNDS, contest.seconds_left * 0.15)
            self.bumps(contest.best, utility, contest.seconds_left * (0.5 if dearer == 1.0 else 0.9))
            # Values that were improved may be just outside the tolerance, or well inside.
            if isinstance(contest.tried[-1].learner, BumpSearch):
                try_factors(contest, contest.tried[-1])

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

    def rank(self, start: Candidate, utility: Utility | None, rounds: Any, seconds: float) -> None:
        """Rank from the values of a candidate, if there is time for a round of 30 iterations."""
        contest = self.contest
        if repr((start.learner, utility)) in self.ranked:
            return
        self.ranked.add(repr((start.learner, utility)))
        train = self.train[0]
        each = (min(_BATCH, len(train)) + min(_SCREEN, len(train)) / _EVERY) * start.run_seconds / _QUICKER
        iterations = int(np.clip(seconds / max(each, 1e-9) / 2, 30, 100))
        if seconds < 30 * each:
            return
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
            return
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
        contest.enter(learner, fit, seconds=start.seconds + took / done, parts=parts)

    def bumps(self, start: Candidate, utility: Utility | None, seconds: float) -> None:
        """Search for bumps from the values of a candidate; `seconds` are for all fits that this takes."""
        contest = self.contest
        parts = len(start.fits) if contest.bounded else 1
        seconds = seconds / (parts + 0.2 + contest.more)
        if seconds < 0.02 or seconds < 3 * len(self.train[0]) * start.run_seconds:
            return
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
            return
        took = time.perf_counter() - began
        learner = BumpSearch(clone(start.learner), max_bumps=found.tried_, **options)

        def fit(k: int) -> Learner:
            if k == 0:
                return found
            limit = 1.5 * seconds if finite else None
            own = clone(learner).set_params(initial=start.fits[k].rho_, time_limit=limit)
            return own.fit(self.train[k])

        contest.enter(learner, fit, seconds=start.seconds + took, parts=parts)


def some(instances: InstanceSet) -> InstanceSet:
    """Return the set, or some of it if it is large."""
    if len(instances) <= _MOST:
        return instances
    return instances[np.sort(np.random.default_rng(0).permutation(len(instances))[:_MOST])]


def _short(learner: Learner) -> str:
    return type(learner).__name__
