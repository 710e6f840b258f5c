"""The code of the upper bound: what is decoded is what was encoded, within L(N, M) bits, and broken twins fail."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import rhostar as rs
from rhostar.bounds import _transcripts as bound
from rhostar.errors import InputError
from rhostar.theory import _closures as transcripts
from rhostar.theory import _processes as processes
from rhostar.theory import _slacks as slacks
from rhostar.theory import _transcript_code as code
from rhostar.theory._processes import Problem
from support.transcript_cases import Case, counter, random_problem


def wide(rng: random.Random, n: int) -> Case:
    """Weights and values of very different sizes."""
    children = {
        u: [(v, rng.getrandbits(rng.randint(1, 40))) for v in range(n) if v != u and rng.random() < 0.7]
        for u in range(n)
    }
    source, goal = rng.sample(range(n), 2)
    rho = [rng.choice([-1, 1]) * rng.getrandbits(rng.randint(1, 40)) for _ in range(n)]
    return Case(children, source, goal, rho)


def draw(rng: random.Random) -> list[Case]:
    """Some instances on the same vertices, with one goal and one ρ."""
    n, size = rng.randint(2, 8), rng.choice([1, 2, 5, 12])
    make = rng.choice([wide, random_problem])
    cases = [make(rng, n) for _ in range(size)]
    goal, rho = cases[0].goal, cases[0].rho
    for case in cases:
        case.goal, case.rho = goal, rho
        if case.source == goal:
            case.source = (goal + 1) % n
    return cases


def units(cases: list[Case], reopen: bool) -> tuple[list[slacks.Unit], list[processes.Number]]:
    problems = [case.problem for case in cases]
    return code.units_of(problems, reopen), code.untied(problems, cases[0].rho)


def round_trip(cases: list[Case], reopen: bool, orders: int = 6) -> code.Message:
    """Encode, decode, and compare with what A* does on each instance."""
    some, rho = units(cases, reopen)
    n, N = len(rho), len(cases)
    message = code.encode_units(some, n, N, rho, orders=orders)
    found = code.decode_units(some, n, N, message.number)
    for k, case in enumerate(cases):
        expected = case.run(reopen)
        if reopen:
            mine = found[k * (n - 1) : (k + 1) * (n - 1)]
            roots = [z for z in range(n) if z != case.goal]
            closures = {z: tuple(v for v in one if v != z) for z, one in zip(roots, mine, strict=True)}
            states = list(transcripts.states_of(case.problem, closures))
            assert states == expected.states
        else:
            assert [set(found[k][:i]) for i in range(expected.expanded + 1)] == [
                set(state.closed) for state in expected.states[: expected.expanded + 1]
            ]
    return message


@pytest.mark.parametrize("reopen", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_decoded_runs_are_the_runs_within_the_bound(seed: int, reopen: bool) -> None:
    rng, largest = random.Random(seed), 0.0
    for _ in range(40):
        cases = draw(rng)
        message = round_trip(cases, reopen)
        n, N = len(cases[0].rho), len(cases)
        assert message.limit == bound.code_length(n, N, (n - 1) * N if reopen else N)
        assert message.bits <= message.limit
        assert message.bits == pytest.approx(math.fsum(message.spent.values()))
        assert message.number < 2 ** (message.bits + 1e-6)
        largest = max(largest, message.bits / message.limit)
    assert largest > 0.2, "the bound would say little if messages were always far shorter"


def test_long_runs() -> None:
    rng = random.Random(9)
    for k in (3, 4, 5, 6):
        case = counter(rng, k)
        message = round_trip([case], reopen=True)
        assert message.bits <= message.limit


def test_what_the_bits_are_for() -> None:
    """Each purpose stays within its own part of L, summed over the message; pairs are a matching."""
    rng = random.Random(10)
    for _ in range(60):
        cases = draw(rng)
        some, rho = units(cases, reopen=True)
        n, N, M = len(rho), len(cases), len(some)
        message = code.encode_units(some, n, N, rho, orders=12)
        lg = math.log2(n)
        assert len(message.owners) <= n - 1
        assert message.spent["owners"] <= lg + (n - 1) * math.log2(M) + 1e-9
        edges = sum(1 for purpose, *_ in message.symbols if purpose == "mantissas")
        pairs = sum(1 for purpose, *_ in message.symbols if purpose == "matchings") // 2
        assert message.spent["mantissas"] == pytest.approx(edges * lg)
        assert message.spent["exponents"] == pytest.approx(edges * math.log2(bound.exponents(n, N)))
        assert message.spent["edges"] <= (n - 1) * lg + edges * (2 * lg - 1) + 1e-9
        assert message.spent["matchings"] <= 2 * lg * pairs + 1e-9


def paid_pairs(some: list[slacks.Unit], rho: list[processes.Number]) -> tuple[int, int]:
    """Σ_u |pairs of u given the forest of all others|, and the edges of the forest of all."""
    n = len(rho)
    truths = [processes.transcript(unit(), rho) for unit in some]
    edges = [slacks.edges_of(unit, i, truths[i], rho) for i, unit in enumerate(some)]
    total = 0
    for i, unit in enumerate(some):
        others = slacks.forest(n, (e for j, part in enumerate(edges) if j != i for e in part))
        known = slacks.Knowledge(n, others)
        walk = code.follow(unit, known, n, code.paid_choices(unit, truths[i], known, n, lambda *_: None))
        assert walk.selected == truths[i]
        ends = [v for pair in walk.paid for v in pair]
        assert len(ends) == len(set(ends)), "a matching"
        total += len(walk.paid)
    return total, len(slacks.forest(n, (e for part in edges for e in part)))


@pytest.mark.parametrize("seed", range(2))
def test_the_cut_lemma(seed: int) -> None:
    rng, most = random.Random(seed), 0.0
    for _ in range(60):
        some, rho = units(draw(rng), reopen=bool(rng.randint(0, 1)))
        n = len(rho)
        for _ in range(2):
            chosen = rng.sample(some, rng.randint(1, min(len(some), 12)))
            total, forest = paid_pairs(chosen, rho)
            assert total <= n / 2 * math.log2(n) + 1e-9
            assert forest <= n - 1
            most = max(most, total / (n / 2 * math.log2(n)))
    assert most > 0.2


class Pairs:
    """An abstract process that asks for the pairs along one direction of a cube, one after the other."""

    def __init__(self, pairs: list[tuple[int, int]], offsets: list[int]) -> None:
        self._left = list(zip(pairs, offsets, strict=True))

    def options(self) -> dict[int, processes.Number]:
        return {self._left[0][0][0]: 0, self._left[0][0][1]: self._left[0][1]} if self._left else {}

    def select(self, v: int) -> None:
        del self._left[0]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_cut_lemma_is_tight_for_abstract_processes(d: int) -> None:
    """The cube: d units, each with the 2^(d−1) pairs of one direction, at scales far apart: (m/2)·lg m pairs."""
    m, rng = 1 << d, random.Random(d)
    rho: list[processes.Number] = [rng.randrange(1 << 10) for _ in range(m)]
    some: list[slacks.Unit] = []
    for i in range(d):
        pairs = [(v, v | 1 << i) for v in range(m) if not v >> i & 1]
        apart = [1 << (20 + 20 * i + 2 * k) for k in range(len(pairs))]
        offsets = [rho[a] - rho[b] + x for (a, b), x in zip(pairs, apart, strict=True)]
        some.append(lambda pairs=pairs, offsets=offsets: Pairs(pairs, offsets))  # type: ignore[misc]
    assert paid_pairs(some, rho)[0] == m * d // 2


def test_public_names() -> None:
    graph = rs.Graph.from_edges(5, [0, 0, 1, 1, 2, 3, 2], [1, 2, 2, 3, 3, 4, 4])
    rng = np.random.default_rng(0)
    instances = rs.InstanceSet(graph, rng.integers(0, 4, (6, graph.m)) / 4, np.zeros(6, dtype=int), goal=4)
    rho = rng.normal(0, 1, 5).round(3)
    message, closed = (rs.theory.encode(rho, instances, reopen=reopen) for reopen in (True, False))
    assert isinstance(message, rs.theory.Message)
    closures = rs.theory.decode(message.number, instances)
    orders = rs.theory.decode(closed.number, instances, reopen=False)
    for mine, order, (_, weights, source, goal) in zip(closures, orders, instances, strict=True):
        run = rs.astar(graph, weights, source, goal, rho, trace=True)
        states = list(rs.theory.rebuild(graph, weights, source, goal, mine))
        assert [set(state.closed) for state in states] == [set(state.closed) for state in run.trace.states()]
        run = rs.astar(graph, weights, source, goal, rho, reopen=False, trace=True)
        assert order == {source: tuple(run.trace.selected.tolist())}


# ---------------------------------------------------------------- broken twins


def failures(reopen: bool = False, seeds: int = 25) -> int:
    """How many sets of runs do not come back."""
    wrong = 0
    for seed in range(seeds):
        rng = random.Random(seed)
        cases = [wide(rng, 7) for _ in range(15)]
        for case in cases:
            case.goal, case.rho = 6, cases[0].rho
            case.source = case.source if case.source != 6 else 0
        try:
            round_trip(cases, reopen, orders=1)
        except (AssertionError, InputError):
            wrong += 1
    return wrong


def test_the_true_code_does_not_fail() -> None:
    assert failures() == 0


def test_rounding_too_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slacks known to a factor 2 only: estimates are off by more than half of the largest."""
    monkeypatch.setattr(slacks, "middle", lambda exponent, step, n: Fraction(2) ** exponent)
    assert failures() > 5


