"""One varying value has few courses; a line along which several values vary together can have exponentially many.

**Theorem (one moving vertex).** Let all values but ρ_v be fixed. As ρ_v runs through the reals, A* has at most
(n−1)(n−2) + 1 courses on one instance with reopening, and at most n − 1 without.

*Proof.* The course with reopening is a function of the transcripts of closure(y), y ≠ t, by the first theorem of
:mod:`rhostar.theory._closures`, which holds for every ρ with ties settled by indices. Edges into s and out of t may
be deleted, so s occurs in no closure but its own. Ties are settled by indices, so a comparison with ρ_v has one
threshold, at which the smaller index wins. Let y ≠ v, y ≠ s. Until v is selected, closure(y) does not depend on ρ_v,
and afterwards ρ_v is not compared. At each step v is selected if ρ_v is below a number that does not depend on ρ_v.
There are at most n − 2 steps without v: one for each vertex but s and v, y included. closure(s) makes at most n − 2 as
well. In closure(v) ρ_v only says where it ends, before or after each of n − 2 others. If v is not t, these are n − 3
closures with y ≠ s, v, t, and those of s and v: (n−1)(n−2) thresholds. If v = t, they are n − 2 closures with y ≠ s, t,
and that of s: the same. If v = s, there is none. Without reopening the run itself is one such process: n − 2
thresholds. ∎

So k instances that read one moving vertex, the other values being those of one table ρ⁰, have at most k(n−1)(n−2) + 1
patterns: of such instances a set with m of them for each vertex is shattered only if m ≤ 2·lg n + O(lg lg n). This
cannot give more than O(n lg n). The order n² is right: :func:`rhostar.theory.leaves` has more than (n − 3)²/4 courses.

**A line is different.** :func:`converter` is an instance on which the values of k vertices move together by x, and the
cost of A* without reopening is x rounded down to a multiple of 4: 2ᵏ costs on n = 5k + 2 vertices.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.instances import Instance
from rhostar.theory._integer_instances import instance_set
from rhostar.theory._processes import ClosedSearch, Closure, Number, Process, Weights, exact_problem, exact_rho

_STEP = 4
"""Distance between two costs of the converter."""


_EXAMPLES: dict[int, tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    4: (
        (
            (396, 1140, 845),
            (-1, 743, 175),
            (-1, -1, 891),
        ),
        (0, 1820, 1023, 1720),
    ),
    5: (
        (
            (199, 156, 1236, 935),
            (-1, 429, 936, 537),
            (0, -1, 898, 127),
            (339, 544, -1, 833),
        ),
        (0, 2063, 2219, 993, -336),
    ),
    6: (
        (
            (673, 722, 71, 1266, 1793),
            (-1, 121, -1, 251, 326),
            (825, -1, 460, 517, 964),
            (426, 754, -1, 708, 0),
            (1036, 577, 892, -1, 576),
        ),
        (0, 1437, 1323, 2183, 756, 1718),
    ),
    7: (
        (
            (0, 399, 794, 876, 1024, 2331),
            (-1, 170, 498, -1, 627, 355),
            (791, -1, 0, 614, 424, 1182),
            (551, 353, -1, 572, 315, 728),
            (342, 637, 397, -1, 0, 966),
            (204, 367, 220, 0, -1, 1023),
        ),
        (0, 1430, 809, 839, 307, 140, 745),
    ),
}
"""Weights from vertices 0..n−2 to vertices 1..n−1 (-1: no edge), and ρ; by hill climbing. The goal's value moves."""


class Line(NamedTuple):
    """An instance and the line ρ = base + x·direction for x from 0 to high."""

    instance: Instance
    base: NDArray[np.float64]
    direction: NDArray[np.float64]
    high: int


def most_courses(n: int, *, reopen: bool = True) -> int:
    """Return the largest possible number of courses of an instance while one value of ρ moves; see the module.

    Parameters
    ----------
    n
        Number of vertices, at least 2.
    reopen
        Whether A* reopens vertices.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If n is below 2.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.most_courses(10), rs.theory.most_courses(10, reopen=False)
    (73, 9)
    """
    n = arrays.integer(n, "n", 2)
    return (n - 1) * (n - 2) + 1 if reopen else n - 1


def moving_example(n: int) -> tuple[Instance, NDArray[np.float64]]:
    """Return an instance and ρ with the most courses known while the goal's value moves: 4, 7, 10, 15 for n = 4 to 7.

    For n = 4 no instance has more, whichever value moves; with a value other than the goal's the most is 3
    (``benchmarks/exhaust_moving.py``). For large n see
    :func:`rhostar.theory.leaves`.

    Parameters
    ----------
    n
        Number of vertices, 4 to 7.

    Returns
    -------
    tuple
        The instance, from vertex 0 to n − 1, and ρ.

    Raises
    ------
    InputError
        If n is out of range.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> instance, rho = rs.theory.moving_example(6)
    >>> len(rs.theory.pieces(*instance, rho, np.eye(6)[5], -9999, 9999)), rs.theory.most_courses(6)
    (10, 21)
    """
    if n not in _EXAMPLES:
        raise InputError(f"n must be between {min(_EXAMPLES)} and {max(_EXAMPLES)}, got {n}")
    rows, rho = _EXAMPLES[n]
    edges = {(u, v + 1): w for u, row in enumerate(rows) for v, w in enumerate(row) if w >= 0 and u != v + 1}
    return instance_set(n, [edges], 0, n - 1)[0], np.array(rho, dtype=np.float64)


