"""Edges as a table: one row per edge and snapshot, with columns for tail, head, weight and snapshot.

From CSV or Parquet files and from pandas. Vertices may be integers or strings. They are put in order: integers by
size, strings by alphabet; integers 0..n-1 are vertices as they are, anything else becomes the labels.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.datasets import text
from rhostar.datasets.network import Network
from rhostar.errors import InputError, ReadError
from rhostar.graph import Graph

_ROWS = 1 << 16


class Rows(NamedTuple):
    """Some rows of a table."""

    tail: list[Hashable]
    head: list[Hashable]
    weight: NDArray[np.float64]
    snapshot: list[Hashable] | None


def read_edge_table(
    path: str | os.PathLike[str],
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    snapshot: str | None = None,
    directed: bool = True,
) -> Network:
    r"""Read edges from a CSV (also ``.csv.gz``) or Parquet file.

    Parameters
    ----------
    path
        The file; Parquet where its name ends with ``.parquet`` (this needs pyarrow).
    tail, head, weight
        Names of the columns.
    snapshot
        Name of the column that says which snapshot a row belongs to; None takes a column called "snapshot" where
        there is one, and otherwise all rows as one snapshot. Snapshots keep the order of their first rows.
    directed
        Whether an edge leads from tail to head alone; otherwise both ways.

    Returns
    -------
    Network
        An edge that has no row in a snapshot is absent there (``inf``); of several rows the cheapest counts.

    Raises
    ------
    ReadError
        Naming the file, the line (or row) and what was expected.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "times.csv"
    ...     _ = path.write_text("tail,head,weight,snapshot\nhome,work,12,mon\nhome,work,15,tue\nwork,home,9,tue\n")
    ...     network = rs.datasets.read_edge_table(path)
    >>> network.graph.labels, network.names, network.weights.tolist()
    (('home', 'work'), ('mon', 'tue'), [[12.0, inf], [15.0, 9.0]])
    """
    columns = (tail, head, weight)
    parquet = os.fspath(path).endswith((".parquet", ".pq"))
    if parquet:
        rows = _parquet_rows(path, columns, snapshot)
    else:
        rows = _csv_rows(path, columns, snapshot)
    return assemble(rows, directed=directed, path=path, textual=not parquet)


def from_pandas(
    frame: Any,
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    snapshot: str | None = None,
    directed: bool = True,
) -> Network:
    """Return the network of a pandas table of edges; parameters are those of :func:`read_edge_table`.

    Raises
    ------
    InputError
        If a column is missing, or naming the first row that cannot be used.

    Examples
    --------
    >>> import pandas as pd, rhostar as rs
    >>> frame = pd.DataFrame({"tail": [0, 1], "head": [1, 2], "weight": [1.5, 2.5]})
    >>> rs.datasets.from_pandas(frame)
    Network(3 vertices, 2 edges, 1 snapshot)
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise InputError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    names = [str(name) for name in frame.columns]
    found = _columns("frame", None, names, (tail, head, weight), snapshot)

    def rows() -> Iterator[Rows]:
        for begin in range(0, len(frame), _ROWS):
            part = frame.iloc[begin : begin + _ROWS]
            yield _typed("frame", [part.iloc[:, k].tolist() for k in found], lambda k, at=begin: at + k)

    return assemble(rows(), directed=directed, path="frame")


def assemble(rows: Iterable[Rows], *, directed: bool, path: object, textual: bool = False) -> Network:
    """Put the rows together: numbers for vertices and snapshots as they appear, then vertices in order."""
    number: dict[Hashable, int] = {}
    snapshot_number: dict[Hashable, int] = {}
    tails: list[NDArray[Any]] = []
    heads: list[NDArray[Any]] = []
    weights: list[NDArray[Any]] = []
    whens: list[NDArray[Any]] = []
    timed = False
    for part in rows:
        for values, column in ((part.tail, tails), (part.head, heads)):
            numbers = [number.setdefault(value, len(number)) for value in values]
            column.append(np.array(numbers, dtype=np.int32))
        weights.append(part.weight)
        if part.snapshot is not None:
            timed = True
            numbers = [snapshot_number.setdefault(value, len(snapshot_number)) for value in part.snapshot]
            whens.append(np.array(numbers, dtype=np.int32))
    if not number:
        raise ReadError(path, None, "the table has no rows")
    turn = _integers if textual else list
    names, place = _in_order(turn(list(number)), path)
    tail, head = place[text.joined(tails, np.int32)], place[text.joined(heads, np.int32)]
    weight = text.joined(weights, np.float64)
    when = text.joined(whens, np.int32) if timed else np.zeros(weight.size, dtype=np.int32)
    if not directed:
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        weight, when = np.tile(weight, 2), np.tile(when, 2)
    graph = Graph.from_edges(len(number), tail, head, labels=names)
    apart = tail != head
    tail, head, weight, when = tail[apart], head[apart], weight[apart], when[apart]
    matrix = np.full((max(1, len(snapshot_number)), graph.m), np.inf)
    position = when.astype(np.int64) * graph.m + graph.edge_index(tail, head)
    np.minimum.at(matrix.ravel(), position, weight)
    return Network(graph, matrix, tuple(turn(list(snapshot_number))) if timed else None)


