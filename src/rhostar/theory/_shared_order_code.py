"""A shorter code for the runs of A*: the order in which owners are sent is agreed upon beforehand.

:mod:`rhostar.theory._transcript_code` sends the owners in an order that suits them, and so pays for the order. Here
encoder and decoder share an order of all M sequences, drawn at random before anything is known about ρ. The owners are
sent as a set; so are the new edges of each one, and how many there are is sent in a geometric code.

**Theorem.** With P, E_N and μ_r = (n−1)/r as in :mod:`rhostar.bounds._transcripts`, and m the number of owners,

    L* = lg n + max_m lg C(M, m) + 2P·lg n
         + Σ_{r=1}^{n−1} [μ_r·(3·lg n − 1 + lg E_N) − lg Γ(μ_r + 1) + lg(1 + μ_r) + μ_r·lg(1 + 1/μ_r)]

lg Π(N) ≤ L*. *Proof.* For a fixed order the code tells all joint courses apart, so by Kraft and Gibbs the mean of its
length over the courses is at least lg Π(N). So is the mean over all orders and courses. For each course the mean over
the orders is at most L*: the r-th owner adds k edges, and E k ≤ μ_r. Their set takes lg C(n²/2, k) ≤ k(2·lg n − 1) −
lg Γ(k + 1) bits, a concave function of k, and their number takes lg(1 + μ_r) + k·lg(1 + 1/μ_r) bits. ∎

This is about 4 % less than L at n = 1000, and less than row Q64 at no practical n. The rows W and Wp keep the simpler
L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from rhostar.bounds import _transcripts as bound
from rhostar.errors import InputError
from rhostar.theory._processes import Number, Transcript, transcript
from rhostar.theory._slacks import Edge, Knowledge, Unit, edges_of, forest
from rhostar.theory._transcript_code import follow, paid_choices, refuse


def shared_order_length(n: int, instances: int, sequences: int) -> float:
    """Return L*, see the module; the arguments are those of :func:`rhostar.bounds._transcripts.code_length`.

    Examples
    --------
    >>> from rhostar.bounds._transcripts import code_length
    >>> from rhostar.theory._shared_order_code import shared_order_length
    >>> shared_order_length(50, 1000, 1000) < code_length(50, 1000, 1000)
    True
    """
    lg, m = math.log2(n), min(n - 1, sequences // 2)
    edge = 3 * lg - 1 + math.log2(bound.exponents(n, instances))
    total = lg + math.fsum(math.log2((sequences - i) / (m - i)) for i in range(m)) + 2 * lg * bound.matched_pairs(n)
    for r in range(1, n):
        mean = (n - 1) / r
        set_of_edges = mean * edge - math.lgamma(mean + 1) / math.log(2)
        total += set_of_edges + math.log2(1 + mean) + mean * math.log2(1 + 1 / mean)
    return total


# ---------------------------------------------------------------- symbols


class Writer:
    """An arithmetic coder in exact numbers: each symbol takes its share of an interval."""

    def __init__(self) -> None:
        self._low, self._width = Fraction(0), Fraction(1)

    def uniform(self, value: int, among: int) -> int:
        """Put one of `among` values that are equally likely."""
        if not 0 <= value < among:
            raise InputError(f"{value} is not below {among}")
        self._width /= among
        self._low += value * self._width
        return value

    def geometric(self, value: int, mean: Fraction) -> int:
        """Put a number of a geometric distribution."""
        stay = mean / (1 + mean)
        self._low += (1 - stay**value) * self._width
        self._width *= (1 - stay) * stay**value
        return value

    @property
    def bits(self) -> float:
        """The information so far."""
        return math.log2(self._width.denominator) - math.log2(self._width.numerator)

    def number(self) -> tuple[int, int]:
        """Return an integer and how many binary digits it has: a fraction inside the interval."""
        digits = math.ceil(self.bits) + 1
        return math.ceil(self._low * 2**digits), digits


class Reader:
    """The other side: returns what was put."""

    def __init__(self, number: int, digits: int) -> None:
        self._at = Fraction(number, 2**digits)

    def uniform(self, _: int, among: int) -> int:
        """Return one of `among` values."""
        value = int(self._at * among)
        self._at = self._at * among - value
        return value

    def geometric(self, _: int, mean: Fraction) -> int:
        """Return a number of a geometric distribution."""
        stay, value = mean / (1 + mean), 0
        while self._at >= 1 - stay:
            self._at, value = (self._at - (1 - stay)) / stay, value + 1
            if value > 10**6:
                raise InputError("the message is damaged: a number is too large")
        self._at /= 1 - stay
        return value


def rank_of(members: Sequence[int]) -> int:
    """Return the rank of a set, given in increasing order, among all sets of its size.

    Examples
    --------
    >>> from rhostar.theory._shared_order_code import rank_of, set_of
    >>> [rank_of(set_of(rank, 2)) for rank in range(6)]
    [0, 1, 2, 3, 4, 5]
    """
    return sum(math.comb(x, i + 1) for i, x in enumerate(members))


def set_of(rank: int, size: int) -> list[int]:
    """Return the set with a rank, in increasing order."""
    found = []
    for i in range(size, 0, -1):
        x = i - 1
        while math.comb(x + 1, i) <= rank:
            x += 1
        found.append(x)
        rank -= math.comb(x, i)
    return found[::-1]


# ---------------------------------------------------------------- messages


def encode_shared(units: Sequence[Unit], n: int, instances: int, rho: Sequence[Number], order: Sequence[int]) -> Writer:
    """Write the transcripts of all units, the owners in the shared order. No scores may tie under ρ."""
    truths = [transcript(unit(), rho) for unit in units]
    edges = [edges_of(unit, i, truth, rho) for i, (unit, truth) in enumerate(zip(units, truths, strict=True))]
    owners = sorted({edge.unit for edge in forest(n, (edge for some in edges for edge in some))})
    out, values = Writer(), bound.exponents(n, instances)

    def put(_: str, value: int, among: int) -> None:
        out.uniform(value, among)

    out.uniform(len(owners), n)
    out.uniform(rank_of(owners), math.comb(len(units), len(owners)))
    known: list[Edge] = []
    for r, i in enumerate((i for i in order if i in set(owners)), 1):
        knowledge = Knowledge(n, known)
        choose = paid_choices(units[i], truths[i], knowledge, n, put)
        walk = follow(units[i], knowledge, n, choose)
        known = forest(n, [*known, *edges[i]])
        new = {walk.edges.index((e.selected, e.other, e.offset)): e for e in known if e.unit == i}
        out.geometric(len(new), Fraction(n - 1, r))
        out.uniform(rank_of(sorted(new)), math.comb(len(walk.edges), len(new)))
        for _, edge in sorted(new.items()):
            out.uniform(edge.exponent + values // 2, values)
            out.uniform(edge.step, n)
    return out


def decode_shared(
    units: Sequence[Unit], n: int, instances: int, message: tuple[int, int], order: Sequence[int]
) -> list[Transcript]:
    """Return the transcripts of all units from what :meth:`Writer.number` gave, and the shared order."""
    read, values = Reader(*message), bound.exponents(n, instances)
    count = read.uniform(0, n)
    owners = set(set_of(read.uniform(0, math.comb(len(units), count)), count))

    def choose(_: int, free: list[int]) -> tuple[int, int]:
        return free[read.uniform(0, len(free))], read.uniform(0, n)

    known: list[Edge] = []
    for r, i in enumerate((i for i in order if i in owners), 1):
        walk = follow(units[i], Knowledge(n, known), n, choose)
        size = read.geometric(0, Fraction(n - 1, r))
        if size > len(walk.edges):
            raise InputError("the message is damaged: it names more edges than there are")
        new = []
        for at in set_of(read.uniform(0, math.comb(len(walk.edges), size)), size):
            v, w, offset = walk.edges[at]
            exponent = read.uniform(0, values) - values // 2
            new.append(Edge(exponent, i, (min(v, w), max(v, w)), v, w, offset, read.uniform(0, n)))
        known = forest(n, [*known, *new])
    knowledge = Knowledge(n, known)
    return [follow(unit, knowledge, n, refuse).selected for unit in units]
