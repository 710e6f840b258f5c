"""What an audit finds at vertices and along edges, against the definitions, one at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.certificates._value_check import ValueCheck, check_values


def check(rho: object, instances: rs.InstanceSet) -> ValueCheck:
    return check_values(rs.heuristics.as_heuristic(rho, instances.graph, instances.goals), instances)


def small_set(rng: np.random.Generator) -> rs.InstanceSet:
    n = int(rng.integers(3, 8))
    tail, head = (
        np.array([(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.6]).reshape(-1, 2).T
    )
    tail, head = np.append(tail, np.arange(n - 1)), np.append(head, np.arange(1, n))  # the last vertex can be reached
    graph = rs.Graph.from_edges(n, tail, head)
    weights = rng.integers(0, 6, (3, graph.m)).astype(float)
    weights[rng.random(weights.shape) < 0.1] = np.inf
    rows, sources = rng.integers(0, 3, 6), rng.integers(0, n - 2, 6)
    goals = rng.integers(n - 2, n, 6)
    return rs.InstanceSet(graph, weights, sources, goals, rows=rows, infeasible="keep")


@given(st.integers(0, 2**32), st.booleans())
def test_check_is_the_definitions(seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    instances = small_set(rng)
    graph = instances.graph
    rho = {g: rng.integers(-1, 7, graph.n).astype(float) for g in (graph.n - 2, graph.n - 1)}
    if exact:  # the least costs-to-go of all snapshots: admissible, and consistent where one snapshot is used
        for g in rho:
            costs = [np.minimum(rs.distances_to(graph, w, g), 1e3) for w in instances.weights]
            rho[g] = np.minimum.reduce(costs)
    found = check(rho, instances)
    pairs = {(int(g), int(r)) for g, r in zip(instances.goals, instances.rows, strict=True)}
    edges: dict[int, list[float]] = {}
    vertices: dict[int, list[float]] = {}
    for g, r in pairs:
        distance = rs.distances_to(graph, instances.weights[r], g)
        for v in range(graph.n):
            if rho[g][v] > distance[v]:
                vertices.setdefault(v, []).append(rho[g][v] - distance[v])
        for e in range(graph.m):
            over = rho[g][graph.tail[e]] - rho[g][graph.head[e]] - instances.weights[r, e]
            if over > 0:
                edges.setdefault(e, []).append(over)
    assert found.pairs == len(pairs)
    for places, excess, times, expected in (
        (found.edges, found.edge_excess, found.edge_times, edges),
        (found.vertices, found.vertex_excess, found.vertex_times, vertices),
    ):
        got = {p: (x, t) for p, x, t in zip(places.tolist(), excess.tolist(), times.tolist(), strict=True)}
        assert got == {p: (max(values), len(values)) for p, values in expected.items()}
        assert (np.diff(excess) <= 0).all()
    assert found.admissible == (not vertices)
    assert found.consistent == (not edges)
    if exact:
        assert found.admissible
    # What it says about A*.
    if found.admissible and found.at_goal <= 0:
        costs = rs.solve_many(instances, rho, reopen=True).cost
        assert (costs == rs.solve_many(instances, np.zeros(graph.n)).cost).all()


@given(st.integers(0, 2**32))
def test_the_scales_are_the_largest_that_help(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instances = small_set(rng)
    rho = {g: rng.integers(0, 9, instances.graph.n).astype(float) for g in np.unique(instances.goals).tolist()}
    for goal, values in rho.items():
        values[goal] = 0.0
    found = check(rho, instances)
    for name, scale in (("admissible", found.admissible_scale), ("consistent", found.consistent_scale)):
        largest = min(scale, 100.0)
        assert getattr(check({g: largest * v for g, v in rho.items()}, instances), name)
        if scale < 100:
            more = {g: (1.001 * scale + 0.001) * v for g, v in rho.items()}
            assert not getattr(check(more, instances), name)


def test_rounding_is_not_held_against_it() -> None:
    town = rs.datasets.city(200, seed=1)
    instances = town.draw(50, seed=0)
    safe = rs.learners.LowerEnvelope(town.edge_bounds[0]).fit(instances)
    found = check(safe, instances)
    assert found.admissible
    assert found.consistent
    bold = check(rs.learners.MeanDistance().fit(instances), instances)
    assert not bold.admissible
