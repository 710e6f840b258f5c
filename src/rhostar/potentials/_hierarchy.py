"""Distances under one row of weights as a potential, by a contraction hierarchy."""

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
from rhostar.potentials._base import Potential, scale_of

PARTS = ("place", "parent", "first_up", "first_down", "up", "down")
"""The arrays of a hierarchy (src/core/hierarchy.hpp)."""
_BYTES_PER_ARC = 24
"""Memory for one arc while a hierarchy is built."""

Precision = Literal["single", "double"]


class Hierarchy(Potential):
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

    Attributes
    ----------
    nbytes
        What it keeps in memory.

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
    >>> potential = rs.potentials.Hierarchy(graph, usual)
    >>> bool(np.allclose(potential.rho_for(7), rs.distances_to(graph, usual, 7)))
    True
    >>> today = usual * np.random.default_rng(1).uniform(1, 1.2, graph.m)
    >>> rs.astar(graph, today, 0, 1599, potential).expanded < rs.astar(graph, today, 0, 1599, np.zeros(1600)).expanded
    True
    """

    nbytes: int

    def __init__(
        self,
        graph: Graph,
        weights: ArrayLike,
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        memory_limit: int | None = None,
    ) -> None:
        (built,) = _build(graph, [weights], scale, precision, memory_limit)
        self._set(*built)

    @classmethod
    def for_rows(
        cls,
        graph: Graph,
        rows: Iterable[ArrayLike],
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        memory_limit: int | None = None,
    ) -> list[Hierarchy]:
        """Return a hierarchy for each row of weights; what depends on the graph alone is done once.

        Parameters and errors are those of :class:`Hierarchy`.
        """
        made = []
        for built in _build(graph, rows, scale, precision, memory_limit):
            potential = cls.__new__(cls)
            potential._set(*built)
            made.append(potential)
        return made

    @classmethod
    def from_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Hierarchy:
        """Return the hierarchy that :meth:`to_parts` took apart; the arrays are checked and not copied.

        Raises
        ------
        StorageError
            If they are not a hierarchy.
        """
        potential = cls.__new__(cls)
        try:
            kept = {name: np.require(parts[name], _types()[name], ["C", "A"]) for name in PARTS}
            values = str(facts["graph"]), float(facts["beyond"]), float(facts["scale"]), str(facts["precision"])
            roundings = int(facts["roundings"])
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(f"the hierarchy is damaged: {error}") from None
        good = all(np.isfinite(number) and number >= 0 for number in values[1:3]) and 0 <= roundings < 2**40
        if values[3] not in ("single", "double") or not good or any(part.ndim != 1 for part in kept.values()):
            raise StorageError("the hierarchy is damaged: its facts do not fit")
        potential._set(values[0], kept, values[1], values[2], values[3], roundings)
        return potential

    def to_parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return its arrays and plain values, for a file."""
        facts = {"graph": self.fingerprint, "beyond": self._beyond, "scale": self.scale, "precision": self.precision}
        return dict(self._parts), facts | {"roundings": self._roundings}

    def scaled(self, factor: float) -> Hierarchy:
        """Return `factor` times this potential; the arrays are shared."""
        potential = type(self).__new__(type(self))
        scale = scale_of(self.scale * scale_of(factor))
        potential._set(self.fingerprint, self._parts, self._beyond, scale, self.precision, self._roundings)
        return potential

    def _set(
        self,
        fingerprint: str,
        parts: dict[str, NDArray[Any]],
        beyond: float,
        scale: float,
        precision: str,
        roundings: int,
    ) -> None:
        place, parent, first_up, first_down, up, down = (parts[name] for name in PARTS)
        single = precision == "single"
        kernel = _core.hierarchy_potential(
            place, parent, first_up, first_down, up, down, single, roundings, beyond, scale
        )
        if kernel is None:
            raise StorageError("the hierarchy is damaged: its arrays do not fit each other")
        self._kernel, self.fingerprint, self.scale = kernel, fingerprint, scale
        self._parts, self._beyond, self.precision, self._roundings = parts, beyond, precision, roundings
        self.n, self.nbytes = parts["place"].size, sum(part.nbytes for part in parts.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return Hierarchy.from_parts, self.to_parts()


def elimination_order(graph: Graph) -> NDArray[np.int32]:
    """Return an order of the vertices by nested dissection; the graph remembers it.

    The vertices that separate a graph into two parts come last, before them each part in the same way.

    Parameters
    ----------
    graph
        The graph. With coordinates, parts are cut along them; without, along numbers of steps from far vertices.

    Returns
    -------
    numpy.ndarray
        (n,) the vertices, the first to be contracted first.
    """
    order = graph._elimination_order
    if order is None:
        found = graph._kernel.dissect(graph.coordinates, None)
        failures.require_done(found.ending)
        order = arrays.frozen(found.order.copy())
        object.__setattr__(graph, "_elimination_order", order)
    return order


def _types() -> dict[str, Any]:
    return dict.fromkeys(PARTS[:4], np.int32) | dict.fromkeys(PARTS[4:], np.uint8)


def _build(
    graph: Graph, rows: Iterable[ArrayLike], scale: float, precision: str, memory_limit: int | None
) -> list[tuple[str, dict[str, NDArray[Any]], float, float, str, int]]:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if precision not in ("single", "double"):
        raise InputError(f"precision must be 'single' or 'double', got {precision!r}")
    scale = scale_of(scale)
    checked = [_checked(graph, row) for row in rows]
    limit = _half_of_memory() if memory_limit is None else arrays.integer(memory_limit, "memory_limit", 0)
    skeleton = graph._kernel.skeleton(elimination_order(graph), limit // _BYTES_PER_ARC, None)
    if skeleton.ending.status is _core.Status.LIMIT:
        needed = skeleton.ending.at * _BYTES_PER_ARC / 2**30
        raise LimitError(
            f"a hierarchy of this graph needs {needed:.1f} GB while it is built, more than memory_limit, "
            f"{limit / 2**30:.1f} GB: the graph has no small separators. Use landmarks, or raise memory_limit"
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
        built.append((graph.fingerprint, parts, beyond, scale, precision, found.roundings))
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
