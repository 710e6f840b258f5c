"""Searches to any goal: potentials against Dijkstra, landmarks, tables for each goal, CCH, pyastar2d and tcod.

    make bench-any-goal                                       everything; half an hour, and 8 GB of memory for city 1M
    python benchmarks/any_goal.py "San Joaquin" "city 40k"    some of it: the rest of the results stays as it is

Roads and grids: random pairs of vertices on snapshots of weights that no learner has seen. All contestants take turns
on each snapshot. Times are seconds of processor time of one core, so that other programs on the machine matter less.
MovingAI: every query of five maps, each with a goal of its own; in single precision, as pyastar2d takes it. Before they
are timed, potentials are compared with distances_to on 30,000 pairs of each network, and searches with those that read
the whole table. Results go to benchmarks/results/any_goal.json, and the tables into docs/any-goal.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rhostar as rs
from rhostar.datasets._cities import City
from rhostar.heuristics import DistanceHeuristic
from rhostar.hierarchy._order import elimination_order
from rhostar.learners import Landmarks, Potentials

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "any-goal.md"
MAPS = {
    "random-32-32-20": "random-32-32-20-random-1.scen",
    "room-64-64-8": "room-64-64-8-random-1.scen",
    "den312d": "den312d-random-1.scen",
    "den520d": "den520d.map.scen",
    "warehouse-10-20-10-2-1": "warehouse-10-20-10-2-1-random-1.scen",
}


def clock() -> float:
    return time.process_time()


def folder() -> Path | None:
    """Return the folder with real data, if there is one."""
    found = Path(os.environ.get("RHOSTAR_DATA", ""))
    return found if os.environ.get("RHOSTAR_DATA") and found.is_dir() else None


def has(name: str) -> bool:
    if importlib.util.find_spec(name):
        return True
    print(f"{name} is not installed: left out")
    return False


class Network(NamedTuple):
    """A graph with lower bounds on its weights, past snapshots and unseen ones."""

    graph: rs.Graph
    lower: np.ndarray
    past: np.ndarray
    unseen: np.ndarray
    pairs: int
    """Queries per unseen snapshot."""


def city(n: int, past: int, unseen: int, pairs: int) -> Network:
    town = rs.datasets.city(n, seed=0)
    return _of(town, past, unseen, pairs)


def _of(town: City, past: int, unseen: int, pairs: int) -> Network:
    kept = np.empty((past, town.graph.m), dtype=np.float32)
    for k in range(past):  # one at a time: float64 would take twice the memory
        kept[k] = town.snapshots(1, seed=1000 + k)[0]
    return Network(town.graph, town.edge_bounds[0], kept, town.snapshots(unseen, seed=1), pairs)


def san_joaquin(past: int = 200, unseen: int = 20) -> Network:
    """Return the roads of San Joaquin county with the traffic of the generated cities."""
    where = folder()
    assert where is not None
    read = rs.datasets.read_node_edge(where / "roads" / "TG.cnode.txt", where / "roads" / "TG.cedge.txt")
    part = read.graph.largest_strong_part().graph
    length = np.linalg.norm(part.coordinates[part.tail] - part.coordinates[part.head], axis=1)
    unit = 0.15 / np.median(length[length > 0])  # as long as a block of a generated city
    graph = rs.Graph(
        part.first_out, part.head, coordinates=part.coordinates * unit, length=np.maximum(length * unit, 1e-3)
    )
    return _of(City(graph, np.zeros(graph.m, dtype=bool), 0, np.random.default_rng(0)), past, unseen, 60)


def grid(side: int, past: int = 50, unseen: int = 10) -> Network:
    """Return a grid with 8 neighbors: one terrain, and each step 1 to 1.5 times as dear on a day."""
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(side, side, neighbors=8)
    lower = graph.length * rng.uniform(1, 2, graph.m)
    before, fresh = (lower * rng.uniform(1, 1.5, (count, graph.m)) for count in (past, unseen))
    return Network(graph, lower, before.astype(np.float32), fresh, 30)


NETWORKS: dict[str, Callable[[], Network]] = {
    "San Joaquin": san_joaquin,
    "city 40k": lambda: city(40_000, 200, 20, 60),
    "city 160k": lambda: city(160_000, 100, 20, 20),
    "city 1M": lambda: city(1_000_000, 16, 4, 12),
    "grid 300x300": lambda: grid(300),
}


# ---------------------------------------------------------------- networks


class Tally:
    """Times and answers of one contestant."""

    def __init__(self) -> None:
        self.seconds, self.per_snapshot = 0.0, 0.0
        self.expanded: list[int] = []
        self.excess: list[float] = []

    def row(self, queries: int, snapshots: int, dijkstra: float) -> dict[str, float]:
        row = {"ms": 1e3 * self.seconds / queries, "faster": dijkstra / self.seconds}
        if self.per_snapshot:
            row["ms per snapshot"] = 1e3 * self.per_snapshot / snapshots
        if self.expanded:
            row["expanded"] = float(np.mean(self.expanded))
        if self.excess:
            row |= {"mean excess": float(np.mean(self.excess)), "excess 99 %": float(np.quantile(self.excess, 0.99))}
            row["worst excess"] = float(np.max(self.excess))
        return row


def measure(network: Network) -> dict:
    graph = network.graph
    begin = clock()
    elimination_order(graph)
    facts = {"vertices": graph.n, "edges": graph.m, "order s": clock() - begin}
    begin = clock()
    exact = DistanceHeuristic(graph, network.lower)
    facts |= {"build s": clock() - begin, "bytes per vertex": exact.nbytes / graph.n}
    past = rs.InstanceSet(graph, network.past, 0, np.arange(len(network.past)) % (graph.n - 1) + 1, infeasible="keep")
    # Landmarks for the lower bounds, which no weight is below: those of past weights would have to be lowered.
    bounds = rs.InstanceSet(graph, network.lower, 0, graph.n - 1, infeasible="keep")
    rhos: dict[str, object] = {
        "Dijkstra": np.zeros(graph.n),
        "landmarks, 16": Landmarks(16, random_state=0).fit(bounds),
        "lower bounds": exact,
        "lower bounds × 1.2": exact.scaled(1.2),
        "lower bounds × 1.4": exact.scaled(1.4),
        "median": Potentials("median").fit(past),
    }
    for clusters in (4, 8, 16):
        if len(network.past) >= 2 * clusters:
            learner = Potentials(n_clusters=clusters).fit(past)
            rhos[f"{clusters} clusters"] = learner
            rhos[f"{clusters} clusters × 1.1"] = learner.heuristic_.scaled(1.1)
    facts["pairs compared"] = sum(check_values(network, rho) for rho in rhos.values())
    facts["searches compared"] = check_searches(network, exact)
    facts["per expansion"] = {name: per_expansion(network, rhos[name]) for name in ("lower bounds", "median")}
    cch = Cch(graph) if has("pyroutingkit") else None
    tally = {name: Tally() for name in [*rhos, "table for each goal", *(["CCH"] if cch else [])]}
    rng = np.random.default_rng(2)
    queries = 0
    for row in range(len(network.unseen)):
        sources, goals = rng.integers(0, graph.n, (2, network.pairs))
        different = sources != goals
        batch = rs.InstanceSet(
            graph, network.unseen[row], sources[different], goals[different],
            rows=np.zeros(different.sum(), dtype=int), infeasible="drop",
        )  # fmt: skip
        queries += len(batch)
        best = rs.solve_many(batch, rhos["Dijkstra"]).cost
        for name, rho in rhos.items():
            begin = clock()
            runs = rs.solve_many(batch, rho, budget=100 * graph.n)
            tally[name].seconds += clock() - begin
            tally[name].expanded += runs.expanded.tolist()
            tally[name].excess += (runs.cost / best - 1).tolist()
        begin = clock()
        for instance in batch[:4]:  # slow, and every one takes the same pass over all vertices
            rs.astar(*instance, rs.distances_to(graph, network.lower, instance.goal))
        tally["table for each goal"].seconds += (clock() - begin) * len(batch) / len(batch[:4])
        if cch:
            cch.take_part(tally["CCH"], batch, best)
    for name in ("landmarks, 16", "lower bounds"):
        assert max(tally[name].excess) < 1e-12, f"{name}: not exact"
    dijkstra = tally["Dijkstra"].seconds
    rows = {name: each.row(queries, len(network.unseen), dijkstra) for name, each in tally.items()}
    if cch:
        there = rows["CCH"]
        for name, row in rows.items():
            if name != "CCH" and row["ms"] > there["ms"]:
                row["CCH pays from queries per snapshot"] = there["ms per snapshot"] / (row["ms"] - there["ms"])
    return facts | {"queries": queries, "rows": rows}


def per_expansion(network: Network, rho: object, queries: int = 30) -> dict[str, float]:
    """Return nanoseconds per expansion of single queries, with a potential and with tables of the same values.

    Also how long a call with the potential takes in which nothing is searched.

    Both read the same values, so their searches are the same. Tables are made beforehand; each query has another goal,
    so a potential pays for its walk to the goal.
    """
    graph, rng = network.graph, np.random.default_rng(9)
    potential = rs.heuristics.as_heuristic(rho, graph)
    sources, goals = rng.integers(0, graph.n, (2, queries)).tolist()
    tables = rs.heuristics.PerGoal({goal: potential.table(goal) for goal in goals}, graph.n)
    today = rs.Snapshot(graph, network.unseen[0])
    times: dict[str, list[float]] = {"potential": [], "table": []}
    for _ in range(9):
        for name, values in (("potential", potential), ("table", tables)):
            expanded, begin = 0, clock()
            for source, goal in zip(sources, goals, strict=True):
                expanded += rs.astar(graph, today, source, goal, values, checked=True).expanded
            times[name].append(1e9 * (clock() - begin) / expanded)
    found = {name: float(np.median(each)) for name, each in times.items()}
    begin = clock()
    for _ in range(1000):
        rs.astar(graph, today, goals[0], goals[0], potential)  # the same goal again: nothing but the call
    return found | {"ratio": found["potential"] / found["table"], "µs per call": 1e3 * (clock() - begin)}


PAIRS, GOALS = 30_000, 10
"""Pairs of a vertex and a goal for each potential that is compared, and how many goals they have."""


def check_values(network: Network, rho: object) -> int:
    """Compare a potential with the distances under its own weights; return on how many pairs.

    None may be above its distance by more than the sums in `distances_to` round.
    """
    graph, rng = network.graph, np.random.default_rng(7)
    if isinstance(rho, DistanceHeuristic):
        potential, weights = rho, network.lower
    elif isinstance(rho, Potentials):
        first = rho.heuristic_
        potential, weights = first.on(rho.weights_[0]), rho.weights_[0]
    else:
        return 0
    if potential.scale != 1.0:
        return 0
    compared = 0
    for goal in rng.integers(0, graph.n, GOALS).tolist():
        distance = rs.distances_to(graph, weights, goal)
        reached = np.flatnonzero(np.isfinite(distance))
        some = rng.choice(reached, PAIRS // GOALS)
        exact, found = distance[some], potential.table(goal)[some]
        assert (found <= exact * (1 + 1e-12)).all(), "a potential is above the distance"
        assert (found >= exact * (1 - 2e-6)).all(), "a potential differs from the distance"
        compared += some.size
    return compared


def check_searches(network: Network, potential: DistanceHeuristic) -> int:
    """Compare searches that compute values with those that read the table, expansions included; return how many."""
    graph, rng = network.graph, np.random.default_rng(8)
    compared = 0
    # Whole numbers are exact throughout, so that these tables are the true distances, bit for bit.
    unit = 2**20 / network.lower.max() / 100
    whole = np.ceil(network.lower * unit)
    exact = DistanceHeuristic(graph, whole, precision="double")
    for goal in rng.integers(0, graph.n, 3).tolist():
        table = rs.distances_to(graph, whole, goal)
        assert np.array_equal(exact.table(goal)[np.isfinite(table)], table[np.isfinite(table)]), "not bit for bit"
        for rho, factor in ((potential, 1.0), (exact, unit)):
            values = rho.table(goal)
            for source in rng.integers(0, graph.n, 10).tolist():
                weights = np.ascontiguousarray(network.unseen[0] * factor)
                one, other = (rs.astar(graph, weights, source, goal, each) for each in (rho, values))
                assert (one.cost, one.expanded, one.generated) == (other.cost, other.expanded, other.generated)
                assert np.array_equal(one.path, other.path)
                compared += 1
    return compared


class Cch:
    """Customizable contraction hierarchies of RoutingKit: each snapshot is customized, then asked."""

    def __init__(self, graph: rs.Graph) -> None:
        import pyroutingkit

        self.topology = pyroutingkit.CCHTopology()
        x, y = graph.coordinates.astype(np.float32).T
        tail, head = graph.tail.astype(np.uint32), graph.head.astype(np.uint32)
        self.topology.build(tail, head, np.ascontiguousarray(y), np.ascontiguousarray(x), graph.n)
        self.metric = pyroutingkit.CCHMetric(self.topology)
        self.none = pyroutingkit.INF_WEIGHT

    def take_part(self, tally: Tally, batch: rs.InstanceSet, best: np.ndarray) -> None:
        weights = batch.weights[0]
        unit = 1e8 / weights[np.isfinite(weights)].sum() * 20  # whole numbers, and no path too long
        whole = np.where(np.isfinite(weights), np.rint(np.minimum(weights * unit, 1e8)), self.none).astype(np.uint32)
        begin = clock()
        self.metric.customize(whole)
        tally.per_snapshot += clock() - begin
        begin = clock()
        found = [self.metric.query(int(x.source), int(x.goal))[0] for x in batch]
        tally.seconds += clock() - begin
        assert np.allclose(np.array(found) / unit, best, rtol=0.02), "CCH answers another question"


# ---------------------------------------------------------------- game maps


def game_maps() -> Iterator[tuple[str, dict]]:
    where = folder()
    if where is None:
        print("MovingAI: no data; set RHOSTAR_DATA")
        return
    peers = {name: importlib.import_module(name) for name in ("pyastar2d", "tcod") if has(name)}
    for name, queries in MAPS.items():
        town = rs.datasets.read_map(where / "movingai" / f"{name}.map")
        scenario = rs.datasets.read_scenario(where / "movingai" / queries)
        yield name, one_map(town, scenario, peers)


def one_map(town: rs.datasets.GridMap, scenario: rs.datasets.Scenario, peers: dict) -> dict:
    # Sums of 1 and √2 in single precision are exact: paths of equal length tie, and none is improved by rounding.
    graph, weights = town.graph, np.ascontiguousarray(town.weights[0], dtype=np.float32)
    octile = rs.heuristics.octile(graph, scale=float(np.float32(np.sqrt(2)) / np.sqrt(2)))
    double, plain = np.ascontiguousarray(town.weights[0]), rs.heuristics.octile(graph)
    columns = graph.shape[1]
    cost = np.where(town.blocked, np.inf, 1).astype(np.float32)
    walls = np.where(town.blocked, 0, 1).astype(np.int8)
    field: dict[str, Callable[[int, int], object]] = {
        "rhostar": lambda s, t: rs.astar(graph, weights, s, t, octile).cost,
        "rhostar, double precision": lambda s, t: rs.astar(graph, double, s, t, plain).cost,
        "rhostar, a table for each goal": lambda s, t: rs.astar(graph, weights, s, t, octile.table(t)),
    }
    if "pyastar2d" in peers:
        find = peers["pyastar2d"].astar_path
        field["pyastar2d"] = lambda s, t: find(cost, divmod(s, columns), divmod(t, columns), allow_diagonal=True)
    if "tcod" in peers:
        path = importlib.import_module("tcod.path").AStar(walls, diagonal=float(np.sqrt(2)))
        field["tcod"] = lambda s, t: path.get_path(*divmod(s, columns), *divmod(t, columns))
    seconds = dict.fromkeys(field, 0.0)
    off, names = 0.0, list(field)
    queries = zip(scenario.sources.tolist(), scenario.goals.tolist(), scenario.lengths.tolist(), strict=True)
    for i, (s, t, length) in enumerate(queries):
        # Another one begins each time: who comes after a program with the same data finds it in the caches.
        first = i % len(names)
        for name in names[first:] + names[:first]:
            begin = clock()
            answer = field[name](s, t)
            seconds[name] += clock() - begin
            if name in ("rhostar", "rhostar, double precision"):
                off = max(off, abs(answer - length) / length)
    assert off < 5e-6, "lengths differ from those of the scenario"
    ours = seconds["rhostar"]
    rows = {name: {"ms": 1e3 * s / len(scenario), "rhostar takes": ours / s} for name, s in seconds.items()}
    return {"vertices": graph.n, "queries": len(scenario), "rows": rows}


# ---------------------------------------------------------------- tables


def network_table(results: dict) -> str:
    # Results of earlier runs may have no 99 % quantile: then there is no such column, or its cells are empty.
    most = any("excess 99 %" in row for found in results.values() for row in found["rows"].values())
    head = ["ms", "× Dijkstra", "expanded", "mean excess", *(["99 %"] if most else []), "worst", "CCH pays from"]
    lines = [f"| | {' | '.join(head)} |", f"|---|{'--:|' * len(head)}"]
    for name, found in results.items():
        lines.append(f"| **{name}**, {found['vertices']:,} vertices |{' |' * len(head)}")
        for who, row in found["rows"].items():
            more = f" + {row['ms per snapshot']:.1f} per snapshot" if "ms per snapshot" in row else ""
            expanded = f"{row['expanded']:,.0f}" if "expanded" in row else ""
            mean = f"{row['mean excess']:.2%}" if "mean excess" in row else ""
            tail = ["excess 99 %", "worst excess"] if most else ["worst excess"]
            large = " | ".join(f"{row[key]:.1%}" if key in row else "" for key in tail)
            pays = row.get("CCH pays from queries per snapshot")
            lines.append(
                f"| {who} | {row['ms']:.3g}{more} | {row['faster']:.1f} | {expanded} | {mean} | {large} "
                f"| {'' if pays is None else f'{pays:.0f}'} |"
            )
    return "\n".join(lines)


def build_table(results: dict) -> str:
    lines = ["| | vertices | order | build | bytes per vertex |", "|---|--:|--:|--:|--:|"]
    for name, found in results.items():
        order, build, size = (found[key] for key in ("order s", "build s", "bytes per vertex"))
        lines.append(f"| {name} | {found['vertices']:,} | {order:.2f} s | {build:.2f} s | {size:.0f} |")
    return "\n".join(lines)


def map_table(results: dict) -> str:
    names = list(dict.fromkeys(name for found in results.values() for name in found["rows"] if name != "rhostar"))
    lines = ["| | queries | rhostar | " + " | ".join(names) + " |", "|---|--:|--:|" + "--:|" * len(names)]
    for name, found in results.items():
        rows = found["rows"]
        others = " | ".join(f"{1 / rows[who]['rhostar takes']:.2f}×" if who in rows else "" for who in names)
        lines.append(f"| {name} | {found['queries']:,} | {1e3 * rows['rhostar']['ms']:.0f} µs | {others} |")
    return "\n".join(lines)


def write(results: dict) -> None:
    (HERE / "results" / "any_goal.json").write_text(json.dumps(results, indent=1) + "\n")
    text = PAGE.read_text()
    tables = {
        "networks": network_table(results["networks"]),
        "builds": build_table(results["networks"]),
        "maps": map_table(results["maps"]),
    }
    for name, table in tables.items():
        begin = f"<!-- {name}: made by make bench-any-goal -->\n"
        at = text.index(begin) + len(begin)
        text = text[:at] + table + "\n" + text[text.index("<!-- end -->", at) :]
    PAGE.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="networks, or 'maps'; all if none are given")
    names = parser.parse_args().names
    results: dict = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "networks": {},
        "maps": {},
    }
    if not names or "maps" in names:
        results["maps"] = dict(game_maps())
        print(map_table(results["maps"]), flush=True)
    for name, make in NETWORKS.items():
        if names and name not in names:
            continue
        if name == "San Joaquin" and folder() is None:
            print("San Joaquin: no data; set RHOSTAR_DATA")
            continue
        results["networks"][name] = measure(make())
        print(network_table({name: results["networks"][name]}), flush=True)
        print(build_table({name: results["networks"][name]}), flush=True)
    saved = HERE / "results" / "any_goal.json"
    if names and saved.exists():
        before = json.loads(saved.read_text())
        results["maps"] = results["maps"] or before["maps"]
        both = before["networks"] | results["networks"]
        results["networks"] = {name: both[name] for name in NETWORKS if name in both}
    write(results)


if __name__ == "__main__":
    main()
