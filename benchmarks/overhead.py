"""What a call costs beyond the kernel, what a vertex costs in memory, and what an import costs.

The overhead of one ``rs.astar`` call on 200 vertices is its time minus the time of the same query inside
one ``solve_many`` batch of thousands, where Python is entered once. Both are taken in turns in one
process; medians and the spread of the differences are printed.

    make bench-overhead
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np

import rhostar as rs

ROUNDS, CALLS = 15, 4000


def measure_call() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(10, 20, neighbours=8)
    weights = rng.uniform(1, 2, graph.m)
    source, goal, near = 0, graph.n - 1, graph.vertex((0, 2))
    print(f"one astar() call on {graph.n} vertices, microseconds (median of {ROUNDS} rounds, spread of the rounds):")
    for name, target, by_goal in (
        ("across the grid", goal, False),
        ("to a vertex nearby", near, False),
        ("with rho by goal", goal, True),
    ):
        batch = rs.InstanceSet(graph, weights, np.full(CALLS, source), target)
        rho = rs.heuristics.octile(graph, target)
        table = {target: rho} if by_goal else rho
        singles, kernels = [], []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(CALLS):
                run = rs.astar(graph, weights, source, target, table)
            middle = time.perf_counter()
            runs = rs.solve_many(batch, rho)
            end = time.perf_counter()
            assert run.cost == runs.cost[0]
            assert run.expanded == runs.expanded[0]
            singles.append((middle - start) / CALLS * 1e6)
            kernels.append((end - middle) / CALLS * 1e6)
        beyond = [a - b for a, b in zip(singles, kernels, strict=True)]
        print(
            f"  {name:20} {run.expanded:4} expansions: call {statistics.median(singles):6.2f}, "
            f"kernel {statistics.median(kernels):6.2f}, beyond it {statistics.median(beyond):5.2f} "
            f"({min(beyond):.2f} to {max(beyond):.2f})"
        )


def measure_memory() -> None:
    size = rs.Graph.grid(2, 2)._kernel.bytes_per_vertex
    print(f"workspace: {size} bytes a vertex (up to 20,000 vertices {size + 4}), and 16 for each in OPEN at the peak")


def measure_import() -> None:
    for code in ("import rhostar", "import rhostar; rhostar.astar, rhostar.InstanceSet"):
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        bare = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", ""], check=True)
            bare.append(time.perf_counter() - start)
        print(f"{code!r}: {statistics.median(times) - statistics.median(bare):.3f} s beyond a bare interpreter")


if __name__ == "__main__":
    measure_call()
    measure_memory()
    measure_import()
