"""Reads edges from CSV or Parquet tables with one row per edge and snapshot: tail, head, weight, snapshot.

Vertices may be integers or strings, and are sorted. Integers 0..n-1 are used as vertices directly; anything else
becomes labels.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.datasets import _text_files as text
from rhostar.datasets._edge_files import Missing, table
from rhostar.datasets._formats import reader
from rhostar.errors import ArrayError, InputError, ReadError, RhostarWarning
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.instances import _checks as checks

_TIMES = ("snapshot", "time", "timestamp", "datetime", "date", "day", "hour")
"""Columns that say which snapshot a row belongs to: rows of several are not parallel edges."""


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
        one for each day or month. Each snapshot must be whole in one file. If the files have no column for it, each is
        one snapshot, named like the file: ``2024-05-01.csv`` is the snapshot of that day.
    tail, head, weight
        Names of the columns.
    snapshot
        Name of the column that says which snapshot a row belongs to; None takes a column called "snapshot" if there is
        one, and otherwise all rows of a file as one snapshot. If all are ISO time stamps or dates, snapshots are in the
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
        snapshot or ("snapshot",),
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
    network = table(path, columns, snapshot or _TIMES, one=time is None, **given)
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
        warnings.warn(
            f"{os.fspath(one)}: {edges} of the table left out, which the graph lacks", RhostarWarning, stacklevel=3
        )
