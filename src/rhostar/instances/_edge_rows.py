"""Turns a table with one row per edge and snapshot into a :class:`Network`.

Readers of edge tables and converters of data frames share it. Vertices may be integers or strings, and are sorted.
Integers 0..n-1 are used as vertices directly; anything else becomes labels.
"""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import InputError, ReadError, RhostarWarning, StorageError
from rhostar.graph import Graph
from rhostar.instances._missing import Policy, fill, missing_weights, refuse, require_policy
from rhostar.instances._network import Network, Reading
from rhostar.instances._timestamps import days_of, moment, moments

BATCH = 1 << 16
"""The number of rows checked at a time."""
_LISTED = 10
"""How many snapshots an error names."""
_EARLY = 1 << 20
"""Rows after which a missing weight is an error, although the table goes on."""
_CROWDED = 3
"""So many rows for each edge and snapshot look like several snapshots."""


class Coded(NamedTuple):
    """A column of few different values: row k holds ``values[codes[k]]``."""

    values: list[Hashable]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, column: Iterable[Hashable]) -> Coded:
        """Return a column with its values in the order in which they first occur."""
        number: dict[Hashable, int] = {}
        codes = [number.setdefault(value, len(number)) for value in column]
        return cls(list(number), np.array(codes, dtype=np.int32))

    def first(self, code: int) -> int:
        """Return the first row with this value."""
        return int(np.argmax(self.codes == code))


class EdgeRows(NamedTuple):
    """Some rows of a table; a weight that is missing is NaN."""

    tail: Coded
    head: Coded
    weight: NDArray[np.float64]
    snapshot: Coded | None
    place: Callable[[int], str]
    """Says where a row is, such as "line 5"."""


def assemble(
    rows: Iterable[EdgeRows],
    *,
    directed: bool,
    path: object,
    textual: bool = False,
    max_entries: int | None = None,
    missing: Policy | Literal["keep"] = "error",
    graph: Graph | None = None,
    history: NDArray[Any] | None = None,
    one: bool = False,
) -> Network:
    """Make a network of the rows; vertices are sorted, and so are snapshots whose names are time stamps.

    With `graph`, the weights are for its edges, found by their labels; other edges are counted and left out. `history`
    has earlier snapshots of it, which "last" and "median" take weights from.

    Raises ReadError if the snapshots would have more than `max_entries` weights in all (by default 2**24, or 50 for
    each row if that is more), and if weights are missing and `missing` is "error". "keep" leaves them NaN. With `one`
    it also raises if an edge has rows in several snapshots: they are not parallel edges.
    """
    policy = "keep" if missing == "keep" else require_policy(missing)
    is_given = graph is not None
    with _Kept() as kept:
        for part in rows:
            kept.add(part)
            if policy == "error" and not is_given and kept.size - kept.doubtful > _EARLY:
                kept.refuse_gaps(path, directed)
        if not kept.vertices:
            raise ReadError(path, None, "the table has no rows")
        turn = _integers if textual else list
        names, days, rank = _in_time(turn(list(kept.snapshots)), kept.first_rows, path)
        first, second = kept.arcs()
        if one and len(names) > 1:
            if first.size < kept.size:
                listed = ", ".join([*map(str, names[:_LISTED]), *["..."] * (len(names) > _LISTED)])
                what = f"expected one snapshot, got {len(names)}: {listed}; say which with time (--time)"
                raise ReadError(path, None, what)
            names, rank = names[-1:], np.zeros_like(rank)  # each edge was measured once, not all at the same time
        per_snapshot = kept.size / (first.size * max(1, len(names)))
        if per_snapshot >= _CROWDED:
            warnings.warn(
                f"{path}: {per_snapshot:.3g} rows for each edge and snapshot, of which the cheapest counts; if a "
                "column says when each was measured, name it with snapshot=NAME (--columns snapshot=NAME)",
                RhostarWarning,
                stacklevel=2,
            )
        loops = first == second
        others = 0
        if graph is None:
            labels, place = _in_order(turn(list(kept.vertices)), path)
            tail, head = place[first[~loops]], place[second[~loops]]
            if not directed:
                tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
            graph = Graph.from_edges(len(kept.vertices), tail, head, labels=labels)
        else:
            place = _places(list(kept.vertices), graph)
            ends = place[first[~loops]], place[second[~loops]]
            found = _edges(graph, *ends) if directed else np.maximum(_edges(graph, *ends), _edges(graph, *ends[::-1]))
            others = int((found < 0).sum())
            if others == found.size:
                raise ReadError(path, None, _no_common_edge(graph, list(kept.vertices), place))
        believed = kept.size * (1 if directed else 2) + graph.m * is_given
        _require_plausible(path, len(names), graph.m, believed, max_entries)
        numbered = _Numbered(kept, graph, place, rank if kept.timed else np.zeros(1, dtype=np.int32))
        matrix = files.spacious((max(1, len(names)), graph.m))
        most = _fill_rows(matrix, numbered, directed)
        lacking = sum(int(np.count_nonzero(np.isnan(row))) for row in matrix)
        if lacking and policy == "error":
            where = partial(numbered.place_of, directed=directed)
            refuse(path, graph, matrix, names if kept.timed else None, where)
    if lacking and policy != "keep":
        fill(path, graph, matrix, policy, history)
    reading = Reading(
        loops=int(loops.sum()),
        parallels=int((most - 1).sum()),
        missing=lacking,
        policy=policy if lacking else None,
        others=others,
    )
    return Network(graph, matrix, tuple(names) if kept.timed else None, days, reading=reading)


