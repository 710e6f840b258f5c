"""Costs of one query: every kind of closure, change, factor and mix against a search that is as plain as can be."""

from __future__ import annotations

import heapq
import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rhostar as rs
from rhostar import _core
from rhostar.errors import ArrayError, EdgeError, InputError, VertexError, WeightError
from rhostar.routing import _work as work
from rhostar.routing._related import MOST
from support.random_queries import queries

QUERIES = queries(3000)
"""How many random queries of each kind."""
KINDS = ("avoid", "avoid_vertices", "rise", "fall", "factors", "mix", "all")
MODES = ("new", "guided", "related", "customized")
CLASSES = ("street", "road", 7)


class Network:
    """A small random router with loops, parallels, zeros and closed edges, and the same as plain lists."""

    def __init__(self, rng: np.random.Generator, mode: str) -> None:
        self.n, self.undirected = int(rng.integers(1, 9)), bool(rng.integers(2))
        m = int(rng.integers(0, 4 * self.n))
        self.tail, self.head = rng.integers(0, self.n, (2, m))
        self.classes = [CLASSES[k] for k in rng.integers(0, 3, m)]
        self.mode = mode
        own_edges = bool(rng.integers(3))
        whole = bool(rng.integers(2))
        if own_edges:
            self.rows = {name: weights(rng, m, whole) for name in ("time", "toll")}
            extra: dict[str, Any] = {"edge_classes": self.classes, "criteria": self.rows}
            self.router = rs.Router.from_edges(self.n, self.tail, self.head, undirected=self.undirected, **extra)
        else:
            self.undirected = False
            graph = rs.Graph.from_edges(self.n, self.tail, self.head)
            self.tail, self.head, self.classes = graph.tail, graph.head, self.classes[: graph.m]
            self.rows = {name: weights(rng, graph.m, whole) for name in ("time", "toll")}
            self.router = rs.Router(graph, edge_classes=self.classes, criteria=self.rows)
        self.m = len(self.tail)
        if mode != "new":
            for name in self.rows:
                self.router._of_criterion(name).prepare()
        if mode == "related":  # hierarchies of other vehicles and mixes
            for kind in ("factors", "mix", "factors", "mix"):
                self.router._priced(None, self.costs(rng, kind)).prepare()

    def costs(self, rng: np.random.Generator, kind: str) -> dict[str, Any]:
        """Return random costs of a query."""
        found: dict[str, Any] = {}
        everything = kind == "all"
        if self.m:
            some = rng.integers(0, self.m, rng.integers(0, 6))
            if kind == "avoid" or (everything and rng.integers(2)):
                found["avoid"] = some.tolist() if rng.integers(2) else some
            if kind in ("rise", "fall") or (everything and rng.integers(2)):
                edges = rng.integers(0, self.m, rng.integers(0, 6))
                today = self.rows["time"][edges].astype(float)
                new = weights(rng, edges.size, bool(rng.integers(2))).astype(float)
                if not everything:
                    new = today + new if kind == "rise" else np.minimum(today, new)
                found["changes"] = (edges, new)
        if kind == "avoid_vertices" or (everything and rng.integers(2)):
            found["avoid_vertices"] = rng.integers(0, self.n, rng.integers(0, 3))
        if kind == "factors" or (everything and rng.integers(2)):
            named = [name for name in dict.fromkeys(self.classes) if rng.integers(3)]
            found["factors"] = {name: float(rng.choice([0.5, 1.0, 1.5, 2.0, 3.0])) for name in named}
        if kind == "mix" or (everything and rng.integers(2)):
            shares = rng.choice([0.0, 0.5, 1.0, 2.0], 2)
            shares[rng.integers(2)] += 0.25
            found["mix"] = dict(zip(("toll", "time"), shares.tolist(), strict=True))
        return found

    def prices(self, costs: dict[str, Any]) -> np.ndarray:
        """Return what each of the user's edges costs."""
        mix = costs.get("mix") or {"time": 1.0}
        found = np.zeros(self.m)
        for name, share in mix.items():
            if share > 0:
                found = found + share * self.rows[name]
        for row in self.rows.values() if "mix" in costs else ():
            found[np.isinf(row)] = np.inf  # also what a criterion without a share closes
        if "changes" in costs:
            for edge, weight in zip(*costs["changes"], strict=True):
                found[edge] = weight
        factors = costs.get("factors") or {}
        found = found * np.array([factors.get(name, 1.0) for name in self.classes]) if self.m else found
        if "avoid" in costs:
            found[np.asarray(costs["avoid"], dtype=int)] = np.inf
        closed = np.isin(self.tail, costs.get("avoid_vertices", [])) | np.isin(
            self.head, costs.get("avoid_vertices", [])
        )
        return np.where(closed, np.inf, found)


