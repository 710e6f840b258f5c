"""Whether values rule out a mean: against the definition, at its smallest size, and under simulation."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rhostar.bounds import _refute, fewest_to_refute, refutes
from rhostar.errors import InputError, UtilityError

RUNS, DELTA = 2000, 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.01, 0.99), st.floats(1e-6, 0.5))
def test_a_mean_is_refuted_as_defined(values: list[float], mean: float, delta: float) -> None:
    shares, money = _refute._divided(len(values), mean, delta)
    assert money.sum() == pytest.approx(1, abs=1e-12)
    assert (money > 0).all()
    assert (shares > 0).all()
    assert (shares <= 1).all()
    capital = sum(
        part * math.prod(1 - c * (u - mean) / (1 - mean) for u in values) for c, part in zip(shares, money, strict=True)
    )
    if abs(capital * delta - 1) > 1e-6:
        assert refutes(values, 1.0, mean, delta=delta) == (capital >= 1 / delta)
        assert refutes(3 * np.array(values), 3.0, 3 * mean, delta=delta) == (capital >= 1 / delta)


@given(st.floats(0.001, 0.9), st.floats(1e-6, 0.5), st.integers(0, 3000))
def test_zeros_are_enough_from_the_first_size_at_which_any_test_may_succeed(
    mean: float, delta: float, more: int
) -> None:
    fewest = fewest_to_refute(1.0, mean, delta=delta)
    assert (1 - mean) ** fewest <= delta * (1 + 1e-9)
    assert fewest == 1 or (1 - mean) ** (fewest - 1) > delta * (1 - 1e-9)
    assert refutes(np.zeros(fewest + more), 1.0, mean, delta=delta)
    assert fewest == 1 or not refutes(np.zeros(fewest - 1), 1.0, mean, delta=delta)


def test_the_sizes_that_are_documented() -> None:
    assert [fewest_to_refute(limit, 0.01) for limit in (1.0, 5.0)] == [299, 1497]
    assert [fewest_to_refute(limit, 0.01, anytime=True) for limit in (1.0, 5.0)] == [323, 1621]


LAWS = {
    "zero or the limit": lambda rng, shape: (rng.random(shape) < 0.01).astype(float),
    "rarely a little": lambda rng, shape: (rng.random(shape) < 0.02) * rng.random(shape),
    "always a little": lambda rng, shape: 0.02 * rng.random(shape),
    "heavy tail": lambda rng, shape: np.minimum(rng.pareto(1.5, shape), 40) / 40 * 0.22,
}


def rejected(law: str, size: int, mean: float, test: Callable[..., bool] = refutes) -> int:
    draws = LAWS[law](np.random.default_rng(size), (RUNS, size))
    return sum(test(values, 1.0, mean, delta=DELTA) for values in draws)


def mean_alone(values: np.ndarray, limit: float, mean: float, *, delta: float) -> bool:
    """A broken twin: it compares the mean of the values with the target."""
    return bool(values.mean() < 0.995 * mean)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [230, 1000])
def test_a_true_mean_is_seldom_refuted(law: str, size: int) -> None:
    mean = 0.22 / 40 * 2 * (1 - 41**-0.5) if law == "heavy tail" else 0.01
    count = rejected(law, size, mean)
    assert stats.binomtest(count, RUNS, DELTA, alternative="greater").pvalue > 1e-4
    if law == "zero or the limit" and size == 230:
        assert count > 0.07 * RUNS, "the whole level is used: no test can be bolder here"
    wrong = rejected(law, size, mean, mean_alone)
    assert stats.binomtest(wrong, RUNS, DELTA, alternative="greater").pvalue < 1e-4


def test_a_false_mean_is_refuted_with_few_values() -> None:
    """At half the target."""
    for law, size in {"zero or the limit": 2000, "rarely a little": 1200, "always a little": 400}.items():
        assert rejected(law, size, 0.02) > 0.75 * RUNS


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="mean / limit"):
        refutes([0.0], 1.0, 1.0)
    with pytest.raises(UtilityError):
        refutes([2.0], 1.0, 0.5)
    with pytest.raises(InputError, match="delta"):
        fewest_to_refute(1.0, 0.1, delta=0.0)
