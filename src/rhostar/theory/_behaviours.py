"""Finds all joint behaviors of a few instances, which the paper's proofs count, by symbolic execution.

Two heuristics behave alike on an instance if A* (or greedy best-first search) selects the same vertices in the same
order; OPEN, CLOSED and the pointers at every iteration are then the same (Lemmas 1 and 2 of the paper). Symbolic
execution follows all ρ ∈ Rⁿ at once: at each selection it branches on which vertex of OPEN has the lowest score, adds
the bounds ρ_v − ρ_u ≤ c or < c that say so, and drops branches whose bounds contradict each other. All instances run
one after the other under the same bounds, so the leaves are exactly the joint behaviors, each with a region of ρ and a
witness in it. A leaf costs O(depth · n²).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _failures as failures
from rhostar.errors import InputError, LimitError, UtilityError
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm, Runs, Status, Trace, solve_many
from rhostar.search._outcome import Paths
from rhostar.search._run import solve
from rhostar.theory import _core
from rhostar.theory._integer_instances import Exact, exact, gather
from rhostar.utilities import Cost, Custom, Expansions, Generated, PeakOpen, Ratio, SolvedWithin, Suboptimality, Utility

Report = Callable[[int, float], object]
"""Called from time to time with the number of leaves found and the share of the tree explored."""

MEASURES = ("cost", "expanded", "generated", "reopened", "peak_open")
"""In the order of the core (symbolic.hpp, enum Measure)."""

_MEASURE_OF: dict[type[Utility], str] = {
    Cost: "cost",
    Expansions: "expanded",
    Generated: "generated",
    PeakOpen: "peak_open",
}
_ON_COUNTS = (*_MEASURE_OF, Suboptimality, Ratio, SolvedWithin)


@dataclass(frozen=True, eq=False)
class Region:
    """A set of ρ, given by upper bounds on the differences ρ_i − ρ_j, as tight as possible; ``rho in region`` is exact.

    Examples
    --------
    >>> import rhostar as rs
    >>> found = rs.theory.joint_behaviours(rs.theory.star(5), "gbfs")
    >>> [b for b in range(5) if found.rho[2] in found.region(b)]
    [2]
    """

    upper: NDArray[np.float64]
    """``upper[i, j]`` bounds ρ_i − ρ_j; inf if nothing does."""
    strict: NDArray[np.bool_]
    """Whether the difference must stay below its bound."""

    def __contains__(self, rho: ArrayLike) -> bool:
        exact_rho = [Fraction(float(value)) for value in arrays.per_vertex(rho, "rho", len(self.upper))]
        for i, j in zip(*np.nonzero(np.isfinite(self.upper)), strict=True):
            difference, bound = exact_rho[i] - exact_rho[j], Fraction(float(self.upper[i, j]))
            if difference > bound or (self.strict[i, j] and difference == bound):
                return False
        return True


@dataclass(frozen=True, eq=False)
class Behaviours:
    """The joint behaviors of some instances: ``len(behaviours)`` of them, with one row each in every array.

    Examples
    --------
    >>> import rhostar as rs
    >>> found = rs.theory.joint_behaviours(rs.theory.star(5), "gbfs")
    >>> found, found.selected(0)
    (Behaviours(5 of 1 instance, gbfs), ((3, 0),))
    """

    instances: InstanceSet
    """The instances."""
    algorithm: Algorithm
    """"astar" or "gbfs"."""
    reopen: bool
    """Whether A* reopens."""
    rho: NDArray[np.float64]
    """A ρ for each: multiples of a power of two, so that searches add without rounding."""
    cost: NDArray[np.int64]
    """For each behavior and instance the cost of the path."""
    expanded: NDArray[np.int64]
    """For each behavior and instance the expansions."""
    generated: NDArray[np.int64]
    """For each behavior and instance the insertions into OPEN."""
    reopened: NDArray[np.int64]
    """For each behavior and instance the moves back to OPEN."""
    peak_open: NDArray[np.int64]
    """For each behavior and instance the largest size of OPEN."""
    prefix: NDArray[np.int64] = field(repr=False)
    """How many joint behaviors the first 1, 2, ..., N instances have."""
    complete: bool = True
    """Whether these are all: False only if ``partial=True`` was passed and `max_behaviours` was reached."""
    explored: float = 1.0
    """The share of the tree explored, each branching divided evenly."""

    def __len__(self) -> int:
        return len(self.rho)

    def __repr__(self) -> str:
        what = "" if self.complete else f", incomplete: {self.explored:.1%} of the tree explored"
        return f"Behaviours({len(self)} of {arrays.counted(len(self.instances), 'instance')}, {self.algorithm}{what})"

    def runs(self, behaviour: int) -> Runs:
        """Return the runs of all instances in one behavior.

        Parameters
        ----------
        behaviour
            Its number, from 0 to ``len(behaviours) - 1``.

        Returns
        -------
        Runs
            One for each instance.
        """
        return solve_many(self.instances, self.rho[behaviour], algorithm=self.algorithm, reopen=self.reopen)

    def selected(self, behaviour: int) -> tuple[tuple[int, ...], ...]:
        """Return for each instance the vertices selected, in order: the behavior itself.

        Parameters
        ----------
        behaviour
            Its number, from 0 to ``len(behaviours) - 1``.

        Returns
        -------
        tuple of tuples
            Vertices.
        """
        return tuple(tuple(trace.selected.tolist()) for _, trace in self._traces(behaviour))

    def region(self, behaviour: int) -> Region:
        """Return all ρ that have this behavior.

        Parameters
        ----------
        behaviour
            Its number, from 0 to ``len(behaviours) - 1``.

        Returns
        -------
        Region
        """
        n = self.instances.graph.n
        # Bounds are pairs (c, 0 for "below c" or 1 for "at most c"), which add and compare correctly.
        bound = np.full((n, n, 2), np.inf)
        bound[np.arange(n), np.arange(n)] = (0, 1)
        for _, trace in self._traces(behaviour):
            for v, state in zip(trace.selected.tolist(), trace.states(), strict=False):
                g = state.g if self.algorithm == "astar" else dict.fromkeys(range(n), 0.0)
                for u in state.open:
                    if u != v:
                        bound[v, u] = min(tuple(bound[v, u]), (g[u] - g[v], 1.0 if v < u else 0.0))
        for k in range(n):
            through = bound[:, k, None, 0] + bound[None, k, :, 0]
            kind = np.minimum(bound[:, k, None, 1], bound[None, k, :, 1])
            tighter = (through < bound[..., 0]) | ((through == bound[..., 0]) & (kind < bound[..., 1]))
            tighter &= np.isfinite(through)
            bound[..., 0][tighter], bound[..., 1][tighter] = through[tighter], kind[tighter]
        return Region(bound[..., 0], np.isfinite(bound[..., 0]) & (bound[..., 1] == 0))

    def _traces(self, behaviour: int) -> Iterator[tuple[Instance, Trace]]:
        rho = self.rho[behaviour]
        for instance in self.instances:
            run = solve(self.algorithm == "gbfs", *instance, rho, self.reopen, None, None, True)
            assert run.trace is not None
            yield instance, run.trace

    def utility(self, utility: Utility) -> NDArray[np.float64]:
        """Return min(u, H) of each behavior and instance.

        Parameters
        ----------
        utility
            What is measured.

        Returns
        -------
        array
            One row for each behavior.

        Raises
        ------
        UtilityError
            If a value is negative or NaN.
        """
        if isinstance(utility, Custom):
            raw = np.array(
                [[utility.function(i, trace) for i, trace in self._traces(b)] for b in range(len(self))], dtype=float
            )
        elif type(utility) in _ON_COUNTS:
            raw = utility.raw(self._as_runs(), self._optimum()).reshape(self.cost.shape)
        elif isinstance(utility, Utility):
            optimum = solve_many(self.instances, np.zeros(self.instances.graph.n)).cost
            raw = np.array([utility.raw(self.runs(b), optimum) for b in range(len(self))])
        else:
            raise UtilityError(f"utility must be a Utility, got {utility!r}")
        return np.array([utility.clip(row).values for row in raw])

    def vectors(self, utility: Utility) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the distinct utility vectors, and for each the first behavior that has it.

        Parameters
        ----------
        utility
            What is measured.

        Returns
        -------
        tuple
            The vectors, and the numbers of the behaviors.
        """
        values, first = np.unique(self.utility(utility), axis=0, return_index=True)
        return values, first

    def _as_runs(self) -> Runs:
        size = self.cost.size
        empty = Paths(np.empty(0, dtype=np.int32), np.zeros(size, dtype=np.int64))
        return Runs(
            np.full(size, str(Status.SOLVED)),
            self.cost.ravel().astype(float),
            empty,
            *(getattr(self, name).ravel() for name in MEASURES[1:]),
        )

    def _optimum(self) -> NDArray[np.float64]:
        return np.tile(solve_many(self.instances, np.zeros(self.instances.graph.n)).cost, len(self))


