"""Searches for large shattered sets: draws random instances, and keeps those that split every pattern found so far.

Points are heuristics ρ. Their pattern on the instances kept so far puts them into classes. A new instance is kept
if some threshold on its utility splits every class; then the number of classes doubles. For greedy search
the points are all orders of ρ; for A* they are drawn at random, and varied further if a class has few points. If
nothing splits, an instance is dropped and others are tried. A round begins with some number of vertices, from nothing
or from a known construction, and adds one vertex after the other: shattered sets stay shattered. The result depends
only on the seed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _failures as failures
from rhostar.errors import InputError
from rhostar.search import Algorithm
from rhostar.theory import _core
from rhostar.theory._behaviours import MEASURES
from rhostar.theory._codes import interval_code
from rhostar.theory._constructions import sharper_instances, theorem5_instances
from rhostar.theory._integer_instances import edges_of
from rhostar.theory._shattered_set import ShatteredSet
from rhostar.theory._witness import Witness

Weights = Literal["unit", "small", "large"]
LARGEST = {"unit": 1, "small": 4, "large": 64}
"""Weights are 1, or integers from 0 to this."""

_BATCH = 128
_POINTS_PER_CLASS = 32
_FEWEST, _MOST = 1 << 10, 1 << 15
"""The number of points, by the number of classes."""
_FIRST = 4
"""Vertices to begin with."""
_ORDERS_UP_TO = 8
"""Up to this many vertices, all orders of ρ are tried."""


@dataclass(frozen=True)
class Kind:
    """The kind of an entry of the atlas.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.Kind(5, "astar", False, "cost", "unit").name
    'astar-closed-cost-unit-5'
    """

    n: int
    """Number of vertices."""
    algorithm: Algorithm
    """"astar" or "gbfs"."""
    reopen: bool
    """Whether A* reopens."""
    utility: Literal["cost", "expanded"]
    """The name of the utility."""
    weights: Weights
    """Which weights are allowed."""

    def __post_init__(self) -> None:
        if not 3 <= self.n <= 16 or self.weights not in LARGEST or self.utility not in ("cost", "expanded"):
            raise InputError(f"{self} is not a valid kind: n must be 3 to 16, weights one of {sorted(LARGEST)}")

    @property
    def search(self) -> str:
        """The algorithm in one word."""
        return "gbfs" if self.algorithm == "gbfs" else "astar-reopen" if self.reopen else "astar-closed"

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return f"{self.search}-{self.utility}-{self.weights}-{self.n}"


def hunt(kind: Kind, seed: int, *, patience: int = 24) -> Witness | None:
    """Look once for a shattered set as large as possible; the same seed finds the same set.

    Parameters
    ----------
    kind
        What to look for.
    seed
        For numpy's generator.
    patience
        How many batches of candidates in a row may fail before the round ends.

    Returns
    -------
    Witness or None
        None if not even one instance was found. The witness is not verified yet.

    Examples
    --------
    >>> from rhostar.theory._set_search import Kind, hunt
    >>> from rhostar.theory import verify
    >>> verify(hunt(Kind(4, "gbfs", True, "cost", "small"), seed=0))
    2
    """
    rng = np.random.default_rng(seed)
    begin = int(rng.integers(_FIRST, kind.n + 1)) if kind.n > _FIRST else kind.n
    search = _Round(replace(kind, n=begin), rng)
    start = construction(search.kind)
    if start is not None and rng.random() < 0.5:
        search.adopt(start)
    search.run(patience)
    while search.kind.n < kind.n:
        search.lift()
        search.run(patience)
    return search.witness() if search.kept else None


def construction(kind: Kind) -> ShatteredSet | None:
    """Return the largest of the known constructions of this kind; None if there is none."""
    n, algorithm = kind.n, kind.algorithm
    found: list[ShatteredSet] = []
    if kind.utility == "cost":
        if n >= 5:
            found.append(theorem5_instances(n, algorithm))
        if n >= 4 and kind.weights != "unit":
            found.append(sharper_instances(n, algorithm))
    elif algorithm == "gbfs" and n >= 7:
        found.append(interval_code(n, "gbfs"))
    elif algorithm == "astar" and n >= 4 and kind.weights == "large":
        found.append(interval_code(n, "astar"))
    return max(found, key=len, default=None)


def known(kind: Kind) -> Witness | None:
    """Return the witness of the largest known construction of this kind."""
    found = construction(kind)
    if found is None:
        return None
    start = _Round(kind, np.random.default_rng(0))
    start.adopt(found)
    return start.witness()


class _Round:
    """One round: the points, their patterns, and the instances kept with their thresholds."""

    def __init__(self, kind: Kind, rng: np.random.Generator) -> None:
        self.kind, self.rng, self.goal = kind, rng, kind.n - 1
        self.range = int(4 * LARGEST[kind.weights] * rng.choice([1, 2, 3]) + 4)  # of ρ, in halves
        self.points = self._first_points()
        self.pattern = np.zeros(len(self.points), dtype=np.int64)
        self.kept: list[tuple[NDArray[np.int64], int]] = []
        self.cuts: list[int] = []

    @property
    def all_orders(self) -> bool:
        """Whether the points are all orders of ρ."""
        return self.kind.algorithm == "gbfs" and self.kind.n <= _ORDERS_UP_TO

    def run(self, patience: int) -> None:
        """Extend until `patience` batches in a row have failed; the largest set found is kept."""
        best = (list(self.kept), list(self.cuts), self.points, self.pattern)
        idle = 0
        while idle < patience:
            if self._extend():
                self._breed()
                if len(self.kept) > len(best[0]):
                    best = (list(self.kept), list(self.cuts), self.points, self.pattern)
                    idle = 0
            else:
                idle += 1
                if len(self.kept) > 1 and idle % 3 == 0:
                    self._drop(int(self.rng.integers(len(self.kept))))
                    self._breed()
        self.kept, self.cuts, self.points, self.pattern = best[0], best[1], best[2], best[3].copy()

    def adopt(self, known: ShatteredSet) -> None:
        """Begin with a shattered set whose values of ρ are multiples of a half."""
        n = known.instances.graph.n
        names = np.arange(n)  # the goal comes last here
        goal = int(known.instances.goals[0])
        names[[goal, n - 1]] = names[[n - 1, goal]]
        for edges, source in zip(edges_of(known.instances), known.instances.sources, strict=True):
            tail, head, weights = np.array(edges).T
            matrix = np.full((n, n), -1, dtype=np.int64)
            matrix[names[tail], names[head]] = weights
            self.kept.append(self._cleaned(matrix, int(names[source])))
        self.cuts = [math.floor(z) + 1 for z in known.thresholds]
        if not self.all_orders:
            patterns = (np.arange(1 << len(known))[:, None] >> np.arange(len(known))) & 1
            self.points = np.rint([2 * known.rho(pattern)[names] for pattern in patterns]).astype(np.int64)
        self.pattern = self._patterns(self.points)
        self._breed()

    def lift(self) -> None:
        """Add a vertex, before the goal, that no instance uses yet."""
        n = self.kind.n
        self.kind, self.goal = replace(self.kind, n=n + 1), n
        where = [*range(n - 1), n]
        lifted = []
        for matrix, source in self.kept:
            larger = np.full((n + 1, n + 1), -1, dtype=np.int64)
            larger[np.ix_(where, where)] = matrix
            lifted.append((larger, source))
        self.kept = lifted
        if self.all_orders:
            self.points = self._first_points()
        else:
            self.points = np.insert(self.points, n - 1, self.rng.integers(0, self.range, len(self.points)), axis=1)
        self.pattern = self._patterns(self.points)
        self._breed()

    # ------------------------------------------------------------ points

    def _first_points(self) -> NDArray[np.int64]:
        n = self.kind.n
        if self.all_orders:
            orders = np.array(list(itertools.permutations(range(n - 1))), dtype=np.int64)
            return np.hstack([2 * orders, np.zeros((len(orders), 1), dtype=np.int64)])
        return self.rng.integers(0, self.range, size=(_FEWEST, n))

    def _breed(self) -> None:
        """Add points to small classes: change existing points in one or two places, or swap values."""
        if self.all_orders:
            return
        size = min(max(_FEWEST, _POINTS_PER_CLASS << len(self.kept)), _MOST)
        parents = self._balanced(max(size // 2, 1 << len(self.kept)))
        children = self.points[np.resize(parents, size)].copy()
        rows = np.arange(len(children))
        for _ in range(2):
            column = self.rng.integers(0, self.kind.n, len(children))
            moved = children[rows, column] + self.rng.integers(-self.range // 4, self.range // 4 + 1, len(children))
            children[rows, column] = np.where(self.rng.random(len(children)) < 0.7, moved, children[rows, column])
        self.points = np.vstack([self.points[parents], children])
        self.pattern = self._patterns(self.points)
        chosen = self._balanced(max(size, 1 << len(self.kept)))
        self.points, self.pattern = self.points[chosen], self.pattern[chosen]

    def _balanced(self, most: int) -> NDArray[np.int64]:
        """Return about `most` points, spread over the classes as evenly as possible."""
        shuffled = self.rng.permutation(len(self.points))
        order = shuffled[np.argsort(self.pattern[shuffled], kind="stable")]
        starts = np.flatnonzero(np.diff(self.pattern[order], prepend=-1))
        place = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
        return order[np.argsort(place, kind="stable")[:most]]

    def _patterns(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.kept:
            return np.zeros(len(points), dtype=np.int64)
        values = self._sweep([matrix for matrix, _ in self.kept], [source for _, source in self.kept], points)
        return (values >= np.array(self.cuts)[:, None]).T @ (1 << np.arange(len(self.cuts)))

    def _sweep(
        self, matrices: list[NDArray[np.int64]], sources: list[int], points: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        kind = self.kind
        found = _core.sweep(
            np.ascontiguousarray(np.stack(matrices)),
            np.array(sources, dtype=np.int32),
            self.goal,
            kind.algorithm == "gbfs",
            kind.reopen,
            np.ascontiguousarray(points),
            1,
            MEASURES.index(kind.utility),
        )
        failures.require_done(found.ending)
        return found.values.reshape(len(matrices), len(points))

    # ------------------------------------------------------------ instances

    def _extend(self) -> bool:
        """Draw a batch of candidates and keep the one that splits all classes most evenly, if any does."""
        drawn = [self._candidate() for _ in range(_BATCH)]
        values = self._sweep([matrix for matrix, _ in drawn], [source for _, source in drawn], self.points)
        order = np.argsort(self.pattern, kind="stable")
        starts = np.flatnonzero(np.diff(self.pattern[order], prepend=-1))
        if starts.size < 1 << len(self.kept):
            return False  # breeding lost a class: cannot happen, as parents are kept
        ordered = values[:, order]
        low = np.minimum.reduceat(ordered, starts, axis=1).max(axis=1) + 1
        high = np.maximum.reduceat(ordered, starts, axis=1).min(axis=1)
        best, choice = 0, None
        for k in np.flatnonzero((low <= high) & (values.min(axis=1) >= 0)):
            for cut in range(int(low[k]), min(int(high[k]), int(low[k]) + 8) + 1):
                above = np.add.reduceat((ordered[k] >= cut).astype(np.int64), starts)
                sizes = np.diff(starts, append=order.size)
                balance = int(np.minimum(above, sizes - above).min())
                if balance > best:
                    best, choice = balance, (k, cut)
        if choice is None:
            return False
        k, cut = choice
        self.pattern += (values[k] >= cut).astype(np.int64) << len(self.kept)
        self.kept.append(drawn[k])
        self.cuts.append(cut)
        return True

    def _drop(self, i: int) -> None:
        del self.kept[i], self.cuts[i]
        self.pattern = self._patterns(self.points)

    def _candidate(self) -> tuple[NDArray[np.int64], int]:
        """Return a random instance, or a kept one with a change or with its vertices renamed."""
        rng, n = self.rng, self.kind.n
        if self.kept and rng.random() < 0.4:
            matrix, source = self.kept[int(rng.integers(len(self.kept)))]
            if rng.random() < 0.5:
                names = np.append(rng.permutation(n - 1), n - 1)
                return self._cleaned(matrix[np.ix_(names, names)], int(np.flatnonzero(names == source)[0]))
            changed = matrix.copy()
            for _ in range(int(rng.integers(1, 4))):
                u, v = rng.integers(0, n, 2)
                changed[u, v] = self._weights(()) if rng.random() < 0.6 else -1
            return self._cleaned(changed, source)
        if rng.random() < 0.6:
            return self._few_paths()
        weights = self._weights((n, n))
        weights[rng.random((n, n)) > rng.choice([0.25, 0.4, 0.55, 0.7, 0.9])] = -1
        return self._cleaned(weights, int(rng.integers(n - 1)))

    def _few_paths(self) -> tuple[NDArray[np.int64], int]:
        """Return an instance made of a few short paths, as in most known constructions."""
        rng, n = self.rng, self.kind.n
        source = int(rng.integers(n - 1))
        others = np.array([v for v in range(n - 1) if v != source])
        matrix = np.full((n, n), -1, dtype=np.int64)
        for _ in range(int(rng.integers(2, 5))):
            inner = rng.permutation(others)[: int(rng.integers(0, min(4, others.size + 1)))]
            path = [source, *inner.tolist(), self.goal]
            matrix[path[:-1], path[1:]] = self._weights((len(path) - 1,))
        return matrix, source

    def _weights(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        if self.kind.weights == "unit":
            return np.ones(shape, dtype=np.int64)
        return np.asarray(self.rng.integers(0, LARGEST[self.kind.weights] + 1, shape))

    def _cleaned(self, matrix: NDArray[np.int64], source: int) -> tuple[NDArray[np.int64], int]:
        """Drop loops and edges that no run reads: into the start, out of the goal."""
        matrix = matrix.copy()
        np.fill_diagonal(matrix, -1)
        matrix[:, source] = -1
        matrix[self.goal] = -1
        return matrix, source

    def witness(self) -> Witness:
        """Return what was found; every class has a point."""
        kind = self.kind
        _, first = np.unique(self.pattern, return_index=True)
        arcs = tuple(
            tuple((int(u), int(v), int(matrix[u, v])) for u, v in zip(*np.nonzero(matrix >= 0), strict=True))
            for matrix, _ in self.kept
        )
        return Witness(
            n=kind.n,
            goal=self.goal,
            algorithm=kind.algorithm,
            reopen=kind.reopen,
            utility=kind.utility,
            sources=tuple(source for _, source in self.kept),
            arcs=arcs,
            thresholds=tuple(cut - 0.5 for cut in self.cuts),
            bits=1,
            rho=tuple(tuple(row) for row in self.points[first].tolist()),
        )
