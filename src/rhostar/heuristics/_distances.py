"""Distances under one row of weights, for every goal, by a contraction hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import InputError, StorageError
from rhostar.graph import Graph
from rhostar.heuristics._base import Parts, scale_of
from rhostar.heuristics._computed import Computed
from rhostar.hierarchy import CustomizedHierarchy, Hierarchy

ENTERING = ("entering_first", "entering_edge", "usual")
"""The edges into each vertex, and the weights, if ρ is raised by delays at the goal."""
Entering = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
PARTS = ("rank", "rows", "list", "up", "down")
"""The arrays of a potential (src/core/hierarchy/guide.hpp). The first three depend on the graph alone."""

Precision = Literal["single", "double"]


class DistanceHeuristic(Computed):
    """Exact distances under one row of weights, for every goal: ρ at v is the distance from v to the goal.

    ρ is consistent for these weights, for every goal. So A* is optimal for every goal on instances with no weight below
    them. On other instances, with weights w, a path exceeds the optimum by at most the sum of max(`weights` − w, 0)
    over the edges of an optimal path. With ``scale=1``, rounding never makes ρ larger than the true distance, in either
    precision. To this end, weights are rounded down to multiples of a small unit, by less than 2**-20 of any weight, so
    that all sums are exact. If weights differ too much in size, all values are made a little smaller instead.

    It uses a :class:`rhostar.Hierarchy`, which is made once for each graph and customized for the weights. After that,
    a new goal takes microseconds. That works on road networks and grids, which have small separators. It does not work
    on large dense or random graphs: use :class:`Landmarks` there.

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
    goal_delay
        Whether ρ is raised by the delay at the goal. The delay of an edge is how much more it costs in the query than
        `scale` times its weight in `weights`; ρ is raised by the minimum over the edges into the goal, if that is
        positive. Every path uses one of these edges, so ρ is still consistent where no weight of the query is below
        `scale` times `weights`. Without it, a search for a goal in a jam expands every vertex that is nearer than the
        jam is long.
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
    _arrays: Parts
    _beyond: float
    _roundings: int
    _entering: Entering | None = None
    _index: tuple[NDArray[np.float64], CustomizedHierarchy] | None = None
    """Lower bounds on weights, and the hierarchy customized for them; see :meth:`below`."""

    def __init__(
        self,
        graph: Graph,
        weights: ArrayLike,
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        goal_delay: bool = False,
        memory_limit: int | None = None,
    ) -> None:
        found = self.for_rows(
            graph, [weights], scale=scale, precision=precision, goal_delay=goal_delay, memory_limit=memory_limit
        )
        self.__dict__.update(found[0].__dict__)

    @classmethod
    def for_rows(
        cls,
        graph: Graph,
        rows: Iterable[ArrayLike],
        *,
        scale: float = 1.0,
        precision: Precision = "single",
        goal_delay: bool = False,
        memory_limit: int | None = None,
    ) -> list[DistanceHeuristic]:
        """Return a heuristic for each row of weights; what depends on the graph alone is shared.

        Parameters
        ----------
        graph
            The graph.
        rows
            The weights of each heuristic.
        scale, precision, goal_delay, memory_limit
            As for the class.

        Returns
        -------
        list of DistanceHeuristic
            In the order of the rows.

        Raises
        ------
        InputError
            As for the class.
        """
        if precision not in ("single", "double"):
            raise InputError(f"precision must be 'single' or 'double', got {precision!r}")
        scale = scale_of(scale)
        hierarchy = Hierarchy(graph, memory_limit=memory_limit)
        entering = None
        if goal_delay:
            against = graph._kernel.transpose()
            entering = against.first_out, against.edge
        built: list[DistanceHeuristic] = []
        for row in rows:
            cut = graph._kernel.cut(arrays.weight_row(row, "weights", graph.m))
            found = cls._made(hierarchy.customize(cut), scale, precision, built[0] if built else None)
            built.append(found._looking((*entering, arrays.frozen(cut))) if entering else found)
        return built

    def _looking(self, entering: Entering) -> DistanceHeuristic:
        found = self._changed(_entering=entering, m=entering[-1].size)
        found._kernel = found._make_kernel()
        return found

    @property
    def uses_weights(self) -> bool:
        """Whether it is raised by delays at the goal."""
        return self._entering is not None

    @property
    def multiplies(self) -> bool:
        """Whether :meth:`scaled` multiplies each value; False if it is raised by delays at the goal."""
        return self._entering is None

    @classmethod
    def of_customized(cls, customized: CustomizedHierarchy, *, precision: Precision = "single") -> DistanceHeuristic:
        """Return the distances under the weights of a customized hierarchy, as they are now.

        Parameters
        ----------
        customized
            The hierarchy. Later updates in place do not change the heuristic.
        precision
            As for the class.

        Returns
        -------
        DistanceHeuristic
            Its ``lower`` are these weights: A* with it is optimal where no weight is below them. On the same weights it
            expands the vertices of one shortest path, and of others that are as short.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(40, 40)
        >>> today = np.random.default_rng(0).uniform(1, 2, graph.m)
        >>> heuristic = rs.heuristics.DistanceHeuristic.of_customized(rs.Hierarchy(graph).customize(today))
        >>> run = rs.astar(graph, today, 0, 1599, heuristic)
        >>> run.expanded == run.path.size - 1
        True
        """
        return cls._made(customized, 1.0, precision, bounds=True)

    def below(
        self, graph: Graph, lower: NDArray[np.float64], edges: ArrayLike, weights: ArrayLike
    ) -> DistanceHeuristic:
        """Return the distances under lower bounds, of which some are lowered further.

        Parameters
        ----------
        graph
            The graph.
        lower
            (m,) the bounds. The hierarchy for them is remembered, so that later calls only update the changed edges.
        edges, weights
            Edges and their weights, which replace the bounds.

        Returns
        -------
        DistanceHeuristic
            It has no bounds of its own.
        """
        if self._index is None or self._index[0] is not lower:
            if graph._elimination_order is None:  # it came from a file; the order is what takes longest
                object.__setattr__(
                    graph, "_elimination_order", arrays.frozen(np.argsort(self._arrays["rank"]).astype(np.int32))
                )
            self._index = lower, Hierarchy(graph).customize(lower)
        return self._made(self._index[1].update(edges, weights), 1.0, self.precision)

    @property
    def precision(self) -> Precision:
        """The precision of the stored values."""
        return "single" if self._arrays["up"].dtype == np.float32 else "double"

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(part.nbytes for part in (*self._arrays.values(), *(self._entering or ())))

    def _make_kernel(self) -> _core.Potential:
        self._arrays = {name: np.require(part, requirements=["C", "A"]) for name, part in self._arrays.items()}
        rank, rows, ranks, up, down = (self._arrays[name] for name in PARTS)
        how = self._roundings, self._beyond, self.scale, self._entering
        kernel = _core.hierarchy_potential(rank, rows, ranks, up, down, *how)
        if kernel is None:
            raise StorageError("the hierarchy is damaged: its arrays do not match each other")
        return kernel

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_index": None}

    def _own_parts(self) -> tuple[Parts, dict[str, Any]]:
        entering: Parts = dict(zip(ENTERING, self._entering, strict=True)) if self._entering else {}
        facts = {"beyond": self._beyond, "scale": self.scale, "roundings": self._roundings}
        return self._arrays | entering, facts

    @classmethod
    def _of_own_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> DistanceHeuristic:
        beyond, scale, roundings = float(facts["beyond"]), scale_of(facts["scale"]), int(facts["roundings"])
        if not 0 <= beyond < np.inf or not 0 <= roundings < 2**40:
            raise StorageError("the hierarchy is damaged: its metadata does not match")
        own = {name: parts[name] for name in PARTS}
        if any(part.shape[1:] != ((3,) if name == "rows" else ()) for name, part in own.items()):
            raise StorageError("the hierarchy is damaged: its arrays do not match each other")
        found = cls._of_arrays(own, roundings, beyond, scale)
        if ENTERING[0] not in parts:
            return found
        first, edge, usual = (arrays.frozen(parts[name]) for name in ENTERING)
        return found._looking((first, edge, usual))

    @classmethod
    def _made(
        cls,
        customized: CustomizedHierarchy,
        scale: float,
        precision: Precision,
        like: DistanceHeuristic | None = None,
        *,
        bounds: bool = False,
    ) -> DistanceHeuristic:
        """Return one for the weights of a customized hierarchy; what depends on the graph alone is that of `like`."""
        rows = tuple(like._arrays[name] for name in PARTS[:3]) if like else _core.guide_rows(customized._kernel)
        up, down, roundings, beyond, weights = _core.guide_lengths(customized._kernel, precision == "single")
        parts = dict(zip(PARTS, (*rows, arrays.frozen(up), arrays.frozen(down)), strict=True))
        lower = arrays.frozen(weights) if bounds else None
        found = cls._of_arrays(parts, roundings, beyond, scale)
        return found.with_facts(fingerprint=customized.graph.fingerprint, lower=lower, consistent_for=lower)

    @classmethod
    def _of_arrays(cls, parts: Parts, roundings: int, beyond: float, scale: float) -> DistanceHeuristic:
        found = cls.__new__(cls)
        found._arrays, found._roundings, found._beyond, found.scale = parts, roundings, beyond, scale
        found.n = parts["rank"].size
        found._kernel = found._make_kernel()
        return found
