"""Argmin processes: sequences without repetition that determine a whole run of A*.

**Argmin process.** A rule that maps the sequence of vertices selected so far to a set O of others with an offset a_v
each, or ends. Given ρ, it selects the v in O with the lowest a_v + ρ_v. The sequence is its *transcript*: no vertex
occurs twice. All numbers are exact (integers or fractions). Ties go to the smaller index.

A* without reopening is such a process: O is OPEN, a is g, and it ends after t (:class:`ClosedSearch`). A* with
reopening is not, because vertices return to OPEN; :mod:`rhostar.theory._closures` shows how it follows from n − 1
processes of the kind :class:`Closure`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from rhostar.errors import InputError
from rhostar.graph import Graph

Number: TypeAlias = int | Fraction
Transcript: TypeAlias = tuple[int, ...]
Weights: TypeAlias = Sequence[Any] | NDArray[Any]
"""One number for each edge, in the order of the graph."""


@dataclass(frozen=True)
class Problem:
    """An instance in exact numbers, without the edges into s and out of t, which change no run."""

    children: tuple[tuple[tuple[int, Number], ...], ...]
    """For each vertex its children in index order, with the weights."""
    source: int
    goal: int

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.children)


def exact_number(value: Any, name: str = "value") -> Number:
    """Return an integer or fraction equal to a finite number.

    Raises
    ------
    InputError
        If it is not a finite number.

    Examples
    --------
    >>> from rhostar.theory._processes import exact_number
    >>> exact_number(3.0), exact_number(0.5)
    (3, Fraction(1, 2))
    """
    try:
        found = Fraction(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be a finite number, got {value!r}") from error
    return found.numerator if found.denominator == 1 else found


def exact_rho(rho: Weights, n: int) -> list[Number]:
    """Return n heuristic values as exact numbers.

    Raises
    ------
    InputError
        If there are not n finite numbers.
    """
    if len(rho) != n:
        raise InputError(f"rho must have {n} values, got {len(rho)}")
    return [exact_number(x, f"rho[{v}]") for v, x in enumerate(rho)]


def exact_problem(graph: Graph, weights: Weights, source: int, goal: int) -> Problem:
    """Return an instance in exact numbers; weights may be any numbers, Python's integers of any size included.

    Raises
    ------
    InputError
        If there is not one weight of at least 0 (or inf) for each edge, or the source is the goal.
    """
    source, goal = int(source), int(goal)
    if len(weights) != graph.m:
        raise InputError(f"weights must have {graph.m} values, got {len(weights)}")
    if source == goal or not (0 <= source < graph.n and 0 <= goal < graph.n):
        raise InputError(f"source and goal must be two of {graph.n} vertices, got {source} and {goal}")
    children: list[list[tuple[int, Number]]] = [[] for _ in range(graph.n)]
    for e, (u, v) in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
        if weights[e] == math.inf or u == goal or v == source:
            continue
        weight = exact_number(weights[e], f"weights[{e}]")
        if weight < 0:
            raise InputError(f"weights[{e}] must be at least 0, got {weights[e]}")
        children[u].append((v, weight))
    return Problem(tuple(map(tuple, children)), source, goal)


# ---------------------------------------------------------------- processes


class Process(Protocol):
    """An argmin process that has just begun."""

    def options(self) -> dict[int, Number]:
        """Return O with its offsets; empty where the process has ended."""

    def select(self, v: int) -> None:
        """Go on after v, a member of O, was selected."""


class ClosedSearch:
    """A* without reopening, as an argmin process."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._open: dict[int, Number] = {problem.source: 0}
        self._closed: set[int] = set()

    def options(self) -> dict[int, Number]:
        """Return OPEN with g."""
        return dict(self._open)

    def select(self, v: int) -> None:
        """Expand v, or end where it is the goal."""
        g = self._open.pop(v)
        if v == self._problem.goal:
            self._open = {}
            return
        self._closed.add(v)
        for c, w in self._problem.children[v]:
            if c not in self._closed and g + w < self._open.get(c, math.inf):
                self._open[c] = g + w


class Closure:
    """closure(z), as an argmin process; see :mod:`rhostar.theory._closures`."""

    def __init__(self, problem: Problem, root: int) -> None:
        self._children, self._root = problem.children, root
        self._last = problem.goal if root == problem.source else root
        self._inside: set[int] = set()
        self._ended = False
        self.length: dict[int, Number] = {root: 0}
        """For each vertex reached the length of a shortest path with inner vertices among those selected."""
        self._relax(root)

    def options(self) -> dict[int, Number]:
        """Return the vertices reached and not selected, and the root at 0 unless it is the source."""
        if self._ended:
            return {}
        found = {v: a for v, a in self.length.items() if v not in self._inside}
        if self._last != self._root:
            del found[self._root]
        return found

    def select(self, v: int) -> None:
        """Make v an inner vertex, or end."""
        if v == self._last:
            self._ended = True
            return
        self._inside.add(v)
        self._relax(v)

    def _relax(self, v: int) -> None:
        """Lengths improve by paths through v alone: Dijkstra's algorithm from v, inside what was selected."""
        heap = [(self.length[v], v)]
        while heap:
            a, u = heappop(heap)
            if a > self.length[u]:
                continue
            for c, w in self._children[u]:
                if c != self._root and a + w < self.length.get(c, math.inf):
                    self.length[c] = a + w
                    if c in self._inside:
                        heappush(heap, (a + w, c))


def selections(process: Process, rho: Sequence[Number]) -> Iterator[tuple[int, Number]]:
    """Run a process and yield each vertex selected with its offset; ties go to the smaller index."""
    while options := process.options():
        v = min(options, key=lambda u: (options[u] + rho[u], u))
        yield v, options[v]
        process.select(v)


def transcript(process: Process, rho: Sequence[Number]) -> Transcript:
    """Run a process and return the vertices that it selects.

    Examples
    --------
    >>> from rhostar.theory._processes import ClosedSearch, Problem, transcript
    >>> transcript(ClosedSearch(Problem((((1, 2), (2, 9)), ((2, 3),), ()), 0, 2)), [0, 0, 0])
    (0, 1, 2)
    """
    return tuple(v for v, _ in selections(process, rho))
