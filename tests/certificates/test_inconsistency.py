"""Suboptimality through inconsistency: optimal paths by the fixed rule, L1, the edge-local complexity, projections."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.bounds import edge_local_complexity, edge_local_width, inconsistency_width
from rhostar.bounds._inconsistency import mean_absolute_walk
from rhostar.certificates import FullTable, Linear
from rhostar.certificates._excess import exceeding, project
from rhostar.certificates._measure import optimal_paths
from rhostar.errors import InputError, InstanceError
from support.cases import random_case

# ---------------------------------------------------------------- S*


def reference_path(graph: rs.Graph, weights: np.ndarray, source: int, goal: int) -> list[int]:
    """Fewest edges among paths of tight edges, then lexicographically smallest: all paths, layer by layer."""
    distance = rs.distances_to(graph, weights, goal)
    paths = [[source]]
    while True:
        done = [path for path in paths if path[-1] == goal]
        if done:
            return min(done)
        longer = []
        for path in paths:
            v = path[-1]
            for e in range(graph.first_out[v], graph.first_out[v + 1]):
                c = int(graph.head[e])
                tight = np.isfinite(weights[e]) and distance[c] + float(weights[e]) == distance[v]
                if tight and c not in path:
                    longer.append([*path, c])
        paths = longer


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_optimal_paths_against_the_reference(seed: int) -> None:
    case = random_case(np.random.default_rng(seed), largest=9)
    graph, weights = case.graph, case.weights
    if case.source == case.goal or not np.isfinite(rs.distances_to(graph, weights, case.goal)[case.source]):
        return
    instances = rs.InstanceSet(graph, weights, case.source, case.goal)
    found = optimal_paths(instances)
    path = reference_path(graph, weights, case.source, case.goal)
    edges = graph.edge_index(path[:-1], path[1:])
    assert found.edges.tolist() == edges[1:].tolist()
    cost = 0.0
    for e in edges:
        cost += float(weights[e])
    assert found.cost.tolist() == [cost]
    assert cost == pytest.approx(rs.astar(graph, weights, case.source, case.goal, np.zeros(graph.n)).cost, rel=1e-12)
    terms = [
        max(case.rho[v] - case.rho[c] - float(weights[e]), 0)
        for v, c, e in zip(path[1:-1], path[2:], edges[1:], strict=True)
    ]
    assert found.inconsistency(case.rho)[0] == pytest.approx(math.fsum(terms), rel=1e-9, abs=1e-12)


def test_ties_and_zeros_by_hand() -> None:
    # 0 -> 3 directly costs 2; 0 -> 2 -> 3 and 0 -> 1 -> 3 cost 2 with more edges; zeros make a circle 1 <-> 2.
    graph = rs.Graph.from_edges(5, [0, 0, 1, 1, 2, 2, 3], [1, 2, 2, 3, 1, 3, 4])
    weights = graph.arrange([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    found = optimal_paths(rs.InstanceSet(graph, weights, sources=0, goal=4))
    assert [(int(graph.tail[e]), int(graph.head[e])) for e in found.edges] == [(1, 3), (3, 4)]


def test_batches_any_order_any_number_of_jobs(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(6, 6)
    weights = rng.integers(0, 3, size=(20, graph.m))
    rows, sources = rng.integers(0, 20, 300), rng.integers(0, 34, 300)
    goals = rng.choice([34, 35], 300)
    instances = rs.InstanceSet(graph, weights, sources, goals, rows=rows)
    whole, threads = optimal_paths(instances), optimal_paths(instances, n_jobs=3)
    rho = rng.normal(0, 5, 36)
    assert (whole.inconsistency(rho) == threads.inconsistency(rho)).all()
    for i in range(0, 300, 13):
        one = optimal_paths(instances[[i]])
        assert one.cost[0] == whole.cost[i]
        assert one.edges.tolist() == whole.edges[whole.instance == i].tolist()


def test_no_path_is_refused() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    instances = rs.InstanceSet(graph, [[1.0, 1.0], [1.0, np.inf]], sources=0, goal=2, infeasible="keep")
    with pytest.raises(InstanceError, match="instance 1"):
        optimal_paths(instances)


# ---------------------------------------------------------------- L1


@pytest.mark.parametrize("reopen", [True, False])
def test_the_cost_never_exceeds_the_optimum_by_more_than_the_inconsistency(reopen: bool) -> None:
    """100,000 runs on small graphs: wild ρ, zero weights, ρ_t ≠ 0; and the bound is nearly reached."""
    rng = np.random.default_rng(3)
    n, tightest, positive = 6, 0.0, 0
    graph = rs.Graph.from_edges(n, *zip(*itertools.permutations(range(n), 2), strict=True))
    for _ in range(50):
        weights = rng.integers(0, 8, size=(1000, graph.m)) * (rng.random((1000, graph.m)) < 0.7)
        weights = np.where(rng.random(weights.shape) < 0.4, np.inf, weights.astype(float))
        instances = rs.InstanceSet(graph, weights, rng.integers(0, n - 1, 1000), n - 1, infeasible="drop")
        rho = rng.integers(-10, 11, n).astype(float)
        paths, runs = optimal_paths(instances), rs.solve_many(instances, rho, reopen=reopen)
        excess, delta = runs.cost - paths.cost, paths.inconsistency(rho)
        assert (excess <= delta).all()
        tightest = max(tightest, float((excess / np.maximum(delta, 1)).max()))
        positive += int((excess > 0).sum())
    assert positive > 1000
    assert tightest > 0.7, "a bound a third smaller would be refuted"


def test_greedy_search_has_no_such_bound() -> None:
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    instances = rs.InstanceSet(graph, graph.arrange([0.0, 9.0, 0.0]), sources=0, goal=2)
    rho = np.zeros(3)
    assert optimal_paths(instances).inconsistency(rho)[0] == 0
    assert rs.solve_many(instances, rho, algorithm="gbfs").cost[0] == 9


# ---------------------------------------------------------------- U2


def test_mean_absolute_walk_by_enumeration() -> None:
    for k in range(1, 11):
        exact = np.mean([abs(sum(signs)) for signs in itertools.product([-1, 1], repeat=k)])
        assert mean_absolute_walk(k)[k] == pytest.approx(exact)
        assert exact == k * math.comb(k - 1, (k - 1) // 2) / 2 ** (k - 1)
    walk = mean_absolute_walk(10**6)
    assert (walk**2 <= np.arange(10**6 + 1) * (1 + 1e-12)).all()
    assert walk[-1] == pytest.approx(math.sqrt(2 * 10**6 / math.pi), rel=1e-6)


def integral(weights: np.ndarray, cap: float, limit: float, N: int) -> float:
    """The same integral by small steps."""
    step = 1e-3
    tau = np.arange(weights.min() - 0.5, min(cap, weights.max() + limit) + step, step) + step / 2
    tau = tau[tau < cap]
    count = ((weights[:, None] < tau) & (tau <= weights[:, None] + limit)).sum(axis=0)
    return float(mean_absolute_walk(weights.size)[count].sum() * step / (2 * N))


@given(st.integers(0, 10**6), st.floats(0.2, 5), st.floats(0.5, 6))
@settings(max_examples=40)
def test_the_integral_against_small_steps(seed: int, limit: float, cap: float) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 4, 25)
    weights = np.round(rng.uniform(0, 4, 25), 1)  # ties, and weights above the cap
    caps = np.array([cap, cap + 1, np.inf, 2.0])
    expected = sum(integral(weights[edges == e], caps[e], limit, 10) for e in range(4) if (edges == e).any())
    assert edge_local_complexity(edges, weights, caps, 10, limit) == pytest.approx(expected, rel=0.01, abs=0.01)


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_integral_is_at_most_spread_times_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 5, 60)
    low, spread = rng.uniform(0, 3, 5), rng.uniform(0, 2, 5)
    weights = low[edges] + spread[edges] * rng.random(60)
    found = edge_local_complexity(edges, weights, low + spread, 30, 100.0)
    seen = np.bincount(edges, minlength=5)
    coarse = float((spread * mean_absolute_walk(60)[seen]).sum()) / (2 * 30)
    assert found <= coarse * (1 + 1e-12)
    # Planning knows only how many terms there can be: here at most 2 for each of 30 instances.
    deviation = 2 * 100.0 * math.sqrt(math.log(20) / 60)
    assert 2 * found <= edge_local_width(4, spread, 30, 100.0, delta=0.05) - deviation + 1e-12


def test_complexity_is_an_upper_bound_and_half_of_it_is_none() -> None:
    """Exact R̂ of small classes over all signs: ρ on a fine grid, paths of three edges, the first of them left out."""
    rng = np.random.default_rng(4)
    N, limit, ratios = 8, 1.6, []
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=N)))
    for _ in range(25):
        weights = rng.integers(0, 3, size=(N, 2)) / 2
        caps = np.array([1.0, 1.0])
        grid = np.arange(-1.0, 1.01, 0.25)  # differences ρ_v − ρ_c of the two edges are free of each other here
        classes = np.array(
            [
                np.minimum(np.maximum(a - weights[:, 0], 0) + np.maximum(b - weights[:, 1], 0), limit)
                for a, b in itertools.product(grid, repeat=2)
            ]
        )
        exact = float((classes @ signs.T).max(axis=0).mean()) / N
        found = edge_local_complexity(np.tile([0, 1], N), weights.ravel(), caps, N, limit)
        assert exact <= found + 1e-12
        ratios.append(exact / found if found else 0.0)
    assert max(ratios) > 0.6, "half of the bound would be refuted"


def test_no_terms_no_complexity() -> None:
    assert edge_local_complexity(np.array([], dtype=int), [], 1.0, 10, 1.0) == 0.0
    with pytest.raises(InputError, match=r"weights\[1\]"):
        edge_local_complexity([0, 0], [1.0, np.inf], 1.0, 10, 1.0)
    with pytest.raises(InputError, match="one length"):
        edge_local_complexity([0, 0], [1.0], 1.0, 10, 1.0)


def test_u1_width() -> None:
    assert inconsistency_width(207, 3906, 1.0) == math.inf
    assert 0.1 < inconsistency_width(207, 10**6, 1.0) < 0.5


# ---------------------------------------------------------------- projection and exact sums


@given(st.integers(0, 10**6))
@settings(max_examples=100)
def test_projection(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, 30))
    graph = rs.Graph.from_edges(n, rng.integers(0, n, m), rng.integers(0, n, m))
    rho, caps, goal = rng.normal(0, 5, n), rng.uniform(0, 3, graph.m), int(rng.integers(n))
    moved = project(graph, rho, caps, goal)
    assert moved[goal] == rho[goal]
    assert (moved <= rho).all()
    assert not exceeding(graph, moved, caps, goal).any()
    # The largest such table: by the definition, with all distances.
    distance = np.full((n, n), np.inf)
    np.fill_diagonal(distance, 0)
    for e in range(graph.m):
        if graph.tail[e] != goal:
            v, c = graph.tail[e], graph.head[e]
            distance[v, c] = min(distance[v, c], caps[e])
    for k in range(n):
        distance = np.minimum(distance, distance[:, [k]] + distance[[k], :])
    assert moved == pytest.approx((rho[None, :] + distance).min(axis=1), abs=1e-9)
    assert (project(graph, moved, caps, goal) == moved).all()


def test_snapped_values_add_exactly() -> None:
    from fractions import Fraction

    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e6):
        rho = rng.normal(0, scale, 50)
        table = FullTable().into_class(rho, 1e5).rho
        assert np.abs(table - rho).max() <= 2.0**-50 * 2 * (1e5 + 6 * scale)
        for value in table:
            for g in (0, 1, 77_777, 100_000):
                assert Fraction(g) + Fraction(float(value)) == Fraction(g + float(value))
    with pytest.raises(InputError, match="too large"):
        FullTable().into_class(np.array([1e17]), 10.0)


def test_snapped_linear_values_are_exactly_linear() -> None:
    from fractions import Fraction

    rng = np.random.default_rng(1)
    family = Linear(base=rng.normal(0, 3, 30), features=rng.normal(0, 2, (30, 3)), built_from=())
    rho = family.table([1.5, -0.3, 7.0])
    table = family.into_class(rho, 500.0).rho
    assert table == pytest.approx(rho, rel=1e-4, abs=1e-4)
    # b′ and Φ′ are the same for any ρ: differences of two heuristics lie in the span of Φ′, exactly.
    size = max(np.abs(family.base).max(), np.abs(family.features).max())
    features = np.rint(np.ldexp(family.features, 20 - math.frexp(size)[1])).astype(int)
    other = family.into_class(family.table([1.5, -0.3, 6.0]), 500.0).rho
    matrix = [[Fraction(int(x)) for x in row] for row in features]
    difference = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(table, other, strict=True)]
    assert rank([[*row, d] for row, d in zip(matrix, difference, strict=True)]) == rank(matrix) == 3
    for value in table:
        assert Fraction(500) + Fraction(float(value)) == Fraction(500.0 + float(value))


def rank(rows: list[list[object]]) -> int:
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def test_exact_sums_matter() -> None:
    """With one-decimal ρ and integer weights some runs differ from those in tenths, which are exact; snapped do not.

    Three times all weights and ρ changes no comparison, so where sums are exact it changes no run.
    """
    rng = np.random.default_rng(7)
    n, plain, snapped = 7, 0, 0
    graph = rs.Graph.from_edges(n, *zip(*itertools.permutations(range(n), 2), strict=True))
    for _ in range(40):
        weights = rng.integers(0, 4, size=(200, graph.m))
        rho = rng.integers(-20, 20, n) / 10
        table = FullTable().into_class(rho, 8.0 * 3 * n).rho  # with room for the factor 3
        in_tenths = same_runs(graph, weights, rho, 10 * weights, np.rint(10 * rho))
        plain += np.count_nonzero(~in_tenths)
        snapped += np.count_nonzero(~same_runs(graph, weights, table, 3 * weights, 3 * table))
    assert plain > 50
    assert snapped == 0


def same_runs(
    graph: rs.Graph, weights: np.ndarray, rho: np.ndarray, others: np.ndarray, other: np.ndarray
) -> np.ndarray:
    first, second = (
        rs.solve_many(rs.InstanceSet(graph, w, sources=0, goal=graph.n - 1), r)
        for w, r in ((weights, rho), (others, other))
    )
    paths = [a.tolist() == b.tolist() for a, b in zip(first.path, second.path, strict=True)]
    return np.array(paths) & (first.expanded == second.expanded)
