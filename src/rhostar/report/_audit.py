"""The page of an audit: the findings in words, estimate against truth, where it is too high, the curve of a weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rhostar.certificates import Audit, WeightChoice, WeightCurve
from rhostar.certificates._statements import amount, percent
from rhostar.report._figures import COLORS, axes, legend, percent_axis
from rhostar.report._layout import places
from rhostar.report._page import Report
from rhostar.report._section import Chart, Section, escape, table, unfolding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 2000
"""Queries in a figure, at most: more only hide each other."""
_MAP = 4000
"""Vertices in a figure, at most."""


@dataclass(frozen=True, eq=False)
class Findings(Section):
    """Everything in sentences."""

    name: ClassVar[str] = "findings"
    title: ClassVar[str] = "Findings"
    heading: ClassVar[str] = "What was found"
    audit: Audit

    def body(self, chart: Chart) -> str:
        """Return the sentences as a list, and what they rest on."""
        items = "".join(f"<li>{escape(text)}</li>" for text in self.audit.sentences)
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.audit.notes)
        return f'<ul class="card findings">{items}</ul><p>{escape(self.audit.conditions)}</p>{notes}'


@dataclass(frozen=True, eq=False)
class Estimates(Section):
    """Estimates against true costs, and where on the map they are too high."""

    name: ClassVar[str] = "estimates"
    title: ClassVar[str] = "Estimates"
    heading: ClassVar[str] = "Estimate against truth"
    audit: Audit

    def body(self, chart: Chart) -> str:
        """Return both figures."""
        if self.audit.log.estimate is None:
            return ""
        texts = [
            chart(
                "estimates", "Estimate against true cost", "One point for each query. Above the line it is too high."
            ),
        ]
        if "map" in self.figures():
            seen = self.audit.values
            assert seen is not None
            texts.append(
                chart(
                    "map",
                    "Where the estimates are too high",
                    f"Vertices at which the estimate is too high for {seen.scope}; the darker, the more often.",
                )
            )
        return f'<div class="columns">{"".join(texts)}</div>'

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the two figures; no map if nothing is too high or the graph is large."""
        found: dict[str, Callable[[], Figure]] = {"estimates": self._points}
        seen = self.audit.values
        if seen is not None and seen.vertices.size and seen.graph.n <= _MAP:
            found["map"] = self._map
        return found if self.audit.log.estimate is not None else {}

    def _points(self) -> Figure:
        log = self.audit.log
        assert log.estimate is not None
        rows = log.rows(self.audit.factor)[:_POINTS]
        estimate, optimum = self.audit.factor * log.estimate[rows], log.optimum[rows]
        figure, axis = axes("true cost", "estimate")
        over = estimate > optimum * (1 + 1e-9)
        axis.plot(optimum[~over], estimate[~over], ".", ms=4, color=COLORS["c1"], alpha=0.6, label="not too high")
        axis.plot(optimum[over], estimate[over], ".", ms=4, color=COLORS["c2"], alpha=0.6, label="too high")
        top = float(max(optimum.max(), 1e-300))
        axis.plot([0, top], [0, top], color=COLORS["muted"], lw=1)
        legend(figure, axis, 2)
        return figure

    def _map(self) -> Figure:
        seen = self.audit.values
        assert seen is not None
        graph = seen.graph
        where = graph.coordinates if graph.coordinates is not None else places(graph)
        figure, axis = axes("", "vertices where the estimate is too high")
        axis.plot(where[:, 0], where[:, 1], ".", ms=1.5, color=COLORS["line"], zorder=0)
        share = seen.vertex_times / max(seen.pairs, 1)
        order = np.argsort(share)
        at = seen.vertices[order]
        for low, high in ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)):
            mine = at[(share[order] > low) & (share[order] <= high)]
            if mine.size:
                label = f"in {100 * low:g} to {100 * high:g} % of cases"
                axis.plot(*where[mine].T, "o", ms=3, color=COLORS["c2"], alpha=0.25 + 0.75 * high, mew=0, label=label)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.grid(False)
        legend(figure, axis, 2)
        return figure


