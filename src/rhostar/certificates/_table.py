"""A table of certificates: the promise first, then what is certain, then what other bounds would have promised."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rhostar._display import html_table
from rhostar.certificates._certificate import Certificate, Dropped, from_plain, parsed
from rhostar.errors import InputError

_FOR = {"this rho": "this", "every rho": "every", "every rho of the family": "family"}


@dataclass(frozen=True, eq=False)
class CertificateTable:
    """The promise, and what other bounds would have promised in its place.

    Which bound carries the promise is fixed before any utility is seen, so it has all of δ. ``print(table)`` shows it,
    and so does a notebook. It is a sequence of rows: ``len(table)``, ``for row in table``, ``table[0]``;
    ``table["U2"]`` is the row with that key.
    """

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...]
    delta: float
    title: str
    notes: tuple[str, ...] = ()
    """What was changed, found and counted on the way; warnings first."""
    rho: Any = None
    """The very heuristic that the bounds were measured with: run this one. A mapping where goals differ."""

    @property
    def best(self) -> Certificate:
        """The promise, fixed beforehand; of several, one for each goal or category, the weakest."""
        return max(self.promises, key=looseness)

    @property
    def promises(self) -> tuple[Certificate, ...]:
        """The promise; several, if there is one for each goal or category."""
        return tuple(row for row in self.rows if row.role == "promise")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that a reader must not miss."""
        return tuple(note for note in self.notes if note.startswith("Warning: "))

    def best_for(self, goal: int) -> Certificate:
        """Return the promise for a goal: its own, or the one for all goals together.

        Raises
        ------
        InputError
            If there is none.
        """
        for row in self.promises:
            if row.goal == goal or (row.goal is None and row.category is None):
                return row
        raise InputError(f"goal {goal!r} has no certificate in this table")

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Certificate:
        """Return the row at a position, or the first one with a key.

        Raises
        ------
        InputError
            If no row has the key.
        IndexError
            If there are not that many rows.
        """
        if not isinstance(key, str):
            return self.rows[key]
        for row in self.rows:
            if row.label == key:
                return row
        raise InputError(f"no row {key!r}; there are {[row.label for row in self.rows]}")

    def _cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the head of the printed table and its rows; the column of goals only where there are several."""
        first = 0 if any(row.where for row in self.rows) else 1
        head = ("for", "bound", "value", "measured", "delta", "N", "rho", "role")
        cells = [
            (
                row.where,
                row.label,
                row.claim + (" *" if row.vacuous else ""),
                "" if row.observed is None else f"{row.observed:.5g}",
                f"{row.delta:.3g}",
                str(row.samples) if row.samples else "",
                _FOR[row.holds_for],
                row.role,
            )
            for row in self.rows
        ]
        return head[first:], [row[first:] for row in cells]

    @property
    def _legend(self) -> list[str]:
        lines = ["* says no more than the range does"] if any(row.vacuous for row in self.rows) else []
        if any(row.role == "alone" for row in self.rows):
            lines.append("alone: what this bound would have promised, had it been chosen beforehand")
        return lines

    @property
    def _sentences(self) -> list[str]:
        """The promise; where there are several, each of them, or the weakest of many."""
        found = [row.sentence for row in self.promises]
        return found if len(found) <= 5 else [self.best.sentence]

    def __repr__(self) -> str:
        bounds = "1 bound" if len(self) == 1 else f"{len(self)} bounds"
        return f"CertificateTable({self.title}: {bounds}, promise {self.best.label} {self.best.claim})"

    def _repr_html_(self) -> str:
        head, cells = self._cells()
        return html_table(self.title, head, cells, [*self.warnings, *self._sentences, *self._legend])

    def __str__(self) -> str:
        head, cells = self._cells()
        widths = [max(len(row[k]) for row in (head, *cells)) for k in range(len(head))]
        if head[0] == "for":  # the labels of goals can be long
            widths[0] = min(widths[0], max(12, 80 - sum(widths[1:]) - 2 * (len(head) - 1)))
            cells = [(_shortened(row[0], widths[0]), *row[1:]) for row in cells]
        lines = textwrap.wrap(self.title, 80)
        for text in self._sentences:
            lines += ["", *textwrap.wrap(text, 80)]
        lines.append("")
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (head, *cells)
        ]
        lines += self._legend
        lines += _section("Notes:", self.notes)
        lines += _section("Assumed:", dict.fromkeys(text for row in self.rows for text in row.assumptions))
        lines += _section("Not computed:", reasons(self.dropped))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; `rho` is left out."""
        return {
            "title": self.title,
            "delta": self.delta,
            "rows": [row.to_dict() for row in self.rows],
            "dropped": [asdict(entry) for entry in self.dropped],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CertificateTable:
        """Return the table that :meth:`to_dict` described, without `rho`.

        Raises
        ------
        InputError
            If a field is missing or unknown, or there is no promise.
        """
        found = cls(
            **from_plain(
                cls,
                values,
                rows=lambda rows: tuple(Certificate.from_dict(row) for row in rows),
                dropped=lambda entries: tuple(Dropped(**from_plain(Dropped, entry)) for entry in entries),
                notes=tuple,
            )
        )
        if not found.promises:
            raise InputError("a table of certificates must have a promise among its rows")
        return found

    @classmethod
    def from_json(cls, text: str) -> CertificateTable:
        """Return the table that :meth:`to_json` wrote."""
        return cls.from_dict(parsed(text))


def ordered(rows: list[Certificate]) -> tuple[Certificate, ...]:
    """Return the promise, then what is certain, then the others, each tightest first."""
    place = {"promise": 0, "certain": 1, "alone": 2}
    return tuple(sorted(rows, key=lambda row: (place[row.role], -1 if row.goal is None else row.goal, looseness(row))))


def looseness(row: Certificate) -> float:
    """Return a number that is larger for a weaker bound."""
    return row.value if row.side == "upper" else -row.value


def reasons(dropped: Sequence[Dropped]) -> list[str]:
    """Return why bounds were not computed; one line for a bound, however many goals it was left out for."""
    by_label: dict[str, list[Dropped]] = {}
    for entry in dropped:
        by_label.setdefault(entry.label, []).append(entry)
    return [f"{label}{_goals_of(entries)}: {entries[0].reason}" for label, entries in by_label.items()]


def _goals_of(entries: Sequence[Dropped]) -> str:
    if entries[0].goal is None:
        return ""
    first = entries[0].goal if entries[0].goal_label is None else entries[0].goal_label
    return f", goal {first}" + (f" (similar for {len(entries) - 1} more)" if len(entries) > 1 else "")


def _shortened(text: str, width: int) -> str:
    """Return a text that is not longer than this, without its middle if it must be; names often differ at the end."""
    if len(text) <= width:
        return text
    end = (width - 2) // 2
    return f"{text[: width - 2 - end]}..{text[-end:]}"


def _section(title: str, texts: Any) -> list[str]:
    found = [line for text in texts for line in textwrap.wrap(text, 80, initial_indent="- ", subsequent_indent="  ")]
    return ["", title, *found] if found else []
