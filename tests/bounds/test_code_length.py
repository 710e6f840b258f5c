"""Rows W and Wp: the formulas in 60 digits, the reference values, and where they pass the other rows."""

from __future__ import annotations

import functools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _logcount as logcount
from rhostar.bounds import _transcripts as transcripts
from rhostar.errors import InputError

ROWS = {"W": functools.partial(transcripts.astar, reopen=False), "Wp": transcripts.astar}


def lg(x: int | Decimal) -> Decimal:
    return Decimal(x).ln() / Decimal(2).ln()


def ln_gamma(x: Decimal) -> Decimal:
    """Stirling's series far out, and back by the recursion: 50 digits."""
    back = Decimal(0)
    while x < 60:
        back += x.ln()
        x += 1
    total = (
        (x - Decimal("0.5")) * x.ln()
        - x
        + (2 * Decimal("3.14159265358979323846264338327950288419716939937511")).ln() / 2
    )
    for k, b in enumerate(BERNOULLI, 1):
        total += Decimal(b.numerator) / b.denominator / (2 * k * (2 * k - 1) * x ** (2 * k - 1))
    return total - back


BERNOULLI = [Fraction(*b) for b in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))]


def number_of_exponents(n: int, N: int) -> int:
    p = N * n * (n - 1) + 1
    q = math.ceil(1 + lg(n * p) + (p - 1) * lg(3 * n * Decimal(p).sqrt()))
    return 2 * q * (math.ceil(lg(n) - Decimal("1e-40")) + 1)


