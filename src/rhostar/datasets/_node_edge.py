"""Reads road networks from two text files: nodes ``id x y``, edges ``id u v length``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.datasets import _text_files as text
from rhostar.datasets._formats import reader
from rhostar.errors import ReadError
from rhostar.graph import Graph
from rhostar.instances import Network


@reader("nodes", "two text files: nodes, then edges", files=2)
def read_node_edge(nodes: text.Path, edges: text.Path, *, directed: bool = False) -> Network:
    r"""Read a road network from a file of nodes and one of edges, compressed or not.

    Parameters
    ----------
    nodes
        Lines ``id x y``. Vertices keep the order of the file; if the ids are not 0..n-1 in this order, they become the
        labels.
    edges
        Lines ``id u v length``, u and v being ids of nodes.
    directed
        Whether an edge leads only from u to v; otherwise both ways.

    Returns
    -------
    Network
        One snapshot: the lengths, which are also ``graph.length``. Loops are dropped, and the shortest of parallel
        edges is kept.

    Raises
    ------
    ReadError
        Naming the file, the line and what was expected. The format has no counts, so a file of edges that was truncated
        after a whole line goes unnoticed.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nodes, edges = pathlib.Path(folder) / "nodes.txt", pathlib.Path(folder) / "edges.txt"
    ...     _ = nodes.write_text("0 0.0 0.0\n1 3.0 4.0\n"), edges.write_text("0 0 1 5.0\n")
    ...     network = rs.datasets.read_node_edge(nodes, edges)
    >>> network, network.graph.coordinates.tolist(), network.weights.tolist()
    (Network(2 vertices, 2 edges, 1 snapshot), [[0.0, 0.0], [3.0, 4.0]], [[5.0, 5.0]])
    """
    ids, places = _read_nodes(nodes)
    order = np.argsort(ids, kind="stable")
    in_order = ids[order]
    tails: list[NDArray[Any]] = []
    heads: list[NDArray[Any]] = []
    lengths: list[NDArray[Any]] = []
    for block in text.records(edges, "iiif", ("id", "u", "v", "length")):
        _, u, v, length = block.columns
        for end, column in ((u, tails), (v, heads)):
            at = np.minimum(np.searchsorted(in_order, end), ids.size - 1)
            text.require(edges, block, in_order[at] == end, end, "u and v must be ids in the file of nodes")
            column.append(order[at].astype(np.int32))
        good = (length >= 0) & (length < np.inf)
        text.require(edges, block, good, length, "length must be finite and non-negative")
        lengths.append(length)
    tail, head = arrays.joined(tails, np.int32), arrays.joined(heads, np.int32)
    values = arrays.joined(lengths, np.float64)
    if not directed:
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        values = np.tile(values, 2)
    plain = np.array_equal(ids, np.arange(ids.size))
    labels = None if plain else ids.tolist()
    graph = Graph.from_edges(ids.size, tail, head, coordinates=places, labels=labels, length=values)
    assert graph.length is not None
    return Network(graph, graph.length)


def _read_nodes(path: text.Path) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    found: list[tuple[NDArray[Any], ...]] = []
    for block in text.records(path, "iff", ("id", "x", "y")):
        number, x, y = block.columns
        text.require(path, block, np.isfinite(x) & np.isfinite(y), number, "coordinates must be finite; id")
        found.append((number, x, y, block.line))
    if not found:
        raise ReadError(path, None, "the file has no nodes; expected lines 'id x y'")
    ids, xs, ys, line = map(np.concatenate, zip(*found, strict=True))
    again = text.repeats(ids)
    if again.any():
        k = int(np.argmax(again))
        raise ReadError(path, int(line[k]), f"each id must have one line, {ids[k]} has two")
    return ids, np.stack([xs, ys], axis=1)
