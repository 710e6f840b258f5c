"""Days of snapshots: views, files and pickles keep them."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, InputError, InstanceError, VertexError


@pytest.fixture
def instances() -> rs.InstanceSet:
    graph = rs.Graph.grid(2, 2)
    weights = np.arange(1.0, 7)[:, None] * np.ones(graph.m)
    return rs.InstanceSet(graph, weights, 0, 3, rows=[5, 1, 3, 3, 0], days=[0, 0, 1, 1, 4, 4])


def of(instances: rs.InstanceSet) -> list[int]:
    return instances.days[instances.rows].tolist()


def test_views_files_and_pickles_keep_days(instances: rs.InstanceSet, tmp_path: Path) -> None:
    assert of(instances) == [4, 0, 1, 1, 0]
    assert of(instances[1:3]) == [0, 1]
    assert of(instances[1:3][[1]]) == [1]
    assert of(pickle.loads(pickle.dumps(instances[1:3]))) == [0, 1]
    instances[[0, 2]].save(tmp_path / "set")
    for mmap in (True, False):
        loaded = rs.InstanceSet.load(tmp_path / "set", mmap=mmap)
        assert of(loaded) == [4, 1]
        assert of(pickle.loads(pickle.dumps(loaded[1:]))) == [1]
    earlier, later = rs.datasets.split_by_day(instances)
    assert (earlier.indices.tolist(), later.indices.tolist()) == ([1, 2, 3, 4], [0])
    assert (of(earlier), of(later)) == ([0, 1, 1, 0], [4])
    dropped = rs.InstanceSet(
        instances.graph, np.array([[np.inf], [1]]) * np.ones(8), 0, 3, infeasible="drop", days=[3, 7]
    )
    assert of(dropped) == [7]


def test_days_are_checked(instances: rs.InstanceSet, tmp_path: Path) -> None:
    graph = instances.graph
    for days in ([0], [0.5, 1.0], [[0, 1]], ["mon", "tue"]):
        with pytest.raises(ArrayError, match=r"days must have an integer per snapshot \(2\)"):
            rs.InstanceSet(graph, np.ones((2, 8)), 0, 3, days=days)
    plain = rs.InstanceSet(graph, np.ones((2, 8)), 0, 3)
    plain.save(tmp_path / "set")
    assert rs.InstanceSet.load(tmp_path / "set").days is None
    with pytest.raises(InputError, match="does not know the days of its snapshots"):
        rs.datasets.split_by_day(plain)


def test_a_network_passes_its_days_on() -> None:
    graph = rs.Graph.grid(2, 2)
    network = rs.datasets.Network(graph, np.ones((3, 8)), days=np.array([2, 2, 5]))
    assert of(network.instances(0, 3)) == [2, 2, 5]
    assert set(of(network.sample(50, goal=3))) == {2, 5}


# ---------------------------------------------------------------- several goals


def test_draws_to_several_goals_are_uniform_and_feasible() -> None:
    # 0 -> 1 -> 2, and 3 <-> 4 apart.
    graph = rs.Graph.from_edges(5, [0, 1, 3, 4], [1, 2, 4, 3])
    network = rs.datasets.Network(graph, np.ones((2, 4)))
    drawn = network.sample(3000, goal=[2, 4], seed=0)
    pairs = {(int(s), int(t)) for s, t in zip(drawn.sources, drawn.goals, strict=True)}
    assert pairs == {(0, 2), (1, 2), (3, 4)}
    share = np.mean(drawn.goals == 2)
    assert abs(share - 2 / 3) < 5 * np.sqrt(2 / 9 / 3000)  # three pairs, each as likely
    again = network.sample(3000, goal=np.array([2, 4]), seed=0)
    assert again.origin == drawn.origin
    assert network.sample(3000, goal=[4, 2], seed=1).overlap(drawn) == 0
    assert drawn.pool.words == "draws by this sampler from 2 snapshots and 5 starts, to 2 goals"
    assert drawn.feasible == pytest.approx(3 / 8, abs=0.05)
    single = network.sample(10, goal=[2], seed=0)
    assert (single.origin, single.goal) == (network.sample(10, goal=2, seed=0).origin, 2)


def test_goals_are_checked() -> None:
    network = rs.datasets.Network(rs.Graph.grid(2, 2), np.ones(8))
    for goal in ([], [1, 1]):
        with pytest.raises(InputError, match="one vertex, or several different ones"):
            network.sample(5, goal=goal)
    with pytest.raises(VertexError, match="goal"):
        network.sample(5, goal=[1, 9])
    with pytest.raises(VertexError, match=r"goal must be a vertex \(an integer"):
        network.sample(5, goal="a")
    lonely = rs.datasets.Network(rs.Graph.from_edges(3, [0], [1]), [1.0])
    with pytest.raises(InstanceError, match="only 0 of 4 instances drawn have a path to one of the 2 goals"):
        lonely.sample(4, goal=[0, 2])
