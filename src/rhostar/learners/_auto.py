"""Picks a learner for you: tries several, compares them on held-out instances, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import FitError, InputError, LimitError
from rhostar.instances import InstanceSet, provenance
from rhostar.learners._base import Learner, Scorer, Seed, one_of
from rhostar.learners._distances import MeanDistance
from rhostar.learners._inconsistency import InconsistencyLP
from rhostar.learners._potentials import Potentials
from rhostar.learners._progress import progress
from rhostar.learners._ranking import SelfImitatedRanking
from rhostar.learners._weights import LowerEnvelope, MeanWeights, PathUse
from rhostar.learners._wrappers import PerGoal, hold_out
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility

_LARGEST_PROGRAM = 2_000_000
"""The linear programs are not tried if snapshots times vertices exceed this."""

_INSTANCES_PER_GOAL = 8
"""With fewer instances per goal, one weight per edge is learned for all goals."""

_ROUNDS = (0.4, 0.15, 1.0, 0.05)
"""Initial step sizes of the rounds of ranking, the most promising first."""


class Candidate(NamedTuple):
    """A learner that :class:`Auto` tried."""

    learner: Learner
    expanded: float
    """Mean number of expansions on the held-out instances; inf if the fit failed."""
    over: float
    """How much more than the optimum its paths cost in total there, as a share; NaN if that does not matter."""
    score: float
    """The score that decided; larger is better."""
    seconds: float
    """How long the fit took."""
    run_seconds: float
    """How long one search took, on the held-out instances."""

    def __str__(self) -> str:
        over = "" if np.isnan(self.over) else f", {self.over:.2%} above the optimum"
        return f"{self.learner}: {self.expanded:.1f} expansions{over}"


class Auto(Learner):
    """Tries learners in turn, from quick to slow, and keeps the one that does best on held-out instances.

    Parameters
    ----------
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    utility
        The measure that decides. None counts expansions; with A*, only learners within `tolerance` can win.
    tolerance
        How much more than the optimum paths may cost in total on the held-out instances, as a share; for A* without a
        `utility`. If no learner stays within it, the closest one wins.
    time_limit
        No further learner is started after this many seconds; None for no limit. The quickest is always fitted.
    validation
        The share of the training set that is held out, or a separate set.
    random_state
        Decides which instances are held out, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Attributes
    ----------
    learner_
        The winner, fitted on the whole training set.
    candidates_
        What was tried, in order: :class:`Candidate`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(80, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.Auto("astar", time_limit=None).fit(instances)
    >>> learner.learner_
    MeanDistance(statistic='median')
    """

    consistency = "That of the winner."
    least_instances = 2
    one_goal = False
    algorithm: Algorithm

    learner_: Learner
    candidates_: list[Candidate]

    def __init__(
        self,
        algorithm: Algorithm = "astar",
        *,
        utility: Utility | None = None,
        tolerance: float = 0.01,
        time_limit: float | None = 10.0,
        validation: float | InstanceSet = 0.25,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm, self.utility, self.tolerance, self.time_limit = algorithm, utility, tolerance, time_limit
        self.validation, self.random_state, self.n_jobs, self.verbose = validation, random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        one_of(self.algorithm, "algorithm", ("astar", "gbfs"))
        tolerance = arrays.number(self.tolerance, "tolerance", "at least 0", lambda x: x >= 0)
        limit = np.inf
        if self.time_limit is not None:
            limit = arrays.number(self.time_limit, "time_limit", "positive, or None", lambda x: x > 0)
        contest = _Contest(self, instances, tolerance, limit)
        with progress("learners", None, self.verbose) as advance:
            for learner in _learners(self.algorithm, instances, contest):
                if contest.is_over:
                    break
                self._pass_on(learner, contest.seconds_left)
                contest.enter(learner)
                advance(str(contest.best))
        winner = contest.best.learner
        if contest.train is not instances:
            winner = clone(winner).fit(instances)
        learned = {"learner_": winner, "candidates_": contest.tried}
        learned["trained_on_"] = provenance(instances, contest.held_out)
        names = ("rho_", "potential_", "family_", "lower_")
        return learned | {name: getattr(winner, name) for name in names if hasattr(winner, name)}

    def _pass_on(self, learner: Learner, seconds: float) -> None:
        """Give a learner the parameters that all learners share, and the time that is left."""
        own = learner.get_params()
        shared: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        if np.isfinite(seconds):
            shared["time_limit"] = max(seconds, 0.1)
        learner.set_params(**{name: value for name, value in shared.items() if name in own})


def learn(
    instances: InstanceSet,
    *,
    algorithm: Algorithm = "astar",
    utility: Utility | None = None,
    tolerance: float = 0.01,
    time_limit: float | None = 10.0,
    seed: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Learner:
    """Learn heuristic values; the learner is picked for you.

    The winner needs the fewest expansions on held-out instances. With A*, its paths must also be within `tolerance`.

    Parameters
    ----------
    instances
        The training set. If it has several goals, each gets its own ρ and its share of the time; if it has fewer than
        8 instances per goal, :class:`Potentials` that serve every goal are tried instead.
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    utility
        The measure that decides instead of expansions.
    tolerance
        How much more than the optimum the paths of A* may cost in total, as a share.
    time_limit
        No further learner is started after this many seconds; None for no limit.
    seed
        Decides which instances are held out, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Returns
    -------
    Learner
        Fitted: ``rho_`` holds the values (a mapping from goals to arrays if there are several goals), ``learner_``
        the winner and ``candidates_`` what was tried.

    Raises
    ------
    InstanceError
        If there are too few instances to hold some out.
    InputError
        If a parameter is not accepted.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.8, seed=0)
    >>> learner = rs.learn(train, algorithm="gbfs")
    >>> rs.solve_many(test, learner.rho_, algorithm="gbfs").expanded.mean() < 16
    np.True_
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    goals = max(1, np.unique(instances.goals).size)
    auto = Auto(
        algorithm,
        utility=utility,
        tolerance=tolerance,
        time_limit=None if time_limit is None else time_limit / goals,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # A table for each goal needs instances of each; with few, one weight per edge serves all goals.
    return (PerGoal(auto) if 1 < goals <= len(instances) / _INSTANCES_PER_GOAL else auto).fit(instances)


# ---------------------------------------------------------------- what is tried, from quick to slow


def _learners(algorithm: Algorithm, instances: InstanceSet, contest: _Contest) -> Iterator[Learner]:
    graph = instances.graph
    if not isinstance(instances.goal, int):
        yield Potentials()
        for scale in (1.2, 1.4):
            yield Potentials(scale=scale)
        yield Potentials("mean")
        for clusters in (4, 8):
            yield Potentials(clusters=clusters)
        return
    walls = not np.isfinite(instances.weights[instances.rows[0]]).all()
    yield MeanDistance()
    yield MeanWeights(penalty=30.0 if walls else 0.0)
    if algorithm == "gbfs":
        blur = 0.0 if graph.coordinates is None else 2.0
        yield PathUse(0.3, blur=blur)
        yield from _ranking(len(instances), contest)
        yield PathUse(0.03, blur=blur)
        yield MeanDistance("median")
        yield from _ranking(len(instances), contest)  # again, if other values are the best by now
        return
    yield MeanDistance("median")
    for level in (0.05, 0.25):
        yield MeanDistance("quantile", quantile=level)
    yield MeanDistance("min")
    yield LowerEnvelope()
    if np.unique(instances.rows).size * graph.n <= _LARGEST_PROGRAM:
        for penalty in (1.0, 3.0, 0.5, 1.5, 10.0, 0.7, 30.0):
            yield InconsistencyLP(penalty)


def _ranking(count: int, contest: _Contest) -> Iterator[Learner]:
    """Yield rankings that start from the best values so far, while there is time for at least 30 iterations."""
    every, iterations, batch = 4, 100, 50
    if isinstance(contest.best.learner, SelfImitatedRanking):
        return
    seconds = contest.seconds_left / (1 + contest.more)  # it may have to be fitted twice
    each = (min(batch, count) + count / every) * contest.best.run_seconds
    total = int(min(seconds / each, iterations * len(_ROUNDS)))
    if total >= 30:
        steps, length = _ROUNDS[: max(1, total // iterations)], min(total, iterations)
        initial = clone(contest.best.learner)
        yield SelfImitatedRanking(initial, step_sizes=steps, blurs=1.0, iterations=length, batch=batch, every=every)


class _Contest:
    """Fits candidates on a part of the instances and runs them on the others."""

    def __init__(self, auto: Auto, instances: InstanceSet, tolerance: float, limit: float) -> None:
        self.begin, self.limit, self.tolerance = time.perf_counter(), limit, tolerance
        self.train, self.held_out = hold_out(instances, auto.validation, auto.random_state)
        self.more = len(instances) / len(self.train) if self.train is not instances else 0.0
        self.algorithm, self.n_jobs = auto.algorithm, auto.n_jobs
        self.budget = 100 * instances.graph.n
        self.tried: list[Candidate] = []
        self.scorer = None
        if auto.utility is not None:
            self.scorer = Scorer(auto.utility, algorithm=auto.algorithm, budget=self.budget)
        self.optimum = np.nan
        if auto.algorithm == "astar" and auto.utility is None:
            zeros = np.zeros(instances.graph.n)
            self.optimum = float(solve_many(self.held_out, zeros, n_jobs=self.n_jobs).cost.sum())

    @property
    def best(self) -> Candidate:
        return max(self.tried, key=lambda candidate: candidate.score)

    @property
    def seconds_left(self) -> float:
        return self.limit - (time.perf_counter() - self.begin)

    @property
    def is_over(self) -> bool:
        """Whether there is only time to fit the best learner so far on all instances; the first is always tried."""
        return bool(self.tried) and self.seconds_left <= self.more * self.best.seconds

    def enter(self, learner: Learner) -> None:
        begin = time.perf_counter()
        try:
            rho: Any = learner.fit(self.train)
            rho = getattr(rho, "rho_", rho)
        except (FitError, LimitError):
            self.tried.append(Candidate(learner, np.inf, np.nan, -np.inf, time.perf_counter() - begin, np.inf))
            return
        seconds = time.perf_counter() - begin
        runs = solve_many(self.held_out, rho, algorithm=self.algorithm, budget=self.budget, n_jobs=self.n_jobs)
        each = (time.perf_counter() - begin - seconds) / len(runs)
        expanded, over = float(runs.expanded.mean()), np.nan
        score = -expanded
        if self.scorer is not None:
            score = self.scorer.of_values(rho, self.held_out, self.n_jobs)
        elif self.algorithm == "astar":
            cost = float(runs.cost.sum()) if runs.solved.all() else np.inf
            over = cost / self.optimum - 1 if self.optimum > 0 else float(cost > 0)
            if over > self.tolerance:  # worse than any learner within it: no run counts more than the budget
                score = -self.budget * (1 + over)
        self.tried.append(Candidate(learner, expanded, over, score, seconds, each))
