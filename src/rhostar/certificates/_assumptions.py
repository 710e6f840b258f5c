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
from rhostar.errors import ArrayError, AssumptionError, InputError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet

# Assumed where nothing says how large g can get.
ROUNDS = "comparisons of g + rho are exact, although float64 sums round"


@dataclass(frozen=True, eq=False)
class WeightBounds:
    """What the user says about the weights of all instances, given and to come.

    Attributes
    ----------
    lower, upper
        One number, or one for each edge.
    integers
        ℓ, where weights are integers in {0..ℓ}.
    given
        Whether anything was said.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integers: int | None
    given: bool

    @property
    def caps(self) -> NDArray[np.float64]:
        """The largest possible weight of each edge; an integer where weights are."""
        return self.upper if self.integers is None else np.minimum(np.floor(self.upper), float(self.integers))

    @property
    def bounded(self) -> bool:
        """Whether every weight has a largest value that is known."""
        return bool(np.isfinite(self.caps).all())

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold on new instances for a bound that is certain; nothing where the lower bounds are 0."""
        return ("no weight falls below its lower bound",) if (self.lower > 0).any() else ()

    @property
    def integers_assumed(self) -> tuple[str, ...]:
        """What is assumed besides where weights are integers."""
        return () if self.integers is None else (f"all weights are integers in 0..{self.integers} (checked here)",)

    def rounding_assumed(self, *, exact: bool) -> tuple[str, ...]:
        """Return what must be assumed where sums round and nothing says how large g can get."""
        return () if exact or self.bounded else (ROUNDS,)

    def assumed(self, *, exact: bool) -> tuple[str, ...]:
        """Return what a bound that is certain assumes about the weights of new instances."""
        above = ("no weight rises above its upper bound",) if self.bounded and not exact else ()
        return (*self.conditions, *above, *self.integers_assumed, *self.rounding_assumed(exact=exact))

    def rounding(self, rho: NDArray[np.float64], limit: float, *, exact: bool) -> float:
        """Return by how much cost − opt may exceed its bound as sums round; without upper bounds, as those with ρ do.

        With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
        L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
        u(4R + H), and the differences of ρ that are compared with caps u(R + G). The proof of U5 compares scores once
        and adds up a path of the lower bounds: that is less.
        """
        if exact:
            return 0.0
        largest_g = (rho.size - 1) * float(self.caps.max()) if self.bounded else 0.0
        return 8 * rho.size * 2.0**-53 * (largest_g + float(np.abs(rho).max()) + limit)


def weight_bounds(lower: Any, upper: Any, integer_weights: int | None, m: int) -> WeightBounds:
    """Return what the three arguments say, or raise :class:`InputError`."""
    integers = None if integer_weights is None else arrays.integer(integer_weights, "integer_weights", 1)
    low = by_edge(0.0 if lower is None else lower, "lower", m)
    high = by_edge(np.inf if upper is None else upper, "upper", m)
    bad = np.broadcast_to(~((low >= 0) & (low <= high) & np.isfinite(low)), m)
    if bad.any():
        e = int(np.argmax(bad))
        raise InputError(
            f"the bounds on weights must satisfy 0 <= lower <= upper, and lower must be finite: edge {e} has lower "
            f"{low[e % low.size]} and upper {high[e % high.size]}"
        )
    return WeightBounds(low, high, integers, not (lower is None and upper is None and integers is None))


def by_edge(value: ArrayLike, name: str, m: int) -> NDArray[np.float64]:
    """Return one number, or one for each edge, or raise :class:`ArrayError`."""
    wanted = f"{name} must be one number, or one for each of the {m} edges"
    try:
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise ArrayError(f"{wanted}, got {value!r}") from None
    if array.shape not in ((1,), (m,)) or np.isnan(array).any():
        raise ArrayError(f"{wanted}, got shape {array.shape}{' with NaN' if np.isnan(array).any() else ''}")
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
