"""A router answers as brute force does, on any multigraph, after any updates, by either engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import rhostar as rs

EXACT = {"rel": 1e-12, "abs": 0}


@dataclass
class Network:
    """A multigraph as a user has it, with its distances by the algorithm of Floyd and Warshall."""

    rng: np.random.Generator
    n: int = 0
    undirected: bool = False
    tail: list[int] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    labels: list[Any] | None = None
    edge_labels: list[str] | None = None

    def __post_init__(self) -> None:
        rng = self.rng
        self.n = int(rng.integers(1, 12))
        m = int(rng.integers(1, 4 * self.n + 1))
        self.tail, self.head = (ends.tolist() for ends in rng.integers(0, self.n, (2, m)))
        self.undirected = bool(rng.random() < 0.4)
        self.labels = [None, [f"v{v}" for v in range(self.n)], rng.permutation(self.n).tolist()][rng.integers(3)]
        self.edge_labels = [None, [f"e{e}" for e in range(m)]][rng.integers(2)]
        self.weights = self.draw(m)

    def draw(self, m: int) -> np.ndarray:
        """Draw weights with zeros, ties and closed edges."""
        match self.rng.integers(4):
            case 0:
                return self.rng.integers(0, 4, m)
            case 1:
                weights = self.rng.uniform(0, 5, m)
            case 2:
                weights = self.rng.choice([0.0, 1.0, np.sqrt(2)], m)
            case _:
                weights = self.rng.uniform(0, 5, m).astype(np.float32)
        weights[self.rng.random(m) < 0.2] = np.inf
        return weights

    def router(self) -> rs.Router:
        return rs.Router.from_edges(
            self.n,
            self.tail,
            self.head,
            undirected=self.undirected,
            labels=self.labels,
            edge_labels=self.edge_labels,
        )

    def label(self, v: int) -> Any:
        return v if self.labels is None else self.labels[v]

    def edge(self, e: int) -> Any:
        return e if self.edge_labels is None else self.edge_labels[e]

    def distances(self) -> np.ndarray:
        best = np.full((self.n, self.n), np.inf)
        np.fill_diagonal(best, 0.0)
        for a, b, w in zip(self.tail, self.head, self.weights.tolist(), strict=True):
            best[a, b] = min(best[a, b], w)
            if self.undirected:
                best[b, a] = min(best[b, a], w)
        for v in range(self.n):
            np.minimum(best, best[:, v, None] + best[None, v], out=best)
        return best


def check_route(network: Network, route: rs.routing.Route, s: int, t: int, best: float) -> None:
    assert route.cost == pytest.approx(best, **EXACT)
    if best == np.inf:
        assert route.path.size == route.edges.size == 0
        return
    assert route.bound == route.cost
    assert route.path[0] == s
    assert route.path[-1] == t
    assert route.labels == tuple(network.label(v) for v in route.path.tolist())
    assert route.edge_labels == tuple(network.edge(e) for e in route.edges.tolist())
    at, total = s, 0.0
    for edge, to in zip(route.edges.tolist(), route.path[1:].tolist(), strict=True):
        ends = {(network.tail[edge], network.head[edge])}
        if network.undirected:
            ends |= {(network.head[edge], network.tail[edge])}
        assert (at, to) in ends
        at, total = to, total + float(network.weights[edge])
    assert total == pytest.approx(best, **EXACT)


def check_everything(network: Network, router: rs.Router, rng: np.random.Generator) -> None:
    best, names = network.distances(), [network.label(v) for v in range(network.n)]
    pairs = [(s, t) for s in range(network.n) for t in range(network.n)]
    for s, t in pairs:
        check_route(network, router.route(names[s], names[t]), s, t, best[s, t])
    some = [pairs[i] for i in rng.integers(0, len(pairs), 5)]
    for route, (s, t) in zip(router.routes([(names[s], names[t]) for s, t in some]), some, strict=True):
        check_route(network, route, s, t, best[s, t])
    rows, columns = (rng.integers(0, network.n, rng.integers(0, 6)).tolist() for _ in range(2))
    matrix = router.matrix([names[s] for s in rows], [names[t] for t in columns])
    assert matrix.shape == (len(rows), len(columns))
    assert np.allclose(matrix, best[np.ix_(rows, columns)], rtol=1e-12, atol=0)
    one, most = int(rng.integers(network.n)), float(rng.choice([0.0, 1.0, 2.5, np.inf]))
    for reverse in (False, True):
        costs = best[:, one] if reverse else best[one]
        k = int(rng.integers(1, 5))
        goals = [names[v] for v in columns]
        near = router.nearest_source(goals, names[one], k) if reverse else router.nearest(names[one], goals, k)
        reached = sorted({v for v in columns if costs[v] < np.inf}, key=lambda v: costs[v])
        assert near.goals.size == min(k, len(reached))
        assert np.allclose(near.costs, np.sort(costs[reached])[:k], rtol=1e-12, atol=0)
        assert np.allclose(near.costs, costs[near.goals], rtol=1e-12, atol=0)
        assert near.goal == (near.labels[0] if reached else None)  # as the user named it
        assert near.goal in (goals if reached else [None])
        if most in (0.0, np.inf) or np.abs(costs - most).min() > 1e-9 or network.weights.dtype.kind == "i":
            area = router.within(names[one], most, reverse=reverse)
            inside = {v for v in range(network.n) if costs[v] <= most and costs[v] < np.inf}
            assert set(area.vertices.tolist()) == inside
            assert np.allclose(area.costs, costs[area.vertices], rtol=1e-12, atol=0)
            assert (np.diff(area.costs) >= 0).all()
            seen = set()
            for v, parent in zip(area.vertices.tolist(), area.parents.tolist(), strict=True):
                assert parent in seen or (parent == -1 and v == one)
                seen.add(v)
    hops = router.next_hops([names[t] for t in columns])
    assert hops.shape == (len(columns), network.n)
    for tree, goal in zip(hops.tolist(), columns, strict=True):
        for v in range(network.n):
            if best[v, goal] == np.inf or v == goal:
                assert tree[v] == -1
                continue
            at = v
            for _ in range(network.n):
                assert best[at, goal] >= best[tree[at], goal] - 1e-9
                at = tree[at]
                if at == goal:
                    break
            assert at == goal


@pytest.mark.parametrize("seed", range(40))
def test_multigraphs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # the hierarchy follows every change, although graphs are small
        monkeypatch.setattr("rhostar.routing._work.following", lambda edges, m: 0.1)
    rng = np.random.default_rng(seed)
    network = Network(rng)
    router = network.router()
    router.update(network.weights)
    for step in range(4):
        if step % 2:
            router.prepare()
        check_everything(network, router, rng)
        if rng.random() < 0.3:
            network.weights = network.draw(len(network.tail))
            router.update(network.weights)
        else:
            some = rng.integers(0, len(network.tail), rng.integers(0, 4))
            fresh = rng.choice([0.0, 0.5, 3.0, np.inf], some.size)
            kept = network.weights.astype(np.float64)
            kept[some] = fresh
            network.weights = kept
            router.update(edges=[network.edge(e) for e in some.tolist()], weights=fresh)
    check_everything(network, router, rng)


@pytest.mark.parametrize("n", [3000, 60_000])
def test_cities(n: int) -> None:
    """Large graphs are searched in another order of their vertices."""
    graph = rs.datasets.city(n).graph
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, graph.m) * graph.length
    router = rs.Router(graph)
    router.update(weights)
    goal = int(rng.integers(graph.n))
    best = rs.distances_to(graph, weights, goal)
    sources = rng.integers(0, graph.n, 5)
    area = router.within(goal, float(np.median(best)), reverse=True)
    assert set(area.vertices.tolist()) == set(np.flatnonzero(best <= np.median(best)).tolist())
    hops = router.next_hops([goal])[0]
    others = np.flatnonzero((hops >= 0) & (np.arange(graph.n) != goal))
    edges = graph.edge_index(others, hops[others])
    assert np.allclose(best[others], weights[edges] + best[hops[others]])
    for _ in range(2):
        assert np.allclose([router.route(s, goal).cost for s in sources.tolist()], best[sources])
        assert np.allclose(router.matrix(sources, [goal])[:, 0], best[sources])
        assert router.nearest_source(sources, goal).cost == pytest.approx(best[sources].min())
        router.prepare()
    assert router.explain().engine == "hierarchy"


def test_a_route_outlives_updates() -> None:
    router = rs.Router.from_edges(3, [0, 0, 1], [1, 1, 2])
    router.update([2.0, 1.0, 1.0])
    for _ in range(2):
        before = router.route(0, 2)
        router.update([2.0, 5.0, 1.0])
        assert (before.cost, before.edges.tolist(), router.route(0, 2).edges.tolist()) == (2.0, [1, 2], [0, 2])
        router.update([2.0, 1.0, 1.0])
        router.prepare()


def test_an_older_snapshot_can_be_asked() -> None:
    graph = rs.Graph.grid(5, 5)
    router = rs.Router(graph)
    router.update(graph.length)
    old = router.snapshot
    router.update(2 * graph.length)
    router.prepare()
    assert (router.route(0, 24).cost, router.route(0, 24, snapshot=old).cost) == (16.0, 8.0)
    assert router.matrix([0], [24], snapshot=old).item() == 8.0
    foreign = rs.Snapshot(graph, 3 * graph.length)
    assert router.route(0, 24, snapshot=foreign).cost == 24.0
    router.update(foreign)
    assert router.snapshot is foreign
    assert router.route(0, 24).cost == 24.0


def test_geojson() -> None:
    places = [(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)]
    router = rs.Router.from_edges(3, [0], [1], coordinates=places, labels=["a", "b", "c"])
    router.update([2.5])
    there = router.route("a", "b").to_geojson()
    assert there == {
        "type": "Feature",
        "geometry": {"type": "LineString", "coordinates": [[0.0, 0.0], [1.0, 0.0]]},
        "properties": {"cost": 2.5, "labels": ["a", "b"]},
    }
    assert router.route("c", "c").to_geojson()["geometry"] == {"type": "Point", "coordinates": [1.0, 2.0]}
    nowhere = router.route("b", "a").to_geojson()
    assert nowhere["geometry"] is None
    assert nowhere["properties"] == {"cost": None, "labels": []}


def test_graphs_without_a_hierarchy_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.from_edges(120, *rng.integers(0, 120, (2, 3000)))
    monkeypatch.setattr("rhostar.hierarchy._hierarchy._half_of_memory", lambda: 1000)
    router = rs.Router(graph)
    weights = rng.uniform(0, 1, graph.m)
    router.update(weights)
    router.prepare()
    assert router.explain().engine == "search"
    assert "no small separators" in router.explain().order
    best = rs.distances_to(graph, weights, 7)
    pairs = [(s, 7) for s in range(120)]
    assert np.allclose(router.routes(pairs, n_jobs=2).cost, best)
    assert np.allclose(router.matrix(range(120), [7, 7], n_jobs=2), best[:, None])


@pytest.mark.parametrize("weights", [[np.inf, np.inf], [1e308, 1e308]])
def test_weights_that_a_hierarchy_refuses(weights: list[float]) -> None:
    router = rs.Router(rs.Graph.from_edges(3, [0, 1], [1, 2]))
    router.update(weights)
    router.prepare()
    assert router.route(0, 1).cost == weights[0]
    assert router.explain().engine == "search"
