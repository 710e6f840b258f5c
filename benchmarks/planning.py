"""Learned heuristic values on the maps of Neural A*, with its own metrics.

    make bench-planning              all families in RHOSTAR_DATA/planning32; writes benchmarks/results/planning.md

Maps of 32 x 32 cells, 8 neighbors, every step costs 1, corners may be cut; obstacles and goals change from map to map.
Opt is the share of queries with an optimal path; Exp the mean of max(0, (E_A* - E) / E_A*), with E_A* the expansions of
A* with h = max(dx, dy) + 0.001 Euclid; Hmean their harmonic mean (Yonetani et al. 2021).

One rule for all families: for each goal of a query, MeanDistance is fitted on the 800 training maps with that goal; A*
runs with a weight times these values. The weight, and whether A* reopens, are those with the largest Hmean on the
validation maps of the family. Weighted A* on the plain heuristic is chosen in the same way. The test queries are run
once, with what was chosen.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rhostar as rs

SIDE, STARTS = 32, 15
WEIGHTS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 50.0)
RESAMPLES = 10_000
NEURAL_ASTAR = {"mazes": {"opt": 81.9, "exp": 44.9, "hmean": 58.0, "expanded": 63.1}}
"""The public mazes checkpoint on the same test queries."""
GRAPH = rs.Graph.grid(SIDE, SIDE, neighbors=8)
CELLS = np.stack(np.divmod(np.arange(SIDE * SIDE), SIDE), axis=1).astype(float)


class Maps(NamedTuple):
    """One part of a family."""

    weights: np.ndarray
    goals: np.ndarray
    starts: np.ndarray

    def queries(self) -> rs.InstanceSet:
        """Return all queries, map by map."""
        rows = np.repeat(np.arange(len(self.goals)), STARTS)
        return rs.InstanceSet(GRAPH, self.weights, self.starts.ravel(), np.repeat(self.goals, STARTS), rows=rows)


class Method(NamedTuple):
    """A way to run a search with a table for each goal."""

    heuristic: str
    weight: float = 1.0
    algorithm: str = "astar"
    reopen: bool = True

    def __str__(self) -> str:
        if self.algorithm == "gbfs":
            return f"greedy, {self.heuristic}"
        return f"A*, {self.weight:g} × {self.heuristic}{'' if self.reopen else ', no reopening'}"


class Results(NamedTuple):
    """What each query of a method gave."""

    optimal: np.ndarray
    saved: np.ndarray
    expanded: np.ndarray
    excess: np.ndarray
    """cost / optimum - 1."""


# ---------------------------------------------------------------- data


def edge_weights(free: np.ndarray) -> np.ndarray:
    """Return a row for each map: 1, or inf at blocked cells."""
    cells = free.reshape(len(free), -1)
    return np.where(cells[:, GRAPH.tail] & cells[:, GRAPH.head], 1.0, np.inf).copy(order="C")


def draw_starts(weights: np.ndarray, goals: np.ndarray, seed: int) -> np.ndarray:
    """Return five starts each from the percentiles 55 to 70, 70 to 85 and 85 to 100 of the costs-to-go of a map."""
    rng = np.random.default_rng(seed)
    starts = []
    for row, goal in zip(weights, goals.tolist(), strict=True):
        cost = rs.distances_to(GRAPH, row, goal)
        cells = np.flatnonzero(np.isfinite(cost) & (cost > 0))
        for low, high in ((55, 70), (70, 85), (85, 100)):
            ends = np.percentile(cost[cells], [low, high])
            starts.append(rng.choice(cells[(cost[cells] >= ends[0]) & (cost[cells] <= ends[1])], STARTS // 3))
    return np.concatenate(starts).reshape(len(goals), STARTS)


def load(file: Path, part: str, seed: int) -> Maps:
    """Return a part of a family; the starts on test maps are those of the file beside it, if there is one."""
    with np.load(file) as data:
        weights, goals = edge_weights(data[f"{part}_free"]), data[f"{part}_goal"].astype(np.int64)
    given = file.with_name(f"{file.stem}_starts.npy")
    starts = np.load(given) if part == "test" and given.exists() else draw_starts(weights, goals, seed)
    return Maps(weights, goals, starts.astype(np.int64))


# ---------------------------------------------------------------- methods


def plain(goal: int) -> np.ndarray:
    """Return the heuristic of the baseline."""
    away = np.abs(CELLS - CELLS[goal])
    return away.max(axis=1) + 0.001 * np.hypot(*away.T)


class Tables:
    """Tables of each heuristic for each goal, made when they are first needed."""

    def __init__(self, train: np.ndarray) -> None:
        self.train = train
        self.made: dict[tuple[str, int], np.ndarray] = {}

    def of(self, heuristic: str, goals: np.ndarray) -> dict[int, np.ndarray]:
        """Return a table for each of some goals."""
        return {goal: self.one(heuristic, goal) for goal in np.unique(goals).tolist()}

    def one(self, heuristic: str, goal: int) -> np.ndarray:
        """Return a table for a goal."""
        if (heuristic, goal) not in self.made:
            self.made[heuristic, goal] = plain(goal) if heuristic == "plain" else self.learned(goal)
        return self.made[heuristic, goal]

    def learned(self, goal: int) -> np.ndarray:
        """Return the mean distances to a goal over the training maps; maps on which it is blocked do not count."""
        other = (goal + 1) % GRAPH.n  # the learner looks at all vertices, whatever the source
        instances = rs.InstanceSet(GRAPH, self.train, sources=other, goal=goal, infeasible="keep")
        return rs.learners.MeanDistance().fit(instances).rho_


def run_queries(maps: Maps, method: Method, tables: Tables, optimum: np.ndarray, plain_expanded: np.ndarray) -> Results:
    """Return what a method does on all queries."""
    rho = {goal: method.weight * table for goal, table in tables.of(method.heuristic, maps.goals).items()}
    runs = rs.solve_many(maps.queries(), rho, algorithm=method.algorithm, reopen=method.reopen)
    saved = np.maximum(0.0, (plain_expanded - runs.expanded) / np.maximum(plain_expanded, 1))
    excess = runs.cost / optimum - 1
    return Results(excess <= 1e-9, saved, runs.expanded.astype(float), excess)


def metrics(results: Results, rows: np.ndarray | slice = slice(None)) -> tuple[float, float, float]:
    """Return Opt, Exp and Hmean in percent."""
    opt, exp = 100 * results.optimal[rows].mean(), 100 * results.saved[rows].mean()
    return opt, exp, 2 * opt * exp / max(opt + exp, 1e-12)


def candidates(heuristic: str) -> list[Method]:
    """Return what the rule chooses among."""
    return [Method(heuristic, weight, reopen=reopen) for weight in WEIGHTS for reopen in (True, False)]


def measure(file: Path, log=print) -> dict:
    """Return all figures of one family."""
    with np.load(file) as data:
        tables = Tables(edge_weights(data["train_free"]))
    chosen: dict[str, Method] = {}
    validation = load(file, "validation", seed=0)
    reference = references(validation, tables)
    for heuristic in ("mean distance", "plain"):
        found = [
            (metrics(run_queries(validation, method, tables, *reference))[2], method)
            for method in candidates(heuristic)
        ]
        chosen[heuristic] = max(found, key=lambda one: one[0])[1]
        log(f"{file.stem}: {chosen[heuristic]}, Hmean {max(found)[0]:.1f} on validation")
    test = load(file, "test", seed=1)
    reference = references(test, tables)
    methods = {
        "learned": chosen["mean distance"],
        "weighted A*": chosen["plain"],
        "greedy": Method("plain", algorithm="gbfs"),
        "A*": Method("plain"),
    }
    results = {name: run_queries(test, method, tables, *reference) for name, method in methods.items()}
    samples = resampled(results)
    rows = {}
    for name, result in results.items():
        opt, exp, hmean = metrics(result)
        low, high = np.percentile(samples[name], [2.5, 97.5])
        rows[name] = {"method": str(methods[name]), "opt": opt, "exp": exp, "hmean": hmean, "interval": [low, high]}
        excess = 100 * result.excess
        rows[name] |= {"expanded": result.expanded.mean(), "excess": excess.mean()}
        rows[name] |= {"excess 99 %": np.quantile(excess, 0.99), "worst excess": excess.max()}
    differences = {
        name: [
            rows["learned"]["hmean"] - rows[name]["hmean"],
            *np.percentile(samples["learned"] - samples[name], [2.5, 97.5]),
        ]
        for name in ("weighted A*", "greedy")
    }
    if file.stem in NEURAL_ASTAR:
        published = NEURAL_ASTAR[file.stem]["hmean"]
        away = samples["learned"] - published
        differences["Neural A*"] = [rows["learned"]["hmean"] - published, *np.percentile(away, [2.5, 97.5])]
    log(f"{file.stem}: Hmean {rows['learned']['hmean']:.1f} on test, greedy {rows['greedy']['hmean']:.1f}")
    given = file.with_name(f"{file.stem}_starts.npy").exists()
    result = {"rows": rows, "differences": differences, "given starts": given}
    return json.loads(json.dumps(result, default=float))


def references(maps: Maps, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return the optimal cost of each query, and the expansions of A* with the plain heuristic."""
    queries = maps.queries()
    optimum = rs.solve_many(queries, np.zeros(GRAPH.n)).cost
    return optimum, rs.solve_many(queries, tables.of("plain", maps.goals)).expanded


