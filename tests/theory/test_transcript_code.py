"""The code of the upper bound: what is decoded is what was encoded, within L and L*, and broken twins fail."""

from __future__ import annotations

import inspect
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import rhostar as rs
from rhostar.bounds import _transcripts as bound
from rhostar.errors import InputError
from rhostar.theory import _channel as channel
from rhostar.theory import _closures as transcripts
from rhostar.theory import _color_code as steps
from rhostar.theory import _color_tree as trees
from rhostar.theory import _processes as processes
from rhostar.theory import _slacks as slacks
from rhostar.theory import _transcript_code as code
from rhostar.theory._color_tree import Key
from rhostar.theory._processes import Problem
from support.transcript_cases import Case, counter, families, some_cases, units_of_cases, wide


def round_trip(cases: list[Case], reopen: bool, orders: int = 6) -> code.Message:
    """Encode, decode, and compare with what A* does on each instance."""
    some, rho = units_of_cases(cases, reopen)
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
        cases = some_cases(rng)
        message = round_trip(cases, reopen)
        n, N = len(cases[0].rho), len(cases)
        assert message.limit == bound.code_length(n, N, (n - 1) * N if reopen else N)
        assert message.bits <= message.limit
        assert message.bits == pytest.approx(math.fsum(message.spent.values()))
        assert message.number < 2 ** (message.bits + 3)
        largest = max(largest, message.bits / message.limit)
    assert largest > 0.2, "the bound would say little if messages were always far shorter"


@pytest.mark.parametrize("seed", range(2))
def test_both_codes_on_abstract_processes_too(seed: int) -> None:
    rng = random.Random(seed)
    for some, rho in families(rng, 60):
        n, truths = len(rho), [processes.transcript(unit(), rho) for unit in some]
        message = code.encode_units(some, n, 1, rho, orders=2)
        assert code.decode_units(some, n, 1, message.number) == truths
        order = rng.sample(range(len(some)), len(some))
        fine = code.encode_shared(some, n, 1, rho, order)
        assert code.decode_units(some, n, 1, fine.number, order) == truths


def test_long_runs() -> None:
    rng = random.Random(9)
    for k in (3, 4, 5, 6):
        case = counter(rng, k)
        message = round_trip([case], reopen=True)
        assert message.bits <= message.limit


def test_what_the_bits_are_for() -> None:
    """In the mean over all orders, each purpose stays within its own part of L, and of L*."""
    rng, seen = random.Random(10), 0
    for some, rho in families(rng, 60):
        n, M = len(rho), len(some)
        truth = steps.truth_of(some, n, rho)
        if not 1 <= len(truth.owners) <= 4:
            continue
        E, lg = bound.exponents(n, 1), math.log2(n)
        H = sum(1 / r for r in range(1, len(truth.owners) + 1))
        spent = {False: dict[str, float](), True: dict[str, float]()}
        every = list(itertools.permutations(truth.owners))
        for order, fine in itertools.product(every, (False, True)):
            out = channel.Writer()
            shared = [*order, *(i for i in range(M) if i not in order)]
            steps.Transfer(out, some, n, code.default_scale(n, 1), truth, fine=fine).run(shared if fine else order)
            for purpose, bits in out.spent.items():
                spent[fine][purpose] = spent[fine].get(purpose, 0) + bits / len(every)
        simple, fine_ = spent[False], spent[True]
        for some_spent in spent.values():
            assert some_spent.get("sides", 0) <= H * math.lgamma(n + 1) / math.log(2) + 1e-9
            assert some_spent["mantissas"] <= (n - 1) * H * lg + 1e-9
        assert simple["owners"] <= lg + len(truth.owners) * math.log2(M) + 1e-9
        assert simple["edges"] <= 2 * lg * len(truth.owners) + 2 * (n - 1) * H * (2 * lg - 1) + 1e-9
        assert simple["exponents"] <= 2 * (n - 1) * H * math.log2(E) + 1e-9
        assert fine_["exponents"] <= H * math.log2(math.comb(2 * E + n - 3, n - 1)) + 1e-9
        assert fine_["owners"] <= lg + max(math.log2(math.comb(M, m)) for m in range(min(n, M + 1))) + 1e-9
        count_and_places = 2 * (n - 1) * H * (2 * lg - 1) + bound.places(n)
        assert fine_["edges"] + fine_.get("places", 0) <= count_and_places + 1e-9
        seen += 1
    assert seen > 20


