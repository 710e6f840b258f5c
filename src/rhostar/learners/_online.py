"""Learns the ρ of ``_inconsistency.py`` from a stream of instances, by online convex optimisation.

In round i some ρ is played, then instance i is seen and costs f_i(ρ) = penalty · Δ_i(ρ) − mean ρ, which is convex
(the paper points to this after Theorem 6). Steps are those of AdaGrad within the box 0 ≤ ρ ≤ the largest cost-to-go
seen so far: each vertex has its own step length, which falls with the sum of its squared slopes.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError
from rhostar.families import FullTable
from rhostar.instances import InstanceSet, provenance
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, one_of
from rhostar.learners._distances import fill
from rhostar.learners._inconsistency import Sources, inconsistency_terms, solve_program
from rhostar.learners._progress import progress

_BLOCK = 2**23
"""Costs-to-go kept at once."""


class OnlineInconsistency(Learner):
    """Learns from a stream of instances what :class:`InconsistencyLP` learns from a set.

    Parameters
    ----------
    penalty
        λ, the cost of a unit of inconsistency, relative to a unit of the mean of ρ.
    sources
        Whose paths count in a round: those from "all" vertices, or only the instance's "own".
    step_size
        Length of the steps, as a share of the box of each vertex.
    average
        Whether ``rho_`` is the mean of all ρ played, which is what the regret is about, or the last one.
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

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(400, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> learner = rs.learners.OnlineInconsistency(penalty=3).partial_fit(instances[:200])
    >>> learner.partial_fit(instances[200:]).rounds_
    400
    >>> bool(learner.regret(instances) / 400 < 0.1 * learner.rho_.mean())
    True
    """

    algorithm = "astar"
    consistency = "ρ is not consistent; its inconsistency on the training set is traded against its size."

    losses_: NDArray[np.float64]
    last_: NDArray[np.float64]
    rounds_: int

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        sources: Sources = "all",
        step_size: float = 0.2,
        average: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.penalty, self.sources, self.step_size, self.average = penalty, sources, step_size, average
        self.n_jobs, self.verbose = n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        n = instances.graph.n
        zeros = {name: np.zeros(n) for name in ("last_", "total_", "squares_")}
        return self._advance(instances, zeros | {"largest_": np.full(n, -1.0), "losses_": np.zeros(0)})

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
            If there are no instances, or their vertices or goal differ from those before.
        InputError
            If a parameter is not accepted.
        """
        if not hasattr(self, "rho_"):
            return self.fit(instances)
        self._check_instances(instances)
        if instances.goal != self.goal_ or instances.graph.n != self.last_.size:
            raise InstanceError(
                f"instances must continue with {self.last_.size} vertices and goal {self.goal_}, "
                f"got {instances.graph.n} and {instances.goal}"
            )
        state = {name: getattr(self, name) for name in ("last_", "total_", "squares_", "largest_", "losses_")}
        learned = self._advance(instances, state)
        learned |= {"trained_on_": provenance(self.trained_on_, instances), "family_": FullTable()}
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    def _advance(self, instances: InstanceSet, state: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
        penalty = arrays.number(self.penalty, "penalty", "finite and not negative", lambda x: 0 <= x < np.inf)
        step = arrays.number(self.step_size, "step_size", "positive and finite", lambda x: 0 < x < np.inf)
        one_of(self.sources, "sources", ("all", "own"))
        graph, goal = instances.graph, int(instances.goals[0])
        n = graph.n
        last, total, squares, largest = (state[name].copy() for name in ("last_", "total_", "squares_", "largest_"))
        losses = []
        size = max(1, _BLOCK // n)
        with progress("online", len(instances), self.verbose) as advance:
            for begin in range(0, len(instances), size):
                block = instances[begin : begin + size]
                distinct = costs_to_go.snapshots(block)
                distances, _ = costs_to_go.matrix(block, self.n_jobs)
                for i in range(len(block)):
                    seen = distances[distinct.of[i]]
                    largest = np.maximum(largest, np.where(np.isfinite(seen), seen, -1.0))
                    terms = inconsistency_terms(block[i : i + 1], self.sources)
                    rest = last[terms.tail] - last[terms.head] - terms.weight
                    losses.append(float(penalty * (terms.share @ np.maximum(rest, 0.0)) - last.sum() / (n - 1)))
                    total += last
                    active = penalty * terms.share * (rest > 0)
                    held = np.bincount(terms.tail, active, n) - np.bincount(terms.head, active, n)
                    slope = held - (largest >= 0) / (n - 1)
                    slope[goal] = 0.0
                    squares += slope * slope
                    box = np.maximum(largest, 0.0)
                    move = np.divide(slope, np.sqrt(squares), out=np.zeros(n), where=squares > 0)
                    last = np.clip(last - step * box * move, 0.0, box)
                    advance(f"mean loss {np.mean(losses):.4g}")
        all_losses = np.r_[state["losses_"], losses]
        table = total / all_losses.size if self.average else last.copy()
        return {
            "last_": last,
            "total_": total,
            "squares_": squares,
            "largest_": largest,
            "losses_": all_losses,
            "rounds_": all_losses.size,
            "rho_": fill(graph, instances.weights[instances.rows[0]], table, largest >= 0),
        }

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

        Raises
        ------
        InputError
            If the number of instances differs from the number of rounds.
        """
        losses = self._fitted("losses_")
        if len(instances) != losses.size:
            raise InputError(f"instances must be the {losses.size} that this was fitted on, got {len(instances)}")
        count = losses.size if rounds is None else arrays.integer(rounds, "rounds", 1, losses.size)
        part = instances[:count]
        matrix, _ = costs_to_go.matrix(part, self.n_jobs)
        largest = np.where(np.isfinite(matrix), matrix, -1.0).max(axis=0).astype(np.float64)
        terms = inconsistency_terms(part, self.sources, self.n_jobs)
        gain = (largest >= 0) / (instances.graph.n - 1)
        best = solve_program(terms, gain, largest, self.goal_, self.penalty)
        least = self.penalty * terms.value(best) - gain @ best
        return float(losses[:count].sum() - count * least)
