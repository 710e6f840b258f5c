"""Times searches: all methods in turn, round by round, so that a busy machine slows all of them alike.

What counts is the time that the processor spends on the searches, on one thread: waiting for other programs does not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rhostar import _arrays as arrays
from rhostar.instances import InstanceSet
from rhostar.report._method import Method, as_methods
from rhostar.search import solve_many


class Timing(NamedTuple):
    """One method on one thread."""

    name: str
    milliseconds: float
    """The time of a query, from the median round."""
    nanoseconds: float
    """The time of an expansion."""
    speedup: float
    """The first method's time divided by this one's."""
    spread: float
    """How far apart the middle half of the rounds was, divided by the median: the noise of the machine."""


class Timings(NamedTuple):
    """The times of all methods, and what they were measured on."""

    methods: tuple[Timing, ...]
    instances: int
    """How many instances each round solved."""
    rounds: int

    @property
    def spread(self) -> float:
        """The largest spread of a method."""
        return max(timing.spread for timing in self.methods)


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
            spent, expanded[name] = _once(instances, method, budget)
            seconds[name].append(spent)
    median = {name: float(np.median(values)) for name, values in seconds.items()}
    first = next(iter(median.values()))
    return [
        Timing(
            name,
            1e3 * s / len(instances),
            1e9 * s / max(expanded[name], 1),
            first / s,
            float(np.subtract(*np.percentile(seconds[name], [75, 25]))) / s,
        )
        for name, s in median.items()
    ]


def quick_times(
    instances: InstanceSet, methods: Mapping[str, Method], *, budget: int | None = None, seconds: float = 1.5
) -> Timings:
    """Time all methods in about a given time: on all instances, or on as many random ones as there is time for."""
    order = np.random.default_rng(0).permutation(len(instances))
    pilot = instances[np.sort(order[:_PILOT])]
    spent = sum(_once(pilot, method, budget)[0] for method in methods.values())
    most = seconds / spent * len(pilot)  # instances of a single round
    rounds = int(np.clip(most / len(instances), 3 if most < 2 * len(pilot) else 5, 25))
    count = int(np.clip(most / rounds, len(pilot), len(instances)))
    part = instances if count == len(instances) else instances[np.sort(order[:count])]
    return Timings(tuple(time_methods(part, methods, rounds=rounds, budget=budget)), count, rounds)


_PILOT = 10


def _once(instances: InstanceSet, method: Method, budget: int | None) -> tuple[float, int]:
    """Return the seconds that one thread needs for all instances, and the expansions."""
    start = time.thread_time()
    runs = solve_many(instances, method.rho, algorithm=method.algorithm, reopen=method.reopen, budget=budget, n_jobs=1)
    return max(time.thread_time() - start, 1e-9), int(runs.expanded.sum())
