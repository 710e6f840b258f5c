"""Keeps the results of finished chunks in a folder, so that a long computation that was ended can be resumed.

A result is kept under a hash of everything that it depends on: the function, its arguments, the graph and the instances
of the chunk. So a computation with other data finds nothing, and nothing is ever counted twice. Files are plain arrays
and JSON; nothing in them is ever unpickled.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _archives as archives
from rhostar import _files as files
from rhostar.errors import StorageError

_active: ContextVar[Checkpoints | None] = ContextVar("_active", default=None)


@contextlib.contextmanager
def resuming(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep finished parts of everything computed in this block, and take those that are there already.

    Fits, labels, evaluations and certificates are computed in parts, up to 64 for each pass over the instances. If the
    process is killed, run the same program again: it computes only the parts that are missing, and ends with the same
    bits. Results are kept by content: with other instances, arguments or another version of rhostar nothing is reused.
    Delete the folder when the computation is done.

    Parameters
    ----------
    folder
        Where to keep the parts; it is made if missing.

    Raises
    ------
    StorageError
        If the disk refuses.

    Examples
    --------
    >>> import numpy as np, pathlib, rhostar as rs, tempfile
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> with tempfile.TemporaryDirectory() as folder, rs.resuming(folder):
    ...     first = rs.learners.MeanDistance().fit(instances).rho_
    ...     parts = len(list(pathlib.Path(folder).iterdir()))
    ...     again = rs.learners.MeanDistance().fit(instances).rho_  # reads the parts
    >>> parts, bool((first == again).all())
    (20, True)
    """
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot keep parts in {home}: {error.strerror or error}") from error
    token = _active.set(Checkpoints(home))
    try:
        yield
    finally:
        _active.reset(token)


def active() -> Checkpoints | None:
    """Return where results are kept now, or None."""
    return _active.get()


class Checkpoints:
    """Results in a folder, one file each."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def load(self, key: str) -> tuple[Any] | None:
        """Return (result,), or None if it is not there or its file is damaged."""
        try:
            parts = archives.read_arrays(self._path(key), lambda name: True, strict=True, max_bytes=1 << 40)
            form = json.loads(parts.pop("form").tobytes().decode())
            if form["key"] != key:
                return None
            return (_put_together(form["value"], parts),)
        except FileNotFoundError:
            return None
        except (StorageError, OSError, KeyError, ValueError, TypeError, AttributeError, ImportError):
            return None  # it is computed again, and the file replaced

    def save(self, key: str, result: Any) -> None:
        """Keep a result; one that is not made of arrays and plain values is not kept."""
        parts: dict[str, NDArray[Any]] = {}
        try:
            form = {"key": key, "value": _take_apart(result, parts)}
        except TypeError:
            return
        parts["form"] = np.frombuffer(json.dumps(form).encode(), dtype=np.uint8)
        with files.replacing(self._path(key)) as beside, beside.open("wb") as stream:
            np.savez(stream, **parts)  # type: ignore[arg-type]

    def _path(self, key: str) -> Path:
        return self.home / f"{key}.npz"


def _take_apart(value: Any, parts: dict[str, NDArray[Any]]) -> Any:
    """Return a value as JSON; arrays go to `parts`, records of rhostar are written as their class and fields."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufU":
            raise TypeError(value.dtype)
        name = f"a{len(parts)}"
        parts[name] = value
        return ["array", name, bool(value.flags.writeable)]
    kind = type(value)
    if kind is list or kind is tuple:
        return [kind.__name__, [_take_apart(part, parts) for part in value]]
    if kind.__module__.startswith("rhostar."):
        if dataclasses.is_dataclass(value):
            content = {entry.name: getattr(value, entry.name) for entry in dataclasses.fields(value)}
        elif isinstance(value, tuple) and hasattr(value, "_asdict"):
            content = value._asdict()
        elif getattr(kind, "__init__", None) is not object.__init__ and hasattr(value, "__dict__"):
            content = dict(vars(value))
        else:
            raise TypeError(kind)
        where = [kind.__module__, kind.__qualname__]
        return ["record", where, {name: _take_apart(part, parts) for name, part in content.items()}]
    raise TypeError(kind)


def _put_together(form: Any, parts: dict[str, NDArray[Any]]) -> Any:
    if not isinstance(form, list):
        return form
    kind, content, *more = form
    if kind == "float":
        return float.fromhex(content)
    if kind == "array":
        array = parts[content]
        return array.copy() if more[0] else array
    if kind in ("list", "tuple"):
        found = [_put_together(part, parts) for part in content]
        return found if kind == "list" else tuple(found)
    module, name = content
    if kind != "record" or not module.startswith("rhostar."):
        raise ValueError(kind)
    made = getattr(importlib.import_module(module), name)
    if not isinstance(made, type):
        raise ValueError(name)
    return made(**{name: _put_together(part, parts) for name, part in more[0].items()})
