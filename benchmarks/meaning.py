"""Computes how many instances bounds for every ρ take, and a holdout; updates docs/what-it-means.md and its plot."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import rhostar as rs

ROOT = Path(__file__).parents[1]
PAGE, PLOT = ROOT / "docs" / "what-it-means.md", ROOT / "docs" / "images" / "what-it-means.png"
BEGIN, END = "<!-- made by benchmarks/meaning.py -->", "<!-- end -->"
EPSILON, DELTA = 0.1, 0.05
SIZES = (200, 10_000, 1_000_000)
ROWS = (  # label of the plan, of the curve, options
    ("H3 with A", "real values, the paper's bound", {}),
    ("H3p with Wp", "real values, this project's bound", {}),
    ("H1 with Q64", "values stored as float64", {}),
    ("H1 with Q", "values rounded to 256 levels", {"levels": 256}),
    ("H1 with C1p", "integer weights up to 1,000", {"integer_weights": 1000}),
)


def needed(n: int, label: str, options: dict[str, int]) -> int:
    """Return the instances for a mean within ε of the range, for every ρ, with one kind of count."""
    plans = rs.sample_size(n=n, algorithm="astar", epsilon=EPSILON, delta=DELTA, limit=1.0, side="upper", **options)
    return next(plan.value for plan in plans if plan.label == label)


def holdout() -> int:
    """Return the instances for one ρ that was chosen without them (Hoeffding): the same for every n."""
    return math.ceil(math.log(1 / DELTA) / (2 * EPSILON**2))


def rounded(count: int) -> str:
    """Return a number with three digits that count, rounded up."""
    unit = 10 ** max(0, len(str(count)) - 3)
    return f"{-(-count // unit) * unit:,}"


def table() -> str:
    """Return the table of the page."""
    lines = ["| | " + " | ".join(f"{n:,} vertices" for n in SIZES) + " |", "|---|" + "--:|" * len(SIZES)]
    for label, name, options in ROWS:
        lines.append(f"| {name} | " + " | ".join(rounded(needed(n, label, options)) for n in SIZES) + " |")
    lines.append(
        "| **a holdout**, one table chosen without it | " + " | ".join([f"**{holdout()}**"] * len(SIZES)) + " |"
    )
    return "\n".join(lines) + "\n"


def plot(file: Path) -> None:
    """Draw the instances needed against the number of vertices."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    ax = figure.add_subplot()
    sizes = np.unique(np.geomspace(10, 10**6, 40).astype(int)).tolist()
    for label, name, options in ROWS:
        ax.loglog(sizes, [needed(n, label, options) for n in sizes], label=name)
    ax.axhline(holdout(), color="black", linestyle="--", label="a holdout: one table")
    ax.set_xlabel("vertices")
    ax.set_ylabel("instances")
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=120)


def main() -> int:
    """Write both."""
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table()}\n{END}{rest.split(END)[1]}")
    plot(PLOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
