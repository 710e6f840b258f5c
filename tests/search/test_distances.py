"""The costs to a goal against a plain Dijkstra search, bit by bit, for all kinds of weights and orders of vertices."""

import heapq
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rhostar as rs
from rhostar.learners._distances import lowest, matrix, sums

WEIGHTS: dict[str, Any] = {
    "similar": lambda rng, m: rng.uniform(1, 2, m),
    "with absent edges": lambda rng, m: np.where(rng.random(m) < 0.3, np.inf, rng.uniform(1, 2, m)),
    "close to 0": lambda rng, m: rng.uniform(0, 1, m),
    "often 0": lambda rng, m: np.where(rng.random(m) < 0.5, rng.choice([-0.0, 0.0], m), rng.uniform(1, 2, m)),
    "of all sizes": lambda rng, m: 10.0 ** rng.uniform(-6, 6, m),
    "of all exponents": lambda rng, m: 10.0 ** rng.uniform(-300, 300, m),
    "few far beyond the rest": lambda rng, m: np.where(rng.random(m) < 0.01, 1e5, rng.uniform(1, 2, m)),
    "in float32": lambda rng, m: rng.exponential(1, m).astype(np.float32),
    "in int32": lambda rng, m: rng.integers(0, 2**31 - 1, m).astype(np.int32),
    "in int64": lambda rng, m: rng.integers(0, 2**40, m),
    "tiny": lambda rng, m: rng.uniform(0, 1, m) * 1e-310,
    "0": lambda rng, m: np.zeros(m),
    "all absent": lambda rng, m: np.full(m, np.inf),
}


def dijkstra(graph: rs.Graph, weights: NDArray[Any], goal: int) -> NDArray[np.float64]:
    """Return the costs to a goal by the plainest code there is; costs are added from the goal on."""
    into: list[list[tuple[int, float]]] = [[] for _ in range(graph.n)]
    for tail, head, weight in zip(graph.tail.tolist(), graph.head.tolist(), weights.tolist(), strict=True):
        into[head].append((tail, float(weight)))
    costs, heap = [math.inf] * graph.n, [(0.0, goal)]
    costs[goal] = 0.0
    while heap:
        cost, v = heapq.heappop(heap)
        if cost > costs[v]:
            continue
        for u, weight in into[v]:
            if cost + weight < costs[u]:
                costs[u] = cost + weight
                heapq.heappush(heap, (costs[u], u))
    return np.array(costs)


def graphs(rng: np.random.Generator) -> list[rs.Graph]:
    """Return a grid, a path with its edges both ways, a star, and a random graph with unreachable parts."""
    n = 400
    steps = np.arange(n - 1)
    tail, head = rng.integers(0, n, (2, 3 * n))
    return [
        rs.Graph.grid(20, 20, neighbors=8),
        rs.Graph.from_edges(n, np.concatenate([steps, steps + 1]), np.concatenate([steps + 1, steps])),
        rs.Graph.from_edges(n, steps + 1, np.zeros(n - 1, dtype=int)),
        rs.Graph.from_edges(n, tail, head),
    ]


@pytest.mark.parametrize("kind", WEIGHTS)
def test_distances_have_the_bits_of_a_plain_search(kind: str, rng: np.random.Generator) -> None:
    for graph in graphs(rng):
        twin = rs.Graph(graph.first_out, graph.head)
        assert twin._kernel.rearrange(rng.uniform(size=(graph.n, 2)), -np.inf)
        for _ in range(3):
            weights, goal = WEIGHTS[kind](rng, graph.m), int(rng.integers(graph.n))
            expected = dijkstra(graph, weights, goal)
            for one in (graph, twin):
                found = rs.distances_to(one, weights, goal)
                assert found.tobytes() == expected.tobytes()


def test_a_plain_search_finds_what_rounding_loses(rng: np.random.Generator) -> None:
    # The comparison above would see a single wrong bit: costs added up from the other end do differ.
    graph = rs.Graph.grid(20, 20, neighbors=8)
    weights = rng.uniform(0, 1, graph.m)
    forwards = rs.solve_many(
        rs.InstanceSet(graph, weights, np.arange(graph.n - 1), goal=graph.n - 1), np.zeros(graph.n)
    ).cost
    expected = dijkstra(graph, weights, graph.n - 1)[:-1]
    assert np.allclose(forwards, expected)
    assert (forwards != expected).any()


def test_small_graphs() -> None:
    assert rs.distances_to(rs.Graph([0, 0], []), np.empty(0), 0).tolist() == [0.0]
    assert rs.distances_to(rs.Graph([0, 0, 0], []), np.empty(0), 1).tolist() == [math.inf, 0.0]


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_the_first_bad_weight_on_the_way_is_named_in_any_order(bad: float, rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(30, 30, neighbors=8)
    twin = rs.Graph(graph.first_out, graph.head)
    assert twin._kernel.rearrange(rng.uniform(size=(graph.n, 2)), -np.inf)
    weights = rng.uniform(1, 2, graph.m)
    # One is next to the goal, the other far away; both are within a bucket's reach of others.
    near, far = int(graph.edge_index([graph.n - 2], [graph.n - 1])[0]), 0
    weights[[near, far]] = bad
    for one in (graph, twin):
        with pytest.raises(rs.errors.WeightError, match=rf"weights\[{near}\]"):
            rs.distances_to(one, weights, graph.n - 1)


def test_a_bad_weight_that_no_path_reaches_is_not_read() -> None:
    graph = rs.Graph.from_edges(4, [0, 2], [1, 3])
    assert rs.distances_to(graph, np.array([1.0, -5.0]), 1).tolist() == [1.0, 0.0, math.inf, math.inf]


def test_costs_beyond_the_largest_float_are_refused() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    with pytest.raises(rs.errors.WeightError, match="costs more than the largest float64"):
        rs.distances_to(graph, np.array([1.5e308, 1.5e308]), 2)
    assert rs.distances_to(graph, np.array([0.5e308, 1.0e308]), 2).tolist() == [1.5e308, 1.0e308, 0.0]


@pytest.mark.parametrize("kind", ["similar", "with absent edges", "of all exponents"])
def test_labels_of_a_rearranged_graph(kind: str, rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(15, 15)
    weights = np.stack([WEIGHTS[kind](rng, graph.m) for _ in range(7)])
    whole = rs.InstanceSet(graph, weights, 0, goal=graph.n - 1, infeasible="keep")
    plain, found = matrix(whole)[0], [*sums(whole), lowest(whole)]
    assert graph._kernel.rearrange(rng.uniform(size=(graph.n, 2)), -np.inf)
    assert matrix(whole)[0].tobytes() == plain.tobytes()
    for one, other in zip([*sums(whole), lowest(whole)], found, strict=True):
        assert one.tobytes() == other.tobytes()
    assert plain[3].tobytes() == dijkstra(graph, weights[3], graph.n - 1).tobytes()
