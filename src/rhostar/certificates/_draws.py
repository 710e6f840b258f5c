"""Checks of instances: what was drawn independently, what was seen before, and whether weights are as stated.

Instances are the same if they come from one set and have one index there, or if their content is equal, in whatever
file, process or number format. In draws from a declared pool, equal content is a matter of chance, so only identical
draws count as the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.certificates._excess import WeightBounds
from rhostar.certificates._measure import goal_name
from rhostar.certificates._sentence import percent
from rhostar.errors import AssumptionError, InputError, InstanceError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import ContentKeys, Provenance, provenance

Duplicates = Literal["raise", "drop", "allow"]
_SURPRISE = 1e-6
"""Equal instances are no chance if that many have a smaller probability."""
_FEWEST_NEAR, _SHARE_NEAR = 2, 0.02
"""This many snapshots nearly equal to one seen in training, and at least this share, cause a warning."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Instances as a sample: what was drawn independently, in which categories, and what a bound is about.

    Attributes
    ----------
    unit
        What was drawn independently: "instance", "snapshot", "day" or "group".
    groups
        The number of the group of each instance; None where every instance was drawn by itself.
    categories
        The positions of the instances of each category; empty where none were asked for.
    population
        Which instances a bound is about, in words.
    notes
        What a reader should know about the draws.
    """

    unit: str
    groups: NDArray[np.int64] | None
    categories: dict[str, NDArray[np.int64]]
    population: str
    notes: tuple[str, ...] = ()

    def values(self, losses: NDArray[np.float64], positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return one value for each independent draw: the loss of an instance, or the mean loss of a group."""
        chosen = losses if positions is None else losses[positions]
        if self.groups is None:
            return chosen
        group = self.groups if positions is None else self.groups[positions]
        _, first, which, count = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
        means = np.bincount(which, weights=chosen) / count
        # A sum may round up, beyond the range of its terms. In the order of their first instances: bounds at any time
        # read them as they came.
        return np.clip(means, chosen.min(), chosen.max())[np.argsort(first)]


def find_draws(
    instances: InstanceSet,
    *,
    groups: Any,
    by: Any = None,
    dropped: int = 0,
    trained_on: Any = None,
    duplicates: Duplicates = "raise",
) -> Draws:
    """Return a set of instances as a sample.

    Parameters
    ----------
    instances
        The set.
    groups, by
        As for :func:`rhostar.certify`.
    dropped
        How many instances were left out because they were seen in training.
    trained_on, duplicates
        What was seen in training, as for :func:`find_unseen`; "allow" takes snapshots of equal content for chance.

    Raises
    ------
    AssumptionError
        If there is only one group, or if a snapshot or day was seen in training and the bound would be about new ones.
    """
    shared = np.zeros(len(instances), dtype=bool)
    if instances.pool is None:  # draws from a pool share its snapshots
        for record in _records(trained_on):
            shared |= record.snapshots(instances, content=duplicates != "allow")
    which, unit, population, notes = _groups(instances, groups, shared)
    population += " and not seen in training" if dropped else ""
    return Draws(unit, which, _categories(instances, by), population + _feasibility(instances), tuple(notes))


def assume_draws(name: str, limit: float | None) -> tuple[str, ...]:
    """Return what every bound with a probability assumes; `limit` is H, or None where none is needed."""
    independent = f"the instances of {name} and those to come are drawn independently from one distribution"
    return (independent, *([] if limit is None else [f"the limit {limit:g} was fixed beforehand"]))


def check_set(instances: Any, name: str) -> InstanceSet:
    """Return a set of at least two instances, or raise :class:`InputError` or :class:`InstanceError`."""
    if not isinstance(instances, InstanceSet):
        raise InputError(f"{name} must be an InstanceSet, got {type(instances).__name__}")
    if len(instances) < 2:
        raise InstanceError(f"{name} must contain at least 2 instances, got {len(instances)}")
    return instances


def shared_snapshots(instances: InstanceSet) -> str:
    """Return why the instances of a set are not independent draws; empty where nothing speaks against it."""
    snapshots = np.unique(instances.rows).size
    if instances.pool is not None or snapshots in (1, len(instances)):
        return ""
    return f"{len(instances)} instances share {snapshots} snapshots, so they are not independent"


def population(instances: InstanceSet) -> str:
    """Return which instances a bound on single instances is about, in words."""
    return _instances_like(instances) + _feasibility(instances)


def _instances_like(instances: InstanceSet, *, shared: bool = False) -> str:
    """Return the population, in words; `shared` if snapshots were seen in training, with other trips."""
    snapshots = np.unique(instances.rows).size
    if instances.pool is not None:
        return f"on new {instances.pool.words}"
    if snapshots == len(instances) and not shared:
        return "on new instances drawn as these were"
    one = "this one snapshot" if snapshots == 1 else f"one of these {snapshots} snapshots"
    return f"on new trips on {one}, drawn as these were"


