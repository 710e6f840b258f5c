"""Landmarks lie in the components of the goals, where they help."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.learners._landmarks import _shares


def islands(*sides: int) -> tuple[rs.Graph, list[np.ndarray]]:
    """Return grids beside each other as one graph without coordinates, and the vertices of each."""
    tails, heads, parts, first = [], [], [], 0
    for side in sides:
        grid = rs.Graph.grid(side, side)
        tails.append(grid.tail + first)
        heads.append(grid.head + first)
        parts.append(np.arange(first, first + grid.n))
        first += grid.n
    return rs.Graph.from_edges(first, np.concatenate(tails), np.concatenate(heads)), parts


@pytest.mark.parametrize("selection", ["farthest", "random"])
def test_landmarks_are_in_the_component_of_the_goal(selection: str, rng: np.random.Generator) -> None:
    graph, (large, small) = islands(70, 12)
    weights = rng.uniform(1, 1.2, (20, graph.m))
    sources = rng.choice(small[:-1], 20)
    instances = rs.InstanceSet(graph, weights, sources, goal=int(small[-1]))
    for seed in range(5):
        learner = rs.learners.Landmarks(6, selection=selection, random_state=seed).fit(instances)
        assert np.isin(learner.landmarks_, small).all()
        assert np.unique(learner.landmarks_).size == 6
        plain = rs.solve_many(instances, np.zeros(graph.n))
        guided = rs.solve_many(instances, learner.rho_)
        assert np.allclose(guided.cost, plain.cost)
        assert guided.expanded.sum() < plain.expanded.sum() * 0.7
    assert large.size > 30 * small.size  # landmarks drawn anywhere would be on the large island


def test_goals_in_several_components_share_the_landmarks(rng: np.random.Generator) -> None:
    graph, parts = islands(30, 10, 10)
    sources = np.concatenate([rng.choice(part[:-1], 30) for part in parts[1:]])
    goals = np.repeat([int(part[-1]) for part in parts[1:]], 30)
    instances = rs.InstanceSet(graph, np.ones((1, graph.m)), sources, goals, rows=np.zeros(60, dtype=int))
    learner = rs.learners.Landmarks(8, random_state=0).fit(instances)
    assert [int(np.isin(learner.landmarks_, part).sum()) for part in parts] == [0, 4, 4]


def test_a_goal_that_nothing_leaves_is_a_landmark_itself() -> None:
    # A ring of 20 vertices and a way out of it to the goal, 20.
    graph = rs.Graph.from_edges(21, [*range(20), 0], [*np.roll(range(20), -1), 20])
    instances = rs.InstanceSet(graph, np.ones(graph.m), range(20), 20)
    learner = rs.learners.Landmarks(3, random_state=0).fit(instances)
    assert 20 in learner.landmarks_
    assert learner.landmarks_.size == 3
    assert learner.rho_.tolist() == rs.distances_to(graph, np.ones(graph.m), 20).tolist()


def test_shares_follow_the_instances() -> None:
    component = np.array([0] * 10 + [1] * 3 + [2] * 50)
    assert _shares(component, np.array([0, 10]), 4) == {0: 2, 1: 2}
    assert _shares(component, np.array([0, 0, 0, 10]), 4) == {0: 3, 1: 1}
    assert _shares(component, np.array([11]), 5) == {1: 3, 2: 2}
    assert _shares(component, np.array([60]), 16) == {2: 16}
    assert sum(_shares(component, np.array([0]), 63).values()) == 63
