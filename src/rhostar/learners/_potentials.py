"""Learns one weight per edge, or one for each kind of day, and with it ρ for every goal."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.heuristics import ChosenByWeights, DistanceHeuristic, Heuristic
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner, Seed, generator, one_of
from rhostar.learners._clusters import cluster_weights, clusters
from rhostar.learners._weights import complete, edge_statistics, stated_bounds
from rhostar.search import distances_to


class Potentials(Learner):
    """Distances under learned weights ŵ, for every goal: ρ at v is `scale` times the distance from v to the goal.

    ŵ is one weight per edge, so one fit serves every goal, also those that no training instance has. Three uses:

    - *Exact*: ``Potentials()`` takes the lowest weight of each edge, or the bounds `lower`. A* is optimal for every
      goal on every instance whose weights are nowhere below ŵ.
    - *Bounded*: ``Potentials(scale=1.2)`` expands fewer vertices, and every path costs at most 1.2 times the optimum,
      on the same instances.
    - *Learned*: ``Potentials(n_clusters=16)`` groups the snapshots by how similar they are and takes the median weights
      of each group. A search uses those that are nearest to the weights of its query. With ``max_excess=0.5`` no path
      costs more than 1.5 times the optimum, on the same instances, however the weights were learned.

    :func:`rhostar.learn` chooses among these, with how many clusters, which quantile and which factor.

    Parameters
    ----------
    statistic
        What ŵ is: "min", "median" or "quantile" of the weights of each edge in the snapshots that have it; None for
        "min" with one cluster and "median" with several. A mean would be dominated by a few jams. An edge that is never
        present is estimated by its length.
    n_clusters
        How many groups of snapshots; each gets its own ŵ. Snapshots are compared by the logarithms of the weights of
        250 edges. Weights are clipped at 4 times the upper quartile of the edge, and a closed edge counts as that
        value.
    scale
        A factor on ρ.
    quantile
        Which quantile, for "quantile".
    lower
        (m,) lower bounds on the weights of every instance. With one cluster and no `statistic` they are ŵ. Otherwise
        they are used for `max_excess`.
    max_excess
        How far a path may exceed the optimum, as a fraction of it. To this end, ŵ times `scale` is cut at 1 +
        `max_excess` times `lower`, or times the lowest weights of the training set. The limit holds for A* with
        reopening, for every goal, where no weight is below these. None cuts nothing.
    goal_delay
        Whether ρ is raised by the delay at the goal in each query; see :class:`rhostar.heuristics.DistanceHeuristic`.
    random_state
        Seeds the choice of the edges by which snapshots are compared, and the clusters.

    Attributes
    ----------
    heuristic_
        ρ for every goal. If the training set has only one goal and there is one cluster, ``rho_`` is its table.
    weights_
        (clusters, m) ŵ; there may be fewer clusters than asked for.
    cluster_of_
        The cluster of each instance.

    Raises
    ------
    WeightError
        Raised by ``fit`` if a training instance has a weight below `lower`.
    LimitError
        Raised by ``fit`` if the graph has no small separators, so that a hierarchy would be too large; use
        :class:`Landmarks` there.

    Notes
    -----
    With few snapshots, quantiles are uncertain. Hence ŵ of a cluster of k snapshots is the geometric mean of its
    quantiles and those of all snapshots, with weights k and r: the variance of the logarithms within clusters, divided
    by that between them. The quantiles of all snapshots are shrunk in the same way, with r = 4, towards the lowest
    weights times one factor, the median ratio of both, but not above the highest weight. "min" is left as it is,
    because exactness depends on it.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> rng = np.random.default_rng(0)
    >>> weights = rng.uniform(1, 2, size=(40, graph.m))
    >>> trips = rs.InstanceSet(graph, weights, sources=rng.integers(0, 200, 40), goal=rng.integers(200, 400, 40))
    >>> learner = rs.learners.Potentials().fit(trips)
    >>> runs = rs.solve_many(trips, learner)
    >>> bool(np.allclose(runs.cost, rs.solve_many(trips, np.zeros(graph.n)).cost))
    True
    >>> rs.astar(graph, weights[0], 3, 77, learner).path[-1]  # any other goal
    np.int32(77)
    """

    algorithm = "astar"
    consistency = (
        "ρ is consistent, for every goal, where no weight is below ``consistent_for``. Values are kept"
        " in single precision and rounded down: they never overestimate, and are consistent up to 2**-23."
    )
    one_goal = False

    weights_: NDArray[np.float64]
    cluster_of_: NDArray[np.int32]

    def __init__(
        self,
        statistic: Literal["min", "median", "quantile"] | None = None,
        n_clusters: int = 1,
        scale: float = 1.0,
        *,
        quantile: float = 0.5,
        lower: ArrayLike | None = None,
        max_excess: float | None = None,
        goal_delay: bool = False,
        random_state: Seed = 0,
    ) -> None:
        self.statistic, self.n_clusters, self.scale, self.quantile = statistic, n_clusters, scale, quantile
        self.lower, self.max_excess, self.goal_delay, self.random_state = lower, max_excess, goal_delay, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        graph = instances.graph
        count = arrays.integer(self.n_clusters, "n_clusters", 1)
        statistic = self.statistic or ("min" if count == 1 else "median")
        one_of(statistic, "statistic", ("min", "median", "quantile"))
        scale = arrays.number(self.scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        level = 0.5 if statistic == "median" else level
        most = self.max_excess
        if most is not None:
            most = arrays.number(most, "max_excess", "finite and at least 0, or None", lambda x: 0 <= x < np.inf)
        stated = self.lower is not None
        if stated and most is None and (count > 1 or self.statistic is not None):
            raise InputError(
                "lower takes the place of a statistic: leave statistic and n_clusters out, or give max_excess"
            )
        lower = None
        if stated or most is not None:
            lower = edge_statistics(instances, "min", 0.0).value
            lower = lower if self.lower is None else stated_bounds(self.lower, "lower", lower, instances)
        found = None if count == 1 else clusters(instances, count, generator(self.random_state))
        cluster_of = np.zeros(len(instances), dtype=np.int32) if found is None else found.of
        if lower is not None and stated and count == 1 and self.statistic is None:
            weights = lower[None, :]
        elif statistic == "min":
            weights = np.stack(
                [
                    complete(graph, edge_statistics(instances[np.flatnonzero(cluster_of == k)], "min", 0.0).value)
                    for k in range(int(cluster_of.max()) + 1)
                ]
            )
        else:
            weights = cluster_weights(instances, found, "quantile", level)
        if most is not None and lower is not None and scale > 0:
            weights = np.minimum(weights, (1 + most) / scale * lower)
        members = DistanceHeuristic.for_rows(graph, weights, scale=scale, goal_delay=self.goal_delay)
        heuristic: Heuristic = members[0]
        if found is not None and len(members) > 1:
            heuristic = ChosenByWeights(members, m=graph.m, **found.rule)
        elif isinstance(instances.goal, int) and not self.goal_delay:
            heuristic = members[0].with_tables({instances.goal: _table(graph, weights[0], instances.goal, scale)})
        bounds = arrays.frozen(scale * weights.max(axis=0))
        exact = len(weights) == 1 and statistic == "min" and scale <= 1
        return {
            "heuristic_": heuristic,
            "weights_": arrays.frozen(weights),
            "cluster_of_": cluster_of,
            "consistent_for": bounds,
            "lower": bounds if exact else None,
        }


def _table(graph: Graph, weights: NDArray[np.float64], goal: int, scale: float) -> NDArray[np.float64]:
    """Return distances under the weights; vertices from which there is no path get the largest of all."""
    rho = distances_to(graph, weights, goal)
    reached = np.isfinite(rho)
    return np.where(reached, rho, rho[reached].max()) * scale