def weights(rng: np.random.Generator, count: int, whole: bool) -> np.ndarray:
    """Return weights whose sums do not round: integers, or quarters with zeros and closed edges."""
    if whole:
        return rng.integers(0, 9, count)
    return np.where(rng.random(count) < 0.15, np.inf, rng.integers(0, 30, count) / 4)


def dijkstra(network: Network, prices: np.ndarray, source: int, *, reverse: bool = False) -> list[float]:
    """Return the cost of reaching each vertex."""
    steps: list[list[tuple[int, float]]] = [[] for _ in range(network.n)]
    for tail, head, price in zip(network.tail.tolist(), network.head.tolist(), prices.tolist(), strict=True):
        for a, b in [(tail, head), (head, tail)] if network.undirected else [(tail, head)]:
            steps[b if reverse else a].append((a if reverse else b, price))
    found, queue = [math.inf] * network.n, [(0.0, source)]
    while queue:
        cost, v = heapq.heappop(queue)
        if cost >= found[v]:
            continue
        found[v] = cost
        for u, price in steps[v]:
            heapq.heappush(queue, (cost + price, u))
    return found


def check_route(network: Network, route: rs.Route, prices: np.ndarray, s: int, t: int, cost: float) -> None:
    """Assert that a route is what it says: its edges lead from s to t, and cost as much."""
    assert route.cost == cost
    if cost == math.inf:
        assert route.path.size == 0
        return
    assert route.bound == cost
    assert route.path[0] == s
    assert route.path[-1] == t
    assert prices[route.edges].sum() == cost
    for a, b, edge in zip(route.path[:-1], route.path[1:], route.edges, strict=True):
        ends = (network.tail[edge], network.head[edge])
        assert (a, b) == ends or (network.undirected and (b, a) == ends)


