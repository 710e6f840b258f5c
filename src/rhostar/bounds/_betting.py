"""Bounds by betting: a mean is ruled out if betting against it would have won too much.

For each candidate mean m a gambler with capital 1 stakes λ_i on u_i < m before seeing u_i. If the mean is m, the
capital Π(1 − λ_i·(u_i − m)) is a non-negative martingale that starts at 1: its value at a fixed time is at least 1/δ
with probability at most δ (Markov), and it ever reaches 1/δ with probability at most δ (Ville). The largest m that is
not refuted is an upper bound on the mean (Waudby-Smith and Ramdas 2023). The capital grows with m, so
bisection finds that m.

The gambler reads the values one by one, so their order matters. :func:`betting` makes it harmless: it averages the
final capital over random permutations of the values, which depends on their order only through the seed. An average of
capitals is again a capital with mean at most 1, so Markov's inequality applies as before. :func:`betting_sequence`
reads the values as they arrive and is valid at every sample size at once.

**The stakes of** :func:`betting` start from Chernoff's bound. For values of 0 and 1 and a fixed N, the best fixed stake
against m is λ = (1 − x/m)/(1 − m), where x < m solves kl(x ‖ m) = ln(1/δ)/N, or x = 0 where there is none: a value of 0
then multiplies the capital by (1 − x)/(1 − m) and a value of 1 by x/m, which after N values with mean x is exp(N·kl(x ‖
m)) = 1/δ. So m is refuted exactly where Chernoff's bound refutes it; N zeros refute it as soon as (1 − m)^N ≤ δ, which
no bound can do with fewer. Values between 0 and 1 vary less: with r = E u²/E u the variance near m is about m(r − m)
instead of m(1 − m), and the stake is raised by the square root of the inverse ratio. The gambler estimates r from the
earlier values, r_i = (1 + Σ u²)/(1 + Σ u), which stays at 1 while values are 0 or 1.

**A grid makes it monotone.** Such stakes change with m, and the capital need not grow with m then. So they are fixed on
each cell [M_j, M_j+1) of a grid that depends on N and δ only. Within a cell the stakes are constant and the capital
grows with m. The bound is the lowest number above which every cell is refuted: starting from the top, cells that are
refuted at their lower ends are skipped, and a bisection follows within the first one that is not. It is valid: if the
mean μ were above the bound, μ itself would be refuted, by a capital whose expectation is at most 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._bisection import first_number
from rhostar.bounds._holdout import ConfidenceInterval, interval, kl_lower

PERMUTATIONS = 30
"""Orders that are averaged over; the bound is valid for any number, and hardly improves beyond this one."""
_HALVINGS = 30
"""Halvings of the bracket that holds the bound."""
_BOLDNESS = 0.98
"""The largest share of the capital that a raised stake may lose."""
_CELLS = (0.1, 0.03)
"""The width of the cells in terms of ln(m/(1 − m)), for a few values and for :data:`_MANY`."""
_MANY = range(300, 200_000)
_BOLDNESS_AT_ANY_TIME = 0.75
"""The largest share of the capital that a bet of :func:`betting_sequence` may lose."""
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
    """Bound the mean by betting; the order of the values does not matter.

    The stakes are those of Chernoff's bound, raised if the earlier values vary less than values of 0 and H would; see
    the module's docstring. The values are sorted and then permuted at random, many times; the probability is over the
    draw of the values and of the permutations. For values of 0 and H it is Chernoff's bound (:func:`kullback_leibler`),
    and for others about as tight as if their variance had been known.

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
    [0.107, 0.116, 0.139]
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
    above, below = np.cumsum(permuted**2, axis=1) - permuted**2, np.cumsum(permuted, axis=1) - permuted
    ratio = (1 + above) / (1 + below)
    goal = -math.log(level)

    least = -math.expm1(-goal / ordered.size)  # nothing below it can be refuted
    first, last = _logit(least), _logit(1 - least / 50)
    cells = 1 / (1 + np.exp(-np.arange(first, last, _CELLS[ordered.size in _MANY])))
    shares = 1 - kl_lower(cells, goal / ordered.size) / cells

    def refuted(m: float, k: int) -> bool:
        """Return whether m is refuted by the stakes of a cell."""
        cell, share = cells[k], shares[k]
        # One order is often enough: m is refuted as soon as its share of the average is.
        for some in (slice(1), slice(None)):
            raised = np.sqrt((1 - cell) / np.maximum(ratio[some] - cell, 1e-12)) * share
            bets = np.minimum(raised, max(share, _BOLDNESS)) / (1 - cell)
            with np.errstate(divide="ignore"):  # a share of 1 loses everything at a value of 1
                capital = np.log(np.maximum(1 - bets * (permuted[some] - m), 0.0)).sum(axis=1)
            if np.logaddexp.reduce(capital) - math.log(len(permuted)) >= goal:
                return True
        return False

    k = cells.size - 1
    while k >= 0 and refuted(cells[k], k):
        k -= 1
    if k < 0:
        return float(cells[0])
    low, high = float(cells[k]), float(cells[k + 1]) if k + 1 < cells.size else 1.0
    return first_number(lambda m: refuted(m, k), low, high, _HALVINGS)


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)


def betting_sequence(values: ArrayLike, limit: float, *, delta: float = 0.05) -> NDArray[np.float64]:
    """Bound the mean after every value: all bounds hold at once with probability at least 1 − δ (H9).

    You may look at any time, stop when you like, and report the current bound. In return, it is a little wider than
    :func:`betting` for a sample size fixed beforehand.

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
