"""Bounds that hold for every heuristic of a class at once, including one that was chosen by looking at the instances.

All hold with probability at least 1 − δ over the draw of N independent instances; utilities are within [0, H]. Unless a
function says otherwise they are one-sided, E u ≤ …; both sides hold with δ/2 each. What is treated as given (H, the
capacity, the size of the ghost sample) must be fixed independently of those instances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._holdout import kl_upper
from rhostar.errors import ArrayError, InputError


def _level(delta: float, side: arrays.Side) -> float:
    return arrays.probability(delta) / (2 if arrays.side(side) == "both" else 1)


# ---------------------------------------------------------------- finitely many behaviors


def finite_width(
    log_count: float, samples: int, limit: float, *, delta: float = 0.05, side: arrays.Side = "both"
) -> float:
    """H1: ``|mean − E u|`` ≤ H·sqrt((ln K + ln(2/δ))/(2N)) for K behaviors; ln(1/δ) for one side.

    Hoeffding's inequality for each behavior and a union bound.

    Parameters
    ----------
    log_count
        ln K.
    samples
        N.
    limit
        H.
    delta, side
        The level, and whether one side or both are bounded.

    Returns
    -------
    float
        The width; at or above H it says nothing.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds import finite_width
    >>> finite_width(math.log(100), 1000, 1.0, delta=0.05)  # sqrt((ln 100 + ln 40) / 2000)
    0.0643...
    """
    log_count, samples = arrays.not_negative(log_count, "log_count"), arrays.integer(samples, "samples", 1)
    return arrays.positive(limit, "limit") * math.sqrt((log_count + math.log(1 / _level(delta, side))) / (2 * samples))


def finite_kl(mean: float, log_count: float, samples: int, limit: float, *, delta: float = 0.05) -> float:
    """H1-kl: kl(mean/H ‖ E u/H) ≤ (ln K + ln(1/δ))/N; returns the largest E u. Never above one-sided H1.

    Parameters
    ----------
    mean
        The empirical mean.
    log_count
        ln K.
    samples
        N.
    limit
        H.
    delta
        The level.

    Returns
    -------
    float
        The upper bound on E u.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds import finite_kl, finite_width
    >>> finite_kl(0.02, math.log(100), 1000, 1.0) - 0.02, finite_width(math.log(100), 1000, 1.0, side="upper")
    (0.0223..., 0.0616...)
    """
    limit = arrays.positive(limit, "limit")
    share = _mean(mean, limit) / limit
    log_count, samples = arrays.not_negative(log_count, "log_count"), arrays.integer(samples, "samples", 1)
    return limit * kl_upper(share, (log_count + math.log(1 / arrays.probability(delta))) / samples)


def finite_bernstein(
    mean: float, variance: float, log_count: float, samples: int, limit: float, *, delta: float = 0.05
) -> float:
    """H2: E u ≤ mean + sqrt(2V·ln(2K/δ)/N) + 7H·ln(2K/δ)/(3(N−1)) (Maurer and Pontil 2009).

    V is the sample variance with denominator N − 1.

    Parameters
    ----------
    mean, variance
        The empirical mean and V.
    log_count
        ln K.
    samples
        N.
    limit
        H.
    delta
        The level.

    Returns
    -------
    float
        The upper bound on E u, at most H.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds import finite_bernstein
    >>> finite_bernstein(0.02, 0.001, math.log(100), 10_000, 1.0)
    0.0232...
    """
    limit, samples = arrays.positive(limit, "limit"), arrays.integer(samples, "samples", 2)
    mean, variance = _mean(mean, limit), arrays.not_negative(variance, "variance")
    log_term = arrays.not_negative(log_count, "log_count") + math.log(2 / arrays.probability(delta))
    width = math.sqrt(2 * variance * log_term / samples) + 7 * limit * log_term / (3 * (samples - 1))
    return min(limit, mean + width)


# ---------------------------------------------------------------- pseudo-dimension, growth function


def dimension_width(
    dimension: int, samples: int, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper"
) -> float:
    """H3: H·sqrt(2d·ln(eN/d)/N) + H·sqrt(ln(1/δ)/(2N)) for pseudo-dimension d ≤ N (Mohri et al. 2018, Theorem 11.8).

    The paper's Proposition 1 with its constants. inf where N < d: nothing is known then.

    Parameters
    ----------
    dimension
        d.
    samples
        N.
    limit
        H.
    delta, side
        The level, and whether one side or both are bounded.

    Returns
    -------
    float
        The width; at or above H it is vacuous.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds import dimension_width
    >>> dimension_width(10, 10_000, 1.0), dimension_width(10, 9, 1.0)
    (0.137..., inf)
    """
    d, samples = arrays.integer(dimension, "dimension", 0), arrays.integer(samples, "samples", 1)
    limit, level = arrays.positive(limit, "limit"), _level(delta, side)
    deviation = math.sqrt(math.log(1 / level) / (2 * samples))
    if d == 0:
        return limit * deviation
    if samples < d:
        return math.inf
    return limit * (math.sqrt(2 * d * (1 + math.log(samples / d)) / samples) + deviation)


class GrowthWidth(NamedTuple):
    """A width and the ghost sample it was computed with."""

    width: float
    """The width."""
    ghost: int
    """M, the size of the ghost sample."""


def growth_width(
    log_growth: Callable[[int], float],
    samples: int,
    limit: float,
    *,
    delta: float = 0.05,
    side: arrays.Side = "upper",
    ghost: int | None = None,
) -> GrowthWidth:
    """H3p: H·sqrt(κ·ln Π(N+M)/(2N)) + H·sqrt(ln(1/δ)/(2N)), κ = (M+1)(N+M)/M², for any M ≥ 1.

    E sup(E u − mean) is at most E sup(mean over M ghosts − mean over N). Given the union of both, the N are a draw
    without replacement: mean_M − mean_N = (N+M)/M·(mean_{N+M} − mean_N), and by Serfling (1974) the last difference is
    sub-Gaussian with variance H²(M+1)/(4N(N+M)). The expected maximum of Π(N+M) such variables is at most
    H·sqrt(κ·ln Π/(2N)); McDiarmid's inequality adds the second term.

    Parameters
    ----------
    log_growth
        ln Π, a function of a number of instances; it must count utility vectors, not threshold patterns.
    samples, limit, delta, side
        As for :func:`finite_width`.
    ghost
        M; by default the best, which does not depend on the data.

    Returns
    -------
    GrowthWidth

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity, dimension_width, growth_width
    >>> row = capacity.linear_real(207, 1, out_degree=4)
    >>> round(growth_width(row.log_growth, 20_000, 1.0).width, 4)
    0.1307
    >>> round(dimension_width(row.pseudo_dimension, 20_000, 1.0), 4)  # the way through the pseudo-dimension
    0.6016
    """
    N, limit, level = arrays.integer(samples, "samples", 1), arrays.positive(limit, "limit"), _level(delta, side)

    def squared(M: int) -> float:
        return (M + 1) * (N + M) / M**2 * log_growth(N + M)

    M = arrays.integer(ghost, "ghost", 1) if ghost is not None else _best_ghost(squared, N)
    deviation = math.sqrt(math.log(1 / level) / (2 * N))
    return GrowthWidth(limit * (math.sqrt(squared(M) / (2 * N)) + deviation), M)


def _best_ghost(squared: Callable[[int], float], N: int) -> int:
    """Return a good M: κ falls and ln Π rises with M, so M = N·c with c on a fine scale is close to the best."""
    candidates = sorted({max(1, round(N * 2 ** (k / 4))) for k in range(-24, 81)})
    return min(candidates, key=squared)


# ---------------------------------------------------------------- Rademacher complexity


def rademacher_bound(mean: float, complexity: float, samples: int, limit: float, *, delta: float = 0.05) -> float:
    """H5: E u ≤ mean + 2R̂ + 2H·sqrt(ln(1/δ)/(2N)), R̂ = E_σ sup_u (1/N)Σσ_i u(x_i) on these very instances.

    R̂ does not change when H/2 is taken off every utility. Averaged over σ_i, one instance then moves it by at most
    H/(2N): with a = the rest, (sup(a + v) + sup(a − v))/2 lies between sup a and sup a + H/(2N). It moves
    sup(E u − mean) by at most H/N. McDiarmid's inequality once, on sup(E u − mean) − 2R̂, whose mean is at most 0.

    Parameters
    ----------
    mean
        The empirical mean of one u of the class.
    complexity
        R̂, or an upper bound on it.
    samples, limit, delta
        As for :func:`finite_width`.

    Returns
    -------
    float
        The upper bound on E u, at most H.

    Examples
    --------
    >>> from rhostar.bounds import rademacher_bound
    >>> rademacher_bound(0.1, 0.02, 1000, 1.0)
    0.2174...
    """
    limit, samples = arrays.positive(limit, "limit"), arrays.integer(samples, "samples", 1)
    mean, complexity = _mean(mean, limit), arrays.not_negative(complexity, "complexity")
    deviation = math.sqrt(math.log(1 / arrays.probability(delta)) / (2 * samples))
    return min(limit, mean + 2 * complexity + 2 * limit * deviation)


def massart(vectors: ArrayLike, limit: float) -> float:
    """Return an upper bound on R̂ of finitely many utility vectors: max‖u − H/2‖₂·sqrt(2 ln|U|)/N (Massart's lemma).

    Parameters
    ----------
    vectors
        (U, N): the distinct utility vectors of the class on the N instances, all of them.
    limit
        H.

    Returns
    -------
    float
        The bound on R̂.

    Examples
    --------
    >>> from rhostar.bounds import massart
    >>> massart([[0.0, 1.0], [1.0, 0.0]], 1.0)  # 0.5·sqrt(2)·sqrt(2 ln 2)/2
    0.4162...
    """
    rows = _vectors(vectors, limit)
    longest = float(np.sqrt(((rows - limit / 2) ** 2).sum(axis=1)).max())
    return longest * math.sqrt(2 * math.log(len(rows))) / rows.shape[1]


def rademacher_monte_carlo(
    vectors: ArrayLike, limit: float, *, draws: int = 1000, delta: float, seed: int | np.random.Generator
) -> float:
    """Return the mean of sup_u (1/N)Σσ_i(u_i − H/2) over draws of σ, plus H·sqrt(ln(1/δ′)/(2·N·draws)).

    An upper bound on R̂ with probability at least 1 − δ′ over σ; take δ′ from the δ of the certificate. One sign moves
    the average by at most H/(N·draws) (McDiarmid).

    Parameters
    ----------
    vectors, limit
        As for :func:`massart`.
    draws
        How many σ.
    delta
        δ′.
    seed
        An integer or a Generator.

    Returns
    -------
    float
        The bound on R̂.

    Examples
    --------
    >>> from rhostar.bounds import rademacher_monte_carlo
    >>> rademacher_monte_carlo([[0.0, 1.0], [1.0, 0.0]], 1.0, draws=10_000, delta=0.01, seed=0)  # R̂ is 0.25
    0.2576...
    """
    rows, draws = _vectors(vectors, limit), arrays.integer(draws, "draws", 1)
    N = rows.shape[1]
    slack = limit * math.sqrt(math.log(1 / arrays.probability(delta)) / (2 * N * draws))
    rng, total = np.random.default_rng(seed), 0.0
    for first in range(0, draws, 256):  # a few at a time: the products of all would not fit
        signs = rng.choice([-1.0, 1.0], size=(N, min(256, draws - first)))
        total += float(((rows - limit / 2) @ signs).max(axis=0).sum())
    return max(0.0, total / (draws * N) + slack)


def _vectors(vectors: ArrayLike, limit: float) -> NDArray[np.float64]:
    limit = arrays.positive(limit, "limit")
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ArrayError(f"vectors must have shape (U, N) with at least one entry, got {rows.shape}")
    arrays.utilities(rows.ravel(), limit)
    return np.unique(rows, axis=0)


def _mean(mean: float, limit: float) -> float:
    mean = arrays.not_negative(mean, "mean")
    if mean > limit * (1 + 1e-12):
        raise InputError(f"mean must be at most the limit {limit}, got {mean}")
    return min(mean, limit)
