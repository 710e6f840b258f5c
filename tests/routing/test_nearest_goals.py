"""The nearest of some vertices: by the hierarchy and by searches, against all distances."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar import _core


def expected(costs: np.ndarray, goals: list[int], k: int) -> list[tuple[float, int]]:
    """The stated rule: the lowest cost first, of equal costs the smallest number; the unreachable are left out."""
    return sorted((float(costs[v]), v) for v in set(goals) if costs[v] < np.inf)[:k]


def found(near: rs.routing.Nearest) -> list[tuple[float, int]]:
    return list(zip(near.costs.tolist(), near.goals.tolist(), strict=True))


@settings(max_examples=150)
@given(st.data())
def test_both_engines_follow_the_rule(data: st.DataObject) -> None:
    """Few different weights, so that many costs are equal; zeros, closed edges, and several components."""
    n = data.draw(st.integers(1, 25), label="n")
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=60), label="edges")
    graph = rs.Graph.from_edges(
        n, *(np.array(ends, dtype=int) for ends in zip(*edges, strict=True)) if edges else ([], [])
    )
    kind = st.sampled_from([0.0, 1.0, 2.0, np.inf])
    weights = np.array(data.draw(st.lists(kind, min_size=graph.m, max_size=graph.m), label="weights"))
    distances = np.stack([rs.distances_to(graph, weights, t) for t in range(n)], axis=1)
    searching, prepared = rs.Router(graph), rs.Router(graph)
    searching._engine.declined = True
    for router in (searching, prepared):
        router.update(weights)
        router.prepare()
    assert searching.explain().engine == "search"
    for _ in range(4):
        one, k = data.draw(vertex, label="one"), data.draw(st.integers(1, 6), label="k")
        goals = data.draw(st.lists(vertex, max_size=12), label="goals")
        for router in (searching, prepared):
            assert found(router.nearest(one, goals, k)) == expected(distances[one], goals, k)
            assert found(router.nearest_source(goals, one, k)) == expected(distances[:, one], goals, k)


def test_a_city() -> None:
    """Goals that recur and goals that do not, before and after an update; whole numbers are exact."""
    graph, rng = rs.datasets.city(20_000).graph, np.random.default_rng(0)
    router, often = rs.Router(graph), rng.integers(0, graph.n, 20).tolist()
    for _ in range(2):
        weights = rng.integers(1, 9, graph.m)
        router.update(weights)
        router.prepare()
        index = rs.Hierarchy(graph).customize(weights)
        for count in (1, 5, 60, 400):
            one, others = int(rng.integers(graph.n)), rng.integers(0, graph.n, count)
            ahead, back = index.distances(one), index.distances_to(one)
            for goals in (others, np.array(often)):
                for k in (1, 7, goals.size + 3):
                    assert found(router.nearest(one, goals, k)) == expected(ahead, goals.tolist(), k)
                    assert found(router.nearest_source(goals, one, k)) == expected(back, goals.tolist(), k)


def test_goals_are_those_of_one_hierarchy() -> None:
    """The kernel reads them as ranks of its own hierarchy."""
    first, second = (rs.Hierarchy(rs.Graph.grid(4, size)) for size in (4, 5))
    goals = second._kernel.goals(np.array([19], dtype=np.int32))
    assert goals is not None
    today = first.customize(np.ones(first.graph.m))._kernel
    assert today.nearest(0, goals, False, 1, None).ending.status is _core.Status.BAD_INPUT
    for many in ([16], [-1]):
        assert first._kernel.goals(np.array(many, dtype=np.int32)) is None
