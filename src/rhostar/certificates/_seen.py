"""Checks that instances of a holdout were not seen in training, and that no instance is counted twice.

Instances are the same if they come from one set and have one index there, or if their content is equal, in whatever
file, process or number format. In draws from a declared pool equal content is a matter of chance: there only the same
draws count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import AssumptionError, InputError
from rhostar.families import Family
from rhostar.instances import ContentKeys, InstanceSet, Provenance, provenance

Policy = Literal["refuse", "drop", "draws"]


@dataclass(frozen=True, eq=False)
class Untouched:
    """A holdout without the instances that were seen."""

    instances: InstanceSet
    kept: NDArray[np.int64]
    """The positions of its instances in the holdout that was given."""
    dropped: int = 0
    """How many instances were left out."""
    notes: tuple[str, ...] = ()


def untouched(
    holdout: InstanceSet, train: InstanceSet | None = None, seen: Any = None, policy: Policy = "refuse"
) -> Untouched:
    """Return the holdout without instances that were seen in training.

    Parameters
    ----------
    holdout
        Instances that should have had no part in choosing ρ.
    train
        The training instances, if they are given.
    seen
        What a learner or model says it saw, its ``trained_on_``: one provenance, several, or a mapping from goals
        to these; None if that is not known.
    policy
        "refuse" raises if an instance was seen; "drop" leaves such instances out; "draws" takes equal content for
        chance, and refuses only the very same instances.

    Raises
    ------
    AssumptionError
        If instances were seen and the policy is not "drop", or if none is left.
    InputError
        If there is no such policy.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._seen import untouched
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> learner = rs.learners.MeanDistance().fit(rs.InstanceSet(graph, weights[:15], sources=0, goal=8))
    >>> found = untouched(rs.InstanceSet(graph, weights, sources=0, goal=8), None, learner.trained_on_, "drop")
    >>> len(found.instances), found.dropped, found.kept.tolist()
    (5, 15, [15, 16, 17, 18, 19])
    """
    if policy not in get_args(Policy):
        raise InputError(f"seen must be 'refuse', 'drop' or 'draws', got {policy!r}")
    records = {"were seen in training": list(_records(seen))}
    if train is not None:
        records["are in train too"] = [Provenance.of(train)]
    touched = np.zeros(len(holdout), dtype=bool)
    complaints = []
    for what, parts in records.items():
        same = [part.recorded(holdout) if policy == "draws" else part.among(holdout) for part in parts]
        found = _any(holdout, same)
        touched |= found
        if found.any():
            complaints.append(f"{int(found.sum())} of its {len(holdout)} instances {what}{_same_seed(holdout, parts)}")
    if complaints and policy != "drop":
        raise AssumptionError(
            f"holdout must be untouched: {', '.join(complaints)} (the same ones, or equal in content); "
            "pass others, or seen='drop' to leave them out, or seen='draws' if they are independent draws that happen "
            "to be equal"
        )
    if touched.all():
        raise AssumptionError(f"holdout must be untouched: {', '.join(complaints)}; none is left")
    kept = np.flatnonzero(~touched)
    rest = holdout[kept] if touched.any() else holdout
    return Untouched(rest, kept, int(touched.sum()), tuple(_shared_content(rest, records)))


def check_repeats(instances: InstanceSet, name: str, *, independent: bool = False) -> None:
    """Raise if an instance is counted twice: the same one, or, outside a declared pool, another of equal content.

    Parameters
    ----------
    instances
        The set.
    name
        What the set is called in the error.
    independent
        Whether somebody says that every instance was drawn by itself: equal content is then a matter of chance.

    Raises
    ------
    AssumptionError
        With the number of repetitions and the first pair.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._seen import check_repeats
    >>> graph = rs.Graph.grid(2, 2)
    >>> pool = rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=3)
    >>> check_repeats(pool.draw(100, seed=0), "holdout")
    >>> check_repeats(rs.InstanceSet(graph, graph.length, sources=[0, 1, 0], goal=3), "holdout")
    Traceback (most recent call last):
    ...
    rhostar.errors.AssumptionError: holdout: 1 of 3 instances repeats an earlier one; the first is instance 2, which is
    equal in content to instance 0; every instance counts once. Independent draws may repeat: make them with
    instances.draw(N, seed), so that this is known, or say groups=False
    """
    first = _first_of(instances.indices)
    again = first < np.arange(len(instances))
    if again.any():
        i = int(np.argmax(again))
        raise AssumptionError(
            f"{name}: {_repeating(again)}; the first is instance {i}, which is the same as instance {first[i]}; "
            "every instance counts once"
        )
    if independent or instances.pool is not None:
        return
    keys = ContentKeys.of(instances)
    first = keys.first_match(keys)
    again = first < np.arange(len(instances))
    if again.any():
        i = int(np.argmax(again))
        raise AssumptionError(
            f"{name}: {_repeating(again)}; the first is instance {i}, which is equal in content to instance "
            f"{first[i]}; every instance counts once. Independent draws may repeat: make them with "
            "instances.draw(N, seed), so that this is known, or say groups=False"
        )


def unknown_origin(rho_or_learner: Any) -> list[str]:
    """Return notes on what is not known about the instances that ρ was learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.certificates._seen import unknown_origin
    >>> unknown_origin(np.zeros(3))
    ['rho is an array: nothing is known about what it was learned from']
    """
    if isinstance(rho_or_learner, np.ndarray | list | tuple):
        return ["rho is an array: nothing is known about what it was learned from"]
    if isinstance(rho_or_learner, Mapping):
        return ["rho consists of arrays: nothing is known about what they were learned from"]
    notes = []
    seen = getattr(rho_or_learner, "trained_on_", ())
    if seen is None:
        notes.append("the model does not say what it was learned from")
    for what in sorted({record.unknown for record in _records(seen) if record.unknown}):
        notes.append(f"{what}: nothing is known about what it was learned from")
    family = getattr(rho_or_learner, "family_", None)
    if isinstance(family, Family) and family.built_from is None:
        notes.append(f"the {family.made_of} are arrays: nothing is known about what they were learned from")
    return notes


# ---------------------------------------------------------------- parts of the checks


def _records(seen: Any) -> Iterator[Provenance]:
    """Yield what was seen: nothing, one, several, or a mapping from goals to these."""
    if isinstance(seen, Provenance):
        yield seen
    elif isinstance(seen, InstanceSet):
        yield from provenance(seen).parts
    elif seen is not None:
        for part in seen.values() if isinstance(seen, Mapping) else seen:
            yield from _records(part)


def _any(instances: InstanceSet, found: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return np.logical_or.reduce([np.zeros(len(instances), dtype=bool), *found])


def _same_seed(holdout: InstanceSet, parts: list[Provenance]) -> str:
    same = any(part.shares_randomness(holdout) for part in parts)
    return " because they were drawn with the same seed; draw them with another" if same else ""


def _shared_content(holdout: InstanceSet, records: Mapping[str, list[Provenance]]) -> Iterator[str]:
    """Yield notes on draws from a pool that contains instances seen in training: allowed, but worth knowing."""
    if holdout.pool is None:
        return
    copies = _any(holdout, [part.copies(holdout) for parts in records.values() for part in parts])
    if copies.any():
        yield (
            f"holdout: {int(copies.sum())} of {len(holdout)} instances are equal in content to one seen in training; "
            f"the promise is about {holdout.pool.words}, of which these are new ones"
        )


def _first_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each value the position of the first that is equal to it."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return first[inverse]


def _repeating(again: NDArray[np.bool_]) -> str:
    times = int(again.sum())
    return f"{times} of {arrays.counted(again.size, 'instance')} {'repeats' if times == 1 else 'repeat'} an earlier one"
