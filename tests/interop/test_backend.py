"""rhostar as a backend of networkx: the same results as networkx, ties and types included."""

import gc
import inspect
import math
import warnings
import weakref
from decimal import Decimal
from importlib.metadata import entry_points
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar import _core
from rhostar.interop import _networkx_backend
from rhostar.interop._networkx_info import FUNCTIONS, get_info
from rhostar.interop._networkx_links import links_of
from support.differential import outcome, same

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def is_kept(G: nx.Graph) -> bool:
    """Whether the links of a graph are there already."""
    return "rhostar" in G.__networkx_cache__


def hidden(u: int, v: int, data: dict) -> int | None:
    return None if (u + 2 * v) % 5 == 0 else abs(u - v) + 1


# Few different weights, so that ties are everywhere.
WEIGHTS = {
    "integers": lambda rng: int(rng.integers(0, 4)),
    "halves": lambda rng: float(rng.integers(0, 5)) / 2,
    "mixed": lambda rng: [1, 1.0, 2, 0.5, True, np.float64(1.5), np.int64(2)][int(rng.integers(7))],
    "tenths": lambda rng: float(rng.integers(1, 4)) / 10,
    "infinite": lambda rng: [1, math.inf, 2.0][int(rng.integers(3))],
    "closed": lambda rng: [1, 2, 3, None][int(rng.integers(4))],
    "negative": lambda rng: int(rng.integers(-1, 6)),
}


