"""Heuristics for every goal, computed where a search needs them instead of read from a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, HeuristicError
from rhostar.heuristics._base import Heuristic, Parts, Table, Weights, scale_of
from rhostar.instances import InstanceSet


class Computed(Heuristic):
    """A heuristic for every goal.

    A search computes ρ only for the vertices that it reaches, so a new goal costs no pass over all vertices. The values
    for the last goal are remembered: the same goal again costs nothing. For some goals there may be a table as well,
    which is quicker to read.

    Attributes
    ----------
    scale
        The factor on all values.
    """

    scale: float
    fingerprint: str
    _kernel: _core.Potential
    _known: Mapping[int, NDArray[np.float64]] = {}
    """Tables by goal."""
    _cut: tuple[float, float] | None = None
    """If it was lowered: the larger of the first number times the values, and the values less the second, remains."""
    _lowering: Any = None
    """What the last weights below its bounds required, which are often those of the next query (_below.py)."""

    @property
    def factor(self) -> float:
        """The factor on all values."""
        return self.scale

    @abstractmethod
    def _make_kernel(self) -> _core.Potential:
        """Return what the core takes."""

    @abstractmethod
    def _own_parts(self) -> tuple[Parts, dict[str, Any]]:
        """Return what is needed to make it again, but the tables."""

    @classmethod
    @abstractmethod
    def _of_own_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Computed:
        """Return what :meth:`_own_parts` took apart, checked; any exception says that it is damaged."""

    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        parts, facts = self._own_parts()
        if self._known:
            parts["tables"] = np.stack([*self._known.values()])
        return parts, facts | {"goals": list(self._known)}

    @classmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Computed:
        found = cls._of_own_parts(parts, facts)
        if not facts["goals"]:
            return found
        goals = [arrays.vertex(goal, "goal", found.n) for goal in facts["goals"]]
        tables = (arrays.per_vertex(table, "tables", found.n) for table in parts["tables"])
        return found.with_tables(dict(zip(goals, tables, strict=True)))

    def with_tables(self, tables: Mapping[int, NDArray[np.float64]]) -> Computed:
        """Return the same heuristic with tables for some goals, which searches then read.

        Parameters
        ----------
        tables
            One value per vertex, by goal.

        Returns
        -------
        Computed
            It computes values for all other goals.
        """
        if not tables and not self._known:
            return self
        return self._changed(_known={goal: arrays.frozen(table) for goal, table in tables.items()})

    def has_tables(self, goals: Iterable[int]) -> bool:
        """Return whether it has a table for each of these goals."""
        return all(goal in self._known for goal in goals)

    def only_table(self) -> Table | None:
        """Return the only table that it has; None if there is none, or several."""
        if len(self._known) != 1:
            return None
        ((goal, table),) = self._known.items()
        names = ("fingerprint", "lower", "consistent_for", "trained_on")
        facts = {name: getattr(self, name) for name in names}
        return Table(table, goal).with_facts(**facts, _factor=self.factor)

    def table(
        self, goal: int | Sequence[int] | NDArray[np.int32], weights: Weights | None = None
    ) -> NDArray[np.float64]:
        """Return the values for a goal; for several, the lowest over them.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex, or there are none.
        """
        if np.ndim(goal) > 0:
            goals = goal_set(goal, self.n)
        else:
            vertex = arrays.vertex(goal, "goal", self.n)
            if vertex in self._known:
                return self._known[vertex]
            goals = np.array([vertex], dtype=np.int32)
        row = None
        if self.uses_weights:
            if weights is None or self.m is None:
                raise HeuristicError("this heuristic looks at the weights of the query: pass weights")
            row = arrays.weight_row(np.asarray(weights), "weights", self.m)
        found = self._kernel.values(goals, row, None)
        failures.require_done(found.ending)
        return arrays.frozen(found.rho)

    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64] | _core.Potential:
        """Return what the compiled search takes for one query."""
        return self._known.get(goal, self._kernel)

    def for_instances(self, instances: InstanceSet) -> tuple[list[Any], NDArray[np.int32]]:
        """Return what searches on a set take, and for each instance the index of its own."""
        if self._known and self.has_tables(np.unique(instances.goals).tolist()):
            return self.tables(instances.goals)
        return [self], np.zeros(len(instances), dtype=np.int32)

    def scaled(self, factor: float) -> Computed:
        """Return `factor` times this heuristic; what it needs in memory is shared. See :meth:`Heuristic.scaled`."""
        found = self._changed(
            scale=scale_of(self.scale * scale_of(factor)),
            _known={goal: arrays.frozen(factor * table) for goal, table in self._known.items()},
            _cut=None if self._cut is None else (self._cut[0], factor * self._cut[1]),
            _lowering=None,
            **self._scaled_facts(factor),
        )
        found._make_whole_kernel()
        return found

    def lowered(self, factor: float, loss: float) -> Computed:
        """Return the larger of `factor` times this heuristic, and this heuristic less `loss`.

        Parameters
        ----------
        factor
            Between 0 and 1.
        loss
            Not negative; inf leaves the product alone.

        Returns
        -------
        Computed
            Without bounds of its own.
        """
        found = self._changed(_cut=(factor, loss), _known={}, _lowering=None, lower=None, consistent_for=None)
        found._kernel = _core.lowered_potential(self._kernel, factor, loss)
        return found

    def _make_whole_kernel(self) -> None:
        self._kernel = self._make_kernel()
        if self._cut is not None:
            self._kernel = _core.lowered_potential(self._kernel, *self._cut)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kernel": None, "_lowering": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_whole_kernel()

    def __repr__(self) -> str:
        factor = "" if self.scale == 1.0 else f", scale={self.scale:g}"
        return f"{type(self).__name__}({self.n} vertices{factor})"


def goal_set(goals: Any, n: int) -> NDArray[np.int32]:
    """Return goals as the core takes them: distinct vertices in increasing order, at least one."""
    found = np.unique(arrays.vertices(goals, "goals", n))
    if found.size == 0:
        raise ArrayError("goals must name at least one vertex")
    return found
