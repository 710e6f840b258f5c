"""Bringing ρ into the class that a bound is about: exact sums, features that are exact, differences below caps.

What comes out is the heuristic that the certificate is for; it is handed to the user to be run.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError
from rhostar.families import Linear
from rhostar.graph import Graph
from rhostar.search import distances_to

_FEATURE_BITS = 20
"""How many bits the base and the features of a linear family keep; the rest of the 52 are for θ."""


def snapped(rho: NDArray[np.float64], largest_g: float) -> NDArray[np.float64]:
    """Return ρ in multiples of 2^−k with g + |ρ| < 2^(52−k): then float64 sums of it with integers are exact.

    Parameters
    ----------
    rho
        The table.
    largest_g
        No path costs more: (n − 1)·ℓ.

    Raises
    ------
    InputError
        If values are so large that k would be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.certificates._tables import snapped
    >>> snapped(np.array([0.1, 2.0]), largest_g=2.0**40).tolist()
    [0.10009765625, 2.0]
    """
    bound = largest_g + float(np.abs(rho).max(initial=0.0)) + 1
    k = 52 - math.frexp(bound)[1]
    if k < 0:
        raise InputError(f"rho is too large for exact sums with integer weights: |rho| + g reaches {bound:.3g}")
    return np.ldexp(np.rint(np.ldexp(rho, k)), -k) + 0.0


def snapped_linear(family: Linear, rho: NDArray[np.float64], largest_g: float) -> NDArray[np.float64]:
    """Return b′ + Φ′θ′, exactly, near ρ = b + Φθ, in multiples of a power of two as for :func:`snapped`.

    b′ and Φ′ keep 20 bits, whatever ρ is, so that they are fixed as long as b and Φ are; θ′ takes the rest.

    Raises
    ------
    InputError
        If too few bits are left for θ, or for the base beside the largest g.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._tables import snapped_linear
    >>> family = rs.families.Linear(base=np.zeros(3), features=[[0.1], [0.2], [0.0]])
    >>> near = snapped_linear(family, family.table([3.0]), largest_g=100.0)
    >>> near.round(5).tolist()
    [0.3, 0.6, 0.0]
    """
    size = max(np.abs(family.base).max(initial=0.0), np.abs(family.features).max(initial=0.0))
    kf = _FEATURE_BITS - math.frexp(size)[1] if size > 0 else 0
    base = np.rint(np.ldexp(family.base, kf)).astype(np.int64)
    features = np.rint(np.ldexp(family.features, kf)).astype(np.int64)
    theta = np.linalg.lstsq(np.ldexp(features.astype(np.float64), -kf), rho - family.base, rcond=None)[0]
    reach = float(np.abs(family.base).max(initial=0.0) + (np.abs(family.features) @ np.abs(theta)).max(initial=0.0))
    largest = float(np.abs(theta).max(initial=0.0))
    # Exact sums with g, and products below 2⁶⁰.
    kt = min(50 - kf - math.frexp(largest_g + 2 * reach + 1)[1], 39 - math.frexp(largest)[1])
    whole = np.rint(np.ldexp(theta, kt))
    if largest > 0 and np.abs(whole).max() < 2**10:
        raise InputError("rho and integer weights are too large beside each other for exact sums of a linear family")
    if kt < 0 and base.any() and largest_g + 2 * reach + 1 >= math.ldexp(1.0, 52 - kf):
        raise InputError("the base is too fine beside the integer weights for exact sums of a linear family")
    total = features @ whole.astype(np.int64)
    table = np.ldexp(total.astype(np.float64), -kf - kt) + np.ldexp(base.astype(np.float64), -kf)
    return table + 0.0


def recomputed(family: Linear, rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return b + Φθ as floats compute it, for the θ behind ρ: a function of the float64 numbers in θ alone."""
    theta = np.linalg.lstsq(family.features, rho - family.base, rcond=None)[0]
    return family.table(theta)


def exceeding(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.bool_]:
    """Return the edges, those that leave the goal apart, with ρ_v − ρ_c above the cap."""
    return (rho[graph.tail] > rho[graph.head] + caps) & (graph.tail != goal)


def projected(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.float64]:
    """Return the largest ρ′ ≤ ρ with ρ′_v − ρ′_c ≤ D on every edge not leaving the goal, whose value stays.

    ρ′_v = min_u (ρ_u + dist_D(v, u)): distances to one more vertex, to which every vertex has an edge.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._tables import projected
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> projected(graph, np.array([9.0, 5.0, 0.0]), np.array([2.0]), goal=2).tolist()
    [4.0, 2.0, 0.0]
    """
    caps = np.broadcast_to(caps, graph.m)
    if not exceeding(graph, rho, caps, goal).any():
        return rho
    kept = graph.tail != goal
    n, least = graph.n, float(rho.min())
    tail = np.concatenate([graph.tail[kept], np.arange(n, dtype=np.int32)])
    head = np.concatenate([graph.head[kept], np.full(n, n, dtype=np.int32)])
    wider = Graph.from_edges(n + 1, tail, head)
    distance = distances_to(wider, wider.arrange(np.concatenate([caps[kept], rho - least])), goal=n)
    table = np.minimum(rho, distance[:n] + least)
    table[goal] = rho[goal]
    while True:  # what rounding left over the cap; ends at once, or nearly
        over = exceeding(graph, table, caps, goal)
        if not over.any():
            return table
        np.minimum.at(table, graph.tail[over], table[graph.head[over]] + caps[over])