@st.composite
def networks(draw: st.DrawFn) -> tuple[nx.Graph, Any]:
    kind = draw(st.sampled_from(KINDS))
    weights = draw(st.sampled_from(sorted(WEIGHTS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = int(rng.integers(1, 12))
    G = kind()
    G.add_nodes_from(rng.permutation(n).tolist())
    for _ in range(int(rng.integers(0, 4 * n))):
        u, v = rng.integers(0, n, 2).tolist()
        G.add_edge(u, v, **({"weight": WEIGHTS[weights](rng)} if rng.random() < 0.9 else {}))
    return G, draw(st.sampled_from(["weight", None, hidden] if weights == "integers" else ["weight"]))


@settings(max_examples=200)
@given(networks(), st.data())
def test_astar_is_networkx_astar(made: tuple[nx.Graph, Any], data: st.DataObject) -> None:
    G, weight = made
    source, target = data.draw(st.sampled_from(list(G))), data.draw(st.sampled_from(list(G)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    values = {node: [0, 1, 2, 2.0, 0.5, math.inf][int(rng.integers(6))] for node in G}
    heuristic = data.draw(st.sampled_from([None, lambda u, v: values[u], lambda u, v: abs(u - v)]))
    cutoff = data.draw(st.sampled_from([None, 0, 2, 3.5]))
    negative = any(isinstance(w, int) and w < 0 for *_, w in G.edges(data="weight"))
    if negative:  # networkx may not end; acyclic graphs are safe
        if not G.is_directed():
            return
        G.remove_edges_from([(u, v) for u, v in list(G.edges()) if u >= v])
    same("astar_path", G, source, target, heuristic, weight, cutoff=cutoff)
    same("astar_path_length", G, source, target, heuristic, weight, cutoff=cutoff)


@settings(max_examples=100)
@given(networks(), st.data())
def test_dijkstra_is_networkx_dijkstra(made: tuple[nx.Graph, Any], data: st.DataObject) -> None:
    G, weight = made
    nodes = list(G)
    source, target = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from([*nodes, 99]))
    cutoff = data.draw(st.sampled_from([None, 0, 2, 3.5]))
    for name in ("dijkstra_path", "dijkstra_path_length", "bidirectional_dijkstra"):
        same(name, G, source, target, weight)
    same("single_source_dijkstra", G, source, target, cutoff, weight)
    same("single_source_dijkstra", G, source, None, cutoff, weight)
    same("single_source_dijkstra_path", G, source, cutoff, weight)
    same("single_source_dijkstra_path_length", G, source, cutoff, weight)
    same("dijkstra_predecessor_and_distance", G, source, cutoff, weight)
    some = data.draw(st.lists(st.sampled_from(nodes), max_size=3))
    same("multi_source_dijkstra", G, some, target, cutoff, weight)
    same("multi_source_dijkstra_path", G, some, cutoff, weight)
    same("multi_source_dijkstra_path_length", G, some, cutoff, weight)
    for name in ("all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length"):
        same(name, G, cutoff, weight)
    if weight is not None:
        for name in ("shortest_path", "shortest_path_length"):
            same(name, G, source, target, weight)
            same(name, G, source, weight=weight)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_graph_with_ties(kind: type) -> None:
    rng = np.random.default_rng(1)
    G = kind(nx.grid_2d_graph(40, 40))
    for *_, data in G.edges(data=True):
        data["weight"] = int(rng.integers(1, 4))
    for _ in range(5):
        source, target = (tuple(p) for p in rng.integers(0, 40, (2, 2)).tolist())
        same("astar_path", G, source, target, lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1]))
        same("astar_path", G, source, target, lambda a, b: 3 * (abs(a[0] - b[0]) + abs(a[1] - b[1])))
        same("bidirectional_dijkstra", G, source, target)
        same("single_source_dijkstra", G, source)


def test_sources_that_a_negative_weight_makes_late() -> None:
    """networkx then takes other nodes for the sources, and fails with a KeyError: so does the backend."""
    failed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        G = nx.DiGraph()
        G.add_nodes_from(rng.permutation(n).tolist())
        for _ in range(int(rng.integers(0, 4 * n))):
            u, v = rng.integers(0, n, 2).tolist()
            G.add_edge(u, v, weight=int(rng.integers(-3, 6)))
        some = rng.permutation(n)[:2].tolist()
        same("multi_source_dijkstra_path", G, some)
        failed += outcome(lambda: nx.multi_source_dijkstra_path(G, some))[0] == "KeyError"  # noqa: B023
    assert failed > 0


def test_a_changed_weight_counts_at_once() -> None:
    for kind in KINDS:
        G = kind([("a", "b", {"weight": 1}), ("b", "c", {"weight": 1}), ("a", "c", {"weight": 5})])
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # networkx warns where a cached graph may be out of date
            assert nx.astar_path(G, "a", "c", backend="rhostar") == ["a", "b", "c"]
            assert is_kept(G)
            edge = G["a"]["c"][0] if G.is_multigraph() else G["a"]["c"]
            edge["weight"] = 1.5
            assert nx.astar_path(G, "a", "c", backend="rhostar") == ["a", "c"]
            assert nx.dijkstra_path_length(G, "a", "c", backend="rhostar") == 1.5
            edge["length"], edge["weight"] = 9, 9
            assert nx.shortest_path(G, "a", "c", weight="length", backend="rhostar") == ["a", "b", "c"]
            nx.set_edge_attributes(G, 1, "weight")
            assert nx.bidirectional_dijkstra(G, "a", "c", backend="rhostar") == (1, ["a", "c"])
            for *_, data in G.edges(data=True):
                data["weight"] = 7
            assert nx.astar_path_length(G, "a", "c", backend="rhostar") == 7


def test_added_and_removed_nodes_and_edges_count_at_once() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 1), ("b", "c", 1)])
    links = links_of(G)
    assert links_of(G) is links
    G.add_edge("a", "c", weight=1)
    assert links_of(G) is not links
    assert nx.bidirectional_dijkstra(G, "a", "c", backend="rhostar") == (1, ["a", "c"])
    G.remove_edge("a", "c")
    assert nx.bidirectional_dijkstra(G, "a", "c", backend="rhostar") == (2, ["a", "b", "c"])
    G.remove_node("b")
    G.add_node("d")
    with pytest.raises(nx.NetworkXNoPath):
        nx.bidirectional_dijkstra(G, "a", "c", backend="rhostar")
    with pytest.raises(nx.NodeNotFound):
        nx.astar_path(G, "a", "b", backend="rhostar")


def test_a_view_follows_its_graph() -> None:
    G = nx.Graph([("a", "b"), ("b", "c"), ("a", "c")])
    shown = {("a", "b")}
    view = nx.subgraph_view(G, filter_edge=lambda u, v: (min(u, v), max(u, v)) in shown)
    assert nx.astar_path(view, "a", "b", backend="rhostar") == ["a", "b"]
    shown.clear()
    shown.add(("a", "c"))
    assert nx.astar_path(view, "a", "c", backend="rhostar") == ["a", "c"]
    back = nx.DiGraph([(0, 1)]).reverse(copy=False)
    assert nx.astar_path(back, 1, 0, backend="rhostar") == [1, 0]
    assert isinstance(_networkx_backend.should_run("astar_path", (view, "a", "b"), {}), str)
    assert _networkx_backend.should_run("astar_path", (G, "a", "b"), {}) is True


def test_nothing_is_kept_if_networkx_is_told_not_to() -> None:
    G = nx.path_graph(3)
    with nx.config(cache_converted_graphs=False):
        assert nx.astar_path(G, 0, 2, backend="rhostar") == [0, 1, 2]
        assert not is_kept(G)
    assert nx.astar_path(G, 0, 2, backend="rhostar") == [0, 1, 2]
    assert is_kept(G)


