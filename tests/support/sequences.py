"""Random sequences of calls on a router and a hierarchy, each answer compared with an independent Dijkstra search.

``make fuzz`` runs many; the tests run some. A new question is one function in ``STEPS``. A sequence is made from its
number, so a failure can be looked at again.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import rhostar as rs
from rhostar.routing import _work as work
from support.digraphs import dijkstra, random_digraph, random_weights
from support.time_of_day import Day

Rng = np.random.Generator


class Plain:
    """What is true: the graph, today's weights, and those of earlier snapshots."""

    def __init__(self, rng: Rng) -> None:
        while True:
            self.graph = random_digraph(rng, int(rng.choice([8, 20])))
            if self.graph.m:
                break
        self.classes = rng.integers(3, size=self.graph.m)
        self.weights = self.tolls = np.ones(self.graph.m)
        criteria = {"time": self.weights, "toll": self.tolls}
        self.router = rs.Router(self.graph, edge_classes=self.classes, criteria=criteria)
        self.today: Any = None
        self.old: list[tuple[rs.Snapshot, np.ndarray]] = []
        self.rows: dict[int, np.ndarray] = {}
        self.costs: dict[str, Any] = {}
        self.day: Day | None = None

    def moved(self, weights: np.ndarray) -> None:
        self.weights = weights.astype(float)
        self.rows.clear()

    def moment(self, rng: Rng) -> tuple[dict[str, Any], np.ndarray, Callable[[int], np.ndarray]]:
        """Return options for a question, what edges cost with them, and distances from a vertex."""
        options: dict[str, Any] = {}
        weights = self.weights
        if rng.random() < 0.3:
            if rng.random() < 0.6:  # otherwise those of before once more: what recurs is customized
                self.costs = self.random_costs(rng)
            options |= self.costs
        if self.old and "mix" not in options and rng.random() < 0.3:
            options["snapshot"], weights = self.old[int(rng.integers(len(self.old)))]
        if not options:
            return {}, weights, self.exact
        prices = self.prices(weights, options)
        return options, prices, lambda s: np.array(dijkstra(self.graph, prices, s))

    def random_costs(self, rng: Rng) -> dict[str, Any]:
        """Return costs of a query, of one kind or of several."""
        graph, made = self.graph, {}
        kinds = {"avoid", "avoid_vertices", "changes", "factors", "mix"}
        for kind in sorted(kinds) if rng.random() < 0.3 else [str(rng.choice(sorted(kinds)))]:
            edges = rng.integers(graph.m, size=int(rng.integers(5)))
            match kind:
                case "avoid":
                    pairs = list(zip(graph.tail[edges].tolist(), graph.head[edges].tolist(), strict=True))
                    made[kind] = edges if rng.random() < 0.5 else pairs
                case "avoid_vertices":
                    made[kind] = rng.integers(graph.n, size=int(rng.integers(3)))
                case "changes":
                    made[kind] = edges, rng.choice([0.0, 0.5, 1.0, 7.0, np.inf], edges.size)
                case "factors":
                    named = np.unique(self.classes)
                    made[kind] = {int(k): float(rng.choice([0.5, 1.5, 3.0])) for k in named[: int(rng.integers(4))]}
                case "mix":
                    made[kind] = {"time": float(rng.choice([0.0, 0.5, 1.0])), "toll": float(rng.choice([0.25, 2.0]))}
        return made

    def prices(self, weights: np.ndarray, options: dict[str, Any]) -> np.ndarray:
        """Return what edges cost with the costs of a query."""
        graph, found = self.graph, weights.astype(float)
        if "mix" in options:
            rows = {"time": found, "toll": self.tolls}
            found = np.sum([share * rows[name] for name, share in options["mix"].items() if share], axis=0)
            for row in rows.values():
                found[np.isinf(row)] = np.inf  # also where a criterion without a share closes an edge
        for edge, weight in zip(*options.get("changes", ((), ())), strict=True):
            found[edge] = weight
        factors = options.get("factors", {})
        found *= [factors.get(int(k), 1.0) for k in self.classes]
        for edge in options.get("avoid", ()):
            found[edge if np.ndim(edge) == 0 else graph.edge_index([edge[0]], [edge[1]])] = np.inf
        closed = options.get("avoid_vertices", [])
        found[np.isin(graph.tail, closed) | np.isin(graph.head, closed)] = np.inf
        return found

    def exact(self, s: int) -> np.ndarray:
        if s not in self.rows:
            self.rows[s] = np.array(dijkstra(self.graph, self.weights, s))
        return self.rows[s]

    def some(self, rng: Rng, most: int = 5) -> np.ndarray:
        return rng.integers(self.graph.n, size=int(rng.integers(1, most + 1)))


