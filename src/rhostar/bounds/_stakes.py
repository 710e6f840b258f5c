"""Bounds on a mean by a mixture of fixed stakes: valid at any time, and independent of the order of the values.

A gambler who bets against the mean m with the same stake each time has the capital Π(1 − c·(u_i − m)/(1 − m)), where c
between 0 and 1 is the share of the capital that one bet may lose. If the mean is at least m, the expected capital never
grows, and neither does that of several gamblers together. So the probability that it ever reaches 1/δ times their
initial capital is at most δ (Ville): a mean that they refute is refuted at every sample size at once. Most of the
capital is on c = 1, which is best if almost all losses are 0: N zeros refute m as soon as (1 − m)^N falls to 3δ/4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._bisection import first_number
from rhostar.bounds._holdout import ConfidenceInterval, interval

_STAKES = np.array([1.0, 0.75, 0.5, 0.25, 0.125, 0.06, 0.03, 0.015, 0.0075])
_MONEY = np.array([0.75] + [0.25 / 8] * 8)
_HALVINGS = 50


def stakes(values: ArrayLike, limit: float, *, delta: float = 0.05, side: arrays.Side = "upper") -> ConfidenceInterval:
    """Bound the mean by a mixture of stakes; it holds at every sample size at once (H9).

    Values may be added as they come, and the bound be computed again after each of them; :func:`betting` is for a
    number of values that was fixed beforehand.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance, in any order.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may ever be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are no values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `delta` or `side` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import betting, stakes
    >>> values = 0.01 * np.random.default_rng(0).random(300)  # mean 0.005
    >>> [round(bound(values, 1.0).high, 4) for bound in (stakes, betting)]
    [0.0161, 0.0156]
    """

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        distinct, count = np.unique(scaled, return_counts=True)
        # The capital grows with the mean that it is bet against.
        return first_number(lambda m: log_capital(distinct, count, m) >= -math.log(level), 0.0, 1.0, _HALVINGS)

    return interval(upper, values, limit, delta, side, 1)


def log_capital(
    distinct: NDArray[np.float64],
    count: NDArray[np.int64],
    m: float,
    shares: NDArray[np.float64] = _STAKES,
    money: NDArray[np.float64] = _MONEY,
) -> float:
    """Return the logarithm of the capital of all gamblers after these values in [0, 1], if they begin with 1."""
    with np.errstate(divide="ignore"):  # c = 1 loses everything at the value 1
        each = np.log1p(-shares[:, None] * np.minimum((distinct - m) / (1 - m), 1.0))
    return float(np.logaddexp.reduce(np.log(money) + (each * count).sum(axis=1)))
