"""Groups of similar snapshots: one for the night, one for each rush hour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.instances import InstanceSet
from rhostar.learners import _costs_to_go as costs_to_go

_PROBES = 250
"""Edges by which snapshots are compared."""
_ABSENT = 4.0
"""An absent edge counts as this many times the largest weight that the edge had in training."""


class Clusters(NamedTuple):
    """Clusters of the snapshots of a set, the one with the most instances first."""

    of: NDArray[np.int32]
    """The cluster of each instance."""
    probes: NDArray[np.int64]
    """The edges by which snapshots are compared; none if all snapshots are alike."""
    usual: NDArray[np.float64]
    """(clusters, probes) mean weights of these edges."""
    common: NDArray[np.float64]
    """The same over all instances; a snapshot is compared with it edge by edge, as a ratio."""
    cap: NDArray[np.float64]
    """What larger weights, and absent edges, count as for each probe."""


def clusters(instances: InstanceSet, count: int, rng: np.random.Generator) -> Clusters:
    """Return at most `count` clusters, by k-means on the weights of a few edges, each relative to its mean."""
    distinct, m = costs_to_go.snapshots(instances), instances.graph.m
    probes = np.sort(rng.choice(m, min(m, _PROBES), replace=False))
    rows = distinct.instances._stored_rows
    seen = np.stack([instances._stored[row][probes].astype(np.float64) for row in rows.tolist()])
    cap = _ABSENT * np.where(np.isfinite(seen), seen, 0.0).max(axis=0)
    seen = np.minimum(seen, cap)
    varies = (seen != seen[0]).any(axis=0)
    probes, seen, cap = probes[varies], seen[:, varies], cap[varies]
    common = np.average(seen, axis=0, weights=distinct.times)
    label = _k_means(seen / common, distinct.times, count, int(rng.integers(2**31)))
    order = np.argsort(-np.bincount(label, distinct.times), kind="stable")
    label = np.argsort(order)[label]
    usual = [
        np.average(seen[label == k], axis=0, weights=distinct.times[label == k]) for k in range(int(label.max()) + 1)
    ]
    return Clusters(label[distinct.of].astype(np.int32), probes, np.stack(usual), common, cap)


def _k_means(points: NDArray[np.float64], times: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Return the cluster of each point, which counts so many times."""
    count = min(count, np.unique(points, axis=0).shape[0]) if points.size else 1
    if count < 2:
        return np.zeros(len(points), dtype=np.int64)
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # Several threads would add up in an order of their own, and round differently each time.
    with threadpool_limits(1):
        found = KMeans(count, n_init=4, random_state=seed).fit(points, sample_weight=times)
    return np.unique(found.labels_, return_inverse=True)[1].astype(np.int64)
