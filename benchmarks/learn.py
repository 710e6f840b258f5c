"""Every learner and ``rs.learn`` on every source: expansions, time, what paths cost, and whether ``learn`` chose well.

    make bench-learn                            all tables; writes benchmarks/results/learn.md and docs/benchmarks.md
    python benchmarks/learn.py astar            one of them: astar, kept or few
    python benchmarks/learn.py astar UXsim      only the sources with this in their names; writes nothing

What is learned from, decided on and reported on are different days: see ``sources.py``. Greedy search: ``greedy.py``.
Seeds are fixed; one thread; times are processor seconds. The values do not depend on the machine.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from learn_tables import markdown, write_page
from sources import Source, sources

import rhostar as rs

RESULTS = Path(__file__).parent / "results"
ALLOWED = 0.01
TRAIN, TEST = 400, 400
"""Queries to learn from, and to report on."""
CALLS, REPEATS = 150, 3
"""Single calls that are timed, and how often; the fastest counts."""
FACTORS = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
"""What the values of single learners are multiplied by, to find the best of them in hindsight."""
FITS = 5
"""Of each source and kind of goal, to count how often a tolerance is kept."""
FEW, MANY, DRAWS = 16, 200, 5
"""Snapshots to learn from, where as many are there, and how often they are drawn anew."""
LARGEST_PROGRAM = 500
"""The linear program is tried on graphs with at most this many vertices."""


# ---------------------------------------------------------------- A*


def single_learners(n: int, any_goal: bool) -> Iterator[tuple[str, rs.learners.Learner]]:
    """Yield the learners that a user would try one by one."""
    learners = rs.learners
    yield "lowest weights", learners.Potentials()
    yield "median weights", learners.Potentials("median")
    yield "25 % quantiles of weights", learners.Potentials("quantile", quantile=0.25)
    for count in (4, 8):
        yield f"{count} clusters", learners.Potentials(n_clusters=count)
    yield "8 clusters, cut, delay", learners.Potentials(n_clusters=8, max_excess=1.0, goal_delay=True)
    yield "16 landmarks", learners.Landmarks(16, random_state=0)
    if any_goal:
        return
    for statistic in ("mean", "median"):
        yield f"{statistic} distance", learners.MeanDistance(statistic)
    for level in (0.05, 0.25):
        yield f"{level:.0%} quantile of distances", learners.MeanDistance("quantile", quantile=level)
    yield "portfolio of 8", learners.Portfolio(n_clusters=8)
    for penalty in (1.5, 10.0) if n <= LARGEST_PROGRAM else ():
        yield f"program, penalty {penalty:g}", learners.InconsistencyLP(penalty)


CALLED: dict[str, Callable[[rs.InstanceSet], Any]] = {
    "learn, 1 %": lambda train: rs.learn(train, mean_excess=ALLOWED, split="snapshot"),
    "learn, 1 %, split by day": lambda train: rs.learn(train, mean_excess=ALLOWED, split="day"),
    "learn, 0.2 %": lambda train: rs.learn(train, mean_excess=0.002),
    "learn, exact": rs.learn,
    "learn, no limit": lambda train: rs.learn(train, mean_excess=np.inf),
}
"""Ways to call ``learn``; the first one is compared with single learners."""


class Judge:
    """Runs heuristics on queries, and knows what Dijkstra's algorithm does there."""

    def __init__(self, test: rs.InstanceSet) -> None:
        self.test = test
        self.zeros = np.zeros(test.graph.n)
        self.rows = [np.ascontiguousarray(test._stored[row]) for row in test._stored_rows[:CALLS]]
        runs = rs.solve_many(test, self.zeros)
        self.optimum, self.expanded = runs.cost, float(runs.expanded.mean())
        self.seconds = self.times(self.zeros)

    def excess(self, heuristic: Any) -> tuple[float, np.ndarray]:
        """Return mean expansions, and by which share each path costs more than the optimum."""
        runs = rs.solve_many(self.test, heuristic)
        return float(runs.expanded.mean()), np.maximum(runs.cost / self.optimum - 1, 0.0)

    def times(self, heuristic: Any) -> tuple[float, float]:
        """Return the seconds of a query: in single calls, each with weights never seen before, and in a batch."""
        test, found = self.test, []
        for one_by_one in (True, False):
            spent = []
            for _ in range(REPEATS):
                began = time.process_time()
                if one_by_one:
                    for row, source, goal in zip(self.rows, test.sources.tolist(), test.goals.tolist(), strict=False):
                        rs.astar(test.graph, row.copy(), source, goal, heuristic)
                else:
                    rs.solve_many(test, heuristic)
                spent.append((time.process_time() - began) / (len(self.rows) if one_by_one else len(test)))
            found.append(min(spent))
        return found[0], found[1]

    def row(self, heuristic: Any) -> dict[str, float]:
        """Return all figures of a heuristic."""
        expanded, over = self.excess(heuristic)
        single, batch = self.times(heuristic)
        return {
            "expanded": expanded,
            "fewer": self.expanded / expanded,
            "single": self.seconds[0] / single,
            "batch": self.seconds[1] / batch,
            "mean": float(over.mean()),
            "99 %": float(np.quantile(over, 0.99)),
            "worst": float(over.max()),
        }


