"""Hierarchies in files: plain arrays, which are mapped and checked when they are opened.

A hierarchy is one ``.npz`` file. It holds the hash of its graph and is rejected for every other one. Nothing in it is
ever unpickled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _archives as archives
from rhostar import _core
from rhostar import _files as files
from rhostar.errors import StorageError
from rhostar.graph import Graph

_KIND = "rhostar-hierarchy"
_VERSION = 1
PARTS = (
    "vertex",
    "begin",
    "list_first",
    "list",
    "edge",
    "targets",
    "first_side",
    "side",
    "first_node",
    "node",
)
"""The arrays of a hierarchy, in the order of the core."""


def write_hierarchy(path: str | os.PathLike[str], kernel: _core.Hierarchy, graph: Graph) -> None:
    """Write a hierarchy and the hash of its graph."""
    facts = {"format": _KIND, "version": _VERSION, "fingerprint": graph.fingerprint}
    arrays: dict[str, NDArray[Any]] = {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)}
    arrays.update(hierarchy_parts(kernel))
    with files.replacing(path) as beside, beside.open("wb") as stream:
        archives.write_arrays(stream, arrays, mappable=PARTS.__contains__)


def read_hierarchy(path: str | os.PathLike[str], graph: Graph) -> _core.Hierarchy:
    """Return the hierarchy of this graph in a file, or raise :class:`StorageError`."""
    where = os.fspath(path)
    try:
        found = archives.read_arrays(
            path, {"facts", *PARTS}, strict=True, what="hierarchy of rhostar", mappable=PARTS.__contains__
        )
        facts = json.loads(found.pop("facts").tobytes().decode())
        if facts["format"] != _KIND or facts["version"] != _VERSION:
            raise StorageError(f"{where} contains {facts['format']!r} version {facts['version']}, not a hierarchy")
        if facts["fingerprint"] != graph.fingerprint:
            raise StorageError(f"{where} is the hierarchy of another graph")
        kernel = open_hierarchy(found, graph)
    except FileNotFoundError:
        raise StorageError(f"there is no hierarchy at {where}") from None
    except OSError as error:
        raise StorageError(f"{where} cannot be read: {error.strerror or error}") from error
    except (StorageError, MemoryError):
        raise
    except Exception as error:  # damaged facts can fail in many ways
        raise StorageError(f"{where} is damaged or not a hierarchy of rhostar ({type(error).__name__})") from None
    if kernel is None:
        raise StorageError(f"{where} is damaged: its arrays are not those of a hierarchy of this graph")
    return kernel


def hierarchy_parts(kernel: _core.Hierarchy) -> dict[str, NDArray[np.int32]]:
    """Return the arrays of a hierarchy by name, for files."""
    return dict(zip(PARTS, kernel.parts, strict=True))


def open_hierarchy(parts: Mapping[str, NDArray[np.int32]], graph: Graph) -> _core.Hierarchy | None:
    """Return a hierarchy with these arrays, which it keeps, or None if they are not those of one of this graph."""
    chosen = [parts[name] for name in PARTS]
    if any(part.dtype != np.int32 or part.ndim != 1 or not part.flags.c_contiguous for part in chosen):
        return None
    return graph._kernel.open_hierarchy(chosen)
