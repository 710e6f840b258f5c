"""Both algorithms on all instances of a set, on several threads or machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.potentials import Potential
from rhostar.search import _exact as exact
from rhostar.search._outcome import Algorithm, Runs
from rhostar.search._rho import Rho, potential_for, values_for, values_for_each, values_for_instances
from rhostar.search._run import _budget, _check_at_goals

_LOWERED_AT_ONCE = 2**24
"""Values of lowered tables that are in memory at once: 128 MB."""


def solve_many(
    instances: InstanceSet,
    rho: Rho,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    lower_bound: Rho | None = None,
    checked: bool = False,
    n_jobs: int | None = None,
) -> Runs:
    """Solve every instance of a set.

    Parameters
    ----------
    instances
        The set.
    rho, reopen, budget, lower_bound, checked
        As for :func:`astar`. A call compares each snapshot of the set with the bounds once.
    algorithm
        "astar" or "gbfs" (which has no reopening and no lower bound).
    n_jobs
        As in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1 means all cores. Jobs are
        threads by default: the kernels run without the interpreter lock.

    Returns
    -------
    Runs
        In the order of the set, for any number of jobs.

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
    if arrays.algorithm(algorithm) == "gbfs" and lower_bound is not None:
        raise InputError("lower_bound applies to algorithm='astar' only: greedy search keeps no optimal g")
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    options: dict[str, Any] = {"reopen": reopen, "budget": budget, "lower_bound": lower_bound, "n_jobs": n_jobs}
    if algorithm == "astar" and not checked:
        below = exact.shortfalls(rho, instances)
        if below:
            return _solve_lowered(instances, rho, below, **options)
    values: list[NDArray[np.float64]] | list[Potential]
    potential = potential_for(rho, instances.graph, instances.goals)
    values, rho_of = values_for_instances(rho, instances) if potential is None else potential.on_each(instances)
    return _solve_all(instances, values, rho_of, algorithm == "gbfs", **options)


def _solve_all(
    instances: InstanceSet,
    values: list[NDArray[np.float64]] | list[Potential],
    rho_of: NDArray[np.int32],
    greedy: bool = False,
    *,
    reopen: bool,
    budget: int | None,
    lower_bound: Rho | None,
    n_jobs: int | None,
) -> Runs:
    """Solve a set; instance i has values[rho_of[i]]."""
    graph, goals = instances.graph, instances.goals
    bounds: list[NDArray[np.float64]] | list[Potential] = []
    bound_of = np.empty(0, dtype=np.int32)
    if lower_bound is not None:
        computed = potential_for(lower_bound, graph, goals)
        if computed is None:
            tables, bound_of = values_for_each(lower_bound, graph, goals, "lower_bound", infinite=True)
            _check_at_goals(tables, bound_of, goals)
            bounds = tables
        else:  # it is 0 at every goal
            bounds, bound_of = computed.on_each(instances)
    parts = map_chunks(
        _solve_chunk,
        instances,
        n_jobs=n_jobs,
        greedy=greedy,
        rho=values,
        rho_of=rho_of,
        reopen=bool(reopen),
        budget=_budget(budget),
        bounds=bounds,
        bound_of=bound_of,
    )
    return Runs.joined(parts)


def _solve_lowered(instances: InstanceSet, rho: Rho, below: Mapping[int, exact.Shortfall], **options: Any) -> Runs:
    """Solve a set in which some snapshots have weights below the bounds that a promise of optimal answers rests on."""
    graph, said = instances.graph, False
    potential = potential_for(rho, graph, instances.goals)
    tables: dict[int, NDArray[np.float64]] = {}
    rest = np.ones(len(instances), dtype=bool)
    lowered: list[Any] = []  # for each of them, the instances that need it
    of_lowered: list[NDArray[np.intp]] = []
    parts: list[Runs] = []
    places: list[NDArray[np.intp]] = []

    def solve_those() -> None:
        which = np.repeat(np.arange(len(lowered), dtype=np.int32), [mine.size for mine in of_lowered])
        places.append(np.concatenate(of_lowered))
        parts.append(_solve_all(instances[places[-1]], lowered.copy(), which, **options))
        lowered.clear()
        of_lowered.clear()

    def lower(usable: Any, mine: NDArray[np.intp]) -> None:
        rest[mine] = False
        lowered.append(usable)
        of_lowered.append(mine)
        if potential is not None or len(lowered) * graph.n >= _LOWERED_AT_ONCE:
            solve_those()

    order = np.argsort(instances.rows, kind="stable")
    begin, end = (np.searchsorted(instances.rows[order], list(below), side) for side in ("left", "right"))
    for k, (row, short) in enumerate(below.items()):
        on_row = order[begin[k] : end[k]]
        if potential is not None:
            guide, kept = short.scaled(potential)
            said = said or short.say(kept, f"snapshot {row}", stacklevel=4)
            lower(guide, on_row)
            continue
        goals = instances.goals[on_row]
        for goal in np.unique(goals).tolist():
            table = tables.get(goal)
            if table is None:
                table = tables[goal] = values_for(rho, graph, goal)
            usable = short.lowered(table, reopen=bool(options["reopen"]))
            if usable is table:
                continue
            said = said or short.say(exact.share_kept(usable, table), f"snapshot {row}", stacklevel=4)
            lower(usable, on_row[goals == goal])
    if lowered:
        solve_those()
    if rest.any():
        places.append(np.flatnonzero(rest))
        parts.append(solve_many(instances[places[-1]], rho, checked=True, **options))
    return Runs.joined(parts).reordered(np.argsort(np.concatenate(places)))


def _solve_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    greedy: bool,
    rho: list[NDArray[np.float64]] | list[Potential],
    rho_of: NDArray[np.int32],
    reopen: bool,
    budget: int,
    bounds: list[NDArray[np.float64]] | list[Potential],
    bound_of: NDArray[np.int32],
) -> Runs:
    last = first + len(chunk)
    kernel = chunk.graph._kernel
    what = _core.Instances(chunk.weights, chunk.rows, chunk.sources, chunk.goals)
    how = _core.SearchOptions(greedy, reopen, budget)
    which = arrays.aligned(rho_of[first:last])
    computed = [bound._kernel for bound in bounds if isinstance(bound, Potential)]
    tables = [arrays.aligned(bound) for bound in bounds if not isinstance(bound, Potential)]
    limits = tables, computed, arrays.aligned(bound_of[first:last])
    potentials = [values for values in rho if isinstance(values, Potential)]
    if potentials:
        found = kernel.solve_guided(what, how, [potential._kernel for potential in potentials], which, *limits, stop)
    else:
        found = kernel.solve_many(what, how, [arrays.aligned(table) for table in rho], which, *limits, stop)  # type: ignore[arg-type]
    if found.ending.status is not _core.Status.DONE:
        i = found.ending.at
        values = rho[rho_of[first + i]]
        raise failures.instance_failure(
            found.ending,
            chunk,
            first,
            rho=_table_for(values, int(chunk.goals[i])),
            lower_bound=_table_for(bounds[bound_of[first + i]], int(chunk.goals[i])) if bounds else None,
        )
    return Runs.of_core(found.runs, bounded=bool(bounds))


def _table_for(values: NDArray[np.float64] | Potential, goal: int) -> NDArray[np.float64]:
    """Return a table for a message about one of its values."""
    return values.rho_for(goal) if isinstance(values, Potential) else values
