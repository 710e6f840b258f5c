"""Bounds for one heuristic: other implementations, a second derivation of betting, sides and levels, bad input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhostar.bounds import betting, clopper_pearson, empirical_bernstein, hoeffding, kullback_leibler, stakes
from rhostar.bounds._betting import PERMUTATIONS
from rhostar.bounds._holdout import kl, kl_upper
from rhostar.errors import InputError, UtilityError

ALL = [hoeffding, kullback_leibler, empirical_bernstein, clopper_pearson, betting]
GENERAL = [hoeffding, kullback_leibler, empirical_bernstein, betting]

samples = st.lists(st.floats(0, 1), min_size=2, max_size=60).map(np.array)
levels = st.floats(0.001, 0.5)


@given(samples, levels)
def test_hoeffding_and_bernstein_against_mapie(values: np.ndarray, delta: float) -> None:
    from mapie.risk_control.methods import get_r_hat_plus

    for name, bound in (("hoeffding", hoeffding), ("bernstein", empirical_bernstein)):
        _, upper = get_r_hat_plus(values[:, None], np.array([0.5]), "rcps", name, delta, None)
        assert bound(values, 1.0, delta=delta).high == pytest.approx(min(1.0, float(upper[0])), abs=1e-12)


@given(samples, levels)
def test_chernoff_against_mapies_hoeffding_bentkus(values: np.ndarray, delta: float) -> None:
    """Their p-value is the smaller of Chernoff's and Bentkus': at our bound ≤ δ, and = δ where it is Chernoff's."""
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    high = kullback_leibler(values, 1.0, delta=delta).high
    if not values.mean() + 1e-9 < high < 1 - 1e-9:
        return
    p = float(np.squeeze(compute_hoeffding_bentkus_p_value(np.array([values.mean()]), values.size, np.array([high]))))
    assert p <= delta * (1 + 1e-6)
    from scipy.stats import binom

    bentkus = math.e * binom.cdf(math.ceil(values.sum()), values.size, high)
    if bentkus > 1.01 * delta:
        assert p == pytest.approx(delta, rel=1e-6)


@given(st.integers(1, 80), st.data(), levels)
def test_clopper_pearson_against_scipy(N: int, data: st.DataObject, delta: float) -> None:
    from scipy.stats import binomtest

    ones = data.draw(st.integers(0, N))
    values = np.r_[np.ones(ones), np.zeros(N - ones)] * 3.0
    expected = binomtest(ones, N, alternative="less").proportion_ci(1 - delta, method="exact").high
    assert clopper_pearson(values, 3.0, delta=delta).high / 3 == pytest.approx(expected, abs=1e-9)
    both = binomtest(ones, N).proportion_ci(1 - delta, method="exact")
    found = clopper_pearson(values, 3.0, delta=delta, side="both")
    assert (found.low / 3, found.high / 3) == pytest.approx((both.low, both.high), abs=1e-9)


def final_capital(values: list[float], m: float, cell: float, delta: float) -> float:
    """The gambler of the docstring, one value after the other, with a root by scipy; stakes are those of a cell."""
    from scipy.optimize import brentq

    budget = math.log(1 / delta) / len(values)
    x = 0.0 if kl(0.0, cell) <= budget else brentq(lambda q: kl(q, cell) - budget, 0.0, cell, xtol=1e-15)
    capital, total, squares = 1.0, 1.0, 1.0
    for u in values:
        share = 1 - x / cell
        raised = math.inf if squares / total <= cell else share * math.sqrt((1 - cell) / (squares / total - cell))
        capital *= 1 - min(raised, max(share, 0.98)) / (1 - cell) * (u - m)
        total, squares = total + u, squares + u * u
    return capital


@given(samples, levels)
def test_betting_against_a_second_derivation(values: np.ndarray, delta: float) -> None:
    """Every mean above the bound is refuted by the stakes of its cell, and those just below it are not."""
    high = betting(values, 1.0, delta=delta, random_state=3).high
    orders = np.random.default_rng(3).permuted(np.tile(np.sort(values), (PERMUTATIONS, 1)), axis=1).tolist()
    least = 1 - delta ** (1 / values.size)
    first, last = (math.log(p / (1 - p)) for p in (least, 1 - least / 50))
    cells = [1 / (1 + math.exp(-(first + 0.1 * k))) for k in range(math.ceil((last - first) / 0.1))]
    assert least * (1 - 1e-9) <= high <= 1

    def refuted(m: float) -> bool:
        cell = max((c for c in cells if c <= m), default=cells[0])
        return sum(final_capital(order, m, cell, delta) for order in orders) / PERMUTATIONS >= 1 / delta

    assert all(refuted(m) for m in (high * (1 - t) + t for t in (1e-6, 0.1, 0.4, 0.9)) if m < 1)
    assert high <= cells[0] * (1 + 1e-9) or not refuted(high * (1 - 1e-6))


@given(st.lists(st.booleans(), min_size=2, max_size=60), levels)
def test_betting_on_coins_is_chernoffs_bound(coins: list[bool], delta: float) -> None:
    values = np.array(coins, dtype=float)
    best = kullback_leibler(values, 1.0, delta=delta).high
    assert best * (1 - 1e-6) <= betting(values, 1.0, delta=delta).high <= best * 1.01


