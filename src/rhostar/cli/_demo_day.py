"""A day of the demo: a router takes new travel times every quarter of an hour and answers every kind of query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rhostar.datasets import City
from rhostar.report import Section
from rhostar.report._section import Chart, table
from rhostar.routing import Router
from rhostar.search import distances_to

_PER_DAY = 96
_SHOWN = (12, 32, 48, 70, 84)
"""Which updates are shown: 3:00, 8:00, 12:00, 17:30, 21:00."""
_CLOSURE = 70
_MINUTES = 10.0
"""How far `within` looks."""
_VEHICLES = 20
HEAD = ("time", "to the goal", "nearest vehicle", "within 10 min", "among vehicles")


@dataclass(frozen=True)
class Day(Section):
    """What a router answered on one day."""

    name: ClassVar[str] = "day"
    title: ClassVar[str] = "A day"
    heading: ClassVar[str] = "A day of updates"

    rows: tuple[tuple[str, ...], ...]
    """The answers at some times of the day."""
    answers: int
    """How many questions were answered."""
    difference: float
    """How far costs of routes are from those of Dijkstra's algorithm at most, as a share."""
    before: float
    after: float
    """Minutes of a route, and of another one after five of its streets were closed."""
    others: tuple[float, ...]
    """Minutes of the alternatives to that route, before the streets were closed."""
    around: float
    """Minutes of the route for a vehicle that must avoid the first of these streets."""
    departing: float
    """Minutes of the trip that departs then, with the travel times of the moment that each street is reached."""

    @property
    def sentences(self) -> tuple[str, str]:
        """What happened, in words."""
        same = "up to rounding" if self.difference < 1e-12 else f"up to {self.difference:.1g} of it"
        return (
            f"A router took {_PER_DAY} updates of all travel times, one every 15 minutes, and answered "
            f"{self.answers:,} questions in between. Its routes cost what those of Dijkstra's algorithm cost, {same}.",
            f"At 17:30, five streets of the route to the goal were closed: {self.before:.1f} min became "
            f"{self.after:.1f}.",
        )

    def body(self, chart: Chart) -> str:
        """Return the sentences around a table."""
        head = [(name, k == 0) for k, name in enumerate(HEAD)]
        shown = table("Answers through the day", head, [("", row) for row in self.rows])
        first, second = self.sentences
        words = (
            f"The columns: the longest trip to the goal; the nearest of {_VEHICLES} vehicles to it; how many crossings "
            f"are within {_MINUTES:g} minutes of it; and the mean over the matrix of all pairs of vehicles."
        )
        others = " and ".join(f"{cost:.1f} min" for cost in self.others)
        choice = f"alternatives took {others}" if others else "no other route was a good alternative"
        more = (
            f"Before that, {choice}. A vehicle that had to avoid the first of these streets needed "
            f"{self.around:.1f} min. A trip that departs at 17:30 takes {self.departing:.1f} min if each street has "
            "the travel time of the moment at which it is reached."
        )
        return f"<p>{first}</p>\n{shown}\n<p>{words}</p>\n<p>{second} {more}</p>"


def spend_day(city: City, seed: int) -> Day:
    """Feed a router with a day of travel times and ask it everything after each update."""
    rng = np.random.default_rng(seed)
    graph, goal = city.graph, city.goal
    history = city.history(1, rng, per_day=_PER_DAY)
    vehicles = rng.choice(graph.n, _VEHICLES, replace=False)
    start = int(np.argmax(distances_to(graph, city.edge_bounds[0], goal)))
    router, rows, answers, difference, before, after = Router(graph), [], 0, 0.0, 0.0, 0.0
    others: tuple[float, ...] = ()
    around = 0.0
    for k, weights in enumerate(history.weights):
        router.update(weights)
        route = router.route(start, goal)
        nearest = router.nearest_source(vehicles, goal)
        near = router.within(goal, _MINUTES, reverse=True)
        matrix = router.matrix(vehicles, vehicles)
        routes = router.routes([(int(v), goal) for v in vehicles])
        router.next_hops([goal])
        answers += 4 + matrix.size + len(routes)
        exact = distances_to(graph, weights, goal)[vehicles]
        reached = np.isfinite(exact)
        apart = np.abs(np.array([one.cost for one in routes])[reached] / exact[reached] - 1)
        difference = max(difference, float(apart.max()))
        if k == _CLOSURE:
            others = tuple(one.cost for one in router.alternatives(start, goal, k=3, max_overlap=0.8)[1:])
            around = router.route(start, goal, avoid=route.edges[2:3]).cost
            router.update(edges=route.edges[2:7], weights=np.inf)
            before, after, answers = route.cost, router.route(start, goal).cost, answers + 3
        if k in _SHOWN:
            rows.append(
                (
                    f"{k // 4:02d}:{k % 4 * 15:02d}",
                    f"{route.cost:.1f} min",
                    f"{nearest.cost:.1f} min",
                    f"{near.vertices.size:,} crossings",
                    f"{matrix[np.isfinite(matrix)].mean():.1f} min",
                )
            )
    router.update_by_time(history.weights, 15.0 * np.arange(_PER_DAY), period=24 * 60.0, waiting=True)
    departing = router.route(start, goal, depart=15.0 * _CLOSURE).cost
    return Day(tuple(rows), answers + 1, difference, before, after, others, around, departing)