class _Kept:
    """All rows of a table, by the numbers of their vertices and snapshots; if they are many, they are stored in a file.

    In memory are the vertices, the snapshots, and each arc once, however many rows it has.
    """

    IN_MEMORY = 1 << 26
    """Bytes of rows beyond which they are stored in a file."""
    FEW = 1 << 20
    """Rows whose arcs are put together at a time."""
    ROW = np.dtype([("tail", np.int32), ("head", np.int32), ("when", np.int32), ("weight", np.float64)])

    def __init__(self) -> None:
        self.vertices: dict[Hashable, int] = {}
        self.snapshots: dict[Hashable, int] = {}
        """Both in the order in which they first occur."""
        self.first_rows: list[str] = []
        """Where each snapshot first occurs."""
        self.size, self.timed = 0, False
        self.gaps: list[tuple[int, Callable[[int], str]]] = []
        """For each part with gaps, its first row and the place of each."""
        self.doubtful: float = math.inf
        """The first row of the first part whose gaps another row may still fill."""
        self._arcs = np.empty(0, dtype=np.int64)
        self._new: list[NDArray[np.int64]] = []
        self._waiting = 0

    def __enter__(self) -> _Kept:
        self._file = tempfile.SpooledTemporaryFile(self.IN_MEMORY, prefix="rhostar-")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, part: EdgeRows) -> None:
        rows = np.empty(part.weight.size, dtype=self.ROW)
        rows["tail"], rows["head"] = _numbers(part.tail, self.vertices), _numbers(part.head, self.vertices)
        rows["when"] = 0 if part.snapshot is None else _numbers(part.snapshot, self.snapshots)
        rows["weight"] = part.weight
        self.timed = self.timed or part.snapshot is not None
        if len(self.first_rows) < len(self.snapshots):
            new, first = np.unique(rows["when"], return_index=True)
            self.first_rows += [part.place(int(k)) for k in first[new >= len(self.first_rows)]]
        if np.isnan(part.weight).any():
            self.gaps.append((self.size, part.place))
            self.doubtful = min(self.doubtful, self.size)
        self.size += rows.size
        try:
            self._file.write(rows.tobytes())
        except OSError as error:
            where = tempfile.gettempdir()
            raise StorageError(f"the table does not fit into {where}: {error.strerror or error}") from error
        self._new.append(rows["tail"].astype(np.int64) << 32 | rows["head"])
        self._waiting += rows.size
        if self._waiting > max(self.FEW, self._arcs.size):
            self._merge()

    def arcs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tails and heads of all rows, each pair once."""
        self._merge()
        return self._arcs >> 32, self._arcs & 0xFFFFFFFF

    def place(self, row: int) -> str:
        """Return where a row without a weight is in the table."""
        begin, place_in_part = self.gaps[bisect_right(self.gaps, row, key=itemgetter(0)) - 1]
        return place_in_part(row - begin)

    def refuse_gaps(self, path: object, directed: bool) -> None:
        """Raise if a weight is missing in the rows so far, before all others are read.

        Rows of one edge and snapshot are close together in any usual table: a row far below does not fill the gap.
        """
        start = max(0, int(self.doubtful) - _EARLY)
        lacking: dict[tuple[int, int, int], int] = {}
        for is_missing in (True, False):
            row = start
            for batch in self.since(start):
                tail, head = batch["tail"], batch["head"]
                if not directed:
                    tail, head = np.minimum(tail, head), np.maximum(tail, head)
                found = np.isnan(batch["weight"]) if is_missing else np.isin(tail, [key[1] for key in lacking])
                for k in np.flatnonzero(found & (tail != head)).tolist():
                    key = int(batch["when"][k]), int(tail[k]), int(head[k])
                    if is_missing:
                        lacking.setdefault(key, row + k)
                    elif not np.isnan(batch["weight"][k]):
                        lacking.pop(key, None)
                row += batch.size
        self.doubtful = math.inf
        if lacking:
            vertices, snapshots = list(self.vertices), list(self.snapshots)
            named = (
                f"{vertices[tail]!r} -> {vertices[head]!r}"
                f"{f' in snapshot {snapshots[when]!r}' if self.timed else ''} ({self.place(row)})"
                for (when, tail, head), row in lacking.items()
            )
            raise missing_weights(path, f"of the first {self.size}", len(lacking), named)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Return the rows, some at a time."""
        return self.since(0)

    def since(self, row: int) -> Iterator[NDArray[Any]]:
        """Return the rows from this one, some at a time."""
        self._file.seek(row * self.ROW.itemsize)
        while data := self._file.read(BATCH * self.ROW.itemsize):
            yield np.frombuffer(data, dtype=self.ROW)

    def _merge(self) -> None:
        self._arcs = np.unique(np.concatenate([self._arcs, *self._new]))
        self._new, self._waiting = [], 0


