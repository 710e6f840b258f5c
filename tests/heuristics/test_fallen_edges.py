"""A few weights below the bounds must not ruin searches to any goal: work is counted, answers are compared."""

import pickle
import warnings

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import BoundsWarning
from rhostar.heuristics._below import shortfall
from rhostar.heuristics._computed import Computed


@pytest.fixture(scope="module")
def town() -> tuple[rs.Graph, np.ndarray, np.ndarray, np.ndarray]:
    """Return a city, lower bounds, today's weights, and pairs of vertices that are far apart."""
    city = rs.datasets.city(3000, seed=2)
    graph, today = city.graph, city.snapshots(1, seed=4)[0]
    pairs = np.random.default_rng(0).integers(0, graph.n, (400, 2))
    far = [rs.astar(graph, today, s, t, np.zeros(graph.n)).expanded > graph.n // 3 for s, t in pairs.tolist()]
    return graph, city.edge_bounds[0], today, pairs[far][:40]


def fallen(today: np.ndarray, lower: np.ndarray, count: int, cost: float = 0.0) -> np.ndarray:
    """Return the weights with some edges far below their bounds: those whose bounds are about the usual ones."""
    usual = np.argsort(np.abs(lower - np.median(lower)))[:count]
    weights = today.copy()
    weights[usual] = cost * lower[usual]
    return weights


def quietly(search, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundsWarning)
        return search(*arguments, **options)


@pytest.mark.parametrize("how", ["array", "new array", "snapshot", "set", "pairs", "nearest", "no reopening"])
@pytest.mark.parametrize("kind", ["hierarchy", "landmarks"])
def test_one_street_at_0_costs_little(town: tuple, how: str, kind: str) -> None:
    graph, lower, today, pairs = town
    bounds = rs.InstanceSet(graph, lower, 0, 1)
    learner = rs.learners.Potentials() if kind == "hierarchy" else rs.learners.Landmarks(16, random_state=0)
    rho = learner.fit(bounds).heuristic_
    assert isinstance(rho, Computed)
    rho = rho.with_tables({})
    zero = fallen(today, lower, 1)
    reopen = how != "no reopening"

    def run(weights: np.ndarray, heuristic: object) -> tuple[list[float], int]:
        given = rs.Snapshot(graph, weights) if how == "snapshot" else weights
        if how in ("set", "pairs"):
            shape = {"rows": np.zeros(len(pairs), dtype=int)} if how == "pairs" else {}
            rows = weights if how == "pairs" else np.stack([weights] * len(pairs))
            runs = quietly(rs.solve_many, rs.InstanceSet(graph, rows, *pairs.T, **shape), heuristic)
            return runs.cost.tolist(), int(runs.expanded.sum())
        if how == "nearest":
            search = rs.search.astar_to_nearest
            if isinstance(heuristic, np.ndarray):
                heuristic = rs.heuristics.DistanceHeuristic(graph, np.zeros(graph.m))
            each = [quietly(search, graph, given, s, [t], heuristic) for s, t in pairs.tolist()]
        elif how == "new array":
            each = [quietly(rs.astar, graph, given.copy(), s, t, heuristic) for s, t in pairs.tolist()]
        else:
            each = [quietly(rs.astar, graph, given, s, t, heuristic, reopen=reopen) for s, t in pairs.tolist()]
        return [one.cost for one in each], sum(one.expanded for one in each)

    before = run(today, rho)[1]
    best, dijkstra = run(zero, np.zeros(graph.n))
    cost, expanded = run(zero, rho)
    assert cost == pytest.approx(best, rel=1e-12)
    assert 2 * before < dijkstra, "otherwise there is nothing to lose"
    if kind == "landmarks" and not reopen:
        return  # without reopening, they must stay consistent, and one factor for all is the only way
    assert expanded < 1.3 * before


def test_many_fallen_edges_are_customized_after_the_work_of_one_search(town: tuple) -> None:
    graph, lower, today, pairs = town
    rho = rs.heuristics.DistanceHeuristic(graph, lower).with_facts(lower=lower)
    weights = fallen(today, lower, graph.m // 10, cost=0.5)
    snapshot = rs.Snapshot(graph, weights)
    best = [rs.astar(graph, weights, s, t, np.zeros(graph.n)).cost for s, t in pairs.tolist()]
    runs = [quietly(rs.astar, graph, snapshot, s, t, rho) for s, t in pairs.tolist()]
    assert [run.cost for run in runs] == pytest.approx(best, rel=1e-12)
    # As with bounds that were right from the beginning, but for the first few.
    ideal = rs.heuristics.DistanceHeuristic(graph, np.minimum(lower, weights))
    same = [rs.astar(graph, weights, s, t, ideal).expanded for s, t in pairs.tolist()]
    late = [abs(run.expanded - other) <= 0.01 * other for run, other in zip(runs, same, strict=True)]
    first = late.index(True)
    assert all(late[first:])
    assert 0 < first < 8
    assert sum(run.generated for run in runs[: first - 1]) <= graph.n
    # In a batch, at once.
    batch = rs.InstanceSet(graph, weights, *pairs.T, rows=np.zeros(len(pairs), dtype=int))
    many = quietly(rs.solve_many, batch, rho)
    np.testing.assert_allclose(many.expanded, same, rtol=0.01)


def test_what_is_lowered_never_overestimates_and_travels(town: tuple) -> None:
    graph, lower, today, pairs = town
    rng = np.random.default_rng(3)
    for _ in range(4):
        rho = rs.heuristics.DistanceHeuristic(graph, lower).with_facts(lower=lower)
        weights = fallen(today, lower, int(rng.integers(1, 20)), cost=float(rng.random()))
        weights[rng.integers(0, graph.m, 3)] = 0.0
        below = shortfall(rho, graph, weights)
        lowering = below.lowering(rho)
        assert below.lowering(rho) is lowering
        usable = [lowering.usable(rho, reopen=True), lowering.usable(rho, reopen=True, queries=9)]
        assert lowering.usable(rho, reopen=True) is usable[1], "what is there is used"
        for goal in pairs[:3, 1].tolist():
            exact = rs.distances_to(graph, np.minimum(lower, weights), goal)
            for one in (*usable, *(pickle.loads(pickle.dumps(one)) for one in usable)):
                assert (one.table(goal) <= exact * (1 + 1e-13)).all()
            np.testing.assert_allclose(usable[1].table(goal), exact, rtol=1e-5)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(usable[0])).table(goal), usable[0].table(goal))
            np.testing.assert_allclose(usable[0].scaled(0.5).table(goal), 0.5 * usable[0].table(goal))
        other = weights.copy()
        other[below.edges[0]] = lower[below.edges[0]]
        assert below.edges.size == 1 or shortfall(rho, graph, other).lowering(rho) is not lowering


