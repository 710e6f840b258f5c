"""What was drawn independently: instances, snapshots or groups of instances; and which instances a promise is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar.certificates._sentence import percent
from rhostar.errors import AssumptionError, InputError
from rhostar.instances import InstanceSet


@dataclass(frozen=True, eq=False)
class Sample:
    """A holdout as a sample: its independent draws, its categories and the instances that it stands for."""

    instances: InstanceSet
    unit: str
    """What was drawn independently: "instance", "snapshot" or "group"."""
    groups: NDArray[np.int64] | None
    """The number of the group of each instance; None where every instance was drawn by itself."""
    categories: dict[str, NDArray[np.int64]]
    """The positions of the instances of each category; empty where none were asked for."""
    population: str
    """Which instances a promise is about, in words."""
    notes: tuple[str, ...] = ()

    def values(self, losses: NDArray[np.float64], positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return one value for each independent draw: the loss of an instance, or the mean loss of a group."""
        chosen = losses if positions is None else losses[positions]
        if self.groups is None:
            return chosen
        group = self.groups if positions is None else self.groups[positions]
        _, first, which, count = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
        # In the order of their first instances: bounds at any time read them as they came.
        return np.asarray(np.bincount(which, weights=chosen) / count)[np.argsort(first)]


def sample(instances: InstanceSet, *, groups: Any, by: Any, unseen: bool = False) -> Sample:
    """Return a holdout as a sample.

    Parameters
    ----------
    instances
        The holdout.
    groups
        None, False, or a label for each instance, as for `certify`.
    by
        None, "goal", or a label for each instance, as for `certify`.
    unseen
        Whether instances that were seen in training have been left out.
    """
    which, unit, words, notes = _grouped(instances, groups)
    words += " and not seen in training" if unseen else ""
    return Sample(instances, unit, which, _categories(instances, by), words + _feasibility(instances), tuple(notes))


def shared_snapshots(instances: InstanceSet, groups: Any) -> str:
    """Return why the instances of a set are not independent draws; empty where nothing speaks against it."""
    snapshots = np.unique(instances.rows).size
    if groups is False or instances.pool is not None or snapshots in (1, len(instances)):
        return ""
    return (
        f"{len(instances)} instances share {snapshots} snapshots, so they are not independent; draw them with "
        "InstanceSet.draw or Network.sample, or say groups=False if each pair of snapshot and start was drawn by itself"
    )


def population(instances: InstanceSet) -> str:
    """Return which instances a bound on single instances is about, in words."""
    return _drawn(instances) + _feasibility(instances)


def _drawn(instances: InstanceSet) -> str:
    snapshots = np.unique(instances.rows).size
    if instances.pool is not None:
        return f"on new {instances.pool.words}"
    if snapshots == len(instances):
        return "on new instances drawn as these were"
    one = "this one snapshot" if snapshots == 1 else f"one of these {snapshots} snapshots"
    return f"on new trips on {one}, drawn as these were"


def _feasibility(instances: InstanceSet) -> str:
    if instances.feasible == 1:
        return ""
    return f", given that there is a path ({percent(instances.feasible)} of those given had one)"


def _grouped(instances: InstanceSet, groups: Any) -> tuple[NDArray[np.int64] | None, str, str, list[str]]:
    if groups is not None and groups is not False:
        which = _labels(groups, instances, "groups")
        words = f"on new groups drawn as these {which.max() + 1} were, each counting the same"
        return _several(which, "groups"), "group", words, []
    shared = shared_snapshots(instances, groups)
    if not shared:
        return None, "instance", _drawn(instances), []
    which = np.unique(instances.rows, return_inverse=True)[1].astype(np.int64)
    count = int(which.max()) + 1
    note = f"{len(instances)} instances share {count} snapshots: each snapshot counts once, as one independent draw"
    words = f"on new snapshots drawn as these {count} were, each counting the same"
    return _several(which, "snapshots"), "snapshot", words, [note]


def _several(which: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    if which.max() == 0:
        raise AssumptionError(f"there must be at least two {name}: they are the independent draws")
    return which


def _labels(labels: ArrayLike, instances: InstanceSet, name: str) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (len(instances),):
        raise InputError(f"{name} must have one label per instance of holdout ({len(instances)}), got {array.shape}")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _categories(instances: InstanceSet, by: Any) -> dict[str, NDArray[np.int64]]:
    if by is None:
        return {}
    if isinstance(by, str):
        if by != "goal":
            raise InputError(f"by must be 'goal' or one label per instance of holdout, got {by!r}")
        return {f"goal {goal}": np.flatnonzero(instances.goals == goal) for goal in np.unique(instances.goals).tolist()}
    which, array = _labels(by, instances, "by"), np.asarray(by)
    return {str(array[np.argmax(which == k)]): np.flatnonzero(which == k) for k in range(int(which.max()) + 1)}
