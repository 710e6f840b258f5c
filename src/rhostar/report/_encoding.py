"""Encodes a search and the positions of the vertices compactly, so that the page can play the search back.

The course of a run is one stream of variable-length integers, seven bits to a byte, lowest first. Each
event is ``8 * zigzag(vertex - reference) + code``, where zigzag maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
and the reference is the vertex selected last (the source before the first). Neighbors have close numbers
on grids and in most road files, so an event takes one or two bytes. Closing a vertex needs no event: it
happens when the next one is selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph
from rhostar.instances import Instance
from rhostar.report import _layout as layout
from rhostar.search import Trace
from rhostar.search._trace import Event

# The page's own codes, in the order of templates/replay.js.
_CODE = {Event.SELECT: 0, Event.OPEN: 1, Event.IMPROVE: 2, Event.REOPEN: 3, Event.GOAL: 4}

_LEVELS = 254
NO_WAY = 255
"""The shade of a blocked cell or an absent edge."""


@dataclass(frozen=True)
class Drawing:
    """Where the vertices are drawn."""

    kind: Literal["grid", "graph"]
    n: int
    rows: int = 0
    columns: int = 0
    aspect: float = 1.0
    """Width divided by height."""
    x: bytes = b""
    y: bytes = b""
    edges: bytes = b""
    placed_by: Literal["coordinates", "steps"] = "coordinates"
    """What decides where a vertex is: its own coordinates, or its steps to landmarks (_layout.py)."""


def encode(trace: Trace, source: int) -> tuple[bytes, bool]:
    """Return the events of a trace in the page's form, and whether the vertex selected last was closed.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.report._encoding import encode
    >>> graph = rs.Graph.grid(2, 2)
    >>> trace = rs.astar(graph, graph.length, 0, 3, np.zeros(4), trace=True).trace
    >>> events, last_closed = encode(trace, 0)
    >>> len(events), last_closed
    (8, False)
    """
    kept = trace.kind != Event.CLOSE
    kind, vertex = trace.kind[kept], trace.vertex[kept].astype(np.int64)
    selects = np.flatnonzero(kind == Event.SELECT)
    # Which selection came last before each event; a selection refers to the one before it.
    before = np.cumsum(kind == Event.SELECT) - (kind == Event.SELECT)
    reference = np.concatenate([[source], vertex[selects]])[before]
    code = np.zeros(len(Event), dtype=np.int64)
    for event, number in _CODE.items():
        code[event] = number
    difference = vertex - reference
    zigzag = (difference << 1) ^ (difference >> 63)
    last_closed = bool(trace.kind.size and trace.kind[-1] == Event.CLOSE)
    return varints((zigzag << 3) | code[kind]), last_closed


def varints(values: NDArray[np.int64]) -> bytes:
    """Return non-negative integers with seven bits to a byte, lowest first, the high bit on all but the last."""
    if values.size == 0:
        return b""
    bits = np.maximum(1, np.ceil(np.log2(values.astype(np.float64) + 1))).astype(np.int64)
    size = (bits + 6) // 7
    size[(values >> (7 * size)) > 0] += 1  # where log2 of a large number rounded down
    end = np.cumsum(size)
    out = np.empty(end[-1], dtype=np.uint8)
    for k in range(int(size.max())):
        longer = size > k
        more = (size[longer] > k + 1).astype(np.int64) << 7
        out[(end - size)[longer] + k] = ((values[longer] >> (7 * k)) & 127) | more
    return out.tobytes()


# ---------------------------------------------------------------- where vertices are drawn


def drawing(graph: Graph, *, geographic: bool = False) -> Drawing:
    """Return where to draw the vertices of a graph.

    Parameters
    ----------
    graph
        A grid is drawn cell by cell, a graph with coordinates by these, and any other so that near in the
        graph is near in the picture (_layout.py).
    geographic
        Whether coordinates are (longitude, latitude) in degrees: then degrees of longitude are shortened.
    """
    if graph.shape is not None:
        rows, columns = graph.shape
        return Drawing("grid", graph.n, rows, columns, columns / rows)
    known = graph.coordinates is not None
    places = layout.places(graph) if graph.coordinates is None else graph.coordinates.copy()
    if geographic and known:
        places[:, 0] *= np.cos(np.radians(places[:, 1].mean()))
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    aspect = float(np.clip(span[0] / span[1] if span[1] > 0 else 2.0, 0.5, 2.0))
    # Both directions have the same scale, unless the graph is far longer than wide.
    scale = np.where(span > 0, 65535 / np.where(span > 0, span, 1.0), 0.0)
    x, y = np.round((places - low) * scale).astype("<u2").T
    return Drawing(
        "graph",
        graph.n,
        aspect=aspect,
        x=x.tobytes(),
        y=(65535 - y).astype("<u2").tobytes(),  # north is up
        edges=_edge_stream(graph),
        placed_by="coordinates" if known else "steps",
    )


def strokes(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (low end, high end, stroke of each edge): an edge and its reverse are one stroke on the page."""
    low = np.minimum(graph.tail, graph.head).astype(np.int64)
    high = np.maximum(graph.tail, graph.head).astype(np.int64)
    pair, stroke = np.unique(low * graph.n + high, return_inverse=True)
    return pair // graph.n, pair % graph.n, stroke


def shade(instance: Instance, lightest: NDArray[Any], heaviest: NDArray[Any]) -> bytes:
    """Return how slow each cell (on a grid) or stroke is, between the extremes of its set.

    Parameters
    ----------
    instance
        The instance whose weights are shown.
    lightest, heaviest
        For each edge its smallest and largest finite weight among all snapshots.
    """
    graph, weights = instance.graph, np.asarray(instance.weights, dtype=np.float64)
    absent = ~np.isfinite(weights)
    if graph.shape is not None:
        length = np.ones(graph.m) if graph.length is None else np.where(graph.length > 0, graph.length, 1.0)
        slow = np.where(absent, 0.0, weights / length)
        present = np.bincount(graph.tail, ~absent, graph.n)
        mean = np.bincount(graph.tail, slow, graph.n) / np.maximum(present, 1)
        return _levels(mean, present == 0)
    ratio = np.where(absent, 0.0, weights - lightest) / np.where(heaviest > lightest, heaviest - lightest, 1.0)
    low, _, stroke = strokes(graph)
    worst = np.zeros(low.size)
    np.maximum.at(worst, stroke, np.where(absent, 0.0, ratio))
    gone = np.ones(low.size, dtype=bool)
    np.logical_and.at(gone, stroke, absent)
    return _levels(worst, gone)


def _levels(values: NDArray[np.float64], blocked: NDArray[np.bool_]) -> bytes:
    """Return 0..254 by value between the 2nd and 98th percentile of what is not blocked, 255 for what is."""
    open_values = values[~blocked]
    low, high = np.percentile(open_values, [2, 98]) if open_values.size else (0.0, 0.0)
    if high - low <= 1e-12 * max(abs(high), 1.0):
        scaled = np.zeros_like(values)
    else:
        scaled = np.clip((values - low) / (high - low), 0, 1)
    return np.where(blocked, NO_WAY, np.round(scaled * _LEVELS)).astype(np.uint8).tobytes()


def _edge_stream(graph: Graph) -> bytes:
    """Return the strokes as variable-length integers: low end minus the one before, then high minus low end."""
    low, high, _ = strokes(graph)
    pairs = np.stack([np.diff(low, prepend=0), high - low], axis=1)
    return varints(pairs.ravel())
