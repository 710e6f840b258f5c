"""A certificate in one sentence with all its conditions; the other forms are made of the same parts."""

from __future__ import annotations

import json
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING, Literal

from rhostar import _arrays as arrays

if TYPE_CHECKING:
    from rhostar.certificates._certificate import Certificate

THIS_RHO = "this rho"
"""What a certificate calls one table, or one for each goal."""
_DIGITS = 6


def confidence(delta: float) -> str:
    """Return 1 − δ in digits that are true: rounded down, and never to 1.

    Examples
    --------
    >>> from rhostar.certificates._sentence import confidence
    >>> confidence(0.05), confidence(1e-9), confidence(0.05 / 3), confidence(1e-30)
    ('0.95', '0.999999999', '0.9833', '1 - 1e-30')
    """
    most = Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(delta)).normalize()
    # A long row of nines cannot be read.
    return f"{1 - most:f}" if most > Decimal("1e-12") else f"1 - {most:e}"


def outward(value: float, side: str, digits: int = _DIGITS) -> str:
    """Return a bound in few digits: an upper bound is rounded up, a lower bound down, so that it stays true.

    Examples
    --------
    >>> from rhostar.certificates._sentence import outward
    >>> outward(0.16441349, "upper"), outward(0.16441349, "lower"), outward(2e-13, "upper"), outward(1e300, "upper")
    ('0.164414', '0.164413', '2e-13', '1e+300')
    """
    # The shortest decimal for the float may be on its wrong side, by less than half a step: nobody reads that.
    return _shown(Decimal(repr(float(value))), side, digits)


def percent(share: float, side: Literal["upper", "lower", "nearest"] = "nearest", digits: int = 3) -> str:
    """Return a share as a percentage: a bound is rounded outward, and nothing looks like 0% or 100% unless it is.

    Examples
    --------
    >>> from rhostar.certificates._sentence import percent
    >>> percent(0.9975, "lower", 6), percent(0.29, "lower"), percent(0.123451, "upper"), percent(0.99999), percent(0.0)
    ('99.75%', '29%', '12.4%', '99.999%', '0%')
    """
    exact = 100 * Decimal(repr(float(share)))
    if side == "nearest" and not Decimal("0.005") < exact < Decimal("99.95"):
        digits = 6
    if side == "lower" and 0 < 100 - exact < 1:  # the digits that count are those of what is missing
        digits = max(digits, 3 - (100 - exact).adjusted())
    return f"{_shown(exact, side, digits)}%"


def _shown(exact: Decimal, side: str, digits: int) -> str:
    rounding = {"upper": ROUND_CEILING, "lower": ROUND_FLOOR}.get(side, ROUND_HALF_EVEN)
    rounded = Context(prec=digits, rounding=rounding).create_decimal(exact).normalize()
    if rounded == 0 or Decimal("1e-5") <= abs(rounded) < Decimal("1e9"):
        return f"{rounded:f}"
    return f"{rounded:e}"


def quoted(label: object) -> str:
    r"""Return a user's own label so that nobody takes it for words of the sentence; numbers stay as they are.

    Examples
    --------
    >>> from rhostar.certificates._sentence import quoted
    >>> print(quoted('goal "3"'), quoted(3))
    "goal \"3\"" 3
    """
    return json.dumps(label, ensure_ascii=False) if isinstance(label, str) else str(label)


def scaled_words(words: str, factor: float) -> str:
    """Return what a sentence calls a heuristic that was multiplied by a factor.

    Examples
    --------
    >>> from rhostar.certificates._sentence import scaled_words
    >>> scaled_words("this rho", 1.0), scaled_words("this rho", 1.25)
    ('this rho', 'this rho (scaled by 1.25)')
    """
    return words if factor == 1 else f"{words} (scaled by {factor:.6g})"


# ---------------------------------------------------------------- the parts, for every form


