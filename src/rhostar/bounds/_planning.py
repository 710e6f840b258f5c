"""Sample sizes and deviations, by the paper's bounds and by sharper ones: given one, the other follows.

Every bound here holds for every heuristic of the class at once, and is known before any instance is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar._display import LabeledRows, html_table
from rhostar.bounds import _capacity as capacity
from rhostar.bounds._bisection import first_integer
from rhostar.bounds._capacity import Capacity
from rhostar.bounds._dimension import capacities
from rhostar.bounds._inconsistency import edge_local_width
from rhostar.bounds._uniform import dimension_width, finite_width, growth_width

_MOST = 2**99
"""Sample sizes beyond this are not searched for."""


class ClassOptions(TypedDict, total=False):
    """What is known of a class of heuristics and of its instances, as for :func:`rhostar.pseudo_dimension`."""

    integer_weights: int | None
    out_degree: int | None
    parameters: int | None
    rank: int | None
    levels: int | None
    fixed_source: bool


class PlanOptions(ClassOptions, total=False):
    """What :func:`sample_size` and :func:`deviation` both take besides n, H and what is known of the class."""

    algorithm: arrays.Algorithm
    delta: float
    side: arrays.Side
    spreads: ArrayLike | None


@dataclass(frozen=True)
class Plan:
    """One way to bound ``|mean − E u|`` uniformly, and what it takes."""

    label: str
    """The bound and the capacity, such as "H1 with C1p"."""
    origin: str
    """paper or sharper."""
    value: float
    """The number of instances, or the accuracy."""
    about: str
    """What is bounded, in words."""
    of_runs: bool = True
    """Whether it is about all utilities of a run; else about the inconsistency alone."""


@dataclass(frozen=True)
class Plans(LabeledRows[Plan]):
    """All ways that apply, best first: prints as a table; ``int()`` and ``float()`` give the best value.

    It is a sequence of rows, and ``plans["H1 with C1p"]`` is the value of one of them.

    Examples
    --------
    >>> import rhostar as rs
    >>> plans = rs.sample_size(n=50, algorithm="gbfs", epsilon=0.1, limit=1.0)
    >>> plans
    Plans(instances for |mean - E u| <= 0.1, H = 1, delta = 0.05: best 7,413 by H1 with Gp, 3 rows)
    >>> int(plans), plans["H3 with G"], len(plans)
    (7413, 379523, 3)
    """

    what: str
    """What was asked for, in words."""
    rows: tuple[Plan, ...]
    """The ways, best first."""

    @property
    def best(self) -> float:
        """The lowest value among bounds on utilities of a run."""
        return min(row.value for row in self.rows if row.of_runs)

    @property
    def paper(self) -> float:
        """The lowest value of the paper's own bounds."""
        return min(row.value for row in self.rows if row.origin == "paper")

    def __getitem__(self, label: str) -> float:
        """Return the value of a row; raises InputError if there is no such row."""
        return self.row(label).value

    def __float__(self) -> float:
        return float(self.best)

    def __int__(self) -> int:
        return int(self.best)

    def __repr__(self) -> str:
        best = min((row for row in self.rows if row.of_runs), key=lambda row: row.value)
        return f"Plans({self.what}: best {_shown(best.value)} by {best.label}, {arrays.counted(len(self), 'row')})"

    def _repr_html_(self) -> str:
        cells = [(row.label, _shown(row.value), row.origin, row.about) for row in self.rows]
        return html_table(self.what, ("bound", "value", "origin", "about"), cells)

    def __str__(self) -> str:
        lines = [self.what]
        for row in self.rows:
            note = "" if row.of_runs else f"  ({row.about})"
            lines.append(f"  {row.label:<12} {_shown(row.value):>24}  {row.origin}{note}")
        return "\n".join(lines)


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


Width = Callable[[int], float]


@dataclass(frozen=True)
class Way:
    """A bound before N is known."""

    label: str
    origin: str
    width: Width
    of_runs: bool = True

    def plan(self, value: float) -> Plan:
        """Return the row with its value."""
        about = "runs" if self.of_runs else "inconsistency, one side"
        return Plan(self.label, self.origin, value, about, self.of_runs)


