"""Certificates: what is guaranteed on five tasks, how wide bounds for every rho at once are, and what certify costs.

METR-LA with one goal has speeds clipped to 10 to 70 miles an hour (which gives the weight bounds) and independent draws
of a snapshot and a start. H is the largest optimum over all snapshots and starts. Writes a table and a plot to
benchmarks/results.

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
from rhostar.certificates._measure import optimal_paths

RESULTS = Path(__file__).parent / "results"
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
DELTA = 0.05


def network() -> Any:
    folder = os.environ.get("RHOSTAR_DATA")
    if not folder:
        raise SystemExit("RHOSTAR_DATA names no folder with real data")
    found = rs.datasets.read_metr_la(Path(folder) / "metr_la" / "metr_la_week.npz", speeds=(10.0, 70.0))
    return replace(found, weights=np.ascontiguousarray(found.weights))


def pool(of: Any, goals: Any, snapshots: Any = None) -> rs.InstanceSet:
    """Return every pair of a snapshot and a start for each goal: what instances are drawn from."""
    parts = []
    rows = np.arange(len(of.weights)) if snapshots is None else np.flatnonzero(snapshots)
    for goal in np.atleast_1d(goals).tolist():
        starts = np.delete(np.arange(of.graph.n), goal)
        parts.append((np.repeat(rows, starts.size), np.tile(starts, rows.size), np.full(rows.size * starts.size, goal)))
    row, start, goal = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rs.InstanceSet(of.graph, of.weights, start, goal, rows=row)


# ---------------------------------------------------------------- what is guaranteed


def readme(seed: int) -> rs.certificates.CertificateTable:
    """Return the example of the README, with other numbers."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(20, 20, neighbors=8)
    weights = rng.uniform(1, 2, size=(1500, graph.m))
    drawn = rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, size=1500), goal=graph.n - 1)
    train, holdout = drawn.split(0.5, seed=seed)
    learner = rs.learners.MeanDistance().fit(train)
    return rs.certify(learner, holdout, rs.utilities.Suboptimality(5.0), delta=DELTA)


def safe(seed: int) -> rs.certificates.CertificateTable:
    """Return section 4 of the page on safety, with another draw."""
    town = rs.datasets.city(300, seed=2)
    train, holdout = town.draw(2000, seed=seed).split(0.5, seed=seed)
    learner = rs.learners.MeanDistance().fit(train)
    utility = rs.utilities.Suboptimality(5.0)
    return rs.certify(learner, holdout, utility, lower=town.edge_bounds[0], delta=DELTA)


def traffic(
    of: Any, everything: rs.InstanceSet, limit: float, seed: int, **options: Any
) -> rs.certificates.CertificateTable:
    """Return the guarantee of 2,000 draws on METR-LA for values learned from 10,000 others."""
    goals = np.unique(everything.goals)
    learner: Any = rs.learners.MeanDistance()
    learner = learner if goals.size == 1 else rs.learners.PerGoal(learner)
    fitted = learner.fit(everything.draw(10_000, seed=1000 + seed))
    holdout = everything.draw(2000, seed=seed)
    return rs.certify(fitted, holdout, rs.utilities.Suboptimality(limit), delta=DELTA, **options)


def every_rho(
    of: Any, goal: int, limit: float, seed: int, share: float | None = 0.1
) -> rs.certificates.CertificateTable:
    """Return the guarantee of 300 training draws of four days, with caps from the three days before them.

    Without a share the caps are the largest possible weights.
    """
    day = np.arange(len(of.weights)) // 288
    earlier = of.weights[day < 3]
    train = pool(of, goal, day >= 3).draw(300, seed=seed)
    lower, upper = of.edge_bounds
    return rs.certify_training(
        rs.learners.MeanDistance().fit(train),
        train,
        rs.utilities.Suboptimality(limit),
        lower=lower,
        upper=upper,
        caps=None if share is None else np.quantile(earlier, share, axis=0),
        delta=DELTA,
    )


def guarantees(of: Any, goal: int, limit: float, mean: float, seeds: int = 20) -> list[dict[str, Any]]:
    """Return the medians over seeds of what is guaranteed and of what was measured."""
    one = pool(of, goal)
    bounded = {"lower": of.edge_bounds[0]}

    def many(seed: int) -> rs.InstanceSet:
        return pool(of, np.random.default_rng(seed).choice(of.graph.n, 20, replace=False))

    tasks: list[tuple[str, str, Any]] = [
        ("README (750, H = 5)", "", readme),
        ("the page on safety, section 4 (about 1,000, H = 5)", "", safe),
        (f"METR-LA, 2,000 draws, H = {limit:.0f} s", " s", lambda k: traffic(of, one, limit, k, **bounded)),
        ("the same, no lower bounds on weights", " s", lambda k: traffic(of, one, limit, k)),
        ("METR-LA, 20 random goals, 2,000 draws, H = 300 s", " s", lambda k: traffic(of, many(k), 300.0, k)),
        ("METR-LA, chosen on the same 300 draws, local U2", " s", lambda k: every_rho(of, goal, limit, k)),
        ("the same with median caps", " s", lambda k: every_rho(of, goal, limit, k, 0.5)),
        ("the same with largest weights as caps", " s", lambda k: every_rho(of, goal, limit, k, None)),
    ]
    rows = []
    for name, unit, task in tasks:
        found = [task(seed).best for seed in range(seeds)]
        value = statistics.median(row.value for row in found)
        rows.append(
            {
                "task": name,
                "bound": found[0].label,
                "value": value,
                "measured": statistics.median(row.observed for row in found),
                "lowest": min(row.value for row in found),
                "highest": max(row.value for row in found),
                "unit": unit,
                "of the mean optimum": value / mean if unit and "20 random goals" not in name else None,
            }
        )
    return rows


