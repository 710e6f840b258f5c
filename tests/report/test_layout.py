"""Places for graphs without coordinates: near in the graph is near in the picture, and parts do not overlap."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import spearmanr

import rhostar as rs
from rhostar.report import _encoding as encoding
from rhostar.report._layout import LANDMARKS, places


def bare(graph: rs.Graph) -> rs.Graph:
    """Return the graph without its coordinates, with vertices in another order: what a table of edges gives."""
    order = np.random.default_rng(1).permutation(graph.n)
    return rs.Graph.from_edges(graph.n, order[graph.tail], order[graph.head])


def agreement(graph: rs.Graph, found: np.ndarray) -> float:
    """Return the rank correlation between steps in the graph and distances in the picture, over many pairs."""
    rng = np.random.default_rng(0)
    steps, apart = [], []
    for goal in rng.integers(0, graph.n, 12).tolist():
        own = rs.distances_to(graph, np.ones(graph.m), goal)
        some = rng.integers(0, graph.n, 300)
        some = some[np.isfinite(own[some])]
        steps.append(own[some])
        apart.append(np.hypot(*(found[some] - found[goal]).T))
    return float(spearmanr(np.concatenate(steps), np.concatenate(apart)).statistic)


@pytest.mark.parametrize(
    "graph", [rs.datasets.city(1500, seed=1).graph, rs.Graph.grid(30, 40), rs.Graph.grid(12, 90, neighbors=8)]
)
def test_near_in_the_graph_is_near_in_the_picture(graph: rs.Graph) -> None:
    graph = bare(graph)
    found = places(graph)
    assert agreement(graph, found) > 0.85
    shuffled = np.random.default_rng(2).permutation(graph.n)
    assert abs(agreement(graph, found[shuffled])) < 0.2, "the measure can tell a hairball"
    edge = np.hypot(*(found[graph.tail] - found[graph.head]).T)
    assert np.median(edge) == pytest.approx(1, abs=0.6), "a step has about length 1"
    assert np.quantile(edge, 0.99) < 0.15 * np.ptp(found, axis=0).max(), "no edge crosses the whole picture"
    width, height = np.ptp(found, axis=0)
    assert width > 0.7 * height


def test_a_path_is_a_line_and_a_long_grid_is_long() -> None:
    path = rs.Graph.from_edges(50, range(49), range(1, 50))
    x, y = places(path).T
    assert np.ptp(y) < 0.1 * np.ptp(x)
    assert np.array_equal(np.argsort(x), np.arange(50)) or np.array_equal(np.argsort(-x), np.arange(50))


def test_parts_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.from_edges(400, rng.integers(0, 400, 330), rng.integers(0, 400, 330))
    found = places(graph)
    part = np.arange(400)
    for _ in range(400):
        low = np.minimum(part[graph.tail], part[graph.head])
        before = part.copy()
        np.minimum.at(part, graph.tail, low)
        np.minimum.at(part, graph.head, low)
        if np.array_equal(part, before):
            break
    boxes = [(found[part == k].min(axis=0), found[part == k].max(axis=0)) for k in np.unique(part)]
    assert len(boxes) > 50
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (high < other_low).any() or (other_high < low).any()


@pytest.mark.parametrize(
    "graph",
    [
        rs.Graph.from_edges(1, [], []),
        rs.Graph.from_edges(5, [], []),
        rs.Graph.from_edges(2, [0], [1]),
        rs.Graph.from_edges(3, [0, 1, 2], [1, 2, 0]),
        rs.Graph.from_edges(60, np.zeros(59, dtype=int), np.arange(1, 60)),
        rs.Graph.from_edges(20, *np.nonzero(~np.eye(20, dtype=bool))),
    ],
    ids=["one vertex", "no edges", "one edge", "triangle", "star", "complete"],
)
def test_small_graphs_get_finite_places_that_differ(graph: rs.Graph) -> None:
    found = places(graph)
    assert found.shape == (graph.n, 2)
    assert np.isfinite(found).all()
    if graph.n in (2, 3, 5):
        assert len({tuple(row) for row in np.round(found, 6).tolist()}) == graph.n
    assert np.array_equal(places(graph), found), "the same graph looks the same again"


def test_the_replay_uses_them_and_says_so() -> None:
    graph = bare(rs.Graph.grid(9, 9))
    drawing = encoding.drawing(graph)
    assert drawing.placed_by == "steps"
    found = np.stack([np.frombuffer(side, "<u2") for side in (drawing.x, drawing.y)], axis=1)
    assert agreement(graph, found.astype(float) * [drawing.aspect, 1]) > 0.85
    weights = np.random.default_rng(0).uniform(1, 2, (3, graph.m))
    instances = rs.InstanceSet(graph, weights, 0, 80)
    report = rs.report.build(instances, {"Dijkstra": np.zeros(81)}, geographic=True)  # there is nothing to shorten
    text = rs.report.render(report)
    assert "The network has no coordinates: vertices are placed by their steps to 24 landmarks" in text
    known = rs.InstanceSet(rs.Graph.grid(9, 9), weights, 0, 80)
    assert "has no coordinates" not in rs.report.render(rs.report.build(known, {"Dijkstra": np.zeros(81)}))


@pytest.mark.slow
def test_forty_thousand_vertices_take_little_longer_than_their_searches() -> None:
    graph = bare(rs.datasets.city(40_000, seed=1).graph)

    def fastest(call: Callable[[], object]) -> float:
        times = []
        for _ in range(5):
            start = time.thread_time()  # of the processor: the machine may be busy
            call()
            times.append(time.thread_time() - start)
        return min(times)

    searches = fastest(lambda: [rs.distances_to(graph, np.ones(graph.m), v) for v in range(LANDMARKS)])
    assert fastest(lambda: places(graph)) < 25 * searches, "it takes 6 times as long"
    assert agreement(graph, places(graph)) > 0.85
