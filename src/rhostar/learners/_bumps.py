"""Learns ρ by lowering a utility directly: tries local changes and keeps those that help on the training set.

The utility is piecewise constant in ρ, so there is no slope to follow. But a local change touches few runs: **a
run reads ρ at the vertices it generates and nowhere else**, and stays the same, step by step, when ρ changes
elsewhere. So a bump that is exactly 0 beyond some radius needs only the runs that generated a vertex inside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import provenance
from rhostar.learners._base import Learner, Seed, generator, progress
from rhostar.learners._distances import CostsToGo
from rhostar.learners._objective import Initial, Objective, Search, initial_table, spread, typical_weight
from rhostar.learners._smoothing import step_length
from rhostar.search import Algorithm, distances_to
from rhostar.utilities import Expansions, Utility

_REACH = 3.0
"""A bump ends at this many widths. They are from 1 step between neighbors to a tenth of the extent of the graph."""
_HEIGHTS = (0.005, 0.5)
"""The smallest and the largest height of a bump, in standard deviations of the initial values."""
_SCREENED = 0.2
"""The share of the training set that a bump is tried on first."""


class BumpSearch(Learner):
    """Adds local bumps to ρ as long as the mean utility on the training set falls.

    A bump is a Gaussian around a vertex that some run generated, over the coordinates of the graph, or over the
    distance to that vertex if there are none. Its width and height are drawn log-uniformly, its sign is random.
    It is tried on a random fifth of the training set first. Only runs that it can change are run again.

    Parameters
    ----------
    initial
        The values to start from: a learner, which is cloned and fitted, or an array; None is
        :class:`MeanDistance`.
    algorithm
        What to run: "gbfs" or "astar" (with reopening).
    utility
        What to lower (or raise, if higher is better); None is the number of expansions.
    max_bumps
        How many bumps to try.
    budget
        How many vertices a run may expand; None is 100 n, which greedy search never reaches.
    random_state
        Seeds the bumps.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Attributes
    ----------
    initial_
        The values it started from.
    history_
        (k + 1,) the mean utility at the start and after each bump that was kept; lower is better.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(12, 12, neighbors=8)
    >>> blocked = np.random.default_rng(0).random((60, 12, 12)) < 0.25
    >>> blocked[:, 0, 0] = blocked[:, -1, -1] = False
    >>> instances = rs.InstanceSet.from_obstacles(
    ...     graph, blocked, 0, graph.n - 1, corner_cutting=True, infeasible="drop")
    >>> learner = rs.learners.BumpSearch(max_bumps=200, random_state=0).fit(instances)
    >>> bool((np.diff(learner.history_) < 0).all()), learner.history_.size > 1
    (True, True)
    """

    consistency = "Nothing is known: ρ is chosen by what the runs do."
    algorithm: Algorithm

    def __init__(
        self,
        initial: Initial = None,
        *,
        algorithm: Algorithm = "gbfs",
        utility: Utility | None = None,
        max_bumps: int = 2000,
        budget: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.initial, self.algorithm, self.utility, self.max_bumps = initial, algorithm, utility, max_bumps
        self.budget, self.random_state, self.n_jobs, self.verbose = budget, random_state, n_jobs, verbose

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        return self._learn_with(instances, None)

    def _learn_with(self, instances: InstanceSet, costs: CostsToGo | None) -> dict[str, Any]:
        most = arrays.integer(self.max_bumps, "max_bumps", 0)
        space = Space(instances)
        rng = generator(self.random_state)
        objective = Objective(instances, self.utility, self.algorithm, True, self.budget, self.n_jobs)
        initial, seen = initial_table(self.initial, instances, costs)
        unit = spread(initial, instances)
        trial = Trial(objective, initial)
        part = max(1, round(_SCREENED * len(instances)))
        history = [trial.mean]
        widest = math.log(max(2.0, space.extent / 10))
        with progress("bumps", most, self.verbose) as advance:
            for _ in range(most):
                center = trial.vertex(rng)
                width = math.exp(rng.uniform(0.0, widest))
                height = math.exp(rng.uniform(*np.log(_HEIGHTS))) * unit * rng.choice((-1.0, 1.0))
                screened = rng.permutation(len(instances))[:part]
                support, bump = space.bump(center, width)
                if trial.accept(support, height * bump, screened):
                    history.append(trial.mean)
                advance(f"{trial.mean:.6g}")
        learned = {"rho_": trial.rho, "initial_": initial, "history_": np.array(history)}
        return learned | {"trained_on": provenance(instances, seen)}


class Space:
    """Where the vertices are: by coordinates if there are any, else by distances under the weights of one instance."""

    def __init__(self, instances: InstanceSet) -> None:
        self.graph: Graph = instances.graph
        self.goal = int(instances.goals[0])
        places = self.graph.coordinates
        if places is None:
            self.weights = np.ascontiguousarray(instances._stored[instances._stored_rows[0]])
            self.step = typical_weight(instances)
            distance = distances_to(self.graph, self.weights, self.goal)
            self.extent = float(distance[np.isfinite(distance)].max()) / self.step
            return
        self.order = np.argsort(places[:, 0], kind="stable")
        self.x, self.y = (np.ascontiguousarray(column) for column in places[self.order].T)
        self.place = np.empty(self.graph.n, dtype=np.int64)
        self.place[self.order] = np.arange(self.graph.n)
        self.step = step_length(self.graph)
        self.extent = float(np.ptp(places, axis=0).max()) / self.step

    def bump(self, center: int, width: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the vertices of a bump and its values there, 1 at the center; the goal keeps its value."""
        radius = _REACH * width * self.step
        if self.graph.coordinates is None:
            distance = distances_to(self.graph, self.weights, center)
            support = np.flatnonzero(distance <= radius)
            distance = distance[support]
        else:
            at = self.place[center]
            first, last = np.searchsorted(self.x, (self.x[at] - radius, self.x[at] + radius), side="left")
            distance = np.hypot(self.x[first:last] - self.x[at], self.y[first:last] - self.y[at])
            inside = distance <= radius
            support, distance = self.order[first:last][inside], distance[inside]
        kept = support != self.goal
        return support[kept], np.exp(-0.5 * (distance[kept] / (width * self.step)) ** 2)


