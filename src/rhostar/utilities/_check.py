"""Checks whether a heuristic is admissible and consistent on instances, and where it is not.

ρ is admissible if it never exceeds the cost-to-go: A* that reopens then returns a shortest path. It is consistent if
along an edge (u, v) it never falls by more than the weight: ρ_u <= w + ρ_v. A consistent ρ that is 0 at the goal is
admissible, and A* is right without reopening.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.instances import InstanceSet
from rhostar.search import distances_to


@dataclass(frozen=True, eq=False)
class HeuristicCheck:
    """What :func:`check` found. ``print(...)`` says it in words."""

    graph: Graph
    """The graph."""
    pairs: int
    """How many pairs of a snapshot and a goal were looked at."""
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
    """ρ times at most this number is admissible on these instances; inf if any number will do."""
    consistent_scale: float
    """ρ times at most this number is consistent on these instances; inf if any number will do."""

    @property
    def admissible(self) -> bool:
        """Whether ρ exceeds no cost-to-go."""
        return self.vertices.size == 0

    @property
    def consistent(self) -> bool:
        """Whether ρ falls along no edge by more than the weight."""
        return self.edges.size == 0

    def __str__(self) -> str:
        n, m = self.graph.n, self.graph.m
        lines = [f"checked on {self.pairs} pairs of snapshot and goal"]
        if self.admissible:
            lines.append("admissible: no value exceeds the cost-to-go")
        else:
            v, more = int(self.vertices[0]), self.vertex_excess[0]
            most = f"largest error {more:.4g} at {self.graph._name_of(v)}"
            lines.append(f"not admissible: too high at {self.vertices.size} of {n} vertices; {most}")
            lines.append(f"  scaling rho by {self.admissible_scale:.4g} would make it admissible")
        if self.consistent:
            lines.append("consistent: along no edge it falls by more than the weight")
        else:
            e, more = int(self.edges[0]), self.edge_excess[0]
            ends = self.graph._edge_name(e)
            lines.append(f"not consistent: on {self.edges.size} of {m} edges; largest error {more:.4g} on {ends}")
            lines.append(f"  scaling rho by {self.consistent_scale:.4g} would make it consistent")
        if self.admissible:
            lines.append("A* returns shortest paths here" + ("" if self.consistent else ", if it reopens vertices"))
        else:
            lines.append("A* may return longer paths")
        return "\n".join(lines)


def check(heuristic: HeuristicLike, instances: InstanceSet, *, tolerance: float = 1e-9) -> HeuristicCheck:
    """Check whether a heuristic is admissible and consistent on the snapshots and goals of a set, and where it is not.

    This is about these instances. For instances to come, see ``LowerEnvelope``, whose values are consistent
    whenever no weight falls below its bound, and :func:`rhostar.certify`.

    Parameters
    ----------
    heuristic
        One value per vertex, such an array for each goal, a heuristic, or a fitted learner or model. One that chooses
        among tables by the weights is judged by the table that it chooses.
    instances
        Every pair of a snapshot and a goal that occurs is looked at once: all edges and all vertices.
    tolerance
        What is taken for rounding: values that are too high by no more than this part of the larger number involved.

    Returns
    -------
    HeuristicCheck
        With ``admissible``, ``consistent``, the edges and vertices where it is not, and the factors that would help.

    Raises
    ------
    InputError
        If `tolerance` is negative.
    ArrayError, HeuristicError, ModelError, NotFittedError
        If `heuristic` does not fit the graph or has no values for a goal.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.from_edges(3, [0, 1, 0], [1, 2, 2])
    >>> instances = rs.InstanceSet(graph, np.array([[2.0, 9.0, 3.0]]), sources=0, goal=2)  # 0-1, 0-2, 1-2
    >>> found = rs.check([5.0, 1.0, 0.0], instances)
    >>> found.admissible, found.consistent, found.vertices.tolist(), found.edges.tolist()
    (True, False, [], [0])
    >>> print(found)
    checked on 1 pairs of snapshot and goal
    admissible: no value exceeds the cost-to-go
    not consistent: on 1 of 3 edges; largest error 2 on 0 -> 1
      scaling rho by 0.5 would make it consistent
    A* returns shortest paths here, if it reopens vertices
    """
    slack = arrays.number(tolerance, "tolerance", "a number of at least 0", lambda value: value >= 0)
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    graph = instances.graph
    found = as_heuristic(heuristic, graph, instances.goals)
    tables, table_of = ([], np.empty(0)) if found.uses_weights else found.tables(instances.goals)
    pairs, first = np.unique(np.stack([instances.goals, instances._stored_rows]), axis=1, return_index=True)
    edges, vertices = _Worst(graph.m), _Worst(graph.n)
    at_goal = -np.inf
    for goal, row, i in zip(*pairs.tolist(), first.tolist(), strict=True):
        values = tables[table_of[i]] if tables else found.table(goal, instances._stored[row])
        weights = np.asarray(instances._stored[row], dtype=np.float64)
        fall = values[graph.tail] - values[graph.head]
        edges.see(fall, weights, slack * np.maximum(np.abs(values[graph.tail]), np.abs(values[graph.head])))
        vertices.see(values, distances_to(graph, instances._stored[row], goal), slack * np.abs(values))
        at_goal = max(at_goal, float(values[goal]))
    return HeuristicCheck(graph, len(first), *edges.found(), *vertices.found(), at_goal, vertices.scale, edges.scale)


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