def _feasibility(instances: InstanceSet) -> str:
    if instances.feasible == 1:
        return ""
    return f", given that there is a path ({percent(instances.feasible)} of draws had a path)"


def _groups(
    instances: InstanceSet, groups: Any, shared: NDArray[np.bool_]
) -> tuple[NDArray[np.int64] | None, str, str, list[str]]:
    days, notes = instances.days if instances.pool is None else None, []
    if groups is not None and groups is not False:
        which, unit = _labels(groups, instances, "groups"), "group"
    elif groups is None and days is not None and np.unique(days).size < len(instances):
        which, unit = np.unique(days[instances.rows], return_inverse=True)[1].astype(np.int64), "day"
        notes = [
            f"{len(instances)} instances of {arrays.counted(int(which.max()) + 1, 'day')}: each day counts as one "
            "independent draw; groups=holdout.rows makes snapshots the draws, groups=False instances"
        ]
    elif groups is None and (why := shared_snapshots(instances)):
        which, unit = np.unique(instances.rows, return_inverse=True)[1].astype(np.int64), "snapshot"
        notes = [f"{why}: each snapshot counts as one independent draw"]
    else:
        of_one = np.unique(instances.rows).size == 1 or groups is False
        if shared.any() and not of_one:
            _refuse_shared(instances, shared, "instance")
        return None, "instance", _instances_like(instances, shared=bool(shared.any())), []
    if which.max() == 0:
        raise AssumptionError(
            f"there must be at least two {unit}s: they are the independent draws"
            + ("; groups=holdout.rows makes snapshots the draws, groups=False instances" if unit == "day" else "")
        )
    if shared.any():
        _refuse_shared(instances, shared, unit)
    return which, unit, f"on new {unit}s drawn as these {which.max() + 1} were, each counting the same", notes


def _refuse_shared(instances: InstanceSet, shared: NDArray[np.bool_], unit: str) -> None:
    raise AssumptionError(
        f"holdout: {int(shared.sum())} of its {len(instances)} instances have a snapshot or day that was seen in "
        f"training with other trips, so nothing can be said about new {unit}s. instances.split keeps snapshots and "
        "days together. groups=False bounds new trips on these snapshots instead, if every trip was drawn independently"
    )


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
        goals = instances.goals
        return {goal_name(instances.graph, g): np.flatnonzero(goals == g) for g in np.unique(goals).tolist()}
    which, array = _labels(by, instances, "by"), np.asarray(by)
    return {str(array[np.argmax(which == k)]): np.flatnonzero(which == k) for k in range(int(which.max()) + 1)}


# ---------------------------------------------------------------- seen before


