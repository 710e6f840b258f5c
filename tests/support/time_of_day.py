"""Weights by time of day in exact arithmetic: what the definitions say, line by line, and nothing of the core."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

Time = Fraction | float
"""A time; inf for never."""


class ExactDay:
    """The weights of a multigraph by time of day, in fractions."""

    def __init__(
        self, edges: list[tuple[int, int]], times: list, weights: np.ndarray, period: float | None, waiting: bool
    ) -> None:
        self.edges, self.waiting = edges, waiting
        self.times = [Fraction(time) for time in times]
        self.period = None if period is None else Fraction(period)
        self.weights = [[inf if w == inf else Fraction(w) for w in row] for row in weights.T.tolist()]

    def moments(self, since: Fraction) -> list[tuple[Fraction, int]]:
        """Return moments with weights, from the last one that is not after `since`, for more than a period."""
        if self.period is None:
            found = [(time, k) for k, time in enumerate(self.times)]
        else:
            days = (since - self.times[0]) // self.period
            found = [
                (time + day * self.period, k) for day in (days, days + 1, days + 2) for k, time in enumerate(self.times)
            ]
        first = max(i for i, (time, _) in enumerate(found) if time <= since)
        return found[first:]

    def arrival(self, edge: int, time: Fraction) -> Time:
        """Return when the end of an edge is reached that is entered at a time."""
        moments, weights = self.moments(time), self.weights[edge]
        (left, k), *later = moments
        if time == left or not later:
            now = weights[k]
        elif inf in (weights[k], weights[later[0][1]]):
            now = inf
        else:
            right, following = later[0]
            now = weights[k] + (weights[following] - weights[k]) * (time - left) / (right - left)
        best: Time = inf if now == inf else time + now
        if self.waiting:
            best = min([best, *(moment + weights[j] for moment, j in later if weights[j] != inf)])
        return best

    def earliest(self, source: int, depart: Fraction, n: int) -> list[Time]:
        """Return the earliest arrival at each vertex, by relaxing all edges until nothing moves."""
        best: list[Time] = [inf] * n
        best[source] = depart
        moved = True
        while moved:
            moved = False
            for e, (a, b) in enumerate(self.edges):
                if best[a] != inf and (arrival := self.arrival(e, Fraction(best[a]))) < best[b]:
                    best[b], moved = arrival, True
        return best
