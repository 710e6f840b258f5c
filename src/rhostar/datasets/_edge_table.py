"""Reads edges from CSV or Parquet tables with one row per edge and snapshot: tail, head, weight, snapshot.

Vertices may be integers or strings, and are sorted. Integers 0..n-1 are used as vertices directly; anything else
becomes labels.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterator
from typing import Literal

from rhostar.datasets import _large_csv as large_csv
from rhostar.datasets import _text as text
from rhostar.datasets._formats import reader
from rhostar.errors import InputError, ReadError
from rhostar.instances import Network
from rhostar.instances import _edge_rows as edge_rows

_LARGE = 1 << 22
"""Bytes from which on it pays to import pyarrow for a CSV file."""
_SMALL = 1 << 21
"""Rows that any Parquet file may have."""
_RATIO = 16
"""A larger Parquet file may have this many rows for each of its bytes."""


@reader("edges", "table of edges: tail, head, weight, snapshot", suffixes=(".csv", ".parquet", ".pq"))
def read_edge_table(
    path: str | os.PathLike[str],
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    snapshot: str | None = None,
    directed: bool = True,
    missing: Literal["error", "closed", "last", "median"] = "error",
    max_entries: int | None = None,
) -> Network:
    r"""Read edges from a CSV (also ``.csv.gz``) or Parquet file.

    With pyarrow (``rhostar[tables]``), large CSV files are read about ten times faster.

    Parameters
    ----------
    path
        The file; Parquet if its name ends with ``.parquet`` (this needs pyarrow).
    tail, head, weight
        Names of the columns.
    snapshot
        Name of the column that says which snapshot a row belongs to; None takes a column called "snapshot" if there is
        one, and otherwise all rows as one snapshot. If all are ISO time stamps or dates, snapshots are in the order
        of time and have :attr:`Network.days`, for :func:`split_by_day`; others keep the order of their first rows.
    directed
        Whether an edge leads only from tail to head; otherwise both ways.
    missing
        What to do about missing measurements: an empty weight, ``nan`` or ``NA``, or an edge that has no row in a
        snapshot. "error" names the first ones; "closed" takes the edge as absent there (``inf``); "last" takes its
        weight in the snapshot before (or the first known one); "median" the median of its known weights. A weight
        written as ``inf`` is not missing: the edge is closed.
    max_entries
        How many weights the result may have: the number of snapshots times that of edges. The default is 16 million
        (128 MB), or 50 for each row of the table if that is more. A table needs more if the column `snapshot` has
        another value in nearly every row, such as the time of a measurement.

    Returns
    -------
    Network
        Of several rows for the same edge and snapshot, the cheapest counts. :attr:`Network.reading` counts what was
        merged, dropped and filled in.

    Raises
    ------
    ReadError
        Naming the file, the line (or row) and what was expected; also if weights are missing and `missing` is "error".

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "times.csv"
    ...     _ = path.write_text("tail,head,weight,snapshot\nhome,work,12,mon\nhome,work,15,tue\nwork,home,9,tue\n")
    ...     network = rs.datasets.read_edge_table(path, missing="closed")
    >>> network.graph.labels, network.names, network.weights.tolist()
    (('home', 'work'), ('mon', 'tue'), [[12.0, inf], [15.0, 9.0]])
    """
    columns, name = (tail, head, weight), os.fspath(path)

    def made(rows: Iterator[edge_rows.EdgeRows], textual: bool) -> Network:
        return edge_rows.assemble(
            rows, directed=directed, path=path, textual=textual, max_entries=max_entries, missing=missing
        )

    if name.endswith((".parquet", ".pq")):
        return made(_parquet_rows(path, columns, snapshot), False)
    with contextlib.suppress(large_csv.UnfitError):  # the slow way says what is wrong, and where
        if os.path.isfile(name) and os.path.getsize(name) >= _LARGE:
            return made(large_csv.rows(path, columns, snapshot), True)
    return made(_csv_rows(path, columns, snapshot), True)


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
