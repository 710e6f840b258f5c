"""A certificate in one line, for readers without statistics: no symbols, no codes, and no more than is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rhostar import _arrays as arrays
from rhostar.certificates._sentence import (
    about,
    conditions,
    confidence,
    counting,
    nothing,
    outward,
    run_words,
    unbounded,
)

if TYPE_CHECKING:
    from rhostar.certificates._certificate import Certificate

_LISTED = 5
"""Guarantees that are said one by one."""
_DIGITS = 3


@dataclass(frozen=True)
class Costs:
    """How costs are spoken of: their unit, and what a route that costs more is called."""

    unit: str = ""
    best: str = "the best route"
    more: str = "costlier"

    def amount(self, number: str) -> str:
        """Return a number with the unit."""
        return f"{number} {self.unit}" if self.unit else number

    @property
    def above(self) -> str:
        """Such as "longer than the fastest route"."""
        return f"{self.more} than {self.best}"


NO_UNIT = Costs()

_TIMES = {"ms", "s", "sec", "second", "min", "minute", "h", "hr", "hour"}
_LENGTHS = {"m", "meter", "metre", "km", "kilometer", "kilometre", "mi", "mile", "ft", "foot", "feet", "yd"}


def costs(unit: str) -> Costs:
    """Return the words for costs in a unit, which may be empty.

    >>> costs("min").above, costs("km").above, costs("EUR").above, costs("").above
    ('longer than the fastest route', 'longer than the shortest route', 'costlier than the cheapest route', \
'costlier than the best route')
    """
    word = unit.strip().lower()
    for known, best in ((_TIMES, "the fastest route"), (_LENGTHS, "the shortest route")):
        if word in known or word.removesuffix("s") in known:
            return Costs(unit, best, "longer")
    return Costs(unit, "the cheapest route") if unit else NO_UNIT


class Quantity(NamedTuple):
    """What is bounded, as parts of a sentence: answers {many} at most {number} {after}."""

    many: str
    one: str
    after: str
    unit: str
    axis: str
    """On its own, for the axis of a figure."""

    def number(self, text: str) -> str:
        """Return a number with its unit."""
        return f"{text} {self.unit}" if self.unit else text


def quantity(row: Certificate, costs: Costs = NO_UNIT, own: str = "") -> Quantity:
    """Return the words for what is bounded.

    Parameters
    ----------
    row
        A certificate.
    costs
        The words for costs.
    own
        The user's words for what is bounded, which replace the usual ones; may be empty.
    """
    unit = f" ({costs.unit})" if costs.unit else ""
    if own:
        return Quantity("have", "has", own, "", own)
    if row.utility == "suboptimality":
        return Quantity("are", "is", costs.above, costs.unit, costs.above + unit)
    if row.utility == "cost":
        return Quantity("cost", "costs", "", costs.unit, f"cost of an answer{unit}")
    if row.utility == "ratio":
        multiple = f"times the cost of {costs.best}"
        return Quantity("cost", "costs", multiple, "", f"cost in multiples of {costs.best}")
    if row.utility == "expansions":
        return Quantity("need", "needs", "vertices searched", "", "vertices searched")
    return Quantity(f"have a {row.subject} of", f"has a {row.subject} of", "", "", row.subject)


def looseness(row: Certificate) -> float:
    """Return a number that is larger for a weaker bound."""
    return row.value if row.side == "upper" else -row.value


def summary(rows: Sequence[Certificate], costs: Costs = NO_UNIT, own: str = "") -> str:
    """Return what is guaranteed in one line, for one certificate or for several that hold at once.

    Parameters
    ----------
    rows
        One, or one for each goal or category.
    costs, own
        As for :func:`quantity`.
    """
    weakest = max(rows, key=looseness)
    listed = rows if len(rows) <= _LISTED else [weakest]
    sure = surely(rows)
    if weakest.vacuous and len(rows) == 1:
        return _vacuous(weakest, costs, own)
    how = counting(weakest, quantity(weakest, costs, own).number(f"{weakest.limit or 0:g}"))
    shared = how if len(listed) == 1 else ""
    claims = [claim(row, costs, own, shared, first=k == 0) for k, row in enumerate(listed)]
    more = ""
    if len(listed) < len(rows):
        more = f" This is the weakest of {len(rows)} guarantees, one for each {several(rows)}."
    counted = f" ({how})" if how and not shared else ""
    at_once = ", for all of them at once" if len(rows) > 1 else ""
    empty = " This is vacuous: it says nothing." if weakest.vacuous else ""
    return f"{'; '.join(claims)}{counted} {weakest.population}, {sure}{at_once}.{more}{empty}"


def surely(rows: Sequence[Certificate]) -> str:
    """Return how sure these guarantees are together, and what must hold besides."""
    delta = min(1.0, sum(row.delta for row in rows))
    provided = conditions(max(rows, key=lambda row: len(row.conditions)))
    if delta == 0:
        return f"for certain{f', as long as {provided}' if provided else ''}"
    return f"with probability at least {confidence(delta)}{f', if {provided}' if provided else ''}"


def claim(row: Certificate, costs: Costs, own: str, how: str, *, first: bool) -> str:
    """Return what is bounded, and by how much: the beginning of a sentence, or of what follows a semicolon.

    Parameters
    ----------
    row, costs, own
        As for :func:`quantity`.
    how
        Which values did not count as they were; may be empty.
    first
        Whether it begins a sentence.
    """
    found = quantity(row, costs, own)
    word = "at most" if row.side == "upper" else "at least"
    number = found.number(outward(row.value, row.side, _DIGITS))
    after = f" {found.after}" if found.after else ""
    run = run_words(row, plain=True)
    seen = "" if row.observed is None else f"measured {found.number(f'{row.observed:.{_DIGITS}g}')}"
    inside = "; ".join(text for text in (seen, how) if text)
    measured = f" ({inside})" if inside else ""
    start = about(row)
    start = start[:1].upper() + start[1:] if first else start
    if row.statistic == "mean" and (own or not found.many.startswith("have")):
        start = f"On average, answers of {run}" if first else f"those of {run}"
        return f"{start} {found.many} {word} {number}{after}{measured}"
    if row.statistic == "mean":
        subject = row.subject[:1].upper() + row.subject[1:] if first else row.subject
        return f"{subject} of {run} is {word} {number}{measured}"
    if row.statistic == "quantile":
        return f"{start} of {run} {found.many} {word} {number}{after}{measured}"
    if row.optimal:
        off = "" if row.value == 0 else f", to within {found.number(outward(row.value, row.side, _DIGITS))} of rounding"
        return f"{start} of {run} is {costs.best}{off},"
    return f"{start} of {run} {found.one} {word} {number}{after}{measured}"


def _vacuous(row: Certificate, costs: Costs, own: str) -> str:
    """Return that nothing is guaranteed, and why."""
    run = run_words(row, plain=True)
    if math.isinf(row.value):
        return f"Nothing is guaranteed about {unbounded(row)} of {run} {row.population}: {nothing(row)}."
    how = counting(row, quantity(row, costs, own).number(f"{row.limit or 0:g}"))
    reason = f"the bound is no better than the range of values{f' ({how})' if how else ''}"
    draws = f", from {arrays.counted(row.samples, row.unit)}" if row.samples else ""
    what = f"the mean of {own}" if own else row.subject
    return f"Nothing is guaranteed about {what} of {run} {row.population}: {reason}{draws}."


def several(rows: Sequence[Certificate]) -> str:
    """Return what the guarantees of a table differ by."""
    return "goal" if any(row.goal is not None for row in rows) else "category"
