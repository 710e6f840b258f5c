"""A* and greedy best-first search (Algorithms 2 and 1 of the paper), one instance or many.

Ties go to the smallest vertex index. ``rho`` may be any finite float64 values: inadmissible,
inconsistent, negative. Weights are not negative; ``inf`` says that an edge is absent.

Why an answer of A* can carry its own certified gap, given values pi that never overestimate: follow an optimal
path from its start to the first vertex that is not in CLOSED with its optimal g. Its predecessor was expanded
with the optimal g, so that vertex is in OPEN with its own, and the optimum is at least the least g + pi in OPEN.
Without reopening there is one more case: the vertex was closed before with a larger g and its improvement was
ignored. So the least g_new + pi over all ignored improvements must be taken into account too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar._parallel import map_chunks
from rhostar.errors import HeuristicError, InputError, StoppedError, WeightError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.search._outcome import STATUSES, Paths, Run, Runs
from rhostar.search._rho import Rho, for_goal, values_for_each
from rhostar.search._trace import Trace

Algorithm = Literal["astar", "gbfs"]

# The core's failures, in its order (best_first.hpp, enum Status; bindings/common.hpp).
_STOPPED, _BAD_WEIGHT, _BAD_INPUT = 3, 4, 7
_LARGEST_BUDGET = 2**63 - 1


def astar(
    graph: Graph,
    weights: ArrayLike,
    source: int,
    goal: int,
    rho: Rho,
    *,
    reopen: bool = True,
    budget: int | None = None,
    trace: bool = False,
    lower_bound: Rho | None = None,
) -> Run:
    """Run A* (Algorithm 2 of the paper).

    Parameters
    ----------
    graph
        The graph.
    weights
        One weight per edge, in the order of the graph: a contiguous array of float64, float32, int32
        or int64, used without copying (or a list).
    source, goal
        Vertices. Where they are the same, the path is that vertex and costs 0.
    rho
        The heuristic: one finite float64 per vertex, a mapping from goals to such arrays, a fitted learner or a
        :class:`rhostar.Model`.
    reopen
        Whether an improved vertex moves from CLOSED back to OPEN. Without it no vertex is expanded
        twice; with it, and a `rho` that never overestimates, the answer is optimal. With an
        inconsistent `rho` it may take exponentially many expansions: set a `budget`.
    budget
        Most expansions. When it runs out, the run says so and holds what is known.
    trace
        Whether to record OPEN, CLOSED and the pointers at every iteration.
    lower_bound
        Values pi that never overestimate the cost-to-go on this instance; so pi at the goal is at
        most 0, and inf is allowed where the goal cannot be reached. The run then carries ``gap``, a
        bound on how far its cost is above the optimum.

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
        If the search comes across a weight that is negative or NaN, or a value of `rho` that is
        not finite. What a query does not reach, it does not read.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(50, 50, neighbours=8)
    >>> run = rs.astar(graph, graph.length, 0, graph.n - 1, rs.heuristics.octile(graph, graph.n - 1))
    >>> run.status, round(run.cost, 3), run.expanded
    (<Status.SOLVED: 'solved'>, 69.296, 49)

    A heuristic that overestimates may cost optimality; the gap says how much at most.

    >>> rho = 3 * rs.heuristics.octile(graph, graph.n - 1)
    >>> rs.astar(graph, graph.length, 0, graph.n - 1, rho, lower_bound=rho / 3).gap
    0.0
    """
    if lower_bound is not None:
        lower_bound = _bound_table(graph, goal, lower_bound)
    return solve(False, graph, weights, source, goal, rho, reopen, budget, lower_bound, trace)


def gbfs(
    graph: Graph,
    weights: ArrayLike,
    source: int,
    goal: int,
    rho: Rho,
    *,
    budget: int | None = None,
    trace: bool = False,
) -> Run:
    """Run greedy best-first search (Algorithm 1 of the paper).

    It expands the vertex of OPEN with the least `rho`, opens each vertex at most once and returns
    as soon as the goal is generated. Parameters, results and errors are those of :func:`astar`.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(50, 50)
    >>> rs.gbfs(graph, graph.length, 0, graph.n - 1, rs.heuristics.euclidean(graph, graph.n - 1)).expanded
    98
    """
    return solve(True, graph, weights, source, goal, rho, False, budget, None, trace)


def distances_to(graph: Graph, weights: ArrayLike, goal: int) -> NDArray[np.float64]:
    """Return the exact cost-to-go of every vertex, inf where the goal cannot be reached.

    Dijkstra's algorithm against the edges. Parameters and errors are those of :func:`astar`.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.distances_to(rs.Graph.from_edges(3, [0, 1], [1, 2]), [1.0, 2.0], goal=1).tolist()
    [1.0, 0.0, inf]
    """
    _require_graph(graph)
    row, goal = arrays.weight_row(weights, "weights", graph.m), arrays.vertex(goal, "goal", graph.n)
    failure, offender, distance = graph._kernel.distances_to(row, goal, None)
    if failure == _BAD_WEIGHT:
        raise weight_error(graph, row, offender, "weights")
    return distance


def solve_many(
    instances: InstanceSet,
    rho: Rho,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    lower_bound: Rho | None = None,
    n_jobs: int | None = None,
) -> Runs:
    """Solve every instance of a set.

    Parameters
    ----------
    instances
        The set.
    rho, reopen, budget, lower_bound
        As for :func:`astar`.
    algorithm
        "astar" or "gbfs" (which has no reopening and no lower bound).
    n_jobs
        As everywhere in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1
        all cores. Threads by default: the kernels run without the interpreter lock.

    Returns
    -------
    Runs
        In the order of the set, whatever the number of jobs.

    Raises
    ------
    InputError
        As :func:`astar`, naming the first offending instance; `rho` is checked as a whole.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> dijkstra = rs.solve_many(instances, np.zeros(graph.n))
    >>> informed = rs.solve_many(instances, rs.heuristics.euclidean(graph, graph.n - 1), n_jobs=2)
    >>> bool(np.allclose(dijkstra.cost, informed.cost)), dijkstra.expanded.sum() > informed.expanded.sum()
    (True, np.True_)
    """
    if algorithm not in ("astar", "gbfs"):
        raise InputError(f"algorithm must be 'astar' or 'gbfs', got {algorithm!r}")
    if algorithm == "gbfs" and lower_bound is not None:
        raise InputError("lower_bound applies to algorithm='astar' only: greedy search keeps no optimal g")
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    graph, goals = instances.graph, instances.goals
    values, rho_of = values_for_each(rho, graph, goals)
    bounds: list[NDArray[np.float64]] = []
    bound_of = np.empty(0, dtype=np.int32)
    if lower_bound is not None:
        bounds, bound_of = values_for_each(lower_bound, graph, goals, "lower_bound", infinite=True)
        _check_at_goals(bounds, bound_of, goals)
    parts = map_chunks(
        _solve_chunk,
        instances,
        n_jobs=n_jobs,
        greedy=algorithm == "gbfs",
        rho=values,
        rho_of=rho_of,
        reopen=bool(reopen),
        budget=_budget(budget),
        bounds=bounds,
        bound_of=bound_of,
    )
    for part in parts:  # in order, so that the first offending instance is named whatever the number of jobs
        if isinstance(part, Exception):
            raise part
    status, cost, expanded, generated, reopened, peak_open, bound, end, path = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    # Each chunk counts its own path vertices.
    sizes = np.array([part[-1].size for part in parts])
    end = end + np.repeat(np.cumsum(sizes) - sizes, [part[0].size for part in parts])
    names = np.array([str(s) for s in STATUSES])[status]
    return Runs(
        names,
        cost,
        Paths(path, end),
        expanded,
        generated,
        reopened,
        peak_open,
        None if lower_bound is None else bound,
    )


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
) -> Run:
    """Run either algorithm; what :func:`astar` and :func:`gbfs` call. A `stop` that is set ends it."""
    try:
        kernel = graph._kernel
    except AttributeError:
        _require_graph(graph)
        raise
    found = kernel.solve(greedy, weights, source, goal, rho, reopen, budget, lower_bound, trace, stop)
    if type(found) is Run:
        return found
    if found == _BAD_INPUT and not isinstance(rho, np.ndarray):
        # The kernel comes first: a call with an array must not pay for the other forms of rho.
        goal = arrays.vertex(goal, "goal", graph.n)
        rho = for_goal(rho, graph, goal)
        found = kernel.solve(greedy, weights, source, goal, rho, reopen, budget, lower_bound, trace, stop)
    if found == _BAD_INPUT:
        # Something is wrong or merely not in the core's form: check all of it and try again.
        source, goal = arrays.vertex(source, "source", graph.n), arrays.vertex(goal, "goal", graph.n)
        weights = arrays.weight_row(weights, "weights", graph.m)
        rho = arrays.table(rho, "rho", graph.n)
        limit = None if budget is None else _budget(budget)
        reopen, trace = bool(reopen), bool(trace)
        found = kernel.solve(greedy, weights, source, goal, rho, reopen, limit, lower_bound, trace, stop)
    if type(found) is Run:
        return found
    first, second = found
    if type(first) is Run:
        return first._replace(trace=Trace(int(goal), *second))
    raise _failure(first, second, graph, weights, [rho], [lower_bound])


def _require_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")


def _budget(budget: int | None) -> int:
    if budget is None:
        return -1
    return min(arrays.integer(budget, "budget", 0), _LARGEST_BUDGET)


def _bound_table(graph: Graph, goal: int, lower_bound: Rho) -> NDArray[np.float64]:
    """Return the lower bound for a goal, its layout and its value at the goal checked; the core checks the rest."""
    _require_graph(graph)
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.table_layout(for_goal(lower_bound, graph, goal, "lower_bound"), "lower_bound", graph.n)
    _check_at_goals([table], [0], [goal])
    return table


def _check_at_goals(bounds: Sequence[NDArray[np.float64]], bound_of: ArrayLike, goals: ArrayLike) -> None:
    for k, goal in set(zip(np.asarray(bound_of).tolist(), np.asarray(goals).tolist(), strict=True)):
        if bounds[k][goal] > 0:
            raise HeuristicError(f"lower_bound[{goal}] must be 0, as it is the goal: {bounds[k][goal]} overestimates")


# ---------------------------------------------------------------- many queries


def _solve_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    greedy: bool,
    rho: list[NDArray[np.float64]],
    rho_of: NDArray[np.int32],
    reopen: bool,
    budget: int,
    bounds: list[NDArray[np.float64]],
    bound_of: NDArray[np.int32],
) -> Any:
    """Return the columns of the results, or the error that the chunk's first bad instance deserves."""
    last = first + len(chunk)
    failure, offender, *columns = chunk.graph._kernel.solve_many(
        greedy,
        chunk.weights,
        chunk.rows,
        chunk.sources,
        chunk.goals,
        [arrays.aligned(table) for table in rho],
        arrays.aligned(rho_of[first:last]),
        reopen,
        budget,
        [arrays.aligned(table) for table in bounds],
        arrays.aligned(bound_of[first:last]),
        stop,
    )
    if failure < _STOPPED:
        return tuple(columns)
    done = columns[0].size if columns else 0
    weights = chunk.weights[chunk.rows[done]]
    return _failure(failure, offender, chunk.graph, weights, rho, bounds, f"instance {first + done}: ")


