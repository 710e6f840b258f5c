"""Finds the columns of a table of edges; an error suggests which ones may be meant."""

from __future__ import annotations

import re

from rhostar.errors import ReadError

TIMES = ("snapshot", "time", "timestamp", "datetime", "date", "day", "hour")
"""Columns that say which snapshot a row belongs to, in lower case: rows of several are not parallel edges."""

_USUAL = {
    "tail": ("tail", "from", "from_id", "from_node", "source", "start", "origin", "u"),
    "head": ("head", "to", "to_id", "to_node", "target", "end", "destination", "v"),
    "weight": ("weight", "seconds", "minutes", "travel_time", "duration", "cost"),
}
"""How others call the columns, in lower case."""


def _usual(role: str, names: list[str]) -> str:
    """Return the column that probably has this role, or NAME."""
    known = [name for name in names if name.lower() in _USUAL.get(role, ())]
    if role == "weight":
        about = ("time", "second", "minute", "duration", "cost", "weight")
        known += [name for name in names if name.lower() not in TIMES and any(word in name.lower() for word in about)]
    return next(iter(known), "NAME")


def columns(
    path: object, line: int | None, names: list[str], wanted: tuple[str, ...], snapshot: str | None
) -> list[int]:
    """Return the positions of the columns; the snapshot column is last, if there is one."""
    missing = [name for name in (*wanted, *([snapshot] if snapshot else [])) if name not in names]
    if missing:
        raise ReadError(path, line, _no_column(names, missing, dict(zip(wanted, _USUAL, strict=True))))
    found = [names.index(name) for name in wanted]
    if snapshot:
        return [*found, names.index(snapshot)]
    free = [name for name in names if name not in wanted and name.lower() in TIMES]
    free = [name for name in free if name.lower() == TIMES[0]] or free
    if len(free) > 1:
        what = f"the columns {' and '.join(free)} may all say which snapshot a row belongs to"
        hint = f"put them into one, or say which one it is with snapshot={free[0]} (--columns snapshot={free[0]})"
        raise ReadError(path, line, f"{what}: {hint}")
    return [*found, *map(names.index, free)]


def _no_column(names: list[str], missing: list[str], roles: dict[str, str]) -> str:
    """Return what to say of a table that lacks columns."""
    if not any(names):
        return "the table is empty"
    what = f"the column {missing[0]!r} is missing; the table has {', '.join(names)}"
    other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if other is not None:
        return f"{what} as one column: separate columns by commas, not by {other!r}, and write decimals with a point"
    if any(re.fullmatch(r"[-+]?[0-9.]+", name) for name in names):
        return f"{what}; is the first line, with the names of the columns, missing?"
    said = ",".join(f"{(role := roles.get(name, 'snapshot'))}={_usual(role, names)}" for name in missing)
    which = "one it is" if len(missing) == 1 else "they are"
    return f"{what}; say which {which} with {said.replace(',', ', ')} (--columns {said})"
