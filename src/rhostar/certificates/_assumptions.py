"""Checks of what a certificate assumes about instances: weights, out-degrees, overlap, repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.errors import AssumptionError, InputError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet


@dataclass(frozen=True, eq=False)
class Bounds:
    """What the user says of all weights, of these and of those to come."""

    low: NDArray[np.float64]
    """One number, or one for each edge."""
    high: NDArray[np.float64]
    integers: int | None
    """ℓ, where weights are integers in {0..ℓ}."""
    given: bool
    """Whether bounds on the weights were stated, by either argument."""

    @property
    def caps(self) -> NDArray[np.float64]:
        """The largest possible weight of each edge; an integer where weights are."""
        return self.high if self.integers is None else np.minimum(np.floor(self.high), float(self.integers))

    @property
    def bounded(self) -> bool:
        """Whether every weight has a largest value that is known."""
        return bool(np.isfinite(self.caps).all())


def bounds(weight_bounds: Any, integer_weights: int | None, m: int) -> Bounds:
    """Return the bounds behind the two arguments, or raise :class:`InputError`."""
    integers = None if integer_weights is None else arrays.integer(integer_weights, "integer_weights", 1)
    if weight_bounds is None:
        return Bounds(np.zeros(1), np.full(1, np.inf), integers, integers is not None)
    try:
        low, high = weight_bounds
    except (TypeError, ValueError):
        raise InputError("weight_bounds must be a pair (least, largest) of numbers or of arrays by edge") from None
    least, largest = (_by_edge(value, m) for value in (low, high))
    bad = ~((least >= 0) & (least <= largest) & np.isfinite(least))
    if bad.any():
        e = int(np.argmax(np.broadcast_to(bad, m)))
        raise InputError(
            f"weight_bounds must satisfy 0 <= least <= largest, got {least[e % least.size]} and "
            f"{largest[e % largest.size]} for edge {e}"
        )
    return Bounds(least, largest, integers, True)


def _by_edge(value: ArrayLike, m: int) -> NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if array.shape not in ((1,), (m,)) or np.isnan(array).any():
        raise InputError(f"weight_bounds must be numbers, or arrays with one for each of the {m} edges")
    return np.ascontiguousarray(array)


def check_degree(graph: Graph, out_degree: int | None) -> int | None:
    """Return the stated bound on the out-degree, or raise where a vertex has more children."""
    if out_degree is None:
        return None
    stated = arrays.integer(out_degree, "out_degree", 1)
    degrees = np.diff(graph.first_out)
    if degrees.max(initial=0) > stated:
        v = int(np.argmax(degrees))
        raise AssumptionError(f"out_degree is stated as {stated}, but vertex {v} has {degrees[v]} children")
    return stated


def check_distinct(instances: InstanceSet | None, name: str) -> None:
    """Raise where one and the same instance is counted twice: that is no independent draw."""
    if instances is None or np.unique(instances.indices).size == len(instances):
        return
    _, first = np.unique(instances.indices, return_index=True)
    i = int(np.setdiff1d(np.arange(len(instances)), first)[0])
    before = int(np.argmax(instances.indices == instances.indices[i]))
    raise AssumptionError(f"{name}: instance {i} repeats instance {before}; every draw counts once")


def survey(instances: InstanceSet, stated: Bounds, name: str) -> NDArray[np.uint64]:
    """Check every weight that the set uses and return a key for the content of each instance.

    Absent edges satisfy integer weights, and bounds whose upper end is inf.

    Raises
    ------
    AssumptionError
        If a weight breaks what was stated, naming the instance and the edge.
    """
    used, position = np.unique(instances.rows, return_inverse=True)
    first_user = np.full(used.size, len(instances))
    np.minimum.at(first_user, position, np.arange(len(instances)))
    high = stated.high if stated.integers is None else np.minimum(stated.high, float(stated.integers))
    # One instance for each snapshot, so that the chunks cut the work.
    parts = map_chunks(
        _survey,
        instances[first_user],
        low=stated.low,
        high=np.ascontiguousarray(high),
        integers=stated.integers is not None,
        absent=bool(np.isinf(stated.high).all()),
        name=name,
    )
    for part in parts:
        if part.edge >= 0:
            _refuse(instances, stated, name, int(first_user[part.at]), part.edge)
    digests = np.concatenate([part.digests for part in parts])
    content: tuple[NDArray[Any], ...] = (digests[position], instances.sources, instances.goals)
    key = np.zeros(len(instances), dtype=np.uint64)
    for column in content:
        key = (key ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


class _Survey(NamedTuple):
    """What was found in some snapshots: a key for the content of each, and where the first bad weight is, or -1."""

    digests: NDArray[np.uint64]
    at: int
    edge: int


def _survey(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    integers: bool,
    absent: bool,
    name: str,
) -> _Survey:
    low, high = arrays.aligned(low), arrays.aligned(high)
    found = _core.survey_rows(chunk.weights, chunk.rows, low, high, integers, absent, stop)
    if found.ending.status is _core.Status.OUTSIDE_BOUNDS:
        return _Survey(found.digest, first + found.ending.at, found.ending.offender)
    failures.require_done(found.ending, f"{name}: ")
    return _Survey(found.digest, -1, -1)


def _refuse(instances: InstanceSet, stated: Bounds, name: str, i: int, edge: int) -> None:
    graph, weight = instances.graph, instances.weights[instances.rows[i], edge]
    where = f"{name}: instance {i}, edge {edge} ({graph.tail[edge]} -> {graph.head[edge]})"
    if weight == np.inf:
        raise AssumptionError(
            f"{where} is absent, but weight_bounds state a largest weight; state inf for edges that may be absent"
        )
    if stated.integers is not None and (weight != np.floor(weight) or weight > stated.integers):
        raise AssumptionError(f"{where} has weight {weight}; integer_weights states integers in 0..{stated.integers}")
    low, high = (bound[edge % bound.size] for bound in (stated.low, stated.high))
    raise AssumptionError(f"{where} has weight {weight}; weight_bounds state [{low}, {high}]")


def repetitions(key: NDArray[np.uint64], instances: InstanceSet, name: str) -> list[str]:
    """Return notes on what occurs more than once in a set: such instances may not be independent."""
    notes = []
    repeated = len(instances) - np.unique(key).size
    if repeated:
        notes.append(
            f"{name}: {repeated} of {len(instances)} instances repeat an earlier one exactly; that is fine only if "
            "they were drawn independently from a pool that contains it"
        )
    shared = len(instances) - np.unique(instances.rows).size
    if shared:
        notes.append(
            f"{name}: {len(instances)} instances use {len(instances) - shared} snapshots; they are independent only if "
            "the pairs of snapshot and start were drawn independently"
        )
    return notes


def between(
    train_key: NDArray[np.uint64], holdout_key: NDArray[np.uint64], train: InstanceSet, holdout: InstanceSet
) -> list[str]:
    """Return notes on what train and holdout have in common besides instances of one origin, which are refused."""
    notes = []
    equal = int(np.isin(holdout_key, train_key).sum())
    if equal:
        notes.append(f"holdout: {equal} of {len(holdout)} instances are equal in content to one in train")
    if holdout.origin == train.origin:
        shared = int(np.isin(holdout.rows, train.rows).sum())
        if shared:
            notes.append(f"holdout: {shared} of {len(holdout)} instances use a snapshot that train uses too")
    return notes