# ---------------------------------------------------------------- what went wrong


def _failure(
    failure: int, offender: int, graph: Graph, weights: Any, rho: Sequence[Any], bounds: Sequence[Any], where: str = ""
) -> Exception:
    """Return the error behind a status of the core."""
    if failure == _BAD_WEIGHT:
        return weight_error(graph, weights, offender, f"{where}weights")
    if failure == _STOPPED:
        return StoppedError(f"{where}stopped")
    try:
        for table in rho:
            arrays.table(table, "rho", graph.n)
        for table in bounds:
            if table is not None:
                arrays.table(table, "lower_bound", graph.n, infinite=True)
    except InputError as error:
        return error
    return InputError(f"{where}the core refused its input (code {failure})")


def weight_error(graph: Graph, weights: Any, edge: int, name: str) -> WeightError:
    """Return what is wrong with the weight of an edge."""
    what = f"{name}[{edge}] (edge {graph.tail[edge]} -> {graph.head[edge]})"
    value = weights[edge]
    if value >= 0 and weights.dtype.kind == "f":
        return WeightError(f"{what} is {value}: with it a path costs more than the largest float64")
    limit = " and at most 2**53" if weights.dtype == np.int64 else ""
    return WeightError(f"{what} must be at least 0{limit} and not NaN, got {value}")
