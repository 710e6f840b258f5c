"""Both algorithms on all instances of a set, on several threads or machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.errors import InputError
from rhostar.heuristics import Heuristic, HeuristicLike, as_heuristic
from rhostar.heuristics._below import Shortfall, shortfalls
from rhostar.heuristics._computed import Computed
from rhostar.instances import InstanceSet
from rhostar.search._outcome import Algorithm, Runs
from rhostar.search._run import _budget, _check_at_goals

Usable = NDArray[np.float64] | Computed

_LOWERED_AT_ONCE = 2**24
"""Values of lowered tables that are in memory at once: 128 MB."""


def solve_many(
    instances: InstanceSet,
    rho: HeuristicLike,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    lower_bound: HeuristicLike | None = None,
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
    graph, goals = instances.graph, instances.goals
    heuristic = as_heuristic(rho, graph, goals)
    bounds: list[Usable] = []
    bound_of = np.empty(0, dtype=np.int32)
    if lower_bound is not None:
        given = as_heuristic(lower_bound, graph, goals, name="lower_bound", infinite=True)
        bounds, bound_of = given.for_instances(instances)
        if bounds and not isinstance(bounds[0], Computed):  # what is computed is 0 at every goal
            _check_at_goals(bounds, bound_of, goals)  # type: ignore[arg-type]
    greedy = algorithm == "gbfs"
    options = _Options(greedy, bool(reopen), _budget(budget), bounds, bound_of, n_jobs)
    below = {} if greedy or checked else shortfalls(heuristic, instances)
    if below:
        return _solve_lowered(instances, heuristic, below, options)
    return _solve_all(instances, *heuristic.for_instances(instances), options)


class _Options(NamedTuple):
    """How to search."""

    greedy: bool
    reopen: bool
    budget: int
    bounds: list[Usable]
    bound_of: NDArray[np.int32]
    """For each instance, the index of its bound; empty if there are none."""
    n_jobs: int | None

    def of(self, some: NDArray[np.intp]) -> _Options:
        """Return the same for some of the instances."""
        return self._replace(bound_of=self.bound_of[some]) if self.bounds else self


def _solve_all(instances: InstanceSet, values: list[Usable], rho_of: NDArray[np.int32], options: _Options) -> Runs:
    """Solve a set; instance i has values[rho_of[i]]."""
    chunks = map_chunks(_solve_chunk, instances, n_jobs=options.n_jobs, rho=values, rho_of=rho_of, options=options)
    return Runs._joined(chunks)


def _solve_lowered(
    instances: InstanceSet, heuristic: Heuristic, below: Mapping[int, Shortfall], options: _Options
) -> Runs:
    """Solve a set in which some snapshots have weights below the bounds of the heuristic."""
    graph, warned = instances.graph, False
    values, rho_of = heuristic.for_instances(instances)
    rest = np.ones(len(instances), dtype=bool)
    lowered: list[Usable] = []  # for each of them, the instances that need it
    of_lowered: list[NDArray[np.intp]] = []
    parts: list[Runs] = []
    places: list[NDArray[np.intp]] = []

    def solve_those() -> None:
        which = np.repeat(np.arange(len(lowered), dtype=np.int32), [mine.size for mine in of_lowered])
        places.append(np.concatenate(of_lowered))
        parts.append(_solve_all(instances[places[-1]], lowered.copy(), which, options.of(places[-1])))
        lowered.clear()
        of_lowered.clear()

    order = np.argsort(instances._stored_rows, kind="stable")
    begin, end = (np.searchsorted(instances._stored_rows[order], list(below), side) for side in ("left", "right"))
    for k, (row, short) in enumerate(below.items()):
        on_row = order[begin[k] : end[k]]
        for number in np.unique(rho_of[on_row]).tolist():
            given: Any = values[number]
            mine = on_row[rho_of[on_row] == number]
            usable: Usable
            if isinstance(given, Computed):
                lowering = short.lowering(given)
                usable, kept = lowering.usable(given, reopen=options.reopen, queries=mine.size), lowering.kept
            else:
                usable, kept = short.lower_table(given, reopen=options.reopen)
            if usable is given:
                continue
            warned = warned or short.warn(kept, f"snapshot {row}", stacklevel=4)
            rest[mine] = False
            lowered.append(usable)
            of_lowered.append(mine)
            if isinstance(usable, Computed) or len(lowered) * graph.n >= _LOWERED_AT_ONCE:
                solve_those()
    if lowered:
        solve_those()
    if rest.any():
        places.append(np.flatnonzero(rest))
        parts.append(_solve_all(instances[places[-1]], values, rho_of[places[-1]], options.of(places[-1])))
    return Runs._joined(parts)._reordered(np.argsort(np.concatenate(places)))


def _solve_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    rho: list[Usable],
    rho_of: NDArray[np.int32],
    options: _Options,
) -> Runs:
    last = first + len(chunk)
    kernel = chunk.graph._kernel
    bounds, bound_of = options.bounds, options.bound_of
    what = _core.Instances(chunk._stored, chunk._stored_rows, chunk.sources, chunk.goals)
    how = _core.SearchOptions(options.greedy, options.reopen, options.budget)
    tables, computed = _apart(rho)
    limits = *_apart(bounds), arrays.aligned(bound_of[first:last])
    which = arrays.aligned(rho_of[first:last])
    if computed:
        found = kernel.solve_guided(what, how, computed, which, *limits, stop)
    else:
        found = kernel.solve_many(what, how, tables, which, *limits, stop)
    if found.ending.status is not _core.Status.DONE:
        i = found.ending.at
        raise failures.instance_failure(
            found.ending,
            chunk,
            first,
            rho=_table_for(rho[rho_of[first + i]], int(chunk.goals[i])),
            lower_bound=_table_for(bounds[bound_of[first + i]], int(chunk.goals[i])) if bounds else None,
        )
    return Runs._of_core(found.runs, bounded=bool(bounds))


def _apart(given: list[Usable]) -> tuple[list[NDArray[np.float64]], list[_core.Potential]]:
    """Return tables, and what computes values."""
    return (
        [arrays.aligned(one) for one in given if not isinstance(one, Computed)],
        [one._kernel for one in given if isinstance(one, Computed)],
    )


def _table_for(values: Usable, goal: int) -> NDArray[np.float64]:
    """Return a table for a message about one of its values."""
    return values.table(goal) if isinstance(values, Computed) else values
