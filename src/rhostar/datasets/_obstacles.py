"""Generators of obstacle worlds: eight families of grids, each with its own kind of random obstacles.

Four resemble published families of motion-planning worlds, measured on their pictures; the other four (the bug traps
and the mixtures) are added for tests of generalization. All are drawn for 201 x 201 cells and scaled to other sizes;
the start is in the lower left corner, the goal in the upper right one, and every world has a path between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rhostar import _arrays as arrays
from rhostar.datasets._distribution import Distribution
from rhostar.datasets._worlds import Worlds
from rhostar.errors import InfeasibleError, InputError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.instances._grid_weights import require_float
from rhostar.instances._pool import stream_of
from rhostar.instances._sampling import declare

Family = Literal[
    "alternating_gaps",
    "bugtrap_forest",
    "forest",
    "gaps_and_forest",
    "mazes",
    "multiple_bugtraps",
    "shifting_gaps",
    "single_bugtrap",
]

_TRIES = 1000


class Canvas:
    """A world while it is drawn, in units of 1/201 of its side; y counts from the top."""

    def __init__(self, size: int) -> None:
        self.cells = np.zeros((size, size), dtype=bool)
        self.unit = size / 201

    def fill(self, x: float, y: float, width: float, height: float, blocked: bool = True) -> None:
        """Block (or free) a rectangle, clipped to the world; no wall is thinner than a cell."""
        left, top = (max(0, round(v * self.unit)) for v in (x, y))
        right, bottom = (
            max(low + 1, round((v + extent) * self.unit)) for low, v, extent in ((left, x, width), (top, y, height))
        )
        if x + width > 0 and y + height > 0:
            self.cells[top:bottom, left:right] = blocked


def _wall(canvas: Canvas, gap: float, x: float = 80, width: float = 41) -> None:
    canvas.fill(x, 0, width, 201)
    canvas.fill(x, gap, width, 19, blocked=False)


def _alternating_gaps(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw a wall 41 wide with a gap of 19, low with probability 0.7, else high."""
    _wall(canvas, rng.uniform(130, 172) if rng.random() < 0.7 else rng.uniform(11, 52))


