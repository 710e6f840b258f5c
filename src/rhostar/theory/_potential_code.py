"""Potentials for every goal at once: a sparse graph on which they shatter an order of n² instances.

A potential is given by one weight ŵ_e ≥ 0 for each edge of a graph with n vertices and m edges: ρᵗ_v = dist_ŵ(v, t),
for every goal t. Instances have their own weights, edges, sources and goals. How large is the pseudo-dimension over
all goals?

**Upper bounds.** The course on an instance follows from the signs of ŵ(P) − ŵ(P′) − T, where P and P′ are simple
paths to t and T is a difference of lengths of simple paths from s: at most (n!)⁴/2 hyperplanes for each instance (n ≥
3). So Π(N) ≤ Φ_m(N·(n!)⁴/2), and the pseudo-dimension is O(m·n·lg n). A potential is also a table for each goal, so
lg Π(N) ≤ n·L*(N, (n−1)·N) and the pseudo-dimension is O(n²·lg² n): less for m above n·lg n.

**Lower bound (A* without reopening, cost, m < 4n).** The converter (:func:`rhostar.theory.converter`) finds k bits of a
number x by which the values of some vertices are raised together. Let its vertices lead, under ŵ, to a hub h₀ if their
values are fixed and to a hub h₁ if they move, and the hubs to G goals, h₁ to the goal t_r by an edge with ŵ = x_r. So
one set of 5k vertices is shared by all goals, and each goal has its own number. The instance (r, j) has the first j
stages of the converter; after stage j a collector leads to t_r, for 2^(k+2) more if the bit is 1. The hubs' edges are
in no instance. So the cost is above its threshold if and only if bit j of x_r is 1, and all G·k instances are
shattered: n = 5k + G + 5, m = 16k + 4G − 2. With G = 5k that is (1/20 − o(1))·n².

So no code can give O(m·polylog n) for real potentials on sparse graphs without reopening. In the complete digraph,
where a potential can be any table for each goal (ŵ between B and 2B), the lower bounds for one goal add up to order
n² lg n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._capacity import Capacity
from rhostar.bounds._logcount import log_cells_of
from rhostar.bounds._transcripts import fine_code_length
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.instances import Instance
from rhostar.search import astar, distances_to

_MOST_BITS = 20


@dataclass(frozen=True)
class PotentialCode:
    """Instances with several goals that potentials shatter, with the cost as utility and without reopening."""

    graph: Graph
    """All edges that an instance or the potential may use."""
    instances: tuple[Instance, ...] = field(repr=False)
    """Instance (r, j) is number r·k + j."""
    threshold: float
    """The cost is at least this if and only if the bit is 1."""
    bits: int
    """k: instances for each goal."""
    goals: int
    """G."""
    base: NDArray[np.float64] = field(repr=False)
    """ŵ with x_r = 0 for all goals."""
    moving: NDArray[np.int64] = field(repr=False)
    """For each goal the edge with ŵ = x_r."""

    def weights(self, pattern: Sequence[bool]) -> NDArray[np.float64]:
        """Return the ŵ that shows a pattern.

        Parameters
        ----------
        pattern
            One truth value for each instance.

        Returns
        -------
        ndarray
            One weight for each edge.

        Raises
        ------
        InputError
            If there is not one value for each instance.
        """
        if len(pattern) != len(self.instances):
            raise InputError(f"pattern must have {len(self.instances)} values, got {len(pattern)}")
        found = self.base.copy()
        for r, e in enumerate(self.moving):
            mine = pattern[r * self.bits : (r + 1) * self.bits]
            found[e] = 4 * sum(1 << (self.bits - 1 - j) for j, bit in enumerate(mine) if bit) + 2
        return found

    def shown(self, weights: NDArray[np.float64]) -> list[bool]:
        """Return which instances cost at least the threshold under the potential of ŵ.

        Parameters
        ----------
        weights
            ŵ, one weight for each edge.

        Returns
        -------
        list of bool
        """
        tables = {t: distances_to(self.graph, weights, t) for t in {one.goal for one in self.instances}}
        costs = (astar(*one, tables[one.goal], reopen=False).cost for one in self.instances)
        return [cost >= self.threshold for cost in costs]

    def verify(self, patterns: Iterable[Sequence[bool]]) -> int:
        """Run A* on all instances for some patterns and return how many there were.

        Parameters
        ----------
        patterns
            Each with one truth value for each instance.

        Returns
        -------
        int

        Raises
        ------
        InputError
            If a pattern does not occur.
        """
        count = 0
        for pattern in patterns:
            if self.shown(self.weights(pattern)) != [bool(bit) for bit in pattern]:
                raise InputError(f"the pattern {pattern} does not occur")
            count += 1
        return count


def potential_code(bits: int, goals: int) -> PotentialCode:
    """Return G·k instances with G goals that potentials on 5k + G + 5 vertices shatter.

    Parameters
    ----------
    bits
        k, 1 to 20: instances for each goal.
    goals
        G, at least 1.

    Returns
    -------
    PotentialCode

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> code = rs.theory.potential_code(2, 3)
    >>> code.graph.n, code.graph.m, len(code.instances)
    (18, 42, 6)
    >>> code.verify([[False] * 6, [True, False, False, True, True, True]])
    2
    """
    k, G = arrays.integer(bits, "bits", 1), arrays.integer(goals, "goals", 1)
    if k > _MOST_BITS:
        raise InputError(f"bits must be between 1 and {_MOST_BITS}, got {k}: sums must be exact")
    stage, extra = 32 << k, 4 << k
    shift = stage * (k + 3)  # added to all values but the goal's, so that none is negative
    late, unused = 4 * stage * (k + 4), 8 * stage * (k + 4)
    a, b, fixed, moved = range(5 * k + 1, 5 * k + 5)
    ends = range(5 * k + 5, 5 * k + 5 + G)
    guess: dict[tuple[int, int], float] = {(0, 1): unused, (0, 3): unused}
    parts: list[dict[tuple[int, int], float]] = [{(0, 1): 0, (0, 3): 0}]
    last = []
    for level in range(1, k + 1):
        u, m, p, q, v = range(5 * level - 4, 5 * level + 1)
        worth = 4 << (k - level)
        parts.append({(0, v): 0, (u, m): 0, (p, q): 0, (q, m): stage, (v, q): shift})
        last.append({(u, a): extra, (m, b): 0})
        on: dict[tuple[int, int], float] = {}
        for c in (u + 5, p + 5) if level < k else ():
            on |= {(u, c): worth, (m, c): 0}
        parts.append(on)
        guess |= dict.fromkeys((*parts[-2], *parts[-1], *last[-1]), unused)
        values = {u: stage * level + worth, m: -stage, p: stage * level + worth - 1, q: -shift}
        guess |= {(x, fixed): value + shift for x, value in values.items()}
        guess[v, moved] = stage * level - 1 + shift
    guess |= {(x, t): 0 for t in ends for x in (a, b, fixed, moved)}
    tail, head = np.array(list(guess)).T
    graph = Graph.from_edges(5 * k + 5 + G, tail, head)
    instances = []
    for t in ends:
        for j in range(k):
            edges = {pair: w for part in parts[: 2 * j + 2] for pair, w in part.items()} | last[j]
            edges |= {(a, t): late, (b, t): late}
            weights = np.full(graph.m, np.inf)
            weights[graph.edge_index(*np.array(list(edges)).T)] = list(edges.values())
            instances.append(Instance(graph, weights, 0, t))
    base = np.empty(graph.m)
    base[graph.edge_index(tail, head)] = list(guess.values())
    moving = graph.edge_index([moved] * G, list(ends))
    return PotentialCode(graph, tuple(instances), late + extra, k, G, base, np.asarray(moving))


def potential_bounds(n: int, edges: int) -> dict[str, int]:
    """Return upper bounds on the pseudo-dimension of potentials over all goals at once, for A* and every utility.

    Parameters
    ----------
    n
        Number of vertices, at least 3.
    edges
        m, the number of edges, each with a weight ŵ of its own.

    Returns
    -------
    dict
        "hyperplanes": the largest N with 2^N ≤ Φ_m(N·(n!)⁴/2), of order m·n·lg n. "tables": the largest N with
        N ≤ n·L*(N, (n−1)·N), of order n²·lg² n. "float64": 64·m, where the weights are stored as float64.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.potential_bounds(207, 1515)
    {'hyperplanes': 7891836, 'tables': 25521483, 'float64': 96960}
    """
    n, m = arrays.integer(n, "n", 3), arrays.integer(edges, "edges", 1)
    log_pairs = 4 * math.lgamma(n + 1) - math.log(2)

    rows: dict[str, Callable[[int], float]] = {
        "hyperplanes": lambda N: log_cells_of(m, math.log(N) + log_pairs),
        "tables": lambda N: n * fine_code_length(n, N, (n - 1) * N) * math.log(2),
    }
    found = {
        label: Capacity(label, "sharper", "potentials, all goals", growth, finite=False).pseudo_dimension
        for label, growth in rows.items()
    }
    return found | {"float64": 64 * m}
