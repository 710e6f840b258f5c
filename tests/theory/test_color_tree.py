"""The color tree: each lemma of the proof against definitions that use no forest, and broken twins."""

from __future__ import annotations

import inspect
import itertools
import math
import random
from fractions import Fraction

import pytest

import rhostar as rs
from rhostar.theory import _color_tree as trees
from rhostar.theory import _processes as processes
from rhostar.theory import _slacks as slacks
from rhostar.theory import _transcript_code as code
from rhostar.theory._color_tree import Key, Node
from rhostar.theory._slacks import Edge, Unit
from support.transcript_cases import families

Pair = tuple[int, int]


def bottleneck(n: int, edges: list[Edge], x: Pair) -> tuple[object, ...]:
    """The least possible last edge of a path between two vertices, by adding edges until they are connected."""
    part = list(range(n))
    for edge in sorted(edges, key=lambda e: e[:3]):
        a, b = part[edge.pair[0]], part[edge.pair[1]]
        part = [a if p == b else p for p in part]
        if part[x[0]] == part[x[1]]:
            return (0, *edge[:3])
    return (1,)


class Family:
    """Some units with all their edges."""

    def __init__(self, units: list[Unit], rho: list[processes.Number]) -> None:
        self.units, self.rho, self.n = units, rho, len(rho)
        self.truths = [processes.transcript(unit(), rho) for unit in units]
        self.edges = [slacks.edges_of(unit, i, self.truths[i], rho) for i, unit in enumerate(units)]

    def forest(self, members: list[int]) -> list[Edge]:
        return slacks.forest(self.n, (e for i in members for e in self.edges[i]))

    def colors(self, members: list[int]) -> dict[Pair, tuple[int, object]]:
        """Color and λ of every colored pair, from the definition."""
        found: dict[Pair, tuple[int, object]] = {}
        for x in itertools.combinations(range(self.n), 2):
            last = {i: bottleneck(self.n, [e for j in members if j != i for e in self.edges[j]], x) for i in members}
            for i in members:
                others = [last[j] for j in members if j != i]
                if all(last[i] > other for other in others):
                    found[x] = i, max(others, default=())
        return found

    def tree(self, members: list[int]) -> Node:
        without = {i: [(e.unit, e.pair) for e in self.forest([j for j in members if j != i])] for i in members}
        every = sorted((e for i in members for e in self.edges[i]), key=lambda e: e[:3])
        return trees.color_tree(self.n, without, {(e.unit, e.pair): at for at, e in enumerate(every)})


