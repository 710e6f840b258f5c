"""The inconsistency of single instances: by its definition, and as a bound on what A* loses."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InstanceError


def _by_definition(rho: np.ndarray, instance: rs.instances.Instance) -> float:
    """Along every optimal path: the value must be that of one of them."""
    graph, weights, source, goal = instance
    to_goal = rs.distances_to(graph, weights, goal)
    run = rs.astar(graph, weights, source, goal, np.zeros(graph.n))
    assert run.cost == pytest.approx(to_goal[source])
    steps = list(zip(run.path[:-1].tolist(), run.path[1:].tolist(), strict=True))[1:]
    edges = graph.edge_index([v for v, _ in steps], [c for _, c in steps])
    return sum(max(rho[v] - rho[c] - weights[e], 0.0) for (v, c), e in zip(steps, edges, strict=True))


def test_it_is_the_sum_along_the_optimal_path_and_bounds_the_loss() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(5, 5, neighbors=8)
    weights = rng.uniform(1, 2, (40, graph.m))  # optimal paths are unique
    sources, goals = rng.integers(0, 12, 40), rng.integers(13, 25, 40)
    instances = rs.InstanceSet(graph, weights, sources=sources, goal=goals)
    tables = {int(goal): rng.uniform(0, 8, graph.n) for goal in np.unique(goals)}
    found = rs.certificates.inconsistency(tables, instances)
    for i, instance in enumerate(instances):
        assert found[i] == pytest.approx(_by_definition(tables[instance.goal], instance))
    for reopen in (True, False):
        runs = rs.solve_many(instances, tables, reopen=reopen)
        exact = rs.solve_many(instances, {goal: np.zeros(graph.n) for goal in tables})
        assert (runs.cost - exact.cost <= found + 1e-9).all()
    assert (found > 0).any()


def test_heuristics_that_the_weights_choose() -> None:
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(6, 6)
    weights = np.concatenate([rng.uniform(1, 2, (20, graph.m)), rng.uniform(5, 9, (20, graph.m))])
    instances = rs.InstanceSet(graph, weights, sources=rng.integers(0, 30, 40), goal=35)
    learner = rs.learners.Potentials(n_clusters=2).fit(instances)
    found = rs.certificates.inconsistency(learner, instances)
    for i, instance in enumerate(instances):
        rho = learner.heuristic_.table(35, instance.weights)
        alone = rs.certificates.inconsistency(rho, instances[i : i + 1])
        assert found[i] == alone[0]


def test_instances_without_a_path_are_refused() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    instances = rs.InstanceSet(graph, [1.0, np.inf], sources=0, goal=2, infeasible="keep")
    with pytest.raises(InstanceError, match="instance 0 has no path from 0 to 2"):
        rs.certificates.inconsistency([0.0] * 3, instances)


def test_a_path_of_one_edge_has_no_terms() -> None:
    graph = rs.Graph.from_edges(2, [0], [1])
    instances = rs.InstanceSet(graph, [3.0], sources=0, goal=1)
    assert rs.certificates.inconsistency([9.0, 0.0], instances).tolist() == [0.0]
