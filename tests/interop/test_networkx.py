"""networkx graphs in and out, and A* as a drop-in for networkx."""

import warnings
from itertools import pairwise

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
    with pytest.raises(rs.errors.WeightError, match="'a' -> 'b' must be a non-negative number, got -1"):
        rs.astar_path(G, "a", "c")
    G["a"]["b"]["weight"] = 1
    with pytest.raises(rs.errors.WeightError, match="'b' -> 'c' must be a non-negative number, got 'much'"):
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


def test_a_weight_that_is_not_a_number_is_an_error_and_no_warning() -> None:
    for kind in KINDS:
        G = kind([("a", "b", {"weight": float("nan")}), ("b", "c", {"weight": 1})])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(rs.errors.WeightError, match="'a' -> 'b' must be a non-negative number, got nan"):
                rs.interop.from_networkx(G)
            assert np.isnan(rs.Graph.from_networkx(G).weights_of(G)).sum() == (1 if G.is_directed() else 2)


def test_coordinates_that_only_some_nodes_have_are_left_out_with_a_warning() -> None:
    G = nx.DiGraph([("a", "b"), ("b", "c")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.interop.from_networkx(G, None).graph.coordinates is None
    G.add_node("a", x=1, y=2)
    G.add_node("c", x="3.5", y=4)
    with pytest.warns(rs.errors.RhostarWarning, match=r"x and y of node 'b' are not numbers \(1 of 3 nodes\)"):
        assert rs.Graph.from_networkx(G).coordinates is None
    G.add_node("b", x="east", y=0)
    with pytest.warns(rs.errors.RhostarWarning, match="x and y of node 'b' are not numbers"):
        assert rs.Graph.from_networkx(G).coordinates is None
    G.add_node("b", x=0, y=0)
    assert rs.Graph.from_networkx(G).coordinates.tolist() == [[1, 2], [0, 0], [3.5, 4]]


def test_what_was_converted_comes_back() -> None:
    G = nx.DiGraph()
    G.add_nodes_from([("a", {"x": 0.0, "y": 1.0}), ("b", {"x": 2.0, "y": 3.0})])
    G.add_edge("a", "b", weight=5.0, length=2.5)
    network = rs.interop.from_networkx(G)
    again = rs.interop.to_networkx(network.graph, network.weights[0])
    assert dict(again.nodes(data=True)) == dict(G.nodes(data=True))
    assert list(again.edges(data=True)) == list(G.edges(data=True))
