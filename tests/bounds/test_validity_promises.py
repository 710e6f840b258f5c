"""Betting in any order, any-time betting, quantiles and running means fail no more often than they say.

Seeded draws from distributions whose truth is known, rare events and heavy tails among them; the number of failures is
judged by an exact binomial test. Each bound has a broken twin that the same test must catch.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest

from rhostar.bounds import betting, betting_sequence, quantile, quantile_rank, running_mean
from rhostar.errors import InputError, UtilityError

DELTA = 0.1
TRIALS = 300

Draw = Callable[[np.random.Generator, int], np.ndarray]

# Each has its mean in [0, 1]: rare events, coins, heavy tails, constants, mixtures.
KINDS: dict[str, tuple[Draw, float]] = {
    "fair coin": (lambda rng, N: rng.integers(0, 2, N).astype(float), 0.5),
    "rare event": (lambda rng, N: (rng.random(N) < 0.01).astype(float), 0.01),
    "common event": (lambda rng, N: (rng.random(N) < 0.9).astype(float), 0.9),
    "uniform": (lambda rng, N: rng.random(N), 0.5),
    "small": (lambda rng, N: rng.beta(1, 99, N), 0.01),
    "heavy tail": (lambda rng, N: np.minimum(1.0, 0.01 / rng.random(N)), 0.01 * (1 + np.log(100))),
    "u-shaped": (lambda rng, N: rng.beta(0.1, 0.1, N), 0.5),
    "constant": (lambda rng, N: np.full(N, 0.3), 0.3),
    "mixture": (lambda rng, N: np.where(rng.random(N) < 0.05, rng.random(N), 0.02), 0.05 * 0.5 + 0.95 * 0.02),
}
SIZES = [2, 10, 50, 300, 1000]


def too_often(failures: int, trials: int = TRIALS) -> bool:
    """Whether this many failures are hardly possible with probability DELTA each."""
    return bool(binomtest(failures, trials, DELTA, alternative="greater").pvalue < 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("N", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_betting_holds_in_any_stored_order(kind: str, N: int) -> None:
    draw, mean = KINDS[kind]
    rng = np.random.default_rng([N, len(kind)])
    failures = 0
    for trial in range(TRIALS):
        values = np.sort(draw(rng, N))  # stored nearest start first
        bound = betting(values, 1.0, delta=DELTA, random_state=trial).high
        assert bound >= values.mean() - 1e-12
        failures += bound < mean * (1 - 1e-12)
    assert not too_often(failures)


def test_betting_in_storage_order_would_be_caught() -> None:
    """What reads the values as they are stored, smallest first, promises far below the truth."""
    rng = np.random.default_rng(0)
    failures = sum(betting_sequence(np.sort(rng.random(300)), 1.0, delta=DELTA)[-1] < 0.5 for _ in range(100))
    assert too_often(failures, 100)


@pytest.mark.parametrize("kind", ["fair coin", "u-shaped"])
def test_a_third_of_the_width_of_betting_would_be_caught(kind: str) -> None:
    draw, mean = KINDS[kind]
    rng = np.random.default_rng(1)
    failures = 0
    for trial in range(TRIALS):
        values = draw(rng, 300)
        bound = betting(values, 1.0, delta=DELTA, random_state=trial).high
        failures += values.mean() + (bound - values.mean()) / 3 < mean
    assert too_often(failures)


def test_the_order_of_storage_does_not_matter() -> None:
    values = np.random.default_rng(2).beta(1, 20, 500)
    assert betting(values, 1.0) == betting(values[::-1], 1.0) == betting(np.sort(values), 1.0)
    stored = np.r_[np.zeros(900), np.ones(100)]  # promised 0.0045 when read as stored
    assert 0.1 < betting(stored, 1.0).high < 0.13


@pytest.mark.slow
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "constant"])
def test_any_time_betting_holds_at_every_size_at_once(kind: str) -> None:
    draw, mean = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    bounds = [betting_sequence(draw(rng, 500), 1.0, delta=DELTA) for _ in range(200)]
    assert not too_often(sum(bool((bound < mean).any()) for bound in bounds), 200)
    assert all((np.diff(bound) <= 0).all() for bound in bounds)


def test_a_third_of_the_width_at_any_time_would_be_caught() -> None:
    rng = np.random.default_rng(3)
    failures = 0
    for _ in range(200):
        values = rng.integers(0, 2, 400).astype(float)
        means = np.cumsum(values) / np.arange(1, 401)
        failures += bool((means + (betting_sequence(values, 1.0, delta=DELTA) - means) / 3 < 0.5).any())
    assert too_often(failures, 200)


# ---------------------------------------------------------------- quantiles


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("N", [30, 300, 1000])
def test_quantiles_hold_and_their_rank_is_the_least(p: float, N: int) -> None:
    rank = quantile_rank(p, N, delta=DELTA)
    draws = np.sort(np.random.default_rng([N]).random((2000, N)), axis=1)  # the p-quantile is p
    if rank is None:
        assert p**N > DELTA
        return
    failures = int((draws[:, rank - 1] < p).sum())
    assert not too_often(failures, 2000)
    lower = rank - 1 - round(np.sqrt(N * p * (1 - p)))  # a twin a standard deviation lower
    assert lower < 1 or too_often(int((draws[:, lower - 1] < p).sum()), 2000)


def test_quantiles_of_ties_and_of_runs_without_an_answer() -> None:
    rng = np.random.default_rng(4)
    below = sum(quantile(rng.integers(0, 3, 200), 0.5, delta=DELTA).value < 1 for _ in range(1000))
    assert not too_often(below, 1000)
    assert quantile(np.r_[np.zeros(299), np.inf], 0.99, delta=0.05).value == np.inf
    assert quantile(np.zeros(298), 0.99, delta=0.05).value == np.inf
    assert quantile(np.zeros(299), 0.99, delta=0.05).value == 0
    for bad in ([], [[1.0]], [np.nan], [-1.0]):
        with pytest.raises(UtilityError):
            quantile(bad, 0.9)
    with pytest.raises(InputError, match="p must be"):
        quantile([1.0], 1.0)


# ---------------------------------------------------------------- means that change


RISING = np.linspace(0.0, 0.4, 300)


@pytest.mark.parametrize("means", [RISING, RISING[::-1], np.full(300, 0.05)], ids=["rising", "falling", "constant"])
def test_running_means_hold(means: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    draws = [(rng.random(means.size) < means).astype(float) for _ in range(TRIALS)]
    assert not too_often(sum(running_mean(values, 1.0, delta=DELTA) < means.mean() for values in draws))


def test_a_fifth_of_the_width_of_running_means_would_be_caught() -> None:
    rng = np.random.default_rng(6)
    draws = [(rng.random(RISING.size) < RISING).astype(float) for _ in range(TRIALS)]
    fifth = [values.mean() + (running_mean(values, 1.0, delta=DELTA) - values.mean()) / 5 for values in draws]
    assert too_often(sum(bound < RISING.mean() for bound in fifth))


def test_betting_is_wrong_about_means_that_rise() -> None:
    """In order of arrival each value is judged by a gambler who saw smaller ones: that is why it is not used here."""
    rng = np.random.default_rng(7)
    draws = [(rng.random(RISING.size) < RISING).astype(float) for _ in range(100)]
    failures = sum(betting_sequence(values, 1.0, delta=DELTA)[-1] < RISING.mean() for values in draws)
    assert too_often(failures, 100)
    assert failures > 90
