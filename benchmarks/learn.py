"""What ``rs.learn`` keeps: its time by size and effort, its quality beside learners chosen by hand, its mean excess.

    make bench-learn                            all tables; writes benchmarks/results/learn.md
    python benchmarks/learn.py excess           one of them: time, worlds, cities or excess

Rules of ``rs.learn`` were chosen on other families, networks and seeds than these (``--rules`` runs on those). Seeds
are fixed; one thread; times are processor seconds. The values do not depend on the machine.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import Delaunay

import rhostar as rs

RESULTS = Path(__file__).parent / "results"
EFFORTS = ("normal", "thorough")
ASKED: dict[str, dict[str, Any]] = {"astar": {"mean_excess": 0.01}, "gbfs": {"algorithm": "gbfs"}}
SIZES = ((100, 200), (300, 200), (1000, 50))
"""Cells a side of the grids, and snapshots."""
ALLOWED, FITS = 0.01, 100
BUDGET = 20_000


# ---------------------------------------------------------------- time


def large(side: int, count: int, goals: int) -> rs.InstanceSet:
    """Return a grid with weights between 1 and 3, and at least 16 instances of each goal."""
    graph = rs.Graph.grid(side, side)
    rng = np.random.default_rng([side, goals])
    weights = rng.random((count, graph.m), dtype=np.float32) * 2 + 1
    size = max(count, 16 * goals)
    goal = rng.choice(graph.n, goals, replace=False)[np.arange(size) % goals]
    source = rng.integers(0, graph.n - 1, size)
    rows = rng.permutation(np.arange(size) % count)
    return rs.InstanceSet(graph, weights, source + (source >= goal), goal if goals > 1 else int(goal[0]), rows=rows)


def times(log=print) -> list[dict]:
    """Return how long fits take, and what they are worth."""
    rows = []
    for side, count in SIZES:
        for goals in (1, 10):
            instances = large(side, count, goals)
            for algorithm, asked in ASKED.items():
                for effort in ("quick", "normal"):
                    spent = time.process_time()
                    learner = rs.learn(instances, effort=effort, **asked)
                    seconds = time.process_time() - spent
                    some = instances[:20]
                    plain = rs.solve_many(some, np.zeros(instances.graph.n))
                    runs = rs.solve_many(some, learner, algorithm=algorithm)
                    rows.append(
                        {
                            "n": side * side,
                            "snapshots": count,
                            "goals": goals,
                            "algorithm": algorithm,
                            "effort": effort,
                            "seconds": seconds,
                            "Dijkstra": float(plain.expanded.mean()),
                            "expanded": float(runs.expanded.mean()),
                            "over": float(runs.cost.sum() / plain.cost.sum() - 1),
                            "learners": sorted({name_of(one.learner_) for one in each_goal(learner)}),
                        }
                    )
                    log(f"time: {rows[-1]}")
    return rows


def name_of(learner: Any) -> str:
    """Return the class of a learner, or of the one that is multiplied by a factor."""
    return type(learner.learner if isinstance(learner, rs.learners.Scaled) else learner).__name__


def each_goal(learner: Any) -> list[Any]:
    """Return the fit for each goal."""
    return list(learner.learners_.values()) if hasattr(learner, "learners_") else [learner]


# ---------------------------------------------------------------- quality: greedy search on worlds


class Family(NamedTuple):
    """Worlds of obstacles."""

    name: str
    train: rs.InstanceSet
    validation: rs.InstanceSet
    test: rs.InstanceSet


def rooms(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return 3 x 3 rooms with a door or two in each wall, of which some are shut."""
    blocked = np.zeros((size, size), dtype=bool)
    walls = [size // 3, 2 * size // 3]
    for wall in walls:
        blocked[wall - 1 : wall + 2, :] = blocked[:, wall - 1 : wall + 2] = True
    for wall in walls:
        for k in range(3):
            for turned in (blocked, blocked.T):
                for _ in range(rng.integers(1, 3)):
                    door = k * size // 3 + int(rng.uniform(0.15, 0.75) * size / 3)
                    turned[wall - 1 : wall + 2, door : door + max(3, size // 25)] = False
    return blocked


def slanted(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return slanted walls that start at either side and leave a passage."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for k in range(4):
        slope = rng.uniform(-0.3, 0.3)
        near = np.abs(row - (0.2 + 0.2 * k) - slope * (column - 0.5)) < 0.02
        gap = rng.uniform(0.15, 0.35)
        blocked |= near & ((column > gap) if rng.random() < 0.7 else (column < 1 - gap))
    return blocked


def discs(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return round ponds, larger and denser near the middle."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for _ in range(14):
        x, y = rng.normal(0.5, 0.2, 2)
        blocked |= (row - x) ** 2 + (column - y) ** 2 < rng.uniform(0.04, 0.12) ** 2
    return blocked


def zigzag(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return a corner of a wall that moves, with a narrow passage in one of its two legs, and some crates."""
    blocked = np.zeros((size, size), dtype=bool)
    for center in (0.35, 0.65):
        corner = int(size * (center + rng.uniform(-0.08, 0.08)))
        thick, wide = max(2, size // 60), max(4, size // 30)
        blocked[corner : corner + thick, : size - 1 - corner] = True
        blocked[: corner + thick, size - 1 - corner : size - 1 - corner + thick] = True
        if rng.random() < 0.6:
            door = int(rng.uniform(0.1, 0.9) * (size - 2 - corner - wide))
            blocked[corner : corner + thick, door : door + wide] = False
        else:
            door = int(rng.uniform(0.1, 0.9) * (corner - wide))
            blocked[door : door + wide, size - 1 - corner : size - 1 - corner + thick] = False
    for _ in range(25):
        row, column = rng.integers(0, size - size // 20, 2)
        blocked[row : row + size // 25, column : column + size // 25] = True
    return blocked


def courtyards(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return three walls around each other, each open to one side or two, and rubble between them."""
    blocked = rng.random((size, size)) < 0.04
    wide = max(4, size // 25)
    for ring in (0.12, 0.25, 0.38):
        first, last = int(ring * size), int((1 - ring) * size)
        blocked[first, first:last] = blocked[last, first:last] = True
        blocked[first:last, first] = blocked[first : last + 1, last] = True
        for side in rng.permutation(4)[: rng.integers(1, 3)]:
            door = int(rng.uniform(first + 1, last - wide))
            wall = first if side % 2 == 0 else last
            turned = blocked if side < 2 else blocked.T
            turned[wall, door : door + wide] = False
    # The start and the goal are outside; every second world has a wall between them that leads through the courtyards.
    if rng.random() < 0.5:
        diagonal = np.arange(size)
        outside = (diagonal < 0.12 * size) | (diagonal > 0.88 * size)
        blocked[diagonal[outside], diagonal[outside]] = True
        blocked[diagonal[outside][1:], diagonal[outside][:-1]] = True
        blocked[diagonal[outside][:-1], diagonal[outside][1:]] = True
    return blocked


def rivers(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return two winding rivers with a few bridges each, one of which is always near one bank of the map."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for middle in (0.33, 0.67):
        bend = 0.08 * np.sin(2 * np.pi * (rng.uniform(1, 2.5) * column + rng.random()))
        water = np.abs(row - middle - bend) < rng.uniform(0.02, 0.035)
        for bridge in (*rng.uniform(0.05, 0.95, rng.integers(0, 3)), rng.uniform(0.02, 0.2)):
            water &= np.abs(column - bridge) > 0.015
        blocked |= water
    return blocked


def sticks(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return fallen trunks: straight obstacles of all directions, most of them across the way."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for _ in range(22):
        x, y, turn = *rng.uniform(0.05, 0.95, 2), rng.normal(np.pi / 4, 0.6)
        along = (row - x) * np.cos(turn) + (column - y) * np.sin(turn)
        across = (row - x) * np.sin(turn) - (column - y) * np.cos(turn)
        blocked |= (np.abs(across) < 0.012) & (np.abs(along) < rng.uniform(0.06, 0.16))
    return blocked


DRAWN = {"rooms": rooms, "slanted walls": slanted, "ponds": discs, "zigzag": zigzag}
DRAWN |= {"courtyards": courtyards, "rivers": rivers, "fallen trunks": sticks}


def own_worlds(draw: Any, size: int, count: int, seed: int) -> np.ndarray:
    """Return worlds with a path from the lower left to the upper right corner."""
    from scipy.ndimage import label

    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        cells = draw(rng, size)
        cells[-5:, :5] = cells[:5, -5:] = False
        parts, _ = label(~cells, structure=np.ones((3, 3)))
        if parts[-1, 0] == parts[0, -1]:
            found.append(cells)
    return np.array(found)


def worlds(name: str, size: int, seed: int) -> Family:
    """Draw 200 training worlds, 100 to validate the recipe on, and 300 to test."""
    graph = rs.Graph.grid(size, size, neighbors=8)
    sets = []
    for k, count in enumerate((200, 100, 300)):
        if name in DRAWN:
            blocked = own_worlds(DRAWN[name], size, count, 10 * seed + k)
        else:
            blocked = rs.datasets.obstacle_worlds(name, size=size).worlds(count, 10 * seed + k).blocked
        start, goal = (size - 1) * size, size - 1
        sets.append(rs.InstanceSet.from_obstacles(graph, blocked, start, goal, corner_cutting=True, dtype=np.float32))
    return Family(f"{name}, {size} cells a side", *sets)


FAMILIES = (("courtyards", 181, 91), ("rivers", 161, 92), ("fallen trunks", 191, 93))
RULE_FAMILIES = (
    *(("multiple_bugtraps", 201, 11), ("shifting_gaps", 151, 12), ("mazes", 201, 14), ("bugtrap_forest", 171, 15)),
    *(("rooms", 181, 51), ("slanted walls", 161, 52), ("ponds", 201, 53)),
    *(("zigzag", 161, 58), ("gaps_and_forest", 201, 57), ("forest", 171, 55)),
)
"""Those that rules were chosen on. The last three reported first; then a rule was mended that failed on one of them."""


def greedy(family: Family, log=print) -> dict:
    """Return the figures of one family: the recipe of learners_worlds.py, and learn."""
    import learners_worlds

    def expanded(rho: Any) -> float:
        return float(rs.solve_many(family.test, rho, algorithm="gbfs", budget=BUDGET).expanded.mean())

    began = time.process_time()
    part = learners_worlds.Family(family.name, *family[1:], fresh=family.test, unseen=family.test)
    tried = learners_worlds.learn(part, log=lambda words: None)
    chosen = min(tried, key=lambda one: one.validation)
    row: dict = {
        "family": family.name,
        "straight": expanded(rs.heuristics.euclidean(family.test.graph).table(int(family.test.goals[0]))),
        "recipe": expanded(chosen.rho),
        "recipe seconds": time.process_time() - began,
        "best": min(expanded(one.rho) for one in tried),
    }
    for effort in EFFORTS:
        began = time.process_time()
        learner = rs.learn(family.train, algorithm="gbfs", effort=effort)
        row[f"learn {effort}"], row[f"seconds {effort}"] = expanded(learner), time.process_time() - began
        row[f"learner {effort}"] = name_of(learner.learner_)
    log(f"quality: {row}")
    return row


# ---------------------------------------------------------------- quality: A* on cities


class Roads(NamedTuple):
    """A network with one goal."""

    name: str
    train: rs.InstanceSet
    test: rs.InstanceSet


def city(n: int, seed: int) -> Roads:
    """Return a city with 200 training snapshots."""
    law = rs.datasets.city(n, seed=seed)
    goal = int(np.random.default_rng(seed).integers(law.graph.n))
    law = law.towards(goal)
    return Roads(f"city of {law.graph.n:,}", law.draw(200, seed=seed + 1), law.draw(1000, seed=seed + 2))


CITIES = ((900, 71), (2500, 72), (6400, 73))
RULE_CITIES = ((1000, 31), (3000, 32))


def single_learners() -> Iterator[rs.learners.Learner]:
    """Yield the learners for A* that a user would try one by one."""
    yield rs.learners.LowerEnvelope()
    yield rs.learners.MeanWeights(penalty=0.0)
    for statistic in ("mean", "median", "min"):
        yield rs.learners.MeanDistance(statistic)
    for level in (0.05, 0.1, 0.25):
        yield rs.learners.MeanDistance("quantile", quantile=level)
    for penalty in (0.5, 1.0, 1.5, 3.0, 5.0, 10.0, 30.0):
        yield rs.learners.InconsistencyLP(penalty)


def judged(rho: Any, test: rs.InstanceSet, optimum: np.ndarray) -> tuple[float, float]:
    """Return mean expansions, and the share of the total cost above the optimum."""
    runs = rs.solve_many(test, rho)
    return float(runs.expanded.mean()), float(runs.cost.sum() / optimum.sum() - 1)


def roads(case: Roads, log=print) -> dict:
    """Return the figures of one network; the best single learner is chosen on the test set itself."""
    optimum = rs.solve_many(case.test, np.zeros(case.test.graph.n)).cost
    singles = {}
    for learner in single_learners():
        singles[repr(learner)] = judged(learner.fit(case.train).rho_, case.test, optimum)
    within = {name: expanded for name, (expanded, over) in singles.items() if over <= ALLOWED}
    best = min(within, key=lambda name: within[name])
    fewest = min(singles, key=lambda name: singles[name][0])
    row: dict = {"network": case.name, "Dijkstra": judged(np.zeros(case.test.graph.n), case.test, optimum)[0]}
    row |= {"best": within[best], "best learner": best, "best over": singles[best][1]}
    row |= {"fewest": singles[fewest][0], "fewest learner": fewest}
    for effort in EFFORTS:
        for name, allowed in (("learn", ALLOWED), ("fast", np.inf)):
            began = time.process_time()
            learner = rs.learn(case.train, mean_excess=allowed, effort=effort)
            row[f"{name} seconds {effort}"] = time.process_time() - began
            row[f"{name} {effort}"], row[f"{name} over {effort}"] = judged(learner, case.test, optimum)
            row[f"{name} learner {effort}"] = name_of(learner.learner_)
    log(f"quality: {row}")
    return row


# ---------------------------------------------------------------- the mean excess


def excess_cases(count: int, first: int) -> Iterator[Roads]:
    """Yield networks with a goal: cities, Los Angeles if it is there, grids with heavy tails, triangulations."""
    data = os.environ.get("RHOSTAR_DATA")
    path = Path(data or "") / "metr_la" / "metr_la_week.npz"
    network = rs.datasets.read_metr_la(path, speeds=(3.0, 70.0)) if data and path.exists() else None
    for k in range(count):
        seed = first + k
        rng = np.random.default_rng(seed)
        kind = ("city", "roads of Los Angeles", "grid, heavy tails", "triangulation, jams and closures")[k % 4]
        train = int(rng.choice([60, 120, 240]))
        if kind == "roads of Los Angeles" and network is not None:
            goal = int(rng.integers(network.graph.n))
            order = rng.permutation(len(network.weights))
            sources = rng.integers(0, network.graph.n - 1, order.size)
            every = rs.InstanceSet(network.graph, network.weights, sources + (sources >= goal), goal)
            yield Roads(kind, every[order[:train]], every[order[train:]])
        elif kind == "grid, heavy tails":
            graph = rs.Graph.grid(14, 14, neighbors=int(rng.choice([4, 8])))
            goal = int(rng.integers(graph.n))
            tail = float(rng.choice([1.2, 1.6, 2.5]))
            weights = graph.length * (1 + rng.pareto(tail, (train + 1500, graph.m)))
            sources = rng.integers(0, graph.n - 1, len(weights))
            every = rs.InstanceSet(graph, weights, sources + (sources >= goal), goal)
            yield Roads(kind, every[:train], every[train:])
        elif kind == "triangulation, jams and closures":
            graph = triangulation(rng, int(rng.choice([100, 250, 500])))
            mood = rng.normal(0, 0.3, (train + 1500, 1))
            weights = graph.length * np.exp(mood + rng.normal(0, 0.4, (train + 1500, graph.m)))
            jam = np.ix_(rng.random(len(weights)) < 0.04, graph.coordinates[graph.tail, 0] < 0.5)
            weights[jam] *= 6
            weights[rng.random(weights.shape) < 0.01] = np.inf
            goal = int(rng.integers(graph.n))
            sources = rng.integers(0, graph.n - 1, len(weights))
            every = rs.InstanceSet(graph, weights, sources + (sources >= goal), goal, infeasible="drop")
            yield Roads(kind, every[:train], every[train:])
        else:
            law = rs.datasets.city(int(rng.choice([150, 300, 600])), seed=seed)
            law = law.towards(int(rng.integers(law.graph.n)))
            yield Roads("city", law.draw(train, seed=seed + 1_000_000), law.draw(1500, seed=seed + 2_000_000))


def triangulation(rng: np.random.Generator, n: int) -> rs.Graph:
    """Return random points in a square, joined to their neighbors."""
    points = rng.uniform(size=(n, 2))
    corners = Delaunay(points).simplices
    pairs = np.concatenate([corners[:, [a, b]] for a in range(3) for b in range(3) if a != b])
    tail, head = np.unique(pairs, axis=0).T
    length = np.linalg.norm(points[tail] - points[head], axis=1)
    return rs.Graph.from_edges(n, tail, head, coordinates=points, length=length)


def excesses(count: int, first: int, log=print) -> list[dict]:
    """Return for each fit by how much paths cost more than the optimum on test."""
    rows = []
    for case in excess_cases(count, first):
        optimum = rs.solve_many(case.test, np.zeros(case.test.graph.n)).cost
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.errors.RhostarWarning)
            learner = rs.learn(case.train, mean_excess=ALLOWED)
        runs = rs.solve_many(case.test, learner)
        over, share = runs.cost.sum() / optimum.sum() - 1, (runs.cost / optimum).mean() - 1
        exact, _ = judged(rs.learners.LowerEnvelope().fit(case.train).rho_, case.test, optimum)
        rows.append({"kind": case.name, "train": len(case.train), "over": float(over), "share": float(share)})
        rows[-1] |= {
            "expanded": float(runs.expanded.mean()),
            "envelope": exact,
            "learner": name_of(learner.learner_),
        }
        log(f"excess: {len(rows)} {rows[-1]}")
    return rows


# ---------------------------------------------------------------- what is written


REPORTED = "families and networks"


def markdown(result: dict) -> str:
    """Return the tables."""
    lines = ["# What rs.learn keeps", ""]
    if "time" in result:
        lines += ["## Its time", ""]
        lines += [
            "Square grids, weights between 1 and 3, one thread. *Expansions* are means of 20 training instances; "
            "*above* is the cost of the paths above the optimum in total.",
            "",
            "| vertices | snapshots | goals | algorithm | effort | CPU s | chosen | expansions | Dijkstra | above |",
            "|--:|--:|--:|---|---|--:|---|--:|--:|--:|",
        ]
        for row in result["time"]:
            lines.append(
                f"| {row['n']:,} | {row['snapshots']} | {row['goals']} | {row['algorithm']} | {row['effort']} | "
                f"{row['seconds']:.1f} | {', '.join(row['learners'])} | {row['expanded']:,.0f} | "
                f"{row['Dijkstra']:,.0f} | {row['over']:.2%} |"
            )
        lines.append("")
    for key, title in (("quality", REPORTED), ("rules", "those that the rules were chosen on")):
        if key in result:
            lines += quality_lines(result[key], title)
    if "excess" in result:
        lines += excess_lines(result["excess"])
    return "\n".join(lines) + "\n"


def quality_lines(found: dict, title: str) -> list[str]:
    lines = [f"## Its quality: {title}", ""]
    if "greedy" in found:
        lines += worlds_lines(found["greedy"], title)
    return [*lines, *cities_lines(found["astar"])] if "astar" in found else lines


def worlds_lines(rows: list[dict], title: str) -> list[str]:
    lines = [
        "Greedy search, 200 training worlds; mean expansions on 300 other worlds. The *recipe* of "
        "`learners_worlds.py` has 100 validation worlds besides; *best single* is the best of all that it tries, "
        "chosen on the test worlds. Times are processor seconds.",
        "",
    ]
    if title == REPORTED:
        lines += ["No rule was chosen on these families.", ""]
    lines += [
        "| worlds | straight line | recipe | its s | best single | normal | its s | to recipe | thorough | its s | "
        "to best |",
        "|---|" + "--:|" * 10,
    ]
    for row in rows:
        lines.append(
            f"| {row['family'].replace('_', ' ')} | {row['straight']:,.0f} | {row['recipe']:,.0f} | "
            f"{row['recipe seconds']:.0f} | {row['best']:,.0f} | {row['learn normal']:,.0f} | "
            f"{row['seconds normal']:.0f} | {row['learn normal'] / row['recipe']:.2f} | {row['learn thorough']:,.0f} | "
            f"{row['seconds thorough']:.0f} | {row['learn thorough'] / row['best']:.2f} |"
        )
    return [*lines, ""]


def cities_lines(rows: list[dict]) -> list[str]:
    lines = [
        f"A*, 200 training snapshots; 1,000 others. The *best single* learner is the one with the fewest expansions "
        f"whose paths cost at most {ALLOWED:.0%} more than the optimum on the test set, chosen on that set; *fewest* "
        "is the one with the fewest of all.",
        "",
        "| network | Dijkstra | best single | above | normal | above | its s | thorough | above | to best | fewest | "
        "inf, normal | above |",
        "|---|" + "--:|" * 12,
    ]
    for row in rows:
        cells = [f"{row['Dijkstra']:,.0f}", f"{row['best']:,.1f}", f"{row['best over']:.2%}"]
        cells += [
            f"{row['learn normal']:,.1f}",
            f"{row['learn over normal']:.2%}",
            f"{row['learn seconds normal']:.1f}",
        ]
        cells += [f"{row['learn thorough']:,.1f}", f"{row['learn over thorough']:.2%}"]
        cells += [f"{row['learn normal'] / row['best']:.2f}", f"{row['fewest']:,.1f}"]
        cells += [f"{row['fast normal']:,.1f}", f"{row['fast over normal']:.2%}"]
        lines.append(f"| {row['network']} | {' | '.join(cells)} |")
    return [*lines, ""]


def excess_lines(rows: list[dict]) -> list[str]:
    held = sum(max(row["over"], row["share"]) <= ALLOWED for row in rows)
    lines = [f"## Its mean excess: held in {held} of {len(rows)} fits", ""]
    lines += [
        f"`learn(mean_excess={ALLOWED})` with 60, 120 or 240 training snapshots, another "
        "goal and split each time, judged on at least 1,400 other snapshots: *in total*, by how much all paths "
        "together cost more than the optimum; *on average*, the mean of that share over the paths. A fit held if both "
        "are within. "
        "*To envelope*: expansions as a share of those of the lower envelope, which is exact.",
        "",
        "| networks | fits | held | in total | worst | on average | worst | to envelope |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in sorted({row["kind"] for row in rows}):
        some = [row for row in rows if row["kind"] == kind]
        both = np.array([(row["over"], row["share"]) for row in some])
        less = np.mean([row["expanded"] / row["envelope"] for row in some])
        held = int((both <= ALLOWED).all(axis=1).sum())
        shown = " | ".join(f"{one.mean():.2%} | {one.max():.2%}" for one in both.T)
        lines.append(f"| {kind} | {len(some)} | {held} | {shown} | {less:.2f} |")
    return [*lines, ""]


TABLES = ("time", "worlds", "cities", "excess")


def main(arguments: list[str]) -> int:
    options = [name for name in arguments if name.startswith("--")]
    rules = "--rules" in options
    chosen = [name for name in arguments if name not in options] or list(TABLES)
    unknown = [name for name in (*chosen, *options) if name not in (*TABLES, "--rules")]
    if unknown:
        print(f"unknown table or option {unknown[0]!r}; there are {', '.join(TABLES)} and --rules")
        return 2
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / "learn.json"
    result = json.loads(file.read_text()) if file.exists() else {}
    for name in chosen:
        if name == "time":
            result["time"] = times()
        elif name == "excess":
            found = excesses(FITS, 500_000 if rules else 2_000_000)
            if rules:
                print("\n".join(excess_lines(found)))
            else:
                result["excess"] = found
        else:
            part = result.setdefault("rules" if rules else "quality", {})
            if name == "worlds":
                part["greedy"] = [greedy(worlds(*one)) for one in (RULE_FAMILIES if rules else FAMILIES)]
            else:
                part["astar"] = [roads(city(*one)) for one in (RULE_CITIES if rules else CITIES)]
        file.write_text(json.dumps(result, indent=1) + "\n")
        (RESULTS / "learn.md").write_text(markdown(result))
    print(f"written: {RESULTS}/learn.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
