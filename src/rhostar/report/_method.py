"""The class Method: a heuristic, and the algorithm to run it with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhostar.errors import InputError
from rhostar.instances import Instance, InstanceSet
from rhostar.report._section import Kind
from rhostar.search import Algorithm, Rho, Run, astar, gbfs


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

    rho: Rho
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
        """Return a run with its trace."""
        graph, weights, source, goal = instance
        if self.algorithm == "gbfs":
            return gbfs(graph, weights, source, goal, self.rho, budget=budget, trace=True)
        return astar(graph, weights, source, goal, self.rho, reopen=self.reopen, budget=budget, trace=True)


def as_methods(instances: InstanceSet, methods: Mapping[str, Any]) -> dict[str, Method]:
    """Return the arguments as methods, or raise :class:`InputError`."""
    if not isinstance(instances, InstanceSet) or len(instances) == 0:
        raise InputError("instances must be an InstanceSet with at least one instance")
    found = {}
    for name, given in methods.items():
        method = given
        if not isinstance(given, Method):
            method = Method(given, kind="learned" if hasattr(given, "rho_") else "baseline")
        if method.algorithm not in ("astar", "gbfs") or method.kind not in ("baseline", "learned"):
            raise InputError(
                f"method {name!r} must be for 'astar' or 'gbfs' and 'baseline' or 'learned', got {method!r}"
            )
        found[str(name)] = method
    if not found:
        raise InputError("methods must name at least one heuristic")
    return found
