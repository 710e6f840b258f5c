"""Costs of one query: how much slower they are than a plain query, and whether every answer is exact.

    make bench-router                                 with the rest
    python benchmarks/query_costs.py "city 40k"       one of the cities; prints, and writes nothing
    make test-routes                                  with tests on small graphs
    python benchmarks/query_costs.py --exact          10,000 answers of each kind on each city against plain searches

Queries between random crossings of a generated city, asked to a router whose hierarchy is customized to the weights of
the day. Each kind of query is a series of its own that is asked three times; times are processor time of one core, the
median of each query. Every query has its own closures, changes, factors or coefficients. A router keeps those of the
last eight queries, so nothing recurs. Vehicles and mixes are asked twice: each as the first one after an update, and
each after others, of which the router has customized a few. Classes are those of the generator, arterial roads and
streets; the factor of each is uniform in [1, 2]. Tolls are the lengths of arterial roads. Answers are compared with
Dijkstra's search on weights that are made for each query.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from any_goal import clock

import rhostar as rs
from hierarchy import as_float, whole_numbers

CITIES = {"city 40k": 40_000, "city 160k": 160_000}
QUERIES, SLOW = 1000, 200
"""Queries of each kind, and those that Dijkstra's search answers for the comparison."""
ROUNDS = 3
"""All are asked so many times, and the median counts; the router has forgotten costs before it sees them again."""


