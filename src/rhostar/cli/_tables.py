"""Options of commands that read tables of edges, and today's weights for a set of instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rhostar as rs
from rhostar.cli._output import words
from rhostar.errors import InputError, ReadError, RhostarWarning

Columns = Annotated[
    str,
    typer.Option(help="A table's columns: tail=from,head=to,weight=seconds,snapshot=time, or some of them."),
]
Missing = Annotated[
    str,
    typer.Option(help="Weights missing from a table: error, closed, last (the previous snapshot) or median."),
]


_UNITS = 20
"""Weights that are this many times as high may be in another unit."""


def columns(text: str) -> dict[str, str]:
    """Return the columns in a list such as tail=from,head=to."""
    known = ("tail", "head", "weight", "snapshot")
    found: dict[str, str] = {}
    for word in filter(None, text.split(",")):
        name, mark, column = word.strip().partition("=")
        if not mark or name.strip() not in known or not column.strip():
            raise InputError(f"--columns takes name=column with a name of {', '.join(known)}, got {word!r}")
        found[name.strip()] = column.strip()
    return found


def today(
    path: Path, instances: rs.InstanceSet, named: str, missing: str, time: str = ""
) -> tuple[Any, dict[str, Any]]:
    """Return one weight for each edge of the instances' graph from a table, and what to say about it.

    Parameters
    ----------
    path
        The table, with one snapshot unless a time is given.
    instances
        The set; "last" and "median" take weights from its snapshots.
    named, missing
        The options --columns and --missing.
    time
        The name of the snapshot, if there are several.
    """
    from rhostar.datasets._edge_table import snapshot_of

    given = columns(named)
    ends: Any = tuple(given.get(name, name) for name in ("tail", "head", "weight"))
    policy: Any = missing or "error"
    network = snapshot_of(
        path,
        instances.graph,
        ends,
        snapshot=given.get("snapshot"),
        missing=policy,
        history=instances._stored,
        time=time or None,
    )
    _warn_of_another_unit(path, network.weights[0], instances._stored[-1])
    facts: dict[str, Any] = {}
    if network.reading.missing:
        facts["missing_weights"] = filled_in(network.reading.missing, instances.graph.m, network.reading.policy)
    if network.reading.others:
        facts["edges_not_in_the_set"] = f"{words(network.reading.others)}, not used"
    return network.weights[0], facts


def _warn_of_another_unit(path: Path, today: Any, before: Any) -> None:
    """Warn if weights differ from a snapshot of the set by a large factor: perhaps they are minutes, not seconds."""
    import warnings

    import numpy as np

    known = np.isfinite(today) & np.isfinite(before) & (before > 0)
    factor = float(np.median(today[known] / before[known])) if known.any() else 1.0
    if not 1 / _UNITS < factor < _UNITS:
        what = f"the weights are {factor:.3g} times those of the set (median); are they in another unit?"
        warnings.warn(f"{path}: {what}", RhostarWarning, stacklevel=3)


def by_time(path: Path, instances: rs.InstanceSet, named: str, missing: str) -> tuple[Any, list[float]]:
    """Return one row of weights for each time of a table, and the times, increasing; these must be numbers."""
    from rhostar.datasets._edge_table import table

    given = columns(named)
    ends: Any = tuple(given.get(name, name) for name in ("tail", "head", "weight"))
    policy: Any = missing or "error"
    snapshot = given.get("snapshot")
    network = table(path, ends, snapshot, missing=policy, graph=instances.graph, history=instances._stored)
    try:
        times = [float(str(name)) for name in network.names or ()]
    except ValueError:
        times = []
    if len(times) < 2:
        raise ReadError(path, None, "for a time of day, it must have a column with at least two times, as numbers")
    order = sorted(range(len(times)), key=times.__getitem__)
    return network.weights[order], [times[k] for k in order]


def filled_in(count: int, size: int, policy: str | None) -> str:
    """Return in words how many weights of a table were missing, and what they were replaced by."""
    if policy is None:
        return "0"
    done = {"closed": "closed", "last": "as in the snapshot before", "median": "the median of the edge"}
    return f"{words(count)} of {words(size)}: {done[policy]}"
