"""Files of trips that ``import`` reads: a source and a goal in each line, and a snapshot or a time."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.errors import ReadError, VertexError


def read(
    path: Path, base: rs.instances.Network | rs.InstanceSet, names: Sequence[Any] | None
) -> tuple[rs.InstanceSet, list[int]]:
    """Return one instance for each line of a file of trips that has a path, and the lines of the others.

    Parameters
    ----------
    path
        A CSV file with the columns source and goal, and optionally snapshot or time; the header may be left out.
    base, names
        The network, or a set with the same snapshots, and their names; without a third column, trips take the snapshots
        in turn.

    Raises
    ------
    ReadError
        Naming the line that cannot be used.
    """
    import numpy as np

    graph = base.graph
    weights, days = (base._stored, base._stored_days) if isinstance(base, rs.InstanceSet) else (base.weights, base.days)
    order = ["source", "goal", "snapshot"]
    trips: list[list[int]] = []
    lines: list[int] = []
    find = _finder(names)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            for fields in reader:
                number, cells = reader.line_num, [field.strip() for field in fields]
                if not any(cells):
                    continue
                if not trips and {"source", "goal"} <= {cell.lower() for cell in cells}:
                    order = ["snapshot" if cell.lower() == "time" else cell.lower() for cell in cells]
                    continue
                given = dict(zip(order, cells, strict=False))
                if len(cells) > len(order) or not (given.get("source") and given.get("goal")):
                    raise ReadError(path, number, f"expected 'source,goal[,snapshot]', got {','.join(fields)!r}")
                try:
                    ends = [options.vertex(graph, given[name]) for name in ("source", "goal")]
                    row = find(given["snapshot"]) if "snapshot" in given else len(trips) % len(weights)
                except (VertexError, LookupError) as error:
                    raise ReadError(path, number, str(error.args[0])) from None
                if ends[0] == ends[1]:
                    raise ReadError(path, number, f"the trip starts at its goal, {given['goal']!r}")
                trips.append([row, *ends])
                lines.append(number)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if not trips:
        raise ReadError(path, None, "has no trips")
    rows, sources, targets = np.array(trips).T
    instances = rs.InstanceSet(graph, weights, sources, targets, rows=rows, infeasible="drop", days=days)
    return instances, np.delete(lines, instances.indices).tolist()


def _finder(names: Sequence[Any] | None) -> Callable[[str], int]:
    """Return a function from a word to a snapshot: the one of that name, or the last one before that time."""
    from rhostar.instances._timestamps import moment, moments

    called = list(names or ())
    known = {str(name): k for k, name in enumerate(called)}
    when = moments(called) if called else None

    def find(word: str) -> int:
        if word in known:
            return known[word]
        time = moment(word)
        if when is None or time is None:
            some = ", ".join(list(known)[:3]) or "none with a name"
            raise LookupError(f"there is no snapshot {word!r}; the table has {some}{', ...' * (len(known) > 3)}")
        if (time.tzinfo is None) != (when[0].tzinfo is None):
            raise LookupError(f"{word!r} and the snapshot {called[0]!r} must both have a time zone, or none")
        k = bisect_right(when, time) - 1
        if k < 0:
            raise LookupError(f"{word!r} is before the first snapshot, {called[0]!r}")
        return k

    return find
