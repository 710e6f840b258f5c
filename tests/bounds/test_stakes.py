"""Bounds by a mixture of stakes, against the definition and under simulation at every size at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rhostar.bounds import _stakes, kullback_leibler, refutes, stakes

DELTA = 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.99), st.floats(1e-6, 0.5))
def test_a_mean_is_refuted_as_defined(values: list[float], mean: float, delta: float) -> None:
    capital = 0.0
    for c, money in zip(_stakes._STAKES, _stakes._MONEY, strict=True):
        capital += money * math.prod(1 - c * (u - mean) / (1 - mean) for u in values)
    if abs(capital * delta - 1) > 1e-6:
        assert refutes(values, 1.0, mean, delta=delta, anytime=True) == (capital >= 1 / delta)
        assert (stakes(values, 1.0, delta=delta).high <= mean) == (capital >= 1 / delta)


def test_near_zero_it_is_nearly_chernoff() -> None:
    for size in (30, 300, 3000):
        best = kullback_leibler(np.zeros(size), 1.0).high
        assert best < stakes(np.zeros(size), 1.0).high < 1.11 * best


@pytest.mark.parametrize("law", ["zeros", "coin", "beta", "limit"])
def test_it_holds_at_every_size_at_once(law: str) -> None:
    rng = np.random.default_rng(0)
    draw = {
        "zeros": (lambda size: (rng.random(size) < 0.02) * rng.random(size), 0.01),
        "coin": (lambda size: (rng.random(size) < 0.3).astype(float), 0.3),
        "beta": (lambda size: rng.beta(1, 9, size), 0.1),
        "limit": (lambda size: np.where(rng.random(size) < 0.9, 1.0, 0.0), 0.9),
    }
    law_draw, mean = draw[law]
    runs, missed, broken = 300, 0, 0
    for _ in range(runs):
        values = law_draw(200)
        sizes = range(10, 201, 10)
        missed += any(refutes(values[:size], 1.0, mean, delta=DELTA, anytime=True) for size in sizes)
        broken += any(values[:size].mean() * 1.3 < mean for size in sizes)
    assert stats.binomtest(missed, runs, DELTA, alternative="greater").pvalue > 1e-4
    if law != "limit":
        assert stats.binomtest(broken, runs, DELTA, alternative="greater").pvalue < 1e-4, "a wrong bound is noticed"


def test_both_sides() -> None:
    values = np.random.default_rng(0).random(500)
    found = stakes(values, 1.0, side="both")
    assert 0.4 < found.low < 0.5 < found.high < 0.6
    assert stakes(np.ones(10), 1.0).high == 1.0
    assert stakes(np.ones(10), 1.0, side="lower").low > 0.6