def check(network: Network, costs: dict[str, Any], rng: np.random.Generator) -> None:
    """Assert that all questions are answered as by brute force."""
    router, prices = network.router, network.prices(costs)
    s, t = rng.integers(0, network.n, 2).tolist()
    ahead, back = dijkstra(network, prices, s), dijkstra(network, prices, t, reverse=True)
    check_route(network, router.route(s, t, **costs), prices, s, t, ahead[t])
    question = rng.integers(6)
    if question == 0:
        routes = router.routes([(s, t), (s, s), (s, 0)], **costs)
        for route, goal in zip(routes, (t, s, 0), strict=True):
            check_route(network, route, prices, s, goal, ahead[goal])
    elif question == 1:
        everywhere = list(range(network.n))
        assert router.matrix([s], everywhere, **costs).tolist() == [ahead]
        assert router.matrix(everywhere, [t], **costs).ravel().tolist() == back
    elif question == 2:
        goals = rng.integers(0, network.n, 3).tolist()
        order = sorted((ahead[v], v) for v in set(goals) if ahead[v] < math.inf)[:2]
        found = router.nearest(s, goals, 2, **costs)
        assert list(zip(found.costs.tolist(), found.goals.tolist(), strict=True)) == order
    elif question == 3:
        sources = rng.integers(0, network.n, 3).tolist()
        order = sorted((back[v], v) for v in set(sources) if back[v] < math.inf)[:2]
        found = router.nearest_source(sources, t, 2, **costs)
        assert list(zip(found.costs.tolist(), found.goals.tolist(), strict=True)) == order
    elif question == 4:
        most = float(rng.integers(0, 10))
        area = router.within(s, most, **costs)
        assert dict(zip(area.vertices.tolist(), area.costs.tolist(), strict=True)) == {
            v: cost for v, cost in enumerate(ahead) if cost <= most
        }
    else:
        hops = router.next_hops([t], **costs)[0].tolist()
        for start, cost in enumerate(back):
            v, steps = start, 0
            while v != t and hops[v] >= 0:
                v, steps = hops[v], steps + 1
                assert steps <= network.n
            assert (v == t) == (cost < math.inf)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_random_queries(kind: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of searches without a guide, with one, and of hierarchies of their own."""
    rng = np.random.default_rng(KINDS.index(kind) + 10 * MODES.index(mode))
    for _ in range(-(-QUERIES // 5 // len(MODES))):
        network = Network(rng, mode)
        with monkeypatch.context() as patch:
            if mode != "customized":  # or the hierarchies of such small graphs would cost nothing
                patch.setattr(work, "PER_ARC", 1e9)
                patch.setattr(work, "GUESS_PER_VERTEX", 1e9)
                patch.setattr(work, "UPDATE", 0.9)
                patch.setattr(work, "UPDATE_PER_EDGE", 0.0)
            for _ in range(5):
                check(network, network.costs(rng, kind), rng)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.sampled_from(MODES))
def test_any_network(seed: int, kind: str, mode: str) -> None:
    rng = np.random.default_rng(seed)
    network = Network(rng, mode)
    check(network, network.costs(rng, kind), rng)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_costs_that_round(seed: int) -> None:
    """Weights of any size: the cost is that of the route, and no path is cheaper but for rounding."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(5, 5)
    rows = {name: 10.0 ** rng.uniform(-8, 8, graph.m) for name in ("a", "b")}
    classes = rng.integers(0, 3, graph.m)
    router = rs.Router(graph, edge_classes=classes, criteria=rows)
    for name in rows:
        router._of_criterion(name).prepare()
    factors, mix = dict(enumerate(rng.uniform(0.1, 3, 3).tolist())), {"a": 0.3, "b": float(rng.uniform(0.01, 2))}
    edges = rng.integers(0, graph.m, 8)
    changes = (edges, 10.0 ** rng.uniform(-8, 8, 8))
    prices = sum(mix[name] * rows[name] for name in mix) * np.array([factors[k] for k in classes.tolist()])
    prices[edges] = changes[1] * np.array([factors[k] for k in classes[edges].tolist()])
    state = router._priced(None, {"factors": factors, "mix": mix, "changes": changes})
    for s, t in rng.integers(0, graph.n, (5, 2)).tolist():
        (found, _), _ = state.search(s, t, math.inf)
        best = rs.astar(graph, prices, s, t, np.zeros(graph.n)).cost
        assert found.cost == pytest.approx(best, rel=1e-12)
        assert found.cost == pytest.approx(prices[found.edges].sum(), rel=1e-12)


def test_integers_are_exact_up_to_the_limit() -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 0, 2], [1, 3, 2, 3])
    router = rs.Router(graph)
    large = 2**52 - 1
    router.update(np.array([large, 1, large, 1], dtype=np.int64)[[0, 2, 1, 3]])
    router.prepare()
    ids = {ends: int(graph.edge_index(*ends)[0]) for ends in ((0, 1), (1, 3), (0, 2), (2, 3))}
    assert router.route(0, 3, changes=([ids[2, 3]], [0])).cost == large
    closed = {"avoid": [ids[0, 1]], "changes": ([ids[2, 3]], [2**52])}
    assert router.route(0, 3, **closed).cost == 2**53 - 1
    with pytest.raises(WeightError, match=r"2\*\*53"):
        router.route(0, 3, avoid=[ids[0, 1]], changes=([ids[2, 3]], [2**52 + 1]))


