"""The section that compares all heuristics on the same instances: effort and quality."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._query_log import losses
from rhostar.certificates._summary import NO_UNIT, Costs
from rhostar.report._figures import DASHES, MARKERS, axes, colors, legend, log_axis, percent_axis, short
from rhostar.report._method import Method, Timings
from rhostar.report._section import Chart, Kind, Section, escape, table
from rhostar.report._wording import count, duration, percent
from rhostar.search import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class MethodView:
    """How one heuristic did on the instances of the report."""

    name: str
    algorithm: str
    """Its usual name: "A*", "A* without reopening", "greedy search"."""
    kind: Kind
    expansions: float
    """Mean number of expanded vertices."""
    expansions_95: float
    """95 % of the instances needed no more than this."""
    excess: float
    """Mean of cost / optimum - 1 over solved instances; 0 is optimal."""
    excess_99: float
    """99 % of the answers exceed the optimum by no more than this."""
    excess_max: float
    solved: int
    total: int
    saving: float
    """Mean expansions of the first baseline divided by these."""
    milliseconds: float = math.nan
    """The time of a query on one thread, when the numbers were made."""


@dataclass(frozen=True)
class Curve:
    """A named line of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class Comparison(Section):
    """The results of every heuristic."""

    name: ClassVar[str] = "comparison"
    title: ClassVar[str] = "Comparison"
    heading: ClassVar[str] = "Effort and quality"

    methods: tuple[MethodView, ...]
    distributions: tuple[Curve, ...] = ()
    """For each method the share of instances that need at most a number of expansions."""
    unseen: bool = True
    """Whether nothing was learned from the instances."""
    timings: Timings | None = None
    """What the times were measured on."""
    costs: Costs = NO_UNIT

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the figures on the page."""
        return {"trade_off": self._draw_trade_off, "distribution": self._draw_distribution}

    def body(self, chart: Chart) -> str:
        """Return the table, the figures and the numbers behind them."""
        most = max((m.expansions for m in self.methods), default=1.0) or 1.0
        unsolved = any(m.solved < m.total for m in self.methods)
        rows = table(
            "Table of all methods",
            [("method", True), *((what, False) for what in self._columns(unsolved))],
            (self._row(m, most, unsolved) for m in self.methods),
        )
        total = self.methods[0].total if self.methods else 0
        unseen = ", none of which was used for learning" if self.unseen else ""
        figures = chart(
            "trade_off",
            f"Vertices searched against how much {self.costs.above} the answers are, for every method; "
            "the table above has the numbers",
            f"Effort and quality: means over {self._all(total)}. Down and to the left is better.",
        ) + chart(
            "distribution",
            "Share of queries that each method answers within a number of vertices searched",
            f"Share of {self._all(total)} answered within a number of vertices searched. Up and to the left is better.",
        )
        return f"""<p>All methods answer the same {total:,} queries (instances){unseen}. A search looks at one
