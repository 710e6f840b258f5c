"""Against SUMO itself: the same costs as its router, on a network and a congested morning that SUMO made."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rhostar as rs

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def days() -> ModuleType:
    """The functions of the example."""
    for package in ("sumo", "sumolib"):
        pytest.importorskip(package, reason=f"{package} is not installed: NOTHING was compared with SUMO")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
        return importlib.import_module("sumo_days")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sumo")


@pytest.fixture(scope="module")
def net(days: ModuleType, folder: Path) -> Path:
    return days.town(folder)


@pytest.fixture(scope="module")
def morning(days: ModuleType, folder: Path, net: Path) -> Path:
    return days.day(folder, net, rs.interop.from_sumo(net).graph, seed=0)


def test_the_same_edges_as_sumolib(net: Path, days: ModuleType) -> None:
    sumolib = importlib.import_module("sumolib")
    theirs = sumolib.net.readNet(str(net))
    network = rs.interop.from_sumo(net)
    assert list(network.graph.labels) == [edge.getID() for edge in theirs.getEdges()]
    assert network.graph.n == 4504
    turns = {(a.getID(), b.getID()) for a in theirs.getEdges() for b in a.getOutgoing()}
    names = network.graph.labels
    ours = {(names[a], names[b]) for a, b in zip(network.graph.tail, network.graph.head, strict=True)}
    assert ours == {(a, b) for a, b in turns if a != b}


def test_the_same_costs_as_duarouter(days: ModuleType, folder: Path, net: Path, morning: Path) -> None:
    network, free = rs.interop.from_sumo(net, morning), rs.interop.from_sumo(net)
    slower = network.edge_times / free.edge_times[0]
    assert slower.min() == 1
    busiest = int(np.argmax(slower.mean(axis=1)))
    assert np.quantile(slower[busiest], 0.99) > 2, "the streets are congested"
    weights = days.one_interval(morning, busiest, folder / "weights.xml")
    trips = days.write_trips(folder / "asked.xml", free.graph, 1200, 1000, seed=9, rush=0.2)
    table = rs.interop.sumo.write_landmarks(folder / "landmarks.txt", free, free.edge_times[0])
    router = rs.Router(network.graph)
    router.update(network.weights[busiest])
    ways = {
        "Dijkstra": (),
        "A* with our landmarks": ("--routing-algorithm", "astar", "--astar.landmark-distances", table),
        "CCH": ("--routing-algorithm", "CCH"),
        "its own A*": ("--routing-algorithm", "astar"),
    }
    for name, words in ways.items():
        found, seconds = days.duarouter(folder, net, trips, weights, *words)
        assert len(found) > 1000
        starts, goals, costs = zip(*found.values(), strict=True)
        first = network.edge_times[busiest][[network.graph.vertex(start) for start in starts]]
        ours = router.routes(list(zip(starts, goals, strict=True))).cost + first
        wrong = np.abs(np.array(costs) - ours) > 0.011  # SUMO prints two digits
        print(f"duarouter, {name}: {len(found)} trips, {wrong.sum()} cost other than ours, {seconds:.2f} s in all")
        if name != "its own A*":  # which is not always optimal
            assert not wrong.any()
        assert (np.array(costs) > ours - 0.011).all()


def test_days_are_kept_apart(days: ModuleType, net: Path, morning: Path) -> None:
    network = rs.interop.from_sumo(net, [morning, morning])
    assert network.days.tolist() == sorted(network.days.tolist())
    half = len(network.weights) // 2
    assert np.array_equal(network.weights[:half], network.weights[half:])
