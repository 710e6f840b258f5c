"""An arithmetic coder in exact numbers: what a message writes symbol by symbol, and reads back.

Each symbol takes its share of an interval, as large as its probability, so a message with the probability P takes
−lg P bits. Writer and reader have the same methods, so one procedure can do both: the writer is given each value and
returns it, the reader is given None and returns the value that was written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from rhostar.errors import InputError


class Writer:
    """Puts symbols into an interval."""

    def __init__(self) -> None:
        self._low, self._width = Fraction(0), Fraction(1)
        self.spent: dict[str, float] = {}
        """Bits, by what they are for."""
        self.count = 0
        """Symbols so far."""

    def _put(self, purpose: str, low: Fraction, width: Fraction) -> None:
        self.count += 1
        self._low += low * self._width
        self._width *= width
        self.spent[purpose] = self.spent.get(purpose, 0.0) + math.log2(width.denominator) - math.log2(width.numerator)

    def uniform(self, purpose: str, value: int | None, among: int) -> int:
        """Put one of `among` values that are equally likely."""
        if value is None or not 0 <= value < among:
            raise InputError(f"{purpose}: {value} is not below {among}")
        self._put(purpose, Fraction(value, among), Fraction(1, among))
        return value

    def side(self, purpose: str, second: bool | None, sizes: tuple[int, int]) -> bool:
        """Put one of two sides, likely in proportion to their sizes."""
        if second is None or sizes[second] < 1:
            raise InputError(f"{purpose}: a side of size 0 is chosen")
        total = sum(sizes)
        self._put(purpose, Fraction(sizes[0] if second else 0, total), Fraction(sizes[second], total))
        return second

    def geometric(self, purpose: str, value: int | None, mean: Fraction) -> int:
        """Put a number with a geometric distribution: lg(1 + mean) + value·lg(1 + 1/mean) bits."""
        if value is None or value < 0:
            raise InputError(f"{purpose}: {value} is not a number")
        stay = mean / (1 + mean)
        self._put(purpose, 1 - stay**value, (1 - stay) * stay**value)
        return value

    @property
    def bits(self) -> float:
        """The information so far: −lg of the width of the interval."""
        return math.log2(self._width.denominator) - math.log2(self._width.numerator)

    def number(self) -> int:
        """Return an integer whose binary digits after the first are those of a fraction inside the interval."""
        digits = math.ceil(self.bits) + 1
        return (1 << digits) + math.ceil(self._low * 2**digits)


class Reader:
    """Returns the symbols that were put."""

    def __init__(self, number: int) -> None:
        if number < 1:
            raise InputError(f"the message must be at least 1, got {number}")
        digits = number.bit_length() - 1
        self._at = Fraction(number - (1 << digits), 1 << digits)

    def uniform(self, _purpose: str, _value: int | None, among: int) -> int:
        """Return one of `among` values."""
        if among < 1:
            raise InputError("the message is damaged: there is nothing to choose from")
        value = int(self._at * among)
        self._at = self._at * among - value
        return value

    def side(self, _purpose: str, _second: bool | None, sizes: tuple[int, int]) -> bool:
        """Return one of two sides."""
        total = sum(sizes)
        if total < 1:
            raise InputError("the message is damaged: there is no side to choose")
        share = Fraction(sizes[0], total)
        if self._at < share:
            self._at /= share
            return False
        self._at = (self._at - share) / (1 - share)
        return True

    def geometric(self, _purpose: str, _value: int | None, mean: Fraction) -> int:
        """Return a number with a geometric distribution."""
        stay, value = mean / (1 + mean), 0
        while self._at >= 1 - stay:
            self._at, value = (self._at - (1 - stay)) / stay, value + 1
            if value > 10_000:
                raise InputError("the message is damaged: a number is too large")
        self._at /= 1 - stay
        return value


def rank_of(members: Sequence[int]) -> int:
    """Return the rank of a set, given in increasing order, among all sets of its size.

    Examples
    --------
    >>> from rhostar.theory._channel import rank_of, set_of
    >>> [rank_of(set_of(rank, 2)) for rank in range(6)]
    [0, 1, 2, 3, 4, 5]
    """
    return sum(math.comb(x, i + 1) for i, x in enumerate(members))


def set_of(rank: int, size: int) -> list[int]:
    """Return the set with a rank, in increasing order."""
    found = []
    for i in range(size, 0, -1):
        x = i - 1
        while math.comb(x + 1, i) <= rank:
            x += 1
        found.append(x)
        rank -= math.comb(x, i)
    return found[::-1]


def put_multiset(io: Writer | Reader, purpose: str, values: Sequence[int] | None, size: int, among: int) -> list[int]:
    """Transfer `size` numbers below `among` in increasing order, repetitions allowed."""
    rank = None if values is None else rank_of([x + i for i, x in enumerate(values)])
    found = set_of(io.uniform(purpose, rank, math.comb(among + size - 1, size)), size)
    return [x - i for i, x in enumerate(found)]
