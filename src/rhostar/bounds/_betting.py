"""Bounds by betting: a mean is ruled out if betting against it would have won too much.

For each candidate mean m a gambler with capital 1 stakes λ_i on u_i < m before seeing u_i. If the mean is m, the
capital Π(1 − λ_i·(u_i − m)) is a non-negative martingale that starts at 1: its value at a fixed time is at least 1/δ
with probability at most δ (Markov), and it ever reaches 1/δ with probability at most δ (Ville). The largest m that is
not refuted is an upper bound on the mean (Waudby-Smith and Ramdas 2023). The capital grows with m, so
bisection finds that m.

The gambler reads the values one by one, so their order matters. :func:`betting` makes it harmless: it averages the
final capital over random permutations of the values, which depends on their order only through the seed. An average of
capitals is again a capital with mean at most 1, so Markov's inequality applies as before. Most of its money follows
another gambler, who bets the same share every time and so does not look at the order at all: Chernoff's stake, below.
:func:`betting_sequence` reads the values as they arrive and is valid at every sample size at once.

**Chernoff's stake.** Let B = ln(1/(aδ))/N, and for each m let x(m) < m be the solution of kl(x ‖ m) = B, or 0 where
there is none. The gambler bets so that a value of 0 multiplies the capital by f0 = (1 − x)/(1 − m), a value of 1 by
f1 = x/m, and u by (1 − u)·f0 + u·f1: that is the stake λ = (1 − x/m)/(1 − m), which depends on m, N and δ only. Such a
factor is never negative, and its expectation is at most 1 if the mean is at least m.

*Never wider than Chernoff.* The line between f0 and f1 is above f0^(1−u)·f1^u, so the capital is at least
(f0^(1−q)·f1^q)^N with q the mean of the values. That is exp(N·kl(x ‖ m)) = 1/(aδ) for q = x, and more for a lower q.
So every m with kl(q ‖ m) ≥ B is refuted with a of the money.

*The capital grows with m*, although the stake changes. Where x > 0, differentiating kl(x ‖ m) = B gives
x′ = (m − x)/(m(1 − m)·L) with L = ln z, z = m(1 − x)/(x(1 − m)) > 1. f1 = x/m does not fall if x′ ≥ x/m, that is if
L ≤ (m − x)/(x(1 − m)) = z − 1. f0 does not fall if x′ ≤ (1 − x)/(1 − m), that is if L ≥ (m − x)/(m(1 − x)) = 1 − 1/z.
Both hold for every z > 1. Where x = 0, f0 = 1/(1 − m) and f1 = 0. So each factor is a nondecreasing function of m.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._holdout import ConfidenceInterval, interval, kl_lower

PERMUTATIONS = 30
"""Orders that are averaged over; the bound is valid for any number, and hardly improves beyond this one."""
_HALVINGS = 30
"""Halvings of the bracket that holds the bound."""
_ON_CHERNOFF = 0.7
"""The share of the money on Chernoff's stake; the rest is bet by the variance. Chosen so that neither loses much."""
_BOLDNESS = 0.98
"""The largest share of its capital that one bet by the variance may lose."""
_BOLDNESS_AT_ANY_TIME = 0.75
"""The same for :func:`betting_sequence`, which has no other gambler to rely on."""
_CANDIDATES = np.unique(np.concatenate([np.linspace(0, 1, 1001)[1:-1], np.geomspace(1e-7, 0.999, 1000)]))
"""Means that :func:`betting_sequence` tries; a bound is rounded up to the next of them."""
_MOST_VALUES = 1 << 20
"""Large samples are permuted less often: for them the order hardly matters."""


def betting(
    values: ArrayLike,
    limit: float,
    *,
    delta: float = 0.05,
    side: arrays.Side = "upper",
    random_state: int = 0,
) -> ConfidenceInterval:
    """Bound the mean by betting, whatever order the values are stored in.

    Two gamblers share the money. One has 0.7 of it and bets Chernoff's stake, which is best where values are 0 or H;
    the proof is in the module's docstring. The other follows the mean and the variance of the values before it,
    λ_i = sqrt(2 ln(1/δ)/(N·V_{i−1})), which is better where values vary less. For the second one the values are sorted
    and then permuted at random, many times; the probability is over the draw of the values and of the permutations.
    Both capitals have an expectation of at most 1, and so has their sum. It grows with the mean that is bet against.

    Parameters
    ----------
    values
        Utilities within [0, limit], one per independent instance, in any order.
    limit
        H, fixed beforehand.
    delta
        Probability with which the interval may be wrong, strictly between 0 and 1.
    side
        "upper", "lower" or "both".
    random_state
        Seed of the permutations, fixed beforehand.

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    UtilityError
        If there are no values, or one is NaN or outside [0, limit].
    InputError
        If `limit`, `delta`, `side` or `random_state` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import betting, empirical_bernstein, hoeffding
    >>> values = np.random.default_rng(0).beta(1, 9, size=1000)  # mean 0.1
    >>> [round(bound(values, 1.0).high, 3) for bound in (betting, empirical_bernstein, hoeffding)]
    [0.109, 0.116, 0.139]
    >>> betting(np.sort(values), 1.0) == betting(values, 1.0)
    True
    """
    seed = arrays.integer(random_state, "random_state", 0)

    def upper(scaled: NDArray[np.float64], level: float) -> float:
        return _upper(np.sort(scaled), level, seed)

    return interval(upper, values, limit, delta, side, 1)


