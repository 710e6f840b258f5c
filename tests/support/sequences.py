"""Random sequences of calls on a router and a hierarchy, each answer compared with an independent Dijkstra search.

``make fuzz`` runs many; the tests run some. A new question is one function in ``STEPS``. A sequence is made from its
number, so a failure can be looked at again.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rhostar as rs
from support.digraphs import dijkstra, random_digraph, random_weights

Rng = np.random.Generator


class Plain:
    """What is true: the graph, today's weights, and those of earlier snapshots."""

    def __init__(self, rng: Rng) -> None:
        while True:
            self.graph = random_digraph(rng, 20)
            if self.graph.m:
                break
        self.router = rs.Router(self.graph)
        self.today: Any = None
        self.weights = np.ones(self.graph.m)
        self.old: list[tuple[rs.Snapshot, np.ndarray]] = []
        self.rows: dict[int, np.ndarray] = {}

    def moved(self, weights: np.ndarray) -> None:
        self.weights = weights.astype(float)
        self.rows.clear()

    def moment(self, rng: Rng) -> tuple[dict[str, Any], Callable[[int], np.ndarray]]:
        """Return options for a question about today or an earlier moment, and distances from a vertex then."""
        if self.old and rng.random() < 0.3:
            snapshot, weights = self.old[int(rng.integers(len(self.old)))]
            return {"snapshot": snapshot}, lambda s: np.array(dijkstra(self.graph, weights, s))
        return {}, self.exact

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
    options, exact = plain.moment(rng)
    s, t = (int(v) for v in rng.integers(plain.graph.n, size=2))
    found = plain.router.route(s, t, **options)
    same(found.cost, exact(s)[t])
    if found.cost < np.inf:
        weights = options["snapshot"].weights if options else plain.weights
        assert [s, *plain.graph.head[found.edges].tolist()] == found.path.tolist()
        same(weights[found.edges].sum(), found.cost)


def routes(plain: Plain, rng: Rng, folder: Path) -> None:
    options, exact = plain.moment(rng)
    pairs = rng.integers(plain.graph.n, size=(int(rng.integers(5)), 2))
    same([found.cost for found in plain.router.routes(pairs, **options)], [exact(int(s))[t] for s, t in pairs])


def matrix(plain: Plain, rng: Rng, folder: Path) -> None:
    options, exact = plain.moment(rng)
    sources, targets = plain.some(rng), plain.some(rng)
    wanted = np.array([exact(int(s))[targets] for s in sources])
    same(plain.router.matrix(sources, targets, **options), wanted)
    if not options:
        same(plain.today.matrix(sources, targets), wanted)


def nearest(plain: Plain, rng: Rng, folder: Path) -> None:
    options, exact = plain.moment(rng)
    s, goals, k = int(rng.integers(plain.graph.n)), plain.some(rng), int(rng.integers(1, 4))
    costs = np.sort(exact(s)[np.unique(goals)])
    same(plain.router.nearest(s, goals, k=k, **options).costs, costs[costs < np.inf][:k])
    to = np.sort([exact(int(v))[s] for v in np.unique(goals)])
    same(plain.router.nearest_source(goals, s, k=k, **options).costs, to[to < np.inf][:k])


def within(plain: Plain, rng: Rng, folder: Path) -> None:
    options, exact = plain.moment(rng)
    s, most = int(rng.integers(plain.graph.n)), float(rng.choice([0.0, 1.25, 4.75]))
    found, costs = plain.router.within(s, most, **options), exact(s)
    if not np.isclose(costs, most, rtol=1e-9).any():  # sums that round differently may be on either side
        assert sorted(found.vertices.tolist()) == np.flatnonzero(costs <= most).tolist()
    same(found.costs, costs[found.vertices])


def hops(plain: Plain, rng: Rng, folder: Path) -> None:
    options, exact = plain.moment(rng)
    goal = int(rng.integers(plain.graph.n))
    weights = options["snapshot"].weights if options else plain.weights
    (row,) = plain.router.next_hops([goal], **options)
    for s in range(plain.graph.n):
        cost, v = 0.0, s
        while row[v] >= 0:
            cost, v = cost + float(weights[plain.graph.edge_index([v], [row[v]])[0]]), int(row[v])
        same(cost if v == goal else np.inf, exact(s)[goal])


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
    hierarchy = rs.Hierarchy(plain.graph)
    hierarchy.save(folder / "hierarchy.npz")
    plain.today = rs.Hierarchy.load(folder / "hierarchy.npz", plain.graph).customize(plain.weights)


STEPS: dict[Callable[[Plain, Rng, Path], None], float] = {
    **dict.fromkeys((change, route), 4.0),
    **dict.fromkeys((routes, matrix, nearest, within, keep), 2.0),
    **dict.fromkeys((update, hops, prepare, save), 1.0),
}
"""How often each is drawn."""


def run(number: int, steps: int = 40, seed: int = 0) -> Counter[str]:
    """Run one sequence and return how often each step ran."""
    rng = np.random.default_rng([seed, 7, number])
    share = np.array(list(STEPS.values())) / sum(STEPS.values())
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        plain = Plain(rng)
        update(plain, rng, Path(folder))
        for _ in range(steps):
            step = list(STEPS)[int(rng.choice(len(STEPS), p=share))]
            try:
                step(plain, rng, Path(folder))
            except BaseException as error:
                error.add_note(f"in sequence {number}, after {dict(done)}, in {step.__name__}")
                raise
            done[step.__name__] += 1
    return done
