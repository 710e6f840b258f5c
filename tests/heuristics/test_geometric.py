"""Distances by coordinates, and how far they may be scaled."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import GraphError, InputError


@pytest.mark.parametrize("metric", ["euclidean", "octile", "haversine"])
def test_the_safe_scale_never_overestimates_and_no_larger_one_is_safe(metric: str) -> None:
    rng = np.random.default_rng(3)
    grid = rs.Graph.grid(6, 7, neighbors=8)
    weights = rng.uniform(1, 9, size=(5, grid.m))
    weights[rng.random(weights.shape) < 0.1] = np.inf
    instances = rs.InstanceSet(grid, weights, sources=[0, 3, 9, 1, 2], goal=41, infeasible="drop")
    scale = rs.heuristics.safe_scale(instances, metric)
    one_step = np.inf
    for x in instances:
        for goal in range(grid.n):
            rho = getattr(rs.heuristics, metric)(grid, goal, scale=scale)
            assert (rho <= rs.distances_to(grid, x.weights, goal) * (1 + 1e-12)).all()
            into = grid.head == goal
            one_step = min(one_step, (x.weights[into] - rho[grid.tail[into]]).min())
    assert one_step == pytest.approx(0.0, abs=1e-9)  # some edge weighs exactly that much


def test_bad_input_is_refused() -> None:
    bare = rs.Graph.from_edges(2, [0], [1])
    with pytest.raises(GraphError, match="no coordinates"):
        rs.heuristics.safe_scale(rs.InstanceSet(bare, [1.0], [0], 1))
    grid = rs.Graph.grid(2, 2)
    with pytest.raises(InputError, match="metric must be one of"):
        rs.heuristics.safe_scale(rs.InstanceSet(grid, grid.length, [0], 3), "manhattan")
