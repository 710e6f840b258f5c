"""The code behind rows W and Wp: runs of A* on N instances as one number of at most L(N, M) bits, and back.

This executes the proof of the theorem in :mod:`rhostar.bounds._transcripts`. The encoder sees instances and ρ, the
decoder sees the instances and the number. Both walk through M argmin processes (*units*): A* without reopening is one
unit for each instance, A* with reopening n − 1 closures (:mod:`rhostar.theory._closures`).

Each step of a unit says that the selected vertex was ahead of all others in O, by a slack each. What the decoder knows
is a minimum spanning forest of slacks, and with it a set C of candidates at each step: :mod:`rhostar.theory._slacks`.

**Lemma 5.** With K(R) known, C has one member at every step of every unit of R. So it is enough to send the units that
own an edge of the forest of all units, at most n − 1, one after the other, and the edges that each of them adds.

**Matchings.** A unit u not in R is sent as follows. Where C has several members, a vertex *declared* before is selected
if its number has come to 0; else the next vertex is among those not declared. If there are several, send which one, v,
and declare the first other one, p, with the number of times that p will be in such a C and not be selected. The pairs
(v, p) are a matching.

**Lemma 6 (cuts).** Σ_{u in R} |pairs sent for u given K(R without u)| ≤ (n/2)·lg n for every R. So in a random order of
the owners, the r-th needs at most min(n/2, n·lg n/(2r)) pairs and (n−1)/r new edges in the mean, and some order is no
worse than the mean.

**What is not executed.** Weights and ρ are taken as they are, and an exponent is sent as one of E_N integers around 0,
which is enough for numbers of ordinary sizes. The proof first moves ρ to the mean of corners of its cell, where real
weights of any sizes have at most E_N exponents; tests check the parts of that argument on few vertices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, permutations
from typing import TypeAlias

import numpy as np

from rhostar.bounds._transcripts import code_length, exponents
from rhostar.errors import InputError
from rhostar.instances import Instance, InstanceSet
from rhostar.theory._processes import (
    ClosedSearch,
    Closure,
    Number,
    Problem,
    Transcript,
    Weights,
    exact_problem,
    exact_rho,
    transcript,
)
from rhostar.theory._slacks import Edge, Knowledge, Unit, edges_of, forest

Symbol: TypeAlias = tuple[str, int, int]
"""What it is for, its value, and the number of values that it may have."""


@dataclass(frozen=True)
class Message:
    """Runs of A* as one number."""

    number: int
    """The message."""
    bits: float
    """Σ lg(number of values) over its symbols."""
    limit: float
    """L(N, M), which the bits do not exceed in a good order of the owners."""
    spent: dict[str, float]
    """What the bits are for."""
    owners: tuple[int, ...]
    """The units that were sent, in order."""
    symbols: tuple[Symbol, ...] = field(repr=False)
    """The symbols, in order."""


# ---------------------------------------------------------------- one unit


@dataclass(frozen=True)
class Walk:
    """A unit followed to its end."""

    selected: Transcript
    edges: list[tuple[int, int, Number]]
    """Selected vertex, other vertex, T: one for each pair that was in O together."""
    paid: list[tuple[int, int]]
    """The matching."""


def follow(unit: Unit, known: Knowledge, n: int, choose: Callable[[int, list[int]], tuple[int, int]]) -> Walk:
    """Follow a unit; `choose` gives the next vertex and the number of the one declared, where both are sent.

    Its arguments are the number of vertices selected so far and the members of C that are not declared. The number
    n − 1 says that the vertex is never selected.

    Raises
    ------
    InputError
        If what is sent cannot be.
    """
    process = unit()
    selected: list[int] = []
    edges: list[tuple[int, int, Number]] = []
    paid: list[tuple[int, int]] = []
    waits: dict[int, float] = {}
    while options := process.options():
        open_to = known.candidates(options)
        if len(open_to) == 1:
            v = open_to[0]
        else:
            due = [p for p in open_to if waits.get(p) == 0]
            free = [p for p in open_to if p not in waits]
            for p in open_to:
                if p in waits:
                    waits[p] -= 1
            if len(due) > 1 or not (due or free):
                raise InputError("the message is damaged: it does not say which vertex comes next")
            if due or len(free) == 1:
                v = (due or free)[0]
            else:
                v, wait = choose(len(selected), free)
                other = next(p for p in free if p != v)
                waits[other] = wait if wait < n - 1 else math.inf
                paid.append((v, other))
        edges += [(v, w, a - options[v]) for w, a in sorted(options.items()) if w != v]
        selected.append(v)
        process.select(v)
    return Walk(tuple(selected), edges, paid)


def refuse(_: int, free: list[int]) -> tuple[int, int]:
    """Choose nothing: for units that cost nothing."""
    raise InputError(f"the message is damaged: the next vertex of a unit may be any of {free}")


def paid_choices(
    unit: Unit, truth: Transcript, known: Knowledge, n: int, put: Callable[[str, int, int], None]
) -> Callable[[int, list[int]], tuple[int, int]]:
    """Return the encoder's choices: it knows the transcript and puts down what the decoder will need."""
    process, events = unit(), []
    for v in truth:
        open_to = known.candidates(process.options())
        if v not in open_to:
            raise InputError(f"the estimates rule out vertex {v}, which comes next")
        events.append(set(open_to) if len(open_to) > 1 else set())
        process.select(v)

    def choose(done: int, free: list[int]) -> tuple[int, int]:
        v = truth[done]
        other = next(p for p in free if p != v)
        wait = n - 1
        if other in truth:
            wait = sum(other in events[j] for j in range(done + 1, truth.index(other)))
        put("matchings", free.index(v), len(free))
        put("matchings", wait, n)
        return v, wait

    return choose


