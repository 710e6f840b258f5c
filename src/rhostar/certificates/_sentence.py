"""A certificate in one sentence: terminal, notebook, JSON, report and command line all use this one."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from rhostar import _arrays as arrays

if TYPE_CHECKING:
    from rhostar.certificates._certificate import Certificate

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
    rounding = ROUND_CEILING if side == "upper" else ROUND_FLOOR
    # The shortest decimal for the float may be on its wrong side, by less than half a step: nobody reads that.
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value))).normalize()
    if rounded == 0 or Decimal("1e-5") <= abs(rounded) < Decimal("1e9"):
        return f"{rounded:f}"
    return f"{rounded:e}"


def percent(share: float) -> str:
    """Return a share as a percentage with three digits, and never 0% or 100% unless it is."""
    return f"{100 * share:.3g}%" if share in (0, 1) or 5e-5 < share < 0.9995 else f"{100 * share:.6g}%"


def sentence(row: Certificate) -> str:
    """Return the bound: how sure, about what, of which search, on which instances, and what was measured."""
    conditions = " and ".join(row.conditions)
    if row.delta > 0:
        draws = arrays.counted(row.samples, row.unit)
        opening = f"With probability at least {confidence(row.delta)} over the draw of the {draws},"
    else:
        opening = f"As long as {conditions}," if conditions else "It is certain that"
        conditions = ""
    measured = "" if row.observed is None else f" (measured {row.observed:.6g})"
    provided = f", if {conditions}" if conditions else ""
    return f"{opening} {_claim(row)}{provided}{measured}{', which is vacuous' if row.vacuous else ''}."


def _claim(row: Certificate) -> str:
    bound = f"{'at most' if row.side == 'upper' else 'at least'} {outward(row.value, row.side)}"
    *first, last = (*row.settings, row.heuristic)
    using = f"{', '.join(first)} and {last}" if first else last
    run = " ".join(part for part in (row.search, row.goals, "with", using) if part)
    if row.statistic == "mean":
        return f"{row.subject}{_clipping(row)} of {run} is {bound} {row.population}"
    if row.statistic == "quantile":
        assert row.share is not None
        some = f"at least {percent(row.share)} of the answers"
        return f"{some} of {run} have a {row.subject} of {bound} {row.population}"
    if row.optimal:
        up_to = "" if row.value == 0 else f", to within {outward(row.value, row.side)} of rounding,"
        return f"every answer of {run} is optimal{up_to} {row.population}"
    return f"every answer of {run} has a {row.subject} of {bound} {row.population}"


def _clipping(row: Certificate) -> str:
    if row.clipped is None or row.limit is None:
        return ""
    these = f"{percent(row.clipped)} did" if row.clipped > 0 else "none did"
    return f" (values above {row.limit:g} count as {row.limit:g}; {these})"
