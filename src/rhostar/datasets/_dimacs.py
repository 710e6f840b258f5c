"""Reads graphs of the 9th DIMACS challenge: ``.gr`` files with arcs, ``.co`` files with coordinates.

::

    c a comment                     p aux sp co 3
    p sp 3 2                        v 1 -73530767 41085396
    a 1 2 803                       v 2 -73530538 41086098
    a 2 3 158                       v 3 -73519366 41048796

Vertices are numbered from 1, as the format says, unless a vertex 0 occurs: then from 0.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.datasets import _text_files as text
from rhostar.datasets._formats import reader
from rhostar.errors import InputError, ReadError
from rhostar.graph import Graph
from rhostar.instances import Network

_MANY = 1 << 20
"""Vertices that a file may have without arcs."""


@reader("dimacs", "DIMACS graph (set coordinates to its .co file)", suffixes=(".gr",))
def read_dimacs(
    path: text.Path,
    coordinates: text.Path | None = None,
    *,
    base: Literal[0, 1] | None = None,
    max_vertices: int | None = None,
) -> Network:
    r"""Read a DIMACS graph, compressed or not.

    Parameters
    ----------
    path
        The ``.gr`` or ``.gr.gz`` file. Its header is ``p sp n m``; any other word instead of ``sp``, or none, works
        too.
    coordinates
        The ``.co`` or ``.co.gz`` file. Coordinates are not converted: in the challenge's road networks they are
        longitude and latitude in millionths of a degree.
    base
        The number of the first vertex; None takes 1, unless a vertex 0 occurs.
    max_vertices
        How many vertices the header may declare. The default is a million, or four for each arc if that is more: a
        file in which most vertices have no arc is probably damaged, and every vertex takes memory.

    Returns
    -------
    Network
        One snapshot. Vertex v of the file is vertex v - base; of duplicate arcs the cheapest counts. Weights
        written as integers stay integers.

    Raises
    ------
    ReadError
        Naming the file, the line and what was expected.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.gr"
    ...     _ = path.write_text("p sp 3 3\na 1 2 803\na 2 3 158\na 2 3 160\n")
    ...     network = rs.datasets.read_dimacs(path)
    >>> network, network.weights.tolist()
    (Network(3 vertices, 2 edges, 1 snapshot), [[803, 158]])
    """
    if base not in (None, 0, 1):
        raise InputError(f"base must be 0, 1 or None, got {base!r}")
    header = _Header(path, "p sp <vertices> <arcs>", counts=2)
    tails: list[NDArray[Any]] = []
    heads: list[NDArray[Any]] = []
    weights: list[NDArray[Any]] = []
    ids = _Ids(path, base)
    arcs, whole = 0, True
    for block in text.records(path, "iif", ("tail", "head", "weight"), letter="a", comments="c", other=header.take):
        n, m = header.require(int(block.line[0]))
        tail, head, weight = block.columns
        ids.check(block, tail, n)
        ids.check(block, head, n)
        good = (weight >= 0) & (weight < np.inf)
        text.require(path, block, good, weight, "weight must be finite and non-negative")
        arcs += tail.size
        if arcs > m:
            line = int(block.line[m - arcs])
            raise ReadError(path, line, f"the header declares {m} arcs, this is one more")
        tails.append(tail.astype(np.int32))
        heads.append(head.astype(np.int32))
        weights.append(weight)
        whole = block.whole
    n, m = header.require(None)
    if arcs != m:
        raise ReadError(path, header.line, f"the header declares {m} arcs, the file has {arcs}: is it truncated?")
    bound = max(_MANY, 4 * arcs) if max_vertices is None else arrays.integer(max_vertices, "max_vertices", 1)
    text.require_plausible(path, header.line, n, f"vertices (with {arcs} arcs)", bound, "max_vertices")
    first = ids.base()
    places = None if coordinates is None else _read_coordinates(coordinates, n, first)
    tail, head = arrays.joined(tails, np.int32), arrays.joined(heads, np.int32)
    tail -= first
    head -= first
    graph = Graph.from_edges(n, tail, head, coordinates=places)
    del tail, head
    values = text.narrowed(arrays.joined(weights, np.float64), whole)
    return Network(graph, graph.arrange(values))


def _read_coordinates(path: text.Path, n: int, base: int) -> NDArray[np.float64]:
    header = _Header(path, "p aux sp co <vertices>", counts=1)
    places = np.full((n, 2), np.nan)
    for block in text.records(path, "iff", ("vertex", "x", "y"), letter="v", comments="c", other=header.take):
        (count,) = header.require(int(block.line[0]))
        if count != n:
            raise ReadError(path, header.line, f"the header declares {count} vertices, the graph has {n}")
        vertex, x, y = block.columns
        inside = (vertex >= base) & (vertex < base + n)
        text.require(path, block, inside, vertex, f"vertex must be in {base}..{base + n - 1}")
        new = np.isnan(places[vertex - base, 0]) & ~text.repeats(vertex)
        text.require(path, block, new, vertex, "each vertex must have one line, this one has two")
        text.require(path, block, np.isfinite(x) & np.isfinite(y), vertex, "coordinates must be finite; vertex")
        places[vertex - base] = np.stack([x, y], axis=1)
    header.require(None)
    missing = np.isnan(places[:, 0])
    if missing.any():
        first = int(np.argmax(missing)) + base
        raise ReadError(path, None, f"vertex {first} has no coordinates ({missing.sum()} of {n} have none)")
    return places


class _Header:
    """The `p` line: there must be one, before everything else."""

    def __init__(self, path: text.Path, form: str, counts: int) -> None:
        self.path, self.form, self.counts = path, form, counts
        self.line: int | None = None
        self.values: tuple[int, ...] = ()

    def take(self, number: int, line: str) -> None:
        words = line.split()
        if words[:1] != ["p"]:
            raise ReadError(self.path, number, f"expected a line with the letter c, p, a or v, got {line[:60]!r}")
        if self.line is not None:
            raise ReadError(self.path, number, f"a second header; the first is in line {self.line}")
        try:
            if len(words) <= self.counts:
                raise ValueError
            values = tuple(text.integer(word) for word in words[-self.counts :])
        except ValueError:
            raise ReadError(self.path, number, f"expected '{self.form}', got {line[:60]!r}") from None
        if not 1 <= values[0] <= arrays.LARGEST_INDEX or not 0 <= values[-1] <= arrays.LARGEST_INDEX:
            raise ReadError(self.path, number, f"expected at least one vertex, counts below 2**31, got {line[:60]!r}")
        self.line, self.values = number, values

    def require(self, line: int | None) -> tuple[int, ...]:
        if self.line is None:
            raise ReadError(self.path, line, f"expected the header '{self.form}' before anything else")
        return self.values


class _Ids:
    """Finds out whether vertices count from 0 or from 1; a file with both a vertex 0 and a vertex n is wrong."""

    def __init__(self, path: text.Path, base: int | None) -> None:
        self.path, self.given = path, base
        self.zero: int | None = None
        self.last: int | None = None
        self.n = 0

    def check(self, block: text.Block, vertex: NDArray[np.int64], n: int) -> None:
        self.n = n
        low, high = (self.given, self.given + n - 1) if self.given is not None else (0, n)
        accepted = f"{low}..{high}" if self.given is not None else f"1..{n} (or 0..{n - 1})"
        text.require(self.path, block, (vertex >= low) & (vertex <= high), vertex, f"vertex must be in {accepted}")
        if self.given is None:
            if not vertex.all():
                line = int(block.line[np.argmin(vertex)])
                self.zero = line if self.zero is None else min(line, self.zero)
            if vertex.max() == n:
                line = int(block.line[np.argmax(vertex)])
                self.last = line if self.last is None else min(line, self.last)

    def base(self) -> int:
        if self.given is not None:
            return self.given
        if self.zero is not None and self.last is not None:
            what = f"vertex {self.n} of 0..{self.n - 1}: line {self.zero} has a vertex 0, so numbers begin there"
            raise ReadError(self.path, self.last, what)
        return 1 if self.zero is None else 0
