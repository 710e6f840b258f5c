"""Weights by time of day in exact arithmetic: what the definitions say, line by line; and a router against it."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

import rhostar as rs

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


def first_in_first_out(weights: np.ndarray, gaps: np.ndarray, *, around: bool) -> np.ndarray:
    """Raise weights where they would fall faster than time passes."""
    for _ in range(2):
        for k in range(len(weights) if around else len(weights) - 1):
            after = (k + 1) % len(weights)
            weights[after] = np.maximum(weights[after], weights[k] - gaps[k])
    return weights


class Day:
    """Random weights by time of day for the edges of a router, and questions about them with exact answers.

    Weights and times of questions are multiples of 1/4, and gaps are powers of 2: on up to 8 vertices, all sums and
    products are exact in float64.
    """

    def __init__(
        self, rng: np.random.Generator, router: rs.Router, edges: list[tuple[int, int]], undirected: bool = False
    ) -> None:
        self.router, self.edges, self.undirected = router, edges, undirected
        self.n, m = router.graph.n, len(edges)
        bins = int(rng.integers(2, 7))
        gaps = rng.choice([1.0, 2.0, 4.0], bins) if rng.random() < 0.3 else np.full(bins, 2.0)
        self.times = float(rng.integers(-3, 4)) + np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
        self.period = float(gaps.sum()) if rng.random() < 0.6 else None
        self.waiting = bool(rng.random() < 0.4)
        most = int(rng.choice([4, 16, 60]))
        weights = rng.integers(0, most, (bins, m)) / 4
        if rng.random() < 0.4:
            weights[:, rng.random(m) < 0.2] = np.inf
        if self.waiting:
            weights[rng.random((bins, m)) < 0.15] = np.inf
        else:
            weights = first_in_first_out(weights, gaps, around=self.period is not None)
        self.weights = weights
        self.router.update_by_time(weights, self.times, period=self.period, waiting=self.waiting)
        both = self.edges + [(b, a) for a, b in self.edges] if self.undirected else self.edges
        rows = np.concatenate([weights, weights], axis=1) if self.undirected else weights
        self.exact = ExactDay(both, self.times.tolist(), rows, self.period, self.waiting)
        self.end = self.times[0] + self.period if self.period is not None else self.times[-1]

    def moment(self, rng: np.random.Generator) -> float:
        """Draw a time in the horizon: a multiple of 1/4."""
        return float(rng.integers(4 * self.times[0], 4 * self.end) / 4)

    def drive(self, route: rs.routing.TimedRoute, depart: float) -> Any:
        """Return when a drive along the route arrives; its edges connect."""
        at, time = int(route.path[0]), Fraction(depart)
        for edge, v in zip(route.edges.tolist(), route.path[1:].tolist(), strict=True):
            a, b = self.edges[edge]
            assert (a, b) == (at, v) or (self.undirected and (b, a) == (at, v))
            time, at = self.exact.arrival(edge, time), v
        return time

    def check_departure(self, s: int, t: int, depart: float, earliest: list) -> None:
        route = self.router.route(s, t, depart=depart)
        assert route.arrive == earliest[t]  # exactly
        assert route.depart == depart
        if earliest[t] < np.inf:
            assert route.cost == float(earliest[t] - Fraction(depart))
            assert (route.path[0], route.path[-1]) == (s, t)
            assert self.drive(route, depart) == earliest[t]
            assert route.times[-1] == route.arrive
        else:
            assert route.path.size == route.edges.size == route.times.size == 0

    def check_arrival(self, s: int, t: int, arrive: float) -> None:
        """The route departs so late that it just arrives in time: a little later would be too late."""
        route = self.router.route(s, t, arrive=arrive)
        assert route.arrive == arrive
        first, little = Fraction(float(self.times[0])), Fraction(1, 10**6)

        def reached(depart: Fraction) -> Any:
            return self.exact.earliest(s, depart, self.n)[t]

        if route.cost == np.inf:
            assert route.depart == -np.inf
            if self.period is None:
                assert reached(first) > arrive
            else:
                assert all(reached(Fraction(arrive) - days * self.exact.period) == np.inf for days in range(3))
            return
        assert route.cost == pytest.approx(arrive - route.depart, abs=1e-9)
        assert self.period is not None or route.depart >= first - little
        depart = Fraction(route.depart)
        assert reached(max(depart - little, first) if self.period is None else depart - little) <= arrive
        assert reached(depart + little) > arrive
        assert (route.path[0], route.path[-1]) == (s, t)
        assert (np.diff(route.times) >= 0).all()