def astar(source: Source, log: Callable[[str], Any] = print) -> Iterator[dict]:
    """Yield the figures of one source: to any goal, and to one."""
    for goal in (None, source.a_goal()):
        train, test = (source.part(name, count, goal=goal) for name, count in (("train", TRAIN), ("test", TEST)))
        judge = Judge(test)
        rows: dict[str, dict] = {}
        front: list[tuple[float, float, str]] = []
        for name, learner in single_learners(test.graph.n, goal is None):
            began = time.process_time()
            try:
                heuristic = learner.fit(train).heuristic_
            except (rs.errors.FitError, rs.errors.LimitError) as error:
                log(f"{source.name}: {name} cannot be fitted: {error}")
                continue
            seconds = time.process_time() - began
            rows[name] = judge.row(heuristic) | {"fit": seconds}
            for factor in FACTORS:
                expanded, over = judge.excess(heuristic.scaled(factor))
                front.append((expanded, float(over.mean()), name if factor == 1 else f"{name} × {factor:g}"))
        for name, call in CALLED.items():
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rs.errors.RhostarWarning)
                learned = call(train)
            seconds = time.process_time() - began
            rows[name] = judge.row(learned.heuristic_) | {"fit": seconds}
            rows[name]["chosen"] = str(getattr(learned, "learner_", learned))
        ours, by_day = rows["learn, 1 %"], rows["learn, 1 %, split by day"]
        within = min(one for one in front if one[1] <= ALLOWED)
        equal, equal_by_day = (
            min((one for one in front if one[1] <= mean), default=(judge.expanded, 0.0, "Dijkstra"))
            for mean in (ours["mean"], by_day["mean"])
        )
        found = {"source": source.name, "goal": "any" if goal is None else "one", "rules": source.rules}
        found |= {"n": test.graph.n, "m": test.graph.m, "Dijkstra": judge.expanded, "seconds": judge.seconds}
        found |= {"learners": rows, "best": within, "best at equal excess": equal}
        found["regret"] = ours["expanded"] / within[0] if ours["mean"] <= ALLOWED else None
        found["regret at equal excess"] = ours["expanded"] / equal[0]
        found["by day, at equal excess"] = by_day["expanded"] / equal_by_day[0]
        log(f"{source.name}, {found['goal']} goal: learn {ours['expanded']:.1f} at {ours['mean']:.2%}, best {within}")
        yield found


# ---------------------------------------------------------------- is the tolerance kept?


