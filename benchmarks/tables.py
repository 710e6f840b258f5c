"""What benchmarks/search.py measured, as JSON, Markdown, a plot, and the table of docs/benchmarks.md."""

from __future__ import annotations

import json
import math
from pathlib import Path

US = "rhostar"
BEGIN, END = "<!-- made by make bench-search -->", "<!-- end -->"


def write_results(result: dict, folder: Path, page: Path) -> None:
    """Write everything; the table of the page goes between its two markers."""
    folder.mkdir(exist_ok=True)
    (folder / "search.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "search.md").write_text(details(result))
    plot(result, folder / "search.png")
    text = page.read_text()
    head, rest = text.split(BEGIN)
    page.write_text(f"{head}{BEGIN}\n{summary(result)}{END}{rest.split(END)[1]}")


def rows(result: dict) -> list[tuple[str, dict]]:
    """Return (label, field) for every comparison, large graphs first."""
    found = [
        (f"{graph}: {label}", entry["field"])
        for graph, entries in result["large"].items()
        for label, entry in entries.items()
    ]
    found.append(("2,000 instances of a 32x32 grid", result["batch"]))
    found += [(f"calls on 200 vertices, {rho} ρ", field) for rho, field in result["calls"].items()]
    found.append(("greedy search on the road graph", result["gbfs"]["field"]))
    return found


def summary(result: dict) -> str:
    """Return a table: how many times as long each library takes."""
    columns = ["NetworKit", "scipy", "igraph", "rustworkx", "networkx"]
    lines = [f"| | rhostar | {' | '.join(columns)} |", "|---|--:|" + "--:|" * len(columns)]
    died = {
        f"{graph}: {label}": entry.get("igraph A*", "").startswith("killed")
        for graph, entries in result["large"].items()
        for label, entry in entries.items()
    }
    for label, field in rows(result):
        cells = []
        for column in columns:
            times = [
                (row["ratio"], name) for name, row in field.items() if name.startswith(column) and "told" not in name
            ]
            cells.append(f"{min(times)[0]:.1f}×" if times else "")
        if died.get(label):
            cells[2] = "dies"
        lines.append(f"| {label} | {unit(field[US]['ms'])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def details(result: dict) -> str:
    """Return every ratio with its spread, the floor, and the cost of an expansion."""
    machine, versions = result["machine"], result["versions"]
    lines = [
        "# This engine against its peers",
        "",
        f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f". Medians of {result['rounds']} rounds in one process, all taking turns; in brackets the least and the "
        "largest ratio of a round. A ratio says how many times as long as rhostar a library takes.",
        "",
    ]
    for graph, entries in result["large"].items():
        lines += [f"## {graph}", ""]
        for label, entry in entries.items():
            lines += [f"**ρ: {label}** ({entry['expanded']:,} expansions, {entry['reopened']:,} reopened)", ""]
            lines += table(entry["field"])
            floor = entry["floor"]
            lines.append(
                f"The floor: just reading the edges of the same expansions takes {floor['edges']:.2f} of our time, "
                f"reading them and comparing g {floor['edges and g']:.2f}."
            )
            if "igraph A*" in entry:
                lines.append(f"igraph's A* on this query, in a process of its own: {entry['igraph A*']}.")
            lines.append("")
    lines += ["## A batch: 2,000 instances of a 32x32 grid", "", *table(result["batch"])]
    for rho, field in result["calls"].items():
        lines += [f"## Calls on 200 vertices, path included, {rho} ρ", "", *table(field)]
    lines += [f"## Greedy search ({result['gbfs']['expanded']:,} expansions)", "", *table(result["gbfs"]["field"])]
    lines += ["## Integer weights and ρ: time as a share of that with the same numbers as floats", ""]
    for graph, shares in result["integers"].items():
        lines.append(f"- {graph}: " + ", ".join(f"{rho} {share:.2f}" for rho, share in shares.items()))
    lines += ["", "## What an expansion costs, ρ = 0 on square grids", ""]
    lines += ["| vertices | expansions | largest OPEN | ns per expansion |", "|--:|--:|--:|--:|"]
    for row in result["growth"]:
        lines.append(f"| {row['n']:,} | {row['expanded']:,} | {row['peak_open']:,} | {row['ns']:.0f} |")
    lines += [
        "",
        "Two things grow. The heap gets deeper: its levels are the logarithm of the largest OPEN to base 4, "
        f"{levels(result['growth'][0])} on the smallest and {levels(result['growth'][-1])} on the largest grid. And "
        "the records (20 bytes per vertex, with 8 neighbors to look at) move away from the core: 20 KB fit the "
        "first cache, 2 MB just about the second, 20 MB neither.",
    ]
    return "\n".join(lines) + "\n"


def levels(row: dict) -> str:
    return f"{math.log(row['peak_open'], 4):.1f}"


def table(field: dict) -> list[str]:
    lines = ["| | time | ratio | | cost / optimum |", "|---|--:|--:|--:|--:|"]
    for name, row in field.items():
        spread = "" if name == US else f"({row['least']:.2f} to {row['most']:.2f})"
        lines.append(f"| {name} | {unit(row['ms'])} | {row['ratio']:.2f} | {spread} | {row['cost/optimum']:.4f} |")
    return [*lines, ""]


def unit(ms: float) -> str:
    if ms < 0.1:
        return f"{ms * 1e3:.1f} µs"
    return f"{ms:.1f} ms" if ms < 1000 else f"{ms / 1e3:.1f} s"


def plot(result: dict, file: Path) -> None:
    """Draw all ratios on a logarithmic axis, one row per comparison."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    comparisons = rows(result)[::-1]
    libraries = ["NetworKit", "scipy", "igraph", "rustworkx", "networkx"]
    figure, axis = plt.subplots(figsize=(8.6, 0.36 * len(comparisons) + 1.4), layout="constrained")
    axis.axvline(1, color="0.3", linewidth=1)
    for k, library in enumerate(libraries):
        points = [
            (row["ratio"], y, row["least"], row["most"])
            for y, (_, field) in enumerate(comparisons)
            for name, row in field.items()
            if name.startswith(library) and "told" not in name
        ]
        if points:
            x, y, least, most = zip(*points, strict=True)
            axis.plot(x, y, "o", color=f"C{k}", label=library, markersize=6)
            axis.hlines(y, least, most, color=f"C{k}", linewidth=1.5)
    axis.set_xscale("log")
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.set_yticks(range(len(comparisons)), [label for label, _ in comparisons], fontsize=8)
    axis.set_xlabel("time as a multiple of rhostar's (right of the line: slower)")
    axis.grid(axis="x", alpha=0.3)
    axis.legend(loc="upper center", bbox_to_anchor=(0.3, 1.1), ncols=5, frameon=False, fontsize=9)
    figure.savefig(file, dpi=120)
    plt.close(figure)
