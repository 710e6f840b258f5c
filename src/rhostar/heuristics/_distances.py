"""Distances under one row of weights, for every goal, by a contraction hierarchy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError, LimitError, StorageError, WeightError
from rhostar.graph import Graph
from rhostar.heuristics._base import Parts, scale_of
from rhostar.heuristics._computed import Computed
from rhostar.hierarchy import elimination_order

PARTS = ("place", "parent", "first_up", "first_down", "up", "down")
"""The arrays of a hierarchy (src/core/hierarchy/guide.hpp)."""
_BYTES_PER_ARC = 24
"""Memory for one arc while a hierarchy is built."""

Precision = Literal["single", "double"]


class DistanceHeuristic(Computed):
    """Exact distances under one row of weights, for every goal: ρ at v is the distance from v to the goal.

    ρ is consistent for these weights, whatever the goal is. So A* is optimal for every goal on instances whose weights
    are nowhere below them; elsewhere a path costs at most the sum of (weight − w)⁺ over the optimal path more than it.
    With ``scale=1``, rounding never makes ρ larger than the true distance, in either precision. For that, weights are
    cut to multiples of a small unit, by less than 2**-20 of any weight, so that all sums are exact; weights that differ
    too much in size are not cut, but then sums are rounded down.

    Building it takes a while; afterwards a new goal costs microseconds. The graph is cut into ever smaller parts once
    (:func:`elimination_order`, which the graph remembers), then its vertices are contracted in that order. That works
    on road networks and grids, which have small separators. Dense or random graphs of many vertices do not: use
    :class:`Landmarks` there.

    Parameters
    ----------
    graph
        The graph.
    weights
        (m,) the weights, at least 0; inf for an edge that is left out. A vertex from which the goal cannot be reached
        gets a number that no other ρ exceeds, and a search tries it last.
    scale
        A factor on all values.
    precision
        "single" takes half the memory and is faster. Values are then rounded down by up to 2**-23 of themselves; whole
        numbers below 2**24 stay exact.
    memory_limit
        Bytes that building may take; None for half of the machine's memory.

    Raises
    ------
    ArrayError, WeightError
        If the weights are not one number per edge; if one is negative or NaN, all are infinite, or their sum is.
    LimitError
        If building would take more memory.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(40, 40)
    >>> usual = np.random.default_rng(0).uniform(1, 2, graph.m)
    >>> heuristic = rs.heuristics.DistanceHeuristic(graph, usual)
    >>> bool(np.allclose(heuristic.table(7), rs.distances_to(graph, usual, 7)))
    True
    >>> today = usual * np.random.default_rng(1).uniform(1, 1.2, graph.m)
    >>> rs.astar(graph, today, 0, 1599, heuristic).expanded < rs.astar(graph, today, 0, 1599, np.zeros(1600)).expanded
    True
    """

    kind = "distances"
    precision: Precision
    _arrays: Parts
    _beyond: float
    _roundings: int

    def __init__(
        self,
        graph: Graph,
        weights: ArrayLike,
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        memory_limit: int | None = None,
    ) -> None:
        self.__dict__.update(_build(graph, [weights], scale, precision, memory_limit)[0].__dict__)

    @classmethod
    def for_rows(
        cls,
        graph: Graph,
        rows: Iterable[ArrayLike],
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        memory_limit: int | None = None,
    ) -> list[DistanceHeuristic]:
        """Return a heuristic for each row of weights; what depends on the graph alone is done once.

        Parameters and errors are those of :class:`DistanceHeuristic`.

        Parameters
        ----------
        graph
            The graph.
        rows
            The weights of each heuristic.
        scale, precision, memory_limit
            As for the class.

        Returns
        -------
        list of DistanceHeuristic
            In the order of the rows.
        """
        return _build(graph, rows, scale, precision, memory_limit)

    @property
    def nbytes(self) -> int:
        """What it keeps in memory."""
        return sum(part.nbytes for part in self._arrays.values())

    def _make_kernel(self) -> _core.Potential:
        kinds = dict.fromkeys(PARTS[:4], np.int32) | dict.fromkeys(PARTS[4:], np.uint8)
        self._arrays = {name: np.require(self._arrays[name], kinds[name], ["C", "A"]) for name in PARTS}
        place, parent, first_up, first_down, up, down = self._arrays.values()
        facts = self.precision == "single", self._roundings, self._beyond, self.scale
        kernel = _core.hierarchy_potential(place, parent, first_up, first_down, up, down, *facts)
        if kernel is None:
            raise StorageError("the hierarchy is damaged: its arrays do not fit each other")
        return kernel

    def _own_parts(self) -> tuple[Parts, dict[str, Any]]:
        facts = {"beyond": self._beyond, "scale": self.scale, "precision": self.precision}
        return dict(self._arrays), facts | {"roundings": self._roundings}

    @classmethod
    def _of_own_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> DistanceHeuristic:
        beyond, scale, roundings = float(facts["beyond"]), scale_of(facts["scale"]), int(facts["roundings"])
        if not 0 <= beyond < np.inf or not 0 <= roundings < 2**40 or facts["precision"] not in ("single", "double"):
            raise StorageError("the hierarchy is damaged: its facts do not fit")
        own = {name: parts[name] for name in PARTS}
        if any(part.ndim != 1 for part in own.values()):
            raise StorageError("the hierarchy is damaged: its arrays do not fit each other")
        return cls._made(own, beyond, scale, facts["precision"], roundings)

    @classmethod
    def _made(
        cls, parts: Parts, beyond: float, scale: float, precision: Precision, roundings: int
    ) -> DistanceHeuristic:
        found = cls.__new__(cls)
        found._arrays, found._beyond, found.scale = parts, beyond, scale
        found.precision, found._roundings, found.n = precision, roundings, parts["place"].size
        found._kernel = found._make_kernel()
        return found


def _build(
    graph: Graph, rows: Iterable[ArrayLike], scale: float, precision: Precision, memory_limit: int | None
) -> list[DistanceHeuristic]:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if precision not in ("single", "double"):
        raise InputError(f"precision must be 'single' or 'double', got {precision!r}")
    scale = scale_of(scale)
    checked = [_checked(graph, row) for row in rows]
    limit = _half_of_memory() if memory_limit is None else arrays.integer(memory_limit, "memory_limit", 0)
    most = min(limit // _BYTES_PER_ARC, arrays.LARGEST_INDEX)  # positions in the hierarchy have 32 bits
    skeleton = graph._kernel.skeleton(elimination_order(graph), most, None)
    if skeleton.ending.status is _core.Status.LIMIT:
        needed = skeleton.ending.at * _BYTES_PER_ARC / 2**30
        raise LimitError(
            f"a hierarchy of this graph needs {needed:.1f} GB while it is built, more than memory_limit, "
            f"{most * _BYTES_PER_ARC / 2**30:.1f} GB: the graph has no small separators. Use landmarks, or raise "
            "memory_limit"
        )
    failures.require_done(skeleton.ending)
    built = []
    for row in checked:
        found = skeleton.build(graph._kernel, row, precision == "single", None)
        failures.require_done(found.ending)
        parts = {name: arrays.frozen(getattr(found, name).copy()) for name in PARTS}
        present = row[np.isfinite(row)].astype(np.float64)
        # No path has more than n - 1 edges, and none visits an edge twice.
        beyond = min(float(present.sum()), float(present.max(initial=0.0)) * (graph.n - 1))
        made = DistanceHeuristic._made(parts, beyond, scale, precision, found.roundings)
        built.append(made.with_facts(fingerprint=graph.fingerprint))
    return built


def _checked(graph: Graph, weights: ArrayLike) -> NDArray[Any]:
    row = arrays.weight_row(weights, "weights", graph.m)
    found = _core.check_weights(row[None, :], None)
    if found.ending.status is not _core.Status.DONE:
        raise failures.search_failure(found.ending, graph, row)
    if graph.m and not np.isfinite(row).any():
        raise WeightError("weights must have a finite value for at least one edge; all are infinite")
    with np.errstate(over="ignore"):
        total = row[np.isfinite(row)].sum(dtype=np.float64)
    if not np.isfinite(total):
        raise WeightError("the sum of the weights must be finite: with these a path may cost more than any float64")
    return row


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not on every system
        return 4 * 2**30
