"""Reads edges from CSV or Parquet tables with one row per edge and snapshot: tail, head, weight, snapshot.

Vertices may be integers or strings, and are sorted. Integers 0..n-1 are used as vertices directly; anything else
becomes labels.
"""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.datasets import _text_files as text
from rhostar.datasets._formats import reader
from rhostar.errors import ArrayError, InputError, ReadError, RhostarWarning
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.instances import _checks as checks
from rhostar.instances import _edge_rows as edge_rows
from rhostar.instances._columns import columns as find_columns
from rhostar.instances._row_types import check_types

Missing = Literal["error", "closed", "last", "median"]

_BLOCK = 1 << 22
_LONGEST_ROW = 1 << 20
_SMALL = 1 << 21
"""Rows that any Parquet file may have."""
_RATIO = 16
"""A larger Parquet file may have this many rows for each of its bytes."""


@reader("edges", "tables of edges: tail, head, weight, snapshot", suffixes=(".csv", ".parquet", ".pq"), files=None)
def read_edge_table(
    path: text.Path | Sequence[text.Path],
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    snapshot: str | None = None,
    directed: bool = True,
    missing: Missing = "error",
    graph: Graph | None = None,
    max_entries: int | None = None,
) -> Network:
    r"""Read edges from a CSV (also ``.csv.gz``) or Parquet file, or from several as one history.

    For the weights of today on a graph that you have, :func:`read_snapshot` is shorter.

    Parameters
    ----------
    path
        The file; Parquet if its name ends with ``.parquet`` (this needs pyarrow). Or several files of one kind, such as
        one for each day or month. Each snapshot must be whole in one file. If the files have no snapshot column, each
        file is one snapshot, named after the file: ``2024-05-01.csv`` is the snapshot of that day.
    tail, head, weight
        Names of the columns.
    snapshot
        Name of the column that says which snapshot a row belongs to. None takes a column called "snapshot", or one
        called "time", "timestamp", "datetime", "date", "day" or "hour", if there is one, and otherwise all rows of a
        file as one snapshot. If all are ISO time stamps or dates, snapshots are in the
        order of time and have :attr:`Network.days`, for :func:`split_by_day`; others keep the order of their first
        rows, and that of the files.
    directed
        Whether an edge leads only from tail to head; otherwise both ways.
    missing
        What to do about missing measurements: an empty weight, ``nan`` or ``NA``, or an edge that has no row in a
        snapshot. "error" names the first ones; "closed" takes the edge as absent there (``inf``); "last" takes its
        weight in the snapshot before (or the first known one); "median" the median of its known weights. A weight
        written as ``inf`` is not missing: the edge is closed.
    graph
        The graph that the weights are for, if you have it already: edges are found by the labels of their ends, those
        of the graph that the table lacks are missing, and those that the graph lacks are left out with a warning.
        None makes the graph of all edges in the table.
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
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    network = table(
        path,
        (tail, head, weight),
        snapshot,
        directed=directed,
        missing=missing,
        max_entries=max_entries,
        graph=graph,
    )
    _warn_of_others(path, network)
    return network


def read_snapshot(
    path: text.Path,
    graph: Graph,
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    directed: bool = True,
    missing: Missing = "error",
    history: NDArray[Any] | None = None,
    time: str | None = None,
) -> NDArray[np.float64]:
    r"""Read one weight for every edge of a graph from a table, such as the travel times of today.

    Parameters
    ----------
    path
        A CSV or Parquet file, as for :func:`read_edge_table`, with one snapshot unless `time` says which.
    graph
        The graph. Edges are found by the labels of their ends, or by vertices if it has no labels.
    tail, head, weight, directed
        As for :func:`read_edge_table`.
    missing
        What to do about edges that have no row, or no weight in it: "error" names the first ones; "closed" takes them
        as absent (``inf``); "last" takes the weight in the last snapshot of `history`, "median" the median there.
    history
        For "last" and "median": earlier snapshots, such as ``instances.weights``, in the order of time.
    time
        Which snapshot to read, if the table has several: its name or time stamp as in the table.

    Returns
    -------
    array
        One weight per edge, in the order of the graph, as :func:`~rhostar.astar` takes it. Of several rows for one
        edge, the cheapest counts. Edges that the graph lacks are left out with a warning.

    Raises
    ------
    ReadError
        Naming the file, the line and what was expected; also if weights are missing and `missing` is "error".
    InputError
        If "last" or "median" has no `history`.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> graph = rs.Graph.from_edges(2, [0, 1], [1, 0], labels=["home", "work"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "today.csv"
    ...     _ = path.write_text("tail,head,weight\nwork,home,9\nhome,work,14\n")
    ...     today = rs.datasets.read_snapshot(path, graph)
    >>> today.tolist()
    [14.0, 9.0]
    """
    given: Any = {"directed": directed, "missing": missing, "history": history, "time": time}
    network = snapshot_of(path, graph, (tail, head, weight), **given)
    _warn_of_others(path, network)
    return network.weights[0]


def snapshot_of(
    path: text.Path,
    graph: Graph,
    columns: tuple[str, str, str],
    *,
    snapshot: str | None = None,
    directed: bool = True,
    missing: Missing = "error",
    history: NDArray[Any] | None = None,
    time: str | None = None,
) -> Network:
    """Return the snapshot of a time in a table, or the only one, on a given graph, with what was filled in."""
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if history is not None:
        if np.ndim(history) not in (1, 2) or np.shape(history)[-1] != graph.m:
            raise ArrayError(f"history must have shape (K, {graph.m}), one column per edge, got {np.shape(history)}")
        history = checks.matrix(history, graph.m)
    if missing in ("last", "median") and (history is None or not len(history)):
        raise InputError(f"missing={missing!r} needs history: earlier snapshots, such as instances.weights")
    given: Any = {"directed": directed, "missing": missing, "graph": graph, "history": history}
    network = table(path, columns, snapshot, one=time is None, **given)
    if time is None:
        return network
    names = [str(name) for name in network.names or ()]
    if time not in names:
        listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        raise ReadError(path, None, f"there is no snapshot {time!r}; it has {listed or 'no column for the time'}")
    at = names.index(time)
    return replace(network, weights=network.weights[at : at + 1], names=(time,), days=None)


def _warn_of_others(path: text.Path | Sequence[text.Path], network: Network) -> None:
    """Warn of edges in a table that the graph lacks: a path cannot use them."""
    if network.reading.others:
        one = path if isinstance(path, str | os.PathLike) else path[0]
        edges = f"{network.reading.others} edge{'s' * (network.reading.others > 1)}"
        warnings.warn(f"{os.fspath(one)}: ignored {edges} of the table, not in the graph", RhostarWarning, stacklevel=3)


# ---------------------------------------------------------------- files


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
    one: bool = False,
) -> Network:
    """Return the network in one or several files; `missing` may be "keep", which leaves missing weights NaN."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise InputError("path must be a file, or several")
    if len({_is_parquet(one) for one in paths}) > 1:
        raise InputError("files must be all CSV or all Parquet, got both")

    return edge_rows.assemble(
        _all_rows(paths, columns, snapshot),
        directed=directed,
        path=os.fspath(paths[0]) if len(paths) == 1 else f"{os.fspath(paths[0])} and {len(paths) - 1} more",
        textual=not _is_parquet(paths[0]),
        max_entries=max_entries,
        missing=missing,
        graph=graph,
        history=history,
        one=one,
    )


def _all_rows(
    paths: Sequence[text.Path], columns: tuple[str, ...], snapshot: str | None
) -> Iterator[edge_rows.EdgeRows]:
    """Return the rows of all files; of several, each snapshot must be in one of them."""
    if len(paths) == 1:
        yield from _rows(paths[0], columns, snapshot)
        return
    home: dict[Hashable, int] = {}
    timed: dict[bool, int] = {}
    for k, path in enumerate(paths):
        for part in _rows(path, columns, snapshot):
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
                    raise ReadError(where, None, f"{what}; each snapshot must be complete in one file")
            yield part._replace(snapshot=when, place=_placed(path, part))


def _named_after(path: text.Path, part: edge_rows.EdgeRows) -> edge_rows.Coded:
    """Return the snapshot of rows in a file without such a column: the name of the file, without its ending."""
    name = os.path.basename(os.fspath(path)).removesuffix(".gz")
    return edge_rows.Coded([os.path.splitext(name)[0]], np.zeros(part.weight.size, dtype=np.int32))


def _placed(path: text.Path, part: edge_rows.EdgeRows) -> Callable[[int], str]:
    """Return a function that says where a row is, with the file."""
    return lambda k: f"{os.fspath(path)}, {part.place(k)}"


def _rows(path: text.Path, columns: tuple[str, ...], snapshot: str | None) -> Iterator[edge_rows.EdgeRows]:
    return (_parquet_rows if _is_parquet(path) else _csv_rows)(path, columns, snapshot)


def _is_parquet(path: text.Path) -> bool:
    return os.fspath(path).endswith((".parquet", ".pq"))


def _csv_rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[edge_rows.EdgeRows]:
    with text.open_text(path) as stream:
        data = stream.read(_BLOCK)
        header, end, _ = (data if data.endswith(b"\n") or len(data) == _BLOCK else data + b"\n").partition(b"\n")
        if b"\r" in header.rstrip(b"\r"):  # lines end in the old way of the Macintosh
            header, end, _ = data.partition(b"\r")
        names = [name.strip() for name in _fields(path, 1, header)]
        found = find_columns(path, 1, names, wanted, snapshot)
        line, rest, data = 2, b"", data[len(header) + len(end) :]
        while True:
            is_last = not data
            data = rest + data
            if is_last and data and not data.endswith((b"\n", b"\r")):
                text.unfinished(path, line + data.count(b"\n"))
                data += b"\n"
            _require_text(path, line, data, is_last)
            part = _core.scan_table(data, len(names), found, is_last)
            if part.ending.status is not _core.Status.DONE:
                raise _wrong_row(path, line + part.lines - 1, data[part.offset : part.end], part.ending, names, found)
            if part.weight.size:
                yield _coded(part, line)
            line, rest = line + part.lines, data[part.offset :]
            if is_last:
                break
            if len(rest) > _LONGEST_ROW:
                raise ReadError(
                    path, line, f"not a CSV file: a row has more than {_LONGEST_ROW} bytes; is a quote open?"
                )
            data = stream.read(_BLOCK)


def _coded(part: _core.TableRows, line: int) -> edge_rows.EdgeRows:
    vertices, snapshots = ([name.strip() or name for name in names] for names in (part.vertices, part.snapshots))
    tail, head = (edge_rows.Coded(list(vertices), codes) for codes in (part.tail, part.head))
    when = edge_rows.Coded(list(snapshots), part.snapshot) if part.snapshot.size else None
    return edge_rows.EdgeRows(tail, head, part.weight, when, lambda k: f"line {line + int(part.line[k])}")


def _fields(path: text.Path, line: int, row: bytes) -> list[str]:
    try:
        return next(csv.reader([text.decode(path, line, row)], strict=True), [])
    except csv.Error as error:
        raise ReadError(path, line, f"not a CSV file: {error}") from None


def _require_text(path: text.Path, line: int, data: bytes, is_last: bool) -> None:
    """Raise if a line is not UTF-8; the last character may be cut in two, if there is more to come."""
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        if is_last or error.end < len(data) or "unexpected end" not in error.reason:
            what = "the line is not UTF-8 text; save the file as UTF-8"
            raise ReadError(path, line + data.count(b"\n", 0, error.start), what) from None


def _wrong_row(
    path: text.Path, line: int, row: bytes, ending: _core.Ending, names: list[str], found: list[int]
) -> ReadError:
    """Return the error for a row that cannot be used."""
    status, role = ending.status, ("tail", "head", "weight", "snapshot")[max(0, ending.offender) % 4]
    if status is _core.Status.OTHER_LINE:
        hint = "; is there a comma in a value, such as 1,5?" if ending.offender > len(names) else ""
        return ReadError(path, line, f"expected {len(names)} columns, got {ending.offender}{hint}")
    if status is _core.Status.LIMIT:
        return ReadError(path, line, "not a CSV file: unexpected end of data; a quote is open")
    if status is _core.Status.EXTRA_FIELD:
        return ReadError(path, line, "not a CSV file: ',' expected after '\"'")
    if status is _core.Status.MISSING_FIELD:
        return ReadError(path, line, f"{role} is missing")
    value = _fields(path, line, row.rstrip(b"\r\n"))[found[2]]
    kind = "a number" if status is _core.Status.BAD_NUMBER else "a non-negative number"
    hint = "; write decimals with a point" if re.fullmatch(r"\s*[0-9]+,[0-9]+\s*", value) else ""
    return ReadError(path, line, f"weight must be {kind}, got {value[:60]!r}{hint}")


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
                what = f"the file has {weight} bytes and declares {count} rows, which is not plausible"
                raise ReadError(path, None, what)
            names = [str(name) for name in file.schema_arrow.names]
            found = find_columns(path, None, names, wanted, snapshot)
            for batch in file.iter_batches(batch_size=edge_rows.BATCH, columns=[names[k] for k in found]):
                columns = {str(name): batch.column(name).to_pylist() for name in batch.schema.names}
                yield check_types(path, [columns[names[k]] for k in found], begin.__add__, "row")
                begin += batch.num_rows
    except (ReadError, InputError):
        raise
    except Exception as error:  # pyarrow raises many kinds of errors
        raise ReadError(path, None, f"not a Parquet file, or a damaged one: {error}") from None
