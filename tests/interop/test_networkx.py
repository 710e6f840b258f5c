"""networkx graphs in and out, and A* as a drop-in for networkx."""

import warnings
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import rhostar as rs

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def test_learned_values_in_every_form() -> None:
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6).to_directed(), first_label=100)
    rng = np.random.default_rng(0)
    network = rs.interop.from_networkx(G, None)
    goal = network.graph.vertex(135)
    rows = rng.integers(1, 9, (20, network.graph.m)).astype(float)
    instances = rs.InstanceSet(network.graph, rows, rng.integers(0, 35, 20), goal)
    learner = rs.learners.MeanDistance().fit(instances)
    per_goal = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(instances)
    model = rs.Model.of(learner, network.graph)
    values = learner.rho_
    expected = nx.astar_path(G, 100, 135, lambda node, _: float(values[node - 100]))
    by_node = dict(zip(G, values.tolist(), strict=True))
    forms = [values, values.tolist(), by_node, {135: values}, learner, per_goal, model]
    for form in forms:
        assert rs.astar_path(G, 100, 135, form) == expected
        assert rs.interop.astar_path_length(G, 100, 135, form) == len(expected) - 1
        assert nx.astar_path(G, 100, 135, form, backend="rhostar") == expected
    with pytest.raises(rs.errors.ModelError, match="fitted for goal"):
        rs.astar_path(G, 100, 134, learner)
    with pytest.raises(rs.errors.ModelError, match="another graph"):
        rs.astar_path(nx.path_graph(36, create_using=nx.DiGraph), 0, 35, model)
    with pytest.raises(rs.errors.NotFittedError):
        rs.astar_path(G, 100, 135, rs.learners.MeanDistance())


def test_a_potential_for_any_goal() -> None:
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6).to_directed(), ordering="sorted")
    for v, data in G.nodes(data=True):
        data["x"], data["y"] = float(v % 6), float(v // 6)
    graph = rs.Graph.from_networkx(G)
    straight = rs.heuristics.euclidean(graph)
    for goal in (35, 20):
        path = rs.astar_path(G, 0, goal, straight)
        assert path == nx.astar_path(G, 0, goal, lambda u, v: float(np.hypot(u % 6 - v % 6, u // 6 - v // 6)))
        assert nx.astar_path(G, 0, goal, straight, backend="rhostar") == path


def test_values_are_asked_for_only_where_the_search_looks() -> None:
    G = nx.path_graph(1000)
    asked: list[int] = []

    def distance(node: int, target: int) -> int:
        asked.append(node)
        return abs(node - target)

    assert rs.astar_path(G, 500, 510, distance) == list(range(500, 511))
    assert set(asked) == set(range(499, 511))
    assert len(asked) == len(set(asked))
    assert rs.astar_path(G, 500, 502, {499: 3, 500: 2, 501: 1, 502: 0}) == [500, 501, 502]
    with pytest.raises(rs.errors.HeuristicError, match="no value for the node 503"):
        rs.astar_path(G, 500, 504, {499: 5, 500: 4, 501: 3, 502: 2})


def test_a_path_of_other_numbers_comes_from_networkx() -> None:
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, Fraction(1, 3), "weight")
    assert rs.astar_path(G, 0, 2) == [0, 1, 2]
    assert rs.interop.astar_path_length(G, 0, 2) == Fraction(2, 3)
    assert rs.astar_path(G, 0, 2, np.array([1.0, 0.5, 0.0])) == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="rhostar"):
        nx.astar_path(G, 0, 2, backend="rhostar")


def test_astar_path_with_bad_input() -> None:
    G = nx.DiGraph([("a", "b", {"weight": 1}), ("b", "c", {"weight": "much"})])
    with pytest.raises(nx.NodeNotFound, match="Source x is not in G"):
        rs.astar_path(G, "x", "a")
    with pytest.raises(nx.NodeNotFound, match="Target x is not in G"):
        rs.astar_path(G, "a", "x")
    with pytest.raises(nx.NodeNotFound, match=r"Source \['a'\] is not in G"):
        rs.astar_path(G, ["a"], "c")
    with pytest.raises(TypeError, match="unsupported operand"):  # networkx's own
        rs.astar_path(G, "a", "c")
    with pytest.raises(rs.errors.HeuristicError, match="no value for the node 'b'"):
        rs.astar_path(G, "a", "c", {"a": 0, "c": 0}, weight=None)
    with pytest.raises(rs.errors.HeuristicError, match="'b' is not a number"):
        rs.astar_path(G, "a", "c", np.array([0, np.nan, 0]), weight=None)
    with pytest.raises(rs.errors.ArrayError, match="each of the 3 vertices"):
        rs.astar_path(G, "a", "c", np.zeros(2), weight=None)
    with pytest.raises(rs.errors.InputError, match="networkx graph, got dict"):
        rs.astar_path({}, "a", "c")


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
    again = rs.interop.networkx.to_networkx(network.graph, network.weights[0])
    assert dict(again.nodes(data=True)) == dict(G.nodes(data=True))
    assert list(again.edges(data=True)) == list(G.edges(data=True))
