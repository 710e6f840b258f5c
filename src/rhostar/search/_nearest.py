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
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.heuristics._below import shortfall
from rhostar.heuristics._computed import Computed, goal_set
from rhostar.instances import Snapshot
from rhostar.search._outcome import Run
from rhostar.search._run import _budget, _require_graph


def astar_to_nearest(
    graph: Graph,
    weights: ArrayLike | Snapshot,
    source: int,
    goals: Sequence[int] | NDArray[np.integer[Any]],
    rho: HeuristicLike,
    *,
    reopen: bool = True,
    budget: int | None = None,
    checked: bool = False,
) -> Run:
    """Run A* to the nearest of several goals, such as depots or chargers, in one search.

    At each vertex, ρ is the minimum of its values for the goals. The run ends with the first goal that is selected,
    which is the last vertex of the path. If ρ never overestimates, no goal is nearer.

    Parameters
    ----------
    graph, weights, source
        As for :func:`rhostar.astar`.
    goals
        Vertices, at least one; equal ones count once.
    rho
        A heuristic for every goal, or a fitted learner or model that has one.
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
        If `rho` is not for every goal.
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
    _require_graph(graph)
    ends = goal_set(goals, graph.n)
    start = arrays.vertex(source, "source", graph.n)
    row = arrays.weight_row(weights.on(graph) if isinstance(weights, Snapshot) else weights, "weights", graph.m)
    seen = weights if isinstance(weights, Snapshot) else row
    heuristic = as_heuristic(rho, graph)
    guide = heuristic.on(seen)
    if not isinstance(guide, Computed):
        raise InputError(f"rho must be a heuristic for every goal if there are several goals; got {type(rho).__name__}")
    limit = None if budget is None else _budget(budget)
    below = None if checked else shortfall(heuristic, graph, seen)
    if below is not None:
        below.require_numbers()
        lowering = below.lowering(guide)
        guide = lowering.usable(guide, reopen=bool(reopen))
        below.warn(lowering.kept, stacklevel=3)
    found = graph._kernel.solve(False, row, start, ends, guide._kernel, bool(reopen), limit, None, False, None)
    if isinstance(found, Run):
        return found
    values = guide.table(ends, row)
    if not np.isfinite(values).all():
        raise HeuristicError(f"rho[{int(np.argmin(np.isfinite(values)))}] must be finite for every goal")
    raise failures.search_failure(found, graph, row, rho=values)
