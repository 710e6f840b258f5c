"""Why finitely many exponents suffice for real weights: ρ in the middle of its cell, and a list that the decoder knows.

All comparisons of closures and of runs are of the form ρ_v − ρ_w < T, where T is the difference of the lengths of two
simple paths of one instance from a common start to w and to v: a finite set 𝒯(v, w). With M the largest of all |T|,
gaps of more than M + 1 between neighboring values of ρ may be shrunk to M + 1, which changes no comparison. So all
differences can be below Λ = (n − 1)(M + 1) + 1. The *cell* of ρ is where all comparisons with the T and with ±Λ have
the same results: an open bounded polytope, up to a constant. At a corner of it n − 1 differences, a spanning tree,
are some T or ±Λ.

Replace ρ by the mean of n affinely independent corners. A slack is there between 1/n of its largest value at a corner
and that value, and a value at a corner is T less the sum of at most n − 1 differences along the tree: an integer
combination y·c of the weights and Λ with coefficients of at most n in absolute value. So ⌊lg slack⌋ is ⌊lg y·c⌋ less
one of 0, ..., ⌈lg n⌉. :func:`exponent_scale` lists these numbers from the instances alone: by the lemma of Goemans
there are at most E. Every way from w to v over at most n − 1 pairs is tried, so this is for few vertices.

The weights have to be integers here; scale them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError
from rhostar.theory._processes import Number, Problem

Form: TypeAlias = tuple[int, ...]
"""Integer coefficients of all weights of all instances, and of Λ."""
Thresholds: TypeAlias = dict[tuple[int, int], dict[int, Form]]
"""𝒯(v, w) and ±Λ: each value with one combination that has it."""


def thresholds(problems: Sequence[Problem]) -> Thresholds:
    """Return, for each ordered pair, all T with which ρ_v − ρ_w may be compared, and ±Λ.

    Raises
    ------
    InputError
        If a weight is not an integer.
    """
    n, count = problems[0].n, sum(len(some) for problem in problems for some in problem.children)
    found: Thresholds = {pair: {} for pair in itertools.permutations(range(n), 2)}
    first = 0
    for problem in problems:
        for z in range(n):
            lengths = _path_lengths(problem, z, first, count + 1)
            for v, w in found:
                for a, b in itertools.product(lengths[v].items(), lengths[w].items()):
                    found[v, w].setdefault(b[0] - a[0], tuple(y - x for x, y in zip(a[1], b[1], strict=True)))
        first += sum(map(len, problem.children))
    largest = max((abs(T) for some in found.values() for T in some), default=0)
    far, unit = (n - 1) * (largest + 1) + 1, tuple(int(k == count) for k in range(count + 1))
    for some in found.values():
        some[far], some[-far] = unit, tuple(-x for x in unit)
    return found


def _path_lengths(problem: Problem, root: int, first: int, size: int) -> list[dict[int, Form]]:
    """For each vertex the lengths of all simple paths from a root, with the edges as a combination of weights."""
    number = {(u, c): k for k, (u, c) in enumerate(((u, c) for u in range(problem.n) for c, _ in problem.children[u]))}
    found: list[dict[int, Form]] = [{} for _ in range(problem.n)]

    def walk(v: int, length: int, used: frozenset[int], seen: frozenset[int]) -> None:
        found[v].setdefault(length, tuple(int(k in used) for k in range(size)))
        for c, w in problem.children[v]:
            if c not in seen:
                if not isinstance(w, int):
                    raise InputError(f"weights must be integers here, got {w}")
                walk(c, length + w, used | {first + number[v, c]}, seen | {c})

    walk(root, 0, frozenset(), frozenset({root}))
    return found


def shrunk(rho: Sequence[Number], compared: Thresholds) -> list[Number]:
    """Return ρ with the gaps between neighboring values cut down, so that all differences are below Λ."""
    n = len(rho)
    far = max(abs(T) for some in compared.values() for T in some)
    widest = Fraction(far - 1, n - 1)
    order, found, at = sorted(range(n), key=lambda v: rho[v]), [Fraction(0)] * n, Fraction(0)
    for u, v in itertools.pairwise(order):
        at += min(Fraction(rho[v]) - Fraction(rho[u]), widest)
        found[v] = at
    return list(found)


def cell(rho: Sequence[Number], compared: Thresholds) -> dict[tuple[int, int], int]:
    """Return the bounds ρ_v − ρ_w < T that make the cell, for each ordered pair the least T.

    Raises
    ------
    InputError
        If ρ is on the boundary of two cells.
    """
    for (v, w), some in compared.items():
        if rho[v] - rho[w] in some:
            raise InputError(f"rho[{v}] − rho[{w}] is on the boundary of two cells; see untied")
    return {(v, w): min(T for T in some if rho[v] - rho[w] < T) for (v, w), some in compared.items()}


def corners(n: int, bounds: dict[tuple[int, int], int]) -> dict[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Return all corners of a cell, with ρ_0 = 0, each with a spanning tree of tight bounds."""
    found: dict[tuple[int, ...], tuple[tuple[int, int], ...]] = {}
    for tree in itertools.combinations(bounds, n - 1):
        x = {0: 0}
        for _ in range(n):
            for v, w in tree:
                if v in x and w not in x:
                    x[w] = x[v] - bounds[v, w]
                elif w in x and v not in x:
                    x[v] = x[w] + bounds[v, w]
        if len(x) == n and all(x[v] - x[w] <= c for (v, w), c in bounds.items()):
            found.setdefault(tuple(x[v] for v in range(n)), tree)
    return found