class Trial:
    """Values of ρ, what every run does with them, and which vertices each run read.

    Parameters
    ----------
    objective
        What is measured, on which instances.
    rho
        The values; :meth:`accept` replaces them.
    """

    def __init__(self, objective: Objective, rho: NDArray[np.float64]) -> None:
        self.objective, self.rho = objective, rho
        self.values = objective.values(rho)
        self.touched = touched(objective, rho, np.arange(len(objective.instances)))
        self._index()
        utility = objective.utility
        # If only expansions count, a trial can end as soon as it has expanded too many.
        self.countable = type(utility) is Expansions and (
            utility.limit >= objective.budget or float(utility.limit).is_integer()
        )
        self.most = int(min(objective.budget, utility.limit)) if self.countable else 0

    @property
    def mean(self) -> float:
        """The mean utility over the training set; lower is better."""
        return float(self.values.mean())

    def vertex(self, rng: np.random.Generator) -> int:
        """Draw an instance, then a vertex that its run read."""
        read = self.touched[rng.integers(len(self.touched))]
        return int(read[rng.integers(read.size)])

    def affected(self, support: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which runs read one of these vertices: no other run changes."""
        inside = np.zeros(self.rho.size, dtype=bool)
        inside[support] = True
        return np.logical_or.reduceat(inside[self._read], self._first)

    def accept(self, support: NDArray[np.int64], change: NDArray[np.float64], screened: NDArray[np.int64]) -> bool:
        """Add a change if it lowers the sum over the screened instances and over all; return whether it did."""
        rho = self.rho.copy()
        rho[support] += change
        affected = self.affected(support)
        first = np.sort(screened[affected[screened]])
        new = self._lower(rho, first, 0.0)
        if new is None:
            return False
        gained = math.fsum(self.values[first] - new)
        affected[first] = False
        rest = np.flatnonzero(affected)
        others = self._lower(rho, rest, gained) if rest.size else np.empty(0)
        if others is None:
            return False
        self.values[first], self.values[rest] = new, others
        self.rho = rho
        changed = np.concatenate([first, rest])
        for i, read in zip(changed.tolist(), touched(self.objective, rho, changed), strict=True):
            self.touched[i] = read
        self._index()
        return True

    def _lower(self, rho: NDArray[np.float64], which: NDArray[np.int64], gained: float) -> NDArray[np.float64] | None:
        """Return the values of some instances if their sum is below the old sum plus `gained`, else None."""
        if which.size == 0:
            return None
        if not self.countable:
            new = self.objective.values(rho, which)
            return new if math.fsum(np.append(self.values[which] - new, gained)) > 0 else None
        part = self.objective.instances[which]
        total = int(self.values[which].sum() + gained)
        found = part.graph._kernel.spend(
            _core.Instances(part._stored, part._stored_rows, part.sources, part.goals),
            _core.SearchOptions(self.objective.greedy, self.objective.reopen, self.most),
            rho,
            total,
            None,
        )
        if found.ending.status is _core.Status.LIMIT:
            return None
        if found.ending.status is not _core.Status.DONE:
            raise failures.instance_failure(found.ending, part, 0, rho=rho)
        return found.expanded.astype(np.float64)

    def _index(self) -> None:
        sizes = [read.size for read in self.touched]
        self._read = np.concatenate(self.touched)
        self._first = np.cumsum([0, *sizes[:-1]])


def touched(objective: Objective, rho: NDArray[np.float64], which: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Return for each of some instances the vertices whose value its run reads; the start is always among them."""
    parts = objective.map(_touched, rho, objective.instances[which])
    return [read for part in parts for read in part]


def _touched(
    chunk: InstanceSet, first: int, stop: _core.Stop, *, rho: NDArray[np.float64], search: Search
) -> list[NDArray[np.int32]]:
    instances = _core.Instances(chunk._stored, chunk._stored_rows, chunk.sources, chunk.goals)
    options = _core.SearchOptions(*search)
    found = chunk.graph._kernel.touched(instances, options, arrays.aligned(rho), stop)
    if found.ending.status is not _core.Status.DONE:
        raise failures.instance_failure(found.ending, chunk, first, rho=rho)
    return np.split(found.vertices, found.ends[:-1])