def run_words(row: Certificate, *, plain: bool = False) -> str:
    """Return everything that was run: the search, where it leads, its options, the heuristic and how it was chosen.

    Parameters
    ----------
    row
        The certificate.
    plain
        Whether it is for readers without symbols: the heuristic is left out where it is simply the one that was given.
    """
    search = "greedy best-first search" if row.algorithm == "gbfs" else "A*"
    settings = []
    if row.algorithm == "astar" and row.reopen is not True:
        search += " without reopening" if row.reopen is False else ", with or without reopening,"
    elif row.algorithm == "astar":
        settings.append("reopening")
    if row.budget is not None:
        settings.append(f"a budget of {arrays.counted(row.budget, 'expansion')}")
    own = row.heuristic
    if plain and own == scaled_words(THIS_RHO, row.factor):
        own = "" if row.factor == 1 else scaled_words("a heuristic", row.factor)
    if own:
        settings.append(own)
    *first, last = settings or [""]
    using = f"with {', '.join(first)} and {last}" if first else f"with {last}" if last else ""
    category = f"in category {quoted(row.category)}" if row.category is not None and row.goal is None else ""
    chosen = []
    if row.candidates > 1:
        chosen.append(f"the best of {row.candidates} candidates")
    if row.chosen_here:
        whom = "they were" if row.heuristic.startswith("these") else "it was"
        who = "by a heuristic" if plain and row.heuristic == THIS_RHO else f"though {whom}"
        chosen.append(f"{who} chosen by looking at these instances")
    text = " ".join(part for part in (search, row.goals, category, using) if part)
    text = ", ".join((text, *chosen))
    return f"{text}," if chosen or "," in row.heuristic else text


def conditions(row: Certificate) -> str:
    """Return what must hold on new instances besides, in words; empty if nothing must."""
    return " and ".join(row.conditions)


def counting(row: Certificate, limit: str) -> str:
    """Return which values did not count as they were: those above H, and runs that found no path.

    Parameters
    ----------
    row
        The certificate.
    limit
        H, with its unit.
    """
    parts = []
    if row.clipped is not None and row.limit is not None:
        these = f"{percent(row.clipped)} did" if row.clipped > 0 else "none did"
        parts.append(f"values above {limit} count as {limit}; {these}")
    if row.unsolved > 0:
        parts.append(not_found(row))
    return "; ".join(parts)


def not_found(row: Certificate) -> str:
    """Return the share of runs without an answer, in words."""
    return f"{percent(row.unsolved)} of the runs found no path{'' if row.budget is None else ' within the budget'}"


def nothing(row: Certificate) -> str:
    """Return why the bound is infinite."""
    if row.unsolved > 0:
        return f"{not_found(row)}, which is too many"
    needed = "" if row.needed is None else f", {row.needed:,} are needed"
    return f"{arrays.counted(row.samples, row.unit)} are too few{needed}"


def unbounded(row: Certificate) -> str:
    """Return what an infinite bound says nothing about."""
    if row.statistic != "quantile":
        return row.subject
    assert row.share is not None
    return f"the {row.subject} of {percent(row.share, 'lower', _DIGITS)} of the answers"


def about(row: Certificate) -> str:
    """Return the answers that are bounded: a share of them, or all."""
    if row.statistic == "quantile":
        assert row.share is not None
        return f"at least {percent(row.share, 'lower', _DIGITS)} of the answers"
    return "every answer"


# ---------------------------------------------------------------- the sentence


def sentence(row: Certificate) -> str:
    """Return the bound: how sure, about what, of which search, on which instances, and what was measured."""
    provided = conditions(row)
    if math.isinf(row.value):
        return f"Nothing is guaranteed about {unbounded(row)} of {run_words(row)} {row.population}: {nothing(row)}."
    if row.delta > 0:
        draws = arrays.counted(row.samples, row.unit)
        start = f"With probability at least {confidence(row.delta)} over the draw of the {draws},"
    else:
        start = f"As long as {provided}," if provided else "It is certain that"
        provided = ""
    measured = "" if row.observed is None else f" (measured {row.observed:.6g})"
    condition = f", if {provided}" if provided else ""
    return f"{start} {_claim(row)}{condition}{measured}{', which is vacuous' if row.vacuous else ''}."


def _claim(row: Certificate) -> str:
    bound = f"{'at most' if row.side == 'upper' else 'at least'} {outward(row.value, row.side)}"
    run = run_words(row)
    how = counting(row, f"{row.limit:g}" if row.limit is not None else "")
    counted = f" ({how})" if how else ""
    if row.statistic == "mean":
        return f"{row.subject}{counted} of {run} is {bound} {row.population}"
    if row.statistic == "quantile":
        return f"{about(row)}{counted} of {run} have a {row.subject} of {bound} {row.population}"
    if row.optimal:
        up_to = "" if row.value == 0 else f", to within {outward(row.value, row.side)} of rounding,"
        return f"every answer of {run} is optimal{up_to} {row.population}"
    return f"every answer of {run} has a {row.subject} of {bound} {row.population}"