def same(found: Any, exact: Any) -> None:
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=0)


def update(plain: Plain, rng: Rng, folder: Path) -> None:
    weights = random_weights(rng, plain.graph.m)
    plain.router.update(weights)
    plain.today = rs.Hierarchy(plain.graph).customize(weights.astype(float))  # one for integers takes no halves
    plain.moved(weights)
    if rng.random() < 0.5:
        plain.tolls = random_weights(rng, plain.graph.m).astype(float)
        plain.router.update(plain.tolls, criterion="toll")


def change(plain: Plain, rng: Rng, folder: Path) -> None:
    edges = rng.integers(plain.graph.m, size=int(rng.integers(1, 5)))
    fresh = rng.choice([0.0, 0.5, 1.0, 7.0, np.inf], edges.size)
    weights = plain.weights.copy()
    for edge, weight in zip(edges.tolist(), fresh.tolist(), strict=True):
        weights[edge] = weight  # the last of equal edges counts
    plain.router.update(fresh, edges=edges)
    if np.isfinite(weights).any():
        edges = np.unique(edges)
        plain.today = plain.today.update(edges, weights[edges], in_place=bool(rng.integers(2)))
    else:
        plain.today = None  # a hierarchy refuses weights that are all infinite
    plain.moved(weights)
    if plain.today is None:
        update(plain, rng, folder)


def route(plain: Plain, rng: Rng, folder: Path) -> None:
    options, prices, exact = plain.moment(rng)
    s, t = (int(v) for v in rng.integers(plain.graph.n, size=2))
    found = plain.router.route(s, t, **options)
    same(found.cost, exact(s)[t])
    if found.cost < np.inf:
        assert [s, *plain.graph.head[found.edges].tolist()] == found.path.tolist()
        same(prices[found.edges].sum(), found.cost)


def routes(plain: Plain, rng: Rng, folder: Path) -> None:
    options, _, exact = plain.moment(rng)
    pairs = rng.integers(plain.graph.n, size=(int(rng.integers(5)), 2))
    same([found.cost for found in plain.router.routes(pairs, **options)], [exact(int(s))[t] for s, t in pairs])


def matrix(plain: Plain, rng: Rng, folder: Path) -> None:
    options, _, exact = plain.moment(rng)
    sources, targets = plain.some(rng), plain.some(rng)
    wanted = np.array([exact(int(s))[targets] for s in sources])
    same(plain.router.matrix(sources, targets, **options), wanted)
    if not options:
        same(plain.today.matrix(sources, targets), wanted)


def nearest(plain: Plain, rng: Rng, folder: Path) -> None:
    options, _, exact = plain.moment(rng)
    s, goals, k = int(rng.integers(plain.graph.n)), plain.some(rng), int(rng.integers(1, 4))
    costs = np.sort(exact(s)[np.unique(goals)])
    same(plain.router.nearest(s, goals, k=k, **options).costs, costs[costs < np.inf][:k])
    to = np.sort([exact(int(v))[s] for v in np.unique(goals)])
    same(plain.router.nearest_source(goals, s, k=k, **options).costs, to[to < np.inf][:k])


def within(plain: Plain, rng: Rng, folder: Path) -> None:
    options, _, exact = plain.moment(rng)
    s, most = int(rng.integers(plain.graph.n)), float(rng.choice([0.0, 1.25, 4.75]))
    found, costs = plain.router.within(s, most, **options), exact(s)
    if not np.isclose(costs, most, rtol=1e-9).any():  # sums that round differently may be on either side
        assert sorted(found.vertices.tolist()) == np.flatnonzero(costs <= most).tolist()
    same(found.costs, costs[found.vertices])


