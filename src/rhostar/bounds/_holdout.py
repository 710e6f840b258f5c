"""Bounds on the mean of one heuristic's utility from instances that were not used to choose it (H4).

Every function takes utilities within [0, H], states a side and a level δ, and returns an interval that contains the
mean with probability at least 1 − δ over the draw of independent instances. One side uses all of δ; both sides use
δ/2 each. A lower bound is an upper bound on the mean of H − u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._bisection import first_number
from rhostar.errors import ArrayError, UtilityError

_STEPS = 60
"""Halvings of [0, 1]: finer than a float near 1 can tell."""


class ConfidenceInterval(NamedTuple):
    """An interval that contains the mean with probability at least 1 − delta; an unbounded side has 0 or H."""

    low: float
    """The lower end; 0 if only the upper side is bounded."""
    high: float
    """The upper end; H if only the lower side is bounded."""
    side: arrays.Side
    """Which side is bounded."""
    delta: float
    """The probability with which the interval may be wrong."""


Upper = Callable[[NDArray[np.float64], float], float]
"""From values in [0, 1] and δ to an upper bound on their mean."""


def interval(
    upper: Upper, values: ArrayLike, limit: float, delta: float, side: arrays.Side, least: int
) -> ConfidenceInterval:
    """Return the interval of a one-sided bound on means in [0, 1], for either side or both; at least `least` values."""
    limit, delta, side = arrays.positive(limit, "limit"), arrays.probability(delta), arrays.side(side)
    scaled = arrays.utilities(values, limit, least=least) / limit
    each = delta / 2 if side == "both" else delta
    high = 1.0 if side == "lower" else min(1.0, upper(scaled, each))
    low = 0.0 if side == "upper" else max(0.0, 1.0 - upper(1.0 - scaled, each))
    return ConfidenceInterval(low * limit, high * limit, side, delta)


def hoeffding(
    values: ArrayLike, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper"
) -> ConfidenceInterval:
    """Hoeffding (1963): E u ≤ mean + H·sqrt(ln(1/δ)/(2N)).

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are too few values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `delta` or `side` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import hoeffding
    >>> hoeffding(np.full(200, 0.5), 1.0, delta=0.05).high  # 0.5 + sqrt(ln 20 / 400)
    0.5865...
    """

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        return float(scaled.mean()) + math.sqrt(math.log(1 / level) / (2 * scaled.size))

    return interval(upper, values, limit, delta, side, 1)


def kullback_leibler(
    values: ArrayLike, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper"
) -> ConfidenceInterval:
    """Chernoff's bound inverted: kl(mean/H ‖ E u/H) ≤ ln(1/δ)/N; never wider than Hoeffding's.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are too few values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `delta` or `side` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import kullback_leibler
    >>> kullback_leibler(np.zeros(100), 1.0, delta=0.05).high  # 1 - 0.05^(1/100)
    0.0295...
    """

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        return kl_upper(float(scaled.mean()), math.log(1 / level) / scaled.size)

    return interval(upper, values, limit, delta, side, 1)


def empirical_bernstein(
    values: ArrayLike, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper"
) -> ConfidenceInterval:
    """Maurer and Pontil (2009, Theorem 4): E u ≤ mean + sqrt(2V·ln(2/δ)/N) + 7H·ln(2/δ)/(3(N−1)).

    V is the sample variance with denominator N − 1, so at least two values are needed.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are fewer than two values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `delta` or `side` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import empirical_bernstein
    >>> empirical_bernstein(np.full(1000, 0.5), 1.0, delta=0.05).high
    0.5086...
    """

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        log_term = math.log(2 / level)
        spread = math.sqrt(2 * float(scaled.var(ddof=1)) * log_term / scaled.size)
        return float(scaled.mean()) + spread + 7 * log_term / (3 * (scaled.size - 1))

    return interval(upper, values, limit, delta, side, 2)


def clopper_pearson(
    values: ArrayLike, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper"
) -> ConfidenceInterval:
    """Clopper and Pearson (1934): exact for utilities that are either 0 or H.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are too few values, or one is neither 0 nor `limit`.
    InputError
        If `limit`, `delta` or `side` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import clopper_pearson
    >>> clopper_pearson(np.zeros(100), 1.0, delta=0.05).high  # 1 - 0.05^(1/100)
    0.0295...
    """
    from scipy.special import betaincinv

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        between = (scaled != 0) & (scaled != 1)
        if between.any():
            first = int(np.argmax(between))
            raise UtilityError(f"values[{first}] must be 0 or the limit for Clopper-Pearson, got a value in between")
        ones = int(scaled.sum())
        return 1.0 if ones == scaled.size else float(betaincinv(ones + 1, scaled.size - ones, 1 - level))

    return interval(upper, values, limit, delta, side, 1)


# ---------------------------------------------------------------- the relative entropy of two coins


def kl(q: float, p: float) -> float:
    """Return kl(q ‖ p) of two Bernoulli distributions.

    Examples
    --------
    >>> from rhostar.bounds._holdout import kl
    >>> kl(0.5, 0.5), kl(0.0, 0.5), kl(0.5, 1.0)
    (0.0, 0.693..., inf)
    """
    left = 0.0 if q <= 0 else math.inf if p <= 0 else q * math.log(q / p)
    right = 0.0 if q >= 1 else math.inf if p >= 1 else (1 - q) * math.log((1 - q) / (1 - p))
    return max(0.0, left + right)


def kl_upper(q: float, budget: float) -> float:
    """Return the largest p with kl(q ‖ p) ≤ budget, from above.

    Examples
    --------
    >>> from rhostar.bounds._holdout import kl_upper
    >>> round(kl_upper(0.1, 0.05), 4), kl_upper(1.0, 0.1)
    (0.2201, 1.0)
    """
    return first_number(lambda p: kl(q, p) > budget, q, 1.0, _STEPS)


def kl_lower(means: NDArray[np.float64], budget: float) -> NDArray[np.float64]:
    """Return for each mean m the largest x ≤ m with kl(x ‖ m) ≥ budget; 0 if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds._holdout import kl_lower
    >>> [kl_lower(np.array([0.1]), budget)[0].round(4).item() for budget in (0.05, 0.2)]
    [0.0208, 0.0]
    """
    low, high = np.zeros_like(means), means
    for _ in range(_STEPS):
        middle = (low + high) / 2
        # The halves are never 0, and below a mean below 1.
        far = middle * np.log(middle / means) + (1 - middle) * (np.log1p(-middle) - np.log1p(-means)) >= budget
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return low


# ---------------------------------------------------------------- are they independent?


def order_test(values: ArrayLike) -> float:
    """Return the probability that values in random order look as ordered as these.

    Two statistics of the ranks are tried, with half of the probability each: the correlation of neighbors, which sees
    values that come in runs (hours, days), and the correlation with the position, which sees a trend or a sort. Under
    a random order both are nearly normal with variance 1/(N − 1).

    Parameters
    ----------
    values
        Utilities in the order in which they are stored.

    Returns
    -------
    float
        A probability; small values speak against a random order. 1 where there are fewer than 20 values, or all are
        equal.

    Raises
    ------
    ArrayError
        If `values` is not one-dimensional.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import order_test
    >>> values = np.random.default_rng(0).random(500)
    >>> order_test(values) > 0.01, order_test(np.sort(values)) < 1e-9
    (True, True)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ArrayError(f"values must have one dimension, got shape {array.shape}")
    if array.size < 20 or (array == array[0]).all():
        return 1.0
    # Ranks, equal values sharing their mean rank: heavy tails must not decide.
    _, which, count = np.unique(array, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[which]
    ranks = (ranks - ranks.mean()) / ranks.std()
    place = np.arange(array.size) - (array.size - 1) / 2
    neighbors = float((ranks[1:] * ranks[:-1]).mean())
    trend = float((ranks * place).mean()) / float(place.std())
    largest = max(abs(neighbors + 1 / array.size), abs(trend)) * math.sqrt(array.size - 1)
    return min(1.0, 2 * math.erfc(largest / math.sqrt(2)))
