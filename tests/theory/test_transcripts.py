"""Closures, records, rebuilt runs and costs, against the reference; ties, zero weights and long runs included."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError
from rhostar.search import reference
from rhostar.theory import _closures as transcripts
from rhostar.theory import _processes as processes
from rhostar.theory._processes import Closure, Number, Problem, Transcript
from support.transcript_cases import Case, counter, random_problem


def endless(problem: Problem, root: int, rho: list[int]) -> list[tuple[int, int]]:
    """B(root): every selection with its g, past the goal, until OPEN is empty."""
    g, open_, found = {root: 0}, {root}, []
    while open_:
        v = min(open_, key=lambda u: (g[u] + rho[u], u))
        open_.remove(v)
        found.append((v, g[v]))
        for c, w in problem.children[v]:
            if g[v] + w < g.get(c, math.inf):
                g[c] = g[v] + w
                open_.add(c)
    return found


class Records:
    """records(z), as an argmin process: the records of B(z) below ρ_z, or all of them for the source.

    `closures` are the transcripts of the other vertices' closures, each without its root.
    """

    def __init__(self, problem: Problem, root: int, closures: Mapping[int, Transcript]) -> None:
        self._problem, self._root, self._closures = problem, root, closures
        self._explored = {root}
        self._g: dict[int, Number] = dict(problem.children[root])
        self._ended = False

    def options(self) -> dict[int, Number]:
        """Return the vertices reached and not explored with their g, and the root at 0 unless it is the source."""
        if self._ended:
            return {}
        found = {v: g for v, g in self._g.items() if v not in self._explored}
        return found if self._root == self._problem.source else {**found, self._root: 0}

    def select(self, y: int) -> None:
        """Let y be a record: what B(y) does below ρ_y happens next."""
        if y == self._root:
            self._ended = True
            return
        low = Closure(self._problem, y)
        for v in self._closures[y]:
            low.select(v)
        for v, a in low.length.items():
            if v != self._root and self._g[y] + a < self._g.get(v, math.inf):
                self._g[v] = self._g[y] + a
        self._explored |= {y, *self._closures[y]}


def check(case: Case) -> reference.Result:
    """Compare all that is rebuilt with the reference's run."""
    problem, rho, expected = case.problem, case.rho, case.run(reopen=True)
    closures = transcripts.closures_of(problem, rho)
    assert list(transcripts.states_of(problem, closures)) == expected.states
    cost = expected.states[-1].g[problem.goal] if expected.status == "solved" else math.inf
    assert transcripts.cost_of(problem, rho) == cost
    closed = case.run(reopen=False)
    popped = processes.transcript(processes.ClosedSearch(problem), rho)
    assert len(popped) == closed.expanded + (closed.status == "solved")
    assert [set(popped[:i]) - {problem.goal} for i in range(len(popped) + 1)][: len(closed.states)] == [
        state.closed for state in closed.states
    ]
    return expected


@pytest.mark.parametrize("seed", range(4))
def test_runs_and_costs_from_closures(seed: int) -> None:
    rng, reopened, ties = random.Random(seed), 0, 0
    for _ in range(1500):
        case = random_problem(rng)
        reopened += check(case).reopened
        ties += len(set(case.rho)) < len(case.rho)
    assert reopened > 100
    assert ties > 500


def test_long_runs() -> None:
    rng, longest = random.Random(1), 0
    for k in range(3, 9):
        for _ in range(12):
            longest = max(longest, check(counter(rng, k)).expanded)
    assert longest > 200


def test_fractions_and_floats_are_exact() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2, 1], [1, 2, 3, 3, 2])
    weights = graph.arrange(np.array([0.1, 0.2, 0.7, 0.5, 0.1]))
    rho = [0, 0.3, Fraction(1, 3), 0]
    cost = rs.theory.cost_by_records(graph, weights, 0, 3, rho)
    children = reference.children_of(4, graph.tail.tolist(), graph.head.tolist(), weights.tolist())
    exact = {u: [(v, Fraction(w)) for v, w in some] for u, some in children.items()}
    run = reference.astar(exact, 0, 3, [Fraction(x) for x in rho])
    assert cost == run.states[-1].g[3]
    assert list(rs.theory.rebuild(graph, weights, 0, 3, rs.theory.closures(graph, weights, 0, 3, rho))) == run.states