def test_estimates_trusted_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    def ahead(self: slacks.Knowledge, p: int, q: int, offset: processes.Number) -> bool:
        difference, largest = self._known[p].get(q, (Fraction(0), None))
        return largest is not None and difference + offset < 0

    monkeypatch.setattr(slacks.Knowledge, "ahead", ahead)
    assert failures() > 0


def test_estimates_trusted_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners alone do not determine the rest then."""

    def ahead(self: slacks.Knowledge, p: int, q: int, offset: processes.Number) -> bool:
        difference, largest = self._known[p].get(q, (Fraction(0), None))
        return largest is not None and difference + offset <= -(Fraction(2) ** (largest + 1))

    monkeypatch.setattr(slacks.Knowledge, "ahead", ahead)
    assert failures() > 5


@pytest.mark.parametrize("which", [0, -1])
def test_one_edge_of_the_forest_less(monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    true = slacks.forest

    def dropped(n: int, edges: object) -> list[slacks.Edge]:
        kept = true(n, edges)  # type: ignore[arg-type]
        if len(kept) == n - 1:
            del kept[which]
        return kept

    monkeypatch.setattr(code, "forest", dropped)
    assert failures() > 5


def test_a_spanning_forest_that_is_not_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    true = slacks.forest

    def largest_first(n: int, edges: object) -> list[slacks.Edge]:
        turned = {e._replace(exponent=-e.exponent): e for e in edges}  # type: ignore[attr-defined]
        return [turned[e] for e in true(n, turned)]

    monkeypatch.setattr(code, "forest", largest_first)
    assert failures() > 5


def test_no_tie_rule() -> None:
    """With ρ as it is, scores tie and a slack has no exponent."""
    problem = Problem((((1, 1), (2, 1)), ((3, 1),), ((3, 1),), ()), 0, 3)
    some = code.units_of([problem], reopen=False)
    with pytest.raises(InputError, match="tie"):
        code.encode_units(some, 4, 1, [0, 0, 0, 0])
    message = code.encode_units(some, 4, 1, code.untied([problem], [0, 0, 0, 0]))
    assert code.decode_units(some, 4, 1, message.number) == [(0, 1, 2, 3)]


def test_a_damaged_message() -> None:
    cases = draw(random.Random(3))
    some, rho = units(cases, reopen=True)
    n, N = len(rho), len(cases)
    message = code.encode_units(some, n, N, rho)
    truth = code.decode_units(some, n, N, message.number)
    assert message.spent["matchings"] > 0
    seen = 0
    for change in range(1, 60):
        try:
            seen += code.decode_units(some, n, N, message.number + change) != truth
        except InputError:
            seen += 1
    assert seen > 30
    with pytest.raises(InputError, match="left over"):
        code.decode_units(some, n, N, message.number + (math.prod(among for *_, among in message.symbols)))


def test_instances_must_agree() -> None:
    with pytest.raises(InputError, match="empty"):
        rs.theory.encode([0], [])
    small, large = rs.theory.star(5)[0], rs.theory.star(6)[0]
    with pytest.raises(InputError, match=r"instances\[1\] has 6"):
        rs.theory.encode([0] * 5, [small, large])
