"""The section on the certificate: the guarantee, a table of all bounds, and how they tighten with more data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rhostar import _arrays as arrays
from rhostar.certificates import Certificate, CertificateTable, certify
from rhostar.certificates._paths import optimal_paths, remembering
from rhostar.certificates._sentence import outward, percent
from rhostar.certificates._table import reasons
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._comparison import Curve
from rhostar.report._drawing import COLOURS, DASHES, MARKERS, axes, legend, log_axis, short
from rhostar.report._promise import Promise, quantity, search_and_goals
from rhostar.report._section import Chart, Section, escape, table, unfolding
from rhostar.report._wording import Costs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class BoundView:
    """One row of the table of bounds."""

    name: str
    value: float
    """What the bound says about unseen instances."""
    empirical: float | None
    """The same on the instances that it was computed on."""
    delta: float
    holds_for: str
    reference: str
    claim: str
    role: str = "alone"
    statistic: str = "mean"
    vacuous: bool = False
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class CertificateSection(Section):
    """The guarantee, with all bounds."""

    name: ClassVar[str] = "certificate"
    title: ClassVar[str] = "Certificate"
    heading: ClassVar[str] = "What can be promised"

    promise: Promise
    """What is promised, in the reader's words."""
    sentence: str
    """The same, exact in every detail."""
    limit: float
    """The largest value of the utility that a curve may show."""
    bounds: tuple[BoundView, ...]
    left_out: tuple[str, ...] = ()
    """Bounds that were left out, each with its reason."""
    remarks: tuple[str, ...] = ()
    """Warnings first."""
    curves: tuple[Curve, ...] = ()
    """Each bound against the number of instances."""

    also: tuple[Promise, ...] = ()
    """What is promised of other methods; the page begins with them."""

    @property
    def promises(self) -> tuple[Promise, ...]:
        """All promises, in the order of the page."""
        return (*self.also, self.promise)

    def in_words(self, costs: Costs) -> CertificateSection:
        """Return the section for costs in a unit."""
        *also, promise = (replace(given, costs=costs) for given in self.promises)
        return replace(self, promise=promise, also=tuple(also))

    def tiles(self) -> Sequence[tuple[str, str]]:
        """Return the first promise, unless it is vacuous."""
        tile = self.promises[0].tile
        return () if tile is None else (tile,)

    @property
    def _axis(self) -> str:
        return quantity(self.promise.weakest.subject, self.promise.subject, self.promise.costs).axis

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return figures of the bounds next to the measured mean, and against the number of instances if known."""
        means = any(b.statistic == "mean" and b.empirical is not None for b in self.bounds)
        found: dict[str, Callable[[], Figure]] = {"bounds": self._draw_bounds} if means else {}
        return found | ({"bounds_against_n": self._draw_curves} if self.bounds and self.curves else {})

    def body(self, chart: Chart) -> str:
        """Return the promise, the table of bounds, a figure, and how to read them."""
        chosen = [bound for bound in self.bounds if bound.role != "alone"]
        others = [bound for bound in self.bounds if bound.role == "alone"]
        charts = chart(
            "bounds_against_n",
            "Each bound against the number of instances it is computed from",
            "Each bound on the first N independent draws: more data makes the promise tighter.",
        )
        compared = chart(
            "bounds",
            "Every bound next to the measured mean",
            "Each dot is a bound on the mean over new queries, each tick the mean that was measured.",
        )
        warnings = [line for line in self.remarks if line.startswith("Warning: ")]
        lists = "".join(
            unfolding(title, _list(lines))
            for title, lines in (
                ("What the promise assumes", _assumptions(self.bounds)),
                ("Remarks", [line for line in self.remarks if line not in warnings]),
                ("Bounds that were not computed, and why", self.left_out),
            )
            if lines
        )
        if others:
            inside = self._table("Other bounds", others) + compared
            lists = unfolding("What other bounds would have promised", inside) + lists
        about = f"<p>The bounds for “{escape(self.promise.method)}”:</p>" if self.also else ""
        cards = [_card(promise, promise.weakest.sentence) for promise in self.also]
        return f"""{"".join((*cards, _card(self.promise, self.sentence)))}
{_list(warnings) if warnings else ""}{about}
{self._table("The promise, with its bound", chosen)}
<div class="columns">{charts}<div class="card"><h3>How to read this</h3>
<p class="note">The values that guide the search are called ρ (rho), and δ (delta) is the chance that a bound is wrong.
The promise was fixed before anything was measured. A bound holds either for these values alone, judged by queries that
had no part in choosing them, or for all values at once, so also for values that were chosen by looking at the same
queries. Names such as H4 and U2 are explained in rhostar's glossary.</p></div></div>
{lists}"""

    def _table(self, name: str, bounds: Sequence[BoundView]) -> str:
        if not bounds:
            return ""
        head = [("bound", True), ("promised", False), ("measured", False), ("δ", False)]
        rows = (_bound_row(bound, self) for bound in bounds)
        return table(name, [*head, ("holds for", True), ("from", True)], rows)

    def _draw_bounds(self) -> Figure:
        """Draw each bound next to the measured mean."""
        means = [b for b in self.bounds if b.statistic == "mean" and b.empirical is not None]
        rows = [b for b in means if not b.vacuous] or means
        figure, axis = axes(f"{self._axis}, mean", "")
        for k, row in enumerate(rows):
            tone = COLOURS["c1" if row.holds_for == "every rho" else "c3"]
            assert row.empirical is not None
            axis.plot([row.empirical, row.value], [k, k], color=tone, linewidth=5, solid_capstyle="butt", alpha=0.35)
            axis.plot(row.empirical, k, "|", color=COLOURS["muted"], markersize=11)
            axis.plot(row.value, k, "o", color=tone, markersize=7)
        axis.set_yticks(range(len(rows)), [short(row.name, 22) for row in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        return figure

    def _draw_curves(self) -> Figure:
        """Draw each bound against the number of instances it was computed from."""
        figure, axis = axes("independent draws N", f"{self._axis}, bound on the mean")
        names = ["c1", "c2", "c3", "c4", "c5", "c6"]
        top = self.limit
        for k, curve in enumerate(self.curves):
            measured = curve.note == "measured"
            axis.plot(
                curve.x,
                curve.y,
                ":" if measured else DASHES[(k // 6) % 4],
                marker=None if measured else MARKERS[k % len(MARKERS)],
                markersize=4,
                color=COLOURS["muted"] if measured else COLOURS[names[k % 6]],
                linewidth=1.6,
                label=short(curve.name, 26),
            )
        finite = [y for curve in self.curves for y in curve.y if np.isfinite(y) and y <= top]
        if finite and max(finite) > 0:
            axis.set_ylim(0, min(1.08 * top, 1.15 * max(finite)))
        log_axis(axis)
        legend(figure, axis, 2)
        return figure


def _assumptions(bounds: Sequence[BoundView]) -> list[str]:
    found: list[str] = []
    for bound in bounds:
        found += [a for a in bound.assumptions if a not in found]
    return found


def _card(promise: Promise, in_full: str) -> str:
    """Return a promise in large letters, with the exact sentence to unfold."""
    chance = ""
    if promise.delta > 0:
        rate = f"Of many such reports, at most {100 * promise.delta:g}% would promise too much."
        chance = f'<span class="small">{rate}</span>'
    exact = unfolding("The promise in full", f"<p>{escape(in_full)}</p>")
    return f"""<div class="promise card"><p>{escape(promise.sentence)}</p>
{chance}{exact}</div>
"""


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


_HOLDS_FOR = {"this rho": "these values", "every rho": "all values", "every rho of the family": "all of the family"}


def _bound_row(bound: BoundView, view: CertificateSection) -> tuple[str, list[str]]:
    side = view.promise.weakest.side
    everyone = " all" if bound.holds_for.startswith("every") else ""
    found = quantity(view.promise.weakest.subject, view.promise.subject, view.promise.costs)
    value = found.number(outward(bound.value, side, 4))
    cells = [
        f'{escape(bound.name)}<span class="small">{escape(bound.claim)}</span>',
        '<span class="tag">says nothing</span>'
        if bound.vacuous
        else escape(f"{'≤' if side == 'upper' else '≥'} {value}"),
        "—" if bound.empirical is None else escape(found.number(f"{bound.empirical:.4g}")),
        f"{bound.delta:.3g}",
        f'<span class="tag{everyone}">{escape(_HOLDS_FOR.get(bound.holds_for, bound.holds_for))}</span>',
        escape(bound.reference),
    ]
    return "vacuous" if bound.vacuous else "best" if bound.role == "promise" else "", cells


def certificate_section(
    table: CertificateTable | Mapping[str, Any],
    *,
    subject: str = "",
    curves: Sequence[Curve] = (),
    method: str = "",
    also: Mapping[str, CertificateTable] | None = None,
) -> CertificateSection:
    """Return the section of a page for a table of bounds.

    Parameters
    ----------
    table
        What :func:`rhostar.certify` returned, or its ``to_dict()``, as a model file holds it.
    subject
        What is bounded, in the reader's words, such as "minutes lost". By default the page finds them: with
        ``build(..., cost_unit="min")`` it says "at most 0.2 min longer than the fastest route".
    curves
        Each bound against the number of instances; see :func:`certificate_curves`.
    method
        The name of the method that the table is about, where a page has several.
    also
        Tables about other methods, by name: the section begins with their promises.

    Returns
    -------
    CertificateSection
        For the `sections` of :func:`rhostar.report.build`.

    Raises
    ------
    InputError
        If the table has no bounds, or the plain values do not form a table.
    """
    found = table if isinstance(table, CertificateTable) else CertificateTable.from_dict(table)
    if not found.rows:
        raise InputError("the table has no bounds to show")
    best = found.best
    if subject:
        best = replace(best, subject=f"the mean number of {subject}" if best.statistic == "mean" else subject)
    rows = sorted(found.rows, key=lambda row: row is not found.best)  # stable: the promise first, then as in the table
    return CertificateSection(
        promise=Promise(found.promises, subject, method=method),
        sentence=best.sentence,
        limit=next((row.limit for row in found.rows if row.limit is not None), best.value),
        bounds=tuple(_bound(row) for row in rows),
        left_out=tuple(reasons(found.dropped)),
        remarks=tuple(found.notes),
        curves=tuple(curves),
        also=tuple(Promise(other.promises, subject, method=name) for name, other in (also or {}).items()),
    )


def _bound(row: Certificate) -> BoundView:
    where = f", {row.where}" if row.where else ""
    if row.where.startswith("goal "):  # by the user's name, not by its number
        where = f", {search_and_goals(row).partition(' to ')[2]}"
    quantity = {"mean": "the mean", "every": "every answer"}.get(row.statistic, f"{percent(row.share or 0)} of answers")
    draws = f", {arrays.counted(row.samples, row.unit)}" if row.samples else ""
    return BoundView(
        name=f"{row.label}{where}",
        value=row.value,
        empirical=row.observed,
        delta=row.delta,
        holds_for=row.holds_for,
        reference=row.reference,
        claim=f"{quantity}{draws}",
        role=row.role,
        statistic=row.statistic,
        vacuous=row.vacuous,
        assumptions=tuple(row.assumptions),
    )


def certificate_curves(
    rho: Any,
    sizes: Sequence[int],
    *,
    train: InstanceSet | None,
    holdout: InstanceSet | None,
    whole: CertificateTable | None = None,
    **options: Any,
) -> list[Curve]:
    """Return each bound against the number of instances it is computed on.

    Parameters
    ----------
    rho
        As for :func:`rhostar.certify`.
    sizes
        Numbers of instances. Each bound is computed on the first ones of a set, or on all if there are fewer.
    train, holdout, options
        As for :func:`rhostar.certify`.
    whole
        The result of :func:`rhostar.certify` for all instances: it becomes the last point, and sizes that need all
        instances are not computed again.

    Returns
    -------
    list of Curve
        One for each bound that says something at the largest size, and the mean measured on the holdout.
    """
    lines: dict[str, tuple[list[float], list[float]]] = {}
    measured: tuple[list[float], list[float]] = ([], [])
    for found in _tables(rho, sizes, {"train": train, "holdout": holdout}, whole, options):
        for row in found.rows:
            if row.delta > 0 and row.statistic == "mean" and not row.vacuous and not row.where:
                x, y = lines.setdefault(row.label, ([], []))
                x.append(float(row.samples))
                y.append(row.value)
        held = next((row for row in found.rows if row.holds_for == "this rho" and row.statistic == "mean"), None)
        if held is not None and held.observed is not None:
            measured[0].append(float(held.samples))
            measured[1].append(held.observed)
    curves = [Curve(name, tuple(x), tuple(y)) for name, (x, y) in lines.items()]
    if measured[0]:
        curves.append(Curve("measured on the holdout", tuple(measured[0]), tuple(measured[1]), "measured"))
    return curves


def _tables(
    rho: Any,
    sizes: Sequence[int],
    sets: Mapping[str, InstanceSet | None],
    whole: CertificateTable | None,
    options: Mapping[str, Any],
) -> Iterator[CertificateTable]:
    """Yield the certificates of each size in turn; those for all instances are not computed again if known."""
    most = max((len(part) for part in sets.values() if part is not None), default=0)
    wanted = [size for size in sorted(sizes) if whole is None or size < most]
    with remembering():
        if wanted and options["utility"].needs_optimum:
            for part in sets.values():
                if part is not None:
                    optimal_paths(part[: wanted[-1]])  # smaller sizes take theirs from it
        for size in wanted:
            first: dict[str, Any] = {name: part and part[:size] for name, part in sets.items()}
            yield certify(rho, **first, **options)
    if whole is not None:
        yield whole
