"""Advice: which way of answering queries is the fastest here, measured on this machine."""

from __future__ import annotations

import math
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import learners
from rhostar.errors import BoundsWarning, InfeasibleError, InputError
from rhostar.heuristics import HeuristicLike
from rhostar.instances import InstanceSet, Snapshot
from rhostar.report._routing_kit import RoutingKit, routing_kit
from rhostar.routing import Router
from rhostar.search import distances_to, solve_many

T = TypeVar("T")
_MOST_QUERIES, _MOST_ROWS = 300, 5
_MOST_TABLES, _CLUSTERS, _FEW = 64, 8, 30
_COUNTS = tuple(m * 10**e for e in range(7) for m in (1, 2, 5))
"""Queries per update for which the fastest option is named."""

ALWAYS = "always exact"
WHILE = "exact; slower where weights fall below the lowest seen"
STATED = "exact; slower where weights fall below the bounds given"
MEASURED = "no guarantee; the excess was measured"
ROUNDED = "exact for weights rounded to whole numbers, as RoutingKit takes them"

ASSUMPTIONS = "Processor time of one core, including paths; one-off costs are excluded."


@dataclass(frozen=True)
class Option:
    """One way to answer queries, in seconds."""

    name: str
    """What it is called in tables."""
    once: float
    """To learn or to build, once."""
    per_update: float
    """For every update of the weights: to check them, and to customize an index."""
    per_goal: float
    """For every update and each goal."""
    per_query: float
    """For each query."""
    excess: float
    """How much longer than the shortest path, on average over unseen snapshots: 0.01 is 1 %."""
    excess_99: float
    """What 99 % of the paths exceed the shortest ones by at most."""
    worst: float
    """The largest excess of a path that was measured."""
    guarantee: str
    """What holds for its paths, in words."""
    curve: tuple[tuple[float, float], ...] = ()
    """Numbers of queries after an update, and the time of all of them, where it does not grow evenly."""

    @property
    def exact(self) -> bool:
        """Whether paths are shortest ones, under the condition that the guarantee names."""
        return self.guarantee != MEASURED

    def seconds(self, queries: float, goals: float) -> float:
        """Return the time of an update and the queries after it.

        Parameters
        ----------
        queries
            How many.
        goals
            How many different goals they have.

        Returns
        -------
        float
            Seconds.
        """
        if not self.curve:
            return self.per_update + goals * self.per_goal + queries * self.per_query
        counts, totals = zip(*self.curve, strict=True)
        return float(np.interp(queries, counts, totals)) + max(queries - counts[-1], 0.0) * self.per_query


