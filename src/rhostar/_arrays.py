"""Converts users' arguments into the arrays that the core takes, with errors that say what is wrong.

Nothing here knows about graphs or searches. Every function takes the name of the argument, for its error message.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from numbers import Real
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar.errors import ArrayError, EdgeError, GraphError, HeuristicError, InputError, UtilityError, VertexError

Algorithm = Literal["astar", "gbfs"]
"""A* and greedy best-first search; users import it from :mod:`rhostar.search`."""

LARGEST_INDEX = 2**31 - 1
"""Vertices and edges are numbered with 32 bits."""

WEIGHT_TYPES = (np.float64, np.float32, np.int32, np.int64)
"""The types of weights that the core reads without conversion."""

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


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: "1 edge", "2 edges"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def algorithm(value: Any, name: str = "algorithm") -> Algorithm:
    """Return the name of an algorithm, or raise :class:`InputError`."""
    if value not in ("astar", "gbfs"):
        raise InputError(f"{name} must be 'astar' or 'gbfs', got {value!r}")
    return cast(Algorithm, value)


def vertex(value: Any, name: str, n: int) -> int:
    """Return `value` as a vertex of a graph of `n` vertices, or raise :class:`VertexError`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise VertexError(f"{name} must be a vertex (an integer in 0..{n - 1}), got {value!r}") from None
    if not 0 <= number < n:
        raise VertexError(f"{name} must be a vertex in 0..{n - 1}, got {number}")
    return number


def vertices(values: ArrayLike, name: str, n: int, *, what: str = "vertex") -> NDArray[np.int32]:
    """Return `values` as a contiguous int32 array of indices below `n`; an error names the first that is not."""
    return _numbers_below(values, name, n, f"a {what}", VertexError)


def edges(values: ArrayLike, name: str, m: int) -> NDArray[np.int32]:
    """Return the same for edges."""
    return _numbers_below(values, name, m, "an edge", EdgeError)


def _numbers_below(
    values: ArrayLike, name: str, n: int, what: str, kind: type[VertexError | EdgeError]
) -> NDArray[np.int32]:
    array = as_array(values, name)
    if array.size == 0 and array.dtype.kind == "f":  # np.asarray([]) is a float array
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise ArrayError(f"{name} must contain integers, got dtype {array.dtype}")
    if array.ndim != 1:
        raise ArrayError(f"{name} must have one dimension, got shape {array.shape}")
    if array.size > LARGEST_INDEX:
        raise ArrayError(f"{name} has {array.size} entries; at most 2**31 - 1 are possible")
    require_all((array >= 0) & (array < n), array, name, f"{what} in 0..{n - 1}", kind)
    return np.ascontiguousarray(array, dtype=np.int32)


def number(value: Any, name: str, what: str, accepted: Callable[[float], bool]) -> float:
    """Return `value` as a float that is `accepted`, or raise :class:`InputError`; `what` says what is accepted."""
    if not isinstance(value, Real) or not accepted(float(value)):
        raise InputError(f"{name} must be {what}, got {value!r}")
    return float(value)


def per_vertex_layout(values: ArrayLike, name: str, n: int) -> NDArray[np.float64]:
    """Return `values` as one float64 per vertex in the core's form; the values are not checked."""
    array = as_array(values, name)
    if array.dtype != np.float64:
        if isinstance(values, np.ndarray):
            raise ArrayError(f"{name} must be a float64 array, got {array.dtype}; pass {name}.astype(float)")
        array = _converted(array, name, np.dtype(np.float64))
    if array.shape != (n,):
        raise ArrayError(f"{name} must have one value for each of the {n} vertices, got shape {array.shape}")
    return _packed(array, name)


def per_vertex(values: ArrayLike, name: str, n: int, *, infinite: bool = False) -> NDArray[np.float64]:
    """Return `values` as one finite float64 per vertex; with `infinite`, +inf is accepted too."""
    array = per_vertex_layout(values, name, n)
    good = array > -np.inf if infinite else np.isfinite(array)
    require_all(good, array, name, "a number or +inf" if infinite else "finite", HeuristicError)
    return array


def weight_row(values: ArrayLike, name: str, m: int) -> NDArray[Any]:
    """Return `values` as one weight per edge in a type that the core reads; values are not checked."""
    array = as_array(values, name)
    if not isinstance(values, np.ndarray) and getattr(getattr(values, "index", None), "nlevels", 1) > 1:
        raise ArrayError(
            f"{name} is a table by (tail, head), and its order may differ from that of the edges of the graph: "
            f"pass {name}.to_numpy() if it is in the order of graph.tail and graph.head"
        )
    if array.dtype not in WEIGHT_TYPES:
        if isinstance(values, np.ndarray):
            raise ArrayError(f"{name} must be an array of {WEIGHT_TYPE_NAMES}, got {array.dtype}")
        array = _converted(array, name, np.dtype(np.float64))
    if array.shape != (m,):
        raise ArrayError(f"{name} must have one value for each of the {m} edges, got shape {array.shape}")
    return _packed(array, name)


