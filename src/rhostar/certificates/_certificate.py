"""A certificate says what is promised, by which theorem, under which assumptions; a table holds several of them."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from rhostar._display import html_table
from rhostar.errors import InputError

Scope = Literal["this rho", "every rho", "every rho of the family"]


@dataclass(frozen=True)
class Certificate:
    """One bound on the mean utility on new instances.

    ``print(certificate)`` shows the promise in one sentence, its theorem and its assumptions. It is immutable, and
    equal to itself after a round trip through JSON.
    """

    label: str
    """The key of the bound, such as "H4 betting" or "U2"."""
    subject: str
    """What is bounded, in words."""
    side: Literal["upper", "lower"]
    value: float
    """The mean on new instances is at most (upper) or at least (lower) this."""
    mean: float
    """The empirical term of the bound."""
    limit: float
    """H: the utility lies in [0, H]."""
    delta: float
    """The share of δ that this bound uses; 0 where it is certain."""
    total_delta: float
    """The δ of the whole table: with probability 1 − total_delta all its bounds hold together."""
    samples: int
    """How many instances it was computed on."""
    holds_for: Scope
    reference: str
    """The theorem."""
    assumptions: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    """What else went into it: the clipped share, ln K, R̂ and the like."""
    goal: int | None = None

    @property
    def width(self) -> float:
        """How far the bound is from the empirical term."""
        return abs(self.value - self.mean)

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than the range [0, H] does."""
        return self.value >= self.limit if self.side == "upper" else self.value <= 0

    @property
    def sentence(self) -> str:
        """What is promised, in one plain sentence."""
        word = "at most" if self.side == "upper" else "at least"
        how = (
            "It is certain that"
            if self.delta == 0
            else f"With probability at least {1 - self.total_delta:.6g} over the draw of the {self.samples} instances,"
        )
        whom = {"this rho": "with this rho", "every rho": "with this or any other rho"}.get(
            self.holds_for, "with this or any other rho of the family"
        )
        where = "" if self.goal is None else f" to goal {self.goal}"
        nothing = ", which is no more than the range says" if self.vacuous else ""
        measured = "" if self.delta == 0 else f" (measured {self.mean:.6g})"
        return f"{how} {self.subject}{where} {whom} is {word} {self.value:.6g} on new instances{measured}{nothing}."

    @property
    def claim(self) -> str:
        """The bound as a number, such as "<= 0.164"."""
        return f"{'<=' if self.side == 'upper' else '>='} {self.value:.5g}"

    def __repr__(self) -> str:
        where = "" if self.goal is None else f", goal {self.goal}"
        nothing = ", vacuous" if self.vacuous else ""
        return f"Certificate({self.label}: mean {self.claim} for {self.holds_for}{where}{nothing})"

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.sentence}", f"By {self.reference}. Assumed:"]
        lines = [line for text in lines for line in textwrap.wrap(text, 80)]
        for text in self.assumptions:
            lines += textwrap.wrap(text, 80, initial_indent="  - ", subsequent_indent="    ")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self) | {"assumptions": list(self.assumptions), "measured": dict(self.measured)}

    def to_json(self) -> str:
        """Return JSON; numbers come back bit for bit."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """Return the certificate that :meth:`to_dict` described.

        Raises
        ------
        InputError
            If a field is missing or unknown.
        """
        return cls(**_fields(cls, values, assumptions=tuple))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate that :meth:`to_json` wrote."""
        return cls.from_dict(_parsed(text))


@dataclass(frozen=True)
class Dropped:
    """A bound that was skipped, and why: decided without looking at any utility, so it uses no δ."""

    label: str
    reason: str
    goal: int | None = None


