"""Hierarchies for fresh weights: customizing, queries, updates and many distances, against RoutingKit and Dijkstra.

    make bench-hierarchy                                      everything; about five minutes, and 3 GB of memory
    python benchmarks/hierarchy.py "San Joaquin" "city 40k"   some of it: the rest of the results stays as it is
    python benchmarks/hierarchy.py --quick                    small networks; writes nothing
    python benchmarks/hierarchy.py --exactness                10**6 pairs on small digraphs, 10**5 on each network

All contestants take turns on each snapshot of weights, in one process. Times are processor time of one core, and
medians. Both hierarchies get the same weights, which are whole numbers: RoutingKit takes no others, and so all answers
must be equal. They go to rhostar as float64. RoutingKit is used through pyroutingkit; a query of it always returns the
path. Results go to benchmarks/results/hierarchy.json and hierarchy.md, and a table into docs/hierarchy.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from any_goal import Network, city, clock, folder, grid, has, san_joaquin

import rhostar as rs
from rhostar.hierarchy._order import elimination_order

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "hierarchy.md"
SNAPSHOTS = 6
NETWORKS: dict[str, Callable[[], Network]] = {
    "San Joaquin": lambda: san_joaquin(0, SNAPSHOTS),
    "city 40k": lambda: city(40_000, 0, SNAPSHOTS, 0),
    "city 160k": lambda: city(160_000, 0, SNAPSHOTS, 0),
    "city 1M": lambda: city(1_000_000, 0, SNAPSHOTS, 0),
    "grid 300x300": lambda: grid(300, 0, SNAPSHOTS),
}
QUICK: dict[str, Callable[[], Network]] = {
    "city 4k": lambda: city(4_000, 0, SNAPSHOTS, 0),
    "grid 50x50": lambda: grid(50, 0, SNAPSHOTS),
}
ROUNDS = {"city 1M": 2, "grid 300x300": 2}
"""How often each snapshot is taken; 5 elsewhere."""
QUERIES = 50
"""Pairs that a contestant answers in one turn."""


# ---------------------------------------------------------------- RoutingKit


class RoutingKit:
    """Its customizable contraction hierarchies: topology, then a metric."""

    def __init__(self, graph: rs.Graph) -> None:
        import pyroutingkit

        x, y = (np.ascontiguousarray(each, dtype=np.float32) for each in graph.coordinates.T)
        tail, head = graph.tail.astype(np.uint32), graph.head.astype(np.uint32)
        self.topology = pyroutingkit.CCHTopology()
        begin = clock()
        self.topology.build(tail, head, y, x, graph.n)
        self.seconds = clock() - begin
        self.metric = pyroutingkit.CCHMetric(self.topology)


NONE = 2**31 - 1
"""RoutingKit's weight of an absent edge."""


def whole_numbers(graph: rs.Graph, weights: np.ndarray) -> np.ndarray:
    """Return the weights as integers with which no shortest path reaches RoutingKit's largest number."""
    distance = rs.distances_to(graph, weights, 0)
    unit = NONE / 8 / distance[np.isfinite(distance)].max()
    return np.where(np.isfinite(weights), np.rint(np.minimum(weights * unit, NONE / 2)), NONE).astype(np.uint32)


def as_float(whole: np.ndarray) -> np.ndarray:
    return np.where(whole == NONE, np.inf, whole.astype(np.float64))


# ---------------------------------------------------------------- one network


