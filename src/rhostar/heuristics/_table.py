"""One value per vertex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError
from rhostar.heuristics._base import Heuristic, Parts, Weights


class Table(Heuristic):
    """One value per vertex, for one goal or for any.

    Parameters
    ----------
    values
        (n,) finite float64 values; they are not copied.
    goal
        The goal that they lead to; None if the caller takes care of that.

    Raises
    ------
    ArrayError, HeuristicError
        If they are not one finite number per vertex.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> rs.astar(graph, graph.length, 0, 3, rs.heuristics.Table([3.0, 2.0, 1.0, 0.0], goal=3)).expanded
    3
    """

    kind = "table"

    def __init__(self, values: ArrayLike, goal: int | None = None) -> None:
        array = arrays.as_array(values, "values")
        if array.ndim != 1 or array.size == 0:
            raise ArrayError(f"values must be one number for each vertex, got shape {array.shape}")
        self.n = array.size
        self._values: ArrayLike = arrays.per_vertex(values, "values", self.n)
        self._goals = None if goal is None else (arrays.vertex(goal, "goal", self.n),)
        self._name, self._infinite = "rho", False

    @classmethod
    def of_values(cls, values: ArrayLike, n: int, name: str, *, infinite: bool = False) -> Table:
        """Return bare values of an argument as a table; they are checked when they are used.

        Parameters
        ----------
        values
            One value per vertex.
        n
            Number of vertices.
        name
            The name of the argument, for errors.
        infinite
            Whether inf is accepted, for vertices that do not reach the goal.

        Returns
        -------
        Table
            For any goal.
        """
        found = cls.__new__(cls)
        found.n, found._values, found._goals, found._name, found._infinite = n, values, None, name, infinite
        return found

    @property
    def goals(self) -> tuple[int, ...] | None:
        """The goal that the values lead to; None for any."""
        return self._goals

    def table(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values; see :meth:`Heuristic.table`."""
        if self._goals is not None:
            self.require_goals([arrays.vertex(goal, "goal", self.n)])
        return self.values

    def tables(self, goals: NDArray[np.integer[Any]]) -> tuple[list[NDArray[np.float64]], NDArray[np.int32]]:
        """Return the values, once; see :meth:`Heuristic.tables`."""
        self.require_goals(goals)
        return [self.values], np.zeros(len(goals), dtype=np.int32)

    def only_table(self) -> Table | None:
        """Return itself."""
        return self

    @property
    def values(self) -> NDArray[np.float64]:
        """The values, read-only if it was learned."""
        return arrays.per_vertex(self._values, self._name, self.n, infinite=self._infinite)

    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values as the core takes them."""
        return arrays.per_vertex_layout(self._values, self._name, self.n)

    def scaled(self, factor: float) -> Table:
        """Return `factor` times these values; see :meth:`Heuristic.scaled`."""
        facts = self._scaled_facts(factor)
        return self._changed(_values=arrays.frozen(factor * np.asarray(self._values)), **facts)

    def __repr__(self) -> str:
        return f"Table({self.n} values{'' if self._goals is None else f', goal {self._goals[0]}'})"

    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        return {"values": self.values}, {"goal": None if self._goals is None else self._goals[0]}

    @classmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Table:
        return cls(arrays.frozen(parts["values"]), facts["goal"])