# ---------------------------------------------------------------- beyond what a search can do


def martelli(n: int, level: int) -> tuple[rs.Graph, list[int], list[int]]:
    """Martelli's family with integers of any size; the goal is selected once 1..level are done with."""
    instance, _ = rs.theory.martelli(min(n, 40))
    pairs = [(j, i) for j in range(2, n) for i in range(1, j)] + [(1, 0)]
    graph = rs.Graph.from_edges(n, [j for j, _ in pairs], [i for _, i in pairs])
    weight = {(j, i): 2**j - 2 ** (i + 1) for j, i in pairs if i} | {(1, 0): 0}
    weights = [weight[u, v] for u, v in zip(graph.tail.tolist(), graph.head.tolist(), strict=True)]
    if n <= 40:
        assert graph == instance.graph
        assert weights == instance.weights.tolist()
    step = 2 ** (n + 1)
    return graph, weights, [step * level + step // 2, *(step * i for i in range(1, n))]


@pytest.mark.parametrize("n", range(4, 14))
def test_martellis_family_against_the_search(n: int) -> None:
    for level in range(1, n - 1):
        graph, weights, rho = martelli(n, level)
        run = rs.astar(graph, np.array(weights), n - 1, 0, np.array(rho, dtype=float))
        assert run.expanded == 2**level
        assert (
            rs.theory.cost_by_records(graph, weights, n - 1, 0, rho)
            == run.cost
            == 2 ** (n - 1) - 2 ** (level + 1) * (level < n - 2) - 2 ** (n - 1) * (level == n - 2)
        )


@pytest.mark.parametrize(("n", "level"), [(41, 30), (64, 61), (90, 60)])
def test_martellis_family_where_the_search_takes_forever(n: int, level: int) -> None:
    graph, weights, rho = martelli(n, level)
    assert rs.theory.cost_by_records(graph, weights, n - 1, 0, rho) == 2 ** (n - 1) - 2 ** (level + 1)


def test_a_goal_in_the_middle_of_the_count() -> None:
    """A goal with a small ρ is selected inside blocks of blocks; every place along its way, against the search."""
    graph, weights, rho = martelli(9, 1)
    costs = set()
    for rho[0] in range(-200, 3 * 2**10, 7):
        run = rs.astar(graph, np.array(weights), 8, 0, np.array(rho, dtype=float))
        assert rs.theory.cost_by_records(graph, weights, 8, 0, rho) == run.cost
        costs.add(run.cost)
    assert len(costs) > 2


# ---------------------------------------------------------------- the lemmas


def test_a_closure_is_what_the_run_from_its_root_selects_below_it() -> None:
    """Lemma 2: I_y, and the lengths, are those of the low part of B(y)."""
    rng = random.Random(2)
    for _ in range(400):
        case = random_problem(rng)
        problem, rho = case.problem, case.rho
        for y in set(range(problem.n)) - {problem.source, problem.goal}:
            closure = Closure(problem, y)
            popped = processes.transcript(closure, rho)
            low = []
            for v, g in endless(problem, y, rho)[1:]:
                if (g + rho[v], v) > (rho[y], y):
                    break
                low.append((v, g))
            assert popped[-1] == y
            assert set(popped[:-1]) == {v for v, _ in low}
            assert all(closure.length[v] == g for v, g in dict(low).items())


def test_records_and_their_blocks_are_the_closure() -> None:
    """Lemma 3, and the form of a closure's transcript: a record, what is new in its closure, the next record, ..."""
    rng = random.Random(3)
    for _ in range(400):
        case = random_problem(rng)
        problem, rho = case.problem, case.rho
        closures = transcripts.closures_of(problem, rho) | {problem.goal: ()}
        for z in set(range(problem.n)) - {problem.goal}:
            source = z == problem.source
            records = [y for y in processes.transcript(Records(problem, z, closures), rho) if y != z]
            best, seen = (-math.inf, -1), []
            for v, g in endless(problem, z, rho)[1:]:
                if not source and (g + rho[v], v) > (rho[z], z):
                    break
                if (g + rho[v], v) > best:
                    best = (g + rho[v], v)
                    seen.append(v)
            assert records == seen
            blocks: list[int] = []
            for y in records:
                new = {y, *closures[y]} - set(blocks)
                assert closures[z][len(blocks)] == y
                block = closures[z][len(blocks) : len(blocks) + len(new)]
                blocks += block
                if source and problem.goal in block:  # closure(s) ends with the goal, in the middle of a block
                    assert set(block) <= new
                    break
                assert set(block) == new
            assert closures[z] == tuple(blocks)


# ---------------------------------------------------------------- broken twins


def mismatches(change: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of 300 runs are not rebuilt when something is wrong."""
    rng, wrong = random.Random(4), 0
    change(monkeypatch)  # type: ignore[operator]
    for _ in range(300):
        case = random_problem(rng)
        try:
            check(case)
        except (AssertionError, KeyError):
            wrong += 1
    return wrong


def test_ties_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def latest(options: dict[int, int], rho: list[int]) -> int:
        return min(options, key=lambda u: (options[u] + rho[u], -u))

    def broken(process: processes.Process, rho: list[int]):  # type: ignore[no-untyped-def]
        while options := process.options():
            v = latest(options, rho)
            yield v, options[v]
            process.select(v)

    def change(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(processes, "selections", broken)
        patch.setattr(transcripts, "selections", broken)

    assert mismatches(lambda _: None, monkeypatch) == 0
    assert mismatches(change, monkeypatch) > 50


def test_inner_vertices_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths that are not improved inside the closure are not enough."""

    def shallow(self: Closure, v: int) -> None:
        for c, w in self._children[v]:
            if c != self._root and c not in self._inside and self.length[v] + w < self.length.get(c, math.inf):
                self.length[c] = self.length[v] + w

    assert mismatches(lambda patch: patch.setattr(Closure, "_relax", shallow), monkeypatch) > 0


def test_the_root_bars_what_is_above_it() -> None:
    """Closures that go on past their root hold vertices that the run selects later."""
    rng, wrong = random.Random(6), 0
    for _ in range(300):
        case = random_problem(rng)
        problem, closures = case.problem, {}
        for z in set(range(problem.n)) - {problem.goal}:
            free = Problem(problem.children, z, problem.goal)  # the source has no bar
            closures[z] = processes.transcript(Closure(free, z), case.rho)
        wrong += list(transcripts.states_of(problem, closures)) != case.run(reopen=True).states
    assert wrong > 30


def test_one_closure_less_is_too_little() -> None:
    rng, wrong = random.Random(5), 0
    for _ in range(300):
        case = random_problem(rng)
        closures = transcripts.closures_of(case.problem, case.rho)
        closures[rng.choice(sorted(closures))] = ()
        wrong += list(transcripts.states_of(case.problem, closures)) != case.run(reopen=True).states
    assert wrong > 30


def test_bad_arguments() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    with pytest.raises(InputError, match=r"weights\[0\]"):
        rs.theory.cost_by_records(graph, [-1, 2], 0, 2, [0, 0, 0])
    with pytest.raises(InputError, match="rho must have 3"):
        rs.theory.cost_by_records(graph, [1, 2], 0, 2, [0, 0])
    with pytest.raises(InputError, match=r"rho\[1\]"):
        rs.theory.closures(graph, [1, 2], 0, 2, [0, math.nan, 0])
    with pytest.raises(InputError, match="two of 3"):
        rs.theory.closures(graph, [1, 2], 0, 0, [0, 0, 0])
    with pytest.raises(InputError, match="weights must have 2"):
        rs.theory.closures(graph, [1], 0, 2, [0, 0, 0])
    with pytest.raises(InputError, match="1 has none"):
        rs.theory.rebuild(graph, [1, 2], 0, 2, {0: ()})
    assert rs.theory.cost_by_records(graph, [1, math.inf], 0, 2, [0, 0, 0]) == math.inf
