"""A customized hierarchy answers as Dijkstra's algorithm does, on any digraph and any weights."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, InputError, LimitError, VertexError, WeightError
from support.digraphs import all_pairs, dijkstra, random_digraph
from support.hierarchies import check_path


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_are_exact(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    pairs = 0
    while pairs < 30_000:
        graph = random_digraph(rng, 40)
        weights = rng.integers(0, 2**40, graph.m)
        if graph.m == 0:
            continue
        today = rs.Hierarchy(graph).customize(weights)
        for s in range(graph.n):
            exact = dijkstra(graph, weights, s)
            assert [today.distance(s, t) for t in range(graph.n)] == exact
        pairs += graph.n**2


@pytest.mark.parametrize("shape", [(30, 30, 4), (20, 45, 8), (1, 200, 4)])
def test_grids(shape: tuple[int, int, int]) -> None:
    rows, columns, neighbors = shape
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(rows, columns, neighbors=neighbors)
    weights = rng.uniform(1, 2, graph.m)
    weights[rng.random(graph.m) < 0.1] = np.inf
    today = rs.Hierarchy(graph).customize(weights)
    for t in rng.integers(0, graph.n, 4).tolist():
        exact = rs.distances_to(graph, weights, t)
        for s in rng.integers(0, graph.n, 40).tolist():
            check_path(today, weights, s, t, exact[s])


def test_a_city() -> None:
    rng = np.random.default_rng(2)
    town = rs.datasets.city(3000, seed=0)
    hierarchy = rs.Hierarchy(town.graph)
    for weights in town.snapshots(3, seed=1):
        today = hierarchy.customize(weights)
        for t in rng.integers(0, town.graph.n, 3).tolist():
            exact = rs.distances_to(town.graph, weights, t)
            for s in rng.integers(0, town.graph.n, 50).tolist():
                check_path(today, weights, s, t, exact[s])


def test_smallest_graphs() -> None:
    one = rs.Graph([0, 0], [])
    today = rs.Hierarchy(one).customize(np.zeros(0))
    assert today.distance(0, 0) == 0.0
    assert today.path(0, 0).path.tolist() == [0]
    two = rs.Graph.from_edges(2, [0], [1])
    today = rs.Hierarchy(two).customize([3])
    assert today.distance(0, 1) == 3.0
    assert today.distance(1, 0) == np.inf
    assert today.path(0, 1).edges.tolist() == [0]
    assert today.path(1, 0).path.size == 0


def test_a_dense_graph_is_one_node() -> None:
    rng = np.random.default_rng(3)
    n = 150  # more ranks than are taken together
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    graph = rs.Graph.from_edges(n, tail, head)
    weights = rng.integers(1, 1000, graph.m)
    today = rs.Hierarchy(graph).customize(weights)
    exact = all_pairs(graph, weights)
    assert [[today.distance(s, t) for t in range(n)] for s in range(n)] == exact.tolist()


def test_customizing_again_leaves_earlier_weights_alone() -> None:
    graph = rs.Graph.grid(12, 12)
    hierarchy = rs.Hierarchy(graph)
    rows = [np.random.default_rng(k).integers(1, 99, graph.m) for k in range(5)]
    made = [hierarchy.customize(row) for row in rows]
    del made[1], rows[1]
    made.append(hierarchy.customize(rows[0] + 1))
    rows.append(rows[0] + 1)
    for today, row in zip(made, rows, strict=True):
        assert today.distance(0, 143) == dijkstra(graph, row, 0)[143]


def test_weights_are_copied() -> None:
    graph = rs.Graph.grid(5, 5)
    weights = np.ones(graph.m)
    today = rs.Hierarchy(graph).customize(weights)
    weights[:] = 100.0
    assert today.path(0, 24).cost == 8.0


def test_the_graph_keeps_its_hierarchy() -> None:
    graph = rs.Graph.grid(9, 9)
    assert rs.Hierarchy(graph)._kernel is rs.Hierarchy(graph)._kernel
    assert repr(rs.Hierarchy(graph)).startswith("Hierarchy(81 vertices, ")


def test_bad_weights() -> None:
    graph = rs.Graph.grid(4, 4)
    hierarchy = rs.Hierarchy(graph)
    good = np.ones(graph.m)
    for value in (-1.0, np.nan, -np.inf):
        bad = good.copy()
        bad[7] = value
        with pytest.raises(WeightError, match=rf"weights\[7\] .* must be at least 0 and not NaN, got {value}"):
            hierarchy.customize(bad)
    with pytest.raises(WeightError, match="all are infinite"):
        hierarchy.customize(np.full(graph.m, np.inf))
    with pytest.raises(WeightError, match=r"weights\[1\] .* a path costs more than the largest float64"):
        hierarchy.customize(np.full(graph.m, 1e308))
    with pytest.raises(WeightError, match=r"weights\[0\] .* below 2\*\*53"):
        hierarchy.customize(np.full(graph.m, 2**53 + 1))
    with pytest.raises(ArrayError, match="one value for each of the 48 edges"):
        hierarchy.customize(good[1:])
    with pytest.raises(ArrayError, match="got uint8"):
        hierarchy.customize(good.astype(np.uint8))
    assert hierarchy.customize(good).distance(0, 15) == 6.0


def test_large_weights_that_no_path_adds_up() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    today = rs.Hierarchy(graph).customize([8e307, 8e307])
    assert today.distance(0, 2) == 1.6e308


def test_integers_beyond_exact_sums_are_refused() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    today = rs.Hierarchy(graph).customize(np.array([2**53 - 5, 4]))
    assert today.distance(0, 2) == 2**53 - 1
    for last in (5, 6, 7):  # 2**53 + 1 rounds to 2**53, so neither can be told from the other
        today = rs.Hierarchy(graph).customize(np.array([2**53 - 5, last]))
        assert today.distance(0, 1) == 2**53 - 5
        with pytest.raises(WeightError, match=r"the path from 0 to 2 costs 2\*\*53 or more"):
            today.distance(0, 2)
        for many in (today.distances, today.distances_to, lambda v, today=today: today.matrix([0, v], [2])):
            with pytest.raises(WeightError, match=r"costs 2\*\*53 or more"):
                many(2 if many == today.distances_to else 0)
        with pytest.raises(WeightError, match=r"costs 2\*\*53 or more"):
            today.path(0, 2)


def test_bad_vertices() -> None:
    today = rs.Hierarchy(rs.Graph.grid(3, 3)).customize(np.ones(24))
    with pytest.raises(VertexError, match=r"source must be a vertex in 0\.\.8, got 9"):
        today.distance(9, 0)
    with pytest.raises(VertexError, match=r"target must be a vertex in 0\.\.8, got -1"):
        today.path(0, -1)
    with pytest.raises(VertexError, match="target must be a vertex"):
        today.distance(0, 1.5)
    with pytest.raises(InputError, match="graph must be a Graph, got int"):
        rs.Hierarchy(3)


def test_graphs_without_small_separators_are_declined() -> None:
    n = 60
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    graph = rs.Graph.from_edges(n, tail, head)
    with pytest.raises(LimitError, match="no small separators"):
        rs.Hierarchy(graph, memory_limit=10_000)
    assert rs.Hierarchy(graph).n_arcs == n * (n - 1) // 2
