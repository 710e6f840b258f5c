"""The limit of the proof of O(n lg² n): √n abstract processes with at least 2^((1/8 − o(1))·n·lg² n) joint transcripts.

All that the proof of the upper bound uses about A* is that its runs follow from argmin processes
(:mod:`rhostar.theory._processes`) whose offsets are combinations, with small integer coefficients, of polynomially many
numbers. These processes are of that kind.

**Construction.** Let s = 2ᵏ, and let there be G groups of s vertices x_{g,l}, one for each leaf l of the binary tree
of depth k. For each group, a node of the tree at depth h < k has 2^(k−h−1) digits and a leaf has one, each of them
from 0..G−1, so that the G digits at one place of one node, over all groups, are a permutation. ρ of x_{g,l} is the
number in base G whose digits are those on the way from the root to l: s digits. There are s processes, one for each
leaf l. Process l has s stages. In the stage of a digit of the node u above l, O has of each group one *reader* that
shares this digit and all before it with x_{g,l}: the digits of u are read by the leaves below u that are not below
the next node on the way to l, each one once, and the last digit by x_{g,l} itself. The offset of a reader is minus
the number made of the digits of its group that were read before in this process. So the G readers of a stage are
selected in the order of the digits, the digits follow from the history, and the offsets of the next stage are known.
Every vertex is selected once.

**Count.** The s transcripts determine the permutation at each of k·2^(k−1) + 2ᵏ = s(k/2 + 1) places, and all
combinations occur: at least (G!)^(s(k/2 + 1)) joint transcripts on n = G·s vertices. With G ≈ s ≈ √n that is 2^((1/8 −
o(1))·n·lg² n). Other values of ρ may add some. The offsets are combinations, with coefficients below G, of the s
numbers Gˢ⁻¹, ..., G, 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.theory._processes import Number
from rhostar.theory._slacks import Unit

Place: TypeAlias = tuple[int, int, int]
"""Depth of a node, its number among those of that depth, and which of its digits."""


class Reading:
    """The process of one leaf."""

    def __init__(self, leaf: int, depth: int, groups: int) -> None:
        self._size, self._groups = 1 << depth, groups
        self._readers = _readers(leaf, depth)
        self._read = [0] * groups
        """For each group the number made of the digits read so far, from the highest place on."""
        self._stage: list[int] = []
        """The groups selected in this stage."""

    def options(self) -> dict[int, Number]:
        """Return the readers of this stage that are left, with their offsets."""
        if not self._readers:
            return {}
        return {g * self._size + self._readers[0]: -self._read[g] for g in range(self._groups) if g not in self._stage}

    def select(self, v: int) -> None:
        """Note the next group; after the last one, the digits of this stage are known."""
        self._stage.append(v // self._size)
        if len(self._stage) == self._groups:
            worth = self._groups ** (len(self._readers) - 1)
            for digit, g in enumerate(self._stage):
                self._read[g] += digit * worth
            self._stage = []
            del self._readers[0]


def _readers(leaf: int, depth: int) -> list[int]:
    """Return the leaves that read the digits of the nodes above a leaf, in the order of the digits, and the leaf."""
    found: list[int] = []
    for h in range(depth):
        below = 1 << (depth - h - 1)  # leaves below a child of the node
        other = (leaf // below ^ 1) * below
        found += range(other, other + below)
    return [*found, leaf]


@dataclass(frozen=True)
class Barrier:
    """Argmin processes that no code of O(n lg n) bits can distinguish.

    Examples
    --------
    >>> import rhostar as rs
    >>> barrier = rs.theory.barrier(1, 2)
    >>> barrier.n, len(barrier.units), barrier.count
    (4, 2, 8)
    """

    depth: int
    """k: there are 2ᵏ processes."""
    groups: int
    """G."""

    @property
    def n(self) -> int:
        """Number of vertices, G·2ᵏ."""
        return self.groups << self.depth

    @property
    def units(self) -> list[Unit]:
        """The processes, each as a function that begins it."""
        return [partial(Reading, leaf, self.depth, self.groups) for leaf in range(1 << self.depth)]

    @property
    def places(self) -> list[Place]:
        """The places of digits, 2ᵏ(k/2 + 1) of them."""
        inner = [(h, u, j) for h in range(self.depth) for u in range(1 << h) for j in range(1 << (self.depth - h - 1))]
        return [*inner, *((self.depth, leaf, 0) for leaf in range(1 << self.depth))]

    @property
    def count(self) -> int:
        """The number of joint transcripts over the values that choose permutations: G! to the number of places."""
        return math.factorial(self.groups) ** len(self.places)

    def rho(self, digits: Mapping[Place, Sequence[int]]) -> list[int]:
        """Return the values for given digits.

        Parameters
        ----------
        digits
            For each place a permutation of 0..G−1.

        Returns
        -------
        list of int
            ρ, one value for each vertex.

        Raises
        ------
        InputError
            If a place has no permutation.
        """
        for place in self.places:
            if sorted(digits.get(place, ())) != list(range(self.groups)):
                raise InputError(f"digits[{place}] must be a permutation of 0..{self.groups - 1}")
        found = []
        for g in range(self.groups):
            for leaf in range(1 << self.depth):
                value = 0
                for h in range(self.depth + 1):
                    for j in range(1 << (self.depth - h - 1) if h < self.depth else 1):
                        value = value * self.groups + digits[h, leaf >> (self.depth - h), j][g]
                found.append(value)
        return found

    def all_rho(self) -> Iterator[list[int]]:
        """Yield the values for all digits.

        Yields
        ------
        list of int
            ρ, one value for each vertex.
        """
        orders, places = list(itertools.permutations(range(self.groups))), self.places
        for chosen in itertools.product(orders, repeat=len(places)):
            yield self.rho(dict(zip(places, chosen, strict=True)))


def barrier(depth: int, groups: int) -> Barrier:
    """Return abstract argmin processes with at least (G!)^(2ᵏ(k/2 + 1)) joint transcripts on G·2ᵏ vertices.

    They show that a bound below n lg² n on the runs of A* must use that offsets are lengths of paths.

    Parameters
    ----------
    depth
        k, at least 0: there are 2ᵏ processes.
    groups
        G, at least 1.

    Returns
    -------
    Barrier

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> barrier = rs.theory.barrier(2, 2)
    >>> barrier.count
    256
    >>> from rhostar.theory._processes import transcript
    >>> len({tuple(transcript(unit(), rho) for unit in barrier.units) for rho in barrier.all_rho()})
    256
    """
    return Barrier(arrays.integer(depth, "depth", 0), arrays.integer(groups, "groups", 1))
