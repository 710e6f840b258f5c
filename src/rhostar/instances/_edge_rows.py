"""Turns a table with one row per edge and snapshot into a :class:`Network`.

Readers of edge tables and converters of data frames share it. Vertices may be integers or strings, and are sorted.
Integers 0..n-1 are used as vertices directly; anything else becomes labels.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import ReadError, StorageError
from rhostar.graph import Graph
from rhostar.instances._network import Network

BATCH = 1 << 16
"""The number of rows checked at a time."""


class EdgeRows(NamedTuple):
    """Some rows of a table."""

    tail: list[Hashable]
    head: list[Hashable]
    weight: NDArray[np.float64]
    snapshot: list[Hashable] | None


def assemble(
    rows: Iterable[EdgeRows], *, directed: bool, path: object, textual: bool = False, max_entries: int | None = None
) -> Network:
    """Make a network of the rows: vertices and snapshots are numbered as they appear, then vertices are sorted.

    Raises ReadError if the snapshots would have more than `max_entries` weights in all; by default 2**24 or 50 for each
    row, if that is more.
    """
    number: dict[Hashable, int] = {}
    snapshot_number: dict[Hashable, int] = {}
    timed = False
    with _Kept() as kept:
        for part in rows:
            ends = [np.array([number.setdefault(value, len(number)) for value in end]) for end in part[:2]]
            when: Any = 0
            if part.snapshot is not None:
                timed = True
                when = [snapshot_number.setdefault(value, len(snapshot_number)) for value in part.snapshot]
            kept.add(ends[0], ends[1], when, part.weight)
        if not number:
            raise ReadError(path, None, "the table has no rows")
        turn = _integers if textual else list
        names, place = _in_order(turn(list(number)), path)
        tail, head = (place[end] for end in kept.edges())
        if not directed:
            tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        graph = Graph.from_edges(len(number), tail, head, labels=names)
        _require_believable(path, len(snapshot_number), graph.m, kept.apart * (1 if directed else 2), max_entries)
        matrix = files.spacious((max(1, len(snapshot_number)), graph.m))
        for row in matrix:
            row[:] = np.inf
        flat = matrix.reshape(-1)
        for batch in kept:
            tail, head, first = place[batch["tail"]], place[batch["head"]], batch["when"].astype(np.int64) * graph.m
            np.minimum.at(flat, first + graph.edge_index(tail, head), batch["weight"])
            if not directed:
                np.minimum.at(flat, first + graph.edge_index(head, tail), batch["weight"])
    return Network(graph, matrix, tuple(turn(list(snapshot_number))) if timed else None)


class _Kept:
    """The rows of a table without its loops, in numbers; a large one lies in a file. Its edges are in memory, once."""

    _IN_MEMORY = 1 << 26
    _ROW = np.dtype([("tail", np.int32), ("head", np.int32), ("when", np.int32), ("weight", np.float64)])
    _FEW = 1 << 20

    def __init__(self) -> None:
        self.apart = 0
        """How many rows are not loops."""
        self._edges, self._new, self._waiting = np.empty(0, dtype=np.int64), [np.empty(0, dtype=np.int64)], 0

    def __enter__(self) -> _Kept:
        self._file = tempfile.SpooledTemporaryFile(self._IN_MEMORY, prefix="rhostar-")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, tail: NDArray[Any], head: NDArray[Any], when: Any, weight: NDArray[np.float64]) -> None:
        """Add some rows."""
        rows = np.empty(weight.size, dtype=self._ROW)
        rows["tail"], rows["head"], rows["when"], rows["weight"] = tail, head, when, weight
        rows = rows[tail != head]
        self.apart += rows.size
        try:
            self._file.write(rows.tobytes())
        except OSError as error:
            where = tempfile.gettempdir()
            raise StorageError(f"the table does not fit into {where}: {error.strerror or error}") from error
        self._new.append(rows["tail"].astype(np.int64) << 32 | rows["head"])
        self._waiting += rows.size
        if self._waiting > max(self._FEW, self._edges.size):
            self._merge()

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tails and heads of the edges, each edge once."""
        self._merge()
        return self._edges >> 32, self._edges & 0xFFFFFFFF

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Return the rows, some at a time."""
        self._file.seek(0)
        while data := self._file.read(BATCH * self._ROW.itemsize):
            yield np.frombuffer(data, dtype=self._ROW)

    def _merge(self) -> None:
        self._edges = np.unique(np.concatenate([self._edges, *self._new]))
        self._new, self._waiting = [], 0


def _require_believable(path: object, snapshots: int, edges: int, rows: int, max_entries: int | None) -> None:
    bound = max(1 << 24, 50 * rows) if max_entries is None else arrays.integer(max_entries, "max_entries", 1)
    needed = snapshots * edges
    if needed > bound:
        raise ReadError(
            path,
            None,
            f"{rows} rows would make {snapshots} snapshots of {edges} edges, {needed} weights of which nearly all are "
            f"absent; does the snapshot column hold a time stamp that differs from row to row? "
            f"Name intervals instead, or set max_entries={needed}",
        )


def columns(
    path: object, line: int | None, names: list[str], wanted: tuple[str, ...], snapshot: str | None
) -> list[int]:
    """Return the positions of the columns; the snapshot column is last, if there is one."""
    missing = [name for name in (*wanted, *([snapshot] if snapshot else [])) if name not in names]
    if missing:
        what = f"the column {missing[0]!r} is missing; the table has {', '.join(names) or 'none'}"
        other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
        hint = "" if other is None else f" as one column: separate columns by commas, not by {other!r}"
        raise ReadError(path, line, what + hint)
    found = [names.index(name) for name in wanted]
    if snapshot is None and "snapshot" in names and "snapshot" not in wanted:
        snapshot = "snapshot"
    return found if snapshot is None else [*found, names.index(snapshot)]


def typed(path: object, columns: list[list[Any]], line_of: Any, unit: str = "") -> EdgeRows:
    """Return a batch with checked types; `line_of` gives the line of a row in it."""

    def wrong(k: int, what: str) -> ReadError:
        if unit or path == "frame":
            return ReadError(path, None, f"row {line_of(k)}: {what}")
        return ReadError(path, line_of(k), what)

    vertices = [_vertices(column, name, wrong) for column, name in zip(columns[:2], ("tail", "head"), strict=True)]
    try:
        weight = np.array(columns[2], dtype=np.float64)
        if weight.ndim != 1 or _is_odd(columns[2]):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        weight = np.empty(len(columns[2]))
        for k, value in enumerate(columns[2]):
            try:
                if _is_odd([value]):
                    raise ValueError
                weight[k] = value
            except (TypeError, ValueError, OverflowError):
                raise wrong(k, f"weight must be a number, got {str(value)[:60]!r}") from None
    bad = ~(weight >= 0)
    if bad.any():
        k = int(np.argmax(bad))
        raise wrong(k, f"weight must be a non-negative number, got {columns[2][k]!r}")
    if len(columns) == 3:
        return EdgeRows(vertices[0], vertices[1], weight, None)
    for k, value in enumerate(columns[3]):
        if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
            raise wrong(k, "snapshot is missing")
        if not isinstance(value, Hashable):
            raise wrong(k, f"snapshot must be one value, got {str(value)[:60]}")
    return EdgeRows(vertices[0], vertices[1], weight, columns[3])


def _is_odd(column: list[Any]) -> bool:
    """Return whether a text among the numbers is one that only Python takes as a number: 1_0, or other digits."""
    return any(isinstance(value, str) and ("_" in value or not value.isascii()) for value in column)


def _in_order(names: list[Hashable], path: object) -> tuple[list[Hashable] | None, NDArray[np.int32]]:
    """Return (sorted labels, or None if they are 0..n-1; the vertex of each name)."""
    whole = all(isinstance(name, int) for name in names)
    if not whole and not all(isinstance(name, str) for name in names):
        odd = next(name for name in names if isinstance(name, int) != isinstance(names[0], int))
        raise ReadError(path, None, f"vertices must be all integers or all strings, got {names[0]!r} and {odd!r}")
    order = sorted(range(len(names)), key=names.__getitem__)  # type: ignore[arg-type]
    place = np.empty(len(names), dtype=np.int32)
    place[order] = np.arange(len(names), dtype=np.int32)
    ordered = [names[k] for k in order]
    if whole and ordered[0] == 0 and ordered[-1] == len(names) - 1:
        return None, place
    return ordered, place


def _integers(names: list[Hashable]) -> list[Hashable]:
    """Return names as integers if all of them are written as integers."""
    if all(isinstance(name, str) and re.fullmatch(r"0|-?[1-9][0-9]{,999}", name) for name in names):
        return [int(str(name)) for name in names]
    return names


def _vertices(column: list[Any], name: str, wrong: Any) -> list[Hashable]:
    """Return integers and strings unchanged, and whole floats as integers (tables with gaps have floats)."""
    for k, value in enumerate(column):
        if isinstance(value, str) and value.strip():
            continue
        if value is None or isinstance(value, str) or (isinstance(value, float) and np.isnan(value)):
            raise wrong(k, f"{name} is missing")
        if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
            raise wrong(k, f"{name} must be an integer or a string, got {value!r}")
    return [value if isinstance(value, str) else int(value) for value in column]
