"""A router against its own engines and against other libraries: total time per update for K queries.

    make bench-router                           everything; about ten minutes, half of it for pandana
    python benchmarks/router.py "city 40k"      one of the cities: the rest of the results stays as it is
    python benchmarks/router.py --costs         the costs of one query alone (query_costs.py); the rest stays
    python benchmarks/router.py --quick         a small city; writes nothing
    python benchmarks/router.py --memory        a million queries and 10,000 updates: does memory grow?

After each update of all weights come K queries with paths between random vertices. All contestants take turns on each
snapshot, in one process; times are processor time of one core, medians over the snapshots. Long series are run for
half a second and then continued at their own rate. Weights are whole numbers, so that all answers must be equal; the
conversion to what a library takes is outside the clock. The order of the vertices is built before, once. Results go to
benchmarks/results/router.json and router.md, a picture to docs/images/router.png, and tables into docs/routing.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # or pandana's idle threads would be charged to whoever comes next

import numpy as np
import query_costs
from any_goal import city, clock, has

import rhostar as rs
from hierarchy import NONE, RoutingKit, Times, as_float, memory, whole_numbers
from rhostar import _core

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "routing.md"
PICTURE = HERE.parent / "docs" / "images" / "router.png"
CITIES = {"city 40k": 40_000, "city 160k": 160_000, "city 1M": 1_000_000}
SNAPSHOTS = {"city 40k": 4, "city 160k": 3, "city 1M": 2}
QUERIES = (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000)
LONGEST = 0.5
"""Seconds after which a series of queries is continued at its own rate."""
OWN = ("searches alone", "hierarchy at once")
LEFT_OUT = {"pandana": ("city 1M",)}
"""Cities on which a single update takes minutes."""


# ---------------------------------------------------------------- contestants


class Contestant:
    """Takes new weights, then answers queries; both are timed."""

    def take(self, whole: np.ndarray) -> Any:
        """Return the weights as the library takes them; not timed."""
        return as_float(whole)

    def update(self, weights: Any) -> None:
        raise NotImplementedError

    def ask(self, s: int, t: int) -> float:
        """Return the cost; the path is found, too."""
        raise NotImplementedError


class Routing(Contestant):
    """The router, as it comes."""

    def __init__(self, graph: rs.Graph) -> None:
        self.router = rs.Router(graph)
        self.router.prepare()

    def update(self, weights: np.ndarray) -> None:
        self.router.update(weights)

    def ask(self, s: int, t: int) -> float:
        route = self.router.route(s, t)
        route.path  # noqa: B018
        return route.cost


class AtOnce(Routing):
    """A router that customizes after each update."""

    def update(self, weights: np.ndarray) -> None:
        self.router.update(weights)
        self.router.prepare()


class Searching(Contestant):
    """Dijkstra's search of rhostar."""

    def __init__(self, graph: rs.Graph) -> None:
        self.graph, self.zero = graph, np.zeros(graph.n)

    def update(self, weights: np.ndarray) -> None:
        self.today = rs.Snapshot(self.graph, weights)

    def ask(self, s: int, t: int) -> float:
        return rs.astar(self.graph, self.today.weights, s, t, self.zero).cost


class Kit(Contestant):
    """RoutingKit, through pyroutingkit."""

    def __init__(self, graph: rs.Graph) -> None:
        self.kit = RoutingKit(graph)

    def take(self, whole: np.ndarray) -> np.ndarray:
        return whole

    def update(self, weights: np.ndarray) -> None:
        self.kit.metric.customize(weights)

    def ask(self, s: int, t: int) -> float:
        cost = self.kit.metric.query(s, t)[0]
        return np.inf if cost == NONE else float(cost)


class Scipy(Contestant):
    """scipy's Dijkstra: it has no goal and visits all vertices."""

    def __init__(self, graph: rs.Graph) -> None:
        self.graph = graph

    def take(self, whole: np.ndarray) -> Any:
        from scipy.sparse import csr_matrix

        assert (whole > 0).all(), "scipy takes zeros for absent edges"
        return csr_matrix((as_float(whole), self.graph.head, self.graph.first_out), shape=(self.graph.n, self.graph.n))

    def update(self, weights: Any) -> None:
        self.matrix = weights

    def ask(self, s: int, t: int) -> float:
        from scipy.sparse.csgraph import dijkstra

        distance, _ = dijkstra(self.matrix, indices=s, return_predecessors=True)
        return float(distance[t])


