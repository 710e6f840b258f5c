"""What reading and storing cost: a million arcs of text, and 800 MB of snapshots saved and mapped.

Text: a DIMACS file of 1,000,000 arcs by chance, plain and compressed; the whole reader, its scan alone, and numpy's
``loadtxt`` on the same numbers, taking turns; medians. Storage: a grid of 1,000,000 vertices with 50 snapshots of
float32 weights, made and saved in one process, loaded in another, each of which prints the largest memory it ever held
as a multiple of the weights.

    make bench-reading                      writes benchmarks/results/reading.json too
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import rhostar as rs
from rhostar.datasets import _text as text

HERE = Path(__file__).parent
ARCS, VERTICES, ROUNDS = 1_000_000, 400_000, 5

_STATUS = """
def memory():
    lines = open("/proc/self/status").read().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(("VmHWM", "RssAnon"))}
"""
_SAVE = (
    _STATUS
    + """
import json, sys, time
import numpy as np
import rhostar as rs
graph = rs.Graph.grid(1000, 1000)
rng = np.random.default_rng(0)
weights = np.empty((50, graph.m), dtype=np.float32)
for row in weights:
    row[:] = rng.random(graph.m, dtype=np.float32)
before = memory()
instances = rs.InstanceSet(graph, weights, 0, goal=graph.n - 1)
start = time.perf_counter()
instances.save(sys.argv[1])
print(json.dumps({"weights": weights.nbytes, "before": before, "after": memory(), "s": time.perf_counter() - start}))
"""
)
_LOAD = (
    _STATUS
    + """
import json, sys, time
import numpy as np
import rhostar as rs
before = memory()
start = time.perf_counter()
instances = rs.InstanceSet.load(sys.argv[1], mmap=True, verify=sys.argv[2] == "verify")
loaded = memory() | {"s": time.perf_counter() - start}
runs = rs.solve_many(instances, np.zeros(instances.graph.n))
print(json.dumps({"before": before, "after": loaded, "searched": memory(), "cost": float(runs.cost.sum())}))
"""
)


def measure_text(folder: Path) -> dict[str, float]:
    """Return the median seconds of each way to read the same million arcs."""
    rng = np.random.default_rng(0)
    arcs = np.stack(
        [rng.integers(1, VERTICES + 1, ARCS), rng.integers(1, VERTICES + 1, ARCS), rng.integers(1, 10**5, ARCS)], 1
    )
    plain, packed, bare = folder / "x.gr", folder / "x.gr.gz", folder / "x.txt"
    lines = "\n".join(f"a {u} {v} {w}" for u, v, w in arcs.tolist())
    plain.write_text(f"c a million arcs by chance\np sp {VERTICES} {ARCS}\n{lines}\n")
    packed.write_bytes(gzip.compress(plain.read_bytes(), 6))
    bare.write_text(lines.replace("a ", "") + "\n")

    def scan() -> None:
        fields = ("tail", "head", "weight")
        for _ in text.records(plain, "iif", fields, letter="a", comments="c", other=lambda number, line: None):
            pass

    ways = {
        "read_dimacs": lambda: rs.datasets.read_dimacs(plain),
        "read_dimacs, gzip": lambda: rs.datasets.read_dimacs(packed),
        "the scan alone": scan,
        "numpy.loadtxt": lambda: np.loadtxt(bare, dtype=np.int64),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    print(f"{ARCS:,} arcs of DIMACS text, {plain.stat().st_size / 1e6:.0f} MB (median of {ROUNDS}, least to largest):")
    for name, mine in times.items():
        print(f"  {name:20}{statistics.median(mine):7.2f} s  ({min(mine):.2f} to {max(mine):.2f})")
    return {name: statistics.median(mine) for name, mine in times.items()}


def measure_storage(folder: Path) -> dict[str, dict]:
    """Return what the processes that save and load say about their memory."""

    def child(code: str, *arguments: str) -> dict:
        command = [sys.executable, "-c", code, str(folder / "set"), *arguments]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    saved = child(_SAVE)
    size = saved["weights"]
    print(f"1,000,000 vertices, 50 snapshots of float32, {size / 1e6:.0f} MB of weights; largest memory ever held:")
    made, after = saved["before"]["VmHWM"], saved["after"]["VmHWM"]
    print(f"  made {made / size:.2f} of the weights, checked and saved {after / size:.2f} ({saved['s']:.1f} s)")
    result = {"saved": saved}
    for how in ("verify", "trust"):
        loaded = result[f"loaded, {how}"] = child(_LOAD, how)
        held, own = loaded["after"]["VmHWM"] / size, loaded["searched"]["RssAnon"] / size
        print(
            f"  loaded mapped ({how}) {held:.2f} ({loaded['after']['s']:.1f} s); after 50 searches {own:.2f} of its own"
        )
    return result


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = {
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
            "text": measure_text(Path(folder)),
            "storage": measure_storage(Path(folder)),
        }
    file = HERE / "results" / "reading.json"
    file.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
