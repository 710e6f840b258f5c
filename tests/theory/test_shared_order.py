"""The shorter code with a shared order: round trips, its length in the mean over orders, and broken twins."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from rhostar.bounds import _transcripts as bound
from rhostar.errors import InputError
from rhostar.theory import _processes as processes
from rhostar.theory import _shared_order_code as shared
from rhostar.theory import _transcript_code as code
from rhostar.theory._slacks import Unit
from support.transcript_cases import random_problem


def draw(rng: random.Random, n: int, size: int, reopen: bool) -> tuple[list[Unit], list[processes.Number]]:
    """Some instances with one goal and one ρ, as units."""
    cases = [random_problem(rng, n) for _ in range(size)]
    for case in cases:
        case.goal = cases[0].goal
        if case.source == case.goal:
            case.source = (case.goal + 1) % n
    problems = [case.problem for case in cases]
    return code.units_of(problems, reopen), code.untied(problems, cases[0].rho)


@pytest.mark.parametrize("reopen", [False, True])
def test_what_is_decoded_is_what_was_encoded(reopen: bool) -> None:
    rng = random.Random(int(reopen))
    for _ in range(60):
        n, size = rng.randint(2, 7), rng.choice([1, 2, 6])
        units, rho = draw(rng, n, size, reopen)
        order = rng.sample(range(len(units)), len(units))
        written = shared.encode_shared(units, n, size, rho, order)
        number, digits = written.number()
        assert number < 2**digits
        assert digits <= written.bits + 2
        truths = [processes.transcript(unit(), rho) for unit in units]
        assert shared.decode_shared(units, n, size, (number, digits), order) == truths


@pytest.mark.parametrize("reopen", [False, True])
def test_the_mean_over_all_orders_is_within_the_bound(reopen: bool) -> None:
    rng, largest = random.Random(2), 0.0
    for _ in range(15):
        n, size = rng.randint(3, 6), rng.choice([2, 5])
        units, rho = draw(rng, n, size, reopen)
        owners = code.encode_units(units, n, size, rho, orders=1).owners
        lengths = []
        for first in itertools.islice(itertools.permutations(owners), 120):
            order = [*first, *(i for i in range(len(units)) if i not in first)]
            lengths.append(shared.encode_shared(units, n, size, rho, order).bits)
        if len(lengths) == math.factorial(len(owners)):
            limit = shared.shared_order_length(n, size, len(units))
            assert sum(lengths) / len(lengths) <= limit
            largest = max(largest, sum(lengths) / len(lengths) / limit)
    assert largest > 0.2


def test_the_order_is_part_of_the_message() -> None:
    rng, wrong, tried = random.Random(3), 0, 0
    for _ in range(30):
        units, rho = draw(rng, 6, 4, reopen=True)
        order = rng.sample(range(len(units)), len(units))
        message = shared.encode_shared(units, 6, 4, rho, order).number()
        truths = [processes.transcript(unit(), rho) for unit in units]
        try:
            wrong += shared.decode_shared(units, 6, 4, message, order[::-1]) != truths
        except InputError:
            wrong += 1
        tried += 1
    assert wrong > tried / 2


def exact(n: int, N: int, M: int) -> float:
    """L* with the binomial coefficient as it is, and its maximum over m taken one by one."""
    lg = math.log2(n)
    sets = max(math.log2(math.comb(M, m)) for m in range(min(n - 1, M) + 1))
    P = sum(min(n / 2, n * lg / (2 * r)) for r in range(1, n))
    total = lg + sets + 2 * lg * P
    for r in range(1, n):
        mu = (n - 1) / r
        total += mu * (3 * lg - 1 + math.log2(bound.exponents(n, N))) - math.lgamma(mu + 1) / math.log(2)
        total += math.log2(1 + mu) + mu * math.log2(1 + 1 / mu)
    return total


@pytest.mark.parametrize(("n", "N", "M"), [(2, 1, 1), (3, 2, 4), (7, 3, 3), (8, 5, 35), (30, 9, 9), (40, 100, 3900)])
def test_the_formula(n: int, N: int, M: int) -> None:
    assert shared.shared_order_length(n, N, M) == pytest.approx(exact(n, N, M), rel=1e-12)


def test_how_much_is_gained() -> None:
    """The largest N that is not excluded, without and with reopening."""

    def largest(n: int, each: int) -> int:
        low, high = 1, 2
        while high <= shared.shared_order_length(n, high, each * high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            fits = middle <= shared.shared_order_length(n, middle, each * middle)
            low, high = (middle, high) if fits else (low, middle)
        return low

    found = {n: (largest(n, 1), largest(n, n - 1)) for n in (50, 207, 1000)}
    assert found == {50: (15_869, 16_151), 207: (127_780, 129_390), 1000: (1_121_189, 1_131_255)}
    for n in (50, 207, 1000):
        rows = [bound.astar(n, reopen=reopen).pseudo_dimension for reopen in (False, True)]
        assert all(0.94 < new / old < 0.97 for new, old in zip(found[n], rows, strict=True))


def test_symbols() -> None:
    out = shared.Writer()
    mean = Fraction(7, 3)
    put = [(3, 5), (0, 1), (6, 7)]
    for value, among in put:
        out.uniform(value, among)
        out.geometric(value, mean)
    read = shared.Reader(*out.number())
    for value, among in put:
        assert read.uniform(0, among) == value
        assert read.geometric(0, mean) == value
    spent = sum(math.log2(among) + math.log2(1 + 7 / 3) + value * math.log2(1 + 3 / 7) for value, among in put)
    assert out.bits == pytest.approx(spent)
    with pytest.raises(InputError, match="not below"):
        out.uniform(2, 2)
    for size in (0, 1, 3):
        assert [shared.rank_of(shared.set_of(k, size)) for k in range(math.comb(7, size))] == list(
            range(math.comb(7, size))
        )
