"""Many queries at once: the same answers for any number of workers, in threads and in other processes."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import VertexError, WeightError


def city(refused: bool = False) -> rs.Router:
    graph = rs.datasets.city(900).graph
    router = rs.Router(graph)
    router.update(np.random.default_rng(0).uniform(1, 2, graph.m) * graph.length)
    if refused:
        router._engine.declined = router._of(None).refused = True
    return router


def answers(router: rs.Router, n_jobs: int | None) -> list[Any]:
    rng = np.random.default_rng(1)
    pairs, some = rng.integers(0, router.graph.n, (60, 2)), rng.integers(0, router.graph.n, 30)
    routes = router.routes(pairs, n_jobs=n_jobs)
    return [
        routes.cost.tolist(),
        [route.path.tolist() for route in routes],
        [route.edges.tolist() for route in routes],
        [route.bound for route in routes],
        router.matrix(some, some[:7], n_jobs=n_jobs).tolist(),
        router.next_hops(some[:5], n_jobs=n_jobs).tolist(),
    ]


@pytest.mark.parametrize("refused", [False, True])
def test_any_number_of_threads(refused: bool) -> None:
    alone = answers(city(refused), 1)
    for n_jobs in (2, 3):
        assert answers(city(refused), n_jobs) == alone


@pytest.mark.parametrize("refused", [False, True])
def test_other_processes(refused: bool) -> None:
    alone = answers(city(refused), 1)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert answers(city(refused), None) == alone


def test_single_and_bulk_answers_agree() -> None:
    router = city()
    pairs = np.random.default_rng(2).integers(0, router.graph.n, (40, 2))
    router.prepare()
    many = router.routes(pairs)
    for route, (s, t) in zip(many, pairs.tolist(), strict=True):
        one = router.route(s, t)
        assert (one.cost, one.path.tolist(), one.edges.tolist()) == (
            route.cost,
            route.path.tolist(),
            route.edges.tolist(),
        )
        assert router.matrix([s], [t]).item() == one.cost
    assert len(many[3:5]) == 2
    assert many[-1].cost == many.cost[-1]


@pytest.mark.parametrize("prepared", [False, True])
def test_empty_lists(prepared: bool) -> None:
    router = city()
    if prepared:
        router.prepare()
    assert len(router.routes([])) == len(router.routes(np.empty((0, 2), dtype=int))) == 0
    assert router.matrix([], [1, 2]).shape == (0, 2)
    assert router.matrix([1, 2], []).shape == (2, 0)
    assert router.next_hops([]).shape == (0, 900)
    assert router.nearest(0, []).goal is None
    assert router.nearest_source([], 0).cost == np.inf


@pytest.mark.parametrize("prepared", [False, True])
def test_the_same_vertex(prepared: bool) -> None:
    router = city()
    if prepared:
        router.prepare()
    for route in (router.route(5, 5), router.routes([(5, 5)])[0]):
        assert (route.cost, route.path.tolist(), route.edges.tolist()) == (0.0, [5], [])
    assert router.matrix([5], [5]).item() == router.nearest(5, [7, 5]).cost == 0.0
    assert router.within(5, 0).vertices.tolist() == [5]


def test_errors_come_from_the_first_chunk() -> None:
    router = city()
    with pytest.raises(VertexError, match=r"pairs.*900"):
        router.routes([(0, 1), (2, 900)], n_jobs=2)
    small = rs.Router(rs.Graph.from_edges(3, [0, 1], [1, 2]))
    small.update(np.array([2**52, 2**52]))
    small.prepare()
    with pytest.raises(WeightError, match="2\\*\\*53"):
        small.routes([(0, 1), (0, 2)], n_jobs=2)
