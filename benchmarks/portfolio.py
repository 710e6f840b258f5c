"""What a portfolio of tables brings on a city of 160,000 crossings, where each snapshot has traffic of its own.

    python benchmarks/portfolio.py        writes benchmarks/results/portfolio.md

The rule by which a query takes a table was chosen on cities with other seeds. Counts only, no times.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import rhostar as rs

RESULTS = Path(__file__).parent / "results"
VERTICES, SEED = 160_000, 301
TRAIN, TEST = 200, 200
TABLES = (4, 8, 16)


def measure(log=print) -> list[dict]:
    """Return the figures of one table, and of portfolios."""
    law = rs.datasets.city(VERTICES, seed=SEED)
    law = law.towards(int(np.random.default_rng(SEED).integers(law.graph.n)))
    train, test = law.draw(TRAIN, seed=SEED + 1), law.draw(TEST, seed=SEED + 2)
    optimum = rs.solve_many(test, np.zeros(law.graph.n)).cost
    rows = []

    def add(name: str, learner: rs.learners.Learner) -> None:
        runs = rs.solve_many(test, learner.fit(train))
        over = runs.cost / optimum - 1
        rows.append(
            {
                "name": name,
                "expanded": float(runs.expanded.mean()),
                "largest": int(runs.expanded.max()),
                "over": float(runs.cost.sum() / optimum.sum() - 1),
                "over 99 %": float(np.quantile(over, 0.99)),
                "worst": float(over.max()),
            }
        )
        log(f"portfolio: {rows[-1]}")

    add("one table", rs.learners.MeanDistance())
    for k in TABLES:
        add(f"{k} tables", rs.learners.Portfolio(k=k))
        add(f"{k} tables, `excess=inf`", rs.learners.Portfolio(k=k, excess=np.inf))
    return rows


def markdown(rows: list[dict]) -> str:
    """Return the table."""
    lines = [
        "# A portfolio on a city",
        "",
        f"`datasets.city({VERTICES}, seed={SEED})`, one goal, {TRAIN} training snapshots with a start each, {TEST} "
        "others to report on; A* with `Portfolio(MeanDistance())`. *Above* is the cost above the optimum in total, "
        "*99 %* and *worst* are of single answers. A portfolio lowers its tables until the certain bound on a single "
        "answer is that of the one table; `excess=inf` does not.",
        "",
        "| values | expansions | largest | above | 99 % | worst |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        lines.append(
            f"| {row['name']} | {row['expanded']:,.0f} | {row['largest']:,} | {row['over']:.2%} | "
            f"{row['over 99 %']:.1%} | {row['worst']:.1%} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    RESULTS.mkdir(exist_ok=True)
    rows = measure()
    (RESULTS / "portfolio.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "portfolio.md").write_text(markdown(rows))
    print(f"written: {RESULTS}/portfolio.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
