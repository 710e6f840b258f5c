"""The exact pieces of runs along a line: the time of a piece, compared with plain runs on a grid of θ.

Writes benchmarks/results/pieces.json and pieces.md.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rhostar as rs

RESULTS = Path(__file__).parent / "results"
GRID = 10_000
REPEATS = 3
SIDE = 100


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def lines() -> list[dict[str, Any]]:
    """Return lines on a grid of 10,000 vertices, with hundreds of pieces each."""
    graph = rs.Graph.grid(SIDE, SIDE, neighbors=8)
    goal = graph.n - 1
    rng = np.random.default_rng(0)
    whole, real = rng.integers(1, 100, graph.m).astype(float), rng.uniform(1, 2, graph.m)
    euclid = rs.heuristics.euclidean(graph, goal)
    zero = np.zeros(graph.n)
    distance = rs.distances_to(graph, whole, goal)
    noise = np.round(rng.normal(0, 1, graph.n) * 64) / 64
    common = {"graph": graph, "source": 0, "goal": goal}
    return [
        common | line
        for line in (
            {
                "name": "A*, from Dijkstra towards the Euclidean distance, integer weights",
                "weights": whole,
                "base": zero,
                "direction": euclid,
                "range": (0.02, 0.022),
                "algorithm": "astar",
            },
            {
                "name": "A*, from Dijkstra towards the Euclidean distance, real weights",
                "weights": real,
                "base": zero,
                "direction": euclid,
                "range": (0.0, 2.0**-14),
                "algorithm": "astar",
            },
            {
                "name": "A*, 1.0 to 3.0 times the exact distance with noise",
                "weights": whole,
                "base": zero,
                "direction": distance + 8 * noise,
                "range": (1.0, 3.0),
                "algorithm": "astar",
            },
            {
                "name": "GBFS, the Euclidean distance plus noise",
                "weights": whole,
                "base": euclid,
                "direction": noise,
                "range": (0.0, 4.0),
                "algorithm": "gbfs",
            },
        )
    ]


def measure(line: dict[str, Any]) -> dict[str, Any]:
    low, high = line["range"]
    graph, greedy = line["graph"], line["algorithm"] == "gbfs"
    search = rs.gbfs if greedy else rs.astar
    place = (graph, line["weights"], line["source"], line["goal"])
    pieces_times, run_times = [], []
    for _ in range(REPEATS):
        spent, found = seconds(
            lambda: rs.theory.pieces(*place, line["base"], line["direction"], low, high, algorithm=line["algorithm"])
        )
        pieces_times.append(spent)
        few = np.linspace(low, high, 50)
        spent, _ = seconds(lambda: [search(*place, line["base"] + t * line["direction"]) for t in few])  # noqa: B023
        run_times.append(spent / few.size)
    pieces_time, run_time = statistics.median(pieces_times), statistics.median(run_times)
    # What a grid of θ would see: the pieces that contain one of its values.
    grid = np.linspace(low, high, GRID)
    seen = {found.intervals.index(float(t)) for t in grid}
    return {
        "line": line["name"],
        "range": [low, high],
        "pieces": len(found),
        "exact": found.snap.exact,
        "expansions": float(found.runs.expanded.mean()),
        "seconds": pieces_time,
        "milliseconds per piece": 1e3 * pieces_time / len(found),
        "milliseconds per plain run": 1e3 * run_time,
        "a piece in plain runs": pieces_time / len(found) / run_time,
        f"seconds for a grid of {GRID}": run_time * GRID,
        "pieces that grid misses": len(found) - len(seen),
        "least expansions on the line": int(found.runs.expanded.min()),
        "least expansions on the grid": int(found.runs.expanded[sorted(seen)].min()),
    }


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"| line (grid of {SIDE * SIDE} vertices) | pieces | expansions | all pieces | a piece, in plain runs "
        f"| {GRID} values of θ | pieces these miss |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['line']}, θ in [{row['range'][0]:g}, {row['range'][1]:g}] | {row['pieces']} "
            f"| {row['expansions']:.0f} | {row['seconds']:.3g} s | {row['a piece in plain runs']:.2f} "
            f"| {row[f'seconds for a grid of {GRID}']:.3g} s | {row['pieces that grid misses']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    rows = []
    for line in lines():
        rows.append(measure(line))
        print(json.dumps(rows[-1], indent=1), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "pieces.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "pieces.md").write_text(table(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
