"""The class Heuristic: what all kinds of heuristics have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import HeuristicError, ModelError, RhostarError, StorageError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet, Snapshot
from rhostar.instances._provenance import Provenance, provenance
from rhostar.instances._provenance import from_parts as records_from_parts
from rhostar.instances._provenance import to_parts as records_to_parts

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
        (m,) weights at or above which A* with it is optimal; None if it guarantees nothing. A search compares the
        weights of its query with them and lowers the values where it must, so that answers stay optimal.
    consistent_for
        (m,) weights for which it is consistent: ρ_v − ρ_c is at most the weight on every edge (U3); None if no such
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

    @property
    def goals(self) -> tuple[int, ...] | None:
        """The goals that it has values for; None if it serves every goal."""
        return None

    @property
    def uses_weights(self) -> bool:
        """Whether the values depend on the weights of the query."""
        return False

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
            It guarantees optimal answers if this one does and `factor` is at most 1.

        Raises
        ------
        InputError
            If `factor` is negative or not finite.
        """

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def to_parts(self) -> tuple[Parts, dict[str, Any]]:
        """Return named arrays and plain values from which :meth:`from_parts` makes it again.

        Returns
        -------
        tuple
            The arrays and the plain values, each by name.

        Raises
        ------
        InputError
            If it has no values.
        """
        parts, own = self._parts()
        facts: dict[str, Any] = {"kind": self.kind, "graph": self.fingerprint, "trained_on": None}
        if self.trained_on is not None:
            seen, facts["trained_on"] = records_to_parts(self.trained_on.parts, "trained_on")
            parts |= seen
        if self.lower is not None:
            parts["lower"] = self.lower
        facts["same"] = self.lower is self.consistent_for
        if self.consistent_for is not None and not facts["same"]:
            parts["consistent_for"] = self.consistent_for
        return parts, facts | own

    @staticmethod
    def from_parts(parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Heuristic:
        """Return the heuristic that :meth:`to_parts` took apart, after checking it.

        Parameters
        ----------
        parts
            The arrays by name.
        facts
            The plain values by name.

        Returns
        -------
        Heuristic
            Of the kind that `facts` names.

        Raises
        ------
        StorageError
            If the parts are not those of a heuristic.
        """
        try:
            if facts["kind"] not in KINDS:
                raise StorageError(f"the heuristic is damaged: there is no kind {facts['kind']!r}")
            found = KINDS[facts["kind"]]._of_parts(parts, facts)
            lower, consistent_for = (_bounds(parts, name, found.m) for name in ("lower", "consistent_for"))
            graph, seen = facts["graph"], facts["trained_on"]
            if not isinstance(graph, str | None):
                raise StorageError("the heuristic is damaged: the hash of its graph is not text")
            records = () if seen is None else records_from_parts(parts, seen, "trained_on")
            return found.with_facts(
                fingerprint=graph,
                lower=lower,
                consistent_for=lower if facts["same"] else consistent_for,
                trained_on=None if seen is None else provenance(*records),
            )
        except (StorageError, MemoryError):
            raise
        except Exception as error:  # damaged facts can fail in many ways
            raise StorageError(f"the heuristic is damaged: {type(error).__name__}: {error}") from None

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
            One that does not use weights any more.
        """
        return self

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
        }


def members_to_parts(members: Sequence[Heuristic]) -> tuple[Parts, list[dict[str, Any]]]:
    """Return the parts of several heuristics as those of one, and the plain values of each.

    Arrays that a member shares with the first one are there once.
    """
    parts: Parts = {}
    facts: list[dict[str, Any]] = []
    for k, member in enumerate(members):
        theirs, own = member.to_parts()
        shared = [name for name, part in theirs.items() if k and part is parts.get(f"0_{name}")]
        parts |= {f"{k}_{name}": part for name, part in theirs.items() if name not in shared}
        facts.append(own | {"shared": shared})
    return parts, facts


def members_from_parts(parts: Mapping[str, NDArray[Any]], facts: Sequence[Mapping[str, Any]]) -> list[Heuristic]:
    """Return the heuristics that :func:`members_to_parts` took apart."""
    return [
        Heuristic.from_parts(_starting_with(parts, f"{k}_") | {name: parts[f"0_{name}"] for name in own["shared"]}, own)
        for k, own in enumerate(facts)
    ]


def _starting_with(parts: Mapping[str, NDArray[Any]], start: str) -> Parts:
    return {name.removeprefix(start): part for name, part in parts.items() if name.startswith(start)}


def _bounds(parts: Mapping[str, NDArray[Any]], name: str, m: int | None) -> NDArray[np.float64] | None:
    if name not in parts:
        return None
    found = parts[name]
    if found.dtype != np.float64 or found.ndim != 1 or np.isnan(found).any() or m not in (None, found.size):
        raise StorageError(f"the heuristic is damaged: {name} is not one weight per edge")
    return arrays.frozen(found)


def _times(weights: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # 0 times inf
        return arrays.frozen(np.where(np.isinf(weights), np.inf, factor * weights))


def scale_of(scale: float) -> float:
    """Return a factor on ρ, or raise :class:`rhostar.errors.InputError`."""
    return arrays.number(scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
