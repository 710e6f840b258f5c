"""A* to the nearest of several goals, in one search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _failures as failures
from rhostar.errors import HeuristicError, InputError
from rhostar.graph import Graph
from rhostar.potentials import Potential
from rhostar.potentials._base import goal_set
from rhostar.search import _exact as exact
from rhostar.search._outcome import Run
from rhostar.search._rho import CarriesRho, potential_of
from rhostar.search._run import _budget


def astar_to_nearest(
    graph: Graph,
    weights: ArrayLike,
    source: int,
    goals: Sequence[int] | NDArray[np.integer[Any]],
    rho: Potential | CarriesRho,
    *,
    reopen: bool = True,
    budget: int | None = None,
    checked: bool = False,
) -> Run:
    """Run A* to the nearest of several goals, such as depots or chargers, in one search.

    ρ is the least over the goals. The run ends with the first goal that is selected; it is the last vertex of the path.
    If ρ never overestimates, no goal is nearer.

    Parameters
    ----------
    graph, weights, source
        As for :func:`rhostar.astar`.
    goals
        Vertices, at least one; equal ones count once.
    rho
        A potential, or a fitted learner or model that has one.
    reopen, budget, checked
        As for :func:`rhostar.astar`.

    Returns
    -------
    Run

    Raises
    ------
    VertexError, ArrayError
        If the source or a goal is not a vertex, or there are no goals; if an array has the wrong type, shape or layout.
    InputError
        If `rho` is not a potential and has none.
    NotFittedError, ModelError
        If a learner is not fitted, or it is for another graph.
    WeightError
        If the search comes across a weight that is negative or NaN.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(30, 30)
    >>> run = rs.search.astar_to_nearest(graph, graph.length, 0, [899, 70, 450], rs.heuristics.euclidean(graph))
    >>> int(run.path[-1]), run.cost
    (70, 12.0)
    """
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    ends = goal_set(goals, graph.n)
    start = arrays.vertex(source, "source", graph.n)
    row = arrays.weight_row(weights, "weights", graph.m)
    potential = potential_of(rho, graph)
    if potential is None:
        raise InputError(f"rho must be a potential, or have one, to lead to several goals; got {type(rho).__name__}")
    guide = potential.on(row) if potential.chooses else potential
    limit = None if budget is None else _budget(budget)
    if not checked:
        guide = exact.safe_potential(rho, guide, graph, row)
    found = graph._kernel.solve(False, row, start, ends, guide._kernel, bool(reopen), limit, None, False, None)
    if isinstance(found, Run):
        return found
    values = guide.rho_for_nearest(ends)
    if not np.isfinite(values).all():
        raise HeuristicError(f"rho[{int(np.argmin(np.isfinite(values)))}] must be finite for every goal")
    raise failures.search_failure(found, graph, row, rho=values)