def joint_behaviours(
    instances: InstanceSet | Sequence[Instance],
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    *,
    max_behaviours: int = 1_000_000,
    partial: bool = False,
    progress: Report | None = None,
) -> Behaviours:
    """Return every joint behavior of some instances over all ρ ∈ Rⁿ, with a witness for each.

    Parameters
    ----------
    instances
        A set with one goal, or single instances with the same vertices and goal. At most 64 vertices.
        Weights must be integers, of an integer or a float type.
    algorithm
        "astar" or "gbfs".
    reopen
        Whether A* reopens.
    max_behaviours
        How many joint behaviors there may be.
    partial
        If there are more than `max_behaviours`: return those found, marked as incomplete, instead of raising.
    progress
        Called from time to time with the number found and the share of the tree explored.

    Returns
    -------
    Behaviours

    Raises
    ------
    LimitError
        If there are more than `max_behaviours`; the message says how far the search got.
    WeightError
        If a weight is not an integer, or too large for exact sums.
    InstanceError, InfeasibleError
        If vertices or goals differ, or an instance has no path.

    Examples
    --------
    >>> import rhostar as rs
    >>> found = rs.theory.joint_behaviours(rs.theory.theorem5_instances(8).instances, "gbfs")
    >>> len(found), len(found.vectors(rs.utilities.Cost(10))[0])
    (180, 16)
    >>> found.rho[0] in found.region(0), found.rho[1] in found.region(0)
    (True, False)
    """
    together = gather(instances)
    algorithm = arrays.algorithm(algorithm)
    problem = exact(together)
    max_behaviours = arrays.integer(max_behaviours, "max_behaviours", 1)
    found = explore(problem, algorithm, reopen, max_behaviours, None, progress)
    if not found.complete and not partial:
        raise _limit_error(max_behaviours, found.explored)
    table = found.values.reshape(-1, len(together), len(MEASURES))
    columns = {name: np.ascontiguousarray(table[..., k]) for k, name in enumerate(MEASURES)}
    return Behaviours(
        together,
        algorithm,
        bool(reopen),
        found.rho,
        **columns,
        prefix=found.prefix,
        complete=found.complete,
        explored=1.0 if found.complete else min(1.0, found.explored),
    )


