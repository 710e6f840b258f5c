"""Learns ρ for greedy search or A* from its own runs: raises ρ at vertices expanded in vain, lowers it on the path.

Suppose a run selects a vertex u that is not on the path it returns, while p, the next vertex of the path, waits in
OPEN: had ρ_p been below ρ_u, that expansion would have been saved. Each such pair is a comparison that went the wrong
way; raising ρ_u and lowering ρ_p is a perceptron step on it. Comparisons are counted as whole numbers, so that every
number of jobs gives the same ρ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError, StoppedError
from rhostar.instances import InstanceSet, Provenance, provenance
from rhostar.learners._base import Learner, Seed, generator
from rhostar.learners._choosing import Split
from rhostar.learners._objective import Blur, Initial, Objective, Search, initial_table, spread
from rhostar.learners._progress import progress
from rhostar.learners._wrappers import hold_out
from rhostar.search import Algorithm
from rhostar.utilities import Utility


class SelfImitatedRanking(Learner):
    """Runs the search with its current ρ, and makes it prefer the path it found to the vertices it expanded in vain.

    Each iteration runs a batch of the training set. For every vertex it counts how often it waited on the path, minus
    how often it was expanded in vain, divides by the size of the batch, clips, and takes an Adagrad step, smoothed over
    the graph. Steps shrink linearly to 0 within a round. There is one round for each initial step size and each width
    of the smoothing; every round starts from the initial values. The best ρ of all is kept, the initial one included,
    so the result is never worse than the start on the instances that decide. The right step size differs widely: only
    large steps escape traps, but they spoil a good ρ.

    Parameters
    ----------
    initial
        The values to start from: a learner, which is cloned and fitted, or an array; None is
        :class:`MeanDistance`. If they are too coarse, so is what is learned; :class:`BestOf` chooses among several.
    algorithm
        What to run: "gbfs" with scores ρ, or "astar" with scores g + ρ.
    reopen
        Whether A* reopens closed vertices.
    utility
        The measure that decides which ρ is best; None is the number of expansions. With A*, use one that includes the
        cost if the paths should stay good.
    validation
        The instances that ρ is judged on: None is the training set, a number is the share of it that is held out,
        or pass a set of instances.
    split
        What stays on one side when a share is held out: all instances of a "snapshot", or of a "day" (see
        :attr:`InstanceSet.days`).
    step_sizes
        Initial step size of a round, one or several, in standard deviations of the initial values, so that scaling all
        weights scales ρ in the same way.
    blurs
        How far a step spreads over the graph, one or several, in edges; 0 is not at all.
    rounds
        The rounds as pairs (step size, blur), in this order; None is every step size with every blur.
    iterations
        Per round.
    batch
        Instances per iteration.
    clip
        Largest change of a vertex, in comparisons per instance.
    damping
        Initial value of Adagrad's sums of squares: vertices that change less often than its square root per instance
        take smaller steps.
    every
        How many iterations there are between two judgements.
    give_up
        A round ends at half of its iterations if its values are more than this many times as bad as the best so far;
        None never ends one early.
    screen_size
        New values are judged on this many instances first, always the same, and on the others only if they beat the
        best values there; None judges on all at once.
    budget
        How many vertices a run may expand; None is 100 n, which greedy search never reaches.
    time_limit
        No further iteration is started after this many seconds; None for no limit.
    random_state
        Seeds the batches, and decides which instances are held out or come first.
    n_jobs, verbose
        As in joblib; 1 shows progress.

    Attributes
    ----------
    initial_
        The values it started from.
    history_
        (k,) the mean utility at every judgement, the initial values first; lower is better. If there are more instances
        than `screen_size`, it is the mean over those that come first.
    best_
        The mean for the ρ that was kept, over all instances it is judged on.
    round_
        (step size, blur) of the round that found it; None if the initial values were kept.
    judged_on_
        The instances it was chosen on, a :class:`rhostar.families.Provenance`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(12, 12, neighbours=8)
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
        reopen: bool = True,
        utility: Utility | None = None,
        validation: float | InstanceSet | None = None,
        split: Split = "snapshot",
        step_sizes: float | Sequence[float] = (1.0, 0.4, 0.15, 0.05),
        blurs: float | Sequence[float] = (0.0, 1.0, 2.0, 4.0),
        rounds: Sequence[tuple[float, float]] | None = None,
        iterations: int = 100,
        batch: int = 50,
        clip: float = 20.0,
        damping: float = 0.01,
        every: int = 4,
        give_up: float | None = None,
        screen_size: int | None = 200,
        budget: int | None = None,
        time_limit: float | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.initial, self.algorithm, self.reopen, self.utility = initial, algorithm, reopen, utility
        self.validation, self.split = validation, split
        self.step_sizes, self.iterations, self.batch = step_sizes, iterations, batch
        self.blurs, self.rounds, self.clip, self.damping, self.every = blurs, rounds, clip, damping, every
        self.give_up, self.screen_size, self.budget, self.time_limit = give_up, screen_size, budget, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        rounds = self._rounds()
        iterations, every = arrays.integer(self.iterations, "iterations", 1), arrays.integer(self.every, "every", 1)
        batch = arrays.integer(self.batch, "batch", 1)
        screen = None if self.screen_size is None else arrays.integer(self.screen_size, "screen_size", 1)
        clip, damping = (
            arrays.number(value, name, "positive and finite", lambda x: 0 < x < np.inf)
            for value, name in ((self.clip, "clip"), (self.damping, "damping"))
        )
        seconds = np.inf
        if self.time_limit is not None:
            seconds = arrays.number(self.time_limit, "time_limit", "a number of seconds", lambda x: 0 <= x < np.inf)
        worst = np.inf
        if self.give_up is not None:
            worst = arrays.number(self.give_up, "give_up", "at least 1, or None", lambda x: x >= 1)
        rng = generator(self.random_state)
        train, judged = instances, instances
        if self.validation is not None:
            train, judged = hold_out(instances, self.validation, rng, self.split)
        if judged.graph is not train.graph and judged.graph != train.graph:
            raise InputError("validation must be on the graph of the training set")
        objective = Objective(judged, self.utility, self.algorithm, self.reopen, self.budget, self.n_jobs)
        initial, seen = initial_table(self.initial, train)
        best = initial
        unit = spread(initial, train)
        goal = int(train.goals[0])
        judge = _Judge(objective, best, screen, rng)
        found_by = None
        end = time.monotonic() + seconds
        with progress("ranking", len(rounds) * iterations, self.verbose) as advance, suppress(StoppedError):
            for step, width in rounds:
                blur = Blur(train.graph, width)
                rho, squares = initial.copy(), np.full(initial.size, damping)
                for i in range(iterations):
                    if time.monotonic() > end:
                        break
                    chosen = rng.permutation(len(train))[:batch]
                    pushes = comparisons(train[chosen], rho, objective) / chosen.size
                    np.clip(pushes, -clip, clip, out=pushes)
                    squares += pushes * pushes
                    change = blur(pushes / np.sqrt(squares))
                    change[goal] = 0.0
                    rho -= step * unit * (1 - i / iterations) * change
                    if ((i + 1) % every == 0 or i + 1 == iterations) and judge.prefers(rho):
                        best, found_by = rho.copy(), (step, width)
                    advance(f"{judge.least:.6g}")
                    if 2 * i >= iterations and (i + 1) % every == 0 and judge.history[-1] > worst * judge.first:
                        break
        return {
            "rho_": best,
            "initial_": initial,
            "history_": np.array(judge.history),
            "best_": judge.least,
            "round_": found_by,
            "judged_on_": Provenance.of(judged),
            "trained_on_": provenance(instances, judged, seen),
        }

    def _rounds(self) -> list[tuple[float, float]]:
        """Return (step size, blur) of each round."""
        step, blur = (
            ("positive and finite", lambda x: 0 < x < np.inf),
            ("finite, not negative", lambda x: 0 <= x < np.inf),
        )
        if self.rounds is None:
            steps, widths = _numbers(self.step_sizes, "step_sizes", *step), _numbers(self.blurs, "blurs", *blur)
            return [(size, width) for width in widths for size in steps]
        try:
            given = [(size, width) for size, width in self.rounds]
        except (TypeError, ValueError):
            raise InputError(f"rounds must hold pairs (step size, blur), got {self.rounds!r}") from None
        if not given:
            raise InputError("rounds must hold at least one pair (step size, blur)")
        return [
            (arrays.number(size, f"rounds[{k}][0]", *step), arrays.number(width, f"rounds[{k}][1]", *blur))
            for k, (size, width) in enumerate(given)
        ]


