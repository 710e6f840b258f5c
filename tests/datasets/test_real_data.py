"""The files that others made: all of them load as they are, with the numbers that their sources state."""

import numpy as np
import pytest

import rhostar as rs
from rhostar import datasets
from support.real_data import FOLDER, needs_data

pytestmark = needs_data

MAPS = {
    "den312d": "den312d-random-1.scen",
    "den520d": "den520d.map.scen",
    "random-32-32-20": "random-32-32-20-random-1.scen",
    "room-64-64-8": "room-64-64-8-random-1.scen",
    "warehouse-10-20-10-2-1": "warehouse-10-20-10-2-1-random-1.scen",
}
QUERIES = {
    "den312d": 1000,
    "den520d": 888,
    "random-32-32-20": 409,
    "room-64-64-8": 1000,
    "warehouse-10-20-10-2-1": 1000,
}


@pytest.mark.parametrize("name", MAPS)
def test_every_query_has_the_printed_length(name: str) -> None:
    """Printed with 8 decimals: off by at most 2e-8. den520d prints 6 significant digits: off by at most 5e-6 of it."""
    town = datasets.read_map(FOLDER / "movingai" / f"{name}.map")
    scenario = datasets.read_scenario(FOLDER / "movingai" / MAPS[name])
    assert len(scenario) == QUERIES[name]
    instances = town.queries(scenario)
    rho = {goal: rs.heuristics.octile(town.graph, goal) for goal in np.unique(scenario.goals).tolist()}
    runs = rs.solve_many(instances, rho)
    assert runs.solved.all()
    off = np.abs(runs.cost - scenario.lengths)
    assert (off <= (5e-6 * scenario.lengths if name == "den520d" else 2e-8)).all()


def test_other_readings_of_the_map_miss_the_printed_lengths() -> None:
    """Cutting corners, or 4 neighbors, gives other lengths: the test above can fail."""
    path = FOLDER / "movingai" / "random-32-32-20.map"
    scenario = datasets.read_scenario(FOLDER / "movingai" / MAPS["random-32-32-20"])
    town = datasets.read_map(path)
    cut = rs.InstanceSet.from_obstacles(
        town.graph,
        town.blocked,
        scenario.sources,
        scenario.goals,
        corner_cutting=True,
        rows=np.zeros(len(scenario), int),
    )
    straight = datasets.read_map(path, neighbors=4).queries(scenario)
    zero = np.zeros(town.graph.n)
    assert (rs.solve_many(cut, zero).cost < scenario.lengths - 1e-3).mean() > 0.2
    assert (rs.solve_many(straight, zero).cost > scenario.lengths + 1e-3).mean() > 0.9


def test_rome() -> None:
    network = datasets.read_dimacs(FOLDER / "roads" / "rome99.gr")
    assert (network.graph.n, network.graph.m) == (3353, 8870 - 11)
    assert network.weights.dtype == np.int32
    lines = [line.split()[1:] for line in (FOLDER / "roads" / "rome99.gr").read_text().splitlines()[1:]]
    cheapest: dict[tuple[int, int], int] = {}
    for u, v, w in ((int(u) - 1, int(v) - 1, int(w)) for u, v, w in lines):
        cheapest[u, v] = min(w, cheapest.get((u, v), w))
    assert len(lines) == 8870
    ends = zip(network.graph.tail.tolist(), network.graph.head.tolist(), strict=True)
    assert dict(zip(ends, network.weights[0].tolist(), strict=True)) == cheapest


def test_san_joaquin() -> None:
    network = datasets.read_node_edge(FOLDER / "roads" / "TG.cnode.txt", FOLDER / "roads" / "TG.cedge.txt")
    rows = np.loadtxt(FOLDER / "roads" / "TG.cedge.txt")
    assert (network.graph.n, len(rows)) == (18263, 23874)
    pairs = {tuple(sorted(pair)) for pair in rows[:, 1:3].astype(int).tolist() if pair[0] != pair[1]}
    assert network.graph.m == 2 * len(pairs) == 47594
    assert network.weights[0, network.graph.edge_index(7388, 0)[0]] == 1.410871
    assert network.graph.coordinates[1].tolist() == [5983.526367, 3650.609131]


def test_metr_la() -> None:
    network = datasets.read_metr_la(FOLDER / "metr_la" / "metr_la_week.npz")
    assert network.graph.n == 195
    assert network.weights.shape[0] == 2016
    assert np.unique(network.days, return_counts=True)[1].tolist() == [288] * 7
    assert np.isfinite(network.weights).all()
    low, high = network.edge_bounds
    assert ((low <= network.weights) & (network.weights <= high)).all()
    whole = datasets.read_metr_la(FOLDER / "metr_la" / "metr_la_week.npz", strong=False)
    assert (whole.graph.n, whole.graph.m) == (207, 1515)
    # One arc by hand.
    archive = np.load(FOLDER / "metr_la" / "metr_la_week.npz")
    e = 700
    u, v = whole.graph.tail[e], whole.graph.head[e]
    meters = max(2600 * np.sqrt(-np.log(float(archive["affinity"][u, v]))), 50)
    speed = np.clip(archive["speed_mph"][:, [u, v]].astype(float), 5, 70) * 0.44704
    assert np.allclose(whole.weights[:, e], meters * (1 / speed).mean(axis=1), rtol=1e-12)
    assert whole.graph.labels[u] == str(archive["sensor_id"][u])
    # Slower limits, longer times, within bounds that move along.
    slow = datasets.read_metr_la(FOLDER / "metr_la" / "metr_la_week.npz", speeds=(20, 50))
    assert np.allclose(slow.edge_bounds[0], slow.graph.length / (50 * 0.44704))
    assert (slow.weights >= slow.edge_bounds[0]).all()


@pytest.mark.parametrize("family", ["alternating_gaps", "forest", "mazes", "shifting_gaps"])
def test_worlds(family: str) -> None:
    sizes = {}
    for part in ("train", "validation", "test"):
        worlds = datasets.read_worlds(FOLDER / "worlds" / family / part)
        sizes[part] = len(worlds)
        assert worlds.shape == (201, 201)
        assert not worlds.blocked[:, 200, 0].any()
        assert not worlds.blocked[:, 0, 200].any()
    assert sizes == {"train": 800, "validation": 100, "test": 100}
    instances = worlds[:5].instances()
    assert (instances.sources == 200 * 201).all()
    assert instances.goal == 200
    runs = rs.solve_many(instances, rs.heuristics.octile(instances.graph, 200))
    assert runs.solved.all()
    assert (runs.cost >= 200 * np.sqrt(2) - 1e-9).all()


@pytest.mark.parametrize("family", ["alternating_gaps", "shifting_gaps"])
def test_worlds_of_the_test_part_that_stand_in_train_are_found(family: str) -> None:
    folder = FOLDER / "worlds" / family
    train, test = (datasets.read_worlds(folder / part) for part in ("train", "test"))
    known = {world.tobytes() for world in train.blocked}
    expected = sum(world.tobytes() not in known for world in test.blocked)
    # Three columns through the wall tell all worlds apart and make small graphs.
    grid = rs.Graph.grid(201, 3, neighbors=8)
    train, test = (
        datasets.Worlds(w.blocked[:, :, [79, 100, 121]]).instances(graph=grid, dtype=np.float32) for w in (train, test)
    )
    left = datasets.without(test, train)
    assert len(left) == expected < len(test)
    assert expected == {"alternating_gaps": 0, "shifting_gaps": 0}[family]
    assert len(datasets.deduplicate(train)) == len(known)
