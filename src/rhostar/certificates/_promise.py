"""Which bound carries the promise: fixed by what was asked for, never by the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rhostar.certificates._certificate import Certificate
from rhostar.certificates._parts import Part, same_label
from rhostar.certificates._paths import remembering
from rhostar.certificates._table import CertificateTable, looseness
from rhostar.errors import InputError


def promised(rows: Sequence[Certificate], parts: Sequence[Part], bound: str | None) -> list[Certificate]:
    """Return the rows, with the promise marked.

    The user's choice counts first. Otherwise, where ρ never overestimates under the least weights, it is certain that
    answers are optimal: U3 if ρ is consistent too, else U5. These depend on ρ and the least weights alone. Then comes
    the bound on the holdout, then the bound on train with the smallest width known beforehand.

    Parameters
    ----------
    rows
        All rows.
    parts
        Where they come from, the most important first.
    bound
        What the user asked for.

    Raises
    ------
    InputError
        If no row is what the user asked for.
    """
    chosen = _asked(rows, bound) if bound is not None else _by_rule(rows, parts)
    return [replace(row, role="promise") if any(row is one for one in chosen) else row for row in rows]


def _asked(rows: Sequence[Certificate], bound: str) -> list[Certificate]:
    found = [row for row in rows if same_label(row.label, bound)]
    if not found:
        labels = ", ".join(dict.fromkeys(row.label for row in rows))
        raise InputError(f"bound {bound!r} is not among those that apply here: {labels}")
    first = [row for row in found if row.label == found[0].label]
    return [row for row in first if row.category is not None] or first


def _by_rule(rows: Sequence[Certificate], parts: Sequence[Part]) -> list[Certificate]:
    optimal = [row for row in rows if row.label == "U3" or (row.label == "U5" and row.measured["overestimate"] == 0)]
    if optimal:
        return optimal[:1]
    promises = next(part.promises for part in parts if part.promises)
    found = [row for row in rows if row.label in promises.values() and promises.get(row.goal) == row.label]
    return [row for row in found if row.category is not None] or found


def warnings_first(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes, warnings before the others."""
    return tuple(sorted(notes, key=lambda note: not note.startswith("Warning: ")))


# ---------------------------------------------------------------- several candidates


def candidate_list(rho: Any) -> list[Any] | None:
    """Return the candidates, if a list of heuristics was given; None for one heuristic."""
    if not isinstance(rho, list | tuple) or not rho:
        return None
    return None if all(isinstance(value, int | float | np.number) for value in rho) else list(rho)


def best_of(calls: Sequence[Callable[..., CertificateTable]], options: Mapping[str, Any]) -> CertificateTable:
    """Certify each candidate on the holdout at its share of δ, and return the table of the best (H8).

    Parameters
    ----------
    calls
        `certify` for each candidate.
    options
        All other arguments of `certify`.
    """
    if options["holdout"] is None:
        raise InputError("several candidates are compared on a holdout, and none is given")
    among = len(calls) * options["candidates"]
    with remembering():  # the optimal paths are the same for all
        tables = [call(**{**options, "candidates": among}) for call in calls]
    best = min(range(len(tables)), key=lambda k: looseness(tables[k].best))
    values = ", ".join(table.best.claim for table in tables[:8]) + (", …" if len(tables) > 8 else "")
    note = f"candidate {best} (counted from 0) is the best of {len(tables)}; their promises are {values}"
    return replace(tables[best], notes=warnings_first([*tables[best].notes, note]))
