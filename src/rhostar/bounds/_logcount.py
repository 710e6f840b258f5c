"""Logarithms of counts too large for any number type, without cancellation and without overflow.

Counts of behaviors are products of up to 10⁸ factors and sums of up to 10⁸ binomial coefficients, of numbers
M that may themselves be beyond the largest float; such an M is given as ln M. Everything here returns the
natural logarithm of the count, or an upper bound whose excess each docstring states and proves. The excess is
always below 10⁻⁶ of the value.
"""

from __future__ import annotations

import math

import numpy as np

_DIRECT = 64
"""Products of at most this many factors are added up one by one."""
_MOST_TERMS = 1 << 16
"""Sums of binomial coefficients are cut after this many terms, and the rest is bounded."""
_HUGE_BITS = 200
"""An M of more bits is known by its logarithm alone."""


def log_falling(top: int, count: int) -> float:
    """Return ln(top·(top − 1)⋯(top − count + 1)), exact up to rounding; -inf where a factor is 0.

    ``lgamma(top + 1) - lgamma(top - count + 1)`` cancels where `count` is small beside `top`. There, with
    y = top − count, Stirling's series for both gives

        count·ln y − (top + 1/2)·ln(1 − count/top) − count + s(top) − s(y),   s(x) = 1/(12x) − 1/(360x³) + …,

    in which no two terms are much larger than the sum; y > 64, so what is left out of s is below 10⁻¹².

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_falling
    >>> round(math.exp(log_falling(10, 3)), 9)  # 10·9·8
    720.0
    >>> log_falling(10**20, 206) - math.lgamma(207)  # ln of the binomial coefficient; lgamma alone says -895
    8591.52...
    """
    if count > top:
        return -math.inf
    if count <= _DIRECT:
        return math.fsum(math.log(top - j) for j in range(count))
    rest = top - count
    if 2 * count >= top:
        return math.lgamma(top + 1) - math.lgamma(rest + 1)
    if top.bit_length() > _HUGE_BITS:
        return count * math.log(top)  # what is left out is at most count²/rest, here below 2⁻¹⁰⁰ of the value
    correction = -count / (12 * top * rest) - (1 / top**3 - 1 / rest**3) / 360
    return count * math.log(rest) - (top + 0.5) * math.log1p(-count / top) - count + correction


def log_binomial(top: int, count: int) -> float:
    """Return ln C(top, count); -inf where it is 0.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_binomial
    >>> round(math.exp(log_binomial(52, 5)))
    2598960
    """
    if not 0 <= count <= top:
        return -math.inf
    count = min(count, top - count)
    return log_falling(top, count) - math.lgamma(count + 1)


def log_cells(dimension: int, hyperplanes: int) -> float:
    """Return ln Φ_k(M) = ln Σ_{i ≤ k} C(M, i): M hyperplanes cut R^k into at most Φ_k(M) cells.

    With M ≤ k it is M·ln 2. With 2k ≤ M the terms fall from i = k downwards: C(M, i − 1)/C(M, i) = i/(M − i + 1)
    is below 1 and falls with i. So after T terms the rest is at most a geometric series with the next ratio r, and
    the sum is bounded by the T terms and t·r/(1 − r), t the last of them. T is such that r^T < 10⁻¹⁷, or 65,536,
    where for any k up to 10⁸ the terms have fallen to e⁻⁴⁰ (k = M/2, the slowest): what the bound adds is below 10⁻¹²
    of the sum. With k < M < 2k it is ln(2^M − Φ_{M−k−1}(M)), where T terms of the second
    sum, a lower bound of it, are taken off.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_cells
    >>> [round(math.exp(log_cells(k, M)), 9) for k, M in ((2, 3), (3, 3), (3, 5))]
    [7.0, 8.0, 26.0]
    """
    k, M = dimension, hyperplanes
    if k >= M:
        return M * math.log(2)
    if 2 * k > M:
        smaller = M - k - 1
        taken = log_binomial(M, smaller) + math.log(_falling_terms(smaller, M, upper=False))
        return M * math.log(2) + math.log1p(-math.exp(taken - M * math.log(2)))
    if M.bit_length() > _HUGE_BITS:
        return log_cells_of(k, math.log(M))
    return log_binomial(M, k) + math.log(_falling_terms(k, M, upper=True))


