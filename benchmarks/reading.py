"""What reading and storing cost: edges in text, a table of travel times, 800 MB of snapshots, scenario files.

Text: a DIMACS file of 1,000,000 random edges, plain and compressed; the whole reader, its scan alone, and numpy's
``loadtxt`` on the same numbers take turns; medians. Table: a CSV file of 294 MB, 85,000 edges in 96 snapshots named by
time stamps; processor seconds in a process of its own. Storage: a
grid of 1,000,000 vertices with 50 snapshots of float32 weights is made and saved in one process and loaded in another;
each prints the most memory it ever held, as a multiple of the weights. Scenarios: a map with hundreds of queries; the
time to make the set, which finds out whether each query has a path, as a share of the time to solve it.

    make bench-reading                         writes benchmarks/results/reading.json too
    python benchmarks/reading.py scenarios     one part of it
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
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rhostar as rs
from rhostar.datasets import _text_files as text

HERE = Path(__file__).parent
EDGES, VERTICES, ROUNDS = 1_000_000, 400_000, 5

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
    """Return the median seconds of each way to read the same million edges."""
    rng = np.random.default_rng(0)
    edges = np.stack(
        [rng.integers(1, VERTICES + 1, EDGES), rng.integers(1, VERTICES + 1, EDGES), rng.integers(1, 10**5, EDGES)], 1
    )
    plain, packed, bare = folder / "x.gr", folder / "x.gr.gz", folder / "x.txt"
    lines = "\n".join(f"a {u} {v} {w}" for u, v, w in edges.tolist())
    plain.write_text(f"c a million random edges\np sp {VERTICES} {EDGES}\n{lines}\n")
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
    print(f"{EDGES:,} edges of DIMACS text, {plain.stat().st_size / 1e6:.0f} MB (median of {ROUNDS}, spread):")
    for name, mine in times.items():
        print(f"  {name:20}{statistics.median(mine):7.2f} s  ({min(mine):.2f} to {max(mine):.2f})")
    return {name: statistics.median(mine) for name, mine in times.items()}


_TABLE = """
import json, sys, time
import rhostar as rs
wall, before = time.perf_counter(), time.process_time()
network = rs.datasets.read_edge_table(sys.argv[1])
took = {"cpu": time.process_time() - before, "s": time.perf_counter() - wall}
print(json.dumps(took | {"shape": network.weights.shape, "sum": float(network.weights.sum())}))
"""


def measure_table(folder: Path) -> dict[str, dict]:
    """Return what reading a large CSV file takes, in a process of its own."""
    rng = np.random.default_rng(0)
    tail = rng.integers(0, 40_000, 85_000)
    head = (tail + rng.integers(1, 400, tail.size)) % 40_000
    edges = list(dict.fromkeys(zip(tail.tolist(), head.tolist(), strict=True)))
    file = folder / "times.csv"
    with file.open("w") as out:
        out.write("tail,head,weight,snapshot\n")
        for k in range(96):
            when = f"2024-05-{1 + k // 24:02}T{k % 24:02}:00"
            times = rng.uniform(3, 400, len(edges)).round(3).tolist()
            out.writelines(f"{u},{v},{w},{when}\n" for (u, v), w in zip(edges, times, strict=True))
    size = file.stat().st_size / 1e6
    print(f"a CSV file of {size:.0f} MB, {len(edges):,} edges in 96 snapshots:")
    result: dict[str, dict] = {"file": {"megabytes": round(size), "edges": len(edges), "snapshots": 96}}
    command = [sys.executable, "-c", _TABLE, str(file)]
    found = result["read"] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(f"  {found['cpu']:.1f} processor seconds, {found['s']:.1f} s")
    return result


def measure_storage(folder: Path) -> dict[str, dict]:
    """Return what the processes that save and load say about their memory."""

    def child(code: str, *arguments: str) -> dict:
        command = [sys.executable, "-c", code, str(folder / "set"), *arguments]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    saved = child(_SAVE)
    size = saved["weights"]
    print(f"1,000,000 vertices, 50 snapshots of float32, {size / 1e6:.0f} MB of weights; most memory ever held:")
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


def scenarios() -> Iterator[tuple[str, rs.datasets.Network, np.ndarray, np.ndarray]]:
    """Return (name, map, sources, goals): a random map of 512 x 512 cells, and those of MovingAI where they are."""
    rng = np.random.default_rng(0)
    grid = rs.Graph.grid(512, 512, neighbors=8)
    blocked = rng.random((512, 512)) < 0.25
    weights = rs.InstanceSet.from_obstacles(grid, blocked, 0, 1, corner_cutting=False, infeasible="keep").weights
    sources, goals = rng.permutation(np.flatnonzero(~blocked))[:1000].reshape(2, 500)
    yield "random map, 512 x 512", rs.datasets.Network(grid, weights), sources, goals
    folder = Path(os.environ.get("RHOSTAR_DATA", "")) / "movingai"
    for map_file, scenario_file in (("den520d.map", "den520d.map.scen"), ("den312d.map", "den312d-random-1.scen")):
        if not (folder / map_file).is_file() or not (folder / scenario_file).is_file():
            print(f"{map_file}: no data; set RHOSTAR_DATA to a folder that has movingai/{map_file}")
            continue
        scenario = rs.datasets.read_scenario(folder / scenario_file)
        yield map_file, rs.datasets.read_map(folder / map_file), scenario.sources, scenario.goals


def measure_scenarios() -> dict[str, dict]:
    """Return the seconds to make each set and to solve it with rho = 0."""
    print("scenario files: seconds to make the set, to solve it with rho = 0, and their ratio (medians):")
    result = {}
    for name, network, sources, goals in scenarios():
        rho = np.zeros(network.graph.n)
        made, solved = [], []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            instances = network.instances(sources, goals, infeasible="drop")
            middle = time.perf_counter()
            rs.solve_many(instances, rho)
            made.append(middle - start)
            solved.append(time.perf_counter() - middle)
        ratio = statistics.median(a / b for a, b in zip(made, solved, strict=True))
        result[name] = {
            "queries": len(instances),
            "goals": int(np.unique(goals).size),
            "make": statistics.median(made),
            "solve": statistics.median(solved),
            "ratio": ratio,
        }
        row = result[name]
        print(f"  {name:24}{row['queries']:5} queries {row['make']:7.3f} s {row['solve']:7.3f} s  {ratio:.3f}")
    return result


def main() -> None:
    parts = {
        "text": measure_text,
        "table": measure_table,
        "storage": measure_storage,
        "scenarios": lambda _: measure_scenarios(),
    }
    chosen = sys.argv[1:] or list(parts)
    unknown = [part for part in chosen if part not in parts]
    if unknown:
        raise SystemExit(f"unknown part {unknown[0]!r}; there are {', '.join(parts)}")
    file = HERE / "results" / "reading.json"
    result = json.loads(file.read_text()) if file.exists() else {}
    result["machine"] = {"cores": os.cpu_count(), "python": platform.python_version()}
    with tempfile.TemporaryDirectory() as folder:
        for part in chosen:
            result[part] = parts[part](Path(folder))
    file.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
