"""A bound on every single answer of A*, certain and without data (U5).

With reopening and without a budget, on every instance whose weights are at least `low`,

    cost − opt ≤ B = max over v of (ρ_v − ρ_t − dist_low(v, t))⁺.

If the answer is not optimal, then at the moment t is selected some vertex v of an optimal path is in OPEN with its true
cost g*_v. So cost + ρ_t ≤ g*_v + ρ_v, and opt = g*_v + dist(v, t) ≥ g*_v + dist_low(v, t). Without reopening that
argument fails, and so does the bound: an admissible ρ that is not consistent has B = 0 and may be suboptimal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.graph import Graph
from rhostar.search import distances_to


def largest_excess(graph: Graph, rho: ArrayLike, goal: int, low: ArrayLike) -> float:
    """Return B: by how much any answer of A* with reopening can exceed the optimum where weights are at least `low`.

    Parameters
    ----------
    graph
        The graph.
    rho
        Heuristic values, one per vertex.
    goal
        The goal.
    low
        The least weight of each edge, or one number for all; inf for edges that are always absent.

    Returns
    -------
    float
        B, for exact sums. Vertices that can never reach the goal do not count.

    Raises
    ------
    VertexError, ArrayError, HeuristicError, WeightError
        If an argument cannot be used.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> low = np.ones(graph.m)
    >>> exact = rs.distances_to(graph, low, goal=24)
    >>> from rhostar.certificates import largest_excess
    >>> largest_excess(graph, exact, 24, low), largest_excess(graph, 1.5 * exact, 24, low)
    (0.0, 4.0)
    """
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.per_vertex(rho, "rho", graph.n)
    return float(np.maximum(table - table[goal] - _least_cost(graph, goal, low), 0.0).max())


def limited_excess(graph: Graph, rho: ArrayLike, goal: int, low: ArrayLike, most: float) -> NDArray[np.float64]:
    """Return ρ lowered so that no answer exceeds the optimum by more than `most` where weights are at least `low`.

    ρ′_v = min(ρ_v, ρ_t + dist_low(v, t) + most): the largest ρ′ ≤ ρ with B ≤ `most`.

    Parameters
    ----------
    graph, rho, goal, low
        As for :func:`largest_excess`.
    most
        The excess that is allowed, at least 0.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If `most` is negative or not finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates import largest_excess, limited_excess
    >>> graph = rs.Graph.grid(5, 5)
    >>> low = np.ones(graph.m)
    >>> rho = limited_excess(graph, 1.5 * rs.distances_to(graph, low, goal=24), 24, low, most=1.0)
    >>> largest_excess(graph, rho, 24, low)
    1.0
    """
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.per_vertex(rho, "rho", graph.n)
    most = arrays.number(most, "most", "finite and not negative", lambda x: 0 <= x < np.inf)
    return np.minimum(table, table[goal] + _least_cost(graph, goal, low) + most)


def most_excess_below(graph: Graph, goal: int, caps: NDArray[np.float64], low: NDArray[np.float64]) -> float:
    """Return the largest B of any ρ with ρ_v − ρ_c ≤ D on every edge: max over v of dist_D(v, t) − dist_low(v, t).

    Such a ρ has ρ_v − ρ_t ≤ dist_D(v, t). It is inf where a vertex reaches the goal only by edges without a cap.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._per_answer import most_excess_below
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> most_excess_below(graph, 2, np.array([1.5, 2.0]), np.array([1.0]))
    1.5
    """
    least = _least_cost(graph, goal, low)
    reaching = np.isfinite(least)
    return float(np.max(np.maximum(_least_cost(graph, goal, caps)[reaching] - least[reaching], 0.0), initial=0.0))


def _least_cost(graph: Graph, goal: int, low: ArrayLike) -> NDArray[np.float64]:
    weights = np.ascontiguousarray(np.broadcast_to(np.asarray(low, dtype=np.float64), (graph.m,)))
    return distances_to(graph, weights, goal)
