"""Arguments of bounds: accepted, or refused by name."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar.errors import ArrayError, InputError, UtilityError

Side = Literal["upper", "lower", "both"]
Algorithm = Literal["astar", "gbfs"]


def integer(value: Any, name: str, low: int) -> int:
    """Return `value` as an int of at least `low`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {value!r}") from None
    if number < low:
        raise InputError(f"{name} must be at least {low}, got {number}")
    return number


def optional_integer(value: Any, name: str, low: int) -> int | None:
    """Return `value` as an int of at least `low`, or None."""
    return None if value is None else integer(value, name, low)


def probability(value: Any, name: str = "delta") -> float:
    """Return a number strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{name} must be a number strictly between 0 and 1, got {value!r}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """Return a positive finite number."""
    if not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InputError(f"{name} must be a positive finite number, got {value!r}")
    return float(value)


def not_negative(value: Any, name: str) -> float:
    """Return a finite number of at least 0."""
    if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise InputError(f"{name} must be a finite number of at least 0, got {value!r}")
    return float(value)


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
    """Return utilities within [0, limit], at least so many of them, or raise naming the first that is not."""
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
