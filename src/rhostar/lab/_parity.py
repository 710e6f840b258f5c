"""Shattered sets of order n lg n for the cost, on unweighted graphs: greedy search, and A* with and without reopening.

For greedy search the position of one vertex among others is not enough. Its path is the one whose values of ρ,
sorted from the largest down, are least in lexicographic order; so where all other values are fixed, the path
takes at most two forms as one value moves, one with that vertex and one without. A bit that changes its value many
times while an item moves needs several vertices per item, and the exclusive or does it.

**The instance.** An item has m layers, with a place c_j ∈ 0..B among B shared pivots in layer j. A layer is a choice:
two vertices are in OPEN, the item's own y and one pivot; the lower is expanded first, and its children stand in the
next layer, whose values are all lower: the search goes straight down and never comes back. A layer has two rails, each
with its own copy of y and of the pivots. Past y the search stays on its rail, past the pivot it changes. The last
layer leads from rail 0 to t, from rail 1 by one vertex more. So the length of the path tells

    F_i(c) = ⊕_j [c_j > k_ij],

where k_ij is the rank of the pivot that instance i has in layer j, and in each layer the B instances have B different
pivots. All vertices of a layer are equally far from the start: A* expands the same vertices, with or without reopening.

**How many instances are shattered.** As c_j grows from 0 to B, the pattern (F_1, ..., F_B) changes in one place after
another, in the order in which the instances' pivots stand in layer j. So the patterns are all sums over F_2 of m
prefixes, one of each order, and (B + 1)ᵐ choices can give 2ᴮ patterns although each order alone gives B + 1. Take N
instances with random orders, that is ranks of independent uniform numbers, and two independent uniform choices C, C′.
Instance i tells them apart unless an even number of its pivots lie between them; pivots are independent, so

    Pr[F(C) = F(C′)] = E[((1 + X)/2)ᴺ],  X = Π_j (1 − 2|C_j − C′_j|),

and since E(1 − 2|C_j − C′_j|)ᵏ is 1/(k+1) for even k and 1/(k+2) for odd k, this is at most 2⁻ᴺ·S with
S = Σ_k C(N, k)·(k + 1)⁻ᵐ. Some orders do no worse, and a random variable that equals its independent copy with
probability q takes at least 1/q values: 2ᴺ/S patterns. S ≤ 2 is reached with N = ⌊(m/2)·lg m⌋ − 1 for large m: terms
from k = 1 to √m are below Nᵏ·2⁻ᵐ each, all others together below 2ᴺ·m^(−m/2). By the lemma of Sauer and Shelah 2ᴺ⁻¹
patterns shatter ⌊N/2⌋ of the instances.

**Counting vertices.** An item costs 2m − 1 vertices (the first layer has one rail), the pivots B·(2m − 1), shared by
all items: no instance has an edge to another item. With G items n = 3 + (2m − 1)(B + G), and G·B instances are
shattered.
For m² lg² m of the order of n this is at least (1/16 − o(1))·n lg n. With the upper bounds n! (greedy search) and
O(n lg n) for bounded integer weights (A*), **the pseudo-dimension of the cost is Θ(n lg n)**, for unweighted instances
already: the factor lg n between the bounds of the paper is closed for its own utility.

:func:`parity_code` builds such sets from orders that were found by computer and shatter all of their instances;
:func:`parity_bound` evaluates the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds._shattered import parity_code_size
from rhostar.errors import InputError
from rhostar.lab._codes import ShatteredSet
from rhostar.lab._exact import Arcs, instance_set
from rhostar.lab._parity_orders import ORDERS
from rhostar.utilities import Cost

_ONE = 1 - 1e-6
"""Less than 1 by more than rounding can add to a sum."""


def parity_code(n: int, algorithm: Literal["gbfs", "astar"] = "gbfs", *, layers: int | None = None) -> ShatteredSet:
    """Return unweighted instances that the cost shatters under both algorithms: more than n of them for n ≥ 134.

    Parameters
    ----------
    n
        Number of vertices.
    algorithm
        Which algorithm the set is marked for; the same instances serve "gbfs" and "astar", with and without
        reopening.
    layers
        m, 1 to 7; by default the one that gives most instances.

    Returns
    -------
    ShatteredSet

    Raises
    ------
    InputError
        If n is too small for one item.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> code = rs.lab.parity_code(300)
    >>> len(code), code.bits
    (364, 7)
    >>> pattern = np.random.default_rng(0).random(len(code)) < 0.5
    >>> greedy, astar = (rs.solve_many(code.instances, code.rho(pattern), algorithm=a) for a in ("gbfs", "astar"))
    >>> [bool(((runs.cost > code.thresholds) == pattern).all()) for runs in (greedy, astar)]
    [True, True]
    """
    if layers is None:
        layers = max(ORDERS, key=lambda m: (parity_code_size(n, m), -m))
    if layers not in ORDERS or parity_code_size(n, layers) < 1:
        raise InputError(f"{n} vertices are too few for an item of {layers} layers; layers are {sorted(ORDERS)}")
    orders = ORDERS[layers]
    bits = len(orders[0])
    items = parity_code_size(n, layers) // bits
    rails = [1] + [2] * (layers - 1)
    source, goal, longer = 0, 1, 2
    # vertex[j][b]: first the pivots of the layer and rail in the order of their values, then the items'.
    first = 3 + (bits + items) * np.concatenate([[0], np.cumsum(rails)])
    vertex = [
        [int(first[j]) + b * (bits + items) + np.arange(bits + items) for b in range(rails[j])] for j in range(layers)
    ]
    rank = [{i: k for k, i in enumerate(order)} for order in orders]

    def arcs(item: int, i: int) -> Arcs:
        def choice(j: int, b: int) -> list[int]:
            """Where the search goes on: the two vertices of layer j on rail b, or the end."""
            if j < layers:
                return [int(vertex[j][b][bits + item]), int(vertex[j][b][rank[j][i]])]
            return [longer if b else goal]

        edges = [(source, v) for v in choice(0, 0)] + [(longer, goal)]
        for j in range(layers):
            for b in range(rails[j]):
                own, pivot = choice(j, b)
                edges += [(own, v) for v in choice(j + 1, b)] + [(pivot, v) for v in choice(j + 1, 1 - b)]
        return dict.fromkeys(edges, 1)

    def table(place: NDArray[np.int64]) -> NDArray[np.float64]:
        down = bits + 3.0  # from layer to layer: more than a layer is high, and the unit that A* adds
        rho = np.zeros(n)
        for j in range(layers):
            for column in vertex[j]:
                rho[column[:bits]] = np.arange(bits) + 0.5 - down * j
                rho[column[bits:]] = place // (bits + 1) ** j % (bits + 1) - down * j
        rho[longer], rho[goal] = -down * layers, -down * (layers + 2)
        return rho

    instances = instance_set(n, [arcs(item, i) for item in range(items) for i in range(bits)], source, goal)
    thresholds = np.full(len(instances), layers + 1.5)
    return ShatteredSet(instances, algorithm, True, Cost(layers + 3.0), thresholds, bits, Places(orders), table)


class Places:
    """Lengths of prefixes, one of each order, that add up to a pattern; found when they are asked for."""

    def __init__(self, orders: Sequence[Sequence[int]]) -> None:
        half = (len(orders) + 1) // 2
        self._first, self._second = (sums_of_prefixes(part) for part in (orders[:half], orders[half:]))
        self._shift = (len(orders[0]) + 1) ** half

    def __getitem__(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each pattern the lengths c_0, c_1, ... as one number; see :func:`sums_of_prefixes`."""
        return np.array([self._lengths(int(word)) for word in words], dtype=np.int64)

    def _lengths(self, word: int) -> int:
        (patterns, cells), (others, other_cells) = self._first, self._second
        wanted = others ^ word
        at = np.searchsorted(patterns, wanted).clip(max=patterns.size - 1)
        hit = int(np.argmax(patterns[at] == wanted))
        return int(cells[at[hit]] + other_cells[hit] * self._shift)


