"""The figures of a report: one drawing each, for the page (in its colours, light or dark) and for papers."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rhostar import _files as files
from rhostar.errors import StorageError
from rhostar.report._view import CertificateView, Curve, DualView, Generalisation, MethodView, Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The light colours of templates/style.css. On the page each becomes the variable of that name, so that the
# reader's choice of light or dark reaches into the figures.
_COLOURS = {
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
_MARKERS = "osD^vP*X"
_DASHES = ("-", "--", "-.", ":")
_SIZE = (4.9, 3.4)  # inches; small, so that letters stay readable on a phone


def available(report: Report) -> dict[str, Callable[[], Figure]]:
    """Return the figures that a report has, by name."""
    found: dict[str, Callable[[], Figure]] = {}
    if report.methods:
        found["trade_off"] = lambda: trade_off(report)
    if report.distributions:
        found["distribution"] = lambda: distribution(report)
    if report.certificate is not None and report.certificate.bounds:
        certificate = report.certificate
        found["bounds"] = lambda: bounds(certificate)
        if certificate.curves:
            found["bounds_against_n"] = lambda: bounds_against_n(certificate)
    if report.generalisation is not None:
        curve = report.generalisation
        found["generalisation"] = lambda: generalisation(curve)
    if report.dual is not None:
        function = report.dual
        found["dual"] = lambda: dual(function)
    return found


def save(report: Report, folder: Path) -> list[Path]:
    """Write every figure as SVG and PNG into a folder; returns the files."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in available(report).items():
            figure = draw()
            for suffix in ("svg", "png"):
                path = folder / f"{name}.{suffix}"
                with files.replacing(path) as beside:
                    figure.savefig(beside, dpi=200, metadata={"Date": None} if suffix == "svg" else None)
                written.append(path)
    except OSError as error:
        raise StorageError(f"could not write figures to {folder}: {error}") from error
    return written


def inline(figure: Figure, name: str, label: str) -> str:
    """Return a figure as an SVG element for the page: its colours, its letters, a label for those who cannot see it."""
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
    for variable, colour in _COLOURS.items():
        text = text.replace(colour, f"var(--{variable})")
    view = re.search(r'viewBox="[^"]*"', text)
    assert view is not None
    opening = f'<svg role="img" aria-label="{label}" {view.group()} xmlns:xlink="http://www.w3.org/1999/xlink">'
    return opening + text[text.index(">") + 1 :]


# ---------------------------------------------------------------- one by one


def trade_off(report: Report) -> Figure:
    """Draw expansions against cost above the optimum, for each method and as values are scaled."""
    figure, axis = _axes("expanded vertices, mean", "cost above the optimum, mean")
    colour = colours(report.methods)
    for line in report.tradeoffs:
        axis.plot(
            line.expansions, [100 * e for e in line.excess], "-", color=colour[line.name], linewidth=1.4, zorder=2
        )
    for k, method in enumerate(report.methods):
        axis.plot(
            method.expansions,
            100 * method.excess,
            _MARKERS[k % len(_MARKERS)],
            color=colour[method.name],
            markersize=8 if method.kind == "learned" else 6.5,
            label=f"{_short(method.name)}",
            zorder=3,
            clip_on=False,
        )
    _log_axis(axis)
    shares = [m.excess for m in report.methods] + [e for line in report.tradeoffs for e in line.excess]
    _percent_axis(axis, max([100 * share for share in shares if np.isfinite(share)], default=0.0))
    _legend(figure, axis, 2)
    return figure


def distribution(report: Report) -> Figure:
    """Draw the share of instances that need at most so many expansions."""
    figure, axis = _axes("expanded vertices", "share of instances")
    colour = colours(report.methods)
    learned = {m.name for m in report.methods if m.kind == "learned"}
    for k, curve in enumerate(report.distributions):
        axis.plot(
            curve.x,
            [100 * y for y in curve.y],
            "-" if curve.name in learned else _DASHES[k % 4],
            color=colour[curve.name],
            linewidth=2.2 if curve.name in learned else 1.5,
            label=_short(curve.name),
            drawstyle="steps-post",
        )
    _log_axis(axis)
    axis.set_ylim(0, 102)
    axis.yaxis.set_major_formatter("{x:g} %")
    _legend(figure, axis, 2)
    return figure