def resampled(results: dict[str, Results]) -> dict[str, np.ndarray]:
    """Return Hmean on resampled test maps, the same maps for all methods; the queries of a map stay together."""
    rng = np.random.default_rng(0)
    count = len(next(iter(results.values())).optimal) // STARTS
    drawn = rng.multinomial(count, np.full(count, 1 / count), RESAMPLES) / count
    found = {}
    for name, result in results.items():
        opt, exp = (100 * drawn @ part.reshape(count, STARTS).mean(axis=1) for part in (result.optimal, result.saved))
        found[name] = 2 * opt * exp / np.maximum(opt + exp, 1e-12)
    return found


# ---------------------------------------------------------------- what is written


def markdown(families: dict[str, dict]) -> str:
    """Return the page."""
    lines = [
        "# Beside Neural A*, on its maps",
        "",
        "Maps of 32 × 32 cells from the planning datasets of Neural A* (Yonetani et al. 2021): 800 to learn from, "
        "100 for validation, 100 for testing with 15 starts each. *Opt* is the share of optimal paths, *Exp* the mean "
        "share of expansions saved against A* on the plain heuristic, *Hmean* their harmonic mean; all in percent. The "
        "interval "
        f"is a 95 % bootstrap interval over maps ({RESAMPLES:,} resamples). *Excess* is cost / optimum − 1 in percent: "
        "its mean, its 99 % quantile and the worst of all queries.",
        "",
        "What to know before you compare:",
        "",
        "- *Learned* is `MeanDistance`, fitted for the goal of each query on the 800 training maps, times a weight. It "
        "does not look at the map of the query; Neural A* does, and needs no fit for a new goal.",
        f"- The weight ({', '.join(f'{w:g}' for w in WEIGHTS)}) and whether A* reopens are chosen for each family by "
        "the largest Hmean on its validation maps: 18 candidates, the same for all families. The weight of weighted "
        "A* is chosen alike. That the mean distance is the table, and this list of weights, was decided on the "
        "validation maps of "
        "these four families, among about 100 combinations of a table and a weight. Test queries were run once.",
        "- Neural A* was measured by its public checkpoint, which there is for mazes only, on the same queries. The "
        "interval of the difference to it is that of the learned values alone, since its figure is one number.",
        "- Where no starts on the test maps are given, they are drawn by the published rule with a fixed seed.",
        "",
        "| family | method | Opt | Exp | Hmean | interval | expansions | excess | 99 % | worst |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, figures in families.items():
        label = name.replace("_", " ")
        for kind, row in figures["rows"].items():
            lines.append(
                f"| {label} | {'learned: ' if kind == 'learned' else ''}{row['method']} "
                f"| {row['opt']:.1f} | {row['exp']:.1f} | {row['hmean']:.1f} "
                f"| {row['interval'][0]:.1f} to {row['interval'][1]:.1f} | {row['expanded']:.1f} "
                f"| {row['excess']:.1f} | {row['excess 99 %']:.0f} | {row['worst excess']:.0f} |"
            )
        if name in NEURAL_ASTAR:
            other = NEURAL_ASTAR[name]
            lines.append(
                f"| {label} | Neural A*, its checkpoint | {other['opt']} | {other['exp']} | {other['hmean']} | | "
                f"{other['expanded']} | | | |"
            )
    lines += ["", "Hmean of *learned* minus that of the others, with 95 % bootstrap intervals over maps:", ""]
    lines += ["| family | weighted A* | greedy | Neural A* |", "|---|--:|--:|--:|"]
    for name, figures in families.items():
        cells = [
            "{:+.1f} [{:.1f}, {:.1f}]".format(*figures["differences"][other]) if other in figures["differences"] else ""
            for other in ("weighted A*", "greedy", "Neural A*")
        ]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def run(results_dir: str | os.PathLike[str], log=print) -> dict | None:
    """Measure all families and write JSON and Markdown; return the figures, or None without the data."""
    folder = Path(os.environ.get("RHOSTAR_DATA", "")) / "planning32"
    files = sorted(folder.glob("*.npz"))
    if not os.environ.get("RHOSTAR_DATA") or not files:
        log("the maps are not there: set RHOSTAR_DATA to the folder that has planning32")
        return None
    families = {file.stem: measure(file, log) for file in files}
    target = Path(results_dir)
    target.mkdir(parents=True, exist_ok=True)
    (target / "planning.json").write_text(json.dumps(families, indent=1) + "\n")
    (target / "planning.md").write_text(markdown(families))
    log(f"written: {target}/planning.md")
    return families


if __name__ == "__main__":
    run(Path(__file__).parent / "results")
