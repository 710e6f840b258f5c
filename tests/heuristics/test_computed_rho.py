"""Searches that compute ρ run as with the table: potentials by coordinates and by landmarks, one goal or many."""

import pickle
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, GraphError, HeuristicError, InputError, ModelError, VertexError, WeightError
from rhostar.heuristics import Geometric, Heuristic, Landmarks

COUNTS = ("status", "cost", "expanded", "generated", "reopened", "peak_open")


def random_graph(rng: np.random.Generator, n: int) -> rs.Graph:
    m = int(rng.integers(n, 4 * n))
    coordinates = rng.integers(-9, 10, (n, 2)) if rng.random() < 0.5 else rng.uniform(-80, 80, (n, 2))
    return rs.Graph.from_edges(n, rng.integers(0, n, m), rng.integers(0, n, m), coordinates=coordinates)


def landmarks(rng: np.random.Generator, graph: rs.Graph, scale: float) -> Landmarks:
    weights = rng.uniform(0, 5, graph.m)
    weights[rng.random(graph.m) < 0.3] = np.inf
    turned = graph.reverse()
    at = rng.integers(0, graph.n, 3)
    to = [rs.distances_to(graph, weights, int(v)) for v in at]
    away = [rs.distances_to(turned.graph, weights[turned.edges], int(v)) for v in at]
    return Landmarks(graph, to, away, scale=scale)


def draw(rng: np.random.Generator, graph: rs.Graph, kind: str) -> Heuristic:
    scale = float(rng.choice([1.0, 0.3, 2.5]))
    return landmarks(rng, graph, scale) if kind == "landmarks" else Geometric(graph, kind, scale=scale)


def same(one: Any, other: Any) -> None:
    assert [getattr(one, name) for name in COUNTS] == [getattr(other, name) for name in COUNTS]
    assert one.path.tolist() == other.path.tolist()


@pytest.mark.parametrize("kind", ["euclidean", "octile", "haversine", "landmarks"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64])
def test_a_search_with_a_potential_is_the_search_with_its_table(kind: str, dtype: type) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        graph = random_graph(rng, int(rng.integers(2, 40)))
        potential = draw(rng, graph, kind)
        weights = rng.integers(0, 9, graph.m).astype(dtype)
        for _ in range(4):
            source, goal = (int(v) for v in rng.integers(0, graph.n, 2))
            table = potential.table(goal)
            reopen, budget = bool(rng.random() < 0.5), int(rng.integers(0, 60)) if rng.random() < 0.3 else None
            options = {"budget": budget, "trace": bool(rng.random() < 0.3)}
            query = (graph, weights, source, goal)
            same(rs.gbfs(*query, potential, **options), rs.gbfs(*query, table, **options))
            options["reopen"] = reopen
            found = rs.astar(*query, potential, **options)
            expected = rs.astar(*query, table, **options)
            same(found, expected)
            if found.trace is not None:
                assert len(found.trace) == len(expected.trace)


