"""How many instances the known shattered sets have: each size is a lower bound on a pseudo-dimension.

The sets themselves are built in :mod:`rhostar.theory`, which takes its sizes from here. B is the number of bits per
item of a code; :func:`largest` takes the best B.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from rhostar._arrays import Algorithm

PARITY_BITS = {1: 1, 2: 3, 3: 7, 4: 11, 5: 15, 6: 20, 7: 25}
"""For each number of layers, how many instances an item of the parity code has."""


def interval(n: int, algorithm: Algorithm) -> int:
    """Return 2(n − 6) for greedy search and 2(n − 3) for A*: expansions, weights up to 10."""
    return 2 * max(0, n - (6 if algorithm == "gbfs" else 3))


def expansions(n: int, bits: int) -> int:
    """Return B·⌊(n − 2ᴮ⁺¹)/2⌋: expansions, both algorithms, unit weights."""
    return bits * max(0, (n - (2 << bits)) // 2)


def reopening(n: int, bits: int) -> int:
    """Return B·(n − 2 − 2ᴮ): expansions of A* with reopening, weights up to 2ᴮ⁺³."""
    return bits * max(0, n - 2 - (1 << bits))


def cost(n: int, bits: int) -> int:
    """Return B·(n − 2 − 3·2ᴮ⁻¹), for B = 1 n − 4: cost of A* without reopening."""
    most = 1 << (bits - 1)
    return bits * max(0, n - 2 - 2 * most - 2 * (most // 2))


def parity(n: int, layers: int) -> int:
    """Return B·(⌊(n − 3)/(2m − 1)⌋ − B), m layers: cost of both algorithms, unit weights, out-degrees of at most 2."""
    bits = PARITY_BITS[layers]
    return bits * max(0, (n - 3) // (2 * layers - 1) - bits)


def best_layers(n: int) -> int:
    """Return the smallest number of layers of the parity code that gives the most instances."""
    return max(PARITY_BITS, key=lambda layers: (parity(n, layers), -layers))


def largest_parity(n: int) -> int:
    """Return the size of the parity code with the best number of layers.

    For large n, more instances exist, of order n lg n (:func:`rhostar.theory.parity_bound`), not explicitly.

    Examples
    --------
    >>> from rhostar.bounds import _sizes as sizes
    >>> sizes.largest_parity(100), sizes.largest_parity(1000), sizes.largest_parity(10_000)
    (96, 1441, 18600)
    """
    return parity(n, best_layers(n))


def largest_cost(n: int, integer_weights: int | None = None) -> int:
    """Return the size of the largest cost code whose weights, integers up to 2ᴮ⁺⁷, are in the class; 0 for none.

    Examples
    --------
    >>> from rhostar.bounds import _sizes as sizes
    >>> sizes.largest_cost(1000), sizes.largest_cost(1000, integer_weights=1000)
    (5642, 1984)
    """
    every = range(1, n.bit_length())
    return max((cost(n, b) for b in every if integer_weights is None or 128 << b <= integer_weights), default=0)


def leaf_courses(n: int, heads: int, scanners: int) -> float:
    """Return lg of the courses of one instance with leaves, m·lg(h(k + 1) + 1): A* with reopening."""
    return max(0, n - 2 - heads - scanners) * math.log2(heads * (scanners + 1) + 1)


def best_leaves(n: int, integer_weights: int | None = None) -> tuple[int, int]:
    """Return the numbers of heads and scanners, equal or one more head, that give the most courses; (0, 0) for none.

    The weights are integers up to (h − 1)(k + 2h + 1), or 2h + k + 1 if that is more.

    Examples
    --------
    >>> from rhostar.bounds import _sizes as sizes
    >>> sizes.best_leaves(207), sizes.best_leaves(207, integer_weights=100)
    ((24, 24), (6, 6))
    """
    most = math.inf if integer_weights is None else integer_weights
    best, found, h = -1.0, (0, 0), 1
    while (h - 1) * 3 * h <= most and 2 * h + 2 <= n:
        for k in (h - 1, h):
            if k >= 1 and leaf_courses(n, h, k) > best and max((h - 1) * (k + 2 * h + 1), 2 * h + k + 1) <= most:
                best, found = leaf_courses(n, h, k), (h, k)
        if leaf_courses(n, h, h) < best / 2:  # beyond its best h the number only falls
            break
        h = h + 1 if h < 100 else math.ceil(1.05 * h)
    return found


def best_bits(n: int, size: Callable[[int, int], int]) -> int:
    """Return the smallest B that gives the most instances."""
    return max(range(1, max(2, n.bit_length())), key=lambda bits: size(n, bits))


def largest(n: int, size: Callable[[int, int], int]) -> int:
    """Return the size of a code with the best B.

    Examples
    --------
    >>> from rhostar.bounds import _sizes as sizes
    >>> sizes.largest(207, sizes.expansions), sizes.largest(207, sizes.reopening)
    (355, 865)
    """
    return size(n, best_bits(n, size))
