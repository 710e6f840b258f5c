"""Constructions of shattered sets of order n lg n for the cost, on unweighted graphs, under both algorithms.

**Theorem.** The cost shatters at least (1/8 − o(1))·n lg n unweighted instances, under greedy search and under A* with
and without reopening. The proof is in docs/theory.md, section 3 ("Natural utilities reach n lg n"), and in docs/note.

The sets in short: an item has m layers, and in layer j a place c_j ∈ 0..B among B pivots that all items share. In each
layer the search passes either the item's own vertex or the pivot of the instance, whichever is lower. Passing the pivot
changes the rail that the search is on, and the cost shows the last rail:

    F_i(c) = ⊕_j [c_j > k_ij],

where k_ij is the rank of the pivot of instance i in layer j. So the patterns of an item are all sums over F_2 of m
prefixes, one of each order of pivots, and (B + 1)ᵐ choices can give all 2ᴮ patterns. G items need
n = 3 + (2m − 1)(B + G) vertices and give G·B instances.

:func:`parity_code` builds such sets from orders that were found by computer, with which all instances are shattered: a
linear number, fewer than (25/13)·n. :func:`parity_bound` evaluates the theorem for any n; it shows that sets of order n
lg n exist, but does not construct them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import _sizes as sizes
from rhostar.bounds._bisection import first_integer
from rhostar.errors import InputError
from rhostar.search import Algorithm
from rhostar.theory._integer_instances import Edges, instance_set
from rhostar.theory._parity_orders import ORDERS
from rhostar.theory._shattered_set import ShatteredSet
from rhostar.utilities import Cost

_ONE = 1 - 1e-6
"""Less than 1 by more than rounding can add to a sum."""


def parity_code(n: int, algorithm: Algorithm = "gbfs", *, layers: int | None = None) -> ShatteredSet:
    """Return unweighted instances that the cost shatters under both algorithms: more than n of them for n ≥ 148.

    Parameters
    ----------
    n
        Number of vertices.
    algorithm
        The algorithm that the set is marked for; the same instances work for "gbfs" and "astar", with and without
        reopening.
    layers
        m, 1 to 7; by default the one that gives the most instances.

    Returns
    -------
    ShatteredSet
        With the cost as utility.

    Raises
    ------
    InputError
        If n is too small for an item with this many layers.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> code = rs.theory.parity_code(300)
    >>> len(code), code.bits
    (364, 7)
    >>> pattern = np.random.default_rng(0).random(len(code)) < 0.5
    >>> greedy, astar = (rs.solve_many(code.instances, code.rho(pattern), algorithm=a) for a in ("gbfs", "astar"))
    >>> [bool(((runs.cost > code.thresholds) == pattern).all()) for runs in (greedy, astar)]
    [True, True]
    """
    if layers is None:
        layers = sizes.best_layers(n)
    if layers not in ORDERS or sizes.parity(n, layers) < 1:
        raise InputError(f"{n} vertices are too few for an item of {layers} layers; layers are {sorted(ORDERS)}")
    orders = ORDERS[layers]
    bits = len(orders[0])
    items = sizes.parity(n, layers) // bits
    rails = [1] + [2] * (layers - 1)
    source, goal, longer = 0, 1, 2
    # vertex[j][b]: first the pivots of the layer and rail in the order of their values, then the items'.
    first = 3 + (bits + items) * np.concatenate([[0], np.cumsum(rails)])
    vertex = [
        [int(first[j]) + b * (bits + items) + np.arange(bits + items) for b in range(rails[j])] for j in range(layers)
    ]
    rank = [{i: k for k, i in enumerate(order)} for order in orders]

    def edges_of(item: int, i: int) -> Edges:
        def choice(j: int, b: int) -> list[int]:
            """Return where the search continues: the two vertices of layer j on rail b, or the end."""
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

    instances = instance_set(n, [edges_of(item, i) for item in range(items) for i in range(bits)], source, goal)
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

    Lengths c_0, c_1, ... are encoded as the number c_0 + c_1·(B + 1) + ...

    Examples
    --------
    >>> from rhostar.theory._parity import sums_of_prefixes
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

    For each number of layers m it takes the largest N with S = Σ_k C(N, k)·(k + 1)⁻ᵐ ≤ 2. Then more than half of all
    patterns occur, so ⌈N/2⌉ instances per item are shattered by the lemma of Sauer and Shelah; fewer of them leave more
    vertices for items, and the best number is taken. (Two groups of layers whose patterns add up over F₂, as in the
    proof, shatter fewer for the same m, but have a certificate.) It grows like n lg n/8; for few vertices
    :func:`parity_code` and the linear sets are larger.

    Parameters
    ----------
    n
        Number of vertices.

    Returns
    -------
    int
        0 if the theorem guarantees nothing.

    Examples
    --------
    >>> from rhostar.theory._parity import parity_bound
    >>> [round(parity_bound(10**k) / 10**k, 1) for k in (2, 4, 6, 8)]
    [0.6, 1.2, 2.0, 2.8]
    """
    best, m = 0, 2
    while True:
        tracks = (n - 3) // (2 * m - 1)  # each pivot and each item takes 2m − 1 vertices
        most = (_largest(m) + 1) // 2
        bits = min(most, tracks // 2)
        best = max(best, bits * (tracks - bits))
        if bits < most:  # more layers only leave fewer vertices
            return best
        m = m + 1 if m < 12 else math.ceil(1.2 * m)


def _largest(m: int) -> int:
    """Return the largest N with Σ_{k ≥ 1} C(N, k)·(k + 1)⁻ᵐ ≤ 1."""
    return first_integer(lambda N: _excess(N, m) > _ONE) - 1


def _excess(N: int, m: int) -> float:
    """Return Σ_{k ≥ 1} C(N, k)·μ_k^m with μ_k = 1/(k + 1) for even k and 1/(k + 2) for odd k."""
    from scipy.special import gammaln

    k = np.arange(1, N + 1)
    logarithm = gammaln(N + 1) - gammaln(k + 1) - gammaln(N - k + 1) - m * np.log(k + 1 + k % 2)
    return float(np.exp(np.minimum(logarithm, 50)).sum())
