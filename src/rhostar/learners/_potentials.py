"""Learns one weight per edge, or one for each kind of day, and with it ρ for every goal."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import WeightError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.learners import _costs_to_go as costs_to_go
from rhostar.learners._base import Learner, Seed, generator, one_of
from rhostar.learners._weights import complete, edge_statistics, stated_bounds
from rhostar.potentials import Clustered, Hierarchy, Potential
from rhostar.search import distances_to

_PROBES = 1000
"""Edges by which snapshots are compared."""
_ROUNDS = 50
"""Most rounds in which snapshots change their cluster."""


class Potentials(Learner):
    """Distances under learned weights ŵ, for every goal: ρ at v is `scale` times the distance from v to the goal.

    ŵ is one weight per edge, so one fit serves every goal, also those that no training instance has. Three uses:

    - *Exact*: ``Potentials()`` takes the least weight of each edge, or the lower bounds `lo`. A* is optimal for every
      goal on every instance whose weights are nowhere below ŵ.
    - *Bounded*: ``Potentials(scale=1.2)`` expands fewer vertices, and every path costs at most 1.2 times the optimum,
      on the same instances.
    - *Learned*: ``Potentials(clusters=8)`` groups the snapshots by how similar they are and takes the mean weights of
      each group. A search uses those that are nearest to the weights of its query. With ``worst=1.5`` no path costs
      more than 1.5 times the optimum, on the same instances, however the weights were learned.

    Parameters
    ----------
    statistic
        What ŵ is: "min", "mean", "median" or "quantile" of the weights of each edge in the snapshots that have it; None
        for "min" with one cluster and "mean" with several. An edge that is never present is estimated by its length.
    clusters
        How many groups of snapshots; each gets its own ŵ.
    scale
        A factor on ρ.
    quantile
        Which quantile, for "quantile".
    lo
        (m,) lower bounds on the weights of every instance. With one cluster and no `statistic` they are ŵ; otherwise
        `worst` rests on them.
    worst
        The most that a path may cost, as a multiple of the optimum: ŵ times `scale` is cut at this multiple of `lo`, or
        of the least weights of the training set. It holds for A* with reopening, for every goal, where no weight is
        below these (U5). None cuts nothing.
    random_state
        Seeds the choice of the edges by which snapshots are compared, and the clusters.

    Attributes
    ----------
    potential_
        ρ for every goal, a :class:`rhostar.potentials.Potential`.
    rho_
        The table for the goal of the training set, if it has only one and there is only one cluster.
    weights_
        (clusters, m) ŵ; there may be fewer clusters than asked for.
    cluster_of_
        The cluster of each instance.

    Raises
    ------
    WeightError
        Raised by ``fit`` if a training instance has a weight below `lo`.
    LimitError
        Raised by ``fit`` if the graph has no small separators, so that a hierarchy would be too large; use
        :class:`Landmarks` there.

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
        "ρ is consistent, for every goal, on every instance whose weights are all at least lower_. Values are "
        "kept in single precision and rounded down: they never overestimate, and are consistent up to 2**-23."
    )
    one_goal = False

    potential_: Potential
    weights_: NDArray[np.float64]
    cluster_of_: NDArray[np.int32]

    def __init__(
        self,
        statistic: Literal["min", "mean", "median", "quantile"] | None = None,
        clusters: int = 1,
        scale: float = 1.0,
        *,
        quantile: float = 0.5,
        lo: ArrayLike | None = None,
        worst: float | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.statistic, self.clusters, self.scale, self.quantile = statistic, clusters, scale, quantile
        self.lo, self.worst, self.random_state = lo, worst, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        graph = instances.graph
        clusters = arrays.integer(self.clusters, "clusters", 1)
        statistic = self.statistic or ("min" if clusters == 1 else "mean")
        one_of(statistic, "statistic", ("min", "mean", "median", "quantile"))
        scale = arrays.number(self.scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        level = 0.5 if statistic == "median" else level
        worst = self.worst
        if worst is not None:
            worst = arrays.number(worst, "worst", "finite and at least 1, or None", lambda x: 1 <= x < np.inf)
        cluster_of = np.zeros(len(instances), dtype=np.int32)
        probes = np.empty(0, dtype=np.int32)
        if clusters > 1:
            cluster_of, probes = _clusters(instances, clusters, generator(self.random_state))
        least = None
        if self.lo is not None or worst is not None:
            least = _lower_bounds(self.lo, instances)
        if self.lo is not None and worst is None and (clusters > 1 or self.statistic is not None):
            raise WeightError("lo takes the place of a statistic: leave statistic and clusters out, or give worst")
        if self.lo is not None and least is not None and clusters == 1 and self.statistic is None:
            weights = least[None, :]
        else:
            kind = "quantile" if statistic == "median" else statistic
            weights = np.stack(
                [
                    complete(graph, edge_statistics(instances[np.flatnonzero(cluster_of == k)], kind, level).value)
                    for k in range(int(cluster_of.max()) + 1)
                ]
            )
        if worst is not None and least is not None and scale > 0:
            weights = np.minimum(weights, worst / scale * least)
        hierarchies = Hierarchy.for_rows(graph, weights, scale=scale)
        potential: Potential = hierarchies[0]
        if len(hierarchies) > 1:
            potential = Clustered(graph, hierarchies, probes, np.maximum(_finite(weights[:, probes]), 1e-300))
        learned = {
            "potential_": potential,
            "weights_": arrays.frozen(weights),
            "cluster_of_": cluster_of,
            "lower_": arrays.frozen(scale * weights.max(axis=0)),
        }
        if len(weights) == 1 and statistic == "min" and scale <= 1:
            learned["promise_"] = "optimal"
        if isinstance(instances.goal, int) and len(weights) == 1:
            learned["rho_"] = _table(graph, weights[0], instances.goal, scale)
        return learned

    def rho_for(self, goal: int) -> NDArray[np.float64]:
        """Return the heuristic values for any goal.

        Parameters
        ----------
        goal
            Any vertex.

        Returns
        -------
        numpy.ndarray
            (n,) one value per vertex.

        Raises
        ------
        VertexError
            If it is not a vertex.
        HeuristicError
            If there are several clusters: then the weights of a query choose among tables.
        """
        potential: Potential = self._fitted("potential_")
        return potential.rho_for(goal)


def _table(graph: Graph, weights: NDArray[np.float64], goal: int, scale: float) -> NDArray[np.float64]:
    """Return distances under the weights; vertices from which there is no path get the largest of all."""
    rho = distances_to(graph, weights, goal)
    reached = np.isfinite(rho)
    return np.where(reached, rho, rho[reached].max()) * scale


def _lower_bounds(lo: ArrayLike | None, instances: InstanceSet) -> NDArray[np.float64]:
    """Return stated lower bounds, or the least weights of the instances; inf for edges that are never present."""
    least = edge_statistics(instances, "min", 0.0).value
    return least if lo is None else stated_bounds(lo, "lo", least, instances.graph)


def _finite(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows in which a value that is not finite is the mean of those above and below it; 1 if there are none."""
    known = np.isfinite(rows)
    mean = np.where(known, rows, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, rows, np.where(known.any(axis=0), mean, 1.0))


def _clusters(
    instances: InstanceSet, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the cluster of each instance, the largest first, and the edges by which they were compared.

    Clusters are of snapshots (k-means, with starts far from each other), by weights relative to their mean.
    """
    distinct = costs_to_go.snapshots(instances)
    m = instances.graph.m
    probes = np.sort(rng.choice(m, min(m, _PROBES), replace=False)).astype(np.int32)
    rows = distinct.instances.rows.tolist()
    seen = _finite(np.stack([np.asarray(instances.weights[row][probes], dtype=np.float64) for row in rows]))
    mean = seen.mean(axis=0)
    probes, seen, mean = probes[mean > 0], seen[:, mean > 0], mean[mean > 0]
    points = seen / mean
    if probes.size == 0:  # no edge costs anything
        return np.zeros(len(instances), dtype=np.int32), probes
    centres = points[[int(rng.integers(len(points)))]]
    while len(centres) < count:
        apart = _squares(points, centres).min(axis=1)
        if not apart.max() > 0:
            break  # fewer snapshots than clusters
        centres = np.vstack([centres, points[rng.choice(len(points), p=apart / apart.sum())]])
    of = _squares(points, centres).argmin(axis=1)
    for _ in range(_ROUNDS):
        centres = np.stack([points[of == k].mean(axis=0) for k in np.unique(of)])
        again = _squares(points, centres).argmin(axis=1)
        if (again == of).all():
            break
        of = again
    sizes = np.bincount(of[distinct.of], minlength=int(of.max()) + 1)
    order = np.argsort(-sizes, kind="stable")
    number = np.empty(order.size, dtype=np.int32)
    number[order] = np.arange(order.size)
    return number[of[distinct.of]], probes


def _squares(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of every point to every centre."""
    return np.stack([np.einsum("ij,ij->i", points - centre, points - centre) for centre in centres], axis=1)
