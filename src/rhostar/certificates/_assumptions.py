"""Checks of what a certificate assumes about weights and out-degrees."""

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
    def conditions(self) -> tuple[str, ...]:
        """What must hold on new instances for a bound that is certain; nothing where the least weights are 0."""
        return ("no weight is ever below its stated least",) if (self.low > 0).any() else ()

    @property
    def integers_assumed(self) -> tuple[str, ...]:
        """What is assumed besides where weights are integers."""
        return () if self.integers is None else (f"all weights are integers in 0..{self.integers} (checked here)",)

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
        raise AssumptionError(
            f"out_degree is stated as {stated}, but vertex {graph._name_of(v)} has {degrees[v]} children"
        )
    return stated


def check_weights(instances: InstanceSet, stated: Bounds, name: str) -> None:
    """Check every weight that the set uses; absent edges satisfy integer weights, and bounds whose upper end is inf.

    Raises
    ------
    AssumptionError
        If a weight breaks what was stated, naming the instance and the edge.
    """
    _, first_user = np.unique(instances.rows, return_index=True)
    high = stated.high if stated.integers is None else np.minimum(stated.high, float(stated.integers))
    # One instance for each snapshot, so that the chunks cut the work.
    parts = map_chunks(
        _checked,
        instances[first_user],
        low=stated.low,
        high=np.ascontiguousarray(high),
        integers=stated.integers is not None,
        absent=bool(np.isinf(stated.high).all()),
        name=name,
    )
    for part in parts:
        if part is not None:
            _refuse(instances, stated, name, int(first_user[part.at]), part.edge)


class _Offence(NamedTuple):
    """Where a weight breaks what was stated."""

    at: int
    edge: int


def _checked(
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
    ending = _core.survey_rows(chunk.weights, chunk.rows, low, high, integers, absent, stop).ending
    if ending.status is _core.Status.OUTSIDE_BOUNDS:
        return _Offence(first + ending.at, ending.offender)
    failures.require_done(ending, f"{name}: ")
    return None


def _refuse(instances: InstanceSet, stated: Bounds, name: str, i: int, edge: int) -> None:
    graph, weight = instances.graph, instances.weights[instances.rows[i], edge]
    where = f"{name}: instance {i}, edge {edge} ({graph._edge_name(edge)})"
    if weight == np.inf:
        raise AssumptionError(
            f"{where} is absent, but weight_bounds state a largest weight; state inf for edges that may be absent"
        )
    if stated.integers is not None and (weight != np.floor(weight) or weight > stated.integers):
        raise AssumptionError(f"{where} has weight {weight}; integer_weights states integers in 0..{stated.integers}")
    low, high = (bound[edge % bound.size] for bound in (stated.low, stated.high))
    raise AssumptionError(f"{where} has weight {weight}; weight_bounds state [{low}, {high}]")