class _Judge:
    """The lowest mean so far; ρ is compared on a part of the instances first, which never decides alone."""

    def __init__(
        self, objective: Objective, rho: NDArray[np.float64], screen: int | None, rng: np.random.Generator
    ) -> None:
        self.objective, count = objective, len(objective.instances)
        self.part: slice | NDArray[np.int64] = slice(None)
        if screen is not None and screen < count:
            self.part = np.sort(rng.permutation(count)[:screen])
        self.first, self.least = np.inf, np.inf
        self.history: list[float] = []
        self.prefers(rho)

    def prefers(self, rho: NDArray[np.float64]) -> bool:
        """Return whether ρ is better than all before."""
        first = float(self.objective.values(rho, self.part).mean())
        self.history.append(first)
        if not first < self.first:
            return False
        mean = first if isinstance(self.part, slice) else self.objective.mean(rho)
        if not mean < self.least:
            return False
        self.first, self.least = first, mean
        return True


def comparisons(instances: InstanceSet, rho: NDArray[np.float64], objective: Objective) -> NDArray[np.int64]:
    """Return for each vertex how often it waited on a path, minus how often it was expanded in vain.

    The goal's count is left at 0. Runs that find no path within the budget are left out.
    """
    return np.sum(objective.map(_count, rho, instances), axis=0)


def _count(
    chunk: InstanceSet, first: int, stop: _core.Stop, *, rho: NDArray[np.float64], search: Search
) -> NDArray[np.int64]:
    instances = _core.Instances(chunk.weights, chunk.rows, chunk.sources, chunk.goals)
    options = _core.SearchOptions(*search)
    found = chunk.graph._kernel.rank(instances, options, arrays.aligned(rho), None, None, stop)
    if found.ending.status is not _core.Status.DONE:
        raise failures.instance_failure(found.ending, chunk, first, rho=rho)
    return found.lower


def _numbers(values: Any, name: str, what: str, accepted: Callable[[float], bool]) -> list[float]:
    """Return one number or several as a list."""
    given = [values] if isinstance(values, Real) else values
    try:
        found = [arrays.number(value, f"{name}[{k}]", what, accepted) for k, value in enumerate(given)]
    except TypeError:
        raise InputError(f"{name} must be a number or a sequence of numbers, got {values!r}") from None
    if not found:
        raise InputError(f"{name} must hold at least one number")
    return found
