"""Decides exactly whether a set of instances is shattered, with thresholds and a ρ for each pattern if it is.

The utility takes finitely many values on finitely many joint behaviors, so only thresholds between
consecutive values matter. They are chosen for one instance after the other: the pattern so far divides the vectors
into classes, and a threshold must split every class; if none does, this branch of the search ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _failures as failures
from rhostar.errors import InputError, WitnessError
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm
from rhostar.search._run import solve
from rhostar.search.reference import astar, children_of, gbfs
from rhostar.theory import _core
from rhostar.theory._behaviours import _MEASURE_OF, Report, utility_vectors
from rhostar.theory._integer_instances import edges_of, exact, gather
from rhostar.theory._witness import Witness, verify
from rhostar.utilities import Custom, Utility


@dataclass(frozen=True, eq=False)
class Shattering:
    """The answer of :func:`shattering`; true if the set is shattered.

    Examples
    --------
    >>> import rhostar as rs
    >>> bool(rs.theory.shattering(rs.theory.star(5), "gbfs", rs.utilities.Cost(9)))
    False
    """

    instances: InstanceSet
    """The instances."""
    algorithm: Algorithm
    """"astar" or "gbfs"."""
    reopen: bool
    """Whether A* reopens."""
    utility: Utility
    """The utility."""
    vectors: NDArray[np.float64]
    """All distinct utility vectors over all ρ ∈ Rⁿ."""
    thresholds: NDArray[np.float64] | None
    """Midway between values; None if no thresholds show every pattern, which `vectors` proves."""
    rho: NDArray[np.float64] | None
    """For each of the 2ᴺ patterns; bit i of its number says that instance i is above its threshold."""

    def __bool__(self) -> bool:
        return self.thresholds is not None

    def __repr__(self) -> str:
        verdict = "shattered" if self else "not shattered"
        size = arrays.counted(len(self.instances), "instance")
        vectors = arrays.counted(len(self.vectors), "utility vector")
        return f"Shattering({size} {verdict}, {vectors})"

    def witness(self) -> Witness:
        """Return the shattered set in plain numbers.

        Returns
        -------
        Witness
            For a file.

        Raises
        ------
        InputError
            If the set is not shattered, or the utility is not the unclipped cost, expansions, insertions or peak of
            OPEN.
        """
        if self.thresholds is None or self.rho is None:
            raise InputError("the set is not shattered: there is no witness")
        measure = _MEASURE_OF.get(type(self.utility))
        if measure is None:
            raise InputError(f"a witness cannot store the utility {self.utility.name}; use verify()")
        problem = exact(self.instances)
        scaled = np.rint(self.rho * 2.0**problem.bits).astype(np.int64)
        return Witness(
            n=problem.n,
            goal=problem.goal,
            algorithm=self.algorithm,
            reopen=self.reopen,
            utility=measure,
            sources=tuple(self.instances.sources.tolist()),
            arcs=tuple(edges_of(self.instances)),
            thresholds=tuple(self.thresholds.tolist()),
            bits=problem.bits,
            rho=tuple(tuple(row) for row in scaled.tolist()),
        )

    def verify(self) -> int:
        """Check every pattern with the reference implementation and return the number of instances.

        A custom utility gets the trace of the compiled run, after all its states were compared with the reference's.

        Returns
        -------
        int
            The number of instances.

        Raises
        ------
        WitnessError
            If a pattern does not occur.
        """
        if type(self.utility) in _MEASURE_OF:
            return verify(self.witness())
        if self.thresholds is None or self.rho is None:
            raise InputError("the set is not shattered: there is nothing to verify")
        for pattern, rho in enumerate(self.rho):
            for i, instance in enumerate(self.instances):
                value = self._measured(instance, rho)
                if (value > self.thresholds[i]) != bool(pattern >> i & 1):
                    raise WitnessError(f"pattern {pattern}: {self.utility.name} of instance {i} is {value}")
        return len(self.instances)

    def _measured(self, instance: Instance, rho: NDArray[np.float64]) -> float:
        graph, weights, source, goal = instance
        children = children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), weights.tolist())
        greedy = self.algorithm == "gbfs"
        if greedy:
            expected = gbfs(children, source, goal, rho.tolist())
        else:
            expected = astar(children, source, goal, rho.tolist(), self.reopen)
        run = solve(greedy, *instance, rho, self.reopen, None, None, True)
        assert run.trace is not None
        states = [(set(s.open), set(s.closed), dict(s.pointer)) for s in run.trace.states()]
        if states != [(set(s.open), set(s.closed), s.pointer) for s in expected.states]:
            raise WitnessError("the compiled run differs from the reference's")
        if not isinstance(self.utility, Custom):
            raise InputError(f"{self.utility.name} cannot be verified with the reference alone")
        return min(self.utility.function(instance, run.trace), self.utility.limit)


def shattering(
    instances: InstanceSet | Sequence[Instance],
    algorithm: Algorithm,
    utility: Utility,
    reopen: bool = True,
    *,
    max_behaviours: int = 10_000_000,
    progress: Report | None = None,
) -> Shattering:
    """Say whether some instances are shattered by a utility: thresholds and a ρ for each pattern, or the proof.

    Parameters
    ----------
    instances
        A set with one goal, or single instances with the same vertices and goal; at most 64 vertices, integer weights.
    algorithm
        "astar" or "gbfs".
    utility
        What is measured. For cost, expansions, insertions and the peak of OPEN, only distinct vectors are kept in
        memory, not behaviors.
    reopen
        Whether A* reopens closed vertices.
    max_behaviours
        How many joint behaviors there may be.
    progress
        Called from time to time with the number of behaviors found and the share of the tree explored.

    Returns
    -------
    Shattering
        True with `thresholds` and `rho`, or false with the `vectors` that prove that there are none.

    Raises
    ------
    LimitError
        If there are more joint behaviors than `max_behaviours`: nothing is claimed then.
    WeightError, InstanceError
        If a weight is not an integer or too large for exact sums, vertices or goals differ, or an instance has no path.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.theory.theorem5_instances(8).instances
    >>> answer = rs.theory.shattering(instances, "gbfs", rs.utilities.Cost(10))
    >>> answer, answer.thresholds.tolist(), answer.verify()
    (Shattering(4 instances shattered, 16 utility vectors), [2.5, 2.5, 2.5, 2.5], 4)
    """
    together = gather(instances)
    values, rho, _ = utility_vectors(
        together, algorithm, utility, reopen, max_behaviours=max_behaviours, progress=progress
    )
    thresholds, which = split(values)
    found = None if which is None else rho[which]
    return Shattering(together, algorithm, bool(reopen), utility, values, thresholds, found)


def split(values: NDArray[np.float64]) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Return thresholds under which the rows show every pattern, and a row for each; None if there are none."""
    size = values.shape[1]
    if size > 40 or len(values) >> size == 0:
        return None, None
    levels, ranks = [], np.empty(values.shape, dtype=np.int32)
    for k in range(size):
        level, ranks[:, k] = np.unique(values[:, k], return_inverse=True)
        levels.append(level)
    found = _core.shatter(ranks)
    failures.require_done(found.ending)
    if not found.found:
        return None, None
    thresholds = np.array([(level[cut - 1] + level[cut]) / 2 for level, cut in zip(levels, found.cuts, strict=True)])
    patterns = (values > thresholds) @ (1 << np.arange(size))
    shown, first = np.unique(patterns, return_index=True)
    assert shown.size == 1 << size
    return thresholds, first
