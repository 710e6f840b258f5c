"""Which of several candidates wins: the fewest expansions within a bound on the mean excess, the simpler one first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.heuristics import Heuristic
from rhostar.learners._base import Learner

_SIMPLER = 0.02
"""A simpler candidate wins if it is within one standard error of the best and within this share."""


class Candidate(NamedTuple):
    """A learner that :class:`Auto` tried, and what it did on instances that it was not fitted on."""

    learner: Learner
    expanded: float
    """Mean number of expansions; inf if the fit failed."""
    mean_excess: float
    """The mean share by which its paths cost more than the optimum; NaN if that is not known."""
    bound: float
    """An upper bound on that mean, and on the share in total, for new instances; NaN if that does not matter."""
    losses: NDArray[np.float64]
    """What decides, instance by instance; lower is better. Slow learners are not judged on all instances."""
    fits: tuple[Heuristic, ...]
    """What was learned from each fold."""

    def __str__(self) -> str:
        excess = "" if np.isnan(self.mean_excess) else f", {self.mean_excess:.2%} above the optimum"
        return f"{self.learner}: {self.expanded:.1f} expansions{excess}"


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def estimate(
    values: NDArray[np.float64], groups: NDArray[np.int64], scale: NDArray[np.float64] | None = None
) -> Estimate:
    """Return Σ values / Σ scale with its standard error, in which the instances of one snapshot count as dependent.

    Without `scale` this is the mean.
    """
    size = np.ones(values.size) if scale is None else scale
    total = float(size.sum())
    mean = float(values.sum()) / total if total > 0 else 0.0
    _, of = np.unique(groups, return_inverse=True)
    rest = np.bincount(of, values - mean * size)
    count = rest.size
    if count < 2 or total == 0:
        return Estimate(mean, 0.0)
    return Estimate(mean, float(np.sqrt((rest @ rest) * count / (count - 1)) / total))


def upper_bound(
    values: NDArray[np.float64],
    groups: NDArray[np.int64],
    scale: NDArray[np.float64],
    *,
    level: float,
    surprise: float = 0.0,
) -> float:
    """Return a number that Σ values / Σ scale over new instances exceeds rarely; values are not negative.

    It is the bound of Student's t at this level, by snapshots, with one snapshot added: as bad as the worst of them. A
    few bad snapshots make up most of a mean like that of excess costs. If none of them is among those seen, both the
    mean and its standard error are too small; the added one accounts for those still to come.

    Parameters
    ----------
    values, groups, scale
        As for :func:`estimate`.
    level
        The probability with which the bound should hold, such as 0.95.
    surprise
        The added snapshot is at least this bad: values / scale.
    """
    from scipy.special import stdtrit

    _, of = np.unique(groups, return_inverse=True)
    value, size = np.bincount(of, values).astype(np.float64), np.bincount(of, scale).astype(np.float64)
    if size.sum() == 0:
        return 0.0
    worst = max(float(np.divide(value, size, out=np.zeros(size.size), where=size > 0).max()), surprise)
    value, size = np.append(value, worst * size.mean()), np.append(size, size.mean())
    found = estimate(value, np.arange(size.size), size)
    return found.mean + float(stdtrit(size.size - 1, level)) * found.error


def within(candidates: Sequence[Candidate], mean_excess: float) -> list[Candidate]:
    """Return the candidates that were judged and whose bound is within the mean excess; the closest one if none is."""
    judged = [one for one in candidates if one.losses.size]
    inside = [one for one in judged if not one.bound > mean_excess]
    return inside or (judged and [min(judged, key=lambda one: one.bound)])


def best(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the lowest mean loss; two are compared on the instances that judged both."""
    found = candidates[0]
    for one in candidates[1:]:
        count = min(one.losses.size, found.losses.size)
        if one.losses[:count].mean() < found.losses[:count].mean():
            found = one
    return found


def choose(candidates: Sequence[Candidate], groups: NDArray[np.int64]) -> Candidate:
    """Return the first candidate that is within one standard error of the best, and within 2 %.

    Parameters
    ----------
    candidates
        The simplest first; some may have losses for the first instances only.
    groups
        The snapshot of each instance.
    """
    leader = best(candidates)
    for one in candidates:
        if one is leader:
            break
        count = min(one.losses.size, leader.losses.size)
        worse = estimate(one.losses[:count] - leader.losses[:count], groups[:count])
        if worse.mean <= min(worse.error, _SIMPLER * abs(float(leader.losses[:count].mean()))):
            return one
    return leader
