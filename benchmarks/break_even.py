"""Which way of answering queries is the cheapest, for how many queries between two changes of the weights.

    make bench-workloads                          both cities; about five minutes, most of them for pandana
    python benchmarks/break_even.py "city 40k"    one of them: the rest of the results stays as it is

Cities with fixed goals (depots) and unseen snapshots of weights. All contestants take turns on each snapshot, and all
answer the same queries with paths. Times are seconds of processor time of one core. A contestant pays once (learning,
preprocessing), for each snapshot, for each goal on a snapshot, and for each query; the totals and the break-even follow
from these four numbers. Results go to benchmarks/results/workloads.json and workloads.md, and a table into
docs/comparison.md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # or pandana's idle threads would be charged to whoever comes next

import numpy as np

import rhostar as rs
from rhostar.learners import Landmarks, LowerEnvelope, MeanDistance, PerGoal, Potentials

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "comparison.md"
CITIES = {"city 40k": 40_000, "city 160k": 160_000}
GOALS, PAST, UNSEEN, SOURCES = 4, 48, 6, 40
MOST_PANDANA = 2
"""Snapshots for pandana, which contracts the whole graph again for each."""
QUERIES = (1, 10, 100, 1_000, 100_000)
SEVERAL = 10
"""Goals per snapshot in the second table."""


def clock() -> float:
    return time.process_time()


# ---------------------------------------------------------------- contestants


class Contestant:
    """One way to answer queries. Most learn once and do nothing for a new snapshot."""

    once = 0.0
    snapshots = UNSEEN

    def new_snapshot(self, queries: rs.InstanceSet) -> None:
        """Prepare for a snapshot, on which all these queries will come; timed."""

    def new_goal(self, weights: np.ndarray, goal: int) -> None:
        """Prepare for a goal on this snapshot; timed."""

    def answer(self, queries: rs.InstanceSet) -> np.ndarray:
        """Return what the paths cost; timed."""
        raise NotImplementedError


class Searching(Contestant):
    """A search with a heuristic that was made once. If it is exact above lower bounds, these are compared first.

    Heuristics that know their bounds are compared again by each call of ``solve_many``, which counts as queries.
    """

    def __init__(self, make: Callable[[], Any], lower: np.ndarray | None = None) -> None:
        begin = clock()
        self.rho = make()
        self.once = clock() - begin
        self.lower = lower

    def new_snapshot(self, queries: rs.InstanceSet) -> None:
        if self.lower is not None:
            assert (queries.weights[0] >= self.lower).all()

    def answer(self, queries: rs.InstanceSet) -> np.ndarray:
        return rs.solve_many(queries, self.rho, n_jobs=1).cost


class CostsToGo(Contestant):
    """The exact costs-to-go of every vertex, for each snapshot and goal; a search with them looks at the path alone."""

    def __init__(self, graph: rs.Graph) -> None:
        self.graph = graph

    def new_goal(self, weights: np.ndarray, goal: int) -> None:
        table = rs.distances_to(self.graph, weights, goal)
        self.rho = np.where(np.isfinite(table), table, 0.0)

    def answer(self, queries: rs.InstanceSet) -> np.ndarray:
        return rs.solve_many(queries, self.rho, n_jobs=1).cost


def whole_numbers(weights: np.ndarray, n: int) -> np.ndarray:
    """Return weights as whole numbers, which contraction hierarchies count with: as fine as 32 bits allow a path."""
    there = np.isfinite(weights)
    longest = 60 * np.sqrt(n) * weights[there].mean()
    return np.where(there, np.rint(weights * (2**31 / longest)), np.inf)


class Cch(Contestant):
    """Customizable contraction hierarchies of RoutingKit."""

    def __init__(self, graph: rs.Graph) -> None:
        import pyroutingkit

        x, y = (np.ascontiguousarray(axis) for axis in graph.coordinates.astype(np.float32).T)
        tail, head = graph.tail.astype(np.uint32), graph.head.astype(np.uint32)
        self.topology = pyroutingkit.CCHTopology()
        begin = clock()
        self.topology.build(tail, head, y, x, graph.n)
        self.once, self.n = clock() - begin, graph.n
        self.metric, self.none = pyroutingkit.CCHMetric(self.topology), pyroutingkit.INF_WEIGHT

    def new_snapshot(self, queries: rs.InstanceSet) -> None:
        weights = self.weights = queries.weights[0]
        whole = np.where(np.isfinite(weights), whole_numbers(weights, self.n), self.none)
        self.metric.customize(whole.astype(np.uint32))

    def answer(self, queries: rs.InstanceSet) -> np.ndarray:
        ask = self.metric.query
        paths = [ask(s, t)[2] for s, t in zip(queries.sources.tolist(), queries.goals.tolist(), strict=True)]
        return np.array([self.weights[np.asarray(path, dtype=np.int64)].sum() for path in paths])


class Pandana(Contestant):
    """Contraction hierarchies of pandana, which have to be made again for each snapshot."""

    snapshots = MOST_PANDANA

    def __init__(self, graph: rs.Graph) -> None:
        import pandana
        import pandas as pd

        self.make, x, y = pandana.Network, *graph.coordinates.T
        self.graph = graph
        self.x, self.y = pd.Series(x), pd.Series(y)

    def new_snapshot(self, queries: rs.InstanceSet) -> None:
        import pandas as pd

        weights = queries.weights[0]
        there = np.isfinite(weights)
        tail, head = (pd.Series(ends[there]) for ends in (self.graph.tail, self.graph.head))
        thousandths = whole_numbers(weights, self.graph.n)[there] / 1000  # which is what it counts in
        table = pd.DataFrame({"weight": thousandths})
        self.network = self.make(self.x, self.y, tail, head, table, twoway=False)
        self.weights = weights

    def answer(self, queries: rs.InstanceSet) -> np.ndarray:
        paths = self.network.shortest_paths(queries.sources.tolist(), queries.goals.tolist())
        edges = (self.graph.edge_index(path[:-1], path[1:]) for path in map(np.asarray, paths))
        return np.array([self.weights[path].sum() for path in edges])


EXACT = {
    "Dijkstra": "always",
    "costs-to-go (`distances_to`)": "always",
    "landmarks, 16": "above the bounds",
    "lower envelope": "above the bounds",
    "potentials, lower bounds": "above the bounds",
    "CCH (RoutingKit)": "up to rounding",
    "pandana": "up to rounding",
}
"""What the contestants promise; the others promise nothing and their excess is measured."""


def field(town: Any, past: np.ndarray, goals: np.ndarray) -> dict[str, Contestant]:
    graph, lower = town.graph, town.edge_bounds[0]
    # One instance for each goal and past snapshot; learners read the weights, not the sources.
    rows, which = np.tile(np.arange(len(past)), len(goals)), np.repeat(goals, len(past))
    train = rs.InstanceSet(graph, past, 0, which, rows=rows)
    bounds = rs.InstanceSet(graph, lower, 0, goals, rows=np.zeros(len(goals), dtype=int))

    def landmark_tables() -> dict[int, np.ndarray]:
        fitted = Landmarks(16, random_state=0).fit(bounds)
        return {goal: fitted.heuristic_.table(goal) for goal in goals.tolist()}

    contestants: dict[str, Contestant] = {
        "Dijkstra": Searching(lambda: np.zeros(graph.n)),
        "costs-to-go (`distances_to`)": CostsToGo(graph),
        "landmarks, 16": Searching(landmark_tables, lower),
        "lower envelope": Searching(lambda: PerGoal(LowerEnvelope(lower)).fit(train), lower),
        "mean distance": Searching(lambda: PerGoal(MeanDistance()).fit(train)),
        "potentials, lower bounds": Searching(lambda: Potentials(lower=lower).fit(train), lower),
        "potentials, 8 clusters": Searching(lambda: Potentials(n_clusters=8).fit(train)),
    }
    for package, name, make in (("pyroutingkit", "CCH (RoutingKit)", Cch), ("pandana", "pandana", Pandana)):
        if importlib.util.find_spec(package):
            contestants[name] = make(graph)
        else:
            print(f"{package} is not installed: left out")
    return contestants


# ---------------------------------------------------------------- one city


def measure(n: int) -> dict[str, Any]:
    town = rs.datasets.city(n, seed=0)
    graph, rng = town.graph, np.random.default_rng(1)
    goals = np.sort(rng.choice(graph.n, GOALS, replace=False)).astype(np.int32)
    past = town.snapshots(PAST, seed=1000).astype(np.float32)
    unseen = town.snapshots(UNSEEN, seed=1)
    contestants = field(town, np.maximum(past, town.edge_bounds[0]), goals)
    spent = {name: {"snapshot": 0.0, "goal": 0.0, "query": 0.0} for name in contestants}
    counts = {name: {"snapshot": 0, "goal": 0, "query": 0} for name in contestants}
    excess: dict[str, list[float]] = {name: [] for name in contestants}

    def timed(name: str, part: str, count: int, call: Callable[..., Any], *args: Any) -> Any:
        begin = clock()
        found = call(*args)
        spent[name][part] += clock() - begin
        counts[name][part] += count
        return found

    for k, weights in enumerate(unseen):
        playing = {name: one for name, one in contestants.items() if k < one.snapshots}
        sources = rng.integers(0, graph.n, (len(goals), SOURCES))
        sources += sources == goals[:, None]  # nobody starts at the goal
        whole = rs.InstanceSet(
            graph, weights, sources.ravel() % graph.n, np.repeat(goals, SOURCES),
            rows=np.zeros(sources.size, dtype=int), infeasible="drop",
        )  # fmt: skip
        for name, one in playing.items():
            if type(one).new_snapshot is not Contestant.new_snapshot:
                timed(name, "snapshot", 1, one.new_snapshot, whole)
        for goal in goals.tolist():
            batch = whole[np.flatnonzero(whole.goals == goal)]
            optimum = rs.solve_many(batch, np.zeros(graph.n), n_jobs=1).cost
            for name, one in playing.items():
                if type(one).new_goal is not Contestant.new_goal:
                    timed(name, "goal", 1, one.new_goal, weights, goal)
                cost = timed(name, "query", len(batch), one.answer, batch)
                excess[name] += (cost / optimum - 1).tolist()
                assert (cost >= optimum * (1 - 1e-12)).all(), f"{name}: cheaper than the optimum"
    rows = {}
    for name, one in contestants.items():
        each = {part: spent[name][part] / max(counts[name][part], 1) for part in spent[name]}
        rows[name] = {"once": one.once} | each | {"excess": float(np.mean(excess[name]))}
        rows[name] |= {"excess 99 %": float(np.quantile(excess[name], 0.99)), "worst": max(excess[name])}
        if name in EXACT:
            allowed = 1e-12 if EXACT[name] != "up to rounding" else 1e-3
            assert max(excess[name]) <= allowed, f"{name} is not exact: {max(excess[name])}"
    return {"vertices": graph.n, "edges": graph.m, "queries": UNSEEN * GOALS * SOURCES, "rows": rows}


# ---------------------------------------------------------------- totals and break-even


def total(row: dict[str, float], queries: float, goals: int) -> float:
    """Return the seconds for one goal and one snapshot; what is done once is not in it."""
    return row["snapshot"] / goals + row["goal"] + queries * row["query"]


def changes(rows: dict[str, dict[str, float]], names: Iterable[str], goals: int) -> list[tuple[float, str]]:
    """Return which contestant is the cheapest, each with the number of queries from which it is."""
    names = list(names)
    at, best = 1.0, min(names, key=lambda name: total(rows[name], 1.0, goals))
    found = [(at, best)]
    while True:
        turns = []
        for name in names:
            gain = rows[best]["query"] - rows[name]["query"]
            if gain > 0:
                fixed = total(rows[name], 0, goals) - total(rows[best], 0, goals)
                turns.append((max(fixed / gain, at), rows[name]["query"], name))
        if not turns:
            return found
        at, _, best = min(turns)
        found.append((at, best))


def seconds(value: float) -> str:
    for size, unit in ((1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (3600.0, "h")):
        if value < 1000 * size or unit == "h" or (unit == "s" and value < 3600):
            return f"{value / size:.3g} {unit}"
    raise AssertionError


def costs_table(results: dict[str, Any]) -> list[str]:
    # Results of earlier runs may have no 99 % quantile: then there is no such column, or its cells are empty.
    most = any("excess 99 %" in row for found in results.values() for row in found["rows"].values())
    tail = {"excess 99 %": "99 %", "worst": "worst"} if most else {"worst": "worst"}
    head = ["once", "for each snapshot", "for each goal on it", "query", "mean excess", *tail.values()]
    lines = [f"| | exact | {' | '.join(head)} |", f"|---|---|{'--:|' * len(head)}"]
    for name, found in results.items():
        lines.append(f"| **{name}**, {found['vertices']:,} crossings | |{' |' * len(head)}")
        for who, row in found["rows"].items():
            worth = {"once": 1e-3, "snapshot": 1e-5, "goal": 1e-5}  # less is the call alone
            fixed = " | ".join(seconds(row[part]) if row[part] > least else "" for part, least in worth.items())
            exact = who in EXACT and EXACT[who] != "up to rounding"
            large = [f"{max(row[key], 0.0):.1%}" if key in row else "" for key in tail]
            over = " | ".join(["0"] * (1 + len(tail)) if exact else [f"{max(row['excess'], 0.0):.2%}", *large])
            lines.append(f"| {who} | {EXACT.get(who, 'no')} | {fixed} | {seconds(row['query'])} | {over} |")
    return lines


def totals_table(found: dict[str, Any], goals: int) -> list[str]:
    rows = found["rows"]
    lines = ["| | " + " | ".join(f"{q:,}" for q in QUERIES) + " |", "|---|" + "--:|" * len(QUERIES)]
    least = {q: min(total(rows[name], q, goals) for name in rows if name in EXACT) for q in QUERIES}
    for name, row in rows.items():
        spent = {q: total(row, q, goals) for q in QUERIES}
        cells = (
            f"**{seconds(t)}**" if name in EXACT and t == least[q] else f"{seconds(t)}{'' if t > least[q] else ' *'}"
            for q, t in spent.items()
        )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def break_even_table(results: dict[str, Any]) -> list[str]:
    lines = ["| | goals per snapshot | exact | cheapest of all |", "|---|--:|---|---|"]
    for name, found in results.items():
        for goals in (1, SEVERAL):
            exact = changes(found["rows"], [who for who in found["rows"] if who in EXACT], goals)
            every = changes(found["rows"], found["rows"], goals)
            told = ["; ".join(f"from {math.ceil(at):,}: {who}" for at, who in each) for each in (exact, every)]
            lines.append(f"| {name} | {goals} | {told[0]} | {told[1]} |")
    return lines


def page(results: dict[str, Any]) -> str:
    about, cities = results["about"], results["cities"]
    blocks = [
        "# Which way of answering queries is the cheapest",
        f"Made by `make bench-workloads` on {about['machine']}, Python {about['python']}, "
        + ", ".join(f"{name} {number}" for name, number in about["packages"].items())
        + f". Generated cities with {GOALS} goals, {PAST} past snapshots to learn from, {UNSEEN} unseen ones, "
        f"{SOURCES} random sources for each goal and snapshot ({MOST_PANDANA} snapshots for pandana). All answers are "
        "paths, and all exact answers were compared. Processor time of one core.",
        "\n".join(costs_table(cities)),
        "*Once*: learning or preprocessing, for all goals. *Above the bounds*: exact while no weight is below its "
        "lower bound.",
        "## From how many queries on which one is the cheapest",
        "Queries per goal and snapshot. What is done once is not counted: it is paid back over all snapshots to come.",
        "\n".join(break_even_table(cities)),
    ]
    for name, found in cities.items():
        for goals in (1, SEVERAL):
            blocks.append(f"## {name}: total time, {goals} goal{'s' * (goals > 1)} per snapshot")
            blocks.append(
                "For one goal and one snapshot. Bold: the cheapest exact one; *: cheaper than that, but not exact."
            )
            blocks.append("\n".join(totals_table(found, goals)))
    return "\n\n".join(blocks) + "\n"


def write(results: dict[str, Any]) -> None:
    (HERE / "results" / "workloads.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "results" / "workloads.md").write_text(page(results))
    text = PAGE.read_text()
    tables = {"costs": costs_table(results["cities"]), "break-even": break_even_table(results["cities"])}
    for name, lines in tables.items():
        begin = f"<!-- {name}: made by make bench-workloads -->\n"
        at = text.index(begin) + len(begin)
        text = text[:at] + "\n".join(lines) + "\n" + text[text.index("<!-- end -->", at) :]
    PAGE.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="cities to measure; all if none is given")
    only = parser.parse_args().only
    if set(only) - set(CITIES):
        parser.error(f"there are {', '.join(CITIES)}")
    kept = HERE / "results" / "workloads.json"
    cities = json.loads(kept.read_text())["cities"] if only and kept.exists() else {}
    for name, n in CITIES.items():
        if only and name not in only:
            continue
        begin = time.perf_counter()
        cities[name] = measure(n)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
    packages = {}
    for package in ("rhostar", "numpy", "pyroutingkit", "pandana"):
        if importlib.util.find_spec(package):
            packages[package] = importlib.metadata.version(package)
    about = {"machine": platform.machine(), "python": platform.python_version(), "packages": packages}
    results = {"about": about, "cities": {name: cities[name] for name in CITIES if name in cities}}
    write(results)
    print(page(results))


if __name__ == "__main__":
    main()
