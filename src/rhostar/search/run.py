"""A* and greedy best-first search (Algorithms 2 and 1 of the paper), one instance or many.

Ties go to the smallest vertex index. ``rho`` may be any finite float64 values: inadmissible,
inconsistent, negative. Weights are not negative; ``inf`` says that an edge is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _core, arrays
from rhostar.errors import HeuristicError, InputError, StoppedError, WeightError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.parallel import map_chunks
from rhostar.search.outcome import STATUSES, Paths, Run, Runs
from rhostar.search.trace import Trace

Rho = ArrayLike | Mapping[int, ArrayLike]
"""One float64 value per vertex, or such an array for each goal."""

# The core's failures, in its order (best_first.hpp, enum Status; bindings/common.hpp).
_STOPPED, _BAD_WEIGHT, _BAD_RHO, _BAD_BOUND, _BAD_INPUT = 3, 4, 5, 6, 7
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
        The heuristic: one finite float64 per vertex, or a mapping from goals to such arrays.
    reopen
        Whether an improved vertex moves from CLOSED back to OPEN. Without it no vertex is expanded
        twice; with it, and a `rho` that never overestimates, the answer is optimal. With an
        inconsistent `rho` it may take exponentially many expansions: set a `budget`.
    budget
        Most expansions. When it runs out, the run says so and holds what is known.
    trace
        Whether to record OPEN, CLOSED and the pointers at every iteration.
    lower_bound
        Values pi that never overestimate the cost-to-go on this instance, pi at the goal being 0;
        inf is allowed. The run then carries ``gap``, a bound on how far its cost is above the
        optimum (THEORY U4).

    Returns
    -------
    Run

    Raises
    ------
    VertexError
        If source or goal is not in the graph.
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
    return _solve(False, graph, weights, source, goal, rho, reopen, budget, lower_bound, trace)


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
    return _solve(True, graph, weights, source, goal, rho, False, budget, None, trace)


def distances_to(graph: Graph, weights: ArrayLike, goal: int) -> NDArray[np.float64]:
    """Return the exact cost-to-go of every vertex, inf where the goal cannot be reached.

    Dijkstra's algorithm against the edges. Parameters and errors are those of :func:`astar`.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.distances_to(rs.Graph.from_edges(3, [0, 1], [1, 2]), [1.0, 2.0], goal=1).tolist()
    [1.0, 0.0, inf]
    """
    row, goal = arrays.weight_row(weights, "weights", graph.m), arrays.vertex(goal, "goal", graph.n)
    failure, offender, distance = graph._kernel.distances_to(row, goal, None)
    if failure == _BAD_WEIGHT:
        _raise_weight(graph, row, offender, "weights")
    return distance


def solve_many(
    instances: InstanceSet,
    rho: Rho,
    *,
    algorithm: Literal["astar", "gbfs"] = "astar",
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
        As for :func:`astar`; where goals differ, a mapping from goals to arrays is taken too.
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
    table, values, bounds = _tables(instances, rho, lower_bound)
    parts = map_chunks(
        _solve_chunk,
        instances,
        n_jobs=n_jobs,
        table=table,
        greedy=algorithm == "gbfs",
        rho=values,
        reopen=bool(reopen),
        budget=_budget(budget),
        lower_bound=bounds,
    )
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


def _solve(
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
) -> Run:
    limit = -1 if budget is None else _budget(budget)
    try:
        raw = graph._kernel.solve(greedy, weights, source, goal, rho, reopen, limit, lower_bound, trace)
    except (TypeError, AttributeError):
        raw = (_BAD_INPUT,)
    if raw[0] == _BAD_INPUT:
        # Something is wrong or merely not in the core's form: check all of it and try again.
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        source, goal = arrays.vertex(source, "source", graph.n), arrays.vertex(goal, "goal", graph.n)
        weights = arrays.weight_row(weights, "weights", graph.m)
        rho = arrays.table(_for_goal(rho, goal, "rho"), "rho", graph.n)
        raw = graph._kernel.solve(greedy, weights, source, goal, rho, bool(reopen), limit, lower_bound, bool(trace))
    status, cost, path, expanded, generated, reopened, peak_open, bound, offender, log = raw
    if status >= _STOPPED:
        _raise_failure(status, offender, graph, weights, rho, lower_bound)
    return Run(
        STATUSES[status],
        cost,
        path,
        expanded,
        generated,
        reopened,
        peak_open,
        None if lower_bound is None else bound,
        None if log is None else Trace(int(goal), *log),
    )


def _budget(budget: int | None) -> int:
    if budget is None:
        return -1
    return min(arrays.integer(budget, "budget", 0), _LARGEST_BUDGET)


def _for_goal(rho: Rho, goal: int, name: str) -> ArrayLike:
    if not isinstance(rho, Mapping):
        return rho
    try:
        return rho[goal]
    except KeyError:
        raise HeuristicError(f"{name} has no values for the goal {goal}; it has {_some(rho)}") from None


def _some(rho: Mapping[int, ArrayLike]) -> str:
    keys = [str(key) for key in rho]
    return ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")


def _bound_table(graph: Graph, goal: int, lower_bound: Rho) -> NDArray[np.float64]:
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.table(_for_goal(lower_bound, goal, "lower_bound"), "lower_bound", graph.n, infinite=True)
    if table[goal] > 0:
        raise HeuristicError(f"lower_bound[{goal}] must be 0: it is the goal, and {table[goal]} overestimates")
    return table


# ---------------------------------------------------------------- many queries


def _tables(
    instances: InstanceSet, rho: Rho, lower_bound: Rho | None
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64] | None]:
    """Return which table each instance uses, the tables of rho, and those of the lower bound."""
    graph = instances.graph
    goals, which = np.unique(instances.goals, return_inverse=True)
    if lower_bound is not None:
        bounds = [_bound_table(graph, int(goal), lower_bound) for goal in goals]
    if not isinstance(rho, Mapping) and not isinstance(lower_bound, Mapping):
        table = np.zeros(len(instances), dtype=np.int32)
        values = arrays.table(rho, "rho", graph.n)[None]
        return table, values, bounds[0][None] if lower_bound is not None and goals.size else None
    values = np.empty((goals.size, graph.n))
    for k, goal in enumerate(goals):
        values[k] = arrays.table(_for_goal(rho, int(goal), "rho"), f"rho[{goal}]", graph.n)
    return which.astype(np.int32), values, None if lower_bound is None else np.stack(bounds)


def _solve_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    table: NDArray[np.int32],
    greedy: bool,
    rho: NDArray[np.float64],
    reopen: bool,
    budget: int,
    lower_bound: NDArray[np.float64] | None,
) -> tuple[NDArray[Any], ...]:
    failure, offender, *columns = chunk.graph._kernel.solve_many(
        greedy,
        chunk.weights,
        chunk.rows,
        chunk.sources,
        chunk.goals,
        table[first : first + len(chunk)],
        rho,
        reopen,
        budget,
        lower_bound,
        stop,
    )
    if failure >= _STOPPED:
        done = columns[0].size if columns else 0
        weights = chunk.weights[chunk.rows[done]]
        _raise_failure(failure, offender, chunk.graph, weights, rho, lower_bound, f"instance {first + done}: ")
    return tuple(columns)


# ---------------------------------------------------------------- what went wrong


def _raise_failure(
    failure: int, offender: int, graph: Graph, weights: Any, rho: Any, lower_bound: Any, where: str = ""
) -> NoReturn:
    if failure == _BAD_WEIGHT:
        _raise_weight(graph, weights, offender, f"{where}weights")
    if failure == _STOPPED:
        raise StoppedError(f"{where}stopped")
    for name, values, mark in (("rho", rho, _BAD_RHO), ("lower_bound", lower_bound, _BAD_BOUND)):
        if failure == mark:
            arrays.table(values, name, graph.n, infinite=mark == _BAD_BOUND)
    raise InputError(f"{where}the core refused its input (code {failure})")


def _raise_weight(graph: Graph, weights: Any, edge: int, name: str) -> NoReturn:
    raise WeightError(
        f"{name}[{edge}] (edge {graph.tail[edge]} -> {graph.head[edge]}) "
        f"must be at least 0 and not NaN, got {weights[edge]}"
    )
