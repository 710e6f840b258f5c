"""Compares learners by cross-fitting, and lets the simpler of two win unless the other is better beyond doubt.

The training set is dealt into folds, by whole snapshots or days. A learner is fitted on all folds but one and judged
on that one, for each fold in turn: every instance judges it, and none that it was fitted on. A separate validation set
judges what was fitted on the whole training set, and comes first. A slow learner may be judged on the first parts
alone; two learners are always compared on the instances that judged both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet
from rhostar.learners._base import Seed, generator

Split = Literal["snapshot", "day"]
"""What stays on one side when instances are held out."""


class Part(NamedTuple):
    """Instances to fit on, and others to judge on."""

    train: InstanceSet
    judged: InstanceSet
    groups: NDArray[np.int64]
    """The snapshot or day of each judged instance; no other part has the same number."""


def units(instances: InstanceSet, split: Split) -> NDArray[np.int64]:
    """Return the snapshot or the day of each instance: what stays on one side when some are held out.

    Raises
    ------
    InputError
        If the set does not know its days, or `split` is another word.
    """
    if split not in get_args(Split):
        raise InputError(f"split must be 'snapshot' or 'day', got {split!r}")
    if split == "snapshot":
        return instances.rows
    if instances.days is None:
        raise InputError("split='day' needs instances that know their days, as those from time stamps do")
    return instances.days[instances.rows]


def parts(
    instances: InstanceSet,
    folds: int,
    validation: InstanceSet | None,
    random_state: Seed,
    split: Split = "snapshot",
) -> list[Part]:
    """Return the parts to fit and judge on, a given validation set first.

    Raises
    ------
    InstanceError
        If the set has only one snapshot (or day) and there is no validation set, or the validation set is empty.
    InputError
        If `validation` is not a set, or `folds` is not an integer of at least 2.
    """
    folds = arrays.integer(folds, "folds", 2)
    rng = generator(random_state)
    found = []
    if validation is not None:
        if not isinstance(validation, InstanceSet):
            raise InputError(f"validation must be an InstanceSet or None, got {validation!r}")
        if len(validation) == 0:
            raise InstanceError("validation must hold at least one instance")
        found.append(Part(instances, validation, -1 - units(validation, split)))
    unit = units(instances, split)
    different, of = np.unique(unit, return_inverse=True)
    if different.size < 2:
        if found:
            return found
        way_out = "; with one, its costs-to-go are best: learn with promise='optimal'" if split == "snapshot" else ""
        raise InstanceError(f"the training set needs at least 2 {split}s to hold out a part of it, got 1{way_out}")
    number = rng.permutation(different.size) % min(folds, different.size)
    for fold in range(int(number.max()) + 1):
        out = number[of] == fold
        found.append(Part(instances[np.flatnonzero(~out)], instances[np.flatnonzero(out)], unit[out]))
    return found


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
    least: float = 0.0,
) -> float:
    """Return a number that Σ values / Σ scale over new instances exceeds rarely; values are not negative.

    It is the bound of Student's t at this level, by snapshots, with one snapshot added: as bad as the worst of them. A
    few bad snapshots make up most of a mean like that of excess costs. If none of them is among those seen, both the
    mean and its standard error are too small; the added one stands for those still to come.

    Parameters
    ----------
    values, groups, scale
        As for :func:`estimate`.
    level
        The probability with which the bound should hold, such as 0.95.
    least
        The added snapshot is at least this bad: values / scale.
    """
    from scipy.special import stdtrit

    _, of = np.unique(groups, return_inverse=True)
    value, size = np.bincount(of, values).astype(np.float64), np.bincount(of, scale).astype(np.float64)
    if size.sum() == 0:
        return 0.0
    worst = max(float(np.divide(value, size, out=np.zeros(size.size), where=size > 0).max()), least)
    value, size = np.append(value, worst * size.mean()), np.append(size, size.mean())
    found = estimate(value, np.arange(size.size), size)
    return found.mean + float(stdtrit(size.size - 1, level)) * found.error


def least(losses: Sequence[NDArray[np.float64]]) -> int:
    """Return the candidate with the least mean; two are compared on the instances that judged both."""
    best = 0
    for k in range(1, len(losses)):
        count = min(losses[k].size, losses[best].size)
        if losses[k][:count].mean() < losses[best][:count].mean():
            best = k
    return best


def choose(losses: Sequence[NDArray[np.float64]], groups: NDArray[np.int64], worst: float = np.inf) -> int:
    """Return the first of several candidates that is within one standard error of the best; lower is better.

    Parameters
    ----------
    losses
        The losses of each candidate, the simplest candidate first; some may be known for the first instances only.
    groups
        The snapshot of each instance.
    worst
        By how much its mean may be above that of the best, as a share, however large the standard error is.
    """
    best = least(losses)
    for k in range(best):
        count = min(losses[k].size, losses[best].size)
        worse = estimate(losses[k][:count] - losses[best][:count], groups[:count])
        if worse.mean <= min(worse.error, worst * abs(float(losses[best][:count].mean()))):
            return k
    return best