def _in_order(names: list[Hashable], path: object) -> tuple[list[Hashable] | None, NDArray[np.int32]]:
    """Return (labels in order, or None where they are 0..n-1; the vertex of each name)."""
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
    """Return text as integers where all of it is written as integers are."""
    if all(isinstance(name, str) and re.fullmatch(r"0|-?[1-9][0-9]*", name) for name in names):
        return [int(str(name)) for name in names]
    return names


def _columns(
    path: object, line: int | None, names: list[str], wanted: tuple[str, ...], snapshot: str | None
) -> list[int]:
    """Return the positions of the columns, that of the snapshots last where there is one."""
    missing = [name for name in (*wanted, *([snapshot] if snapshot else [])) if name not in names]
    if missing:
        what = f"the column {missing[0]!r} is missing; the table has {', '.join(names) or 'none'}"
        other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
        hint = "" if other is None else f" as one column: its columns are to be separated by commas, not by {other!r}"
        raise ReadError(path, line, what + hint)
    found = [names.index(name) for name in wanted]
    if snapshot is None and "snapshot" in names and "snapshot" not in wanted:
        snapshot = "snapshot"
    return found if snapshot is None else [*found, names.index(snapshot)]


def _csv_rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[Rows]:
    with text.opened(path) as raw:
        watched = _Watched(raw)
        stream = io.TextIOWrapper(io.BufferedReader(watched, 1 << 20), encoding="utf-8-sig", newline="")
        reader = csv.reader(stream, strict=True)
        try:
            names = [name.strip() for name in next(reader, [])]
            found = _columns(path, 1, names, wanted, snapshot)
            batch: list[list[str]] = []
            lines: list[int] = []
            for row in reader:
                if not row:
                    continue
                if len(row) != len(names):
                    raise ReadError(path, reader.line_num, f"expected {len(names)} columns, got {len(row)}")
                batch.append([row[k] for k in found])
                lines.append(reader.line_num)
                if len(batch) == _ROWS:
                    yield _typed(path, [list(c) for c in zip(*batch, strict=True)], lines.__getitem__)
                    batch, lines = [], []
            if watched.last not in (b"\n", b""):
                text.unfinished(path, reader.line_num)
            if batch:
                yield _typed(path, [list(c) for c in zip(*batch, strict=True)], lines.__getitem__)
        except csv.Error as error:
            raise ReadError(path, reader.line_num, f"no CSV: {error}") from None
        except UnicodeDecodeError:
            raise ReadError(path, reader.line_num + 1, "the line is not UTF-8 text") from None


class _Watched(io.RawIOBase):
    """A stream that remembers its last byte, to see whether the last line has an end."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.last = stream, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.last = data[-1:] or self.last
        return len(data)


def _parquet_rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[Rows]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'rhostar[tables]'") from None
    begin = 0
    try:
        with pq.ParquetFile(path) as file:
            names = [str(name) for name in file.schema_arrow.names]
            found = _columns(path, None, names, wanted, snapshot)
            for batch in file.iter_batches(batch_size=_ROWS, columns=[names[k] for k in found]):
                columns = {str(name): batch.column(name).to_pylist() for name in batch.schema.names}
                yield _typed(path, [columns[names[k]] for k in found], lambda k, at=begin: at + k, "row ")
                begin += batch.num_rows
    except (ReadError, InputError):
        raise
    except Exception as error:  # arrow's errors are of many kinds
        raise ReadError(path, None, f"no Parquet file, or one that is damaged: {error}") from None


def _typed(path: object, columns: list[list[Any]], line_of: Any, unit: str = "") -> Rows:
    """Return a batch with its types checked; `line_of` gives the line of a row in it."""

    def wrong(k: int, what: str) -> ReadError:
        if unit or path == "frame":
            return ReadError(path, None, f"row {line_of(k)}: {what}")
        return ReadError(path, line_of(k), what)

    vertices = [_vertices(column, name, wrong) for column, name in zip(columns[:2], ("tail", "head"), strict=True)]
    try:
        weight = np.array(columns[2], dtype=np.float64)
    except (TypeError, ValueError):
        weight = np.empty(len(columns[2]))
        for k, value in enumerate(columns[2]):
            try:
                weight[k] = value
            except (TypeError, ValueError):
                raise wrong(k, f"weight must be a number, got {value!r}") from None
    bad = ~(weight >= 0)
    if bad.any():
        k = int(np.argmax(bad))
        raise wrong(k, f"weight must be a number that is not negative, got {columns[2][k]!r}")
    if len(columns) == 3:
        return Rows(vertices[0], vertices[1], weight, None)
    for k, value in enumerate(columns[3]):
        if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
            raise wrong(k, "snapshot is missing")
    return Rows(vertices[0], vertices[1], weight, columns[3])


def _vertices(column: list[Any], name: str, wrong: Any) -> list[Hashable]:
    """Return integers and strings as they are, whole floats as integers (tables with gaps have them)."""
    for k, value in enumerate(column):
        if isinstance(value, str) and value.strip():
            continue
        if value is None or isinstance(value, str) or (isinstance(value, float) and np.isnan(value)):
            raise wrong(k, f"{name} is missing")
        if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
            raise wrong(k, f"{name} must be an integer or a string, got {value!r}")
    return [value if isinstance(value, str) else int(value) for value in column]
