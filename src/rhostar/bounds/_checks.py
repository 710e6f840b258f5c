"""Checks of the arguments that bounds share; errors name the argument."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError, UtilityError

Side = Literal["upper", "lower", "both"]
Algorithm = Literal["astar", "gbfs"]


def optional_integer(value: Any, name: str, low: int) -> int | None:
    """Return `value` as an int of at least `low`, or None."""
    return None if value is None else arrays.integer(value, name, low)


def probability(value: Any, name: str = "delta") -> float:
    """Return a number strictly between 0 and 1."""
    return arrays.number(value, name, "a number strictly between 0 and 1", lambda x: 0 < x < 1)


def positive(value: Any, name: str) -> float:
    """Return a positive finite number."""
    return arrays.number(value, name, "a positive finite number", lambda x: 0 < x < math.inf)


def not_negative(value: Any, name: str) -> float:
    """Return a finite number of at least 0."""
    return arrays.number(value, name, "a finite number of at least 0", lambda x: 0 <= x < math.inf)


def side(value: Any) -> Side:
    """Return one of the three sides."""
    if value not in ("upper", "lower", "both"):
        raise InputError(f"side must be 'upper', 'lower' or 'both', got {value!r}")
    return value


def algorithm(value: Any) -> Algorithm:
    """Return one of the two algorithms."""
    if value not in ("astar", "gbfs"):
        raise InputError(f"algorithm must be 'astar' or 'gbfs', got {value!r}")
    return value


def utilities(values: ArrayLike, limit: float, *, least: int = 1) -> NDArray[np.float64]:
    """Return utilities within [0, limit], at least `least` of them, or raise naming the first that is not."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ArrayError(f"values must have one dimension, got shape {array.shape}")
    if array.size < least:
        raise UtilityError(f"values must hold at least {least} utilities, got {array.size}")
    bad = ~((array >= 0) & (array <= limit))
    if bad.any():
        first = int(np.argmax(bad))
        raise UtilityError(f"values[{first}] must be within [0, {limit}], the range of the utility, got {array[first]}")
    return array