class Times:
    """Seconds per call of everything that takes part."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def __call__(self, name: str, call: Callable[[], Any], calls: int = 1) -> Any:
        begin = clock()
        result = call()
        self.seconds[name].append((clock() - begin) / calls)
        return result

    def medians(self) -> dict[str, float]:
        return {name: float(np.median(all_)) for name, all_ in self.seconds.items()}


def incident(graph: rs.Graph, rng: np.random.Generator, size: int = 20) -> np.ndarray:
    """Return edges around a random vertex: those that leave the nearest vertices, by number of steps."""
    found: list[int] = []
    queue, met = [int(rng.integers(graph.n))], set()
    while len(found) < size:
        if not queue:
            queue = [int(rng.integers(graph.n))]
        v = queue.pop(0)
        if v in met:
            continue
        met.add(v)
        leaving = range(graph.first_out[v], graph.first_out[v + 1])
        found += leaving
        queue += [int(graph.head[e]) for e in leaving]
    return np.array(found[:size], dtype=np.int32)


def memory() -> int:
    """Return the largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(network: Network, rounds: int) -> dict:
    graph = network.graph
    rows = [whole_numbers(graph, weights) for weights in network.unseen]
    own = [as_float(row) for row in rows]
    before = memory()
    begin = clock()
    elimination_order(graph)
    facts = {"vertices": graph.n, "edges": graph.m, "order s": clock() - begin}
    begin = clock()
    hierarchy = rs.Hierarchy(graph)
    facts["topology s"] = clock() - begin
    today = hierarchy.customize(own[0])
    facts |= {
        "arcs": hierarchy.n_arcs,
        "triangles": hierarchy._kernel.triangles,
        "topology bytes": hierarchy.nbytes,
        "customized bytes": today.nbytes,
        "memory growth": memory() - before,
    }
    peer = RoutingKit(graph) if has("pyroutingkit") else None
    if peer:
        facts["RoutingKit order and topology s"] = peer.seconds
    times, rng = Times(), np.random.default_rng(0)
    for turn in range(rounds * len(rows)):
        whole, weights = rows[turn % len(rows)], own[turn % len(rows)]
        today = None  # its memory is used again
        today = times("customize", lambda weights=weights: hierarchy.customize(weights))
        if peer:
            times("RoutingKit customize", lambda whole=whole: peer.metric.customize(whole))
        times("distances_to", lambda weights=weights: rs.distances_to(graph, weights, int(rng.integers(graph.n))))
        for _ in range(4):
            ask(today, peer, rng.integers(0, graph.n, (QUERIES, 2)).tolist(), times)
        many(today, peer, rng, times, matrix=turn < 3)
        change(today, peer, whole, rng, times)
    facts["seconds"] = times.medians()
    facts["floor s"] = floor(facts)
    return facts


def ask(today: rs.hierarchy.CustomizedHierarchy, peer: RoutingKit | None, pairs: list, times: Times) -> None:
    found = times("path", lambda: [today.path(s, t).cost for s, t in pairs], len(pairs))
    if peer:
        theirs = times("RoutingKit path", lambda: [peer.metric.query(s, t)[0] for s, t in pairs], len(pairs))
        assert [min(cost, NONE) for cost in found] == theirs, "RoutingKit answers something else"
    assert times("distance", lambda: [today.distance(s, t) for s, t in pairs], len(pairs)) == found


def many(
    today: rs.hierarchy.CustomizedHierarchy,
    peer: RoutingKit | None,
    rng: np.random.Generator,
    times: Times,
    *,
    matrix: bool,
) -> None:
    n = today.n
    targets = rng.integers(0, n, 1000).astype(np.int32)
    source = int(rng.integers(n))
    found = times("one to 1,000", lambda: today.distances(source, targets))
    assert found[:20].tolist() == [today.distance(source, t) for t in targets[:20]]
    if matrix:
        rows, columns = rng.integers(0, n, (2, 200)).astype(np.int32)
        found = times("matrix", lambda: today.matrix(rows, columns))
        if peer:
            s, t = rows.astype(np.uint32), columns.astype(np.uint32)
            theirs = times("RoutingKit matrix", lambda: peer.metric.distances_many_to_many(s, t))
            assert np.array_equal(np.minimum(found, NONE), theirs), "RoutingKit's matrix is another"


def change(
    today: rs.hierarchy.CustomizedHierarchy,
    peer: RoutingKit | None,
    whole: np.ndarray,
    rng: np.random.Generator,
    times: Times,
) -> None:
    """Update few edges: some weights rise, some fall, one edge is closed; then the old ones come back."""
    graph = today.graph
    for name, edges in (
        ("incident", incident(graph, rng)),
        ("100 edges", rng.choice(graph.m, 100, replace=False).astype(np.int32)),
    ):
        old, ids = whole[edges], edges.astype(np.uint32)
        new = np.where(old == NONE, NONE, np.maximum(old * rng.uniform(0.3, 3.0, edges.size), 1)).astype(np.uint32)
        new[0] = NONE
        times(f"{name}, new index", lambda edges=edges, new=new: today.update(edges, as_float(new)))
        for values in (new, old):  # there and back
            times(name, lambda edges=edges, values=values: today.update(edges, as_float(values), in_place=True))
            if not peer:
                continue
            times(f"RoutingKit {name}", lambda ids=ids, values=values: peer.metric.update_weights(ids, values))
            for s, t in rng.integers(0, graph.n, (10, 2)).tolist():
                assert min(today.distance(s, t), NONE) == peer.metric.query(s, t)[0], "an update is wrong"


def floor(facts: dict) -> float:
    """Return seconds that customizing cannot go below on this machine: memory traffic, and then the sums.

    Weights are read and lengths are written once, as fast as this machine copies memory. A triangle takes 0.1 ns: two
    sums and two minima on vectors of four numbers, at 3 billion cycles a second with two such operations in each cycle,
    are 0.17 ns for two triangles.
    """
    large, times = np.ones(1 << 24), Times()
    copy = np.empty_like(large)
    for _ in range(7):
        times("copy", lambda: np.copyto(copy, large))
    per_byte = times.medians()["copy"] / (2 * large.nbytes)
    return (8 * facts["edges"] + 16 * facts["arcs"]) * per_byte + 1e-10 * facts["triangles"]


