"""Picks a learner for you: tries several, compares them on instances they were not fitted on, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import FitError, LimitError
from rhostar.instances import InstanceSet, provenance
from rhostar.learners import _choosing as choosing
from rhostar.learners._base import Learner, Scorer, Seed, one_of
from rhostar.learners._bumps import BumpSearch
from rhostar.learners._distances import MeanDistance
from rhostar.learners._inconsistency import InconsistencyLP
from rhostar.learners._potentials import Potentials
from rhostar.learners._progress import progress
from rhostar.learners._ranking import SelfImitatedRanking
from rhostar.learners._weights import LowerEnvelope, MeanWeights, PathUse
from rhostar.search import Algorithm, Runs, solve_many
from rhostar.utilities import Utility

_PROGRAM_SECONDS = 3e-6
"""About what a linear program takes, for each vertex of each snapshot."""

_ROUNDS = (0.4, 0.15, 1.0, 0.05)
"""Initial step sizes of the rounds of ranking, the most promising first."""


class Candidate(NamedTuple):
    """A learner that :class:`Auto` tried."""

    learner: Learner
    expanded: float
    """Mean number of expansions on instances it was not fitted on; inf if the fit failed."""
    over: float
    """How much more than the optimum its paths cost in total there, as a share; NaN if that does not matter."""
    over_error: float
    """The standard error of `over`."""
    losses: NDArray[np.float64]
    """What decides, instance by instance; lower is better. Slow learners are not judged on all instances."""
    seconds: float
    """How long one fit took."""
    run_seconds: float
    """How long one search took."""

    def __str__(self) -> str:
        over = "" if np.isnan(self.over) else f", {self.over:.2%} above the optimum"
        return f"{self.learner}: {self.expanded:.1f} expansions{over}"


class Auto(Learner):
    """Tries learners in turn, from quick to slow, and keeps the one that does best on instances not fitted on.

    A learner is fitted on all folds of the training set but one and judged on that one, for each fold in turn. The
    first learner within one standard error of the best wins. Learners that take long are judged on one fold only.

    Parameters
    ----------
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    utility
        The measure that decides. None counts expansions; with A*, only learners within `tolerance` can win.
    tolerance
        How much more than the optimum paths may cost in total on new instances, as a share; for A* without a
        `utility`. The estimate plus its standard error must be within it. If no learner's is, the closest one wins.
    time_limit
        No further learner is started after this many seconds; None for no limit. The quickest is always fitted.
    folds
        How many parts the training set is dealt into, by whole snapshots.
    validation
        A separate set that judges too, or None.
    random_state
        Deals out the folds, and seeds the learners that draw random numbers.
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
    MeanDistance(quantile=0.25, statistic='quantile')
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
        folds: int = 4,
        validation: InstanceSet | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm, self.utility, self.tolerance, self.time_limit = algorithm, utility, tolerance, time_limit
        self.folds, self.validation, self.random_state = folds, validation, random_state
        self.n_jobs, self.verbose = n_jobs, verbose

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
                self._pass_on(learner)
                contest.enter(learner)
                advance(str(contest.best))
        winner = clone(contest.winner.learner).fit(instances)
        learned = {"learner_": winner, "candidates_": contest.tried}
        learned["trained_on_"] = provenance(instances, *(part.judged for part in contest.parts))
        names = ("rho_", "potential_", "family_", "lower_")
        return learned | {name: getattr(winner, name) for name in names if hasattr(winner, name)}

    def _pass_on(self, learner: Learner) -> None:
        """Give a learner the parameters that all learners share."""
        own = learner.get_params()
        shared: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        learner.set_params(**{name: value for name, value in shared.items() if name in own})


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
        yield PathUse(0.03, blur=blur)
        yield MeanDistance("median")
        yield from _ranking(len(instances), contest)
        yield from _bumps(contest, None)
        return
    yield MeanDistance("median")
    for level in (0.05, 0.25):
        yield MeanDistance("quantile", quantile=level)
    yield MeanDistance("min")
    yield LowerEnvelope()
    needed = _PROGRAM_SECONDS * np.unique(instances.rows).size * graph.n
    for penalty in (1.0, 3.0, 0.5, 1.5, 10.0, 0.7, 30.0):
        if needed * (2 + contest.more) < contest.seconds_left:
            yield InconsistencyLP(penalty)
    if contest.tolerance > 0 and contest.scorer is None and np.isfinite(contest.limit):
        price = contest.best.expanded / contest.tolerance
        yield from _bumps(contest, _Traded(1e18, price))
    elif contest.scorer is not None:
        yield from _bumps(contest, contest.scorer.utility)


def _ranking(count: int, contest: _Contest) -> Iterator[Learner]:
    """Yield a ranking that starts from the best values so far, if there is time for at least 10 iterations."""
    every, iterations, batch = 4, 100, 50
    seconds = contest.room / 2
    # The runs soon become quicker than they are with the initial values.
    each = (min(batch, count) + min(200, count) / every) * contest.best.run_seconds
    length = int(min(3 * seconds / max(each, 1e-9), iterations))
    if length >= 30:
        limit = seconds if np.isfinite(seconds) else None
        initial = clone(contest.best.learner)
        yield SelfImitatedRanking(
            initial, step_sizes=_ROUNDS, blurs=(1.0, 4.0), iterations=length, batch=batch, every=every, time_limit=limit
        )


