"""Converts a line ρ(θ) = base + θ · direction to whole numbers, so that every comparison of scores is exact.

Floats are multiples of powers of two. Weights and base are written as integers in a unit 2^-k, the direction in a
unit 2^-j, with k and j large enough to hold every digit, as long as no score exceeds 2^61 units. If one would, the
numbers are rounded to the finest units that fit, and :class:`Snap` says by how much; results are then exact for the
line of the rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError

LARGEST_BITS = 61
"""Scores and slopes stay at or below 2^61 units: what pieces.hpp needs for its 128-bit comparisons."""

_COMPARISON_BITS = 126
_FEWEST_DIRECTION_BITS = 40


class Snap(NamedTuple):
    """The largest rounding of each kind of number of a line, in its own units; all 0 if the line is exact."""

    weights: float = 0.0
    base: float = 0.0
    direction: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether nothing was rounded."""
        return not any(self)

    def __str__(self) -> str:
        parts = [f"{name} by up to {size:.2g}" for name, size in zip(self._fields, self, strict=True) if size]
        return "rounded: " + ", ".join(parts) if parts else "exact"


class Snapshot(NamedTuple):
    """The weights of one instance."""

    exact: NDArray[np.int64]
    """In units; -1 for an absent edge."""
    weights: NDArray[np.float64]
    """As they were given."""
    snap: float


@dataclass(frozen=True, eq=False)
class Line:
    """The whole numbers of a line, for one goal or several.

    Made by :func:`exact_line`.
    """

    base: tuple[NDArray[np.int64], ...]
    direction: tuple[NDArray[np.int64], ...]
    base_digits: int
    """k: weights and base are in units of 2^-k."""
    direction_digits: int
    """j: the direction is in units of 2^-j."""
    low: Fraction
    high: Fraction
    snap: Snap

    @property
    def unit(self) -> float:
        """2^-k."""
        return float(np.ldexp(1.0, -self.base_digits))

    def place(self, theta: Fraction, side: int = 0) -> NDArray[np.int64]:
        """Return a point of the line, or the place just before (-1) or after (1) it, in the core's form."""
        scaled = theta * Fraction(2) ** (self.base_digits - self.direction_digits)
        p, q, word = scaled.numerator, scaled.denominator, 2**64
        halves = [p >> 64, p % word, q >> 64, q % word, side]
        return np.array([x - word if x >= word // 2 else x for x in halves], dtype=np.int64)

    def theta(self, p: int, q: int) -> Fraction:
        """Return the core's p / q as a value of θ."""
        return Fraction(p, q) * Fraction(2) ** (self.direction_digits - self.base_digits)

    def snapshot(self, weights: NDArray[Any], greedy: bool) -> Snapshot:
        """Return the weights of one instance in units; for greedy search it only matters which edges are present."""
        floats = np.ascontiguousarray(weights, dtype=np.float64)
        absent = np.isinf(floats)
        if greedy:
            return Snapshot(np.where(absent, -1, 0), floats, 0.0)
        exact, snap = _whole(np.where(absent, 0.0, floats), self.base_digits)
        exact[absent] = -1
        return Snapshot(exact, floats, snap)


def exact_line(
    base: Sequence[NDArray[np.float64]],
    direction: Sequence[NDArray[np.float64]],
    low: Fraction,
    high: Fraction,
    weights: Iterable[NDArray[Any]],
) -> Line:
    """Return the line in whole numbers.

    Parameters
    ----------
    base, direction
        Finite values; several arrays if goals have their own.
    low, high
        The range of θ.
    weights
        The snapshots that will be searched; none for greedy search, which does not compare costs.

    Raises
    ------
    InputError
        If low exceeds high, or either has too many digits for exact comparisons.
    """
    if low > high:
        raise InputError(f"low must not exceed high, got low={float(low)!r}, high={float(high)!r}")
    n = base[0].size
    largest_weight, digits = 0.0, 0
    for row in weights:
        present = row[np.isfinite(row)].astype(np.float64, copy=False)
        largest_weight = max(largest_weight, float(present.max(initial=0.0)))
        digits = max(digits, fractional_digits(present))
    # A path that a search follows visits no vertex twice.
    largest = (n - 1) * largest_weight + max(float(np.abs(table).max(initial=0.0)) for table in base)
    k = min(max(digits, *map(fractional_digits, base)), LARGEST_BITS - _exponent(largest))
    steepest = max(float(np.abs(table).max(initial=0.0)) for table in direction)
    j = min(max(0, *map(fractional_digits, direction)), LARGEST_BITS - _exponent(steepest))
    j = _room_for_range(j, k, largest, steepest, low, high)
    bases, directions = [_whole(table, k) for table in base], [_whole(table, j) for table in direction]
    snap = Snap(0.0, max(error for _, error in bases), max(error for _, error in directions))
    return Line(tuple(t for t, _ in bases), tuple(t for t, _ in directions), k, j, low, high, snap)


def fractional_digits(values: NDArray[np.float64]) -> int:
    """Return how many binary digits after the point the values have, at least 0."""
    nonzero = values[values != 0]
    if nonzero.size == 0 or np.array_equal(nonzero, np.rint(nonzero)):
        return 0
    mantissa, exponent = np.frexp(nonzero)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest_bit = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return max(0, int((53 - lowest_bit - exponent).max()))


def _exponent(value: float) -> int:
    """Return the least e with value < 2^e, not below 0."""
    return max(0, int(np.frexp(value)[1]))


def _whole(values: NDArray[np.float64], digits: int) -> tuple[NDArray[np.int64], float]:
    """Return the values in units of 2^-digits, and the largest change."""
    units = np.rint(np.ldexp(values, digits))
    return units.astype(np.int64), float(np.abs(np.ldexp(units, -digits) - values).max(initial=0.0))


def _room_for_range(j: int, k: int, largest: float, steepest: float, low: Fraction, high: Fraction) -> int:
    """Return j, made smaller if scores at the ends of the range would not fit into 128 bits."""
    fewest = min(j, max(0, _FEWEST_DIRECTION_BITS - _exponent(steepest)))
    for theta in (low, high):
        while True:
            scaled = theta * Fraction(2) ** (k - j)
            score = (_exponent(largest) + k) + scaled.denominator.bit_length()
            slope = (_exponent(steepest) + j) + abs(scaled.numerator).bit_length()
            if max(score, slope) < _COMPARISON_BITS:
                break
            if j <= fewest:
                name = "low" if theta == low else "high"
                raise InputError(
                    f"{name} = {float(theta)!r} has too many digits, or is too large, for exact comparisons on this "
                    f"line; use a number with fewer binary digits, such as {_shorter(theta)!r}"
                )
            j -= 1
    return j


def _shorter(theta: Fraction) -> float:
    mantissa, exponent = np.frexp(float(theta))
    return float(np.ldexp(np.rint(mantissa * 1024), exponent - 10))