class Networkx(Contestant):
    """networkx: a bidirectional search."""

    def __init__(self, graph: rs.Graph) -> None:
        import networkx as nx

        self.lib, self.network = nx, nx.DiGraph()
        self.network.add_nodes_from(range(graph.n))
        self.network.add_edges_from(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
        self.data = [self.network[a][b] for a, b in zip(graph.tail.tolist(), graph.head.tolist(), strict=True)]

    def take(self, whole: np.ndarray) -> list[float]:
        return as_float(whole).tolist()

    def update(self, weights: list[float]) -> None:
        for data, weight in zip(self.data, weights, strict=True):
            data["weight"] = weight

    def ask(self, s: int, t: int) -> float:
        return self.lib.bidirectional_dijkstra(self.network, s, t)[0]


class Pandana(Contestant):
    """pandana, which contracts the graph again for each snapshot."""

    def __init__(self, graph: rs.Graph) -> None:
        import pandana
        import pandas as pd

        self.make, self.frame, self.graph = pandana.Network, pd.DataFrame, graph
        x, y = graph.coordinates.T
        self.parts = [pd.Series(part) for part in (x, y, graph.tail, graph.head)]

    def take(self, whole: np.ndarray) -> Any:
        self.whole = whole.astype(np.float64)
        return self.frame({"weight": self.whole / 1000})  # it counts in thousandths

    def update(self, weights: Any) -> None:
        self.network = self.make(*self.parts, weights, twoway=False)

    def ask(self, s: int, t: int) -> float:
        path = np.asarray(self.network.shortest_path(s, t))
        return float(self.whole[self.graph.edge_index(path[:-1], path[1:])].sum())


def field(name: str, graph: rs.Graph) -> dict[str, Contestant]:
    found: dict[str, Contestant] = {
        "Router": Routing(graph),
        "searches alone": Searching(graph),
        "hierarchy at once": AtOnce(graph),
    }
    for package, label, make in (
        ("pyroutingkit", "RoutingKit (CCH)", Kit),
        ("scipy", "scipy", Scipy),
        ("pandana", "pandana", Pandana),
        ("networkx", "networkx", Networkx),
    ):
        if has(package) and name not in LEFT_OUT.get(package, ()):
            found[label] = make(graph)
    return found


# ---------------------------------------------------------------- totals per update


def series(contestant: Contestant, weights: Any, pairs: list, most: float) -> tuple[list[float], list[float]]:
    """Return the time after 1, 2, 5, ... queries, the update included, and the costs that were found."""
    begin = clock()
    contestant.update(weights)
    updated = clock() - begin
    totals, costs = [], []
    for k, (s, t) in enumerate(pairs, start=1):
        costs.append(contestant.ask(s, t))
        if k in QUERIES:
            totals.append(clock() - begin)
            if totals[-1] - updated > most:
                break
    if len(totals) < len(QUERIES):  # at the rate of the last part of the series
        ends = [(0, updated), *zip(QUERIES, totals, strict=False)]
        (first, before), (done, after) = ends[-2:]
        totals += [after + (after - before) / (done - first) * (k - done) for k in QUERIES[len(totals) :]]
    return totals, costs


def totals(contestants: dict[str, Contestant], n: int, rows: list[np.ndarray], most: float) -> dict[str, list[float]]:
    found: dict[str, list[list[float]]] = defaultdict(list)
    for k, whole in enumerate(rows):
        pairs = np.random.default_rng(k).integers(0, n, (QUERIES[-1], 2)).tolist()
        exact: list[float] = []
        for label, contestant in contestants.items():
            if label == "pandana" and k > 0:  # it needs minutes
                continue
            times, costs = series(contestant, contestant.take(whole), pairs, most)
            found[label].append(times)
            assert exact[: len(costs)] == costs[: len(exact)], f"{label} answers something else"
            exact = max(exact, costs, key=len)
    return {label: np.median(times, axis=0).tolist() for label, times in found.items()}


# ---------------------------------------------------------------- single questions


def questions(graph: rs.Graph, rows: list[np.ndarray], kit: Any) -> dict[str, float]:
    """Return seconds of single questions on a prepared router, and of the same to others."""
    from scipy.sparse.csgraph import dijkstra

    times, rng = Times(), np.random.default_rng(1)
    router = rs.Router(graph)
    for whole in rows:
        weights = as_float(whole)
        matrix = Scipy(graph).take(whole)
        for _ in range(5):
            times("check and copy", lambda w=weights: (w.copy(), _core.check_weights(w[None], None)))
            times("update", lambda w=weights: router.update(w))
        edges = rng.integers(0, graph.m, 20)
        times("update of 20 edges", lambda e=edges, w=weights: router.update(edges=e, weights=w[e]))
        router.prepare()
        if kit:
            kit.customize(whole)
        kernel = router._state.index
        pairs = [(int(graph.tail[e]), int(graph.head[e])) for e in rng.integers(0, graph.m, 2000)]
        for _ in range(5):
            times("kernel alone", lambda p=pairs, k=kernel: [k.path(s, t) for s, t in p], len(pairs))
            times("route to a neighbor", lambda p=pairs: [router.route(s, t) for s, t in p], len(pairs))
        for _ in range(6):
            sources, targets = rng.integers(0, graph.n, 20), rng.integers(0, graph.n, 200)
            ours = times("matrix 20 x 200", lambda s=sources, t=targets: router.matrix(s, t))
            start, goals = int(sources[0]), targets[:50]
            near = times("nearest of 50", lambda s=start, g=goals: router.nearest(s, g))
            times("nearest of 50 that recur", lambda s=int(sources[1]), g=goals: router.nearest(s, g))
            reach = np.sort(dijkstra(matrix, indices=start))
            most = float(reach[graph.n // 50])  # a fiftieth of the city
            area = times("within", lambda s=start, m=most: router.within(s, m))
            theirs = times("within, scipy", lambda s=start, m=most, x=matrix: dijkstra(x, indices=s, limit=m))
            assert np.array_equal(np.sort(theirs[np.isfinite(theirs)]), area.costs)
            if kit:
                s, t = sources.astype(np.uint32), targets.astype(np.uint32)
                found = times("matrix 20 x 200, RoutingKit", lambda s=s, t=t: kit.distances_many_to_many(s, t))
                assert np.array_equal(np.minimum(ours, NONE), found)
                found = times("nearest of 50, RoutingKit", lambda s=s, t=t: kit.distances_many_to_many(s[:1], t[:50]))
                assert found.min() == near.cost
    return times.medians()


def memory_growth(queries: int = 10**6, updates: int = 10**4) -> None:
    """Print the memory of the process while queries and updates go on."""
    graph = rs.datasets.city(2000).graph
    rng, router = np.random.default_rng(0), rs.Router(graph)
    rows = [rng.uniform(1, 2, graph.m) * graph.length for _ in range(8)]
    before = 0
    for k in range(updates):
        if k % 2:
            some = rng.integers(0, graph.m, 10)
            router.update(edges=some, weights=rows[k % 8][some])
        else:
            router.update(rows[k % 8])
        for s, t in rng.integers(0, graph.n, (queries // updates, 2)).tolist():
            router.route(s, t)
        if k == updates // 10:
            before = memory()
    grown = memory() - before
    print(f"{queries:,} queries, {updates:,} updates: {before >> 20} MB after a tenth, {grown / 2**20:+.1f} MB later")
    assert grown < 4 << 20


# ---------------------------------------------------------------- what comes of it


def short(number: float) -> str:
    """Return three digits, and no exponent."""
    digits = float(f"{number:.3g}")
    return f"{digits:,.0f}" if digits >= 100 else f"{digits:g}"


def totals_table(networks: dict) -> str:
    lines = []
    for name, facts in networks.items():
        lines += [f"| {name}, ms | " + " | ".join(f"{k:,}" for k in QUERIES) + " |", "|---|" + "--:|" * len(QUERIES)]
        best = np.min([facts["totals"][own] for own in OWN], axis=0)
        for label, row in facts["totals"].items():
            lines.append(f"| {label} | " + " | ".join(short(1e3 * seconds) for seconds in row) + " |")
        share = np.array(facts["totals"]["Router"]) / best
        lines += ["| Router / better of its engines | " + " | ".join(f"{x:.2f}" for x in share) + " |", ""]
    return "\n".join(lines).strip()


def questions_table(networks: dict) -> str:
    labels = list(next(iter(networks.values()))["questions"])
    lines = ["| µs | " + " | ".join(networks) + " |", "|---|" + "--:|" * len(networks)]
    for label in labels:
        cells = (short(1e6 * facts["questions"][label]) for facts in networks.values())
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def tables(networks: dict) -> str:
    """Return all tables of the page."""
    own = {name: facts["costs"] for name, facts in networks.items() if "costs" in facts}
    parts = [totals_table(networks), questions_table(networks), *([query_costs.table(own)] if own else [])]
    return "\n\n".join(parts)


def plot(networks: dict) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    styles = {
        "Router": {"color": "#c1121f", "linewidth": 3.2, "zorder": 5},
        "searches alone": {"color": "#555555", "linestyle": "--"},
        "hierarchy at once": {"color": "#555555", "linestyle": ":"},
        "RoutingKit (CCH)": {"color": "#1d5fa8"},
        "scipy": {"color": "#2a9d5c"},
        "pandana": {"color": "#8e5fb0"},
        "networkx": {"color": "#d98a00"},
    }
    figure, axes = plt.subplots(1, len(networks), figsize=(4.4 * len(networks), 4.6), layout="constrained", sharey=True)
    known: dict[str, Any] = {}
    for axis, facts in zip(np.atleast_1d(axes), networks.values(), strict=True):
        for label, row in facts["totals"].items():
            (line,) = axis.loglog(QUERIES, np.array(row) * 1e3, label=label, **styles[label])
            known.setdefault(label, line)
        axis.set_title(f"{facts['vertices']:,} crossings")
        axis.set_xlabel("queries after one update of all weights")
        axis.grid(visible=True, which="major", alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("milliseconds in total")
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=4, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


def write(results: dict) -> None:
    (HERE / "results" / "router.json").write_text(json.dumps(results, indent=1) + "\n")
    networks = results["networks"]
    text = tables(networks)
    (HERE / "results" / "router.md").write_text(
        f"# A router against its engines and other libraries\n\n`make bench-router`; processor time.\n\n{text}\n"
    )
    plot(networks)
    page = PAGE.read_text()
    begin = "<!-- made by make bench-router -->\n"
    at = page.index(begin) + len(begin)
    PAGE.write_text(page[:at] + text + "\n" + page[page.index("<!-- end -->", at) :])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cities; all if none are given")
    parser.add_argument("--quick", action="store_true", help="a small city; writes nothing")
    parser.add_argument("--memory", action="store_true", help="watch the memory instead of the time")
    parser.add_argument("--costs", action="store_true", help="measure the costs of one query alone")
    given = parser.parse_args()
    if given.memory:
        memory_growth()
        return
    saved = HERE / "results" / "router.json"
    if given.costs:
        results = json.loads(saved.read_text())
        for name in given.names or query_costs.CITIES:
            results["networks"][name]["costs"] = query_costs.measure(query_costs.CITIES[name])
        write(results)
        return
    cities: dict[str, int] = (
        {"city 4k": 4000} if given.quick else {name: CITIES[name] for name in given.names or CITIES}
    )
    found: dict[str, Any] = {}
    for name, n in cities.items():
        network = city(n, 0, 2 if given.quick else SNAPSHOTS[name], 0)
        graph = network.graph
        rows = [np.maximum(whole_numbers(graph, weights), 1) for weights in network.unseen]
        contestants = field(name, graph)
        kit = contestants.get("RoutingKit (CCH)")
        found[name] = {
            "vertices": graph.n,
            "totals": totals(contestants, graph.n, rows, 0.2 if given.quick else LONGEST),
            "questions": questions(graph, rows, kit.kit.metric if isinstance(kit, Kit) else None),
        }
        if name in query_costs.CITIES:
            found[name]["costs"] = query_costs.measure(query_costs.CITIES[name])
        print(tables({name: found[name]}), flush=True)
    if given.quick:
        return
    if given.names and saved.exists():
        both = json.loads(saved.read_text())["networks"] | found
        found = {name: both[name] for name in CITIES if name in both}
    machine = platform.processor() or platform.machine()
    write({"machine": machine, "python": platform.python_version(), "networks": found})


if __name__ == "__main__":
    main()
