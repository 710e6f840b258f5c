"""A* and greedy best-first search (Algorithms 2 and 1 of the paper).

Ties go to the smallest vertex index. ``rho`` may be any finite float64 values: inadmissible,
inconsistent, negative. Weights are not negative; ``inf`` means that an edge is absent.

Why an answer of A* can carry its own certified gap, given values pi that never overestimate: follow an optimal path
from its start to the first vertex that is not in CLOSED with its optimal g. Its predecessor was expanded with the
optimal g, so that vertex is in OPEN with its own optimal g, and the optimum is at least the lowest g + pi in OPEN.
Without reopening there is one more case: the vertex was closed before with a larger g and its improvement was ignored.
So the lowest g_new + pi over all ignored improvements must be taken into account, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import HeuristicError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.heuristics._below import kernel_for
from rhostar.instances import Snapshot
from rhostar.search._outcome import Run

_LARGEST_BUDGET = 2**63 - 1


def astar(
    graph: Graph,
    weights: ArrayLike | Snapshot,
    source: int,
    goal: int,
    rho: HeuristicLike,
    *,
    reopen: bool = True,
    budget: int | None = None,
    trace: bool = False,
    lower_bound: HeuristicLike | None = None,
    checked: bool = False,
) -> Run:
    """Run A* (Algorithm 2 of the paper).

    Parameters
    ----------
    graph
        The graph.
    weights
        One weight per edge, in the order of the graph: a contiguous array of float64, float32, int32
        or int64, used without copying (or a list); or a :class:`rhostar.Snapshot`, which is checked once.
    source, goal
        Vertices. If they are the same, the path is that vertex and costs 0.
    rho
        The heuristic: one finite float64 per vertex, a mapping from goals to such arrays, a
        :class:`rhostar.heuristics.Heuristic`, a fitted learner or a :class:`rhostar.Model`.
    reopen
        Whether an improved vertex moves from CLOSED back to OPEN. Without it no vertex is expanded
        twice; with it, and a `rho` that never overestimates, the answer is optimal. With an
        inconsistent `rho` it may take exponentially many expansions: set a `budget`.
    budget
        The maximum number of expansions. If it is used up, the status says so, and the run holds the best result so
        far.
    trace
        Whether to record OPEN, CLOSED and the pointers at every iteration.
    lower_bound
        Values pi that never overestimate the cost-to-go on this instance; so pi at the goal is at most 0, and inf is
        allowed where the goal cannot be reached. A potential computes the few of them that are needed. The run then
        carries ``gap``, a bound on how far its cost is above the optimum.
    checked
        True means that the weights were compared with the lower bounds of `rho` before. By default a learner or model
        that guarantees optimal answers compares all of them in each call. Where weights are below the bounds, its
        values are lowered for this call, so that the answer stays optimal. A :class:`rhostar.errors.BoundsWarning`
        appears if that makes them much smaller.

    Returns
    -------
    Run

    Raises
    ------
    VertexError
        If source or goal is not in the graph.
    NotFittedError, ModelError
        If `rho` is a learner that is not fitted; if it or a model is for another graph or another goal.
    ArrayError
        If an array has the wrong type, shape or layout.
    WeightError, HeuristicError
        If the search comes across a weight that is negative or NaN, or a value of `rho` that is not finite. A query
        reads only the values that it reaches.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(50, 50, neighbors=8)
    >>> run = rs.astar(graph, graph.length, 0, graph.n - 1, rs.heuristics.octile(graph, graph.n - 1))
    >>> run.status, round(run.cost, 3), run.expanded
    (<Status.SOLVED: 'solved'>, 69.296, 49)

    With a heuristic that overestimates, the path may not be optimal; the gap bounds how much it costs above the
    optimum.

    >>> rho = 3 * rs.heuristics.octile(graph, graph.n - 1)
    >>> rs.astar(graph, graph.length, 0, graph.n - 1, rho, lower_bound=rho / 3).gap
    0.0
    """
    bound = None if lower_bound is None else _bound(graph, weights, goal, lower_bound)
    return solve(False, graph, weights, source, goal, rho, reopen, budget, bound, trace, checked=checked)


def gbfs(
    graph: Graph,
    weights: ArrayLike | Snapshot,
    source: int,
    goal: int,
    rho: HeuristicLike,
    *,
    budget: int | None = None,
    trace: bool = False,
) -> Run:
    """Run greedy best-first search (Algorithm 1 of the paper).

    It expands the vertex of OPEN with the lowest `rho`, opens each vertex at most once and returns
    as soon as the goal is generated.

    Parameters
    ----------
    graph, weights, source, goal, rho, budget, trace
        As for :func:`astar`.

    Returns
    -------
    Run

    Raises
    ------
    VertexError, ArrayError, WeightError, HeuristicError, NotFittedError, ModelError
        As :func:`astar`.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(50, 50)
    >>> rs.gbfs(graph, graph.length, 0, graph.n - 1, rs.heuristics.euclidean(graph, graph.n - 1)).expanded
    98
    """
    return solve(True, graph, weights, source, goal, rho, False, budget, None, trace)


def distances_to(graph: Graph, weights: ArrayLike | Snapshot, goal: int) -> NDArray[np.float64]:
    """Return the exact cost-to-go of every vertex, inf if the goal cannot be reached from it.

    This is Dijkstra's algorithm, run backwards from the goal.

    Parameters
    ----------
    graph, weights, goal
        As for :func:`astar`.

    Returns
    -------
    array
        One cost per vertex; 0 at the goal.

    Raises
    ------
    VertexError, ArrayError, WeightError
        As :func:`astar`.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.distances_to(rs.Graph.from_edges(3, [0, 1], [1, 2]), [1.0, 2.0], goal=1).tolist()
    [1.0, 0.0, inf]
    """
    _require_graph(graph)
    given = weights.on(graph) if isinstance(weights, Snapshot) else weights
    row, goal = arrays.weight_row(given, "weights", graph.m), arrays.vertex(goal, "goal", graph.n)
    found = graph._kernel.distances_to(row, goal, None)
    if found.ending.status is not _core.Status.DONE:
        raise failures.search_failure(found.ending, graph, row)
    return found.distance


# ---------------------------------------------------------------- one query


def solve(
    greedy: bool,
    graph: Graph,
    weights: Any,
    source: Any,
    goal: Any,
    rho: Any,
    reopen: bool,
    budget: int | None,
    lower_bound: Any,
    trace: bool,
    stop: _core.Stop | None = None,
    checked: bool = False,
) -> Run:
    """Run either algorithm, for :func:`astar` and :func:`gbfs`. Setting `stop` ends the run."""
    try:
        kernel = graph._kernel
    except AttributeError:
        _require_graph(graph)
        raise
    found = kernel.solve(greedy, weights, source, goal, rho, reopen, budget, lower_bound, trace, stop)
    if isinstance(found, Run):
        return found
    row = weights
    if isinstance(weights, Snapshot) or not isinstance(rho, np.ndarray):
        # The kernel comes first: a call with two arrays must not pay for the other forms.
        heuristic = as_heuristic(rho, graph, (arrays.vertex(goal, "goal", graph.n),))
        if isinstance(weights, Snapshot):
            row = weights.on(graph)
        elif heuristic.uses_weights or heuristic.lower is not None:
            row = weights = arrays.weight_row(weights, "weights", graph.m)
        if greedy or checked:
            rho = heuristic.kernel(goal, weights)
        else:
            rho = kernel_for(heuristic, graph, weights, goal, bool(reopen), stacklevel=4)
        found = kernel.solve(greedy, row, source, goal, rho, reopen, budget, lower_bound, trace, stop)
        if isinstance(found, Run):
            return found
    if found.status is _core.Status.BAD_INPUT:
        # Something is wrong or merely not in the core's form: check all of it and try again.
        source, goal = arrays.vertex(source, "source", graph.n), arrays.vertex(goal, "goal", graph.n)
        row = arrays.weight_row(row, "weights", graph.m)
        rho = rho if isinstance(rho, _core.Potential) else arrays.per_vertex(rho, "rho", graph.n)
        limit = None if budget is None else _budget(budget)
        reopen, trace = bool(reopen), bool(trace)
        found = kernel.solve(greedy, row, source, goal, rho, reopen, limit, lower_bound, trace, stop)
    if isinstance(found, Run):
        return found
    rho, lower_bound = (
        given.values(np.array([goal], dtype=np.int32), row, None).rho if isinstance(given, _core.Potential) else given
        for given in (rho, lower_bound)
    )
    raise failures.search_failure(found, graph, row, rho=rho, lower_bound=lower_bound)


def _require_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")


def _budget(budget: int | None) -> int:
    """Return a budget as the core takes it: -1 for none."""
    if budget is None:
        return -1
    return min(arrays.integer(budget, "budget", 0), _LARGEST_BUDGET)


def _bound(
    graph: Graph, weights: ArrayLike | Snapshot, goal: int, lower_bound: HeuristicLike
) -> NDArray[np.float64] | _core.Potential:
    """Return the lower bound for a goal; its layout and its value at the goal are checked, the core checks the rest."""
    _require_graph(graph)
    goal = arrays.vertex(goal, "goal", graph.n)
    heuristic = as_heuristic(lower_bound, graph, (goal,), name="lower_bound", infinite=True)
    if heuristic.uses_weights and not isinstance(weights, Snapshot):
        weights = arrays.weight_row(weights, "weights", graph.m)
    found = heuristic.kernel(goal, weights)  # type: ignore[arg-type]
    if isinstance(found, np.ndarray):
        _check_at_goals([found], [0], [goal])
    return found


def _check_at_goals(bounds: Sequence[NDArray[np.float64]], bound_of: ArrayLike, goals: ArrayLike) -> None:
    for k, goal in set(zip(np.asarray(bound_of).tolist(), np.asarray(goals).tolist(), strict=True)):
        if bounds[k][goal] > 0:
            raise HeuristicError(
                f"lower_bound[{goal}] must be 0, because this is the goal: {bounds[k][goal]} overestimates"
            )
