"""Checks at every vertex and along every edge whether a heuristic is admissible and consistent, and where it is not.

ρ is admissible if it never exceeds the cost-to-go: A* that reopens then returns a shortest path. It is consistent if
along an edge (u, v) it never falls by more than the weight: ρ_u <= w + ρ_v. A consistent ρ that is 0 at the goal is
admissible, and A* is optimal even without reopening.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._query_log import TOLERANCE
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic, Table
from rhostar.heuristics._function import Function
from rhostar.instances import InstanceSet
from rhostar.search import distances_to

_MOST_WORK = 1e8
"""Vertices and edges that are looked at; a call of a Python function counts as fifty."""
_EVERY_GOAL = 2e7
"""The same for all goals of a graph, if they are not asked for."""


@dataclass(frozen=True, eq=False)
class ValueCheck:
    """What was found at the vertices and edges of a graph. Part of an :class:`Audit`."""

    graph: Graph
    """The graph."""
    pairs: int
    """How many pairs of a snapshot and a goal were looked at, with all vertices and edges."""
    scope: str
    """Which these are, in words."""
    complete: bool
    """Whether these are all pairs of a snapshot and a goal that occur."""
    every_goal: bool
    """Whether these are all goals of the graph, on its only snapshot."""
    edges: NDArray[np.int64]
    """Edges along which ρ falls by more than the weight, the worst first."""
    edge_excess: NDArray[np.float64]
    """For each of them by how much more, at worst."""
    edge_times: NDArray[np.int64]
    """For each of them in how many pairs."""
    vertices: NDArray[np.int64]
    """Vertices at which ρ exceeds the cost-to-go, the worst first."""
    vertex_excess: NDArray[np.float64]
    """For each of them by how much, at worst."""
    vertex_times: NDArray[np.int64]
    """For each of them in how many pairs."""
    at_goal: float
    """The largest value at a goal. Above 0, ρ is not admissible."""
    admissible_scale: float
    """ρ times at most this number is admissible in these pairs; inf if any number will do."""
    consistent_scale: float
    """ρ times at most this number is consistent in these pairs; inf if any number will do."""

    @property
    def admissible(self) -> bool:
        """Whether ρ exceeds no cost-to-go."""
        return self.vertices.size == 0

    @property
    def consistent(self) -> bool:
        """Whether ρ falls along no edge by more than the weight."""
        return self.edges.size == 0


def check_values(heuristic: Heuristic, instances: InstanceSet, *, tolerance: float = TOLERANCE) -> ValueCheck:
    """Look at all vertices and edges, for every pair of a snapshot and a goal that occurs, or many of them.

    Parameters
    ----------
    heuristic
        One that chooses among tables by the weights is judged by the table that it chooses.
    instances
        The set.
    tolerance
        What is taken for rounding: values that are too high by no more than this part of the larger number involved.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._value_check import check_values
    >>> graph = rs.Graph.from_edges(3, [0, 1, 0], [1, 2, 2])
    >>> instances = rs.InstanceSet(graph, np.array([[2.0, 9.0, 3.0]]), sources=0, goal=2)  # 0-1, 0-2, 1-2
    >>> found = check_values(rs.heuristics.Table([5.0, 1.0, 0.0]), instances)
    >>> found.admissible, found.consistent, found.vertices.tolist(), found.edges.tolist()
    (True, False, [], [0])
    """
    graph = instances.graph
    goals, rows, scope, complete, every_goal = _pairs(heuristic, instances)
    edges, vertices = _Worst(graph.m), _Worst(graph.n)
    at_goal = -np.inf
    for goal, row in zip(goals.tolist(), rows.tolist(), strict=True):
        values = heuristic.table(goal, instances._stored[row] if heuristic.uses_weights else None)
        weights = np.asarray(instances._stored[row], dtype=np.float64)
        fall = values[graph.tail] - values[graph.head]
        edges.see(fall, weights, tolerance * np.maximum(np.abs(values[graph.tail]), np.abs(values[graph.head])))
        vertices.see(values, distances_to(graph, instances._stored[row], goal), tolerance * np.abs(values))
        at_goal = max(at_goal, float(values[goal]))
    about = (graph, goals.size, scope, complete, every_goal)
    return ValueCheck(*about, *edges.found(), *vertices.found(), at_goal, vertices.scale, edges.scale)


def _pairs(
    heuristic: Heuristic, instances: InstanceSet
) -> tuple[NDArray[np.int64], NDArray[np.int64], str, bool, bool]:
    """Return goals and snapshots to look at, which they are in words, whether they are complete, or even every goal."""
    n, size = instances.graph.n, instances.graph.n + instances.graph.m
    price = size + 50 * n if isinstance(heuristic, Function) else size
    goals, rows = np.unique(np.stack([instances.goals, instances._stored_rows]), axis=1).astype(np.int64)
    snapshots = np.unique(rows)
    any_goal = heuristic.goals is None and not isinstance(heuristic, Table)
    if any_goal and snapshots.size == 1 and n * price <= _EVERY_GOAL:
        return np.arange(n), np.full(n, snapshots[0]), f"all {n:,} goals on these weights", True, True
    on = "these weights" if snapshots.size == 1 else f"{snapshots.size:,} snapshots"
    count = np.unique(goals).size
    to = f"goal {instances.graph._name_of(int(goals[0]))}" if count == 1 else f"the {count:,} goals that occur"
    most = max(1, int(_MOST_WORK // price))
    if goals.size <= most:
        return goals, rows, f"{to} on {on}", True, False
    some = np.sort(np.random.default_rng(0).choice(goals.size, most, replace=False))
    pairs = "goals" if snapshots.size == 1 else "pairs of goal and snapshot"
    return goals[some], rows[some], f"{most:,} of the {goals.size:,} {pairs} that occur", False, False


class _Worst:
    """The places where a value exceeds its limit: how often, and by how much at worst."""

    def __init__(self, size: int) -> None:
        self.excess = np.full(size, -np.inf)
        self.times = np.zeros(size, dtype=np.int64)
        self.scale = np.inf

    def see(self, values: NDArray[np.float64], limits: NDArray[Any], slack: NDArray[np.float64]) -> None:
        over = values - limits
        bad = over > slack
        self.times += bad
        self.excess = np.where(bad, np.maximum(self.excess, over), self.excess)
        rises = values > 0
        with np.errstate(over="ignore"):
            self.scale = min(self.scale, float(np.min(limits[rises] / values[rises], initial=np.inf)))

    def found(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        places = np.flatnonzero(self.times)
        places = places[np.lexsort((places, -self.excess[places]))].astype(np.int64)
        return places, self.excess[places], self.times[places]
