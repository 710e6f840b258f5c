"""Routes with turn costs are as cheap as any sequence of edges that brute force finds, and cost what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, EdgeError, GraphError, InputError, VertexError, WeightError
from rhostar.routing import Street, TurnRouter
from support.digraphs import random_digraph
from support.random_queries import seeds


class Case:
    """A small graph with weights and turn costs, and its distances by relaxing pairs of edges until nothing moves."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.graph = graph = random_digraph(rng, 9)
        self.edges = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
        self.weights = rng.integers(0, 6, graph.m).astype(rng.choice([np.int64, np.float64]))
        if self.weights.dtype == np.float64:
            self.weights[rng.random(graph.m) < 0.1] = np.inf
        named = [
            (a, b, c)
            for a, b in self.edges
            for b_, c in self.edges
            if b_ == b and rng.random() < rng.choice([0.2, 0.8])
        ]
        self.costs: dict[Any, float] = {
            turn: float(rng.choice([0, 1, 3, 7, np.inf], p=[0.2, 0.2, 0.2, 0.2, 0.2])) for turn in named
        }
        self.u_turns = float(rng.choice([0.0, 2.0, np.inf]))

    def turn(self, e: int, f: int) -> float:
        (a, b), (_, c) = self.edges[e], self.edges[f]
        return self.costs.get((a, b, c), 0.0) + (self.u_turns if a == c else 0.0)

    def to_ends(self, first: dict[int, float]) -> list[float]:
        """Return the cost to the end of each edge, from costs to the ends of some."""
        best = [first.get(e, np.inf) for e in range(len(self.edges))]
        moved = True
        while moved:
            moved = False
            for e, (_, b) in enumerate(self.edges):
                for f, (c, _) in enumerate(self.edges):
                    if b == c and best[e] + self.turn(e, f) + self.weights[f] < best[f]:
                        best[f], moved = float(best[e] + self.turn(e, f) + self.weights[f]), True
        return best

    def distances(self, source: int | Street) -> tuple[list[float], list[float]]:
        """Return the costs to all vertices, and to the ends of all edges."""
        if isinstance(source, Street):
            ends, at = self.to_ends({source.edge: 0.0}), self.edges[source.edge][1]
        else:
            out = {e: float(self.weights[e]) for e, (a, _) in enumerate(self.edges) if a == source}
            ends, at = self.to_ends(out), source
        vertices = [
            min((ends[e] for e, (_, b) in enumerate(self.edges) if b == v), default=np.inf) for v in range(self.graph.n)
        ]
        vertices[at] = 0.0
        return vertices, ends

    def check(self, route: rs.routing.Route, source: Any, cost: float) -> None:
        """The route is connected and costs what it says, which is the optimum."""
        assert route.cost == cost
        if cost == np.inf:
            assert route.path.size == route.edges.size == 0
            return
        last = source.edge if isinstance(source, Street) else None
        total, at = 0.0, self.edges[last][1] if last is not None else source
        assert route.path[0] == at
        for e, v in zip(route.edges.tolist(), route.path[1:].tolist(), strict=True):
            assert self.edges[e] == (at, v)
            total += self.weights[e] + (0.0 if last is None else self.turn(last, e))
            last, at = e, v
        assert total == cost


@pytest.mark.parametrize("seed", seeds(40, each=30))
def test_answers_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = Case(rng)
    graph, n = case.graph, case.graph.n
    router = TurnRouter(graph.with_turns(case.costs, u_turns=case.u_turns))
    router.update(case.weights)
    for again in range(3):
        if again == 1:
            router.prepare()
        if again == 2 and graph.m:
            some = rng.integers(0, graph.m, 3)
            fresh = rng.integers(0, 9, 3).astype(float)
            for edge, weight in zip(some.tolist(), fresh.tolist(), strict=True):
                case.weights[edge] = weight
            router.update(edges=some, weights=fresh)
        sources: list[Any] = [*range(n), *map(Street, range(graph.m))]
        exact = [case.distances(source) for source in sources]
        targets = [*range(n), *map(Street, range(graph.m))]
        assert np.array_equal(router.matrix(sources, targets), [ends + streets for ends, streets in exact])
        for source, (to_vertices, to_streets) in zip(sources, exact, strict=True):
            t = int(rng.integers(n))
            case.check(router.route(source, t), source, to_vertices[t])
            if graph.m:
                f = int(rng.integers(graph.m))
                case.check(router.route(source, Street(f)), source, to_streets[f])
            near = router.nearest(source, list(range(n)), k=n)
            assert near.costs.tolist() == sorted(cost for cost in to_vertices if cost < np.inf)
            assert [to_vertices[v] for v in near.goals] == near.costs.tolist()
            area = router.within(source, 6.0)
            assert dict(zip(area.vertices.tolist(), area.costs.tolist(), strict=True)) == {
                v: cost for v, cost in enumerate(to_vertices) if cost <= 6.0
            }
            for v, parent in zip(area.vertices.tolist(), area.parents.tolist(), strict=True):
                assert (parent, v) in case.edges or (parent == -1 and to_vertices[v] == 0.0)
        pairs = [(sources[i], int(rng.integers(n))) for i in rng.integers(0, len(sources), 5)]
        for (source, t), route in zip(pairs, router.routes(pairs), strict=True):
            case.check(route, source, case.distances(source)[0][t])


