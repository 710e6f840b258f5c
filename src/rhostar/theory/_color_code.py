"""How argmin processes are sent along the color tree: one procedure for encoder and decoder.

What is sent, and why it is enough: :mod:`rhostar.theory._transcript_code`. The procedure takes the same steps on both
sides. The encoder runs it with the truth and a writer, the decoder without the truth and with a reader
(:mod:`rhostar.theory._channel`). So the decoder sees the rules of the units and the message, and no ρ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from rhostar.errors import InputError
from rhostar.theory._channel import Reader, Writer, put_multiset, rank_of, set_of
from rhostar.theory._color_tree import Key, Node, color_tree, kruskal
from rhostar.theory._processes import Number, Transcript, transcript
from rhostar.theory._slacks import Edge, Knowledge, Unit, edges_of, forest

# ---------------------------------------------------------------- one unit


def follow(
    unit: Unit,
    number: int,
    known: Knowledge,
    tree: Node | None = None,
    io: Writer | Reader | None = None,
    truth: Transcript | None = None,
) -> tuple[Transcript, dict[tuple[int, int], tuple[int, int, Number]]]:
    """Follow a unit to its end; where C has several members, transfer sides of the tree.

    Returns the vertices selected, and for each pair that was in O together the one selected, the other one, and T.

    Raises
    ------
    InputError
        If a choice is left open that the tree does not settle: what was sent cannot be.
    """
    process, selected, edges = unit(), list[int](), dict[tuple[int, int], tuple[int, int, Number]]()
    left: dict[frozenset[int], list[int]] = {}
    while options := process.options():
        open_to, node = known.candidates(options), tree
        told = None if truth is None else truth[len(selected)]
        if told is not None and told not in open_to:
            raise InputError(f"the estimates rule out vertex {told}, which comes next")
        while len(open_to) > 1:
            if io is None or node is None or node.parts is None:
                raise InputError(f"the message is damaged: the next vertex of a unit may be any of {open_to}")
            first, last = (part.vertices for part in node.parts)
            second = first.isdisjoint(open_to)
            if not second and not last.isdisjoint(open_to):
                if node.color != number:
                    raise InputError(f"the message is damaged: unit {number} asks at a node of unit {node.color}")
                sizes = left.setdefault(node.vertices, [len(first), len(last)])
                second = io.side("sides", None if told is None else told in last, (sizes[0], sizes[1]))
                sizes[second] -= 1
                open_to = [p for p in open_to if p in (last if second else first)]
            node = node.parts[second]
        if not open_to:
            raise InputError("the message is damaged: no vertex can come next")
        v = open_to[0]
        edges |= {(min(v, w), max(v, w)): (v, w, a - options[v]) for w, a in options.items() if w != v}
        selected.append(v)
        process.select(v)
    return tuple(selected), edges


# ---------------------------------------------------------------- all units


@dataclass(frozen=True)
class Truth:
    """What the encoder knows and the decoder does not."""

    transcripts: list[Transcript]
    edges: list[dict[Key, Edge]]
    """For each unit, its edges with their slacks."""
    owners: list[int]


def truth_of(units: Sequence[Unit], n: int, rho: Sequence[Number]) -> Truth:
    """Run all units under ρ. No scores may tie."""
    transcripts = [transcript(unit(), rho) for unit in units]
    edges = [edges_of(unit, i, one, rho) for i, (unit, one) in enumerate(zip(units, transcripts, strict=True))]
    owners = {edge.unit for edge in forest(n, (edge for some in edges for edge in some))}
    return Truth(transcripts, [{(e.unit, e.pair): e for e in some} for some in edges], sorted(owners))


class Transfer:
    """Encoder and decoder: both take the same steps, one with the truth and a writer, the other with a reader."""

    def __init__(
        self,
        io: Writer | Reader,
        units: Sequence[Unit],
        n: int,
        scale: Sequence[int],
        truth: Truth | None,
        *,
        fine: bool,
    ) -> None:
        self._io, self._units, self._n, self._truth, self._fine = io, units, n, truth, fine
        self._scale, self._index = scale, {k: at for at, k in enumerate(scale)}
        self._pairs = list(combinations(range(n), 2))
        # Known to both sides:
        self._line: list[Key] = []
        """The edges of all forests, in their order."""
        self._whole: list[Key] = []
        """K(R), in order."""
        self._without: dict[int, list[Key]] = {}
        """K(R without j) for the j in R, in order."""
        self._exponent: dict[Key, int] = {}
        """Places in the scale: of the edges of K(R), and in the simple code of all."""
        self._facts: dict[Key, Edge] = {}
        """What is known of the edges of K(R)."""

    def run(self, order: Sequence[int]) -> list[Transcript]:
        """Transfer all units. The order is that of the owners (simple, encoder), or of all units (fine)."""
        for r, i in enumerate(self._owners(order), 1):
            self._send(i, r)
        known = Knowledge(self._n, (self._facts[key] for key in self._whole))
        return [follow(unit, i, known)[0] for i, unit in enumerate(self._units)]

    def _owners(self, order: Sequence[int]) -> list[int]:
        owners, total = None if self._truth is None else self._truth.owners, len(self._units)
        count = self._io.uniform("owners", None if owners is None else len(owners), self._n)
        if self._fine:
            rank = None if owners is None else rank_of(owners)
            chosen = set(set_of(self._io.uniform("owners", rank, math.comb(total, count)), count))
            return [i for i in order if i in chosen]
        sent: Sequence[int | None] = [None] * count if owners is None else order
        return [self._io.uniform("owners", i, total) for i in sent]

    def _send(self, i: int, r: int) -> None:
        """Transfer the r-th owner: edges, exponents, mantissas, choices."""
        io, true = self._io, None if self._truth is None else self._truth.edges[i]
        known = Knowledge(self._n, (self._facts[key] for key in self._whole))
        before = self._whole
        new = self._send_edges(i, r, None if true is None else self.needed(i))
        kept = self._update(i, new)
        if self._fine:
            self._send_exponents(before, kept, true)
        steps = [io.uniform("mantissas", None if true is None else true[key].step, self._n) for key in kept]
        tree = color_tree(self._n, self._without, {key: at for at, key in enumerate(self._line)})
        told = None if self._truth is None else self._truth.transcripts[i]
        _, edges = follow(self._units[i], i, known, tree, io, told)
        for key, step in zip(kept, steps, strict=True):
            if key[1] not in edges:
                raise InputError(f"the message is damaged: unit {i} never compares {key[1][0]} with {key[1][1]}")
            self._facts[key] = Edge(self._scale[self._exponent[key]], i, key[1], *edges[key[1]], step)

    def needed(self, i: int) -> list[Key]:
        """Return, in order, the edges of i in K(R ∪ i) and in K(R ∪ i without j) for the j in R. Encoder only."""
        own = self._in_order(self._truth.edges[i])  # type: ignore[union-attr]
        found: set[Key] = set()
        for base in (self._whole, *self._without.values()):
            found.update(kruskal(self._n, self._in_order([*base, *own])))
        return [key for key in own if key in found]

    def _in_order(self, keys: Iterable[Key]) -> list[Key]:
        edges = self._truth.edges  # type: ignore[union-attr]
        return sorted(keys, key=lambda key: edges[key[0]][key][:3])

    def _send_edges(self, i: int, r: int, own: list[Key] | None) -> list[Key]:
        """Transfer edges of i, put them into the line, and return them."""
        io, told = self._io, None if own is None else len(own)
        pair_of = {pair: at for at, pair in enumerate(self._pairs)}
        if self._fine:
            size = io.geometric("edges", told, Fraction(2 * (self._n - 1), r))
        else:
            size = io.uniform("edges", told, 2 * self._n - 1)
        names = [None if own is None else pair_of[own[k][1]] for k in range(size)]
        new: list[Key] = [(i, self._pairs[io.uniform("edges", name, len(self._pairs))]) for name in names]
        if len(set(new)) < len(new):
            raise InputError(f"the message is damaged: it names an edge of unit {i} twice")
        if self._fine:
            places = None
            if own is not None:
                merged = self._in_order([*self._line, *own])
                places = [merged.index(key) - k for k, key in enumerate(own)]
            for k, place in enumerate(put_multiset(io, "places", places, size, len(self._line) + 1)):
                self._line.insert(place + k, new[k])
        else:
            for key in new:
                index = None if own is None else self._index_of(key)
                self._exponent[key] = io.uniform("exponents", index, len(self._scale))
            self._line = sorted([*self._line, *new], key=lambda key: (self._exponent[key], *key))
        return new

    def _index_of(self, key: Key) -> int:
        exponent = self._truth.edges[key[0]][key].exponent  # type: ignore[union-attr]
        if exponent not in self._index:
            raise InputError(f"the exponent {exponent} of a slack is not on the scale")
        return self._index[exponent]

    def _update(self, i: int, new: list[Key]) -> list[Key]:
        """Bring all forests up to date with the edges of i; return those of i in K(R ∪ i), in order."""

        def with_new(base: list[Key]) -> list[Key]:
            among = {*base, *new}
            return kruskal(self._n, [key for key in self._line if key in among])

        before = self._whole
        self._whole = with_new(before)
        self._without = {j: with_new(base) for j, base in self._without.items()} | {i: before}
        alive = {key for some in (self._whole, *self._without.values()) for key in some}
        self._line = [key for key in self._line if key in alive]
        return [key for key in self._whole if key[0] == i]

    def _send_exponents(self, before: list[Key], kept: list[Key], true: dict[Key, Edge] | None) -> None:
        """Transfer the exponents of new edges of K: they are between those of their neighbors in the old K."""
        place = {key: at for at, key in enumerate(self._line)}
        walls = [(-1, 0), *((place[key], self._exponent[key]) for key in before), (len(place), len(self._scale) - 1)]
        for (left, low), (right, high) in pairwise(walls):
            block = [key for key in kept if left < place[key] < right]
            told = None if true is None else [self._index_of(key) - low for key in block]
            found = put_multiset(self._io, "exponents", told, len(block), high - low + 1) if block else []
            self._exponent |= {key: low + x for key, x in zip(block, found, strict=True)}
