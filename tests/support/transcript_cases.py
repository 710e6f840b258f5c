"""Instances in exact integers for the tests of transcripts: ties, zero weights, many reopenings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from rhostar.search import reference
from rhostar.theory import _transcript_code as code
from rhostar.theory._processes import Number, Problem
from rhostar.theory._slacks import Unit


@dataclass
class Case:
    """An instance with every edge it was drawn with, and ρ."""

    children: dict[int, list[tuple[int, int]]]
    source: int
    goal: int
    rho: list[int]

    @property
    def problem(self) -> Problem:
        """The instance without the edges into the source and out of the goal, which no run reads."""
        kept = [
            tuple((v, w) for v, w in some if v != self.source and u != self.goal) for u, some in self.children.items()
        ]
        return Problem(tuple(kept), self.source, self.goal)

    def run(self, reopen: bool) -> reference.Result:
        return reference.astar(self.children, self.source, self.goal, self.rho, reopen)


def random_problem(rng: random.Random, n: int | None = None) -> Case:
    """Draw a small instance, with or without a path to the goal."""
    n = n or rng.randint(2, 9)
    largest, density = rng.choice([1, 2, 5, 20, 200]), rng.choice([0.3, 0.6, 0.9, 1])
    children = {
        u: [(v, rng.choice([0, rng.randint(0, largest)])) for v in range(n) if v != u and rng.random() < density]
        for u in range(n)
    }
    source, goal = rng.sample(range(n), 2)
    spread = rng.choice([1, 3, largest, 3 * largest])
    rho = [rng.randint(-spread, spread) for _ in range(n)]
    if rng.random() < 0.4:
        rho[goal] = spread + 5 * largest  # late
    return Case(children, source, goal, rho)


def counter(rng: random.Random, k: int) -> Case:
    """Martelli's counter on vertices 1..k with noise, some extra vertices and edges: long runs with reopening."""
    n = k + rng.randint(2, 4)
    source, goal, unit = 0, n - 1, rng.choice([1, 7, 100])
    edges: dict[int, dict[int, int]] = {u: {} for u in range(n)}
    for i in range(1, k + 1):
        edges[0][i] = unit * (2**k - 2**i) + rng.randint(0, unit)
        for z in range(i + 1, k + 1):
            edges[z][i] = max(0, unit * (2 ** (z - 1) - 2**i) + rng.randint(0, unit))
    top = unit * 2 ** (k + 1)
    rho = [0, *(top * i for i in range(1, k + 1)), *(rng.randint(0, (k + 1) * top) for _ in range(n - k - 1))]
    for _ in range(rng.randint(0, 2 * n)):
        u, v = rng.sample(range(n), 2)
        edges[u].setdefault(v, rng.choice([0, rng.randint(0, unit * 2**k)]))
    edges[0].setdefault(goal, 4 * top * (k + 4))
    return Case({u: sorted(some.items()) for u, some in edges.items()}, source, goal, rho)


def wide(rng: random.Random, n: int) -> Case:
    """Weights and values of very different sizes."""
    children = {
        u: [(v, rng.getrandbits(rng.randint(1, 40))) for v in range(n) if v != u and rng.random() < 0.7]
        for u in range(n)
    }
    source, goal = rng.sample(range(n), 2)
    rho = [rng.choice([-1, 1]) * rng.getrandbits(rng.randint(1, 40)) for _ in range(n)]
    return Case(children, source, goal, rho)


def some_cases(rng: random.Random) -> list[Case]:
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


def units_of_cases(cases: list[Case], reopen: bool) -> tuple[list[Unit], list[Number]]:
    problems = [case.problem for case in cases]
    return code.units_of(problems, reopen), code.untied(problems, cases[0].rho)


class Adaptive:
    """An abstract argmin process: which vertices come together and their offsets are drawn from the history."""

    def __init__(self, n: int, seed: int) -> None:
        self._n, self._seed, self._history = n, seed, list[int]()
        self._options = self._draw()

    def _draw(self) -> dict[int, Number]:
        left = [v for v in range(self._n) if v not in self._history]
        rng = random.Random(repr((self._seed, self._history)))
        if not left or rng.random() < 0.05:
            return {}
        chosen = rng.sample(left, rng.randint(1, len(left)))
        return {v: rng.getrandbits(rng.choice([3, 6, 12])) * self._n + v for v in chosen}

    def options(self) -> dict[int, Number]:
        return dict(self._options)

    def select(self, v: int) -> None:
        self._history.append(v)
        self._options = self._draw()


def families(rng: random.Random, count: int) -> Iterator[tuple[list[Unit], list[Number]]]:
    """Units under one ρ without ties: runs without reopening, closures, and abstract processes."""
    for k in range(count):
        if k % 3 < 2:
            yield units_of_cases(some_cases(rng), reopen=k % 3 == 1)
            continue
        n = rng.randint(2, 7)
        rho: list[Number] = [n * n * rng.getrandbits(rng.choice([2, 5, 11])) + v * n for v in range(n)]
        seeds = [rng.getrandbits(30) for _ in range(rng.randint(1, 6))]
        yield [lambda n=n, seed=seed: Adaptive(n, seed) for seed in seeds], rho  # type: ignore[misc]
