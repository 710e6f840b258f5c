"""Times searches: all methods in turn, round by round, so that a busy machine slows all of them alike."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rhostar import _arrays as arrays
from rhostar.instances import InstanceSet
from rhostar.report._method import as_methods
from rhostar.search import solve_many


class Timing(NamedTuple):
    """One method on one thread."""

    name: str
    microseconds: float
    """The time of a query, from the median round."""
    nanoseconds: float
    """The time of an expansion."""
    speedup: float
    """The first method's time divided by this one's."""


def time_methods(
    instances: InstanceSet, methods: Mapping[str, Any], *, rounds: int = 5, budget: int | None = None
) -> list[Timing]:
    """Time the searches of each method.

    Parameters
    ----------
    instances, methods, budget
        As for :func:`rhostar.report.build`.
    rounds
        How often all instances are solved with each method; the median round counts.

    Returns
    -------
    list of Timing
        In the order of the methods; savings are against the first of them.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(30, 30)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=899)
    >>> [t.name for t in rs.report.time_methods(instances, {"Dijkstra": np.zeros(900)}, rounds=1)]
    ['Dijkstra']
    """
    chosen = as_methods(instances, methods)
    rounds = arrays.integer(rounds, "rounds", 1)
    seconds: dict[str, list[float]] = {name: [] for name in chosen}
    expanded: dict[str, int] = {}
    for _ in range(rounds):
        for name, method in chosen.items():
            start = time.perf_counter()
            runs = solve_many(
                instances, method.rho, algorithm=method.algorithm, reopen=method.reopen, budget=budget, n_jobs=1
            )
            seconds[name].append(time.perf_counter() - start)
            expanded[name] = int(runs.expanded.sum())
    median = {name: float(np.median(values)) for name, values in seconds.items()}
    first = next(iter(median.values()))
    return [
        Timing(name, 1e6 * s / len(instances), 1e9 * s / max(expanded[name], 1), first / s)
        for name, s in median.items()
    ]
