"""Why finitely many exponents do for real weights: ρ in the middle of its cell, and combinations that halve."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from rhostar.bounds import _transcripts as bound
from rhostar.theory import _processes as processes
from rhostar.theory import _slacks as slacks
from rhostar.theory import _transcript_code as code
from rhostar.theory._processes import Problem
from support.transcript_cases import Case

Differences = dict[tuple[int, int], set[int]]


def path_lengths(problem: Problem, root: int) -> list[set[int]]:
    """For each vertex the lengths of all simple paths from a root."""
    found: list[set[int]] = [set() for _ in range(problem.n)]

    def follow(v: int, length: int, seen: frozenset[int]) -> None:
        found[v].add(length)
        for c, w in problem.children[v]:
            if c not in seen:
                follow(c, length + int(w), seen | {c})

    follow(root, 0, frozenset({root}))
    return found


def differences(problems: list[Problem], far: int) -> Differences:
    """All T with which ρ_v − ρ_w may be compared, and ±Λ."""
    n = problems[0].n
    found: Differences = {pair: {far, -far} for pair in itertools.permutations(range(n), 2)}
    for problem in problems:
        for z in range(n):
            lengths = path_lengths(problem, z)
            for v, w in found:
                found[v, w] |= {b - a for a in lengths[v] for b in lengths[w]}
    return found


def corners(n: int, bounds: dict[tuple[int, int], int]) -> list[tuple[Fraction, ...]]:
    """All corners of ρ_v − ρ_w ≤ bound, ρ_0 = 0: spanning trees of tight constraints."""
    found = set()
    for tree in itertools.combinations(bounds, n - 1):
        x = {0: Fraction(0)}
        for _ in range(n):
            for v, w in tree:
                if v in x and w not in x:
                    x[w] = x[v] - bounds[v, w]
                elif w in x and v not in x:
                    x[v] = x[w] + bounds[v, w]
        if len(x) == n and all(x[v] - x[w] <= c for (v, w), c in bounds.items()):
            found.add(tuple(x[v] for v in range(n)))
    return sorted(found)


def rank(rows: list[list[Fraction]]) -> int:
    rows, done = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(done + 1, len(rows)):
            share = rows[i][column] / rows[done][column]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return done


def independent(points: list[tuple[Fraction, ...]], n: int) -> list[tuple[Fraction, ...]]:
    """n affinely independent points."""
    chosen = points[:1]
    for point in points[1:]:
        more = [*chosen, point]
        if rank([[a - b for a, b in zip(one, more[0], strict=True)] for one in more[1:]]) == len(chosen):
            chosen = more
    assert len(chosen) == n, "a bounded open cell has full dimension"
    return chosen


@pytest.mark.parametrize("seed", range(3))
def test_in_the_middle_of_a_cell_slacks_are_those_of_its_corners_up_to_a_factor_n(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        n, size, cases = rng.choice([3, 3, 4]), rng.choice([1, 2]), []
        goal, rho = 0, [8 * rng.getrandbits(rng.randint(1, 16)) for _ in range(n)]
        while len(cases) < size:
            children = {
                u: [(v, rng.getrandbits(rng.randint(1, 14))) for v in range(n) if v != u and rng.random() < 0.8]
                for u in range(n)
            }
            cases.append(Case(children, rng.randrange(1, n), goal, rho))
        problems = [case.problem for case in cases]
        values = code.untied(problems, rho)
        compared = differences(problems, 1 << 30)
        bounds = {(v, w): min(T for T in every if values[v] - values[w] < T) for (v, w), every in compared.items()}
        chosen = independent(corners(n, bounds), n)
        middle = [sum((point[v] for point in chosen), Fraction(0)) / n for v in range(n)]
        for (v, w), every in compared.items():
            for T in every:
                if values[v] - values[w] < T:
                    at_corners = [T - (point[v] - point[w]) for point in chosen]
                    assert min(at_corners) >= 0
                    assert 0 < max(at_corners) / n <= T - (middle[v] - middle[w]) <= max(at_corners)
                else:
                    assert middle[v] - middle[w] > T, "the middle is in the same cell"
        for reopen in (False, True):
            units = code.units_of(problems, reopen)
            truths = [processes.transcript(unit(), values) for unit in units]
            assert [processes.transcript(unit(), middle) for unit in units] == truths
            seen = {
                edge.exponent for i, unit in enumerate(units) for edge in slacks.edges_of(unit, i, truths[i], middle)
            }
            assert len(seen) <= bound.exponents(n, size)
            message = code.encode_units(units, n, size, middle)
            assert code.decode_units(units, n, size, message.number) == truths


@pytest.mark.parametrize(("p", "largest"), [(2, 2), (2, 5), (3, 2), (3, 3)])
def test_integer_combinations_have_few_exponents(p: int, largest: int) -> None:
    """Goemans: y·c halves at most q times in a row for integers |y_i| ≤ n, so ⌊lg y·c⌋ has at most 2q values."""
    q = math.floor(1 + math.log2(largest * p) + (p - 1) * math.log2(3 * largest * math.sqrt(p)))
    rng, most = random.Random(p * largest), 0
    for _ in range(60):
        c = [rng.getrandbits(rng.randint(1, 40)) for _ in range(p)]
        c[1] = rng.choice([c[1], c[0] + 1, largest * c[0] + 1, c[0] * (largest - 1) // largest + 1])
        values = {
            sum(a * b for a, b in zip(y, c, strict=True))
            for y in itertools.product(range(-largest, largest + 1), repeat=p)
        }
        exponents = {value.bit_length() - 1 for value in values if value > 0}
        chain, last = 0, math.inf
        for value in sorted((value for value in values if value > 0), reverse=True):
            if 2 * value <= last:
                chain, last = chain + 1, value
        assert chain <= q
        assert len(exponents) <= 2 * q
        most = max(most, len(exponents))
    assert most > q / 2, "the bound is of the right size"
