"""The section on learning: how the results change with the number of training instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._drawing import COLORS, axes, legend, short
from rhostar.report._guarantee import quantity
from rhostar.report._section import Chart, Section, escape
from rhostar.report._wording import NO_UNIT, Costs
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility, evaluate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Generalization:
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
        axis.plot(self.sizes, self.test, "o-", color=COLORS["c1"], linewidth=2, label="on new queries")
        axis.plot(self.sizes, self.train, "s--", color=COLORS["c2"], linewidth=1.6, label="on those learned from")
        axis.set_xscale("log")
        axis.set_xticks(self.sizes, [f"{s:,}" for s in self.sizes])
        axis.minorticks_off()
        top = max(*self.test, *self.train)
        if self.reference is not None and self.reference[1] < 4 * top:  # beyond, it would flatten the lines
            axis.axhline(self.reference[1], color=COLORS["c6"], linestyle=":", label=short(self.reference[0]))
            top = max(top, self.reference[1])
        axis.set_ylim(0, 1.12 * top)
        legend(figure, axis, 2)
        return figure


@dataclass(frozen=True)
class Learning(Section):
    """A learning curve, or the sentence that more data changes nothing."""

    name: ClassVar[str] = "learning"
    title: ClassVar[str] = "Learning"
    heading: ClassVar[str] = "How it learns"

    curve: Generalization

    def in_words(self, costs: Costs) -> Learning:
        """Return the section for costs in a unit."""
        return replace(self, curve=replace(self.curve, costs=costs))

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the figure, unless it is a flat line."""
        return {} if self.curve.flat else {"generalization": self.curve.draw}

    def body(self, chart: Chart) -> str:
        """Return the figure with its caption."""
        curve = self.curve
        if curve.flat:
            return f"<p>{escape(curve.flatness)}</p>"
        points = zip(curve.sizes, curve.train, curve.test, strict=True)
        label = f"{curve.axis}, on those learned from and on new queries, against the number learned from: "
        label += "; ".join(f"{size}: {a:.4g} and {b:.4g}" for size, a, b in points)
        return f"""<p>How more data helps.</p>
<div class="columns">{chart("generalization", label, curve.caption)}</div>"""


def learning_section(curve: Generalization) -> Learning:
    """Return the section of a page on how a learner learns.

    Parameters
    ----------
    curve
        What :func:`generalization_curve` returned. If more data changes nothing on it, a sentence says so.

    Returns
    -------
    Learning
        For the `sections` of :func:`rhostar.report.build`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 9, size=(60, graph.m))
    >>> train, test = rs.InstanceSet(graph, weights, sources=0, goal=63).split(0.8, seed=0)
    >>> curve = rs.report.generalization_curve(
    ...     rs.learners.MeanDistance(), train, test, [1, 40], rs.utilities.Suboptimality(limit=9))
    >>> rs.report.learning_section(curve).heading
    'How it learns'
    """
    return Learning(curve)


def generalization_curve(
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
) -> Generalization:
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
    Generalization
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
    >>> curve = rs.report.generalization_curve(
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
    return Generalization(
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