def indices(values: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return a private int32 copy that cannot change after the core has validated it."""
    array = as_array(values, name)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArrayError(f"{name} must be a one-dimensional array of integers, got {array.dtype}{array.shape}")
    if array.size > LARGEST_INDEX:
        raise ArrayError(f"{name} has {array.size} entries; at most 2**31 - 1 are possible")
    if array.dtype != np.int32:
        inside = (array >= 0) & (array <= LARGEST_INDEX)
        require_all(inside, array, name, "between 0 and 2**31 - 1", GraphError)
    # An array that owns its memory can be made writeable again; one over bytes cannot.
    return np.frombuffer(array.astype(np.int32, copy=False).tobytes(), dtype=np.int32)


def coordinates(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return one finite (x, y) per vertex, read-only."""
    array = _floats(values, "coordinates")
    if array.shape != (n, 2):
        raise ArrayError(f"coordinates must have shape ({n}, 2), got {array.shape}")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise GraphError(f"coordinates[{first}] must be finite, got {array[first].tolist()}")
    return frozen(array)


def labels(values: Sequence[Hashable], n: int) -> tuple[Hashable, ...]:
    """Return n distinct labels."""
    try:
        names = tuple(values)
    except TypeError:
        raise ArrayError(f"labels must be a sequence, got {values!r}") from None
    if len(names) != n:
        raise ArrayError(f"labels must name each of the {n} vertices, got {len(names)}")
    seen: dict[Hashable, int] = {}
    for v, label in enumerate(names):
        try:
            first = seen.setdefault(label, v)
        except TypeError:
            raise GraphError(f"labels must be hashable, got {label!r} for vertex {v}") from None
        if first != v:
            raise GraphError(f"labels must be distinct; {label!r} names vertices {first} and {v}")
    return names


def length(values: ArrayLike, m: int) -> NDArray[np.float64]:
    """Return one finite, non-negative length per edge, read-only."""
    array = _floats(values, "length")
    if array.shape != (m,):
        raise ArrayError(f"length must have one value for each of the {m} edges, got shape {array.shape}")
    require_all((array >= 0) & np.isfinite(array), array, "length", "finite and non-negative", GraphError)
    return frozen(array)


def require_all(good: NDArray[np.bool_], values: NDArray[Any], name: str, what: str, kind: type[InputError]) -> None:
    """Raise an error of this kind about the first value that is not good."""
    if not good.all():
        first = int(np.argmin(good))
        raise kind(f"{name}[{first}] must be {what}, got {values[first]}")


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array`, copied if unaligned: arrays that came through a pipe may be."""
    return array if array.flags.aligned else array.copy()


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of `array`; the caller's own array stays writeable."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as an array, or raise if they are a ragged sequence."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ArrayError(f"{name} must be an array of numbers, got a ragged sequence") from None


def _packed(array: NDArray[Any], name: str) -> NDArray[Any]:
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ArrayError(f"{name} must be contiguous and aligned in memory; pass {name}.copy()")
    return array


def not_numbers(values: Any, name: str) -> ArrayError:
    """Return the error for values that are not all numbers; it names the first that is none, if they are a list."""
    listed = enumerate(values) if isinstance(values, list | tuple) else ()
    for k, value in listed:
        if not isinstance(value, int | float | np.number) or isinstance(value, bool):
            return ArrayError(f"{name}[{k}] must be a number, got {value!r}")
    return ArrayError(f"{name} must be an array of numbers, got dtype {np.asarray(values).dtype}")


def _converted(array: NDArray[Any], name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise not_numbers(array, name)
    return array.astype(dtype)


def _floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a float64 copy."""
    return _converted(as_array(values, name), name, np.dtype(np.float64))


def joined(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Return all parts as one array; the list is emptied, so that each part is freed once it is copied."""
    total = np.empty(sum(part.size for part in parts), dtype=dtype)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        total[at : at + part.size] = part
        at += part.size
    return total


# ---------------------------------------------------------------- arguments that bounds share


Side = Literal["upper", "lower", "both"]
"""Which side of a mean is bounded."""


def optional_integer(value: Any, name: str, low: int) -> int | None:
    """Return `value` as an int of at least `low`, or None."""
    return None if value is None else integer(value, name, low)


def probability(value: Any, name: str = "delta") -> float:
    """Return a number strictly between 0 and 1."""
    return number(value, name, "a number strictly between 0 and 1", lambda x: 0 < x < 1)


def positive(value: Any, name: str) -> float:
    """Return a positive finite number."""
    return number(value, name, "a positive finite number", lambda x: 0 < x < math.inf)


def not_negative(value: Any, name: str) -> float:
    """Return a finite number of at least 0."""
    return number(value, name, "a finite number of at least 0", lambda x: 0 <= x < math.inf)


def side(value: Any) -> Side:
    """Return one of the three sides."""
    if value not in ("upper", "lower", "both"):
        raise InputError(f"side must be 'upper', 'lower' or 'both', got {value!r}")
    return value


def utilities(values: ArrayLike, limit: float, *, least: int = 1) -> NDArray[np.float64]:
    """Return utilities within [0, limit], at least `least` of them, or raise naming the first that is not."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ArrayError(f"values must have one dimension, got shape {array.shape}")
    if array.size < least:
        raise UtilityError(f"values must contain at least {least} utilities, got {array.size}")
    inside = (array >= 0) & (array <= limit)
    require_all(inside, array, "values", f"within [0, {limit}], the range of the utility", UtilityError)
    return array
