"""Online learning of ρ for A*: the inconsistency of an instance is convex in ρ (the paper, after Theorem 6).

In round i some ρ is played, then instance i is seen and costs f_i(ρ) = penalty · Δ_i(ρ) − mean ρ. Δ_i is the
inconsistency along the optimal path from each vertex, except its first edge, on average over the vertices; the answer
of A* is at most the Δ of its own path above the optimum. Without the mean of ρ, ρ = 0 would be best. The next ρ is a
step of AdaGrad within the box 0 ≤ ρ ≤ D. The regret against the best fixed ρ of the box is at most

    Σ_v (D_v² / (2 · step_v) + step_v) · sqrt(G_v),

where G_v is the sum of the squared slopes of v (Duchi, Hazan and Singer 2011, Theorem 5, for each vertex). It grows
with the square root of the number of rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError
from rhostar.instances import InstanceSet


@dataclass(frozen=True, eq=False)
class OnlineRun:
    """What was played in each round, and what it cost; made by :func:`online_inconsistency`."""

    rho: NDArray[np.float64]
    """The mean of all ρ that were played: on average over new instances it costs no more than they did."""
    last: NDArray[np.float64]
    """The ρ that would be played next."""
    losses: NDArray[np.float64]
    """f_i(ρ) of each round, for the ρ that was played in it."""
    high: NDArray[np.float64]
    """D: the largest value that each vertex may have; 0 at the goal."""
    penalty: float
    """The cost of a unit of inconsistency, relative to a unit of the mean of ρ."""
    regret_bound: float
    """The regret is at most this."""

    def regret(self, instances: InstanceSet) -> float:
        """Return how much more the ρ that were played cost, in total, than the best single ρ in hindsight.

        Parameters
        ----------
        instances
            The first instances of those that it was made from, in the same order: all of them, or fewer.

        Returns
        -------
        float
            The best ρ of the box is found by a linear program, in which every term of every round is a variable.

        Raises
        ------
        InputError
            If there are more instances than rounds.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack, identity

        count = len(instances)
        if not 1 <= count <= self.losses.size:
            raise InputError(f"instances must be the first of {self.losses.size} rounds, got {count}")
        rounds = list(_rounds(instances, self.penalty))
        tail, head, weight, share = (np.concatenate(column) for column in zip(*rounds, strict=True))
        n, terms = instances.graph.n, np.arange(tail.size)
        rise = csr_array((np.ones(tail.size), (terms, tail)), shape=(tail.size, n))
        rise -= csr_array((np.ones(tail.size), (terms, head)), shape=(tail.size, n))
        found = linprog(
            np.concatenate([-count * _gain(self.high), share]),
            A_ub=hstack([rise, -identity(tail.size)]).tocsr() if tail.size else None,
            b_ub=weight if tail.size else None,
            bounds=[*((0.0, most) for most in self.high.tolist()), *((0.0, None) for _ in terms)],
        )
        return float(self.losses[:count].sum() - found.fun)


def online_inconsistency(
    instances: InstanceSet, high: ArrayLike, *, penalty: float = 1.0, step_size: float | None = None
) -> OnlineRun:
    """Learn ρ from a stream of instances, one after the other, by online convex optimization.

    Parameters
    ----------
    instances
        The stream, in its order, with one goal.
    high
        D, fixed beforehand: no value of ρ exceeds it; a number, or one for each vertex. A bound on the costs-to-go is
        a good choice.
    penalty
        λ, the cost of a unit of inconsistency, relative to a unit of the mean of ρ.
    step_size
        The length of a first step, in the unit of the weights; None is D / √2, for which the bound is smallest.

    Returns
    -------
    OnlineRun

    Raises
    ------
    InputError
        If there is no instance, there are several goals, or a parameter is not accepted.

    See Also
    --------
    rhostar.learners.InconsistencyLP : finds the best ρ for a set as a whole.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(200, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> run = rs.theory.online_inconsistency(instances, high=24.0, penalty=3.0, step_size=1.0)
    >>> [round(run.regret(instances[:rounds]) / rounds, 1) for rounds in (10, 50, 200)]
    [4.8, 2.0, 0.8]
    >>> bool(run.regret(instances) < run.regret_bound)
    True
    """
    if not isinstance(instances, InstanceSet) or len(instances) == 0 or not isinstance(instances.goal, int):
        raise InputError(f"instances must be an InstanceSet with one goal, and not empty, got {instances!r}")
    penalty = arrays.number(penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
    n = instances.graph.n
    most = arrays.per_vertex(np.broadcast_to(np.asarray(high, dtype=np.float64), n).copy(), "high", n).copy()
    if (most < 0).any():
        raise InputError(f"high must not be negative, got {most.min()} at vertex {int(most.argmin())}")
    most[instances.goal] = 0.0
    step = most / np.sqrt(2.0)
    if step_size is not None:
        accepted = arrays.number(step_size, "step_size", "positive and finite", lambda x: 0 < x < np.inf)
        step = np.where(most > 0, accepted, 0.0)
    gain = _gain(most)
    rho, total, squares, losses = np.zeros(n), np.zeros(n), np.zeros(n), []
    for tail, head, weight, share in _rounds(instances, penalty):
        rest = rho[tail] - rho[head] - weight
        losses.append(float(share @ np.maximum(rest, 0.0) - gain @ rho))
        total += rho
        active = share * (rest > 0)
        slope = np.bincount(tail, active, n) - np.bincount(head, active, n) - gain
        squares += slope * slope
        move = np.divide(slope, np.sqrt(squares), out=np.zeros(n), where=squares > 0)
        rho = np.clip(rho - step * move, 0.0, most)
    width = np.divide(most * most, 2 * step, out=np.zeros(n), where=step > 0) + step
    bound = float(width @ np.sqrt(squares))
    return OnlineRun(total / len(losses), rho, np.array(losses), most, penalty, bound)


class _Round(NamedTuple):
    """penalty · Δ of one instance: Σ share · max(ρ[tail] − ρ[head] − weight, 0)."""

    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    weight: NDArray[np.float64]
    share: NDArray[np.float64]


def _rounds(instances: InstanceSet, penalty: float) -> Iterator[_Round]:
    """Yield the terms of each instance."""
    graph, goal = instances.graph, int(instances.goals[0])
    none, everywhere = np.zeros(1, dtype=np.int64), np.full(1, graph.n)
    starts = np.arange(graph.n, dtype=np.int32), np.full(graph.n, 1.0 / (graph.n - 1))
    edge, below = np.empty((1, graph.n), dtype=np.int32), np.empty((1, graph.n))
    for row in instances._stored_rows:
        rows = np.array([row], dtype=np.int64)
        ending = graph._kernel.label_trees(instances._stored, rows, goal, none, everywhere, *starts, edge, below, None)
        if ending.status is not _core.Status.DONE:
            raise failures.snapshot_failure(ending, instances, rows)
        used = (edge[0] >= 0) & (below[0] > 0)
        e = edge[0, used]
        yield _Round(
            graph.tail[e], graph.head[e], instances._stored[row][e].astype(np.float64), penalty * below[0, used]
        )


def _gain(high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slope of the mean of ρ over all vertices but the goal; where ρ must be 0 it does not matter."""
    return np.where(high > 0, 1.0 / (high.size - 1), 0.0)