vertex after the other: the fewer it needs (expansions), the less work. {escape(self._timed(total))}</p>
{rows}
<div class="columns">{figures}</div>"""

    @staticmethod
    def _all(total: int) -> str:
        return "the one query" if total == 1 else f"all {total:,} queries"

    def _columns(self, unsolved: bool) -> list[str]:
        found = ["vertices searched, mean", "95 % of queries need at most", "fewer vertices"]
        found += ["time a query"] if self.timings is not None else []
        found += [f"{self.costs.above}, mean", "99 % of answers at most", "worst answer"]
        return found + (["answered"] if unsolved else [])

    def _row(self, method: MethodView, most: float, unsolved: bool) -> tuple[str, list[str]]:
        width = max(100 * method.expansions / most, 0.5)
        meter = (
            f'<span class="meter" aria-hidden="true"><svg viewBox="0 0 100 1" preserveAspectRatio="none">'
            f'<rect width="{width:.2f}" height="1"/></svg></span>'
        )
        cells = [
            f'{escape(method.name)}<span class="small">{escape(_about(method))}</span>',
            f"<span>{count(method.expansions)}{meter}</span>",
            count(method.expansions_95),
            "—" if not math.isfinite(method.saving) else f"{method.saving:.2f}×",
        ]
        cells += [duration(method.milliseconds)] if self.timings is not None else []
        cells += [percent(share) for share in (method.excess, method.excess_99, method.excess_max)]
        return method.kind, cells + ([f"{method.solved:,} / {method.total:,}"] if unsolved else [])

    def _timed(self, total: int) -> str:
        """Return how the times were measured, and how far to trust them."""
        if self.timings is None:
            return ""
        some = self.timings.instances
        on = "" if some == total else f" on {some:,} of the queries"
        return (
            f"Times are those of one processor core of the machine that made this page: the median of "
            f"{self.timings.rounds} rounds{on}. The middle half of the rounds differed by up to "
            f"{percent(self.timings.spread)}."
        )

    def _draw_trade_off(self) -> Figure:
        """Draw expansions against cost above the optimum, for each method and as values are scaled."""
        figure, axis = axes("vertices searched, mean", f"{self.costs.above}, mean")
        color = colors(self.methods)
        for k, method in enumerate(self.methods):
            axis.plot(
                method.expansions,
                100 * method.excess,
                MARKERS[k % len(MARKERS)],
                color=color[method.name],
                markersize=8 if method.kind == "learned" else 6.5,
                label=short(method.name),
                zorder=3,
                clip_on=False,
            )
        log_axis(axis)
        percent_axis(axis, max([100 * m.excess for m in self.methods if np.isfinite(m.excess)], default=0.0))
        legend(figure, axis, 2)
        return figure

    def _draw_distribution(self) -> Figure:
        """Draw the share of instances that need at most a number of expansions."""
        figure, axis = axes("vertices searched", "share of queries")
        color = colors(self.methods)
        learned = [m.name for m in self.methods if m.kind == "learned"]
        for k, curve in enumerate(self.distributions):
            axis.plot(
                curve.x,
                [100 * y for y in curve.y],
                DASHES[learned.index(curve.name) // 3 % 4 if curve.name in learned else k % 4],
                color=color[curve.name],
                linewidth=2.2 if curve.name in learned else 1.5,
                label=short(curve.name),
                drawstyle="steps-post",
            )
        log_axis(axis)
        axis.set_ylim(0, 102)
        axis.yaxis.set_major_formatter("{x:g} %")
        legend(figure, axis, 2)
        return figure


def _about(method: MethodView) -> str:
    """Return what a method does, in a few words."""
    if "Dijkstra" in method.name:
        return "searches in all directions"
    return f"{method.algorithm} {'with learned values' if method.kind == 'learned' else 'without learning'}"


# ---------------------------------------------------------------- numbers


def method_view(
    name: str, method: Method, runs: Runs, optimum: NDArray[np.float64], reference: float, milliseconds: float
) -> MethodView:
    excess = losses(runs.cost[runs.solved], optimum[runs.solved])
    # The largest of no answers is not a number, like their mean.
    mean, high, worst = (excess.mean(), _most(excess, 0.99), excess.max()) if excess.size else (np.nan,) * 3
    expansions = float(runs.expanded.mean())
    return MethodView(
        name=name,
        algorithm=method.words,
        kind=method.kind,
        expansions=expansions,
        expansions_95=_most(runs.expanded, 0.95),
        excess=float(mean),
        excess_99=high,
        excess_max=float(worst),
        solved=int(runs.solved.sum()),
        total=len(runs),
        saving=reference / expansions if expansions > 0 else np.inf,
        milliseconds=milliseconds,
    )


def _most(values: NDArray[Any], share: float) -> float:
    """Return the smallest value that this share of them does not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def distribution(name: str, runs: Runs) -> Curve:
    values, counts = np.unique(runs.expanded, return_counts=True)
    share = np.cumsum(counts) / counts.sum()
    if values.size > 200:  # a line does not need more points than pixels
        kept = np.unique(np.searchsorted(share, np.linspace(0, 1, 200)).clip(0, values.size - 1))
        values, share = values[kept], share[kept]
    return Curve(name, tuple(np.maximum(values, 1).astype(float).tolist()), tuple(share.tolist()))
