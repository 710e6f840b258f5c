"""How many instances the known shattered sets have, written once: the lower bounds and the lab both read it here.

The sets themselves are in :mod:`rhostar.lab`, which builds them with a heuristic for every pattern. N instances that a
utility shatters prove that its pseudo-dimension is at least N.
"""

from __future__ import annotations

from collections.abc import Callable

PARITY_BITS = {1: 1, 2: 3, 3: 7, 4: 11, 5: 15, 6: 20, 7: 25}
"""For each number of layers, how many instances an item of :func:`rhostar.lab.parity_code` has."""


def interval_code_size(n: int, algorithm: str) -> int:
    """Return the size of :func:`rhostar.lab.interval_code`: expansions, two instances for each item.

    Examples
    --------
    >>> from rhostar.bounds._shattered import interval_code_size
    >>> interval_code_size(12, "astar"), interval_code_size(12, "gbfs")
    (18, 12)
    """
    return 2 * max(0, n - (6 if algorithm == "gbfs" else 3))


def expansion_code_size(n: int, bits: int) -> int:
    """Return the size of :func:`rhostar.lab.expansion_code`: expansions, all weights equal.

    Examples
    --------
    >>> from rhostar.bounds._shattered import expansion_code_size
    >>> expansion_code_size(24, 2)
    16
    """
    return bits * max(0, (n - 2 * (1 << bits)) // 2)


def reopening_code_size(n: int, bits: int) -> int:
    """Return the size of :func:`rhostar.lab.reopening_code`: expansions of A* with reopening, weights up to 2ᴮ⁺³.

    Examples
    --------
    >>> from rhostar.bounds._shattered import reopening_code_size
    >>> reopening_code_size(100, 5)
    330
    """
    return bits * max(0, n - 2 - (1 << bits))


def cost_code_size(n: int, bits: int) -> int:
    """Return the size of :func:`rhostar.lab.cost_code`: cost of A* without reopening, weights up to 2ᴮ⁺⁷.

    Examples
    --------
    >>> from rhostar.bounds._shattered import cost_code_size
    >>> cost_code_size(100, 4)
    296
    """
    most = 1 << (bits - 1)
    return bits * max(0, n - 2 - 2 * most - 2 * (most // 2))


def parity_code_size(n: int, layers: int) -> int:
    """Return the size of :func:`rhostar.lab.parity_code`: cost under both algorithms, unit weights.

    Examples
    --------
    >>> from rhostar.bounds._shattered import parity_code_size
    >>> parity_code_size(1000, 4)
    1441
    """
    bits = PARITY_BITS[layers]
    return bits * max(0, (n - 3) // (2 * layers - 1) - bits)


def largest(size: Callable[[int, int], int], n: int) -> tuple[int, int]:
    """Return the largest size of a code over the number of bits for each item, and those bits.

    Examples
    --------
    >>> from rhostar.bounds._shattered import largest, reopening_code_size
    >>> largest(reopening_code_size, 100)
    (330, 5)
    """
    bits = max(range(1, max(2, n.bit_length())), key=lambda b: size(n, b))
    return size(n, bits), bits


def lower_cost(n: int) -> int:
    """Return the size of the largest :func:`rhostar.lab.parity_code` on n vertices; 0 where there is none.

    The cost as utility, unit weights, out-degrees of at most 2, one source; greedy search, and A* with and without
    reopening. For large n more is known to exist (:func:`rhostar.lab.parity_bound`, of order n lg n), not explicitly.

    Examples
    --------
    >>> from rhostar.bounds._shattered import lower_cost
    >>> lower_cost(100), lower_cost(1000), lower_cost(10_000)
    (96, 1441, 18600)
    """
    return max(parity_code_size(n, layers) for layers in PARITY_BITS)


def lower_cost_closed(n: int, integer_weights: int | None = None) -> int:
    """Return the size of the largest :func:`rhostar.lab.cost_code` on n vertices: cost of A* without reopening.

    Weights are integers up to 2ᴮ⁺⁷, or any numbers where `integer_weights` is None.

    Examples
    --------
    >>> from rhostar.bounds._shattered import lower_cost_closed
    >>> lower_cost_closed(1000), lower_cost_closed(1000, integer_weights=1000)
    (5642, 1984)
    """
    bits = [b for b in range(1, n.bit_length()) if integer_weights is None or 128 << b <= integer_weights]
    return max((cost_code_size(n, b) for b in bits), default=0)