@pytest.mark.parametrize("reopen", [False, True])
def test_the_mean_over_all_orders_is_within_the_fine_bound(reopen: bool) -> None:
    rng, largest = random.Random(2), 0.0
    for _ in range(12):
        cases = [wide(rng, 5) for _ in range(4)]
        for case in cases:
            case.goal, case.rho, case.source = 4, cases[0].rho, case.source % 4
        some, rho = units_of_cases(cases, reopen)
        owners = steps.truth_of(some, 5, rho).owners
        lengths = []
        for first in itertools.permutations(owners):
            order = [*first, *(i for i in range(len(some)) if i not in first)]
            lengths.append(code.encode_shared(some, 5, 4, rho, order).bits)
        limit = bound.fine_code_length(5, 4, len(some))
        assert sum(lengths) / len(lengths) <= limit
        largest = max(largest, sum(lengths) / len(lengths) / limit)
    assert largest > 0.2


def test_the_shared_order_is_part_of_the_message() -> None:
    rng, wrong, tried = random.Random(3), 0, 0
    for some, rho in families(rng, 60):
        n, order = len(rho), rng.sample(range(len(some)), len(some))
        if len(steps.truth_of(some, n, rho).owners) < 3:
            continue
        number = code.encode_shared(some, n, 1, rho, order).number
        truths = [processes.transcript(unit(), rho) for unit in some]
        try:
            wrong += code.decode_units(some, n, 1, number, order[::-1]) != truths
        except InputError:
            wrong += 1
        tried += 1
    assert tried > 10
    assert wrong > tried / 2


def test_symbols() -> None:
    out, mean = channel.Writer(), Fraction(7, 3)
    put = [(3, 5), (0, 1), (6, 7)]
    for value, among in put:
        out.uniform("a", value, among)
        out.geometric("b", value, mean)
        out.side("c", value > 1, (2, 5))
    read = channel.Reader(out.number())
    for value, among in put:
        assert read.uniform("a", None, among) == value
        assert read.geometric("b", None, mean) == value
        assert read.side("c", None, (2, 5)) == (value > 1)
    spent = sum(math.log2(among) + math.log2(1 + 7 / 3) + value * math.log2(1 + 3 / 7) for value, among in put)
    assert out.bits == pytest.approx(spent + math.log2(7 / 2) + 2 * math.log2(7 / 5))
    assert set(out.spent) == {"a", "b", "c"}
    with pytest.raises(InputError, match="not below"):
        out.uniform("a", 2, 2)
    with pytest.raises(InputError, match="size 0"):
        out.side("c", True, (2, 0))
    for size in (0, 1, 3):
        ranks = range(math.comb(7, size))
        assert [channel.rank_of(channel.set_of(k, size)) for k in ranks] == list(ranks)


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
    """How many sets of runs do not come back, by either code."""
    wrong = 0
    for seed in range(seeds):
        rng = random.Random(seed)
        cases = [wide(rng, 7) for _ in range(15)]
        for case in cases:
            case.goal, case.rho = 6, cases[0].rho
            case.source = case.source if case.source != 6 else 0
        try:
            round_trip(cases, reopen, orders=1)
            some, rho = units_of_cases(cases, reopen)
            order = rng.sample(range(len(some)), len(some))
            number = code.encode_shared(some, 7, 15, rho, order).number
            truths = [processes.transcript(unit(), rho) for unit in some]
            assert code.decode_units(some, 7, 15, number, order) == truths
        except (AssertionError, InputError):
            wrong += 1
    return wrong


