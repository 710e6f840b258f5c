"""Groups of similar snapshots, and weights for each group: shared by all learners that use clusters.

Traffic has heavy tails: in a traffic jam an edge can take a hundred times as long as on a free road, and a sum of
squares, or a mean, is then dominated by a few edges on a few days. Hence snapshots are compared by the logarithms of
their weights, so that ratios count. An outlier counts as 4 times the upper quartile of its edge, or a quarter of the
lower one, and a closed edge as an outlier. The weights of a group with few snapshots are shrunk toward the weights of
all snapshots, and more strongly if the snapshots of the group differ more from each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.heuristics._chosen import BEYOND
from rhostar.instances import InstanceSet
from rhostar.learners._distances import Snapshots, finite_quantile, snapshots
from rhostar.learners._weights import complete, edge_statistics

_PROBES = 250
"""Edges by which snapshots are compared."""
_PULL = 4.0
"""The lowest weights times a factor count as much as this many snapshots."""
_PULLS = (0.1, 100.0)
"""The minimum and maximum number of snapshots that the weights of all snapshots count as in a cluster."""


class Clusters(NamedTuple):
    """Clusters of the snapshots of a set, the one with the most instances first."""

    of: NDArray[np.int32]
    """The cluster of each instance."""
    probes: NDArray[np.int64]
    """The edges by which snapshots are compared; none if all snapshots are alike."""
    usual: NDArray[np.float64]
    """(clusters, probes) geometric means of the weights of these edges."""
    low: NDArray[np.float64]
    """What smaller weights count as for each probe."""
    high: NDArray[np.float64]
    """What larger weights, and absent edges, count as for each probe."""
    pull: float
    """What all snapshots have counts in a cluster as much as this many snapshots of its own."""

    @property
    def rule(self) -> dict[str, Any]:
        """What :class:`rhostar.heuristics.ChosenByWeights` needs to choose among them."""
        return {"probes": self.probes, "usual": self.usual, "low": self.low, "high": self.high}


def clusters(instances: InstanceSet, count: int, rng: np.random.Generator) -> Clusters:
    """Return at most `count` clusters, by k-means on the logarithms of the weights of a few edges.

    There are at least two snapshots for each, or how much they vary within clusters would not be known.
    """
    distinct, m = snapshots(instances), instances.graph.m
    probes = np.sort(rng.choice(m, min(m, _PROBES), replace=False))
    seen = _seen(instances, distinct, probes)
    probes = probes[seen.varies]
    label = _k_means(seen.points, distinct.times, min(count, len(seen.points) // 2), int(rng.integers(2**31)))
    order = np.argsort(-np.bincount(label, distinct.times), kind="stable")
    label = np.argsort(order)[label]
    usual = [
        np.exp(np.average(seen.points[label == k], axis=0, weights=distinct.times[label == k]))
        for k in range(int(label.max()) + 1)
    ]
    # On other edges: clusters look further apart than they are on those that made them.
    others = _seen(instances, distinct, np.sort(rng.choice(m, min(m, _PROBES), replace=False)))
    pull = _noise(others.points, label)
    return Clusters(label[distinct.of].astype(np.int32), probes, np.stack(usual), seen.low, seen.high, pull)


class _Seen(NamedTuple):
    """Weights of some edges, those that vary."""

    varies: NDArray[np.bool_]
    points: NDArray[np.float64]
    """(snapshots, edges) logarithms."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def _seen(instances: InstanceSet, distinct: Snapshots, edges: NDArray[np.int64]) -> _Seen:
    rows = distinct.instances._stored_rows
    seen = np.stack([instances._stored[row][edges].astype(np.float64) for row in rows.tolist()])
    usable = np.isfinite(seen) & (seen > 0)
    varies = (seen != seen[0]).any(axis=0) & usable.any(axis=0)
    seen, usable = seen[:, varies], usable[:, varies]
    low, high = (
        finite_quantile(np.where(usable, seen, np.inf), distinct.times, level) * factor
        for level, factor in ((0.25, 1 / BEYOND), (0.75, BEYOND))
    )
    return _Seen(varies, np.log(np.clip(seen, low, high)), low, high)


def _noise(points: NDArray[np.float64], label: NDArray[np.int64]) -> float:
    """Return the variance within clusters divided by that between them.

    The mean of k snapshots of a cluster and that of all are combined best with weights k and this number, if both are
    estimates of the cluster's own mean (random effects, by analysis of variance).
    """
    size = np.bincount(label).astype(np.float64)
    groups, count = size.size, len(points)
    if groups < 2 or not points.size:
        return _PULLS[1]
    means = np.stack([points[label == k].mean(axis=0) for k in range(groups)])
    within = ((points - means[label]) ** 2).sum() / max(count - groups, 1)
    apart = (size[:, None] * (means - points.mean(axis=0)) ** 2).sum() / (groups - 1)
    between = (apart - within) / ((count - (size @ size) / count) / (groups - 1))
    return float(np.clip(within / between, *_PULLS)) if between > 0 else _PULLS[1]


def cluster_weights(
    instances: InstanceSet, found: Clusters | None, statistic: str, level: float
) -> NDArray[np.float64]:
    """Return (clusters, m) a statistic of the weights of each edge in each cluster, drawn towards common values.

    A cluster is drawn towards all snapshots, and these towards the lowest weights times a factor, the same for every
    edge, but not above the highest. An edge that is absent in a whole cluster has the common value there.
    """
    graph = instances.graph
    common, lowest, highest = (
        complete(graph, edge_statistics(instances, *what).value)
        for what in ((statistic, level), ("min", 0.0), ("quantile", 1.0))
    )
    known = (lowest > 0) & (common < np.inf)
    if known.any():
        factor = float(np.median(common[known] / lowest[known]))
        common = _drawn(common, np.minimum(lowest * factor, highest), own_share(instances, _PULL))
    if found is None or len(found.usual) == 1:
        return common[None, :]
    rows = []
    for k in range(len(found.usual)):
        part = instances[np.flatnonzero(found.of == k)]
        own = edge_statistics(part, statistic, level).value
        rows.append(_drawn(np.where(own < np.inf, own, common), common, own_share(part, found.pull)))
    return np.stack(rows)


def own_share(instances: InstanceSet, pull: float) -> float:
    """Return how much values from these instances count beside those that they are drawn towards."""
    size = int(np.unique(instances._stored_rows).size)
    return size / (size + pull)


def _drawn(values: NDArray[np.float64], towards: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return weights drawn towards others on the scale of logarithms."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.float64] = values**share * towards ** (1 - share)
    return np.where(np.isfinite(values) & np.isfinite(towards), found, values)


def _k_means(points: NDArray[np.float64], times: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Return the cluster of each point, which counts this many times."""
    count = min(count, np.unique(points, axis=0).shape[0]) if points.size else 1
    if count < 2:
        return np.zeros(len(points), dtype=np.int64)
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # Several threads would add up in an order of their own, and round differently each time.
    with threadpool_limits(1):
        found = KMeans(count, n_init=4, random_state=seed).fit(points, sample_weight=times)
    return np.unique(found.labels_, return_inverse=True)[1].astype(np.int64)