def test_a_snapshot_does_not_keep_a_heuristic_alive(town: tuple) -> None:
    graph, lower, today, pairs = town
    snapshot = rs.Snapshot(graph, fallen(today, lower, 3))
    rho = rs.heuristics.DistanceHeuristic(graph, lower).with_facts(lower=lower)
    for s, t in pairs.tolist():
        quietly(rs.astar, graph, snapshot, s, t, rho)
    assert len(snapshot._known) == 1
    del rho
    assert len(snapshot._known) == 0


def test_a_model_from_a_file_lends_its_order(town: tuple, tmp_path) -> None:
    graph, lower, today, pairs = town
    learner = rs.learners.Potentials().fit(rs.InstanceSet(graph, lower, *pairs[:2].T))
    rs.Model.of(learner, graph).save(tmp_path / "model.npz")
    fresh = rs.Graph(graph.first_out, graph.head, coordinates=graph.coordinates)
    assert fresh._elimination_order is None
    weights = fallen(today, lower, 30)
    batch = rs.InstanceSet(fresh, weights, *pairs.T, rows=np.zeros(len(pairs), dtype=int))
    runs = quietly(rs.solve_many, batch, rs.Model.load(tmp_path / "model.npz"))
    np.testing.assert_allclose(runs.cost, rs.solve_many(batch, np.zeros(graph.n)).cost, rtol=1e-12)
    assert sorted(fresh._elimination_order.tolist()) == list(range(graph.n))
