"""Certificates on METR-LA: how wide bounds for every rho at once are with N instances, and what certify costs.

One goal, speeds clipped to 10 to 70 miles an hour (which gives the weight bounds), independent draws of a snapshot and
a start. H is the largest optimum over all snapshots and starts. Writes a table and a plot to benchmarks/results.

    make bench-certificates
"""

from __future__ import annotations

import json
import os
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rhostar as rs
from rhostar import bounds
from rhostar.bounds import _capacity as capacity
from rhostar.certificates._paths import optimal_paths

RESULTS = Path(__file__).parent / "results"
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
DELTA = 0.05


def network() -> Any:
    folder = os.environ.get("RHOSTAR_DATA")
    if not folder:
        raise SystemExit("RHOSTAR_DATA names no folder with real data")
    found = rs.datasets.read_metr_la(Path(folder) / "metr_la" / "metr_la_week.npz", speeds=(10.0, 70.0))
    return replace(found, weights=np.ascontiguousarray(found.weights))


def widths(of: Any, goal: int, limit: float, optimum: np.ndarray, sizes: Any = SIZES) -> list[dict[str, Any]]:
    """Return for each N what every bound adds to the empirical mean; each gets all of delta."""
    graph, (low, high) = of.graph, of.edge_bounds
    rng = np.random.default_rng(1)
    others = np.delete(np.arange(graph.n), goal)
    rows = []
    for N in sizes:
        drawn = rs.InstanceSet(graph, of.weights, rng.choice(others, N), goal, rows=rng.integers(0, len(of.weights), N))
        paths = optimal_paths(drawn)
        complexity = bounds.edge_local_complexity(paths.edges, paths.weights, high, N, limit)
        bits = graph.n * 64 * np.log(2)
        paper = capacity.astar_paper(graph.n).pseudo_dimension
        row: dict[str, Any] = {
            "N": N,
            "H3 A (paper)": bounds.dimension_width(paper, N, limit, delta=DELTA),
            "U1": bounds.inconsistency_width(graph.n, N, limit, delta=DELTA),
            "H1 Q64": bounds.finite_width(bits, N, limit, delta=DELTA, side="upper"),
            "H1 Q, 16 levels": bounds.finite_width((graph.n - 1) * np.log(16), N, limit, delta=DELTA, side="upper"),
            "U2": 2 * complexity + 2 * limit * float(np.sqrt(np.log(1 / DELTA) / (2 * N))),
            "U2, planned": bounds.edge_local_width(graph.n, high - low, N, limit, delta=DELTA),
            "H4 Hoeffding, one rho": limit * float(np.sqrt(np.log(1 / DELTA) / (2 * N))),
        }
        row["U2 / mean optimum"] = row["U2"] / float(optimum.mean())
        row["2R / mean optimum"] = 2 * complexity / float(optimum.mean())
        rows.append(row)
    return rows


def optima(of: Any, goal: int) -> np.ndarray:
    """Return the optimum of every snapshot and start."""
    return np.delete([rs.distances_to(of.graph, row, goal) for row in of.weights], goal, axis=1)


def progressive_validation(of: Any, goal: int, limit: float, mean: float, seeds: int = 20) -> list[dict[str, float]]:
    """Return what progressive validation promises after learning mean distances from 300 draws: medians over seeds.

    Promises are shares of the mean optimum; no answer may exceed the optimum by more than `excess` seconds.
    """
    others = of.sample(1_000, goal=goal, seed=10_000)
    rows = []
    for excess in (50.0, 100.0, 200.0, limit):
        found = []
        certain = {"weight_bounds": of.edge_bounds, "excess": excess} if excess < limit else {}
        for seed in range(seeds):
            result = rs.certificates.progressive(
                rs.learners.MeanDistance(),
                of.sample(300, goal=goal, seed=seed),
                utility=rs.utilities.Suboptimality(limit=limit),
                groups=False,
                delta=DELTA,
                **certain,
            )
            expanded = np.mean([rs.solve_many(others, table).expanded.mean() for table in result.tables_])
            found.append((result.certificate.value / mean, result.certificate.observed / mean, expanded))
        promise, measured, expanded = np.median(found, axis=0).tolist()
        rows.append({"excess": excess, "promise": promise, "measured": measured, "expansions": expanded})
    return rows


def whole_table(of: Any, goal: int, limit: float) -> str:
    """Return what certify prints for 10,000 draws to learn from and 2,000 more."""
    rng = np.random.default_rng(2)
    others = np.delete(np.arange(of.graph.n), goal)
    N = 12_000
    drawn = rs.InstanceSet(of.graph, of.weights, rng.choice(others, N), goal, rows=rng.integers(0, len(of.weights), N))
    train, holdout = drawn[:10_000], drawn[10_000:]
    learner = rs.learners.MeanDistance().fit(train)
    return str(
        rs.certify(
            learner,
            train=train,
            holdout=holdout,
            algorithm="astar",
            utility=rs.utilities.Suboptimality(limit=limit),
            weight_bounds=of.edge_bounds,
            delta=DELTA,
        )
    )


