"""Tests whether values rule out a mean, for a sample size that is fixed beforehand or for one that grows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._bisection import first_integer
from rhostar.bounds._stakes import log_capital

_STEP = 3.0
"""The ratio of neighboring stakes is at most this."""
Money = tuple[NDArray[np.float64], NDArray[np.float64]]


def refutes(values: ArrayLike, limit: float, mean: float, *, delta: float = 0.05, anytime: bool = False) -> bool:
    """Return whether values rule out that their mean is `mean` or more.

    Gamblers bet against the mean, each with the same share c of the capital every time (see :func:`stakes`). For a
    fixed number N of values, how they divide the money depends on N, `mean` and `delta` only:

    - Some bet c = 1. They get the share (1 − m)^N/δ of the money, where m = `mean`/`limit`. If all values are 0, their
      capital grows by 1/(1 − m) each time, to 1/δ of all money: N zeros are enough as soon as (1 − m)^N ≤ δ, and no
      test can do with fewer, since with probability (1 − m)^N there is nothing but zeros if values are 0 or `limit`.
    - The rest of the money is divided among smaller stakes, down to sqrt(2 ln(1/δ)/(N·m·(1 − m))), which is best
      where values are 0 or `limit`. No smaller one is needed: no values of mean m vary more.

    Proof that it is valid: a factor 1 − c·(u − m)/(1 − m) is at least 1 − c, so never negative, and its expectation is
    at most 1 if the mean is at least m. So the capital after N independent values has an expectation of at most 1 for
    each c, and so has a mixture that was fixed beforehand. By Markov's inequality it reaches 1/δ with probability at
    most δ. Where `anytime` is true, the mixture is that of :func:`stakes`, which does not depend on N. Then Ville's
    inequality says the same of all N at once.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance, in any order.
    limit
        H, fixed beforehand.
    mean
        Strictly between 0 and `limit`.
    delta
        If the mean is `mean` or more, the probability that it is ruled out.
    anytime
        Whether that holds for all numbers of values at once: the values may grow, and the test be repeated. If False,
        their number must be fixed before they are looked at.

    Returns
    -------
    bool

    Raises
    ------
    UtilityError
        If there are no values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `mean` or `delta` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import refutes
    >>> [refutes(np.zeros(size), 1.0, 0.01) for size in (298, 299)]
    [False, True]
    >>> [refutes(np.zeros(size), 1.0, 0.01, anytime=True) for size in (322, 323)]
    [False, True]
    """
    limit, m, delta = _checked(limit, mean, delta)
    distinct, count = np.unique(arrays.utilities(values, limit) / limit, return_counts=True)
    return _reached(distinct, count, m, delta, anytime)


def fewest_to_refute(limit: float, mean: float, *, delta: float = 0.05, anytime: bool = False) -> int:
    """Return the number of values with which :func:`refutes` can first succeed: if all of them are 0.

    Parameters
    ----------
    limit
        H.
    mean
        Strictly between 0 and `limit`.
    delta
        The level.
    anytime
        As for :func:`refutes`.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds import fewest_to_refute
    >>> fewest_to_refute(1.0, 0.01), fewest_to_refute(5.0, 0.01)
    (299, 1497)
    >>> fewest_to_refute(1.0, 0.01, anytime=True)
    323
    """
    _, m, delta = _checked(limit, mean, delta)
    return first_integer(lambda size: _reached(np.zeros(1), np.array([size]), m, delta, anytime))


def _checked(limit: float, mean: float, delta: float) -> tuple[float, float, float]:
    """Return H, the mean as a share of it, and the level."""
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)
    return limit, arrays.probability(mean / limit, "mean / limit"), delta


def _reached(distinct: NDArray[np.float64], count: NDArray[np.int64], m: float, delta: float, anytime: bool) -> bool:
    """Return whether the capital reaches 1/δ."""
    money = () if anytime else _divided(int(count.sum()), m, delta)
    return bool(log_capital(distinct, count, m, *money) >= -math.log(delta))


def _divided(size: int, m: float, delta: float) -> Money:
    """Return the stakes for a number of values, and the share of the money on each."""
    lowest = min(1.0, math.sqrt(2 * math.log(1 / delta) / (size * m * (1 - m))))
    smaller = math.ceil(math.log(1 / lowest) / math.log(_STEP) - 1e-9)
    if smaller == 0:
        return np.ones(1), np.ones(1)
    needed = min(1.0, math.exp(size * math.log1p(-m)) / delta)
    first = max(needed, 1 / (smaller + 1))
    money = np.full(smaller + 1, (1 - first) / smaller)
    money[0] = first
    with_some = money > 0  # with fewer values than zeros need, all of it is on c = 1
    return np.geomspace(1.0, lowest, smaller + 1)[with_some], money[with_some]
