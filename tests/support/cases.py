"""Random instances that hit every corner of both algorithms, and the comparison with the oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import rhostar as rs
from rhostar.search import reference


def from_triples(n: int, *edges: tuple[int, int, float]) -> tuple[rs.Graph, np.ndarray]:
    """Return a graph and its weights from (tail, head, weight)."""
    tail, head, weight = zip(*edges, strict=True)
    graph = rs.Graph.from_edges(n, tail, head)
    return graph, graph.arrange(np.array(weight, dtype=float))


# The detour 0 -> 1 -> 2 is cheaper than 0 -> 2, but rho makes 2 look better first.
DETOUR = from_triples(4, (0, 1, 1), (0, 2, 3), (1, 2, 1), (2, 3, 3))
ADMISSIBLE = np.array([0.0, 4.0, 0.0, 0.0])  # never overestimates, not consistent


@dataclass
class Case:
    """One instance, one heuristic and the options of one run."""

    graph: rs.Graph
    weights: np.ndarray
    source: int
    goal: int
    rho: np.ndarray
    algorithm: str
    reopen: bool = True
    budget: int | None = None
    lower_bound: np.ndarray | None = None

    @property
    def children(self) -> reference.Children:
        graph = self.graph
        return reference.children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), self.weights.tolist())

    def run(self, **options: Any) -> rs.Run:
        arguments = (self.graph, self.weights, self.source, self.goal, self.rho)
        if self.algorithm == "gbfs":
            return rs.gbfs(*arguments, budget=self.budget, **options)
        return rs.astar(*arguments, reopen=self.reopen, budget=self.budget, lower_bound=self.lower_bound, **options)

    def expected(self) -> reference.Result:
        budget = math.inf if self.budget is None else self.budget
        arguments = (self.children, self.source, self.goal, self.rho.tolist())
        if self.algorithm == "gbfs":
            return reference.gbfs(*arguments, budget)
        lower = None if self.lower_bound is None else self.lower_bound.tolist()
        return reference.astar(*arguments, self.reopen, budget, lower)


def random_case(rng: np.random.Generator, largest: int = 30) -> Case:
    """Draw a case; small graphs, ties, zeros, absent edges and wild heuristics are common."""
    n = int(rng.integers(1, largest + 1))
    if rng.random() < 0.6:
        n = min(n, 10)
    dense = rng.random() < 0.3
    m = int(rng.integers(0, min(n * n, (12 if dense else 5) * n) + 1))
    graph = rs.Graph.from_edges(n, rng.integers(0, n, m), rng.integers(0, n, m))
    source, goal = (int(v) for v in rng.integers(0, n, 2))
    if dense:  # many reopenings: scattered values of rho, the goal late
        weights = rng.integers(0, 12, graph.m).astype(float)
        rho = rng.integers(-15, 15, n).astype(float)
        rho[goal] = rng.integers(0, 40)
    else:
        weights = _weights(rng, graph.m)
        rho = _rho(rng, graph, weights, goal)
    return Case(
        graph,
        weights,
        source,
        goal,
        rho,
        algorithm=str(rng.choice(["gbfs", "astar", "astar"])),
        reopen=bool(rng.random() < 0.5),
        budget=int(rng.integers(0, 2 * n)) if rng.random() < 0.25 else None,
        lower_bound=_lower_bound(rng, graph, weights, goal),
    )


def _weights(rng: np.random.Generator, m: int) -> np.ndarray:
    match rng.integers(6):
        case 0:
            weights = rng.uniform(0, 10, m)
        case 1:
            weights = rng.integers(0, 4, m).astype(float)
        case 2:
            weights = rng.exponential(1, m) * (rng.random(m) < 0.5)
        case 3:
            weights = rng.uniform(0, 10, m).astype(np.float32)
        case 4:
            return rng.integers(0, 6, m).astype(rng.choice([np.int32, np.int64]))
        case _:
            weights = rng.integers(0, 9, m) * np.array(0.1)
    if rng.random() < 0.4:
        weights[rng.random(m) < rng.uniform(0, 0.5)] = np.inf
    if rng.random() < 0.1:
        weights[weights == 0] = -0.0
    return weights


def _rho(rng: np.random.Generator, graph: rs.Graph, weights: np.ndarray, goal: int) -> np.ndarray:
    n = graph.n
    exact = rs.distances_to(graph, weights, goal)
    exact = np.where(np.isfinite(exact), exact, 20.0)
    match rng.integers(8):
        case 0:
            rho = np.zeros(n)
        case 1:
            rho = rng.integers(-3, 4, n).astype(float)
        case 2:
            rho = rng.normal(0, 10, n)
        case 3:
            rho = exact
        case 4:
            rho = exact * rng.uniform(0, 2, n)
        case 5:
            rho = exact * (rng.random(n) < 0.5)  # never overestimates, not consistent
        case 6:
            rho = np.round(exact + rng.normal(0, 3, n))
        case _:
            rho = rng.normal(0, 1, n) * 10.0 ** rng.integers(-8, 9, n)
    if rng.random() < 0.1:
        rho[rho == 0] = rng.choice([0.0, -0.0], np.count_nonzero(rho == 0))
    return rho


def _lower_bound(rng: np.random.Generator, graph: rs.Graph, weights: np.ndarray, goal: int) -> np.ndarray | None:
    exact = rs.distances_to(graph, weights, goal)
    match rng.integers(4):
        case 0:
            return None
        case 1:
            return np.zeros(graph.n)
        case 2:
            return exact
        case _:
            return np.where(np.isfinite(exact), exact * rng.uniform(-0.5, 1, graph.n), exact)


def assert_same(run: rs.Run, expected: reference.Result) -> None:
    """Compare everything a run returns, its trace included, bit for bit."""
    assert run.status == expected.status
    assert run.cost == expected.cost
    assert run.path.tolist() == expected.path
    counts = ("expanded", "generated", "reopened", "peak_open", "bound")
    assert [getattr(run, name) for name in counts] == [getattr(expected, name) for name in counts]
    if run.trace is None:
        return
    states = [(set(s.open), set(s.closed), dict(s.pointer), dict(s.g)) for s in run.trace.states()]
    assert states == [(set(s.open), set(s.closed), s.pointer, s.g) for s in expected.states]


def inconsistency(case: Case, path: list[int]) -> float:
    """Return the sum over the edges of a path, the first left out, of max(rho_v - rho_c - w, 0)."""
    children = case.children
    return sum(max(case.rho[v] - case.rho[c] - dict(children[v])[c], 0.0) for v, c in pairwise(path[1:]))


def binary_counter(k: int) -> tuple[rs.Graph, np.ndarray, int, int, np.ndarray]:
    """Return an instance with its rho on which A* with reopening counts in binary: 2^(k - 1) expansions.

    Vertices k, k - 1, ..., 1 lead down to the goal 0. The edge j -> i saves 2^i in all against going through
    i + 1, so every set of intermediate vertices has a cost of its own, and rho makes A* try the dearest first:
    each vertex is expanded, and expands all below it again, before the one above it is.
    """
    pairs = [(j, i) for j in range(2, k + 1) for i in range(1, j)] + [(1, 0)]
    cost = [2.0**j - 2.0 ** (i + 1) for j, i in pairs[:-1]] + [0.0]
    graph = rs.Graph.from_edges(k + 1, [j for j, _ in pairs], [i for _, i in pairs])
    rho = np.arange(k + 1) * 2.0 ** (k + 2)
    rho[0] = (k + 3) * 2.0 ** (k + 2)
    return graph, graph.arrange(np.array(cost)), k, 0, rho