@dataclass(frozen=True)
class Advice:
    """The result of :func:`advise`. ``print(...)`` shows it in words."""

    options: tuple[Option, ...]
    """All ways that were measured."""
    queries: float
    """Queries per update of the weights."""
    goals: float
    """How many different goals these have."""
    mean_excess: float
    """The excess that paths may have on average."""
    left_out: str
    """What was not measured, and why; empty if all was."""

    def seconds(self, option: Option, queries: float | None = None) -> float:
        """Return the time of an option for one update and the queries after it, without what is done once.

        Parameters
        ----------
        option
            One of `options`.
        queries
            Queries per update; by default those that were asked for. If all of these have goals that differ, others do,
            too.

        Returns
        -------
        float
            Seconds.
        """
        count = self.queries if queries is None else queries
        return option.seconds(count, count if self.goals >= self.queries else min(count, self.goals))

    @property
    def accepted(self) -> list[Option]:
        """The options whose paths are good enough, the fastest first."""
        good = [o for o in self.options if o.exact or (self.mean_excess > 0 and o.excess <= self.mean_excess)]
        return sorted(good, key=self.seconds)

    @property
    def best(self) -> Option:
        """The fastest option whose paths are good enough."""
        return self.accepted[0]

    def best_for(self, queries: float) -> Option:
        """Return the fastest option whose paths are good enough, for another number of queries per update.

        Parameters
        ----------
        queries
            Queries per update.

        Returns
        -------
        Option
            One of `options`.
        """
        return min(self.accepted, key=lambda option: self.seconds(option, queries))

    def __str__(self) -> str:
        guarantees = list(dict.fromkeys(o.guarantee for o in self.options))
        goals = _count(self.goals, "goal", "different goals")
        lines = [
            f"{_count(self.queries, 'query', 'queries')} per update, to {goals}",
            f"{'':{_WIDTH}} {'update':>8} {'goal':>8} {'query':>8} {'total':>8} {'excess':>7}",
        ]
        for o in sorted(self.options, key=self.seconds):
            times = (o.per_update, o.per_goal, o.per_query, self.seconds(o))
            cells = " ".join(f"{_time(each):>8}" for each in times)
            kind = f"({guarantees.index(o.guarantee) + 1})"
            lines.append(f"{o.name:{_WIDTH}} {cells} {100 * o.excess:5.2f} % {kind}")
        lines += [f"({k}) {words}" for k, words in enumerate(guarantees, start=1)]
        for o in self.options:
            if not o.exact:
                lines.append(f"{o.name}: 99 % within {100 * o.excess_99:.2f} %, worst {100 * o.worst:.2f} %")
        lines.append(ASSUMPTIONS)
        best = self.best
        plain = next(o for o in self.options if o.name == "Dijkstra")
        faster = f"{self.seconds(plain) / self.seconds(best):.1f} times as fast as Dijkstra"
        once = f", after {_time(best.once)} once" if best.once else ""
        lines.append(f"Use {best.name}: {'no accepted option is faster' if best is plain else faster + once}.")
        for words in (f"The fastest by queries per update: {self._turns()}.", self.left_out):
            lines += textwrap.wrap(words, 80, break_on_hyphens=False)
        return "\n".join(lines)

    def _turns(self) -> str:
        found: list[str] = []
        last = None
        for count in _COUNTS:
            best = self.best_for(count)
            if best is not last:
                found.append(f"from {count:,} {best.name}")
            last = best
        return "; ".join(found)


_WIDTH = 26
"""Of the names of options in tables."""


def _count(number: float, one: str, many: str) -> str:
    return f"{number:,g} {one if number == 1 else many}"