def check_lemmas(family: Family, members: list[int]) -> dict[str, int]:
    """Assert the lemma on one asker, its cost, and the numbers of edges, for one set of units."""
    n, seen = family.n, {"choices": 0, "crossing": 0, "asked": 0}
    colors, tree = family.colors(members), family.tree(members)
    for node in tree.nodes():
        inside = {x: colors[x] for x in itertools.combinations(sorted(node.vertices), 2) if x in colors}
        if node.parts is None:
            assert not inside, "a leaf has no colored pair"
            continue
        first, last = (part.vertices for part in node.parts)
        assert first | last == node.vertices
        assert first
        assert last
        for x, (color, _) in inside.items():
            if (x[0] in first) != (x[1] in first):
                assert color == node.color, "only one unit may ask here"
                seen["crossing"] += 1
    total = 0.0
    for i in members:
        known = slacks.Knowledge(n, family.forest([j for j in members if j != i]))
        process, answers = family.units[i](), dict[frozenset[int], list[int]]()
        for v in family.truths[i]:
            open_to, node = set(known.candidates(process.options())), tree
            assert v in open_to
            for w in open_to - {v}:
                assert colors[min(v, w), max(v, w)][0] == i, "the pair has the color of the unit"
                seen["choices"] += 1
            while len(open_to) > 1:
                assert node.parts is not None
                side = v in node.parts[1].vertices
                if open_to - node.parts[side].vertices:
                    answers.setdefault(node.vertices, [0, 0])[side] += 1
                    assert node.color == i
                    seen["asked"] += 1
                node = node.parts[side]
                open_to &= node.vertices
            process.select(v)
        for node in tree.nodes():
            if node.vertices in answers and node.parts is not None:
                a, b = answers[node.vertices]
                s, t = (len(part.vertices) for part in node.parts)
                share = Fraction(math.perm(s, a) * math.perm(t, b), math.perm(s + t, a + b))
                assert share * math.comb(s + t, s) >= 1, "what the answers cost at this node"
                total -= math.log2(share)
    assert total <= math.lgamma(n + 1) / math.log(2) + 1e-9
    whole = {(e.unit, e.pair) for e in family.forest(members)}
    needed: dict[int, set[Key]] = {i: {key for key in whole if key[0] == i} for i in members}
    for j in members:
        for e in family.forest([i for i in members if i != j]):
            needed[e.unit].add((e.unit, e.pair))
    assert len(whole) <= n - 1
    assert sum(len(keys - whole) for keys in needed.values()) <= n - 1
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_each_node_is_asked_by_one_unit(seed: int) -> None:
    rng, total = random.Random(seed), dict.fromkeys(("choices", "crossing", "asked"), 0)
    for units, rho in families(rng, 40):
        family = Family(units, rho)
        members = rng.sample(range(len(units)), min(len(units), rng.randint(1, 6)))
        for key, count in check_lemmas(family, members).items():
            total[key] += count
    assert total["choices"] > 100
    assert total["asked"] > 50
    assert total["crossing"] > 300


class Pairs:
    """An abstract process that compares given pairs, one after the other; the first of each is ahead."""

    def __init__(self, pairs: list[tuple[int, int]], offsets: list[int]) -> None:
        self._left = list(zip(pairs, offsets, strict=True))

    def options(self) -> dict[int, processes.Number]:
        return {self._left[0][0][0]: 0, self._left[0][0][1]: self._left[0][1]} if self._left else {}

    def select(self, v: int) -> None:
        del self._left[0]


def of_pairs(n: int, *compared: list[tuple[int, int, int]]) -> Family:
    """Units that compare pairs with given slacks, under ρ = 0."""
    units: list[Unit] = []
    for some in compared:
        pairs, apart = [(v, w) for v, w, _ in some], [slack for *_, slack in some]
        units.append(lambda pairs=pairs, apart=apart: Pairs(pairs, apart))  # type: ignore[misc]
    return Family(units, [0] * n)


TIED = ([(3, 2, 1), (2, 0, 64)], [(3, 1, 2)], [(4, 3, 4), (1, 0, 8)])
"""Two pairs of different colors with the same, largest λ: the edge (2, 0)."""


def test_pairs_with_the_same_largest_lambda() -> None:
    family = of_pairs(5, *TIED)
    colors = family.colors([0, 1, 2])
    assert colors[0, 2][0] == 0
    assert colors[0, 4][0] == 2
    assert colors[0, 2][1] == colors[0, 4][1] == max(some[1] for some in colors.values())  # type: ignore[type-var]
    check_lemmas(family, [0, 1, 2])


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_cube_costs_all_that_it_may_in_matchings(d: int) -> None:
    """d units, each with the 2^(d−1) pairs of one direction of a cube: each of them asks at all its pairs."""
    family = of_pairs(1 << d, *([(v, v | 1 << i, 1) for v in range(1 << d) if not v >> i & 1] for i in range(d)))
    assert check_lemmas(family, list(range(d)))["asked"] >= d << d - 1


