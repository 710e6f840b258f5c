"""The section on learning: a learning curve, and the dual function whose minimum a learner looks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._drawing import COLOURS, axes, legend, short
from rhostar.report._promise import quantity
from rhostar.report._section import Chart, Section, escape
from rhostar.report._wording import NO_UNIT, Costs
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility, evaluate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rhostar.lines import _means as duals

_MARGIN = 0.05  # a least value this close to an end of the range, as a share of it, counts as at the end


@dataclass(frozen=True)
class Generalisation:
    """Mean utility on training and unseen instances against the number of training instances."""

    learner: str
    utility: str
    """What is measured, as a certificate calls it."""
    sizes: tuple[int, ...]
    train: tuple[float, ...]
    test: tuple[float, ...]
    reference: tuple[str, float] | None = None
    """A baseline that learns nothing: its name and value."""
    unseen: tuple[int, int] | None = None
    """How many unseen instances each mean is over, and of how many."""
    most: int | None = None
    """A mean over training instances is over this many of them at the most."""
    costs: Costs = NO_UNIT

    @property
    def axis(self) -> str:
        """What is measured, for readers."""
        return quantity(self.utility, "", self.costs).axis

    @property
    def flat(self) -> bool:
        """Whether more instances change nothing."""
        return len(set(self.test)) <= 1 and len(set(self.train)) <= 1

    @property
    def flatness(self) -> str:
        """The sentence that says so."""
        few, many = self.sizes[0], self.sizes[-1]
        return f"{self.learner} does the same whether it learns from {few:,} queries or from {many:,}."

    @property
    def caption(self) -> str:
        """What the lines are about."""
        over = ""
        if self.unseen is not None:
            some, total = self.unseen
            over = (
                f" Means over {some:,} new queries"
                if some == total
                else f" Means over {some:,} of {total:,} new queries"
            )
            few = self.most is not None and self.most < max(self.sizes)
            over += f", and over the {f'first {self.most:,} ' if few else ''}queries it was learned from."
        return (
            f"{self.learner}, learned from more and more queries.{over} Once the lines meet, more data does not help."
        )

    def draw(self) -> Figure:
        """Draw the mean utility on training and unseen instances against the number of training instances."""
        figure, axis = axes("queries learned from", f"{self.axis}, mean")
        axis.plot(self.sizes, self.test, "o-", color=COLOURS["c1"], linewidth=2, label="on new queries")
        axis.plot(self.sizes, self.train, "s--", color=COLOURS["c2"], linewidth=1.6, label="on those learned from")
        axis.set_xscale("log")
        axis.set_xticks(self.sizes, [f"{s:,}" for s in self.sizes])
        axis.minorticks_off()
        top = max(*self.test, *self.train)
        if self.reference is not None and self.reference[1] < 4 * top:  # beyond, it would flatten the lines
            axis.axhline(self.reference[1], color=COLOURS["c6"], linestyle=":", label=short(self.reference[0]))
            top = max(top, self.reference[1])
        axis.set_ylim(0, 1.12 * top)
        legend(figure, axis, 2)
        return figure


@dataclass(frozen=True)
class DualView:
    """The mean utility of some instances as an exact function of θ along ρ = b + θφ."""

    utility: str
    instances: int
    direction: str
    edges: tuple[float, ...]
    """Ends of the pieces: one more than there are values."""
    values: tuple[float, ...]
    best_theta: float
    best_value: float
    points: int = 0
    """How many pieces are single points."""
    total: int = 0
    """Of how many instances these are the first; 0 if that is not known."""
    costs: Costs = NO_UNIT

    @property
    def axis(self) -> str:
        """What is measured, for readers."""
        return quantity(self.utility, "", self.costs).axis

    @property
    def at_edge(self) -> bool:
        """Whether the least value is at an end of the range, so that it may be smaller beyond."""
        low, high = self.edges[0], self.edges[-1]
        return not low + _MARGIN * (high - low) <= self.best_theta <= high - _MARGIN * (high - low)

    @property
    def caption(self) -> str:
        """What the line is about."""
        some = f"{self.instances:,} of {self.total:,}" if self.total > self.instances else f"{self.instances:,}"
        single = f", {self.points:,} of them single points" if self.points else ""
        return (
            f"{self.direction}: {self.axis}, mean over {some} queries that were learned from (the dual function). "
            f"It is piecewise constant; all {len(self.values):,} pieces are exact{single}."
        )

    def draw(self) -> Figure:
        """Draw the exact pieces of the mean utility along a line, and its least value."""
        figure, axis = axes(
            f"factor θ (least: {self.best_value:.4g} at θ = {self.best_theta:.3g})", f"{self.axis}, mean"
        )
        axis.stairs(self.values, self.edges, baseline=None, color=COLOURS["c1"], linewidth=1.3)
        axis.plot(self.best_theta, self.best_value, "o", color=COLOURS["c2"], markersize=7, zorder=3)
        axis.set_xlim(self.edges[0], self.edges[-1])
        return figure


@dataclass(frozen=True)
class Learning(Section):
    """A learning curve, a dual function, or both."""

    name: ClassVar[str] = "learning"
    title: ClassVar[str] = "Learning"
    heading: ClassVar[str] = "How it learns"

    generalisation: Generalisation | None = None
    dual: DualView | None = None
    notes: tuple[str, ...] = ()
    """What is not shown, and why."""

    def in_words(self, costs: Costs) -> Learning:
        """Return the section for costs in a unit."""
        curve, dual = self.generalisation, self.dual
        return replace(
            self, generalisation=curve and replace(curve, costs=costs), dual=dual and replace(dual, costs=costs)
        )

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the figures that there are."""
        parts = {"generalisation": self.generalisation, "dual": self.dual}
        return {name: part.draw for name, part in parts.items() if part is not None}

    def body(self, chart: Chart) -> str:
        """Return the figures side by side."""
        parts, intro = [], []
        if self.generalisation is not None:
            curve = self.generalisation
            points = zip(curve.sizes, curve.train, curve.test, strict=True)
            label = f"{curve.axis}, on those learned from and on new queries, against the number learned from: "
            label += "; ".join(f"{size}: {a:.4g} and {b:.4g}" for size, a, b in points)
            parts.append(chart("generalisation", label, curve.caption))
            intro.append("How more data helps.")
        if self.dual is not None:
            dual = self.dual
            label = f"{dual.axis} as a function of theta, in {len(dual.values)} pieces; "
            label += f"least {dual.best_value:.4g} at {dual.best_theta:.4g}"
            parts.append(chart("dual", label, dual.caption))
            intro.append("How the work depends on the size of the values.")
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        if not parts and not notes:
            return ""
        return f"""<p>{" ".join(intro)}</p>{notes}
<div class="columns">{"".join(parts)}</div>"""


