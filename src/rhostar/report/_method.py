"""The class Method: a heuristic, and the algorithm to run it with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhostar.errors import InputError
from rhostar.heuristics import Heuristic, HeuristicLike
from rhostar.instances import Instance, InstanceSet
from rhostar.report._section import Kind
from rhostar.search import Algorithm, Run, astar, gbfs


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
        graph, weights, source, goal = instance
        if self.algorithm == "gbfs":
            return gbfs(graph, weights, source, goal, self.rho, budget=budget, trace=True)
        return astar(graph, weights, source, goal, self.rho, reopen=self.reopen, budget=budget, trace=True)


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
