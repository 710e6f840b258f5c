"""What a call costs beyond the kernel, a vertex in memory, an import, remembering what was seen, and Ctrl-C.

The overhead of one ``rs.astar`` call on 200 vertices is its time minus the time of the same query in a
``solve_many`` batch of thousands, which enters Python once. Both take turns in one process; medians and the
spread of the differences are printed.

    make bench-overhead
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np

import rhostar as rs
from rhostar.instances._provenance import ContentKeys

ROUNDS, CALLS = 15, 4000


def measure_call() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(10, 20, neighbors=8)
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
    def seconds(*command: str) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    bare = seconds("-c", "")
    for code in ("import rhostar", "import rhostar; rhostar.astar, rhostar.InstanceSet"):
        print(f"{code!r}: {seconds('-c', code) - bare:.3f} s beyond a bare interpreter")
    print(f"'rhostar --help': {seconds('-m', 'rhostar.cli.main', '--help') - bare:.3f} s beyond a bare interpreter")


def measure_memory_of_what_was_seen(snapshots: int = 2000) -> None:
    """Print which share of a fit goes into content keys, by processor time, on about 100,000 edges."""
    graph = rs.Graph.grid(158, 159)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, size=(snapshots, graph.m))
    shares = []
    for _ in range(3):
        instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
        start = time.process_time()
        ContentKeys.of(instances)
        middle = time.process_time()
        rs.learners.MeanDistance().fit(instances)  # the set keeps its keys
        keys, rest = middle - start, time.process_time() - middle
        shares.append(keys / (keys + rest))
    print(
        f"content keys of {snapshots} snapshots of {graph.m} edges: {keys:.2f} s, "
        f"{statistics.median(shares):.1%} of a fit of MeanDistance ({min(shares):.1%} to {max(shares):.1%})"
    )


# A* with reopening expands vertices 2^44 times here. rho makes it try the dearest paths first.
_ENDLESS = """
import os, signal, sys, threading, time
import numpy as np, rhostar as rs
signal.signal(signal.SIGINT, signal.default_int_handler)
k = 45
pairs = [(j, i) for j in range(2, k + 1) for i in range(1, j)] + [(1, 0)]
graph = rs.Graph.from_edges(k + 1, *zip(*pairs))
weights = graph.arrange(np.array([2.0**j - 2.0 ** (i + 1) for j, i in pairs[:-1]] + [0.0]))
rho = np.arange(k + 1) * 2.0 ** (k + 2)
rho[0] = (k + 3) * 2.0 ** (k + 2)
instances = rs.InstanceSet(graph, weights, [k] * 8, 0)
pressed = []
def press():
    pressed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, press).start()
try:
    rs.solve_many(instances, rho, n_jobs=int(sys.argv[1]))
except KeyboardInterrupt:
    print(time.perf_counter() - pressed[0])
"""


def measure_interrupt() -> None:
    for jobs in (1, 2):
        command = [sys.executable, "-c", _ENDLESS, str(jobs)]
        times = [
            float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
            for _ in range(5)
        ]
        threads = "one thread" if jobs == 1 else f"{jobs} threads"
        print(f"Ctrl-C ends a batch on {threads} after {statistics.median(times):.3f} s (at most {max(times):.3f})")


if __name__ == "__main__":
    measure_call()
    measure_memory()
    measure_import()
    measure_memory_of_what_was_seen()
    measure_interrupt()
