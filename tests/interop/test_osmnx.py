"""Street networks as OSMnx makes them."""

import networkx as nx
import pytest

import rhostar as rs


@pytest.fixture
def streets() -> nx.MultiDiGraph:
    """A MultiDiGraph with x, y, osmid, length in meters, and travel times added later."""
    streets = nx.MultiDiGraph(crs="epsg:4326")
    for node, x, y in ((53, 11.5, 48.1), (54, 11.6, 48.1), (99, 11.6, 48.2)):
        streets.add_node(node, x=x, y=y, street_count=3)
    streets.add_edge(53, 54, osmid=1, length=700.0, travel_time=60.0, oneway=False)
    streets.add_edge(53, 54, osmid=[2, 3], length=650.0, travel_time=80.0, oneway=False)
    streets.add_edge(54, 99, osmid=4, length=900.0, travel_time="45.5", oneway=True)
    streets.add_edge(99, 99, osmid=5, length=10.0, travel_time=1.0)
    return streets


def test_travel_times_lengths_and_places(streets: nx.MultiDiGraph) -> None:
    network = rs.interop.from_osmnx(streets)
    assert network.graph.labels == (53, 54, 99)
    assert network.graph.coordinates.tolist() == [[11.5, 48.1], [11.6, 48.1], [11.6, 48.2]]
    assert network.weights.tolist() == [[60.0, 45.5]]
    assert network.graph.length.tolist() == [650.0, 900.0]
    assert rs.interop.from_osmnx(streets, "length").weights.tolist() == [[650.0, 900.0]]


def test_a_route_through_the_streets(streets: nx.MultiDiGraph) -> None:
    network = rs.interop.from_osmnx(streets)
    graph = network.graph
    goal = graph.vertex(99)
    run = rs.astar(graph, network.weights[0], graph.vertex(53), goal, rs.heuristics.haversine(graph, goal, scale=0.0))
    assert (run.cost, [graph.labels[v] for v in run.path]) == (105.5, [53, 54, 99])


def test_what_is_missing_is_named(streets: nx.MultiDiGraph) -> None:
    with pytest.raises(rs.errors.WeightError, match="53 -> 54 has no attribute 'speed'"):
        rs.interop.from_osmnx(streets, "speed")
    del streets.nodes[54]["x"]
    with pytest.raises(rs.errors.GraphError, match="node 54 has no x and y; use from_networkx"):
        rs.interop.from_osmnx(streets)


def test_the_converter_of_networkx_takes_them_too(streets: nx.MultiDiGraph) -> None:
    network = rs.interop.from_networkx(streets, "travel_time")
    assert network.graph.labels == (53, 54, 99)
    assert network.graph.coordinates.tolist() == [[11.5, 48.1], [11.6, 48.1], [11.6, 48.2]]
    assert network.weights.tolist() == [[60.0, 45.5]]
    assert network.graph.length.tolist() == [650.0, 900.0]
    assert rs.interop.from_networkx(streets, None).weights.tolist() == [[1.0, 1.0]]
    with pytest.raises(rs.errors.WeightError, match="53 -> 54 has no attribute 'speed'"):
        rs.interop.from_networkx(streets, "speed")
    assert rs.interop.from_networkx(streets, "speed", default=2).weights.tolist() == [[2.0, 2.0]]
    streets[54][99][0]["travel_time"] = -3
    with pytest.raises(rs.errors.WeightError, match="54 -> 99 must be a non-negative number"):
        rs.interop.from_networkx(streets, "travel_time")