# ---------------------------------------------------------------- aims


class Aim(NamedTuple):
    """A quotient that is to stay below a bound."""

    name: str
    bound: Callable[[str], float | None]
    quotient: Callable[[dict], float]


def _roads(
    bound: float, grid_bound: float | None = None, million: float | None = None
) -> Callable[[str], float | None]:
    def of(network: str) -> float | None:
        if network.startswith("grid"):
            return grid_bound
        return million if million is not None and network == "city 1M" else bound

    return of


def _of(one: str, other: str, factor: float = 1.0) -> Callable[[dict], float]:
    return lambda facts: facts["seconds"][one] / (factor * facts["seconds"][other])


def _only(**bounds: float) -> Callable[[str], float | None]:
    return lambda network: bounds.get(network.replace("city ", "c"))


AIMS = [
    Aim("customize / RoutingKit", _roads(0.3, 0.2, 0.35), _of("customize", "RoutingKit customize")),
    Aim("customize / one `distances_to`", _roads(1.3, None, 2.0), _of("customize", "distances_to")),
    Aim("query with path / RoutingKit", _roads(0.6), _of("path", "RoutingKit path")),
    Aim("distance / RoutingKit's query", _roads(0.4, 0.7), _of("distance", "RoutingKit path")),
    Aim("20 adjacent edges / customize", _roads(0.05, 0.05), _of("incident", "customize")),
    Aim("20 adjacent edges / RoutingKit", _roads(1.0, 1.0), _of("incident", "RoutingKit incident")),
    Aim("100 random edges / customize", _only(c40k=0.25, c160k=0.15, c1M=0.15), _of("100 edges", "customize")),
    Aim("100 random edges / RoutingKit", _roads(1.0, 1.0), _of("100 edges", "RoutingKit 100 edges")),
    Aim("one to 1,000 / one `distances_to`", _only(c160k=0.25), _of("one to 1,000", "distances_to")),
    Aim("200 × 200 matrix / RoutingKit", _roads(1.0, 1.0), _of("matrix", "RoutingKit matrix")),
    Aim("200 × 200 matrix / 200 `distances_to`", _roads(1 / 40, 1 / 40), _of("matrix", "distances_to", 200)),
    Aim(
        "order and topology / RoutingKit",
        _roads(0.4, 0.4),
        lambda facts: (facts["order s"] + facts["topology s"]) / facts["RoutingKit order and topology s"],
    ),
    Aim(
        "topology and one customization, GB",
        _roads(1.0, 1.0),
        lambda facts: (facts["topology bytes"] + facts["customized bytes"]) / 1e9,
    ),
    Aim("customize / floor", lambda network: None, lambda facts: facts["seconds"]["customize"] / facts["floor s"]),
]


def aims_table(results: dict) -> str:
    """Return one row per aim and network: what was to be reached, and what was measured."""
    lines = ["| | network | at most | measured | |", "|---|---|--:|--:|---|"]
    for aim in AIMS:
        for name, facts in results.items():
            try:
                value = aim.quotient(facts)
            except KeyError:  # not measured: no RoutingKit
                continue
            bound = aim.bound(name)
            verdict = "" if bound is None else "yes" if value <= bound else "**no**"
            lines.append(
                f"| {aim.name} | {name} | {'' if bound is None else f'{bound:.3g}'} | {value:.3g} | {verdict} |"
            )
    return "\n".join(lines)


ROWS: list[tuple[str, str, str | None]] = [
    ("fresh weights", "customize", "RoutingKit customize"),
    ("distance", "distance", None),
    ("path", "path", "RoutingKit path"),
    ("20 adjacent edges changed", "incident", "RoutingKit incident"),
    ("100 random edges changed", "100 edges", "RoutingKit 100 edges"),
    ("one to 1,000", "one to 1,000", None),
    ("200 × 200 matrix", "matrix", "RoutingKit matrix"),
    ("`distances_to`: Dijkstra from all vertices", "distances_to", None),
]


