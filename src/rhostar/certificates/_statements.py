"""The sentences of an audit that hold with a probability: each is bounded, and says what it is about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar.certificates._query_log import TOLERANCE, QueryLog
from rhostar.certificates._sentence import outward
from rhostar.certificates._sentence import percent as in_percent

SHARE = 0.99
"""The share of answers that a quantile is about."""
Column = NDArray[np.float64]


@dataclass(frozen=True)
class Statement:
    """One sentence about new queries, with its numbers.

    Attributes
    ----------
    key
        What it is about: "too high", "not optimal", "mean loss", "quantile", "effort" or "fix".
    text
        The sentence.
    measured
        What was measured on the queries that there are.
    low, high
        What it is for new queries: at least and at most; None where nothing is said.
    delta
        The probability with which it may be wrong; 0 for what was only measured.
    """

    key: str
    text: str
    measured: float
    low: float | None = None
    high: float | None = None
    delta: float = 0.0


def percent(share: float, side: Literal["upper", "lower"] = "upper") -> str:
    """Return a share in percent with three digits, rounded so that the bound stays true.

    Examples
    --------
    >>> from rhostar.certificates._statements import percent
    >>> percent(0.123451), percent(0.123451, "lower"), percent(0.0)
    ('12.4%', '12.3%', '0%')
    """
    return in_percent(share, side)


def amount(number: float) -> str:
    """Return a number of expansions, or another effort, with four digits.

    Examples
    --------
    >>> from rhostar.certificates._statements import amount
    >>> amount(10041.6), amount(8.4125), amount(0.00123456)
    ('10,042', '8.412', '0.001235')
    """
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


class Sample:
    """The queries of one factor of a log, as a sample.

    Parameters
    ----------
    log
        The log.
    factor
        One of its factors.
    anytime
        Whether bounds must hold at every size of the log at once.
    """

    def __init__(self, log: QueryLog, factor: float, *, anytime: bool) -> None:
        self.log, self.factor, self.anytime = log, factor, anytime
        self.rows = log.rows(factor)
        self.units = log.means(np.zeros(self.rows.size), factor).size

    def column(self, name: str) -> Column:
        """Return a column that the log has, of these queries."""
        return getattr(self.log, name)[self.rows]

    def share(self, counted: NDArray[np.bool_], delta: float) -> tuple[float, float]:
        """Return bounds on the share of new queries of which this is true."""
        values = self.log.means(counted.astype(np.float64), self.factor)
        exact = self.log.group is None and not self.anytime
        found = (bounds.clopper_pearson if exact else bounds.stakes)(values, 1.0, delta=delta, side="both")
        return found.low, found.high

    def mean(self, values: Column, limit: float, delta: float) -> float:
        """Return an upper bound on the mean of what is at most `limit`."""
        return bounds.stakes(self.log.means(np.minimum(values, limit), self.factor), limit, delta=delta).high

    def quantile(self, values: Column, delta: float) -> float:
        """Return what a share of 99 % of new queries has at most; inf where there are too few."""
        if not self.anytime:
            return bounds.quantile(values, SHARE, delta=delta).value
        # If more than 1 % of new queries were above the k-th largest, the bets on that share would refute it too
        # often: the share above a smaller value is at least as large.
        ordered, least, most = np.sort(values), 0, values.size
        while least < most:  # the first rank whose share above is small enough
            middle = (least + most) // 2
            above = np.arange(values.size) > middle
            if bounds.refutes(above.astype(np.float64), 1.0, 1 - SHARE, delta=delta, anytime=True):
                most = middle
            else:
                least = middle + 1
        return math.inf if least >= values.size else float(ordered[least])

    def fewest_for_quantile(self, delta: float) -> int:
        """Return how many queries a bound on the quantile needs."""
        if self.anytime:
            return bounds.fewest_to_refute(1.0, 1 - SHARE, delta=delta, anytime=True)
        return math.ceil(math.log(delta) / math.log(SHARE))


Writer = Callable[[Sample, float, float], Statement]


def too_high(sample: Sample, limit: float, delta: float) -> Statement:
    """Say how many estimates exceed the true cost."""
    estimate, optimum = sample.column("estimate"), sample.column("optimum")
    over = sample.factor * estimate > optimum * (1 + TOLERANCE)
    low, high = sample.share(over, delta)
    text = (
        f"Estimates that are too high: {int(over.sum()):,} of {over.size:,}; "
        f"of new estimates between {percent(low, 'lower')} and {percent(high)}."
    )
    return Statement("too high", text, float(over.mean()), low, high, delta)


def not_optimal(sample: Sample, limit: float, delta: float) -> Statement:
    """Say how many answers are not optimal."""
    lost = sample.log.loss(sample.factor) > 0
    low, high = sample.share(lost, delta)
    text = (
        f"Answers that are not optimal: {int(lost.sum()):,} of {lost.size:,}; "
        f"of new answers between {percent(low, 'lower')} and {percent(high)}."
    )
    return Statement("not optimal", text, float(lost.mean()), low, high, delta)


def mean_loss(sample: Sample, limit: float, delta: float) -> Statement:
    """Say how far answers are above the optimum, on average."""
    loss = sample.log.loss(sample.factor)
    clipped, high = int((loss > limit).sum()), sample.mean(loss, limit, delta)
    measured = float(sample.log.means(np.minimum(loss, limit), sample.factor).mean())
    cap = f"a loss above {100 * limit:g}% counts as {100 * limit:g}%: {clipped:,} did"
    text = (
        f"Mean loss: answers cost {percent(measured)} more than the optimum; "
        f"new answers at most {percent(high)} on average ({cap})."
    )
    return Statement("mean loss", text, measured, None, high, delta)


def tail_loss(sample: Sample, limit: float, delta: float) -> Statement:
    """Say what nearly all answers lose at most."""
    loss = sample.log.loss(sample.factor)
    high = sample.quantile(loss, delta)
    measured = float(np.quantile(loss, SHARE, method="inverted_cdf"))
    text = f"At least 99% of new answers cost at most {percent(high)} more than the optimum."
    if high == math.inf:
        text = "More than 1% of the queries had no answer, or too many: nothing is said about 99% of new answers."
    return Statement("quantile", text, measured, None, high, delta)


def effort(sample: Sample, limit: float, delta: float) -> Statement:
    """Say what a query costs, beside one without a heuristic."""
    mine, without = sample.column("effort"), without_heuristic(sample.log)
    assert without is not None
    share = np.divide(mine, without, out=np.ones(mine.size), where=without > 0)
    high = sample.mean(share, 1.0, delta)
    measured = float(sample.log.means(np.minimum(share, 1.0), sample.factor).mean())
    ratio = without.sum() / max(mine.sum(), 1e-300)
    text = (
        f"Effort: {amount(mine.mean())} expansions per query, {amount(without.mean())} without a heuristic "
        f"({ratio:.3g} times as many). A new query needs at most {percent(high)} of the effort without one, on "
        "average (more than 100% counts as 100%)."
    )
    return Statement("effort", text, measured, None, high, delta)


def without_heuristic(log: QueryLog) -> Column | None:
    """Return the effort of the same queries without a heuristic, if the log has it and names the queries."""
    if log.effort is None or log.factor is None or log.queries is None or 0.0 not in log.factors:
        return None
    return np.asarray(log.effort[log.rows(0.0)])


def fix(sample: Sample, limit: float, delta: float) -> Statement:
    """Say by which factor no estimate would have been too high, and how many new ones would be even then."""
    estimate, optimum = sample.column("estimate"), sample.column("optimum")
    factor = largest_factor(sample.factor * estimate, optimum)
    share = -math.expm1(math.log(delta) / sample.units)
    what = "queries" if sample.log.group is None else f"{sample.log.unit}s"
    text = (
        f"Scaled by {outward(factor, 'lower', 4)}, no estimate at the start of these queries would have been too high. "
        f"Even then, at most {percent(share)} of new {what} would have an estimate that is too high."
    )
    if factor == math.inf:
        text = "No estimate is above 0."
    elif factor >= 1:
        text = (
            f"No estimate at the start of these queries is too high, nor would it be if scaled by "
            f"{outward(factor, 'lower', 4)}. At most {percent(share)} of new {what} would have an estimate that is."
        )
    return Statement("fix", text, factor, None, share, delta)


def largest_factor(estimate: Column, optimum: Column) -> float:
    """Return the largest factor with which no estimate exceeds its optimum; inf if none is above 0."""
    positive = estimate > 0
    return float(np.min(optimum[positive] / estimate[positive], initial=math.inf))


def write(
    log: QueryLog, factor: float, limit: float, delta: float, *, anytime: bool, multiplies: bool = True
) -> tuple[list[Statement], list[str]]:
    """Return the statements that the columns of a log allow, at δ divided by their number, and notes on the others.

    Which statements there are depends on the columns and on the number of queries only, not on their values. Without
    `multiplies`, values of the heuristic do not simply grow with its factor, so nothing is said about other factors.
    """
    sample = Sample(log, factor, anytime=anytime)
    writers: list[Writer] = []
    notes = []
    if log.estimate is not None:
        writers.append(too_high)
    if log.cost is not None:
        writers += [not_optimal, mean_loss]
    without = without_heuristic(log)
    if without is not None and factor != 0:
        writers.append(effort)
    if log.estimate is not None and not anytime and multiplies:
        writers.append(fix)
    if log.cost is not None:
        count = len(writers) + 1
        needed = sample.fewest_for_quantile(delta / count)
        if log.group is not None:
            notes.append(f"Nothing is said about 99% of new answers: that needs independent queries, not {log.unit}s.")
        elif sample.rows.size < needed:
            notes.append(
                f"Nothing is said about 99% of new answers: that needs {needed:,} queries, there are "
                f"{arrays.counted(sample.rows.size, 'query', 'queries')}."
            )
        else:
            writers.insert(writers.index(mean_loss) + 1, tail_loss)
    each = delta / max(len(writers), 1)
    return [writer(sample, limit, each) for writer in writers], notes
