"""``learn``: heuristic values from a set of instances, with one call."""

from __future__ import annotations

import numpy as np

from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.learners._auto import Auto
from rhostar.learners._base import Learner, Seed
from rhostar.learners._wrappers import PerGoal
from rhostar.search import Algorithm
from rhostar.utilities import Utility

_INSTANCES_PER_GOAL = 8
"""With fewer instances per goal, one weight per edge is learned for all goals."""


def learn(
    instances: InstanceSet,
    *,
    algorithm: Algorithm = "astar",
    utility: Utility | None = None,
    tolerance: float | None = 0.01,
    time_limit: float | None = 10.0,
    seed: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Learner:
    """Learn heuristic values; the learner is picked for you.

    The winner needs the fewest expansions on instances that it was not fitted on; with A*, its paths must also be
    within `tolerance`. See :class:`rhostar.learners.Auto`.

    Parameters
    ----------
    instances
        The training set. If it has several goals, each gets its own ρ and its share of the time; if it has fewer than
        8 instances per goal, :class:`Potentials` that serve every goal are tried instead.
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs".
    utility
        The measure that decides instead of expansions.
    tolerance
        How much more than the optimum the paths of A* may cost in total, as a share.
    time_limit
        No further learner is started after this many seconds; None for no limit.
    seed
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Returns
    -------
    Learner
        Fitted: ``rho_`` holds the values (a mapping from goals to arrays if there are several goals), ``learner_``
        the winner and ``candidates_`` what was tried.

    Raises
    ------
    InstanceError
        If there are too few instances to hold some out.
    InputError
        If a parameter is not accepted.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.8, seed=0)
    >>> learner = rs.learn(train, algorithm="gbfs")
    >>> rs.solve_many(test, learner.rho_, algorithm="gbfs").expanded.mean() < 16
    np.True_
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    goals = max(1, np.unique(instances.goals).size)
    auto = Auto(
        algorithm,
        utility=utility,
        tolerance=tolerance,
        time_limit=time_limit,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # A table for each goal needs instances of each; with few, one weight per edge serves all goals.
    each = PerGoal(auto, time_limit=time_limit)
    return (each if 1 < goals <= len(instances) / _INSTANCES_PER_GOAL else auto).fit(instances)
