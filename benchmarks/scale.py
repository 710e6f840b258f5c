"""How time and memory grow: with the number of vertices, of instances and of workers, and against scipy.

Every measurement runs in a process of its own, so that memory is its own. Memory is what the process allocates; pages
of mapped files are not counted, because the system takes them back when it needs them. The table of docs/larger.md and
benchmarks/results/scale.json are made from it. On paper, the last lines say what a continent and a cluster would take.

    make bench-scale
    python benchmarks/scale.py --large   # 20 GB of snapshots in a process that may allocate 2 GB
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import rhostar as rs

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- made by make bench-scale -->", "<!-- end -->"
BEGIN_LARGE = "<!-- made by benchmarks/scale.py --large -->"
VERTICES = (1_000, 10_000, 100_000, 1_000_000, 4_000_000)
INSTANCES = (100, 1_000, 10_000)


def megabytes() -> float:
    """Return the memory that this process has allocated and touched."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


class Peak:
    """The most memory allocated inside a ``with`` block, beyond what there was before."""

    def __enter__(self) -> Peak:
        self.before, self.most, self.over = megabytes(), 0.0, threading.Event()
        self.watch = threading.Thread(target=self._look)
        self.watch.start()
        return self

    def _look(self) -> None:
        while not self.over.wait(0.005):
            self.most = max(self.most, megabytes() - self.before)

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.watch.join()


def grid(n: int) -> rs.Graph:
    side = round(n**0.5)
    return rs.Graph.grid(side, side, neighbors=8)


