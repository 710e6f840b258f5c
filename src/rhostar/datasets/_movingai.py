"""Reads grid maps and their queries in the MovingAI format: ``.map`` and ``.scen`` files.

The terrain letters mean the following: ``.`` and ``G`` are ground, and so is swamp ``S``; water ``W`` can be crossed,
but only from water to water; ``@``, ``O`` (out of bounds) and ``T`` (trees) are blocked. A step leads from ground
to ground or from water to water. A diagonal step also needs both cells beside it to be of that same kind: it does
not cut corners. Steps along an axis have length 1, diagonal ones the square root of 2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.datasets import _text_files as text
from rhostar.datasets._formats import reader, sample
from rhostar.errors import InputError, ReadError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet, Network
from rhostar.instances import _grid_weights as grid_weights

BLOCKED, GROUND, WATER = 0, 1, 2
_LETTERS = {".": GROUND, "G": GROUND, "S": GROUND, "W": WATER, "@": BLOCKED, "O": BLOCKED, "T": BLOCKED}
_LARGEST_MAP = 1 << 28
"""Cells; a grid of more has too many edges."""
_SMALL_MAP = 1 << 21
"""Cells that any map may have; the largest published maps have 1.6 million."""
_RATIO = 16
"""A larger map may have this many cells for each byte of its file, which is more than one only if it is compressed."""


@dataclass(frozen=True, eq=False, repr=False)
class GridMap(Network):
    """A map: a :class:`Network` on all cells of the grid; edges at blocked cells are absent.

    Vertex ``row * columns + column`` is the cell in that row and column, counted from the upper left.
    """

    letters: NDArray[np.uint8] | None = None
    """(rows, columns): the letter of each cell."""

    @property
    def blocked(self) -> NDArray[np.bool_]:
        """(rows, columns): the cells that nothing can enter."""
        assert self.letters is not None
        return _kinds(self.letters) == BLOCKED

    def closing(self, closed: ArrayLike) -> NDArray[np.float64]:
        """Return the weights with further cells blocked, such as closed gates.

        Parameters
        ----------
        closed
            (K, rows, columns) truth values, or one such map.

        Returns
        -------
        array
            (K, m) snapshots.

        Raises
        ------
        InputError
            If `closed` has another shape than the map.
        """
        assert self.letters is not None
        cells = arrays.as_array(closed, "closed").astype(bool)
        cells = cells[None] if cells.ndim == 2 else cells
        if cells.ndim != 3 or cells.shape[1:] != self.letters.shape:
            raise InputError(
                f"closed must have shape (K, rows, columns) of {self.letters.shape}, got {np.shape(closed)}"
            )
        kinds = _kinds(self.letters)
        maps = (np.where(shut, BLOCKED, kinds) for shut in cells)
        return grid_weights.fill_weights(self.graph, maps, np.empty((len(cells), self.graph.m)), corner_cutting=False)

    def queries(self, scenario: Scenario) -> InstanceSet:
        """Return the instances of a scenario; its sizes must be those of the map.

        Parameters
        ----------
        scenario
            What :func:`read_scenario` returned.

        Returns
        -------
        InstanceSet
            One instance for each query.

        Raises
        ------
        InputError
            If the scenario is for a map of another size.
        """
        assert self.graph.shape is not None
        if scenario.shape != self.graph.shape:
            raise InputError(
                f"the scenario is for {scenario.shape} cells (rows, columns), the map has {self.graph.shape}"
            )
        return self.instances(scenario.sources, scenario.goals)


@dataclass(frozen=True, eq=False)
class Scenario:
    """The queries of a ``.scen`` file."""

    sources: NDArray[np.int64]
    """The start of each query, as a vertex."""
    goals: NDArray[np.int64]
    """The goal of each query."""
    lengths: NDArray[np.float64]
    """The optimal lengths that the file states, as they are printed there."""
    buckets: NDArray[np.int64]
    """The bucket of each query: queries of one bucket are about equally long."""
    shape: tuple[int, int]
    """(rows, columns) of the map."""
    map_name: str
    """The name of the map, as the file states it."""

    def __len__(self) -> int:
        return self.sources.size


def _queries(town: GridMap, *, scenario: text.Path | None = None, **draw: Any) -> InstanceSet:
    """Return the queries of a scenario file, or instances drawn on the map."""
    return sample(town, **draw) if scenario is None else town.queries(read_scenario(scenario))


@reader("map", "MovingAI map (set scenario to its .scen file)", suffixes=(".map",), draw=_queries)
def read_map(path: text.Path, *, neighbors: Literal[4, 8] = 8, max_cells: int | None = None) -> GridMap:
    r"""Read a ``.map`` file.

    Parameters
    ----------
    path
        The file, compressed or not.
    neighbors
        8, as the format specifies, or 4 without diagonals.
    max_cells
        How many cells the map may have, each of which takes about 100 bytes. The default is 2 million, or 16 for each
        byte of the file if that is more: less than a compressed map can have, so that a small file cannot fill the
        memory.

    Returns
    -------
    GridMap
        One snapshot, the lengths of the steps; ``inf`` where a step is not possible.

    Raises
    ------
    ReadError
        If the file is not a map, is truncated or has letters of unknown terrain; the message names the line.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.map")
    ...     _ = path.write_text("type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n")
    ...     small = rs.datasets.read_map(path)
    >>> small.sample(10, goal=small.graph.vertex((0, 2)))
    InstanceSet(10 instances, 1 snapshot of 22 edges, goal 2)
    """
    if neighbors not in (4, 8):
        raise InputError(f"neighbors must be 4 or 8, got {neighbors!r}")
    number = 0
    size: dict[str, int] = {}
    rows: list[bytes] = []
    reading = text.lines(path, counted=True)
    for number, line in reading:
        words = line.split()
        if words == ["map"]:
            break
        if len(words) == 2 and words[0] == "type":
            continue
        if len(words) != 2 or words[0] not in ("height", "width") or not _is_size(words[1]):
            raise ReadError(
                path, number, f"expected 'type octile', 'height <rows>', 'width <columns>' or 'map', got {line[:60]!r}"
            )
        size[words[0]] = text.integer(words[1])
    else:
        raise ReadError(path, number, "the file ends before the line 'map'")
    if len(size) < 2:
        raise ReadError(path, number, "expected 'height <rows>' and 'width <columns>' before 'map'")
    height, width = size["height"], size["width"]
    if height * width > _LARGEST_MAP:
        raise ReadError(path, number, f"a map of {height} x {width} cells is too large; at most 2**28 are accepted")
    weight = os.stat(path).st_size
    bound = max(_SMALL_MAP, _RATIO * weight) if max_cells is None else arrays.integer(max_cells, "max_cells", 1)
    text.require_plausible(path, number, height * width, f"cells ({height} x {width})", bound, "max_cells")
    for number, line in reading:
        if len(rows) == height:
            if line.strip():
                raise ReadError(path, number, f"the header declares {height} rows, this is one more")
            continue
        if len(line) != width:
            raise ReadError(path, number, f"expected {width} letters in row {len(rows)}, got {len(line)}")
        unknown = set(line) - _LETTERS.keys()
        if unknown:
            column = min(line.index(letter) for letter in unknown)
            accepted = " ".join(_LETTERS)
            raise ReadError(path, number, f"unknown terrain {line[column]!r} in column {column}; known are {accepted}")
        rows.append(line.encode())
    if len(rows) != height:
        raise ReadError(path, number, f"the header declares {height} rows, the file has {len(rows)}: is it truncated?")
    letters = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(height, width)
    graph = Graph.grid(height, width, neighbors=neighbors)
    weights = grid_weights.fill_weights(graph, [_kinds(letters)], np.empty((1, graph.m)), corner_cutting=False)
    return GridMap(graph, weights, letters=letters)


def read_scenario(path: text.Path) -> Scenario:
    r"""Read a ``.scen`` file: queries on one map, with their optimal lengths.

    A line is ``bucket map width height start-x start-y goal-x goal-y length``, x counting columns and y rows from
    the upper left.

    Parameters
    ----------
    path
        The file, compressed or not.

    Returns
    -------
    Scenario

    Raises
    ------
    ReadError
        Naming the file, the line and what was expected; also if the queries are for maps of several sizes.

    Examples
    --------
    >>> import pathlib, rhostar as rs, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.scen"
    ...     _ = path.write_text("version 1\n0 small.map 3 2 0 0 2 0 4.0\n")
    ...     scenario = rs.datasets.read_scenario(path)
    >>> scenario.sources.tolist(), scenario.goals.tolist(), scenario.lengths.tolist()
    ([0], [2], [4.0])
    """
    found: list[tuple[int, ...]] = []
    lengths: list[float] = []
    name, size = "", (0, 0)
    for number, line in text.lines(path):
        words = line.split()
        if not words or (number == 1 and words[0] == "version"):
            continue
        try:
            if len(words) < 9:
                raise ValueError
            # A map's name may have spaces in it.
            values = [text.integer(word) for word in (words[0], *words[-7:-1])]
            length = text.number(words[-1])
            if not 0 <= length < np.inf:
                raise ValueError
        except ValueError:
            form = "bucket map width height start-x start-y goal-x goal-y length"
            raise ReadError(path, number, f"expected '{form}', got {line[:60]!r}") from None
        bucket, width, height, *cells = values
        if not found:
            name, size = " ".join(words[1:-7]), (height, width)
            if height < 1 or width < 1 or height * width > _LARGEST_MAP:
                raise ReadError(path, number, f"a map of {height} x {width} cells is not accepted")
        elif (height, width) != size:
            raise ReadError(path, number, f"expected a map of {size[1]} x {size[0]} as before, got {width} x {height}")
        for x, y in (cells[:2], cells[2:]):
            if not (0 <= x < width and 0 <= y < height):
                raise ReadError(path, number, f"the cell x={x}, y={y} is outside the map of {width} x {height}")
        found.append((bucket, cells[1] * width + cells[0], cells[3] * width + cells[2]))
        lengths.append(length)
    if not found:
        raise ReadError(path, None, "the file has no queries")
    bucket, source, goal = np.array(found, dtype=np.int64).T
    return Scenario(source, goal, np.array(lengths), bucket, size, name)


def _is_size(word: str) -> bool:
    try:
        return text.integer(word) > 0
    except ValueError:
        return False


def _kinds(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    table = np.zeros(256, dtype=np.uint8)
    for letter, kind in _LETTERS.items():
        table[ord(letter)] = kind
    return table[letters]