def _shifting_gaps(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw a wall 41 wide with a gap of 19 anywhere."""
    _wall(canvas, rng.uniform(11, 172))


def _squares(rng: np.random.Generator, canvas: Canvas, spots: list[tuple[float, float]], each: float) -> None:
    for x, y in spots:
        for _ in range(rng.poisson(each)):
            across, down = rng.normal((x, y), (11, 14))
            canvas.fill(across - 10.5, down - 10.5, 21, 21)


def _forest(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw squares of 21 in four clusters, two bars, and sometimes a square elsewhere."""
    canvas.fill(0, 40, 71, 11)
    canvas.fill(130, 140, 71, 11)
    _squares(rng, canvas, [(25, 100), (60, 138), (140, 60), (174, 100)], 4)
    for _ in range(rng.poisson(0.7)):
        canvas.fill(rng.uniform(0, 190), rng.uniform(0, 190), 21, 21)


def _mazes(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw two walls 5 thick with a gap each, and levels that lead from gap to gap: upwards, or down and up."""
    canvas.fill(65, 0, 5, 201)
    canvas.fill(133, 0, 5, 201)
    if rng.random() < 0.6:
        low = rng.uniform(75, 165)
        high = rng.uniform(8, low - 30)
        canvas.fill(65, low + 5, 5, 19, blocked=False)
        canvas.fill(133, high + 5, 5, 19, blocked=False)
        canvas.fill(0, low, 70, 5)
        canvas.fill(65, low + 24, 73, 5)
        canvas.fill(65, high, 73, 5)
        canvas.fill(133, high + 24, 68, 5)
    else:
        high = rng.uniform(20, 110)
        low = rng.uniform(high + 45, min(high + 95, 180))
        canvas.fill(65, high + 5, 5, 19, blocked=False)
        canvas.fill(133, low - 19, 5, 19, blocked=False)
        canvas.fill(0, high, 138, 5)
        canvas.fill(65, low, 136, 5)


def _trap(canvas: Canvas, x: float, y: float, side: float, thick: float, opening: float) -> None:
    """Draw a bug trap: a box open toward the start (left side and below), with lips that bend inward."""
    canvas.fill(x, y, side, thick)
    canvas.fill(x + side - thick, y, thick, side)
    canvas.fill(x, y, thick, (side - opening) / 2)
    canvas.fill(x, y + (side + opening) / 2, thick, (side - opening) / 2)
    canvas.fill(x, y + side - thick, side, thick)
    lip = 0.25 * side
    canvas.fill(x, y + (side - opening) / 2 - thick, lip, thick)
    canvas.fill(x, y + (side + opening) / 2, lip, thick)


def _single_bugtrap(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw one trap of side 90 to 120 across the diagonal, its opening (30) toward the start's side."""
    side = rng.uniform(90, 120)
    x, y = rng.uniform(30, 171 - side, 2)
    _trap(canvas, x, y, side, 6, 30)


def _multiple_bugtraps(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw four to six traps of side 40 to 55, one in each of six places, shifted by up to 12."""
    places = [(15, 70), (75, 70), (135, 70), (40, 135), (100, 130), (75, 8)]
    for k in rng.permutation(6)[: rng.integers(4, 7)]:
        dx, dy = rng.uniform(-12, 12, 2)
        _trap(canvas, places[k][0] + dx, places[k][1] + dy, rng.uniform(40, 55), 5, 16)


def _bugtrap_forest(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw a trap of side 70 to 90 in the middle, squares of 21 around it."""
    side = rng.uniform(70, 90)
    x, y = rng.uniform(45, 155 - side, 2)
    _squares(rng, canvas, [(30, 40), (45, 165), (165, 150), (160, 35)], 3)
    canvas.fill(x - 4, y - 4, side + 8, side + 8, blocked=False)
    _trap(canvas, x, y, side, 6, 24)


def _gaps_and_forest(rng: np.random.Generator, canvas: Canvas) -> None:
    """Draw a wall 21 thick with a gap anywhere, and squares of 21 on both sides; the space around the gap is free."""
    _squares(rng, canvas, [(35, 60), (45, 140), (155, 60), (165, 140)], 3)
    gap = rng.uniform(11, 172)
    canvas.fill(66, gap - 4, 69, 27, blocked=False)
    _wall(canvas, gap, x=90, width=21)


_FAMILIES: dict[str, Callable[[np.random.Generator, Canvas], None]] = {
    "alternating_gaps": _alternating_gaps,
    "bugtrap_forest": _bugtrap_forest,
    "forest": _forest,
    "gaps_and_forest": _gaps_and_forest,
    "mazes": _mazes,
    "multiple_bugtraps": _multiple_bugtraps,
    "shifting_gaps": _shifting_gaps,
    "single_bugtrap": _single_bugtrap,
}


class ObstacleWorlds(Distribution):
    """The distribution that :func:`obstacle_worlds` returns.

    Parameters
    ----------
    family
        The name of the family, as for :func:`obstacle_worlds`.
    size
        Cells on each side.
    dtype
        float64 or float32.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.obstacle_worlds("forest", size=20).worlds(2, seed=0).blocked.shape
    (2, 20, 20)
    """

    def __init__(self, family: Family, size: int, dtype: DTypeLike) -> None:
        self.family, self.size, self.dtype = family, size, np.dtype(dtype)
        self.graph = Graph.grid(size, size, neighbors=8)
        self.start, self.goal = (size - 1) * size, size - 1
        assert self.graph.length is not None
        length = self.graph.length.astype(self.dtype).astype(np.float64)
        self.edge_bounds = (arrays.frozen(length), arrays.frozen(length))
        words = (_FAMILIES[family].__doc__ or "").split("\n", maxsplit=1)[0]
        self.law = (
            f"{words} Measures are for 201 x 201 cells. Steps have Euclidean lengths and may cut corners; edges at "
            "blocked cells are absent. Five cells around the start and the goal are free. From the lower left to the "
            "upper right corner; worlds without a path are drawn again."
        )

    def worlds(self, count: int, seed: int | np.random.Generator | None) -> Worlds:
        """Draw only the obstacles, as truth values. They take a fortieth of the memory of the weights.

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator; a Generator continues from its current state.

        Returns
        -------
        Worlds

        Raises
        ------
        InfeasibleError
            If no world with a path was found in many tries.
        """
        from scipy.ndimage import label

        count = arrays.integer(count, "count", 1)
        rng = np.random.default_rng(seed)
        blocked = np.empty((count, self.size, self.size), dtype=bool)
        near = max(1, round(5 * self.size / 201))
        for k in range(count):
            for _ in range(_TRIES):
                canvas = Canvas(self.size)
                _FAMILIES[self.family](rng, canvas)
                cells = canvas.cells
                cells[-near:, :near] = cells[:near, -near:] = False
                parts, _ = label(~cells, structure=np.ones((3, 3)))
                if parts[-1, 0] == parts[0, -1]:
                    break
            else:
                raise InfeasibleError(f"{_TRIES} worlds of {self.size} cells a side had no path; use a larger size")
            blocked[k] = cells
        return Worlds(blocked)

    def snapshots(self, count: int, seed: int | np.random.Generator | None) -> NDArray[np.floating]:
        """Draw (count, m) lengths, inf at blocked cells."""
        return self.draw(count, seed).weights

    def sources(self, count: int, seed: int | np.random.Generator | None) -> NDArray[np.int64]:
        """Return the lower left corner `count` times."""
        return np.full(count, self.start)

    def draw(self, count: int, seed: int | np.random.Generator | None) -> InstanceSet:
        """Draw independent instances; one of 201 x 201 cells takes 2.6 MB (1.3 MB as float32)."""
        rng = np.random.default_rng(seed)
        sampler = self._sampler()
        stream = stream_of(sampler.name, rng)
        return declare(self.worlds(count, rng).instances(graph=self.graph, dtype=self.dtype), sampler, stream)


def obstacle_worlds(family: Family, *, size: int = 201, dtype: DTypeLike = np.float64) -> ObstacleWorlds:
    """Return the distribution of a family of worlds.

    Parameters
    ----------
    family
        "alternating_gaps", "shifting_gaps", "forest", "mazes", "single_bugtrap", "multiple_bugtraps",
        "bugtrap_forest" or "gaps_and_forest".
    size
        Cells a side, at least 20.
    dtype
        float64, or float32 in half the memory.

    Returns
    -------
    ObstacleWorlds
        Call its method ``draw``.

    Raises
    ------
    InputError
        If there is no such family.

    Examples
    --------
    >>> import rhostar as rs
    >>> forest = rs.datasets.obstacle_worlds("forest", size=50)
    >>> forest.draw(10, seed=0)
    InstanceSet(10 instances, 10 snapshots of 19404 edges, goal 49)
    >>> forest.worlds(10, seed=0)
    Worlds(10 worlds of 50x50 cells)
    """
    if family not in get_args(Family):
        raise InputError(f"family must be one of {', '.join(sorted(_FAMILIES))}, got {family!r}")
    require_float(dtype)
    return ObstacleWorlds(family, arrays.integer(size, "size", 20), dtype)