def _ways(
    n: int,
    limit: float,
    algorithm: arrays.Algorithm = "astar",
    delta: float = 0.05,
    side: arrays.Side = "both",
    spreads: ArrayLike | None = None,
    **of: Unpack[ClassOptions],
) -> list[Way]:
    """Return every bound that applies."""
    side = arrays.side(side)
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)

    def by_dimension(row: Capacity, side: arrays.Side = side) -> Width:
        dimension = row.pseudo_dimension
        return lambda N: dimension_width(dimension, N, limit, delta=delta, side=side)

    def by_count(row: Capacity) -> Width:
        return lambda N: finite_width(row.log_count, N, limit, delta=delta, side=side)

    def by_growth(row: Capacity) -> Width:
        return lambda N: growth_width(row.log_growth, N, limit, delta=delta, side=side).width

    def locally(N: int) -> float:
        return edge_local_width(n, np.asarray(spreads), N, limit, delta=delta)

    ways = []
    for row in capacities(n, algorithm, **of):
        if row.origin == "paper":
            ways.append(Way(f"H3 with {row.label}", row.origin, by_dimension(row)))
        elif row.finite:
            ways.append(Way(f"H1 with {row.label}", row.origin, by_count(row)))
        else:
            ways.append(Way(f"H3p with {row.label}", row.origin, by_growth(row)))
    if algorithm == "astar":
        row = capacity.inconsistency(n)
        ways.append(Way(f"H3 with {row.label}", row.origin, by_dimension(row, "upper"), of_runs=False))
        if spreads is not None:
            ways.append(Way("U2", "sharper", locally, of_runs=False))
    return ways


def _plans(what: str, rows: list[Plan]) -> Plans:
    return Plans(what, tuple(sorted(rows, key=lambda row: (not row.of_runs, row.value))))


def sample_size(
    *,
    n: int,
    epsilon: float,
    limit: float,
    algorithm: arrays.Algorithm = "astar",
    delta: float = 0.05,
    side: arrays.Side = "both",
    spreads: ArrayLike | None = None,
    **of: Unpack[ClassOptions],
) -> Plans:
    """Return how many instances make the empirical mean right to within epsilon, for every ρ of the class at once.

    Parameters
    ----------
    n
        Number of vertices.
    epsilon
        The accuracy, in the units of the utility.
    limit
        H, the upper end of the utility's range.
    algorithm
        "astar" or "gbfs".
    delta
        Probability with which the guarantee may fail.
    side
        "both" for ``|mean − E u|`` ≤ ε, "upper" or "lower" for one side.
    spreads
        hi_e − lo_e for each edge: adds the edge-local bound for the suboptimality of A*.
    **of
        The class: any of `integer_weights`, `out_degree`, `parameters`, `rank`, `levels` and `fixed_source`, as for
        :func:`rhostar.pseudo_dimension`.

    Returns
    -------
    Plans
        One row for each bound; ``int(...)`` is the lowest.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.sample_size(n=50, algorithm="astar", integer_weights=10, epsilon=0.1, delta=0.05, limit=1.0))
    instances for |mean - E u| <= 0.1, H = 1, delta = 0.05
      H1 with C1p                    24,848  sharper
      H1 with C1                     24,948  sharper
      H1 with Q64                   111,088  sharper
      H3p with Wp                   694,202  sharper
      H3p with Ap                   761,074  sharper
      H3 with I                   3,484,949  paper
      H3 with A                  37,559,360  paper
      H3 with U1                  1,379,533  sharper  (inconsistency, one side)
    """
    epsilon = arrays.positive(epsilon, "epsilon")
    ways = _ways(n, limit, algorithm=algorithm, delta=delta, side=side, spreads=spreads, **of)
    sign = {"both": "|mean - E u|", "upper": "E u - mean", "lower": "mean - E u"}[side]
    what = f"instances for {sign} <= {epsilon:g}, H = {limit:g}, delta = {delta:g}"
    return _plans(what, [way.plan(_least(way.width, epsilon)) for way in ways])


def deviation(
    *,
    n: int,
    samples: int,
    limit: float,
    **options: Unpack[PlanOptions],
) -> Plans:
    """Return how far the empirical mean of `samples` instances can be off, for every ρ of the class at once.

    Parameters
    ----------
    samples
        The number of instances.
    n
        Number of vertices.
    limit
        H, the upper end of the utility's range.
    **options
        Any of `algorithm`, `delta`, `side`, `spreads` and what describes the class, as for :func:`rhostar.sample_size`.

    Returns
    -------
    Plans
        One row for each bound; ``float(...)`` is the lowest. Values at or above `limit` say nothing.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.deviation(n=50, algorithm="gbfs", samples=100_000, delta=0.05, limit=1.0))
    accuracy of 100,000 instances, H = 1, delta = 0.05
      H1 with Gp                  0.0272263  sharper
      H1 with Q64                  0.105398  sharper
      H3 with G                    0.179192  paper
    """
    samples = arrays.integer(samples, "samples", 1)
    ways = _ways(n, limit, **options)
    what = f"accuracy of {samples:,} instances, H = {limit:g}, delta = {options.get('delta', 0.05):g}"
    return _plans(what, [way.plan(way.width(samples)) for way in ways])


def _least(width: Width, epsilon: float) -> float:
    """Return the smallest N found with width(N) ≤ ε; widths fall with N once they are finite."""
    found = first_integer(lambda N: N > _MOST or width(N) <= epsilon)
    return found if found <= _MOST else math.inf
