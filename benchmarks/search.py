"""This engine against the libraries a user would pick instead, in one process and taking turns.

    make bench-search                       the whole comparison, several minutes
    python benchmarks/search.py --quick     without the slowest peers on the large graphs
    python benchmarks/search.py --real      Rome, San Joaquin and den520d alone, where RHOSTAR_DATA has them
    python benchmarks/search.py calls rows  some of it: printed, not saved

Every figure is a ratio of two times taken in the same round: the median over the rounds, with the least and the
largest ratio beside it, because machines are noisy. Each turn is one query that is not timed and one that is. Answers
are compared: a contestant whose cost differs is marked. Results go to benchmarks/results (JSON, Markdown, a plot)
and into the table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import workloads

import peers
import rhostar as rs

HERE = Path(__file__).parent
ROUNDS = 7
US = "rhostar"
SLOW = 0.5  # seconds beyond which the state of the caches does not matter


def compete(contestants: dict[str, peers.Contestant], optimum: float) -> dict:
    """Let all take turns; return the median time of each, its ratio to ours, and its cost divided by the optimum."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    costs: dict[str, float] = {}
    slow = {name for name, run in contestants.items() if run()[0] > SLOW}
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            if name not in slow:  # repeated queries on one network find warm caches
                run()
            seconds, costs[name] = run()
            times[name].append(seconds)
    result = {}
    for name, mine in times.items():
        ratios = [a / b for a, b in zip(mine, times[US], strict=True)]
        result[name] = {
            "ms": statistics.median(mine) * 1e3,
            "ratio": statistics.median(ratios),
            "least": min(ratios),
            "most": max(ratios),
            "cost/optimum": costs[name] / optimum,
        }
    return result


def queries(work: workloads.Workload, quick: bool) -> dict:
    """Return the comparison on one large graph, for each heuristic."""
    graph, weights, source, goal = work.graph, work.weights, work.source, work.goal
    kit, scipy, igraph = (kind(graph, weights) for kind in (peers.NetworKit, peers.Scipy, peers.Igraph))
    slow = {} if quick else {"rustworkx": peers.Rustworkx(graph, weights), "networkx": peers.Networkx(graph, weights)}
    optimum = rs.astar(graph, weights, source, goal, np.zeros(graph.n)).cost
    result = {}
    for name, rho in work.rho.items():
        for reopen in (True, False) if name == "noisy" else (True,):
            run = rs.astar(graph, weights, source, goal, rho, reopen=reopen, trace=True)
            field = {US: peers.rhostar(graph, weights, source, goal, rho, reopen=reopen)}
            if reopen:
                field["NetworKit A*"] = kit.astar(source, goal, rho)
            if name == "zero":
                field["scipy Dijkstra"] = scipy.dijkstra(source, goal)
                field["scipy Dijkstra, told the optimum"] = scipy.dijkstra(source, goal, limit=optimum * (1 + 1e-9))
                field["igraph Dijkstra"] = igraph.dijkstra(source, goal)
                if slow:
                    field["rustworkx Dijkstra"] = slow["rustworkx"].dijkstra(source, goal)
            elif name == "consistent":
                field["igraph A*"] = igraph.astar(source, goal, rho)
            if slow and (not reopen or name == "consistent"):
                field["rustworkx A*"] = slow["rustworkx"].astar(source, goal, rho)
            if slow and reopen:
                field["networkx A*"] = slow["networkx"].astar(source, goal, rho)
            label = name if name != "noisy" else f"noisy, {'reopening' if reopen else 'no reopening'}"
            result[label] = {"expanded": run.expanded, "reopened": run.reopened, "field": compete(field, optimum)}
            result[label]["floor"] = floor(work, run, rho, reopen)
            if name == "noisy" and reopen:
                result[label]["igraph A*"] = peers.igraph_alone(graph, weights, source, goal, rho)
            print(f"{work.name}, {label}: {run.expanded} expansions", flush=True)
            report(result[label])
    return result


def floor(work: workloads.Workload, run: rs.Run, rho: np.ndarray, reopen: bool) -> dict[str, float]:
    """Return the share of our time that reading the edges takes, and reading them and comparing g."""
    library = native("floor.cpp")
    graph, expanded = work.graph, np.ascontiguousarray(run.trace.selected[: run.expanded])
    g = np.full(graph.n, np.inf)
    g[run.trace.vertex] = run.trace.g
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
    arrays = [pointer(a) for a in (graph.first_out, graph.head, work.weights, expanded)]
    contestants = {
        US: peers.rhostar(graph, work.weights, work.source, work.goal, rho, reopen=reopen),
        "edges": peers.clocked(lambda: library.floor_edges(*arrays, ctypes.c_int64(expanded.size)), lambda _: 0.0),
        "edges and g": peers.clocked(
            lambda: library.floor_compare(*arrays, ctypes.c_int64(expanded.size), pointer(g)), lambda _: 0.0
        ),
    }
    result = compete(contestants, 1.0)
    return {name: result[name]["ratio"] for name in ("edges", "edges and g")}


