"""Draws the figures of the note, and writes its table of what was run, into a folder.

    python docs/note/figures.py build/note

Everything is computed when this is called, except the table, which `benchmarks/theorems.py` measured.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rhostar as rs

ROOT = Path(__file__).parents[2]
PARTS = ("matchings", "edges", "exponents", "mantissas", "owners")


def bounds(path: Path) -> None:
    """Draw bounds on the pseudo-dimension of A* without reopening, real weights, against n."""
    sizes = np.unique(np.geomspace(8, 10**6, 60).astype(int))
    found = [rs.pseudo_dimension(int(n), "astar", reopen=False) for n in sizes]
    figure, ax = _axes()
    curves = {
        "A": ("the paper, $O(n^2\\lg n)$", "0.6", "-"),
        "Ap": ("hyperplanes, sharper count", "tab:orange", "-"),
        "W": ("transcripts, $O(n\\lg^3 n)$", "tab:blue", "-"),
        "Q64": ("float64 tables, $64n$", "tab:green", "--"),
        "R1": ("lower: some utility", "tab:purple", ":"),
        "Pc": ("lower: cost", "tab:red", "-"),
        "T5": ("lower: the paper, $n-4$", "0.6", "-"),
    }
    for label, (name, color, style) in curves.items():
        kept = [(n, row[label]) for n, row in zip(sizes, found, strict=True) if label in {r.label for r in row}]
        ax.loglog(*zip(*kept, strict=True), style, color=color, label=name)
    ax.set_xlabel("vertices $n$")
    ax.set_ylabel("instances")
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def converter(path: Path, bits: int = 4) -> None:
    """Draw the cost along the converter's line, exactly, without and with reopening."""
    instance, base, direction, high = rs.theory.converter(bits)
    figure, ax = _axes()
    for reopen, style in ((False, "-"), (True, "--")):
        pieces = rs.theory.pieces(*instance, base, direction, 0, high - 1, reopen=reopen)
        ends = [(float(piece.interval.low), float(piece.interval.high), piece.run.cost) for piece in pieces]
        color = "tab:orange" if reopen else "tab:blue"
        for k, (low, top, cost) in enumerate(ends):
            label = f"{'with' if reopen else 'without'} reopening" if k == 0 else None
            ax.plot([low, top], [cost, cost], style, color=color, label=label, linewidth=2)
    ax.set_xlabel("$x$")
    ax.set_ylabel("cost")
    ax.legend(frameon=False)
    figure.savefig(path)


def message(path: Path) -> None:
    """Draw what messages spend their bits on, as a share of L, with reopening and N = n."""
    rng, sizes = random.Random(0), range(4, 11)
    shares = np.zeros((len(PARTS), len(sizes)))
    for k, n in enumerate(sizes):
        for _ in range(10):
            graph = rs.Graph.from_edges(n, *zip(*((u, v) for u in range(n) for v in range(n) if u != v), strict=True))
            instances = [
                rs.instances.Instance(graph, [rng.getrandbits(rng.randint(1, 40)) for _ in range(graph.m)], 0, n - 1)  # type: ignore[arg-type]
                for _ in range(n)
            ]
            found = rs.theory.encode([rng.getrandbits(rng.randint(1, 40)) for _ in range(n)], instances, orders=6)
            shares[:, k] += [found.spent[part] / found.limit / 10 for part in PARTS]
    figure, ax = _axes()
    bottom = np.zeros(len(sizes))
    for part, row in zip(PARTS, shares, strict=True):
        ax.bar(list(sizes), row, bottom=bottom, label=part, width=0.7)
        bottom += row
    ax.set_xlabel("vertices $n$")
    ax.set_ylabel("share of $L$")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
    figure.savefig(path)


def checked(path: Path) -> None:
    """Write the table of what was run, from the results of benchmarks/theorems.py."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "theorems.json").read_text())["rows"]
    lines = [
        "\\begin{tabular}{@{}p{0.30\\textwidth}p{0.62\\textwidth}@{}}",
        "\\toprule",
        "statement & run\\\\",
        "\\midrule",
    ]
    lines += [f"{tex(row['note'])} & {tex(row['run'])}\\\\" for row in rows if row.get("note")]
    path.write_text("\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""]))


def tex(text: str) -> str:
    """Return plain text of the results as TeX; commands and references in it stay."""
    for plain, written in {
        "%": "\\%",
        "_": "\\_",
        "≤": "$\\le$",
        "−": "$-$",
        "Σ": "$\\Sigma$",
        "·": "$\\cdot$",
        "ℓ": "$\\ell$",
        "ρ\\_t": "$\\rho_t$",
        "2^k": "$2^k$",
    }.items():
        text = text.replace(plain, written)
    return text.replace("A*", "\\astar{}")


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    return figure, figure.add_subplot()


def main(folder: str) -> int:
    """Write all figures as PDF, and the table."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for draw in (bounds, converter, message):
        draw(home / f"{draw.__name__}.pdf")
    checked(home / "checked.tex")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
