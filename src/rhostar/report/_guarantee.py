"""A guarantee in the unit and the words of the page: its tile, and its line.

The page also shows the sentence of the certificate itself, with all its details. Line, tile and sentence
are made of the same parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from rhostar.certificates import Certificate
from rhostar.certificates._sentence import about, counting, outward, run_words
from rhostar.certificates._summary import NO_UNIT, Costs, looseness, quantity, several, summary, surely


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
    def _about(self) -> str:
        return f"“{self.method}”: " if self.method else ""

    @property
    def tile(self) -> tuple[str, str] | None:
        """The number, and what it means; None if it says nothing."""
        weakest = self.weakest
        if weakest.vacuous:
            return None
        found = quantity(weakest, self.costs, self.subject)
        number = found.number(outward(weakest.value, weakest.side, 3))
        which = {"mean": "on average", "quantile": about(weakest), "every": "every answer"}[weakest.statistic]
        run = run_words(weakest, plain=True).rstrip(",")
        where = f", for each {several(self.rows)}" if len(self.rows) > 1 else f", {run}"
        how = counting(weakest, found.number(f"{weakest.limit or 0:g}"))
        counted = f" ({how})" if how else ""
        sure = f"guaranteed {weakest.population} {surely(self.rows)}"
        if weakest.optimal:
            off = "" if weakest.value == 0 else f", to within {number} of rounding"
            return "always", f"{self._about}{self.costs.best}{off}{where}; {sure}"
        sign = "≤" if weakest.side == "upper" else "≥"
        what = f"{found.after or found.axis}, {which}{where}{counted}"
        return f"{sign} {number}", f"{self._about}{what}; {sure}"

    @property
    def sentence(self) -> str:
        """The guarantee in one line."""
        return f"{self._about}{summary(self.rows, self.costs, self.subject)}"
