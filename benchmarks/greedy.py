"""Values that ``rs.learn`` finds for greedy search on families of worlds, beside a recipe of many fits.

    make bench-learn                            after the tables for A*; writes benchmarks/results/greedy.md
    python benchmarks/greedy.py                 the same alone
    python benchmarks/greedy.py gaps            only the families with this in their names; writes nothing
    python benchmarks/greedy.py --continue      the families that a run with the same code had not reached
    python benchmarks/greedy.py --thorough      effort="thorough" instead; adds its column (an hour)

Which worlds are learned from, decided on and reported on: see ``worlds.py``. Seeds are fixed; one thread; times are
processor seconds. The values do not depend on the machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import worlds
from learn import RESULTS
from learn_tables import table, used

import rhostar as rs

EFFORTS = ("quick", "normal")
FAMILIES = 22
"""Rows of a whole run with all data."""
BEGIN, END = "<!-- made by benchmarks/greedy.py -->", "<!-- end of greedy search -->"


def with_effort(family: worlds.Family, effort: Any) -> dict:
    """Return what ``learn`` does on a family."""
    began = time.process_time()
    learned = rs.learn(family.train, algorithm="gbfs", effort=effort)
    seconds = time.process_time() - began
    runs = rs.solve_many(family.test, learned, algorithm="gbfs", budget=worlds.BUDGET)
    chosen = " ".join(repr(learned.learner_).split())
    return {"expanded": float(runs.expanded.mean()), "worst": int(runs.expanded.max()), "s": seconds, "is": chosen}


def row_of(family: worlds.Family, log: Callable[[str], Any] = print) -> dict:
    """Return the figures of one family of worlds."""
    test, goal = family.test, int(family.test.goals[0])
    optimal = rs.solve_many(test, rs.heuristics.octile(test.graph, goal))
    row: dict = {"family": family.name, "rules": family.rules, "worlds": len(test)}
    row["in train"] = worlds.copies(family)
    row |= {"path": float(np.mean([path.size - 1 for path in optimal.path]))}
    row |= {"Euclid": worlds.expansions(test, rs.heuristics.euclidean(test.graph, goal))}
    began = time.process_time()
    tried = worlds.recipe(family)
    row |= {"recipe": worlds.expansions(test, tried[0].rho), "recipe s": time.process_time() - began}
    row |= {"recipe is": tried[0].name, "single": {one.name: worlds.expansions(test, one.rho) for one in tried}}
    row["published"] = worlds.PUBLISHED.get(family.name.split(", pictures")[0].replace(" ", "_"))
    if "pictures" not in family.name:
        row["published"] = None
    row |= {effort: with_effort(family, effort) for effort in EFFORTS}
    figures = ", ".join(f"{effort} {row[effort]['expanded']:.0f}" for effort in EFFORTS)
    log(f"{family.name}: path {row['path']:.0f}, recipe {row['recipe']:.0f}, {figures}")
    return row


# ---------------------------------------------------------------- as Markdown


def summary(rows: list[dict]) -> list[str]:
    """Return the table for docs/benchmarks.md."""
    found = []
    for row in rows:
        values = (row["Euclid"], row["path"], row["recipe"], row["normal"]["expanded"])
        found.append([row["family"], *(f"{value:,.0f}" for value in values)])
    return table(["greedy search", "Euclid", "path", "recipe", "learn"], found)


def markdown(rows: list[dict], seconds: float) -> str:
    """Return the page."""
    lines = ["# Greedy search on worlds that were not learned from", ""]
    lines += [
        "Made by `benchmarks/greedy.py`, with one version of the learners. 200 worlds to learn from; mean expansions "
        "on other worlds. *Path* "
        "is the number of edges of an optimal path: no search expands fewer vertices than its path has edges. The "
        "*recipe* tries closed forms, all rounds of ranking and bumps, each one table, and decides on 100 further "
        "worlds, which `learn` does not have. *Quick* and *normal* are the efforts of `learn`; normal is the default. "
        "All times are processor time, of one thread.",
        "",
        "*Pictures* are worlds of the motion planning datasets of SaIL; the others are drawn here, with seeds that no "
        "earlier run had. Many pictures of gaps are in several of its folders, byte for byte. Rows of *folders* keep "
        "the folders as they are, where that makes a difference; *in train* is how many of the worlds to report on "
        "were learned from. In the other rows of pictures, a third of the different worlds was held out with all "
        "their copies.",
        "",
        "Rules of `learn` were made on other seeds of rooms, slanted walls, ponds and zigzag, and on the pictures of "
        "alternating gaps, whose figures prompted the last change: several tables, of which the obstacles choose one, "
        "by similarity (`Portfolio`) or by a rule learned from runs (`ChosenTables`). On all other families it was "
        "only reported, once. About 90 variants were compared on worlds to learn from and to decide on: groups by "
        "weights (as `Portfolio` has them) or by costs-to-go; 4 to 64 groups; the nearest group, nearest neighbors, or "
        "ridge regression on the logarithm or the square root of the expansions; 250, 1,000 or 4,000 edges; tables "
        "ranked for each group (no better), and one to six tables for all worlds beside them.",
        "",
    ]
    columns = ["worlds", "used for", "in train", "Euclid", "path", "recipe", "to path", "s", "quick", "s"]
    columns += ["normal", "worst", "s", "to path", "to recipe"]
    extra = [key for key in ("thorough",) if all(key in row for row in rows)]
    found = []
    for row in rows:
        quick, normal = row["quick"], row["normal"]
        cells = [f"{row['family']} ({row['worlds']})", used(row), str(row["in train"]), f"{row['Euclid']:,.0f}"]
        cells += [f"{row['path']:,.0f}", f"{row['recipe']:,.0f}", f"{row['recipe'] / row['path']:.2f}"]
        cells += [f"{row['recipe s']:.0f}", f"{quick['expanded']:,.0f}", f"{quick['s']:.0f}"]
        cells += [f"{normal['expanded']:,.0f}", f"{normal['worst']:,}", f"{normal['s']:.0f}"]
        cells += [f"{normal['expanded'] / row['path']:.2f}", f"{normal['expanded'] / row['recipe']:.2f}"]
        found.append(cells + [f"{row[key]['expanded']:,.0f}" for key in extra])
    lines += table(columns + extra, found, 2)
    if len(rows) < FAMILIES:
        lines += [f"This run has only {len(rows)} of {FAMILIES} rows.", ""]
    some = [row for row in rows if row["recipe"] <= 1.2 * row["path"]]
    near = sum(row["normal"]["expanded"] <= 1.2 * row["path"] for row in some)
    to = sum(row["normal"]["expanded"] <= 1.1 * row["recipe"] for row in rows)
    several = sum(row["normal"]["is"].startswith(("ChosenTables", "Portfolio")) for row in rows)
    lines += [
        f"Where the recipe is within 1.2 of the path ({len(some)} of {len(rows)} rows), `learn` is on {near}. It is "
        f"within 1.1 of the recipe on {to} of {len(rows)}. It chose several tables on {several}.",
        "",
    ]
    published = [row for row in rows if row["published"] is not None]
    if published:
        lines += [
            "Beside the published figures of SaIL (Choudhury et al. 2018): rescaled expansions, (E − 200)/4800 within "
            "[0, 1]. These come from another test bed (its planner, its count of expansions, its split of the worlds), "
            "so they show roughly where a method is, not by how much one beats another. For forest nothing is claimed: "
            "the Euclidean distance alone is below the published figure.",
            "",
        ]
        cells = []
        for row in published:
            values = (row["Euclid"], row["recipe"], row["normal"]["expanded"])
            scaled = [f"{min(1.0, max(0.0, (value - 200) / 4800)):.3f}" for value in values]
            cells.append([row["family"], f"{row['published']:.3f}", *scaled])
        lines += table(["family", "SaIL, published", "Euclid", "recipe", "learn"], cells)
    return "\n".join([*lines, f"This run took {seconds / 60:.0f} minutes.", ""])


def write(result: dict) -> None:
    """Write the results, the page about them, and the table in the documentation."""
    page = RESULTS.parents[1] / "docs" / "benchmarks.md"
    (RESULTS / "greedy.json").write_text(json.dumps(result, indent=1) + "\n")
    (RESULTS / "greedy.md").write_text(markdown(result["rows"], result["seconds"]))
    head, rest = page.read_text().split(BEGIN)
    page.write_text("\n".join([f"{head}{BEGIN}", *summary(result["rows"]), f"{END}{rest.split(END, 1)[1]}"]))


def main(arguments: list[str]) -> int:
    began = time.process_time()
    if arguments == ["--thorough"]:
        result = json.loads((RESULTS / "greedy.json").read_text())
        for row, family in zip(result["rows"], worlds.families(), strict=True):
            row["thorough"] = with_effort(family, "thorough")
            print(f"{family.name}: thorough {row['thorough']['expanded']:.0f}", flush=True)
        write(result)
        return 0
    rows, before = [], 0.0
    if arguments == ["--continue"]:
        arguments, result = [], json.loads((RESULTS / "greedy.json").read_text())
        rows, before = result["rows"], result["seconds"]
    known = {row["family"] for row in rows}
    for family in worlds.families(*arguments):
        if family.name not in known:
            rows.append(row_of(family))
            if not arguments:
                write({"rows": rows, "seconds": before + time.process_time() - began})
    if arguments:
        print(markdown(rows, time.process_time() - began))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
