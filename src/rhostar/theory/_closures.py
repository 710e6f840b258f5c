"""A* with reopening in n − 1 sequences without repetition: closures, records, whole runs and costs rebuilt from them.

A run with reopening may take of order 2ⁿ iterations. It still contains little information, and this module executes the
proof of that. It uses argmin processes and their transcripts (:mod:`rhostar.theory._processes`). All numbers are exact.

**Closures.** B(z) is the run with reopening that starts at z with g = 0 and continues after t is selected, with all
edges that leave t deleted. I_z is the set of vertices that B(z) selects before its first score above ρ_z. The process
closure(z) finds it: after the vertices I were selected, O holds z with offset 0 and every other vertex v that a path
from z with inner vertices in I reaches, a_v being the length of the shortest such path; it ends after z. closure(s) has
no z in O and ends after t. :class:`Closure`.

**Theorem (closures suffice).** Put pop(z) = {if z = t: end. Expand z. For v in the transcript of closure(z), in order:
if v is in OPEN: pop(v)}. Then pop(s) is the run of A* with reopening: :func:`rebuild` makes it from the instance and
n − 1 transcripts, without ρ. It holds for every ρ: closures and runs with ties settled by indices are those of
ρ_v + ε·v for all tiny ε > 0, where no scores tie.

**Records.** A selection in B(z) is a record if its score exceeds all those after z before it. No vertex is a record
twice. The transcript of closure(z) is y₁, (I_{y₁} less what was there), y₂, (I_{y₂} less what was there), ..., where
y₁, y₂, ... are the records of B(z) below ρ_z. A test finds them by the rule of the proof.

**Theorem (cost in polynomial time).** The first selection of t in B(z) is a record itself, or it is in the block of
the first record y of B(z) with t in I_y; then it is the first selection of t in B(y), after the path to y. ρ falls
from one such y to the next, so fewer than n steps lead to the cost: :func:`cost_by_records`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.search.reference import PlainState
from rhostar.theory._processes import (
    Closure,
    Number,
    Problem,
    Transcript,
    Weights,
    exact_problem,
    exact_rho,
    selections,
    transcript,
)


def closures_of(problem: Problem, rho: Sequence[Number]) -> dict[int, Transcript]:
    """Return the transcript of the closure of every vertex but the goal, each without its root."""
    every = (z for z in range(problem.n) if z != problem.goal)
    return {z: tuple(v for v in transcript(Closure(problem, z), rho) if v != z) for z in every}


def states_of(problem: Problem, closures: Mapping[int, Transcript]) -> Iterator[PlainState]:
    """Yield the states of the run with reopening that the closures stand for, as the reference records them."""
    goal, ended = problem.goal, False
    open_, closed = {problem.source}, set[int]()
    pointer: dict[int, int | None] = {problem.source: None}
    g: dict[int, Number] = {problem.source: 0}

    def state() -> PlainState:
        return PlainState(frozenset(open_), frozenset(closed), dict(pointer), dict(g))  # type: ignore[arg-type]

    def pop(z: int) -> Iterator[PlainState]:
        nonlocal ended
        if z == goal:
            ended = True
            yield state()
            return
        open_.remove(z)
        closed.add(z)
        for c, w in problem.children[z]:
            if g[z] + w < g.get(c, math.inf):
                g[c], pointer[c] = g[z] + w, z
                closed.discard(c)
                open_.add(c)
        yield state()
        for v in closures[z]:  # what it says of the score of z holds while this lasts: the depth is below n
            if not ended and v in open_:
                yield from pop(v)

    yield state()
    yield from pop(problem.source)


def closures(graph: Graph, weights: Weights, source: int, goal: int, rho: Weights) -> dict[int, Transcript]:
    """Return what determines the run of A* with reopening: one sequence of vertices for each vertex but the goal.

    Parameters
    ----------
    graph, weights, source, goal, rho
        As for :func:`rhostar.astar`. Numbers are taken exactly as they are, and sums do not round.

    Returns
    -------
    dict
        For each z the transcript of closure(z), without z.

    Raises
    ------
    InputError
        If weights or ρ are not what a search can take.

    Examples
    --------
    >>> import rhostar as rs
    >>> instance, rho = rs.theory.martelli(6)
    >>> rs.theory.closures(*instance, rho)[5], rs.theory.closures(*instance, rho)[3]
    ((1, 2, 3, 4, 0), (1, 2))
    """
    return closures_of(exact_problem(graph, weights, source, goal), exact_rho(rho, graph.n))


def rebuild(
    graph: Graph, weights: Weights, source: int, goal: int, closures: Mapping[int, Transcript]
) -> Iterator[PlainState]:
    """Rebuild the whole run of A* with reopening from its closures, without ρ.

    Parameters
    ----------
    graph, weights, source, goal
        As for :func:`rhostar.astar`.
    closures
        As :func:`closures` returns them.

    Yields
    ------
    PlainState
        OPEN, CLOSED, pointers and g before the first iteration and after each, as
        :func:`rhostar.search.reference.astar` records them. There may be 2ⁿ of them: take as many as you need.

    Raises
    ------
    InputError
        If the weights are not what a search can take, or a closure is missing.

    Examples
    --------
    >>> import rhostar as rs
    >>> instance, rho = rs.theory.martelli(12)
    >>> run = rs.theory.rebuild(*instance, rs.theory.closures(*instance, rho))
    >>> sum(1 for _ in run) - 2 == rs.astar(*instance, rho).expanded == 1024  # less the first state and the last
    True
    """
    problem = exact_problem(graph, weights, source, goal)
    missing = set(range(problem.n)) - {problem.goal} - set(closures)
    if missing:
        raise InputError(f"closures must have an entry for every vertex but the goal; {min(missing)} has none")
    return states_of(problem, closures)


def cost_by_records(graph: Graph, weights: Weights, source: int, goal: int, rho: Weights) -> int | Fraction | float:
    """Return the cost of the path that A* with reopening finds, in polynomial time, even where the search takes 2ⁿ.

    Parameters
    ----------
    graph, weights, source, goal, rho
        As for :func:`rhostar.astar`. Numbers are taken exactly as they are, Python's integers of any size included.

    Returns
    -------
    int, Fraction or float
        The exact cost; inf where there is no path.

    Raises
    ------
    InputError
        If weights or ρ are not what a search can take.

    Examples
    --------
    The goal is selected after 2³⁰ expansions here:

    >>> import rhostar as rs
    >>> instance, rho = rs.theory.martelli(40)
    >>> rho[0] = 30.5 * 2**41
    >>> rs.theory.cost_by_records(*instance, rho) == 2**39 - 2**31
    True
    """
    return cost_of(exact_problem(graph, weights, source, goal), exact_rho(rho, graph.n))


def cost_of(problem: Problem, rho: Sequence[Number]) -> int | Fraction | float:
    """Return the cost of A* with reopening; see the second theorem of the module."""
    known: dict[int, frozenset[int]] = {}

    def below(y: int) -> frozenset[int]:
        if y not in known:
            known[y] = frozenset(transcript(Closure(problem, y), rho)) - {y}
        return known[y]

    root, total = problem.source, 0
    while True:
        explored: set[int] = set()
        for y, length in selections(Closure(problem, root), rho):
            if y in explored:
                continue
            if y == problem.goal:
                return total + length
            if problem.goal in below(y):
                root, total = y, total + length  # type: ignore[assignment]
                break
            explored |= {y} | below(y)
        else:
            return math.inf