def native(source: str) -> ctypes.CDLL:
    """Compile a file of benchmarks/native as the core is compiled, and load it."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.so"
        compiler = os.environ.get("CXX", "g++")
        flags = ["-std=c++20", "-O3", "-DNDEBUG", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run(
            [compiler, *flags, "-I", HERE.parent / "src" / "core", HERE / "native" / source, "-o", library], check=True
        )
        loaded = ctypes.CDLL(str(library))
    loaded.floor_edges.restype = ctypes.c_double
    return loaded


def batch() -> dict:
    """Return (c): 2,000 instances of a 32x32 grid, ours with one and two threads."""
    rng = np.random.default_rng(3)
    graph, count = rs.Graph.grid(32, 32, neighbors=8), 2000
    weights = rng.uniform(1, 2, (count, graph.m)) * graph.length
    goal = graph.n - 1
    instances = rs.InstanceSet(graph, weights, rng.integers(0, goal, count), goal)
    rho = rs.heuristics.octile(graph, goal)
    kits = [
        peers.NetworKit(graph, row).call(int(s), goal, rho) for row, s in zip(weights, instances.sources, strict=True)
    ]
    spys = [peers.Scipy(graph, row).dijkstra(int(s), goal) for row, s in zip(weights, instances.sources, strict=True)]
    total = lambda runs: float(np.sum(runs.cost))  # noqa: E731
    contestants = {
        US: peers.clocked(lambda: rs.solve_many(instances, rho), total),
        "rhostar, 2 threads": peers.clocked(lambda: rs.solve_many(instances, rho, n_jobs=2), total),
        "NetworKit A*": peers.clocked(lambda: [run() for run in kits], lambda runs: sum(c for _, c in runs)),
        "scipy Dijkstra": peers.clocked(lambda: [run() for run in spys], lambda runs: sum(c for _, c in runs)),
    }
    return compete(contestants, total(rs.solve_many(instances, np.zeros(graph.n))))


def calls(informed: bool) -> dict:
    """Return (d): calls on 200 vertices, path included, with the octile distance or nearly exact values.

    Every call has another start: the branch predictor would learn a repeated query by heart.
    """
    rng = np.random.default_rng(4)
    graph = rs.Graph.grid(10, 20, neighbors=8)
    weights = rng.uniform(1, 2, graph.m) * graph.length
    goal = graph.n - 1
    sources = rng.integers(0, goal, 1000).tolist()
    rho = 0.99 * rs.distances_to(graph, weights, goal) if informed else rs.heuristics.octile(graph, goal)
    kit, scipy, igraph = (kind(graph, weights) for kind in (peers.NetworKit, peers.Scipy, peers.Igraph))
    rustworkx, networkx = peers.Rustworkx(graph, weights), peers.Networkx(graph, weights)
    kinds = {
        US: lambda source: peers.rhostar(graph, weights, source, goal, rho),
        "NetworKit A*": lambda source: kit.call(source, goal, rho),
        "scipy Dijkstra": lambda source: scipy.dijkstra(source, goal),
        "igraph Dijkstra": lambda source: igraph.dijkstra(source, goal),
        "igraph A*": lambda source: igraph.astar(source, goal, rho),
        "rustworkx A*": lambda source: rustworkx.astar(source, goal, rho),
        "networkx A*": lambda source: networkx.astar(source, goal, rho),
    }

    def all_of(queries: list[peers.Contestant]) -> peers.Contestant:
        def run() -> tuple[float, float]:
            seconds, costs = zip(*(query() for query in queries), strict=True)
            return sum(seconds) / len(queries), sum(costs)

        return run

    contestants = {name: all_of([kind(source) for source in sources]) for name, kind in kinds.items()}
    return compete(contestants, contestants[US]()[1])


def greedy(work: workloads.Workload) -> dict:
    """Return (e): greedy search; the closest thing a peer has is A* on the same graph with all weights 0."""
    graph, rho = work.graph, work.rho["noisy"]
    run = rs.gbfs(graph, work.weights, work.source, work.goal, rho)
    contestants = {
        US: peers.clocked(
            lambda: rs.gbfs(graph, work.weights, work.source, work.goal, rho), lambda run: float(run.status == "solved")
        ),
        "NetworKit A*, weights 0": lambda: (
            peers_kit.astar(work.source, work.goal, rho)()[0],
            1.0,
        ),
    }
    peers_kit = peers.NetworKit(graph, np.zeros(graph.m))
    return {"expanded": run.expanded, "field": compete(contestants, 1.0)}


def integers(work: workloads.Workload) -> dict[str, float]:
    """Return our time with integer weights (int32) and rho as a share of that with the same numbers as floats."""
    whole = np.ceil(work.weights * 100)
    optimum = rs.astar(work.graph, whole, work.source, work.goal, np.zeros(work.graph.n)).cost
    shares = {}
    for name, rho in work.rho.items():
        query = (work.source, work.goal, np.floor(rho * 100))
        contestants = {
            US: peers.rhostar(work.graph, whole, *query),
            "integers": peers.rhostar(work.graph, whole.astype(np.int32), *query),
        }
        shares[name] = compete(contestants, optimum)["integers"]["ratio"]
    return shares


def growth() -> list[dict]:
    """Return the cost of an expansion on grids of a thousand to a million vertices, rho = 0."""
    rows = []
    works = [workloads.grid(side) for side in (32, 100, 316, 1000)]
    runs = [rs.astar(w.graph, w.weights, w.source, w.goal, w.rho["zero"]) for w in works]
    contestants = {}
    for k, work in enumerate(works):
        single = peers.rhostar(work.graph, work.weights, work.source, work.goal, work.rho["zero"])
        repeat = max(1, 100_000 // runs[k].expanded)
        contestants[US if k == 0 else work.name] = lambda single=single, repeat=repeat: (
            sum(single()[0] for _ in range(repeat)) / repeat,
            1.0,
        )
    result = compete(contestants, 1.0)
    for (_, entry), work, run in zip(result.items(), works, runs, strict=True):
        ns = entry["ms"] * 1e6 / run.expanded
        rows.append({"n": work.graph.n, "expanded": run.expanded, "peak_open": run.peak_open, "ns": ns})
    return rows


def report(entry: dict) -> None:
    for name, row in entry["field"].items():
        wrong = "" if abs(row["cost/optimum"] - 1) < 1e-9 else f"  cost/optimum {row['cost/optimum']:.4f}"
        print(
            f"    {name:24}{row['ms']:10.2f} ms {row['ratio']:8.2f}x ({row['least']:.2f} to {row['most']:.2f}){wrong}"
        )


def show(entry: object, indent: str = "    ") -> None:
    """Print what a part returned."""
    if isinstance(entry, dict) and US in entry:
        report({"field": entry})
    elif isinstance(entry, dict):
        for name, inner in entry.items():
            print(f"{indent}{name}:")
            show(inner, indent + "    ")
    else:
        print(f"{indent}{entry}")


SMALL = {
    "growth": growth,
    "calls": lambda: {"octile": calls(informed=False), "nearly exact": calls(informed=True)},
    "batch": batch,
    "gbfs": lambda: greedy(workloads.road()),
    "integers": lambda: {"road": integers(workloads.road()), "grid 100x100": integers(workloads.grid(100))},
}
LARGE = {
    "rows": ("road, numbered row by row", workloads.road),
    "chance": ("road, random vertex order", lambda: workloads.road(order="random")),
    "grid": ("grid 1000x1000", workloads.grid),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without rustworkx and networkx on the large graphs")
    parser.add_argument("--real", action="store_true", help="the real networks alone; prints and writes nothing")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join([*SMALL, *LARGE])}; all by default")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - {*SMALL, *LARGE}
    if unknown:
        parser.error(f"there is no part {min(unknown)!r}")
    if arguments.real:
        for _, work in workloads.real():
            queries(work, arguments.quick)
        return
    parts = arguments.parts or [*SMALL, *LARGE]
    result = {
        "versions": peers.versions(),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "python": platform.python_version()},
        "rounds": ROUNDS,
    }
    for part, measure in SMALL.items():
        if part in parts:
            result[part] = measure()
            if arguments.parts:
                print(f"{part}:")
                show(result[part])
    result["large"] = {}
    for part, (label, make) in LARGE.items():
        if part in parts:
            result["large"][label] = queries(make(), arguments.quick)
    if not arguments.parts:
        for label, work in workloads.real():
            result["large"][label] = queries(work, arguments.quick)
    if arguments.quick or arguments.parts:
        return
    from tables import write_results

    write_results(result, HERE / "results", HERE.parent / "docs" / "benchmarks.md")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
