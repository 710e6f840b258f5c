"""Turns whatever a user passes as a heuristic into a :class:`Heuristic`; public functions call it once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rhostar.errors import ModelError, not_fitted
from rhostar.graph import Graph
from rhostar.heuristics._base import Heuristic, Table
from rhostar.heuristics._distances import DistanceHeuristic
from rhostar.heuristics._function import Function
from rhostar.heuristics._per_goal import PerGoal
from rhostar.hierarchy import CustomizedHierarchy


class Fitted(Protocol):
    """A fitted learner."""

    heuristic_: Heuristic


class HasHeuristic(Protocol):
    """A model."""

    @property
    def heuristic(self) -> Heuristic:
        """The heuristic."""


HeuristicLike = (
    Heuristic
    | ArrayLike
    | Mapping[int, Any]
    | Fitted
    | HasHeuristic
    | CustomizedHierarchy
    | Callable[[Any, Any], float]
)
"""A heuristic, one float64 value per vertex, such an array for each goal, a fitted learner, a model, a customized
hierarchy, or a function."""


def as_heuristic(
    given: Any, graph: Graph, goals: Iterable[int] | None = None, *, name: str = "rho", infinite: bool = False
) -> Heuristic:
    """Return an object as a :class:`Heuristic`: an array, a mapping, a learner, a model.

    Parameters
    ----------
    given
        A :class:`Heuristic`, an array or a list with one value per vertex, a mapping from goals to such arrays, a
        fitted learner (with ``heuristic_``), a :class:`rhostar.Model` (with ``heuristic``), a customized hierarchy, for
        the distances under its weights (:meth:`DistanceHeuristic.of_customized`, which it remembers), or a function
        ``estimate(u, v)`` of two vertices, by their labels if the graph has some.
    graph
        The graph that it is used on.
    goals
        Vertices that it must have values for; None does not check that.
    name
        The name of the argument, for messages.
    infinite
        Whether bare values may be +inf.

    Returns
    -------
    Heuristic
        Bare values are not copied, and are checked when they are used.

    Raises
    ------
    NotFittedError
        If a learner is not fitted.
    ModelError
        If it is for another graph, or was learned for other goals.
    HeuristicError
        If a mapping has no values for a goal.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.heuristics.as_heuristic([1.0, 0.0], rs.Graph.from_edges(2, [0], [1]))
    Table(2 values)
    """
    if isinstance(given, Heuristic):
        found = given
    elif isinstance(given, np.ndarray):
        found = Table.of_values(given, graph.n, name, infinite=infinite)
    elif isinstance(given, Mapping):
        found = PerGoal(given, graph.n, name=name, infinite=infinite)
    elif isinstance(given, CustomizedHierarchy):
        found = given._heuristic or DistanceHeuristic.of_customized(given)
        given._heuristic = found
    else:
        found = getattr(given, "heuristic_", None) or getattr(given, "heuristic", None)  # type: ignore[assignment]
        if not isinstance(found, Heuristic):
            if hasattr(given, "fit"):
                raise not_fitted(given)
            found = (
                Function(given, graph) if callable(given) else Table.of_values(given, graph.n, name, infinite=infinite)
            )
    if found.fingerprint is not None and found.fingerprint != graph.fingerprint:
        hint = " (the same size: are they in another order, or is an edge missing?)" if found.n == graph.n else ""
        raise ModelError(
            f"the heuristic was fitted on another graph: {found.n} vertices, hash {found.fingerprint[:12]}; "
            f"this one has {graph.n} vertices, hash {graph.fingerprint[:12]}{hint}"
        )
    if found.n != graph.n or found.m not in (None, graph.m):
        sizes = f"{found.n} vertices" if found.n != graph.n else f"{found.m} edges"
        here = f"{graph.n} vertices and {graph.m} edges"
        raise ModelError(f"the heuristic is for a graph with {sizes}; this one has {here}")
    if goals is not None:
        found.require_goals(goals, graph, name)
    return found
