"""How many instances the known shattered sets have: each size is a lower bound on a pseudo-dimension.

The sets themselves are built in :mod:`rhostar.lab`, which takes its sizes from here. B is the number of bits per
item of a code; :func:`largest` takes the best B.
"""

from __future__ import annotations

from collections.abc import Callable

from rhostar._arrays import Algorithm


def interval(n: int, algorithm: Algorithm) -> int:
    """Return 2(n − 6) for greedy search and 2(n − 3) for A*: expansions, weights up to 10."""
    return 2 * max(0, n - (6 if algorithm == "gbfs" else 3))


def expansions(n: int, bits: int) -> int:
    """Return B·⌊(n − 2ᴮ⁺¹)/2⌋: expansions, both algorithms, all weights equal."""
    return bits * max(0, (n - (2 << bits)) // 2)


def reopening(n: int, bits: int) -> int:
    """Return B·(n − 2 − 2ᴮ): expansions of A* with reopening, weights up to 2ᴮ⁺³."""
    return bits * max(0, n - 2 - (1 << bits))


def cost(n: int, bits: int) -> int:
    """Return B·(n − 2 − 3·2ᴮ⁻¹), for B = 1 n − 4: cost of A* without reopening."""
    most = 1 << (bits - 1)
    return bits * max(0, n - 2 - 2 * most - 2 * (most // 2))


def best_bits(n: int, size: Callable[[int, int], int]) -> int:
    """Return the B that gives most instances, the least of several."""
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
