"""The section on what ``rhostar.learn`` could choose from: expansions against how much more answers cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rhostar.certificates._summary import NO_UNIT, Costs
from rhostar.errors import InputError
from rhostar.learners import Front
from rhostar.report._figures import COLORS, axes, legend, log_axis, percent_axis
from rhostar.report._section import Chart, Section, escape, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FrontSection(Section):
    """What was chosen for each model, and what other choices would cost."""

    name: ClassVar[str] = "front"
    title: ClassVar[str] = "Choices"
    heading: ClassVar[str] = "What other choices would cost"

    fronts: tuple[tuple[str, Front], ...]
    """By the name of the model."""
    costs: Costs = NO_UNIT

    def in_words(self, costs: Costs) -> FrontSection:
        """Return the section for costs in a unit."""
        return replace(self, costs=costs)

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return a figure for each model."""
        return {f"front_{k}": partial(self._draw, front) for k, (_, front) in enumerate(self.fronts)}

    def body(self, chart: Chart) -> str:
        """Return a table and a figure for each model."""
        above = self.costs.above
        head = [("learner", True), ("vertices searched, mean", False), (f"{above}, mean", False)]
        head += [("99 % of answers at most", False), ("", True)]
        parts = []
        for k, (name, front) in enumerate(self.fronts):
            rows = []
            for row in front.best:
                mark, *numbers, label = row.cells()
                rows.append(("learned" if row.chosen else "baseline", [*map(escape, (label, *numbers, mark))]))
            caption = "Circled: what was chosen. Down and to the left is better."
            parts.append(
                f"<h3>{escape(name)}</h3>"
                + table(f"What {escape(name)} could be", head, rows)
                + chart(f"front_{k}", f"Vertices searched against how much {above} answers are", caption)
            )
        unit = self.fronts[0][1].unit
        return f"""<p>Before a model was fitted, these learners were compared on instances that they were not fitted on.
Each line is faster than the one above it, and no other learner is better in both columns. To have another one, learn
again with its mean as the mean excess. Standard errors (±) are over {escape(unit)}.</p>
{"".join(parts)}"""

    def _draw(self, front: Front) -> Figure:
        """Draw the mean excess and that of 99 % of the answers against expansions."""
        figure, axis = axes("vertices searched, mean", self.costs.above)
        best = front.best
        for name, what, tone in (("mean_excess", "mean", "c1"), ("excess_99", "99 % of answers at most", "c2")):
            y, error = ([100 * getattr(row, name + end) for row in best] for end in ("", "_error"))
            x = [row.expanded for row in best]
            axis.errorbar(x, y, error, fmt="o-", markersize=3.5, linewidth=1.2, color=COLORS[tone], label=what)
            chosen = next(k for k, row in enumerate(best) if row.chosen)
            axis.plot(x[chosen], y[chosen], "o", markersize=10, mfc="none", color=COLORS[tone])
        log_axis(axis)
        percent_axis(axis, max([100 * row.excess_99 for row in best if row.excess_99 < float("inf")], default=0.0))
        legend(figure, axis, 2)
        return figure


def front_section(fronts: Mapping[str, Front | Mapping[str, Any]]) -> FrontSection:
    """Return the section on the trade-off that ``rhostar.learn`` could choose from, for :func:`build`.

    Parameters
    ----------
    fronts
        By the name of a model: ``learner.front_``, or what a :class:`rhostar.Model` keeps of it.

    Returns
    -------
    Section

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(80, graph.m))
    >>> learned = rs.learn(rs.InstanceSet(graph, weights, sources=0, goal=63), mean_excess=0.01)
    >>> rs.report.front_section({"1 %": learned.front_}).heading
    'What other choices would cost'
    """
    if not fronts:
        raise InputError("fronts must contain at least one front")
    found = {name: one if isinstance(one, Front) else Front.from_dict(one) for name, one in fronts.items()}
    return FrontSection(tuple((str(name), front) for name, front in found.items()))
