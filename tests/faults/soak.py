"""Asks, updates, saves, loads and reports for a long time in one process: memory stays flat, no descriptor stays open.

``make soak`` runs 10^6 queries, 10^4 updates, 10^3 saves and loads and 10^2 reports in minutes; ``--share 0.01`` runs a
hundredth of each. Memory is what the process has in use after a first share of the work, and at the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import rhostar as rs

MOST_GROWTH = 4 << 20
"""Bytes; a leak of one small object per query would be ten times as much."""


def in_use() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def work(share: float, folder: Path) -> dict[str, int]:
    """Do a share of all the work, and return how much that was."""
    counts = {"queries": 1_000_000, "updates": 10_000, "saves and loads": 1000, "reports": 100}
    counts = {name: max(1, int(count * share)) for name, count in counts.items()}
    graph = rs.Graph.grid(20, 20, neighbors=8)
    rng = np.random.default_rng(0)
    rows = graph.length * rng.uniform(1, 2, (8, graph.m))
    instances = rs.InstanceSet(graph, rows, sources=rng.integers(399, size=8), goal=399)
    learner = rs.learners.LowerEnvelope().fit(instances)
    router = rs.Router(graph, learner)
    for k in range(counts["updates"]):
        if k % 4:
            edges = rng.integers(graph.m, size=3)
            router.update(rows[k % 8][edges], edges=edges)
        else:
            router.update(rows[k % 8])
        for s, t in rng.integers(400, size=(counts["queries"] // counts["updates"] - 1, 2)).tolist():
            router.route(s, t)
        rs.astar(graph, router.snapshot, int(rng.integers(399)), 399, learner)
    for k in range(counts["saves and loads"]):
        instances.save(folder / "set")
        rs.solve_many(rs.InstanceSet.load(folder / "set", mmap=bool(k % 2)), learner)
        router.save(folder / "router.npz")
        again = rs.Router.load(folder / "router.npz")
        again.update(rows[k % 8])
        again.route(0, 399)
        rs.Model.of(learner, graph).save(folder / "model.npz")
        rs.Model.load(folder / "model.npz")
    for _ in range(counts["reports"]):
        rs.report.write(rs.report.build(instances, {"learned": learner}), folder / "report.html")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--leak", action="store_true", help="leak on purpose, to see that it is noticed")
    options = parser.parse_args()
    kept: list[object] = []
    with tempfile.TemporaryDirectory() as home:
        work(0.1 * options.share, Path(home))  # whatever is kept for the next time is there
        before, descriptors = in_use(), len(os.listdir("/proc/self/fd"))
        counts = work(options.share, Path(home))
        if options.leak:
            kept = [np.ones(2 * MOST_GROWTH // 8), os.open(home, os.O_RDONLY)]
        growth, left = in_use() - before, len(os.listdir("/proc/self/fd")) - descriptors
    done = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"{done}: {growth / 2**20:+.1f} MB, {left} descriptors left; {time.process_time():.0f} s of processor time")
    return int(growth > MOST_GROWTH or left != 0 or len(kept) > 2)


if __name__ == "__main__":
    sys.exit(main())