def log_cells_of(dimension: int, log_hyperplanes: float) -> float:
    """Return an upper bound of ln Φ_k(M) for M given as ln M.

    Φ_k(M) ≤ M^k/k!·1/(1 − k/(M − k + 1)). For ln M ≥ 100 and k ≤ 2³² the two excesses, k²/(2M) and 2k/M, are below
    10⁻²³; for smaller M it is rounded up by 10⁻¹², a hundred times what the exponential may lose, and then down to an
    integer, as M is one.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_cells, log_cells_of
    >>> log_cells_of(206, math.log(10**60)) / log_cells(206, 10**60)
    1.0
    """
    if log_hyperplanes < 100:
        return log_cells(dimension, int(math.exp(log_hyperplanes) * (1 + 1e-12)))
    return dimension * log_hyperplanes - math.lgamma(dimension + 1)


def _falling_terms(k: int, M: int, *, upper: bool) -> float:
    """Return Σ_{i ≤ k} C(M, i)/C(M, k), cut short; with `upper`, with a bound of what is left out."""
    if k == 0:
        return 1.0
    steepest = k / (M - k + 1)
    enough = 40 / -math.log(steepest) if steepest < 1 else _MOST_TERMS
    terms = min(k, _MOST_TERMS, int(enough) + 2)
    i = np.arange(k, k - terms, -1, dtype=np.float64)
    products = np.cumprod(i / (float(M) - i + 1))
    total = 1 + float(products.sum())
    left = k - terms
    if upper and left:
        ratio = left / (M - left + 1)
        total += float(products[-1]) * ratio / (1 - ratio)
    return total


# ---------------------------------------------------------------- paths


def simple_paths(n: int) -> int:
    """Return how many simple paths lead from one vertex to another in the complete digraph (P1), exactly.

    Σ_{j=0}^{n−2} (n−2)!/j!, which is ⌊e·(n−2)!⌋ for n ≥ 3.

    Examples
    --------
    >>> from rhostar.bounds._logcount import simple_paths
    >>> [simple_paths(n) for n in (2, 3, 4, 5)]
    [1, 2, 5, 16]
    """
    total, product = 1, 1
    for j in range(n - 2, 0, -1):
        product *= j
        total += product
    return total


def log_simple_paths(n: int) -> float:
    """Return ln of :func:`simple_paths`; for n > 60 the bound 1 + ln (n−2)!, which exceeds it by less than 10⁻⁷⁸.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_simple_paths
    >>> round(math.exp(log_simple_paths(5)), 9)
    16.0
    """
    return math.log(simple_paths(n)) if n <= 60 else 1 + math.lgamma(n - 1)


def log_bounded_degree_paths(n: int, out_degree: int) -> float:
    """Return ln Σ_{k=0}^{n−2} d^k: simple paths to one vertex where every vertex has at most d children.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_bounded_degree_paths
    >>> round(math.exp(log_bounded_degree_paths(4, 3)), 9)  # 1 + 3 + 9
    13.0
    """
    if out_degree == 1:
        return math.log(n - 1)
    steps = (n - 1) * math.log(out_degree)
    return steps + math.log1p(-math.exp(-steps)) - math.log(out_degree - 1)


def log_pairs_of(log_count: float) -> float:
    """Return ln C(x, 2) for x given as ln x.

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_pairs_of
    >>> round(math.exp(log_pairs_of(math.log(7))), 9)
    21.0
    """
    return 2 * log_count + math.log1p(-math.exp(-log_count)) - math.log(2)


def log_add(a: float, b: float) -> float:
    """Return ln(eᵃ + eᵇ).

    Examples
    --------
    >>> import math
    >>> from rhostar.bounds._logcount import log_add
    >>> round(math.exp(log_add(math.log(3), math.log(4))), 9), log_add(-math.inf, 2.0)
    (7.0, 2.0)
    """
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


# ---------------------------------------------------------------- sums


def harmonic(count: int) -> float:
    """Return 1 + 1/2 + ... + 1/count, exact up to rounding; 0 for count = 0.

    Beyond 64 terms by Euler and Maclaurin: ln m + γ + 1/(2m) − 1/(12m²) + 1/(120m⁴), off by less
    than 1/(252m⁶) < 10⁻¹³.

    Examples
    --------
    >>> from rhostar.bounds._logcount import harmonic
    >>> round(harmonic(4), 12), round(harmonic(10**6), 9)
    (2.083333333333, 14.392726723)
    """
    if count <= _DIRECT:
        return math.fsum(1 / k for k in range(1, count + 1))
    return math.log(count) + float(np.euler_gamma) + 1 / (2 * count) - 1 / (12 * count**2) + 1 / (120 * count**4)
