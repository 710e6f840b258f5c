"""Learns the ρ of ``_inconsistency.py`` from a stream of instances, by online convex optimization.

In round i some ρ is played, then instance i is seen and costs f_i(ρ) = penalty · Δ_i(ρ) − mean ρ, which is convex
(the paper points to this after Theorem 6). A vertex starts with its cost-to-go in the first instance that reaches the
goal from it; then come the steps of AdaGrad, within 0 ≤ ρ_v ≤ D_v = ``reach`` · that first cost-to-go. A step is
measured in edges (the cost of the first edge of the way, s_v) and not in D_v: neighbors move differently, and steps on
the scale of a long way would tear them apart, the more so the larger the graph.

The regret against the best fixed ρ in that box is at most

    Σ_v ((D_v² / (2 · step · s_v) + step · s_v) · sqrt(G_v) + D_v · |slope of v in its first round|),

where G_v is the sum of the squared slopes of v (Duchi, Hazan and Singer 2011, Theorem 5, for each vertex). It grows
with the square root of the number of rounds.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet, provenance
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner
from rhostar.learners._distances import fill
from rhostar.learners._inconsistency import inconsistency_terms, solve_program
from rhostar.learners._progress import progress
from rhostar.search import solve_many

_BLOCK = 2**23
"""Costs-to-go kept at once."""

_ARRAYS = ("last_", "total_", "squares_", "box_", "edge_", "opening_", "sum_", "seen_", "losses_", "trials_")
_RIVALS = ("online", "mean", "zero")


class OnlineInconsistency(Learner):
    """Learns from a stream of instances what :class:`InconsistencyLP` learns from a set.

    Before it learns from an instance, it runs A* on it with what it has so far, with the mean of the costs-to-go seen
    so far, and with ρ = 0. Of these three, ``rho_`` is the one with the least total of f_i among those that needed no
    more expansions in total than ρ = 0. (Values that look good to f may send A* back to closed vertices so often that
    Dijkstra's algorithm is quicker.) These runs make its time grow faster than the number of vertices, on grids about
    as n to the power 1.8 (``make bench-learners``); 25,600 vertices are the largest that were measured.

    Parameters
    ----------
    penalty
        λ, the cost of a unit of inconsistency, relative to a unit of the mean of ρ.
    step_size
        Length of the steps, in edges.
    reach
        ρ stays below this many times the first cost-to-go.
    average
        Whether ``rho_`` comes from the mean of all ρ played, which is what the regret is about, or from the last one.
    n_jobs
        As in joblib, for the costs-to-go; the rounds themselves run one after the other.
    verbose
        1 shows progress.

    Attributes
    ----------
    losses_
        f_i(ρ) of each round, for the ρ that was played in it.
    last_
        The ρ that would be played next.
    rounds_
        How many there were.
    chosen_
        What ``rho_`` is: "online", "mean" or "zero".
    trials_
        (3, 2) the expansions and f_i of these three, in total, on instances not yet learned from.
    regret_bound_
        The regret is at most this (the formula is at the top of the module).

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(400, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> learner = rs.learners.OnlineInconsistency(penalty=3).partial_fit(instances[:200])
    >>> learner.partial_fit(instances[200:]).rounds_
    400
    >>> learner.chosen_, bool(learner.regret(instances) < learner.regret_bound_)
    ('online', True)
    """

    algorithm = "astar"
    consistency = "ρ is not consistent; its inconsistency on the training set is traded against its size."

    losses_: NDArray[np.float64]
    last_: NDArray[np.float64]
    rounds_: int
    chosen_: Literal["online", "mean", "zero"]
    trials_: NDArray[np.float64]
    regret_bound_: float

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        step_size: float = 0.5,
        reach: float = 2.0,
        average: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.penalty, self.step_size, self.reach, self.average = penalty, step_size, reach, average
        self.n_jobs, self.verbose = n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        state = {name: np.zeros(instances.graph.n) for name in _ARRAYS[:-2]}
        return self._advance(instances, state | {"losses_": np.zeros(0), "trials_": np.zeros((3, 2))})

    def partial_fit(self, instances: InstanceSet, y: object = None) -> Self:
        """Continue with further instances, in their order; the first call starts a new fit.

        Parameters
        ----------
        instances
            More instances, on the graph and with the goal of the calls before.
        y
            Not used; scikit-learn passes it.

        Returns
        -------
        OnlineInconsistency
            Itself.

        Raises
        ------
        InstanceError
            If there are no instances, or their graph or goal differs from the one before.
        InputError
            If a parameter is not accepted.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(instances)
        self._check_instances(instances)
        (goal,) = self.heuristic_.goals or ()
        if instances.goal != goal or instances.graph.n != self.last_.size:
            raise InstanceError(
                f"instances must continue with {self.last_.size} vertices and goal {goal}, "
                f"got {instances.graph.n} and {instances.goal}"
            )
        if instances.graph.fingerprint != self.heuristic_.fingerprint:
            raise InstanceError("instances must continue on the graph of the calls before; this one has other edges")
        learned = self._advance(instances, {name: getattr(self, name) for name in _ARRAYS})
        return self._keep(instances, learned | {"trained_on": provenance(self._seen, instances)})

    def _advance(self, instances: InstanceSet, before: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
        penalty = arrays.number(self.penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
        step = arrays.number(self.step_size, "step_size", "positive and finite", lambda x: 0 < x < np.inf)
        reach = arrays.number(self.reach, "reach", "at least 1 and finite", lambda x: 1 <= x < np.inf)
        graph, goal = instances.graph, int(instances.goals[0])
        n = graph.n
        state = {name: value.copy() for name, value in before.items()}
        last, total, squares, box, edge, opening, summed, seen, losses, trials = (state[name] for name in _ARRAYS)
        rounds = list(losses)
        size = max(1, _BLOCK // n)
        with progress("online", len(instances), self.verbose) as advance:
            for begin in range(0, len(instances), size):
                block = instances[begin : begin + size]
                distinct = costs_to_go.snapshots(block)
                distances, _ = costs_to_go.matrix(block, self.n_jobs)
                for i in range(len(block)):
                    one = block[i : i + 1]
                    terms = inconsistency_terms(one)
                    if rounds:  # nothing is known before the first
                        for k, rho in enumerate(self._tables(one, last, total / len(rounds), summed, seen)):
                            runs = solve_many(one, rho, budget=100 * n, n_jobs=1)
                            trials[k] += runs.expanded[0], penalty * terms.value(rho) - rho.sum() / (n - 1)
                    distance = distances[distinct.of[i]].astype(np.float64)
                    reached = np.isfinite(distance)
                    rest = last[terms.tail] - last[terms.head] - terms.weight
                    rounds.append(float(penalty * (terms.share @ np.maximum(rest, 0.0)) - last.sum() / (n - 1)))
                    total += last
                    active = penalty * terms.share * (rest > 0)
                    held = np.bincount(terms.tail, active, n) - np.bincount(terms.head, active, n)
                    first = reached & (seen == 0)
                    known = reached | (seen > 0)
                    slope = held - known / (n - 1)
                    slope[goal] = 0.0
                    squares += np.where(first, 0.0, slope * slope)
                    move = np.divide(slope, np.sqrt(squares), out=np.zeros(n), where=(squares > 0) & ~first)
                    last = np.clip(last - step * edge * move, 0.0, box)
                    last[first] = distance[first]
                    box[first] = reach * distance[first]
                    opening[first] = np.abs(slope[first])
                    if first.any():
                        edge[first] = _first_edges(one, self.n_jobs)[first]
                    summed += np.where(reached, distance, 0.0)
                    seen += reached
                    advance(f"mean loss {np.mean(rounds):.4g}")
        state |= {"last_": last, "losses_": np.array(rounds)}
        tables = self._tables(instances[:1], last, total / len(rounds), summed, seen)
        chosen = _choice(trials)
        width = np.divide(box * box, 2 * step * edge, out=np.zeros(n), where=edge > 0) + step * edge
        return state | {
            "rounds_": len(rounds),
            "chosen_": _RIVALS[chosen],
            "regret_bound_": float((width * np.sqrt(squares) + box * opening).sum()),
            "rho_": tables[chosen],
        }

    def _tables(
        self,
        instances: InstanceSet,
        last: NDArray[np.float64],
        mean: NDArray[np.float64],
        summed: NDArray[np.float64],
        seen: NDArray[np.float64],
    ) -> list[NDArray[np.float64]]:
        """Return the three rivals: the table learned so far, the mean of the costs-to-go, zeros."""
        weights = instances._stored[instances._stored_rows[0]]
        known = seen > 0
        known[int(instances.goals[0])] = True
        distance = np.divide(summed, seen, out=np.zeros(seen.size), where=seen > 0)
        own = fill(instances.graph, weights, mean if self.average else last.copy(), known)
        return [own, fill(instances.graph, weights, distance, known), np.zeros(seen.size)]

    def regret(self, instances: InstanceSet, rounds: int | None = None) -> float:
        """Return how much more the ρ that were played cost, in total, than the best single ρ in hindsight.

        Parameters
        ----------
        instances
            The instances that it was fitted on, in the same order.
        rounds
            Only the first rounds; None for all.

        Returns
        -------
        float
            The best ρ is sought in the box in which the steps were taken.

        Raises
        ------
        InputError
            If the number of instances differs from the number of rounds.
        """
        self._fitted()
        losses = self.losses_
        if len(instances) != losses.size:
            raise InputError(f"instances must be the {losses.size} that this was fitted on, got {len(instances)}")
        count = losses.size if rounds is None else arrays.integer(rounds, "rounds", 1, losses.size)
        part = instances[:count]
        terms = inconsistency_terms(part, self.n_jobs)
        known = self.seen_ > 0
        if count < losses.size:
            matrix, _ = costs_to_go.matrix(part, self.n_jobs)
            known = np.isfinite(matrix).any(axis=0)
        gain = np.where(known, 1 / (instances.graph.n - 1), 0.0)
        best = solve_program(terms, gain, np.where(known, self.box_, -1.0), int(instances.goals[0]), self.penalty).rho
        least = self.penalty * terms.value(best) - gain @ best
        return float(losses[:count].sum() - count * least)


def _choice(trials: NDArray[np.float64]) -> int:
    """Return which of the rivals to hand out."""
    expanded, loss = trials.T
    return int(np.argmin(np.where(expanded <= expanded[2], loss, np.inf)))


def _first_edges(instance: InstanceSet, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the weight of the first edge of the optimal path from each vertex; the mean of all where it is 0."""
    distinct = costs_to_go.snapshots(instance)
    n = instance.graph.n
    leaving = costs_to_go.trees(distinct, costs_to_go.same_starts(distinct, np.zeros(n)), n_jobs)[0][0]
    found = np.where(leaving >= 0, instance._stored[instance._stored_rows[0]][leaving], 0.0).astype(np.float64)
    positive = found[found > 0]
    return np.where(found > 0, found, positive.mean() if positive.size else 0.0)
