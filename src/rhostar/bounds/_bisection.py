"""Where a condition that stays true once it is true becomes true: among numbers, and among whole numbers."""

from __future__ import annotations

from collections.abc import Callable


def first_number(holds: Callable[[float], bool], low: float, high: float, halvings: int) -> float:
    """Return a number at which the condition holds, just above the first one between `low` and `high`.

    Examples
    --------
    >>> from rhostar.bounds._bisection import first_number
    >>> first_number(lambda x: x * x >= 2, 0.0, 2.0, 20)
    1.41421...
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def first_integer(holds: Callable[[int], bool]) -> int:
    """Return the first of 1, 2, 3, ... at which the condition holds.

    Examples
    --------
    >>> from rhostar.bounds._bisection import first_integer
    >>> first_integer(lambda k: k * k >= 1000)
    32
    """
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
