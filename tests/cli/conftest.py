"""What several tests of commands begin with."""

from pathlib import Path

import pytest

import rhostar as rs


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A set of trips between named crossings, and a model that promises optimal answers."""
    drawn = rs.datasets.city(300, seed=2).draw(120, seed=0)
    graph = rs.Graph.from_edges(
        drawn.graph.n, drawn.graph.tail, drawn.graph.head, labels=[f"x{v}" for v in range(drawn.graph.n)]
    )
    trips = rs.InstanceSet(graph, drawn.weights, drawn.sources, drawn.goal, rows=drawn.rows)
    trips.save(tmp_path / "trips")
    rs.Model.of(rs.learn(trips), graph).save(tmp_path / "exact.npz")
    return tmp_path