def find_unseen(
    holdout: InstanceSet, trained_on: Any, duplicates: Duplicates = "raise"
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the positions of the instances that were not seen in training, and notes.

    Parameters
    ----------
    holdout
        Instances that should have had no part in choosing ρ.
    trained_on
        What a learner or model says it saw: one provenance, several, or a mapping from goals to these; None if that is
        not known.
    duplicates
        "raise" if an instance was seen; "drop" leaves such instances out; "allow" takes equal content for chance. It
        still refuses the very same instances, and more equal ones than chance explains.

    Raises
    ------
    AssumptionError
        If instances were seen and are not to be dropped, or if none is left.
    InputError
        If `duplicates` is something else.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._draws import find_unseen
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> seen = rs.InstanceSet(graph, weights[:15], sources=0, goal=8)
    >>> find_unseen(rs.InstanceSet(graph, weights, sources=0, goal=8), seen, "drop")[0].tolist()
    [15, 16, 17, 18, 19]
    """
    if duplicates not in get_args(Duplicates):
        raise InputError(f"duplicates must be 'raise', 'drop' or 'allow', got {duplicates!r}")
    records = list(_records(trained_on))
    seen = np.zeros(len(holdout), dtype=bool)
    for record in records:
        seen |= record.recorded(holdout) if duplicates == "allow" else record.among(holdout)
    if seen.any() and (duplicates != "drop" or seen.all()):
        same_seed = any(record.shares_randomness(holdout) for record in records)
        raise AssumptionError(
            f"holdout must be untouched: {int(seen.sum())} of its {len(holdout)} instances were seen in training"
            + (" because they were drawn with the same seed; draw them with another" if same_seed else "")
            + (
                "; none is left"
                if duplicates == "drop"
                else " (the same ones, or equal in content); pass others, or duplicates='drop' to leave them out, or "
                "duplicates='allow' if they are independent draws that happen to be equal"
            )
        )
    kept = np.flatnonzero(~seen)
    rest = holdout if kept.size == len(holdout) else holdout[kept]
    if holdout.pool is not None:
        return kept, _shared_content(rest, records)
    if duplicates == "allow":
        _check_chance(rest, records)
    return kept, _nearly_equal(rest, records)


def _check_chance(holdout: InstanceSet, records: list[Provenance]) -> None:
    """Raise if more instances equal one seen in training than if both were independent draws.

    If they are, an instance of the holdout equals one seen in training no more often than one of the training set
    equals another of it.
    """
    from scipy.stats import fisher_exact

    own = ContentKeys.of(holdout)
    for record in records:
        if record.keys is None or len(record.keys) < 2:
            continue
        copies = int(record.keys.among(own).sum())
        counts = np.unique(record.keys.first_match(record.keys), return_counts=True)[1]
        repeated = int(counts[counts > 1].sum())
        table = [[copies, len(own) - copies], [repeated, len(record.keys) - repeated]]
        if copies and fisher_exact(table, alternative="greater").pvalue < _SURPRISE:
            raise AssumptionError(
                f"holdout must be untouched: {copies} of its {len(own)} instances equal one seen in training, but only "
                f"{repeated} of the {len(record.keys)} instances seen in training equal another one. "
                "That is not due to chance"
            )


def _nearly_equal(holdout: InstanceSet, records: list[Provenance]) -> list[str]:
    """Return a warning if snapshots are nearly those seen in training, such as rounded copies of them."""
    own = ContentKeys.of(holdout)
    near = max((record.keys.nearly(own) for record in records if record.keys is not None), default=0)
    if near < max(_FEWEST_NEAR, _SHARE_NEAR * np.unique(holdout.rows).size):
        return []
    return [
        f"Warning: {near} snapshots of holdout are much closer to one seen in training than snapshots are to each "
        "other. If they are rounded or slightly changed copies, they were not untouched and the guarantee is void"
    ]


def _shared_content(holdout: InstanceSet, records: list[Provenance]) -> list[str]:
    """Return a note on draws from a pool that contains instances seen in training: allowed, but worth knowing."""
    assert holdout.pool is not None
    copies = sum(np.logical_or.reduce([np.zeros(len(holdout), bool), *(part.copies(holdout) for part in records)]))
    note = (
        f"holdout: {copies} of {len(holdout)} instances are equal in content to one seen in training; "
        f"the bound is about {holdout.pool.words}, of which these are new ones"
    )
    return [note] if copies else []


def _records(seen: Any) -> Iterator[Provenance]:
    """Yield what was seen: nothing, one, several, or a mapping from goals to these."""
    if isinstance(seen, Provenance):
        yield from seen.parts
    elif isinstance(seen, InstanceSet):
        yield from provenance(seen).parts
    elif seen is not None:
        for part in seen.values() if isinstance(seen, Mapping) else seen:
            yield from _records(part)


def check_repeats(
    instances: InstanceSet, name: str, *, independent: bool = False, say: str = "duplicates='allow'"
) -> None:
    """Raise if an instance is counted twice: the same one, or, outside a declared pool, another of equal content.

    Parameters
    ----------
    instances
        The set.
    name
        What the set is called in the error.
    independent
        Whether somebody says that every instance was drawn by itself: equal content is then a matter of chance.
    say
        How to say that, for the error.

    Raises
    ------
    AssumptionError
        With the number of repetitions and the first pair.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._draws import check_repeats
    >>> graph = rs.Graph.grid(2, 2)
    >>> pool = rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=3)
    >>> check_repeats(pool.draw(100, seed=0), "holdout")
    >>> check_repeats(rs.InstanceSet(graph, graph.length, sources=[0, 1, 0], goal=3), "holdout")
    Traceback (most recent call last):
    ...
    rhostar.errors.AssumptionError: holdout: 1 of 3 instances repeats an earlier one; the first is instance 2, which is
    equal in content to instance 0; every instance counts once. Independent draws may repeat: make them with
    instances.draw(N, seed), so that this is known, or pass duplicates='allow'
    """
    _, first, inverse = np.unique(instances.indices, return_index=True, return_inverse=True)
    _refuse_repeats(first[inverse], f"{name}: ", "the same as", "")
    if not independent and instances.pool is None:
        keys = ContentKeys.of(instances)
        advice = (
            ". Independent draws may repeat: make them with instances.draw(N, seed), so that this is known, or pass "
            f"{say}"
        )
        _refuse_repeats(keys.first_match(keys), f"{name}: ", "equal in content to", advice)


def check_independent(train: InstanceSet, duplicates: str = "raise") -> None:
    """Raise :class:`AssumptionError` if training instances repeat or share snapshots, unless that is allowed."""
    if duplicates not in ("raise", "allow"):
        raise InputError(f"duplicates must be 'raise' or 'allow', got {duplicates!r}")
    check_repeats(train, "train", independent=duplicates == "allow")
    if duplicates == "raise" and (why := shared_snapshots(train)):
        raise AssumptionError(
            f"train: {why}; draw them with InstanceSet.draw or Network.sample, or pass duplicates='allow' if each pair "
            "of snapshot and start was drawn independently"
        )


def _refuse_repeats(first: NDArray[np.int64], name: str, how: str, advice: str) -> None:
    again = first < np.arange(first.size)
    if again.any():
        i, times = int(np.argmax(again)), int(again.sum())
        repeat = "repeats" if times == 1 else "repeat"
        raise AssumptionError(
            f"{name}{times} of {arrays.counted(first.size, 'instance')} {repeat} an earlier one; the first is instance "
            f"{i}, which is {how} instance {first[i]}; every instance counts once{advice}"
        )


def unknown_origin(heuristic: Heuristic) -> list[str]:
    """Return notes on what is not known about the instances that ρ was learned from.

    Examples
    --------
    >>> import rhostar as rs
    >>> from rhostar.certificates._draws import unknown_origin
    >>> unknown_origin(rs.heuristics.Table([2.0, 1.0, 0.0]))
    ['it is not known what rho was learned from']
    """
    if heuristic.trained_on is None:
        return ["it is not known what rho was learned from"]
    unknown = sorted({record.unknown for record in _records(heuristic.trained_on)} - {""})
    return [f"{what} of unknown origin" for what in unknown]


# ---------------------------------------------------------------- weights and out-degrees


def check_degree(graph: Graph, out_degree: int | None) -> int | None:
    """Return the stated bound on the out-degree, or raise where a vertex has more children."""
    if out_degree is None:
        return None
    stated = arrays.integer(out_degree, "out_degree", 1)
    degrees = np.diff(graph.first_out)
    if degrees.max(initial=0) > stated:
        v = int(np.argmax(degrees))
        raise AssumptionError(
            f"out_degree is stated as {stated}, but vertex {graph._name_of(v)} has {degrees[v]} children"
        )
    return stated


def check_weights(instances: InstanceSet, stated: WeightBounds, name: str) -> None:
    """Check every weight that the set uses; absent edges satisfy integer weights, and bounds whose upper end is inf.

    Raises
    ------
    AssumptionError
        If a weight breaks what was stated, naming the instance and the edge.
    """
    _, first_user = np.unique(instances._stored_rows, return_index=True)
    high = stated.upper if stated.integers is None else np.minimum(stated.upper, float(stated.integers))
    # One instance for each snapshot, so that the chunks cut the work.
    parts = map_chunks(
        _chunk,
        instances[first_user],
        low=stated.lower,
        high=np.ascontiguousarray(high),
        integers=stated.integers is not None,
        absent=bool(np.isinf(stated.upper).all()),
        name=name,
    )
    for part in parts:
        if part is not None:
            _refuse(instances, stated, name, int(first_user[part.at]), part.edge)


class _Offence(NamedTuple):
    """Where a weight breaks what was stated."""

    at: int
    edge: int


def _chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    integers: bool,
    absent: bool,
    name: str,
) -> _Offence | None:
    low, high = arrays.aligned(low), arrays.aligned(high)
    ending = _core.survey_rows(chunk._stored, chunk._stored_rows, low, high, integers, absent, stop).ending
    if ending.status is _core.Status.OUTSIDE_BOUNDS:
        return _Offence(first + ending.at, ending.offender)
    failures.require_done(ending, f"{name}: ")
    return None


def _refuse(instances: InstanceSet, stated: WeightBounds, name: str, i: int, edge: int) -> None:
    graph, weight = instances.graph, instances._stored[instances._stored_rows[i], edge]
    where = f"{name}: instance {i}, edge {edge} ({graph._edge_name(edge)})"
    if weight == np.inf:
        raise AssumptionError(f"{where} is absent, but upper is finite; state inf for edges that may be absent")
    if stated.integers is not None and (weight != np.floor(weight) or weight > stated.integers):
        raise AssumptionError(f"{where} has weight {weight}; integer_weights states integers in 0..{stated.integers}")
    low, high = (bound[edge % bound.size] for bound in (stated.lower, stated.upper))
    which = f"upper is {high}" if weight > high else f"lower is {low}"
    raise AssumptionError(f"{where} has weight {weight}, but {which}")
