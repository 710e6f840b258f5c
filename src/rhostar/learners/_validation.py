"""Cross-validation: learners are fitted on all folds of the training set but one, and run on that one.

Costs-to-go are computed once and shared by all fits (:class:`CostsToGo`); they also give the optimum of every path.
How much is done is counted in vertices, never in seconds: the same seed gives the same result on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar.errors import InstanceError
from rhostar.heuristics import Heuristic
from rhostar.instances import InstanceSet, Provenance
from rhostar.learners._base import Learner, Scorer, Seed, generator
from rhostar.learners._costs_to_go import CostsToGo
from rhostar.learners._folds import Split, fold_of_units, units
from rhostar.learners._selection import Candidate, upper_bound
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility

_SNAPSHOTS, _JUDGED = 16, 64
"""At least so many snapshots are used, and so many instances judge, however large the graph is."""
_LARGEST = 2**26
"""How many costs-to-go are kept: 512 MB."""
_STARTS, _SOURCES = 8, 30
"""Starts on each snapshot that judge, drawn from those of all instances if these have so many different ones."""
_LEVEL = 0.998
"""The level of the bound on the mean excess: the best of many candidates near the limit is taken."""
_SURPRISE = 5.0
"""A snapshot still to come may have this many times the mean excess that is allowed, whatever was seen."""


class Fold(NamedTuple):
    """Instances to fit on, and others to judge on."""

    train: InstanceSet
    judged: InstanceSet
    groups: NDArray[np.int64]
    """The snapshot or day of each judged instance."""
    optimum: NDArray[np.float64]
    """The cost of an optimal path of each judged instance."""


class Validation:
    """The folds of a training set, and what is needed to judge learners on them.

    Parameters
    ----------
    instances
        The training set.
    algorithm, utility, mean_excess, folds, split, random_state, n_jobs
        As for :class:`Auto`.
    work
        How many vertices the searches that judge one candidate may expand. Costs-to-go may take four times as many.
    """

    def __init__(
        self,
        instances: InstanceSet,
        *,
        algorithm: Algorithm = "astar",
        utility: Utility | None = None,
        mean_excess: float = np.inf,
        work: int = 10**7,
        folds: int = 4,
        split: Split = "snapshot",
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        n, rng = instances.graph.n, generator(random_state)
        self.algorithm, self.mean_excess, self.n_jobs = algorithm, mean_excess, n_jobs
        self.budget = min(100 * n, max(4 * n, 10**6))
        self.scorer = None if utility is None else Scorer(utility, algorithm=algorithm, budget=self.budget)
        rows = np.unique(instances._stored_rows)
        most = max(_SNAPSHOTS, min(4 * work, _LARGEST) // n)
        self.used = instances
        if rows.size > most:
            self.used = instances[np.flatnonzero(np.isin(instances._stored_rows, rng.permutation(rows)[:most]))]
        different, fold = fold_of_units(self.used, folds, split, rng)
        Provenance.of(self.used)  # the folds take over what this computes
        self.costs = CostsToGo(self.used, n_jobs) if isinstance(instances.goal, int) else None
        judged = self._with_further_starts(rng)
        self.further = judged is not self.used
        optimum = solve_many(judged, np.zeros(n), n_jobs=n_jobs).cost if self.costs is None else self.costs.at(judged)
        used_fold, judged_fold = (fold[np.searchsorted(different, units(one, split))] for one in (self.used, judged))
        self.folds: list[Fold] = []
        each = max(_JUDGED, work // n) // (int(fold.max()) + 1)
        for k in range(int(fold.max()) + 1):
            own = np.flatnonzero((judged_fold == k) & np.isfinite(optimum))
            own = np.sort(rng.permutation(own)[:each])
            if own.size:
                train = self.used[np.flatnonzero(used_fold != k)]
                self.folds.append(Fold(train, judged[own], units(judged, split)[own], optimum[own]))
        if not self.folds:
            raise InstanceError("no instance of the training set has a path from its source to its goal")
        self.groups = np.concatenate([fold.groups for fold in self.folds])

    @property
    def bounded(self) -> bool:
        """Whether what paths cost decides too."""
        return self.algorithm == "astar" and self.scorer is None and bool(np.isfinite(self.mean_excess))

    def _with_further_starts(self, rng: np.random.Generator) -> InstanceSet:
        """Return the instances with further starts on their snapshots, such as other instances have.

        What a path costs depends on its start as much as on the snapshot. With one start for each snapshot the mean
        excess is uncertain, and the bound on it large.
        """
        used = self.used
        rows = np.unique(used._stored_rows)
        count = _STARTS * rows.size - len(used)
        if self.costs is None or count <= 0 or np.unique(used.sources).size < _SOURCES:
            return used
        rows, sources = rng.permutation(np.resize(rows, count)), rng.choice(used.sources, count)
        some = sources != used.goals[0]
        return InstanceSet(
            used.graph,
            used._stored,
            np.append(used.sources, sources[some]),
            int(used.goals[0]),
            rows=np.append(used._stored_rows, rows[some]),
            infeasible="keep",
            days=used._stored_days,
        )

    def fit(self, learner: Learner, k: int) -> Heuristic:
        """Return what a learner learns from fold k."""
        return clone(learner)._fit(self.folds[k].train, self.costs).heuristic_

    def judge(self, learner: Learner, fits: Sequence[Heuristic], factor: float = 1.0) -> Candidate:
        """Run what was learned from the first folds, times a factor, on the instances that were held out."""
        expanded, losses, cost = [], [], []
        for fold, fitted in zip(self.folds, fits, strict=False):
            heuristic = fitted if factor == 1.0 else fitted.scaled(factor)
            how = {"algorithm": self.algorithm, "budget": self.budget, "n_jobs": self.n_jobs}
            runs = solve_many(fold.judged, heuristic, **how)  # type: ignore[arg-type]
            expanded.append(runs.expanded.astype(np.float64))
            cost.append(np.where(runs.solved, runs.cost, np.inf))
            if self.scorer is not None:
                losses.append(-self.scorer.each(heuristic, fold.judged, self.n_jobs))
        loss = np.concatenate(losses or expanded)
        optimum = np.concatenate([fold.optimum for fold in self.folds[: len(fits)]])
        excess = np.concatenate(cost) - optimum
        # Costs-to-go add up the same weights in another order.
        excess[excess <= 1e-9 * optimum] = 0.0
        share = np.divide(excess, optimum, out=np.zeros(excess.size), where=optimum > 0)
        bound = np.nan
        if self.bounded:
            exact = factor <= 1 and all(fitted.lower is not None for fitted in fits)
            bound = 0.0 if exact else self._bound(excess, share, optimum)
        return Candidate(learner, float(np.concatenate(expanded).mean()), float(share.mean()), bound, loss, tuple(fits))

    def _bound(self, excess: NDArray[np.float64], share: NDArray[np.float64], optimum: NDArray[np.float64]) -> float:
        """Return a bound on the excess for new instances: in total, where long paths count most, and on average."""
        if not np.isfinite(excess).all():
            return np.inf
        sources = np.concatenate([fold.judged.sources for fold in self.folds])
        # With further starts, the paths of one snapshot depend on each other, and so do those from one start.
        by = (self.groups, sources) if self.further else (self.groups,)
        surprise = _SURPRISE * self.mean_excess
        return max(
            upper_bound(values, groups[: values.size], scale, level=_LEVEL, surprise=surprise)
            for groups in by
            for values, scale in ((excess, optimum), (share, (optimum > 0).astype(np.float64)))
        )
