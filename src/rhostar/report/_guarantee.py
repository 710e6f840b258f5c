"""A guarantee for readers who do not know the theory: in the unit of the page, and in the words of the page.

The sentence of the certificate itself, which is exact in every detail, stays on the page too; what is said here must be
no stronger than that. Numbers are rounded outward, away from what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rhostar.certificates import Certificate
from rhostar.certificates._sentence import confidence, outward, percent
from rhostar.certificates._table import looseness
from rhostar.report._wording import NO_UNIT, Costs

_LISTED = 5  # guarantees that are said one by one


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


@dataclass(frozen=True)
class Guarantee:
    """The guarantees of a certificate, in words.

    Attributes
    ----------
    rows
        One, or one for each goal or category; all hold at once.
    subject
        The user's own words for what is bounded; empty for those of the utility.
    costs
        The words for costs.
    method
        The name of the method that it is about, where a page has several.
    """

    rows: tuple[Certificate, ...]
    subject: str = ""
    costs: Costs = NO_UNIT
    method: str = ""

    @property
    def weakest(self) -> Certificate:
        """The weakest guarantee."""
        return max(self.rows, key=looseness)

    @property
    def delta(self) -> float:
        """The chance that any of them is wrong."""
        return min(1.0, sum(row.delta for row in self.rows))

    @property
    def tile(self) -> tuple[str, str] | None:
        """The number, and what it means; None if it says nothing."""
        weakest = self.weakest
        if weakest.vacuous:
            return None
        sure = "for certain" if self.delta == 0 else f"with probability at least {confidence(self.delta)}"
        about = f"“{self.method}”: " if self.method else ""
        if weakest.optimal:
            return (
                "always",
                f"{about}{self.costs.best}, up to the rounding of sums: guaranteed {sure}{_conditions(weakest)}",
            )
        found = quantity(weakest.subject, self.subject, self.costs)
        sign = "≤" if weakest.side == "upper" else "≥"
        number = found.number(outward(weakest.value, weakest.side, 3))
        where = (
            {"goal": ", to each goal", "category": ", in each category"}[_several(self.rows)]
            if (len(self.rows) > 1)
            else ""
        )
        which = {
            "mean": " on average",
            "quantile": f", {percent(weakest.share or 0)} of answers",
            "every": ", every answer",
        }[weakest.statistic]
        what = f"{found.after or found.axis}{which}{where}{self._limit(short=True)}"
        return f"{sign} {number}", f"{about}{what}; guaranteed for new queries {sure}{_conditions(weakest)}"

    @property
    def sentence(self) -> str:
        """The guarantee in one or two sentences."""
        weakest = self.weakest
        rows = self.rows if len(self.rows) <= _LISTED else (weakest,)
        claims = [self._claim(row, first=k == 0) for k, row in enumerate(rows)]
        population = "" if weakest.statistic == "every" else f", {weakest.population}"
        more = ""
        if len(rows) < len(self.rows):
            more = f" This is the weakest of {len(self.rows)} guarantees, one for each {_several(self.rows)}."
        nothing = " This is vacuous." if weakest.vacuous else ""
        about = f"“{self.method}”: " if self.method else ""
        return f"{about}{'; '.join(claims)}{population}{self._limit()}. {self._sure()}{more}{nothing}"

    def _claim(self, row: Certificate, *, first: bool) -> str:
        found = quantity(row.subject, self.subject, self.costs)
        word = "at most" if row.side == "upper" else "at least"
        number = found.number(outward(row.value, row.side, 3))
        after = f" {found.after}" if found.after else ""
        head = search_and_goals(row)
        if row.optimal:
            return f"Every answer of {head} is {self.costs.best}, up to the rounding of sums"
        measured = "" if row.observed is None else f" (measured {found.number(f'{row.observed:.3g}')})"
        if row.statistic == "mean":
            start = f"On average, answers of {head}" if first else f"those of {head}"
            return f"{start} {found.many} {word} {number}{after}{measured}"
        if row.statistic == "quantile":
            start = f"At least {percent(row.share or 0)} of the answers of {head}"
            return f"{start} {found.many} {word} {number}{after}{measured}"
        largest = "" if row.observed is None else f" (at most {found.number(f'{row.observed:.3g}')} was seen)"
        return f"Every answer of {head} {found.one} {word} {number}{after}{largest}"

    def _limit(self, *, short: bool = False) -> str:
        """Return what the limit H does and where it comes from."""
        row = self.weakest
        if row.clipped is None or row.limit is None:
            return ""
        limit = quantity(row.subject, self.subject, self.costs).number(f"{row.limit:g}")
        if short:
            return f" (capped at {limit})"
        share = (
            "no answer was above it here" if row.clipped == 0 else f"{percent(row.clipped)} of answers were above it"
        )
        return f". Values are capped at {limit}: a bound on a mean needs such a limit (H), fixed beforehand; {share}"

    def _sure(self) -> str:
        conditions = _conditions(self.weakest)
        if self.delta == 0:
            return f"This is certain{conditions}."
        at_once = ", for all of them at once" if len(self.rows) > 1 else ""
        return f"This holds with probability at least {confidence(self.delta)}{at_once}{conditions}."


def search_and_goals(row: Certificate) -> str:
    """Return what was run and where it leads, such as "A* to goal depot 3" or "A* to goal 7 with a budget of 5 …"."""
    notable = [text for text in (*row.settings, row.heuristic) if text not in ("reopening", "this rho")]
    with_these = f" with {' and '.join(notable)}" if notable else ""
    return f"{row.search} {row.goals}".strip() + with_these


def quantity(subject: str, own: str, costs: Costs) -> Quantity:
    """Return the words for what is bounded.

    Parameters
    ----------
    subject
        As a certificate has it, such as "the mean cost above the optimum".
    own
        The user's words, which replace it; may be empty.
    costs
        The words for costs.

    Examples
    --------
    >>> from rhostar.report._wording import costs
    >>> found = quantity("the mean cost above the optimum", "", costs("s"))
    >>> found.number("4.75"), found.after, found.axis
    ('4.75 s', 'longer than the fastest route', 'longer than the fastest route (s)')
    >>> quantity("the share of optimal answers", "", costs("s")).axis
    'the share of optimal answers'
    """
    bare = subject.removeprefix("the mean ")
    if own:
        return Quantity("have", "has", own, "", own)
    if bare == "cost above the optimum":
        unit = f" ({costs.unit})" if costs.unit else ""
        return Quantity("are", "is", costs.above, costs.unit, costs.above + unit)
    if bare == "cost":
        unit = f" ({costs.unit})" if costs.unit else ""
        return Quantity("cost", "costs", "", costs.unit, f"cost of an answer{unit}")
    if bare in ("ratio of cost to optimum", "cost / optimum"):
        multiple = f"times the cost of {costs.best}"
        return Quantity("cost", "costs", multiple, "", f"cost in multiples of {costs.best}")
    if bare in ("number of expanded vertices", "expanded vertices"):
        return Quantity("need", "needs", "vertices searched", "", "vertices searched")
    return Quantity(f"have {bare} of", f"has {bare} of", "", "", bare)


def _several(rows: Sequence[Certificate]) -> str:
    return "goal" if any(row.goal is not None for row in rows) else "category"


def _conditions(row: Certificate) -> str:
    return f", if {' and '.join(row.conditions)}" if row.conditions else ""
