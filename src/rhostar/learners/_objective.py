"""Shared by learners that run searches with their current ρ: the utility to lower, and the initial values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar._parallel import map_chunks
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance
from rhostar.learners._base import Learner, one_of, table_of
from rhostar.learners._distances import CostsToGo, MeanDistance
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Expansions, Utility, evaluate

Initial = Learner | ArrayLike | None
"""Values to start from, a learner that fits them, or None for mean distances."""

_SNAPSHOTS = 16
"""The number of evenly spaced snapshots that the typical weight of an edge is estimated from."""

_ENTRIES = 1 << 22
"""How many weights they may have in all; of large graphs there are fewer snapshots, but at least one."""


class Search(NamedTuple):
    """The options of a run, as the core takes them."""

    greedy: bool
    reopen: bool
    budget: int


class Objective:
    """The values of a utility on a set, with the sign chosen so that lower is better.

    Parameters
    ----------
    instances
        The set.
    utility
        None is the number of expansions, at most the budget.
    algorithm, reopen, n_jobs
        How to run, as for :func:`rhostar.solve_many`.
    budget
        How many vertices a run may expand; None is 100 n, which greedy search never reaches.
    """

    def __init__(
        self,
        instances: InstanceSet,
        utility: Utility | None,
        algorithm: Algorithm,
        reopen: bool,
        budget: int | None,
        n_jobs: int | None,
    ) -> None:
        one_of(algorithm, "algorithm", ("astar", "gbfs"))
        self.budget = 100 * instances.graph.n if budget is None else arrays.integer(budget, "budget", 1)
        if utility is not None and not isinstance(utility, Utility):
            raise InputError(f"utility must be a Utility or None, got {utility!r}")
        self.instances, self.algorithm, self.reopen, self.n_jobs = instances, algorithm, bool(reopen), n_jobs
        self.utility = Expansions(float(self.budget)) if utility is None else utility
        self.optimum: NDArray[np.float64] | None = None
        if self.utility.needs_optimum:
            self.optimum = solve_many(instances, np.zeros(instances.graph.n), n_jobs=n_jobs).cost

    @property
    def greedy(self) -> bool:
        """Whether the algorithm is greedy search."""
        return self.algorithm == "gbfs"

    def map(self, function: Callable[..., Any], rho: NDArray[np.float64], instances: InstanceSet) -> list[Any]:
        """Return what ``function(chunk, first, stop, rho=..., search=...)`` returns for each chunk, in order."""
        search = Search(self.greedy, self.reopen, self.budget)
        return map_chunks(function, instances, n_jobs=self.n_jobs, rho=rho, search=search)

    def values(self, rho: NDArray[np.float64], which: NDArray[Any] | slice = slice(None)) -> NDArray[np.float64]:
        """Return one value per instance, or per instance of `which`: u, or H - u if higher is better."""
        found = evaluate(
            rho,
            self.instances[which],
            self.utility,
            algorithm=self.algorithm,
            reopen=self.reopen,
            budget=self.budget,
            optimum=None if self.optimum is None else self.optimum[which],
            n_jobs=self.n_jobs,
        )
        values = found[0].values
        return values if self.utility.better == "lower" else self.utility.limit - values

    def mean(self, rho: NDArray[np.float64]) -> float:
        """Return the mean of the values."""
        return float(self.values(rho).mean())


def initial_table(
    initial: Initial, instances: InstanceSet, costs: CostsToGo | None = None
) -> tuple[NDArray[np.float64], Provenance]:
    """Return a copy of the values given, or of those that the learner fits, and which instances were seen."""
    if initial is None or isinstance(initial, Learner):
        learner = MeanDistance() if initial is None else clone(initial)
        found = table_of(learner._fit(instances, costs), f"initial must fit values for one goal, got {learner!r}")
        return found.values.copy(), learner._seen
    seen = Provenance.of(instances)._replace(unknown="initial is an array")
    return arrays.per_vertex(initial, "initial", instances.graph.n).copy(), seen


def typical_weight(instances: InstanceSet) -> float:
    """Return the median of the weights that are neither 0 nor infinite, over a few snapshots; 1 if there are none.

    It is proportional to the weights.
    """
    rows = np.unique(instances._stored_rows)
    count = max(1, min(_SNAPSHOTS, _ENTRIES // max(1, instances.graph.m)))
    rows = rows[np.unique(np.linspace(0, rows.size - 1, count).astype(int))]
    weights = instances._stored[rows].astype(np.float64)
    usable = weights[(weights > 0) & (weights < np.inf)]
    return float(np.median(usable)) if usable.size else 1.0


def spread(rho: NDArray[np.float64], instances: InstanceSet) -> float:
    """Return the standard deviation of ρ over the vertices; for a constant ρ, roughly that of distances.

    It is proportional to ρ, or to the weights.
    """
    found = float(np.std(rho))
    return found if found > 0 else typical_weight(instances) * float(np.sqrt(rho.size))
