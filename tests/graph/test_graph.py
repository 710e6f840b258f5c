"""Graphs: made in every way, asked, turned, cut, compared, pickled."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs

edge_lists = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 9)), max_size=40)
    )
)


@given(edge_lists)
def test_from_edges_keeps_the_cheapest_of_every_pair(given_edges) -> None:
    n, edges = given_edges
    graph = rs.Graph.from_edges(n, [e[0] for e in edges], [e[1] for e in edges])
    cheapest: dict[tuple[int, int], int] = {}
    for u, v, w in edges:
        if u != v:
            cheapest[u, v] = min(w, cheapest.get((u, v), w))
    pairs = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    assert pairs == sorted(cheapest)
    values = np.array([e[2] for e in edges], dtype=np.int64)
    assert graph.arrange(values).tolist() == [cheapest[pair] for pair in pairs]
    two = graph.arrange(np.stack([values, values + 1]))
    assert two.shape == (2, graph.m)
    assert two[1].tolist() == [cheapest[pair] + 1 for pair in pairs]


@given(edge_lists)
def test_edge_index_finds_every_edge_and_no_other(given_edges) -> None:
    n, edges = given_edges
    graph = rs.Graph.from_edges(n, [e[0] for e in edges], [e[1] for e in edges])
    assert graph.edge_index(graph.tail, graph.head).tolist() == list(range(graph.m))
    pairs = {(u, v) for u, v, _ in edges if u != v}
    every = [(u, v) for u in range(n) for v in range(n)]
    found = graph.edge_index([u for u, _ in every], [v for _, v in every], missing=-7)
    assert [f >= 0 for f in found] == [pair in pairs for pair in every]
    assert set(found[found < 0].tolist()) <= {-7}


@given(edge_lists)
def test_reverse_twice_is_the_graph_itself(given_edges) -> None:
    n, edges = given_edges
    graph = rs.Graph.from_edges(n, [e[0] for e in edges], [e[1] for e in edges])
    once = graph.reverse()
    assert np.array_equal(once.graph.tail, graph.head[once.edges])
    assert np.array_equal(once.graph.head, graph.tail[once.edges])
    twice = once.graph.reverse()
    assert twice.graph == graph
    assert once.edges[twice.edges].tolist() == list(range(graph.m))


@pytest.mark.parametrize("neighbors", [4, 8])
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (3, 1), (3, 4), (7, 7)])
def test_grid(size: tuple[int, int], neighbors: int) -> None:
    rows, columns = size
    graph = rs.Graph.grid(rows, columns, neighbors=neighbors)
    expected = []
    for r in range(rows):
        for c in range(columns):
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    steps = abs(dr) + abs(dc)
                    inside = 0 <= r + dr < rows and 0 <= c + dc < columns
                    if inside and (steps == 1 or (steps == 2 and neighbors == 8)):
                        expected.append((r * columns + c, (r + dr) * columns + c + dc, np.sqrt(steps)))
    assert [
        (int(t), int(h), float(x)) for t, h, x in zip(graph.tail, graph.head, graph.length, strict=True)
    ] == expected
    assert graph.coordinates[graph.vertex((rows - 1, columns - 1))].tolist() == [columns - 1, rows - 1]
    assert graph.shape == size
    assert rs.Graph.grid(np.uint8(20), np.uint8(20)).n == 400


def test_subgraph_keeps_order_weights_and_labels() -> None:
    graph = rs.Graph.from_edges(
        4, [0, 1, 2, 3, 1], [1, 2, 1, 0, 3], labels="abcd", coordinates=[(0, 0), (1, 0), (2, 0), (3, 0)]
    )
    part = graph.subgraph([3, 1, 2])
    assert part.vertices.tolist() == [1, 2, 3]
    assert part.graph.labels == ("b", "c", "d")
    assert part.graph.coordinates.tolist() == [[1, 0], [2, 0], [3, 0]]
    old = [(graph.labels[graph.tail[e]], graph.labels[graph.head[e]]) for e in part.edges]
    new = [(part.graph.labels[t], part.graph.labels[h]) for t, h in zip(part.graph.tail, part.graph.head, strict=True)]
    assert old == new == [("b", "c"), ("b", "d"), ("c", "b")]


def test_largest_strong_part_against_networkx(rng: np.random.Generator) -> None:
    networkx = pytest.importorskip("networkx")
    for _ in range(50):
        n = int(rng.integers(2, 25))
        graph = rs.Graph.from_edges(n, rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n))
        parts = [sorted(part) for part in networkx.strongly_connected_components(graph.to_networkx())]
        size = max(map(len, parts))
        assert graph.largest_strong_part().vertices.tolist() == min(p for p in parts if len(p) == size)


def test_only_large_graphs_in_a_scattered_order_are_rearranged_and_nobody_can_tell(rng: np.random.Generator) -> None:
    grid = rs.Graph.grid(240, 240, neighbors=8)
    assert not grid._kernel.rearranged  # row by row is good enough
    shuffle = rng.permutation(grid.n)
    arguments = (grid.n, shuffle[grid.tail], shuffle[grid.head])
    coordinates = np.empty((grid.n, 2))
    coordinates[shuffle] = grid.coordinates
    for graph in (rs.Graph.from_edges(*arguments), rs.Graph.from_edges(*arguments, coordinates=coordinates)):
        assert graph._kernel.rearranged
        weights = rng.integers(1, 4, graph.m).astype(float)  # ties abound
        rho = rng.integers(0, 9, graph.n).astype(float)
        source, goal = (int(v) for v in shuffle[[3000, 40000]])
        for reopen in (True, False):
            fast = rs.astar(graph, weights, source, goal, rho, reopen=reopen, lower_bound=np.zeros(graph.n))
            plain = rs.astar(
                graph, weights, source, goal, rho, reopen=reopen, lower_bound=np.zeros(graph.n), trace=True
            )
            assert plain.trace is not None  # a traced run keeps the user's order
            assert fast.path.tolist() == plain.path.tolist()
            assert fast[3:8] == plain[3:8]
        fast, plain = (rs.gbfs(graph, weights, source, goal, rho, trace=trace) for trace in (False, True))
        assert fast.path.tolist() == plain.path.tolist()
        assert fast[3:7] == plain[3:7]
        edge = int(graph.edge_index(fast.path[0], fast.path[1])[0])
        weights[edge] = -1
        with pytest.raises(
            rs.errors.WeightError, match=rf"weights\[{edge}\] \(edge {fast.path[0]} -> {fast.path[1]}\)"
        ):
            rs.gbfs(graph, weights, source, goal, rho)


def test_graphs_are_values() -> None:
    a = rs.Graph.from_edges(3, [0, 1], [1, 2], labels=["x", "y", "z"])
    b = rs.Graph.from_edges(3, [1, 0], [2, 1], labels=["x", "y", "z"])
    other = rs.Graph.from_edges(3, [0, 1], [1, 2])
    assert a == b
    assert hash(a) == hash(b)
    assert a != other  # labels belong to the content
    assert a.fingerprint == other.fingerprint  # the same vertices and edges
    assert a != "a graph"
    with pytest.raises(AttributeError, match="immutable"):
        a.head = None
    with pytest.raises(ValueError, match="read-only"):
        a.head[0] = 2
    with pytest.raises(ValueError, match="WRITEABLE"):  # nor can it be made writable: the core relies on it
        a.head.flags.writeable = True


def test_pickling_keeps_everything() -> None:
    graph = rs.Graph.from_edges(3, [1, 0, 0, 0], [2, 1, 1, 0], labels=["x", "y", "z"], length=[3, 2, 1, 9])
    copy = pickle.loads(pickle.dumps(graph))
    assert copy == graph
    assert (
        copy.arrange([3, 2, 1, 9]).tolist() == graph.arrange([3, 2, 1, 9]).tolist() == graph.length.tolist() == [1, 3]
    )
    assert rs.astar(copy, copy.length, 0, 2, np.zeros(3)).cost == 4.0


def test_the_arrays_given_are_not_kept() -> None:
    first_out, head = np.array([0, 1, 1], dtype=np.int32), np.array([1], dtype=np.int32)
    graph = rs.Graph(first_out, head)
    head[0] = 77  # would send a query out of bounds
    assert graph.head.tolist() == [1]


def test_labels_and_cells() -> None:
    graph = rs.Graph.from_edges(2, [0], [1], labels=[("a", 1), "b"])
    assert (graph.vertex(("a", 1)), graph.vertex("b")) == (0, 1)
    for label in ("c", None, 0, []):
        with pytest.raises(rs.errors.VertexError, match="label"):
            graph.vertex(label)
    numbered = rs.Graph.from_edges(2, [0], [1], labels=[10, 20])
    with pytest.raises(rs.errors.VertexError, match=r"no vertex has the label '20'; there is 20, of type int"):
        numbered.vertex("20")
    with pytest.raises(rs.errors.VertexError, match=r"no vertex has the label '020'; a label looks like 10"):
        numbered.vertex("020")
    grid = rs.Graph.grid(2, 3)
    assert grid.vertex((1, 0)) == 3
    for cell in ((2, 0), (0, 3), (-1, 0), "ab", 4, (1,), (0.5, 0)):
        with pytest.raises(rs.errors.VertexError):
            grid.vertex(cell)
    with pytest.raises(rs.errors.VertexError, match="no labels"):
        rs.Graph.from_edges(2, [0], [1]).vertex("a")


def test_from_scipy() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.coo_array(([3.0, 1.0, 0.0, 5.0], ([1, 0, 2, 2], [0, 2, 1, 2])), shape=(3, 3))
    for form in (matrix, matrix.tocsr(), matrix.tocsc(), sparse.csr_matrix(matrix)):
        graph = rs.Graph.from_scipy(form)
        assert list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)) == [(0, 2), (1, 0), (2, 1)]
        assert graph.arrange(form.tocoo().data).tolist() == [1.0, 3.0, 0.0]
    with pytest.raises(rs.errors.GraphError, match="square"):
        rs.Graph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(rs.errors.GraphError, match="square"):
        rs.Graph.from_scipy(np.zeros((2, 2)))


class TestNetworkx:
    networkx = pytest.importorskip("networkx")

    def test_directed_with_parallels_loops_and_positions(self) -> None:
        network = self.networkx.MultiDiGraph()
        for name, x in (("a", 0.0), ("b", 1.0), ("c", 5.0)):
            network.add_node(name, x=x, y=0.0)
        network.add_edge("b", "a", time=4, length=1)
        network.add_edge("a", "b", time=3, length=1)
        network.add_edge("a", "b", time=2, length=7)
        network.add_edge("c", "c", time=1, length=1)
        graph = rs.Graph.from_networkx(network, length="length")
        assert graph.labels == ("a", "b", "c")
        assert graph.coordinates.tolist() == [[0, 0], [1, 0], [5, 0]]
        assert graph.length.tolist() == [1, 1]
        assert graph.weights_of(network, "time").tolist() == [2, 4]

    def test_undirected_goes_both_ways(self) -> None:
        network = self.networkx.path_graph(3)
        graph = rs.Graph.from_networkx(network)
        assert graph.m == 4
        assert graph.weights_of(network, default=1).tolist() == [1, 1, 1, 1]
        assert graph.coordinates is None

    def test_a_closed_road_is_absent(self) -> None:
        network = self.networkx.cycle_graph(4, create_using=self.networkx.DiGraph)
        graph = rs.Graph.from_networkx(network)
        network.remove_edge(1, 2)
        assert graph.weights_of(network, default=2.0).tolist() == [2.0, np.inf, 2.0, 2.0]

    def test_there_and_back(self, rng: np.random.Generator) -> None:
        graph = rs.Graph.grid(3, 4, neighbors=8)
        weights = rng.uniform(1, 2, graph.m)
        network = graph.to_networkx(weights, attribute="time")
        again = rs.Graph.from_networkx(network, length="length")
        assert again.weights_of(network, "time").tolist() == weights.tolist()
        assert np.array_equal(again.coordinates, graph.coordinates)
        assert np.array_equal(again.length, graph.length)
        weights[3] = np.inf
        assert graph.to_networkx(weights).number_of_edges() == graph.m - 1

    def test_what_does_not_fit_is_named(self) -> None:
        network = self.networkx.DiGraph([("a", "b")])
        graph = rs.Graph.from_networkx(network)
        with pytest.raises(rs.errors.WeightError, match="'a' -> 'b' has no attribute 'weight'"):
            graph.weights_of(network)
        network.add_edge("b", "a", weight=1)
        with pytest.raises(rs.errors.EdgeError, match="'b' -> 'a'"):
            graph.weights_of(network, default=1)
        network.add_edge("b", "z", weight=1)
        with pytest.raises(rs.errors.VertexError, match="'z'"):
            graph.weights_of(network, default=1)
        network = self.networkx.DiGraph()
        network.add_edge("a", "b", weight="far")
        with pytest.raises(rs.errors.WeightError, match="'far'"):
            graph.weights_of(network)
        with pytest.raises(rs.errors.GraphError, match="no nodes"):
            rs.Graph.from_networkx(self.networkx.DiGraph())
        with pytest.raises(rs.errors.GraphError, match="networkx graph"):
            rs.Graph.from_networkx({"a": "b"})


def big(size: int) -> np.ndarray:
    """An array of that many zeros that takes no memory."""
    return np.broadcast_to(np.zeros(1, dtype=np.int32), (size,))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: rs.Graph.from_edges(0, [], []), rs.errors.InputError, "n must be between 1"),
        (lambda: rs.Graph.from_edges(2**31, [], []), rs.errors.InputError, "got 2147483648"),
        (lambda: rs.Graph.from_edges(2**31 - 1, [], []), rs.errors.InputError, "2147483646"),
        (lambda: rs.Graph.from_edges(2.0, [], []), rs.errors.InputError, "n must be an integer"),
        (
            lambda: rs.Graph.from_edges(2, [0, 1], [1]),
            rs.errors.ArrayError,
            "tail and head must have equal lengths, got 2 and 1",
        ),
        (lambda: rs.Graph.from_edges(2, [0, 2], [1, 0]), rs.errors.VertexError, r"tail\[1\] .* 0..1, got 2"),
        (lambda: rs.Graph.from_edges(2, [0], [-1]), rs.errors.VertexError, r"head\[0\] .* got -1"),
        (
            lambda: rs.Graph.from_edges(2, [0.0], [1]),
            rs.errors.ArrayError,
            "tail must contain integers, got dtype float64",
        ),
        (lambda: rs.Graph.from_edges(2, [[0]], [1]), rs.errors.ArrayError, "one dimension"),
        (lambda: rs.Graph.from_edges(2, [[0], [1, 0]], [1]), rs.errors.ArrayError, "ragged"),
        (lambda: rs.Graph.from_edges(2, big(2**31), [1]), rs.errors.ArrayError, r"at most 2\*\*31 - 1"),
        (lambda: rs.Graph(big(2**31), [1]), rs.errors.ArrayError, r"at most 2\*\*31 - 1"),
        (lambda: rs.Graph([0], []), rs.errors.GraphError, "at least one vertex"),
        (lambda: rs.Graph([0, 2, 1], [1]), rs.errors.GraphError, "first_out"),
        (lambda: rs.Graph([1, 1], []), rs.errors.GraphError, "first_out"),
        (lambda: rs.Graph([0, 1, 1], [2]), rs.errors.GraphError, r"head\[0\] is not a vertex: 2"),
        (lambda: rs.Graph([0, 1, 1], [0]), rs.errors.GraphError, "loop"),
        (lambda: rs.Graph([0, 2, 2, 2], [2, 1]), rs.errors.GraphError, r"head\[1\] = 1 is out of order"),
        (lambda: rs.Graph([0, 2, 2], [1, 1]), rs.errors.GraphError, "out of order"),
        (lambda: rs.Graph([0, 2**40], []), rs.errors.GraphError, r"first_out\[1\]"),
        (lambda: rs.Graph([0.5, 1], []), rs.errors.ArrayError, "first_out must be"),
        (lambda: rs.Graph.grid(0, 3), rs.errors.InputError, "rows must be at least 1"),
        (lambda: rs.Graph.grid(3, 3, neighbors=6), rs.errors.InputError, "neighbors must be 4 or 8"),
        (lambda: rs.Graph.grid(50_000, 50_000), rs.errors.GraphError, r"below 2\*\*31"),
        (lambda: rs.Graph.from_edges(2, [0], [1], labels=["a"]), rs.errors.ArrayError, "2 vertices, got 1"),
        (lambda: rs.Graph.from_edges(2, [0], [1], labels="aa"), rs.errors.GraphError, "'a' names vertices 0 and 1"),
        (lambda: rs.Graph.from_edges(2, [0], [1], coordinates=[1, 2]), rs.errors.ArrayError, r"\(2, 2\)"),
        (lambda: rs.Graph.from_edges(2, [0], [1], coordinates=[(0, 0), (0, np.nan)]), rs.errors.GraphError, r"\[1\]"),
        (lambda: rs.Graph.from_edges(2, [0], [1], length=[-1]), rs.errors.GraphError, r"length\[0\]"),
        (lambda: rs.Graph.from_edges(2, [0], [1], length=[1, 2]), rs.errors.ArrayError, r"one entry per edge \(1\)"),
        (lambda: rs.Graph([0, 0], [], shape=(2, 2)), rs.errors.GraphError, "shape"),
        (lambda: rs.Graph([0, 0], [], shape=(-1, -1)), rs.errors.GraphError, "shape"),
        (lambda: rs.Graph([0, 0], [], shape=(1.5, 1)), rs.errors.GraphError, "shape"),
        (lambda: rs.Graph([0, 0], [], shape=5), rs.errors.GraphError, "shape"),
        (lambda: rs.Graph([[0], [0, 1]], []), rs.errors.ArrayError, "first_out .* ragged"),
        (lambda: rs.Graph.from_edges(2, [0], [1], labels=5), rs.errors.ArrayError, "labels must be a sequence"),
        (lambda: rs.Graph.from_edges(2, [0], [1], labels=[[], 1]), rs.errors.GraphError, "hashable"),
        (lambda: rs.Graph.from_edges(2, [0], [1], coordinates="ab"), rs.errors.ArrayError, "coordinates must be"),
        (lambda: rs.Graph.grid(2, 2).arrange([1, 2]), rs.errors.ArrayError, r"one entry per edge \(8\)"),
        (lambda: rs.Graph.grid(2, 2).edge_index(0, 3), rs.errors.EdgeError, "no edge 0 -> 3"),
        (lambda: rs.Graph.grid(2, 2).edge_index([0], [9]), rs.errors.VertexError, r"head\[0\]"),
        (lambda: rs.Graph.grid(2, 2).edge_index([0, 1], [1]), rs.errors.ArrayError, "equal lengths, got 2 and 1"),
        (lambda: rs.Graph.grid(2, 2).subgraph([]), rs.errors.GraphError, "at least one"),
    ],
)
def test_bad_graphs_are_named(make, error, message) -> None:
    with pytest.raises(error, match=message) as caught:
        make()
    assert isinstance(caught.value, rs.errors.RhostarError)
    assert isinstance(caught.value, ValueError)


def test_pairs_instead_of_tails_and_heads_are_a_clear_error() -> None:
    pairs = [(0, 1), (1, 2)]
    with pytest.raises(rs.errors.ArrayError, match=r"head must be given.*from_edges\(n, \*zip\(\*pairs\)\)"):
        rs.Graph.from_edges(3, pairs)
    assert rs.Graph.from_edges(3, *zip(*pairs, strict=True)).m == 2
