"""The largest number of courses of A* while one value of ρ moves, for few vertices, over all real weights.

    python benchmarks/exhaust_moving.py 4

Weights, the other values of ρ and the places x_1 < x_2 < ... of the moving value are unknowns of a linear program. The
runs at x_1, x_2, ... are executed symbolically, one after the other: a branch for each vertex that may be selected and
for each offer that may be an improvement. Every branch adds linear constraints, and those without a solution are cut.
A run counts if its course is a new one. So the depth that is reached is the largest number of courses, over all
instances and all ρ.

Nothing is lost: an absent edge acts like one of a weight that exceeds all scores of these runs. Scores may be taken to
differ, because adding ε·v to ρ_v breaks ties as the rule does. All constraints are homogeneous, so "less than" may be
replaced by "less by at least 1". Vertices other than s, t and the moving one may be renamed: they are taken in the
order in which the runs first select them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

Form = tuple[int, ...]
"""A linear form: its coefficients."""


class Cone:
    """The unknowns, and whether constraints "form ≤ −1" or "form ≤ 0" have a solution."""

    def __init__(self, n: int, moving: int, places: int) -> None:
        self.n, self.moving = n, moving
        self.edges = [(u, v) for u in range(n - 1) for v in range(1, n) if u != v]
        self.edge = {e: i for i, e in enumerate(self.edges)}
        fixed = [v for v in range(1, n) if v != moving]
        self.value = {v: len(self.edges) + i for i, v in enumerate(fixed)}
        self.first_place = len(self.edges) + len(fixed)
        self.size = self.first_place + places
        self.solved = 0

    def unit(self, i: int) -> Form:
        return tuple(int(i == j) for j in range(self.size))

    def rho(self, v: int, run: int) -> Form:
        return self.unit(self.first_place + run if v == self.moving else self.value[v])

    def point(self, rows: list[tuple[Form, int]]) -> np.ndarray | None:
        self.solved += 1
        forms = np.array([form for form, _ in rows], dtype=float)
        sides = np.array([-strict for _, strict in rows], dtype=float)
        limits = [(0, None)] * len(self.edges) + [(None, None)] * (self.size - len(self.edges))
        found = linprog(np.zeros(self.size), forms, sides, bounds=limits, method="highs")
        return found.x if found.status == 0 else None


def less(a: Form, b: Form) -> Form:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def plus(a: Form, b: Form) -> Form:
    return tuple(x + y for x, y in zip(a, b, strict=True))


@dataclass
class State:
    """Constraints with a point that satisfies them."""

    rows: list[tuple[Form, int]]
    point: np.ndarray

    def add(self, cone: Cone, rows: list[tuple[Form, int]]) -> State | None:
        new = [row for row in rows if row not in self.rows]
        if all(np.dot(form, self.point) <= -strict + 1e-9 for form, strict in new):
            return State([*self.rows, *new], self.point)
        point = cone.point([*self.rows, *new])
        return None if point is None else State([*self.rows, *new], point)


def courses(cone: Cone, state: State, run: int, reopen: bool) -> Iterator[tuple[tuple[int, ...], State]]:
    """Yield every course that run number `run` may take, with what it says about the unknowns."""
    zero: Form = (0,) * cone.size

    def step(
        state: State, opened: dict[int, Form], closed: dict[int, Form], done: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], State]]:
        for v, g in opened.items():
            score = plus(g, cone.rho(v, run)) if v else zero
            ahead = [(less(score, plus(h, cone.rho(u, run))), 1) for u, h in opened.items() if u != v]
            chosen = state.add(cone, ahead)
            if chosen is None:
                continue
            if v == cone.n - 1:
                yield (*done, v), chosen
                continue
            rest = {u: h for u, h in opened.items() if u != v}
            children = [c for c in range(1, cone.n) if c != v and (reopen or c not in closed)]
            yield from offers(chosen, rest, {**closed, v: g}, (*done, v), g, v, children)

    def offers(
        state: State,
        opened: dict[int, Form],
        closed: dict[int, Form],
        done: tuple[int, ...],
        g: Form,
        v: int,
        children: list[int],
    ) -> Iterator[tuple[tuple[int, ...], State]]:
        if not children:
            yield from step(state, opened, closed, done)
            return
        c, others = children[0], children[1:]
        new = plus(g, cone.unit(cone.edge[v, c]))
        old = opened.get(c, closed.get(c))
        if old is None:
            yield from offers(state, {**opened, c: new}, closed, done, g, v, others)
            return
        kept = state.add(cone, [(less(old, new), 0)])
        if kept is not None:
            yield from offers(kept, opened, closed, done, g, v, others)
        better = state.add(cone, [(less(new, old), 1)])
        if better is not None:
            left = {u: h for u, h in closed.items() if u != c}
            yield from offers(better, {**opened, c: new}, left, done, g, v, others)

    yield from step(state, {0: zero}, {}, ())


def largest(n: int, moving: int, reopen: bool, places: int) -> tuple[int, int]:
    """Return the largest number of courses, up to `places`, and how many linear programs were solved."""
    cone, best = Cone(n, moving, places), 0
    free = [v for v in range(1, n - 1) if v != moving]
    seen: set[tuple[object, ...]] = set()

    def deeper(state: State, run: int, found: tuple[tuple[int, ...], ...]) -> None:
        nonlocal best
        best = max(best, run)
        if best == places:
            return
        if run:
            order = less(cone.unit(cone.first_place + run - 1), cone.unit(cone.first_place + run))
            state = state.add(cone, [(order, 1)])  # type: ignore[assignment]
        for course, after in courses(cone, state, run, reopen):
            if course in found:
                continue
            path = (*found, course)
            first = list(dict.fromkeys(v for one in path for v in one if v in free))
            if first != free[: len(first)]:
                continue
            key = (path, frozenset(after.rows))
            if key in seen:
                continue
            seen.add(key)
            deeper(after, run + 1, path)
            if best == places:
                return

    deeper(State([], np.zeros(cone.size)), 0, ())
    return best, cone.solved


if __name__ == "__main__":
    n = int(sys.argv[1])
    places = int(sys.argv[2]) if len(sys.argv) > 2 else (n - 1) * (n - 2) + 1
    for reopen in (True, False):
        for moving in (1, n - 1):
            count, solved = largest(n, moving, reopen, places)
            where = "an inner vertex" if moving == 1 else "the goal"
            print(
                f"n = {n}, {'with' if reopen else 'without'} reopening, {where}: {count} courses ({solved} programs)",
                flush=True,
            )
