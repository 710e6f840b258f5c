"""Slacks: what the selections of argmin processes show about ρ, stored in a minimum spanning forest.

**Slack.** Let unit u select v while w is in O. The edge (v, w) has T = a_w − a_v and the slack σ = T − (ρ_v − ρ_w) > 0,
by which v was ahead of w. Edges are ordered by (⌊lg σ⌋, unit, pair). K(R) is the minimum spanning forest of all edges
of the units in R. Of its edges the decoder knows T, k = ⌊lg σ⌋ and one of n steps of mantissa, so σ up to 2ᵏ/(2n).

**Candidates.** Along the path from p to q in the forest these add up to an estimate of ρ_p − ρ_q that is off by less
than b/2, b = 2^(largest k on the path): the path has at most n − 1 edges. Where the estimate puts p ahead of q by b/2
or more, p is ahead. Otherwise their scores differ by less than b, so ⌊lg(difference)⌋ is below the largest k on the
path. C is what is left of O when every vertex that is certainly behind another one is removed. The next vertex is
in C.

**Lemma 5.** If u is in R, C has one member at every step of u. For the next vertex v and another member w of C would
have ⌊lg σ_vw⌋ below the largest k on the path from v to w in K(R). But (v, w) is an edge of u, and no edge of the path
between its ends in a minimum spanning forest comes after it in the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from rhostar.errors import InputError
from rhostar.theory._color_tree import kruskal
from rhostar.theory._processes import Number, Process, Transcript

Unit: TypeAlias = Callable[[], Process]
"""Begins an argmin process anew."""


class Edge(NamedTuple):
    """An edge of a unit with what the decoder learns of its slack; edges compare by their place in the order."""

    exponent: int
    unit: int
    pair: tuple[int, int]
    selected: int
    other: int
    offset: Number
    """T: the offset of the other vertex less that of the selected one."""
    step: int
    """Of the mantissa, 0 to n − 1."""


def edges_of(unit: Unit, number: int, truth: Transcript, rho: Sequence[Number]) -> list[Edge]:
    """Return the edges of a unit with their slacks.

    Raises
    ------
    InputError
        If two scores tie.
    """
    n, process, found = len(rho), unit(), []
    for v in truth:
        options = process.options()
        for w in sorted(options):
            if w == v:
                continue
            offset = options[w] - options[v]
            slack = offset - (rho[v] - rho[w])
            if slack <= 0:
                raise InputError(f"the scores of {v} and {w} tie")
            exponent, step = split(slack, n)
            found.append(Edge(exponent, number, (min(v, w), max(v, w)), v, w, offset, step))
        process.select(v)
    return found


def split(slack: Number, n: int) -> tuple[int, int]:
    """Return ⌊lg slack⌋ and which of n steps of the mantissa it is in.

    Examples
    --------
    >>> from rhostar.theory._slacks import split
    >>> split(7, 4)  # 2²·(1 + 3/4)
    (2, 3)
    """
    exact = Fraction(slack)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    return exponent, int((exact / Fraction(2) ** exponent - 1) * n)


def middle(exponent: int, step: int, n: int) -> Fraction:
    """Return the middle of a step: what a slack is taken for.

    Examples
    --------
    >>> from rhostar.theory._slacks import middle
    >>> middle(2, 3, 4)
    Fraction(15, 2)
    """
    return Fraction(2) ** exponent * (1 + Fraction(2 * step + 1, 2 * n))


def forest(n: int, edges: Iterable[Edge]) -> list[Edge]:
    """Return the minimum spanning forest (Kruskal)."""
    return kruskal(n, sorted(edges, key=lambda edge: edge[:3]), lambda edge: edge.pair)


class Knowledge:
    """What a forest implies for differences ρ_p − ρ_q."""

    def __init__(self, n: int, edges: Iterable[Edge]) -> None:
        near: list[list[tuple[int, Fraction, int]]] = [[] for _ in range(n)]
        for edge in edges:
            difference = edge.offset - middle(edge.exponent, edge.step, n)
            near[edge.selected].append((edge.other, difference, edge.exponent))
            near[edge.other].append((edge.selected, -difference, edge.exponent))
        self._known: list[dict[int, tuple[Fraction, int | None]]] = []
        for p in range(n):
            found: dict[int, tuple[Fraction, int | None]] = {p: (Fraction(0), None)}
            stack = [p]
            while stack:
                u = stack.pop()
                total, largest = found[u]
                for v, difference, k in near[u]:
                    if v not in found:
                        found[v] = (total + difference, k if largest is None else max(largest, k))
                        stack.append(v)
            self._known.append(found)

    def ahead(self, p: int, q: int, offset: Number) -> bool:
        """Return whether p is surely ahead of q, where `offset` is a_p − a_q."""
        difference, largest = self._known[p].get(q, (Fraction(0), None))
        return largest is not None and difference + offset <= -(Fraction(2) ** (largest - 1))

    def candidates(self, options: Mapping[int, Number]) -> list[int]:
        """Return C: the members of O that no other one is surely ahead of."""
        return [
            p for p in sorted(options) if not any(self.ahead(q, p, options[q] - options[p]) for q in options if q != p)
        ]
