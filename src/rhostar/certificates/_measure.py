"""Measures what bounds are computed from: utilities of runs, optimal paths S*, and inconsistency Δ along them (L1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._parallel import map_chunks
from rhostar.certificates._sentence import THIS_RHO, quoted, scaled_words
from rhostar.errors import InputError, InstanceError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic, HeuristicLike
from rhostar.instances import InstanceSet
from rhostar.search import Algorithm, Runs
from rhostar.utilities import Score, Suboptimality, Utility, evaluate


class SearchOptions(TypedDict, total=False):
    """How a heuristic is run, as for :func:`rhostar.solve_many`."""

    algorithm: Algorithm
    reopen: bool
    budget: int | None


class Search(NamedTuple):
    """How a heuristic is run, checked."""

    algorithm: Algorithm = "astar"
    reopen: bool = True
    budget: int | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Search:
        """Return the options with their defaults, or raise :class:`InputError`."""
        if unknown := [name for name in options if name not in cls._fields]:
            raise InputError(f"there is no option {unknown[0]!r}; a search has {', '.join(cls._fields)}")
        given = cls(**options)
        return given._replace(algorithm=arrays.algorithm(given.algorithm), reopen=bool(given.reopen))

    def measures_excess(self, utility: Utility) -> bool:
        """Return whether the suboptimality of A* is asked for."""
        return self.algorithm == "astar" and isinstance(utility, Suboptimality)

    @property
    def name(self) -> str:
        """The algorithm, in words."""
        if self.algorithm == "gbfs":
            return "greedy best-first search"
        return "A*" if self.reopen else "A* without reopening"

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a certificate that say which search was run.

        Examples
        --------
        >>> from rhostar.certificates._measure import Search
        >>> Search("astar", True, 50).fields
        {'algorithm': 'astar', 'reopen': True, 'budget': 50}
        """
        return {**self._asdict(), "reopen": self.reopen if self.algorithm == "astar" else None}

    def title(self, utility: Utility, delta: float) -> str:
        """Return what is certified, in words."""
        budget = "" if self.budget is None else f", at most {self.budget} expansions"
        limit = f", H = {utility.limit:g}" if math.isfinite(utility.limit) else ""
        return f"{utility.name} of {self.name}{budget}{limit}, delta = {delta:g}"


def measure(
    heuristic: HeuristicLike,
    instances: InstanceSet,
    utility: Utility,
    search: Search,
    optimum: NDArray[np.float64] | None = None,
) -> tuple[Score, Runs]:
    """Return the utility of a heuristic on every instance, and the runs; missing optimal costs are computed."""
    found = evaluate(heuristic, instances, utility, **search._asdict(), optimum=optimum)
    return found[0], found.runs


def losses(score: Score) -> NDArray[np.float64]:
    """Return what is bounded from above: u clipped at H, or H − u where higher is better."""
    return score.utility.limit - score.values if score.utility.better == "higher" else score.values


def check_utility(utility: Any, *, mean: bool = True) -> Utility:
    """Return a utility, with a finite limit if its mean is to be bounded, or raise :class:`InputError`."""
    if not isinstance(utility, Utility):
        raise InputError(f"utility must be one Utility, got {utility!r}")
    if mean and not math.isfinite(utility.limit):
        raise InputError(
            "a bound on a mean needs a finite limit of the utility, chosen beforehand; a quantile does not"
        )
    return utility


# ---------------------------------------------------------------- heuristics


class Tables(NamedTuple):
    """The tables of a heuristic.

    Attributes
    ----------
    measured
        ρ for the goals of the instances; empty where values are computed for any goal or chosen by the weights.
    others
        ρ for goals that do not occur; None where it is not known which goals there are.
    computed
        Why there are no tables: "goal" or "weights"; empty where there are.
    """

    measured: dict[int, NDArray[np.float64]]
    others: dict[int, NDArray[np.float64]] | None
    computed: str = ""


def find_tables(heuristic: Heuristic, instances: InstanceSet) -> Tables:
    """Return the tables of a heuristic for the goals of a set; raises if it has none for one of them."""
    goals = np.unique(instances.goals).tolist()
    heuristic.require_goals(goals, instances.graph)
    if not heuristic.has_tables(goals):
        return Tables({}, None, "goal" if heuristic.goals is None else "weights")
    measured = {goal: heuristic.table(goal) for goal in goals}
    if heuristic.goals is None:
        return Tables(measured, {} if len(goals) == 1 else None)
    return Tables(measured, {goal: heuristic.table(goal) for goal in heuristic.goals if goal not in measured})


