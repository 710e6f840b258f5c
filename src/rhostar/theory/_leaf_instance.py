"""One instance with many courses: leaves that A* with reopening selects at any of order n² moments each.

**Theorem.** Let h, k ≥ 1. There is an instance on n = h + k + m + 2 vertices, with integer weights up to 3·(h + k)²,
that has at least (h(k + 1) + 1)ᵐ courses under A* with reopening. With h + k close to n/lg n these are
2^((2 − o(1))·n·lg n). So by the argument of :func:`rhostar.theory.star_copies` some utility shatters (2 − o(1))·n·lg n
instances, and one moving value can have more than (n − 3)²/4 courses.

*Proof.* There are heads b_1..b_h, scanners a_1..a_k, leaves v_1..v_m, s and t. Put Ω = k + 2h + 1.

    edge        weight           vertex   ρ
    s → b_z     h − z            b_z      k + 2z
    b_z → a_j   0                a_j      j
    b_z → v_i   (h − z)·Ω        t        0
    s → t       2h + k + 1

The score of b_z is h + k + z. So the heads are selected in order, t after all of them. b_z is nearer to s than those
before it, so it offers every a_j and v_i a smaller g than they had. It gives a_j the g h − z and the score h − z + j,
which is below that of the next head. So after each head all scanners are selected again, in order. At that time a leaf
has the g G = (h − z)(1 + Ω). So it is selected before a_j if ρ_v < (h − z + j) − G = j − (h − z)Ω, and before the next
head (or t) if ρ_v < (h + k + z + 1) − G = k + 2z + 1 − (h − z)Ω. These h(k + 1) numbers increase from one moment to the
next, also from head to head: k + 2z + 1 − (h − z)Ω < 1 − (h − z − 1)Ω, as k + 2z < Ω. So each of the h(k + 1) + 1
intervals between them has its own moment of the first selection of v. Leaves have no children, so they do not influence
each other. ∎
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.bounds import _sizes as sizes
from rhostar.errors import InputError
from rhostar.instances import Instance
from rhostar.theory._integer_instances import instance_set


class Leaves(NamedTuple):
    """An instance, ρ, the leaves, and one value for each course of a leaf, in increasing order."""

    instance: Instance
    """The instance."""
    rho: NDArray[np.float64]
    """One value per vertex."""
    leaves: list[int]
    """The leaves, as vertices."""
    values: list[float]
    """One value for each course of a leaf, in increasing order."""


def leaves(n: int, *, heads: int | None = None, scanners: int | None = None) -> Leaves:
    """Return an instance on which each leaf has h(k + 1) + 1 courses of its own, under A* with reopening.

    Parameters
    ----------
    n
        Number of vertices, at least 5.
    heads, scanners
        h and k; by default those that give the most courses.

    Returns
    -------
    Leaves
        ``rho[v]`` of each leaf may be any of ``values``: every combination has its own course.

    Raises
    ------
    InputError
        If no vertex is left for a leaf, or only one of `heads` and `scanners` is given.

    Examples
    --------
    >>> import itertools, rhostar as rs
    >>> instance, rho, leaves, values = rs.theory.leaves(9, heads=3, scanners=2)
    >>> len(leaves), len(values)
    (2, 10)
    >>> courses = set()
    >>> for rho[leaves] in itertools.product(values, repeat=2):
    ...     courses.add(tuple(rs.astar(*instance, rho, trace=True).trace.selected.tolist()))
    >>> len(courses)
    100
    """
    n = arrays.integer(n, "n", 5)
    if (heads is None) != (scanners is None):
        raise InputError("heads and scanners must be given together")
    h, k = sizes.best_leaves(n) if heads is None or scanners is None else (heads, scanners)
    h, k = arrays.integer(h, "heads", 1), arrays.integer(k, "scanners", 1)
    m = n - 2 - h - k
    if m < 1:
        raise InputError(f"{n} vertices are too few for {h} heads, {k} scanners and a leaf")
    source, goal, step = 0, 1, k + 2 * h + 1
    head, scanner = 2 + np.arange(h), 2 + h + np.arange(k)
    leaf = [int(v) for v in 2 + h + k + np.arange(m)]
    edges: dict[tuple[int, int], int] = {(source, goal): 2 * h + k + 1}
    for z, b in enumerate(head.tolist(), 1):
        edges[source, b] = h - z
        edges |= {(b, a): 0 for a in scanner.tolist()} | {(b, v): (h - z) * step for v in leaf}
    rho = np.zeros(n)
    rho[head] = k + 2.0 * np.arange(1, h + 1)
    rho[scanner] = np.arange(1, k + 1)
    moments = [threshold - (h - z) * step for z in range(1, h + 1) for threshold in [*range(1, k + 1), k + 2 * z + 1]]
    values = [moments[0] - 0.5, *(x + 0.5 for x in moments)]
    rho[leaf] = values[0]
    return Leaves(instance_set(n, [edges], source, goal)[0], rho, leaf, values)
