"""Saves and loads a set of instances, and pickles it for other processes.

A set is saved as a folder (:mod:`rhostar.instances._folder`). A set that was loaded from one pickles as its name and
rows: each process maps the folder itself, and no weights are sent. On another machine a copy of the folder may be
elsewhere: see :func:`_places`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError, StorageError
from rhostar.graph import Graph
from rhostar.graph import _storage as graph_storage
from rhostar.instances import _checks as checks
from rhostar.instances import _folder as folders
from rhostar.instances._pool import Drawn

if TYPE_CHECKING:
    from rhostar.instances._set import InstanceSet

_KIND = "rhostar-instances"


def save(instances: InstanceSet, folder: str | os.PathLike[str]) -> None:
    """Save a set with the snapshots that it uses."""
    used, row = np.unique(instances._stored_rows, return_inverse=True)
    parts, facts = graph_storage.take_apart(instances.graph)
    parts |= {"sources": instances.sources, "goals": instances.goals, "rows": row.astype(np.int64)}
    parts |= {"indices": instances.indices, "weights": folders.Rows(instances._stored, used)}
    if instances._stored_days is not None:
        parts["days"] = instances._stored_days[used]
    folders.write(folder, _KIND, parts, facts | {"origin": instances.origin, "drawn": instances._drawn.to_fact()})


def load(made: type[InstanceSet], folder: str | os.PathLike[str], *, mmap: bool, verify: bool) -> InstanceSet:
    """Return a saved set, or raise StorageError."""
    place = os.path.abspath(folder)
    stored = folders.read(folder, _KIND, mmap=mmap, verify=verify)
    found = stored.arrays
    try:
        graph = graph_storage.put_together(found, stored.facts)
        row, source, target = checks.align(
            graph, len(found["weights"]), found["rows"], found["sources"], found["goals"]
        )
        matrix = checks.matrix(found["weights"], graph.m)
        days = checks.days(found.get("days"), len(matrix))
        indices, origin = found["indices"], stored.facts["origin"]
        drawn = Drawn.from_fact(stored.facts["drawn"])
        if indices.shape != row.shape or indices.dtype != np.int64:
            raise ArrayError("indices do not match the instances")
        if not isinstance(origin, str):
            raise ArrayError("the origin is not a name")
    except (KeyError, InputError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(f"{folder} does not contain a set of instances: {error}") from error
    home = (place, stored.token) if mmap else None
    return _rebuild(made, graph, matrix, row, source, target, origin, indices, drawn, days, home)


def reduce(instances: InstanceSet) -> tuple[Any, ...]:
    """Return what pickle needs: a folder, or the snapshots that the set uses."""
    made = type(instances)  # pickled by name; this module cannot import it
    chosen = (instances.sources, instances.goals, instances.origin, instances.indices, instances._drawn)
    days = instances._stored_days
    if instances._home is not None:
        return _reopen, (made, *instances._home, instances._stored_rows, *chosen, days)
    used, row = np.unique(instances._stored_rows, return_inverse=True)
    days = None if days is None else days[used]
    return _rebuild, (made, instances.graph, instances._stored[used], row.astype(np.int64), *chosen, days)


_opened: dict[tuple[str, str], InstanceSet] = {}
_KEPT_OPEN = 4


def _reopen(made: type[InstanceSet], folder: str, token: str, *parts: Any) -> InstanceSet:
    """Unpickle a part of a mapped set: each process opens the folder once."""
    whole = _opened.get((folder, token))
    if whole is None:
        place = _locate(folder, token)
        # A copy is read once and compared with its checksums; the folder itself was checked when it was loaded.
        whole = made.load(place, verify=place != folder)
        if whole._home is None or whole._home[1] != token:
            raise _replaced(folder)
        while len(_opened) >= _KEPT_OPEN:
            _opened.pop(next(iter(_opened)), None)
        _opened[folder, token] = whole
    return _rebuild(made, whole.graph, whole._stored, *parts, (folder, token))  # type: ignore[call-arg]


def _locate(folder: str, token: str) -> str:
    """Return where the set is on this machine: a place with the same token."""
    tried = []
    for place in _places(folder):
        found = folders.token_of(place, _KIND)
        if found == token:
            return place
        if found is not None:
            tried.append(place)
    if folder in tried:
        raise _replaced(folder)
    if tried:
        raise StorageError(f"{tried[0]} contains another set than {folder} on the machine that sent this work")
    roots = os.environ.get(ROOTS)
    where = f"nor under {ROOTS}={roots}" if roots else f"and {ROOTS} does not say where copies of sets are"
    raise StorageError(f"{folder} does not exist on this machine, {where}")


ROOTS = "RHOSTAR_SETS"
"""The environment variable with the folders, separated like those of PATH, under which a machine has copies of sets."""


def _places(folder: str) -> Iterator[str]:
    """Return where to look for a set: the folder itself, then its last parts under each root.

    For /data/may/roads and a root /scratch these are /scratch/data/may/roads, /scratch/may/roads and /scratch/roads.
    """
    yield folder
    parts = Path(folder).parts[1:]
    for root in filter(None, os.environ.get(ROOTS, "").split(os.pathsep)):
        for begin in range(len(parts)):
            yield os.path.join(root, *parts[begin:])


def _replaced(folder: str) -> StorageError:
    return StorageError(f"{folder} was saved again after this set was made from it")


def _rebuild(
    made: type[InstanceSet],
    graph: Graph,
    weights: NDArray[Any],
    rows: Any,
    sources: Any,
    goals: Any,
    origin: str,
    indices: Any,
    drawn: Drawn,
    days: Any,
    home: tuple[str, str] | None = None,
) -> InstanceSet:
    rows, sources, goals, indices = (arrays.aligned(array) for array in (rows, sources, goals, indices))
    whole = object.__new__(made)
    matrix, days = arrays.aligned(weights), None if days is None else arrays.aligned(days)
    return whole._fill(graph, matrix, rows, sources, goals, origin, indices, home=home, drawn=drawn, days=days)