def test_priority_instead_of_a_keyword() -> None:
    G = nx.path_graph(3)
    with nx.config.backend_priority(algos=["rhostar"]):
        assert nx.astar_path(G, 0, 2) == [0, 1, 2]
        assert is_kept(G)
        nx.set_edge_attributes(G, Decimal("0.1"), "weight")  # refused by the core, so networkx does it
        assert nx.dijkstra_path_length(G, 0, 2) == Decimal("0.2")
        assert dict(nx.all_pairs_dijkstra_path_length(G))[0][2] == Decimal("0.2")
        assert nx.shortest_path(G, 0, 2) == [0, 1, 2]  # without weights: networkx's breadth-first search


def test_refusals_have_a_reason() -> None:
    G = nx.path_graph(3)
    for kwargs in ({}, {"weight": "weight", "method": "bellman-ford"}, {"weight": "weight", "source": None}):
        arguments = {"source": 0, "target": 2} | kwargs
        assert isinstance(_networkx_backend.can_run("shortest_path", (G,), arguments), str)
        with pytest.raises(NotImplementedError, match="rhostar"):
            nx.shortest_path(G, **arguments, backend="rhostar")
    assert _networkx_backend.can_run("shortest_path", (G, 0, 2, "weight"), {}) is True
    for weight in (Decimal(1), np.float32(1), np.int8(1), 2**60, "far"):
        nx.set_edge_attributes(G, weight, "weight")
        with pytest.raises(NotImplementedError) as error:
            nx.dijkstra_path(G, 0, 2, backend="rhostar")
        assert "a weight is not an int or a float" in str(error.value.__cause__)
    nx.set_edge_attributes(G, {(0, 1): 2**52 - 1, (1, 2): 2**52}, "weight")
    assert nx.dijkstra_path_length(G, 0, 2, backend="rhostar") == 2**53 - 1
    H = nx.path_graph(4)
    nx.set_edge_attributes(H, 2**52, "weight")
    with pytest.raises(NotImplementedError):  # a sum of two may have been rounded
        nx.dijkstra_path_length(H, 0, 3, backend="rhostar")
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra(H, 0, cutoff=Decimal(1), backend="rhostar")
    with pytest.raises(NotImplementedError):
        nx.astar_path(nx.path_graph(3), 0, 2, lambda u, v: "near", backend="rhostar")


