"""Accepts ρ in all its forms and rejects mistakes; every function that takes a heuristic calls this module.

ρ may be an array or a list with one value per vertex, a mapping from goals to such arrays, a
:class:`rhostar.potentials.Potential`, or an object that carries one of these: a fitted learner, a
:class:`rhostar.Model`, or anything else with an attribute ``rho_`` or ``potential_``. This module recognises such an
object by its attributes, so it need not import learners or models. The object may also say which goal its values lead
to (``goal_``), how to get those for another goal (``rho_for(goal)``), and on which graph it was fitted
(``fingerprint``); these are then checked. Several tables with a rule that chooses one by the weights of an instance
have ``tables``, ``which_of(instances)`` and ``rho_for_weights(weights)``, and count as one heuristic.

Searches compute the values of a potential as they need them (:func:`for_search`, :func:`potential_for`); everything
else gets them as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import HeuristicError, InputError, ModelError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.potentials import Potential


class CarriesRho(Protocol):
    """An object with heuristic values, such as a fitted learner or a :class:`rhostar.Model`."""

    @property
    def rho_(self) -> Any:
        """One value per vertex, or such an array for each goal."""


Rho = ArrayLike | Mapping[int, ArrayLike] | Potential | CarriesRho
"""One float64 value per vertex, such an array for each goal, a potential, or an object that carries one of these."""


def values_of(rho: Rho, graph: Graph) -> Any:
    """Return the array or mapping behind an object that carries ρ; its values are not checked.

    Raises
    ------
    NotFittedError
        If it is a learner that has not been fitted.
    ModelError
        If it was fitted on another graph.
    """
    if isinstance(rho, np.ndarray | Mapping):
        return rho
    if isinstance(rho, Potential):
        _check_graph(rho.fingerprint, graph, rho.n)
        return rho
    values = getattr(rho, "rho_", None)
    if values is None:
        values = getattr(rho, "potential_", None)
    if values is None:
        if hasattr(rho, "fit"):
            from rhostar.errors import NotFittedError

            raise NotFittedError(f"this {type(rho).__name__} is not fitted yet: call fit first")
        return rho
    fingerprint = getattr(rho, "fingerprint", None)
    if fingerprint is not None:
        n = np.size(next(iter(values.values()), ())) if isinstance(values, Mapping) else getattr(values, "n", 0)
        _check_graph(fingerprint, graph, n or np.size(values))
    return values


def _check_graph(fingerprint: str, graph: Graph, n: int) -> None:
    if fingerprint != graph.fingerprint:
        hint = " (as many; perhaps they come in another order, or an edge is missing)" if n == graph.n else ""
        raise ModelError(
            f"the model was fitted on another graph: {n} vertices, hash {fingerprint[:12]}; "
            f"this one has {graph.n} vertices, hash {graph.fingerprint[:12]}{hint}"
        )


def potential_for(rho: Rho, graph: Graph, goals: NDArray[np.int32]) -> Potential | None:
    """Return the potential that computes ρ for these goals; None if there are tables for them, or there is none.

    Raises
    ------
    NotFittedError, ModelError
        As :func:`values_of`.
    """
    found = potential_of(rho, graph)
    if found is None:
        return None
    values = values_of(rho, graph)
    if not found.chooses and not isinstance(values, Potential):
        known = list(values) if isinstance(values, Mapping) else [getattr(rho, "goal_", None)]
        if np.isin(goals, [goal for goal in known if goal is not None]).all():
            return None  # a table is quicker to read
    return found


def potential_of(rho: object, graph: Graph) -> Potential | None:
    """Return the potential that `rho` is or carries, if any.

    Raises
    ------
    NotFittedError, ModelError
        As :func:`values_of`.
    """
    if isinstance(rho, np.ndarray | Mapping):
        return None
    found = rho if isinstance(rho, Potential) else getattr(rho, "potential_", None)
    if not isinstance(found, Potential):
        values_of(rho, graph)  # type: ignore[arg-type]  # it may not be fitted
        return None
    _check_graph(found.fingerprint, graph, found.n)
    return found


def for_search(rho: Rho, graph: Graph, goal: int, weights: Any) -> ArrayLike | _core.Potential:
    """Return what the kernel takes for one search: values as they were given, or a potential; raises as for_goal."""
    if isinstance(rho, Potential) and not rho.chooses and rho.fingerprint == graph.fingerprint:
        return rho._kernel  # the usual case, which should not wait for the others
    if isinstance(rho, Potential) or hasattr(rho, "potential_"):
        potential = potential_for(rho, graph, np.array([arrays.vertex(goal, "goal", graph.n)], dtype=np.int32))
        if potential is not None:
            if potential.chooses:
                potential = potential.on(arrays.weight_row(weights, "weights", graph.m))
            return potential._kernel
    return for_instance(rho, graph, weights, goal)


def for_goal(rho: Rho, graph: Graph, goal: int, name: str = "rho") -> ArrayLike:
    """Return the values that lead to a goal, as they were given.

    Raises
    ------
    VertexError
        If the goal is not in the graph.
    HeuristicError
        If a mapping has no values for the goal.
    NotFittedError, ModelError
        If a learner is not fitted; if it or a model is for another graph or another goal.
    """
    if isinstance(rho, Mapping):  # the usual case, which should not wait for the others
        with suppress(KeyError, TypeError):
            return rho[goal]
    return _by_goal(rho, graph, name)(arrays.vertex(goal, "goal", graph.n))


def chooses(rho: Any) -> bool:
    """Whether a heuristic has several tables, for a goal at least, and chooses one by the weights of an instance."""
    values = getattr(rho, "rho_", rho)
    if isinstance(values, dict):  # not any mapping: one may compute its values on request
        return any(hasattr(one, "rho_for_weights") for one in values.values())
    return hasattr(values, "rho_for_weights")


def for_instance(rho: Rho, graph: Graph, weights: ArrayLike, goal: int) -> ArrayLike:
    """Return the values for one instance; raises as :func:`for_goal` does.

    Most heuristics have one table for a goal. One that chooses among several has a method ``rho_for_weights``.
    """
    rule: Any = getattr(rho, "rho_", rho)
    if hasattr(rule, "rho_for_weights"):
        values_of(rho, graph)  # the graph may be another one
        _check_goals(rho, graph, np.array([goal]))
    else:
        rule = for_goal(rho, graph, goal)
    values: ArrayLike = rule.rho_for_weights(weights) if hasattr(rule, "rho_for_weights") else rule
    return values


def choosing(rho: Rho, graph: Graph) -> Callable[[NDArray[Any], int], NDArray[np.float64]] | None:
    """Return a function of weights and goal that gives the table a heuristic chooses by them; None if it does not.

    Raises
    ------
    NotFittedError, ModelError
        As :func:`values_of`; the function itself raises as :func:`for_goal` does.
    """
    potential = potential_of(rho, graph)
    if potential is not None and potential.chooses:
        return lambda weights, goal: potential.on(weights).rho_for(goal)
    if chooses(rho):
        return lambda weights, goal: arrays.per_vertex(for_instance(rho, graph, weights, goal), "rho", graph.n)
    return None


def values_for_instances(rho: Rho, instances: InstanceSet) -> tuple[list[NDArray[np.float64]], NDArray[np.int32]]:
    """Return the distinct arrays of values and for each instance the index of its array; see :func:`for_instance`."""
    if not chooses(rho):
        return values_for_each(rho, instances.graph, instances.goals)
    values_of(rho, instances.graph)  # the graph may be another one
    rule: Any = getattr(rho, "rho_", rho)
    rules = rule if isinstance(rule, dict) else dict.fromkeys(np.unique(instances.goals).tolist(), rule)
    if rules is not rule:
        _check_goals(rho, instances.graph, instances.goals)
    tables: list[NDArray[np.float64]] = []
    table_of = np.empty(len(instances), dtype=np.int32)
    first: dict[int, int] = {}
    for goal in np.unique(instances.goals).tolist():
        if goal not in rules:
            raise _missing(None if rule is rho else rho, "rho", instances.graph, goal, rules)
        one, mine = rules[goal], np.flatnonzero(instances.goals == goal)
        if id(one) not in first:
            first[id(one)] = len(tables)
            given = one.tables if hasattr(one, "tables") else [one]
            tables += [arrays.per_vertex(table, "rho", instances.graph.n) for table in given]
        chosen = one.which_of(instances[mine]) if hasattr(one, "which_of") else 0
        table_of[mine] = first[id(one)] + chosen
    return tables, table_of


def _check_goals(rho: Any, graph: Graph, goals: NDArray[Any]) -> None:
    """Raise unless all goals are the one that a heuristic was fitted for, if it says which."""
    fitted_for = getattr(rho, "goal_", None)
    if fitted_for is not None and (goals != fitted_for).any():
        raise _missing(rho, "rho", graph, int(goals[goals != fitted_for][0]), [fitted_for])


def values_for(rho: Rho, graph: Graph, goal: int, name: str = "rho") -> NDArray[np.float64]:
    """Return the values that lead to a goal, one finite float64 per vertex; raises as :func:`for_goal` does.

    Raises
    ------
    ArrayError, HeuristicError
        If they are not one finite number per vertex.
    """
    return arrays.per_vertex(for_goal(rho, graph, goal, name), name, graph.n)


def values_for_each(
    rho: Rho, graph: Graph, goals: NDArray[np.int32], name: str = "rho", *, infinite: bool = False
) -> tuple[list[NDArray[np.float64]], NDArray[np.int32]]:
    """Return the distinct arrays of values, checked and not copied, and for each instance the index of its array.

    Parameters
    ----------
    rho, graph, name
        As for :func:`values_for`.
    goals
        The goal of each instance.
    infinite
        Whether +inf is accepted.
    """
    distinct, which = np.unique(goals, return_inverse=True)
    find = _by_goal(rho, graph, name)
    keyed = isinstance(values_of(rho, graph), Mapping)
    number: dict[int, int] = {}
    given: list[ArrayLike] = []  # kept alive, so that no two of them can have the same id
    tables: list[NDArray[np.float64]] = []
    table_of = np.empty(distinct.size, dtype=np.int32)
    for k, goal in enumerate(distinct.tolist()):
        values = find(goal)
        if id(values) not in number:
            number[id(values)] = len(tables)
            given.append(values)
            tables.append(arrays.per_vertex(values, f"{name}[{goal}]" if keyed else name, graph.n, infinite=infinite))
        table_of[k] = number[id(values)]
    return tables, np.ascontiguousarray(table_of[which])


def _by_goal(rho: Rho, graph: Graph, name: str) -> Callable[[int], ArrayLike]:
    """Return a function that finds the values for a goal."""
    values = values_of(rho, graph)
    if isinstance(values, Potential):
        return values.rho_for
    keyed = isinstance(values, Mapping)
    carrier: Any = None if values is rho else rho
    if carrier is None and not keyed:
        return lambda _: values
    fitted_for = getattr(carrier, "goal_", None)
    any_goal = not keyed and not isinstance(fitted_for, int | np.integer)

    def find(goal: int) -> ArrayLike:
        if keyed:
            with suppress(KeyError):  # not `in`: a mapping may compute its values on request
                return values[goal]
        if any_goal or (not keyed and goal == fitted_for):
            return values
        if hasattr(carrier, "rho_for"):
            with suppress(InputError):  # it has none; our own message is below
                return carrier.rho_for(goal)
        raise _missing(carrier, name, graph, goal, values if keyed else [fitted_for])

    return find


def _missing(carrier: object, name: str, graph: Graph, asked: int, known: Iterable[Any]) -> Exception:
    goal, goals = graph._vertex_and_label(asked), [graph._vertex_and_label(key) for key in known]
    shown = ", ".join(goals[:5]) + (f" and {len(goals) - 5} more" if len(goals) > 5 else "")
    if carrier is None:
        others = f"it has values for {shown}" if shown else "it is empty"
        return HeuristicError(f"{name} has no values for goal {goal}; {others}")
    what = "goal" if len(goals) == 1 else "goals"
    return ModelError(f"this {type(carrier).__name__} was fitted for {what} {shown or 'none'}, not for goal {goal}")
