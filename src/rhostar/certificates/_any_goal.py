"""Certificates for every goal at once: ρ is the distance to the goal under one weight per edge (U6).

Why one bound covers all goals: let ŵ have a weight for each edge, and ρ_v the distance from v to the goal under ŵ. Then
ρ_v ≤ ŵ_vc + ρ_c on every edge, for every goal. So Δ of L1 is at most the sum of (ŵ − w)⁺ over all edges of the optimal
path except the first, which depends on the goal only through the path. U2 bounds the mean of such sums for all ŵ below
given caps at once.

Rounding: a hierarchy never gives more than the distance under ŵ. With reopening that is enough: if the answer is not
optimal, some vertex v of the optimal path is in OPEN with its true g, so cost ≤ g_v + ρ_v, and ρ_v is at most the sum
of ŵ over the rest of that path. Without reopening, ρ must also be consistent. Single precision lowers values by up to
2⁻²³ of themselves. That then adds at most 2⁻²³ times the sum of ρ over the vertices of the optimal path, which the
numbers here do not include.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._draws import assume_draws, check_independent, check_set, population
from rhostar.certificates._excess import by_edge
from rhostar.certificates._measure import Search, measure, optimal_paths
from rhostar.certificates._sentence import scaled_words
from rhostar.errors import AssumptionError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import ChosenByWeights, DistanceHeuristic, as_heuristic
from rhostar.instances import InstanceSet
from rhostar.utilities import Suboptimality


def certify_any_goal(
    learner: Any, train: InstanceSet, *, caps: ArrayLike, limit: float, delta: float = 0.05
) -> Certificate:
    """Certify potentials for every goal at once, on the instances that they were learned from (U6).

    It holds for A* with and without reopening. :func:`rhostar.certify` on untouched instances gives tighter bounds.

    Parameters
    ----------
    learner
        Fitted :class:`rhostar.learners.Potentials` with one cluster. With several clusters, a learned rule chooses ŵ,
        which this bound does not cover.
    train
        Instances drawn independently from one distribution, sources and goals included; the learner may have seen them.
    caps
        (m,) or one number: the largest weights, known beforehand. All ŵ with scale · ŵ ≤ caps are covered.
    limit
        H, where the suboptimality is clipped.
    delta
        The probability with which the bound may be wrong.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError, ArrayError
        If the learner has no such weights, or an argument is not accepted.
    AssumptionError
        If an edge has scale · ŵ above its cap, or instances of `train` share snapshots or repeat.
    InstanceError
        If `train` has fewer than two instances or one has no path.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> rng = np.random.default_rng(0)
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = rng.uniform(1, 1.2, (4000, graph.m))
    >>> trips = rs.InstanceSet(graph, weights, rng.integers(0, 18, 4000), rng.integers(18, 36, 4000))
    >>> learner = rs.learners.Potentials("median").fit(trips)
    >>> found = rs.certificates.certify_any_goal(learner, trips, caps=1.2, limit=3.0)
    >>> found.vacuous, round(found.measured["mean sum"], 2), found.observed < 0.1
    (False, 0.1, True)
    """
    weights = _weights(learner, check_set(train, "train").graph)
    factor = as_heuristic(learner, train.graph).factor
    check_independent(train)
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)
    graph = train.graph
    cap = _caps(caps, graph, weights)
    paths = optimal_paths(train)
    # Sums of at most n floats are off by a few units in the last place of the largest.
    rounding = 8 * graph.n * 2.0**-53 * (float(paths.cost.max()) + float(weights[np.isfinite(weights)].sum()) + limit)
    mean = float(np.minimum(paths.sums(weights[paths.edges]), limit).mean())
    complexity = bounds.edge_local_complexity(paths.edges, paths.weights, cap, len(train), limit)
    value = bounds.rademacher_bound(mean, complexity, len(train), limit, delta=delta) + rounding
    utility = Suboptimality(limit)
    score, _ = measure(learner, train, utility, Search(), paths.cost)
    return Certificate(
        label="U6",
        utility=utility.name,
        subject=utility.mean_words,
        algorithm="astar",
        reopen=None,
        goals="to any goal",
        heuristic=scaled_words("these weights per edge", factor),
        factor=factor,
        chosen_here=True,
        population=population(train),
        side="upper",
        value=min(limit, max(value, score.mean)),
        observed=score.mean,
        limit=limit,
        clipped=score.clipped,
        delta=delta,
        samples=len(train),
        holds_for="every rho of the family",
        reference="edge-local Rademacher complexity of the sum of (ŵ − w)⁺ over the optimal path (U6)",
        role="guarantee",
        assumptions=(
            *assume_draws("train", limit),
            "the caps were known beforehand",
            "comparisons of g + rho are exact, although sums round",
        ),
        measured={"mean sum": mean, "2R": 2 * complexity},
    )


def largest_excess_by_edges(learner: Any, instances: InstanceSet) -> NDArray[np.float64]:
    """Return, for each instance, how far A* with a potential can exceed the optimum: Σ (ŵ − w)⁺ on an optimal path.

    This holds with certainty, up to rounding, for every goal, with and without reopening. The edge that leaves the
    source is not in the sum. It needs the optimal path, so it can only be computed afterwards.

    Parameters
    ----------
    learner
        As for :func:`certify_any_goal`.
    instances
        The instances.

    Returns
    -------
    numpy.ndarray
        (N,)

    Raises
    ------
    InputError
        As :func:`certify_any_goal`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> instances = rs.InstanceSet(graph, [[1.0, 2.0], [1.0, 4.0]], sources=0, goal=[2, 2])
    >>> learner = rs.learners.Potentials("median").fit(instances)
    >>> rs.certificates.largest_excess_by_edges(learner, instances).round(3).tolist()
    [0.657, 0.0]
    """
    paths = optimal_paths(instances)
    return paths.sums(_weights(learner, instances.graph)[paths.edges])


def _weights(learner: Any, graph: Graph) -> NDArray[np.float64]:
    """Return scale · ŵ of a learner of potentials."""
    heuristic = as_heuristic(learner, graph)
    if isinstance(heuristic, ChosenByWeights):
        number = len(heuristic.members)
        raise InputError(
            f"learner has {number} clusters, and the rule that chooses among them was learned: use one cluster"
        )
    if not isinstance(heuristic, DistanceHeuristic) or heuristic.consistent_for is None:
        raise InputError(f"learner must be fitted Potentials, which have one weight per edge; got {learner!r}")
    return heuristic.consistent_for


def _caps(caps: ArrayLike, graph: Graph, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    cap = np.broadcast_to(by_edge(caps, "caps", graph.m), graph.m)
    above = weights > cap
    if above.any():
        e = int(np.argmax(above))
        raise AssumptionError(f"edge {graph._edge_name(e)} has scale · ŵ = {weights[e]:g}, above its cap, {cap[e]:g}")
    return cap