def _numbers(column: Coded, number: dict[Hashable, int]) -> NDArray[np.int32]:
    """Return a column by the numbers of its values; those that are new get the next ones."""
    return np.array([number.setdefault(v, len(number)) for v in column.values], dtype=np.int32)[column.codes]


class _Numbered:
    """The rows of a table by the snapshots and edges of its network."""

    def __init__(self, kept: _Kept, graph: Graph, vertex: NDArray[np.int32], snapshot: NDArray[np.int32]) -> None:
        self.kept, self.graph, self.vertex, self.snapshot = kept, graph, vertex, snapshot

    def batches(self, turned: bool = False) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]]:
        """Return (snapshots, edges or -1 for loops, weights), some rows at a time; `turned` gives the ways back."""
        for batch in self.kept:
            tail, head = self.vertex[batch["tail"]], self.vertex[batch["head"]]
            ends = (head, tail) if turned else (tail, head)
            yield self.snapshot[batch["when"]], _edges(self.graph, *ends), batch["weight"]

    def place_of(self, snapshot: int, edge: int, directed: bool) -> str:
        """Return the place in the table where the weight of an edge is missing."""
        for turned in (False,) if directed else (False, True):
            first = 0
            for when, edges, weight in self.batches(turned):
                mine = np.flatnonzero((when == snapshot) & (edges == edge) & np.isnan(weight))
                if mine.size:
                    return self.kept.place(first + int(mine[0]))
                first += when.size
        return "no row"


