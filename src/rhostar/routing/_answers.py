"""The answers about many vertices at once: the nearest goals, and what is within a cost."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar._arrays import counted
from rhostar.routing._names import VertexNames


class Nearest(NamedTuple):
    """The vertices nearest to a given one, nearest first; fewer than requested if the others cannot be reached."""

    goals: NDArray[np.int32]
    """The vertices, by number; of equal costs the smallest first."""
    costs: NDArray[np.float64]
    """What it costs to reach each of them."""
    names: VertexNames
    """How the vertices are named."""

    @property
    def goal(self) -> Hashable | None:
        """The nearest, by its label if there are labels; None if none can be reached."""
        return self.names.labels(self.goals[:1])[0] if self.goals.size else None

    @property
    def cost(self) -> float:
        """What it costs to reach the nearest; inf if none can be reached."""
        return float(self.costs[0]) if self.goals.size else np.inf

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The labels of the vertices; their numbers if there are no labels."""
        return self.names.labels(self.goals)

    def __repr__(self) -> str:
        first = f", the first is {self.labels[0]!r} for {self.cost:.6g}" if self.goals.size else ""
        return f"Nearest({counted(len(self.goals), 'vertex', 'vertices')}{first})"


class Within(NamedTuple):
    """All vertices within a given cost of a vertex, nearest first."""

    vertices: NDArray[np.int32]
    """The vertices; the first is the one that was asked about."""
    costs: NDArray[np.float64]
    """What it costs to reach each of them."""
    parents: NDArray[np.int32]
    """The vertex before each on a shortest path; in reverse the one after it. -1 for the first."""
    names: VertexNames
    """How the vertices are named."""

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The labels of the vertices; their numbers if there are no labels."""
        return self.names.labels(self.vertices)

    def __repr__(self) -> str:
        return f"Within({len(self.vertices)} vertices, up to a cost of {self.costs.max(initial=0.0):.6g})"
