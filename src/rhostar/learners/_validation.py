"""Cross-validation: learners are fitted on all folds of the training set but one, run on that one, and compared.

Folds consist of whole snapshots or days. Costs-to-go are computed once and shared by all fits (:class:`CostsToGo`);
they also give the optimum of every path. How much is done is counted in vertices, never in seconds: the same seed gives
the same result on every machine. The candidate with the fewest expansions within a bound on the mean excess is chosen;
among those with almost as few, the one with the lowest mean excess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import InputError, InstanceError
from rhostar.heuristics import Heuristic
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import ContentKeys, Provenance
from rhostar.learners._base import Learner, Scorer, Seed, generator
from rhostar.learners._distances import CostsToGo
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility

Split = Literal["snapshot", "day"]
"""What stays on one side when instances are held out."""

_SNAPSHOTS, _JUDGED, _MOST_JUDGED = 16, 64, 2**15
"""The minimum numbers of snapshots used and of instances judged on, whatever the graph; the maximum of the latter."""
_LARGEST = 2**26
"""How many costs-to-go are kept: 512 MB."""
_STARTS, _SOURCES = 8, 30
"""Starts on each snapshot that judge, drawn from those of all instances if these have that many different ones."""
_LEVEL = 0.998
"""The level of the bound on the mean excess: the best of many candidates near the limit is taken."""
_SURPRISE, _SEEN = 5.0, 25
"""A snapshot still to come may have this many times the mean excess that is allowed, whatever was seen on this many
snapshots. With fewer it counts proportionally less; otherwise fewer than 21 could never show anything."""
_BETWEEN_DAYS = 0.4
"""Days differ in their mean excess by at least this share of it (a standard deviation), however alike they look."""
_TINY = 1e-9
"""The mean excess that values keep which may overestimate, but did not on any instance."""
_ALMOST = 0.02
"""Candidates within this share of the best one may win if they are better otherwise."""


def resolved(instances: InstanceSet, split: Split | None) -> Split:
    """Return what is not divided: what the user said, or by default what :meth:`InstanceSet.split` keeps together.

    These are days if they are known and there are several, and the instances are not draws from a declared pool.
    """
    if split is not None:
        return split
    days = instances._stored_days
    several = days is not None and np.unique(days[instances._stored_rows]).size > 1
    return "day" if several and instances.pool is None else "snapshot"


def units(instances: InstanceSet, split: Split | None) -> NDArray[np.int64]:
    """Return the snapshot or the day of each instance: what stays on one side when some are held out.

    Raises
    ------
    InputError
        If the set does not know its days, or `split` is another word.
    """
    split = resolved(instances, split)
    if split not in get_args(Split):
        raise InputError(f"split must be 'snapshot' or 'day', got {split!r}")
    if split == "snapshot":
        return instances._stored_rows
    if instances._stored_days is None:
        raise InputError("split='day' needs instances that know their days, as those from time stamps do")
    return instances._stored_days[instances._stored_rows]


def fold_of_units(
    instances: InstanceSet, folds: int, split: Split, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different snapshots (or days) of a set, and the fold of each; equal snapshots are in one fold.

    A copy in another fold would be judged by values that were fitted to it.

    Raises
    ------
    InstanceError
        If there is only one.
    InputError
        If `folds` is not an integer of at least 2.
    """
    folds = arrays.integer(folds, "folds", 2)
    different = np.unique(units(instances, split))
    if different.size < 2:
        way_out = "; with one, its costs-to-go are best: learn with max_excess=0" if split == "snapshot" else ""
        raise InstanceError(f"the training set needs at least 2 {split}s to hold out a part of it, got 1{way_out}")
    alike = _alike(instances) if split == "snapshot" else np.arange(different.size)
    if not alike.any():  # all are equal
        alike = np.arange(different.size)
    firsts, of = np.unique(alike, return_inverse=True)
    return different, (rng.permutation(firsts.size) % min(folds, firsts.size))[of]


def _alike(instances: InstanceSet) -> NDArray[np.int64]:
    """Return for each different snapshot the position of the first one with equal weights."""
    some = np.unique(instances._stored_rows, return_index=True)[1]
    keys = ContentKeys.of(instances)[some]
    content = np.column_stack([keys.sketches, keys.absent.astype(np.float64)])[keys.rows]
    _, first, of = np.unique(content, axis=0, return_index=True, return_inverse=True)
    return first[of.ravel()].astype(np.int64)