def page_table(results: dict) -> str:
    """Return the table of the page: a column per network; RoutingKit's time in brackets."""
    lines = [
        "| | " + " | ".join(f"{name}" for name in results) + " |",
        "|---|" + "--:|" * len(results),
        "| vertices | " + " | ".join(f"{facts['vertices']:,}" for facts in results.values()) + " |",
    ]

    def row(name: str, cell: Callable[[dict], str]) -> None:
        cells = []
        for facts in results.values():
            try:
                cells.append(cell(facts))
            except KeyError:
                cells.append("")
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")

    def pair(one: float, other: float | None) -> str:
        return _time(one) if other is None else f"{_time(one)} ({_time(other)})"

    row(
        "order and topology, once",
        lambda facts: pair(facts["order s"] + facts["topology s"], facts.get("RoutingKit order and topology s")),
    )
    for name, one, other in ROWS:
        row(
            name,
            lambda facts, one=one, other=other: pair(
                facts["seconds"][one], None if other is None else facts["seconds"].get(other)
            ),
        )
    row("bytes per vertex: topology", lambda facts: f"{facts['topology bytes'] / facts['vertices']:,.0f}")
    row("bytes per vertex: one set of weights", lambda facts: f"{facts['customized bytes'] / facts['vertices']:,.0f}")
    row("fresh weights, multiple of the floor", lambda facts: f"{facts['seconds']['customize'] / facts['floor s']:.1f}")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def write(results: dict) -> None:
    (HERE / "results" / "hierarchy.json").write_text(json.dumps(results, indent=1) + "\n")
    networks = results["networks"]
    (HERE / "results" / "hierarchy.md").write_text(
        "# Hierarchies for fresh weights\n\n`make bench-hierarchy`; processor time of one core, medians.\n\n"
        f"{page_table(networks)}\n\n{aims_table(networks)}\n"
    )
    text = PAGE.read_text()
    begin = "<!-- networks: made by make bench-hierarchy -->\n"
    at = text.index(begin) + len(begin)
    PAGE.write_text(text[:at] + page_table(networks) + "\n" + text[text.index("<!-- end -->", at) :])


# ---------------------------------------------------------------- exactness


def exactness(pairs: int, networks: dict[str, Callable[[], Network]], per_network: int) -> None:
    """Compare all answers with independent ones; raises at the first that differs."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from support.hierarchies import compare_random_digraphs

    print(f"small digraphs: {compare_random_digraphs(seed=0, pairs=pairs):,} pairs agree", flush=True)
    for name, network in available(networks):
        graph, rng = network.graph, np.random.default_rng(3)
        hierarchy, compared, paths = rs.Hierarchy(graph), 0, 0
        weights = as_float(whole_numbers(graph, network.unseen[0]))
        today = hierarchy.customize(weights)
        while compared < per_network:
            goal = int(rng.integers(graph.n))
            exact = rs.distances_to(graph, weights, goal)
            sources = rng.integers(0, graph.n, 1000).astype(np.int32)
            assert np.array_equal([today.distance(s, goal) for s in sources.tolist()], exact[sources])
            assert np.array_equal(today.distances_to(goal, sources), exact[sources])
            assert np.array_equal(today.matrix(sources[:50], [goal])[:, 0], exact[sources[:50]])
            for s in sources[:50].tolist():
                cost, path, edges = today.path(s, goal)
                assert cost == exact[s]
                if np.isfinite(cost):
                    assert weights[edges].sum() == cost
                    assert path[0] == s
                    assert path[-1] == goal
                    assert np.array_equal(graph.tail[edges], path[:-1])
                    assert np.array_equal(graph.head[edges], path[1:])
                paths += 1
            compared += sources.size
        assert np.array_equal(today.distances_to(goal), exact)
        print(f"{name}: {compared:,} pairs and {paths:,} paths agree", flush=True)


def available(networks: dict[str, Callable[[], Network]]) -> Iterator[tuple[str, Network]]:
    for name, make in networks.items():
        if name == "San Joaquin" and folder() is None:
            print("San Joaquin: no data; set RHOSTAR_DATA")
        else:
            yield name, make()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; all if none are given")
    parser.add_argument("--quick", action="store_true", help="small networks; writes nothing")
    parser.add_argument("--exactness", action="store_true", help="compare answers instead of times")
    given = parser.parse_args()
    networks = QUICK if given.quick else NETWORKS
    networks = {name: networks[name] for name in given.names or networks}
    if given.exactness:
        exactness(20_000 if given.quick else 10**6, networks, 5_000 if given.quick else 10**5)
        return
    found = {}
    for name, network in available(networks):
        found[name] = measure(network, ROUNDS.get(name, 5))
        print(page_table({name: found[name]}), aims_table({name: found[name]}), sep="\n\n", end="\n\n", flush=True)
    if given.quick:
        return
    saved = HERE / "results" / "hierarchy.json"
    if given.names and saved.exists():
        both = json.loads(saved.read_text())["networks"] | found
        found = {name: both[name] for name in NETWORKS if name in both}
    write(
        {"machine": platform.processor() or platform.machine(), "python": platform.python_version(), "networks": found}
    )


if __name__ == "__main__":
    main()
