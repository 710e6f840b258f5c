"""igraph graphs."""

import igraph
import numpy as np
import pytest

import rhostar as rs


@pytest.mark.parametrize("directed", [False, True])
def test_igraph(directed: bool, rng: np.random.Generator) -> None:
    pairs = rng.integers(0, 20, (80, 2)).tolist()
    minutes = rng.integers(0, 30, 80).tolist()
    roads = igraph.Graph(20, pairs, directed=directed, edge_attrs={"minutes": minutes, "length": [1.5] * 80})
    roads.vs["name"] = [f"n{k}" for k in range(20)]
    roads.vs["x"], roads.vs["y"] = range(20), range(1, 21)
    network = rs.interop.from_igraph(roads, "minutes")
    distance = rs.distances_to(network.graph, network.weights[0], network.graph.vertex("n7"))
    expected = roads.distances(target=[7], weights="minutes")
    assert distance.tolist() == [row[0] for row in expected]
    assert network.graph.coordinates[3].tolist() == [3, 4]
    assert (network.graph.length == 1.5).all()
    with pytest.raises(rs.errors.WeightError, match="no attribute 'cost'; they have minutes, length"):
        rs.interop.from_igraph(roads, "cost")
    roads.es["minutes"] = [None, *minutes[1:]]
    with pytest.raises(rs.errors.WeightError, match="'minutes' of edge 0 is not a number"):
        rs.interop.from_igraph(roads, "minutes")
    with pytest.raises(rs.errors.GraphError, match="igraph graph, got int"):
        rs.interop.from_igraph(3)


def test_coordinates_that_only_some_vertices_have_are_left_out_with_a_warning() -> None:
    roads = igraph.Graph([(0, 1), (1, 2)])
    roads.vs["x"], roads.vs["y"] = [0, None, 2], [0, 1, 2]
    with pytest.warns(rs.errors.RhostarWarning, match="x and y of node 1 are not numbers"):
        assert rs.interop.from_igraph(roads, None).graph.coordinates is None