def test_without_costs_nothing_changes() -> None:
    graph = rs.datasets.city(400, seed=0).graph
    weights = np.random.default_rng(0).integers(1, 50, graph.m)
    plain, turning = rs.Router(graph), TurnRouter(graph.with_turns())
    plain.update(weights)
    turning.update(weights)
    some = np.arange(0, graph.n, 37)
    assert np.array_equal(plain.matrix(some, some), turning.matrix(some, some))


def test_a_function_of_all_turns() -> None:
    graph = rs.Graph.grid(4, 4)
    turns = graph.with_turns(lambda turns: np.where(turns.angle > 30, np.inf, 0.0))  # no left turns, no way back
    router = TurnRouter(turns)
    router.update(np.ones(graph.m))
    # x grows with the column, y with the row; so going right and then down (y grows) is a left turn
    assert router.route((0, 0), (1, 1)).path.tolist() == [0, 4, 5]
    assert router.route((1, 1), (0, 0)).path.tolist() == [5, 1, 0]
    plain = graph.with_turns(lambda turns: 0.0)
    assert plain.graph.m == turns.graph.m + int((rs.graph._turns.turns_of(graph).angle > 30).sum())


def test_weights_of_many_snapshots_and_types() -> None:
    graph = rs.Graph.grid(3, 3)
    turns = graph.with_turns({((0, 0), (0, 1), (0, 2)): 4})
    rows = np.arange(3 * graph.m).reshape(3, graph.m)
    assert turns.weights(rows).dtype == np.int64
    assert turns.weights(rows).shape == (3, turns.graph.m)
    assert turns.weights(rows.astype(np.float32)).dtype == np.float64
    assert graph.with_turns({((0, 0), (0, 1), (0, 2)): 0.5}).weights(rows).dtype == np.float64


def test_bans_that_disconnect_mean_no_path() -> None:
    graph = rs.Graph.from_edges(3, [0, 1, 1], [1, 2, 0], labels=["a", "b", "c"])
    router = TurnRouter(graph.with_turns({("a", "b", "c"): np.inf}))
    router.update([1.0, 1.0, 1.0])
    assert router.route("a", "c").cost == np.inf
    assert router.route("a", "c").path.size == 0
    assert router.route("b", "c").cost == 1.0
    assert router.route("a", "b").labels == ("a", "b")
    assert TurnRouter(rs.Graph.from_edges(2, [], []).with_turns())  # no edges at all


def test_bad_input() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2], labels=["a", "b", "c"])
    with pytest.raises(EdgeError, match=r"no turn .*'b', 'a'.* no edge 'b' -> 'a'"):
        graph.with_turns({("a", "b", "a"): 1.0})
    with pytest.raises(VertexError, match="'x'"):
        graph.with_turns({("a", "b", "x"): 1.0})
    with pytest.raises(EdgeError, match="three vertices"):
        graph.with_turns({("a", "b"): 1.0})
    with pytest.raises(WeightError, match="'a' -> 'b' -> 'c' must be at least 0 and not NaN, got -1"):
        graph.with_turns({("a", "b", "c"): -1.0})
    with pytest.raises(WeightError, match="got nan"):
        graph.with_turns(lambda turns: np.nan)
    with pytest.raises(WeightError, match="must be a number"):
        graph.with_turns({("a", "b", "c"): "much"})  # type: ignore[dict-item]
    with pytest.raises(ArrayError, match="each of 1 turns"):
        graph.with_turns(lambda turns: np.zeros(2))
    with pytest.raises(ArrayError, match="mapping"):
        graph.with_turns(5.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="u_turns"):
        graph.with_turns(u_turns=-1.0)
    with pytest.raises(GraphError, match="no coordinates"):
        graph.with_turns(lambda turns: turns.angle)
    with pytest.raises(InputError, match="TurnGraph"):
        TurnRouter(graph)  # type: ignore[arg-type]
    router = TurnRouter(graph.with_turns())
    with pytest.raises(InputError, match="no weights yet"):
        router.update(edges=[0], weights=[1.0])
    router.update([1.0, 1.0])
    with pytest.raises(WeightError, match="'b' -> 'c'"):
        router.update([1.0, -1.0])
    with pytest.raises(EdgeError):
        router.route(Street(7), "a")
    with pytest.raises(ArrayError, match=r"pairs\[1\]"):
        router.routes([("a", "b"), ("a", "b", "c")])
    assert router.route("a", "c").cost == 2.0