def length(n: int, N: int, M: int) -> Decimal:
    """L(N, M) as the theorem writes it, sum by sum, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        H = sum(Decimal(1) / r for r in range(1, n))
        edge = 5 * lg(n) - 2 + 2 * lg(number_of_exponents(n, N))
        return lg(n) + (n - 1) * (lg(M) + 2 * lg(n)) + H * lg(math.factorial(n)) + edge * (n - 1) * H


def fine_length(n: int, N: int, M: int) -> Decimal:
    """L*(N, M) as the theorem writes it, term by term."""
    with localcontext() as context:
        context.prec = 60
        H = sum(Decimal(1) / r for r in range(1, n))
        E = number_of_exponents(n, N)
        total = lg(n) + lg(max(math.comb(M, m) for m in range(min(n, M + 1))))
        total += H * lg(math.factorial(n)) + (n - 1) * H * (5 * lg(n) - 2) + H * lg(math.comb(2 * E + n - 3, n - 1))
        for r in range(1, n):
            x = Decimal(2 * (n - 1)) / r
            binomial = ln_gamma(2 * n - 1 + x) - ln_gamma(x + 1) - ln_gamma(Decimal(2 * n - 1))
            total += binomial / Decimal(2).ln() + lg(1 + x) + x * lg(1 + 1 / x)
        return total


def with_matchings(n: int, N: int, M: int) -> float:
    """The older form, of order n lg³ n: vertices named in matchings instead of sides of a tree."""
    P = sum(min(n / 2, n * math.log2(n) / (2 * r)) for r in range(1, n))
    edge = 3 * math.log2(n) - 1 + math.log2(transcripts.exponents(n, N))
    Q = (n - 1) * logcount.harmonic(n - 1)
    return math.log2(n) + (n - 1) * (math.log2(M) + math.log2(n)) + 2 * math.log2(n) * P + edge * Q


def largest(length_of: object, n: int, each: int) -> int:
    """The largest N that a code does not exclude."""
    low, high = 1, 2
    while high <= length_of(n, high, each * high):  # type: ignore[operator]
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        fits = middle <= length_of(n, middle, each * middle)  # type: ignore[operator]
        low, high = (middle, high) if fits else (low, middle)
    return low


@given(st.integers(2, 300), st.integers(1, 10**9), st.booleans())
def test_the_simpler_formula(n: int, N: int, reopen: bool) -> None:
    M = (n - 1) * N if reopen else N
    assert transcripts.code_length(n, N, M) == pytest.approx(float(length(n, N, M)), rel=1e-13)


@pytest.mark.parametrize(
    ("n", "N", "M"), [(2, 1, 1), (3, 2, 4), (7, 3, 3), (8, 5, 35), (30, 9, 9), (90, 10**4, 890_000)]
)
def test_the_fine_formula(n: int, N: int, M: int) -> None:
    assert transcripts.fine_code_length(n, N, M) == pytest.approx(float(fine_length(n, N, M)), rel=1e-13)


def test_many_terms_are_bounded_in_groups() -> None:
    """The sum over r, one term after the other, and in groups beyond 4096: never less, and hardly more."""
    for n in (3000, 4097, 4098, 20_000):
        each = [2 * (n - 1) / r for r in range(1, n)]
        terms = (
            math.lgamma(2 * n - 1 + x)
            - math.lgamma(x + 1)
            - math.lgamma(2 * n - 1)
            + (1 + x) * math.log1p(x)
            - x * math.log(x)
            for x in each
        )
        exact = math.fsum(terms) / math.log(2)
        assert exact * (1 - 1e-11) <= transcripts.places(n) <= exact * (1 + 1e-8)


def test_harmonic_numbers() -> None:
    for m in (0, 1, 64, 65, 66, 1000, 10**6):
        assert logcount.harmonic(m) == pytest.approx(math.fsum(1 / k for k in range(1, m + 1)), rel=1e-14)


REFERENCE = {  # the simpler code without and with reopening, then the rows
    50: (22_852, 23_136, 15_657, 15_939),
    207: (159_834, 161_457, 110_279, 111_893),
    1000: (1_202_823, 1_212_975, 836_497, 846_602),
    10_000: (19_925_691, 20_060_590, 13_986_571, 14_120_951),
}


@pytest.mark.parametrize("n", REFERENCE)
def test_reference_values(n: int) -> None:
    simple = (largest(transcripts.code_length, n, each) for each in (1, n - 1))
    assert (*simple, *(row(n).pseudo_dimension for row in ROWS.values())) == REFERENCE[n]


@pytest.mark.parametrize("label", ROWS)
def test_the_dimension_is_where_the_formula_says(label: str) -> None:
    """In 60 digits: N patterns may fit, N + 1 may not."""
    for n in (2, 3, 5, 16, 50):
        row = ROWS[label](n)
        assert row.label == label
        N, each = row.pseudo_dimension, 1 if label == "W" else n - 1
        assert fine_length(n, N, each * N) >= N
        assert fine_length(n, N + 1, each * (N + 1)) < N + 1


@given(st.integers(2, 10**6), st.integers(1, 10**12), st.integers(1, 10**6))
def test_more_instances_never_have_fewer_courses(n: int, N: int, more: int) -> None:
    for row in (make(n) for make in ROWS.values()):
        assert 0 < row.log_growth(N) <= row.log_growth(N + more) < math.inf
    assert transcripts.astar(n, reopen=False).log_growth(N) <= transcripts.astar(n).log_growth(N)


def test_more_vertices_never_have_a_smaller_dimension() -> None:
    for make in ROWS.values():
        values = [make(n).pseudo_dimension for n in [*range(2, 400), 10**3, 10**4, 10**5, 10**6, 10**8]]
        assert values == sorted(values)


def test_the_order_of_growth() -> None:
    """(9·ln 2 + o(1))·n lg² n, and 12·ln 2 by the simpler code: the ratios fall, slowly, towards 6.24 and 8.32."""
    for factor, length_of in ((9, transcripts.fine_code_length), (12, transcripts.code_length)):
        ratios = [largest(length_of, 2**k, 2**k - 1) / (2**k * k**2) for k in (10, 20, 40, 80, 160)]
        assert ratios == sorted(ratios, reverse=True)
        assert factor * math.log(2) < ratios[-1] < 1.1 * factor * math.log(2)


def test_an_older_form_is_never_the_least() -> None:
    """The older form is smaller for n ≤ 24 only, where the count of hyperplanes is smaller than both."""
    for n in [*range(4, 120), 1000, 10**4]:
        for label, row in ROWS.items():
            new, old = row(n).pseudo_dimension, largest(with_matchings, n, 1 if label == "W" else n - 1)
            assert (old < new) == (n <= 24)
            assert min(new, capacity.astar(n).pseudo_dimension) <= old


def first_below(row: str, other: object) -> int:
    return next(n for n in range(4, 1000) if ROWS[row](n).pseudo_dimension < other(n).pseudo_dimension)  # type: ignore[operator]


def test_crossing_points() -> None:
    """From which n on the new rows are the smaller ones."""
    assert {row: first_below(row, capacity.astar) for row in ROWS} == {"W": 38, "Wp": 39}
    degrees = {
        row: [first_below(row, lambda n, d=d: capacity.degree(n, d)) for d in (2, 3, 4, 8)]  # type: ignore[misc]
        for row in ROWS
    }
    assert degrees == {"W": [284, 145, 102, 54], "Wp": [290, 148, 104, 55]}
    for n in [*range(39, 600), *(10**k for k in range(3, 7))]:  # and they stay below
        assert transcripts.astar(n).pseudo_dimension < capacity.astar(n).pseudo_dimension
        if n >= 290:
            assert transcripts.astar(n).pseudo_dimension < capacity.degree(n, 2).pseudo_dimension
    # Of values stored as float64 there are fewer, at every practical size.
    assert transcripts.astar(4).pseudo_dimension < capacity.floats(4).pseudo_dimension
    for n in [*range(5, 300), *(10**k for k in range(3, 9))]:
        assert transcripts.astar(n, reopen=False).pseudo_dimension > capacity.floats(n).pseudo_dimension


def test_bad_arguments_are_named() -> None:
    for make in ROWS.values():
        with pytest.raises(InputError, match="n must be"):
            make(1)
    for length_of in (transcripts.code_length, transcripts.fine_code_length):
        with pytest.raises(InputError, match="instances"):
            length_of(5, 0, 1)
        with pytest.raises(InputError, match="sequences"):
            length_of(5, 1, 0)
