"""A Python function of two vertices as a heuristic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import HeuristicError, InputError
from rhostar.graph import Graph
from rhostar.heuristics._base import Heuristic, Parts, Weights, scale_of


class Function(Heuristic):
    """A Python function of a vertex and a goal, as ``networkx.astar_path`` takes one.

    A search needs the values of all vertices for its goal, so each new goal costs n calls.

    Parameters
    ----------
    estimate
        ``estimate(u, v)``: the estimated cost from u to v. It gets the labels of the graph, if there are some.
    graph
        The graph.
    scale
        Factor on the values.

    Raises
    ------
    HeuristicError
        Raised when a value is used that is not a finite number; it names the two vertices.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> rs.astar(graph, graph.length, 0, 3, lambda u, v: abs(u - v)).expanded
    3
    """

    kind = "function"

    def __init__(self, estimate: Callable[[Any, Any], float], graph: Graph, *, scale: float = 1.0) -> None:
        self.n, self.m, self.fingerprint = graph.n, graph.m, graph.fingerprint
        self._estimate, self._names = estimate, graph.labels or range(graph.n)
        self._scale = scale_of(scale)
        self._last: tuple[int, NDArray[np.float64]] | None = None

    def table(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values for a goal; see :meth:`Heuristic.table`."""
        goal, last = arrays.vertex(goal, "goal", self.n), self._last
        if last is not None and last[0] == goal:
            return last[1]
        target, estimate = self._names[goal], self._estimate
        values = np.empty(self.n)
        for v, name in enumerate(self._names):
            found = estimate(name, target)
            try:
                values[v] = float(found)
            except (TypeError, ValueError):
                raise HeuristicError(
                    f"the heuristic of {name!r} to {target!r} must be a number, got {found!r}"
                ) from None
        bad = ~np.isfinite(values)
        if bad.any():
            first = int(np.argmax(bad))
            raise HeuristicError(
                f"the heuristic of {self._names[first]!r} to {target!r} must be finite, got {values[first]}"
            )
        values *= self._scale
        self._last = goal, arrays.frozen(values)
        return self._last[1]

    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values for a goal as the core takes them."""
        return self.table(goal)

    @property
    def factor(self) -> float:
        """The factor on all values."""
        return self._scale

    def scaled(self, factor: float) -> Function:
        """Return `factor` times this heuristic; see :meth:`Heuristic.scaled`."""
        return self._changed(_scale=scale_of(factor) * self._scale, _last=None)

    def has_tables(self, goals: Any) -> bool:
        """Return False: each goal costs n calls."""
        return False

    def __repr__(self) -> str:
        return f"Function({getattr(self._estimate, '__name__', type(self._estimate).__name__)}, {self.n} vertices)"

    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        raise InputError("a Python function cannot be saved; save a table of its values: heuristic.table(goal)")

    @classmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Function:
        raise InputError("a Python function cannot be read from a file")