def learning_section(
    generalisation: Generalisation | None = None, dual: DualView | None = None, *, notes: Sequence[str] = ()
) -> Learning:
    """Return the section of a page on how a learner learns.

    A learning curve on which more data changes nothing is replaced by a sentence that says so, and so is a dual
    function whose least value is at an end of its range: it would look like a minimum, and is none.

    Parameters
    ----------
    generalisation
        What :func:`generalisation_curve` returned.
    dual
        What :func:`dual_view` returned.
    notes
        Further sentences, such as what is not shown and why.

    Returns
    -------
    Learning
        For the `sections` of :func:`rhostar.report.build`.
    """
    said = list(notes)
    if generalisation is not None and generalisation.flat:
        said.append(f"No learning curve: {generalisation.flatness}")
        generalisation = None
    if dual is not None and dual.at_edge:
        said.append(
            f"No plot of the dual function ({dual.direction}): on {dual.instances:,} queries the least value for θ "
            f"from {dual.edges[0]:g} to {dual.edges[-1]:g} is at the end of that range."
        )
        dual = None
    return Learning(generalisation, dual, tuple(said))


def generalisation_curve(
    learner: Any,
    train: InstanceSet,
    test: InstanceSet,
    sizes: Sequence[int],
    utility: Utility,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    baseline: tuple[str, float] | None = None,
    most: int = 200,
    name: str = "",
) -> Generalisation:
    """Fit a learner on more and more instances and measure it on those and on unseen ones.

    Parameters
    ----------
    learner
        Cloned and fitted for each size.
    train, test
        Instances to learn from, and unseen ones.
    sizes
        Numbers of training instances; the first ones of `train` are used.
    utility, algorithm, reopen, budget
        As for :func:`rhostar.evaluate`.
    baseline
        The name and value of a heuristic that does not learn.
    most
        The most instances that a mean is taken over.
    name
        What the method is called elsewhere on the page; by default its class and algorithm.

    Returns
    -------
    Generalisation
        For :func:`rhostar.report.learning_section`.

    Raises
    ------
    InputError
        If every size is larger than `train`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 9, size=(60, graph.m))
    >>> train, test = rs.InstanceSet(graph, weights, sources=0, goal=63).split(0.8, seed=0)
    >>> curve = rs.report.generalisation_curve(
    ...     rs.learners.MeanDistance(), train, test, [1, 40], rs.utilities.Suboptimality(limit=9))
    >>> curve.train[0], curve.test[0] > curve.test[1]
    (0.0, True)
    """
    from sklearn.base import clone

    chosen = sorted({int(size) for size in sizes if size <= len(train)})
    if not chosen:
        raise InputError(f"at least one of sizes must be at most {len(train)}, got {list(sizes)}")
    seen, unseen = (_Measure(part[:most], utility) for part in (train[: chosen[-1]], test))
    options: dict[str, Any] = {"algorithm": algorithm, "reopen": reopen, "budget": budget}
    on_train, on_test = [], []
    for size in chosen:
        rho = clone(learner).fit(train[:size]).rho_
        on_train.append(seen.mean(rho, size, options))
        on_test.append(unseen.mean(rho, None, options))
    own = f"{type(learner).__name__} for {'greedy search' if algorithm == 'gbfs' else 'A*'}"
    return Generalisation(
        f"“{name}” ({own})" if name else own,
        utility.quantity,
        tuple(chosen),
        tuple(on_train),
        tuple(on_test),
        baseline,
        (min(most, len(test)), len(test)),
        most,
    )


