"""Figures of the lab: growth curves, and the sizes of the shattered sets in the atlas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rhostar.bounds import _capacity as capacity
from rhostar.lab._crowds import crowds
from rhostar.lab._growth_counts import Growth
from rhostar.lab.atlas import entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"gbfs": "tab:green", "astar-reopen": "tab:blue", "astar-closed": "tab:red"}
_MARKERS = {"gbfs": "o", "astar-reopen": "D", "astar-closed": "."}  # smaller ones on top of larger ones
_NAMES = {"gbfs": "GBFS", "astar-reopen": "A* with reopening", "astar-closed": "A* without reopening"}


def growth_figure(growth: Growth) -> Figure:
    """Draw lg of the numbers of utility vectors and joint behaviours against N, with the upper bounds.

    Bounds more than three times as high as all counts appear only in the legend, with their value, so that the curves
    stay readable.

    Parameters
    ----------
    growth
        What :func:`rhostar.lab.growth` returned.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import rhostar as rs
    >>> counted = rs.lab.growth(rs.lab.theorem5_instances(7).instances, rs.utilities.Cost(3), "gbfs")
    >>> rs.lab.growth_figure(counted).axes[0].get_xlabel()
    'instances N'
    """
    figure, ax = _figure(8.5, 4.5)
    N = np.arange(1, len(growth) + 1)
    ax.plot(N, np.log2(growth.behaviours), "s-", color="tab:blue", label="joint behaviours")
    ax.plot(N, np.log2(growth.vectors), "o-", color="tab:red", label="utility vectors")
    ax.plot(N, N, ":", color="0.3", label="2ᴺ: shattered on this line")
    top = 3 * max(len(growth), math.log2(growth.behaviours[-1]))
    for number, (label, values) in enumerate(growth.bounds.items()):
        shade = str(0.15 + 0.6 * number / max(1, len(growth.bounds) - 1))
        if values[-1] <= top:
            ax.plot(N, values, "--", color=shade, label=f"{label}: upper bound")
        else:
            ax.plot([], [], " ", label=f"{label}: {values[-1]:,.0f} at N = {N[-1]}")
    ax.set_xticks(N)
    _finish(ax, "instances N", "lg of the number", f"{growth.algorithm}, n = {growth.n}, {growth.utility.name}")
    return figure


def atlas_figure() -> Figure:
    """Draw the largest known shattered sets against n, with the constructions and the upper bound for greedy search.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for the cost and one for expansions.

    Examples
    --------
    >>> import rhostar as rs
    >>> [ax.get_title() for ax in rs.lab.atlas_figure().axes]
    ['cost', 'expansions']
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", sharey=True)
    found = entries()
    vertices = sorted({witness.n for witness in found.values()})
    for ax, utility in zip(axes, ("cost", "expanded"), strict=True):
        for search, colour in _COLOURS.items():
            best = [
                max(len(w) for name, w in found.items() if name.startswith(f"{search}-{utility}") and w.n == n)
                for n in vertices
            ]
            size = 8 if search == "astar-reopen" else 6
            ax.plot(vertices, best, "-", marker=_MARKERS[search], ms=size, color=colour, label=_NAMES[search])
        lines = {"n − 4 (Theorem 5)": -4, "n − 2 (T5p, GBFS)": -2, "n − 1 (T5p, A*)": -1}
        for number, (name, less) in enumerate(lines.items()):
            if utility == "cost":
                ax.plot(vertices, [n + less for n in vertices], "--", color=str(0.35 + 0.2 * number), label=name)
        if utility == "expanded":
            ax.plot(vertices, [2 * (n - 3) for n in vertices], "--", color="0.5", label="2(n − 3) (A*)")
        exact = [capacity.greedy(n).log_count / math.log(2) for n in vertices]
        ax.plot(vertices, exact, ":", color="tab:green", label="lg (n − 1)! (GBFS, upper)")
        astar = [capacity.catalan_in_open(n, 1).log_count / math.log(2) for n in vertices]
        ax.plot(vertices, astar, ":", color="0.2", label="C1p, weights ≤ 1 (A*, upper)")
        ax.set_ylim(0, 18)
        ax.set_xticks(vertices)
        _finish(
            ax,
            "vertices n",
            "shattered instances" if utility == "cost" else "",
            {"expanded": "expansions"}.get(utility, utility),
        )
    return figure


def crowds_figure() -> Figure:
    """Draw lg of the largest known number of behaviours of a single instance against n.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.lab.crowds_figure().axes[0].get_ylabel()
    'lg of the behaviours of one instance'
    """
    figure, ax = _figure(9, 4.5)
    for search, colour in _COLOURS.items():
        for weights, style in (("unit", "s--"), ("large", "o:")):
            points = sorted((c.n, c.behaviours) for c in crowds() if (c.search, c.weights) == (search, weights))
            if points:
                ax.plot(
                    [n for n, _ in points],
                    [math.log2(b) for _, b in points],
                    style,
                    color=colour,
                    label=f"{_NAMES[search]}, {weights} weights",
                )
    x = list(range(4, 9))
    for less, name in ((2, "⌊e(n − 2)!⌋: exact for A* without reopening"), (3, "⌊e(n − 3)!⌋: the star, GBFS")):
        lines = [math.log2(max(2, math.floor(math.e * math.factorial(n - less)))) for n in x]
        ax.plot(x, lines, ":", color=str(0.1 * less), label=name)
    ax.set_xticks(x)
    _finish(ax, "vertices n", "lg of the behaviours of one instance", "The most behaviours found")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")


def _finish(ax: Axes, x: str, y: str, title: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
