"""What :class:`Auto` does with a table that is fitted: multiplies it by the factor that just keeps the tolerance.

A larger factor makes A* greedier: fewer expansions, and paths that cost more. A factor needs no fit, only the runs of
the instances that judge it.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone

from rhostar.learners._base import Learner
from rhostar.learners._contest import Candidate, Contest
from rhostar.learners._wrappers import Scaled, scaled

_AIM = 0.95
"""The share of the tolerance that is aimed at."""
_TRIES = 6
"""Most factors that are tried on one table."""
_UP, _DOWN = 1.5, 0.85
"""The next factor as long as all were within the tolerance, or all outside."""
_LEAST, _MOST = 0.4, 30.0
_NEAR = 0.06
"""Factors are close enough if their logarithms differ by less than this."""
_FEWER = 0.99
"""A larger factor must reduce the expansions to at most this share."""
_SHARE = 0.04
"""No further factor of a table is tried after this share of the time."""


class Bracket:
    """Finds the number that brings the paths of A* just within a tolerance: the larger it is, the safer.

    Parameters
    ----------
    tolerance
        What the bound on the cost above the optimum must be within.
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.outside: tuple[float, float] | None = None
        self.inside: tuple[float, float] | None = None

    def add(self, number: float, bound: float) -> None:
        """Take in the bound that belongs to a number."""
        # By how much the bound misses the tolerance, as a logarithm.
        miss = float(np.log(np.clip(bound, 1e-9, 1e9) / max(_AIM * self.tolerance, 1e-9)))
        if bound > self.tolerance:
            self.outside = (float(np.log(number)), miss)
        else:
            self.inside = (float(np.log(number)), miss)

    def next(self, near: float) -> float | None:
        """Return the number to try between both sides, which must be known; None if they are near each other."""
        assert self.outside is not None
        assert self.inside is not None
        (low, above), (high, below) = self.outside, self.inside
        if high - low < near:
            return None
        return float(np.exp(low + (high - low) * np.clip(above / (above - below), 0.2, 0.8)))


def try_factors(contest: Contest, start: Candidate) -> None:
    """Enter a candidate times the factors that may be best.

    The factor rises until paths cost too much, or falls until they do not, and is then closed in on. It ends where no
    factor of this table can win: one that is outside the tolerance and still needs more expansions than the best.
    """
    tolerance = contest.tolerance
    if not contest.bounded or tolerance == 0 or not start.losses.size or not hasattr(start.fits[0], "rho_"):
        return
    bracket, factor, last = Bracket(tolerance), 1.0, start
    began = time.perf_counter()
    for _ in range(_TRIES):
        inside = last.over_bound <= tolerance
        if inside and last is not start and last.over_bound >= _AIM * tolerance:
            return
        if not inside and (last.over == 0 or contest.is_behind(last)):
            return
        bracket.add(1 / factor, last.over_bound)
        if bracket.outside is not None and bracket.inside is not None:
            found = bracket.next(_NEAR)
            if found is None:
                return
            factor = 1 / found
        else:
            factor *= _UP if inside else _DOWN
        spent = time.perf_counter() - began
        if not _LEAST <= factor <= _MOST or spent > min(contest.clock.share(_SHARE), contest.seconds_left / 4):
            return
        previous, last = last, _enter(contest, start, factor)
        if len(last.fits) < len(start.fits):
            return
        if bracket.outside is None and last.losses.mean() > _FEWER * previous.losses.mean():
            return


def _enter(contest: Contest, start: Candidate, factor: float) -> Candidate:
    """Enter a candidate times a factor, with the fits that are there."""
    learner: Learner | None = start.learner
    if isinstance(start.learner, Scaled):
        learner, factor = start.learner.learner, factor * start.learner.factor
    product = round(factor, 3)

    def fit(k: int) -> Learner:
        one = start.fits[k]
        return scaled(one.learner_ if isinstance(one, Scaled) else one, product)

    new = Scaled(learner if learner is None else clone(learner), product)
    return contest.enter(new, fit, seconds=start.seconds, parts=len(start.fits), compare=False)
