"""The option ``--weight-bounds``: the lowest and highest weights that edges can have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import rhostar as rs
from rhostar.errors import InputError

WeightBounds = Annotated[
    str,
    typer.Option(
        "--weight-bounds",
        help="The lower bound of each edge: a table with the columns tail, head and weight; two numbers such as 1,60 "
        "for all edges; or from-data. learn and advise also take FILE,from-data: the lower of the two.",
        metavar="FILE|LOW,HIGH|from-data",
    ),
]
FROM_DATA = "from-data"


class Stated(NamedTuple):
    """Bounds on the weights, as ``certify`` and ``learn`` take them, with what to tell the user about them."""

    pair: tuple[Any, Any]
    where: str
    """Where the bounds come from: "in free_flow.csv"."""
    facts: dict[str, Any]
    """What did not fit; empty if all did."""


def parse_bounds(word: str, graph: rs.Graph, train: rs.InstanceSet | None = None) -> Stated | None:
    """Return the bounds that a word on the command line names; None for from-data, or if there is none.

    With a training set, it can be FILE,from-data: where a weight of the set is below its bound, the weight counts.
    """
    if word in ("", FROM_DATA):
        return None
    if train is not None and word.endswith("," + FROM_DATA):
        return _lowered(parse_bounds(word.removesuffix("," + FROM_DATA), graph), train)
    numbers = word.split(",")
    try:
        low, high = (*(float(number) for number in numbers), *[math.inf] * (2 - len(numbers)))
    except ValueError:
        if not Path(word).exists():
            raise InputError(f"--weight-bounds: {word!r} is not a file, not two numbers, and not from-data") from None
        return _read(Path(word), graph)
    return Stated((low, high), "given as numbers", {})


def _lowered(stated: Stated | None, train: rs.InstanceSet) -> Stated | None:
    """Return the lower of the bounds and the weights of a training set."""
    import numpy as np

    from rhostar.learners._weights import edge_statistics

    if stated is None:
        return None
    (low, high), seen = stated.pair, edge_statistics(train, "min", 0.0).value
    count = int((seen < low).sum())
    facts = {"bounds_lowered": f"{count:,} of {seen.size:,}, to the lowest weight in the training set"}
    return Stated(
        (np.minimum(low, seen), high), f"{stated.where}, or the lowest in the training set", stated.facts | facts
    )


def _read(path: Path, graph: rs.Graph) -> Stated:
    """Return the lower bounds in a table, by the labels of its edges; the lowest row of an edge counts."""
    import numpy as np

    from rhostar.datasets._edge_table import table

    network = table(path, ("tail", "head", "weight"), None, missing="keep", graph=graph)
    least = np.fmin.reduce(network.weights, axis=0)
    unbounded = int(np.isnan(least).sum())
    facts: dict[str, Any] = {}
    if unbounded:
        facts["edges_without_a_bound"] = f"{unbounded:,} of {graph.m:,}, taken as 0"
    if network.reading.others:
        facts["bounds_for_other_edges"] = f"{network.reading.others:,}, not used"
    return Stated((np.where(np.isnan(least), 0.0, least), math.inf), f"in {path.name}", facts)