def heuristic_fields(heuristic: Heuristic, search: Search) -> dict[str, Any]:
    """Return the fields of a certificate that say what guided the search, as it is run.

    Searches lower values that have bounds where weights are below these.
    """
    words = heuristic.words
    lowers = heuristic.lower is not None and search.algorithm != "gbfs"
    what, whose = ("these values", "their") if lowers and words == THIS_RHO else (words, "its")
    lowered = f", which each search lowers where weights are below {whose} bounds" if lowers else ""
    return {"heuristic": scaled_words(what, heuristic.factor) + lowered, "factor": heuristic.factor}


# ---------------------------------------------------------------- goals, in words


def goal_name(graph: Graph, goal: int) -> str:
    """Return a goal by its label, or by its number if vertices have none: "goal depot 3"."""
    return f"goal {goal if graph.labels is None else graph.labels[goal]}"


def goal_words(graph: Graph, goals: Sequence[int], *, every: bool = False) -> str:
    """Return where searches lead: to one goal, to goals drawn like the given ones, or to every one of them."""
    if len(goals) == 1:
        return f"to goal {goals[0] if graph.labels is None else quoted(graph.labels[goals[0]])}"
    return f"to any of these {len(goals)} goals" if every else f"to goals drawn as these {len(goals)} were"


# ---------------------------------------------------------------- optimal paths


@dataclass(frozen=True, eq=False)
class OptimalPaths:
    """S* of N instances: fewest edges among optimal paths, then lexicographically smallest.

    Attributes
    ----------
    graph
        The graph.
    cost
        Optimal costs, added up from the start.
    edges
        The edges of all paths but the one that leaves the start, instance by instance: the terms of Δ.
    instance, weights
        The instance of each term, and its weight there.
    """

    graph: Graph
    cost: NDArray[np.float64]
    edges: NDArray[np.int32]
    instance: NDArray[np.int64]
    weights: NDArray[np.float64]

    def inconsistency(self, rho: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Δ of each instance: the sum of max(ρ_v − ρ_c − w, 0) over its terms.

        With or without reopening A* finds a path that costs at most Δ more than the optimum (L1).
        """
        return self.sums(rho[self.graph.tail[self.edges]] - rho[self.graph.head[self.edges]])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each instance the sum of max(value − w, 0) over its terms."""
        terms = np.maximum(values - self.weights, 0.0)
        return np.bincount(self.instance, weights=terms, minlength=self.cost.size).astype(np.float64)


def optimal_paths(instances: InstanceSet, *, n_jobs: int | None = None) -> OptimalPaths:
    """Return S* of every instance: one reverse Dijkstra for each pair of a snapshot and a goal.

    Parameters
    ----------
    instances
        The set.
    n_jobs
        As everywhere in joblib.

    Raises
    ------
    InstanceError
        If an instance has no path, naming the first.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._measure import optimal_paths
    >>> graph = rs.Graph.from_edges(4, [0, 1, 2, 0], [1, 2, 3, 3])
    >>> paths = optimal_paths(rs.InstanceSet(graph, [1.0, 5.0, 1.0, 1.0], sources=0, goal=3))
    >>> paths.cost.tolist(), paths.edges.tolist(), paths.inconsistency(np.array([9.0, 3.0, 1.0, 0.0])).tolist()
    ([3.0], [2, 3], [1.0])
    """
    # Instances of one snapshot and goal next to each other share the search.
    order = np.lexsort((instances._stored_rows, instances.goals))
    parts = map_chunks(_chunk, instances[order], n_jobs=n_jobs)
    sorted_cost, length, edges = (np.concatenate(column) for column in zip(*parts, strict=True))
    cost = np.empty(len(instances))
    cost[order] = sorted_cost
    lost = ~np.isfinite(cost)
    if lost.any():
        i = int(np.argmax(lost))
        source, goal = (instances.graph._name_of(int(ends[i])) for ends in (instances.sources, instances.goals))
        raise InstanceError(f"instance {i} has no path from {source} to {goal}")
    owner = np.repeat(order, length)
    inner = np.ones(edges.size, dtype=bool)
    inner[np.cumsum(length) - length] = False  # s ≠ t: every path has a first edge
    edges, owner = edges[inner], owner[inner]
    weights = instances._stored[instances._stored_rows[owner], edges].astype(np.float64)
    return OptimalPaths(instances.graph, cost, edges, owner, weights)


class _Part(NamedTuple):
    """S* of some instances, one after the other: costs, numbers of edges, and the edges."""

    cost: NDArray[np.float64]
    length: NDArray[np.int64]
    edges: NDArray[np.int32]


def _chunk(chunk: InstanceSet, first: int, stop: _core.Stop) -> _Part:
    instances = _core.Instances(chunk._stored, chunk._stored_rows, chunk.sources, chunk.goals)
    found = chunk.graph._kernel.optimal_paths(instances, stop)
    if found.ending.status is not _core.Status.DONE:
        raise failures.snapshot_failure(found.ending, chunk, chunk._stored_rows)
    return _Part(found.cost, np.diff(found.end, prepend=0), found.edge)