# ---------------------------------------------------------------- all units


def encode_units(units: Sequence[Unit], n: int, instances: int, rho: Sequence[Number], *, orders: int = 24) -> Message:
    """Return the message for some units; see :func:`encode`. No scores may tie under ρ."""
    truths = [transcript(unit(), rho) for unit in units]
    edges = [edges_of(unit, i, truth, rho) for i, (unit, truth) in enumerate(zip(units, truths, strict=True))]
    last = forest(n, (edge for some in edges for edge in some))
    owners = sorted({edge.unit for edge in last})
    values = exponents(n, instances)
    best: Message | None = None
    for order in _some_orders(owners, orders):
        symbols: list[Symbol] = []

        def put(purpose: str, value: int, among: int, into: list[Symbol] = symbols) -> None:
            if not 0 <= value < among:
                raise InputError(f"{purpose}: {value} is not below {among}")
            into.append((purpose, value, among))

        put("owners", len(owners), n)
        for i in order:
            put("owners", i, len(units))
        known: list[Edge] = []
        for i in order:
            knowledge = Knowledge(n, known)
            walk = follow(units[i], knowledge, n, paid_choices(units[i], truths[i], knowledge, n, put))
            after = forest(n, [*known, *edges[i]])
            new = [edge for edge in after if edge.unit == i]
            put("edges", len(new), n)
            for edge in new:
                put("edges", walk.edges.index((edge.selected, edge.other, edge.offset)), len(walk.edges))
                put("exponents", edge.exponent + values // 2, values)
                put("mantissas", edge.step, n)
            known = after
        message = _message(symbols, code_length(n, instances, len(units)), tuple(order))
        if best is None or message.bits < best.bits:
            best = message
    assert best is not None
    return best


def decode_units(units: Sequence[Unit], n: int, instances: int, number: int) -> list[Transcript]:
    """Return the transcripts of all units; see :func:`decode`."""
    left, values = number, exponents(n, instances)

    def get(among: int) -> int:
        nonlocal left
        left, value = divmod(left, among)
        return value

    def choose(_: int, free: list[int]) -> tuple[int, int]:
        return free[get(len(free))], get(n)

    known: list[Edge] = []
    count = get(n)
    for i in [get(len(units)) for _ in range(count)]:
        walk = follow(units[i], Knowledge(n, known), n, choose)
        new = []
        for _ in range(get(n)):
            if not walk.edges:
                raise InputError("the message is damaged: it names an edge of a unit that has none")
            v, w, offset = walk.edges[get(len(walk.edges))]
            exponent = get(values) - values // 2
            new.append(Edge(exponent, i, (min(v, w), max(v, w)), v, w, offset, get(n)))
        known = forest(n, [*known, *new])
    if left:
        raise InputError("the message is damaged: something is left over")
    knowledge = Knowledge(n, known)
    return [follow(unit, knowledge, n, refuse).selected for unit in units]


def _some_orders(owners: list[int], count: int) -> Iterator[Sequence[int]]:
    """Yield all orders where they are few, else some drawn at random."""
    if math.factorial(len(owners)) <= count:
        return permutations(owners)
    rng = np.random.default_rng(0)
    return islice((rng.permutation(owners).tolist() for _ in iter(int, 1)), count)


def _message(symbols: list[Symbol], limit: float, owners: tuple[int, ...]) -> Message:
    number, spent = 0, dict.fromkeys(("owners", "matchings", "edges", "exponents", "mantissas"), 0.0)
    for _, value, among in reversed(symbols):
        number = number * among + value
    for purpose, _, among in symbols:
        spent[purpose] += math.log2(among)
    return Message(number, math.fsum(spent.values()), limit, spent, owners, tuple(symbols))


# ---------------------------------------------------------------- runs


def encode(
    rho: Weights, instances: InstanceSet | Sequence[Instance], *, reopen: bool = True, orders: int = 24
) -> Message:
    """Return the runs of A* on some instances as one number.

    Parameters
    ----------
    rho
        n finite numbers, taken as they are.
    instances
        N instances on the same vertices.
    reopen
        Whether A* reopens vertices.
    orders
        How many orders of the owners are tried; the shortest message is kept. The proof says that some order gives at
        most L(N, M) bits.

    Returns
    -------
    Message

    Raises
    ------
    InputError
        If there are no instances, their vertices differ, or slacks are too far apart for the exponents.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.theory.sharper_instances(6).instances
    >>> message = rs.theory.encode([3, 1, 4, 1, 5, 0], instances)
    >>> message.bits < message.limit
    True
    >>> rs.theory.decode(message.number, instances)[0]  # the closures of instance 0
    {0: (5,), 1: (5,), 2: (), 3: (), 4: ()}
    """
    problems = _problems(instances)
    n = problems[0].n
    return encode_units(units_of(problems, reopen), n, len(problems), untied(problems, rho), orders=orders)


def decode(
    number: int, instances: InstanceSet | Sequence[Instance], *, reopen: bool = True
) -> list[dict[int, Transcript]]:
    """Return, for each instance, the sequences that a message stands for.

    Parameters
    ----------
    number
        ``message.number``.
    instances
        As they were encoded.
    reopen
        As it was encoded.

    Returns
    -------
    list of dict
        With reopening the closures of each instance, as :func:`rhostar.theory.rebuild` takes them. Without reopening
        the vertices in the order in which the run selects them, under the source.

    Raises
    ------
    InputError
        If the message is damaged, in so far as that shows.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.theory.sharper_instances(6).instances
    >>> message = rs.theory.encode([3, 1, 4, 1, 5, 0], instances, reopen=False)
    >>> rs.theory.decode(message.number, instances, reopen=False)[0]
    {1: (1, 5)}
    """
    problems = _problems(instances)
    found = iter(decode_units(units_of(problems, reopen), problems[0].n, len(problems), number))
    if not reopen:
        return [{problem.source: next(found)} for problem in problems]
    return [
        {z: tuple(v for v in next(found) if v != z) for z in range(problem.n) if z != problem.goal}
        for problem in problems
    ]


def units_of(problems: Sequence[Problem], reopen: bool) -> list[Unit]:
    """Return the units of some instances: the closures of all vertices but the goal, or the run itself."""

    def closure(problem: Problem, root: int) -> Unit:
        return lambda: Closure(problem, root)

    def search(problem: Problem) -> Unit:
        return lambda: ClosedSearch(problem)

    if reopen:
        return [closure(problem, z) for problem in problems for z in range(problem.n) if z != problem.goal]
    return [search(problem) for problem in problems]


def untied(problems: Sequence[Problem], rho: Weights) -> list[Number]:
    """Return ρ with a multiple of v added at v, so small that it settles ties and nothing else.

    All weights and values are multiples of some 1/d, so two scores that differ do so by 1/d at least.
    """
    n = problems[0].n
    exact = exact_rho(rho, n)
    numbers = [*exact, *(w for problem in problems for some in problem.children for _, w in some)]
    d = math.lcm(*(Fraction(x).denominator for x in numbers))
    return [x + Fraction(v, d * n) for v, x in enumerate(exact)]


def _problems(instances: InstanceSet | Sequence[Instance]) -> list[Problem]:
    found = [exact_problem(*one) for one in instances]
    if not found:
        raise InputError("instances must not be empty")
    for i, problem in enumerate(found):
        if problem.n != found[0].n:
            raise InputError(f"instances[{i}] has {problem.n} vertices, instances[0] has {found[0].n}")
    return found