def moving_thresholds(
    graph: Graph,
    weights: Weights,
    source: int,
    goal: int,
    rho: Weights,
    vertex: int,
    *,
    reopen: bool = True,
) -> list[int | Fraction]:
    """Return where the course of A* can change while the value of one vertex moves, in polynomial time.

    Parameters
    ----------
    graph, weights, source, goal, rho, reopen
        As for :func:`rhostar.astar`, exact; ``rho[vertex]`` is not read.
    vertex
        The vertex whose value moves.

    Returns
    -------
    list
        The thresholds of all closures (of the run itself without reopening), in order, each once for every closure
        that has it. Between two of them, and beyond the first and the last, the course stays the same.

    Raises
    ------
    InputError
        If weights, ρ or the vertex are not what a search can take.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    >>> rs.theory.moving_thresholds(graph, graph.arrange([1, 2, 5, 1]), 0, 3, [0, 0, 4, 0], 1, reopen=False)
    [5]
    """
    problem = exact_problem(graph, weights, source, goal)
    values = exact_rho([0 if v == vertex else x for v, x in enumerate(rho)], problem.n)
    vertex = arrays.vertex(vertex, "vertex", problem.n)
    if not reopen:
        return sorted(_of_process(ClosedSearch(problem), values, vertex))
    # The closure of the vertex itself gives the values above which it selects one vertex more.
    roots = (y for y in range(problem.n) if y != goal or y == vertex)
    return sorted(x for y in roots for x in _of_process(Closure(problem, y), values, vertex))


def _of_process(process: Process, rho: list[Number], vertex: int) -> list[Number]:
    """Return the thresholds below which a process selects the vertex, at the steps that it makes without it.

    A step counts only where its threshold exceeds all before: else the vertex was selected by then.
    """
    found: list[Number] = []
    highest: tuple[Number, int] | None = None
    while options := process.options():
        others = [u for u in options if u != vertex]
        if not others:
            break
        v = min(others, key=lambda u: (options[u] + rho[u], u))
        if vertex in options:
            # At the threshold itself the smaller index is selected.
            threshold = (options[v] + rho[v] - options[vertex], v)
            if highest is None or threshold > highest:
                highest = threshold
                found.append(threshold[0])
        process.select(v)
    return found


def converter(bits: int) -> Line:
    """Return an analog-to-digital converter: A* without reopening rounds x down to a multiple of 4, in k bits.

    The values of k vertices v_1..v_k move together by x. Each stage is numbered in the order u, m, p, q, v. Stage l
    finds a bit by comparing. It is entered with g = the bits found so far, which is the g of u_l and of p_l. The scores
    are B·l + g + 4·2^(k−l) for u_l, one less for p_l, and B·l + x − 1 for v_l, a child of s. If x is below g +
    4·2^(k−l), v_l comes before p_l and closes q_l on a long path; then q_l cannot close m_l, and the way u_l → m_l →
    u_{l+1} costs nothing. Otherwise q_l, a child of p_l, closes m_l on a bad path before u_l is expanded, and the
    search goes from u_l to u_{l+1} directly, for 4·2^(k−l).

    Parameters
    ----------
    bits
        k, 1 to 20.

    Returns
    -------
    Line
        An instance with n = 5k + 2 vertices and ρ = base + x·direction. For real x with
        0 ≤ x < ``high`` = 4·2ᵏ the cost is 4·⌊x/4⌋.

    Raises
    ------
    InputError
        If `bits` is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> instance, base, direction, high = rs.theory.converter(3)
    >>> instance.graph.n, high
    (17, 32)
    >>> [rs.astar(*instance, base + x * direction, reopen=False).cost for x in (0, 5, 18.5, 31)]
    [0.0, 4.0, 16.0, 28.0]
    """
    k = arrays.integer(bits, "bits", 1)
    if k > 20:
        raise InputError(f"bits must be between 1 and 20, got {k}: sums must be exact")
    n = 5 * k + 2
    stage = _STEP << (k + 3)  # B: more than all scores of one stage differ
    long, bad = stage * (k + 3), stage
    base, direction = np.zeros(n), np.zeros(n)
    first = 1 + 5 * np.arange(k + 1)  # u_l is first[l − 1], u_{k+1} is the goal
    edges: dict[tuple[int, int], float] = {(0, 1): 0, (0, 3): 0}
    for level in range(1, k + 1):
        u, m, p, q, v = (int(first[level - 1]) + i for i in range(5))
        worth = _STEP << (k - level)
        after = [int(first[level])] + ([int(first[level]) + 2] if level < k else [])
        edges |= {(0, v): 0, (u, m): 0, (p, q): 0, (q, m): bad, (v, q): long}
        edges |= {(u, c): worth for c in after} | {(m, c): 0 for c in after}
        base[[u, m, p, q, v]] = [stage * level + worth, -bad, stage * level + worth - 1, -long, stage * level - 1]
        direction[v] = 1.0
    base[n - 1] = stage * (k + 1)
    return Line(instance_set(n, [edges], 0, n - 1)[0], base, direction, _STEP << k)