def test_the_true_code_does_not_fail() -> None:
    assert failures() == 0


def test_rounding_too_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slacks known to a factor 2 only: estimates are off by more than half of the largest."""
    monkeypatch.setattr(slacks, "middle", lambda exponent, step, n: Fraction(2) ** exponent)
    assert failures() > 5


def test_no_mantissas(monkeypatch: pytest.MonkeyPatch) -> None:
    true = channel.Reader.uniform

    def dropped(self: channel.Reader, purpose: str, value: int | None, among: int) -> int:
        found = true(self, purpose, value, among)
        return 0 if purpose == "mantissas" else found

    monkeypatch.setattr(channel.Reader, "uniform", dropped)
    assert failures() > 0


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
def test_one_owner_less(monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    true = steps.truth_of

    def dropped(units: object, n: int, rho: object) -> steps.Truth:
        found = true(units, n, rho)  # type: ignore[arg-type]
        if len(found.owners) > 1:
            del found.owners[which]
        return found

    monkeypatch.setattr(code, "truth_of", dropped)
    assert failures() > 5


def test_edges_of_the_whole_forest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the edges of the forests that leave out a unit, the decoder's tree is another one."""
    true = steps.Transfer.needed

    def fewer(self: steps.Transfer, i: int) -> list[Key]:
        own = true(self, i)
        kept = set(trees.kruskal(self._n, self._in_order([*self._whole, *own])))
        return [key for key in own if key in kept]

    monkeypatch.setattr(steps.Transfer, "needed", fewer)
    assert failures() > 0


def test_another_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at the smallest λ, not at the largest."""
    space = dict(vars(trees))
    exec(inspect.getsource(trees.color_tree).replace("max(inside)", "min(inside)"), space)
    monkeypatch.setattr(steps, "color_tree", space["color_tree"])
    assert failures() > 0


def test_a_forest_that_is_not_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "kruskal", lambda n, keys: trees.kruskal(n, keys[::-1])[::-1])
    assert failures() > 5


def test_no_tie_rule() -> None:
    """With ρ as it is, scores tie and a slack has no exponent."""
    problem = Problem((((1, 1), (2, 1)), ((3, 1),), ((3, 1),), ()), 0, 3)
    some = code.units_of([problem], reopen=False)
    with pytest.raises(InputError, match="tie"):
        code.encode_units(some, 4, 1, [0, 0, 0, 0])
    message = code.encode_units(some, 4, 1, code.untied([problem], [0, 0, 0, 0]))
    assert code.decode_units(some, 4, 1, message.number) == [(0, 1, 2, 3)]


def test_a_slack_off_the_scale() -> None:
    problem = Problem((((1, 1), (2, 9)), ((3, 1),), ((3, 1),), ()), 0, 3)
    with pytest.raises(InputError, match="not on the scale"):
        code.encode_units(code.units_of([problem], reopen=False), 4, 1, [0, 0, 1, 2], scale=[50])


def test_a_damaged_message() -> None:
    some, rho = units_of_cases([wide(random.Random(3), 7)], reopen=True)
    message = code.encode_units(some, 7, 1, rho)
    truth = code.decode_units(some, 7, 1, message.number)
    assert message.spent["sides"] > 0
    seen, digits = 0, message.number.bit_length() - 1
    for place in range(digits):
        try:
            seen += code.decode_units(some, 7, 1, message.number ^ 1 << place) != truth
        except InputError:
            seen += 1
    assert seen > digits / 2
    with pytest.raises(InputError, match="at least 1"):
        code.decode_units(some, 7, 1, 0)


def test_instances_must_agree() -> None:
    with pytest.raises(InputError, match="empty"):
        rs.theory.encode([0], [])
    small, large = rs.theory.star(5)[0], rs.theory.star(6)[0]
    with pytest.raises(InputError, match=r"instances\[1\] has 6"):
        rs.theory.encode([0] * 5, [small, large])
