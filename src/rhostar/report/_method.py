"""A heuristic, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass

from rhostar.instances import Instance
from rhostar.report._view import Kind
from rhostar.search import Rho, Run, astar, gbfs
from rhostar.utilities import Algorithm


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
        """The algorithm as people call it."""
        if self.algorithm == "gbfs":
            return "greedy search"
        return "A*" if self.reopen else "A* without reopening"

    def trace(self, instance: Instance, budget: int | None) -> Run:
        """Return a run with its trace."""
        graph, weights, source, goal = instance
        if self.algorithm == "gbfs":
            return gbfs(graph, weights, source, goal, self.rho, budget=budget, trace=True)
        return astar(graph, weights, source, goal, self.rho, reopen=self.reopen, budget=budget, trace=True)
