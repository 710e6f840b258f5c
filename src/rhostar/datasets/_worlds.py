"""Reads obstacle worlds from a folder of PNG files of one size: light cells are free, dark ones blocked.

Cells have 8 neighbors, steps have their Euclidean lengths, and diagonals may cut the corners of blocked cells.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rhostar import _arrays as arrays
from rhostar.datasets._formats import reader
from rhostar.datasets._text_files import require_plausible
from rhostar.errors import ArrayError, InputError, ReadError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet

_LARGEST_SIDE = 1 << 14
_SMALL_WORLD = 1 << 21
"""Cells that any picture may have."""
_SMALL_FOLDER = 1 << 27
"""Cells that all pictures of a folder may have together; a cell takes a byte."""
_RATIO = 16
"""A larger picture, or folder, may have this many cells for each of its bytes."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """K maps of obstacles on one grid. Slices and index arrays give parts: ``worlds[:100]``.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> worlds = rs.datasets.Worlds(np.zeros((5, 20, 30), dtype=bool))
    >>> worlds.instances()  # from the lower left to the upper right
    InstanceSet(5 instances, 5 snapshots of 4504 edges, goal 29)
    """

    blocked: NDArray[np.bool_]
    """(K, rows, columns)."""
    names: tuple[str, ...] | None = None
    """The file name of each."""

    def __post_init__(self) -> None:
        cells = arrays.as_array(self.blocked, "blocked").astype(bool, copy=False)
        if cells.ndim != 3 or 0 in cells.shape:
            raise ArrayError(f"blocked must have shape (K, rows, columns), got {cells.shape}")
        object.__setattr__(self, "blocked", arrays.frozen(cells))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.blocked.shape[1], self.blocked.shape[2]

    @property
    def graph(self) -> Graph:
        """The grid of all cells with 8 neighbors."""
        return Graph.grid(*self.shape, neighbors=8)

    def __len__(self) -> int:
        return len(self.blocked)

    def __getitem__(self, key: slice | NDArray[np.int64] | list[int]) -> Worlds:
        chosen = np.arange(len(self))[key]
        if chosen.ndim != 1:
            raise InputError(f"select worlds with a slice, index array or mask, got {key!r}")
        names = None if self.names is None else tuple(self.names[k] for k in chosen)
        return Worlds(self.blocked[key], names)

    def __repr__(self) -> str:
        return f"Worlds({len(self)} worlds of {self.shape[0]}x{self.shape[1]} cells)"

    def instances(
        self,
        start: tuple[int, int] | None = None,
        goal: tuple[int, int] | None = None,
        *,
        graph: Graph | None = None,
        dtype: DTypeLike = np.float64,
        infeasible: Literal["raise", "drop", "keep"] = "raise",
    ) -> InstanceSet:
        """Return one instance for each world.

        Parameters
        ----------
        start, goal
            Cells (row, column); the lower left and the upper right corner by default.
        graph
            The grid, if several sets should share it; :attr:`graph` by default.
        dtype
            float64, or float32 in half the memory: a world of 201 x 201 cells has 320,000 edges.
        infeasible
            As for :class:`InstanceSet`: what to do with worlds that have no path from start to goal.

        Returns
        -------
        InstanceSet
            One instance for each world.

        Raises
        ------
        InfeasibleError
            If a world has no path and `infeasible` is "raise".
        """
        grid = self.graph if graph is None else graph
        if grid.shape != self.shape or grid.length is None:
            raise InputError(f"graph must be a grid of {self.shape} cells, got {grid!r}")
        source = grid.vertex((self.shape[0] - 1, 0) if start is None else start)
        target = grid.vertex((0, self.shape[1] - 1) if goal is None else goal)
        given: Any = {"corner_cutting": True, "dtype": dtype, "infeasible": infeasible}
        return InstanceSet.from_obstacles(grid, self.blocked, source, target, **given)


def _one_each(worlds: Worlds, *, count: int, goal: Any, seed: int) -> InstanceSet:
    """Return one instance for each world; nothing is drawn."""
    if goal is not None and not isinstance(goal, int):
        raise InputError(f"a folder of worlds has one goal, got {len(goal)}")
    return worlds.instances(goal=None if goal is None else divmod(goal, worlds.shape[1]))


@reader("worlds", "folder of PNG pictures, dark cells blocked", folder=True, draw=_one_each)
def read_worlds(folder: str | os.PathLike[str], *, max_cells: int | None = None) -> Worlds:
    """Read all PNG files of a folder, in the order of their numbers.

    Parameters
    ----------
    folder
        A folder of pictures of one size. Pixels of at least 128 are free, darker ones blocked; colors are
        turned into gray first.
    max_cells
        How many pixels a picture may have. The default is 2 million, or 16 for each byte of the file if that is more:
        a white picture of a few kilobytes can have many millions, each of which would take about 100 bytes as a
        vertex.

    Returns
    -------
    Worlds
        In the order of the names of the files.

    Raises
    ------
    ReadError
        If there are none, or a file is not a picture, is truncated, has another size or too many pixels.

    Examples
    --------
    >>> import numpy as np, pathlib, rhostar as rs, tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         Image.fromarray(np.full((4, 5), 255, dtype=np.uint8)).save(pathlib.Path(folder) / f"{k}.png")
    ...     worlds = rs.datasets.read_worlds(folder)
    >>> worlds, worlds.names
    (Worlds(3 worlds of 4x5 cells), ('0.png', '1.png', '2.png'))
    """
    home = Path(folder)
    try:
        files = sorted((path for path in home.iterdir() if path.suffix.lower() == ".png"), key=_number)
    except OSError as error:
        raise ReadError(home, None, f"cannot be read: {error.strerror or error}") from error
    if not files:
        raise ReadError(home, None, "there are no .png files in this folder")
    most = None if max_cells is None else arrays.integer(max_cells, "max_cells", 1)
    first = _pixels(files[0], None, most)
    weight = sum(map(_size, files))
    bound = max(_SMALL_FOLDER, _RATIO * weight) if most is None else most * len(files)
    require_plausible(home, None, first.size * len(files), f"pixels in {len(files)} pictures", bound, "max_cells")
    blocked = np.empty((len(files), *first.shape), dtype=bool)
    blocked[0] = first
    for k, path in enumerate(files[1:], start=1):
        blocked[k] = _pixels(path, first.shape, most)
    return Worlds(blocked, tuple(path.name for path in files))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ReadError(path, None, f"cannot be read: {error.strerror or error}") from None


def _number(path: Path) -> tuple[int, str]:
    digits = re.findall(r"\d+", path.stem)
    return (int(digits[-1]) if digits else -1, path.name)


def _pixels(path: Path, shape: tuple[int, ...] | None, max_cells: int | None) -> NDArray[np.bool_]:
    """Return the blocked cells of one picture; its size is checked before it is unpacked."""
    from PIL import Image

    try:
        with Image.open(path, formats=["PNG"]) as picture:
            columns, rows = picture.size
            if max(rows, columns) > _LARGEST_SIDE:
                what = f"a picture of {columns} x {rows} pixels is too large; at most {_LARGEST_SIDE} a side"
                raise ReadError(path, None, what)
            bound = max(_SMALL_WORLD, _RATIO * path.stat().st_size) if max_cells is None else max_cells
            require_plausible(path, None, rows * columns, f"pixels ({columns} x {rows})", bound, "max_cells")
            if shape is not None and (rows, columns) != shape:
                raise ReadError(
                    path, None, f"expected {shape[1]} x {shape[0]} pixels as before, got {columns} x {rows}"
                )
            return np.asarray(picture.convert("L")) < 128
    except ReadError:
        raise
    except Exception as error:  # the decoder's errors have no common ancestor
        raise ReadError(path, None, f"not a picture, or a truncated one: {error}") from None
