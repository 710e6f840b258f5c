"""Functions that choose goals, draw sources, split instances by day, and drop duplicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InfeasibleError, InputError
from rhostar.graph import Graph
from rhostar.graph._components import strong_components
from rhostar.instances import _pool as pools
from rhostar.instances._set import InstanceSet

Draw = Callable[[np.random.Generator, int], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]
"""(generator, size) to (snapshots, row of each instance, source of each instance)."""

_ROUNDS = 200


def choose_goal(graph: Graph, weights: ArrayLike | None = None) -> int:
    """Choose a goal that many vertices reach: one in the middle of the largest strongly connected part.

    It is the vertex nearest to the mean of the coordinates there, or without coordinates the one with the most outgoing
    edges.

    Parameters
    ----------
    graph
        The graph.
    weights
        One weight per edge; edges of weight inf are absent. None uses all edges.

    Returns
    -------
    int
        A vertex.

    Raises
    ------
    ArrayError
        If `weights` has another shape or type.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.choose_goal(rs.Graph.grid(5, 5))
    12
    """
    present = None if weights is None else arrays.weight_row(weights, "weights", graph.m) < np.inf
    component = strong_components(graph, present)
    part = np.flatnonzero(component == np.argmax(np.bincount(component)))
    if graph.coordinates is None:
        return int(part[np.argmax(np.diff(graph.first_out)[part])])
    places = graph.coordinates[part]
    return int(part[np.argmin(((places - places.mean(axis=0)) ** 2).sum(axis=1))])


def iid(
    graph: Graph,
    goal: int | NDArray[np.int64],
    draw: Draw,
    count: int,
    seed: int | np.random.Generator | None,
    sampler: pools.Sampler,
) -> InstanceSet:
    """Draw instances until `count` are feasible: independent draws, conditioned on being feasible.

    Of several goals, one is drawn for each instance.
    """
    rng = np.random.default_rng(seed)
    stream = pools.stream_of(sampler.name, rng)
    instances, tried = _feasible_draws(graph, goal, draw, count, rng)
    return declare(instances, sampler, stream, count / tried)


def declare(instances: InstanceSet, sampler: pools.Sampler, stream: str, feasible: float = 1.0) -> InstanceSet:
    """Return the instances as draws by a sampler, which their pool says."""
    name, drawn = pools.describe_sample(instances, sampler, stream, feasible)
    return instances._take(slice(None), drawn, name)


def _feasible_draws(
    graph: Graph, goal: int | NDArray[np.int64], draw: Draw, count: int, rng: np.random.Generator
) -> tuple[InstanceSet, int]:
    """Return the first `count` draws that are feasible, and how many were made."""
    kept: list[InstanceSet] = []
    missing, tried = count, 0
    for _ in range(_ROUNDS):
        weights, rows, sources = draw(rng, missing)
        target: int | NDArray[np.int64] = goal
        if not isinstance(goal, int):
            target = rng.choice(goal, missing)
            apart = np.flatnonzero(sources != target)  # a trip to where it begins is none
            rows, sources, target = rows[apart], sources[apart], target[apart]
            if not apart.size:
                continue
        tried += rows.size
        try:
            kept.append(InstanceSet(graph, weights, sources, target, rows=rows, infeasible="drop"))
        except InfeasibleError:
            continue
        missing -= len(kept[-1])
        if not missing:
            break
    else:
        where = f"the goal {graph._name_of(goal)}" if isinstance(goal, int) else f"one of the {goal.size} goals"
        raise InfeasibleError(
            f"only {count - missing} of {arrays.counted(count, 'instance')} drawn have a path to {where}"
        )
    if len(kept) == 1 and len(kept[0]) == count:
        return kept[0], tried
    shared = all(part._stored is kept[0]._stored or np.shares_memory(part._stored, kept[0]._stored) for part in kept)
    sources, goals = (np.concatenate([getattr(part, name) for part in kept]) for name in ("sources", "goals"))
    if shared:  # all draws use one matrix of snapshots
        rows = np.concatenate([part._stored_rows for part in kept])
        return InstanceSet(graph, kept[0]._stored, sources, goals, rows=rows, infeasible="keep"), tried
    weights = np.concatenate([part._stored[part._stored_rows] for part in kept])
    return InstanceSet(graph, weights, sources, goals, infeasible="keep"), tried


def split_by_day(
    instances: InstanceSet, days: ArrayLike | None = None, *, test_days: int = 1
) -> tuple[InstanceSet, InstanceSet]:
    """Split in time into the last days and all days before them, to test a model on data that may have shifted.

    Bounds for i.i.d. instances need another split: ``instances.split(fraction, seed, groups=instances.rows)``.

    Parameters
    ----------
    instances
        The set.
    days
        The day of each instance; None takes :attr:`InstanceSet.days`, which sets have that come from time stamps.
    test_days
        The number of days in the second part.

    Returns
    -------
    tuple
        (earlier, later), views.

    Raises
    ------
    InputError
        If a part would be empty, or the days are not known.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(2, 2)
    >>> instances = rs.InstanceSet(graph, np.ones((6, graph.m)), 0, goal=3)
    >>> earlier, later = rs.datasets.split_by_day(instances, days=[0, 0, 1, 1, 2, 2])
    >>> earlier.indices.tolist(), later.indices.tolist()
    ([0, 1, 2, 3], [4, 5])
    """
    if days is None and instances.days is None:
        raise InputError("the set does not know the days of its snapshots; pass days, one for each instance")
    day = instances.days[instances.rows] if days is None else arrays.as_array(days, "days")  # type: ignore[index]
    if day.shape != (len(instances),):
        raise ArrayError(f"days must have one entry per instance ({len(instances)}), got {day.shape}")
    test_days = arrays.integer(test_days, "test_days", 1)
    different = np.unique(day)
    if test_days >= different.size:
        raise InputError(
            f"cannot split off {test_days} of {arrays.counted(different.size, 'day')}: one part would be empty"
        )
    later = day >= different[-test_days]
    return instances._chosen(~later), instances._chosen(later)


def deduplicate(instances: InstanceSet) -> InstanceSet:
    """Leave out instances that repeat an earlier one: equal weights, source and goal.

    Parameters
    ----------
    instances
        The set.

    Returns
    -------
    InstanceSet
        A view.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(2, 2)
    >>> instances = rs.InstanceSet(graph, np.ones((4, graph.m)), [0, 1, 0, 1], goal=3)
    >>> len(rs.datasets.deduplicate(instances))
    2
    """
    keys = np.rec.fromarrays([pools.snapshot_digests(instances), instances.sources, instances.goals])
    return instances._chosen(np.sort(np.unique(keys, return_index=True)[1]))


def without(instances: InstanceSet, others: InstanceSet) -> InstanceSet:
    """Leave out instances whose snapshot also occurs in `others`, with any source and goal.

    A test set that contains snapshots of the training set measures memorization, not generalization.

    Parameters
    ----------
    instances
        The set.
    others
        The set whose snapshots must not occur.

    Returns
    -------
    InstanceSet
        A view, possibly empty.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(2, 2)
    >>> train, test = (rs.InstanceSet(graph, np.full((2, graph.m), [[1.0], [w]]), 0, goal=3) for w in (2, 3))
    >>> rs.datasets.without(test, train).indices.tolist()
    [1]
    """
    return instances._chosen(~np.isin(pools.snapshot_digests(instances), pools.snapshot_digests(others)))
