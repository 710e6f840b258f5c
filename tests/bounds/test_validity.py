"""Every bound for a class of heuristics fails no more often than it says; its broken twin does, and is caught.

Seeded draws from distributions whose truth is known in closed form and on which the bounds are as tight as they can be:
many behaviours that have nothing to do with each other, coins of largest variance. A failure is a draw on which some
heuristic of the class is worse than its bound; their number is judged by an exact binomial test.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import rhostar as rs
from rhostar.bounds import _capacity as capacity
from rhostar.bounds import (
    dimension_width,
    edge_local_complexity,
    finite_bernstein,
    finite_kl,
    finite_width,
    growth_width,
    inconsistency_width,
    rademacher_bound,
)
from rhostar.bounds._inconsistency import mean_absolute_walk

DELTA = 0.1
TRIALS = 1000


def too_often(failures: np.ndarray) -> bool:
    """Whether so many failures are hardly possible with probability DELTA each."""
    return binomtest(int(failures.sum()), failures.size, DELTA, alternative="greater").pvalue < 1e-3


# ---------------------------------------------------------------- finitely many behaviours: independent coins


def coin_means(N: int, K: int, p: float, seed: int) -> np.ndarray:
    """Means of K independent behaviours on N instances, TRIALS times; E u = p for all."""
    return np.random.default_rng(seed).binomial(N, p, size=(TRIALS, K)) / N


@pytest.mark.parametrize("side", ["upper", "both"])
def test_h1(side: str) -> None:
    N, K = 50, 1024
    means = coin_means(N, K, 0.5, 0)
    off = np.abs(means - 0.5).max(axis=1) if side == "both" else (0.5 - means).max(axis=1)
    width = finite_width(math.log(K), N, 1.0, delta=DELTA, side=side)
    assert not too_often(off > width)
    assert too_often(off > width / 2)


def test_h1_kl() -> None:
    N, K, p = 60, 256, 0.1
    least = coin_means(N, K, p, 1).min(axis=1)
    bound = {q: finite_kl(q, math.log(K), N, 1.0, delta=DELTA) for q in np.unique(least)}
    value = np.array([bound[q] for q in least])
    assert not too_often(p > value)
    assert too_often(p > least + (value - least) / 2)


def test_h2() -> None:
    """Rare ones: the variance is often seen as 0."""
    N, K, p = 400, 64, 0.05
    least = coin_means(N, K, p, 2).min(axis=1)

    def value(q: float) -> float:
        return finite_bernstein(q, q * (1 - q) * N / (N - 1), math.log(K), N, 1.0, delta=DELTA)

    values = np.array([value(q) for q in least])
    assert not too_often(p > values)
    assert too_often(p > least + (values - least) / 4)


def test_h3_prime() -> None:
    N, K = 50, 1024
    off = (0.5 - coin_means(N, K, 0.5, 3)).max(axis=1)
    width = growth_width(lambda _: math.log(K), N, 1.0, delta=DELTA).width
    assert not too_often(off > width)
    assert too_often(off > width / 2)


# ---------------------------------------------------------------- pseudo-dimension and Rademacher: all sets of d atoms


def atom_counts(N: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(N, np.full(d, 1 / d), size=TRIALS)


def test_h3() -> None:
    """All functions from d atoms to {0, 1}: the worst is off by half the total variation. The twin has no d."""
    N, d = 2000, 40
    counts = atom_counts(N, d, 4)
    off = np.maximum(1 / d - counts / N, 0).sum(axis=1)
    assert not too_often(off > dimension_width(d, N, 1.0, delta=DELTA))
    assert too_often(off > dimension_width(0, N, 1.0, delta=DELTA))


def test_h5() -> None:
    """R̂ of the same class is known: Σ A(count)/(2N)."""
    N, d = 1000, 200
    counts = atom_counts(N, d, 5)
    off = np.maximum(1 / d - counts / N, 0).sum(axis=1)
    complexity = mean_absolute_walk(N)[counts].sum(axis=1) / (2 * N)
    bound = np.array([rademacher_bound(0.0, r, N, 1.0, delta=DELTA) for r in complexity])
    assert not too_often(off > bound)
    assert too_often(off > complexity / 2)


# ---------------------------------------------------------------- inconsistency: one path, coins as weights


def worst_inconsistency(zeros: np.ndarray, N: int) -> np.ndarray:
    """Largest E Δ − mean Δ over all ρ with differences ≤ 1 on a path whose edges weigh 0 or 1 with equal chances.

    Edge by edge: a difference of d in [0, 1] has hinge d where the weight is 0, so the excess is d·(1/2 − share of
    zeros), at its largest with d = 1 or 0. The path is long enough for all differences to be chosen freely, and H
    larger than every Δ.
    """
    return np.maximum(0.5 - zeros / N, 0).sum(axis=1)


def test_u2() -> None:
    N, m = 60, 30
    zeros = np.random.default_rng(6).binomial(N, 0.5, size=(TRIALS, m))
    off = worst_inconsistency(zeros, N)
    edges = np.repeat(np.arange(m), N)
    limit = float(m)
    complexity = np.array(
        [
            edge_local_complexity(edges, (np.arange(N) >= row[:, None]).astype(float).ravel(), 1.0, N, limit)
            for row in zeros[:300]
        ]
    )
    expected = mean_absolute_walk(N)[zeros[:300]].sum(axis=1) / (2 * N)
    assert complexity == pytest.approx(expected), "between 0 and 1 the zeros are counted"
    bound = np.array([rademacher_bound(0.0, r, N, limit, delta=DELTA) for r in complexity])
    assert not too_often(off[:300] > bound)
    assert too_often(off[:300] > complexity / 2)


def test_u1() -> None:
    """The pseudo-dimension is used far below what it allows; the twin is the empirical mean alone."""
    m = 4
    N = 2000
    zeros = np.random.default_rng(7).binomial(N, 0.5, size=(TRIALS, m))
    off = worst_inconsistency(zeros, N)
    width = inconsistency_width(m + 2, N, float(m), delta=DELTA)
    assert width < m, "not vacuous"
    assert not too_often(off > width)
    assert too_often(off > 0)


# ---------------------------------------------------------------- the whole of certify, on searches


def one_choice(N: int, rng: np.random.Generator) -> rs.InstanceSet:
    """Two ways, each with a weight of 0 or 2 behind it; greedy search takes the one with the lower ρ: E cost = 1."""
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    weights = np.zeros((N, graph.m))
    weights[:, graph.edge_index([1, 2], [3, 3])] = 2.0 * rng.integers(0, 2, size=(N, 2))
    return rs.InstanceSet(graph, weights, sources=0, goal=3)


def failures_of_certify(shrink: float, choose: Callable[[rs.InstanceSet], np.ndarray]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    found: dict[str, list[bool]] = {}
    for _ in range(250):
        train, holdout = one_choice(60, rng), one_choice(60, rng)
        rho, utility = choose(train), rs.utilities.Cost(limit=2.0)
        # Sixteen possible instances: independent draws repeat.
        options: Any = {"algorithm": "gbfs", "delta": DELTA, "duplicates": "allow"}
        tables = rs.certify(rho, holdout, utility, **options), rs.certify_training(rho, train, utility, **options)
        for row in (row for table in tables for row in table.rows):
            found.setdefault(row.label, []).append(row.observed + shrink * (row.value - row.observed) < 1.0)
    return {label: np.array(failed) for label, failed in found.items()}


def luckier(train: rs.InstanceSet) -> np.ndarray:
    """The better of the two on train: overfitted on purpose."""
    tables = [np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0])]
    return min(tables, key=lambda rho: rs.solve_many(train, rho, algorithm="gbfs").cost.mean())


def test_no_row_of_a_table_fails_more_often_than_delta() -> None:
    found = failures_of_certify(1.0, luckier)
    assert {"H4 betting", "H4 Chernoff", "H4 Bernstein", "H1-kl Gp", "H2 Gp"} <= set(found)
    assert not any(too_often(failed) for failed in found.values())


def test_a_table_with_a_fifth_of_the_widths_is_caught() -> None:
    assert too_often(failures_of_certify(0.2, luckier)["H4 betting"])


def test_the_holdout_bound_on_train_is_caught() -> None:
    """Why holdout must be untouched: of many heuristics the luckiest on the data breaks a bound for one heuristic."""
    N, K = 60, 1000
    least = coin_means(N, K, 0.5, 9).min(axis=1)
    bound = np.array([rs.bounds.finite_kl(q, 0.0, N, 1.0, delta=DELTA) for q in least])
    assert too_often(bound < 0.5)
    honest = np.array([finite_kl(q, math.log(K), N, 1.0, delta=DELTA) for q in least])
    assert not too_often(honest < 0.5)


def test_growth_of_rows_is_what_h3_prime_needs() -> None:
    with pytest.raises(rs.errors.InputError, match="grows"):
        _ = capacity.astar(10).log_count
