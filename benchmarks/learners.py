"""Everything about learners: values for A* on roads, for greedy search on worlds of obstacles, and what fits cost.

    make bench-learners                                   all parts, and an overview in benchmarks/results/learners.md
    python benchmarks/learners.py metr_la                 one of them

Seeds are fixed. Everything is chosen on training and validation parts, and reported on test parts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
PARTS = {
    "metr_la": "A* on the roads of Los Angeles",
    "worlds": "Greedy search on worlds of obstacles",
    "sizes": "Time and memory of fits",
}


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        print(f"unknown part {unknown[0]!r}; there are {', '.join(PARTS)}")
        return 2
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    for name in chosen:
        import_module(f"learners_{name}").run(folder)
    for name in PARTS if not chosen else ():
        # Each in a process of its own: the largest memory of one is not counted for the next.
        subprocess.run([sys.executable, __file__, name], check=True)
    figures = {
        name: json.loads(file.read_text()) for name in PARTS if (file := folder / f"learners_{name}.json").exists()
    }
    head = headlines(figures)
    (folder / "learners.json").write_text(json.dumps(head, indent=1) + "\n")
    (folder / "learners.md").write_text(overview(head))
    print(f"written: {folder}/learners.md")
    return 0


def headlines(figures: dict) -> dict:
    """Return the figures that matter most, from those of the parts."""
    head: dict = {}
    if "metr_la" in figures:
        rows = figures["metr_la"]["learners"]
        names = ["Dijkstra", *(f"program, penalty {p}" for p in (10.0, 1.5, 0.5))]
        names += [f"bumps, penalty {p}" for p in (10.0, 1.5, 0.5)]
        names += [f"portfolio of 8, penalty {p}, 800 snapshots" for p in (1.5, 0.5)]
        names = [name for name in names if "most" in rows.get(name, {})]  # an older run has fewer figures
        head["metr_la"] = {
            name: {key: rows[name][key] for key in ("expanded", "over", "most", "worst")} for name in names
        }
    if "worlds" in figures:
        head["worlds"] = {
            name: row["baselines"]
            | {
                "learned": row["learned"]["chosen"]["test"],
                "unseen": row["learned"]["chosen"]["unseen"],
                "unseen worlds": row["worlds"]["unseen"],
                "published": row["published"],
            }
            for name, row in figures["worlds"]["families"].items()
        }
    return head


def overview(head: dict) -> str:
    """Return one page that leads to the parts."""
    lines = ["# Learners, measured", ""]
    lines += [f"- [{title}](learners_{name}.md)" for name, title in PARTS.items() if name in head]
    lines += ["- [Time and memory of fits](learners_sizes.md)"]
    if "metr_la" in head:
        lines += [
            "",
            "## A* on roads",
            "",
            "| | expansions | above the optimum | 99 % | worst |",
            "|---|--:|--:|--:|--:|",
        ]
        for name, row in head["metr_la"].items():
            cells = f"{row['expanded']:.1f} | {row['over']:.2f} % | {row['most']:.1f} % | {row['worst']:.1f} %"
            lines.append(f"| {name} | {cells} |")
    if "worlds" in head:
        lines += ["", "## Greedy search on worlds", ""]
        lines += [
            "Mean expansions on the test worlds, which were in view when defaults were chosen, and on unseen worlds, "
            "which had no part in choosing anything and are in no other part. Where these are few, they are atypical.",
            "",
        ]
        lines += ["| source | family | Euclid, test | learned, test | learned, unseen | path, test |"]
        lines += ["|---|---|--:|--:|--:|--:|"]
        for name, row in head["worlds"].items():
            lines.append(
                f"| {'files of SaIL' if row['published'] is not None else 'drawn by rhostar'} | "
                f"{name.replace('_', ' ')} | {row['Euclid']:,.0f} | {row['learned']:,.0f} | {row['unseen']:,.0f} "
                f"({row['unseen worlds']} worlds) | {row['path']:,.0f} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
