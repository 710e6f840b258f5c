"""Other libraries' graphs, and A* as a drop-in for networkx."""

from itertools import pairwise

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def random_network(rng: np.random.Generator, kind: type) -> nx.Graph:
    G = kind()
    names = [f"v{k}" for k in rng.permutation(int(rng.integers(1, 12)))]
    G.add_nodes_from(names)
    for _ in range(int(rng.integers(0, 30))):
        u, v = rng.choice(names, 2)
        data = {"cost": int(rng.integers(0, 9))} if rng.random() < 0.9 else {}
        G.add_edge(str(u), str(v), **data)
    return G


def cost_of(G: nx.Graph, path: list, weight) -> float:
    function = nx.algorithms.shortest_paths.weighted._weight_function(G, weight)
    return sum(function(u, v, G._adj[u][v]) for u, v in pairwise(path))


def hidden(u, v, data) -> int | None:
    return None if (int(u[1:]) + int(v[1:])) % 5 == 0 else abs(int(u[1:]) - int(v[1:])) + 1


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), weight=st.sampled_from(["cost", None, hidden]))
def test_astar_path_is_networkx_astar_path(seed, kind, weight) -> None:
    rng = np.random.default_rng(seed)
    G = random_network(rng, kind)
    nodes = list(G)
    source, target = (nodes[k] for k in rng.integers(0, len(nodes), 2))
    # Exact costs to the target, halved: never too high.
    back = G.reverse() if G.is_directed() else G
    turned = (lambda u, v, d: hidden(v, u, d)) if weight is hidden else weight
    exact = nx.single_source_dijkstra_path_length(back, target, weight=turned)
    by_node = {node: exact.get(node, 7) / 2 for node in nodes}
    forms = [None, by_node, np.array([by_node[node] for node in nodes]), lambda u, t: by_node[u]]
    try:
        expected = nx.astar_path(G, source, target, weight=weight)
    except nx.NetworkXNoPath:
        for rho in forms:
            with pytest.raises(nx.NetworkXNoPath, match=f"Node {target} not reachable from {source}"):
                rs.astar_path(G, source, target, rho, weight=weight)
        return
    for rho in forms:
        path = rs.astar_path(G, source, target, rho, weight=weight)
        assert (path[0], path[-1]) == (source, target)
        assert cost_of(G, path, weight) == cost_of(G, expected, weight)


def test_astar_path_sees_every_change() -> None:
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 1), ("b", "c", 1), ("a", "c", 5)])
    assert rs.astar_path(G, "a", "c") == ["a", "b", "c"]
    view = nx.subgraph_view(G, filter_node=lambda v: v != "b" or G.nodes["b"].get("open", True))
    assert rs.astar_path(view, "a", "c") == ["a", "b", "c"]
    G["a"]["c"]["weight"] = 1  # an attribute, unseen by networkx's cache
    assert rs.astar_path(G, "a", "c") == ["a", "c"]
    G.remove_edge("a", "c")
    assert rs.astar_path(G, "a", "c") == ["a", "b", "c"]
    G.add_edge("a", "d", weight=0)
    G.add_edge("d", "c", weight=0)
    assert rs.astar_path(G, "a", "c") == ["a", "d", "c"]
    G.remove_node("d")
    G.add_node("e")  # as many nodes as before
    assert rs.astar_path(G, "a", "c") == ["a", "b", "c"]
    # A view that shows another edge than before, as many of them: its own cache is never emptied.
    H = nx.Graph([("a", "b"), ("b", "c"), ("a", "c")])
    shown = {("a", "b")}
    part = nx.subgraph_view(H, filter_edge=lambda u, v: (min(u, v), max(u, v)) in shown)
    assert rs.astar_path(part, "a", "b") == ["a", "b"]
    shown.clear()
    shown.add(("a", "c"))
    assert rs.astar_path(part, "a", "c") == ["a", "c"]
    G.nodes["b"]["open"] = False
    with pytest.raises(nx.NetworkXNoPath):
        rs.astar_path(view, "a", "c")


def test_astar_path_with_bad_input() -> None:
    G = nx.DiGraph([("a", "b", {"weight": -1}), ("b", "c", {"weight": "much"})])
    with pytest.raises(nx.NodeNotFound, match="Source x is not in G"):
        rs.astar_path(G, "x", "a")
    with pytest.raises(nx.NodeNotFound, match="Target x is not in G"):
        rs.astar_path(G, "a", "x")
    with pytest.raises(rs.errors.WeightError, match="'a' -> 'b' must be a number that is not negative, got -1"):
        rs.astar_path(G, "a", "c")
    G["a"]["b"]["weight"] = 1
    with pytest.raises(rs.errors.WeightError, match="'b' -> 'c' must be a number that is not negative, got 'much'"):
        rs.astar_path(G, "a", "c")
    with pytest.raises(rs.errors.HeuristicError, match="no value for the node 'b'"):
        rs.astar_path(G, "a", "c", {"a": 0, "c": 0}, weight=None)
    with pytest.raises(rs.errors.HeuristicError, match="'b' must be finite, got nan"):
        rs.astar_path(G, "a", "c", {"a": 0, "b": np.nan, "c": 0}, weight=None)
    with pytest.raises(rs.errors.ArrayError, match="each of the 3 vertices"):
        rs.astar_path(G, "a", "c", np.zeros(2), weight=None)
    with pytest.raises(rs.errors.InputError, match="networkx graph, got dict"):
        rs.astar_path({}, "a", "c")
    with pytest.raises(rs.errors.InputError, match="budget of 1"):
        rs.astar_path(G, "a", "c", weight=None, budget=1)


def test_osmnx_graphs() -> None:
    """As OSMnx makes them: a MultiDiGraph with x, y, osmid, length in metres, and travel times added later."""
    streets = nx.MultiDiGraph(crs="epsg:4326")
    for node, x, y in ((53, 11.5, 48.1), (54, 11.6, 48.1), (99, 11.6, 48.2)):
        streets.add_node(node, x=x, y=y, street_count=3)
    streets.add_edge(53, 54, osmid=1, length=700.0, travel_time=60.0, oneway=False)
    streets.add_edge(53, 54, osmid=[2, 3], length=650.0, travel_time=80.0, oneway=False)
    streets.add_edge(54, 99, osmid=4, length=900.0, travel_time="45.5", oneway=True)
    streets.add_edge(99, 99, osmid=5, length=10.0, travel_time=1.0)
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
    with pytest.raises(rs.errors.WeightError, match="54 -> 99 must be a number that is not negative"):
        rs.interop.from_networkx(streets, "travel_time")


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
    with pytest.raises(rs.errors.WeightError, match="edge 0 has no number as 'minutes'"):
        rs.interop.from_igraph(roads, "minutes")
    with pytest.raises(rs.errors.GraphError, match="igraph graph, got int"):
        rs.interop.from_igraph(3)
