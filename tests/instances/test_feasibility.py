"""Which instances have a path: the same answers as a plain search, in few searches."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.instances import _checks as checks

WAYS = {
    "as it is": {},
    "components": {"_FEW_GOALS": 1},
}


def has_path(graph: rs.Graph, row: np.ndarray, source: int, goal: int) -> bool:
    """Search forwards, edge by edge."""
    seen, stack = {source}, [source]
    while stack:
        v = stack.pop()
        for e in range(graph.first_out[v], graph.first_out[v + 1]):
            if row[e] != np.inf and int(graph.head[e]) not in seen:
                seen.add(int(graph.head[e]))
                stack.append(int(graph.head[e]))
    return goal in seen


@st.composite
def sets(draw: st.DrawFn) -> rs.InstanceSet:
    """Draw sparse directed graphs of many parts, with zero weights, absent edges and many goals on few snapshots."""
    n = draw(st.integers(2, 14))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=2 * n))
    if draw(st.booleans()):
        edges += [(v, u) for u, v in edges]
    graph = rs.Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])
    weight = st.sampled_from([0.0, 1.0, 2.5, np.inf]) if draw(st.booleans()) else st.sampled_from([0.0, 1.0])
    count = draw(st.integers(1, 3))
    weights = np.array(
        [draw(st.lists(weight, min_size=graph.m, max_size=graph.m)) for _ in range(count)], dtype=float
    ).reshape(count, graph.m)
    pairs = draw(st.lists(st.tuples(vertex, vertex).filter(lambda p: p[0] != p[1]), min_size=1, max_size=40))
    rows = draw(st.lists(st.integers(0, count - 1), min_size=len(pairs), max_size=len(pairs)))
    sources, goals = zip(*pairs, strict=True)
    return rs.InstanceSet(graph, weights, sources, goals, rows=rows, infeasible="keep")


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=200)
@given(instances=sets())
def test_the_answers_are_those_of_a_plain_search(way: str, instances: rs.InstanceSet) -> None:
    expected = [has_path(*instance) for instance in instances]
    graph, weights, rows = instances.graph, instances.weights, instances.rows
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(checks, name, value)
        found = checks.feasible(
            graph, weights, (weights == np.inf).any(axis=1), rows, instances.sources, instances.goals
        )
        assert found.tolist() == expected
        if any(expected):
            kept = rs.InstanceSet(graph, weights, instances.sources, instances.goals, rows=rows, infeasible="drop")
            assert kept.indices.tolist() == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize("way", WAYS)
def test_larger_graphs_of_several_kinds(way: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WAYS[way].items():
        monkeypatch.setattr(checks, name, value)
    n = 300
    chain = np.arange(n - 1)
    for graph, absent in (
        (rs.Graph.grid(15, 20, neighbors=8), 0.75),  # both ways, in pieces
        (rs.Graph.from_edges(n, chain, chain + 1), 0.02),  # one way: no two vertices reach each other
        (rs.Graph.from_edges(n, rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n)), 0.2),
        (rs.Graph.from_edges(n, [], []), 0.0),
    ):
        weights = np.where(rng.random((2, graph.m)) < absent, np.inf, rng.integers(0, 3, (2, graph.m)).astype(float))
        sources = rng.integers(0, n, 400)
        goals = (sources + rng.integers(1, n, 400)) % n
        kept = rs.InstanceSet(graph, weights, sources, goals, rows=rng.integers(0, 2, 400), infeasible="keep")
        solved = rs.solve_many(kept, np.zeros(n)).solved
        found = checks.feasible(graph, kept.weights, np.full(2, absent > 0), kept.rows, kept.sources, kept.goals)
        assert found.tolist() == solved.tolist()


def test_many_goals_take_no_search_each(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = rs.Graph.grid(60, 60, neighbors=8)
    blocked = rng.random((60, 60)) < 0.2
    free = np.flatnonzero(~blocked.ravel())
    sources, goals = rng.choice(free, (2, 500))
    apart = sources != goals
    calls: list[int] = []
    connected = checks.connected

    def counted(*arguments):
        calls.append(arguments[2].size)
        return connected(*arguments)

    monkeypatch.setattr(checks, "connected", counted)
    arguments = (grid, blocked, sources[apart], goals[apart])
    instances = rs.InstanceSet.from_obstacles(*arguments, corner_cutting=False, infeasible="drop")
    assert len(instances) > 400
    assert calls == [apart.sum()]


def test_a_mapped_set_is_checked_without_scipy(tmp_path) -> None:
    code = """
import sys
import numpy as np, rhostar as rs
rng = np.random.default_rng(0)
grid = rs.Graph.grid(100, 100)
weights = np.memmap(sys.argv[1], dtype=np.float32, mode="w+", shape=(3, grid.m))
weights[:] = np.where(rng.random(weights.shape) < 0.1, np.inf, 1)
sources, goals = rng.integers(0, 5000, 600), rng.integers(5000, 5008, 600)
instances = rs.InstanceSet(grid, weights, sources, goals, rows=rng.integers(0, 3, 600), infeasible="drop")
assert rs.solve_many(instances, np.zeros(grid.n)).solved.all()
assert not {"scipy", "joblib"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, tmp_path / "weights"], check=True)
