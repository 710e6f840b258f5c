"""Missing measurements: edges whose weight is not in a snapshot, and what to do about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError, ReadError
from rhostar.graph import Graph

Policy = Literal["error", "closed", "last", "median"]

_NAMED = 3
"""How many missing weights an error names."""
_BLOCK = 1 << 22
"""Weights that are sorted at a time for medians."""


def require_policy(missing: Any) -> Policy:
    """Return the policy, or raise InputError."""
    if missing not in get_args(Policy):
        raise InputError(f"missing must be one of {', '.join(get_args(Policy))}, got {missing!r}")
    return missing


def refuse(
    path: object, graph: Graph, weights: NDArray[Any], names: Sequence[Any] | None, where: Callable[[int, int], str]
) -> NoReturn:
    """Raise ReadError because weights are NaN: name the first ones, count all, and say what can be done.

    Parameters
    ----------
    path
        The file, for the message.
    graph, weights, names
        The network: its snapshots and their names.
    where
        Takes a snapshot and an edge, and returns where the table leaves the weight out, such as "line 5".
    """
    counts = np.array([np.count_nonzero(np.isnan(row)) for row in weights])
    named: list[str] = []
    for k in np.flatnonzero(counts).tolist():
        when = "" if names is None else f" in snapshot {names[k]!r}"
        for e in np.flatnonzero(np.isnan(weights[k]))[: _NAMED - len(named)].tolist():
            named.append(f"{graph._edge_name(e)}{when} ({where(k, e)})")
        if len(named) == _NAMED:
            break
    raise missing_weights(path, f"of {weights.size}", int(counts.sum()), named)


def missing_weights(path: object, of: str, total: int, named: Iterable[str]) -> ReadError:
    """Return the error for missing weights: how many of how many, the first ones by name, and what can be done."""
    first = list(itertools.islice(named, _NAMED))
    more = f" and {total - len(first)} more" if total > len(first) else ""
    return ReadError(
        path,
        None,
        f"{total} {of} weights {'is' if total == 1 else 'are'} missing: {', '.join(first)}{more}; set missing "
        "(--missing) to closed (no way through), last (the snapshot before) or median (of the edge)",
    )


def fill(
    path: object, graph: Graph, weights: NDArray[Any], policy: Policy, history: NDArray[Any] | None = None
) -> None:
    """Replace the weights that are NaN, in place.

    Parameters
    ----------
    path
        The file, for the message.
    graph, weights
        The snapshots, in the order of time.
    policy
        "closed" makes them inf. "last" takes the weight of the snapshot before, and before the first known one the
        next; "median" the median of the edge's known weights.
    history
        Earlier snapshots without gaps. The first snapshot then follows its last one; medians are those of its weights.

    Raises
    ------
    ReadError
        If an edge has no weight in any snapshot, and the policy is "last" or "median".
    """
    if policy == "closed":
        for row in weights:
            row[np.isnan(row)] = np.inf
        return
    gaps = np.zeros(graph.m, dtype=bool)
    known = np.full(graph.m, history is not None)
    for row in weights:
        gaps |= np.isnan(row)
        known |= ~np.isnan(row)
    if not known.all():
        edge, many = graph._edge_name(int(np.argmin(known))), int((~known).sum())
        raise ReadError(
            path,
            None,
            f"the edge {edge} has no weight in any snapshot ({many} such edge{'s' * (many > 1)}); "
            "remove it, or set missing (--missing) to closed",
        )
    if policy == "last":
        if history is not None:
            np.copyto(weights[0], history[-1], where=np.isnan(weights[0]))
        for k in range(1, len(weights)):
            np.copyto(weights[k], weights[k - 1], where=np.isnan(weights[k]))
        for k in range(len(weights) - 2, -1, -1):
            np.copyto(weights[k], weights[k + 1], where=np.isnan(weights[k]))
        return
    past = weights if history is None else history
    for part in _blocks(np.flatnonzero(gaps), len(past)):
        values = weights[:, part]
        weights[:, part] = np.where(np.isnan(values), np.nanmedian(past[:, part], axis=0), values)


def _blocks(columns: NDArray[np.int64], rows: int) -> Iterator[NDArray[np.int64]]:
    """Return the columns, as many at a time as are sorted at once."""
    width = max(1, _BLOCK // rows)
    return (columns[begin : begin + width] for begin in range(0, columns.size, width))
