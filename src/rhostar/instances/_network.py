"""The class Network, which readers and converters return: a graph with snapshots, from which instances are drawn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.instances import _checks as checks
from rhostar.instances import _pool as pools
from rhostar.instances._sampling import choose_goal, iid
from rhostar.instances._set import InstanceSet


@dataclass(frozen=True)
class Reading:
    """What a reader did to the data on the way to a :class:`Network`."""

    loops: int = 0
    """Edges from a vertex to itself, which were dropped: no shortest path uses one."""
    parallels: int = 0
    """Edges beside another one with the same ends, which were merged: the cheapest counts."""
    missing: int = 0
    """Weights that the data lacks."""
    policy: str | None = None
    """What was done about them: "closed", "last" or "median"; None if there were none."""
    others: int = 0
    """Edges that the graph lacks, if one was given: they were left out."""


@dataclass(frozen=True, eq=False)
class Network:
    """A graph and K snapshots of its weights.

    Examples
    --------
    >>> import rhostar as rs
    >>> network = rs.datasets.Network(rs.Graph.grid(3, 3), [rs.Graph.grid(3, 3).length])
    >>> network
    Network(9 vertices, 24 edges, 1 snapshot)
    >>> network.sample(100, goal=8, seed=0)
    InstanceSet(100 instances, 1 snapshot of 24 edges, goal 8)
    """

    graph: Graph
    """The graph."""
    weights: NDArray[Any]
    """(K, m) in the edge order of the graph, read-only; ``inf`` where an edge is absent."""
    names: tuple[Hashable, ...] | None = None
    """The name of each snapshot, such as a time or a file."""
    days: NDArray[np.int64] | None = None
    """The day of each snapshot, if snapshots follow each other in time."""
    edge_bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """The lowest and the highest weight of each edge while it is present, if the source of the data states them."""
    reading: Reading = None  # type: ignore[assignment]
    """What was dropped, merged and filled in; by default what :meth:`Graph.from_edges` dropped and merged."""

    def __post_init__(self) -> None:
        matrix = arrays.as_array(self.weights, "weights") if not isinstance(self.weights, np.memmap) else self.weights
        matrix = matrix[None] if matrix.ndim == 1 else matrix
        if matrix.ndim != 2 or matrix.shape[1] != self.graph.m or not len(matrix):
            raise ArrayError(f"weights must have shape (K, {self.graph.m}) with K > 0, got {matrix.shape}")
        for name in ("names", "days"):
            given = getattr(self, name)
            if given is not None and len(given) != len(matrix):
                raise ArrayError(f"{name} must have one entry per snapshot ({len(matrix)}), got {len(given)}")
        object.__setattr__(self, "weights", arrays.frozen(matrix))
        if self.reading is None:
            done, given = Reading(), self.graph._given
            if given is not None:
                done = Reading(given.size - given.order.size, given.order.size - self.graph.m)
            object.__setattr__(self, "reading", done)

    @property
    def weight_bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest weight that any edge can have while it is present; None if unknown."""
        if self.edge_bounds is None:
            return None
        return float(self.edge_bounds[0].min(initial=np.inf)), float(self.edge_bounds[1].max(initial=0.0))

    def instances(
        self,
        sources: ArrayLike,
        goal: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        infeasible: Literal["raise", "drop", "keep"] = "raise",
    ) -> InstanceSet:
        """Return the instances with these sources and goals; parameters are those of :class:`InstanceSet`.

        Parameters
        ----------
        sources, goal, rows, infeasible
            As for :class:`InstanceSet`.

        Returns
        -------
        InstanceSet
            With the days of the snapshots, if they are known.

        Raises
        ------
        InputError
            As :class:`InstanceSet`.
        """
        return InstanceSet(self.graph, self.weights, sources, goal, rows=rows, infeasible=infeasible, days=self.days)

    def sample(
        self,
        count: int,
        *,
        goal: int | ArrayLike | None = None,
        seed: int | np.random.Generator | None = 0,
        rows: ArrayLike | None = None,
    ) -> InstanceSet:
        """Draw instances independently: a uniform snapshot and start for each; infeasible ones are drawn again.

        Parameters
        ----------
        count
            The number of instances.
        goal
            The goal; None takes ``choose_goal(graph, weights[0])``. Of several goals, one is drawn for each instance.
        seed
            For numpy's generator.
        rows
            Draw only from these snapshots.

        Returns
        -------
        InstanceSet
            Independent draws from the empirical distribution of the data, as bounds for i.i.d. instances require. They
            do not show whether tomorrow will be similar; :func:`split_by_day` makes sets to test that.

        Raises
        ------
        InputError
            If no vertex reaches the goal, or a goal is given twice.
        """
        graph = self.graph
        if goal is None:
            goal = choose_goal(graph, np.ascontiguousarray(self.weights[0]))  # rows may be strided
        one = [arrays.vertex(goal, "goal", graph.n)] if np.ndim(goal) == 0 else goal
        targets = arrays.vertices(one, "goal", graph.n).astype(np.int64)
        if not targets.size or np.unique(targets).size < targets.size:
            raise InputError("goal must be one vertex, or several different ones")
        count = arrays.integer(count, "count", 1)
        chosen = np.arange(len(self.weights)) if rows is None else arrays.vertices(rows, "rows", len(self.weights))
        if chosen.size == 0:
            raise InputError("rows must name at least one snapshot")
        only = int(targets[0]) if targets.size == 1 else None
        others = np.arange(graph.n) if only is None else np.delete(np.arange(graph.n), only)
        if others.size == 0:
            raise InputError("the graph has no vertex other than the goal")

        def draw(rng: np.random.Generator, size: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
            return self.weights, rng.choice(chosen, size), rng.choice(others, size)

        many = f"{chosen.size:,} snapshot{'s' * (chosen.size > 1)}"
        starts = f"{others.size:,} start{'s' * (others.size > 1)}"
        snapshots = pools.digests(checks.matrix(self.weights, graph.m), chosen.astype(np.int64))
        content = pools.identify(graph.fingerprint, snapshots)
        words = f"draws by this sampler from {many} and {starts}"
        words = words if only is not None else f"{words}, to {targets.size:,} goals"
        aim = targets if only is None else only
        sampler = pools.Sampler("Network.sample", pools.identify(content, aim), words, exact=True)
        drawn = iid(graph, aim, draw, count, seed, sampler)
        drawn._stored_days = None if self.days is None else arrays.frozen(np.asarray(self.days, dtype=np.int64))
        return drawn

    def __repr__(self) -> str:
        parts = (arrays.counted(self.graph.n, "vertex", "vertices"), arrays.counted(self.graph.m, "edge"))
        return f"Network({', '.join(parts)}, {arrays.counted(len(self.weights), 'snapshot')})"
