"""Rows W and Wp: the formula in 60 digits, the reference values, and where they pass the older rows."""

from __future__ import annotations

import functools
import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _logcount as logcount
from rhostar.bounds import _transcripts as transcripts
from rhostar.errors import InputError

ROWS = {"W": functools.partial(transcripts.astar, reopen=False), "Wp": transcripts.astar}


def length(n: int, N: int, M: int, improved: bool) -> Decimal:
    """L(N, M) as the theorem writes it, sum by sum, in 60 digits."""
    with localcontext() as context:
        context.prec = 60

        def lg(x: int | Decimal) -> Decimal:
            return Decimal(x).ln() / Decimal(2).ln()

        P = sum(min(Decimal(n) / 2, n * lg(n) / (2 * r)) for r in range(1, n))
        Q = (n - 1) * sum(Decimal(1) / r for r in range(1, n))
        p = N * n * (n - 1) + 1
        q = math.ceil(1 + lg(n * p) + (p - 1) * lg(3 * n * Decimal(p).sqrt()))
        E = (2 * q + (0 if improved else 1)) * (math.ceil(lg(n) - Decimal("1e-40")) + 1)
        edge = 3 * lg(n) - 1 if improved else 4 * lg(n) + 2
        return lg(n) + (n - 1) * (lg(M) + lg(n)) + 2 * lg(n) * P + (edge + lg(E)) * Q


@given(st.integers(2, 300), st.integers(1, 10**9), st.booleans(), st.booleans())
def test_the_formula(n: int, N: int, reopen: bool, improved: bool) -> None:
    M = (n - 1) * N if reopen else N
    exact = length(n, N, M, improved)
    assert transcripts.code_length(n, N, M, improved=improved) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 64, 65, 128, 1000, 3000])
def test_the_formula_at_powers_of_two_and_where_sums_change_their_form(n: int) -> None:
    for N in (1, 10**6):
        assert transcripts.code_length(n, N, N) == pytest.approx(float(length(n, N, N, True)), rel=1e-13)


def test_harmonic_numbers() -> None:
    for m in (0, 1, 64, 65, 66, 1000, 10**6):
        assert logcount.harmonic(m) == pytest.approx(math.fsum(1 / k for k in range(1, m + 1)), rel=1e-14)


REFERENCE = {  # the first form without and with reopening, then the sharper one
    50: (18_647, 18_928, 16_706, 16_988),
    207: (147_145, 148_751, 133_934, 135_542),
    1000: (1_266_493, 1_276_546, 1_168_544, 1_178_606),
}


@pytest.mark.parametrize("n", REFERENCE)
def test_reference_values(n: int) -> None:
    def largest(each: int) -> int:
        N = next(2**k for k in range(60) if 2**k > transcripts.code_length(n, 2**k, each * 2**k, improved=False))
        low, high = N // 2, N
        while high - low > 1:
            middle = (low + high) // 2
            fits = middle <= transcripts.code_length(n, middle, each * middle, improved=False)
            low, high = (middle, high) if fits else (low, middle)
        return low

    found = (largest(1), largest(n - 1), *(row(n).pseudo_dimension for row in ROWS.values()))
    assert found == REFERENCE[n]


@pytest.mark.parametrize("label", ROWS)
def test_the_dimension_is_where_the_formula_says(label: str) -> None:
    """In 60 digits: N patterns may fit, N + 1 may not."""
    for n in (2, 3, 5, 16, 50, 207):
        row = ROWS[label](n)
        assert row.label == label
        N, each = row.pseudo_dimension, 1 if label == "W" else n - 1
        assert length(n, N, each * N, True) >= N
        assert length(n, N + 1, each * (N + 1), True) < N + 1


@given(st.integers(2, 10**6), st.integers(1, 10**12), st.integers(1, 10**6))
def test_more_instances_never_have_fewer_courses(n: int, N: int, more: int) -> None:
    for row in (make(n) for make in ROWS.values()):
        assert 0 < row.log_growth(N) <= row.log_growth(N + more) < math.inf
    assert transcripts.astar(n, reopen=False).log_growth(N) <= transcripts.astar(n).log_growth(N)
    assert transcripts.code_length(n, N, N) < transcripts.code_length(n, N, N, improved=False)


def test_more_vertices_never_have_a_smaller_dimension() -> None:
    for make in ROWS.values():
        values = [make(n).pseudo_dimension for n in [*range(2, 400), 10**3, 10**4, 10**5, 10**6, 10**8]]
        assert values == sorted(values)


def test_the_order_of_growth() -> None:
    """(ln 2 + o(1))·n lg³ n: the ratio falls, slowly, towards 0.69; the paper's n² lg n is far above."""
    ratios = [transcripts.astar(2**k).pseudo_dimension / (2**k * k**3) for k in (10, 20, 40, 80, 160)]
    assert ratios == sorted(ratios, reverse=True)
    assert math.log(2) < ratios[-1] < 0.75


def first_below(row: str, other: object) -> int:
    return next(n for n in range(4, 1000) if ROWS[row](n).pseudo_dimension < other(n).pseudo_dimension)  # type: ignore[operator]


def test_crossing_points() -> None:
    """From which n on the new rows are the smaller ones."""
    assert {row: first_below(row, capacity.astar) for row in ROWS} == {"W": 40, "Wp": 40}
    degrees = {
        row: [first_below(row, lambda n, d=d: capacity.degree(n, d)) for d in (2, 3, 4, 8)]  # type: ignore[misc]
        for row in ROWS
    }
    assert degrees == {"W": [414, 194, 130, 62], "Wp": [422, 198, 133, 64]}
    for n in [*range(40, 600), *(10**k for k in range(3, 7))]:  # and they stay below
        assert transcripts.astar(n).pseudo_dimension < capacity.astar(n).pseudo_dimension
        if n >= 422:
            assert transcripts.astar(n).pseudo_dimension < capacity.degree(n, 2).pseudo_dimension
    # Of values stored as float64 there are fewer, at every practical size.
    for n in (10**k for k in range(1, 9)):
        assert transcripts.astar(n, reopen=False).pseudo_dimension > capacity.floats(n).pseudo_dimension


def test_bad_arguments_are_named() -> None:
    for make in ROWS.values():
        with pytest.raises(InputError, match="n must be"):
            make(1)
    with pytest.raises(InputError, match="instances"):
        transcripts.code_length(5, 0, 1)
    with pytest.raises(InputError, match="sequences"):
        transcripts.code_length(5, 1, 0)
