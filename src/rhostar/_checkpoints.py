"""Keeps the results of finished chunks in a folder, so that an interrupted computation can be resumed.

A result is kept under a hash of everything that it depends on: the function, its arguments, the graph and the instances
of the chunk. So a computation with other data finds nothing, and nothing is ever counted twice.

A file has arrays, and the plain values between them as JSON. Nothing in it is unpickled, and it contains no type names:
the return annotation of the function says how the values are put together. If a file does not match, its result is
computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rhostar import _archives as archives
from rhostar import _files as files
from rhostar._workers import Own, dumps
from rhostar.errors import StorageError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet

_PLAIN = (bool, int, str, NoneType)
_ARRAY = get_origin(NDArray[Any])
"""ndarray; from numpy 2.5 on, an alias of its own with the type of the numbers as its only argument."""
_DAMAGED = (OSError, StorageError, KeyError, ValueError, TypeError, NameError, RecursionError)


def key_of(function: Callable[..., Any], arguments: Mapping[str, Any], own: Own) -> str:
    """Return a hash of a call by content: equal graphs and instances count as equal, whatever set they come from."""

    def token_of(thing: Any) -> str | None:
        if isinstance(thing, Graph):
            return thing._token
        return _instances_token(thing) if isinstance(thing, InstanceSet) else None

    name = (function.__module__, function.__qualname__, version("rhostar"))
    return hashlib.blake2b(dumps((name, dict(arguments), own), token_of), digest_size=20).hexdigest()


def _instances_token(instances: InstanceSet) -> str:
    used, row = np.unique(instances._stored_rows, return_inverse=True)
    digest = hashlib.blake2b(instances.graph._token.encode(), digest_size=20)
    if instances._home is not None:  # a saved set is known by its token: its snapshots need not be read
        digest.update(f"{instances._home[1]} {used.tolist()}".encode())
    else:
        digest.update(str((instances._stored.dtype, used.size)).encode())
        for k in used.tolist():
            digest.update(np.ascontiguousarray(instances._stored[k]).data)
    for part in (row.astype(np.int64), instances.sources, instances.goals):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def load(folder: Path, key: str, function: Callable[..., Any]) -> tuple[Any] | None:
    """Return (result,), or None if it is not there, or its file is damaged or has something else."""
    path = folder / f"{key}.npz"
    if not path.is_file():
        return None
    try:
        parts = archives.read_arrays(path, lambda name: True, strict=True)
        form = json.loads(parts.pop("form").tobytes())
        if form["digest"] != _digest(key, form["value"], parts):
            return None
        return (_restore(get_type_hints(function)["return"], form["value"], parts),)
    except _DAMAGED:
        return None  # it is computed again, and the file replaced


def save(folder: Path, key: str, function: Callable[..., Any], result: Any) -> None:
    """Keep a result; one that cannot be read back, by the annotation of the function, is not kept."""
    parts: dict[str, NDArray[Any]] = {}
    try:
        value = _plain(result, parts)
        _restore(get_type_hints(function)["return"], value, parts)
    except _DAMAGED:
        return
    form = {"digest": _digest(key, value, parts), "value": value}
    parts["form"] = np.frombuffer(json.dumps(form).encode(), dtype=np.uint8)
    with files.replacing(folder / f"{key}.npz") as beside, beside.open("wb") as stream:
        np.savez(stream, **parts)  # type: ignore[arg-type]


def _digest(key: str, value: Any, parts: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(json.dumps([key, value]).encode(), digest_size=20)
    for name in sorted(parts):
        digest.update(f"{name} {parts[name].dtype.str} {parts[name].shape}".encode())
        digest.update(np.ascontiguousarray(parts[name]).data)
    return digest.hexdigest()


def _plain(value: Any, parts: dict[str, NDArray[Any]]) -> Any:
    """Return a value as JSON: arrays go to `parts` and become their name, records become lists of their fields."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        name = f"array{len(parts)}"
        parts[name] = value
        return name
    fields = value if isinstance(value, list | tuple) else [getattr(value, name) for name in _fields(type(value))]
    return [_plain(field, parts) for field in fields]


def _restore(kind: Any, value: Any, parts: Mapping[str, NDArray[Any]]) -> Any:
    """Return a value of an annotated type from its plain form; any other form is a ValueError."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        kind = next(one for one in inner if (one is NoneType) == (value is None))
        return _restore(kind, value, parts)
    if kind in _PLAIN and type(value) is kind:
        return value
    if kind is float:
        return float.fromhex(value)
    if origin is _ARRAY:
        array, scalar = parts[value], (get_args(inner[-1]) or inner)[-1]
        if scalar is Any or array.dtype == scalar or (scalar is np.str_ and array.dtype.kind == "U"):
            return array.copy()
    elif isinstance(value, list):
        if origin is list:
            return [_restore(inner[0], part, parts) for part in value]
        kinds = inner if origin is tuple else tuple(_fields(kind).values())
        fields = [_restore(one, part, parts) for one, part in zip(kinds, value, strict=True)]
        return tuple(fields) if origin is tuple else kind(*fields)
    raise ValueError(f"not a {kind}")


def _fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a record with their types: a named tuple, a data class or the like."""
    hints = get_type_hints(kind if issubclass(kind, tuple) else kind.__init__)
    return {name: hint for name, hint in hints.items() if name != "return"}