def sums_of_prefixes(orders: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every sum over F_2 of prefixes, one of each order, as bit masks, and lengths that give it.

    Lengths c_0, c_1, ... stand for the number c_0 + c_1·(B + 1) + ...

    Examples
    --------
    >>> from rhostar.lab._parity import sums_of_prefixes
    >>> sums_of_prefixes([[0, 1], [1, 0]])[0].tolist()
    [0, 1, 2, 3]
    """
    patterns, cells = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    base = len(orders[0]) + 1 if orders else 1
    for j, order in enumerate(orders):
        prefix = np.concatenate([[0], np.bitwise_xor.accumulate(1 << np.array(order, dtype=np.int64))])
        both = (patterns[:, None] ^ prefix).ravel()
        lengths = (cells[:, None] + np.arange(base) * base**j).ravel()
        patterns, found = np.unique(both, return_index=True)
        cells = lengths[found]
    return patterns, cells


def parity_bound(n: int) -> int:
    """Return a size of shattered sets that the theorem guarantees for n vertices, cost as utility, unit weights.

    For each number of layers m the largest N with S ≤ 2 is taken, which shatters ⌊N/2⌋ instances per item; see the
    module. The growth is that of n lg n; for few vertices :func:`parity_code` and the linear sets are ahead.

    Examples
    --------
    >>> from rhostar.lab._parity import parity_bound
    >>> [round(parity_bound(10**k) / 10**k, 1) for k in (2, 4, 6, 8)]
    [0.4, 1.2, 2.0, 2.8]
    """
    best, m = 0, 2
    while True:
        bits = _largest(m) // 2
        items = (n - 3) // (2 * m - 1) - bits
        if items < 1:
            return best
        best = max(best, bits * items)
        m = m + 1 if m < 12 else math.ceil(1.2 * m)


def _largest(m: int) -> int:
    """Return the largest N with Σ_{k ≥ 1} C(N, k)·(k + 1)⁻ᵐ ≤ 1."""
    low, high = 1, 2
    while _excess(high, m) <= _ONE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _excess(middle, m) <= _ONE else (low, middle)
    return low


def _excess(N: int, m: int) -> float:
    """Return Σ_{k ≥ 1} C(N, k)·μ_k^m with μ_k = 1/(k + 1) for even k and 1/(k + 2) for odd k."""
    from scipy.special import gammaln

    k = np.arange(1, N + 1)
    logarithm = gammaln(N + 1) - gammaln(k + 1) - gammaln(N - k + 1) - m * np.log(k + 1 + k % 2)
    return float(np.exp(np.minimum(logarithm, 50)).sum())
