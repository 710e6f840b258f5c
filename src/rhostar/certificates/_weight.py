"""The cost and benefit of a factor on a heuristic: a curve over factors, and the fastest factor that keeps a target."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar._display import axes_or_new, html_table, text_table
from rhostar.certificates._audit import Weight, accept, find_queries
from rhostar.certificates._draws import find_unseen
from rhostar.certificates._looks import count_looks
from rhostar.certificates._query_log import QueryLog, measure_queries
from rhostar.certificates._sentence import outward
from rhostar.certificates._sentence import percent as in_percent
from rhostar.certificates._statements import amount, percent, without_heuristic
from rhostar.errors import InputError, LimitError
from rhostar.heuristics import HeuristicLike
from rhostar.heuristics._storage import digest
from rhostar.lines import Dual, scaling
from rhostar.utilities import Expansions, Ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FACTORS = (0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0)
"""The grid of factors, fixed before anything is measured."""
Column = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightCurve:
    """Mean loss and effort against the factor on a heuristic, with a band that holds for all factors at once.

    Attributes
    ----------
    factors
        The grid.
    loss, loss_low, loss_high
        The mean loss on the measured queries, and lower and upper bounds on the mean loss on new ones.
    effort
        Mean effort: expanded vertices, or what the log has.
    saved, saved_low, saved_high
        The mean effort as a fraction of that without a heuristic, with bounds likewise; NaN where that is not known.
    exact_loss, exact_effort
        The same means as exact, piecewise functions of the factor, over the first few queries; None unless requested.
    log, limit, confidence
        The queries, H, and the confidence of the whole band.
    """

    factors: tuple[float, ...]
    loss: Column
    loss_low: Column
    loss_high: Column
    effort: Column
    saved: Column
    saved_low: Column
    saved_high: Column
    log: QueryLog
    limit: float
    confidence: float
    exact_loss: Dual | None = None
    exact_effort: Dual | None = None

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        head = ("factor", "effort", "vs none", "mean loss", "at least", "at most")
        cells = zip(self.factors, self.effort, self.saved, self.loss, self.loss_low, self.loss_high, strict=True)
        return [
            head,
            *(
                (
                    f"{f:g}",
                    amount(e),
                    "" if math.isnan(s) else percent(s),
                    percent(x),
                    percent(a, "lower"),
                    percent(b),
                )
                for f, e, s, x, a, b in cells
            ),
        ]

    @property
    def conditions(self) -> str:
        """For which queries the band holds, and how sure it is."""
        return (
            f"All these bounds hold at once with {100 * self.confidence:.6g}% confidence {self.log.population}; a "
            f"loss above {100 * self.limit:g}% counts as {100 * self.limit:g}%."
        )

    def __str__(self) -> str:
        return text_table(self._rows, words=0) + "\n" + textwrap.fill(self.conditions, 80)

    def _repr_html_(self) -> str:
        head, *rows = self._rows
        return html_table("The curve of a weight", head, rows, [self.conditions])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean loss with its band against the factor, and the effort on a second axis.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.fill_between(self.factors, 100 * self.loss_low, 100 * self.loss_high, color="tab:red", alpha=0.15, lw=0)
        ax.plot(self.factors, 100 * self.loss, "o-", color="tab:red", ms=3, label="mean loss (%)")
        if self.exact_loss is not None:
            edges = self.exact_loss.intervals.edges
            ax.stairs(100 * (self.exact_loss.mean - 1), edges, color="tab:red", lw=0.7, ls=":", baseline=None)
        ax.set_xlabel("factor on the heuristic")
        ax.set_ylabel("mean loss (%)", color="tab:red")
        right = ax.twinx()
        right.plot(self.factors, self.effort, "s-", color="tab:blue", ms=3, label="expansions")
        right.set_ylabel("expansions per query", color="tab:blue")
        right.set_ylim(bottom=0)
        ax.set_ylim(bottom=0)
        return ax


@dataclass(frozen=True, eq=False)
class WeightChoice:
    """The result of :func:`choose_weight`; ``print(...)`` shows what it guarantees.

    Attributes
    ----------
    factor
        The fastest factor whose mean loss is at most `mean_excess` with this confidence; None if there is none.
    passed
        All factors that passed the test, in the order of the test. The guarantee holds for all of them at once.
    tested
        The factors that were tested: those that passed, and the first that did not.
    mean_excess, confidence, limit
        The target, the confidence, and H.
    loss, effort
        Mean loss (clipped at H) and mean effort that were measured with each of `tested`.
    units, fewest
        How many independent draws there were, and how many are needed even if no answer loses anything.
    log
        The queries.
    anytime
        Whether it holds at every size of a log that grows.
    """

    factor: float | None
    passed: tuple[float, ...]
    tested: tuple[float, ...]
    mean_excess: float
    confidence: float
    limit: float
    loss: tuple[float, ...]
    effort: tuple[float, ...] | None
    units: int
    fewest: int
    log: QueryLog
    anytime: bool = False

    @property
    def sentence(self) -> str:
        """What is guaranteed, and for which queries."""
        unit = "query" if self.log.group is None else self.log.unit
        many = arrays.counted(self.units, unit, "queries" if unit == "query" else None)
        cap = f"{100 * self.limit:g}%"
        goal = f"a mean loss of at most {in_percent(self.mean_excess, 'upper', 6)}"
        if self.factor is None:
            units = "queries" if unit == "query" else f"{unit}s"
            return (
                f"No factor was shown to have {goal}: {self.tested[0]:g}, the first in order, loses "
                f"{percent(self.loss[0])} here. At least {self.fewest:,} independent {units} are needed, and there are "
                f"{self.units:,}."
            )
        k = self.tested.index(self.factor)
        saved = "" if self.effort is None else f" It needs {amount(self.effort[k])} expansions per query here."
        return (
            f"With {100 * self.confidence:.6g}% confidence over the draw of the {many}, the factor {self.factor:g} has "
            f"{goal} {self.log.population} (measured {percent(self.loss[k])}; a loss above {cap} counts as {cap})."
            f"{saved}"
        )

    @property
    def conditions(self) -> str:
        """The conditions of the guarantee."""
        stop = [f for f in self.tested if f not in self.passed]
        ended = f"{stop[0]:g} did not pass, so no later one was tested" if stop else "all passed"
        units = "queries" if self.log.group is None else f"{self.log.unit}s"
        size = (
            "It holds at every size of a log that grows."
            if self.anytime
            else f"The number of {units} must have been fixed beforehand, too: for a log that grows use anytime."
        )
        return (
            f"Factors were tested in a fixed order, {', '.join(f'{f:g}' for f in self.tested)}: {ended}. The order and "
            f"H were fixed beforehand, so each test has the whole confidence. {size} Even if no answer loses anything, "
            f"{self.fewest:,} independent {units} are needed."
        )

    def __str__(self) -> str:
        return "\n\n".join(textwrap.fill(text, 80) for text in (self.sentence, self.conditions))

    def __repr__(self) -> str:
        chosen = "no factor" if self.factor is None else f"factor {self.factor:g}"
        return f"WeightChoice({chosen} for a mean loss of {100 * self.mean_excess:g}%, {self.units} draws)"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.sentence)}</b></p><p>{escape(self.conditions)}</p>"


def weight_curve(
    heuristic: HeuristicLike | QueryLog,
    instances: Any = None,
    *,
    factors: Sequence[float] | None = None,
    pairs: Any = None,
    weight: Weight = "weight",
    confidence: float = 0.95,
    limit: float = 1.0,
    groups: Any = None,
    reopen: bool = True,
    exact: int = 0,
    seed: int = 0,
) -> WeightCurve:
    """Measure what A* loses and saves with each factor on a heuristic, with a band that holds for all factors at once.

    Parameters
    ----------
    heuristic, instances, pairs, weight, limit, groups, reopen, seed
        As for :func:`audit`.
    factors
        The grid, fixed before anything is measured; by default 16 numbers from 0.25 to 3. A log has its own factors.
    confidence
        The probability with which all bounds hold at once; δ is divided equally among the factors, and for each
        factor between loss and effort.
    exact
        How many queries are also followed exactly, piece by piece, along all factors (for the plot; the work grows
        with the square of the expansions). It needs values in tables.

    Returns
    -------
    WeightCurve

    Raises
    ------
    InputError
        If an argument is out of range.
    AssumptionError, InstanceError, HeuristicError, ModelError
        As :func:`audit`.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.datasets.city(400, seed=0).draw(500, seed=1)
    >>> curve = rs.weight_curve(rs.heuristics.euclidean(instances.graph), instances, factors=(1, 1.5, 2))
    >>> print(curve)
    factor  effort  vs none  mean loss  at least  at most
    ...
    """
    log = _measured(heuristic, instances, factors, pairs, weight, groups, reopen, seed)
    limit, delta = arrays.positive(limit, "limit"), 1 - arrays.probability(confidence, "confidence")
    grid = tuple(f for f in log.factors if f > 0)
    without = without_heuristic(log)
    each = delta / (2 * len(grid))
    loss, saved, effort = [], [], []
    for f in grid:
        values = log.means(np.minimum(log.loss(f), limit), f)
        found = bounds.stakes(values, limit, delta=each, side="both")
        loss.append((values.mean(), found.low, found.high))
        mine = np.full(log.rows(f).size, np.nan) if log.effort is None else log.effort[log.rows(f)]
        effort.append(mine.mean())
        saved.append((np.nan, np.nan, np.nan))
        if without is not None:
            part = log.means(np.minimum(np.divide(mine, without, out=np.ones(mine.size), where=without > 0), 1.0), f)
            found = bounds.stakes(part, 1.0, delta=each, side="both")
            saved[-1] = (part.mean(), found.low, found.high)
    lines: tuple[Dual | None, Dual | None] = (None, None)
    if exact:
        lines = _exact(heuristic, instances, pairs, weight, seed, grid, limit, reopen, exact)
    band, share = np.array(loss), np.array(saved)
    return WeightCurve(
        factors=grid,
        loss=band[:, 0],
        loss_low=band[:, 1],
        loss_high=band[:, 2],
        effort=np.array(effort),
        saved=share[:, 0],
        saved_low=share[:, 1],
        saved_high=share[:, 2],
        log=log,
        limit=limit,
        confidence=1 - delta,
        exact_loss=lines[0],
        exact_effort=lines[1],
    )


def choose_weight(
    heuristic: HeuristicLike | QueryLog,
    instances: Any = None,
    *,
    mean_excess: float = 0.01,
    confidence: float = 0.95,
    limit: float = 1.0,
    factors: Sequence[float] | None = None,
    pairs: Any = None,
    weight: Weight = "weight",
    groups: Any = None,
    reopen: bool = True,
    anytime: bool = False,
    seed: int = 0,
) -> WeightChoice:
    """Choose the fastest factor on a heuristic that keeps the mean loss below a target, with confidence.

    Factors are tested one after the other in the given order, each at the whole level, until one fails: with
    probability at least `confidence` no factor passes whose mean loss exceeds the target (fixed-sequence testing). Of
    those that passed, the one with the lowest effort is chosen. Each test is :func:`rhostar.bounds.refutes`, whose
    docstring has the proof: if no answer loses anything, N queries are enough as soon as (1 − mean_excess/H)^N ≤ 1 −
    confidence. That is 299 queries for 1 %, H = 100 % and 95 %, and 1,497 for H = 500 %.

    Proof of the choice: let f be the first factor in the order whose mean loss is above the target. A factor with such
    a loss passes only if f passes, since the tests stop at the first that fails. That has a probability of at most
    1 − confidence, whatever happens to the others.

    Parameters
    ----------
    heuristic, instances, pairs, weight, groups, reopen, anytime, seed
        As for :func:`audit`. Unless `anytime` is true, the number of queries must be fixed beforehand. Certify the
        chosen factor on other instances: :func:`certify` counts each factor as a look at these.
    mean_excess
        The target: how far answers may exceed the optimum on average, as a fraction of it.
    confidence
        The probability with which the chosen factor keeps the target.
    limit
        H, fixed beforehand: larger losses count as H. It must exceed `mean_excess`.
    factors
        The factors in the order of the test, the safest first; fixed before anything is measured, or chosen on other
        data; by default 16 numbers from 0.25 to 3, or those of a log, in ascending order.

    Returns
    -------
    WeightChoice

    Raises
    ------
    InputError
        If an argument is out of range, or a log has none of the factors.
    AssumptionError, InstanceError, HeuristicError, ModelError
        As :func:`audit`.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.datasets.city(400, seed=0).draw(1000, seed=1)
    >>> choice = rs.choose_weight(rs.heuristics.euclidean(instances.graph), instances, mean_excess=0.02)
    >>> choice.factor, choice.fewest
    (2.0, 149)
    """
    target = arrays.number(mean_excess, "mean_excess", "a number between 0 and limit", lambda x: 0 < x < limit)
    limit, level = arrays.positive(limit, "limit"), arrays.probability(confidence, "confidence")
    log = _measured(heuristic, instances, factors, pairs, weight, groups, reopen, seed)
    order = [f for f in log.factors if f > 0] if factors is None else [float(f) for f in factors]
    passed, tested, loss, effort = [], [], [], []
    for f in order:
        values = log.means(np.minimum(log.loss(f), limit), f)
        tested.append(f)
        loss.append(float(values.mean()))
        effort.append(math.nan if log.effort is None else float(log.effort[log.rows(f)].mean()))
        if not bounds.refutes(values, limit, target, delta=1 - level, anytime=anytime):
            break
        passed.append(f)
    cheapest = min(range(len(passed)), key=lambda k: effort[k] if log.effort is not None else -k, default=None)
    return WeightChoice(
        factor=None if cheapest is None else passed[cheapest],
        passed=tuple(passed),
        tested=tuple(tested),
        mean_excess=target,
        confidence=level,
        limit=limit,
        loss=tuple(loss),
        effort=None if log.effort is None else tuple(effort),
        units=int(log.means(np.zeros(log.rows(tested[0]).size), tested[0]).size),
        fewest=bounds.fewest_to_refute(limit, target, delta=1 - level, anytime=anytime),
        log=log,
        anytime=anytime,
    )


def _measured(
    heuristic: Any,
    instances: Any,
    factors: ArrayLike | None,
    pairs: Any,
    weight: Weight,
    groups: Any,
    reopen: bool,
    seed: int,
) -> QueryLog:
    """Return the log that was given, or that of searches with all factors."""
    grid = np.asarray(FACTORS if factors is None else factors, dtype=np.float64)
    if grid.ndim != 1 or not grid.size or not ((grid > 0) & (grid < np.inf)).all() or np.unique(grid).size < grid.size:
        raise InputError(f"factors must be different finite numbers above 0, got {factors!r}")
    if isinstance(heuristic, QueryLog):
        if heuristic.cost is None:
            raise InputError("a log needs the column cost")
        return heuristic
    queries, population = find_queries(instances, pairs, weight, seed)
    own = accept(heuristic, queries)
    find_unseen(queries, own.trained_on)
    known = digest(own)
    count_looks(queries, [(known, f"times {factor}, reopen={reopen}") for factor in grid.tolist()])
    return measure_queries(own, queries, (0.0, *grid.tolist()), reopen=reopen, groups=groups, population=population)


def _exact(
    heuristic: Any,
    instances: Any,
    pairs: Any,
    weight: Weight,
    seed: int,
    grid: Any,
    limit: float,
    reopen: bool,
    count: int,
) -> tuple[Dual | None, Dual | None]:
    """Return mean ratio and mean expansions of the first queries as exact functions of the factor."""
    if isinstance(heuristic, QueryLog):
        raise InputError("a log has no exact curve: its queries cannot be run again")
    queries = find_queries(instances, pairs, weight, seed)[0][:count]
    own = accept(heuristic, queries)
    if own.uses_weights:
        raise InputError("exact needs values that do not depend on the weights")
    low, high = float(outward(min(grid), "lower", 4)), float(outward(max(grid), "upper", 4))
    measures = Ratio(1 + limit), Expansions(float(own.n) ** 2)
    try:
        found = [scaling(own, queries, "astar", one, low=low, high=high, reopen=reopen) for one in measures]
    except LimitError:
        return None, None
    return found[0], found[1]