@pytest.mark.parametrize("first", [2**53, 2**53 - 1, 2**52])
def test_sums_at_2_to_the_53_are_those_of_networkx(first: int) -> None:
    """2**53 + 1 is rounded to 2**53, which was a tie."""
    G = nx.DiGraph()
    rest = 2**53 - first
    edges = [("s", "a", first), ("a", "t", rest + 1), ("s", "b", first), ("b", "t", rest)]
    G.add_weighted_edges_from(edges)
    with nx.config.backend_priority(algos=["rhostar"]):
        assert nx.dijkstra_path(G, "s", "t") == ["s", "b", "t"]
        assert nx.dijkstra_path_length(G, "s", "t") == 2**53
        assert nx.astar_path(G, "s", "t") == ["s", "b", "t"]
        assert nx.astar_path(G, "s", "t", heuristic=lambda u, v: 0) == ["s", "b", "t"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_that_is_nan_is_an_error(kind: type) -> None:
    """networkx may search for ever."""
    G = kind([(0, 1, {"weight": 1}), (1, 2, {"weight": 1}), (2, 3, {"weight": math.nan})])
    for name in ("astar_path", "dijkstra_path", "bidirectional_dijkstra"):
        with pytest.raises(rs.errors.WeightError, match=r"the edge (2 -> 3|3 -> 2) is not a number: nan"):
            getattr(nx, name)(G, 0, 3, backend="rhostar")
    with pytest.raises(rs.errors.WeightError, match="the edge 2 -> 3 is not a number: nan"):
        rs.astar_path(G, 0, 3)
    with pytest.raises(rs.errors.WeightError, match="the edge 0 -> 1 is not a number: nan"):
        rs.astar_path(G, 0, 3, weight=lambda *_: math.nan)


def test_entries_that_rounding_makes_equal() -> None:
    """Orders of 1 and the square root of 2 differ in the last bit, and with a heuristic value they tie."""
    G = nx.grid_2d_graph(12, 12)
    for r, c in list(G):
        for other in ((r + 1, c + 1), (r + 1, c - 1)):
            if other in G:
                G.add_edge((r, c), other, weight=math.sqrt(2))

    def octile(u: Any, v: Any) -> float:
        dr, dc = abs(u[0] - v[0]), abs(u[1] - v[1])
        return max(dr, dc) + (math.sqrt(2) - 1) * min(dr, dc)

    rng = np.random.default_rng(3)
    for _ in range(40):
        source, target = (tuple(place) for place in rng.integers(0, 12, (2, 2)).tolist())
        for factor in (1, 1.5):
            same("astar_path", G, source, target, lambda u, v, f=factor: f * octile(u, v))


def test_what_a_function_of_the_user_raises_comes_out() -> None:
    G = nx.path_graph(5)

    def broken(*_: Any) -> float:
        raise LookupError("no such place")

    with pytest.raises(LookupError, match="no such place"):
        nx.astar_path(G, 0, 4, broken, backend="rhostar")
    with pytest.raises(LookupError, match="no such place"):
        nx.dijkstra_path(G, 0, 4, broken, backend="rhostar")
    with pytest.raises(LookupError, match="no such place"):
        nx.bidirectional_dijkstra(G, 0, 4, broken, backend="rhostar")
    assert nx.astar_path(G, 0, 4, backend="rhostar") == [0, 1, 2, 3, 4]


def test_a_heuristic_may_search_the_same_graph() -> None:
    G = nx.cycle_graph(20)

    def exact(u: int, v: int) -> float:
        return nx.dijkstra_path_length(G, u, v, backend="rhostar")

    assert nx.astar_path(G, 0, 7, exact, backend="rhostar") == list(range(8))

    # One that changes the graph gets the graph as it was when the search began, and the next call the new one.
    def growing(u: int, v: int) -> int:
        G.add_edge(u, 1000 + u)
        return 0

    assert nx.astar_path(G, 0, 7, growing, backend="rhostar") == list(range(8))
    assert nx.astar_path(G, 0, 1001, backend="rhostar") == [0, 1, 1001]


def test_a_graph_that_its_own_edges_refer_to_is_freed() -> None:
    G = nx.path_graph(50)
    G[0][1]["owner"] = G
    nx.astar_path(G, 0, 49, backend="rhostar")
    gone = weakref.ref(G)
    del G
    gc.collect()
    assert gone() is None
    H = nx.path_graph(50)
    nx.astar_path(H, 0, 49, backend="rhostar")
    gone = weakref.ref(H)
    gc.disable()
    try:
        del H
        assert gone() is None  # at once: the links do not refer to the graph
    finally:
        gc.enable()


def test_networkx_knows_the_backend() -> None:
    assert "rhostar" in nx.config.backends
    assert set(get_info()["functions"]) == set(FUNCTIONS)
    assert {
        point.value
        for group in ("networkx.backends", "networkx.backend_info")
        for point in entry_points(group=group, name="rhostar")
    } == {"rhostar.interop._networkx_backend", "rhostar.interop._networkx_info:get_info"}
    for name in FUNCTIONS:
        theirs = inspect.signature(getattr(nx, name)).parameters
        mine = inspect.signature(getattr(_networkx_backend, name)).parameters
        assert [*mine][1:] == [key for key in theirs if key not in ("G", "backend", "backend_kwargs")], name
    assert "rhostar" in nx.astar_path.__doc__
    graph = nx.path_graph(3)
    assert _networkx_backend.convert_to_nx(_networkx_backend.convert_from_nx(graph)) is graph
    assert _networkx_backend.convert_to_nx([1]) == [1]


def test_arrays_that_are_no_graph_are_rejected() -> None:
    offsets, heads = np.array([0, 1], dtype=np.int32), np.array([0], dtype=np.int32)
    _core.Links(offsets, heads, [{}], ["a"], False)
    for bad in [
        (offsets, heads + 1, [{}], ["a"]),
        (offsets, heads, [], ["a"]),
        (offsets, heads, [{}], []),
        (offsets + 1, heads, [{}], ["a"]),
        (offsets[:0], heads, [{}], ["a"]),
    ]:
        with pytest.raises(ValueError, match="do not form a graph"):
            _core.Links(*bad, False)
    links = _core.Links(offsets, heads, [{}], ["a"], False)
    assert links.astar("weight", 1, 0, None, math.inf).ending.status is _core.Status.BAD_INPUT
    assert links.astar("weight", 0, 0, np.zeros(2), math.inf).ending.status is _core.Status.BAD_INPUT
    assert links.tree("weight", [3], math.inf, False, False).ending.status is _core.Status.BAD_INPUT
