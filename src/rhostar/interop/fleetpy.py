"""Reads the network folder of FleetPy: nodes, edges, and travel times that change."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import ReadError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.interop._checks import number_or_none

__all__ = ["from_fleetpy"]


def from_fleetpy(folder: str | os.PathLike[str]) -> Network:
    r"""Read a network folder of FleetPy.

    Parameters
    ----------
    folder
        It has ``base/nodes.csv`` (node_index, pos_x, pos_y), ``base/edges.csv`` (from_node, to_node, distance,
        travel_time), and for each time a folder named by a number with ``edges_td_att.csv`` (from_node, to_node,
        edge_tt).

    Returns
    -------
    Network
        One snapshot for each time, named by it; an edge that is not in its file keeps the ``travel_time`` of
        ``edges.csv``. Without such folders, one snapshot. Distances are ``graph.length``; labels are the numbers of the
        nodes if these are not 0..n-1 in order.

    Raises
    ------
    ReadError
        Naming the file, the line and what was expected.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rhostar as rs
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     (folder / "base").mkdir(), (folder / "3600").mkdir()
    ...     _ = (folder / "base/nodes.csv").write_text("node_index,pos_x,pos_y\n0,0,0\n1,5,0\n")
    ...     _ = (folder / "base/edges.csv").write_text("from_node,to_node,distance,travel_time\n0,1,5,1\n1,0,5,1\n")
    ...     _ = (folder / "3600/edges_td_att.csv").write_text("from_node,to_node,edge_tt\n0,1,2.5\n")
    ...     network = rs.interop.from_fleetpy(folder)
    (None, None)
    >>> network.names, network.weights.tolist(), network.graph.length.tolist()
    ((3600.0,), [[2.5, 1.0]], [5.0, 5.0])
    """
    root = Path(folder)
    nodes = list(_rows(root / "base" / "nodes.csv", ("node_index", "pos_x", "pos_y")))
    number: dict[int, int] = {}
    for line, (index, _, _) in nodes:
        if int(index) != index or int(index) in number:
            raise ReadError(root / "base" / "nodes.csv", line, f"node_index must be a new whole number, got {index:g}")
        number[int(index)] = len(number)
    ids = list(number)
    places = np.array([(x, y) for _, (_, x, y) in nodes])
    path = root / "base" / "edges.csv"
    rows = list(_rows(path, ("from_node", "to_node", "distance", "travel_time")))
    tail, head = (np.array([_node(number, row[k], path, line) for line, row in rows], dtype=np.int32) for k in (0, 1))
    length, base = (np.array([row[k] for _, row in rows]) for k in (2, 3))
    plain = ids == list(range(len(ids)))
    graph = Graph.from_edges(len(ids), tail, head, labels=None if plain else ids, coordinates=places, length=length)
    free = graph.arrange(base)
    named = ((number_or_none(one.name), one) for one in root.iterdir() if one.is_dir())
    times = sorted((time, one) for time, one in named if time is not None and np.isfinite(time))
    found = [(time, one / "edges_td_att.csv") for time, one in times if (one / "edges_td_att.csv").exists()]
    if not found:
        return Network(graph, free)
    weights = np.array([_changed(file, graph, number, free) for _, file in found])
    return Network(graph, weights, names=tuple(time for time, _ in found))


def _changed(path: Path, graph: Graph, number: dict[int, int], free: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of one time."""
    weights = free.copy()
    rows = list(_rows(path, ("from_node", "to_node", "edge_tt")))
    if not rows:
        return weights
    ends = [[_node(number, row[k], path, line) for line, row in rows] for k in (0, 1)]
    position = graph.edge_index(*ends, missing=-1)
    if (position < 0).any():
        line, row = rows[int(np.argmax(position < 0))]
        raise ReadError(path, line, f"there is no edge {row[0]:g} -> {row[1]:g} in edges.csv")
    weights[position] = [row[2] for _, row in rows]
    return weights


def _node(number: dict[int, int], value: float, path: Path, line: int) -> int:
    if value not in number:
        raise ReadError(path, line, f"there is no node {value:g} in nodes.csv")
    return number[int(value)]


def _rows(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Yield the number of each line, and its values in these columns."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in names if name not in (reader.fieldnames or ())]:
                raise ReadError(path, 1, f"it must have the column {missing[0]}")
            for row in reader:
                try:
                    values = tuple(float(row[name]) for name in names)
                except (TypeError, ValueError):
                    raise ReadError(path, reader.line_num, f"{', '.join(names)} must be numbers") from None
                if not np.isfinite(values).all():
                    raise ReadError(path, reader.line_num, f"{', '.join(names)} must be finite")
                yield reader.line_num, values
    except OSError as error:
        raise ReadError(path, None, f"could not read it: {error.strerror}") from None
