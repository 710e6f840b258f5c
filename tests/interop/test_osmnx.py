"""Street networks as OSMnx makes them."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


# ---------------------------------------------------------------- a router


class Line:
    """What a geometry of OSMnx has: shapely is not needed."""

    def __init__(self, *coords: tuple[float, float]) -> None:
        self.coords = coords


def test_a_router_keeps_parallel_edges(streets: nx.MultiDiGraph) -> None:
    router = rs.Router.from_osmnx(streets, "travel_time")
    route = router.route(53, 99)
    assert (list(route.labels), list(route.edge_labels)) == ([53, 54, 99], [(53, 54, 0), (54, 99, 0)])
    assert route.cost == 105.5
    assert all(streets.has_edge(*edge) for edge in route.edge_labels)
    router.update(edges=[(53, 54, 0)], weights=[90.0])
    assert router.route(53, 54).edge_labels == ((53, 54, 1),)
    router.update([data["length"] for *_, data in streets.edges(data=True)])
    assert router.route(53, 99).cost == 1550.0
    with pytest.raises(rs.errors.EdgeError, match=r"there are 2 edges 53 -> 54"):
        router.update(edges=[(53, 54)], weights=[1.0])


def test_a_route_on_the_map_follows_its_streets(streets: nx.MultiDiGraph) -> None:
    streets[54][99][0]["geometry"] = Line((11.6, 48.1), (11.65, 48.15), (11.6, 48.2))
    route = rs.Router.from_osmnx(streets).route(53, 99)
    assert route.to_geojson()["geometry"]["coordinates"] == [[11.5, 48.1], [11.6, 48.1], [11.6, 48.2]]
    found = rs.interop.osmnx.route_geojson(streets, route)
    bends = [[11.5, 48.1], [11.6, 48.1], [11.65, 48.15], [11.6, 48.2]]
    assert found["geometry"] == {"type": "LineString", "coordinates": bends}
    assert found["properties"] == {"cost": 105.5, "labels": [53, 54, 99], "edges": [[53, 54, 0], [54, 99, 0]]}
    assert json.loads(json.dumps(found)) == found
    both = nx.MultiGraph(streets)
    back = rs.interop.osmnx.route_geojson(both, rs.Router.from_osmnx(both).route(99, 53))
    assert back["geometry"]["coordinates"] == bends[::-1]
    still = rs.interop.osmnx.route_geojson(streets, rs.Router.from_osmnx(streets).route(99, 99))
    assert still["geometry"]["type"] == "Point"
    assert rs.interop.osmnx.route_geojson(streets, rs.Router.from_osmnx(streets).route(99, 53))["geometry"] is None


def test_a_router_says_what_is_wrong(streets: nx.MultiDiGraph) -> None:
    with pytest.raises(rs.errors.GraphError, match="must be a multigraph"):
        rs.Router.from_osmnx(nx.DiGraph(streets))
    with pytest.raises(rs.errors.WeightError, match="has no attribute 'speed'"):
        rs.Router.from_osmnx(streets, "speed")
    route = rs.Router.from_osmnx(streets).route(53, 99)
    streets.nodes[99]["y"] = 5_000_000.0
    with pytest.raises(rs.errors.GraphError, match="is not a longitude and latitude"):
        rs.interop.osmnx.route_geojson(streets, route)
    streets.remove_edge(54, 99)
    with pytest.raises(rs.errors.EdgeError, match=r"has no edge \(54, 99, 0\)"):
        rs.interop.osmnx.route_geojson(streets, route)
    streets[53][54][0]["travel_time"] = float("nan")
    with pytest.raises(rs.errors.WeightError, match=r"of the edge \(53, 54, 0\) must be a non-negative"):
        rs.Router.from_osmnx(streets)
    del streets.nodes[54]["x"]
    with pytest.raises(rs.errors.GraphError, match="node 54 has no x and y"):
        rs.Router.from_osmnx(streets)


@given(st.integers(0, 10**6), st.booleans())
def test_routes_are_those_of_networkx(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    streets = nx.MultiDiGraph() if directed else nx.MultiGraph()
    streets.add_nodes_from((10 * v, {"x": float(v), "y": 0.0}) for v in range(n))
    for u, v in rng.integers(0, n, (3 * n, 2)).tolist():
        streets.add_edge(10 * u, 10 * v, travel_time=int(rng.integers(0, 9)))
    router = rs.Router.from_osmnx(streets)
    expected = dict(nx.all_pairs_dijkstra_path_length(streets, weight="travel_time"))
    for u in streets:
        for v in streets:
            route = router.route(u, v)
            assert route.cost == expected[u].get(v, np.inf)
            if np.isfinite(route.cost):
                assert sum(streets.edges[edge]["travel_time"] for edge in route.edge_labels) == route.cost
                assert (route.labels[0], route.labels[-1]) == (u, v)
