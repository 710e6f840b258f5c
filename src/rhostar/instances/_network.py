"""The class Network, which readers and converters return: a graph with snapshots, from which instances are drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.instances import _pool as pools
from rhostar.instances import _snapshots as snapshots
from rhostar.instances._sampling import Draw, choose_goal, iid, iid_towards
from rhostar.instances._set import InstanceSet


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
    weights: NDArray[Any]
    """(K, m) in the edge order of the graph, read-only; ``inf`` where an edge is absent."""
    names: tuple[Hashable, ...] | None = None
    """The name of each snapshot, such as a time or a file."""
    days: NDArray[np.int64] | None = None
    """The day of each snapshot, if snapshots follow each other in time."""
    edge_bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """The least and largest weight of each edge while it is present, if the source of the data promises them."""

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

    @property
    def weight_bounds(self) -> tuple[float, float] | None:
        """The least and the largest weight that any edge can have while it is present; None if unknown."""
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
        """Return the instances with these sources and goals; parameters are those of :class:`InstanceSet`."""
        return InstanceSet(self.graph, self.weights, sources, goal, rows=rows, infeasible=infeasible)

    def sample(
        self,
        count: int,
        *,
        goal: int | Sequence[int] | None = None,
        seed: int | np.random.Generator | None = 0,
        rows: ArrayLike | None = None,
    ) -> InstanceSet:
        """Draw instances independently: a uniform snapshot and start for each; infeasible ones are drawn again.

        Parameters
        ----------
        count
            The number of instances.
        goal
            The goal, or several, such as depots, of which each instance gets one at random; None takes
            ``choose_goal(graph, weights[0])``.
        seed
            For numpy's generator.
        rows
            Draw only from these snapshots.

        Returns
        -------
        InstanceSet
            Independent draws from the empirical distribution of the data, as bounds for i.i.d. instances require.
            They say nothing about whether tomorrow will be similar; :func:`split_by_day` tests that.

        Raises
        ------
        InputError
            If no vertex reaches the goal.
        """
        graph = self.graph
        if goal is None:
            goal = choose_goal(graph, np.ascontiguousarray(self.weights[0]))  # rows may be strided
        goals = np.unique([arrays.vertex(one, "goal", graph.n) for one in np.atleast_1d(np.asarray(goal)).tolist()])
        if not goals.size:
            raise InputError("goal must name at least one vertex")
        count = arrays.integer(count, "count", 1)
        chosen = np.arange(len(self.weights)) if rows is None else arrays.vertices(rows, "rows", len(self.weights))
        if chosen.size == 0:
            raise InputError("rows must name at least one snapshot")
        if graph.n == 1:
            raise InputError("the graph has no vertex other than the goal")

        def draw_to(goal: int) -> Draw:
            others = np.delete(np.arange(graph.n), goal)
            return lambda rng, size: (self.weights, rng.choice(chosen, size), rng.choice(others, size))

        parts = [arrays.counted(chosen.size, "snapshot"), arrays.counted(graph.n - 1, "start")]
        parts += [] if goals.size == 1 else [arrays.counted(goals.size, "goal")]
        content = pools.content_of_snapshots(graph, snapshots.matrix(self.weights, graph.m), chosen.astype(np.int64))
        words = f"draws by this sampler from {', '.join(parts[:-1])} and {parts[-1]}"
        towards = int(goals[0]) if goals.size == 1 else goals.tolist()
        sampler = pools.Sampler("Network.sample", pools.identify(content, towards), words, exact=True)
        if goals.size == 1:
            return iid(graph, int(goals[0]), draw_to(int(goals[0])), count, seed, sampler)
        return iid_towards(graph, {int(goal): draw_to(int(goal)) for goal in goals}, count, seed, sampler)

    def __repr__(self) -> str:
        parts = (arrays.counted(self.graph.n, "vertex", "vertices"), arrays.counted(self.graph.m, "edge"))
        return f"Network({', '.join(parts)}, {arrays.counted(len(self.weights), 'snapshot')})"
