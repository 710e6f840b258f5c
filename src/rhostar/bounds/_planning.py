"""Sample size and accuracy: the unknowns of one equation, with the paper's own bound beside the sharper ones.

Every bound here holds for every heuristic of the class at once, and is known before any instance is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _checks as checks
from rhostar.bounds._capacity import Capacity
from rhostar.bounds._dimension import capacities
from rhostar.bounds._inconsistency import edge_local_width
from rhostar.bounds._uniform import dimension_width, finite_width, growth_width

_MOST = 10**30
"""Sample sizes beyond this are not searched for."""


@dataclass(frozen=True)
class Plan:
    """One way to bound ``|mean − E u|`` uniformly, and what it takes."""

    label: str
    """The bound and the capacity, such as "H1 with C1′"."""
    origin: str
    """paper or sharper."""
    value: float
    """The number of instances, or the accuracy."""
    about: str
    """What is bounded."""


@dataclass(frozen=True)
class Plans:
    """All ways that apply, best first; prints as a table, and stands for the best where a number is wanted."""

    what: str
    rows: tuple[Plan, ...]

    @property
    def best(self) -> float:
        """The least value among bounds on utilities of a run."""
        return min(row.value for row in self.rows if row.about == "runs")

    @property
    def paper(self) -> float:
        """The least value of the paper's own bounds."""
        return min(row.value for row in self.rows if row.origin == "paper")

    def __getitem__(self, label: str) -> float:
        """Return the value of a row."""
        return next(row.value for row in self.rows if row.label == label)

    def __float__(self) -> float:
        return float(self.best)

    def __int__(self) -> int:
        return int(self.best)

    def __str__(self) -> str:
        lines = [self.what]
        for row in self.rows:
            value = f"{row.value:,}" if isinstance(row.value, int) else f"{row.value:.6g}"
            note = "" if row.about == "runs" else f"  ({row.about})"
            lines.append(f"  {row.label:<12} {value:>24}  {row.origin}{note}")
        return "\n".join(lines)


Width = Callable[[int], float]


def _ways(
    n: int,
    algorithm: checks.Algorithm,
    limit: float,
    delta: float,
    side: checks.Side,
    spreads: ArrayLike | None,
    **of: Any,
) -> list[tuple[str, str, str, Width]]:
    """Return (label, origin, about, width as a function of N) of every bound."""
    side = checks.side(side)
    limit, delta = checks.positive(limit, "limit"), checks.probability(delta)
    ways: list[tuple[str, str, str, Width]] = []
    for row in capacities(n, algorithm, **of):
        if row.origin == "paper":
            ways.append((f"H3 with {row.label}", "paper", "runs", _through_dimension(row, limit, delta, side)))
        elif row.finite:
            ways.append((f"H1 with {row.label}", "sharper", "runs", _finite(row, limit, delta, side)))
        else:
            ways.append((f"H3′ with {row.label}", "sharper", "runs", _growth(row, limit, delta, side)))
    if algorithm == "astar":
        about = "inconsistency, one side"
        ways.append(
            ("H3 with U1", "sharper", about, _through_dimension(capacity.inconsistency(n), limit, delta, "upper"))
        )
        if spreads is not None:
            ways.append(("U2", "sharper", about, lambda N: edge_local_width(n, spreads, N, limit, delta=delta)))
    return ways


def _finite(row: Capacity, limit: float, delta: float, side: checks.Side) -> Width:
    return lambda N: finite_width(row.log_count, N, limit, delta=delta, side=side)


def _growth(row: Capacity, limit: float, delta: float, side: checks.Side) -> Width:
    return lambda N: growth_width(row.log_growth, N, limit, delta=delta, side=side).width


def _through_dimension(row: Capacity, limit: float, delta: float, side: checks.Side) -> Width:
    dimension = row.pseudo_dimension
    return lambda N: dimension_width(dimension, N, limit, delta=delta, side=side)


