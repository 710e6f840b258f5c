"""Constructions of shattered sets of more than linear size, for the number of expansions and for the cost.

The paper's lower bound on the pseudo-dimension, and every construction that reads one comparison of ρ per instance,
stays below n: bits "ρ_i < ρ_j" are independent only along a forest. The sets here read the *position* of a value among
many others instead. An item is in one of 2ᴮ places; instance b of the item reads bit b of the place in a Gray code; B
instances per item are shattered, and items do not influence each other, because no instance has an edge to another
item. With B close to lg n this is (1 − o(1))·(n/2)·lg n instances for GBFS and (1 − o(1))·n·lg n for A*: together with
the upper bounds (n! behaviors for GBFS, polynomially bounded integer weights for A*) the pseudo-dimension of the number
of expansions is Θ(n lg n), and so is that of the cost of A* without reopening (:mod:`rhostar.theory._parity` has the
cost under the other algorithms).

A bit of the place changes its value many times while the item moves from the lowest place to the
highest, although each comparison changes once. Each construction therefore makes the utility a sum in
which changes of either sign occur: see :func:`expansion_code`, :func:`reopening_code`, :func:`cost_code`.
Two bits per item need fewer vertices, which gives larger sets on small graphs: :func:`interval_code`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import _sizes as sizes
from rhostar.errors import InputError
from rhostar.search import Algorithm
from rhostar.theory._integer_instances import instance_set
from rhostar.theory._shattered_set import ShatteredSet
from rhostar.utilities import Cost, Expansions, Utility

Edges = dict[tuple[int, int], int]
"""The edges of one instance and their weights, while the instance is being built."""


def interval_code(n: int, algorithm: Algorithm = "astar") -> ShatteredSet:
    """Return 2(n − 3) instances for A*, 2(n − 6) for GBFS, that the number of expansions shatters.

    An item has four places. "Place 2 or 3" is one comparison. "Place 1 or 2" is two: the item j leads to
    the goal at once; a helper that is expanded before it costs one more expansion, and if the goal is
    reached without the item, its expansion is saved. For A* (with or without reopening) the weights set
    both comparisons; GBFS needs three pivots for them, and a vertex of the lowest value after j.

    Parameters
    ----------
    n
        Number of vertices, at least 4 for A* and 7 for GBFS.
    algorithm
        "gbfs" or "astar".

    Returns
    -------
    ShatteredSet
        Two instances for each item, with expansions as utility: 2 or 3 of them for A*, 3 or 4 for GBFS.

    Raises
    ------
    InputError
        If n is smaller than that.

    Examples
    --------
    >>> import rhostar as rs
    >>> code = rs.theory.interval_code(12)
    >>> len(code), code.verify(most=100)
    (18, 100)
    """
    astar = algorithm == "astar"
    first = 3 if astar else 6
    if n <= first:
        raise InputError(f"{n} vertices are too few for an item of 2 bits")
    source, goal, helper, pivot = 0, 1, 2, 2  # pivots 3, 4, 5 come at changes 1, 2, 3
    item = np.arange(first, n)

    def weighted(i: int, changes: Sequence[int]) -> Edges:
        j = int(item[i])
        found: Edges = {(source, j): 0, (j, goal): 0, (source, helper): 4 * changes[0] - 2}
        if len(changes) == 2:
            found[source, goal] = 4 * changes[1] - 2
        return found

    def unweighted(i: int, changes: Sequence[int]) -> Edges:
        j = int(item[i])
        found = [(source, j), (j, helper), (helper, goal), *((source, pivot + place) for place in changes)]
        found += [(pivot + place, goal) for place in changes[1:]]
        return dict.fromkeys(found, 1)

    def table(place: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.zeros(n)
        rho[item] = 4.0 * place
        if not astar:
            rho[helper], rho[3:6] = -1.0, [2.0, 6.0, 10.0]
        return rho

    def expansions(_: Sequence[int]) -> float:
        return 2.5 if astar else 3.5

    edges_of = weighted if astar else unweighted
    return _build(n, source, goal, n - first, 2, edges_of, table, expansions, algorithm, True, Expansions(float(n)))


def expansion_code(n: int, algorithm: Algorithm = "gbfs", *, bits: int | None = None) -> ShatteredSet:
    """Return B·⌊(n − 2ᴮ⁺¹)/2⌋ instances that the number of expansions shatters.

    Two rows of 2ᴮ − 1 pivots, a low one and a high one, have a fixed order. Item i is a pair: y among
    the high pivots, z among the low ones. At place p of 0..2ᴮ−1, y is above exactly p high pivots
    and z above exactly 2ᴮ − 1 − p low ones. An instance is s → y → z → t with some high pivots as
    further children of s and some low ones as further children of y. The search expands s, the high
    pivots below y, then y, the low pivots below z (all that is left in OPEN is higher), then z, and
    has found t. From place p to p + 1 it gains one expansion if the high pivot p + 1 is there and loses
    one if the low pivot 2ᴮ − 1 − p is: choosing which pivots are there makes the count follow any bit.

    All weights are 1. A* expands the same vertices, with or without reopening: all paths to a vertex have the same
    number of edges, what y opens stays below what is left over from before, and ρ_t is the lowest value.

    Parameters
    ----------
    n
        Number of vertices, at least 6.
    algorithm
        The algorithm that the set is marked for; the same instances work for "gbfs" and "astar".
    bits
        B; by default the one that gives the most instances.

    Returns
    -------
    ShatteredSet
        B instances for each pair of vertices, with expansions as utility.

    Raises
    ------
    InputError
        If n is too small for one pair of B bits.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> code = rs.theory.expansion_code(24, bits=2)
    >>> len(code)
    16
    >>> pattern = np.random.default_rng(0).random(16) < 0.5
    >>> runs = rs.solve_many(code.instances, code.rho(pattern), algorithm="gbfs")
    >>> bool(((runs.expanded > code.thresholds) == pattern).all())
    True
    """
    bits = _bits(n, bits, sizes.expansions)
    places = 1 << bits
    items, pivots = (n - 2 * places) // 2, places - 1
    source, goal = 0, 1
    low, high = 2 + np.arange(pivots), 2 + pivots + np.arange(pivots)
    y, z = 2 + 2 * pivots + np.arange(items), 2 + 2 * pivots + items + np.arange(items)

    def edges_of(item: int, changes: Sequence[int]) -> Edges:
        up, down = changes[::2], changes[1::2]
        found = {(source, int(y[item])), (int(y[item]), int(z[item])), (int(z[item]), goal)}
        found |= {(source, int(high[p - 1])) for p in up}
        found |= {(int(y[item]), int(low[places - 1 - p])) for p in down}
        return dict.fromkeys(found, 1)

    def table(place: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.zeros(n)
        rho[goal] = -1.0
        rho[low] = 2.0 * np.arange(1, places)
        rho[z] = 2.0 * (places - 1 - place) + 1
        rho[high] = 2.0 * (places + np.arange(1, places))
        rho[y] = 2.0 * (places + place) + 1
        return rho

    def expansions(changes: Sequence[int]) -> float:
        return 3.5 + len(changes[1::2])  # s, y, z, and in the lowest place every low pivot

    return _build(n, source, goal, items, bits, edges_of, table, expansions, algorithm, True, Expansions(float(2 * n)))


def reopening_code(n: int, *, bits: int | None = None) -> ShatteredSet:
    """Return B·(n − 2 − 2ᴮ) instances that the number of expansions of A* with reopening shatters.

    An item is one vertex j with ρ_j = 4·place. For each change l of the bit, at place τ, there is a
    pivot p with score 4τ − 2, and a vertex x with so low a score that it is expanded whenever it is
    improved. If the bit goes up, j offers x the better path: x is expanded once if j comes first,
    else twice. If the bit goes down, j offers the worse path: x is expanded twice if j comes first,
    else once. Weights are integers up to 2ᴮ⁺³.

    Parameters
    ----------
    n
        Number of vertices, at least 5.
    bits
        B; by default the one that gives the most instances.

    Returns
    -------
    ShatteredSet
        With expansions as utility.

    Raises
    ------
    InputError
        If there are too few vertices.

    Examples
    --------
    >>> import rhostar as rs
    >>> code = rs.theory.reopening_code(100)
    >>> len(code), code.bits, code.verify(most=20)
    (330, 5, 20)
    """
    bits = _bits(n, bits, sizes.reopening)
    places, most = 1 << bits, 1 << (bits - 1)
    items = n - 2 - 2 * most
    source, goal = 0, 1
    pivot, x, item = 2 + np.arange(most), 2 + most + np.arange(most), 2 + 2 * most + np.arange(items)

    def edges_of(i: int, changes: Sequence[int]) -> Edges:
        j = int(item[i])
        found: Edges = {(source, goal): 8 * places, (source, j): 0}
        for k, place in enumerate(changes):
            p, vertex = int(pivot[k]), int(x[k])
            found |= {(source, p): 4 * place - 2, (p, vertex): 1, (j, vertex): 0 if k % 2 == 0 else 4 * places}
        return found

    def table(place: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.zeros(n)
        rho[x] = -16.0 * places
        rho[item] = 4.0 * place
        return rho

    def expansions(changes: Sequence[int]) -> float:
        # s, j, the pivots, each x once, and once more for each change downwards while j is below it.
        return 2.5 + 2 * len(changes) + len(changes) // 2

    return _build(n, source, goal, items, bits, edges_of, table, expansions, "astar", True, Expansions(float(4 * n)))


def cost_code(n: int, *, bits: int | None = None) -> ShatteredSet:
    """Return B·(n − 2 − 3·2ᴮ⁻¹) instances that the cost of A* without reopening shatters (B ≥ 2).

    An item is one vertex j with ρ_j = 8·place. The path to t has a stage for each change of the bit. The
    search passes a stage through a vertex x with a low score, or, if x is closed already, by an edge that
    costs 1 more; it reaches the stage when its scores have come to the place τ of the change. In stages of
    the first kind j closes x if it comes before that. In stages of the second kind a decoy q closes x just
    before, unless j came first: expanded on a path that j made longer, q reaches x too late to matter. So
    the cost is a constant plus the number of changes of the first kind above the place and of the second
    kind below it, and kinds alternate. Scores are early or late by at most 1, which the distances of 8
    between places allow.

    Parameters
    ----------
    n
        Number of vertices, at least 5.
    bits
        B; by default the one that gives the most instances.

    Returns
    -------
    ShatteredSet
        B instances for each item, with the cost as utility and ``reopen=False``.

    Raises
    ------
    InputError
        If n is too small for one item of B bits.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.cost_code(100)
    ShatteredSet(296 instances on 100 vertices, cost of astar)
    >>> rs.theory.cost_code(100).verify(most=20)
    20
    """
    bits = _bits(n, bits, sizes.cost)
    places, most = 1 << bits, 1 << (bits - 1)
    far = 32 * places  # beyond every score that matters
    source, goal = 0, 1
    stage, x = 2 + np.arange(most), 2 + most + np.arange(most)
    decoy, pivot = 2 + 2 * most + np.arange(most // 2), 2 + 2 * most + most // 2 + np.arange(most // 2)
    items = sizes.cost(n, bits) // bits
    item = n - items + np.arange(items)

    def edges_of(i: int, changes: Sequence[int]) -> Edges:
        j = int(item[i])
        found: Edges = {(source, j): 0, (source, int(stage[0])): 8 * changes[0] - 3}
        for k, place in enumerate(changes):
            last = k + 1 == len(changes)
            after = goal if last else int(stage[k + 1])
            length = (8 if last else 8 * (changes[k + 1] - place)) - k % 2  # less what the second kind costs below
            here, through = int(stage[k]), int(x[k])
            found |= {(here, through): length - 1, (through, after): 1, (here, after): length + 1}
            if k % 2 == 0:
                found[j, through] = far
            else:
                p, q = int(pivot[k // 2]), int(decoy[k // 2])
                found |= {(source, p): far + 8 * place - 5, (p, q): 0, (q, through): 0, (j, q): 4 * far}
        return found

    def table(place: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.zeros(n)
        rho[x] = rho[pivot] = -far
        rho[decoy] = -8.0 * far
        rho[item] = 8.0 * place
        return rho

    def cost(changes: Sequence[int]) -> float:
        # In the lowest place the first kind costs 1 in every stage; one change up lowers it.
        kinds = len(changes) // 2
        return 8 * changes[-1] + 5 - kinds + (len(changes) - kinds) - 0.5

    limit = Cost(float(16 * places + n))
    return _build(n, source, goal, items, bits, edges_of, table, cost, "astar", False, limit, falling=True)


def gray_code(bits: int) -> tuple[NDArray[np.int64], list[list[int]]]:
    """Return the reflected Gray code: the word of each place, and for each bit the places where it changes.

    Examples
    --------
    >>> from rhostar.theory._codes import gray_code
    >>> words, changes = gray_code(2)
    >>> words.tolist(), changes
    ([0, 1, 3, 2], [[1, 3], [2]])
    """
    place = np.arange(1 << bits)
    words = place ^ (place >> 1)
    flips = words[1:] ^ words[:-1]
    return words, [[int(p) for p in 1 + np.flatnonzero(flips >> b & 1)] for b in range(bits)]


def _bits(n: int, bits: int | None, size: Callable[[int, int], int]) -> int:
    """Return the given B, or the best one."""
    if bits is None:
        bits = sizes.best_bits(n, size)
    if bits < 1 or size(n, bits) < 1:
        raise InputError(f"{n} vertices are too few for an item of {bits} bits")
    return bits


def _build(
    n: int,
    source: int,
    goal: int,
    items: int,
    bits: int,
    edges_of: Callable[[int, Sequence[int]], Edges],
    table: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    threshold: Callable[[Sequence[int]], float],
    algorithm: Algorithm,
    reopen: bool,
    utility: Utility,
    *,
    falling: bool = False,
) -> ShatteredSet:
    """Put the instances on one graph, absent edges at inf; `falling` if the utility is lower for a 1."""
    words, changes = gray_code(bits)
    found = [edges_of(item, changes[b]) for item in range(items) for b in range(bits)]
    instances = instance_set(n, found, source, goal)
    place = np.empty_like(words)
    place[words ^ (words.size - 1) if falling else words] = np.arange(words.size)
    thresholds = np.array([threshold(changes[b]) for _ in range(items) for b in range(bits)])
    return ShatteredSet(instances, algorithm, reopen, utility, thresholds, bits, place, table)
