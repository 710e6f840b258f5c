"""Turning what a user passes into the arrays the core takes, with errors that say what is wrong.

Nothing here knows about graphs or searches; every function takes the name under which the
user passed the argument, so that the message can use it.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar.errors import ArrayError, GraphError, HeuristicError, InputError, VertexError

LARGEST_INDEX = 2**31 - 1
"""Vertices and edges are numbered with 32 bits."""

WEIGHT_TYPES = (np.float64, np.float32, np.int32, np.int64)
"""The types of weights that the core reads as they are."""

WEIGHT_TYPE_NAMES = "float64, float32, int32 or int64"


def integer(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Return `value` as an int within [low, high], or raise :class:`InputError`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {value!r}") from None
    if number < low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name} must be {bounds}, got {number}")
    return number


def vertex(value: Any, name: str, n: int) -> int:
    """Return `value` as a vertex of a graph of `n` vertices, or raise :class:`VertexError`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise VertexError(f"{name} must be a vertex (an integer in 0..{n - 1}), got {value!r}") from None
    if not 0 <= number < n:
        raise VertexError(f"{name} must be a vertex in 0..{n - 1}, got {number}")
    return number


def vertices(values: ArrayLike, name: str, n: int, *, ndim: int = 1) -> NDArray[np.int32]:
    """Return `values` as a contiguous int32 array of vertices, or raise naming the first that is none."""
    array = _as_array(values, name)
    if array.size == 0 and array.dtype.kind == "f":  # np.asarray([]) is a float array
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise ArrayError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.ndim != ndim:
        raise ArrayError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if array.size > LARGEST_INDEX:
        raise ArrayError(f"{name} has {array.size} entries; at most 2**31 - 1 are possible")
    outside = (array < 0) | (array >= n)
    if outside.any():
        first = int(np.argmax(outside))
        raise VertexError(f"{name}[{first}] must be a vertex in 0..{n - 1}, got {array[first]}")
    return np.ascontiguousarray(array, dtype=np.int32)


def table(values: ArrayLike, name: str, n: int, *, infinite: bool = False) -> NDArray[np.float64]:
    """Return `values` as one finite float64 per vertex; with `infinite`, +inf is accepted too."""
    array = _as_array(values, name)
    if array.dtype != np.float64:
        if isinstance(values, np.ndarray):
            raise ArrayError(f"{name} must be a float64 array, got {array.dtype}; pass {name}.astype(float)")
        array = _converted(array, name, np.dtype(np.float64))
    if array.shape != (n,):
        raise ArrayError(f"{name} must have one value for each of the {n} vertices, got shape {array.shape}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ArrayError(f"{name} must be contiguous in memory; pass np.ascontiguousarray({name})")
    bad = np.isnan(array) | (array == -np.inf) if infinite else ~np.isfinite(array)
    if bad.any():
        first = int(np.argmax(bad))
        raise HeuristicError(
            f"{name}[{first}] must be {'a number or +inf' if infinite else 'finite'}, got {array[first]}"
        )
    return array


def weight_row(values: ArrayLike, name: str, m: int) -> NDArray[Any]:
    """Return `values` as one weight per edge in a type that the core reads; values are not checked."""
    array = _as_array(values, name)
    if array.dtype not in WEIGHT_TYPES:
        if isinstance(values, np.ndarray):
            raise ArrayError(f"{name} must be an array of {WEIGHT_TYPE_NAMES}, got {array.dtype}")
        array = _converted(array, name, np.dtype(np.float64))
    if array.shape != (m,):
        raise ArrayError(f"{name} must have one value for each of the {m} edges, got shape {array.shape}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ArrayError(f"{name} must be contiguous in memory; pass np.ascontiguousarray({name})")
    return array


def indices(values: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return a private int32 copy: nobody else can change what the core has validated."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArrayError(f"{name} must be a one-dimensional array of integers, got {array.dtype}{array.shape}")
    if array.size > LARGEST_INDEX:
        raise ArrayError(f"{name} has {array.size} entries; at most 2**31 - 1 are possible")
    if array.dtype != np.int32:
        outside = (array < 0) | (array > LARGEST_INDEX)
        if outside.any():
            first = int(np.argmax(outside))
            raise GraphError(f"{name}[{first}] must be between 0 and 2**31 - 1, got {array[first]}")
    return np.array(array, dtype=np.int32, order="C")


def coordinates(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return one finite (x, y) per vertex, read-only."""
    array = np.array(values, dtype=np.float64)
    if array.shape != (n, 2):
        raise ArrayError(f"coordinates must have shape ({n}, 2), got {array.shape}")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise GraphError(f"coordinates[{first}] must be finite, got {array[first].tolist()}")
    return frozen(array)


def labels(values: Sequence[Hashable], n: int) -> tuple[Hashable, ...]:
    """Return n distinct labels."""
    names = tuple(values)
    if len(names) != n:
        raise ArrayError(f"labels must name each of the {n} vertices, got {len(names)}")
    seen: dict[Hashable, int] = {}
    for v, label in enumerate(names):
        if seen.setdefault(label, v) != v:
            raise GraphError(f"labels must be distinct; {label!r} names vertices {seen[label]} and {v}")
    return names


def length(values: ArrayLike, m: int) -> NDArray[np.float64]:
    """Return one finite, non-negative length per edge, read-only."""
    array = np.array(values, dtype=np.float64)
    if array.shape != (m,):
        raise ArrayError(f"length must have one value for each of the {m} edges, got shape {array.shape}")
    bad = ~((array >= 0) & np.isfinite(array))
    if bad.any():
        first = int(np.argmax(bad))
        raise GraphError(f"length[{first}] must be finite and not negative, got {array[first]}")
    return frozen(array)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of `array`; what the caller holds stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def _as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise ArrayError(f"{name} must be an array of numbers, got a ragged sequence") from None


def _converted(array: NDArray[Any], name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise ArrayError(f"{name} must be an array of numbers, got dtype {array.dtype}")
    return array.astype(dtype)