def broken(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> int:
    """Count the families on which the lemmas fail with one expression of the tree changed."""
    source = inspect.getsource(trees.color_tree)
    assert source.count(old) == 1
    space = dict(vars(trees))
    exec(source.replace(old, new), space)
    monkeypatch.setattr(trees, "color_tree", space["color_tree"])
    wrong, rng = 0, random.Random(7)
    for family in [of_pairs(5, *TIED), *(Family(*some) for some in families(rng, 60))]:
        try:
            check_lemmas(family, list(range(min(len(family.units), 5))))
        except (AssertionError, RecursionError):
            wrong += 1
    return wrong


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max(inside)", "min(inside)"),  # the smallest λ first
        ("<= largest", "< largest"),
        ("last[color][min", "last[next(iter(last))][min"),  # the forest without another unit
        ("if last[i][x] > second:", "if True:"),  # a color for every pair
        ("if j != i), default=-1)", "), default=-1)"),  # no color at all
    ],
)
def test_broken_trees_are_noticed(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    assert broken(monkeypatch, old, new) > 0


# ---------------------------------------------------------------- the barrier


@pytest.mark.parametrize(("depth", "groups", "count"), [(0, 3, 6), (1, 2, 8), (1, 3, 216), (2, 2, 256)])
def test_all_joint_transcripts_of_the_barrier_occur(depth: int, groups: int, count: int) -> None:
    found = rs.theory.barrier(depth, groups)
    assert found.count == count
    joint = {tuple(processes.transcript(unit(), rho) for unit in found.units) for rho in found.all_rho()}
    assert len(joint) == count
    assert all(sorted(one) == list(range(found.n)) for some in joint for one in some), "every vertex is selected once"


@pytest.mark.parametrize(("depth", "groups"), [(2, 4), (3, 2), (3, 3)])
def test_larger_barriers_by_samples(depth: int, groups: int) -> None:
    """Different digits have different transcripts, and the digits can be read off: the same count, by another way."""
    found, rng = rs.theory.barrier(depth, groups), random.Random(depth)
    seen = set()
    for _ in range(60):
        digits = {place: rng.sample(range(groups), groups) for place in found.places}
        rho = found.rho(digits)
        seen.add(tuple(processes.transcript(unit(), rho) for unit in found.units))
    assert len(seen) == 60


def test_the_offsets_of_the_barrier_are_small_combinations() -> None:
    found, rng = rs.theory.barrier(2, 3), random.Random(0)
    rho = found.rho({place: rng.sample(range(3), 3) for place in found.places})
    for unit in found.units:
        process = unit()
        while options := process.options():
            assert all(0 <= -a < 3 ** (1 << 2) for a in options.values()), "four digits in base 3"
            process.select(min(options, key=lambda v: options[v] + rho[v]))


def test_the_barrier_by_the_code() -> None:
    """The code tells them apart, and the largest families take at least as many bits as there are transcripts."""
    found, lengths = rs.theory.barrier(1, 3), []
    for rho in itertools.islice(found.all_rho(), 0, None, 9):
        message = code.encode_units(found.units, found.n, 1, rho, orders=2)
        truths = [processes.transcript(unit(), rho) for unit in found.units]
        assert code.decode_units(found.units, found.n, 1, message.number) == truths
        lengths.append(message.bits)
    assert max(lengths) >= math.log2(found.count)


def test_the_order_of_the_barrier() -> None:
    """lg count / (n·lg² n) rises towards 1/8."""
    ratios = []
    for k in (4, 8, 16, 32):
        s = 2**k
        ratios.append(s * (k / 2 + 1) * math.lgamma(s + 1) / math.log(2) / (s * s * (2 * k) ** 2))
    assert all(0.1 < ratio < 0.25 for ratio in ratios)
    assert abs(ratios[-1] - 1 / 8) < 0.01


def test_bad_arguments() -> None:
    with pytest.raises(rs.errors.InputError, match="depth"):
        rs.theory.barrier(-1, 2)
    with pytest.raises(rs.errors.InputError, match=r"digits\[\(0, 0, 0\)\]"):
        rs.theory.barrier(1, 2).rho({})
