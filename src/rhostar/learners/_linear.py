"""Learns ρ = base + Φθ with few parameters θ, chosen by exact searches along lines.

Along a line the mean utility is piecewise constant, and all of its pieces can be found (:mod:`rhostar.lines`). With
one feature that is the whole problem: the θ found is the best of all θ, not only on a grid. With several, lines are
searched one after the other, along the axes and in random directions, from several starts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError, LimitError
from rhostar.families import Linear
from rhostar.instances import InstanceSet, Provenance, provenance
from rhostar.learners._base import Learner, Seed, generator, table_of
from rhostar.learners._distances import MeanDistance
from rhostar.learners._folds import hold_out
from rhostar.learners._objective import Objective
from rhostar.learners._progress import progress
from rhostar.lines._means import Dual, dual
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Utility

Source = Learner | Callable[[InstanceSet], ArrayLike] | ArrayLike
"""Values, a learner that fits them, or a function that makes one or more columns of values from instances."""

_SCANNED = 64
"""How many values of θ are tried on a line with too many pieces, before a part of it is searched exactly."""
_CANDIDATES = 8
"""How many of the best pieces are run with floats, as they will be used."""
_NARROWINGS = 4


class LinearFamily(Learner):
    """ρ = base + Φθ: few parameters, so that a certificate for every θ at once is useful.

    Parameters
    ----------
    features
        Φ: an array (n,) or (n, k); or a learner, a function of an InstanceSet, or a list of arrays, learners and
        functions, each of which gives one or more columns. None is :class:`MeanDistance`.
    base
        An array, a learner or a function; None is 0.
    built_from
        What the arrays among base and features were made from: a list of instances, fitted learners and
        :class:`Provenance`, empty if no instance had a part in them. None says that it is not known; then a bound for
        every θ cannot be computed on training instances. Learners and functions among the features need no entry.
    low, high
        The range of every coefficient.
    feature_fraction
        If base or features are learned: the share of the instances (whole snapshots) they are learned from. θ is
        chosen on the rest. The family records which instances shaped it, so that no certificate is computed on them.
    algorithm
        What to run: "astar" or "gbfs".
    reopen
        Whether A* reopens closed vertices.
    utility
        What to lower (or raise, if higher is better); None is the number of expansions.
    max_lines
        How many lines are searched if there are several features; None is 8 k + 8. With one feature it is one.
    time_limit
        No new line is started after this many seconds; None for no limit, so that equal seeds give equal values.
    work
        About how many expansions the exact search of one line may take. If a line has more pieces than that allows,
        it is scanned first, and only an interval around the best value is searched exactly.
    budget
        How many vertices a run may expand; None is 100 n.
    random_state
        Decides which instances the features are learned from, and the directions of lines.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Attributes
    ----------
    theta_
        (k,) the coefficients.
    heuristic_
        :class:`rhostar.families.Linear`, with the instances that base and features were learned from.
    value_
        The mean utility on the instances θ was chosen on, from runs with this `rho_`.
    dual_
        With one feature: the mean utility as a function of θ, a :class:`rhostar.theory.Dual`.
    exact_
        Whether every line was searched exactly over its whole range. With one feature, `theta_` is then a minimizer.
    chosen_on_
        Which instances θ was chosen on: those a certificate may use.
    history_
        The mean after each line, lower is better.

    Notes
    -----
    ρ at the goal is base + Φθ there, which is 0 for costs-to-go. Lines are exact in real numbers. Searches use floats,
    so the best pieces are also run with floats, and the one that does best wins.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).integers(1, 10, size=(40, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.LinearFamily(rs.learners.MeanDistance(), high=3, random_state=0).fit(instances)
    >>> learner.exact_, len(learner.dual_), learner.value_ == learner.dual_.value
    (True, 793, True)
    >>> learner.heuristic_.family.parameters, learner.heuristic_.family.overlap(instances)
    (1, 20)
    """

    consistency = "Nothing is known: θ is chosen by what the runs do."
    algorithm: Algorithm

    def __init__(
        self,
        features: Source | Sequence[Source] | None = None,
        base: Source | None = None,
        *,
        built_from: Sequence[InstanceSet | Provenance | Learner] | None = None,
        low: float = 0.0,
        high: float = 4.0,
        feature_fraction: float = 0.5,
        algorithm: Algorithm = "astar",
        reopen: bool = True,
        utility: Utility | None = None,
        max_lines: int | None = None,
        time_limit: float | None = None,
        work: int = 50_000_000,
        budget: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.features, self.base, self.built_from, self.low, self.high = features, base, built_from, low, high
        self.feature_fraction, self.algorithm, self.reopen, self.utility = feature_fraction, algorithm, reopen, utility
        self.max_lines, self.time_limit, self.work, self.budget = max_lines, time_limit, work, budget
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        low = arrays.number(self.low, "low", "finite", lambda x: bool(np.isfinite(x)))
        high = arrays.number(self.high, "high", f"finite and not below low ({low})", lambda x: low <= x < np.inf)
        most = None if self.max_lines is None else arrays.integer(self.max_lines, "max_lines", 1)
        work = arrays.integer(self.work, "work", 1)
        seconds = math.inf
        if self.time_limit is not None:
            seconds = arrays.number(self.time_limit, "time_limit", "a number of seconds", lambda x: 0 <= x < np.inf)
        rng = generator(self.random_state)
        family, chosen_on, seen = self._family(instances, rng)
        objective = Objective(chosen_on, self.utility, self.algorithm, self.reopen, self.budget, self.n_jobs)
        search = _Search(objective, family, work, low, high)
        k, started = family.parameters, time.monotonic()
        most = 1 if k == 1 else 8 * k + 8 if most is None else most
        history = [search.best.mean]
        with progress("lines", most, self.verbose) as advance:
            for direction in _directions(k, rng, search):
                search.line(direction)
                history.append(search.best.mean)
                advance(f"{search.best.mean:.6g}")
                if len(history) > most or time.monotonic() - started >= seconds:
                    break
        best = search.best
        value = best.mean if objective.utility.better == "lower" else objective.utility.limit - best.mean
        return {
            "rho_": family.table(best.theta),
            "theta_": best.theta,
            "family": family,
            "value_": value,
            "dual_": search.dual if k == 1 else None,
            "exact_": search.exact,
            "chosen_on_": Provenance.of(chosen_on),
            "trained_on": provenance(instances, *seen),
            "history_": np.array(history),
        }

    def _family(
        self, instances: InstanceSet, rng: np.random.Generator
    ) -> tuple[Linear, InstanceSet, tuple[Provenance, ...]]:
        """Return the family, the instances that had no part in making it, and those that are known to have had one."""
        given = MeanDistance() if self.features is None else self.features
        parts = list(given) if isinstance(given, list | tuple) and not _is_table(given) else [given]
        if not parts:
            raise InputError("features must hold at least one feature")
        seen = self._stated()
        sources = [*parts, *([] if self.base is None else [self.base])]
        known = self.built_from is not None or all(_is_learned(source) for source in sources)
        learned_from, rest = instances, instances
        if any(_is_learned(source) for source in sources):
            share = arrays.number(self.feature_fraction, "feature_fraction", "between 0 and 1", lambda x: 0 < x < 1)
            learned_from, rest = hold_out(instances, 1 - share, rng)
            seen += (Provenance.of(learned_from),)
        n = instances.graph.n
        columns = []
        for i, source in enumerate(parts):
            name = f"features[{i}]" if len(parts) > 1 else "features"
            table, inherited = _table(source, name, learned_from)
            known, seen = known and inherited is not None, seen + (inherited or ())
            if table.ndim not in (1, 2) or table.shape[0] != n or table.size == 0:
                raise ArrayError(f"{name} must have shape ({n},) or ({n}, k), got {table.shape}")
            columns.append(table.reshape(n, -1))
        base = np.zeros(n)
        if self.base is not None:
            base, inherited = _table(self.base, "base", learned_from)
            known, seen = known and inherited is not None, seen + (inherited or ())
        seen = provenance(*seen).parts if seen else ()
        base = arrays.per_vertex(base, "base", n)
        return Linear(base=base, features=np.hstack(columns), built_from=seen if known else None), rest, seen

    def _stated(self) -> tuple[Provenance, ...]:
        """Return the instances that `built_from` states."""
        given = self.built_from
        if given is None:
            return ()
        if not isinstance(given, list | tuple) or isinstance(given, Provenance):
            raise InputError(f"built_from must be a list of instances, learners or provenances, got {given!r}")
        stated: list[Provenance] = []
        for k, part in enumerate(given):
            found = part._seen if isinstance(part, Learner) else part
            if not isinstance(found, InstanceSet | Provenance):
                raise InputError(f"built_from[{k}] must be instances, a fitted learner or a provenance, got {part!r}")
            stated += provenance(found).parts
            if isinstance(part, Learner):
                stated += part.heuristic_.family.built_from or ()
        return tuple(stated)


def _is_learned(source: Any) -> bool:
    return isinstance(source, Learner) or callable(source)


def _is_table(given: Sequence[Any]) -> bool:
    """Return whether a list holds numbers, not arrays, learners and functions."""
    return len(given) > 0 and all(
        isinstance(x, int | float) or (isinstance(x, list | tuple) and _is_table(x)) for x in given
    )


def _table(source: Any, name: str, instances: InstanceSet) -> tuple[NDArray[np.float64], tuple[Provenance, ...] | None]:
    """Return the columns that a source gives, and the instances that a learner saw; None if not all are known."""
    inherited: tuple[Provenance, ...] | None = ()
    if isinstance(source, Learner):
        fitted = clone(source).fit(instances)
        found = table_of(fitted, f"{name} must fit values for one goal, got {source!r}")
        shaped = found.family.built_from
        inherited = None if shaped is None else provenance(fitted._seen, *shaped).parts
        values: Any = found.values
    else:
        values = source(instances) if callable(source) else source
    table = arrays.as_array(values, name)
    if table.dtype.kind not in "biuf":
        raise ArrayError(f"{name} must be numbers, a learner or a function, got {source!r}")
    table = table.astype(np.float64)
    if not np.isfinite(table).all():
        first = tuple(int(x) for x in np.argwhere(~np.isfinite(table))[0])
        raise ArrayError(f"{name} must be finite, got {table[first]} at {first}")
    return table, inherited


# ---------------------------------------------------------------- lines


class _Point(NamedTuple):
    theta: NDArray[np.float64]
    mean: float


class _Search:
    """The current point of the search, the best point so far, and how a line is searched."""

    def __init__(self, objective: Objective, family: Linear, work: int, low: float, high: float) -> None:
        self.objective, self.family, self.work, self.low, self.high = objective, family, work, low, high
        self.exact = True
        self.dual: Dual | None = None
        self.here = self.best = self._point(np.full(family.parameters, min(max(0.0, low), high)))

    def restart(self, theta: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.here = self._point(theta)
        self.best = min(self.best, self.here, key=lambda point: point.mean)

    def line(self, direction: NDArray[np.float64]) -> None:
        """Move to the best point along a direction, unless the current one is better."""
        # With one feature the line is the family itself, and its dual is a function of θ.
        start = self.here.theta if direction.size > 1 else np.zeros(1)
        low, high = self._range(start, direction)
        found: list[_Point] = []
        for t in self._best_of_line(self.family.table(start), self.family.features @ direction, low, high):
            found.append(self._point(np.clip(start + t * direction, self.low, self.high)))
            if self.dual is not None and found[-1].mean <= self._turned(self.dual.value) * (1 + 1e-12):
                break  # floats agree with exact numbers
        # At a tie the new point is taken: it lies in the middle of a wide piece.
        self.here = min([*found, self.here], key=lambda point: point.mean)
        self.best = min(self.here, self.best, key=lambda point: point.mean)

    def _point(self, theta: NDArray[np.float64]) -> _Point:
        return _Point(theta, self.objective.mean(self.family.table(theta)))

    def _turned(self, value: float) -> float:
        utility = self.objective.utility
        return value if utility.better == "lower" else utility.limit - value

    def _range(self, start: NDArray[np.float64], direction: NDArray[np.float64]) -> tuple[Fraction, Fraction]:
        """Return how far one can move within the box; with several features, as numbers with few digits."""
        if direction.size == 1:
            return Fraction(self.low), Fraction(self.high)
        used = direction != 0
        ends = np.array([self.low - start[used], self.high - start[used]]) / direction[used]
        ends.sort(axis=0)
        low, high = float(ends[0].max()), float(ends[1].min())
        step = 2.0 ** (math.frexp(high - low)[1] - 20) if high > low else 1.0
        return Fraction(math.ceil(low / step)) * Fraction(step), Fraction(math.floor(high / step)) * Fraction(step)

    def _best_of_line(
        self, base: NDArray[np.float64], slope: NDArray[np.float64], low: Fraction, high: Fraction
    ) -> list[float]:
        """Return values of t to try on base + t · slope, the most promising first."""
        self.dual = None
        if low > high:
            return []
        try:
            self.dual = self._dual(base, slope, low, high)
            return _candidates(self.dual)
        except LimitError:
            self.exact = False
        scanned = np.linspace(float(low), float(high), _SCANNED)
        means = [self.objective.mean(base + t * slope) for t in scanned]
        best = float(scanned[int(np.argmin(means))])
        reach = (high - low) / (_SCANNED - 1)
        for _ in range(_NARROWINGS):
            try:
                self.dual = self._dual(base, slope, max(low, Fraction(best) - reach), min(high, Fraction(best) + reach))
                return [*_candidates(self.dual), best]
            except LimitError:
                reach /= 16
        return [best]

    def _dual(self, base: NDArray[np.float64], slope: NDArray[np.float64], low: Fraction, high: Fraction) -> Dual:
        objective = self.objective
        options: dict[str, Any] = {"reopen": objective.reopen, "budget": objective.budget, "n_jobs": objective.n_jobs}
        middle = base + float((low + high) / 2) * slope
        runs = solve_many(objective.instances, middle, algorithm=objective.algorithm, **options)
        # A piece costs a run.
        max_pieces = max(16, self.work // max(1, int(runs.expanded.sum())))
        line = (base, slope, low, high, objective.instances, objective.algorithm, objective.utility)
        return dual(*line, max_pieces=max_pieces, optimum=objective.optimum, **options)


def _candidates(dual: Dual) -> list[float]:
    """Return values inside the best pieces, wide ones first among equals."""
    means = -dual.mean if dual.utility.better == "higher" else dual.mean
    order = np.lexsort((-np.diff(dual.intervals.edges), means))[:_CANDIDATES]
    return [float(dual.intervals[i].inside) for i in order.tolist()]


def _directions(k: int, rng: np.random.Generator, search: _Search) -> Iterator[NDArray[np.float64]]:
    """Yield the axes, then random directions, then the axes again from a new start if nothing improves."""
    while True:
        yield from np.eye(k)
        stale = 0
        while stale < 2:
            before = search.here.mean
            for _ in range(k):
                # Few digits, so that sums of features stay short.
                yield np.round(rng.normal(size=k) * 8) / 8
            stale = 0 if search.here.mean < before else stale + 1
        search.restart(rng.uniform(search.low, search.high, k))
