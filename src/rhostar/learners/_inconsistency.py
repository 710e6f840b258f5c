"""Learns ρ for A* by a linear program that trades large values against inconsistency (section 5 of the paper).

The inconsistency of ρ on an instance is Δ = Σ max(ρ_v − ρ_c − w_vc, 0) over the edges (v, c) of its optimal path,
except the first edge; the answer of A* is at most Δ above the optimum (L1). ρ = 0 has Δ = 0 and is Dijkstra's
algorithm: minimizing Δ alone learns nothing. So the mean of ρ is maximized against a penalty on the mean of Δ.

Each edge of an optimal tree counts once for every path that uses it, unless it is the path's first edge. Over many
instances an edge (v, c) gives a convex, piecewise linear function of ρ_v − ρ_c, so the program is the dual of a
minimum-cost flow: n − 1 balances, for any number of instances. ``src/core/learning/flow.hpp`` solves it.

The paths from all vertices count, not only those from the sources of the training set. With few paths, ρ is constrained
only at few vertices; on new instances such values were worse than the mean of the costs-to-go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import FitError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner
from rhostar.learners._distances import fill, matrix, same_starts, snapshots, trees


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
    """Maximizes mean ρ − penalty · mean inconsistency, with 0 ≤ ρ ≤ the largest cost-to-go seen and ρ = 0 at the goal.

    A large `penalty` gives answers that are nearly always optimal, a small one fewer expansions. Its time grows faster
    than the number of vertices: on grids about as n to the power 1.6 (``make bench-learners``). The largest graph that
    was tried has 40,000 vertices.

    Parameters
    ----------
    penalty
        λ, the cost of a unit of inconsistency, relative to a unit of the mean of ρ.
    bins
        The number of quantile bins that the weights of an edge over the instances are merged into (by their means),
        so that the program stays small. It is exact with None, and if no edge has more distinct weights than that.
        With 40,000 vertices and 200 snapshots, 12 bins take a third of the time of None.
    time_limit
        Seconds for the solver; None for no limit.
    n_jobs
        As in joblib, for the costs-to-go.

    Attributes
    ----------
    objective_
        Mean ρ − penalty · mean inconsistency on the training set, computed without bins.
    gap_
        No ρ has an objective above ``objective_ + gap_``. The gap comes from the bins and from the integers that the
        solver uses.
    inconsistency_
        The mean inconsistency on the training set, computed without bins. A path from every vertex counts, in every
        snapshot.

    Raises
    ------
    FitError
        Raised by ``fit`` if the solver runs out of time.

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
    20.0 12.88
    """

    algorithm = "astar"
    consistency = "ρ is not consistent: its mean inconsistency on the training set is inconsistency_."

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        bins: int | None = 12,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty, self.bins, self.time_limit, self.n_jobs = penalty, bins, time_limit, n_jobs

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        penalty = arrays.number(self.penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
        bins = None if self.bins is None else arrays.integer(self.bins, "bins", 1)
        limit = self.time_limit
        if limit is not None:
            limit = arrays.number(limit, "time_limit", "positive, or None", lambda x: x > 0)
        graph, goal = instances.graph, int(instances.goals[0])
        costs, _ = matrix(instances, self.n_jobs)
        largest = np.where(np.isfinite(costs), costs, -1.0).max(axis=0).astype(np.float64)
        terms = inconsistency_terms(instances, self.n_jobs)
        small = merge(graph, terms, bins)
        known = largest >= 0
        gain = np.where(known, 1.0 / (graph.n - 1), 0.0)
        rho, rounding = solve_program(small, gain, largest, goal, penalty, limit)
        inconsistency = terms.value(rho)
        # Merged weights only lower the inconsistency of any ρ (Jensen), so the merged program bounds the whole one.
        merged = max(penalty * (inconsistency - small.value(rho)), 0.0)
        learned = {
            "objective_": float(gain @ rho - penalty * inconsistency),
            "gap_": merged + rounding,
            "inconsistency_": inconsistency,
        }
        return learned | {"rho_": fill(graph, instances._stored[instances._stored_rows[0]], rho, known)}


def inconsistency_terms(instances: InstanceSet, n_jobs: int | None = None) -> Terms:
    """Return the terms of the mean inconsistency over the instances and all starts, equal ones merged."""
    graph = instances.graph
    distinct = snapshots(instances)
    starts = same_starts(distinct, np.ones(graph.n) / (graph.n - 1))
    edge, below = trees(distinct, starts, n_jobs)
    k, v = np.nonzero((edge >= 0) & (below > 0))
    e = edge[k, v]
    weight = instances._stored[distinct.instances._stored_rows[k], e].astype(np.float64)
    return _grouped(graph, e, weight, below[k, v] * distinct.times[k] / len(instances))


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


class Solution(NamedTuple):
    """What :func:`solve_program` found."""

    rho: NDArray[np.float64]
    rounding: float
    """No ρ has an objective that is larger than that of this one by more: the solver takes integers."""


def solve_program(
    terms: Terms,
    gain: NDArray[np.float64],
    largest: NDArray[np.float64],
    goal: int,
    penalty: float,
    time_limit: float | None = None,
) -> Solution:
    """Return the ρ that maximizes gain·ρ − penalty · terms, with 0 ≤ ρ ≤ largest and ρ = 0 at the goal.

    A minimum-cost flow (src/core/learning/flow.hpp): an amount gain enters at each vertex; a term carries up to
    penalty · share of it from its tail to its head at a cost of its weight; any amount may leave at a vertex for its
    largest value, or enter for nothing. ρ is what one more unit at a vertex would cost. Amounts and costs are rounded
    to integers of about 50 bits. The terms are in the order of their edges, and of the weights of each edge.

    Raises
    ------
    FitError
        If the solver runs out of time.
    """
    n = gain.size
    upper = np.maximum(largest, 0.0)
    upper[goal] = 0.0
    total = float(gain.sum())
    if upper.max(initial=0.0) == 0.0 or total == 0.0:
        return Solution(np.zeros(n), 0.0)
    # A path of the tree has at most n edges, so that costs below 2^61 / n cannot overflow.
    cost_bits = min(50, 60 - n.bit_length())
    unit_cost = _power_of_two(max(float(upper.max()), float(terms.weight.max(initial=0.0)))) * 2.0**-cost_bits
    # More than twice the gain never needs to flow through an edge. All that may meet at one vertex must not overflow.
    amount = np.minimum(penalty * terms.share, 2.0 * total)
    meeting = np.bincount(terms.tail, amount, n) + np.bincount(terms.head, amount, n)
    unit = _power_of_two(total) * 2.0**-52
    unit = max(unit, _power_of_two(total + float(meeting.max())) * 2.0**-60)
    room = np.rint(amount / unit).astype(np.int64)
    kept = room > 0
    tail, head = terms.tail[kept], terms.head[kept]
    begin = np.flatnonzero(np.r_[True, (np.diff(tail) != 0) | (np.diff(head) != 0)][: tail.size])
    found = _core.solve_flow(
        tail[begin].astype(np.int32),
        head[begin].astype(np.int32),
        np.r_[begin, tail.size].astype(np.int64),
        np.rint(terms.weight[kept] / unit_cost).astype(np.int64),
        room[kept],
        np.rint(gain / unit).astype(np.int64),
        np.rint(upper / unit_cost).astype(np.int64),
        upper,
        goal,
        np.inf if time_limit is None else time_limit,
        None,
    )
    if found.ending.status is _core.Status.LIMIT:
        raise FitError(f"the linear program was not solved within time_limit = {time_limit} seconds")
    failures.require_done(found.ending)
    rho = np.clip(found.potential * unit_cost, 0.0, upper)
    # Each cost and each amount is off by half a unit at most, and both optima by the sum of the effects.
    by_cost = unit_cost * (penalty * float(terms.share.sum()) + total)
    by_amount = unit * float(upper.sum() + np.maximum(upper[terms.tail] - terms.weight, 0.0).sum())
    return Solution(rho, by_cost + by_amount)


def _power_of_two(value: float) -> float:
    """Return the least power of two that is at least a positive value."""
    return float(2.0 ** np.ceil(np.log2(value)))
