"""``learn``: heuristic values from a set of instances, with one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.learners._auto import Auto, EffortName
from rhostar.learners._base import Learner, Seed
from rhostar.learners._folds import Split, units
from rhostar.learners._potentials import Potentials
from rhostar.learners._weights import LowerEnvelope
from rhostar.learners._wrappers import PerGoal, Scaled
from rhostar.search import Algorithm
from rhostar.utilities import Utility

_INSTANCES_PER_GOAL = 8
"""With fewer instances per goal, one weight per edge is learned for all goals."""

_MOST_TABLES = 64
"""With more goals than this, exact values are computed for any goal instead of stored for each."""


def learn(
    instances: InstanceSet,
    *,
    max_excess: float | None = None,
    mean_excess: float | None = None,
    algorithm: Algorithm = "astar",
    utility: Utility | None = None,
    lower: ArrayLike | None = None,
    effort: EffortName = "normal",
    time_limit: float | None = None,
    split: Split = "snapshot",
    seed: Seed = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Learner:
    """Learn heuristic values; the learner is picked for you by how much more than the optimum paths may cost.

    By default every answer of A* is optimal. The same seed gives the same values on every machine, for any `n_jobs`,
    unless a time limit is reached.

    Parameters
    ----------
    instances
        The training set. If it has several goals, each gets its own ρ; if it has fewer than 8 instances per goal, one ρ
        that serves every goal is learned instead.
    max_excess
        By how much any path of A* may cost more than the optimum, as a share; 0, the default, is optimal. ρ is 1 +
        `max_excess` times the exact distance under lower bounds of the weights (U3, U5). With 0, pass the learner to a
        search, not only its array: it then compares each snapshot with the bounds, and stays optimal where a weight is
        below them (see :func:`rhostar.astar`). A larger one holds where no weight is below the bounds.
    mean_excess
        Instead of `max_excess`: by how much paths of A* may cost more than the optimum, as a share, both in total and
        on average over paths, as judged on instances not learned from, with a margin. Single ones may cost more. inf is
        no limit: the fewest expansions, as always with greedy search.
    algorithm
        The algorithm that will use ρ: "astar" (with reopening) or "gbfs", which ignores what a path costs.
    utility
        A measure that decides instead of expansions and of what paths cost.
    lower
        For `max_excess`: lower bounds on the weights, a number or one per edge. None takes the lowest weights of the
        training set. Weights of the training set may not be below.
    effort
        "quick", "normal" or "thorough"; see :class:`rhostar.learners.Auto`. `max_excess` needs none.
    time_limit
        After so many seconds, for all goals together, nothing further is tried, and ``notes_`` says so; None for no
        limit.
    split
        What stays on one side where instances are held out to judge learners: all of a "snapshot", or of a "day" (see
        :attr:`InstanceSet.days`). `max_excess` holds out none.
    seed
        Deals out the folds, and seeds the learners that draw random numbers.
    n_jobs
        As in joblib.
    verbose
        1 shows progress.

    Returns
    -------
    Learner
        Fitted: ``heuristic_`` is what was learned, and ``rho_`` its values if there is one table. With `mean_excess`,
        ``learner_`` is the winner, ``candidates_`` what was tried, and ``notes_`` what you should know: for instance
        that nothing faster than exact values keeps the mean excess.

    Raises
    ------
    InstanceError
        If there are too few instances to hold some out.
    WeightError
        If a training instance has a weight below `lower`.
    InputError
        If a parameter is not accepted.

    See Also
    --------
    rhostar.learners.Auto : compares learners by cross-validation; it is behind `mean_excess`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(100, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> train, test = instances.split(0.8, seed=0)
    >>> exact = rs.learn(train, lower=1.0)
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
    free = arrays.algorithm(algorithm) == "gbfs" or utility is not None
    given = {"max_excess": max_excess, "mean_excess": mean_excess, "utility": utility}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} cannot be combined: give only one of them")
    if algorithm == "gbfs" and (max_excess is not None or mean_excess not in (None, np.inf)):
        raise InputError("greedy search ignores what a path costs: leave max_excess and mean_excess out")
    goals = max(1, np.unique(instances.goals).size)
    if not free and mean_excess is None:
        most = 0.0 if max_excess is None else max_excess
        most = arrays.number(most, "max_excess", "finite and at least 0", lambda x: 0 <= x < np.inf)
        return _certain(goals <= min(_MOST_TABLES, max(1, len(instances) / _INSTANCES_PER_GOAL)), most, lower).fit(
            instances
        )
    if lower is not None:
        raise InputError("lower belongs to max_excess: mean_excess and greedy search need no bounds")
    several = 1 < goals <= len(instances) / _INSTANCES_PER_GOAL
    auto = Auto(
        algorithm,
        mean_excess=np.inf if free or mean_excess is None else mean_excess,
        utility=utility,
        effort=effort,
        time_limit=time_limit / goals if several and time_limit else time_limit,
        split=split,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # A table for each goal needs instances of each; with few, one weight per edge serves all goals.
    return (PerGoal(auto) if several else auto).fit(instances)


def _certain(tables: bool, max_excess: float, lower: Any) -> Learner:
    """Return the learner whose answers are certain: a table for each goal, or values for any goal if there are many."""
    if not tables:
        return Potentials(lower=lower, scale=1 + max_excess)
    return Scaled(LowerEnvelope(lower), 1 + max_excess) if max_excess > 0 else LowerEnvelope(lower)
