"""The promise of a certificate in one sentence: terminal, notebook, JSON, report and command line all use this one."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from rhostar import _arrays as arrays

if TYPE_CHECKING:
    from rhostar.certificates._certificate import Certificate

_DIGITS = 6
_OPTIMAL = "U3"
"""The bound whose value is nothing but rounding."""


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
    # The shortest decimal that names the float may lie on its wrong side, by less than half a step: nobody reads that.
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value))).normalize()
    if rounded == 0 or Decimal("1e-5") <= abs(rounded) < Decimal("1e9"):
        return f"{rounded:f}"
    return f"{rounded:e}"


def percent(share: float) -> str:
    """Return a share as a percentage with three digits, and never 0% or 100% unless it is."""
    return f"{100 * share:.3g}%" if share in (0, 1) or 5e-5 < share < 0.9995 else f"{100 * share:.6g}%"


def running(
    algorithm: str,
    *,
    reopen: bool,
    budget: int | None,
    where: str = "",
    candidates: int = 1,
    chosen_on_these: bool = False,
) -> str:
    """Return what was run, to which goals, and with which ρ.

    Examples
    --------
    >>> from rhostar.certificates._sentence import running
    >>> running("astar", reopen=True, budget=50, where="to goal 7")
    'A* to goal 7 with reopening, a budget of 50 expansions and this rho'
    """
    things = ["reopening"] if algorithm == "astar" and reopen else []
    things += [] if budget is None else [f"a budget of {arrays.counted(budget, 'expansion')}"]
    rho = "this rho"
    rho += f", the best of {candidates} candidates," if candidates > 1 else ""
    rho += ", though it was chosen by looking at these instances," if chosen_on_these else ""
    name = "greedy best-first search" if algorithm == "gbfs" else "A*" if reopen else "A* without reopening"
    return " ".join(part for part in (name, where, "with", _listed([*things, rho])) if part)


def sentence(promise: Certificate) -> str:
    """Return what is promised: how sure, about what, of which search, on which instances, and what was measured."""
    return f"{_opening(promise)} {_claim(promise)}{_conditions(promise)}{_observed(promise)}{_emptiness(promise)}."


def _opening(promise: Certificate) -> str:
    if promise.delta > 0:
        draws = arrays.counted(promise.samples, promise.unit)
        return f"With probability at least {confidence(promise.delta)} over the draw of the {draws},"
    return f"It is certain, if {_all(promise.conditions)}, that" if promise.conditions else "It is certain that"


def _claim(promise: Certificate) -> str:
    word = "at most" if promise.side == "upper" else "at least"
    value = outward(promise.value, promise.side)
    run = promise.run
    if promise.statistic == "mean":
        return f"{promise.subject}{_clipping(promise)} of {run} is {word} {value} {promise.population}"
    if promise.statistic == "quantile":
        assert promise.share is not None
        some = f"at least {percent(promise.share)} of the answers"
        return f"{some} of {run} have a {promise.subject} of {word} {value} {promise.population}"
    if promise.label == _OPTIMAL:
        up_to = "" if promise.value == 0 else f" up to rounding, by at most {value},"
        return f"every answer of {run} is optimal{up_to} {promise.population}"
    return f"every answer of {run} has a {promise.subject} of {word} {value} {promise.population}"


def _clipping(promise: Certificate) -> str:
    if promise.clipped is None or promise.limit is None:
        return ""
    these = f"{percent(promise.clipped)} of these were" if promise.clipped > 0 else "none of these was"
    return f" (clipped at {promise.limit:g}; {these})"


def _conditions(promise: Certificate) -> str:
    return f", if {_all(promise.conditions)}" if promise.conditions and promise.delta > 0 else ""


def _observed(promise: Certificate) -> str:
    return "" if promise.observed is None else f" (measured {promise.observed:.6g})"


def _emptiness(promise: Certificate) -> str:
    return ", which is no more than the range says" if promise.vacuous else ""


def _all(conditions: Iterable[str]) -> str:
    return " and ".join(conditions)


def _listed(things: list[str]) -> str:
    *first, last = things
    return f"{', '.join(first)} and {last}" if first else last