# ---------------------------------------------------------------- the rule of work


def city(n: int = 2000) -> tuple[rs.Router, np.ndarray]:
    town = rs.datasets.city(n, seed=1)
    router = rs.Router(town.graph, edge_classes=np.arange(town.graph.m) % 4)
    today = town.snapshots(1, seed=0)[0]
    router.update(today)
    return router, today


def test_a_query_copies_nothing() -> None:
    router, _ = city(20_000)
    router.prepare()
    route = router.route(3, 1900)
    for costs in ({"avoid": route.edges[2:5]}, {"changes": (route.edges[:2], [0.0, 9.0])}, {"factors": {1: 2.0}}):
        state = router._priced(None, dict(costs))
        router.route(3, 1900, **costs)
        assert state._row is None
        assert state.index is None
        assert router._priced(None, dict(costs)) is state


def test_a_route_that_avoids_the_changes_needs_no_search() -> None:
    router, _ = city()
    router.prepare()
    route = router.route(3, 1900)
    away = np.setdiff1d(np.arange(router.graph.m), route.edges)[::7]
    state = router._priced(None, {"avoid": away})
    assert state.search(3, 1900, 0.0)[1] == 0.0
    assert router.route(3, 1900, avoid=away).edges.tolist() == route.edges.tolist()


@pytest.mark.parametrize("costs", [{"factors": {0: 2.0, 1: 1.5}}, {"avoid": [5, 6, 7]}])
def test_what_recurs_is_customized(costs: dict[str, Any]) -> None:
    router, _ = city()
    router.prepare()
    source, rng = int(router.graph.tail[5]), np.random.default_rng(0)
    state = router._priced(None, dict(costs))
    targets = rng.integers(0, router.graph.n, 500).tolist()
    for target in targets:
        router.route(source, target, **costs)
    assert state.index is not None
    assert state.spent <= state.work
    for target in targets[:50]:
        (found, _), _ = state.search(source, target, math.inf)
        assert router.route(source, target, **costs).cost == pytest.approx(found.cost)