def hops(plain: Plain, rng: Rng, folder: Path) -> None:
    options, prices, exact = plain.moment(rng)
    goal = int(rng.integers(plain.graph.n))
    (row,) = plain.router.next_hops([goal], **options)
    for s in range(plain.graph.n):
        cost, v = 0.0, s
        while row[v] >= 0:
            cost, v = cost + float(prices[plain.graph.edge_index([v], [row[v]])[0]]), int(row[v])
        same(cost if v == goal else np.inf, exact(s)[goal])


def alternatives(plain: Plain, rng: Rng, folder: Path) -> None:
    options, prices, exact = plain.moment(rng)
    s, t = (int(v) for v in rng.integers(plain.graph.n, size=2))
    found, optimum = plain.router.alternatives(s, t, **options), exact(s)[t]
    assert (found == []) == (optimum == np.inf)
    for k, one in enumerate(found):
        assert [s, *plain.graph.head[one.edges].tolist()] == one.path.tolist()
        same(prices[one.edges].sum(), one.cost)
        assert one.cost <= (1.25 if k else 1.0) * optimum * (1 + 1e-12)


def by_time(plain: Plain, rng: Rng, folder: Path) -> None:
    """Weights by time of day, beside those of today."""
    edges = list(zip(plain.graph.tail.tolist(), plain.graph.head.tolist(), strict=True))
    plain.day = Day(rng, plain.router, edges) if plain.graph.n <= 8 else None  # more would round


def depart(plain: Plain, rng: Rng, folder: Path) -> None:
    if plain.day is not None:
        (s, t), when = rng.integers(plain.graph.n, size=2).tolist(), plain.day.moment(rng)
        plain.day.check_departure(s, t, when, plain.day.exact.earliest(s, Fraction(when), plain.graph.n))


def arrive(plain: Plain, rng: Rng, folder: Path) -> None:
    if plain.day is not None:
        s, t = rng.integers(plain.graph.n, size=2).tolist()
        plain.day.check_arrival(s, t, plain.day.moment(rng))


def keep(plain: Plain, rng: Rng, folder: Path) -> None:
    plain.old = [*plain.old[-3:], (plain.router.snapshot, plain.weights)]


def prepare(plain: Plain, rng: Rng, folder: Path) -> None:
    plain.router.prepare()
    assert plain.router.explain().engine in ("hierarchy", "search")


def save(plain: Plain, rng: Rng, folder: Path) -> None:
    """The router goes on from its file; its snapshots are of the old one, and plain arrays for the new one."""
    plain.router.save(folder / "router.npz")
    plain.router = rs.Router.load(folder / "router.npz")
    plain.router.update(plain.weights)
    plain.router.update(plain.tolls, criterion="toll")
    plain.day = None
    hierarchy = rs.Hierarchy(plain.graph)
    hierarchy.save(folder / "hierarchy.npz")
    plain.today = rs.Hierarchy.load(folder / "hierarchy.npz", plain.graph).customize(plain.weights)


STEPS: dict[Callable[[Plain, Rng, Path], None], float] = {
    **dict.fromkeys((change, route), 4.0),
    **dict.fromkeys((routes, matrix, nearest, within, keep, depart), 2.0),
    **dict.fromkeys((update, hops, alternatives, prepare, save, by_time, arrive), 1.0),
}
"""How often each is drawn."""


def run(number: int, steps: int = 40, seed: int = 0) -> Counter[str]:
    """Run one sequence and return how often each step ran.

    In every third, customizing seems to take so much work that searches answer, guided by today's hierarchy if there is
    one. Otherwise, it would be free on graphs that are so small.
    """
    rng = np.random.default_rng([seed, 7, number])
    dear = {"PER_ARC": 1e9, "GUESS_PER_VERTEX": 1e9, "UPDATE": 0.9} if number % 3 == 0 else {}
    share = np.array(list(STEPS.values())) / sum(STEPS.values())
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if dear:
            stack.enter_context(mock.patch.multiple(work, **dear))
        plain = Plain(rng)
        update(plain, rng, Path(folder))
        by_time(plain, rng, Path(folder))
        for _ in range(steps):
            step = list(STEPS)[int(rng.choice(len(STEPS), p=share))]
            try:
                step(plain, rng, Path(folder))
            except BaseException as error:
                error.add_note(f"in sequence {number}, after {dict(done)}, in {step.__name__}")
                raise
            done[step.__name__] += 1
    return done
