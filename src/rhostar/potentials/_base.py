"""The class Potential: what all heuristics for every goal have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError
from rhostar.instances import InstanceSet


class Potential:
    """A heuristic for every goal. It is accepted wherever ρ is, and needs no table.

    A search with a potential computes ρ only for the vertices that it reaches, so a new goal costs no pass over all
    vertices. The values for the last goal are remembered: the same goal again costs nothing.

    Attributes
    ----------
    n
        Number of vertices.
    fingerprint
        The hash of its graph; other graphs are rejected.
    scale
        The factor on all values.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(50, 50, neighbours=8)
    >>> octile = rs.heuristics.octile(graph)
    >>> [rs.astar(graph, graph.length, 0, goal, octile).expanded for goal in (51, 700, 2499)]
    [1, 14, 49]
    >>> octile.rho_for(51)[:3].round(3).tolist()
    [1.414, 1.0, 1.414]
    """

    n: int
    fingerprint: str
    scale: float
    _kernel: _core.Potential
    _smaller: tuple[float, Potential]
    """The last factor below 1 that weights below the bounds required, and this potential times it."""

    def rho_for(self, goal: int) -> NDArray[np.float64]:
        """Return the values for a goal as a table.

        Parameters
        ----------
        goal
            A vertex.

        Returns
        -------
        numpy.ndarray
            (n,) one value per vertex.

        Raises
        ------
        VertexError
            If it is not a vertex.
        """
        return self._values(np.array([arrays.vertex(goal, "goal", self.n)], dtype=np.int32))

    def rho_for_nearest(self, goals: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the values for the nearest of several goals: the least over them.

        Parameters
        ----------
        goals
            Vertices, at least one.

        Returns
        -------
        numpy.ndarray
            (n,) one value per vertex.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex, or there are none.
        """
        return self._values(goal_set(goals, self.n))

    def scaled(self, factor: float) -> Potential:
        """Return `factor` times this potential.

        Parameters
        ----------
        factor
            Not negative.

        Returns
        -------
        Potential
            What it needs in memory is shared.

        Raises
        ------
        InputError
            If `factor` is negative or not finite.
        """
        raise NotImplementedError

    def on(self, weights: NDArray[Any]) -> Potential:
        """Return the potential for these weights: itself, unless it chooses among several by the weights."""
        return self

    def on_each(self, instances: InstanceSet) -> tuple[list[Potential], NDArray[np.int32]]:
        """Return the potentials that a set of instances needs, and for each instance the index of its own."""
        return [self], np.zeros(len(instances), dtype=np.int32)

    @property
    def chooses(self) -> bool:
        """Whether it depends on the weights of the query."""
        return False

    def _values(self, goals: NDArray[np.int32]) -> NDArray[np.float64]:
        found = self._kernel.values(goals, None)
        failures.require_done(found.ending)
        return arrays.frozen(found.rho)

    def __repr__(self) -> str:
        factor = "" if self.scale == 1.0 else f", scale={self.scale:g}"
        return f"{type(self).__name__}({self.n} vertices{factor})"


def goal_set(goals: Sequence[int] | NDArray[np.integer[Any]], n: int) -> NDArray[np.int32]:
    """Return goals as the core takes them: distinct vertices in increasing order, at least one."""
    found = np.unique(arrays.vertices(goals, "goals", n))
    if found.size == 0:
        raise ArrayError("goals must name at least one vertex")
    return found


def scale_of(scale: float) -> float:
    """Return a factor on ρ, or raise :class:`rhostar.errors.InputError`."""
    return arrays.number(scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
