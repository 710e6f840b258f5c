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
from rhostar.theory._color_code import truth_of
from rhostar.theory._color_tree import Node, color_tree
from rhostar.theory._processes import Number
from rhostar.theory._slacks import forest

ROOT = Path(__file__).parents[2]
PARTS = ("sides", "edges", "exponents", "mantissas", "owners")


def bounds(path: Path) -> None:
    """Draw bounds on the pseudo-dimension of A* without reopening, real weights, against n."""
    sizes = np.unique(np.geomspace(8, 10**6, 60).astype(int))
    found = [rs.pseudo_dimension(int(n), "astar", reopen=False) for n in sizes]
    figure, ax = _axes()
    curves = {
        "A": ("the paper, $O(n^2\\lg n)$", "0.6", "-"),
        "Ap": ("hyperplanes, sharper count", "tab:orange", "-"),
        "W": ("transcripts, $O(n\\lg^2 n)$", "tab:blue", "-"),
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
            shares[:, k] += [found.spent.get(part, 0.0) / found.limit / 10 for part in PARTS]
    figure, ax = _axes()
    bottom = np.zeros(len(sizes))
    for part, row in zip(PARTS, shares, strict=True):
        ax.bar(list(sizes), row, bottom=bottom, label=part, width=0.7)
        bottom += row
    ax.set_xlabel("vertices $n$")
    ax.set_ylabel("share of $L$")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
    figure.savefig(path)


class Sorting:
    """The processes of the note's example: they sort all vertices by offset and value."""

    def __init__(self, offsets: list[int]) -> None:
        self._left: dict[int, Number] = dict(enumerate(offsets))

    def options(self) -> dict[int, Number]:
        """Return what is left."""
        return dict(self._left)

    def select(self, v: int) -> None:
        """Remove a vertex."""
        del self._left[v]


EXAMPLE = ([0, 1, 16, 18], [0, 40, 1, 42])
"""Offsets of the two processes of the note's example; ρ is 0."""


def colortree(path: Path) -> None:
    """Draw the two forests of the note's example, and the color tree of both processes."""
    truth = truth_of([lambda o=o: Sorting(o) for o in EXAMPLE], 4, [0] * 4)  # type: ignore[misc]
    edges = [sorted(some.values(), key=lambda e: e[:3]) for some in truth.edges]
    forests = [forest(4, some) for some in edges]
    every = sorted((e for some in edges for e in some), key=lambda e: e[:3])
    without = {i: [(e.unit, e.pair) for e in forests[1 - i]] for i in (0, 1)}
    tree = color_tree(4, without, {(e.unit, e.pair): at for at, e in enumerate(every)})
    colors, at = ("tab:blue", "tab:orange"), {0: (0, 1), 1: (1, 1), 2: (0, 0), 3: (1, 0)}
    figure = Figure(figsize=(7.2, 2.3), layout="constrained")
    first, second, third = figure.subplots(1, 3, width_ratios=[1, 1, 2.2])
    for ax, i in ((first, 1), (second, 0)):
        for e in forests[i]:
            (x, y), (u, v) = (at[p] for p in e.pair)
            ax.plot([x, u], [y, v], color=colors[i], linewidth=2, zorder=1)
            middle = (x + u) / 2, (y + v) / 2
            ax.annotate(f"{e.exponent}", middle, ha="center", va="center", backgroundcolor="white", fontsize=9)
        for p, (x, y) in at.items():
            _vertex(ax, x, y, "abcd"[p])
        ax.set_title(f"$K_{2 - i}=K(\\{{{i + 1}\\}})$", fontsize=9)
        ax.set_xlim(-0.3, 1.3)
        ax.set_ylim(-0.3, 1.3)

    def place(node: Node, left: float, right: float, depth: int) -> tuple[float, float]:
        x, y = (left + right) / 2, -depth
        if node.parts is not None and node.color is not None:
            share = left + (right - left) * len(node.parts[0].vertices) / len(node.vertices)
            for part, low, high in ((node.parts[0], left, share), (node.parts[1], share, right)):
                u, v = place(part, low, high, depth + 1)
                third.plot([x, u], [y, v], color="0.6", zorder=0)
        color = "white" if node.color is None else ("lightblue", "navajowhite")[node.color]
        third.annotate(
            ",".join("abcd"[p] for p in sorted(node.vertices)) + ("" if node.color is None else f":  {node.color + 1}"),
            (x, y),
            ha="center",
            va="center",
            fontsize=9,
            bbox={"boxstyle": "round", "facecolor": color, "edgecolor": "0.3"},
        )
        return x, y

    place(tree, 0, 4, 0)
    third.set_title("color tree (the number is the process that asks)", fontsize=9)
    third.set_xlim(0, 4)
    third.set_ylim(-2.4, 0.4)
    for ax in (first, second, third):
        ax.axis("off")
    figure.savefig(path)


def _vertex(ax: Axes, x: float, y: float, name: str) -> None:
    circle = {"boxstyle": "circle", "facecolor": "white", "edgecolor": "0.3"}
    ax.annotate(name, (x, y), ha="center", va="center", fontsize=9, bbox=circle, zorder=2)


def checked(path: Path) -> None:
    """Write the table of what was run, from the results of benchmarks/theorems.py."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "theorems.json").read_text())["rows"]
    column = ">{\\raggedright\\arraybackslash}p{%s\\textwidth}"
    head = ["\\toprule", "statement & run & checked\\\\", "\\midrule"]
    lines = [
        "\\begin{longtable}{@{}" + "".join(column % width for width in ("0.25", "0.51", "0.13")) + "@{}}",
        "\\caption{What was run; every case agreed. ``Proof'': how often the proof was checked line by line by "
        "somebody who did not write it. ``Programs'': how often the statement was run by a program that shares "
        "nothing with ours. "
        "The numbers are written by \\code{benchmarks/theorems.py}.}\\label{tab:checked}\\\\",
        *(*head, "\\endfirsthead", *head, "\\endhead", "\\bottomrule", "\\endfoot"),
    ]
    for row in rows:
        if row["note"]:
            lines.append(f"{tex(row['note'])} & {tex(row['run'])} & {tex(row['checked'])}\\\\")
    path.write_text("\n".join([*lines, "\\end{longtable}", ""]))


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
        "2^40": "$2^{40}$",
        "E\\_N": "$E_N$",
        "×": "$\\times$",
        "ρ": "$\\rho$",
        "lg n!": "$\\lg n!$",
    }.items():
        text = text.replace(plain, written)
    return text.replace("A*", "\\astar{}").replace("L*", "$L^*$")


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    return figure, figure.add_subplot()


def main(folder: str) -> int:
    """Write all figures as PDF, and the table."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for draw in (bounds, colortree, converter, message):
        draw(home / f"{draw.__name__}.pdf")
    checked(home / "checked.tex")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
