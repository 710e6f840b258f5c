"""Instances from proofs: linear shattered sets, and instances with many behaviors, path costs or expansions.

Sets of more than linear size are in :mod:`rhostar.theory._codes` and :mod:`rhostar.theory._parity`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm, Trace
from rhostar.theory._integer_instances import Edges, edges_of, instance_set
from rhostar.theory._shattered_set import ShatteredSet
from rhostar.utilities import Cost, Custom

_ONE_BIT = np.array([0, 1])


def theorem5_instances(n: int, algorithm: Algorithm = "gbfs") -> ShatteredSet:
    """Return the n − 4 unweighted instances of the paper's lower bound, with a ρ for every subset S.

    The paper's vertices 1..n−3 are 0..n−4 here, then s, r and t. Instance i has s → v for all of them, v → t for v > i,
    and i → r → t: a path of length 2, or 3 through i. With ρ_i = i + 3 on S and on the last of them, n on the others,
    and ρ_r = ρ_t = 0, both algorithms (A* with and without reopening) take the path of length 3 exactly on the
    instances in S (Theorem 5).

    Parameters
    ----------
    n
        Number of vertices, at least 5.
    algorithm
        The algorithm that the set is marked for; the cost shatters it under both.

    Returns
    -------
    ShatteredSet
        ``rho(pattern)`` is the paper's ρ for the subset.

    Raises
    ------
    InputError
        If n is below 5.

    Examples
    --------
    >>> import rhostar as rs
    >>> shattered = rs.theory.theorem5_instances(8)
    >>> rs.solve_many(shattered.instances, shattered.rho([0, 1, 1, 0]), algorithm="gbfs").cost.tolist()
    [2.0, 3.0, 3.0, 2.0]
    """
    arrays.integer(n, "n", 5)
    middle, source, r, goal = n - 3, n - 3, n - 2, n - 1

    def edges_of(i: int) -> Edges:
        edges = [(source, v) for v in range(middle)] + [(v, goal) for v in range(i + 1, middle)]
        return dict.fromkeys([*edges, (i, r), (r, goal)], 1)

    def table(pattern: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.full(n, float(n))
        chosen = np.flatnonzero(np.append(pattern, 1))
        rho[chosen] = chosen + 3.0
        rho[[r, goal]] = 0.0
        return rho

    instances = instance_set(n, [edges_of(i) for i in range(n - 4)], source, goal)
    return _one_bit_each(instances, algorithm, table)


def sharper_instances(n: int, algorithm: Algorithm = "astar") -> ShatteredSet:
    """Return n − 2 instances for GBFS, n − 1 for A*, that the cost shatters: each reads a different value of ρ.

    GBFS: instance j has s → 0, s → j, 0 → t at cost 1 and j → t at cost 2, for some third vertex s; the bit is
    ρ_j < ρ_0. A*, with or without reopening: instance i has s → i (1), i → t (1) and s → t (3); the bit is
    ρ_i − ρ_t ≥ 2, or > if i < t as here.

    Parameters
    ----------
    n
        Number of vertices, at least 4; the last is the goal.
    algorithm
        "gbfs" or "astar".

    Returns
    -------
    ShatteredSet
        With the cost as utility.

    Raises
    ------
    InputError
        If n is below 4.

    Examples
    --------
    >>> import rhostar as rs
    >>> len(rs.theory.sharper_instances(9, "gbfs")), len(rs.theory.sharper_instances(9, "astar"))
    (7, 8)
    """
    arrays.integer(n, "n", 4)
    goal = n - 1
    greedy = algorithm == "gbfs"
    readers = range(1 if greedy else 0, goal)
    sources = [next(v for v in range(goal) if v not in ((0, i) if greedy else (i,))) for i in readers]

    def edges_of(i: int, s: int) -> Edges:
        if greedy:
            return {(s, 0): 1, (s, i): 1, (0, goal): 1, (i, goal): 2}
        return {(s, i): 1, (i, goal): 1, (s, goal): 3}

    def table(pattern: NDArray[np.int64]) -> NDArray[np.float64]:
        if greedy:
            return np.array([1.0, *(np.where(pattern, 0.0, 2.0)), 0.0])
        return np.array([*(np.where(pattern, 4.0, 0.0)), 0.0])

    instances = instance_set(n, [edges_of(i, s) for i, s in zip(readers, sources, strict=True)], sources, goal)
    return _one_bit_each(instances, algorithm, table)


def star(n: int) -> InstanceSet:
    """Return one unweighted instance with ⌊e·(n−3)!⌋ behaviors under GBFS, and more under A*.

    The start leads to n − 2 vertices, of which vertex 0 leads to the goal. A behavior is the sequence of the other
    n − 3 vertices that are expanded before vertex 0: any sequence without repetition.

    Parameters
    ----------
    n
        Number of vertices, at least 4.

    Returns
    -------
    InstanceSet
        One instance.

    Raises
    ------
    InputError
        If n is below 4.

    Examples
    --------
    >>> import rhostar as rs
    >>> [len(rs.theory.joint_behaviours(rs.theory.star(n), "gbfs")) for n in (4, 5, 6, 7)]
    [2, 5, 16, 65]
    """
    arrays.integer(n, "n", 4)
    edges: dict[tuple[int, int], float] = {(n - 2, v): 1 for v in range(n - 2)}
    return instance_set(n, [edges | {(0, n - 1): 1}], n - 2, n - 1)


def star_copies(n: int) -> ShatteredSet:
    """Return ⌊lg ⌊e·(n−3)!⌋⌋ copies of the star that some utility shatters under GBFS.

    The copies differ in the weight of an edge that leaves the goal, which no run reads; the utility of copy j is bit
    j of the number of the run. So a bound for every utility that Assumption 3 allows cannot be below lg of the
    number of behaviors of a single instance: O(n lg n) is tight in that sense.

    Parameters
    ----------
    n
        Number of vertices, at least 4.

    Returns
    -------
    ShatteredSet
        With a custom utility.

    Raises
    ------
    InputError
        If n is below 4.

    Examples
    --------
    >>> import rhostar as rs
    >>> len(rs.theory.star_copies(8))
    8
    """
    single = star(n)
    behaviours = math.floor(math.e * math.factorial(n - 3)) if n > 4 else 2
    copies = behaviours.bit_length() - 1
    edges: Edges = {(u, v): w for u, v, w in edges_of(single)[0]}
    instances = instance_set(n, [{**edges, (n - 1, 0): j} for j in range(copies)], n - 2, n - 1)

    def table(number: NDArray[np.int64]) -> NDArray[np.float64]:
        rho = np.full(n, float(n))
        before = _sequence(n - 3, int(number[0]))
        rho[[*before, 0]] = np.arange(len(before) + 1)
        return rho

    return ShatteredSet(
        instances,
        "gbfs",
        True,
        Custom(1.0, bit_of_the_run, "bit of the run"),
        np.full(copies, 0.5),
        copies,
        np.arange(1 << copies),
        table,
    )


def bit_of_the_run(instance: Instance, trace: Trace) -> float:
    """Return the bit of the number of a star's run that this copy reads; see :func:`star_copies`."""
    n = instance.graph.n
    copy = int(instance.weights[instance.graph.edge_index(n - 1, 0)[0]])
    number, free = 0, list(range(1, n - 2))
    for v in trace.selected.tolist()[1:]:
        if v == 0:
            break
        number += 1 + free.index(v) * _sequences(len(free) - 1)
        free.remove(v)
    return float(number >> copy & 1)