_NONE, _NOWHERE = np.empty(0), np.empty(0, dtype=np.int64)


class Candidate(NamedTuple):
    """A learner that :class:`Auto` tried, and what it did on instances that it was not fitted on."""

    learner: Learner
    expanded: float
    """Mean number of expansions; inf if the fit failed."""
    mean_excess: float
    """The mean share by which its paths cost more than the optimum; NaN if that is not known."""
    bound: float
    """The lowest mean excess, on average and in total, that it should keep on new instances; NaN if not known."""
    losses: NDArray[np.float64]
    """What decides, instance by instance; lower is better. None if the fit failed."""
    fits: tuple[Heuristic, ...]
    """What was learned from each fold."""
    expansions: NDArray[np.float64] = _NONE
    """Instance by instance."""
    excess: NDArray[np.float64] = _NONE
    """The share by which each path costs more than the optimum."""
    groups: NDArray[np.int64] = _NOWHERE
    """The snapshot or day of each instance."""

    @property
    def label(self) -> str:
        """The learner and the factor, on one line."""
        factor = getattr(self.learner, "factor", None)
        inner = self.learner if factor is None else self.learner.learner
        return " ".join(repr(inner).split()) + ("" if factor is None else f" × {factor:g}")

    def __str__(self) -> str:
        excess = "" if np.isnan(self.mean_excess) else f", {self.mean_excess:.2%} above the optimum"
        return f"{self.label}: {self.expanded:.1f} expansions{excess}"


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
        split: Split | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        n, rng, split = instances.graph.n, generator(random_state), resolved(instances, split)
        self.algorithm, self.mean_excess, self.unit, self.n_jobs = algorithm, mean_excess, split, n_jobs
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
        used_fold, judged_fold = (fold[np.searchsorted(different, units(one, split))] for one in (self.used, judged))
        self.folds: list[Fold] = []
        each = min(max(_JUDGED, work // n), _MOST_JUDGED) // (int(fold.max()) + 1)
        for k in range(int(fold.max()) + 1):
            own = np.sort(rng.permutation(np.flatnonzero(judged_fold == k))[:each])
            optimum = self._optimum(judged[own])
            own, optimum = own[np.isfinite(optimum)], optimum[np.isfinite(optimum)]
            if own.size:
                train = self.used[np.flatnonzero(used_fold != k)]
                self.folds.append(Fold(train, judged[own], units(judged, split)[own], optimum))
        if not self.folds:
            raise InstanceError("no instance of the training set has a path from its source to its goal")
        self.groups = np.concatenate([fold.groups for fold in self.folds])
        self.snapshots = np.concatenate([fold.judged._stored_rows for fold in self.folds])

    @property
    def by_cost(self) -> bool:
        """Whether what paths cost decides too."""
        return self.algorithm == "astar" and self.scorer is None

    @property
    def bounded(self) -> bool:
        """Whether it is limited."""
        return self.by_cost and bool(np.isfinite(self.mean_excess))

    def _optimum(self, judged: InstanceSet) -> NDArray[np.float64]:
        """Return the cost of an optimal path of each instance, inf if there is none."""
        if self.costs is not None:
            return self.costs.at(judged)
        return solve_many(judged, np.zeros(judged.graph.n), n_jobs=self.n_jobs).cost

    def _with_further_starts(self, rng: np.random.Generator) -> InstanceSet:
        """Return the instances with further starts, and goals, on their snapshots, such as other instances have.

        What a path costs depends on its ends as much as on the snapshot. With one path for each snapshot the mean
        excess is uncertain, and the bound on it large.
        """
        used = self.used
        rows = np.unique(used._stored_rows)
        count = _STARTS * rows.size - len(used)
        if count <= 0 or np.unique(used.sources).size < _SOURCES:
            return used
        rows, pair = rng.permutation(np.resize(rows, count)), rng.integers(0, len(used), count)
        rows, pair = np.append(used._stored_rows, rows), np.append(np.arange(len(used)), pair)
        # The snapshots are those of the set: they were checked before.
        return object.__new__(InstanceSet)._fill(
            used.graph,
            used._stored,
            rows,
            used.sources[pair],
            used.goals[pair],
            "further starts",
            np.arange(rows.size),
            days=used._stored_days,
        )

    def fit(self, learner: Learner, k: int) -> Heuristic:
        """Return what a learner learns from fold k."""
        return clone(learner)._fit(self.folds[k].train, self.costs).heuristic_

    def judge(self, learner: Learner, fits: Sequence[Heuristic], factor: float = 1.0) -> Candidate:
        """Run what was learned from each fold, times a factor, on the instances that were held out."""
        expanded, losses, cost = [], [], []
        for fold, fitted in zip(self.folds, fits, strict=True):
            heuristic = fitted if factor == 1.0 else fitted.scaled(factor)
            how = {"algorithm": self.algorithm, "budget": self.budget, "n_jobs": self.n_jobs}
            runs = solve_many(fold.judged, heuristic, **how)  # type: ignore[arg-type]
            expanded.append(runs.expanded.astype(np.float64))
            cost.append(np.where(runs.solved, runs.cost, np.inf))
            if self.scorer is not None:
                losses.append(-self.scorer.each(heuristic, fold.judged, self.n_jobs))
        effort, optimum = np.concatenate(expanded), np.concatenate([fold.optimum for fold in self.folds])
        loss = np.concatenate(losses or expanded)
        excess = np.concatenate(cost) - optimum
        # Costs-to-go add up the same weights in another order.
        excess[excess <= 1e-9 * optimum] = 0.0
        share = np.divide(excess, optimum, out=np.zeros(excess.size), where=optimum > 0)
        bound = np.nan
        if self.by_cost:
            exact = factor <= 1 and all(fitted.lower is not None for fitted in fits)
            bound = 0.0 if exact else self._bound(excess, share, optimum)
        means = float(effort.mean()), float(share.mean())
        return Candidate(learner, *means, bound, loss, tuple(fits), effort, share, self.groups)

    def _bound(self, excess: NDArray[np.float64], share: NDArray[np.float64], optimum: NDArray[np.float64]) -> float:
        """Return the mean excess that is kept on new instances, on average and in total."""
        if not np.isfinite(excess).all():
            return np.inf
        sources = np.concatenate([fold.judged.sources for fold in self.folds])
        # With further starts, the paths of one snapshot depend on each other, and so do those from one start.
        by = [(self.snapshots, self.groups if self.unit == "day" else None)]
        by += [(sources, None)] if self.further else []
        return max(
            kept(values, groups, scale, days)
            for groups, days in by
            for values, scale in ((excess, optimum), (share, (optimum > 0).astype(np.float64)))
        )


# ---------------------------------------------------------------- who wins


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def estimate(
    values: NDArray[np.float64], groups: NDArray[np.int64], scale: NDArray[np.float64] | None = None
) -> Estimate:
    """Return Σ values / Σ scale with its standard error, in which the instances of one snapshot count as dependent.

    Without `scale` this is the mean.
    """
    size = np.ones(values.size) if scale is None else scale
    total = float(size.sum())
    mean = float(values.sum()) / total if total > 0 else 0.0
    _, of = np.unique(groups, return_inverse=True)
    rest = np.bincount(of, values - mean * size)
    count = rest.size
    if count < 2 or total == 0:
        return Estimate(mean, 0.0)
    return Estimate(mean, float(np.sqrt((rest @ rest) * count / (count - 1)) / total))


def upper_bound(
    values: NDArray[np.float64],
    groups: NDArray[np.int64],
    scale: NDArray[np.float64],
    *,
    level: float,
    surprise: ArrayLike = 0.0,
    days: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return a number that Σ values / Σ scale over new instances exceeds rarely; values are not negative.

    It is the bound of Student's t at this level, by snapshots, with one snapshot added: as bad as the worst of them. A
    few bad snapshots make up most of a mean like that of excess costs. If none of them is among those seen, both the
    mean and its standard error are too small; the added one accounts for those still to come.

    The snapshots of a day depend on each other. With `days`, the variance of the mean is that by days. Few days may
    look more alike than days are. Hence the variance is not below that by snapshots, plus what they have in common by
    day if days differ by 40 % of the mean (random effects). The quantile remains that of the number of snapshots.

    Parameters
    ----------
    values, groups, scale
        As for :func:`estimate`.
    level
        The probability with which the bound should hold, such as 0.95.
    surprise
        The added snapshot is at least this bad: values / scale. For several numbers, there is a bound for each.
    days
        The day of each instance; None if snapshots are independent.
    """
    from scipy.special import stdtrit

    value, size = _sums(groups, values, scale)
    added = np.asarray(surprise, dtype=np.float64)
    if size.sum() == 0:
        return np.zeros(added.shape)
    worst = np.divide(value, size, out=np.zeros(size.size), where=size > 0).max()
    typical = float(size.mean())
    total = size.sum() + typical
    extra = np.maximum(added, worst) * typical
    mean = (value.sum() + extra) / total

    def variance(value: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return that of the mean if these sums, and the added one, are independent."""
        rest = value @ value - 2 * mean * (value @ size) + mean**2 * (size @ size) + (extra - mean * typical) ** 2
        return np.maximum(rest, 0.0) * (1 + 1 / size.size) / total**2

    found = variance(value, size)
    if days is not None:
        by_day = _sums(days, values, scale)
        common = (by_day[1] @ by_day[1] - size @ size) / total**2
        found = found + np.maximum(variance(*by_day) - found, (_BETWEEN_DAYS * mean) ** 2 * common)
    return np.asarray(mean + stdtrit(size.size, level) * np.sqrt(found))


def _sums(
    groups: NDArray[np.int64], values: NDArray[np.float64], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of values and scale of each group."""
    _, of = np.unique(groups, return_inverse=True)
    return np.bincount(of, values).astype(np.float64), np.bincount(of, scale).astype(np.float64)


def kept(
    values: NDArray[np.float64],
    groups: NDArray[np.int64],
    scale: NDArray[np.float64],
    days: NDArray[np.int64] | None = None,
) -> float:
    """Return the lowest limit that is not below its own :func:`upper_bound`, with surprises in proportion to the limit.

    It does not depend on what is asked for: what keeps a limit keeps every larger one, so that a larger one never
    chooses worse.
    """
    low, high = _TINY, 10.0
    surprise = _SURPRISE * min(1.0, np.unique(groups).size / _SEEN)
    for _ in range(3):
        limits = np.geomspace(low, high, 200)
        inside = upper_bound(values, groups, scale, level=_LEVEL, surprise=surprise * limits, days=days) <= limits
        if not inside.any():
            return np.inf
        first = int(np.argmax(inside))
        low, high = float(limits[max(first - 1, 0)]), float(limits[first])
        if first == 0:
            break
    return high


def fewest() -> int:
    """Return how many snapshots it takes to keep any limit, even if nothing was lost on them."""
    count = 2
    while kept(np.zeros(count), np.arange(count), np.ones(count)) == np.inf:
        count += 1
    return count


def within(candidates: Sequence[Candidate], mean_excess: float) -> list[Candidate]:
    """Return the candidates that were judged and whose bound is within the mean excess; the closest one if none is."""
    judged = [one for one in candidates if one.losses.size]
    inside = [one for one in judged if not one.bound > mean_excess]
    return inside or (judged and [min(judged, key=lambda one: one.bound)])


def undominated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no other one beats in expansions and mean excess; of equal ones the first."""
    found: list[Candidate] = []
    least = np.inf
    places = {id(one): k for k, one in enumerate(candidates)}
    for one in sorted(candidates, key=lambda one: (one.expanded, one.mean_excess, places[id(one)])):
        if one.mean_excess < least:
            least = one.mean_excess
            found.append(one)
    return sorted(found, key=lambda one: places[id(one)])


def best(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the lowest mean loss."""
    return min(candidates, key=lambda one: float(one.losses.mean()))


def thriftiest(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the lowest mean excess among those within 2 % of the fewest expansions.

    No other candidate beats it in both.
    """
    front = undominated(candidates)
    fewest = min(one.expanded for one in front)
    near = [one for one in front if one.expanded <= (1 + _ALMOST) * fewest]
    return min(near, key=lambda one: one.mean_excess)


def choose(candidates: Sequence[Candidate], groups: NDArray[np.int64]) -> Candidate:
    """Return the first candidate that is within one standard error of the best, and within 2 %.

    Parameters
    ----------
    candidates
        The simplest first.
    groups
        The snapshot of each instance.
    """
    leader = best(candidates)
    for one in candidates:
        worse = estimate(one.losses - leader.losses, groups)
        if worse.mean <= min(worse.error, _ALMOST * abs(float(leader.losses.mean()))):
            return one
    return leader
