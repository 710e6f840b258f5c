"""The contest behind :class:`Auto`: fits candidates on some snapshots, runs them on others, and keeps to its time.

Costs-to-go take most of the time on large graphs. They are computed once, snapshot by snapshot, for as many snapshots
as the time allows; the contest is held on these, and all candidates share them. Then a fit takes little, and the cost
of an optimal path is read instead of searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar._parallel import stopped_after
from rhostar.errors import FitError, LimitError, StoppedError
from rhostar.instances import InstanceSet, Provenance
from rhostar.learners import _choosing as choosing
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, Scorer, generator
from rhostar.learners._potentials import Potentials
from rhostar.learners._weights import LowerEnvelope
from rhostar.learners._wrappers import Scaled
from rhostar.search import Runs, solve_many

if TYPE_CHECKING:
    from rhostar.learners._auto import Auto

_LABELS = 0.3
"""The share of the time for costs-to-go."""
_LARGEST_LABELS = 2**26
"""How many costs-to-go are kept: 512 MB."""
_RUNS = 0.02
"""The share of the time for the runs of one candidate, if a run takes a quarter of a sweep over the whole graph."""
_BEHIND = 0.2
"""A candidate that is behind the best by more than this share on the first folds is not judged on the others."""
_JUDGING, _BOUNDING = 0.1, 0.25
"""The share of the time left that further folds of a candidate may take; the second where paths must be good."""
_RESERVE = 0.04
"""The share of the time that is kept for the end, besides the last fit."""
_LEVEL = 0.975
"""The level of the bound on the excess cost that must be within the tolerance."""
_SEARCHED_LEVEL = 0.998
"""The same for factors: about twelve are tried near the tolerance, and the one that is just within it on the instances
that judge it is taken. Each gets a twelfth of the error."""
_STARTS = 8
"""Starts on each snapshot that the cost of paths is measured for, if there is time."""
_SOURCES = 30
"""With fewer different starts in the training set, no further ones are drawn from them."""
_SURPRISE = 5.0
"""A snapshot still to come may be this many tolerances above the optimum, whatever was seen."""
_SIMPLER = 0.02
"""A simpler candidate wins if it is within one standard error of the best and within this share."""


class Clock:
    """Counts down from a time limit; inf for none."""

    def __init__(self, limit: float) -> None:
        self.begin, self.limit = time.perf_counter(), limit

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.limit - (time.perf_counter() - self.begin)

    def share(self, part: float) -> float:
        """Return a part of the whole time, in seconds."""
        return part * self.limit

    def watched(self, seconds: float) -> Any:
        """Return a context whose kernels are stopped after these seconds."""
        return stopped_after(seconds) if np.isfinite(seconds) else nullcontext()


class Candidate(NamedTuple):
    """A learner that :class:`Auto` tried."""

    learner: Learner
    expanded: float
    """Mean number of expansions on instances it was not fitted on; inf if the fit failed, NaN if it was not judged."""
    over: float
    """How much more than the optimum its paths cost in total there, as a share; NaN if that does not matter."""
    over_bound: float
    """An upper bound on that share, and on the mean share of a path, on new instances; must be within the tolerance."""
    losses: NDArray[np.float64]
    """What decides, instance by instance; lower is better. Slow learners are not judged on all instances."""
    seconds: float
    """How long one fit took."""
    run_seconds: float
    """How long one search took."""
    fits: tuple[Learner, ...]
    """The fit that each part judged."""

    def __str__(self) -> str:
        over = "" if np.isnan(self.over) else f", {self.over:.2%} above the optimum"
        return f"{self.learner}: {self.expanded:.1f} expansions{over}"


class Contest:
    """Fits candidates on some parts of the instances and runs them on the others.

    Parameters
    ----------
    auto
        The learner that it is held for.
    instances
        The training set.
    tolerance
        How much more than the optimum paths may cost, in total and on average; inf if that does not matter.
    clock
        What is left of the time.
    """

    def __init__(self, auto: Auto, instances: InstanceSet, tolerance: float, clock: Clock) -> None:
        self.instances, self.tolerance, self.clock = instances, tolerance, clock
        self.algorithm, self.n_jobs = auto.algorithm, auto.n_jobs
        self.budget = min(100 * instances.graph.n, max(4 * instances.graph.n, 10**6))
        self.tried: list[Candidate] = []
        self.scorer = None
        if auto.utility is not None:
            self.scorer = Scorer(auto.utility, algorithm=auto.algorithm, budget=self.budget)
        self.sweep = 0.0
        """The seconds that costs-to-go of one snapshot take."""
        rng = generator(auto.random_state)
        self.split = auto.split
        snapshots, units = np.unique(instances.rows), np.unique(choosing.units(instances, self.split)).size
        self.memory, self.used = None, instances
        if isinstance(instances.goal, int):
            self.memory = self._labels(rng.permutation(snapshots))
            if self.memory.count < snapshots.size:
                self.used = instances[np.flatnonzero(np.isin(instances.rows, self.memory.known))]
        self.parts: list[choosing.Part] = []
        if units < 2 or auto.validation is not None or np.unique(choosing.units(self.used, self.split)).size > 1:
            Provenance.of(self.used)  # the parts take over what this computes
            self.parts = self._fewer(choosing.parts(self.used, auto.folds, auto.validation, rng, self.split), rng)
        self.optimum: list[NDArray[np.float64]] = []
        if self.bounded:
            self._keep_those_with_a_path()
        self.more = max((len(self.used) / len(part.train) for part in self.parts), default=1.0)
        self.groups = np.concatenate([part.groups for part in self.parts] or [np.empty(0, dtype=np.int64)])
        self.further = [self._further(part.judged, rng) for part in self.parts] if self.bounded else []

    @property
    def bounded(self) -> bool:
        """Whether it matters what paths cost, besides the losses."""
        return self.algorithm == "astar" and self.scorer is None and bool(np.isfinite(self.tolerance))

    def _labels(self, rows: NDArray[np.int64]) -> costs_to_go.Memory:
        """Return the costs-to-go of the first of these snapshots, as many as there is time and memory for."""
        most = max(1, _LARGEST_LABELS // self.instances.graph.n)
        memory = costs_to_go.Memory(self.instances, rows[:most], self.n_jobs)
        end = self.clock.left - self.clock.share(_LABELS) if np.isfinite(self.clock.limit) else 0.0
        count, self.sweep = 1, np.inf
        while memory.count < memory.rows.size and count:
            began = time.perf_counter()
            memory.extend(count)
            self.sweep = min(self.sweep, (time.perf_counter() - began) / count)
            # Half of what should fit, so that it does not matter much if it takes longer.
            rest = memory.rows.size - memory.count
            count = (
                rest if np.isinf(self.clock.limit) else min(rest, int((self.clock.left - end) / self.sweep / 2 + 0.5))
            )
            count = max(count, 0)
        return memory

    def _fewer(self, parts: list[choosing.Part], rng: np.random.Generator) -> list[choosing.Part]:
        """Return the parts with as many judged instances as there is time to run."""
        if np.isinf(self.clock.limit):
            return parts
        if self.sweep == 0.0:
            began = time.perf_counter()
            solve_many(self.used[:1], np.zeros(self.used.graph.n), n_jobs=self.n_jobs)
            self.sweep = time.perf_counter() - began
        self.parts = parts
        # A bound on the cost of paths is too wide with few of them.
        most = max(8 if self.bounded else 4, self._affordable)
        found = []
        for part in parts:
            kept = np.sort(rng.permutation(len(part.judged))[:most])
            found.append(part._replace(judged=part.judged[kept], groups=part.groups[kept]))
        return found

    def _further(self, judged: InstanceSet, rng: np.random.Generator) -> InstanceSet | None:
        """Return further starts on the snapshots of a part, such as other instances have, if there is time for them.

        Whether a path costs more than the optimum depends on its start as much as on the snapshot. With one start for
        each snapshot, the mean is uncertain, and the bound on it large.
        """
        memory = self.memory
        if memory is None or not memory.holds(judged) or np.unique(self.used.sources).size < _SOURCES:
            return None
        rows = np.unique(judged.rows)
        count = min(_STARTS * rows.size - len(judged), self._affordable - len(judged))
        rows = rng.permutation(np.resize(rows, max(count, 0)))
        sources = rng.choice(self.used.sources, rows.size)
        usable = np.isfinite(memory.between(rows, sources)) & (sources != memory.goal)
        if not usable.any():
            return None
        return InstanceSet(
            judged.graph,
            judged.weights,
            sources[usable],
            memory.goal,
            rows=rows[usable],
            infeasible="keep",
            days=judged.days,
        )

    @property
    def _affordable(self) -> int:
        """How many instances of each part there is time to run."""
        if np.isinf(self.clock.limit):
            return 2**31
        return int(self.clock.share(_RUNS) / (self.sweep / 4) / max(len(self.parts), 1))

    def _keep_those_with_a_path(self) -> None:
        """Find the optimum of what is judged; instances without a path say nothing about what paths cost."""
        parts = []
        for part in self.parts:
            optimum = self._optimum(part.judged)
            there = np.flatnonzero(np.isfinite(optimum))
            if there.size:
                some = there.size < optimum.size
                fewer = part._replace(judged=part.judged[there], groups=part.groups[there]) if some else part
                parts.append(fewer)
                self.optimum.append(optimum[there])
        self.parts = parts

    def _optimum(self, judged: InstanceSet) -> NDArray[np.float64]:
        if self.memory is not None and self.memory.holds(judged):
            return self.memory.at(judged)
        return solve_many(judged, np.zeros(judged.graph.n), n_jobs=self.n_jobs).cost

    # ------------------------------------------------------------ who is ahead

    @property
    def best(self) -> Candidate:
        """The best so far, however small its lead."""
        allowed = self._allowed()
        return allowed[choosing.least([one.losses for one in allowed])]

    @property
    def winner(self) -> Candidate:
        """The first that is nearly as good as the best."""
        allowed = self._allowed()
        return allowed[choosing.choose([one.losses for one in allowed], self.groups, _SIMPLER)]

    def _allowed(self) -> list[Candidate]:
        """Return the candidates within the tolerance; the closest if none is."""
        fitted = [one for one in self.tried if one.losses.size]
        inside = [one for one in fitted if not one.over_bound > self.tolerance]
        return inside or [min(fitted, key=lambda one: one.over_bound)]

    @property
    def is_decided(self) -> bool:
        """Whether one can win: if paths must be good, one within the tolerance, or the safest was judged."""
        fitted = [one for one in self.tried if one.losses.size]
        if not self.bounded:
            return bool(fitted)
        return any(one.over_bound <= self.tolerance or _is_exact(one.learner) for one in fitted)

    @property
    def seconds_left(self) -> float:
        """How many seconds the contest may still take: the best is fitted on all instances afterwards."""
        last = self.more * self.best.seconds if self.tried and self._any() else 0.0
        return self.clock.left - self.clock.share(_RESERVE) - last if np.isfinite(self.clock.limit) else np.inf

    def _any(self) -> bool:
        return any(one.losses.size for one in self.tried)

    # ------------------------------------------------------------ judging

    def enter(
        self,
        learner: Learner,
        fit: Callable[[int], Learner] | None = None,
        *,
        seconds: float | None = None,
        parts: int | None = None,
        compare: bool = True,
    ) -> Candidate:
        """Judge a learner part by part, as long as there is time.

        Parameters
        ----------
        learner
            What is fitted on all instances if it wins.
        fit
            Returns a fit on part k, in another way than by the learner itself. Then it is judged on further parts only
            as long as it is better than the best so far.
        seconds
            How long it takes to fit the learner; None measures it.
        parts
            On how many parts it is judged; None is all.
        compare
            Whether one with its own `fit` is left as soon as it is behind.
        """
        found: list[_Judged] = []
        longest, stop = 0.0, False
        for k, part in enumerate(self.parts[:parts]):
            began = time.perf_counter()
            if k and (stop or self.seconds_left < 2 * longest):
                break
            try:
                with self.clock.watched(self.seconds_left):
                    fitted = clone(learner).fit(part.train) if fit is None else fit(k)
                    longest = max(longest, time.perf_counter() - began)
                    found.append(self.judge(fitted, k))
            except (FitError, LimitError, StoppedError):
                break
            if fit is not None:
                stop = compare and not self._is_ahead(found)
            else:
                further = (time.perf_counter() - began) * (len(self.parts) - 1 - k)
                stop = further > (_BOUNDING if self.bounded else _JUDGING) * self.seconds_left
                # A bound on the cost needs all parts.
                stop = stop or not (self.bounded or self._is_ahead(found, _BEHIND))
        self.tried.append(self._summed_up(learner, found, longest if seconds is None else seconds))
        return self.tried[-1]

    def losses(self, fitted: Learner, instances: InstanceSet) -> NDArray[np.float64]:
        """Return what decides, on any instances; lower is better."""
        if self.scorer is not None:
            return -self.scorer.each(fitted.rho_, instances, self.n_jobs)
        runs = solve_many(instances, fitted.rho_, algorithm=self.algorithm, budget=self.budget, n_jobs=self.n_jobs)
        return runs.expanded.astype(np.float64)

    def judge(self, fitted: Learner, k: int) -> _Judged:
        """Return what ρ does on part k."""
        judged, rho = self.parts[k].judged, getattr(fitted, "rho_", fitted)
        began = time.perf_counter()
        runs = solve_many(judged, rho, algorithm=self.algorithm, budget=self.budget, n_jobs=self.n_jobs)
        each = (time.perf_counter() - began) / len(judged)
        expanded = runs.expanded.astype(np.float64)
        losses = expanded if self.scorer is None else -self.scorer.each(rho, judged, self.n_jobs)
        excess = further = np.empty(0)
        if self.bounded:
            excess = _excess(runs, self.optimum[k])
            more = self.further[k]
            if more is not None:
                assert self.memory is not None
                runs = solve_many(more, rho, budget=self.budget, n_jobs=self.n_jobs)
                further = _excess(runs, self.memory.at(more))
        return _Judged(fitted, expanded, losses, excess, further, each)

    def _is_ahead(self, found: list[_Judged], behind: float = 0.0) -> bool:
        """Return whether it does better so far than the best candidate on the same instances, or little worse."""
        if not self._any():
            return True
        return self._is_less(np.concatenate([one.losses for one in found]), behind)

    def is_behind(self, candidate: Candidate) -> bool:
        """Return whether a candidate is no better than the best of those within the tolerance."""
        return not (self.best.over_bound > self.tolerance or self._is_less(candidate.losses))

    def _is_less(self, losses: NDArray[np.float64], behind: float = 0.0) -> bool:
        best = self.best.losses[: losses.size]
        return best.size < losses.size or bool(losses.mean() < best.mean() + behind * abs(best.mean()))

    def _summed_up(self, learner: Learner, found: list[_Judged], seconds: float) -> Candidate:
        if not found:
            return Candidate(learner, np.inf, np.nan, np.nan, np.empty(0), seconds, np.inf, ())
        over = bound = np.nan
        if self.optimum:
            level = _SEARCHED_LEVEL if _is_searched(learner) else _LEVEL
            over, bound = self.excess(found, certain=_is_exact(learner), level=level)
        return Candidate(
            learner,
            float(np.concatenate([one.expanded for one in found]).mean()),
            over,
            bound,
            np.concatenate([one.losses for one in found]),
            seconds,
            found[-1].run_seconds,
            tuple(one.fitted for one in found),
        )

    def excess(self, found: list[_Judged], *, certain: bool, level: float = _LEVEL) -> tuple[float, float]:
        """Return the share above the optimum in total on the first parts, and a bound for new instances.

        The bound is on the share in total, where long paths count most, and on the mean of the shares of single paths,
        where short ones do: a tolerance holds in both senses. Values that cannot exceed the optimum where no weight is
        less than those seen are `certain`: they need no allowance for snapshots unlike all that were seen.
        """
        paid, optimum = np.concatenate([one.excess for one in found]), np.concatenate(self.optimum[: len(found)])
        groups = self.groups[: paid.size]
        over = choosing.estimate(paid, groups, optimum).mean if np.isfinite(paid).all() else np.inf
        sources = [part.judged.sources for part in self.parts[: len(found)]]
        for one, more in zip(found, self.further, strict=False):
            if more is not None:
                assert self.memory is not None
                paid, optimum = np.append(paid, one.further), np.append(optimum, self.memory.at(more))
                groups = np.append(groups, choosing.units(more, self.split))
                sources.append(more.sources)
        if not np.isfinite(paid).all():
            return over, np.inf
        # With further starts, the paths of one snapshot depend on each other, and so do those from one start.
        by = [groups, np.concatenate(sources)] if len(sources) > len(found) else [groups]
        how = {"level": level, "least": 0.0 if certain else _SURPRISE * self.tolerance}
        some = optimum > 0  # a path that costs nothing has no share
        shares = np.divide(paid, optimum, out=np.zeros(paid.size), where=some)
        bounds = (
            choosing.upper_bound(values, each, scale, **how)
            for each in by
            for values, scale in ((paid, optimum), (shares, some.astype(np.float64)))
        )
        return over, max(over, *bounds)


def _excess(runs: Runs, optimum: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each path costs more than the optimum; inf for a run without one."""
    excess = np.where(runs.solved, runs.cost, np.inf) - optimum
    # Costs-to-go add up the same weights in another order.
    return np.where(excess > 1e-9 * optimum, excess, 0.0)


def _is_exact(learner: Learner) -> bool:
    """Return whether A* is optimal with its values where no weight is below the least of the training set."""
    if isinstance(learner, Scaled):
        return learner.factor <= 1 and learner.learner is not None and _is_exact(learner.learner)
    if isinstance(learner, Potentials):
        return learner.statistic in (None, "min") and learner.clusters == 1 and learner.scale <= 1
    return isinstance(learner, LowerEnvelope)


def _is_searched(learner: Learner) -> bool:
    """Return whether its values have a factor that was searched for, or were improved from such values."""
    initial = getattr(learner, "initial", None)
    return isinstance(learner, Scaled) or (isinstance(initial, Learner) and _is_searched(initial))


class _Judged(NamedTuple):
    """What ρ does on one part."""

    fitted: Learner
    expanded: NDArray[np.float64]
    losses: NDArray[np.float64]
    excess: NDArray[np.float64]
    """What each path costs more than the optimum."""
    further: NDArray[np.float64]
    """The same for further starts."""
    run_seconds: float
