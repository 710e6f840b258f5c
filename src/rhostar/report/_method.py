"""The class Method: a heuristic and the algorithm to run it with; and the times of methods.

Methods are timed in turn, round by round, so that a busy machine slows all of them alike. Only the time that the
processor spends on the searches, on one thread, is measured, not the time spent waiting for other programs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rhostar.errors import InputError
from rhostar.heuristics import Heuristic, HeuristicLike
from rhostar.instances import Instance, InstanceSet
from rhostar.report._section import Kind
from rhostar.search import Algorithm, Run, solve_many
from rhostar.search._run import solve


@dataclass(frozen=True)
class Method:
    """A heuristic with the algorithm that uses it.

    Parameters
    ----------
    rho
        As for :func:`rhostar.astar`: one value per vertex, such an array for each goal, a fitted learner or a model.
    algorithm
        "astar" or "gbfs".
    reopen
        Whether A* reopens.
    kind
        "learned" or "baseline"; the first baseline is what savings are measured against.
    """

    rho: HeuristicLike
    algorithm: Algorithm = "astar"
    reopen: bool = True
    kind: Kind = "baseline"

    @property
    def words(self) -> str:
        """The usual name of the algorithm."""
        if self.algorithm == "gbfs":
            return "greedy search"
        return "A*" if self.reopen else "A* without reopening"

    @property
    def is_dijkstra(self) -> bool:
        """Whether this is A* with ρ = 0."""
        zeros = isinstance(self.rho, np.ndarray) and not np.any(self.rho)
        return self.algorithm == "astar" and zeros

    def trace(self, instance: Instance, budget: int | None) -> Run:
        """Return a run with its trace.

        Parameters
        ----------
        instance
            The instance to search on.
        budget
            The most expansions, or None.

        Returns
        -------
        Run
            With its trace.
        """
        return solve(self.algorithm == "gbfs", *instance, self.rho, self.reopen, budget, None, True)


def _is_learned(given: Any) -> bool:
    """Return whether a heuristic was learned, as far as it says so."""
    if isinstance(given, Heuristic):
        return given.trained_on is not None
    return not isinstance(given, np.ndarray | Mapping | list | tuple)


def as_methods(instances: InstanceSet, methods: Mapping[str, Any]) -> dict[str, Method]:
    """Return the arguments as methods, or raise :class:`InputError`."""
    if not isinstance(instances, InstanceSet) or len(instances) == 0:
        raise InputError("instances must be an InstanceSet with at least one instance")
    found = {}
    for name, given in methods.items():
        method = given
        if not isinstance(given, Method):
            method = Method(given, kind="learned" if _is_learned(given) else "baseline")
        if method.algorithm not in ("astar", "gbfs") or method.kind not in ("baseline", "learned"):
            raise InputError(
                f"method {name!r} must be for 'astar' or 'gbfs' and 'baseline' or 'learned', got {method!r}"
            )
        found[str(name)] = method
    if not found:
        raise InputError("methods must name at least one heuristic")
    return found


# ---------------------------------------------------------------- times


class Timing(NamedTuple):
    """One method on one thread."""

    name: str
    milliseconds: float
    """The time of a query, from the median round."""
    spread: float
    """How far apart the middle half of the rounds was, divided by the median: the noise of the machine."""


class Timings(NamedTuple):
    """The times of all methods, and what they were measured on."""

    methods: tuple[Timing, ...]
    instances: int
    """How many instances each round solved."""
    rounds: int

    @property
    def spread(self) -> float:
        """The largest spread of a method."""
        return max(timing.spread for timing in self.methods)


def quick_times(
    instances: InstanceSet, methods: Mapping[str, Method], *, budget: int | None = None, seconds: float = 1.5
) -> Timings:
    """Time all methods in about a given time: on all instances, or on as many random ones as there is time for."""
    order = np.random.default_rng(0).permutation(len(instances))
    pilot = instances[np.sort(order[:_PILOT])]
    spent = sum(_once(pilot, method, budget) for method in methods.values())
    count = int(np.clip(seconds / spent * len(pilot) / _ROUNDS, len(pilot), len(instances)))
    part = instances if count == len(instances) else instances[np.sort(order[:count])]
    each = np.array([[_once(part, method, budget) for method in methods.values()] for _ in range(_ROUNDS)])
    median, apart = np.median(each, axis=0), np.subtract(*np.percentile(each, [75, 25], axis=0))
    times = zip(methods, (1e3 * median / count).tolist(), (apart / median).tolist(), strict=True)
    return Timings(tuple(Timing(*time) for time in times), count, _ROUNDS)


_PILOT, _ROUNDS = 10, 5


def _once(instances: InstanceSet, method: Method, budget: int | None) -> float:
    """Return the seconds that one thread needs for all instances."""
    start = time.thread_time()
    solve_many(instances, method.rho, algorithm=method.algorithm, reopen=method.reopen, budget=budget, n_jobs=1)
    return max(time.thread_time() - start, 1e-9)