def _upper(ordered: NDArray[np.float64], level: float, seed: int) -> float:
    """Return the largest mean that the average capital over permutations does not refute."""
    if ordered[0] == 1.0:
        return 1.0
    if ordered[0] == ordered[-1]:
        permuted = ordered[None, :]  # every order is the same
    else:
        orders = max(5, min(PERMUTATIONS, _MOST_VALUES // ordered.size))
        permuted = np.random.default_rng(seed).permuted(np.tile(ordered, (orders, 1)), axis=1)
    wanted = _bets(permuted, level)
    budget = math.log(1 / (_ON_CHERNOFF * level)) / ordered.size

    def refuted(m: float) -> bool:
        x = kl_lower(m, budget)
        with np.errstate(divide="ignore"):  # with x = 0 a value of 1 loses everything
            fixed = np.log((1 - ordered) * ((1 - x) / (1 - m)) + ordered * (x / m)).sum()
        bets = np.minimum(wanted, _BOLDNESS / (1 - m))
        varied = np.logaddexp.reduce(np.log1p(-bets * (permuted - m)).sum(axis=1)) - math.log(len(permuted))
        capital = np.logaddexp(math.log(_ON_CHERNOFF) + fixed, math.log1p(-_ON_CHERNOFF) + varied)
        return bool(capital >= -math.log(level))

    return _bisect(refuted, float(ordered.mean()), math.sqrt(math.log(1 / level) / ordered.size))


def _bets(values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the stakes of each row, chosen from the values before."""
    size = values.shape[-1]
    count = np.arange(1, size + 1)
    means = (0.5 + np.cumsum(values, axis=-1)) / (count + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2, axis=-1)) / (count + 1)
    stakes = np.empty_like(values)
    stakes[..., 0] = 0.25
    stakes[..., 1:] = variances[..., :-1]
    return np.sqrt(2 * math.log(1 / level) / (size * stakes))


def _bisect(refuted: Callable[[float], bool], mean: float, step: float) -> float:
    """Return the least refuted candidate, to a billionth of the bracket that holds it."""
    low, high = (0.0, mean) if mean > 0 and refuted(mean) else (mean, mean + step)
    while high < 1.0 and not refuted(high):
        low, high = high, 2 * high - mean
    high = min(high, 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle >= 1.0 or refuted(middle):
            high = middle
        else:
            low = middle
    return high


def betting_sequence(values: ArrayLike, limit: float, *, delta: float = 0.05) -> NDArray[np.float64]:
    """Bound the mean after every value: all bounds hold at once with probability at least 1 − δ (H9).

    You may look at any time, stop when you like, and quote the bound you then have. The price is a bound a little wider
    than :func:`betting` for one sample size fixed beforehand.

    Parameters
    ----------
    values
        Utilities within [0, limit] of independent instances, in the order in which they arrived.
    limit
        H, fixed beforehand.
    delta
        Probability with which any of the bounds may be wrong.

    Returns
    -------
    ndarray
        The upper bound after the first value, the first two, and so on; it never rises.

    Raises
    ------
    UtilityError
        If there are no values, or one is NaN or outside [0, limit].
    InputError
        If `limit` or `delta` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import betting_sequence
    >>> values = np.random.default_rng(0).beta(1, 9, size=1000)  # mean 0.1
    >>> betting_sequence(values, 1.0)[[9, 99, 999]].round(3).tolist()
    [0.417, 0.152, 0.11]
    """
    limit, level = arrays.positive(limit, "limit"), arrays.probability(delta)
    scaled = arrays.utilities(values, limit) / limit
    time = np.arange(1, scaled.size + 1)
    means = (0.5 + np.cumsum(scaled)) / (time + 1)
    variances = (0.25 + np.cumsum((scaled - means) ** 2)) / (time + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    # Stakes that shrink like 1/sqrt(t ln t) win at every time scale, not only at one sample size.
    wanted = np.sqrt(2 * math.log(1 / level) / (before * time * np.log1p(time)))
    goal = math.log(1 / level)
    bound = np.ones(scaled.size)
    for m in _CANDIDATES[::-1]:
        capital = np.cumsum(np.log1p(-np.minimum(wanted, _BOLDNESS_AT_ANY_TIME / (1 - m)) * (scaled - m)))
        reached = capital >= goal
        if not reached.any():
            break  # the capital grows with m: no smaller candidate is refuted either
        bound[int(np.argmax(reached)) :] = m
    return np.asarray(bound * limit)
