"""The section on the certificate: the guarantee, and a table of all bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rhostar import _arrays as arrays
from rhostar.certificates import Certificate, CertificateTable, Dropped
from rhostar.certificates._sentence import outward, percent
from rhostar.certificates._summary import Costs, Quantity, quantity
from rhostar.errors import InputError
from rhostar.report._figures import COLORS, axes, short
from rhostar.report._guarantee import Guarantee
from rhostar.report._section import Chart, Section, escape, table, unfolding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class CertificateSection(Section):
    """The guarantee, with all bounds."""

    name: ClassVar[str] = "certificate"
    title: ClassVar[str] = "Certificate"
    heading: ClassVar[str] = "What is guaranteed"

    guarantee: Guarantee
    """What is guaranteed, in the reader's words."""
    sentence: str
    """The same, exact in every detail."""
    bounds: tuple[Certificate, ...]
    left_out: tuple[str, ...] = ()
    """Bounds that were left out, each with its reason."""
    remarks: tuple[str, ...] = ()
    """Warnings first."""
    also: tuple[Guarantee, ...] = ()
    """What is guaranteed for other methods; the page begins with them."""

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """All guarantees, in the order of the page."""
        return (*self.also, self.guarantee)

    def in_words(self, costs: Costs) -> CertificateSection:
        """Return the section for costs in a unit."""
        *also, guarantee = (replace(given, costs=costs) for given in self.guarantees)
        return replace(self, guarantee=guarantee, also=tuple(also))

    def tiles(self) -> Sequence[tuple[str, str]]:
        """Return the first guarantee, unless it is vacuous."""
        tile = self.guarantees[0].tile
        return () if tile is None else (tile,)

    @property
    def _quantity(self) -> Quantity:
        return quantity(self.guarantee.weakest, self.guarantee.costs, self.guarantee.subject)

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the figure of the bounds next to the measured mean, if there is one."""
        means = any(b.statistic == "mean" and b.observed is not None for b in self.bounds)
        return {"bounds": self._draw_bounds} if means else {}

    def body(self, chart: Chart) -> str:
        """Return the guarantee, the table of bounds, a figure, and how to read them."""
        chosen = [bound for bound in self.bounds if bound.role != "comparison"]
        others = [bound for bound in self.bounds if bound.role == "comparison"]
        compared = chart(
            "bounds",
            "Every bound next to the measured mean",
            "Each dot is a bound on the mean, each tick the mean that was measured.",
        )
        warnings = [line for line in self.remarks if line.startswith("Warning: ")]
        lists = "".join(
            unfolding(title, _list(lines))
            for title, lines in (
                ("What the guarantee assumes", list(dict.fromkeys(a for b in self.bounds for a in b.assumptions))),
                ("Remarks", [line for line in self.remarks if line not in warnings]),
                ("Bounds that were not computed, and why", self.left_out),
            )
            if lines
        )
        if others:
            inside = self._table("Other bounds", others) + compared
            lists = unfolding("Other bounds, for comparison", inside) + lists
        about = f"<p>The bounds for “{escape(self.guarantee.method)}”:</p>" if self.also else ""
        cards = [_card(other, other.weakest.sentence) for other in self.also]
        return f"""{"".join((*cards, _card(self.guarantee, self.sentence)))}
{_list(warnings) if warnings else ""}{about}
{self._table("The guarantee, with its bound", chosen)}
<div class="card"><h3>How to read this</h3>
<p class="note">The values that guide the search are called ρ (rho), and δ (delta) is the chance that a bound is wrong.
The guarantee was fixed before anything was measured. A bound holds either for these values alone, measured on queries
that had no part in choosing them, or for all values at once, so also for values that were chosen by looking at the same
queries. Names such as H4 and U2 are explained in rhostar's glossary.</p></div>
{lists}"""

    def _table(self, name: str, bounds: Sequence[Certificate]) -> str:
        if not bounds:
            return ""
        head = [("bound", True), ("value", False), ("measured", False), ("δ", False)]
        rows = (_bound_row(bound, self) for bound in bounds)
        return table(name, [*head, ("holds for", True), ("from", True)], rows)

    def _draw_bounds(self) -> Figure:
        """Draw each bound next to the measured mean."""
        means = [b for b in self.bounds if b.statistic == "mean" and b.observed is not None]
        rows = [b for b in means if not b.vacuous] or means
        figure, axis = axes(f"{self._quantity.axis}, mean", "")
        for k, row in enumerate(rows):
            tone = COLORS["c1" if row.holds_for == "every rho" else "c3"]
            assert row.observed is not None
            axis.plot([row.observed, row.value], [k, k], color=tone, linewidth=5, solid_capstyle="butt", alpha=0.35)
            axis.plot(row.observed, k, "|", color=COLORS["muted"], markersize=11)
            axis.plot(row.value, k, "o", color=tone, markersize=7)
        axis.set_yticks(range(len(rows)), [short(_name(row), 22) for row in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        return figure


def _card(guarantee: Guarantee, in_full: str) -> str:
    """Return a guarantee in large letters, with the exact sentence to unfold."""
    chance = ""
    if guarantee.delta > 0:
        rate = f"Of many such reports, at most {percent(guarantee.delta, 'upper')} would guarantee too much."
        chance = f'<span class="small">{rate}</span>'
    exact = unfolding("The guarantee in full", f"<p>{escape(in_full)}</p>")
    weakness = guarantee.weakest.weakness
    weak = f'<span class="small">{escape(weakness)}</span>' if weakness else ""
    return f"""<div class="guarantee card"><p>{escape(guarantee.sentence)}</p>
{chance}{weak}{exact}</div>
"""


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


_HOLDS_FOR = {"this rho": "these values", "every rho": "all values", "every rho of the family": "all of the family"}


def _bound_row(bound: Certificate, view: CertificateSection) -> tuple[str, list[str]]:
    side = view.guarantee.weakest.side
    everyone = " all" if bound.holds_for.startswith("every") else ""
    found = view._quantity
    value = found.number(outward(bound.value, side, 4))
    what = {"mean": "the mean", "every": "every answer"}.get(
        bound.statistic, f"{percent(bound.share or 0, 'lower', 6)} of answers"
    )
    draws = f", {arrays.counted(bound.samples, bound.unit)}" if bound.samples else ""
    cells = [
        f'{escape(_name(bound))}<span class="small">{escape(f"{what}{draws}")}</span>',
        '<span class="tag">vacuous</span>' if bound.vacuous else escape(f"{'≤' if side == 'upper' else '≥'} {value}"),
        "—" if bound.observed is None else escape(found.number(f"{bound.observed:.4g}")),
        f"{bound.delta:.3g}",
        f'<span class="tag{everyone}">{escape(_HOLDS_FOR[bound.holds_for])}</span>',
        escape(bound.reference),
    ]
    return "vacuous" if bound.vacuous else "best" if bound.role == "guarantee" else "", cells


def certificate_section(
    table: CertificateTable | Mapping[str, Any],
    *,
    subject: str = "",
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
    method
        The name of the method that the table is about, where a page has several.
    also
        Tables about other methods, by name: the section begins with their guarantees.

    Returns
    -------
    CertificateSection
        For the `sections` of :func:`rhostar.report.build`.

    Raises
    ------
    InputError
        If the table has no bounds, or the plain values do not form a table.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(4, 4)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(40, graph.m))
    >>> holdout = rs.InstanceSet(graph, weights, sources=0, goal=15)
    >>> table = rs.certify(np.zeros(16), holdout, rs.utilities.Expansions(16))
    >>> rs.report.certificate_section(table).name
    'certificate'
    """
    found = table if isinstance(table, CertificateTable) else CertificateTable.from_dict(table)
    if not found.rows:
        raise InputError("the table has no bounds to show")
    best = found.best
    if subject:
        best = replace(best, subject=f"the mean number of {subject}" if best.statistic == "mean" else subject)
    rows = sorted(found.rows, key=lambda row: row is not found.best)  # the guarantee first, then as in the table
    return CertificateSection(
        guarantee=Guarantee(found.guarantees, subject, method=method),
        sentence=best.sentence,
        bounds=tuple(rows),
        left_out=tuple(_reasons(found.dropped)),
        remarks=tuple(found.notes),
        also=tuple(Guarantee(other.guarantees, subject, method=name) for name, other in (also or {}).items()),
    )


def _name(row: Certificate) -> str:
    return f"{row.label}, {row.category}" if row.category else row.label


def _reasons(dropped: Sequence[Dropped]) -> list[str]:
    """Return one line for a bound, however many goals it was left out for."""
    by_label: dict[str, list[Dropped]] = {}
    for entry in dropped:
        by_label.setdefault(entry.label, []).append(entry)
    found = []
    for label, entries in by_label.items():
        where = f", {entries[0].category}" if entries[0].category else ""
        more = f" (similar for {len(entries) - 1} more)" if len(entries) > 1 else ""
        found.append(f"{label}{where}{more}: {entries[0].reason}")
    return found
