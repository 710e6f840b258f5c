"""The color tree: how the choices of many argmin processes are sent so that each question has one asker.

Let R be a set of units (argmin processes, :mod:`rhostar.theory._slacks`) and K_i the minimum spanning forest of the
edges of all units in R but i. For a pair x of vertices let b_i(x) be the last edge, in the order of edges, on the
path between them in K_i, or ∞ where there is none. **x has color i** if b_i(x) > b_j(x) for all other j in R. Then
λ(x) is the largest of the b_j(x), j ≠ i, or −∞ if there is no j.

**Lemma (one asker).** (a) If i in R selects v while w is another candidate with respect to K_i, then {v, w} has color
i. (b) Let S be a set of vertices and x₀ a pair in S, of color i₀, with the largest λ(x₀) of all colored pairs in S.
Let S₁ be the part of S that edges of K_{i₀} up to λ(x₀) connect with one end of x₀. The other end is not in S₁, and
every colored pair with one end in S₁ and the other in S∖S₁ has color i₀.

*Proof.* (a) The pair is an edge e of i with an exponent below the largest one on the path between v and w in K_i, so
e < b_i. For j ≠ i, e is among the edges whose forest is K_j, so b_j ≤ e. (b) b_{i₀}(x₀) > λ(x₀) separates the ends of
x₀. A pair x in S of another color has b_{i₀}(x) ≤ λ(x) ≤ λ(x₀), so its ends are both in S₁ or both outside. ∎

**Tree.** The root is the set of all vertices; a set S with a colored pair is cut into S₁ and S∖S₁ as in (b); a set
without one is a leaf. In each step of i, go down from the root with the candidates C: where they are on both sides of
a node, the side of the vertex selected is sent, and the others are struck out. By the lemma only nodes of color i are
asked, and at a leaf one candidate is left. Each answer "S₁" belongs to another vertex of S₁, so sent with
probabilities in proportion to what is left on either side, all answers of i at S take at most lg C(|S|, |S₁|) bits.
Over all nodes, and so over all i in R, that adds up to at most lg n!.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

Key: TypeAlias = tuple[int, tuple[int, int]]
"""An edge by its unit and its pair, the smaller vertex first."""
E = TypeVar("E")
NO_PATH = 1 << 60
"""The place of ∞ in the order of edges."""


@dataclass(frozen=True)
class Node:
    """A set of vertices of the tree."""

    vertices: frozenset[int]
    color: int | None = None
    """The unit that may ask here; None at a leaf."""
    parts: tuple[Node, Node] | None = None

    def nodes(self) -> list[Node]:
        """Return this node and all below it."""
        return [self] + ([node for part in self.parts for node in part.nodes()] if self.parts else [])


def kruskal(n: int, edges: Sequence[E], pair: Callable[[Any], tuple[int, int]] = itemgetter(1)) -> list[E]:
    """Return the minimum spanning forest of edges that are given in their order."""
    root = list(range(n))

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = v = root[root[v]]
        return v

    kept = []
    for edge in edges:
        a, b = map(find, pair(edge))
        if a != b:
            root[a] = b
            kept.append(edge)
    return kept


def last_edges(n: int, forest: Sequence[Key], place: Mapping[Key, int]) -> dict[tuple[int, int], int]:
    """Return the place of the last edge on the path between any two vertices of a forest, given in order."""
    found = dict.fromkeys(combinations(range(n), 2), NO_PATH)
    part = [{v} for v in range(n)]
    for key in forest:
        a, b = (part[v] for v in key[1])
        for v in a:
            for w in b:
                found[min(v, w), max(v, w)] = place[key]
        a |= b
        for v in b:
            part[v] = a
    return found


def color_tree(n: int, without: Mapping[int, Sequence[Key]], place: Mapping[Key, int]) -> Node:
    """Return the tree of some units: `without[i]` is K_i, in order, and `place` the order of all edges."""
    last = {i: last_edges(n, forest, place) for i, forest in without.items()}
    colored: dict[tuple[int, int], tuple[int, int]] = {}  # the pair: λ and color
    for x in combinations(range(n), 2):
        i = max(last, key=lambda j: last[j][x])
        second = max((last[j][x] for j in last if j != i), default=-1)
        if last[i][x] > second:
            colored[x] = second, i

    def cut(vertices: frozenset[int]) -> Node:
        inside = [(*colored[x], x) for x in combinations(sorted(vertices), 2) if x in colored]
        if not inside:
            return Node(vertices)
        largest, color, (v, _) = max(inside)
        first = frozenset(u for u in vertices if u == v or last[color][min(u, v), max(u, v)] <= largest)
        return Node(vertices, color, (cut(first), cut(vertices - first)))

    return cut(frozenset(range(n)))