class Town:
    """A city with its router, and queries of every kind."""

    def __init__(self, n: int) -> None:
        self.town = rs.datasets.city(n, seed=0)
        self.graph = graph = self.town.graph
        self.today = as_float(np.maximum(whole_numbers(graph, self.town.snapshots(1, seed=1)[0]), 1))
        self.toll = as_float(whole_numbers(graph, np.where(self.town.arterial, graph.length, 0.0)))
        self.classes = self.town.arterial.astype(int)
        criteria = {"time": self.today, "toll": self.toll}
        self.router = rs.Router(graph, edge_classes=self.classes, criteria=criteria)
        for name in criteria:
            self.router._of_criterion(name).prepare()
        self.none = np.zeros(graph.n)

    def plain(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        return {}

    def random_edges(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        return {"avoid": rng.integers(0, self.graph.m, 50)}

    def own_edges(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        edges = self.router.route(s, t).edges
        return {"avoid": rng.choice(edges, min(5, edges.size), replace=False)}

    def row_of_edges(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        edges = self.router.route(s, t).edges
        begin = int(rng.integers(0, max(1, edges.size - 4)))
        return {"avoid": edges[begin : begin + 5]}

    def cheaper_edges(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        edges = rng.integers(0, self.graph.m, 20)
        return {"changes": (edges, np.floor(self.today[edges] / 2))}

    def factors(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        return {"factors": dict(enumerate(rng.uniform(1, 2, 2).tolist()))}

    def mix(self, rng: np.random.Generator, s: int, t: int) -> dict[str, Any]:
        share = float(rng.uniform(0.1, 0.5))
        return {"mix": {"time": 1 - share, "toll": share}}

    def row(self, costs: dict[str, Any]) -> np.ndarray:
        """Return the weights of a query."""
        row = self.today.copy()
        if "mix" in costs:
            row = costs["mix"]["time"] * self.today + costs["mix"]["toll"] * self.toll
        if "changes" in costs:
            row[costs["changes"][0]] = costs["changes"][1]
        if "factors" in costs:
            row *= np.array([costs["factors"][k] for k in (0, 1)])[self.classes]
        if "avoid" in costs:
            row[costs["avoid"]] = np.inf
        return row

    def dijkstra(self, costs: dict[str, Any], s: int, t: int, rounds: int = 1) -> tuple[float, float]:
        """Return the cost by Dijkstra's search, and its time; the weights are made before."""
        row, times, cost = self.row(costs), [], np.inf
        for _ in range(rounds):
            begin = clock()
            cost = rs.astar(self.graph, row, s, t, self.none).cost
            times.append(clock() - begin)
        return cost, float(np.median(times))


KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "plain": Town.plain,
    "50 random edges avoided": Town.random_edges,
    "5 edges of the route avoided": Town.own_edges,
    "5 edges in a row avoided": Town.row_of_edges,
    "20 random edges at half the cost": Town.cheaper_edges,
    "the first vehicle": Town.factors,
    "a new vehicle, after others": Town.factors,
    "the first mix of time and toll": Town.mix,
    "a new mix, after others": Town.mix,
}


def same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-12 * b


def measure(n: int, queries: int = QUERIES, slow: int = SLOW) -> dict[str, dict[str, float]]:
    """Return the times of each kind of query, and as multiples of the plain query and of Dijkstra's search."""
    town = Town(n)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, town.graph.n, (queries, 2)).tolist()
    found: dict[str, dict[str, float]] = {}
    base = np.empty(0)
    for kind, make in KINDS.items():
        costs = [make(town, rng, s, t) for s, t in pairs]
        rounds, answers = np.empty((ROUNDS, queries)), np.empty(queries)
        for times in rounds:
            for i, (s, t) in enumerate(pairs):
                if "first" in kind:
                    town.router._variants.forget()
                begin = clock()
                route = town.router.route(s, t, **costs[i])
                route.path  # noqa: B018
                times[i] = clock() - begin
                answers[i] = route.cost
        times = np.median(rounds, axis=0)
        others = [town.dijkstra(costs[i], *pairs[i], ROUNDS) for i in range(slow)]
        assert all(same(answers[i], cost) for i, (cost, _) in enumerate(others)), kind
        if kind == "plain":
            base = times
        found[kind] = {
            "median": float(np.median(times)),
            "mean": float(times.mean()),
            "plain": float(np.median(times / base)),
            "plain 95": float(np.percentile(times / base, 95)),
            "plain mean": float(times.mean() / base.mean()),
            "dijkstra": float(np.mean([time for _, time in others]) / times[:slow].mean()),
        }
    return found


def exact(n: int, queries: int) -> None:
    """Compare as many queries with searches that are as plain as can be: with own costs, by time of day, with turns."""
    town = Town(n)
    for part in (exact_costs, exact_times, exact_turns):
        begin = clock()
        part(town, queries)
        kind = part.__name__.removeprefix("exact_")
        print(f"{town.graph.n:,} crossings, {kind}: {queries:,} answers equal, {clock() - begin:.0f} s", flush=True)


def exact_costs(town: Town, queries: int) -> None:
    """Costs of one query against Dijkstra's search, of every kind in turn; some with closures as well."""
    rng, makers = np.random.default_rng(1), list(KINDS.values())[1:]
    for k in range(queries):
        s, t = rng.integers(0, town.graph.n, 2).tolist()
        costs = makers[k % len(makers)](town, rng, s, t)
        if rng.random() < 0.2:
            costs = town.row_of_edges(rng, s, t) | costs
        assert same(town.router.route(s, t, **costs).cost, town.dijkstra(costs, s, t)[0]), (s, t, costs)


def exact_times(town: Town, queries: int) -> None:
    """Departures and arrivals in turn, over the whole day, against Dijkstra's search by time of day."""
    from by_time import HOURS, rows_of

    rng, router = np.random.default_rng(2), town.router
    router.update_by_time(rows_of(town.town), np.arange(HOURS) * 60.0, period=24 * 60.0)
    for k in range(queries):
        (s, t), time, against = rng.integers(0, town.graph.n, 2).tolist(), float(rng.uniform(0, 1440)), k % 2 == 1
        found = router.route(s, t, arrive=time) if against else router.route(s, t, depart=time)
        assert same(found.cost, router._by_time._run(s, t, time, against, None).cost), (s, t, time, against)


def exact_turns(town: Town, queries: int) -> None:
    """Left turns cost something and turning back is forbidden; against scipy's search on a graph made for it."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    graph, rng, sources = town.graph, np.random.default_rng(3), 100
    fee = float(np.median(town.today))
    turns = graph.with_turns(lambda each: np.where(each.angle > 30, fee, 0.0), u_turns=np.inf)
    router = rs.routing.TurnRouter(turns)
    router.update(town.today)
    # A vertex for each street, the way of which leads over its head into the next one.
    first, degree = graph.first_out[graph.head], np.diff(graph.first_out)[graph.head]
    before = np.repeat(np.arange(graph.m), degree)
    after = np.repeat(first - (np.cumsum(degree) - degree), degree) + np.arange(degree.sum())
    allowed = graph.head[after] != graph.tail[before]
    before, after = before[allowed], after[allowed]
    x, y = (np.asarray(graph.coordinates[graph.head] - graph.coordinates[graph.tail])).T
    angle = np.degrees(
        np.arctan2(x[before] * y[after] - y[before] * x[after], x[before] * x[after] + y[before] * y[after])
    )
    costs = town.today[after] + np.where(angle > 30, fee, 0.0)
    network = csr_matrix((costs, (before, after)), shape=(graph.m, graph.m))
    for s in rng.integers(0, graph.n, sources).tolist():
        best = np.full(graph.n, np.inf)
        for street in range(graph.first_out[s], graph.first_out[s + 1]):
            np.minimum.at(best, graph.head, town.today[street] + dijkstra(network, indices=street))
        best[s] = 0.0
        for t in rng.integers(0, graph.n, queries // sources).tolist():
            assert same(router.route(s, t).cost, best[t]), (s, t)


def table(networks: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the measurements as a table."""
    names = list(networks)
    head = [f"{name}, {what}" for name in names for what in ("µs", "/ plain", "95 %", "Dijkstra /")]
    lines = ["| costs of one query | " + " | ".join(head) + " |", "|---|" + "--:|" * len(head)]
    for kind in KINDS:
        cells = []
        for name in names:
            facts = networks[name][kind]
            cells += [
                f"{1e6 * facts['median']:,.0f}",
                *(f"{facts[key]:.1f}" for key in ("plain", "plain 95", "dijkstra")),
            ]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cities; all if none are given")
    parser.add_argument("--exact", action="store_true", help="compare 10,000 answers on each city instead")
    given = parser.parse_args()
    for name in given.names or CITIES:
        if given.exact:
            exact(CITIES[name], 10_000)
        else:
            print(table({name: measure(CITIES[name])}), flush=True)


if __name__ == "__main__":
    main()
