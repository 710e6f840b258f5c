"""Parts of a training set to fit on and to validate on, split by whole snapshots or days."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet
from rhostar.learners._base import Seed, generator

Split = Literal["snapshot", "day"]
"""What stays on one side when instances are held out."""


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
        return instances._stored_rows
    if instances._stored_days is None:
        raise InputError("split='day' needs instances that know their days, as those from time stamps do")
    return instances._stored_days[instances._stored_rows]


def fold_of_units(
    instances: InstanceSet, folds: int, split: Split, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different snapshots (or days) of a set, and the fold of each.

    Raises
    ------
    InstanceError
        If there is only one.
    InputError
        If `folds` is not an integer of at least 2.
    """
    folds = arrays.integer(folds, "folds", 2)
    different = np.unique(units(instances, split))
    if different.size < 2:
        way_out = "; with one, its costs-to-go are best: learn with max_excess=0" if split == "snapshot" else ""
        raise InstanceError(f"the training set needs at least 2 {split}s to hold out a part of it, got 1{way_out}")
    return different, rng.permutation(different.size) % min(folds, different.size)


def hold_out(instances: InstanceSet, share: float, random_state: Seed) -> tuple[InstanceSet, InstanceSet]:
    """Return the training and the validation set: a share is held out, by whole snapshots."""
    share = arrays.number(share, "validation", "between 0 and 1", lambda x: 0 < x < 1)
    groups = units(instances, "snapshot")
    count = np.unique(groups).size
    if count < 2:
        raise InstanceError("the training set needs at least 2 snapshots to hold out a part of it, got 1")
    first = min(max(round((1 - share) * count), 1), count - 1)
    return instances.split(first / count, generator(random_state), groups=groups)
