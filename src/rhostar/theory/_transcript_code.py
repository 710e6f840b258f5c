"""The code behind rows W and Wp: runs of A* on N instances as one number, and back.

This executes the proof of the theorem in :mod:`rhostar.bounds._transcripts`. The encoder sees instances and ρ, the
decoder sees the instances and the number. Both walk through M argmin processes (*units*): A* without reopening is one
unit for each instance, A* with reopening n − 1 closures (:mod:`rhostar.theory._closures`).

Each step of a unit says that the selected vertex was ahead of all others in O, by a slack each. What the decoder
knows is a minimum spanning forest of slacks, and with it a set C of candidates at each step:
:mod:`rhostar.theory._slacks`. With K(R) known, C has one member at every step of every unit of R. So it is enough to
send the units that own an edge of the forest of all units, at most n − 1, one after the other.

**The owner i, after those of R.** Before its choices, send its edges in K(R ∪ i) and in K(R ∪ i without j), j in R.
What else is in these forests was in them before, so the decoder can compute them, and the color tree of R ∪ i
(:mod:`rhostar.theory._color_tree`). Then send the mantissas of the edges in K(R ∪ i), and the choices of i as sides of
the tree. Over all i in R ∪ i there are at most n − 1 edges in K(R ∪ i) and n − 1 others, and the sides take at most lg
n! bits. So in a random order of the owners the r-th one needs 1/r of that on average, and some order is at least as
good as the average.

**Two codes.** The *simple* one sends the owners in an order chosen for them, and all edges with exponents; its length
is at most L in a good order. The *fine* one uses an order of all units that encoder and decoder share: owners are sent
as a set, edges by their places among the known ones, exponents in K(R ∪ i) only, and only as far as the places do not
determine them. Its length is at most L* on average over the shared orders.

**Exponents.** An exponent is sent as one of at most E values that encoder and decoder know, the *scale*. By default
these are integers around 0, enough for numbers of ordinary sizes. :mod:`rhostar.theory._cells` has the list of the
proof, for real weights of any size, and moves ρ to a point where this list is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice, permutations

import numpy as np

from rhostar.bounds._transcripts import code_length, exponents, fine_code_length
from rhostar.errors import InputError
from rhostar.instances import Instance, InstanceSet
from rhostar.theory._channel import Reader, Writer
from rhostar.theory._color_code import Transfer, truth_of
from rhostar.theory._processes import (
    ClosedSearch,
    Closure,
    Number,
    Problem,
    Transcript,
    Weights,
    exact_problem,
    exact_rho,
)
from rhostar.theory._slacks import Unit


@dataclass(frozen=True)
class Message:
    """Runs of A* as one number."""

    number: int
    """The message."""
    bits: float
    """−lg of the probability that the code gives it."""
    limit: float
    """L(N, M), which the bits do not exceed in a good order of the owners."""
    spent: dict[str, float]
    """What the bits are for."""
    owners: tuple[int, ...]
    """The units that were sent, in order."""


# ---------------------------------------------------------------- units


def encode_units(
    units: Sequence[Unit],
    n: int,
    instances: int,
    rho: Sequence[Number],
    *,
    orders: int = 24,
    scale: Sequence[int] | None = None,
) -> Message:
    """Return the message for some units by the simple code; see :func:`encode`. No scores may tie under ρ."""
    truth = truth_of(units, n, rho)
    limit, best = code_length(n, instances, len(units)), None
    for order in _some_orders(truth.owners, orders):
        out = Writer()
        Transfer(out, units, n, scale or default_scale(n, instances), truth, fine=False).run(order)
        if best is None or out.bits < best.bits:
            best = Message(out.number(), out.bits, limit, out.spent, tuple(order))
    assert best is not None
    return best


def decode_units(
    units: Sequence[Unit],
    n: int,
    instances: int,
    number: int,
    order: Sequence[int] | None = None,
    *,
    scale: Sequence[int] | None = None,
) -> list[Transcript]:
    """Return the transcripts of all units; see :func:`decode`. With an order of all units, by the fine code."""
    scale = scale or default_scale(n, instances)
    return Transfer(Reader(number), units, n, scale, None, fine=order is not None).run(order or ())


def encode_shared(
    units: Sequence[Unit],
    n: int,
    instances: int,
    rho: Sequence[Number],
    order: Sequence[int],
    *,
    scale: Sequence[int] | None = None,
) -> Message:
    """Return the message by the fine code, for an order of all units that the decoder has too."""
    truth, out = truth_of(units, n, rho), Writer()
    Transfer(out, units, n, scale or default_scale(n, instances), truth, fine=True).run(order)
    limit = fine_code_length(n, instances, len(units))
    return Message(out.number(), out.bits, limit, out.spent, tuple(i for i in order if i in truth.owners))


def default_scale(n: int, instances: int) -> range:
    """Return E integers around 0."""
    count = exponents(n, instances)
    return range(-(count // 2), count - count // 2)


def _some_orders(owners: list[int], count: int) -> Iterator[Sequence[int]]:
    """Yield all orders where they are few, else some drawn at random."""
    if math.factorial(len(owners)) <= count:
        return permutations(owners)
    rng = np.random.default_rng(0)
    return islice((rng.permutation(owners).tolist() for _ in iter(int, 1)), count)


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
        If the message is found to be damaged; not every damage can be detected.

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
    if reopen:
        return [partial(Closure, problem, z) for problem in problems for z in range(problem.n) if z != problem.goal]
    return [partial(ClosedSearch, problem) for problem in problems]


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