TIGHTNESS = {
    "zeros": lambda rng, N: np.zeros(N),
    "95% zeros, else the limit": lambda rng, N: (rng.random(N) < 0.05) * 1.0,
    "95% zeros, else uniform": lambda rng, N: (rng.random(N) < 0.05) * rng.random(N),
    "99% zeros": lambda rng, N: (rng.random(N) < 0.01) * 1.0,
    "small": lambda rng, N: 0.01 * rng.random(N),
    "beta": lambda rng, N: rng.beta(1, 9, N),
    "coin": lambda rng, N: (rng.random(N) < 0.5) * 1.0,
    "constant": lambda rng, N: np.full(N, 0.3),
    "heavy tail": lambda rng, N: np.minimum(0.01 * (1 + rng.pareto(1.1, N)), 1),
}


@pytest.mark.parametrize("law", TIGHTNESS)
@pytest.mark.parametrize("N", [30, 100, 300])
def test_betting_is_within_five_per_cent_of_the_best_alternative(law: str, N: int) -> None:
    rng = np.random.default_rng(N)
    draws = [TIGHTNESS[law](rng, N) for _ in range(15)]
    others = [[b(v, 1.0).high for v in draws] for b in (hoeffding, kullback_leibler, empirical_bernstein, stakes)]
    assert np.mean([betting(v, 1.0).high for v in draws]) <= 1.05 * min(np.mean(found) for found in others)


@pytest.mark.parametrize("bound", ALL)
@pytest.mark.parametrize("p", [0.05, 0.2, 0.7])
def test_validity_counted_exactly(bound: object, p: float) -> None:
    """All 2^10 sequences of coins, each with its probability: the mean escapes with chance ≤ δ, each side."""
    N, delta = 10, 0.2
    wrong = {"upper": 0.0, "lower": 0.0, "both": 0.0}
    for coins in itertools.product([0.0, 1.0], repeat=N):
        chance = p ** sum(coins) * (1 - p) ** (N - sum(coins))
        for side in wrong:
            interval = bound(np.array(coins), 1.0, delta=delta, side=side)
            wrong[side] += chance * (not interval.low <= p <= interval.high)
    assert max(wrong.values()) <= delta + 1e-12


def test_the_exact_count_would_see_a_bound_that_is_too_tight() -> None:
    """The twin: half the width of Clopper-Pearson fails the same count."""
    N, delta, p, wrong = 10, 0.2, 0.2, 0.0
    for coins in itertools.product([0.0, 1.0], repeat=N):
        mean = sum(coins) / N
        high = mean + (clopper_pearson(np.array(coins), 1.0, delta=delta).high - mean) / 2
        wrong += p ** sum(coins) * (1 - p) ** (N - sum(coins)) * (high < p)
    assert wrong > delta


@given(samples, levels, st.sampled_from(GENERAL))
def test_sides_and_scale(values: np.ndarray, delta: float, bound: object) -> None:
    upper = bound(values, 1.0, delta=delta)
    assert (upper.low, upper.side, upper.delta) == (0.0, "upper", delta)
    assert values.mean() <= upper.high + 1e-12 <= 1 + 1e-12
    mirrored = bound(1 - values, 1.0, delta=delta, side="lower")
    assert mirrored.low == pytest.approx(1 - upper.high, abs=1e-12)
    both = bound(values, 1.0, delta=delta, side="both")
    assert both.high == pytest.approx(bound(values, 1.0, delta=delta / 2).high, abs=1e-12)
    assert both.low == pytest.approx(bound(values, 1.0, delta=delta / 2, side="lower").low, abs=1e-12)
    assert bound(values * 8, 8.0, delta=delta).high == pytest.approx(8 * upper.high, rel=1e-12)


@given(samples, levels)
def test_chernoff_is_never_wider_than_hoeffding(values: np.ndarray, delta: float) -> None:
    assert kullback_leibler(values, 1.0, delta=delta).high <= hoeffding(values, 1.0, delta=delta).high + 1e-12


@given(st.floats(0, 1), st.floats(0, 5))
def test_inverting_the_relative_entropy(q: float, budget: float) -> None:
    p = kl_upper(q, budget)
    assert q <= p <= 1
    assert p == 1 or kl(q, p) >= budget * (1 - 1e-9) - 1e-12
    assert kl(q, max(q, p - 1e-9)) <= budget + 1e-6


@pytest.mark.parametrize("bound", ALL)
def test_bad_input(bound: object) -> None:
    for delta in (0.0, 1.0, -0.1, float("nan"), "5%"):
        with pytest.raises(InputError, match="delta"):
            bound([0.0, 1.0], 1.0, delta=delta)
    for values, message in (
        ([0.0, -0.1], r"values\[1\]"),
        ([float("nan")] * 2, r"values\[0\]"),
        ([0.0, 1.5], r"values\[1\]"),
    ):
        with pytest.raises(UtilityError, match=message):
            bound(values, 1.0)
    with pytest.raises(UtilityError, match="at least"):
        bound([], 1.0)
    with pytest.raises(InputError, match="side"):
        bound([0.0, 1.0], 1.0, side="left")
    for limit in (0.0, -1.0, float("inf")):
        with pytest.raises(InputError, match="limit"):
            bound([0.0, 0.0], limit)


def test_what_single_values_allow() -> None:
    with pytest.raises(UtilityError, match="at least 2"):
        empirical_bernstein([0.5], 1.0)
    with pytest.raises(UtilityError, match="0 or the limit"):
        clopper_pearson([0.5], 1.0)
    assert hoeffding([0.5], 1.0).high == 1.0
    assert betting([0.0], 1.0, delta=0.5).high < 1.0
