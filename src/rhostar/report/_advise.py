"""Advice: which way of answering queries is the fastest here, measured on this machine; it may be another program."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import learners
from rhostar.errors import BoundsWarning, InfeasibleError, InputError
from rhostar.heuristics import HeuristicLike
from rhostar.instances import InstanceSet
from rhostar.search import distances_to, solve_many

T = TypeVar("T")
_MOST_QUERIES, _MOST_PAIRS = 300, 5
_MOST_TABLES, _CLUSTERS, _FEW = 64, 8, 30

ALWAYS = "always exact"
WHILE = "exact; slower where weights fall below the lowest seen"
STATED = "exact; slower where weights fall below the bounds given"
MEASURED = "no promise; the excess was measured"


@dataclass(frozen=True)
class Option:
    """One way to answer queries, in seconds."""

    name: str
    """What it is called in tables."""
    once: float
    """To learn or to build, once."""
    per_snapshot: float
    """For every new snapshot, whatever the goals."""
    per_goal: float
    """For every new snapshot and each goal."""
    per_query: float
    """For each query."""
    excess: float
    """How much longer than the shortest path, on average over unseen snapshots: 0.01 is 1 %."""
    excess_99: float
    """What 99 % of the paths exceed the shortest ones by at most."""
    worst: float
    """The largest excess of a path that was measured."""
    promise: str
    """What holds for its paths, in words."""

    @property
    def exact(self) -> bool:
        """Whether paths are shortest ones, under the condition that the promise names."""
        return self.promise != MEASURED


@dataclass(frozen=True)
class Advice:
    """What :func:`advise` found. ``print(...)`` says it in words."""

    options: tuple[Option, ...]
    """All ways that were measured."""
    queries: float
    """Queries per goal and snapshot."""
    goals: int
    """Goals that share a snapshot."""
    tolerance: float
    """The excess that paths may have on average."""
    left_out: str
    """What was not measured, and why; empty if all was."""

    def seconds(self, option: Option, queries: float | None = None) -> float:
        """Return the time of an option for one goal and one snapshot, without what is done once.

        Parameters
        ----------
        option
            One of `options`.
        queries
            Queries per goal and snapshot; by default those that were asked for.

        Returns
        -------
        float
            Seconds.
        """
        count = self.queries if queries is None else queries
        return option.per_snapshot / self.goals + option.per_goal + count * option.per_query

    @property
    def accepted(self) -> list[Option]:
        """The options whose paths are good enough, the fastest first."""
        good = [o for o in self.options if o.exact or (self.tolerance > 0 and o.excess <= self.tolerance)]
        return sorted(good, key=self.seconds)

    @property
    def best(self) -> Option:
        """The fastest option whose paths are good enough."""
        return self.accepted[0]

    def break_even(self, option: Option) -> float:
        """Return from how many queries per goal and snapshot an option is faster than the best one; inf if never.

        Parameters
        ----------
        option
            One of `options`.

        Returns
        -------
        float
            A number of queries.
        """
        fixed = self.seconds(option, 0) - self.seconds(self.best, 0)
        gain = self.best.per_query - option.per_query
        return math.inf if gain <= 0 else max(fixed / gain, 0.0)

    def __str__(self) -> str:
        width = max(len(o.name) for o in self.options)
        head = f"{'':{width}}  {'snapshot':>8}  {'query':>8}  {'together':>8}  {'excess':>7}"
        promises = list(dict.fromkeys(o.promise for o in self.options))
        many = "query" if self.queries == 1 else "queries"
        lines = [f"for each goal and snapshot, with {self.queries:g} {many}", head]
        for o in sorted(self.options, key=self.seconds):
            fixed = _time(self.seconds(o, 0))
            excess = f"{100 * o.excess:.2f} %"
            whole = f"{_time(self.seconds(o))}"
            kind = f"({promises.index(o.promise) + 1})"
            lines.append(f"{o.name:{width}}  {fixed:>8}  {_time(o.per_query):>8}  {whole:>8}  {excess:>7}  {kind}")
        lines += [f"({k}) {promise}" for k, promise in enumerate(promises, start=1)]
        for o in self.options:
            if not o.exact:
                lines.append(f"{o.name}: 99 % within {100 * o.excess_99:.2f} %, worst {100 * o.worst:.2f} %")
        best = self.best
        plain = next(o for o in self.options if o.name == "Dijkstra")
        faster = f"{self.seconds(plain) / self.seconds(best):.1f} times as fast as Dijkstra"
        lines.append(f"Use {best.name}: {'nothing that is good enough is faster' if best is plain else faster}.")
        if best.name == CCH:
            lines.append("That is another program: customizable contraction hierarchies, as in RoutingKit.")
        for o in self.accepted[1:]:
            turn = self.break_even(o)
            # Only where it is then the fastest of all.
            if self.queries < turn < math.inf and all(
                self.seconds(o, 1.001 * turn) <= self.seconds(p, 1.001 * turn) for p in self.accepted
            ):
                lines.append(f"From {math.ceil(turn):,} queries on, {o.name} is faster.")
        if self.left_out:
            lines.append(self.left_out)
        return "\n".join(lines)


CCH = "contraction hierarchy (pyroutingkit)"


def advise(
    instances: InstanceSet, queries: float, *, tolerance: float = 0.0, weight_bounds: Any = None, seed: int = 0
) -> Advice:
    """Measure which way of answering queries is the fastest, on half of the snapshots, after learning from the others.

    Plain Dijkstra, exact costs-to-go once per goal and snapshot (:func:`rhostar.distances_to`), landmarks, the lower
    envelope, and learned mean distances are measured in processor time on one thread. With more than 64 goals, or goals
    that the others do not have, the last two are potentials, which serve any goal. Customizable contraction hierarchies
    are measured too, if ``pyroutingkit`` is installed and the graph has coordinates. Instances without a path are left
    out.

    Parameters
    ----------
    instances
        At least two snapshots.
    queries
        How many queries come for each goal before the weights change.
    tolerance
        The mean excess that you accept: 0.01 for paths that are 1 % longer on average. With 0 only options that
        promise shortest paths are recommended.
    weight_bounds
        (least, largest) weights, numbers or one per edge, as for :func:`rhostar.learn`: the lower envelope is that of
        the least ones. None takes the least weights of the snapshots that are learned from.
    seed
        Draws the half of the snapshots.

    Returns
    -------
    Advice
        With ``best``, all ``options`` and ``break_even(option)``.

    Raises
    ------
    InputError
        If there are fewer than two snapshots, or no query.
    InfeasibleError
        If no instance to measure on has a path.
    WeightError
        If an instance that is learned from has a weight below `weight_bounds`.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.datasets.city(200, seed=1).draw(60, seed=0)
    >>> found = rs.advise(instances, queries=1)
    >>> [option.name for option in found.options][:3]
    ['Dijkstra', 'costs-to-go, once per snapshot', 'A* with landmarks']
    >>> found.best.exact
    True
    """
    if not isinstance(instances, InstanceSet) or np.unique(instances._stored_rows).size < 2:
        raise InputError("instances must be an InstanceSet with two snapshots or more; with one, use rs.distances_to")
    count = arrays.number(queries, "queries", "a number above 0", lambda value: 0 < value < math.inf)
    accepted = arrays.number(tolerance, "tolerance", "a number of at least 0", lambda value: value >= 0)
    train, test = instances.split(0.5, seed=seed, groups=instances._stored_rows)
    test = test[: min(_MOST_QUERIES, len(test))]
    goals = np.unique(instances.goals).size
    zeros = np.zeros(instances.graph.n)
    lower = None if weight_bounds is None else weight_bounds[0]
    optimum = solve_many(test, zeros, n_jobs=1).cost
    there = np.flatnonzero(np.isfinite(optimum))
    if not there.size:
        raise InfeasibleError(f"none of the {len(test)} instances to measure on has a path from its source to its goal")
    test, optimum = test[there], optimum[there]
    options = [_searched("Dijkstra", zeros, test, optimum, 0.0, ALWAYS), _costs_to_go(test)]
    # A table leads to one goal that was learned; for others, and for many, values are computed.
    computed = goals > _MOST_TABLES or not np.isin(test.goals, train.goals).all()
    envelope = learners.Potentials(lower=lower) if computed else learners.LowerEnvelope(lower)
    clusters = learners.Potentials(n_clusters=_CLUSTERS, random_state=seed)
    for name, learner, promise in (
        ("A* with landmarks", learners.Landmarks(random_state=seed), WHILE),
        ("A* with the lower envelope", envelope, WHILE if lower is None else STATED),
        ("A* with learned mean weights", clusters, MEASURED)
        if computed
        else ("A* with learned mean distances", learners.MeanDistance(), MEASURED),
    ):
        fitted = learner if goals == 1 or not learner.one_goal else learners.PerGoal(learner)
        once, _ = _timed(1, fitted.fit, train)
        options.append(_searched(name, fitted, test, optimum, once, promise))
    hierarchy, left_out = _hierarchy(test, optimum)
    return Advice((*options, *hierarchy), count, goals, accepted, left_out)


def _searched(
    name: str, rho: HeuristicLike | Any, test: InstanceSet, optimum: NDArray[np.float64], once: float, promise: str
) -> Option:
    with warnings.catch_warnings():
        # That some bounds do not hold on new snapshots shows in the time.
        warnings.simplefilter("ignore", BoundsWarning)
        took, runs = _timed(3, solve_many, test, rho, n_jobs=1)
    return Option(name, once, 0.0, 0.0, took / len(test), *_excess(runs.cost, optimum), promise)


def _costs_to_go(test: InstanceSet) -> Option:
    pairs = list(dict.fromkeys(zip(test._stored_rows.tolist(), test.goals.tolist(), strict=True)))[:_MOST_PAIRS]
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
    name = "costs-to-go, once per snapshot"
    return Option(name, 0.0, 0.0, tables / len(pairs), queries / answered, 0.0, 0.0, 0.0, ALWAYS)


def _hierarchy(test: InstanceSet, optimum: NDArray[np.float64]) -> tuple[list[Option], str]:
    """Return the option of contraction hierarchies, or nothing and why."""
    try:
        import pyroutingkit
    except ImportError:
        return [], "Contraction hierarchies were not measured: pyroutingkit is not installed."
    graph = test.graph
    if graph.coordinates is None:
        return [], "Contraction hierarchies were not measured: the graph has no coordinates."
    x, y = graph.coordinates.astype(np.float32).T
    topology = pyroutingkit.CCHTopology()
    tail, head = graph.tail.astype(np.uint32), graph.head.astype(np.uint32)
    once, _ = _timed(1, topology.build, tail, head, np.ascontiguousarray(y), np.ascontiguousarray(x), graph.n)
    # It counts in whole numbers: as fine as a path through all vertices allows.
    finite = test._stored[np.unique(test._stored_rows)]
    unit = float(np.max(finite[np.isfinite(finite)], initial=1e-300)) * min(graph.n, 10_000) / 2**30
    metric = pyroutingkit.CCHMetric(topology)
    rows = np.unique(test._stored_rows)[:_MOST_PAIRS]
    customized, queries, cost, best = 0.0, 0.0, [], []
    for row in rows.tolist():
        weights = np.asarray(test._stored[row], dtype=np.float64)
        whole = np.where(np.isfinite(weights), np.round(weights / unit), pyroutingkit.INF_WEIGHT).astype(np.uint32)
        customized += _timed(2, metric.customize, whole)[0]
        for i in np.flatnonzero(test._stored_rows == row).tolist():
            took, found = _timed(3, metric.query, int(test.sources[i]), int(test.goals[i]))
            queries += took
            cost.append(weights[np.asarray(found[2], dtype=np.int64)].sum())
            best.append(optimum[i])
    excess = _excess(np.array(cost), np.array(best))
    option = Option(CCH, once, customized / rows.size, 0.0, queries / len(cost), *excess, "exact up to rounding")
    return [option], ""


def _excess(cost: NDArray[np.float64], optimum: NDArray[np.float64]) -> tuple[float, float, float]:
    good = np.isfinite(optimum) & (optimum > 0)
    over = np.maximum(cost[good] / optimum[good] - 1, 0.0)
    if not over.size:
        return 0.0, 0.0, 0.0
    return float(over.mean()), float(np.quantile(over, 0.99, method="inverted_cdf")), float(over.max())


def _timed(times: int, call: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[float, T]:
    """Return the least processor time of some calls, which other programs hardly change, and the result."""
    best = math.inf
    for _ in range(times):
        start = time.process_time()
        result = call(*args, **kwargs)
        best = min(best, time.process_time() - start)
    return best, result


def _time(seconds: float) -> str:
    for size, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