def cost_of_certify(N: int = 10_000, rounds: int = 5) -> dict[str, float]:
    """Return the time of certify, and of the searches it cannot avoid, on 1,000 vertices."""
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(25, 40)
    weights = rng.uniform(1, 2, size=(N, graph.m))
    instances = rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, N), goal=graph.n - 1)
    rho = 1.2 * rs.distances_to(graph, weights.mean(axis=0), graph.n - 1)
    utility = rs.utilities.Suboptimality(limit=50.0)
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        rs.solve_many(instances, rho)
        solved = time.perf_counter()
        for i in range(N):
            rs.distances_to(graph, weights[i], graph.n - 1)
        labelled = time.perf_counter()
        rs.certify(rho, train=instances, algorithm="astar", utility=utility, weight_bounds=(1.0, 2.0))
        end = time.perf_counter()
        found.append((solved - start, labelled - solved, end - labelled))
    solve, label, certify = (statistics.median(column) for column in zip(*found, strict=True))
    ratio = statistics.median(c / (s + d) for s, d, c in found)
    return {"solve_many": solve, "reverse Dijkstra": label, "certify": certify, "ratio": ratio}


def plot(rows: list[dict[str, Any]], limit: float, mean: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    N = [row["N"] for row in rows]
    for name, style in (
        ("H3 A (paper)", "-"),
        ("U1", "-"),
        ("H1 Q64", "-"),
        ("H1 Q, 16 levels", "-"),
        ("U2, planned", ":"),
        ("U2", "-"),
        ("H4 Hoeffding, one rho", "--"),
    ):
        values = [row[name] if np.isfinite(row[name]) else np.nan for row in rows]
        label = name if np.isfinite(values).any() else f"{name}: infinite at every N here"
        axes.plot(N, values, style, marker="o", markersize=4, label=label)
    axes.axhline(limit, color="0.6", linewidth=1)
    note = {"color": "0.3", "fontsize": 9, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
    axes.text(1_000, limit, "H: vacuous above", va="center", ha="center", **note)
    axes.axhline(0.3 * mean, color="0.6", linewidth=1, linestyle="--")
    axes.text(1_500, 0.3 * mean, "0.3 of the mean optimum", va="center", ha="center", **note)
    axes.set(xscale="log", yscale="log", xlabel="N, independent draws", ylabel="width in seconds of travel")
    axes.set_title("METR-LA, one goal: what each bound adds to the empirical mean")
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    axes.set_ylim(5, 1e5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(RESULTS / "certificates.png", dpi=120)


def main() -> None:
    of = network()
    goal = rs.datasets.choose_goal(of.graph)
    optimum = optima(of, goal)
    limit, mean = float(optimum.max()), float(optimum.mean())
    rows = widths(of, goal, limit, optimum)
    elsewhere = []
    for other in np.random.default_rng(3).choice(of.graph.n, 20, replace=False).tolist():
        there = optima(of, other)
        (row,) = widths(of, other, float(there.max()), there, (10_000,))
        elsewhere.append(row["U2 / mean optimum"])
    times = cost_of_certify()
    table = whole_table(of, goal, limit)
    progressive = progressive_validation(of, goal, limit, mean)
    names = ["N", "H3 A (paper)", "U1", "H1 Q64", "H1 Q, 16 levels", "U2, planned", "U2", "U2 / mean optimum"]
    lines = [
        "# Certificates on METR-LA",
        "",
        f"{of.graph.n} vertices, {of.graph.m} edges, {len(of.weights)} snapshots, goal {goal}; mean optimum {mean:.1f}"
        f" s, H = largest optimum {limit:.1f} s; δ = {DELTA}.",
        "What each bound adds to the empirical mean, in seconds, for every ρ at once; above H (inf included) a bound",
        "is vacuous. Made by `make bench-certificates`.",
        "",
        "| " + " | ".join(names) + " |",
        "|" + "---:|" * len(names),
    ]
    for row in rows:
        cells = [f"{row['N']:,}", *(f"{row[name]:.1f}" for name in names[1:-1]), f"{row['U2 / mean optimum']:.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        f"U2 with 10,000 draws at 20 other random goals, as a share of the mean optimum there: from "
        f"{min(elsewhere):.3f} to {max(elsewhere):.3f}, median {statistics.median(elsewhere):.3f}.",
    ]
    lines += [
        "",
        "Progressive validation with 300 draws, ten batches, mean distances; medians over 20 seeds. Promise and",
        "measured mean are shares of the mean optimum, for a table drawn among the nine that were judged. Each table",
        "is lowered so that no answer is more than `excess` seconds above the optimum; in the last row the range is H.",
        "",
        "| excess | promise | measured | expansions |",
        "|---:|---:|---:|---:|",
    ]
    for row in progressive:
        lines.append(
            f"| {row['excess']:.0f} | {row['promise']:.4f} | {row['measured']:.4f} | {row['expansions']:.1f} |"
        )
    lines += ["", "![widths by N](certificates.png)", ""]
    lines += [
        "`certify` after learning mean distances from 10,000 draws, with 2,000 other draws as holdout:",
        "",
        "```",
        table,
        "```",
        "",
    ]
    lines += [
        "`certify` on 10,000 instances of 1,000 vertices, one thread, medians of 5 interleaved rounds: "
        f"{times['certify']:.2f} s. One `solve_many` takes {times['solve_many']:.2f} s and a reverse Dijkstra on each "
        f"instance {times['reverse Dijkstra']:.2f} s: `certify` takes {times['ratio']:.2f} times their sum.",
        "",
    ]
    (RESULTS / "certificates.md").write_text("\n".join(lines))
    record = {"mean optimum": mean, "H": limit, "widths": rows, "20 other goals": elsewhere, "seconds": times}
    record["progressive validation"] = progressive
    (RESULTS / "certificates.json").write_text(json.dumps(record, indent=1, default=float) + "\n")
    plot(rows, limit, mean)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