def advise(
    instances: InstanceSet,
    queries: float,
    *,
    goals: int | None = None,
    mean_excess: float = 0.0,
    lower: ArrayLike | None = None,
    seed: int = 0,
) -> Advice:
    """Measure which method answers queries fastest, on half of the snapshots, after learning from the other half.

    A router (:class:`rhostar.Router`), plain Dijkstra, tables of exact costs-to-go for each goal
    (:func:`rhostar.distances_to`), landmarks, the lower envelope, learned mean distances, and RoutingKit, if
    ``pyroutingkit`` is installed, are measured in processor time on one thread. With more than 64 goals, or goals that
    the others do not have, the lower envelope and the learned values are potentials, which serve any goal. RoutingKit
    gets the router's order of the vertices, so it needs no coordinates. Instances without a path are left out.

    Parameters
    ----------
    instances
        At least two snapshots.
    queries
        How many queries there are between two updates of the weights, to all goals together.
    goals
        How many different goals these queries have; None for as many as the instances have. If it is more than that,
        sources and goals are drawn from all vertices.
    mean_excess
        The mean excess that you accept: 0.01 for paths that are 1 % longer on average. With 0 only options that
        guarantee shortest paths are recommended.
    lower
        Lower bounds on the weights, a number or one per edge, as for :func:`rhostar.learn`: the lower envelope is that
        of these bounds. None takes the lowest weights of the snapshots that are learned from.
    seed
        Draws the half of the snapshots, and vertices.

    Returns
    -------
    Advice
        With ``best``, all ``options`` and ``best_for(queries)``.

    Raises
    ------
    InputError
        If there are fewer than two snapshots, no query, or no goal.
    InfeasibleError
        If no instance to measure on has a path.
    WeightError
        If an instance that is learned from has a weight below `lower`.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.datasets.city(200, seed=1).draw(60, seed=0)
    >>> found = rs.advise(instances, queries=1)
    >>> [option.name for option in found.options][:3]
    ['Router', 'Dijkstra', 'tables of costs-to-go']
    >>> found.best.exact
    True
    """
    if not isinstance(instances, InstanceSet) or np.unique(instances._stored_rows).size < 2:
        raise InputError("instances must be an InstanceSet with two snapshots or more; with one, use rs.distances_to")
    count = arrays.number(queries, "queries", "a number above 0", lambda value: 0 < value < math.inf)
    accepted = arrays.number(mean_excess, "mean_excess", "a number of at least 0", lambda value: value >= 0)
    known = np.unique(instances.goals).size
    wanted = known if goals is None else arrays.integer(goals, "goals", 1)
    train, test = instances.split(0.5, seed=seed, groups=instances._stored_rows)
    test = test[: min(_MOST_QUERIES, len(test))]
    if wanted > known:
        test = _anywhere(test, seed)
    zeros = np.zeros(instances.graph.n)
    optimum = solve_many(test, zeros, n_jobs=1).cost
    there = np.flatnonzero(np.isfinite(optimum))
    if not there.size:
        raise InfeasibleError(f"none of the {len(test)} instances to measure on has a path from its source to its goal")
    test, optimum = test[there], optimum[there]
    check = _timed(3, Snapshot, test.graph, test._stored[test._stored_rows[0]])[0]
    router, left_out = _router(test, optimum)
    options = [router, _searched("Dijkstra", zeros, test, optimum, 0.0, check, ALWAYS), _costs_to_go(test, check)]
    # A table leads to one goal that was learned; for others, and for many, values are computed.
    computed = known > _MOST_TABLES or not np.isin(test.goals, train.goals).all()
    envelope = learners.Potentials(lower=lower) if computed else learners.LowerEnvelope(lower)
    clusters = learners.Potentials(n_clusters=_CLUSTERS, random_state=seed)
    for name, learner, guarantee in (
        ("A*, landmarks", learners.Landmarks(random_state=seed), WHILE),
        ("A*, lower envelope", envelope, WHILE if lower is None else STATED),
        ("A*, learned mean weights", clusters, MEASURED)
        if computed
        else ("A*, learned mean distances", learners.MeanDistance(), MEASURED),
    ):
        fitted = learner if known == 1 or not learner.one_goal else learners.PerGoal(learner)
        once, _ = _timed(1, fitted.fit, train)
        options.append(_searched(name, fitted, test, optimum, once, check, guarantee))
    kit = routing_kit(test.graph) if left_out == "" else None
    if kit is not None:
        options.append(_with_kit(kit, test, optimum, router.once))
    return Advice(tuple(options), count, min(wanted, max(count, 1.0)), accepted, left_out)


def _anywhere(test: InstanceSet, seed: int) -> InstanceSet:
    """Return instances with the same snapshots, and sources and goals drawn from all vertices."""
    rng = np.random.default_rng(seed)
    sources = rng.integers(0, test.graph.n, len(test))
    goals = (sources + rng.integers(1, max(test.graph.n, 2), len(test))) % test.graph.n
    return InstanceSet(test.graph, test._stored, sources, goals, rows=test._stored_rows, infeasible="keep")


def _searched(
    name: str,
    rho: HeuristicLike | Any,
    test: InstanceSet,
    optimum: NDArray[np.float64],
    once: float,
    check: float,
    guarantee: str,
) -> Option:
    with warnings.catch_warnings():
        # That some bounds do not hold on new snapshots shows in the time.
        warnings.simplefilter("ignore", BoundsWarning)
        took, runs = _timed(3, solve_many, test, rho, n_jobs=1)
    return Option(name, once, check, 0.0, took / len(test), *_excess(runs.cost, optimum), guarantee)


def _costs_to_go(test: InstanceSet, check: float) -> Option:
    pairs = list(dict.fromkeys(zip(test._stored_rows.tolist(), test.goals.tolist(), strict=True)))[:_MOST_ROWS]
    tables, queries, answered = 0.0, 0.0, 0
    for row, goal in pairs:
        weights = test._stored[row]
        took, table = _timed(2, distances_to, test.graph, weights, goal)
        tables += took
        # From all sources that lead to this goal, or all that there are: a call for one query would measure the call.
        own = test.sources[test.goals == goal]
        sources = own if own.size >= _FEW else test.sources[test.sources != goal]
        mine = InstanceSet(test.graph, weights, sources, goal, infeasible="drop")
        # An unreachable vertex costs infinity, and no search comes there.
        queries += _timed(3, solve_many, mine, np.where(np.isfinite(table), table, 0.0), n_jobs=1)[0]
        answered += len(mine)
    each = tables / len(pairs)
    return Option("tables of costs-to-go", 0.0, check, each, queries / answered, 0.0, 0.0, 0.0, ALWAYS)


