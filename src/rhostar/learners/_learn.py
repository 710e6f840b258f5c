"""``learn``: heuristic values from a set of instances, with one call."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.certificates import _assumptions as assumptions
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.learners._auto import Auto
from rhostar.learners._base import Learner, Seed
from rhostar.learners._choosing import Split, units
from rhostar.learners._potentials import Potentials
from rhostar.learners._weights import LowerEnvelope, edge_statistics, stated_bounds
from rhostar.learners._wrappers import PerGoal
from rhostar.search import Algorithm
from rhostar.utilities import Utility

_INSTANCES_PER_GOAL = 8
"""With fewer instances per goal, one weight per edge is learned for all goals."""

_MOST_TABLES = 64
"""With more goals than this, exact values are computed for any goal instead of stored for each."""


def learn(
    instances: InstanceSet,
    *,
    promise: str | float | None = None,
    algorithm: Algorithm = "astar",
    utility: Utility | None = None,
    weight_bounds: Any = None,
    time_limit: float | None = 10.0,
    split: Split = "snapshot",
    seed: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Learner:
    """Learn heuristic values; the learner is picked for you by what you want to promise.

    Parameters
    ----------
    instances
        The training set. If it has several goals, each gets its own ρ and its share of the time; if it has fewer than
        8 instances per goal, one ρ that serves every goal is learned instead.
    promise
        - "optimal", the default for A*: every answer is optimal. ρ is the exact distance under lower bounds of the
          weights (U3). Pass the learner to a search, not only its array: it then compares each snapshot with the
          bounds, and stays optimal where a weight is below them (see :func:`rhostar.astar`).
        - A share, such as "1%" or 0.01: the paths of A* cost at most that much more than the optimum, both in total
          and on average over paths, as judged on instances not learned from, with a margin. Single ones may cost more.
        - "fast", the default for greedy search: the fewest expansions, whatever the paths cost.
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs", which can only be "fast".
    utility
        A measure that decides instead of expansions; then there is no `promise`.
    weight_bounds
        For "optimal": (least, largest) weights, numbers or one per edge, as in :func:`rhostar.certify`; only the least
        matter. None takes the least weights of the training set. Weights of the training set may not be below.
    time_limit
        The seconds that it may take, for all goals together; None for no limit. "optimal" needs none.
    split
        What stays on one side where instances are held out to judge learners: all of a "snapshot", or of a "day" (see
        :attr:`InstanceSet.days`). "optimal" holds out none.
    seed
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Returns
    -------
    Learner
        Fitted: ``rho_`` holds the values (a mapping from goals to arrays if there are several goals) or ``potential_``
        computes them. Unless the promise is "optimal", ``learner_`` is the winner and ``candidates_`` what was tried.

    Raises
    ------
    InstanceError
        If there are too few instances to hold some out.
    WeightError
        If a training instance has a weight below `weight_bounds`.
    InputError
        If a parameter is not accepted.

    See Also
    --------
    rhostar.learners.Auto : the contest behind all promises but "optimal".

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.8, seed=0)
    >>> exact = rs.learn(train, weight_bounds=(1, 3))
    >>> optimum = rs.solve_many(test, np.zeros(graph.n)).cost
    >>> bool(np.allclose(rs.solve_many(test, exact).cost, optimum))
    True
    >>> greedy = rs.learn(train, algorithm="gbfs")
    >>> rs.solve_many(test, greedy, algorithm="gbfs").expanded.mean() < 16
    np.True_
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    units(instances, split)  # also where nothing is held out, days must be known
    tolerance = _tolerance(promise, arrays.algorithm(algorithm), utility)
    if tolerance is None:
        return _optimal(instances, weight_bounds)
    if weight_bounds is not None:
        raise InputError("weight_bounds belong to promise='optimal'")
    goals = max(1, np.unique(instances.goals).size)
    auto = Auto(
        algorithm,
        utility=utility,
        tolerance=tolerance,
        time_limit=time_limit,
        split=split,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # A table for each goal needs instances of each; with few, one weight per edge serves all goals.
    each = PerGoal(auto, time_limit=time_limit)
    return (each if 1 < goals <= len(instances) / _INSTANCES_PER_GOAL else auto).fit(instances)


def least_weights(instances: InstanceSet, weight_bounds: Any) -> NDArray[np.float64]:
    """Return the least weight of each edge: by `weight_bounds`, as :func:`learn` takes them, or in the training set."""
    # One pass over the snapshots for all goals: bounds that hold for all instances serve each goal.
    lower = edge_statistics(instances, "min", 0.0).value
    if weight_bounds is None:
        return lower
    graph = instances.graph
    stated = np.broadcast_to(assumptions.bounds(weight_bounds, None, graph.m).low, graph.m)
    # An edge that is never present may have any bound; a road that opens should have a true one.
    return stated_bounds(np.ascontiguousarray(stated), "weight_bounds", lower, graph)


def _tolerance(promise: str | float | None, algorithm: str, utility: Utility | None) -> float | None:
    """Return how much more than the optimum paths may cost, as a share; None for nothing, inf for anything."""
    if promise is None:
        return np.inf if algorithm == "gbfs" or utility is not None else None
    if utility is not None:
        raise InputError("a utility decides instead of a promise: give only one of them")
    if promise != "fast" and algorithm == "gbfs":
        raise InputError(f"greedy search can only be 'fast', not {promise!r}: it does not weigh what a path costs")
    if promise == "optimal":
        return None
    if promise == "fast":
        return np.inf
    share: Any = promise
    if isinstance(promise, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", promise)
        share = float(found[1]) / 100 if found else None
    if isinstance(share, bool) or not isinstance(share, float | int | np.number) or not 0 <= share < np.inf:
        raise InputError(f"promise must be 'optimal', 'fast', or a share such as '1%' or 0.01, got {promise!r}")
    return float(share)


def _optimal(instances: InstanceSet, weight_bounds: Any) -> Learner:
    """Return a lower envelope: a table for each goal, or a potential if there are many."""
    lower = least_weights(instances, weight_bounds)
    goals = np.unique(instances.goals).size
    if goals == 1:
        return LowerEnvelope(lower).fit(instances)
    if goals <= min(_MOST_TABLES, len(instances) / _INSTANCES_PER_GOAL):
        return PerGoal(LowerEnvelope(lower)).fit(instances)
    return Potentials(lo=lower).fit(instances)
