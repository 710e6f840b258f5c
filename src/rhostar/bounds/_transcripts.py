"""Rows W and Wp: A* with real weights has pseudo-dimension O(n lg² n), with constants.

**Theorem.** Let n ≥ 2, t and V fixed, weights real and at least 0, s free, ρ any n reals, ties to the smaller index.
Let Π(N) be the largest number of joint courses (sequences of selected vertices) of A* on N instances, over all ρ. With
H the harmonic number 1 + 1/2 + ... + 1/(n−1) and

    p = N·n(n−1) + 1,   q = ⌈1 + lg(np) + (p−1)·lg(3n√p)⌉,   E = 2q·(⌈lg n⌉ + 1),
    L(N, M) = lg n + (n−1)·(lg M + 2·lg n) + H·lg n! + (n−1)·H·(5·lg n − 2 + 2·lg E),
    L*(N, M) = lg n + max_{m<n} lg C(M, m) + H·lg n! + (n−1)·H·(5·lg n − 2) + H·lg C(2E + n − 3, n − 1)
               + Σ_{r=1}^{n−1} [lg C(2n − 2 + x, x) + (1+x)·lg(1+x) − x·lg x],   x = 2(n−1)/r,

lg Π(N) is at most L(N, N) and at most L*(N, N) without reopening (row W), and at most L(N, (n−1)·N) and at most L*(N,
(n−1)·N) with reopening (row Wp). So for every utility that is a function of the run, the pseudo-dimension is at most
the largest N with N ≤ L*: (9·ln 2 + o(1))·n·lg² n. L gives 12·ln 2 by a simpler code. Binomial coefficients of numbers
that are not integers are defined by the Gamma function.

**What the terms count.** A run without reopening is a sequence without repetition; one with reopening, even of
exponential length, follows from n − 1 such sequences (closures). M is the number of sequences. All of them follow from
the minimum spanning forest of their slacks (how far each selected vertex was ahead of the others), each slack known up
to its exponent and n steps of mantissa. At most n − 1 sequences own an edge of that forest. The message contains: how
many they are (lg n), which ones (lg M each, or a set of them), for each one its edges of the forests that leave out one
of the sequences sent so far (2·lg n − 1 for the pair of each, with exponents or places in the order), the mantissas (lg
n each), and where the forest known so far does not determine the next vertex, sides of a *color tree* over the
vertices: only one sequence asks at each node, so all sides together cost lg n! for each number of sequences sent.
:mod:`rhostar.theory._color_tree` and :mod:`rhostar.theory._transcript_code` run the proof: they encode and decode.

**What it does not change.** Heuristic values that are stored as float64 are counted by row Q64 (64 bits for each
vertex), which is smaller at every practical n: W is about real ρ.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from rhostar import _arrays as arrays
from rhostar.bounds import _logcount as logcount
from rhostar.bounds._capacity import Capacity

_ONE_BY_ONE = 4096
"""This many terms of the sum in L* are added one by one; of the others, groups are bounded together."""


def code_length(n: int, instances: int, sequences: int) -> float:
    """Return L(N, M), the bits that tell M sequences on N instances of n vertices apart, by the simpler code.

    Parameters
    ----------
    n
        Number of vertices, at least 2.
    instances
        N, at least 1.
    sequences
        M, at least 1: N without reopening, (n − 1)·N with reopening.

    Returns
    -------
    float
        An upper bound on lg of the number of joint courses.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import code_length, fine_code_length
    >>> code_length(207, 1000, 1000) > fine_code_length(207, 1000, 1000)
    True
    """
    n, N, M = _checked(n, instances, sequences)
    lg, H = math.log2(n), logcount.harmonic(n - 1)
    edges = (n - 1) * H * (5 * lg - 2 + 2 * math.log2(exponents(n, N)))
    return lg + (n - 1) * (math.log2(M) + 2 * lg) + H * _lg_factorial(n) + edges


def fine_code_length(n: int, instances: int, sequences: int) -> float:
    """Return L*(N, M), the bits that tell M sequences on N instances apart in the mean over orders of the sequences.

    Parameters
    ----------
    n, instances, sequences
        As for :func:`code_length`.

    Returns
    -------
    float
        An upper bound on lg of the number of joint courses; it exceeds L* by less than 10⁻⁶ of it.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import fine_code_length
    >>> fine_code_length(50, 15_657, 15_657) > 15_657, fine_code_length(50, 15_658, 15_658) > 15_658
    (True, False)
    """
    n, N, M = _checked(n, instances, sequences)
    lg, H = math.log2(n), logcount.harmonic(n - 1)
    owners = logcount.log_binomial(M, min(n - 1, M // 2)) / math.log(2)
    indices = H * logcount.log_binomial(2 * exponents(n, N) + n - 3, n - 1) / math.log(2)
    return lg + owners + H * _lg_factorial(n) + (n - 1) * H * (5 * lg - 2) + indices + places(n)


@functools.lru_cache(maxsize=256)
def places(n: int) -> float:
    """Return the sum over r in L*: what the places of new edges among the known ones cost, and how many there are.

    Its terms are a concave function of x. So k of them are at most k times the term at the mean of their x, and for
    r > 4096 they are taken together in groups of neighbors.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import places
    >>> places(2)  # x = 2: lg C(4, 2) + 3·lg 3 − 2·lg 2
    5.3398...
    """
    from scipy.special import gammaln

    few = min(n - 1, _ONE_BY_ONE)
    x, counts = 2 * (n - 1) / np.arange(1.0, few + 1), np.ones(few)
    if n - 1 > few:
        steps = math.ceil(math.log((n - 1) / few) * _ONE_BY_ONE / 4)
        ends = np.unique(np.floor(few * np.exp(np.linspace(0, 1, steps + 1) * math.log((n - 1) / few))))
        a, b = ends[:-1], np.append(ends[1:-1], float(n - 1))  # sums of 1/r for a < r ≤ b, by Euler and Maclaurin
        inverse = np.log1p((b - a) / a) + (1 / b - 1 / a) / 2 - (1 / b**2 - 1 / a**2) / 12
        x, counts = np.append(x, 2 * (n - 1) * inverse / (b - a)), np.append(counts, b - a)
    top = 2 * n - 2 + x
    falling = gammaln(top + 1) - math.lgamma(2 * n - 1)
    falling = np.where(top > 1e5 * x, x * np.log(top), falling)  # where the two nearly cancel; no smaller, as x ≥ 2
    terms = falling - gammaln(x + 1) + (1 + x) * np.log1p(x) - x * np.log(x)
    return float(np.dot(counts, terms)) / math.log(2)


def exponents(n: int, instances: int) -> int:
    """Return E, the number of values that the exponent ⌊lg slack⌋ can take on N instances with real weights.

    It is finite because ρ may be moved inside its cell, to the mean of n corners of it: there a slack is, up to a
    factor n, an integer combination of weights, and such combinations halve at most q times in a row (Goemans).

    Examples
    --------
    >>> from rhostar.bounds._transcripts import exponents
    >>> exponents(2, 1)  # p = 3, q = ⌈1 + 2.58 + 2·3.38⌉ = 11
    44
    """
    p = instances * n * (n - 1) + 1
    q = math.ceil(1 + math.log2(n * p) + (p - 1) * (math.log2(3 * n) + math.log2(p) / 2))
    return 2 * q * ((n - 1).bit_length() + 1)


def astar(n: int, *, reopen: bool = True) -> Capacity:
    """Row Wp: A* with or without reopening, lg Π(N) ≤ L*(N, (n−1)·N). Row W: without reopening, lg Π(N) ≤ L*(N, N).

    Parameters
    ----------
    n
        Number of vertices, at least 2.
    reopen
        Whether A* may reopen vertices.

    Returns
    -------
    Capacity
        Wp, or W without reopening.

    Raises
    ------
    InputError
        If n is out of range.

    Examples
    --------
    >>> from rhostar.bounds import _transcripts as transcripts
    >>> transcripts.astar(207).pseudo_dimension, transcripts.astar(207, reopen=False).pseudo_dimension
    (111893, 110279)
    """
    n = arrays.integer(n, "n", 2)
    return _row("Wp", "A*, any weights", n, n - 1) if reopen else _row("W", "A* without reopening, any weights", n, 1)


def _row(label: str, meaning: str, n: int, each: int) -> Capacity:
    def log_growth(N: int) -> float:
        return fine_code_length(n, N, each * N) * math.log(2)

    return Capacity(label, "sharper", meaning, log_growth, finite=False, exact_sums=True)


def _checked(n: int, instances: int, sequences: int) -> tuple[int, int, int]:
    return (
        arrays.integer(n, "n", 2),
        arrays.integer(instances, "instances", 1),
        arrays.integer(sequences, "sequences", 1),
    )


def _lg_factorial(n: int) -> float:
    return math.lgamma(n + 1) / math.log(2)
