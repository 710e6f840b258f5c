"""Hierarchies for some vehicles or mixes of criteria guide the searches for others.

Let the weights of a query be the sum of f_c · w_c, each w_c being the weights of one criterion on the edges of one
class and 0 on all others. Hierarchies are customized to today's weights and to those of some other vehicles or mixes,
with r_c in place of f_c. Where a · r + b · r' ≤ f in every part, a · d + b · d' is consistent for the query, d and d'
being the distances of the two hierarchies (:mod:`rhostar.routing._repriced`). The pair with the largest sum is used,
measured by distances between some vertices.

Searches for vehicles that are new share an allowance. When they have taken as much work as customizing, the one at hand
is customized, although it may not recur: later ones gain. This happens at most `MOST` times after an update, and takes
at most as much work as the searches.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.routing._state import Engine, State

MOST = 4
"""Hierarchies that are customized so that they guide others; later ones gain little."""
_VERTICES = 8
"""Distances among as many vertices say how much a hierarchy is worth."""


class Related:
    """The hierarchies of vehicles and mixes under the current weights.

    Parameters
    ----------
    engine
        Of the router.
    classes
        How many classes of edges there are.
    """

    def __init__(self, engine: Engine, classes: int) -> None:
        self._engine, self.classes = engine, classes
        self.forget()

    def forget(self) -> None:
        """Forget all of them."""
        self.spent = 0.0
        """The work of searches since one was last customized."""
        self._made: list[tuple[list[State], NDArray[np.float64], _core.Customization]] = []
        self._tables: dict[tuple[Any, ...], _Table] = {}

    def allowance(self, customizing: float) -> float:
        """Return the work that searches may still take together before one is customized."""
        return customizing - self.spent if len(self._made) < MOST else math.inf

    def add(self, states: list[State], shares: NDArray[np.float64], index: _core.Customization) -> None:
        """Keep a hierarchy that is customized to the sum of states times the shares, by state and class."""
        with self._engine.counting:
            self.spent = 0.0
            self._made = [*self._made, (states, shares, index)][-MOST:]
            self._tables = {}

    def guides(self, states: list[State], shares: NDArray[np.float64]) -> list[tuple[_core.Customization, float]]:
        """Return the hierarchies that guide searches best, each with a factor; none if only those of today can."""
        known = [(row.ravel(), index) for of, row, index in self._made if of == states]
        if not known:
            return []
        # These states are kept by what was made for them, so nothing else is kept by the keys.
        tables, key = self._tables, (*states, *(state.index is None for state in states))
        if key not in tables:
            tables[key] = self._table(states, known)
        rows, worth, indexes = tables[key]
        return [(indexes[k], scale) for k, scale in _core.combination(rows, worth, shares.ravel())]

    def _table(self, states: list[State], known: list[tuple[NDArray[np.float64], _core.Customization]]) -> _Table:
        today = np.repeat(np.eye(len(states)), self.classes, axis=1)
        known += [(row, state.index) for row, state in zip(today, states, strict=True) if state.index is not None]
        some = np.linspace(0, self._engine.graph.n - 1, _VERTICES).astype(np.int32)
        costs = [index.matrix(some, some, None).cost for _, index in known]
        worth = np.array([cost[np.isfinite(cost)].sum() for cost in costs])
        rows = np.array([row for row, _ in known]).reshape(len(known), len(states) * self.classes)
        return rows, worth, [index for _, index in known]


_Table = tuple[NDArray[np.float64], NDArray[np.float64], list[_core.Customization]]
"""Rows of shares, how much each is worth, and the hierarchies that are customized to them."""