def sample_size(
    *,
    n: int,
    epsilon: float,
    limit: float,
    algorithm: checks.Algorithm = "astar",
    delta: float = 0.05,
    side: checks.Side = "both",
    integer_weights: int | None = None,
    out_degree: int | None = None,
    parameters: int | None = None,
    rank: int | None = None,
    levels: int | None = None,
    fixed_source: bool = False,
    spreads: ArrayLike | None = None,
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
    algorithm, integer_weights, out_degree, parameters, rank, levels, fixed_source
        The class, as for :func:`rhostar.pseudo_dimension`.
    delta
        Probability with which the promise may fail.
    side
        "both" for ``|mean − E u|`` ≤ ε, "upper" or "lower" for one side.
    spreads
        hi_e − lo_e for each edge: adds the edge-local bound for the suboptimality of A*.

    Returns
    -------
    Plans
        One row for each bound; ``int(...)`` is the least.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.sample_size(n=50, algorithm="astar", integer_weights=10, epsilon=0.1, delta=0.05, limit=1.0))
    instances for |mean - E u| <= 0.1, H = 1, probability 0.95
      H1 with C1′                    24,848  sharper
      H1 with C1                     24,948  sharper
      H1 with Q64                   111,088  sharper
      H3′ with Wp                   731,740  sharper
      H3′ with A′                   761,074  sharper
      H3 with I                   3,484,949  paper
      H3 with A                  37,559,360  paper
      H3 with U1                  1,379,533  sharper  (inconsistency, one side)
    """
    epsilon = checks.positive(epsilon, "epsilon")
    of = _class(integer_weights, out_degree, parameters, rank, levels, fixed_source)
    ways = _ways(n, algorithm, limit, delta, side, spreads, **of)
    rows = [Plan(label, origin, _least(width, epsilon), about) for label, origin, about, width in ways]
    sign = "|mean - E u|" if side == "both" else "E u - mean" if side == "upper" else "mean - E u"
    what = f"instances for {sign} <= {epsilon:g}, H = {limit:g}, probability {1 - delta:g}"
    return Plans(what, tuple(sorted(rows, key=lambda row: (row.about != "runs", row.value))))


def epsilon(
    *,
    n: int,
    samples: int,
    limit: float,
    algorithm: checks.Algorithm = "astar",
    delta: float = 0.05,
    side: checks.Side = "both",
    integer_weights: int | None = None,
    out_degree: int | None = None,
    parameters: int | None = None,
    rank: int | None = None,
    levels: int | None = None,
    fixed_source: bool = False,
    spreads: ArrayLike | None = None,
) -> Plans:
    """Return to within how much the empirical mean of so many instances is right, for every ρ of the class at once.

    Parameters and errors are those of :func:`rhostar.sample_size`; values at or above `limit` say nothing.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.epsilon(n=50, algorithm="gbfs", samples=100_000, delta=0.05, limit=1.0))
    accuracy of 100,000 instances, H = 1, probability 0.95
      H1 with G′                  0.0272263  sharper
      H1 with Q64                  0.105398  sharper
      H3 with G                    0.179192  paper
    """
    samples = checks.integer(samples, "samples", 1)
    of = _class(integer_weights, out_degree, parameters, rank, levels, fixed_source)
    ways = _ways(n, algorithm, limit, delta, side, spreads, **of)
    rows = [Plan(label, origin, width(samples), about) for label, origin, about, width in ways]
    what = f"accuracy of {samples:,} instances, H = {limit:g}, probability {1 - delta:g}"
    return Plans(what, tuple(sorted(rows, key=lambda row: (row.about != "runs", row.value))))


def _class(
    integer_weights: int | None,
    out_degree: int | None,
    parameters: int | None,
    rank: int | None,
    levels: int | None,
    fixed_source: bool,
) -> dict[str, Any]:
    return {
        "integer_weights": integer_weights,
        "out_degree": out_degree,
        "parameters": parameters,
        "rank": rank,
        "levels": levels,
        "fixed_source": fixed_source,
    }


def _least(width: Width, epsilon: float) -> float:
    """Return the least N found with width(N) ≤ ε; the widths fall with N, from where they are finite on."""
    low, high = 0, 1
    while width(high) > epsilon:
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= epsilon else (middle, high)
    return high
