"""Bounds on the mean of utilities whose expectation changes from one to the next: progressive validation.

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
from rhostar.errors import ArrayError

_STAKES = np.array([0.05, 0.1, 0.2, 0.4, 0.7])
"""λ, fixed beforehand; δ is shared equally among them, and the best counts."""


def running_mean(
    values: ArrayLike, limit: float, *, delta: float = 0.05, predictions: ArrayLike | None = None
) -> float:
    """Bound (1/N)·Σ μ_i from above, where μ_i is the expectation of u_i given the values before it.

    For u_i and û_i in [0, 1], û_i known before u_i, and λ in (0, 1) fixed beforehand: exp(λ(μ_i − u_i) − ψ(λ)(u_i −
    û_i)²) has expectation at most 1 given the past, with ψ(λ) = −ln(1 − λ) − λ (Fan, Grama and Liu 2015; Howard et al.
    2021). So with probability at least 1 − δ the running mean is at most mean + (ln(1/δ) + ψ(λ)·Σ(u_i − û_i)²)/(λN).
    Five λ share δ, and the lowest bound is returned; Azuma's inequality with the rest of δ guards it for small N.

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
    0.109
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
    share = math.log((_STAKES.size + 1) / delta)
    spread = float(((scaled - guess) ** 2).sum())
    widths = (share + (-np.log1p(-_STAKES) - _STAKES) * spread) / (_STAKES * scaled.size)
    azuma = math.sqrt(share / (2 * scaled.size))
    return limit * min(1.0, float(scaled.mean()) + min(float(widths.min()), azuma))