def timed(function: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def one_size(n: int) -> dict[str, float]:
    """Build a grid, and search it from end to end."""
    rng = np.random.default_rng(0)
    with Peak() as building:
        build, graph = timed(lambda: grid(n))
    weights = rng.uniform(1, 2, graph.m)
    with Peak() as searching:
        reverse = min(timed(lambda: rs.distances_to(graph, weights, graph.n - 1))[0] for _ in range(3))
    return {
        "n": graph.n,
        "m": graph.m,
        "build_s": build,
        "build_mb": building.most,
        "reverse_s": reverse,
        "reverse_mb": searching.most,
    }


def against_scipy(n: int) -> dict[str, float]:
    """Compare the reverse search with scipy's Dijkstra on the same arrays; both take turns."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = grid(n)
    weights = np.random.default_rng(0).uniform(1, 2, graph.m)
    turned = graph.reverse()
    matrix = csr_array((weights[turned.edges], turned.graph.head, turned.graph.first_out), shape=(graph.n, graph.n))
    ratios, ours = [], []
    for _ in range(5):
        mine, found = timed(lambda: rs.distances_to(graph, weights, graph.n - 1))
        theirs, expected = timed(lambda: dijkstra(matrix, indices=graph.n - 1))
        assert np.allclose(found, expected)
        ratios.append(mine / theirs)
        ours.append(mine)
    return {"n": graph.n, "ratio": float(np.median(ratios)), "reverse_s": float(np.median(ours))}


def mean_distance(n: int, snapshots: int) -> dict[str, float]:
    """Fit MeanDistance on a mapped set, and compare with as many reverse searches."""
    with tempfile.TemporaryDirectory() as folder:
        graph = grid(n)
        mapped = np.lib.format.open_memmap(f"{folder}/w.npy", mode="w+", dtype=np.float64, shape=(snapshots, graph.m))
        rng = np.random.default_rng(0)
        for row in mapped:
            row[:] = rng.uniform(1, 2, graph.m)
        del mapped
        weights = np.load(f"{folder}/w.npy", mmap_mode="r")
        instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
        with Peak() as peak:  # apart from the timing, because looking at the memory takes time
            rs.learners.MeanDistance(n_jobs=1).fit(instances)
        single = sum(timed(lambda k=k: rs.distances_to(graph, weights[k], graph.n - 1))[0] for k in range(snapshots))
        fit, _ = timed(lambda: rs.learners.MeanDistance(n_jobs=1).fit(instances))
        return {
            "n": graph.n,
            "snapshots": snapshots,
            "fit_s": fit,
            "searches_s": single,
            "ratio": fit / single,
            "peak_mb": peak.most,
            "snapshot_mb": graph.m * 8 / 2**20,
        }


@contextlib.contextmanager
def cluster(backend: str, workers: int) -> Iterator[None]:
    """Start worker processes of Dask or Ray on this machine."""
    if backend == "dask":
        from distributed import Client, LocalCluster

        one_each = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None, "processes": True}
        with LocalCluster(**one_each) as local, Client(local):
            yield
    else:
        import ray
        from ray.util.joblib import register_ray

        quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
        ray.init(num_cpus=workers, object_store_memory=200 << 20, **quiet)
        register_ray()
        yield
        ray.shutdown()


def labels(count: int, workers: int, backend: str) -> dict[str, float]:
    """Label a mapped set of 10,000 vertices on some workers."""
    import joblib

    with tempfile.TemporaryDirectory() as folder:
        graph = grid(10_000)
        rows = min(count, 500)
        weights = np.random.default_rng(0).uniform(1, 2, (rows, graph.m)).astype(np.float32)
        sources = np.random.default_rng(1).integers(0, graph.n - 1, count)
        whole = rs.InstanceSet(graph, weights, sources, goal=graph.n - 1, rows=np.arange(count) % rows)
        whole.save(f"{folder}/set")
        mapped = rs.InstanceSet.load(f"{folder}/set")
        zeros = np.zeros(graph.n)
        if backend == "threads":
            with joblib.parallel_config(n_jobs=workers):
                took, runs = timed(lambda: rs.solve_many(mapped, zeros))
            return {"instances": count, "workers": workers, "seconds": took, "chunk_ms": 0.0, "cost": runs.cost.sum()}
        with cluster(backend, workers), joblib.parallel_config(backend=backend):
            few = mapped[: 4 * workers]
            rs.solve_many(few, zeros)  # workers open the set
            short = min(timed(lambda: rs.solve_many(few, zeros))[0] for _ in range(5))
            alone = timed(lambda: rs.solve_many(few, zeros, n_jobs=1))[0]
            took, runs = timed(lambda: rs.solve_many(mapped, zeros))
        chunk = max(0.0, short - alone / workers) / (4 * workers)
        return {
            "instances": count,
            "workers": workers,
            "seconds": took,
            "chunk_ms": chunk * 1e3,
            "cost": float(runs.cost.sum()),
        }


def allocated() -> int:
    """Return the bytes that this process may write to without a file: what RLIMIT_DATA limits."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) << 10


def beyond_memory(size_mb: int, limit_mb: int) -> dict[str, float]:
    """Save, label, fit, evaluate, certify and describe more snapshots than the process may allocate memory for.

    Returns the seconds of each step, and the most memory that was allocated. The limit comes on top of what Python and
    the libraries take. Pages of mapped files are not limited; the system takes them back when it needs them.
    """
    from rhostar.cli.main import main as command

    graph = grid(10_000)
    learners, limit = rs.learners, rs.utilities.Suboptimality(9.0)
    found: dict[str, float] = {"snapshots_mb": size_mb, "limit_mb": limit_mb}

    def steps(whole: rs.InstanceSet, rows: Any, folder: str) -> dict[str, Any]:
        rho = np.zeros(graph.n)
        some = {"rounds": [(1.0, 0.0)], "iterations": 4, "random_state": 0}
        return {
            "save": lambda: whole.save(folder),
            "load": lambda: rows.append(rs.InstanceSet.load(folder)),
            "MeanDistance": lambda: learners.MeanDistance().fit(rows[0]),
            "MeanWeights": lambda: learners.MeanWeights().fit(rows[0]),
            "LowerEnvelope": lambda: learners.LowerEnvelope().fit(rows[0]),
            "Potentials": lambda: learners.Potentials().fit(rows[0]),
            "SelfImitatedRanking": lambda: learners.SelfImitatedRanking(**some).fit(rows[0]),
            "BumpSearch": lambda: learners.BumpSearch(max_bumps=4, random_state=0).fit(rows[0]),
            "evaluate": lambda: rs.evaluate(rho, rows[0], [limit]),
            "certify": lambda: rs.certify(rho, rows[0], limit, lower=1.0),
            "info": lambda: command(["info", folder]),
        }

    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder, contextlib.redirect_stdout(io.StringIO()):
        tiny = rs.InstanceSet(graph, np.ones((4, graph.m)), [0, 1, 2, 3], goal=graph.n - 1)
        for step in steps(tiny, [], f"{folder}/tiny").values():
            step()  # everything is imported
        most = allocated() + (limit_mb << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        count = (size_mb << 20) // (8 * graph.m)
        mapped = np.lib.format.open_memmap(f"{folder}/w.npy", mode="w+", dtype=np.float64, shape=(count, graph.m))
        rng = np.random.default_rng(0)
        with Peak() as peak:
            for row in mapped:
                np.add(rng.random(out=row), 1.0, out=row)
            mapped = np.load(f"{folder}/w.npy", mmap_mode="r")
            with contextlib.suppress(MemoryError):
                np.array(mapped)
                raise SystemExit("the limit does not hold")
            sources = rng.integers(graph.n // 2, graph.n - 1, count)
            whole = rs.InstanceSet(graph, mapped, sources, goal=graph.n - 1)
            for name, step in steps(whole, [], f"{folder}/set").items():
                found[f"{name}_s"], _ = timed(step)
                if name == "save":
                    del mapped, whole, row
                    Path(folder, "w.npy").unlink()
                print(name, round(found[f"{name}_s"], 1), file=sys.stderr, flush=True)
    found["peak_mb"] = peak.most
    return found


def large(size_mb: int) -> None:
    """Measure `beyond_memory` with as many snapshots as the disk has room for, and keep the result."""
    free = shutil.disk_usage(tempfile.gettempdir()).free >> 20
    fits = min(size_mb, int(free / 2.5))  # the set is there twice while it is saved
    if fits < size_mb:
        print(f"the disk has room for {fits} MB of snapshots instead of {size_mb}")
    result = apart("beyond_memory", fits, fits // 10)
    (ROOT / "benchmarks/results/larger_than_memory.json").write_text(json.dumps(result, indent=1) + "\n")
    page = ROOT / "docs/larger.md"
    head, rest = page.read_text().split(BEGIN_LARGE)
    steps = ", ".join(f"{name[:-2]} {value:.0f} s" for name, value in result.items() if name.endswith("_s"))
    words = (
        f"{result['snapshots_mb'] / 1000:.1f} GB of snapshots in a process that may allocate "
        f"{result['limit_mb'] / 1000:.1f} GB: {steps}. It allocated at most {result['peak_mb']:.0f} MB."
    )
    page.write_text(f"{head}{BEGIN_LARGE}\n{words}\n{END}{rest.split(END, 1)[1]}")


def apart(name: str, *arguments: object) -> dict[str, float]:
    """Run a measurement in a new process."""
    command = [sys.executable, __file__, "--inside", name, *map(str, arguments)]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
    print(name, *arguments, {key: round(value, 3) for key, value in found.items()}, flush=True)
    return found


def on_paper(result: dict[str, Any]) -> list[str]:
    """Say what a continent and a cluster would take, by the slopes of the two largest sizes."""
    small, large = result["sizes"][-2:]
    power = np.log(large["reverse_s"] / small["reverse_s"]) / np.log(large["n"] / small["n"])
    times = 24e6 / large["n"]
    reverse = large["reverse_s"] * times ** max(1.0, power)
    held = (large["build_mb"] / large["n"]) * 24e6 / 1024 * (24e6 * 4 + 58e6 * 12) / (24e6 * 4 + 24e6 * 8 * 12)
    two = next((found for found in result["labels"] if found["chunk_ms"]), result["labels"][-1])
    chunks = 64 * 8 * 4
    hours = 1e6 * reverse / (64 * 8) / 3600
    overhead = chunks * two["chunk_ms"] / 1e3
    return [
        f"24 million vertices with 58 million edges: a reverse search takes about {reverse:.0f} s (time grows as "
        f"n^{power:.2f} between the last two sizes), and building the graph needs about {held:.1f} GB.",
        f"Labels of 10⁶ instances of that size on 64 machines with 8 cores each: about {hours:.0f} hours of searches; "
        f"{chunks} chunks cost {overhead:.0f} s at the scheduler.",
    ]


def table(result: dict[str, Any]) -> str:
    lines = ["| vertices | build | memory | reverse search | memory |", "|--:|--:|--:|--:|--:|"]
    for size in result["sizes"]:
        lines.append(
            f"| {size['n']:,} | {size['build_s']:.3g} s | {size['build_mb']:.0f} MB | {size['reverse_s']:.3g} s "
            f"| {size['reverse_mb']:.0f} MB |"
        )
    lines += ["", "| instances of 10⁴ vertices | where | one worker | two workers | ratio | per chunk |"]
    lines += ["|--:|---|--:|--:|--:|--:|"]
    for one, two in zip(result["labels"][::2], result["labels"][1::2], strict=True):
        overhead = f"{two['chunk_ms']:.1f} ms" if two["chunk_ms"] else ""
        ratio = one["seconds"] / two["seconds"]
        lines.append(
            f"| {one['instances']:,} | {one['where']} | {one['seconds']:.2f} s | {two['seconds']:.2f} s | {ratio:.2f} "
            f"| {overhead} |"
        )
    scipy, fit = result["scipy"], result["fit"]
    lines += [
        "",
        f"A reverse search on {scipy['n']:,} vertices takes {scipy['ratio']:.2f} of scipy's time on the same arrays. "
        f"`MeanDistance` on {fit['snapshots']} mapped snapshots of {fit['n']:,} vertices takes {fit['ratio']:.2f} "
        f"times as long as {fit['snapshots']} single searches and {fit['peak_mb']:.0f} MB; one snapshot has "
        f"{fit['snapshot_mb']:.0f} MB.",
        "",
        f"Measured on {result['cores']} cores with a load of {result['load']:.1f} from other work.",
        "On paper, from these curves:",
        "",
        *(f"- {line}" for line in on_paper(result)),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inside", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="small sizes only, and nothing is written")
    parser.add_argument(
        "--large",
        nargs="?",
        type=int,
        const=20_000,
        metavar="MB",
        help="only a set of so many megabytes (20000) in a process that may allocate a tenth of them",
    )
    options = parser.parse_args()
    if options.inside:
        name, *arguments = options.inside
        print(json.dumps(globals()[name](*(int(word) if word.isdigit() else word for word in arguments))))
        return
    if options.large:
        large(options.large)
        return
    big = 10_000 if options.quick else 1_000_000
    result: dict[str, Any] = {"cores": os.cpu_count(), "load": os.getloadavg()[1]}
    result["sizes"] = [apart("one_size", n) for n in (VERTICES[:3] if options.quick else VERTICES)]
    result["scipy"] = apart("against_scipy", big)
    result["fit"] = apart("mean_distance", big, 50)
    result["labels"] = []
    clusters = [name for name, module in (("dask", "distributed"), ("ray", "ray")) if find_spec(module)]
    cases = [*((count, "threads") for count in INSTANCES), *((2000, name) for name in clusters)]
    for count, where in cases[: 1 if options.quick else None]:
        for workers in (1, 2):
            result["labels"].append(apart("labels", count, workers, where) | {"where": where.capitalize()})
    assert all(
        one["cost"] == two["cost"] for one, two in zip(result["labels"][::2], result["labels"][1::2], strict=True)
    )
    print(table(result))
    if not options.quick:
        (ROOT / "benchmarks/results/scale.json").write_text(json.dumps(result, indent=1) + "\n")
        page = ROOT / "docs/larger.md"
        head, rest = page.read_text().split(BEGIN)
        page.write_text(f"{head}{BEGIN}\n{table(result)}{END}{rest.split(END, 1)[1]}")


if __name__ == "__main__":
    main()
