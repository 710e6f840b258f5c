"""Learns ρ for A* by a linear program that trades large values against inconsistency (section 5 of the paper).

The inconsistency of ρ on an instance is Δ = Σ max(ρ_v − ρ_c − w_vc, 0) over the edges (v, c) of its optimal path, the
first edge left out; the answer of A* is at most Δ above the optimum (L1). ρ = 0 has Δ = 0 and is Dijkstra's algorithm:
minimising Δ alone learns nothing. So the mean of ρ is maximised against a penalty on the mean of Δ.

Each edge of an optimal tree counts once for every path that uses it, unless it is the path's first edge. Over many
instances an edge (v, c) gives a convex, piecewise linear function of ρ_v − ρ_c, so the program is the dual of a
minimum-cost flow: n − 1 balances, for any number of instances.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import FitError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, one_of
from rhostar.learners._distances import fill

Sources = Literal["all", "seen", "own"]


class Terms(NamedTuple):
    """The mean inconsistency over instances: Σ share · max(ρ[tail] − ρ[head] − weight, 0)."""

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    weight: NDArray[np.float64]
    share: NDArray[np.float64]

    def value(self, rho: NDArray[np.float64]) -> float:
        """Return the mean inconsistency of ρ."""
        return float(self.share @ np.maximum(rho[self.tail] - rho[self.head] - self.weight, 0.0))


class InconsistencyLP(Learner):
    """Maximises mean ρ − penalty · mean inconsistency, with 0 ≤ ρ ≤ the largest cost-to-go seen and ρ = 0 at the goal.

    A large `penalty` gives answers that are nearly always optimal, a small one fewer expansions.

    Parameters
    ----------
    penalty
        λ, the cost of a unit of inconsistency, relative to a unit of the mean of ρ.
    sources
        Whose paths count: in every snapshot those from "all" vertices; those from the sources "seen" in the training
        set, each as often as it occurs; or only each instance's "own".
    bins
        The number of quantile bins that the weights of an edge over the instances are merged into (by their means),
        so that the program stays small. It is exact with None, and if no edge has more distinct weights than that.
    time_limit
        Seconds for the solver; None for no limit.
    n_jobs
        As in joblib, for the costs-to-go.

    Attributes
    ----------
    objective_
        The program's value of mean ρ − penalty · mean inconsistency.
    inconsistency_
        The mean inconsistency on the training set, computed without bins.

    Raises
    ------
    FitError
        Raised by ``fit`` if the solver runs out of time or finds no solution.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(40, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> for penalty in (0.5, 10):
    ...     learner = rs.learners.InconsistencyLP(penalty).fit(instances)
    ...     runs = rs.solve_many(instances, learner.rho_)
    ...     print(runs.expanded.mean().round(1), runs.cost.mean().round(2))
    9.8 13.41
    20.1 12.88
    """

    algorithm = "astar"
    consistency = "ρ is not consistent: its mean inconsistency on the training set is inconsistency_."

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        sources: Sources = "all",
        bins: int | None = 12,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty, self.sources, self.bins, self.time_limit = penalty, sources, bins, time_limit
        self.n_jobs = n_jobs

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        penalty = arrays.number(self.penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
        one_of(self.sources, "sources", ("all", "seen", "own"))
        bins = None if self.bins is None else arrays.integer(self.bins, "bins", 1)
        limit = self.time_limit
        if limit is not None:
            limit = arrays.number(limit, "time_limit", "positive, or None", lambda x: x > 0)
        graph, goal = instances.graph, int(instances.goals[0])
        matrix, _ = costs_to_go.matrix(instances, self.n_jobs)
        largest = np.where(np.isfinite(matrix), matrix, -1.0).max(axis=0).astype(np.float64)
        terms = inconsistency_terms(instances, self.sources, self.n_jobs)
        small = merge(graph, terms, bins)
        known = largest >= 0
        rho = solve_program(small, np.where(known, 1.0 / (graph.n - 1), 0.0), largest, goal, penalty, limit)
        learned = {
            "objective_": float(rho.sum() / (graph.n - 1) - penalty * small.value(rho)),
            "inconsistency_": terms.value(rho),
        }
        return learned | {"rho_": fill(graph, instances.weights[instances.rows[0]], rho, known)}


def inconsistency_terms(instances: InstanceSet, sources: Sources, n_jobs: int | None = None) -> Terms:
    """Return the terms of the mean inconsistency over the instances, equal ones merged."""
    graph = instances.graph
    distinct = costs_to_go.snapshots(instances)
    times = distinct.times.astype(np.float64)
    if sources == "own":
        starts = costs_to_go.own_starts(instances, distinct)
        times = np.ones_like(times)  # a snapshot has one start for each of its instances
    else:
        start = np.ones(graph.n) / (graph.n - 1)
        if sources == "seen":
            start = np.bincount(instances.sources, minlength=graph.n) / len(instances)
        starts = costs_to_go.same_starts(distinct, start)
    edge, below = costs_to_go.trees(distinct, starts, n_jobs)
    k, v = np.nonzero((edge >= 0) & (below > 0))
    e = edge[k, v]
    weight = instances.weights[distinct.instances.rows[k], e].astype(np.float64)
    return _grouped(graph, e, weight, below[k, v] * times[k] / len(instances))


def merge(graph: Graph, terms: Terms, bins: int | None) -> Terms:
    """Return the terms with at most `bins` weights for each edge: equal shares of its distinct weights, averaged."""
    if bins is None or terms.tail.size == 0:
        return terms
    edge = graph.edge_index(terms.tail, terms.head)
    first = np.flatnonzero(np.r_[True, np.diff(edge) != 0])
    size = np.diff(np.r_[first, edge.size])
    rank = np.arange(edge.size) - np.repeat(first, size)
    part = rank * np.minimum(size, bins).repeat(size) // size.repeat(size)
    begin = np.flatnonzero(np.r_[True, (np.diff(edge) != 0) | (np.diff(part) != 0)])
    share = np.add.reduceat(terms.share, begin)
    mean = np.add.reduceat(terms.share * terms.weight, begin) / share
    alone = np.diff(np.r_[begin, edge.size]) == 1
    return Terms(terms.tail[begin], terms.head[begin], np.where(alone, terms.weight[begin], mean), share)


def _grouped(graph: Graph, edge: NDArray[Any], weight: NDArray[np.float64], share: NDArray[np.float64]) -> Terms:
    """Return terms in the order of edges and weights, equal ones added up."""
    if edge.size == 0:
        none = np.zeros(0, dtype=np.int64)
        return Terms(none, none, np.zeros(0), np.zeros(0))
    order = np.lexsort((weight, edge))
    edge, weight, share = edge[order], weight[order], share[order]
    begin = np.flatnonzero(np.r_[True, (np.diff(edge) != 0) | (np.diff(weight) != 0)])
    tail, head = (end[edge[begin]].astype(np.int64) for end in (graph.tail, graph.head))
    return Terms(tail, head, weight[begin], np.add.reduceat(share, begin))


def solve_program(
    terms: Terms,
    gain: NDArray[np.float64],
    largest: NDArray[np.float64],
    goal: int,
    penalty: float,
    time_limit: float | None = None,
) -> NDArray[np.float64]:
    """Return the ρ that maximises gain·ρ − penalty · terms, with 0 ≤ ρ ≤ largest and ρ = 0 at the goal.

    Solved as a minimum-cost flow: an amount gain enters at each vertex; a term carries up to penalty · share of it
    from its tail to its head at a cost of its weight; any amount may leave at a vertex for its largest value, or enter
    for nothing. ρ is what one more unit at a vertex would cost.

    Raises
    ------
    FitError
        If the solver runs out of time or finds no solution.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n, count = gain.size, terms.tail.size
    upper = np.maximum(largest, 0.0)
    scale = float(upper.max(initial=0.0))
    if scale == 0.0:
        return np.zeros(n)
    inside = np.flatnonzero(np.arange(n) != goal)
    flow, vertex = np.arange(count), np.arange(n)
    entries = np.r_[np.ones(count), -np.ones(count), np.ones(n), -np.ones(n)]
    rows = np.r_[terms.tail, terms.head, vertex, vertex]
    columns = np.r_[flow, flow, count + vertex, count + n + vertex]
    balance = csr_array((entries, (rows, columns)), shape=(n, count + 2 * n))[inside]
    cost = np.r_[terms.weight, upper, np.zeros(n)] / scale
    most = np.r_[penalty * terms.share, np.full(2 * n, np.inf)]
    found = linprog(
        cost,
        A_eq=balance,
        b_eq=gain[inside],
        bounds=np.stack([np.zeros_like(most), most], axis=1),
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if found.status == 1:
        raise FitError(f"the linear program was not solved within time_limit = {time_limit} seconds: {found.message}")
    if found.status != 0:
        raise FitError(f"the linear program was not solved: {found.message}")
    rho = np.zeros(n)
    rho[inside] = found.eqlin.marginals * scale
    return np.clip(rho, 0.0, upper)
