"""Random lines on small graphs, and their pieces found by trying every place where anything could change."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

import rhostar as rs
from rhostar.lines._intervals import Interval
from rhostar.lines._pieces import Pieces, pieces
from rhostar.search import reference


@dataclass
class LineCase:
    """One instance and a line through ρ."""

    graph: rs.Graph
    weights: np.ndarray
    source: int
    goal: int
    base: np.ndarray
    direction: np.ndarray
    low: Fraction
    high: Fraction
    algorithm: str
    reopen: bool = True
    budget: int | None = None
    signatures: dict[Fraction, Any] = field(default_factory=dict)

    @property
    def children(self) -> dict[int, list[tuple[int, Fraction]]]:
        children: dict[int, list[tuple[int, Fraction]]] = {v: [] for v in range(self.graph.n)}
        edges = (self.graph.tail.tolist(), self.graph.head.tolist(), self.weights.tolist())
        for u, v, w in zip(*edges, strict=True):
            if w != math.inf:
                children[u].append((v, Fraction(w)))
        return children

    def pieces(self, **options: Any) -> Pieces:
        arguments = (self.graph, self.weights, self.source, self.goal, self.base, self.direction, self.low, self.high)
        chosen = {"algorithm": self.algorithm, "reopen": self.reopen, "budget": self.budget}
        return pieces(*arguments, **chosen, **options)

    def run(self, theta: Fraction) -> reference.Result:
        """Run the paper's pseudo-code with fractions."""
        rho = [Fraction(b) + theta * Fraction(f) for b, f in zip(self.base, self.direction, strict=True)]
        budget = math.inf if self.budget is None else self.budget
        if self.algorithm == "gbfs":
            return reference.gbfs(self.children, self.source, self.goal, rho, budget)
        return reference.astar(self.children, self.source, self.goal, rho, self.reopen, budget)

    def signature(self, theta: Fraction) -> Any:
        """Everything a run shows, in a form that compares."""
        if theta not in self.signatures:
            self.signatures[theta] = signature_of(self.run(theta))
        return self.signatures[theta]

    def candidates(self) -> list[Fraction]:
        """Every value of θ in the range at which two scores can be equal, over all paths."""
        costs: dict[int, set[Fraction]] = {v: set() for v in range(self.graph.n)}
        children = self.children

        def walk(v: int, g: Fraction, seen: frozenset[int]) -> None:
            costs[v].add(g if self.algorithm == "astar" else Fraction(0))
            for c, w in children[v]:
                if c not in seen:
                    walk(c, g + w, seen | {c})

        walk(self.source, Fraction(0), frozenset({self.source}))
        found = {self.low, self.high}
        for u, v in combinations(range(self.graph.n), 2):
            slope = Fraction(self.direction[v]) - Fraction(self.direction[u])
            if slope:
                level = Fraction(self.base[u]) - Fraction(self.base[v])
                found |= {(a - b + level) / slope for a in costs[u] for b in costs[v]}
        return sorted(theta for theta in found if self.low <= theta <= self.high)

    def expected(self) -> list[tuple[Interval, Any]]:
        """The pieces, from runs at every candidate and between each two: consecutive equal runs are one piece."""
        points = self.candidates()
        places = [(points[0], points[0], self.signature(points[0]))]
        for a, b in pairwise(points):
            places += [(a, b, self.signature((a + b) / 2)), (b, b, self.signature(b))]
        groups: list[list[tuple[Fraction, Fraction, Any]]] = []
        for place in places:
            if groups and groups[-1][-1][2] == place[2]:
                groups[-1].append(place)
            else:
                groups.append([place])
        return [(Interval(g[0][0], g[-1][1], g[0][0] == g[0][1], g[-1][0] == g[-1][1]), g[0][2]) for g in groups]


