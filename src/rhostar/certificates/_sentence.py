"""The sentence that a certificate stands for: the one place where a promise is put into words.

Terminal, JSON, report and Markdown all print what :func:`sentence` returns. A sentence says what was run, on what, for
which heuristic, with which probability and about which goals; numbers are rounded so that they stay true.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from typing import Literal

Statistic = Literal["mean", "quantile", "every"]
"""What is promised of the utility on new instances: its mean, a share of it, or every single value."""
Basis = Literal["holdout", "train", "certain"]
"""Where a promise comes from: instances that had no part in choosing ρ, those that it was chosen by, or no data."""


@dataclass(frozen=True)
class Promise:
    """The facts of one promise, as a sentence needs them."""

    statistic: Statistic
    share: float | None
    """p, for quantiles."""
    subject: str
    """What is measured of what, such as "suboptimality of A* with reopening"."""
    side: Literal["upper", "lower"]
    value: float
    limit: float
    """H."""
    seen: float | None
    """The same statistic on the instances at hand; None where nothing was measured."""
    clipped: float
    """The share of the instances at hand whose utility was clipped at H."""
    delta: float
    """0 where the promise is certain."""
    samples: int
    groups: int | None
    """How many groups of instances count as one draw each; None where every instance is a draw."""
    basis: Basis
    population: str
    """What new instances are, such as "new instances drawn like these"."""
    where: str = ""
    """Goals or category, such as "to goal 5"."""
    conditions: tuple[str, ...] = ()
    """What a certain promise depends on."""


def sentence(promise: Promise) -> str:
    """Return the promise in one plain sentence, true to its last digit.

    Parameters
    ----------
    promise
        The facts.

    Returns
    -------
    str

    Examples
    --------
    >>> from rhostar.certificates._sentence import Promise, sentence
    >>> sentence(Promise("mean", None, "suboptimality of A* with reopening", "upper", 0.16398, 5.0, 0.13648, 0.0,
    ...                  0.05, 1200, None, "holdout", "new instances drawn like these"))
    'With probability at least 0.95 over the draw of these 1200 instances, the mean suboptimality of A* with reopening
    with this rho is at most 0.16398 on new instances drawn like these (0.13648 on these; values above 5 count as 5,
    none did).'
    """
    word = "at most" if promise.side == "upper" else "at least"
    where = f" {promise.where}" if promise.where else ""
    number = outward(promise.value, promise.side)
    opening = _opening(promise)
    whom = "" if promise.basis != "train" else ", though it was chosen by looking at these instances,"
    subject = f"{promise.subject}{where} with this rho{whom}"
    if promise.statistic == "mean":
        claim = f"the mean {subject} is {word} {number} on {promise.population}"
    elif promise.statistic == "quantile":
        claim = f"{_percent(promise.share)} of {promise.population} have a {subject} of {word} {number}"
    else:
        claim = f"the {subject} is {word} {number} on every single instance"
    return f"{opening} {claim}{_aside(promise)}."


def _opening(promise: Promise) -> str:
    if promise.delta == 0:
        if not promise.conditions:
            return "It is certain that"
        return f"It is certain, if {' and '.join(promise.conditions)}, that"
    draws = f"{promise.samples} instances"
    if promise.groups is not None:
        draws = f"{promise.groups} groups ({promise.samples} instances)"
    return f"With probability at least {confidence(promise.delta)} over the draw of these {draws},"


def _aside(promise: Promise) -> str:
    """Return what stands in brackets: what was measured, what was clipped, whether it says anything."""
    parts = []
    if promise.seen is not None:
        parts.append(f"{promise.seen:.6g} on these")
    if promise.statistic == "mean":
        share = "none did" if promise.clipped == 0 else f"{_percent(promise.clipped)} of these did"
        parts.append(f"values above {promise.limit:g} count as {promise.limit:g}, {share}")
    vacuous = promise.value >= promise.limit if promise.side == "upper" else promise.value <= 0
    if vacuous and promise.statistic != "every":
        parts.append("this says no more than the range does")
    return f" ({'; '.join(parts)})" if parts else ""


def confidence(delta: float) -> str:
    """Return 1 − δ with all its digits.

    Examples
    --------
    >>> from rhostar.certificates._sentence import confidence
    >>> confidence(0.05), confidence(1e-9)
    ('0.95', '0.999999999')
    """
    with decimal.localcontext() as context:
        context.prec = 400
        return f"{decimal.Decimal(1) - decimal.Decimal(repr(delta)):f}"


def outward(value: float, side: Literal["upper", "lower"], digits: int = 6) -> str:
    """Return a bound with few digits, rounded away from what it bounds, so that the printed one is true too.

    Examples
    --------
    >>> from rhostar.certificates._sentence import outward
    >>> outward(0.12345649, "upper"), outward(0.12345649, "lower"), outward(1e-12, "upper"), outward(7.0, "upper")
    ('0.123457', '0.123456', '1e-12', '7')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    with decimal.localcontext() as context:
        context.prec = digits
        context.rounding = decimal.ROUND_CEILING if side == "upper" else decimal.ROUND_FLOOR
        rounded = +decimal.Decimal(value)
    return f"{float(rounded):.{digits}g}"


def _percent(share: float | None) -> str:
    """Return a share in per cent, never rounded to 0 % or 100 % where it is neither."""
    assert share is not None
    percent = 100 * share
    for digits in range(7):
        text = f"{percent:.{digits}f}"
        if (float(text) in (0.0, 100.0)) == (percent in (0.0, 100.0)) and abs(float(text) - percent) < 0.05 * min(
            percent, 100 - percent, 1
        ) + 1e-12:
            return f"{text} %"
    return f"{percent:g} %"