class _Measure:
    """A utility on some instances; their optimal costs are computed once."""

    def __init__(self, instances: InstanceSet, utility: Utility) -> None:
        self.instances, self.utility = instances, utility
        zeros = np.zeros(instances.graph.n)
        self.optimum = solve_many(instances, zeros).cost if utility.needs_optimum else None

    def mean(self, rho: Any, count: int | None, options: Mapping[str, Any]) -> float:
        """Return the mean over the first instances, or over all."""
        optimum = None if self.optimum is None else self.optimum[:count]
        return evaluate(self.instances[:count], rho, self.utility, optimum=optimum, **options)[0].mean


def dual_view(dual: duals.Dual, *, direction: str = "The learned values times a factor θ", total: int = 0) -> DualView:
    """Return a dual function in the form that a page shows.

    Parameters
    ----------
    dual
        What :func:`rhostar.lab.dual` returned.
    direction
        The line in words.
    total
        If `dual` is about some of a larger set of instances, how many that set has.

    Returns
    -------
    DualView
        For :func:`rhostar.report.learning_section`.
    """
    points = np.array([part.low == part.high for part in dual.intervals])
    edges = np.asarray(dual.intervals.edges, dtype=np.float64)
    return DualView(
        utility=dual.utility.quantity,
        instances=int(dual.pieces.size),
        direction=direction,
        edges=tuple(edges.tolist()),
        values=tuple(dual.mean.tolist()),
        best_theta=float(dual.theta),
        best_value=dual.value,
        points=int(points.sum()),
        total=total,
    )
