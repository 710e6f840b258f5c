"""Choosing goals, sampling, splitting in time, duplicates."""

import numpy as np
import pytest

import rhostar as rs
from rhostar import datasets


def test_goal_lies_in_the_largest_strong_part() -> None:
    # 0 -> 1 <-> 2 <-> 3 -> 4, and 5 alone.
    graph = rs.Graph.from_edges(6, [0, 1, 2, 2, 3, 3], [1, 2, 1, 3, 2, 4])
    assert datasets.choose_goal(graph) in (1, 2, 3)
    # With 2 -> 3 absent, only 1 and 2 are left.
    weights = np.ones(graph.m)
    weights[graph.edge_index(2, 3)] = np.inf
    assert datasets.choose_goal(graph, weights) in (1, 2)


def test_samples_of_a_network_are_feasible_and_reproducible(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(6, 6)
    weights = rng.uniform(1, 2, (20, graph.m))
    weights[rng.random(weights.shape) < 0.35] = np.inf
    network = datasets.Network(graph, weights)
    instances = network.sample(400, goal=0, seed=3)
    assert len(instances) == 400
    assert np.shares_memory(instances._stored, network.weights)
    assert all(np.isfinite(rs.astar(*instance, np.zeros(graph.n)).cost) for instance in instances)
    again = network.sample(400, goal=0, seed=3)
    assert np.array_equal(again.rows, instances.rows)
    assert np.array_equal(again.sources, instances.sources)
    # Uniform over feasible pairs (snapshot, start).
    pairs = [(k, v) for k in range(20) for v in range(1, 36) if np.isfinite(rs.distances_to(graph, weights[k], 0)[v])]
    many = network.sample(20_000, goal=0, seed=4)
    per_row = np.bincount(many.snapshot_indices[many.rows], minlength=20)
    expected = np.bincount([k for k, _ in pairs], minlength=20) * 20_000 / len(pairs)
    assert (np.abs(per_row - expected) < 5 * np.sqrt(expected + 1)).all()
    only = network.sample(50, goal=0, rows=[2, 5])
    assert set(only.snapshot_indices.tolist()) <= {2, 5}


def test_no_sample_where_nothing_is_feasible() -> None:
    graph = rs.Graph.from_edges(3, [0], [1])
    with pytest.raises(rs.errors.InfeasibleError, match="only 0 of 5"):
        datasets.Network(graph, [1.0]).sample(5, goal=0)
    with pytest.raises(rs.errors.ArrayError, match=r"names must have one entry per snapshot \(2\), got 1"):
        datasets.Network(graph, [[1.0], [2.0]], names=("a",))


def test_split_by_day(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(3, 3)
    network = datasets.Network(graph, rng.uniform(1, 2, (30, graph.m)), days=np.arange(30) // 10)
    instances = network.sample(300, goal=0)
    earlier, later = datasets.split_by_day(instances)
    assert earlier.snapshot_indices.max() < 20 <= later.snapshot_indices.min()
    assert len(earlier) + len(later) == 300
    earlier, later = datasets.split_by_day(instances, test_days=2)
    assert earlier.snapshot_indices.max() < 10 <= later.snapshot_indices.min()
    for bad in (3, 4):
        with pytest.raises(rs.errors.InputError, match="one part would be empty"):
            datasets.split_by_day(instances, test_days=bad)
    with pytest.raises(rs.errors.ArrayError, match="one entry per instance"):
        datasets.split_by_day(instances, network.days)


def test_duplicates(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(3, 3)
    base = rng.integers(0, 3, (4, graph.m)).astype(float)
    weights = base[[0, 1, 0, 2, 1, 3]]
    weights[2][weights[2] == 0] = -0.0
    instances = rs.InstanceSet(graph, weights, [1, 1, 1, 1, 2, 1], goal=0)
    assert datasets.deduplicate(instances).indices.tolist() == [0, 1, 3, 4, 5]
    other = rs.InstanceSet(graph, base[[1, 3]].astype(np.float32), 5, goal=8)
    assert datasets.without(instances, other).indices.tolist() == [0, 2, 3]
    assert len(datasets.without(instances, instances)) == 0
