"""Learns ρ for greedy search or A* from its own runs: raises ρ at vertices expanded in vain, lowers it on the path.

Suppose a run selects a vertex u that is not on the path it returns, while p, the next vertex of the path, waits in
OPEN: had ρ_p been below ρ_u, that expansion would have been saved. Each such pair is a comparison that went the wrong
way; raising ρ_u and lowering ρ_p is a perceptron step on it. Comparisons are counted as whole numbers, so that every
number of jobs gives the same ρ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError, InstanceError
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance, provenance
from rhostar.learners._base import Learner, Seed, generator, progress
from rhostar.learners._distances import CostsToGo
from rhostar.learners._objective import Initial, Objective, Search, initial_table, spread
from rhostar.learners._smoothing import Blur
from rhostar.learners._validation import fold_of_units
from rhostar.search import Algorithm
from rhostar.utilities import Utility

ROUNDS = tuple((step, blur) for blur in (0.0, 1.0, 2.0, 4.0) for step in (1.0, 0.4, 0.15, 0.05))
"""(step size, blur) of the rounds of ranking."""
_BATCH, _EVERY, _SCREEN = 50, 4, 200
"""Instances per iteration; iterations between two judgments; instances that judge first, always the same."""
_CLIP, _DAMPING = 20.0, 0.01
"""The largest change of a vertex, in comparisons per instance, and the initial value of Adagrad's sums of squares:
vertices that change less often than its square root per instance take smaller steps."""
_GIVE_UP = 1.5
"""A round ends at half of its iterations if its values are more than this many times as bad as the best so far."""


class SelfImitatedRanking(Learner):
    """Runs the search with the current ρ, and changes ρ to favor the path found over vertices expanded in vain.

    Each iteration runs a batch of 50 instances of the training set. For every vertex it counts how often it waited on
    the path, minus how often it was expanded in vain, divides by the size of the batch, clips, and takes an Adagrad
    step, smoothed over the graph. Steps shrink linearly to 0 within a round, and every round starts from the initial
    values. A round ends after half of its iterations if its values are then more than 50 % worse than the best so far.
    The best ρ of all is kept, the initial one included, so the result is never worse than the start on the instances
    that decide. The right step size differs widely: only large steps escape traps, but they spoil a good ρ.

    Parameters
    ----------
    initial
        The values to start from: a learner, which is cloned and fitted, or an array; None is
        :class:`MeanDistance`. If they are too coarse, so is what is learned.
    algorithm
        What to run: "gbfs" with scores ρ, or "astar" (with reopening) with scores g + ρ.
    utility
        The measure that decides which ρ is best; None is the number of expansions. With A*, use one that includes the
        cost if the paths should stay good.
    validation
        The instances that ρ is judged on; None is the training set. A number between 0 and 1/2 is a share of the
        training set: about this share of its snapshots is held out, and nothing is learned from them.
    rounds
        Pairs (step size, blur). The initial step size is in standard deviations of the initial values, so that scaling
        all weights scales ρ in the same way. The blur is how far a step spreads over the graph, in edges; 0 is not at
        all.
    iterations
        Per round.
    budget
        How many vertices a run may expand; None is 100 n, which greedy search never reaches.
    random_state
        Seeds the batches, and decides which instances judge first.
    n_jobs, verbose
        As in joblib; 1 shows progress.

    Attributes
    ----------
    initial_
        The values it started from.
    history_
        (k,) the mean utility at every judgment, the initial values first; lower is better. If there are more than 200
        instances, it is the mean over those that come first.
    best_
        The mean for the ρ that was kept, over all instances it is judged on.
    round_
        (step size, blur) of the round that found it; None if the initial values were kept.
    judged_on_
        The instances it was chosen on, a record of them.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(12, 12, neighbors=8)
    >>> blocked = np.random.default_rng(0).random((60, 12, 12)) < 0.25
    >>> blocked[:, 0, 0] = blocked[:, -1, -1] = False
    >>> instances = rs.InstanceSet.from_obstacles(
    ...     graph, blocked, 0, graph.n - 1, corner_cutting=True, infeasible="drop")
    >>> learner = rs.learners.SelfImitatedRanking(random_state=0).fit(instances)
    >>> bool(learner.best_ < learner.history_[0])
    True
    """

    consistency = "Nothing is known: ρ is learned for the order of vertices, not for costs."
    algorithm: Algorithm

    def __init__(
        self,
        initial: Initial = None,
        *,
        algorithm: Algorithm = "gbfs",
        utility: Utility | None = None,
        validation: InstanceSet | float | None = None,
        rounds: Sequence[tuple[float, float]] = ROUNDS,
        iterations: int = 100,
        budget: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.initial, self.algorithm, self.utility, self.validation = initial, algorithm, utility, validation
        self.rounds, self.iterations, self.budget = rounds, iterations, budget
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, train: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        rounds, iterations = self._checked_rounds(), arrays.integer(self.iterations, "iterations", 1)
        rng = generator(self.random_state)
        train, judged = self._parts(train, rng)
        if len(judged) == 0:
            raise InstanceError("validation must hold at least one instance")
        if judged.graph is not train.graph and judged.graph != train.graph:
            raise InputError("validation must be on the graph of the training set")
        objective = Objective(judged, self.utility, self.algorithm, True, self.budget, self.n_jobs)
        initial, seen = initial_table(self.initial, train, costs)
        best = initial
        unit = spread(initial, train)
        goal = int(train.goals[0])
        judge = _Judge(objective, best, rng)
        found_by = None
        with progress("ranking", len(rounds) * iterations, self.verbose) as advance:
            for step, width in rounds:
                blur = Blur(train.graph, width)
                rho, squares = initial.copy(), np.full(initial.size, _DAMPING)
                for i in range(iterations):
                    chosen = rng.permutation(len(train))[:_BATCH]
                    pushes = comparisons(train[chosen], rho, objective) / chosen.size
                    np.clip(pushes, -_CLIP, _CLIP, out=pushes)
                    squares += pushes * pushes
                    change = blur(pushes / np.sqrt(squares))
                    change[goal] = 0.0
                    rho -= step * unit * (1 - i / iterations) * change
                    asked = (i + 1) % _EVERY == 0
                    if (asked or i + 1 == iterations) and judge.prefers(rho):
                        best, found_by = rho.copy(), (step, width)
                    advance(f"{judge.lowest:.6g}")
                    if 2 * i >= iterations and asked and judge.history[-1] > _GIVE_UP * judge.first:
                        break
        return {
            "rho_": best,
            "initial_": initial,
            "history_": np.array(judge.history),
            "best_": judge.lowest,
            "round_": found_by,
            "judged_on_": Provenance.of(judged),
            "trained_on": provenance(train, judged, seen),
        }

    def _parts(self, train: InstanceSet, rng: np.random.Generator) -> tuple[InstanceSet, InstanceSet]:
        """Return the instances to learn from, and those to judge on."""
        given = self.validation
        if given is None or isinstance(given, InstanceSet):
            return train, train if given is None else given
        wanted = "an InstanceSet, None, or a share above 0 and at most 1/2"
        share = arrays.number(given, "validation", wanted, lambda x: 0 < x <= 0.5)
        if np.unique(train._stored_rows).size < 2:
            return train, train
        rows, fold = fold_of_units(train, round(1 / share), "snapshot", rng)
        held = fold[np.searchsorted(rows, train._stored_rows)] == 0
        return train[np.flatnonzero(~held)], train[np.flatnonzero(held)]

    def _checked_rounds(self) -> list[tuple[float, float]]:
        """Return (step size, blur) of each round."""
        try:
            given = [(size, width) for size, width in self.rounds]
        except (TypeError, ValueError):
            raise InputError(f"rounds must hold pairs (step size, blur), got {self.rounds!r}") from None
        if not given:
            raise InputError("rounds must hold at least one pair (step size, blur)")
        step, blur = (
            ("positive and finite", lambda x: 0 < x < np.inf),
            ("finite, not negative", lambda x: 0 <= x < np.inf),
        )
        return [
            (arrays.number(size, f"rounds[{k}][0]", *step), arrays.number(width, f"rounds[{k}][1]", *blur))
            for k, (size, width) in enumerate(given)
        ]


class _Judge:
    """The lowest mean so far; ρ is compared on a part of the instances first, which never decides alone."""

    def __init__(self, objective: Objective, rho: NDArray[np.float64], rng: np.random.Generator) -> None:
        self.objective, count = objective, len(objective.instances)
        self.part: slice | NDArray[np.int64] = slice(None)
        if count > _SCREEN:
            self.part = np.sort(rng.permutation(count)[:_SCREEN])
        self.first, self.lowest = np.inf, np.inf
        self.history: list[float] = []
        self.prefers(rho)

    def prefers(self, rho: NDArray[np.float64]) -> bool:
        """Return whether ρ is better than all before."""
        first = float(self.objective.values(rho, self.part).mean())
        self.history.append(first)
        if not first < self.first:
            return False
        mean = first if isinstance(self.part, slice) else self.objective.mean(rho)
        if not mean < self.lowest:
            return False
        self.first, self.lowest = first, mean
        return True


def comparisons(instances: InstanceSet, rho: NDArray[np.float64], objective: Objective) -> NDArray[np.int64]:
    """Return for each vertex how often it waited on a path, minus how often it was expanded in vain.

    The goal's count is left at 0. Runs that find no path within the budget are left out.
    """
    return np.sum(objective.map(_count, rho, instances), axis=0)


def _count(
    chunk: InstanceSet, first: int, stop: _core.Stop, *, rho: NDArray[np.float64], search: Search
) -> NDArray[np.int64]:
    instances = _core.Instances(chunk._stored, chunk._stored_rows, chunk.sources, chunk.goals)
    options = _core.SearchOptions(*search)
    found = chunk.graph._kernel.rank(instances, options, arrays.aligned(rho), None, None, stop)
    if found.ending.status is not _core.Status.DONE:
        raise failures.instance_failure(found.ending, chunk, first, rho=rho)
    return found.lower
