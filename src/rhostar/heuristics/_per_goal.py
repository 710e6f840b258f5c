"""A separate heuristic for each goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import InputError
from rhostar.heuristics._base import Heuristic, Parts, Table, Weights, common_factor
from rhostar.heuristics._storage import members_from_parts, members_to_parts
from rhostar.instances import InstanceSet


class PerGoal(Heuristic):
    """A heuristic of its own for each goal.

    Parameters
    ----------
    members
        By goal: one value per vertex, or a heuristic. It is not copied; one that computes its values on request is
        accepted.
    n
        Number of vertices.
    name
        The name of the argument that they come from, for errors.
    infinite
        Whether inf is accepted, for vertices that do not reach a goal.

    Raises
    ------
    ArrayError, HeuristicError
        Raised when values are used that are not one finite number per vertex.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> ends = rs.heuristics.PerGoal({v: rs.distances_to(graph, graph.length, v) for v in (0, 3)}, n=4)
    >>> ends.goals, ends.table(3).tolist()
    ((0, 3), [3.0, 2.0, 1.0, 0.0])
    """

    kind = "per goal"

    def __init__(
        self, members: Mapping[int, ArrayLike | Heuristic], n: int, *, name: str = "rho", infinite: bool = False
    ) -> None:
        self.members, self.n, self._name, self._infinite = members, n, name, infinite

    @property
    def words(self) -> str:
        """What a sentence calls it."""
        return "these portfolios, one for each goal" if self.uses_weights else "this rho"

    @property
    def factor(self) -> float:
        """The factor on all its members."""
        return common_factor(self.members.values() if isinstance(self.members, dict) else ())

    @property
    def goals(self) -> tuple[int, ...]:
        """The goals that it has values for."""
        return tuple(self.members)

    @property
    def uses_weights(self) -> bool:
        """Whether the values for some goal depend on the weights of the query."""
        # A mapping of another class may compute its values on request: they are not asked for.
        known = self.members.values() if isinstance(self.members, dict) else ()
        return any(isinstance(member, Heuristic) and member.uses_weights for member in known)

    @property
    def multiplies(self) -> bool:
        """Whether :meth:`scaled` multiplies the values for every goal."""
        known = self.members.values() if isinstance(self.members, dict) else ()
        return all(member.multiplies for member in known if isinstance(member, Heuristic))

    def serves(self, goal: int) -> bool:
        """Return whether it has values for a goal."""
        try:
            self.members[goal]  # not `in`: a mapping may compute its values on request
        except KeyError:
            return False
        return True

    def member(self, goal: int) -> Heuristic:
        """Return the heuristic for a goal; raises as :meth:`table`.

        Parameters
        ----------
        goal
            A vertex.

        Returns
        -------
        Heuristic
            For this goal.

        Raises
        ------
        HeuristicError
            If there is none for this goal.
        """
        try:
            found = self.members[goal]
        except KeyError:
            raise self._no_values(goal, None, self._name) from None
        if isinstance(found, Heuristic):
            return found
        return Table.of_values(found, self.n, f"{self._name}[{goal}]", infinite=self._infinite)

    def table(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values for a goal; see :meth:`Heuristic.table`."""
        goal = arrays.vertex(goal, "goal", self.n)
        return self.member(goal).table(goal, weights)

    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64] | _core.Potential:
        """Return what the compiled search takes for one query."""
        return self.member(goal).kernel(goal, weights)

    def for_instances(self, instances: InstanceSet) -> tuple[list[Any], NDArray[np.int32]]:
        """Return tables for a set, and for each instance the index of its own."""
        if not self.uses_weights:
            return self.tables(instances.goals)
        found: list[Any] = []
        of = np.empty(len(instances), dtype=np.int32)
        for goal in np.unique(instances.goals).tolist():
            mine = np.flatnonzero(instances.goals == goal)
            own, which = self.member(goal).for_instances(instances[mine])
            of[mine] = which + len(found)
            found += own
        return found, of

    def scaled(self, factor: float) -> PerGoal:
        """Return `factor` times this heuristic; see :meth:`Heuristic.scaled`."""
        facts = self._scaled_facts(factor)
        return self._changed(members={goal: self.member(goal).scaled(factor) for goal in self.members}, **facts)

    def __repr__(self) -> str:
        return f"PerGoal({len(self.members)} goals, {self.n} vertices)"

    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        if not self.members:
            raise InputError("a heuristic must have values for at least one goal to be saved")
        parts, members = members_to_parts([self.member(goal) for goal in self.members])
        return parts, {"goals": [int(goal) for goal in self.members], "members": members}

    @classmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> PerGoal:
        members = members_from_parts(parts, facts["members"])
        n = members[0].n
        goals = [arrays.vertex(goal, "goal", n) for goal in facts["goals"]]
        found = dict(zip(goals, members, strict=True))
        if len(found) < len(goals) or any(member.n != n for member in members):
            raise InputError("its goals are not distinct, or its tables differ in size")
        return cls(found, n)