@pytest.mark.parametrize("kind", ["factors", "mix"])
def test_hierarchies_of_some_vehicles_and_mixes_guide_others(kind: str) -> None:
    """Searches for new ones share an allowance. Later ones expand less, and all answers are as plain searches say."""
    town = rs.datasets.city(2000, seed=1)
    time, toll = town.snapshots(1, seed=0)[0], np.where(town.arterial, town.graph.length, 0.0)
    router = rs.Router(town.graph, edge_classes=town.arterial.astype(int), criteria={"time": time, "toll": toll})
    for name in ("time", "toll"):
        router._of_criterion(name).prepare()
    rng, work_of = np.random.default_rng(0), []
    related = router._variants._related
    for s, t in rng.integers(0, town.graph.n, (300, 2)).tolist():
        one, other = rng.uniform(1, 2, 2).tolist()
        costs: dict[str, Any] = {kind: {0: one, 1: other} if kind == "factors" else {"time": one, "toll": other}}
        state = router._priced(None, dict(costs))
        searched, spent = state.search(s, t, math.inf)
        assert searched is not None
        state._related = None
        work_of.append((spent, state.search(s, t, math.inf)[1]))
        state._related = related
        cost = rs.astar(town.graph, state.row, s, t, np.zeros(town.graph.n)).cost
        assert searched[0].cost == pytest.approx(cost, rel=1e-12)
        assert router.route(s, t, **costs).cost == pytest.approx(cost, rel=1e-12)
    assert len(related._made) == MOST
    with_others, alone = np.mean(work_of[200:], axis=0)
    assert with_others < 0.6 * alone
    router.update(time)
    assert related._made == []


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_the_best_combination_of_two(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, parts = rng.integers(1, 6, 2)
    rows, limit = (rng.choice([0.0, 0.5, 1.0, 1.5, rng.uniform(0, 2)], shape) for shape in ((count, parts), (parts,)))
    worth = rng.uniform(0, 2, count)
    found = _core.combination(rows, worth, limit)
    assert all(scale > 0 for _, scale in found)
    assert len(found) <= 2
    total = sum((scale * rows[k] for k, scale in found), np.zeros(parts))
    assert (total <= limit * (1 + 1e-15)).all()
    best = 0.0
    for pair in itertools.combinations(range(count), 2):
        if rows[list(pair)].any(axis=1).all():
            best = max(best, -linprog(-worth[list(pair)], rows[list(pair)].T, limit).fun)
    assert sum(scale * worth[k] for k, scale in found) == pytest.approx(best, abs=1e-9)


def test_queries_with_costs_count_for_the_hierarchy_of_today() -> None:
    router, _ = city()
    rng = np.random.default_rng(0)
    for k, (s, t) in enumerate(rng.integers(0, router.graph.n, (200, 2)).tolist()):
        router.route(s, t, avoid=[k])
    assert router.explain().engine == "hierarchy"


def test_an_update_forgets_variants() -> None:
    router, today = city()
    costs: dict[str, Any] = {"factors": {0: 2.0}}
    before = router.route(3, 1900, **costs).cost
    router.update(2 * today)
    assert router.route(3, 1900, **costs).cost == pytest.approx(2 * before)
    router.update(edges=[0], weights=[today[0]])
    assert not router._variants._vehicles


def test_an_old_snapshot_with_costs() -> None:
    router, today = city()
    old, before = router.snapshot, router.route(3, 1900, avoid=[4], factors={2: 3.0}).cost
    router.update(3 * today)
    assert router.route(3, 1900, avoid=[4], factors={2: 3.0}, snapshot=old).cost == pytest.approx(before)
    assert router.route(3, 1900, avoid=[4], factors={2: 3.0}).cost == pytest.approx(3 * before)


def test_criteria_are_updated_one_by_one() -> None:
    router = rs.Router.from_edges(2, [0, 0], [1, 1], criteria={"time": [5.0, 9.0], "toll": [4.0, 0.0]})
    assert router.route(0, 1).edges.tolist() == [0]
    assert router.route(0, 1, mix={"time": 1, "toll": 1}).edges.tolist() == [0]
    router.update([8.0, 0.0], criterion="toll")
    assert router.route(0, 1, mix={"time": 1, "toll": 1}).edges.tolist() == [1]
    router.update(edges=[1], weights=[6.0], criterion="toll")
    found = router.route(0, 1, mix={"time": 1, "toll": 1})
    assert (found.cost, found.edges.tolist()) == (13.0, [0])
    assert router.route(0, 1, mix={"toll": 1}).cost == 6.0
    assert router.route(0, 1).cost == 5.0


def test_classes_and_criteria_are_saved(tmp_path: Path) -> None:
    router = streets()
    router.save(tmp_path / "streets.npz")
    again = rs.Router.load(tmp_path / "streets.npz")
    again.update([1.0, 2.0, 3.0, 0.0])
    assert again.route("a", "b", factors={"x": 3.0}).edge_labels == ("high",)
    with pytest.raises(InputError, match="the criterion 'toll' has no weights yet"):
        again.route("a", "b", mix={"time": 1, "toll": 1})
    again.update([9.0, 1.0, 0.0, 0.0], criterion="toll")
    assert again.route("a", "b", mix={"time": 1, "toll": 1}).cost == 3.0


def test_threads_and_processes_answer_alike() -> None:
    router, _ = city()
    router.prepare()
    pairs = np.random.default_rng(0).integers(0, router.graph.n, (40, 2))
    costs: dict[str, Any] = {"avoid": [3, 4], "factors": {1: 1.5, 2: 0.75}}
    alone = router.routes(pairs, **costs).cost
    assert router.routes(pairs, n_jobs=2, **costs).cost == pytest.approx(alone)
    state = pickle.loads(pickle.dumps(router._priced(None, dict(costs))))
    assert [state.search(s, t, math.inf)[0][0].cost for s, t in pairs.tolist()] == pytest.approx(alone.tolist())


# ---------------------------------------------------------------- bad input


def streets() -> rs.Router:
    router = rs.Router.from_edges(
        3,
        [0, 0, 1, 2],
        [1, 1, 2, 2],
        labels=["a", "b", "c"],
        edge_labels=["low", "high", "far", "loop"],
        edge_classes=["x", "y", "x", "x"],
        criteria={"time": [1.0, 2.0, 3.0, 0.0], "toll": [0.0, 1.0, 0.0, 0.0]},
    )
    return router


@pytest.mark.parametrize(
    ("costs", "error", "words"),
    [
        ({"avoid": [0, 4]}, EdgeError, r"avoid\[1\].*0..3.*4"),
        ({"avoid": ["lower"]}, EdgeError, r"avoid\[0\].*'low'"),
        ({"avoid": "low"}, ArrayError, "avoid must be a list"),
        ({"avoid": 3}, ArrayError, "avoid must be a list"),
        ({"avoid": [("a", "b")]}, EdgeError, r"avoid\[0\].*2 edges 'a' -> 'b'"),
        ({"avoid_vertices": ["a", "x"]}, VertexError, r"avoid_vertices\[1\]"),
        ({"avoid_vertices": "a"}, ArrayError, "avoid_vertices"),
        ({"changes": ["low"]}, InputError, "changes must be a pair"),
        ({"changes": 3}, InputError, "changes must be a pair"),
        ({"changes": (["low", "x"], [1.0, 1.0])}, EdgeError, r"changes\[0\]\[1\]"),
        ({"changes": (["low"], [1.0, 1.0])}, ArrayError, r"changes\[1\] must have one value for each of the 1 edge"),
        ({"changes": (["low", "far"], [1.0, -1.0])}, WeightError, r"changes\[1\]\[1\] \(edge 'far'\).*-1"),
        ({"changes": (["low"], [np.nan])}, WeightError, r"changes\[1\]\[0\].*nan"),
        ({"factors": {"x": 0.0}}, InputError, r"factors\['x'\] must be a positive number, got 0.0"),
        ({"factors": {"x": -1}}, InputError, r"factors\['x'\]"),
        ({"factors": {"x": np.inf}}, InputError, r"factors\['x'\]"),
        ({"factors": {"x": np.nan}}, InputError, r"factors\['x'\]"),
        ({"factors": {"x": "2"}}, InputError, r"factors\['x'\]"),
        ({"factors": {"z": 2.0}}, InputError, "no edge has the class 'z'; classes are 'x', 'y'"),
        ({"factors": {1: 2.0}}, InputError, "no edge has the class 1"),
        ({"factors": [2.0]}, InputError, "factors must be a mapping"),
        ({"mix": {"time": 0.0, "toll": 0}}, InputError, "mix must have a positive coefficient"),
        ({"mix": {}}, InputError, "mix must have a positive coefficient"),
        ({"mix": {"time": -0.5}}, InputError, r"mix\['time'\].*-0.5"),
        ({"mix": {"time": np.nan}}, InputError, r"mix\['time'\]"),
        ({"mix": {"price": 1}}, InputError, "no criterion 'price'; criteria are 'time', 'toll'"),
        ({"mix": "time"}, InputError, "mix must be a mapping"),
        ({"avoids": [1]}, TypeError, "'avoids'; the costs of a query are avoid, "),
    ],
)
def test_bad_costs(costs: dict[str, Any], error: type, words: str) -> None:
    router = streets()
    for question in (
        lambda: router.route("a", "c", **costs),
        lambda: router.routes([("a", "c")], **costs),
        lambda: router.nearest("a", ["c"], **costs),
        lambda: router.within("a", 3.0, **costs),
    ):
        with pytest.raises(error, match=words):
            question()
    assert router.route("a", "c").cost == 4.0


def test_what_is_no_error() -> None:
    router = streets()
    for prepared in (False, True):
        if prepared:
            router.prepare()
        nowhere = router.route("a", "c", avoid=["far", "far"])  # named twice, and it disconnects
        assert nowhere.cost == math.inf
        assert nowhere.path.size == 0
        assert router.nearest("a", ["c"], avoid=["far"]).goal is None
        assert router.within("a", math.inf, avoid_vertices=["b"]).labels == ("a",)
        assert router.route("b", "b", avoid_vertices=["b"]).cost == 0.0
        assert router.route("a", "c", changes=(["low", "low"], [9.0, 0.5])).cost == 3.5  # the last one counts
        assert router.route("a", "c", avoid=["low"]).edge_labels == ("high", "far")
        assert router.route("a", "c", avoid=[], changes=([], []), factors={}, avoid_vertices=[]).cost == 4.0
        assert router.route("a", "b", avoid=["loop"]).cost == 1.0
        assert router.route("a", "b", factors={"x": 3.0}).edge_labels == ("high",)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"edge_classes": ["x"]}, ArrayError, "each of the 2 edges, got 1"),
        ({"edge_classes": "xy"}, ArrayError, "edge_classes must be a list"),
        ({"edge_classes": [["x"], "y"]}, ArrayError, "hashable"),
        ({"criteria": ["time"]}, InputError, "criteria must be a mapping"),
        ({"criteria": {1: [1.0, 1.0]}}, InputError, "criteria must be a mapping"),
        ({"criteria": {"time": [1.0]}}, ArrayError, "2 edges"),
        ({"criteria": {"time": [1.0, -1.0]}}, WeightError, "-1"),
    ],
)
def test_bad_classes_and_criteria(arguments: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        rs.Router.from_edges(2, [0, 1], [1, 0], **arguments)


def test_what_the_router_lacks() -> None:
    router = rs.Router.from_edges(2, [0, 1], [1, 0])
    router.update([1.0, 2.0])
    with pytest.raises(InputError, match="edge_classes"):
        router.route(0, 1, factors={"x": 2.0})
    with pytest.raises(InputError, match="make the router with criteria"):
        router.route(0, 1, mix={"time": 1.0})
    with pytest.raises(InputError, match="criterion must be one of the criteria of the router, which has none"):
        router.update([1.0, 2.0], criterion="toll")
    with pytest.raises(InputError, match="snapshot and mix exclude each other"):
        streets().route("a", "b", mix={"time": 1}, snapshot=streets().snapshot)


def test_what_one_criterion_closes_is_closed_in_every_mix() -> None:
    tolls = np.array([0.0, 0.0, 3.0, 1.0])
    router = rs.Router.from_edges(
        3, [0, 1, 0, 1], [1, 2, 2, 2], criteria={"time": [1.0, np.inf, 9.0, 5.0], "toll": tolls}
    )
    for _ in range(2):  # by a search, then by the index
        assert router.route(0, 2, mix={"toll": 1.0}).edges.tolist() == [0, 3]  # not by the closed parallel edge 1
        assert router.route(0, 2, mix={"time": 0.0, "toll": 2.0}, avoid=[3]).cost == 6.0
        assert router.matrix([0], [2], mix={"toll": 1.0})[0, 0] == 1.0
        router.prepare()
    router.update(edges=[3], weights=[np.inf])
    assert router.route(0, 2, mix={"toll": 1.0}).edges.tolist() == [2]
    router.update(edges=[1, 3], weights=[1.0, 1.0])
    assert router.route(0, 2, mix={"toll": 1.0}).cost == 0.0