def _bumps(contest: _Contest, utility: Utility | None) -> Iterator[Learner]:
    """Yield a search for bumps from the best values so far, in the time that is left."""
    seconds = contest.room
    if seconds < 0.2:
        return
    limit = seconds if np.isfinite(seconds) else None
    initial = clone(contest.best.learner)
    yield BumpSearch(initial, algorithm=contest.algorithm, utility=utility, max_bumps=2000, time_limit=limit)


@dataclass(frozen=True)
class _Traded(Utility):
    """Expansions, plus a price for each share of the optimum that a path costs more."""

    needs_optimum: ClassVar[bool] = True
    price: float

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sum for each run."""
        assert optimum is not None
        over = np.divide(runs.cost - optimum, optimum, out=np.zeros(optimum.size), where=optimum > 0)
        return np.asarray(runs.expanded + self.price * np.maximum(over, 0.0))


class _Contest:
    """Fits candidates on some parts of the instances and runs them on the others."""

    def __init__(self, auto: Auto, instances: InstanceSet, tolerance: float, limit: float) -> None:
        self.begin, self.limit, self.tolerance = time.perf_counter(), limit, tolerance
        self.parts = choosing.parts(instances, auto.folds, auto.validation, auto.random_state)
        self.groups = np.concatenate([part.groups for part in self.parts])
        self.more = len(instances) / len(self.parts[0].train)
        self.algorithm, self.n_jobs = auto.algorithm, auto.n_jobs
        self.budget = 100 * instances.graph.n
        self.tried: list[Candidate] = []
        self.scorer = None
        if auto.utility is not None:
            self.scorer = Scorer(auto.utility, algorithm=auto.algorithm, budget=self.budget)
        self.optimum = np.empty(0)
        if auto.algorithm == "astar" and auto.utility is None:
            zeros = np.zeros(instances.graph.n)
            solved = [solve_many(part.judged, zeros, n_jobs=self.n_jobs).cost for part in self.parts]
            self.optimum = np.concatenate(solved)

    @property
    def best(self) -> Candidate:
        """The best so far, however small its lead."""
        allowed = self._allowed()
        return min(allowed, key=lambda one: float(one.losses.mean()))

    @property
    def winner(self) -> Candidate:
        """The first within one standard error of the best."""
        allowed = self._allowed()
        return allowed[choosing.choose([one.losses for one in allowed], self.groups)]

    def _allowed(self) -> list[Candidate]:
        """Return the candidates within the tolerance; the closest if none is."""
        fitted = [one for one in self.tried if one.losses.size]
        inside = [one for one in fitted if not one.over + one.over_error > self.tolerance]
        return inside or [min(fitted, key=lambda one: one.over + one.over_error)]

    @property
    def seconds_left(self) -> float:
        return self.limit - (time.perf_counter() - self.begin)

    @property
    def room(self) -> float:
        """How many seconds a learner that starts from the best values may take, to be fitted here and at the end."""
        return (self.seconds_left - (1 + self.more) * self.best.seconds) / (1.1 + self.more)

    @property
    def is_over(self) -> bool:
        """Whether there is only time to fit the best learner so far on all instances; the first is always tried."""
        return bool(self.tried) and self.seconds_left <= self.more * self.best.seconds

    def enter(self, learner: Learner) -> None:
        """Judge a learner part by part, as long as there is time."""
        losses, expanded, cost = [], [], []
        longest, running = 0.0, 0.0
        for k, part in enumerate(self.parts):
            began = time.perf_counter()
            # A later part may take as long as the longest so far; then comes the last fit.
            if k and (self.seconds_left - (longest + running) <= self.more * longest or longest > 0.1 * self.limit):
                break
            try:
                rho: Any = clone(learner).fit(part.train)
                rho = getattr(rho, "rho_", rho)
            except (FitError, LimitError):
                break
            fitted = time.perf_counter()
            runs = solve_many(part.judged, rho, algorithm=self.algorithm, budget=self.budget, n_jobs=self.n_jobs)
            running = time.perf_counter() - fitted
            longest = max(longest, fitted - began)
            expanded.append(runs.expanded.astype(np.float64))
            cost.append(np.where(runs.solved, runs.cost, np.inf))
            losses.append(expanded[-1] if self.scorer is None else -self.scorer.each(rho, part.judged, self.n_jobs))
        if not losses:
            self.tried.append(Candidate(learner, np.inf, np.nan, np.nan, np.empty(0), longest, np.inf))
            return
        over, error = np.nan, np.nan
        if self.optimum.size:
            paid = np.concatenate(cost)
            over, error = np.inf, 0.0
            if np.isfinite(paid).all():
                optimum = self.optimum[: paid.size]
                over, error = choosing.estimate(paid - optimum, self.groups[: paid.size], optimum)
        mean = float(np.concatenate(expanded).mean())
        each = running / expanded[-1].size
        self.tried.append(Candidate(learner, mean, over, error, np.concatenate(losses), longest, each))
