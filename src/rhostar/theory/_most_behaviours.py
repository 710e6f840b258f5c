"""Searches for single instances with many behaviors: a bound for every utility cannot be lower than these imply.

If one instance has B behaviors, some utility shatters ⌊lg B⌋ copies of it (see :func:`rhostar.theory.star_copies`).
Without reopening no vertex is selected twice, so a behavior is a sequence of some of the n − 2 vertices besides s and
t: **one instance has at most ⌊e·(n−2)!⌋ behaviors, for any weights**; s → v for all v, with the goal among them,
attains this number under A*. Under GBFS the last vertex of the sequence must lead to t, which leaves ⌊e·(n−3)!⌋ for n ≥
5. So it is open only for A* with reopening whether lg B can be of higher order than n lg n. The counts here are exact,
for instances found by hill climbing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import StorageError
from rhostar.instances import InstanceSet
from rhostar.theory import _core
from rhostar.theory._integer_instances import instance_set
from rhostar.theory._set_search import LARGEST, Kind

_FILE = "most_behaviours.json"


@dataclass(frozen=True)
class Found:
    """An instance that was found, and how many behaviors it has."""

    n: int
    search: str
    weights: str
    source: int
    arcs: tuple[tuple[int, int, int], ...]
    behaviours: int

    def instance(self) -> InstanceSet:
        """Return the instance, as a set of one."""
        return instance_set(self.n, [{(u, v): w for u, v, w in self.arcs}], self.source, self.n - 1)


def known_instances() -> list[Found]:
    """Return the instances with the most behaviors found so far; they come with the package.

    Examples
    --------
    >>> import rhostar as rs
    >>> from rhostar.theory._most_behaviours import known_instances
    >>> found = next(c for c in known_instances() if (c.n, c.search) == (5, "gbfs"))
    >>> len(rs.theory.joint_behaviours(found.instance(), "gbfs")) == found.behaviours
    True
    """
    text = resources.files("rhostar.theory").joinpath(_FILE).read_text()
    try:
        rows = json.loads(text)
        return [Found(**{**row, "arcs": tuple(tuple(arc) for arc in row["arcs"])}) for row in rows]
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{_FILE} is damaged: {error}") from error


def climb(kind: Kind, seed: int, *, tries: int = 200, max_behaviours: int = 1_000_000) -> Found | None:
    """Search by hill climbing for an instance with many behaviors; the same seed finds the same one.

    Parameters
    ----------
    kind
        Vertices, algorithm and weights; its utility does not matter.
    seed
        For numpy's generator.
    tries
        How many changes are tried.
    max_behaviours
        Instances with more are skipped, because counting takes too long.

    Examples
    --------
    >>> from rhostar.theory._most_behaviours import climb
    >>> from rhostar.theory._set_search import Kind
    >>> climb(Kind(5, "astar", True, "cost", "large"), seed=0, tries=200).behaviours
    22
    """
    rng = np.random.default_rng(seed)
    n, goal, largest = kind.n, kind.n - 1, LARGEST[kind.weights]
    low = 1 if kind.weights == "unit" else 0
    best, most = None, 0
    matrix = rng.integers(low, largest + 1, (n, n))
    matrix[rng.random((n, n)) > 0.7] = -1
    for attempt in range(tries):
        tried = matrix.copy()
        if attempt:
            for _ in range(int(rng.integers(1, 4))):
                u, v = rng.integers(0, n, 2)
                tried[u, v] = rng.integers(low, largest + 1) if rng.random() < 0.7 else -1
        np.fill_diagonal(tried, -1)
        tried[:, n - 2] = tried[goal] = -1  # the start is n − 2
        count = _count(tried, kind, max_behaviours)
        if count >= most:
            matrix = tried
            if count > most:
                best, most = tried, count
    if best is None:
        return None
    arcs = tuple((int(u), int(v), int(best[u, v])) for u, v in zip(*np.nonzero(best >= 0), strict=True))
    return Found(n, kind.search, kind.weights, n - 2, arcs, most)


def _count(matrix: NDArray[np.int64], kind: Kind, max_behaviours: int) -> int:
    """Return the number of behaviors, 0 if there is no path or there are too many."""
    n, greedy = kind.n, kind.algorithm == "gbfs"
    weights, source = np.ascontiguousarray(matrix[None]), np.array([n - 2], dtype=np.int32)
    zeros = np.zeros((1, n), dtype=np.int64)
    if _core.sweep(weights, source, n - 1, greedy, kind.reopen, zeros, 1, 0).values[0] < 0:
        return 0
    found = _core.explore(weights, source, n - 1, greedy, kind.reopen, max_behaviours, 0, n.bit_length(), None)
    return found.leaves if found.complete else 0
