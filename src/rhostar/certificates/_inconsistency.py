"""The inconsistency Δ of a heuristic on single instances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._measure import optimal_paths
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.instances import InstanceSet


def inconsistency(
    heuristic: HeuristicLike, instances: InstanceSet, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return Δ_ρ(x), the inconsistency of a heuristic along one optimal path of each instance.

    Δ_ρ(x) is the sum of max(ρ_v − ρ_c − w_vc, 0) over the edges (v, c) of the path, without its first one. A* with ρ,
    with or without reopening, returns a path that costs at most Δ_ρ(x) more than the optimum (Theorem 7 of the paper,
    L1). Of several optimal paths it is the one with the fewest edges, and of these the lexicographically smallest.

    Parameters
    ----------
    heuristic
        Anything that :func:`rhostar.astar` takes as `rho`.
    instances
        The instances x.
    n_jobs
        As in joblib.

    Returns
    -------
    numpy.ndarray
        One value per instance, at least 0.

    Raises
    ------
    HeuristicError, ModelError
        If the heuristic has no values for one of the goals, or is for another graph.
    InstanceError
        If an instance has no path.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(4, [0, 1, 2, 0], [1, 2, 3, 3])
    >>> instances = rs.InstanceSet(graph, [1.0, 5.0, 1.0, 1.0], sources=0, goal=3)
    >>> rs.certificates.inconsistency([9.0, 3.0, 1.0, 0.0], instances).tolist()
    [1.0]
    """
    graph, goals = instances.graph, instances.goals
    own = as_heuristic(heuristic, graph, np.unique(goals))
    paths = optimal_paths(instances, n_jobs=n_jobs)
    drop = np.empty(paths.edges.size)
    begin = 0
    # The terms of one instance are next to each other, and so are those of one snapshot and goal.
    key: tuple[int, int] | None = None
    for i, size in _blocks(paths.instance):
        edges = paths.edges[begin : begin + size]
        wanted = int(goals[i]), int(instances._stored_rows[i]) if own.uses_weights else -1
        if key != wanted:
            key = wanted
            rho = own.table(wanted[0], instances._stored[wanted[1]] if own.uses_weights else None)
        drop[begin : begin + size] = rho[graph.tail[edges]] - rho[graph.head[edges]]
        begin += size
    return paths.sums(drop)


def _blocks(owner: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return each instance with terms, and how many it has, in order."""
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    return list(zip(owner[begin].tolist(), np.diff(begin, append=owner.size).tolist(), strict=True))
