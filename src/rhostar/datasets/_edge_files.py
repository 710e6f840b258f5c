"""Reads tables of edges and snapshots: fields into a :class:`Network`, one file or several as one history."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar.datasets import _large_csv as large_csv
from rhostar.datasets import _text as text
from rhostar.errors import InputError, ReadError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.instances import _edge_rows as edge_rows

Missing = Literal["error", "closed", "last", "median"]

_LARGE = 1 << 22
"""Bytes from which on it pays to import pyarrow for a CSV file."""
_SMALL = 1 << 21
"""Rows that any Parquet file may have."""
_RATIO = 16
"""A larger Parquet file may have this many rows for each of its bytes."""


def table(
    path: text.Path | Sequence[text.Path],
    columns: tuple[str, str, str],
    snapshot: str | None,
    *,
    missing: Missing | Literal["keep"],
    directed: bool = True,
    max_entries: int | None = None,
    graph: Graph | None = None,
    history: NDArray[Any] | None = None,
) -> Network:
    """Return the network in one or several files; `missing` may be "keep", which leaves missing weights NaN."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise InputError("path must be a file, or several")
    if len({_is_parquet(one) for one in paths}) > 1:
        raise InputError("files must be all CSV or all Parquet, got both")

    def made(fast: bool) -> Network:
        return edge_rows.assemble(
            _all_rows(paths, columns, snapshot, fast),
            directed=directed,
            path=os.fspath(paths[0]) if len(paths) == 1 else f"{os.fspath(paths[0])} and {len(paths) - 1} more",
            textual=not _is_parquet(paths[0]),
            max_entries=max_entries,
            missing=missing,
            graph=graph,
            history=history,
        )

    with contextlib.suppress(large_csv.UnfitError):  # the slow way says what is wrong, and where
        return made(fast=True)
    return made(fast=False)


def _all_rows(
    paths: Sequence[text.Path], columns: tuple[str, ...], snapshot: str | None, fast: bool
) -> Iterator[edge_rows.EdgeRows]:
    """Return the rows of all files; of several, each snapshot must be in one of them."""
    if len(paths) == 1:
        yield from _rows(paths[0], columns, snapshot, fast)
        return
    home: dict[Hashable, int] = {}
    timed: dict[bool, int] = {}
    for k, path in enumerate(paths):
        for part in _rows(path, columns, snapshot, fast):
            other = timed.get(part.snapshot is None)
            if other is not None:
                whose, lacks = (path, paths[other]) if part.snapshot is not None else (paths[other], path)
                raise ReadError(lacks, None, f"has no column for the snapshot, but {os.fspath(whose)} has one")
            timed[part.snapshot is not None] = k
            when = _named_after(path, part) if part.snapshot is None else part.snapshot
            for code, name in enumerate(when.values):
                first = home.setdefault(name, k)
                if first != k:
                    where = f"{os.fspath(path)}, {part.place(when.first(code))}"
                    what = f"the snapshot {name!r} is also in {os.fspath(paths[first])}"
                    raise ReadError(where, None, f"{what}; each snapshot must be whole in one file")
            yield part._replace(snapshot=when, place=_placed(path, part))


def _named_after(path: text.Path, part: edge_rows.EdgeRows) -> edge_rows.Coded:
    """Return the snapshot of rows in a file without such a column: the name of the file, without its ending."""
    name = os.path.basename(os.fspath(path)).removesuffix(".gz")
    return edge_rows.Coded([os.path.splitext(name)[0]], np.zeros(part.weight.size, dtype=np.int32))


def _placed(path: text.Path, part: edge_rows.EdgeRows) -> Callable[[int], str]:
    """Return a function that says where a row is, with the file."""
    return lambda k: f"{os.fspath(path)}, {part.place(k)}"


def _rows(path: text.Path, columns: tuple[str, ...], snapshot: str | None, fast: bool) -> Iterator[edge_rows.EdgeRows]:
    name = os.fspath(path)
    if _is_parquet(path):
        return _parquet_rows(path, columns, snapshot)
    if fast and os.path.isfile(name) and os.path.getsize(name) >= _LARGE:
        return large_csv.rows(path, columns, snapshot)
    return _csv_rows(path, columns, snapshot)


def _is_parquet(path: text.Path) -> bool:
    return os.fspath(path).endswith((".parquet", ".pq"))


def _csv_rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[edge_rows.EdgeRows]:
    with text.opened(path) as raw:
        watched = text.Watched(raw)
        stream = io.TextIOWrapper(io.BufferedReader(watched, 1 << 20), encoding="utf-8-sig", newline="")
        reader = csv.reader(stream, strict=True)
        try:
            names = [name.strip() for name in next(reader, [])]
            found = edge_rows.columns(path, 1, names, wanted, snapshot)
            batch: list[list[str]] = []
            lines: list[int] = []
            for row in reader:
                if not row:
                    continue
                if len(row) != len(names):
                    raise ReadError(path, reader.line_num, f"expected {len(names)} columns, got {len(row)}")
                batch.append([row[k] for k in found])
                lines.append(reader.line_num)
                if len(batch) == edge_rows.BATCH:
                    yield edge_rows.typed(path, [list(c) for c in zip(*batch, strict=True)], lines.__getitem__)
                    batch, lines = [], []
            if watched.last not in (b"\n", b""):
                text.unfinished(path, reader.line_num)
            if batch:
                yield edge_rows.typed(path, [list(c) for c in zip(*batch, strict=True)], lines.__getitem__)
        except csv.Error as error:
            raise ReadError(path, reader.line_num, f"not a CSV file: {error}") from None
        except UnicodeDecodeError:
            raise ReadError(path, reader.line_num + 1, "the line is not UTF-8 text") from None


def _parquet_rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[edge_rows.EdgeRows]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'rhostar[tables]'") from None
    begin = 0
    try:
        with pq.ParquetFile(path) as file:
            weight, count = os.stat(path).st_size, file.metadata.num_rows
            if count > max(_SMALL, _RATIO * weight):
                what = f"the file has {weight} bytes and promises {count} rows, which is not believable"
                raise ReadError(path, None, what)
            names = [str(name) for name in file.schema_arrow.names]
            found = edge_rows.columns(path, None, names, wanted, snapshot)
            for batch in file.iter_batches(batch_size=edge_rows.BATCH, columns=[names[k] for k in found]):
                columns = {str(name): batch.column(name).to_pylist() for name in batch.schema.names}
                yield edge_rows.typed(path, [columns[names[k]] for k in found], begin.__add__, "row")
                begin += batch.num_rows
    except (ReadError, InputError):
        raise
    except Exception as error:  # pyarrow raises many kinds of errors
        raise ReadError(path, None, f"not a Parquet file, or a damaged one: {error}") from None