def utility_vectors(
    instances: InstanceSet,
    algorithm: Algorithm,
    utility: Utility,
    reopen: bool,
    *,
    max_behaviours: int,
    progress: Report | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct utility vectors, a ρ for each, and the number of joint behaviors of each prefix.

    For utilities that the core measures itself, it keeps no leaves, so `max_behaviours` may be large.

    Raises
    ------
    LimitError
        If there are more joint behaviors than `max_behaviours`.
    """
    algorithm = arrays.algorithm(algorithm)
    if not isinstance(utility, Utility):
        raise InputError(f"utility must be a Utility, got {utility!r}")
    max_behaviours = arrays.integer(max_behaviours, "max_behaviours", 1)
    measure = _MEASURE_OF.get(type(utility))
    if measure is None:
        found = joint_behaviours(instances, algorithm, reopen, max_behaviours=max_behaviours, progress=progress)
        values, first = found.vectors(utility)
        return values, found.rho[first], found.prefix
    explored = explore(exact(instances), algorithm, reopen, max_behaviours, measure, progress)
    if not explored.complete:
        raise _limit_error(max_behaviours, explored.explored)
    clipped = np.minimum(explored.values.reshape(-1, len(instances)).astype(float), utility.limit)
    values, first = np.unique(clipped, axis=0, return_index=True)
    return values, explored.rho[first], explored.prefix


class Explored(NamedTuple):
    """What the core found."""

    complete: bool
    """False if `max_behaviours` was reached."""
    explored: float
    """The share of the tree."""
    prefix: NDArray[np.int64]
    values: NDArray[np.int64]
    rho: NDArray[np.float64]


def explore(
    problem: Exact,
    algorithm: Algorithm,
    reopen: bool,
    max_behaviours: int,
    measure: str | None,
    progress: Report | None,
) -> Explored:
    """Call the core; ρ comes back as floats."""
    found = _core.explore(
        problem.weights,
        problem.sources,
        problem.goal,
        algorithm == "gbfs",
        bool(reopen),
        max_behaviours,
        -1 if measure is None else MEASURES.index(measure),
        problem.bits,
        progress,
    )
    if found.complete:
        failures.require_done(found.ending)
    rho = found.rho.reshape(-1, problem.n) / 2.0**problem.bits
    # A copy, because any of its arrays would keep all of `found` alive.
    return Explored(found.complete, found.explored, found.prefix.copy(), found.values, rho)


def _limit_error(max_behaviours: int, explored: float) -> LimitError:
    """Return the error that says how far an exact search got."""
    return LimitError(
        f"there are more than max_behaviours={max_behaviours} joint behaviours; about {min(explored, 1.0):.2%} of the "
        "tree was explored, so nothing exact can be said"
    )