# ---------------------------------------------------------------- widths for every rho


def widths(of: Any, goal: int, limit: float, optimum: np.ndarray, sizes: Any = SIZES) -> list[dict[str, Any]]:
    """Return for each N what every bound adds to the empirical mean; each gets all of delta."""
    graph, (low, high) = of.graph, of.edge_bounds
    everything = pool(of, goal)
    rows = []
    for N in sizes:
        drawn = everything.draw(N, seed=1)
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
    """Return what progressive validation guarantees after learning mean distances from 300 draws: medians over seeds.

    Bounds are shares of the mean optimum; no answer may exceed the optimum by more than `excess` seconds.
    """
    trips = pool(of, goal)
    others = trips.draw(1_000, seed=10_000)
    rows = []
    for excess in (50.0, 100.0, 200.0, limit):
        found = []
        low, high = of.edge_bounds
        certain = {"lower": low, "upper": high, "largest_excess": excess} if excess < limit else {}
        for seed in range(seeds):
            result = rs.certificates.progressive(
                rs.learners.MeanDistance(),
                trips.draw(300, seed=seed),
                rs.utilities.Suboptimality(limit=limit),
                delta=DELTA,
                **certain,
            )
            expanded = np.mean([rs.solve_many(others, table).expanded.mean() for table in result.tables])
            found.append((result.certificate.value / mean, result.certificate.observed / mean, expanded))
        bound, measured, expanded = np.median(found, axis=0).tolist()
        rows.append({"excess": excess, "bound": bound, "measured": measured, "expansions": expanded})
    return rows


def whole_table(of: Any, goal: int, limit: float) -> str:
    """Return what certify prints for 2,000 draws after learning from 10,000 others, then certify_training for these."""
    drawn = pool(of, goal).draw(12_000, seed=2)
    train, holdout = drawn[:10_000], drawn[10_000:]
    learner, (lower, upper) = rs.learners.MeanDistance().fit(train), of.edge_bounds
    utility = rs.utilities.Suboptimality(limit=limit)
    tables = (
        rs.certify(learner, holdout, utility, lower=lower, delta=DELTA),
        rs.certify_training(learner, train, utility, lower=lower, upper=upper, delta=DELTA),
    )
    return "\n\n".join(map(str, tables))


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
        start = time.process_time()
        rs.solve_many(instances, rho)
        solved = time.process_time()
        for i in range(N):
            rs.distances_to(graph, weights[i], graph.n - 1)
        labeled = time.process_time()
        rs.certify_training(rho, instances, utility, lower=1.0, upper=2.0)
        end = time.process_time()
        found.append((solved - start, labeled - solved, end - labeled))
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
    guaranteed = guarantees(of, goal, limit, mean)
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
        "## What is guaranteed",
        "",
        f"The mean number of seconds (or units of weight) above the optimum; medians over 20 seeds, δ = {DELTA}.",
        "",
        "| task | bound | value | lowest, highest | measured | value / mean optimum |",
        "|---|---|--:|--:|--:|--:|",
        *(
            f"| {row['task']} | {row['bound']} | {row['value']:.4g}{row['unit']} | {row['lowest']:.4g}, "
            f"{row['highest']:.4g} | {row['measured']:.4g} | "
            + ("" if row["of the mean optimum"] is None else f"{row['of the mean optimum']:.4f}")
            + " |"
            for row in guaranteed
        ),
        "",
        "## Every rho at once, by the number of instances",
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
        "Progressive validation with 300 draws, ten batches, mean distances; medians over 20 seeds. Bound and",
        "measured mean are shares of the mean optimum, for a table drawn among the nine that were measured. Each table",
        "is lowered so that no answer is more than `excess` seconds above the optimum; in the last row the range is H.",
        "",
        "| excess | bound | measured | expansions |",
        "|---:|---:|---:|---:|",
    ]
    for row in progressive:
        lines.append(f"| {row['excess']:.0f} | {row['bound']:.4f} | {row['measured']:.4f} | {row['expansions']:.1f} |")
    lines += ["", "![widths by N](certificates.png)", ""]
    lines += [
        "`certify` on 2,000 draws after learning mean distances from 10,000 others, then `certify_training` on these:",
        "",
        "```",
        table,
        "```",
        "",
    ]
    lines += [
        "`certify_training` on 10,000 instances of 1,000 vertices, medians of 5 interleaved rounds: "
        f"{times['certify']:.2f} s of processor time. One `solve_many` takes {times['solve_many']:.2f} s and a reverse "
        f"Dijkstra on each instance {times['reverse Dijkstra']:.2f} s: `certify_training` takes {times['ratio']:.2f} "
        "times their sum.",
        "",
    ]
    (RESULTS / "certificates.md").write_text("\n".join(lines))
    record = {
        "mean optimum": mean,
        "H": limit,
        "guarantees": guaranteed,
        "progressive validation": progressive,
        "widths": rows,
        "20 other goals": elsewhere,
        "seconds": times,
    }
    (RESULTS / "certificates.json").write_text(json.dumps(record, indent=1, default=float) + "\n")
    plot(rows, limit, mean)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
