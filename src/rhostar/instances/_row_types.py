"""Checks columns of Python values, as a pandas frame or a Parquet file has them, and turns them into rows of edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import ReadError
from rhostar.instances._edge_rows import Coded, EdgeRows

MISSING = ("", "nan", "na", "n/a", "null", "none", "<na>")
"""Words in a table, in any case, that say that a weight is missing."""


def check_types(path: object, columns: list[list[Any]], line_of: Callable[[int], int], unit: str = "line") -> EdgeRows:
    """Return a batch with checked types; `line_of` gives the line (or another unit) of a row in it."""

    def wrong(k: int, what: str) -> ReadError:
        if unit == "line":
            return ReadError(path, line_of(k), what)
        return ReadError(path, None, f"{unit} {line_of(k)}: {what}")

    ends = [_vertices(column, name, wrong) for column, name in zip(columns[:2], ("tail", "head"), strict=True)]
    weight = _weights(columns[2], wrong)
    when = None
    if len(columns) > 3:
        try:
            when = Coded.of(columns[3])
        except TypeError:
            k = next(k for k, value in enumerate(columns[3]) if not isinstance(value, Hashable))
            raise wrong(k, f"snapshot must be one value, got {str(columns[3][k])[:60]}") from None
        for code, value in enumerate(when.values):
            gone = value == "" if isinstance(value, str) else is_missing(value) or str(value) == "NaT"
            if gone:
                raise wrong(when.first(code), "snapshot is missing")
    return EdgeRows(ends[0], ends[1], weight, when, lambda k: f"{unit} {line_of(k)}")


def _weights(column: list[Any], wrong: Callable[[int, str], ReadError]) -> NDArray[np.float64]:
    """Return the weights; those that are missing are NaN."""
    try:
        # Python's own float is faster than numpy for text.
        weight = np.array(list(map(float, column)) if isinstance(column[0], str) else column, dtype=np.float64)
        if weight.ndim != 1 or _is_odd(column):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        weight = np.empty(len(column))
        for k, value in enumerate(column):
            try:
                if _is_odd([value]):
                    raise ValueError
                weight[k] = np.nan if is_missing(value) else value
            except (TypeError, ValueError, OverflowError):
                raise wrong(k, f"weight must be a number, got {str(value)[:60]!r}") from None
    bad = weight < 0
    if bad.any():
        k = int(np.argmax(bad))
        raise wrong(k, f"weight must be a non-negative number, got {column[k]!r}")
    return weight


def is_missing(value: Any) -> bool:
    """Return whether a cell says that there is no measurement."""
    return value is None or str(value).strip().lower() in MISSING


def _is_odd(column: list[Any]) -> bool:
    """Return whether a text among the numbers is one that only Python takes as a number: 1_0, or other digits."""
    whole = "".join(value for value in column if isinstance(value, str))
    return "_" in whole or not whole.isascii()


def _vertices(column: list[Any], name: str, wrong: Callable[[int, str], ReadError]) -> Coded:
    """Return integers and strings unchanged, and whole floats as integers (tables with gaps have floats)."""
    try:
        found = Coded.of(column)
    except TypeError:
        k = next(k for k, value in enumerate(column) if not isinstance(value, Hashable))
        raise wrong(k, f"{name} must be an integer or a string, got {column[k]!r}") from None
    for code, value in enumerate(found.values):
        if isinstance(value, str) and value.strip():
            continue
        if value is None or isinstance(value, str) or (isinstance(value, float) and np.isnan(value)):
            raise wrong(found.first(code), f"{name} is missing")
        if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
            raise wrong(found.first(code), f"{name} must be an integer or a string, got {value!r}")
    return found._replace(values=[value if isinstance(value, str) else int(value) for value in found.values])  # type: ignore[call-overload]