def bounds(certificate: CertificateView) -> Figure:
    """Draw what each bound says beside what was measured."""
    rows = [b for b in certificate.bounds if not b.vacuous] or list(certificate.bounds)
    figure, axis = _axes(f"{certificate.utility}, mean on unseen instances", "")
    for k, row in enumerate(rows):
        tone = _COLOURS["c1" if row.holds_for == "every rho" else "c3"]
        axis.plot([row.empirical, row.value], [k, k], color=tone, linewidth=5, solid_capstyle="butt", alpha=0.35)
        axis.plot(row.empirical, k, "|", color=_COLOURS["muted"], markersize=11)
        axis.plot(row.value, k, "o", color=tone, markersize=7)
    axis.set_yticks(range(len(rows)), [_short(row.name, 22) for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    return figure


def bounds_against_n(certificate: CertificateView) -> Figure:
    """Draw each bound against the number of instances it was computed from."""
    figure, axis = _axes("number of instances N", f"{certificate.utility}, bound on the mean")
    names = ["c1", "c2", "c3", "c4", "c5", "c6"]
    top = certificate.limit
    for k, curve in enumerate(certificate.curves):
        measured = curve.note == "measured"
        axis.plot(
            curve.x,
            curve.y,
            ":" if measured else _DASHES[(k // 6) % 4],
            marker=None if measured else _MARKERS[k % len(_MARKERS)],
            markersize=4,
            color=_COLOURS["muted"] if measured else _COLOURS[names[k % 6]],
            linewidth=1.6,
            label=_short(curve.name, 26),
        )
    finite = [y for curve in certificate.curves for y in curve.y if np.isfinite(y) and y <= top]
    if finite and max(finite) > 0:
        axis.set_ylim(0, min(1.08 * top, 1.15 * max(finite)))
    _log_axis(axis)
    _legend(figure, axis, 2)
    return figure


def generalisation(curve: Generalisation) -> Figure:
    """Draw the mean utility on training and unseen instances against the number of training instances."""
    figure, axis = _axes("training instances", f"{curve.utility}, mean")
    axis.plot(curve.sizes, curve.test, "o-", color=_COLOURS["c1"], linewidth=2, label="unseen instances")
    axis.plot(curve.sizes, curve.train, "s--", color=_COLOURS["c2"], linewidth=1.6, label="training instances")
    axis.set_xscale("log")
    axis.set_xticks(curve.sizes, [f"{s:,}" for s in curve.sizes])
    axis.minorticks_off()
    top = max(*curve.test, *curve.train)
    if curve.reference is not None and curve.reference[1] < 4 * top:  # beyond, it would flatten the lines
        axis.axhline(curve.reference[1], color=_COLOURS["c6"], linestyle=":", label=_short(curve.reference[0]))
        top = max(top, curve.reference[1])
    axis.set_ylim(0, 1.12 * top)
    _legend(figure, axis, 2)
    return figure


def dual(function: DualView) -> Figure:
    """Draw the exact pieces of the mean utility along a line, and its least value."""
    figure, axis = _axes("θ", f"{function.utility}, mean")
    axis.stairs(function.values, function.edges, baseline=None, color=_COLOURS["c1"], linewidth=1.3)
    axis.plot(function.best_theta, function.best_value, "o", color=_COLOURS["c2"], markersize=7, zorder=3)
    axis.annotate(
        f"least: {function.best_value:.4g} at θ = {function.best_theta:.3g}",
        (function.best_theta, function.best_value),
        xytext=(0.97, 0.93),
        textcoords="axes fraction",
        ha="right",
        va="top",
        color=_COLOURS["c2"],
        fontsize=10,
        arrowprops={"arrowstyle": "-", "color": _COLOURS["c2"], "linewidth": 0.8},
    )
    axis.set_xlim(function.edges[0], function.edges[-1])
    return figure


# ---------------------------------------------------------------- what they share


def colours(methods: Sequence[MethodView]) -> dict[str, str]:
    """Return a colour for each method: strong ones for what was learned."""
    chosen: dict[str, str] = {}
    for kind, names in (("learned", _LEARNED), ("baseline", _BASELINES)):
        members = [m.name for m in methods if m.kind == kind]
        chosen |= {name: _COLOURS[names[k % len(names)]] for k, name in enumerate(members)}
    return chosen


def _axes(x_label: str, y_label: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axis = figure.subplots()
    axis.set_xlabel(x_label, color=_COLOURS["muted"], fontsize=10.5)
    axis.set_title(y_label, loc="left", color=_COLOURS["muted"], fontsize=10.5)  # level, and never cut off
    axis.grid(True, color=_COLOURS["grid"], linewidth=0.8)
    axis.set_axisbelow(True)
    axis.tick_params(colors=_COLOURS["muted"], labelsize=10, length=0)
    axis.tick_params(which="minor", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(_COLOURS["muted"])
    return figure, axis


def _legend(figure: Figure, axis: Any, columns: int) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(columns, max(1, len(labels))),
        frameon=False,
        fontsize=9.5,
        labelcolor=_COLOURS["ink"],
        handlelength=1.6,
        columnspacing=1.4,
    )


def _log_axis(axis: Any) -> None:
    """Logarithmic, with whole numbers written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _percent_axis(axis: Any, top: float) -> None:
    """Per cent, with room for differences near 0: linear up to 0.1 %, logarithmic beyond."""
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


def _short(name: str, most: int = 30) -> str:
    """Return a name for a legend; matplotlib would take dollar signs and a leading underscore as its own."""
    plain = name.replace("$", r"\$")
    plain = plain if len(plain) <= most else plain[: most - 1] + "…"
    return " " + plain if plain.startswith("_") else plain


__all__ = ["Curve", "available", "bounds", "colours", "inline", "save"]
