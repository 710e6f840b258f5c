"""Advice: which way of answering queries is the fastest here, measured on this machine."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import learners
from rhostar.errors import BoundsWarning, InfeasibleError, InputError, LimitError
from rhostar.heuristics import HeuristicLike
from rhostar.hierarchy import Hierarchy
from rhostar.instances import InstanceSet
from rhostar.search import distances_to, solve_many

T = TypeVar("T")
_MOST_QUERIES, _MOST_PAIRS = 300, 5
_MOST_TABLES, _CLUSTERS, _FEW = 64, 8, 30

ALWAYS = "always exact"
WHILE = "exact; slower where weights fall below the lowest seen"
STATED = "exact; slower where weights fall below the bounds given"
MEASURED = "no guarantee; the excess was measured"


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
    guarantee: str
    """What holds for its paths, in words."""

    @property
    def exact(self) -> bool:
        """Whether paths are shortest ones, under the condition that the guarantee names."""
        return self.guarantee != MEASURED


@dataclass(frozen=True)
class Advice:
    """What :func:`advise` found. ``print(...)`` says it in words."""

    options: tuple[Option, ...]
    """All ways that were measured."""
    queries: float
    """Queries per goal and snapshot."""
    goals: int
    """Goals that share a snapshot."""
    mean_excess: float
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
        good = [o for o in self.options if o.exact or (self.mean_excess > 0 and o.excess <= self.mean_excess)]
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
        guarantees = list(dict.fromkeys(o.guarantee for o in self.options))
        many = "query" if self.queries == 1 else "queries"
        lines = [f"for each goal and snapshot, with {self.queries:g} {many}", head]
        for o in sorted(self.options, key=self.seconds):
            fixed = _time(self.seconds(o, 0))
            excess = f"{100 * o.excess:.2f} %"
            whole = f"{_time(self.seconds(o))}"
            kind = f"({guarantees.index(o.guarantee) + 1})"
            lines.append(f"{o.name:{width}}  {fixed:>8}  {_time(o.per_query):>8}  {whole:>8}  {excess:>7}  {kind}")
        lines += [f"({k}) {words}" for k, words in enumerate(guarantees, start=1)]
        for o in self.options:
            if not o.exact:
                lines.append(f"{o.name}: 99 % within {100 * o.excess_99:.2f} %, worst {100 * o.worst:.2f} %")
        best = self.best
        plain = next(o for o in self.options if o.name == "Dijkstra")
        faster = f"{self.seconds(plain) / self.seconds(best):.1f} times as fast as Dijkstra"
        lines.append(f"Use {best.name}: {'nothing that is good enough is faster' if best is plain else faster}.")
        for o in self.accepted[1:]:
            turn = self.break_even(o)
            # Only where it is then the fastest of all.
            if self.queries < turn < math.inf and all(
                self.seconds(o, 1.001 * turn) <= self.seconds(p, 1.001 * turn) for p in self.accepted
            ):
                lines.append(f"From {math.ceil(turn):,} queries, {o.name} is faster.")
        if self.left_out:
            lines.append(self.left_out)
        return "\n".join(lines)


def advise(
    instances: InstanceSet,
    queries: float,
    *,
    mean_excess: float = 0.0,
    lower: ArrayLike | None = None,
    seed: int = 0,
) -> Advice:
    """Measure which way of answering queries is the fastest, on half of the snapshots, after learning from the others.

    Plain Dijkstra, exact costs-to-go once per goal and snapshot (:func:`rhostar.distances_to`), landmarks, the lower
    envelope, learned mean distances, and a hierarchy that is customized to each snapshot are measured in processor time
    on one thread. With more than 64 goals, or goals that the others do not have, the lower envelope and the learned
    values are potentials, which serve any goal. Instances without a path are left out.

    Parameters
    ----------
    instances
        At least two snapshots.
    queries
        How many queries come for each goal before the weights change.
    mean_excess
        The mean excess that you accept: 0.01 for paths that are 1 % longer on average. With 0 only options that
        guarantee shortest paths are recommended.
    lower
        Lower bounds on the weights, a number or one per edge, as for :func:`rhostar.learn`: the lower envelope is that
        of these bounds. None takes the lowest weights of the snapshots that are learned from.
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
        If an instance that is learned from has a weight below `lower`.

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
    accepted = arrays.number(mean_excess, "mean_excess", "a number of at least 0", lambda value: value >= 0)
    train, test = instances.split(0.5, seed=seed, groups=instances._stored_rows)
    test = test[: min(_MOST_QUERIES, len(test))]
    goals = np.unique(instances.goals).size
    zeros = np.zeros(instances.graph.n)
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
    for name, learner, guarantee in (
        ("A* with landmarks", learners.Landmarks(random_state=seed), WHILE),
        ("A* with the lower envelope", envelope, WHILE if lower is None else STATED),
        ("A* with learned mean weights", clusters, MEASURED)
        if computed
        else ("A* with learned mean distances", learners.MeanDistance(), MEASURED),
    ):
        fitted = learner if goals == 1 or not learner.one_goal else learners.PerGoal(learner)
        once, _ = _timed(1, fitted.fit, train)
        options.append(_searched(name, fitted, test, optimum, once, guarantee))
    hierarchy, left_out = _hierarchy(test, optimum)
    return Advice((*options, *hierarchy), count, goals, accepted, left_out)


def _searched(
    name: str, rho: HeuristicLike | Any, test: InstanceSet, optimum: NDArray[np.float64], once: float, guarantee: str
) -> Option:
    with warnings.catch_warnings():
        # That some bounds do not hold on new snapshots shows in the time.
        warnings.simplefilter("ignore", BoundsWarning)
        took, runs = _timed(3, solve_many, test, rho, n_jobs=1)
    return Option(name, once, 0.0, 0.0, took / len(test), *_excess(runs.cost, optimum), guarantee)


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
    """Return the option of a customized hierarchy, or nothing and why."""
    try:
        once, hierarchy = _timed(1, Hierarchy, test.graph)
    except LimitError as error:
        return [], f"A hierarchy was not measured: {error}."
    rows = np.unique(test._stored_rows)[:_MOST_PAIRS]
    customized, queries, cost, best = 0.0, 0.0, [], []
    for row in rows.tolist():
        took, index = _timed(2, hierarchy.customize, test._stored[row])
        customized += took
        for i in np.flatnonzero(test._stored_rows == row).tolist():
            took, found = _timed(3, index.path, int(test.sources[i]), int(test.goals[i]))
            queries += took
            cost.append(found.cost)
            best.append(optimum[i])
    excess = _excess(np.array(cost), np.array(best))
    name = "hierarchy, customized per snapshot"
    return [Option(name, once, customized / rows.size, 0.0, queries / len(cost), *excess, ALWAYS)], ""


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


def _time(seconds: float) -> str:
    for size, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
