"""Instances in exact integers for the tests of transcripts: ties, zero weights, many reopenings."""

from __future__ import annotations

import random
from dataclasses import dataclass

from rhostar.search import reference
from rhostar.theory._processes import Problem


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
