"""A test whether the stored order of utilities looks random; values from consecutive days often fail it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rhostar.errors import ArrayError


def order_test(values: ArrayLike) -> float:
    """Return how likely values in random order would be to look as ordered as these do.

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