def keeps(source: Source, log: Callable[[str], Any] = print) -> Iterator[dict]:
    """Yield how much more paths cost than the optimum on days that were not learned from, fit by fit."""
    for seed, split in product(range(FITS), ("snapshot", "day")):
        for goal in (None, source.a_goal(seed + 1)):
            count = (100, 200, 400)[seed % 3]
            train, test = (
                source.part(name, count, goal=goal, seed=seed) for name, count in (("train", count), ("test", 1000))
            )
            optimum = rs.solve_many(test, np.zeros(test.graph.n)).cost
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rs.errors.RhostarWarning)
                learned = rs.learn(train, mean_excess=ALLOWED, split=split)
            runs = rs.solve_many(test, learned)
            row: dict = {"source": source.name, "goal": "any" if goal is None else "one", "queries": count}
            row |= {"split": split, "days": int(np.unique(train.days[train.rows]).size)}
            row["total"] = float(runs.cost.sum() / optimum.sum() - 1)
            row["mean"] = float((runs.cost / optimum).mean() - 1)
            row |= {"expanded": float(runs.expanded.mean()), "chosen": str(learned.learner_)}
            log(f"kept: {row}")
            yield row


# ---------------------------------------------------------------- from few snapshots


def few(source: Source, log: Callable[[str], Any] = print) -> Iterator[dict]:
    """Yield what is learned from 16 snapshots and from 200 of the same days, at equal mean excess on other days."""
    for seed, goal in product(range(DRAWS), (None, source.a_goal())):
        test = source.part("test", TEST, goal=goal, seed=seed)
        optimum = rs.solve_many(test, np.zeros(test.graph.n)).cost
        fronts: list[list[tuple[float, float]]] = []
        for snapshots in (FEW, MANY):
            train = source.part("train", TRAIN, goal=goal, seed=seed, snapshots=snapshots)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rs.errors.RhostarWarning)
                learned = rs.learn(train, mean_excess=ALLOWED, split="snapshot").heuristic_
            front = []
            for factor in (1.0, *np.geomspace(0.6, 1.6, 41)):
                runs = rs.solve_many(test, learned.scaled(factor))
                front.append((float(runs.expanded.mean()), max(float((runs.cost / optimum).mean()) - 1, 0.0)))
            fronts.append(front)
        ours, mean = fronts[0][0]
        # With fewer snapshots the excess differs: the other is scaled to the same one, or less.
        other = min((one[0] for one in fronts[1] if one[1] <= max(mean, 1e-12)), default=fronts[1][0][0])
        row = {"source": source.name, "goal": "any" if goal is None else "one", "draw": seed, "rules": source.rules}
        row |= {"snapshots": int(np.unique(train.rows).size), "few": ours, "mean": mean, "many": other}
        row |= {"asked": fronts[1][0][0], "asked mean": fronts[1][0][1]}
        log(f"few: {row}")
        yield row


# ---------------------------------------------------------------- all of it


def rows_of(table: str, words: str | None) -> Iterator[dict]:
    """Yield the rows of one table."""
    for source in sources(words):
        yield from TABLES[table](source)


TABLES: dict[str, Callable[[Source], Iterator[dict]]] = {"astar": astar, "kept": keeps, "few": few}


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] not in TABLES:
        print(f"unknown table {arguments[0]!r}; there are {', '.join(TABLES)}")
        return 2
    words = arguments[1] if len(arguments) > 1 else None
    file = RESULTS / "learn.json"
    for table in arguments[:1] or TABLES:
        began = time.process_time()
        rows = list(rows_of(table, words))
        if words is not None:
            print(markdown({table: {"rows": rows, "seconds": time.process_time() - began}}))
            continue
        result = json.loads(file.read_text()) if file.exists() else {}
        result = {name: result[name] for name in TABLES if name in result}
        result[table] = {"rows": rows, "seconds": time.process_time() - began}
        file.write_text(json.dumps(result, indent=1) + "\n")
        (RESULTS / "learn.md").write_text(markdown(result))
        write_page(result, RESULTS.parents[1] / "docs" / "benchmarks.md")
        print(f"written: {RESULTS}/learn.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
