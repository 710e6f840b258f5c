"""The class Heuristic, which all kinds of heuristics share, and the simplest kind: a table of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import ArrayError, HeuristicError, ModelError, RhostarError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet, Snapshot
from rhostar.instances._provenance import Provenance

Weights = NDArray[Any] | Snapshot
"""The weights of a query: one per edge, in a form that the core reads."""

Parts = dict[str, NDArray[Any]]
"""Arrays by name, for a file."""

KINDS: dict[str, type[Heuristic]] = {}
"""The kinds of heuristics by their names in saved models."""


class Heuristic(ABC):
    """Heuristic values ρ for the vertices of a graph; accepted wherever a heuristic is.

    A heuristic is not changed after it has been made; :meth:`scaled` and :meth:`with_facts` return others.

    Attributes
    ----------
    n
        Number of vertices.
    m
        Number of edges of its graph, if it has something for each edge; else None.
    fingerprint
        The hash of its graph, ``graph.fingerprint``; other graphs are rejected. None for bare values.
    lower
        (m,) A* with this heuristic is optimal where no weight is below these; None if it guarantees nothing. A search
        compares the weights of its query with them and lowers the values where it must, so that answers stay optimal.
    consistent_for
        (m,) weights for which it is consistent: ρ_v − ρ_c is at most the weight of every edge (v, c). None if no such
        weights are known.
    trained_on
        Which instances it was learned from, or chosen by; None if that is not known.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> rho = rs.heuristics.as_heuristic(rs.distances_to(graph, graph.length, 8), graph)
    >>> isinstance(rho, rs.heuristics.Heuristic), float(rho.scaled(0.5).table(8)[0])
    (True, 2.0)
    """

    kind: ClassVar[str]
    """Its name in saved models."""

    n: int
    m: int | None = None
    fingerprint: str | None = None
    lower: NDArray[np.float64] | None = None
    consistent_for: NDArray[np.float64] | None = None
    trained_on: Provenance | None = None
    _factor: float = 1.0

    @property
    def factor(self) -> float:
        """What its values have been multiplied by since they were made or learned; sentences name it."""
        return self._factor

    @property
    def goals(self) -> tuple[int, ...] | None:
        """The goals that it has values for; None if it serves every goal."""
        return None

    @property
    def uses_weights(self) -> bool:
        """Whether the values depend on the weights of the query."""
        return False

    @property
    def multiplies(self) -> bool:
        """Whether :meth:`scaled` multiplies each value: not if a delay at the goal is added to them."""
        return True

    @abstractmethod
    def table(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values for a goal.

        Parameters
        ----------
        goal
            A vertex.
        weights
            The weights of the query; needed only if ``uses_weights``.

        Returns
        -------
        numpy.ndarray
            (n,) one finite value per vertex, read-only.

        Raises
        ------
        VertexError
            If the goal is not a vertex.
        HeuristicError, ModelError
            If there are no values for the goal, or one is not finite.
        """

    @abstractmethod
    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64] | _core.Potential:
        """Return what the compiled search takes for one query; a table is checked by the search, where it looks.

        Parameters
        ----------
        goal
            The goal of the query.
        weights
            Its weights; needed only where `uses_weights` is True.

        Returns
        -------
        array or Potential
            A table, or a rule by which the search computes values where it looks.
        """

    @abstractmethod
    def scaled(self, factor: float) -> Heuristic:
        """Return `factor` times this heuristic.

        Parameters
        ----------
        factor
            Not negative.

        Returns
        -------
        Heuristic
            It guarantees optimal answers if this one does and `factor` is at most 1. A delay at the goal (see
            :class:`DistanceHeuristic`) is not multiplied, but found again for the distances after scaling.

        Raises
        ------
        InputError
            If `factor` is negative or not finite.
        """

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    @abstractmethod
    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        """Return what is needed to make it again: arrays, and plain values."""

    @classmethod
    @abstractmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Heuristic:
        """Return what :meth:`_parts` took apart, checked; any exception says that it is damaged."""

    def on(self, weights: Weights) -> Heuristic:
        """Return the heuristic for these weights: itself, unless the weights choose among several.

        Parameters
        ----------
        weights
            The weights of a query.

        Returns
        -------
        Heuristic
            One that chooses no more; it may still look at the weights of the edges into the goal.
        """
        return self

    @property
    def words(self) -> str:
        """What a sentence calls it."""
        return "this heuristic"

    def only_table(self) -> Any:
        """Return the same as one table for one goal; None if it has another number of tables."""
        return None

    def tables(self, goals: NDArray[np.integer[Any]]) -> tuple[list[NDArray[np.float64]], NDArray[np.int32]]:
        """Return tables for several instances, and for each instance the index of its own.

        Parameters
        ----------
        goals
            The goal of each instance.

        Returns
        -------
        tuple
            A list of tables, and one index for each instance.
        """
        distinct, of = np.unique(goals, return_inverse=True)
        return [self.table(goal) for goal in distinct.tolist()], of.astype(np.int32)

    def for_instances(self, instances: InstanceSet) -> tuple[list[Any], NDArray[np.int32]]:
        """Return what searches on a set take, and for each instance the index of its own.

        They are all tables, or all heuristics that are computed where a search looks.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        tuple
            A list, and one index for each instance.
        """
        return self.tables(instances.goals)

    def has_tables(self, goals: Iterable[int]) -> bool:
        """Return whether it is a table for each of these goals, neither computed by a search nor chosen by weights.

        Parameters
        ----------
        goals
            Vertices.

        Returns
        -------
        bool
            Whether :meth:`table` costs nothing for them.
        """
        return not self.uses_weights

    def serves(self, goal: int) -> bool:
        """Return whether it has values for a goal.

        Parameters
        ----------
        goal
            A vertex.

        Returns
        -------
        bool
            Whether :meth:`table` accepts it.
        """
        return self.goals is None or goal in self.goals

    def require_goals(self, goals: Iterable[int], graph: Graph | None = None, name: str = "rho") -> None:
        """Raise unless it has values for these goals.

        Parameters
        ----------
        goals
            Vertices.
        graph
            Whose labels the message shows.
        name
            What the message calls it.

        Raises
        ------
        HeuristicError, ModelError
            If it has none; the latter if it was learned.
        """
        if isinstance(goals, np.ndarray):
            goals = np.unique(goals).tolist()
        for goal in goals:
            if not self.serves(goal):
                raise self._no_values(goal, graph, name)

    def _no_values(self, asked: int, graph: Graph | None, name: str) -> RhostarError:
        def named(vertex: int) -> str:
            return repr(vertex) if graph is None else graph._vertex_and_label(vertex)

        known = [named(goal) for goal in self.goals or ()]
        shown = ", ".join(known[:5]) + (f" and {len(known) - 5} more" if len(known) > 5 else "")
        if self.fingerprint is None:
            others = f"it has values for {shown}" if shown else "it is empty"
            return HeuristicError(f"{name} has no values for goal {named(asked)}; {others}")
        what = "goal" if len(known) == 1 else "goals"
        return ModelError(f"the heuristic was fitted for {what} {shown or 'none'}, not for goal {named(asked)}")

    def with_facts(self, **facts: Any) -> Self:
        """Return the same heuristic with other facts.

        Parameters
        ----------
        **facts
            Any of ``fingerprint``, ``lower``, ``consistent_for`` and ``trained_on``.

        Returns
        -------
        Heuristic
            A copy that shares the values.
        """
        for name in ("lower", "consistent_for"):
            if facts.get(name) is not None:
                facts["m"] = facts[name].size
        return self._changed(**facts)

    def _changed(self, **changes: Any) -> Self:
        """Return a copy that shares everything but these attributes."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        found.__dict__.update(changes)
        return found

    def _scaled_facts(self, factor: float) -> dict[str, Any]:
        """Return the facts that change if the values are multiplied."""
        scale_of(factor)
        lower = self.lower if factor <= 1 else None
        return {
            "lower": None if lower is None else _times(lower, factor),
            "consistent_for": None if self.consistent_for is None else _times(self.consistent_for, factor),
            "_factor": self._factor * factor,
        }


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
    def words(self) -> str:
        """What a sentence calls it."""
        return "this rho"

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


def _times(weights: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # 0 times inf
        return arrays.frozen(np.where(np.isinf(weights), np.inf, factor * weights))


def common_factor(members: Iterable[Any]) -> float:
    """Return the factor that all of several heuristics were scaled by; 1 if they differ."""
    factors = {member.factor if isinstance(member, Heuristic) else 1.0 for member in members}
    return factors.pop() if len(factors) == 1 else 1.0


def scale_of(scale: float) -> float:
    """Return a factor on ρ, or raise :class:`rhostar.errors.InputError`."""
    return arrays.number(scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
