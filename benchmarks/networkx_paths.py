"""``rs.astar_path`` and the networkx backend against networkx, on the same graph and queries; make bench-networkx.

Every row is one graph, one kind of query and one heuristic: processor time per call of networkx and of rhostar from the
second call on, and the ratio. The first call, which reads the graph, is a row of its own. The two take turns, so that a
busy machine slows both. The table goes into docs/networkx.md.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import rhostar as rs

PAGE = Path(__file__).parents[1] / "docs" / "networkx.md"
BEGIN, END = "<!-- made by make bench-networkx -->", "<!-- end -->"
SIZES = (1_000, 10_000, 40_000)


def streets(n: int, seed: int = 0) -> nx.MultiDiGraph:
    """Return a graph with the shape and the attributes of OSMnx: two-way streets on a lattice with gaps."""
    rng = random.Random(seed)
    side = math.isqrt(n)
    G = nx.MultiDiGraph(crs="epsg:4326")
    ids = rng.sample(range(10**8, 10**9), side * side)
    for k, osmid in enumerate(ids):
        G.add_node(osmid, x=k % side + 0.3 * rng.random(), y=k // side + 0.3 * rng.random(), street_count=4)
    for k in range(side * side):
        for other in ([k + 1] if k % side < side - 1 else []) + ([k + side] if k + side < side * side else []):
            if rng.random() < 0.9:
                u, v = ids[k], ids[other]
                length = math.dist((G.nodes[u]["x"], G.nodes[u]["y"]), (G.nodes[v]["x"], G.nodes[v]["y"]))
                for a, b in ((u, v), (v, u)):
                    G.add_edge(
                        a, b, osmid=k, highway="residential", oneway=False, length=length,
                        travel_time=length * rng.uniform(1.0, 2.0),
                    )  # fmt: skip
    part = max(nx.strongly_connected_components(G), key=len)
    return G.subgraph(part).copy()


def timed(calls: dict[str, Callable[[], Any]], at_least: float = 0.4) -> dict[str, float]:
    """Return the least processor time of one call of each, taking turns."""
    best = dict.fromkeys(calls, math.inf)
    spent = 0.0
    while spent < at_least:
        for name, call in calls.items():
            start = time.process_time()
            call()
            took = time.process_time() - start
            best[name] = min(best[name], took)
            spent += took
    return best


def measure(sizes: tuple[int, ...]) -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    rows = []
    rs.astar_path(nx.path_graph(2), 0, 1)  # imports what it needs
    for n in sizes:
        for G in (streets(n), nx.DiGraph(streets(n))):
            rows += measure_one(G)
    return rows


def measure_one(G: nx.Graph) -> list[tuple[str, ...]]:
    """Return the rows for one graph."""
    kind = f"{len(G):,} nodes, {type(G).__name__}"
    place = {v: (data["x"], data["y"]) for v, data in G.nodes(data=True)}
    nodes = sorted(G, key=lambda v: sum(place[v]))
    target = nodes[-1]
    far, near = nodes[0], sorted(G, key=lambda v: math.dist(place[v], place[target]))[8]

    def straight(u: int, v: int) -> float:
        return math.dist(place[u], place[v])

    weight = "travel_time"
    start = time.process_time()
    rs.astar_path(G, near, target, straight, weight)
    first = time.process_time() - start
    # What a learner knows: here the exact cost to the target, less a tenth.
    cost = nx.single_source_dijkstra_path_length(G.reverse(), target, weight=weight)
    learned = np.array([0.9 * cost[v] for v in G])
    number = {v: k for k, v in enumerate(G)}
    values = learned.tolist()
    table: list[tuple[str, Any, Any]] = [
        ("none", None, None),
        ("straight line, a function", straight, straight),
        ("learned", lambda u, _: values[number[u]], learned),
    ]
    rows = []
    for query, source in (("near", near), ("far", far)):
        for label, theirs, mine in table:
            calls = {
                "networkx": lambda s=source, h=theirs: nx.astar_path(G, s, target, h, weight, backend="networkx"),
                "rhostar": lambda s=source, h=mine: rs.astar_path(G, s, target, h, weight),
                "backend": lambda s=source, h=mine: nx.astar_path(G, s, target, h, weight, backend="rhostar"),
            }
            answers = [call() for call in calls.values()]
            assert answers[0] == answers[1] == answers[2]
            took = timed(calls)
            ratios = [f"{took['networkx'] / took[name]:.1f}×" for name in ("rhostar", "backend")]
            rows.append((kind, query, label, unit(took["networkx"]), unit(took["rhostar"]), *ratios))
            print(*rows[-1], sep=" | ", flush=True)
    rows.append((kind, "first call", "reads the graph", "", unit(first), "", ""))
    print(*rows[-1], sep=" | ", flush=True)
    return rows


def unit(seconds: float) -> str:
    """Return a time in µs or ms."""
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--write", action="store_true", help="put the table into docs/networkx.md")
    options = parser.parse_args()
    rows = measure(tuple(options.sizes))
    head = ("graph", "query", "heuristic", "networkx", "`rs.astar_path`", "faster", "`backend=`, faster")
    lines = [f"| {' | '.join(row)} |" for row in (head, ("---", "---", "---", "--:", "--:", "--:", "--:"), *rows)]
    if options.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
