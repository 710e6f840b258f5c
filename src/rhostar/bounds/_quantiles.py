"""Bounds on quantiles: "99 % of new instances have at most this utility", without a range H (H6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.errors import UtilityError


class QuantileBound(NamedTuple):
    """With probability at least 1 − delta, a share `p` of new instances has at most `value`."""

    value: float
    """The bound: the `rank`-th smallest utility seen; inf where there are too few values for any."""
    rank: int | None
    """Which of the sorted utilities it is, from 1; None where there is none."""
    p: float
    """The share of new instances."""
    delta: float
    """The probability with which the bound may be wrong."""
    samples: int
    """The number of utilities seen."""


def quantile_rank(p: float, samples: int, *, delta: float = 0.05) -> int | None:
    """Return the lowest k for which the k-th smallest of N draws is an upper bound on the p-quantile.

    For independent draws from any distribution, P(q_p > U_(k)) ≤ P(Bin(N, p) ≥ k), ties included. So the lowest k for
    which this probability is at most δ gives the bound.

    Parameters
    ----------
    p
        The share, strictly between 0 and 1.
    samples
        N, the number of draws.
    delta
        Probability with which the bound may be wrong.

    Returns
    -------
    int or None
        None where even the largest draw is no bound: p**N > delta.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds import quantile_rank
    >>> quantile_rank(0.99, 298), quantile_rank(0.99, 299), quantile_rank(0.9, 2000)
    (None, 299, 1823)
    """
    from scipy.stats import binom

    p, delta = arrays.probability(p, "p"), arrays.probability(delta)
    samples = arrays.integer(samples, "samples", 1)
    if samples * math.log(p) > math.log(delta):
        return None
    low, high = 0, samples  # P(Bin >= low) > delta >= P(Bin >= high)
    while high - low > 1:
        middle = (low + high) // 2
        if binom.sf(middle - 1, samples, p) <= delta:
            high = middle
        else:
            low = middle
    return high


def quantile(values: ArrayLike, p: float, *, delta: float = 0.05) -> QuantileBound:
    """Bound the p-quantile of the utility on new instances from independent draws.

    Parameters
    ----------
    values
        Utilities of independent instances, in any order; inf is allowed (a run without an answer).
    p
        The share, fixed beforehand.
    delta
        Probability with which the bound may be wrong. Several shares at once need a δ each.

    Returns
    -------
    QuantileBound

    Raises
    ------
    UtilityError
        If there are no values, or one is negative or NaN.
    InputError
        If `p` or `delta` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import quantile
    >>> values = np.random.default_rng(0).exponential(size=2000)  # 99 % lie below 4.61
    >>> bound = quantile(values, 0.99)
    >>> round(bound.value, 2), bound.rank
    (5.45, 1988)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise UtilityError(f"values must be a non-empty one-dimensional array, got shape {array.shape}")
    arrays.require_all(array >= 0, array, "values", "at least 0", UtilityError)
    rank = quantile_rank(p, array.size, delta=delta)
    value = math.inf if rank is None else float(np.partition(array, rank - 1)[rank - 1])
    return QuantileBound(value, rank, float(p), float(delta), array.size)