def _sequences(k: int) -> int:
    """Return how many sequences without repetition k things have, the empty one included."""
    return sum(math.factorial(k) // math.factorial(j) for j in range(k + 1))


def _sequence(k: int, number: int) -> list[int]:
    """Return a sequence of 1..k by its number: first the one that ends here, then by its next element."""
    free, found = list(range(1, k + 1)), []
    while number:
        which, number = divmod(number - 1, _sequences(len(free) - 1))
        found.append(free.pop(which))
    return found


def powers_of_two(n: int) -> Instance:
    """Return the complete digraph of the paper's Example 1: edge e weighs 2ᵉ, from vertex 0 to the last.

    No two simple paths cost the same, so g_v takes as many values as there are simple paths to v:
    Σ_{j=0}^{n−2} (n−2)!/j! = ⌊e·(n−2)!⌋. The paper's Σ_{k=0}^{n−2} k! is too small (n = 4: 4, and there are 5); the
    bound (n−1)! that the paper derives from it still holds.

    Parameters
    ----------
    n
        Number of vertices, 3 to 7: with more, the weights would not be exact.

    Returns
    -------
    Instance

    Raises
    ------
    InputError
        If n is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> [len(rs.theory.path_costs(rs.theory.powers_of_two(n), n - 1)) for n in (3, 4, 5, 6, 7)]
    [2, 5, 16, 65, 326]
    """
    if not 3 <= n <= 7:
        raise InputError(f"n must be between 3 and 7, got {n}: 2^(n(n-1)) must be exact")
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    graph = Graph.from_edges(n, tail, head)
    return Instance(graph, 1 << np.arange(graph.m, dtype=np.int64), 0, n - 1)


def path_costs(instance: Instance, vertex: int) -> list[float]:
    """Return the distinct costs of all simple paths from the source to a vertex, in order: the paper's set G_v.

    Parameters
    ----------
    instance
        The instance; all simple paths are followed, so only a few vertices are feasible.
    vertex
        Where the paths end.

    Returns
    -------
    list of float

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    >>> rs.theory.path_costs(rs.instances.Instance(graph, graph.arrange([1.0, 5.0, 2.0]), 0, 2), 2)
    [3.0, 5.0]
    """
    graph, weights, source, _ = instance
    found: set[float] = set()

    def follow(v: int, cost: float, seen: frozenset[int]) -> None:
        if v == vertex:
            found.add(cost)
            return
        for e in range(graph.first_out[v], graph.first_out[v + 1]):
            c, w = int(graph.head[e]), weights[e].item()
            if c not in seen and w != math.inf:
                follow(c, cost + w, seen | {c})

    follow(source, 0, frozenset({source}))
    return sorted(found)


def martelli(n: int) -> tuple[Instance, NDArray[np.float64]]:
    """Return an instance and a ρ with which A* with reopening expands 2ⁿ⁻² vertices (Martelli 1977).

    Vertices n−1, n−2, ..., 1 lead down to the goal 0: each has edges to all vertices below it except the goal, which
    only 1 reaches. With these weights a path is cheaper the more vertices it visits, and every set of visited vertices
    has a different cost. ρ makes A* try direct paths first: whenever a vertex is improved, everything below it is
    expanded again, as in counting in binary. Without reopening there are n − 1 expansions.

    Parameters
    ----------
    n
        Number of vertices, 3 to 40.

    Returns
    -------
    Instance, numpy.ndarray
        The instance and the heuristic values.

    Raises
    ------
    InputError
        If n is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> instance, rho = rs.theory.martelli(12)
    >>> rs.astar(*instance, rho).expanded, rs.astar(*instance, rho, reopen=False).expanded
    (1024, 11)
    """
    if not 3 <= n <= 40:
        raise InputError(f"n must be between 3 and 40, got {n}")
    source = n - 1
    edges = {(j, i): 2**j - 2 ** (i + 1) for j in range(2, n) for i in range(1, j)} | {(1, 0): 0}
    graph = Graph.from_edges(n, [j for j, _ in edges], [i for _, i in edges])
    step = float(2 ** (n + 1))
    rho = step * np.arange(n, dtype=np.float64)
    rho[0] = step * (n + 2)
    return Instance(graph, graph.arrange(np.array(list(edges.values()), dtype=np.int64)), source, 0), rho


def _one_bit_each(instances: InstanceSet, algorithm: Algorithm, table: object) -> ShatteredSet:
    """Return a set whose utility is the cost, 2 or 3."""
    thresholds = np.full(len(instances), 2.5)
    return ShatteredSet(instances, algorithm, True, Cost(4.0), thresholds, 1, _ONE_BIT, table)  # type: ignore[arg-type]
