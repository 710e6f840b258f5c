"""Checks and converts instances for exact computations: integer weights, few vertices, one goal.

Over the reals every comparison of an integer instance is ρ_i − ρ_j against an integer, and multiples of 2⁻ᵏ with
2ᵏ > n are fine enough to distinguish a value just below an integer from the integer. So witnesses are such multiples,
and if n·G·2ᵏ < 2⁵² (G is the cost of the most expensive simple path) the floats of a search add them exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import ArrayError, InfeasibleError, InputError, InstanceError, WeightError
from rhostar.graph import Graph
from rhostar.instances import Instance, InstanceSet

Edges = Mapping[tuple[int, int], float]
"""The edges (tail, head) of one instance and their weights."""

MOST_VERTICES = 64
"""Sets of vertices are stored in machine words."""


@dataclass(frozen=True, eq=False)
class Exact:
    """The input of the compiled symbolic execution."""

    weights: NDArray[np.int64]
    """(N, n, n); -1 means that there is no edge."""
    sources: NDArray[np.int32]
    goal: int
    bits: int
    """k: witnesses are multiples of 2⁻ᵏ."""

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.weights.shape[1]


def instance_set(n: int, edges: Sequence[Edges], sources: int | Sequence[int], goal: int) -> InstanceSet:
    """Return instances with different edges on one graph: the union of all edges, with weight inf for missing ones.

    Parameters
    ----------
    n
        Number of vertices.
    edges
        For each instance its edges (tail, head) and their weights.
    sources
        One start vertex, or one for each instance.
    goal
        The goal.

    Returns
    -------
    InstanceSet

    Raises
    ------
    InputError
        If there are no edges, a vertex is out of range, or an instance has no path.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.instance_set(3, [{(0, 1): 1, (1, 2): 1}, {(0, 2): 5}], sources=0, goal=2)
    InstanceSet(2 instances, 2 snapshots of 3 edges, goal 2)
    """
    pairs = sorted({pair for one in edges for pair in one})
    if not pairs:
        raise InfeasibleError("instance 0 has no edges, so it has no path from its source to its goal")
    position = {pair: e for e, pair in enumerate(pairs)}
    weights = np.full((len(edges), len(pairs)), np.inf)
    for row, one in enumerate(edges):
        weights[row, [position[pair] for pair in one]] = list(one.values())
    tail, head = np.array(pairs).T
    graph = Graph.from_edges(n, tail, head)
    return InstanceSet(graph, graph.arrange(weights), np.broadcast_to(np.asarray(sources), len(edges)), goal)


def edges_of(instances: InstanceSet) -> list[tuple[tuple[int, int, int], ...]]:
    """Return for each instance its edges (tail, head, weight); weights are integers."""
    found, graph = [], instances.graph
    for instance in instances:
        present = np.isfinite(instance.weights)
        columns = (graph.tail[present], graph.head[present], instance.weights[present].astype(np.int64))
        found.append(tuple(zip(*(column.tolist() for column in columns), strict=True)))
    return found


def gather(instances: InstanceSet | Sequence[Instance]) -> InstanceSet:
    """Return a set as it is, and single instances as a set on the union of their edges.

    Raises
    ------
    InstanceError
        If they have different numbers of vertices or different goals; the message names the first that differs.
    """
    if isinstance(instances, InstanceSet):
        return instances
    single = list(instances)
    if not single:
        raise InstanceError("instances must not be empty")
    for i, one in enumerate(single):
        if not isinstance(one, Instance):
            raise InputError(f"instances[{i}] must be an Instance, got {type(one).__name__}")
        if one.graph.n != single[0].graph.n:
            raise InstanceError(
                f"instances[{i}] has {one.graph.n} vertices, instances[0] has {single[0].graph.n}; "
                "ρ needs the same vertices for all"
            )
        if one.goal != single[0].goal:
            raise InstanceError(f"instances[{i}] has goal {one.goal}, instances[0] has {single[0].goal}")
    edges = [
        {
            (int(v), int(c)): float(w)
            for v, c, w in zip(one.graph.tail, one.graph.head, one.weights, strict=True)
            if np.isfinite(w)
        }
        for one in single
    ]
    return instance_set(single[0].graph.n, edges, [one.source for one in single], single[0].goal)


def exact(instances: InstanceSet) -> Exact:
    """Return the instances with integer weights.

    Weights of a float type are accepted if they are integers.

    Raises
    ------
    InstanceError, InfeasibleError
        If goals differ, or an instance has no path from its source to its goal.
    WeightError
        If a weight is not an integer, or so large that sums with ρ would round.
    InputError
        If there are more than 64 vertices.
    """
    graph, n = instances.graph, instances.graph.n
    if n > MOST_VERTICES:
        raise InputError(f"instances have {n} vertices; exact computations take at most {MOST_VERTICES}")
    if len(instances) == 0:
        raise InstanceError("instances must not be empty")
    goal = instances.goal
    if not isinstance(goal, int):
        i = int(np.argmax(instances.goals != instances.goals[0]))
        raise InstanceError(
            f"instance {i} has goal {instances.goals[i]}, instance 0 has {instances.goals[0]}; "
            "take one goal at a time (by_goal)"
        )
    if n * len(instances) * n > 1 << 28:
        raise ArrayError(f"{len(instances)} instances of {n} vertices are too many for exact computations")
    weights = np.full((len(instances), n, n), -1, dtype=np.int64)
    for i, row in enumerate(instances._stored_rows):
        values = instances._stored[row]
        present = np.isfinite(values)
        whole = present & (values == np.floor(np.where(present, values, 0)))
        if (present & ~whole).any():
            e = int(np.argmax(present & ~whole))
            raise WeightError(
                f"instance {i}: the edge {graph.tail[e]} -> {graph.head[e]} weighs {values[e]}, not an integer; "
                "exact computations need integers (multiply fractions by a common denominator)"
            )
        tail, head = graph.tail[present], graph.head[present]
        weights[i, tail, head] = values[present].astype(np.int64)
        reached = graph._kernel.reaches(np.ascontiguousarray(values), goal)
        if not reached[instances.sources[i]]:
            raise InfeasibleError(f"instance {i} has no path from {instances.sources[i]} to {goal}")
    bits = n.bit_length()  # 2^bits > n
    dearest = int(np.sort(weights.max(axis=(0, 2)))[1:].clip(0).sum())
    if n * max(dearest, 1) << bits >= 1 << 52:
        raise WeightError(
            f"paths may cost up to {dearest}; with {n} vertices, sums are exact below {(1 << 52 - bits) // n}"
        )
    return Exact(weights, np.ascontiguousarray(instances.sources, dtype=np.int32), goal, bits)
