"""A table of certificates: the guarantee first, then what holds with certainty, then other bounds for comparison."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rhostar import _arrays as arrays
from rhostar._display import html_table, html_unfolding, text_table
from rhostar.certificates._certificate import Certificate, Dropped, from_plain, parse
from rhostar.certificates._summary import looseness, summary
from rhostar.errors import InputError

_FOR = {"this rho": "this", "every rho": "every", "every rho of the family": "family"}
_ORDER = {"guarantee": 0, "certain": 1, "comparison": 2}


@dataclass(frozen=True, eq=False)
class CertificateTable:
    """The guarantee, and other bounds for comparison.

    The bound of the guarantee is fixed before any utility is seen, so it may use all of δ. ``table.summary`` is the
    guarantee in one line; ``print(table)`` adds all conditions and bounds, which a notebook shows on request. It is a
    sequence of rows: ``len(table)``, ``for row in table``, ``table[0]``; ``table["U2"]`` is the row with that code.

    Attributes
    ----------
    rows
        The certificates.
    dropped
        Bounds that were not computed, each with the reason.
    delta, title
        δ, and what was certified, in words.
    notes
        What was changed, found and counted during the computation; warnings first.
    rho
        The heuristic that the bounds were measured with: run this one. None if the table was read from JSON.
    about
        A hash of that heuristic: a model accepts no certificate about another one. Empty for a Python function.
    """

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...]
    delta: float
    title: str
    notes: tuple[str, ...] = ()
    rho: Any = None
    about: str = ""

    @property
    def best(self) -> Certificate:
        """The guarantee, fixed beforehand; the weakest one, if there is one for each goal or category."""
        return max(self.guarantees, key=looseness)

    @property
    def guarantees(self) -> tuple[Certificate, ...]:
        """The guarantee; several, if there is one for each goal or category."""
        return tuple(row for row in self.rows if row.role == "guarantee")

    @property
    def summary(self) -> str:
        """What is guaranteed, in one line for readers without statistics."""
        return summary(self.guarantees)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that a reader must not miss."""
        return tuple(note for note in self.notes if note.startswith("Warning: "))

    def best_for(self, goal: int) -> Certificate:
        """Return the guarantee for a goal: its own, or the one for all goals together.

        Parameters
        ----------
        goal
            A vertex.

        Returns
        -------
        Certificate

        Raises
        ------
        InputError
            If there is none.
        """
        for row in self.guarantees:
            if row.goal == goal or (row.goal is None and row.category is None):
                return row
        raise InputError(f"goal {goal!r} has no certificate in this table")

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Certificate:
        """Return the row at a position, or the first one with a code.

        Raises
        ------
        InputError
            If no row has the code.
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
        """Return the head of the printed table and its rows; the column of categories only where there are several."""
        first = 0 if any(row.category for row in self.rows) else 1
        head = ("for", "bound", "value", "measured", "delta", "N", "rho", "role")
        cells = [
            (
                row.category or "",
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
    def _below(self) -> list[str]:
        """What stands below the table: how to read it, and in one line what was not computed."""
        lines = ["* vacuous"] if any(row.vacuous for row in self.rows) else []
        if any(row.role == "comparison" for row in self.rows):
            lines.append("comparison: other bounds, each valid if it had been chosen beforehand")
        if names := list(dict.fromkeys(entry.label for entry in self.dropped)):
            lines.append(f"Not computed: {', '.join(names)} (reasons: table.dropped)")
        return lines

    @property
    def _sentences(self) -> list[str]:
        """The guarantee; where there are several, each of them, or the weakest of many."""
        found = [row.sentence for row in self.guarantees]
        return found if len(found) <= 5 else [self.best.sentence]

    def __repr__(self) -> str:
        bounds = arrays.counted(len(self), "bound")
        return f"CertificateTable({self.title}: {bounds}, guarantee {self.best.label} {self.best.claim})"

    @property
    def _first(self) -> list[str]:
        """What everybody should read: the guarantee in one line, how weak it is, and warnings."""
        return [self.summary, *([self.best.weakness] if self.best.weakness else []), *self.warnings]

    @property
    def brief(self) -> str:
        """The essentials as text: the guarantee in one line, how weak it is, and warnings."""
        return "\n".join(line for text in self._first for line in textwrap.wrap(text, 80))

    def _repr_html_(self) -> str:
        head, cells = self._cells()
        return html_unfolding(self._first, html_table(self.title, head, cells, [*self._sentences, *self._below]))

    def __str__(self) -> str:
        head, cells = self._cells()
        if head[0] == "for":  # the labels of goals can be long
            others = [max(map(len, column)) for column in list(zip(head, *cells, strict=True))[1:]]
            width = max(12, 80 - sum(others) - 2 * len(others))
            cells = [(_shortened(row[0], width), *row[1:]) for row in cells]
        lines = [*textwrap.wrap(self.title, 80), "", self.brief, "", "In full:"]
        for text in self._sentences:
            lines += ["", *textwrap.wrap(text, 80)]
        lines += ["", text_table([head, *cells], words=len(head))]
        lines += [line for text in self._below for line in textwrap.wrap(text, 80)]
        lines += _section("Notes:", [note for note in self.notes if note not in self.warnings])
        lines += _section("Assumed:", dict.fromkeys(text for row in self.rows for text in row.assumptions))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; `rho` is left out.

        Returns
        -------
        dict
            Plain values by name.
        """
        return {
            "title": self.title,
            "summary": self.summary,
            "delta": self.delta,
            "rows": [row.to_dict() for row in self.rows],
            "dropped": [asdict(entry) for entry in self.dropped],
            "notes": list(self.notes),
            "about": self.about,
        }

    def to_json(self) -> str:
        """Return JSON.

        Returns
        -------
        str
            JSON.
        """
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CertificateTable:
        """Return the table that :meth:`to_dict` described, without `rho`.

        Parameters
        ----------
        values
            What :meth:`to_dict` returned.

        Returns
        -------
        CertificateTable

        Raises
        ------
        InputError
            If a field is missing, unknown or damaged, or there is no guarantee.
        """
        parts = dict(values) if isinstance(values, Mapping) else {}
        rows, dropped, _ = (parts.pop(name, None) for name in ("rows", "dropped", "summary"))
        if not isinstance(rows, list | tuple) or not isinstance(dropped, list | tuple) or "rho" in parts:
            raise InputError("a table of certificates must be a JSON object with the lists rows and dropped")
        parts["rows"] = tuple(Certificate.from_dict(row) for row in rows)
        parts["dropped"] = tuple(from_plain(Dropped, entry) for entry in dropped)
        found = from_plain(cls, parts)
        if not found.guarantees:
            raise InputError("a table of certificates must have a guarantee among its rows")
        return found

    @classmethod
    def from_json(cls, text: str) -> CertificateTable:
        """Return the table that :meth:`to_json` wrote.

        Parameters
        ----------
        text
            What :meth:`to_json` returned.

        Returns
        -------
        CertificateTable
        """
        return cls.from_dict(parse(text))


def make_table(
    rows: Iterable[Certificate],
    dropped: Iterable[Dropped],
    delta: float,
    title: str,
    notes: Iterable[str],
    rho: Any,
    about: str = "",
) -> CertificateTable:
    """Return a table with the guarantee first, then what is certain, then the others, each tightest first."""

    def place(row: Certificate) -> tuple[int, int, float]:
        return _ORDER[row.role], -1 if row.goal is None or row.holds_for == "this rho" else row.goal, looseness(row)

    warnings_first = sorted(notes, key=lambda note: not note.startswith("Warning: "))
    ordered = tuple(sorted(rows, key=place))
    return CertificateTable(ordered, tuple(dropped), delta, title, tuple(warnings_first), rho, about)


def _shortened(text: str, width: int) -> str:
    """Return a text that is not longer than this, without its middle if it must be; names often differ at the end."""
    if len(text) <= width:
        return text
    end = (width - 2) // 2
    return f"{text[: width - 2 - end]}..{text[-end:]}"


def _section(title: str, texts: Iterable[str]) -> list[str]:
    found = [line for text in texts for line in textwrap.wrap(text, 80, initial_indent="- ", subsequent_indent="  ")]
    return ["", title, *found] if found else []