def signature_of(result: reference.Result) -> Any:
    states = [
        (s.open, s.closed, tuple(sorted(s.pointer.items(), key=str)), tuple(sorted(s.g.items()))) for s in result.states
    ]
    counts = (result.expanded, result.generated, result.reopened, result.peak_open)
    return (result.status, float(result.cost), tuple(result.path), counts, tuple(states))


def signature_of_piece(found: Pieces, i: int) -> Any:
    run = found[i].run
    states = [
        (
            frozenset(s.open),
            frozenset(s.closed),
            tuple(sorted(s.pointer.items(), key=str)),
            tuple(sorted(s.g.items())),
        )
        for s in found.trace(i).states()
    ]
    counts = (run.expanded, run.generated, run.reopened, run.peak_open)
    return (str(run.status), run.cost, tuple(run.path.tolist()), counts, tuple(states))


def assert_same(case: LineCase) -> list[tuple[Interval, Any]]:
    """Compare the pieces with those of the oracle: ends, what belongs to them, and all of every run."""
    expected, found = case.expected(), case.pieces()
    assert [piece.interval for piece in found] == [interval for interval, _ in expected]
    assert [signature_of_piece(found, i) for i in range(len(found))] == [signature for _, signature in expected]
    return expected


def random_line(rng: np.random.Generator) -> LineCase:
    """Draw a line; ties, zeros, absent edges, budgets and unreachable goals are common."""
    n = int(rng.integers(4, 7) if rng.random() < 0.9 else rng.integers(2, 4))
    m = int(rng.integers(2 * n, 5 * n))
    # The goal is last and seldom reached at once, or nothing would be left to decide.
    pairs = rng.integers(0, n, (m, 2))
    pairs = pairs[(pairs[:, 1] != n - 1) | (rng.random(m) < 0.3)]
    if rng.random() < 0.95:
        pairs = np.vstack([pairs, [n - 2, n - 1], np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1)])])
    graph = rs.Graph.from_edges(n, pairs[:, 0], pairs[:, 1])
    scale = 2.0 ** -int(rng.integers(0, 3))
    weights = rng.integers(0, 7, graph.m) * scale
    if rng.random() < 0.3:
        weights[rng.random(graph.m) < 0.2] = np.inf
    ends = [Fraction(int(a), int(b)) for a, b in rng.integers([0, 1], [13, 4], (2, 2))]
    if rng.random() < 0.8:
        ends[0] = -ends[0]
    ends.sort()
    ordinary = rng.random() < 0.95
    return LineCase(
        graph,
        weights,
        source=0 if ordinary else int(rng.integers(0, n)),
        goal=n - 1,
        base=rng.integers(-6, 7, n) * scale * (rng.random() < 0.7),
        direction=rng.integers(-3, 4, n) * 2.0 ** -int(rng.integers(0, 3)),
        low=ends[0],
        high=ends[1],
        algorithm=str(rng.choice(["gbfs", "astar", "astar"])),
        reopen=bool(rng.random() < 0.5),
        budget=int(rng.integers(0, n + 2)) if rng.random() < 0.3 else None,
    )


def instances_and_line(rng: np.random.Generator) -> tuple[rs.InstanceSet, np.ndarray, np.ndarray]:
    """Draw a few instances on few vertices, and a line of heuristics."""
    n = int(rng.integers(4, 7))
    pairs = rng.integers(0, n, (3 * n, 2))
    star = np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1)])
    pairs = np.vstack([pairs[pairs[:, 1] != n - 1], [n - 2, n - 1], star])
    graph = rs.Graph.from_edges(n, pairs[:, 0], pairs[:, 1])
    weights = rng.integers(0, 6, (3, graph.m)).astype(float)
    instances = rs.InstanceSet(
        graph, weights, [0, *rng.integers(0, 2, 4)], n - 1, rows=rng.integers(0, 3, 5), infeasible="keep"
    )
    return instances, rng.integers(-3, 4, n).astype(float), rng.integers(-3, 4, n) / 2
