"""Consecutive intervals of θ with exact ends: fractions, each marked as included or excluded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError


class Interval(NamedTuple):
    """One interval; if both ends are equal it is a single point."""

    low: Fraction
    high: Fraction
    low_closed: bool
    high_closed: bool

    @property
    def width(self) -> Fraction:
        """Its length: 0 for a single point."""
        return self.high - self.low

    @property
    def inside(self) -> Fraction:
        """A value near the middle with few binary digits, so that float64 usually holds it exactly."""
        if self.low == self.high:
            return self.low
        # A quarter of the width is at least this power of two, so rounding the middle to it stays inside.
        digits = 3 + self.width.denominator.bit_length() - self.width.numerator.bit_length()
        step = Fraction(2) ** -digits
        return round((self.low + self.high) / 2 / step) * step

    def __contains__(self, theta: object) -> bool:
        value = fraction(theta, "theta")
        above = self.low <= value if self.low_closed else self.low < value
        return above and (value <= self.high if self.high_closed else value < self.high)

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{{{self.low}}}"
        return f"{'[' if self.low_closed else '('}{self.low}, {self.high}{']' if self.high_closed else ')'}"


@dataclass(frozen=True, eq=False)
class Intervals(Sequence[Interval]):
    """[low, high] cut into consecutive intervals, from left to right.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from rhostar.lines._intervals import Intervals
    >>> parts = Intervals(Fraction(0), Fraction(2), (Fraction(1, 3), Fraction(1, 3)), (False, True))
    >>> print(*parts, parts.index(0.5), parts[0].inside)
    [0, 1/3) {1/3} (1/3, 2] 2 3/16
    """

    low: Fraction
    high: Fraction
    cuts: tuple[Fraction, ...]
    """Where one interval ends and the next begins; listed twice if the point itself is an interval."""
    closed: tuple[bool, ...]
    """For each cut, whether the interval to its left contains the point."""

    def __len__(self) -> int:
        return len(self.cuts) + 1

    @overload
    def __getitem__(self, i: int) -> Interval: ...
    @overload
    def __getitem__(self, i: slice) -> list[Interval]: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        i = range(len(self))[i]
        last = len(self.cuts)
        return Interval(
            self.low if i == 0 else self.cuts[i - 1],
            self.high if i == last else self.cuts[i],
            i == 0 or not self.closed[i - 1],
            i == last or self.closed[i],
        )

    def index(self, theta: Any, *_: Any) -> int:
        """Return the index of the interval that contains `theta`.

        Raises
        ------
        InputError
            If it is outside the range.
        """
        value = fraction(theta, "theta")
        if not self.low <= value <= self.high:
            raise InputError(f"theta must be between {self.low} and {self.high}, got {theta!r}")
        i = bisect_left(self.cuts, value)
        while i < len(self.cuts) and self.cuts[i] == value and not self.closed[i]:
            i += 1
        return i

    @property
    def edges(self) -> NDArray[np.float64]:
        """The range's ends and the cuts between them as floats, one more than there are intervals."""
        return np.array([float(x) for x in (self.low, *self.cuts, self.high)])


def fraction(value: Any, name: str) -> Fraction:
    """Return a finite number as a fraction, exactly, or raise :class:`InputError`."""
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, np.integer):
        return Fraction(int(value))
    return Fraction(arrays.number(value, name, "a finite number", np.isfinite))
