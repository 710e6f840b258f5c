"""Bounds on the mean of utilities whose expectation changes from instance to instance: progressive validation.

A learner is judged on each batch before it learns from it. Given the past, the utility u_i then has some expectation
μ_i, and the μ_i differ. Betting assumes one expectation for all and is not valid here; these bounds are. They bound
(1/N)·Σ μ_i: the expected utility of a heuristic drawn from those that were judged, each with the share of the instances
that it was judged on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.bounds._bisection import first_number
from rhostar.errors import ArrayError

_BOLDEST = 0.98
"""λ of the gambler with the most money: best where values hardly differ from their predictions."""
_SHARES = (0.4, 0.2, 0.4)
"""The shares of the money: on the boldest λ, on gamblers who know the range only, on those who watch the variance."""
_HALVINGS = 50


def running_mean(
    values: ArrayLike, limit: float, *, delta: float = 0.05, predictions: ArrayLike | None = None
) -> float:
    """Bound (1/N)·Σ μ_i from above, where μ_i is the expectation of u_i given the values before it.

    A mixture of gamblers, whose stakes and shares of the money depend on N and δ only. For u_i and û_i in [0, 1], û_i
    known before u_i:

    - Those who watch the variance: for λ in (0, 1), exp(λ(μ_i − u_i) − ψ(λ)(u_i − û_i)²) with ψ(λ) = −ln(1 − λ) − λ has
      an expectation of at most 1 given the past (Fan, Grama and Liu 2015; Howard et al. 2021).
    - Those who know the range only: for s > 0 so has exp(−s·u_i)/(1 − μ_i(1 − e^−s)), as exp(−s·u) ≤ 1 − u(1 − e^−s).
      The product of the denominators is at most (1 − μ(1 − e^−s))^N, where μ = (1/N)·Σ μ_i, since the logarithm is
      concave.

    So with S = Σ u_i and V = Σ(u_i − û_i)², the sum over the gamblers of their money times exp(λ(N·μ − S) − ψ(λ)·V) or
    exp(−s·S)/(1 − μ(1 − e^−s))^N has an expectation of at most 1 at the true μ, even though μ is random: the stakes do
    not depend on it. By Markov's inequality it reaches 1/δ with probability at most δ. It grows with μ, and the bound
    is the smallest μ at which it reaches 1/δ.

    Parameters
    ----------
    values
        Utilities within [0, limit], in the order in which they were measured.
    limit
        H, known before the first of them.
    delta
        Probability with which the bound may be wrong.
    predictions
        û_i, each computed from what was known before u_i; None takes the mean of the values before, starting at 0.

    Returns
    -------
    float

    Raises
    ------
    UtilityError
        If there are no values, or one is NaN or outside [0, limit].
    ArrayError
        If `predictions` has another shape.
    InputError
        If `limit` or `delta` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import running_mean
    >>> rng = np.random.default_rng(0)
    >>> expectations = np.linspace(0.0, 0.2, 1000)  # their mean is 0.1
    >>> round(running_mean(rng.random(1000) < expectations, 1.0), 3)
    0.106
    >>> round(running_mean(np.zeros(100), 1.0), 4)
    0.0362
    """
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)
    scaled = arrays.utilities(np.asarray(values, dtype=np.float64), limit) / limit
    if predictions is None:
        guess = np.concatenate([[0.0], np.cumsum(scaled)[:-1] / np.arange(1, scaled.size)])
    else:
        guess = np.asarray(predictions, dtype=np.float64) / limit
        if guess.shape != scaled.shape:
            raise ArrayError(f"predictions must have one value per utility ({scaled.size}), got shape {guess.shape}")
        guess = np.clip(guess, 0.0, 1.0)
    size, total, spread = scaled.size, float(scaled.sum()), float(((scaled - guess) ** 2).sum())
    smallest = math.sqrt(8 * math.log(1 / delta) / size)
    lams = np.append(_BOLDEST, np.geomspace(0.7, min(smallest, 0.5), 4))
    ss = np.geomspace(2.0, min(smallest, 0.9), 3)
    boldest, by_range, by_variance = _SHARES
    money = np.log(np.concatenate([[boldest], np.full(4, by_variance / 4), np.full(3, by_range / 3)]))

    def refuted(mean: float) -> bool:
        varied = lams * (size * mean - total) - (-np.log1p(-lams) - lams) * spread
        ranged = -ss * total - size * np.log1p(mean * np.expm1(-ss))
        return bool(np.logaddexp.reduce(money + np.concatenate([varied, ranged])) >= -math.log(delta))

    return limit * first_number(refuted, total / size, 1.0, _HALVINGS)
