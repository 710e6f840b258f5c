"""Time and memory of fits against the number of vertices and of snapshots, for every learner.

Square grids with weights between 1 and 3, starts anywhere, one goal; one thread. Each fit runs in a process of its own,
which reports its processor seconds and by how much its memory grew. Run by ``make bench-learners``.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

import rhostar as rs

SIDES, SNAPSHOTS = (20, 40, 80, 160), 50
COUNTS, SIDE = (25, 100, 400), 40
LARGE_SIDE, LARGE_COUNT = 200, 200


def learners() -> dict[str, rs.learners.Learner]:
    """Return what is measured, each with settings that make one fit one unit of work."""
    return {
        "MeanDistance": rs.learners.MeanDistance(),
        "MeanDistance, median": rs.learners.MeanDistance("median"),
        "MeanWeights": rs.learners.MeanWeights(),
        "LowerEnvelope": rs.learners.LowerEnvelope(),
        "Landmarks, 16": rs.learners.Landmarks(16, random_state=0),
        "InconsistencyLP, 12 bins": rs.learners.InconsistencyLP(1.5),
        "Portfolio, 4 tables": rs.learners.Portfolio(n_clusters=4),
        "ranking, 20 iterations": rs.learners.SelfImitatedRanking(rounds=[(0.4, 1.0)], iterations=20, random_state=0),
        "bumps, 100 tried": rs.learners.BumpSearch(max_bumps=100, random_state=0),
    }


def grid(side: int, count: int) -> rs.InstanceSet:
    """Return the instances of a size."""
    graph = rs.Graph.grid(side, side)
    rng = np.random.default_rng(side)
    weights = rng.uniform(1, 3, (count, graph.m))
    return rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, count), graph.n - 1)


def cost(learner: rs.learners.Learner, instances: rs.InstanceSet) -> dict[str, float]:
    """Return processor seconds and megabytes of a fit, measured in a child process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_fit, args=(learner, instances, sender))
    child.start()
    found = receiver.recv()
    child.join()
    return found


def _fit(learner: rs.learners.Learner, instances: rs.InstanceSet, sender) -> None:
    clone(learner).fit(grid(6, 20))  # imports what it needs
    with open("/proc/self/statm") as statm:
        before = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    began = time.process_time()
    learner.fit(instances)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    found = {"seconds": seconds, "megabytes": max(peak - before, 0.0)}
    for name in ("gap_", "objective_"):
        if hasattr(learner, name):
            found[name] = float(getattr(learner, name))
    sender.send(found)


def measure(log=print) -> dict:
    """Return all figures."""
    result: dict = {"vertices": [], "snapshots": []}
    for side in SIDES:
        instances = grid(side, SNAPSHOTS)
        fits = {name: cost(learner, instances) for name, learner in learners().items()}
        result["vertices"].append({"n": side * side, "N": SNAPSHOTS, "fits": fits})
        log(f"{side * side} vertices: done")
    for count in COUNTS:
        instances = grid(SIDE, count)
        fits = {name: cost(learner, instances) for name, learner in learners().items()}
        result["snapshots"].append({"n": SIDE * SIDE, "N": count, "fits": fits})
        log(f"{count} snapshots: done")
    large = cost(rs.learners.InconsistencyLP(1.5), grid(LARGE_SIDE, LARGE_COUNT))
    result["large program"] = {"n": LARGE_SIDE**2, "N": LARGE_COUNT} | large
    log(f"large program: {large}")
    return result


def markdown(result: dict) -> str:
    """Return the tables."""
    lines = ["# Time and memory of fits", ""]
    lines += [
        "Square grids, weights between 1 and 3, one thread; processor seconds, and megabytes that a fit adds.",
        "",
    ]
    for key, title in (("vertices", "More vertices"), ("snapshots", "More snapshots")):
        rows = result[key]
        lines += [f"## {title}", ""]
        heads = [f"{row['n']:,} vertices, {row['N']} snapshots" for row in rows]
        lines += [f"| | {' | '.join(heads)} | growth |", "|---|" + "--:|" * (len(heads) + 1)]
        for name in rows[0]["fits"]:
            fits = [row["fits"][name] for row in rows]
            cells = [f"{fit['seconds']:.2f} s, {fit['megabytes']:.0f} MB" for fit in fits]
            ends = rows[-1]["n"] * rows[-1]["N"] / (rows[-2]["n"] * rows[-2]["N"])
            power = np.log(fits[-1]["seconds"] / fits[-2]["seconds"]) / np.log(ends)
            lines.append(f"| {name} | {' | '.join(cells)} | {power:.2f} |")
        lines += ["", "*Growth* is the power of the size with which the seconds grow between the last two columns.", ""]
    large = result["large program"]
    lines += [
        f"`InconsistencyLP` with {large['n']:,} vertices and {large['N']} snapshots: {large['seconds']:.0f} s, "
        f"{large['megabytes']:,.0f} MB; its objective is {large['objective_']:.2f}, and at most "
        f"{large['gap_'] / large['objective_']:.2%} below the optimum.",
    ]
    return "\n".join(lines) + "\n"


def plot(result: dict, file: Path) -> None:
    """Draw seconds against vertices and against snapshots."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for axis, key, letter in ((axes[0], "vertices", "n"), (axes[1], "snapshots", "N")):
        rows = result[key]
        for k, name in enumerate(rows[0]["fits"]):
            seconds = [row["fits"][name]["seconds"] for row in rows]
            axis.plot([row[letter] for row in rows], seconds, "o-", color=f"C{k}", label=name, markersize=4)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("vertices" if key == "vertices" else "snapshots")
        axis.set_ylabel("processor seconds of a fit")
        axis.spines[["top", "right"]].set_visible(False)
    axes[1].legend(frameon=False, fontsize=7)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def run(results_dir: str | os.PathLike[str], log=print) -> dict:
    """Measure everything and write JSON, Markdown and a plot; return the figures."""
    folder = Path(results_dir)
    folder.mkdir(parents=True, exist_ok=True)
    result = measure(log)
    (folder / "learners_sizes.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "learners_sizes.md").write_text(markdown(result))
    plot(result, folder / "learners_sizes.png")
    return result


if __name__ == "__main__":
    run(Path(__file__).parent / "results")
