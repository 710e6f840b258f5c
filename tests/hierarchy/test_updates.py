"""A hierarchy after updates of some edges is the one that customizing in full makes, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import ArrayError, EdgeError, WeightError
from support.digraphs import dijkstra, random_digraph, random_weights

ALWAYS = 2**62
"""Work after which updates customize in full: never."""


def same_bits(one: rs.hierarchy.CustomizedHierarchy, other: rs.hierarchy.CustomizedHierarchy) -> bool:
    return one._kernel.lengths.tobytes() == other._kernel.lengths.tobytes()


def changed_weights(rng: np.random.Generator, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Draw new weights that fall, rise, close, open, reach zero or stay."""
    old = weights[edges]
    if weights.dtype.kind == "i":
        return np.maximum(old + rng.integers(-4, 5, edges.size), 0).astype(weights.dtype)
    finite = np.where(old < np.inf, old, rng.choice([0.0, 1.0, 3.0], edges.size))
    factor = rng.choice([0.0, 0.5, 0.9, 1.0, 1.1, 2.0, np.inf], edges.size)
    with np.errstate(invalid="ignore"):
        fresh = np.where(factor == np.inf, np.inf, finite * factor)
    if edges.size and rng.random() < 0.1:
        fresh[0] = -0.0
    return fresh


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([ALWAYS, ALWAYS, 20, 0, -1]))
def test_random_sequences(seed: int, largest: int, most_work: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_digraph(rng, largest)
    weights = random_weights(rng, graph.m)
    hierarchy = rs.Hierarchy(graph)
    today = hierarchy.customize(weights)
    for _ in range(6):
        count = int(rng.choice([0, 1, 2, max(graph.m // 3, 1), graph.m]))
        edges = rng.integers(0, max(graph.m, 1), min(count, graph.m))  # some of them twice
        fresh = changed_weights(rng, weights, edges)
        after = weights.copy()
        after[edges] = fresh
        if graph.m and not np.isfinite(after).any():
            with pytest.raises(WeightError, match="all would be infinite"):
                today.update(edges, fresh)
            assert same_bits(today, hierarchy.customize(weights))
            continue
        before, in_place = today, bool(rng.random() < 0.5)
        today._most_work = most_work
        today = today.update(edges, fresh, in_place=in_place)
        assert (today is before) == in_place
        assert same_bits(today, hierarchy.customize(after))
        if not in_place:
            assert same_bits(before, hierarchy.customize(weights))
        weights = after
        source = int(rng.integers(graph.n))
        np.testing.assert_allclose(today.distances(source), dijkstra(graph, weights, source), rtol=1e-14)
        for target in rng.integers(0, graph.n, 3).tolist():  # edges of paths are found by their weights
            cost, _, edges = today.path(source, target)
            assert cost == np.inf or weights[edges].sum() == pytest.approx(cost, rel=1e-14)


def networks() -> list[rs.Graph]:
    n = 90
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    return [
        rs.datasets.city(3000, seed=0).graph,
        rs.Graph.grid(30, 30, neighbors=8),
        rs.Graph.from_edges(n, tail, head),  # one node
    ]


@pytest.mark.parametrize("most_work", [ALWAYS, -1])
@pytest.mark.parametrize("which", range(3))
def test_networks(which: int, most_work: int) -> None:
    graph = networks()[which]
    rng = np.random.default_rng(which)
    hierarchy = rs.Hierarchy(graph)
    weights = rng.integers(1, 20, graph.m).astype(float)
    today = hierarchy.customize(weights)
    for count in [1, 1, 1, 5, 5, 5, 20, 20, 100, 1000, graph.m]:
        for kind in range(4):
            edges = rng.choice(graph.m, count, replace=False)
            if kind == 0:  # an incident: edges that are close to each other
                edges = np.sort((edges[0] + np.arange(count)) % graph.m)
            fresh = [weights[edges] * 2, weights[edges] / 2, np.full(count, np.inf), rng.uniform(1, 20, count)][kind]
            if count == graph.m:
                fresh[0] = 1.0
            weights[edges] = fresh
            today._most_work = most_work
            today = today.update(edges, fresh, in_place=kind % 2 == 0)
            assert same_bits(today, hierarchy.customize(weights))


def test_updates_add_up_and_leave_the_old_ones() -> None:
    graph = rs.Graph.grid(12, 12)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 99, graph.m)
    hierarchy = rs.Hierarchy(graph)
    made = [(hierarchy.customize(weights), weights)]
    for _ in range(6):
        base, old = made[rng.integers(len(made))]
        edges, fresh = rng.integers(0, graph.m, 5), rng.integers(1, 99, 5)
        row = old.copy()
        row[edges] = fresh
        made.append((base.update(edges, fresh), row))
    for today, row in made:
        assert same_bits(today, hierarchy.customize(row))


def test_one_weight_for_all_edges() -> None:
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    today = rs.Hierarchy(graph).customize([1, 3, 1])
    assert today.update([0, 2], np.inf).distance(0, 2) == 3.0
    assert today.update([], np.inf).distance(0, 2) == 2.0
    assert today.update([], []).distance(0, 2) == 2.0
    assert today.update([0, 0, 0], [7, 8, 0]).distance(0, 2) == 1.0


def test_bad_updates_change_nothing() -> None:
    graph = rs.Graph.grid(4, 4)
    weights = np.arange(1.0, graph.m + 1)
    today = rs.Hierarchy(graph).customize(weights)
    bits = today._kernel.lengths.tobytes()
    for in_place in (False, True):
        for value in (-1.0, np.nan, -np.inf):
            with pytest.raises(
                WeightError, match=rf"weights\[1\] \(edge 0 -> 4\) must be at least 0 and not NaN, got {value}"
            ):
                today.update([5, 1], [1.0, value], in_place=in_place)
        with pytest.raises(EdgeError, match=r"edges\[1\] must be an edge in 0\.\.47, got 48"):
            today.update([3, 48], [1, 1], in_place=in_place)
        with pytest.raises(EdgeError, match=r"edges\[0\] must be an edge in 0\.\.47, got -1"):
            today.update([-1], [1], in_place=in_place)
        with pytest.raises(ArrayError, match="edges must be a one-dimensional array of integers, got float64"):
            today.update([1.5], [1], in_place=in_place)
        with pytest.raises(ArrayError, match="one value for each of the 2 edges, or one for all, got shape"):
            today.update([1, 2], [1, 2, 3], in_place=in_place)
        with pytest.raises(ArrayError, match="weights must be numbers, got dtype bool"):
            today.update([1], [True], in_place=in_place)
        with pytest.raises(WeightError, match="all would be infinite"):
            today.update(np.arange(graph.m), np.inf, in_place=in_place)
        with pytest.raises(WeightError, match="more than the largest float64"):
            today.update([3, 4], 1e308, in_place=in_place)
        with pytest.raises(
            WeightError, match=r"weights\[0\] .* must be an integer below 2\*\*53; got 9007199254740992"
        ):
            today.update([3], [2**53], in_place=in_place)
        assert today._kernel.lengths.tobytes() == bits


def test_sums_that_overflow_later() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    today = rs.Hierarchy(graph).customize([1.0, 2.0]).update([0], [1.5e308])
    assert today.distance(0, 2) == 1.5e308
    for in_place in (False, True):
        with pytest.raises(WeightError, match="more than the largest float64"):
            today.update([1], [1.0e308], in_place=in_place)
    assert today.update([0, 1], [1.0, 1.0e308], in_place=True).distance(0, 2) == 1.0e308
    assert today.update([1], [1.7e308]).distance(0, 2) == 1.7e308


def test_integers_stay_integers() -> None:
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    today = rs.Hierarchy(graph).customize(np.array([1, 3, 1]))
    assert today.update([0], [np.inf]).distance(0, 2) == 3.0
    with pytest.raises(
        WeightError, match=r"must be an integer below 2\*\*53 or inf, as the index .* integers; got 1.5"
    ):
        today.update([0], [1.5])
    with pytest.raises(WeightError, match="must be an integer below"):
        today.update([0], 2.0**53)
    later = today.update([0, 2, 1], [2**53 - 5, 7, 2**53 - 1])
    assert later.distance(0, 2) == 2**53 - 1
    with pytest.raises(WeightError, match=r"costs 2\*\*53 or more"):
        later.update([1], np.inf).distance(0, 2)