def independent(points: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return as many affinely independent points as there are, the first ones that will do."""
    chosen: list[tuple[int, ...]] = []
    rows: list[list[Fraction]] = []
    for point in points:
        if not chosen:
            chosen.append(point)
            continue
        row = [Fraction(a - b) for a, b in zip(point, chosen[0], strict=True)]
        for other in rows:
            pivot = next(k for k, x in enumerate(other) if x)
            share = row[pivot] / other[pivot]
            row = [a - share * b for a, b in zip(row, other, strict=True)]
        if any(row):
            rows.append(row)
            chosen.append(point)
    return chosen


def middle_of_cell(problems: Sequence[Problem], rho: Sequence[Number]) -> list[Number]:
    """Return the mean of n affinely independent corners of the cell of ρ; all transcripts are the same there.

    Raises
    ------
    InputError
        If a weight is not an integer, or ρ is on the boundary of two cells.
    """
    n, compared = len(rho), thresholds(problems)
    values = shrunk(rho, compared)
    chosen = independent(corners(n, cell(values, compared)))
    return [Fraction(sum(point[v] for point in chosen), n) for v in range(n)]


def exponent_scale(problems: Sequence[Problem]) -> list[int]:
    """Return the exponents that slacks can have in the middle of a cell, from the instances alone.

    Raises
    ------
    InputError
        If a weight is not an integer, or sums of them do not fit in 62 bits.
    """
    n, compared = problems[0].n, thresholds(problems)
    if 2 * n * max(abs(T) for some in compared.values() for T in some) >= 1 << 62:
        raise InputError("weights are too large for exact sums")
    values = {pair: np.array(sorted(some), dtype=np.int64) for pair, some in compared.items()}
    found: set[int] = set()
    for (v, w), own in values.items():
        others = [u for u in range(n) if u not in (v, w)]
        for length in range(n - 1):
            for between in itertools.permutations(others, length):
                way = [w, *between, v]  # T − (ρ_v − ρ_w) = T + Σ of differences ρ_p − ρ_q along w = p, q, ..., v
                halves: list[NDArray[np.int64]] = [own, np.zeros(1, dtype=np.int64)]
                for at, pair in enumerate(itertools.pairwise(way)):
                    side = (at + 1) % 2
                    halves[side] = np.unique(np.add.outer(halves[side], values[pair]))
                found |= _exponents_of_sums(*halves)
    return sorted({k - less for k in found for less in range((n - 1).bit_length() + 1)})


def _exponents_of_sums(left: NDArray[np.int64], right: NDArray[np.int64]) -> set[int]:
    """Return ⌊lg(a + b)⌋ for all positive sums."""
    top = int(left[-1] + right[-1])
    found = set()
    for k in range(top.bit_length() if top > 0 else 0):
        low = np.searchsorted(right, (1 << k) - left)
        high = np.searchsorted(right, (1 << k + 1) - left)
        if np.any(high > low):
            found.add(k)
    return found


def slack_forms(problems: Sequence[Problem], rho: Sequence[Number]) -> Iterator[tuple[list[Form], Fraction]]:
    """Yield, for each comparison that holds, its slacks at the n corners as combinations, and that in the middle."""
    n, compared = len(rho), thresholds(problems)
    bounds = cell(shrunk(rho, compared), compared)
    found = corners(n, bounds)
    chosen = independent(found)
    size = len(next(iter(next(iter(compared.values())).values())))
    tables = []
    for point in chosen:
        x = {0: np.zeros(size, dtype=np.int64)}
        for _ in range(n):
            for v, w in found[point]:
                step = np.array(compared[v, w][bounds[v, w]])
                if v in x and w not in x:
                    x[w] = x[v] - step
                elif w in x and v not in x:
                    x[v] = x[w] + step
        tables.append(x)
    middle = [Fraction(sum(point[v] for point in chosen), n) for v in range(n)]
    for (v, w), some in compared.items():
        for T, form in some.items():
            if bounds[v, w] <= T:
                yield [tuple((np.array(form) - x[v] + x[w]).tolist()) for x in tables], T - middle[v] + middle[w]
