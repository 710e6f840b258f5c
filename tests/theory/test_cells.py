"""Why finitely many exponents do for real weights: the proof for few vertices, from the cells to the decoder."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from rhostar.bounds import _transcripts as bound
from rhostar.errors import InputError
from rhostar.theory import _cells as cells
from rhostar.theory import _processes as processes
from rhostar.theory import _slacks as slacks
from rhostar.theory import _transcript_code as code
from rhostar.theory._processes import Problem
from support.transcript_cases import Case


def draw(rng: random.Random) -> tuple[list[Problem], list[processes.Number]]:
    """Instances on 3 or 4 vertices with weights of very different sizes, and values far apart or very close."""
    n, size = rng.choice([3, 3, 4]), rng.choice([1, 2])
    rho = [Fraction(rng.getrandbits(rng.choice([1, 16, 80])), rng.choice([1, 1 << 90])) for _ in range(n)]
    cases = []
    for _ in range(size):
        children = {
            u: [(v, rng.getrandbits(rng.choice([1, 4, 14, 40]))) for v in range(n) if v != u and rng.random() < 0.8]
            for u in range(n)
        }
        cases.append(Case(children, rng.randrange(1, n), 0, []))
    problems = [case.problem for case in cases]
    return problems, code.untied(problems, rho)


@pytest.mark.parametrize("seed", range(3))
def test_the_middle_of_a_cell(seed: int) -> None:
    """Same results of all comparisons; slacks are those of the corners up to a factor n; small integer forms."""
    rng = random.Random(seed)
    for _ in range(40):
        problems, rho = draw(rng)
        n, compared = len(rho), cells.thresholds(problems)
        weights = [int(w) for problem in problems for some in problem.children for _, w in some]
        far = max(T for some in compared.values() for T in some)
        assert all(
            sum(a * b for a, b in zip(y, [*weights, far], strict=True)) == T
            for some in compared.values()
            for T, y in some.items()
        )
        middle = cells.middle_of_cell(problems, rho)
        assert all(abs(a - b) < far for a in middle for b in middle)
        for (v, w), some in compared.items():
            for T in some:
                if abs(T) < far:
                    assert (middle[v] - middle[w] < T) == (rho[v] - rho[w] < T), "the middle is in the same cell"
                    assert middle[v] - middle[w] != T
        for forms, slack in cells.slack_forms(problems, rho):
            assert len(forms) == n
            assert max(abs(y) for form in forms for y in form) <= n
            at_corners = [sum(y * c for y, c in zip(form, [*weights, far], strict=True)) for form in forms]
            assert min(at_corners) >= 0
            assert 0 < Fraction(max(at_corners), n) <= slack <= max(at_corners)


@pytest.mark.parametrize("seed", range(3))
def test_the_whole_proof(seed: int) -> None:
    """ρ to the middle of its cell, exponents from a list that the decoder makes, both codes, no ρ for the decoder."""
    rng, moved = random.Random(100 + seed), 0
    for _ in range(40):
        problems, rho = draw(rng)
        n, size = len(rho), len(problems)
        middle, scale = cells.middle_of_cell(problems, rho), cells.exponent_scale(problems)
        assert len(scale) <= bound.exponents(n, size)
        for reopen in (False, True):
            units = code.units_of(problems, reopen)
            truths = [processes.transcript(unit(), rho) for unit in units]
            message = code.encode_units(units, n, size, middle, scale=scale)
            assert message.bits <= message.limit
            assert code.decode_units(units, n, size, message.number, scale=cells.exponent_scale(problems)) == truths
            order = rng.sample(range(len(units)), len(units))
            fine = code.encode_shared(units, n, size, middle, order, scale=scale)
            assert code.decode_units(units, n, size, fine.number, order, scale=scale) == truths
            there = {e.exponent for i, unit in enumerate(units) for e in slacks.edges_of(unit, i, truths[i], rho)}
            moved += not there <= set(scale)
    assert moved > 10, "where rho is, slacks have other exponents"


def test_a_corner_is_not_enough() -> None:
    """At one corner, or at the mean of fewer than n of them, some slack is 0."""
    rng, zero = random.Random(5), 0
    for _ in range(20):
        problems, rho = draw(rng)
        n, compared = len(rho), cells.thresholds(problems)
        bounds = cells.cell(cells.shrunk(rho, compared), compared)
        chosen = cells.independent(cells.corners(n, bounds))
        mean = [Fraction(sum(point[v] for point in chosen[:-1]), n - 1) for v in range(n)]
        zero += any(mean[v] - mean[w] == T for (v, w), T in bounds.items())
    assert zero > 0


def test_what_is_refused() -> None:
    halves = Problem((((1, Fraction(1, 2)),), ()), 0, 1)
    with pytest.raises(InputError, match="integers"):
        cells.exponent_scale([halves])
    large = Problem((((1, 1 << 60),), ()), 0, 1)
    with pytest.raises(InputError, match="too large"):
        cells.exponent_scale([large])
    tied = Problem((((1, 1),), ((2, 1),), ()), 0, 2)
    with pytest.raises(InputError, match="boundary"):
        cells.middle_of_cell([tied], [0, 1, 0])


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
