"""Alternatives of a router: how often there are any, how good they are, and what they take.

    make bench-router                             this and the other benchmarks of routers
    python benchmarks/alternatives.py             about three minutes
    python benchmarks/alternatives.py --quick     few queries; writes nothing

On a small city, the routes are compared with those among the first simple paths of networkx (shortest_simple_paths, in
the order of cost) that keep the same conditions; on larger ones they are measured alone. Sources and targets are
random. A query succeeds for k if k routes were found besides the shortest. Times are processor time of one core.
Results go to benchmarks/results/alternatives.json and into docs/routing.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
from any_goal import clock

import rhostar as rs

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "routing.md"
BEGIN, END = "<!-- alternatives: begin -->\n", "<!-- alternatives: end -->"
EXCESS, OVERLAP, LOCAL = 0.25, 0.7, 0.25
SIMPLE_PATHS = 100
"""Paths of networkx that are looked at for each query."""
CLOSE = 1 + 1e-9


def town(n: int) -> tuple[rs.Graph, np.ndarray]:
    city = rs.datasets.city(n, seed=0)
    return city.graph, city.snapshots(1, seed=0, hours=np.array([12.0]))[0]


def local_share(graph: rs.Graph, exact: np.ndarray, weights: np.ndarray, path: np.ndarray) -> float:
    """Return the cost of the cheapest part that is not a shortest path; inf if all are."""
    along = np.concatenate([[0.0], np.cumsum(weights[graph.edge_index(path[:-1], path[1:])])])
    parts = along[None, :] - along[:, None]
    longer = np.triu(parts > exact[np.ix_(path, path)] * CLOSE, 1)
    return float(parts[longer].min()) if longer.any() else np.inf


def among_simple_paths(network: Any, graph: rs.Graph, weights: np.ndarray, exact: np.ndarray, s: int, t: int) -> int:
    """Return how many alternatives are among the first simple paths; each is taken if it keeps the conditions."""
    import networkx as nx

    optimum, used, best, found = exact[s, t], set(), set(), 0
    for k, nodes in enumerate(itertools.islice(nx.shortest_simple_paths(network, s, t, weight="w"), SIMPLE_PATHS)):
        path = np.array(nodes)
        edges = graph.edge_index(path[:-1], path[1:])
        cost, listed = float(weights[edges].sum()), edges.tolist()
        if k == 0:
            used, best = set(listed), set(listed)
            continue
        if cost > (1 + EXCESS) * optimum:
            break
        common, shared = (sum(weights[e] for e in listed if e in known) for known in (best, used))
        if (
            shared <= OVERLAP * optimum
            and cost - common <= (1 + EXCESS) * (optimum - common)
            and local_share(graph, exact, weights, path) > LOCAL * optimum
        ):
            found += 1
            used |= set(listed)
    return found


def against_networkx(n: int, queries: int) -> dict[str, float]:
    import networkx as nx

    graph, weights = town(n)
    open_ = np.isfinite(weights)
    network = nx.DiGraph()
    network.add_weighted_edges_from(
        zip(graph.tail[open_].tolist(), graph.head[open_].tolist(), weights[open_].tolist(), strict=True), weight="w"
    )
    exact = np.stack([rs.distances_to(graph, weights, t) for t in range(graph.n)], axis=1)
    router = rs.Router(graph)
    router.update(weights)
    router.prepare()
    rng, ours, theirs, times = np.random.default_rng(0), [], [], [0.0, 0.0]
    while len(ours) < queries:
        s, t = rng.integers(0, graph.n, 2).tolist()
        if s == t:
            continue
        begin = clock()
        ours.append(len(router.alternatives(s, t, 4)) - 1)
        between = clock()
        theirs.append(among_simple_paths(network, graph, weights, exact, s, t))
        times[0] += between - begin
        times[1] += clock() - between
    facts: dict[str, float] = {"vertices": graph.n, "queries": queries, "paths": SIMPLE_PATHS}
    for label, found, spent in (("router", ours, times[0]), ("networkx", theirs, times[1])):
        facts |= {f"{label}, {k}": float(np.mean(np.array(found) >= k)) for k in (1, 2, 3)}
        facts[f"{label}, ms"] = 1e3 * spent / queries
    return facts


def alone(n: int, queries: int) -> dict[str, float]:
    graph, weights = town(n)
    router = rs.Router(graph)
    router.update(weights)
    router.prepare()
    rng, found, excess, overlap, local = np.random.default_rng(1), [], [], [], []
    pairs = rng.integers(0, graph.n, (queries, 2)).tolist()
    begin = clock()
    answers = [router.alternatives(s, t, 4) for s, t in pairs]
    spent = clock() - begin
    begin = clock()
    for s, t in pairs:
        router.route(s, t)
    plain = clock() - begin
    for routes in answers:
        found.append(len(routes) - 1)
        used = set(routes[0].edges.tolist())
        for k, route in enumerate(routes[1:]):
            edges, optimum = route.edges.tolist(), routes[0].cost
            excess.append(route.cost / optimum - 1)
            overlap.append(sum(weights[e] for e in edges if e in used) / optimum)
            used |= set(edges)
            if k == 0 and len(local) < 100:  # a matrix of the path
                exact = router.matrix(route.path, route.path)
                along = np.concatenate([[0.0], np.cumsum(weights[route.edges])])
                parts = along[None, :] - along[:, None]
                longer = np.triu(parts > exact * CLOSE, 1)
                local.append(parts[longer].min() / optimum if longer.any() else 1.0)
                assert local[-1] > LOCAL / CLOSE
    facts: dict[str, float] = {"vertices": graph.n, "queries": queries}
    facts |= {f"router, {k}": float(np.mean(np.array(found) >= k)) for k in (1, 2, 3)}
    facts |= {"router, ms": 1e3 * spent / queries, "route, ms": 1e3 * plain / queries}
    return facts | {
        "excess": float(np.mean(excess)),
        "overlap": float(np.mean(overlap)),
        "local": float(np.mean(local)),
    }


def table(networks: dict[str, dict[str, float]]) -> str:
    lines = [
        "| network | routes by | 1 or more | 2 or more | 3 | ms | mean excess | mean overlap | mean locality |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, facts in networks.items():
        for label in ("router", "networkx"):
            if f"{label}, ms" not in facts:
                continue
            shares = " | ".join(f"{100 * facts[f'{label}, {k}']:.1f} %" for k in (1, 2, 3))
            quality = ["excess", "overlap", "local"] if "excess" in facts else []
            cells = [f"{100 * facts[key]:.1f} %" for key in quality] or [""] * 3
            who = "`alternatives`" if label == "router" else f"first {facts['paths']} simple paths"
            lines.append(f"| {name} | {who} | {shares} | {facts[f'{label}, ms']:.3g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few queries; writes nothing")
    quick = parser.parse_args().quick
    networks = {"city 200": against_networkx(200, 20 if quick else 1000)}
    for name, n, queries in (("city 4k", 4000, 1000), ("city 40k", 40_000, 1000), ("city 160k", 160_000, 200)):
        if quick and n > 4000:
            continue
        networks[name] = alone(n, 20 if quick else queries)
        print(table(networks), flush=True)
    if quick:
        return
    (HERE / "results" / "alternatives.json").write_text(json.dumps({"networks": networks}, indent=1) + "\n")
    text = PAGE.read_text()
    at = text.index(BEGIN) + len(BEGIN)
    PAGE.write_text(text[:at] + table(networks) + "\n" + text[text.index(END, at) :])


if __name__ == "__main__":
    main()
