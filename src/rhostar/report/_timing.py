"""Times searches: all methods in turn, round by round, so that a busy machine slows all of them alike.

What counts is the time that the processor spends on the searches, on one thread: waiting for other programs does not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rhostar.instances import InstanceSet
from rhostar.report._method import Method
from rhostar.search import solve_many


class Timing(NamedTuple):
    """One method on one thread."""

    name: str
    milliseconds: float
    """The time of a query, from the median round."""
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


def quick_times(
    instances: InstanceSet, methods: Mapping[str, Method], *, budget: int | None = None, seconds: float = 1.5
) -> Timings:
    """Time all methods in about a given time: on all instances, or on as many random ones as there is time for."""
    order = np.random.default_rng(0).permutation(len(instances))
    pilot = instances[np.sort(order[:_PILOT])]
    spent = sum(_once(pilot, method, budget) for method in methods.values())
    count = int(np.clip(seconds / spent * len(pilot) / _ROUNDS, len(pilot), len(instances)))
    part = instances if count == len(instances) else instances[np.sort(order[:count])]
    each = np.array([[_once(part, method, budget) for method in methods.values()] for _ in range(_ROUNDS)])
    median, apart = np.median(each, axis=0), np.subtract(*np.percentile(each, [75, 25], axis=0))
    times = zip(methods, (1e3 * median / count).tolist(), (apart / median).tolist(), strict=True)
    return Timings(tuple(Timing(*time) for time in times), count, _ROUNDS)


_PILOT, _ROUNDS = 10, 5


def _once(instances: InstanceSet, method: Method, budget: int | None) -> float:
    """Return the seconds that one thread needs for all instances."""
    start = time.thread_time()
    solve_many(instances, method.rho, algorithm=method.algorithm, reopen=method.reopen, budget=budget, n_jobs=1)
    return max(time.thread_time() - start, 1e-9)