@pytest.mark.parametrize("n", [300, 30_000])  # small and large graphs have kernels of their own
@pytest.mark.parametrize("shuffled", [False, True])
def test_large_and_rearranged_graphs(n: int, shuffled: bool) -> None:
    rng = np.random.default_rng(1)
    grid = rs.Graph.grid(30, n // 30, neighbors=8)
    place = rng.permutation(grid.n) if shuffled else np.arange(grid.n)
    coordinates = np.empty_like(grid.coordinates)
    coordinates[place] = grid.coordinates
    graph = rs.Graph.from_edges(grid.n, place[grid.tail], place[grid.head], coordinates=coordinates)
    weights = rng.uniform(1, 3, (3, graph.m))
    goals = rng.integers(0, graph.n // 2, 12)
    instances = rs.InstanceSet(graph, weights, rng.integers(graph.n // 2, graph.n, 12), goals, rows=np.arange(12) % 3)
    octile = rs.heuristics.octile(graph, scale=1.5)
    tables = {int(goal): octile.table(int(goal)) for goal in goals}
    for algorithm in ("astar", "gbfs"):
        found = rs.solve_many(instances, octile, algorithm=algorithm, n_jobs=2)
        expected = rs.solve_many(instances, tables, algorithm=algorithm)
        for name in COUNTS:
            assert (getattr(found, name) == getattr(expected, name)).all()
        for i, instance in enumerate(instances):
            run = (rs.astar if algorithm == "astar" else rs.gbfs)(*instance, octile)
            assert (run.cost, run.expanded) == (expected.cost[i], expected.expanded[i])


@pytest.mark.parametrize("metric", ["euclidean", "octile", "haversine"])
def test_a_metric_equals_its_table(metric: str) -> None:
    graph = random_graph(np.random.default_rng(2), 200)
    function = getattr(rs.heuristics, metric)
    potential = function(graph, scale=0.7)
    assert isinstance(potential, Geometric)
    for goal in (0, 7, 199):
        np.testing.assert_allclose(potential.table(goal), function(graph, goal, scale=0.7), rtol=1e-13, atol=1e-9)


def test_landmarks_are_lower_bounds_and_never_infinite() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        graph = random_graph(rng, 15)
        potential = landmarks(np.random.default_rng(1), graph, 1.0)
        state = np.random.default_rng(1)
        weights = state.uniform(0, 5, graph.m)
        weights[state.random(graph.m) < 0.3] = np.inf
        for goal in range(graph.n):
            rho, exact = potential.table(goal), rs.distances_to(graph, weights, goal)
            assert np.isfinite(rho).all()
            reached = np.isfinite(exact)
            assert (rho[reached] <= exact[reached] + 1e-9).all()
            step = rho[graph.tail] - rho[graph.head]
            assert (step <= weights + 1e-9).all()  # consistent, also where there is no path


def test_the_nearest_of_several_goals_has_the_least_value() -> None:
    graph = random_graph(np.random.default_rng(2), 50)
    for kind in ("octile", "landmarks"):
        potential = draw(np.random.default_rng(3), graph, kind)
        least = np.minimum.reduce([potential.table(goal) for goal in (3, 8, 40)])
        assert (potential.table([40, 3, 8, 8]) == least).all()
    with pytest.raises(ArrayError, match="goals must name at least one vertex"):
        potential.table([])
    with pytest.raises(VertexError, match="goals"):
        potential.table([50])


def test_every_taker_of_rho_takes_a_potential() -> None:
    graph = rs.Graph.grid(6, 6, neighbors=8)
    weights = np.random.default_rng(0).uniform(1, 2, size=(9, graph.m))
    one = rs.InstanceSet(graph, weights, sources=0, goal=35)
    octile, table = rs.heuristics.octile(graph), rs.heuristics.octile(graph, 35)
    utility = rs.utilities.Expansions(limit=100.0)
    assert rs.evaluate(octile, one, utility)[0].mean == rs.evaluate(table, one, utility)[0].mean
    assert rs.certify(octile, one, utility).best.value == rs.certify(table, one, utility).best.value
    assert (
        rs.astar(*one[0], np.zeros(36), lower_bound=octile).gap
        == rs.astar(*one[0], np.zeros(36), lower_bound=table).gap
    )
    many = rs.InstanceSet(graph, weights, sources=0, goal=np.arange(20, 29))
    custom = rs.utilities.Custom(1000.0, lambda _, trace: float(len(trace)))
    scores = rs.evaluate(octile, many, [utility, custom])
    tables = {goal: rs.heuristics.octile(graph, goal) for goal in range(20, 29)}
    assert [s.mean for s in scores.scores] == [s.mean for s in rs.evaluate(tables, many, [utility, custom]).scores]


@pytest.mark.parametrize("kind", ["euclidean", "landmarks", "hierarchy", "clustered"])
def test_a_potential_as_lower_bound_gives_the_gap_of_its_table(kind: str) -> None:
    rng = np.random.default_rng(9)
    gaps = 0
    for _ in range(60):
        graph = random_graph(rng, int(rng.integers(2, 40)))
        if graph.m < 2:
            continue
        weights = rng.integers(1, 9, (3, graph.m)).astype(np.float64)
        if kind in ("hierarchy", "clustered"):
            bound: Heuristic = rs.heuristics.DistanceHeuristic(graph, weights.min(axis=0) / 2)
            if kind == "clustered":
                probes, both = np.array([0, 1]), [bound, bound.scaled(0.5)]
                bound = rs.heuristics.ChosenByWeights(both, probes, weights[:2, :2], graph.m)
        else:
            bound = draw(rng, graph, kind)
        sources, goals = rng.integers(0, graph.n, (2, 6))
        reopen, rho = bool(rng.random() < 0.5), rng.uniform(0, 30, graph.n)
        different = sources != goals
        rows = rng.integers(0, 3, int(different.sum()))
        instances = rs.InstanceSet(graph, weights, sources[different], goals[different], rows=rows, infeasible="keep")
        for values in (rho, bound):  # the bound may also be what leads the search
            many = rs.solve_many(instances, values, reopen=reopen, lower_bound=bound)
            for i, instance in enumerate(instances):
                table = bound.on(instance.weights).table(int(instance.goal))
                one = rs.astar(*instance, values, reopen=reopen, lower_bound=bound)
                expected = rs.astar(*instance, values, reopen=reopen, lower_bound=table)
                same(one, expected)
                assert one.gap == expected.gap or (one.gap != one.gap and expected.gap != expected.gap)
                assert many.bound[i] == expected.bound
                gaps += bool(np.isfinite(one.gap) and one.gap > 0)
    assert gaps > 30


def test_a_potential_can_be_scaled() -> None:
    graph = random_graph(np.random.default_rng(4), 30)
    hierarchy = rs.heuristics.DistanceHeuristic(graph, np.ones(graph.m), scale=3.0)
    both = rs.heuristics.ChosenByWeights([hierarchy, hierarchy], [0, 1], [[1.0, 1.0], [2.0, 2.0]], graph.m)
    weights = np.ones(graph.m)
    for potential in (*(draw(np.random.default_rng(1), graph, k) for k in ("octile", "landmarks")), hierarchy, both):
        half, whole = potential.scaled(0.5).on(weights), potential.on(weights)
        np.testing.assert_allclose(half.table(5), 0.5 * whole.table(5), rtol=1e-15)
        with pytest.raises(InputError, match="scale"):
            potential.scaled(-1.0)


@pytest.mark.parametrize("kind", ["haversine", "landmarks", "hierarchy"])
def test_values_are_remembered_for_the_same_goal_only(kind: str) -> None:
    graph = random_graph(np.random.default_rng(4), 30)

    def make() -> Heuristic:
        if kind == "hierarchy":
            return rs.heuristics.DistanceHeuristic(graph, np.ones(graph.m))
        return draw(np.random.default_rng(1), graph, kind)

    potential = make()
    tables = [make().table(goal) for goal in range(30)]
    for goal in [0, 1, 1, 2, 3, 4, 5, 5, 6, 0]:
        assert (potential.table(goal) == tables[goal]).all()


def test_potentials_travel_to_other_processes() -> None:
    graph = random_graph(np.random.default_rng(4), 30)
    for kind in ("haversine", "landmarks"):
        potential = draw(np.random.default_rng(1), graph, kind)
        again = pickle.loads(pickle.dumps(potential))
        assert (again.table(5) == potential.table(5)).all()
        assert again.fingerprint == graph.fingerprint
        assert repr(again) == repr(potential)


def test_bad_input_is_refused() -> None:
    graph = rs.Graph.grid(4, 4)
    octile = rs.heuristics.octile(graph)
    other = rs.Graph.grid(2, 8)
    with pytest.raises(ModelError, match="another graph: 16 vertices"):
        rs.astar(other, other.length, 0, 15, octile)
    with pytest.raises(ModelError, match="another graph"):
        rs.solve_many(rs.InstanceSet(other, other.length, 0, 15), octile)
    with pytest.raises(VertexError, match=r"goal must be a vertex in 0\.\.15, got 16"):
        rs.astar(graph, graph.length, 0, 16, octile)
    with pytest.raises(VertexError, match="goal"):
        octile.table(-1)
    with pytest.raises(GraphError, match="no coordinates"):
        rs.heuristics.euclidean(rs.Graph.from_edges(2, [0], [1]))
    with pytest.raises(GraphError, match="degrees"):
        rs.heuristics.haversine(rs.Graph.from_edges(2, [0], [1], coordinates=[(0, 0), (0, 91)]))
    with pytest.raises(InputError, match="scale must be finite"):
        rs.heuristics.octile(graph, scale=np.nan)
    with pytest.raises(InputError, match="metric must be one of"):
        Geometric(graph, "manhattan")
    with pytest.raises(ArrayError, match="a row of 16 distances"):
        Landmarks(graph, np.zeros((2, 15)), np.zeros((2, 16)))
    with pytest.raises(ArrayError, match="equal shapes"):
        Landmarks(graph, np.zeros((2, 16)), np.zeros((3, 16)))
    away = np.zeros((2, 16))
    away[1, 3] = np.nan
    with pytest.raises(WeightError, match=r"away\[1, 3\] must be at least 0 and not NaN, got nan"):
        Landmarks(graph, np.zeros((2, 16)), away)
    far = rs.Graph.from_edges(2, [0], [1], coordinates=[(-1e308, 0), (1e308, 0)])
    with pytest.raises(HeuristicError, match=r"rho\[0\] must be finite, got inf"):
        rs.astar(far, [1.0], 0, 1, rs.heuristics.euclidean(far))
    with pytest.raises(HeuristicError, match=r"instance 0: rho\[0\] must be finite, got inf"):
        rs.solve_many(rs.InstanceSet(far, [1.0], 0, 1), rs.heuristics.euclidean(far))