def _places(names: list[Hashable], graph: Graph) -> NDArray[np.int32]:
    """Return the vertex of each name in a given graph, -1 if it has none; 10 and "10" are the same name."""
    # A number is a vertex only if the graph has no labels.
    known = {str(label): v for v, label in enumerate(graph.labels or range(graph.n))}
    if len(known) < graph.n:
        raise InputError("the graph has labels that a table cannot distinguish, such as 1 and '1'")
    return np.array([known.get(str(name), -1) for name in names], dtype=np.int32)


def _edges(graph: Graph, tail: NDArray[np.int32], head: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the positions of edges, -1 for loops and for edges that the graph lacks; its vertices may be -1."""
    unknown = (tail < 0) | (head < 0)  # such an edge becomes a loop
    found: NDArray[np.int32] = graph._kernel.edge_index(np.where(unknown, 0, tail), np.where(unknown, 0, head))
    return found


def _no_common_edge(graph: Graph, names: list[Hashable], place: NDArray[np.int32]) -> str:
    """Return what to say of a table that has no edge of the graph."""
    if (place >= 0).any():
        return "the table has no edge of the graph, though it has vertices of it; are tail and head in the right order?"
    ours: Any = graph.labels or range(graph.n)
    some, mine = (", ".join([*map(str, few[:3]), *["..."] * (len(few) > 3)]) for few in (names, ours))
    return f"the table has no edge of the graph; its vertices are {some}, and those of the graph {mine}"


def _fill_rows(matrix: NDArray[np.float64], rows: _Numbered, directed: bool) -> NDArray[np.int64]:
    """Write the cheapest weight of each edge in each snapshot, NaN if there is none; return the most rows for each."""
    m = matrix.shape[1]
    counts = files.spacious(matrix.shape, np.int32)
    for row, count in zip(matrix, counts, strict=True):
        row[:], count[:] = np.nan, 0
    for turned in (False,) if directed else (False, True):
        for when, edge, weight in rows.batches(turned):
            there = edge >= 0
            position = when[there].astype(np.int64) * m + edge[there]
            np.fmin.at(matrix.reshape(-1), position, weight[there])
            np.add.at(counts.reshape(-1), position, 1)
    most = np.ones(m, dtype=np.int64)
    for count in counts:
        np.maximum(most, count, out=most)
    return most


def _in_time(
    names: list[Hashable], first_rows: list[str], path: object
) -> tuple[list[Hashable], NDArray[np.int64] | None, NDArray[np.int32]]:
    """Return (names in order, the day of each, the new place of each); only time stamps are sorted and have days."""
    stamp = next(filter(moment, names), None)
    if stamp is None:
        if names and re.match(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}\b", str(names[0])):
            what = f"snapshots such as {names[0]!r} are not ISO time stamps (2026-03-31 08:00)"
            warnings.warn(
                f"{path}: {what}: they stay in the order of the table, and days are not known",
                RhostarWarning,
                stacklevel=3,
            )
        return names, None, np.arange(len(names), dtype=np.int32)
    when: list[Any] = []
    for name, place in zip(names, first_rows, strict=True):
        if moments([stamp, name]) is None:  # a typing error would be a snapshot of its own
            raise ReadError(
                path, None, f"{place}: snapshots must be all time stamps or none, got {name!r} and {stamp!r}"
            )
        when.append(moment(name))
    order = sorted(range(len(names)), key=when.__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return [names[k] for k in order], days_of([when[k] for k in order]), rank


def _require_plausible(path: object, snapshots: int, edges: int, rows: int, max_entries: int | None) -> None:
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