@dataclass(frozen=True, eq=False)
class Weights(Section):
    """The curve of a weight, and the weight that was chosen."""

    name: ClassVar[str] = "weights"
    title: ClassVar[str] = "Factor"
    heading: ClassVar[str] = "What a factor on the heuristic costs and saves"
    curve: WeightCurve
    choice: WeightChoice | None

    def body(self, chart: Chart) -> str:
        """Return the choice, the figures and the table."""
        curve, rows = self.curve, []
        chosen = ""
        if self.choice is not None:
            chosen = (
                f'<div class="card guarantee"><p>{escape(self.choice.sentence)}</p>'
                f"{unfolding('What this assumes', f'<p>{escape(self.choice.conditions)}</p>')}</div>"
            )
        for k, factor in enumerate(curve.factors):
            best = self.choice is not None and self.choice.factor == factor
            saved = "" if np.isnan(curve.saved[k]) else percent(float(curve.saved[k]))
            band = f"{percent(float(curve.loss_low[k]), 'lower')} to {percent(float(curve.loss_high[k]))}"
            effort = "" if np.isnan(curve.effort[k]) else amount(float(curve.effort[k]))
            cells = (f"{factor:g}", effort, saved, percent(float(curve.loss[k])), band)
            rows.append(("best" if best else "", tuple(escape(cell) for cell in cells)))
        head = [("factor", False), ("effort", False), ("vs none", False), ("mean loss", False), ("new queries", False)]
        charts = chart("loss", "Mean loss against the factor", "The band holds for all factors at once.")
        charts += chart("effort", "Effort against the factor", "Expanded vertices per query.")
        return (
            f'{chosen}<div class="columns">{charts}</div>{table("The curve of a weight", head, rows)}'
            f"<p>{escape(curve.conditions)}</p>"
        )

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the loss with its band, and the effort if it is known."""
        known = not np.isnan(self.curve.effort).any()
        return {"loss": self._loss} | ({"effort": self._effort} if known else {})

    def _loss(self) -> Figure:
        curve = self.curve
        figure, axis = axes("factor on the heuristic", "mean loss")
        low, high = 100 * curve.loss_low, 100 * curve.loss_high
        axis.fill_between(
            curve.factors, low, high, color=COLORS["c2"], alpha=0.15, lw=0, label="new queries, all at once"
        )
        axis.plot(curve.factors, 100 * curve.loss, "o-", ms=4, color=COLORS["c2"], label="measured")
        if curve.exact_loss is not None:
            edges, mean = curve.exact_loss.intervals.edges, 100 * (curve.exact_loss.mean - 1)
            count = curve.exact_loss.pieces.size
            axis.stairs(mean, edges, baseline=None, color=COLORS["c1"], lw=1, label=f"exactly, on {count} queries")
        percent_axis(axis, float(high.max()))
        legend(figure, axis, 2)
        return figure

    def _effort(self) -> Figure:
        curve = self.curve
        figure, axis = axes("factor on the heuristic", "effort per query")
        axis.plot(curve.factors, curve.effort, "s-", ms=4, color=COLORS["c1"], label="measured")
        if curve.exact_effort is not None:
            edges, count = curve.exact_effort.intervals.edges, curve.exact_effort.pieces.size
            label = f"exactly, on {count} queries"
            axis.stairs(curve.exact_effort.mean, edges, baseline=None, color=COLORS["c3"], lw=1, label=label)
        axis.set_ylim(bottom=0)
        legend(figure, axis, 2)
        return figure


def audit_page(
    audit: Audit,
    curve: WeightCurve | None = None,
    choice: WeightChoice | None = None,
    *,
    title: str = "Is this A* right?",
) -> Report:
    """Return an audit as a page, for :func:`rhostar.report.write`.

    Parameters
    ----------
    audit
        What :func:`rhostar.audit` returned.
    curve
        What :func:`rhostar.weight_curve` returned; None leaves that section out.
    choice
        What :func:`rhostar.choose_weight` returned.
    title
        The title of the page.

    Returns
    -------
    Report

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.datasets.city(200, seed=0).draw(100, seed=1)
    >>> page = rs.report.audit_page(rs.audit(rs.heuristics.euclidean(instances.graph), instances))
    >>> [section.name for section in page.sections]
    ['findings', 'estimates']
    """
    sections: list[Section] = [Findings(audit), Estimates(audit)]
    if curve is not None:
        sections.append(Weights(curve, choice))
    return Report(title, _lead(audit), tuple(_tiles(audit, choice)), tuple(sections))


def _lead(audit: Audit) -> str:
    keys = {one.key: one for one in audit.statements}
    if "not optimal" not in keys:
        share = keys["too high"].measured
        return (
            "None of the estimates is too high." if share == 0 else f"{percent(share)} of the estimates are too high."
        )
    lost, mean = keys["not optimal"].measured, keys["mean loss"]
    if lost == 0:
        return "All of these answers are optimal."
    return (
        f"{percent(lost)} of these answers are not optimal. On average answers cost {percent(mean.measured)} more than "
        f"the optimum."
    )


def _tiles(audit: Audit, choice: WeightChoice | None) -> list[tuple[str, str]]:
    """Return the bounds on new queries, with the confidence of all of them together."""
    sure = f"new queries, {100 * audit.confidence:.6g}% confidence"
    words = {
        "too high": "of estimates are too high",
        "not optimal": "of answers are not optimal",
        "mean loss": f"mean loss (capped at {100 * audit.limit:g}%)",
        "quantile": "loss of 99% of answers",
        "effort": "of the effort without a heuristic",
    }
    found = [
        (f"≤ {percent(one.high)}", f"{words[one.key]}; {sure}")
        for one in audit.statements
        if one.key in words and one.high is not None and np.isfinite(one.high)
    ]
    if choice is not None and choice.factor is not None:
        said = f"the fastest factor shown to keep a mean loss of {percent(choice.mean_excess, 'lower')}"
        found.append((f"× {choice.factor:g}", f"{said}, {100 * choice.confidence:.6g}% confidence"))
    return found