@dataclass(frozen=True, eq=False)
class CertificateTable:
    """Every bound that applies, tightest first.

    ``print(table)`` shows it, and so does a notebook. It is a sequence of rows: ``len(table)``, ``for row in table``,
    ``table[0]``; ``table["U2"]`` is the row with that key.
    """

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...]
    delta: float
    title: str
    notes: tuple[str, ...] = ()
    """What was changed, found and counted on the way."""
    rho: Any = None
    """The very heuristic that the bounds were measured with: run this one. A mapping where goals differ."""

    @property
    def best(self) -> Certificate:
        """The tightest; with several goals the weakest of their tightest, which holds for all of them."""
        tightest: dict[int | None, Certificate] = {}
        for row in self.rows:
            tightest.setdefault(row.goal, row)
        return max(tightest.values(), key=_order)

    def best_for(self, goal: int) -> Certificate:
        """Return the tightest bound for a goal.

        Raises
        ------
        InputError
            If there is none.
        """
        for row in self.rows:
            if row.goal in (goal, None):
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
        several = any(row.goal is not None for row in self.rows)
        first = 0 if several else 1
        head = ("goal", "bound", "value", "measured", "delta", "N", "holds for")
        cells = [
            (
                "" if row.goal is None else str(row.goal),
                row.label,
                row.claim + (" *" if row.vacuous else ""),
                f"{row.mean:.5g}" if row.delta else "",  # what is certain needs no measurement
                f"{row.delta:.3g}",
                str(row.samples),
                row.holds_for.replace("every rho of the family", "every (family)"),
            )
            for row in self.rows
        ]
        return head[first:], [row[first:] for row in cells]

    @property
    def _vacuous(self) -> list[str]:
        return ["* says no more than the range does"] if any(row.vacuous for row in self.rows) else []

    def __repr__(self) -> str:
        bounds = "1 bound" if len(self) == 1 else f"{len(self)} bounds"
        return f"CertificateTable({self.title}: {bounds}, best {self.best.label} {self.best.claim})"

    def _repr_html_(self) -> str:
        head, cells = self._cells()
        return html_table(self.title, head, cells, [*self._vacuous, self.best.sentence])

    def __str__(self) -> str:
        head, cells = self._cells()
        widths = [max(len(row[k]) for row in (head, *cells)) for k in range(len(head))]
        lines = textwrap.wrap(self.title, 80)
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (head, *cells)
        ]
        lines += self._vacuous
        lines += ["", *textwrap.wrap(self.best.sentence, 80)]
        skipped = [f"{_of(entry)}: {entry.reason}" for entry in self.dropped]
        lines += _section("Skipped before seeing the data (uses no δ):", skipped)
        lines += _section("Notes:", self.notes)
        lines += _section("Assumed:", dict.fromkeys(text for row in self.rows for text in row.assumptions))
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
            If a field is missing or unknown.
        """
        return cls(
            **_fields(
                cls,
                values,
                rows=lambda rows: tuple(Certificate.from_dict(row) for row in rows),
                dropped=lambda entries: tuple(Dropped(**_fields(Dropped, entry)) for entry in entries),
                notes=tuple,
            )
        )

    @classmethod
    def from_json(cls, text: str) -> CertificateTable:
        """Return the table that :meth:`to_json` wrote."""
        return cls.from_dict(_parsed(text))


def ordered(rows: list[Certificate]) -> tuple[Certificate, ...]:
    """Return rows goal by goal, tightest first."""
    return tuple(sorted(rows, key=lambda row: (-1 if row.goal is None else row.goal, _order(row))))


def _order(row: Certificate) -> float:
    return row.value if row.side == "upper" else -row.value


def _of(entry: Dropped) -> str:
    return entry.label if entry.goal is None else f"{entry.label}, goal {entry.goal}"


def _section(title: str, texts: Any) -> list[str]:
    found = [line for text in texts for line in textwrap.wrap(text, 80, initial_indent="- ", subsequent_indent="  ")]
    return ["", title, *found] if found else []


def _parsed(text: str) -> Any:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"this is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"a JSON object is expected, got {type(values).__name__}")
    return values


def _fields(cls: type, values: Mapping[str, Any], **convert: Any) -> dict[str, Any]:
    """Return the arguments of a dataclass from plain values, refusing what does not fit."""
    known = {entry.name: entry for entry in fields(cls)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InputError(f"{cls.__name__} has no field {unknown[0]!r}")
    found = {name: convert.get(name, lambda x: x)(value) for name, value in values.items()}
    for name in ("value", "mean", "limit", "delta"):
        if name in found and not (isinstance(found[name], int | float) and not math.isnan(found[name])):
            raise InputError(f"{name} must be a number, got {found[name]!r}")
    try:
        cls(**found)
    except TypeError as error:
        raise InputError(f"not a {cls.__name__}: {error}") from None
    return found
