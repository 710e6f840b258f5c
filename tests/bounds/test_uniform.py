"""Bounds for every heuristic at once: formulas, orderings, and the steps of their proofs by enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhostar.bounds import _capacity as capacity
from rhostar.bounds import (
    dimension_width,
    finite_bernstein,
    finite_kl,
    finite_width,
    growth_width,
    kullback_leibler,
    massart,
    rademacher_bound,
    rademacher_monte_carlo,
)
from rhostar.errors import ArrayError, InputError, UtilityError

counts = st.floats(0, 500)
sizes = st.integers(1, 5000)
levels = st.floats(0.001, 0.5)


@given(counts, sizes, levels, st.floats(0.1, 50))
def test_h1(log_count: float, N: int, delta: float, limit: float) -> None:
    both = limit * math.sqrt((log_count + math.log(2 / delta)) / (2 * N))
    one = limit * math.sqrt((log_count + math.log(1 / delta)) / (2 * N))
    assert finite_width(log_count, N, limit, delta=delta) == pytest.approx(both)
    assert finite_width(log_count, N, limit, delta=delta, side="upper") == pytest.approx(one)


@given(st.floats(0, 1), counts, sizes, levels)
def test_h1_kl_is_never_above_one_sided_h1(mean: float, log_count: float, N: int, delta: float) -> None:
    bound = finite_kl(3 * mean, log_count, N, 3.0, delta=delta)
    assert bound <= 3 * mean + finite_width(log_count, N, 3.0, delta=delta, side="upper") + 1e-9
    assert 3 * mean <= bound + 1e-12 <= 3 + 1e-12


def test_one_behaviour_is_one_heuristic() -> None:
    values = np.array([0.0, 0.2, 0.9, 0.4])
    assert finite_kl(values.mean(), 0.0, 4, 1.0) == kullback_leibler(values, 1.0).high


def test_h2() -> None:
    log_term = math.log(100) + math.log(2 / 0.05)
    expected = 0.1 + math.sqrt(2 * 0.01 * log_term / 5000) + 7 * 2 * log_term / (3 * 4999)
    assert finite_bernstein(0.1, 0.01, math.log(100), 5000, 2.0) == pytest.approx(expected)


@given(st.integers(1, 100), st.integers(1, 10**6), levels)
def test_h3(d: int, N: int, delta: float) -> None:
    width = dimension_width(d, N, 2.0, delta=delta)
    if d > N:
        assert width == math.inf
    else:
        first = math.sqrt(2 * d * math.log(math.e * N / d) / N)
        assert width == pytest.approx(2 * (first + math.sqrt(math.log(1 / delta) / (2 * N))))
        assert dimension_width(d, N, 2.0, delta=delta, side="both") == dimension_width(d, N, 2.0, delta=delta / 2)


@given(st.integers(2, 3000), st.integers(1, 20_000), levels)
def test_h3_prime_takes_a_good_ghost_sample(N: int, M: int, delta: float) -> None:
    row = capacity.linear_real(20, 2)
    best = growth_width(row.log_growth, N, 1.0, delta=delta)
    own = growth_width(row.log_growth, N, 1.0, delta=delta, ghost=M)
    kappa = (M + 1) * (N + M) / M**2
    expected = math.sqrt(kappa * row.log_growth(N + M) / (2 * N)) + math.sqrt(math.log(1 / delta) / (2 * N))
    assert own.width == pytest.approx(expected)
    assert best.width <= own.width * 1.02


def test_h3_prime_is_sharper_than_the_way_through_the_dimension() -> None:
    for N in (20_000, 100_000, 10**6):
        row = capacity.linear_real(207, 1, out_degree=4)
        assert growth_width(row.log_growth, N, 1.0).width < dimension_width(row.pseudo_dimension, N, 1.0) / 2


# ---------------------------------------------------------------- steps of the proofs


def test_serfling_as_used_in_h3_prime() -> None:
    """E exp(s(mean_N − mean)) ≤ exp(s²H²(M+1)/(8N(N+M))) without replacement: all draws from small populations."""
    rng = np.random.default_rng(0)
    tightest = 0.0
    for _ in range(60):
        N, M = rng.integers(1, 5, 2)
        population = rng.choice([0.0, 1.0], N + M) if rng.random() < 0.7 else rng.random(N + M)
        means = np.array([np.mean(draw) for draw in itertools.combinations(population, N)]) - population.mean()
        for s in (0.5, 2.0, 6.0):
            allowed = s**2 * (M + 1) / (8 * N * (N + M))
            found = math.log(np.mean(np.exp(s * means)))
            assert found <= allowed + 1e-12
            tightest = max(tightest, found / allowed)
    assert tightest > 0.7, "a variance a third smaller would be refuted here"


def exact_rademacher(vectors: np.ndarray) -> float:
    N = vectors.shape[1]
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=N)))
    return float((vectors @ signs.T).max(axis=0).mean() / N)


def test_one_instance_moves_the_complexity_by_half_of_h_over_n() -> None:
    """Behind the constant 2 of H5: at most H/(2N), and no less in the worst case."""
    rng = np.random.default_rng(1)
    largest, N = 0.0, 4
    for _ in range(1500):
        vectors = rng.integers(0, 2, size=(rng.integers(1, 6), N)).astype(float)
        changed = vectors.copy()
        changed[:, rng.integers(N)] = rng.integers(0, 2, len(vectors))
        largest = max(largest, abs(exact_rademacher(vectors) - exact_rademacher(changed)))
    assert largest == pytest.approx(1 / (2 * N))


def test_complexity_of_finitely_many_vectors() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        vectors = rng.random((rng.integers(1, 8), 6)) * 4
        exact = exact_rademacher(vectors)
        assert exact <= massart(vectors, 4.0) + 1e-12
        assert exact == pytest.approx(exact_rademacher(vectors - 2.0)), "a constant taken off changes nothing"
    misses = [rademacher_monte_carlo(vectors, 4.0, draws=60, delta=0.2, seed=k) < exact for k in range(400)]
    assert np.mean(misses) <= 0.2
    bare = [rademacher_monte_carlo(vectors, 4.0, draws=60, delta=1 - 1e-12, seed=k) < exact for k in range(400)]
    assert np.mean(bare) > 0.3, "without the slack it would be below half of the time"


def test_h5() -> None:
    expected = 0.3 + 2 * 0.1 + 2 * 5 * math.sqrt(math.log(20) / 2000)
    assert rademacher_bound(0.3, 0.1, 1000, 5.0, delta=0.05) == pytest.approx(expected)
    assert rademacher_bound(0.3, 0.1, 1, 5.0) == 5.0


def test_bad_input() -> None:
    with pytest.raises(InputError, match="delta"):
        finite_width(1.0, 10, 1.0, delta=1.0)
    with pytest.raises(InputError, match="samples"):
        finite_width(1.0, 0, 1.0)
    with pytest.raises(InputError, match="samples"):
        finite_bernstein(0.1, 0.1, 1.0, 1, 1.0)
    with pytest.raises(InputError, match="mean"):
        finite_kl(1.5, 1.0, 10, 1.0)
    with pytest.raises(InputError, match="mean"):
        rademacher_bound(float("nan"), 0.0, 10, 1.0)
    with pytest.raises(InputError, match="limit"):
        dimension_width(3, 10, -1.0)
    with pytest.raises(ArrayError, match="vectors"):
        massart([], 1.0)
    with pytest.raises(UtilityError, match="range"):
        massart([[2.0]], 1.0)
