"""Rows W and Wp: A* with real weights has pseudo-dimension O(n lg³ n), with constants.

**Theorem.** Let n ≥ 2, t and V fixed, weights real and at least 0, s free, ρ any n reals, ties to the smaller index.
Let Π(N) be the largest number of joint courses (sequences of selected vertices) of A* on N instances, over all ρ. With

    P = Σ_{r=1}^{n−1} min(n/2, n·lg n/(2r)),   Q = (n−1)·Σ_{r=1}^{n−1} 1/r,
    p = N·n(n−1) + 1,   q = ⌈1 + lg(np) + (p−1)·lg(3n√p)⌉,   E_N = 2q·(⌈lg n⌉ + 1),
    L(N, M) = lg n + (n−1)·(lg M + lg n) + 2P·lg n + (3·lg n − 1 + lg E_N)·Q

lg Π(N) ≤ L(N, N) without reopening (row W) and lg Π(N) ≤ L(N, (n−1)·N) with reopening (row Wp). So for every utility
that is a function of the run, the pseudo-dimension is at most the largest N with N ≤ L: (ln 2 + o(1))·n·lg³ n.

**What L pays for.** A run without reopening is a sequence without repetition; one with reopening, even of
exponential length, follows from n − 1 such sequences (closures). M is the number of sequences. All of them follow from
the minimum spanning forest of their slacks (how far each selected vertex was ahead of the others), each slack known up
to its exponent and n steps of mantissa. At most n − 1 sequences own an edge of that forest. The message holds: how many
they are (lg n), which ones in which order (lg M each), how many edges each one adds (lg n each), matched pairs of
vertices where the forest known so far leaves the next vertex open (2·lg n each, P of them), and the edges themselves
(2·lg n − 1 for the pair, lg E_N for the exponent, lg n for the mantissa; Q of them). :mod:`rhostar.theory._closures`
and :mod:`rhostar.theory._transcript_code` run the proof: they rebuild runs, encode and decode.

**The first form.** Ordering the forest by slacks instead of exponents needs 8n steps of mantissa and the name of the
edge that each new one replaces, 4·lg n + 2 in place of 3·lg n − 1, and with a less careful count there are 2q + 1
exponents. ``improved=False`` evaluates that form.

**What it does not bring.** Heuristic values that are stored as float64 are counted by row Q64 (64 bits for each
vertex), which is smaller at every practical n: W is about real ρ.
"""

from __future__ import annotations

import math

from rhostar import _arrays as arrays
from rhostar.bounds import _logcount as logcount
from rhostar.bounds._capacity import Capacity


def code_length(n: int, instances: int, sequences: int, *, improved: bool = True) -> float:
    """Return L(N, M), the bits that tell M sequences on N instances of n vertices apart.

    Parameters
    ----------
    n
        Number of vertices, at least 2.
    instances
        N, at least 1.
    sequences
        M, at least 1: N without reopening, (n − 1)·N with reopening.
    improved
        Whether to use the sharper form, which is the one behind the rows; see the module.

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
    >>> from rhostar.bounds._transcripts import code_length
    >>> code_length(207, 1000, 1000) < code_length(207, 1000, 1000, improved=False)
    True
    """
    n, N = arrays.integer(n, "n", 2), arrays.integer(instances, "instances", 1)
    lg, lg_sequences = math.log2(n), math.log2(arrays.integer(sequences, "sequences", 1))
    edge = (3 * lg - 1 if improved else 4 * lg + 2) + math.log2(exponents(n, N, improved=improved))
    return lg + (n - 1) * (lg_sequences + lg) + 2 * lg * matched_pairs(n) + edge * forest_edges(n)


def matched_pairs(n: int) -> float:
    """Return P, the number of matched pairs that the message pays for.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import matched_pairs
    >>> matched_pairs(4)  # min(2, 4/1) + min(2, 4/2) + min(2, 4/3)
    5.33...
    """
    full = min(n - 1, n.bit_length() - 1)  # n/2 is the smaller one while r ≤ lg n
    later = logcount.harmonic(n - 1) - logcount.harmonic(full)
    return n / 2 * full + n * math.log2(n) / 2 * later


def forest_edges(n: int) -> float:
    """Return Q, the number of edges that enter the forest, those that leave it later included.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import forest_edges
    >>> forest_edges(4)  # 3·(1 + 1/2 + 1/3)
    5.5
    """
    return (n - 1) * logcount.harmonic(n - 1)


def exponents(n: int, instances: int, *, improved: bool = True) -> int:
    """Return E_N, the number of values that the exponent ⌊lg slack⌋ can take on N instances with real weights.

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
    return (2 * q if improved else 2 * q + 1) * ((n - 1).bit_length() + 1)


def astar(n: int, *, reopen: bool = True) -> Capacity:
    """Row Wp: A* with or without reopening, lg Π(N) ≤ L(N, (n−1)·N). Row W: without reopening, lg Π(N) ≤ L(N, N).

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
    (135542, 133934)
    """
    n = arrays.integer(n, "n", 2)
    return _row("Wp", "A*, any weights", n, n - 1) if reopen else _row("W", "A* without reopening, any weights", n, 1)


def _row(label: str, meaning: str, n: int, each: int) -> Capacity:
    def log_growth(N: int) -> float:
        return code_length(n, N, each * N) * math.log(2)

    return Capacity(label, "sharper", meaning, log_growth, finite=False, exact_sums=True)
