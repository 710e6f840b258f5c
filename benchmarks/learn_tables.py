"""Writes the results of ``learn.py`` as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

ALLOWED = 0.01


def table(columns: list[str], rows: list[list[str]], words: int = 1) -> list[str]:
    """Return the lines of a table whose first columns are words, and the others numbers."""
    head = "|" + "---|" * words + "--:|" * (len(columns) - words)
    return [f"| {' | '.join(columns)} |", head, *(f"| {' | '.join(row)} |" for row in rows), ""]


def percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def used(row: dict) -> str:
    return "rules" if row["rules"] else "reported"


def short(learner: str) -> str:
    """Return a learner in one line, without the parameters that do not matter here."""
    names = "random_state|n_jobs|budget|initial|utility"
    found = re.sub(rf",?\s*({names})=[^,()]*(\([^()]*\))?", "", learner).replace("(, ", "(")
    return re.sub(r"\s+", " ", found)  # a line break would end the row of a table


def astar(rows: list[dict]) -> list[str]:
    lines = ["## A\\* on days that were not learned from", ""]
    lines += [
        "400 queries to learn from, 400 on other days to report on, with random starts; to any goal, or to one random "
        "goal. *Dijkstra* is its mean number of expansions; *fewer* is that over ours. *Single* and *batch* are how "
        "many times as fast as Dijkstra's algorithm queries are, in processor time: called one by one, each with "
        "weights never seen before, and all in one call. *Mean*, *99 %* and *worst* are by how much paths cost more "
        "than the optimum.",
        "",
        "*Best single* is the learner and factor with the fewest expansions within 1 % on the test days, chosen on "
        "these days: nobody can know it before. *Regret* is the expansions of `learn(mean_excess=0.01)` over its own; "
        "*at equal excess*, over those of the best one whose mean excess is at most that of `learn`. A dash: `learn` "
        'did not keep 1 %. *By day*: with `split="day"`, so that learners are judged on days they did not see.',
        "",
    ]
    columns = ["source", "goal", "used for", "vertices", "Dijkstra", "best single", "fewer", "mean"]
    columns += ["learn: fewer", "single", "batch", "mean", "99 %", "worst", "regret", "at equal excess"]
    columns += ["by day: fewer", "mean", "at equal excess"]
    found = []
    for row in rows:
        ours, (best, over, name) = row["learners"]["learn, 1 %"], row["best"]
        regret = "–" if row["regret"] is None else f"{row['regret']:.2f}"
        cells = [row["source"], row["goal"], used(row), f"{row['n']:,}", f"{row['Dijkstra']:,.0f}", name]
        cells += [f"{row['Dijkstra'] / best:.1f}", percent(over), f"{ours['fewer']:.1f}", f"{ours['single']:.1f}"]
        cells += [f"{ours['batch']:.1f}", percent(ours["mean"]), percent(ours["99 %"]), percent(ours["worst"])]
        days = row["learners"]["learn, 1 %, split by day"]
        cells += [regret, f"{row['regret at equal excess']:.2f}", f"{days['fewer']:.1f}", percent(days["mean"])]
        found.append([*cells, f"{row['by day, at equal excess']:.2f}"])
    lines += table(columns, found, 3)
    regrets = [row["regret"] for row in rows if row["regret"] is not None]
    lines += [
        f"`learn` kept 1 % in {len(regrets)} of {len(rows)} cases; there its regret is {np.median(regrets):.2f} in the "
        f"median and {max(regrets):.2f} at worst, and {sum(one <= 1.1 for one in regrets)} times at most 1.10.",
        "",
    ]
    for row in rows:
        lines += [f"### {row['source']}, {row['goal']} goal" + ("s" if row["goal"] == "any" else ""), ""]
        columns = ["learner", "expansions", "fewer", "single", "batch", "mean", "99 %", "worst", "fit"]
        found = []
        for name, one in row["learners"].items():
            label = f"**{name}**: `{short(one['chosen'])}`" if "chosen" in one else name
            cells = [label, f"{one['expanded']:,.1f}", f"{one['fewer']:.1f}", f"{one['single']:.1f}"]
            cells += [f"{one['batch']:.1f}", *(percent(one[key]) for key in ("mean", "99 %", "worst"))]
            found.append([*cells, f"{one['fit']:.1f} s"])
        single, batch = row["seconds"]
        lines += [
            f"{row['n']:,} vertices, {row['m']:,} edges. Dijkstra's algorithm: {row['Dijkstra']:,.0f} expansions, "
            f"{1e6 * single:,.0f} µs in a single call, {1e6 * batch:,.0f} µs in a batch.",
            "",
            *table(columns, found),
        ]
    return lines


def kept(rows: list[dict]) -> list[str]:
    def held(row: dict) -> bool:
        return max(row["total"], row["mean"]) <= ALLOWED

    splits = dict.fromkeys(row["split"] for row in rows)
    counts = {split: [held(row) for row in rows if row["split"] == split] for split in splits}
    words = " and ".join(f"{sum(each)} of {len(each)} fits by {split}" for split, each in counts.items())
    lines = [f"## `learn(mean_excess=0.01)` kept 1 % in {words}", ""]
    lines += [
        "Days are dealt out anew for each fit; 100, 200 or 400 queries to learn from, 1,000 on other days to judge. "
        "*Split* is what `learn` keeps in one fold, and *days* how many it learned from. A fit kept 1 % if paths cost "
        "at most 1 % more than the optimum both *in total* and *on average* over paths.",
        "",
    ]
    found = []
    for source, split in dict.fromkeys((row["source"], row["split"]) for row in rows):
        some = [row for row in rows if (row["source"], row["split"]) == (source, split)]
        cells = [source, split, f"{some[0]['days']}", f"{len(some)}", f"{sum(map(held, some))}"]
        for key in ("total", "mean"):
            values = [row[key] for row in some]
            cells += [percent(float(np.mean(values))), percent(max(values))]
        cells.append(f"{np.mean([row['expanded'] for row in some]):.1f}")
        found.append(cells)
    columns = ["source", "split", "days", "fits", "kept", "in total", "worst", "on average", "worst", "expansions"]
    return lines + table(columns, found, 2)


def few(rows: list[dict]) -> list[str]:
    within = [row["few"] <= 1.3 * row["many"] for row in rows]
    lines = [f"## 16 snapshots: within 1.3 of 200 in {sum(within)} of {len(rows)} cases", ""]
    lines += [
        "`learn(mean_excess=0.01)` from 400 queries on 16 random snapshots, and on 200 of the same days, or as many as "
        "there are. *Ratio* is the expansions with 16 over those with many, where the latter values are multiplied by "
        "the factor with the fewest expansions whose mean excess is not above that with 16. Days are dealt out anew "
        f"for each draw. With 16 snapshots 1 % was kept in {sum(row['mean'] <= ALLOWED for row in rows)} of "
        f"{len(rows)} cases on average over paths.",
        "",
    ]
    columns = [
        "source",
        "goal",
        "used for",
        "draws",
        "expansions with 16",
        "with many",
        "median ratio",
        "worst",
        "mean",
    ]
    found = []
    for source, goal in dict.fromkeys((row["source"], row["goal"]) for row in rows):
        some = [row for row in rows if (row["source"], row["goal"]) == (source, goal)]
        ratios = [row["few"] / row["many"] for row in some]
        cells = [source, goal, used(some[0]), f"{len(some)}"]
        cells += [f"{np.mean([row[key] for row in some]):.1f}" for key in ("few", "many")]
        cells += [f"{np.median(ratios):.2f}", f"{max(ratios):.2f}", percent(float(np.mean([r["mean"] for r in some])))]
        found.append(cells)
    return lines + table(columns, found, 3)


BEGIN, END = "<!-- made by make bench-learn -->", "<!-- end -->"


def summary(result: dict) -> str:
    """Return the tables for docs/benchmarks.md."""
    lines: list[str] = []
    if "astar" in result:
        columns = ["A\\*", "goal", "Dijkstra", "fewer", "mean excess", "99 %", "worst", "regret"]
        found = []
        for row in result["astar"]["rows"]:
            ours = row["learners"]["learn, 1 %"]
            cells = [row["source"], row["goal"], f"{row['Dijkstra']:,.0f}", f"{ours['fewer']:.1f}"]
            cells += [percent(ours[key]) for key in ("mean", "99 %", "worst")]
            found.append([*cells, "–" if row["regret"] is None else f"{row['regret']:.2f}"])
        lines += table(columns, found, 2)
    return "\n".join(lines)


def write_page(result: dict, page: Path) -> None:
    """Put the tables into the page."""
    head, rest = page.read_text().split(BEGIN)
    page.write_text(f"{head}{BEGIN}\n{summary(result)}{END}{rest.split(END, 1)[1]}")


SECTIONS: dict[str, Callable[[list[dict]], list[str]]] = {"astar": astar, "kept": kept, "few": few}


def markdown(result: dict) -> str:
    """Return the page."""
    lines = ["# Learners and `rs.learn` on every source", ""]
    lines += [
        "Made by `make bench-learn`. Sources and how they are split: `benchmarks/sources.py`. *Used for*: "
        "rules of `learn` were made with some sources in view; on those marked "
        "*reported* they were only reported. All times are processor time, of one thread.",
        "",
    ]
    for name, section in SECTIONS.items():
        if name in result:
            lines += [
                *section(result[name]["rows"]),
                f"This table took {result[name]['seconds'] / 60:.0f} minutes.",
                "",
            ]
    return "\n".join(lines)
