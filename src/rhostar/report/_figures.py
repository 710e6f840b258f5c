"""The style of all figures: colors, axes and legends, for the page, light or dark."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rhostar.report._comparison import MethodView

# The light colors of templates/style.css. On the page each becomes the variable of that name, so that the
# reader's choice of light or dark reaches into the figures.
COLORS = {
    "ink": "#1a1e24",
    "muted": "#57606b",
    "line": "#dde1e6",
    "grid": "#e4e8ec",
    "c1": "#0a58b8",
    "c2": "#c2410c",
    "c3": "#0f766e",
    "c4": "#9d174d",
    "c5": "#6d28d9",
    "c6": "#6b7280",
    "c7": "#4d7c0f",
}
_LEARNED, _BASELINES = ("c1", "c2", "c4"), ("c6", "c3", "c5", "c7")
MARKERS = "osD^vP*X"
DASHES = ("-", "--", "-.", ":")
_SIZE = (4.5, 3.3)  # inches; small, so that letters stay readable on a phone


def inline(figure: Figure, name: str, label: str) -> str:
    """Return a figure as an SVG element in the page's colors and font, with a label for people who cannot see it."""
    import matplotlib as mpl

    # Ids must differ from those of the other figures on the page.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", text)
    text = re.sub(r"\s+\n|\n\s+", "\n", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    referred = set(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda found: found.group() if found.group(1) in referred else "", text)
    for variable, color in COLORS.items():
        text = text.replace(color, f"var(--{variable})")
    view = re.search(r'viewBox="[^"]*"', text)
    assert view is not None
    opening = f'<svg role="img" aria-label="{label}" {view.group()} xmlns:xlink="http://www.w3.org/1999/xlink">'
    return opening + text[text.index(">") + 1 :]


def colors(methods: Sequence[MethodView]) -> dict[str, str]:
    """Return a color for each method: strong ones for learned values."""
    chosen: dict[str, str] = {}
    for kind, names in (("learned", _LEARNED), ("baseline", _BASELINES)):
        members = [m.name for m in methods if m.kind == kind]
        chosen |= {name: COLORS[names[k % len(names)]] for k, name in enumerate(members)}
    return chosen


def axes(x_label: str, y_label: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axis = figure.subplots()
    axis.set_xlabel(x_label, color=COLORS["muted"], fontsize=10.5)
    # Level, and never cut off.
    axis.set_title(textwrap.fill(y_label, 46), loc="left", color=COLORS["muted"], fontsize=10.5)
    axis.grid(True, color=COLORS["grid"], linewidth=0.8)
    axis.set_axisbelow(True)
    axis.tick_params(colors=COLORS["muted"], labelsize=10, length=0)
    axis.tick_params(which="minor", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(COLORS["muted"])
    return figure, axis


def legend(figure: Figure, axis: Any, columns: int) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(columns, max(1, len(labels))),
        frameon=False,
        fontsize=9.5,
        labelcolor=COLORS["ink"],
        handlelength=1.6,
        columnspacing=1.4,
    )


def log_axis(axis: Any) -> None:
    """Make the axis logarithmic, with whole numbers written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def percent_axis(axis: Any, top: float) -> None:
    """Show per cent, with room for differences near 0: linear up to 0.1 %, logarithmic beyond."""
    if top <= 1.0:
        axis.set_ylim(-0.03 * max(top, 0.1), 1.1 * max(top, 0.1))
        axis.yaxis.set_major_formatter("{x:g} %")
        return
    axis.set_yscale("symlog", linthresh=0.1, linscale=0.6)
    ticks = [0.0, 0.1, 1.0, 10.0, 100.0, 1000.0]
    shown = [t for t in ticks if t <= 3 * top]
    axis.set_yticks(shown, [f"{t:g} %" for t in shown])
    axis.minorticks_off()
    axis.set_ylim(-0.02, 1.6 * top)


def short(name: str, most: int = 30) -> str:
    """Return a name for a legend; matplotlib gives dollar signs and a leading underscore a special meaning."""
    plain = name.replace("$", r"\$")
    plain = plain if len(plain) <= most else plain[: most - 1] + "…"
    return " " + plain if plain.startswith("_") else plain
