"""Updates are atomic: bad ones change nothing, and threads see one set of weights whole."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, EdgeError, InputError, VertexError, WeightError

SECONDS = float(os.environ.get("RHOSTAR_STRESS_SECONDS", "2"))
"""How long the threads run; ``RHOSTAR_STRESS_SECONDS=60`` for a long test."""


def two_streets() -> rs.Router:
    return rs.Router.from_edges(
        3, [0, 0, 1, 2], [1, 1, 2, 2], labels=["a", "b", "c"], edge_labels=["low", "high", "far", "loop"]
    )


@pytest.mark.parametrize(
    ("edges", "weights", "error", "words"),
    [
        ([0, 4], [1.0, 1.0], EdgeError, r"edges\[1\].*0..3.*4"),
        ([-1], [1.0], EdgeError, r"edges\[0\]"),
        (["low", "lower"], [1.0, 1.0], EdgeError, "one of the labels is 'low'"),
        ([("a", "b")], [1.0], EdgeError, "2 edges 'a' -> 'b'.*0, 1"),
        ([("b", "a")], [1.0], EdgeError, "no edge 'b' -> 'a'"),
        ([("a", "x")], [1.0], VertexError, "'x'.*'a'"),
        (["low", "far"], [1.0, -2.0], WeightError, r"weights\[1\].*'far'.*-2"),
        (["low", "far"], [np.nan, 1.0], WeightError, r"weights\[0\].*'low'.*nan"),
        (["low"], [-3], WeightError, r"weights\[0\].*'low'.*-3"),
        (["low"], [2**60], WeightError, "2\\*\\*53"),
        (["low"], [1.0, 2.0], ArrayError, "one value for each of the 1 edge"),
        (["low"], ["x"], ArrayError, r"weights\[0\] must be a number, got 'x'"),
        (7, [1.0], ArrayError, "edges"),
        ([1.5], [1.0], EdgeError, "1.5"),
    ],
)
def test_a_bad_change_changes_nothing(edges: Any, weights: Any, error: type, words: str) -> None:
    router = two_streets()
    router.update([1.0, 2.0, 3.0, 0.0])
    before = router.snapshot
    with pytest.raises(error, match=words):
        router.update(edges=edges, weights=weights)
    assert router.snapshot is before
    assert router.route("a", "c").cost == 4.0


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1.0, 2.0, 3.0], ArrayError, "4 edges"),
        ([1.0, 2.0, 3.0, -1.0], WeightError, r"weights\[3\] \(edge 'loop'\)"),
        ([1.0, np.nan, 3.0, 1.0], WeightError, r"weights\[1\] \(edge 'high'\)"),
        (np.array(["x"] * 4), ArrayError, "float64"),
    ],
)
def test_bad_weights_change_nothing(weights: Any, error: type, words: str) -> None:
    router = two_streets()
    with pytest.raises(InputError, match="no weights yet"):
        router.snapshot  # noqa: B018
    router.update([1.0, 2.0, 3.0, 0.0])
    before = router.snapshot
    with pytest.raises(error, match=words):
        router.update(weights)
    assert router.snapshot is before


@pytest.mark.parametrize(
    "query",
    [
        lambda router: router.route("a", "c"),
        lambda router: router.routes([("a", "c")]),
        lambda router: router.matrix(["a"], ["c"]),
        lambda router: router.nearest("a", ["c"]),
        lambda router: router.nearest_source(["a"], "c"),
        lambda router: router.within("a", 1.0),
        lambda router: router.next_hops(["a"]),
        lambda router: router.explain(),
        lambda router: router.update(edges=[0], weights=[1.0]),
    ],
)
def test_queries_need_weights(query: Any) -> None:
    with pytest.raises(InputError, match="no weights yet"):
        query(two_streets())


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        (lambda router: router.route("a", "x"), VertexError, "'x'; a similar one is 'a'"),
        (lambda router: router.route(0, 3), VertexError, "target.*0..2"),
        (lambda router: router.route([], "a"), VertexError, "source"),
        (lambda router: router.routes([("a",)]), ArrayError, r"pairs\[0\]"),
        (lambda router: router.routes([("a", "c"), ("a", "x")]), VertexError, r"pairs\[1\]\[1\]"),
        (lambda router: router.matrix(["a"], ["c", "x"]), VertexError, r"targets\[1\]"),
        (lambda router: router.matrix("a", ["c"]), ArrayError, "sources"),
        (lambda router: router.nearest("a", ["b"], 0), InputError, "k must be at least 1"),
        (lambda router: router.within("a", -1.0), InputError, "max_cost"),
        (lambda router: router.within("a", np.nan), InputError, "max_cost"),
        (lambda router: router.route("a", "b", snapshot=[1.0]), InputError, "snapshot"),
        (
            lambda router: router.route("a", "b", snapshot=rs.Snapshot(rs.Graph.grid(2, 2), np.ones(8))),
            InputError,
            "another graph",
        ),
        (
            lambda router: router.route("a", "b", snapshot=rs.Snapshot(router.graph, np.ones(router.graph.m))),
            InputError,
            "not one of this router",
        ),
    ],
)
def test_bad_queries(query: Any, error: type, words: str, prepared: bool) -> None:
    router = two_streets()
    router.update([1.0, 2.0, 3.0, 0.0])
    if prepared:
        router.prepare()
    with pytest.raises(error, match=words):
        query(router)


def test_numbers_are_labels_where_labels_are_numbers() -> None:
    router = rs.Router.from_edges(3, [0, 1], [1, 2], labels=[2, 1, 0])
    router.update([1.0, 5.0])
    for _ in range(2):
        assert router.route(2, 1).cost == 1.0
        assert router.route(np.int64(1), 0).labels == (1, 0)
        assert router.matrix(np.array([2]), [0]).item() == 6.0
        router.prepare()
    with pytest.raises(VertexError, match="a label looks like 2"):
        router.route(3, 1)


@pytest.mark.parametrize("prepared", [False, True])
def test_other_integers_are_vertices_too(prepared: bool) -> None:
    router = rs.Router(rs.Graph.grid(3, 3))
    router.update(router.graph.length)
    if prepared:
        router.prepare()
    assert router.route(np.int32(0), np.int64(8)).cost == router.route((0, 0), (2, 2)).cost == 4.0
    for wrong in (1.0, -1, 9, "0", None, (3, 0)):
        with pytest.raises(VertexError):
            router.route(0, wrong)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
def test_types_of_weights(kind: type) -> None:
    router = rs.Router.from_edges(3, [0, 1], [1, 2])
    router.update(np.array([3, 4], dtype=kind))
    assert router.snapshot.weights.dtype == kind
    router.update(edges=[0], weights=[5])
    assert router.snapshot.weights.dtype == kind
    router.update(edges=[0], weights=[0.1])
    assert router.snapshot.weights.dtype == np.float64
    assert router.route(0, 2).cost == 4.1
    router.update(edges=[1, 0, 1], weights=[7.0, 1.0, 2.0])  # the last counts
    assert router.snapshot.weights.tolist() == [1.0, 2.0]
    router.update(edges=[0, 1], weights=np.inf)
    assert router.route(0, 1).cost == np.inf


def test_large_integers_are_refused() -> None:
    router = rs.Router(rs.Graph.from_edges(3, [0, 1], [1, 2]))
    router.update([2**52, 2**52 + 1])
    router.update(np.array([2**52, 2**52 + 1]))
    for _ in range(2):
        for query in (lambda: router.route(0, 2), lambda: router.matrix([0], [2]), lambda: router.routes([(0, 2)])):
            with pytest.raises(WeightError, match="2\\*\\*53"):
                query()
        assert router.route(0, 1).cost == 2**52
        assert router.route(2, 0).cost == np.inf
        router.prepare()


def test_nothing_holds_old_weights() -> None:
    """A snapshot that nobody asks for is freed at once, with what was found out about it."""
    router = rs.Router(rs.Graph.grid(5, 5))
    router.update(router.graph.length)
    router.prepare()
    old = weakref.ref(router.snapshot)
    gc.disable()
    try:
        router.update(router.graph.length)
        assert old() is None
    finally:
        gc.enable()


def test_snapshots_cannot_be_changed() -> None:
    router = rs.Router(rs.Graph.grid(2, 2))
    mine = np.ones(8)
    router.update(mine)
    mine[:] = 7
    router.update(edges=[0], weights=[2.0])
    assert router.snapshot.weights.tolist() == [2.0] + [1.0] * 7
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        router.snapshot.weights.flags.writeable = True


def test_threads_see_one_set_of_weights() -> None:
    """Each answer is checked against the weights of the snapshot that it named."""
    graph = rs.datasets.city(2000).graph
    rng = np.random.default_rng(0)
    past = [rng.uniform(1, 2, graph.m) * graph.length for _ in range(8)]
    router = rs.Router(graph)
    router.update(past[0])
    wrong: list[str] = []
    counts = [0] * 8
    stop = threading.Event()

    def ask(k: int) -> None:
        mine = np.random.default_rng(k)
        try:
            while not stop.is_set():
                s, t = mine.integers(0, graph.n, 2).tolist()
                route = router.route(s, t)
                sums = [float(row[route.edges].sum()) for row in candidates]
                if not any(abs(total - route.cost) <= 1e-9 * total for total in sums):
                    wrong.append(f"{s} -> {t}: no weights give {route.cost}")
                snapshot = router.snapshot
                named = router.route(s, t, snapshot=snapshot)
                if not np.isclose(snapshot.weights[named.edges].sum(), named.cost, rtol=1e-12):
                    wrong.append(f"{s} -> {t}: torn")
                if k == 0 and counts[0] % 20 == 0:
                    exact = rs.astar(graph, snapshot, s, t, zero).cost
                    if not np.isclose(exact, named.cost, rtol=1e-12):
                        wrong.append(f"{s} -> {t}: {named.cost} is not {exact}")
                counts[k] += 1
        except BaseException as error:
            wrong.append(repr(error))
            raise

    zero = np.zeros(graph.n)
    closed = np.arange(5)
    candidates = [*past]
    for row in past:
        candidates.append(row.copy())
        candidates[-1][closed] *= 2
    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    updates = 0
    while time.monotonic() < end or min(counts) < 5:
        row = past[updates % len(past)]
        router.update(row)
        if updates % 3 == 0:
            router.prepare()
        router.update(edges=closed, weights=2 * row[closed])
        updates += 1
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert updates > 0


def test_a_table_by_labels_is_not_taken_for_an_array() -> None:
    pandas = pytest.importorskip("pandas")
    graph = rs.Graph.from_edges(3, [2, 0, 1], [0, 1, 2], labels=["a", "b", "c"])
    router = rs.Router(graph)
    table = pandas.Series([10.0, 20.0, 30.0], index=pandas.MultiIndex.from_tuples([("c", "a"), ("a", "b"), ("b", "c")]))
    for call in (router.update, lambda weights: rs.astar(graph, weights, 0, 1, np.zeros(3))):
        with pytest.raises(rs.errors.ArrayError, match=r"its order may differ from that of the edges of the graph"):
            call(table)
    router.update(pandas.Series([20.0, 30.0, 10.0]))  # without labels, it is an array
    assert router.route("a", "b").cost == 20.0
    router.update(edges=list(table.index), weights=2 * table.to_numpy())
    assert router.route("a", "b").cost == 40.0