def _router(test: InstanceSet, optimum: NDArray[np.float64]) -> tuple[Option, str]:
    """Return the option of a router as it comes, and why it has no hierarchy; nothing if it has."""
    router = Router(test.graph)
    once, _ = _timed(1, router.prepare)
    # A series of queries after each update; then, for the rate, the same on a hierarchy that is ready.
    ends = np.stack([test.sources, test.goals], axis=1)
    series = np.resize(np.random.default_rng(0).permutation(ends), (_MOST_QUERIES, 2)).tolist()
    counts = [k for k in _COUNTS if k <= _MOST_QUERIES]
    curves, updates, rates, cost, best = [], [], [], [], []
    for row in np.unique(test._stored_rows)[:_MOST_ROWS].tolist():
        begin = time.process_time()
        router.update(test._stored[row])
        totals = [time.process_time() - begin]
        for k, (source, goal) in enumerate(series, start=1):
            router.route(source, goal).path  # noqa: B018
            if k in counts:
                totals.append(time.process_time() - begin)
        curves.append(totals)
        updates.append(_timed(2, _prepared, router, test._stored[row])[0])
        rates.append(_timed(2, lambda: [router.route(s, t).path for s, t in series])[0] / len(series))
        own = np.flatnonzero(test._stored_rows == row)
        cost += router.routes(ends[own], n_jobs=1).cost.tolist()
        best += optimum[own].tolist()
    curve = tuple(zip([0, *counts], np.median(curves, axis=0).tolist(), strict=True))
    excess = _excess(np.array(cost), np.array(best))
    why = "" if router.explain().engine == "hierarchy" else router.explain().order
    return Option("Router", once, _median(updates), 0.0, _median(rates), *excess, ALWAYS, curve), why


def _prepared(router: Router, weights: NDArray[Any]) -> None:
    router.update(weights)
    router.prepare()


def _with_kit(kit: RoutingKit, test: InstanceSet, optimum: NDArray[np.float64], order: float) -> Option:
    updates, queries, cost, best = [], [], [], []
    for row in np.unique(test._stored_rows)[:_MOST_ROWS].tolist():
        weights = test._stored[row]
        updates.append(_timed(2, kit.update, weights, 2 * float(optimum.max()))[0])
        own = np.flatnonzero(test._stored_rows == row).tolist()
        pairs = [(int(test.sources[i]), int(test.goals[i])) for i in own]
        took, paths = _timed(3, lambda p=pairs: [kit.path(s, t) for s, t in p])
        queries.append(took / len(pairs))
        cost += [float(weights[path].sum()) for path in paths]
        best += optimum[own].tolist()
    excess = _excess(np.array(cost), np.array(best))
    return Option("RoutingKit", order + kit.seconds, _median(updates), 0.0, _median(queries), *excess, ROUNDED)


def _excess(cost: NDArray[np.float64], optimum: NDArray[np.float64]) -> tuple[float, float, float]:
    good = np.isfinite(optimum) & (optimum > 0)
    over = np.maximum(cost[good] / optimum[good] - 1, 0.0)
    if not over.size:
        return 0.0, 0.0, 0.0
    return float(over.mean()), float(np.quantile(over, 0.99, method="inverted_cdf")), float(over.max())


def _timed(times: int, call: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[float, T]:
    """Return the lowest processor time of some calls, which other programs hardly change, and the result."""
    best = math.inf
    for _ in range(times):
        start = time.process_time()
        result = call(*args, **kwargs)
        best = min(best, time.process_time() - start)
    return best, result


def _median(values: list[float]) -> float:
    return float(np.median(values))


def _time(seconds: float) -> str:
    if seconds == 0:
        return "-"
    for size, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
