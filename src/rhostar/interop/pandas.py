"""Converts a pandas table of edges to a :class:`~rhostar.datasets.Network`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rhostar.errors import InputError
from rhostar.instances import Network
from rhostar.instances import _edge_rows as edge_rows
from rhostar.instances._columns import columns
from rhostar.instances._row_types import check_types


def from_pandas(
    frame: Any,
    *,
    tail: str = "tail",
    head: str = "head",
    weight: str = "weight",
    snapshot: str | None = None,
    directed: bool = True,
    missing: Literal["error", "closed", "last", "median"] = "error",
    max_entries: int | None = None,
) -> Network:
    """Return the network of a pandas table of edges; parameters are those of :func:`read_edge_table`.

    Parameters
    ----------
    frame
        A DataFrame with one row for each edge, or for each edge and snapshot.
    tail, head, weight, snapshot, directed, missing, max_entries
        As for :func:`rhostar.datasets.read_edge_table`.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If a column is missing, or a row cannot be used; the message names the first such row. Also if weights are
        missing, unless `missing` says what to do about them.

    Examples
    --------
    >>> import pandas as pd, rhostar as rs
    >>> frame = pd.DataFrame({"tail": [0, 1], "head": [1, 2], "weight": [1.5, 2.5]})
    >>> rs.interop.from_pandas(frame)
    Network(3 vertices, 2 edges, 1 snapshot)
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise InputError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    names = [str(name) for name in frame.columns]
    found = columns("frame", None, names, (tail, head, weight), snapshot)

    def rows() -> Iterator[edge_rows.EdgeRows]:
        for begin in range(0, len(frame), edge_rows.BATCH):
            part = frame.iloc[begin : begin + edge_rows.BATCH]
            yield check_types("frame", [part.iloc[:, k].tolist() for k in found], begin.__add__, "row")

    return edge_rows.assemble(rows(), directed=directed, path="frame", max_entries=max_entries, missing=missing)
