"""Groups of similar snapshots: what jams, closed edges and few snapshots do to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.learners import _clusters
from rhostar.learners._clusters import cluster_weights, clusters


def history(seed: int, count: int = 24, side: int = 6) -> tuple[rs.Graph, np.ndarray, np.ndarray]:
    """Return a grid, weights of calm and busy snapshots, and which are busy: a third of them."""
    graph, rng = rs.Graph.grid(side, side), np.random.default_rng(seed)
    busy = np.arange(count) % 3 == 0
    level = np.where(busy[:, None] & (np.arange(graph.m) % 2 == 0), 4.0, 1.0)
    return graph, level * rng.uniform(1, 1.2, (count, graph.m)), busy


def found(graph: rs.Graph, weights: np.ndarray, count: int = 2) -> _clusters.Clusters:
    instances = rs.InstanceSet(graph, weights, 0, graph.n - 1, infeasible="keep")
    return clusters(instances, count, np.random.default_rng(0))


@given(seed=st.integers(0, 1000), jam=st.floats(2.0, 6.0), unit=st.floats(1e-3, 1e3))
def test_neither_jams_nor_closed_edges_nor_the_unit_decide(seed: int, jam: float, unit: float) -> None:
    graph, weights, busy = history(seed)
    rng = np.random.default_rng(seed)
    spoiled = rng.random(weights.shape) < 0.03
    weights = np.where(spoiled, rng.choice([10.0**jam, np.inf, 0.0], weights.shape), weights) * unit
    groups = found(graph, weights)
    assert len(groups.usual) == 2
    assert len({*groups.of[busy]}) == len({*groups.of[~busy]}) == 1
    assert groups.of[0] == 1, "the larger one is first"


def test_the_twin_without_logarithms_and_limits_is_ruled_by_a_jam(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, weights, busy = history(0)
    weights[5, :20] *= 1e4
    weights[4, 30] = np.inf
    assert len({*found(graph, weights).of[~busy]}) == 1
    monkeypatch.setattr(_clusters, "BEYOND", 1e6)
    monkeypatch.setattr(_clusters.np, "log", lambda values: values)
    monkeypatch.setattr(_clusters.np, "exp", lambda values: values)
    assert len({*found(graph, weights).of[~busy]}) == 2


@given(seed=st.integers(0, 1000), level=st.sampled_from([0.25, 0.5]), count=st.integers(1, 30))
def test_weights_stay_between_those_that_were_seen(seed: int, level: float, count: int) -> None:
    graph, weights, _ = history(seed, count)
    rng = np.random.default_rng(seed)
    weights[rng.random(weights.shape) < 0.05] = np.inf
    weights[rng.integers(count), rng.random(graph.m) < 0.3] *= 1e3
    instances = rs.InstanceSet(graph, weights, 0, graph.n - 1, infeasible="keep")
    groups = clusters(instances, 3, rng)
    learned = cluster_weights(instances, groups, "quantile", level)
    assert learned.shape == (len(groups.usual), graph.m)
    seen = np.isfinite(weights).any(axis=0)
    low, high = weights.min(axis=0), np.where(np.isfinite(weights), weights, 0.0).max(axis=0)
    assert (learned[:, seen] >= low[seen] * (1 - 1e-12)).all()
    assert (learned[:, seen] <= high[seen] * (1 + 1e-12)).all()


def test_one_extreme_snapshot_does_not_move_the_weights() -> None:
    graph, weights, _ = history(1)
    spoiled = weights.copy()
    spoiled[4] *= 1e4
    plain, other = (
        cluster_weights(rs.InstanceSet(graph, one, 0, 35), None, "quantile", 0.5) for one in (weights, spoiled)
    )
    assert np.abs(np.log(other / plain)).max() < 0.2
    assert np.log(spoiled.mean(axis=0) / weights.mean(axis=0)).min() > 2, "the twin: means"


def test_clusters_of_few_snapshots_are_drawn_towards_all() -> None:
    graph, weights, busy = history(2, 12)
    instances = rs.InstanceSet(graph, weights, 0, 35)
    common = cluster_weights(instances, None, "quantile", 0.5)[0]
    groups = clusters(instances, 2, np.random.default_rng(0))
    assert (groups.of == busy).all()
    for pull in (groups.pull, 4.0):
        learned = cluster_weights(instances, groups._replace(pull=pull), "quantile", 0.5)
        for k, size in ((0, 8), (1, 4)):
            own, share = np.median(weights[busy == k], axis=0), size / (size + pull)
            np.testing.assert_allclose(np.log(learned[k]), share * np.log(own) + (1 - share) * np.log(common))


def test_the_pull_is_the_noise_within_clusters_beside_what_tells_them_apart() -> None:
    """Clusters whose means have variance 1, and snapshots that differ from them by a known variance."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(40), rng.integers(2, 9, 40))
    for variance in (0.2, 1.0, 5.0):
        centers = rng.normal(0, 1, (40, 60))
        points = centers[label] + rng.normal(0, np.sqrt(variance), (label.size, 60))
        assert _clusters._noise(points, label) == pytest.approx(variance, rel=0.15)
    assert _clusters._noise(rng.normal(0, 1, points.shape), label) > 20, "clusters that mean nothing"
    assert _clusters._noise(points[:, :0], label) == 100.0
    assert _clusters._noise(points, np.zeros_like(label)) == 100.0


def test_a_cluster_has_two_snapshots_on_average() -> None:
    graph, weights, _ = history(3, 12)
    assert len(found(graph, weights, 9).usual) == 6
    assert len(found(graph, weights[:3], 9).usual) == 1
