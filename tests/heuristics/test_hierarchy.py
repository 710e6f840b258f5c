"""Hierarchies give exact distances for every goal, on any digraph and any weights."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, HeuristicError, InputError, LimitError, ModelError, StorageError, WeightError
from rhostar.heuristics import DistanceHeuristic
from rhostar.heuristics._storage import from_parts, to_parts
from rhostar.hierarchy._order import elimination_order, require_dissectable


def all_pairs(graph: rs.Graph, weights: np.ndarray) -> np.ndarray:
    """Return distances from every vertex to every other, by the algorithm of Floyd and Warshall."""
    distance = np.full((graph.n, graph.n), np.inf)
    distance[graph.tail, graph.head] = weights
    np.fill_diagonal(distance, 0.0)
    for v in range(graph.n):
        np.minimum(distance, distance[:, v, None] + distance[None, v], out=distance)
    return distance


def random_case(rng: np.random.Generator, largest: int = 24) -> tuple[rs.Graph, np.ndarray]:
    """Draw a digraph and weights; one-way edges, zeros, ties, absent edges and separate parts are common."""
    n = int(rng.integers(1, largest + 1))
    m = int(rng.integers(0, rng.choice([2, 4, 8]) * n + 1))
    tail, head = rng.integers(0, n, (2, m))
    if rng.random() < 0.3:  # near a line, so that there are separators
        head = np.clip(tail + rng.integers(-2, 3, m), 0, n - 1)
    if rng.random() < 0.5:
        tail, head = np.r_[tail, head], np.r_[head, tail]
    coordinates = rng.integers(0, 4, (n, 2)) if rng.random() < 0.5 else None
    graph = rs.Graph.from_edges(n, tail, head, coordinates=coordinates)
    match rng.integers(5):
        case 0:
            weights = rng.uniform(0, 10, graph.m)
        case 1:
            weights = rng.integers(0, 3, graph.m).astype(float)
        case 2:
            weights = rng.choice([1.0, np.sqrt(2)], graph.m)
        case 3:
            return graph, rng.integers(0, 9, graph.m).astype(np.int32)
        case _:
            weights = rng.exponential(1, graph.m) * (rng.random(graph.m) < 0.6)
    if rng.random() < 0.4:
        weights[rng.random(graph.m) < rng.uniform(0, 0.6)] = np.inf
        weights[:1] = 1.0
    return graph, weights


@pytest.mark.parametrize("seed", range(8))
def test_values_are_the_distances_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = 0
    while pairs < 125_000:  # a million with all seeds
        graph, weights = random_case(rng)
        pairs += graph.n**2
        exact = all_pairs(graph, weights)
        double, single = (DistanceHeuristic(graph, weights, precision=precision) for precision in ("double", "single"))
        beyond = double._beyond
        expected = np.where(np.isfinite(exact), exact, beyond)
        assert (expected <= beyond * (1 + 1e-12)).all()
        whole = np.array_equal(np.where(np.isfinite(weights), weights, 0) % 1, np.zeros(graph.m))
        for goal in range(graph.n):
            rho = double.table(goal)
            cut = 0 if whole else graph.n * beyond * 2**-50  # of a path, weights are cut to multiples of a unit
            np.testing.assert_allclose(rho, expected[:, goal], rtol=0 if whole else 1e-13, atol=cut)
            rounded = single.table(goal)
            np.testing.assert_allclose(rounded, expected[:, goal], rtol=0 if whole else 1e-6, atol=cut)
            assert (rounded <= expected[:, goal] * (1 + 1e-13)).all()


def exact_pairs(graph: rs.Graph, weights: np.ndarray) -> list[list[Fraction | None]]:
    """Return distances from every vertex to every other as fractions, None where there is no path."""
    distance: list[list[Fraction | None]] = [[None] * graph.n for _ in range(graph.n)]
    for v in range(graph.n):
        distance[v][v] = Fraction(0)
    for tail, head, weight in zip(graph.tail.tolist(), graph.head.tolist(), weights.tolist(), strict=True):
        if np.isfinite(weight) and tail != head:
            distance[tail][head] = Fraction(weight)
    for via in range(graph.n):
        for v in range(graph.n):
            for t in range(graph.n):
                a, b, known = distance[v][via], distance[via][t], distance[v][t]
                if a is not None and b is not None and (known is None or a + b < known):
                    distance[v][t] = a + b
    return distance


def adversarial_case(rng: np.random.Generator) -> tuple[rs.Graph, np.ndarray]:
    """Draw a graph with a long path and weights whose sums round up."""
    n = int(rng.integers(3, 14))
    chain = rng.permutation(n)
    extra = rng.integers(0, n, (2, int(rng.integers(0, n))))
    graph = rs.Graph.from_edges(n, np.r_[chain[:-1], extra[0]], np.r_[chain[1:], extra[1]])
    match rng.integers(4):
        case 0:  # one part in 2**53 above a power of two, and all sums lie half-way
            weights = np.ldexp(
                1.0 + np.ldexp(rng.integers(0, 4, graph.m).astype(float), -52), rng.integers(0, 2, graph.m)
            )
        case 1:
            weights = np.exp(rng.uniform(-60, 60, graph.m))  # too different in size for a common unit
        case 2:
            weights = rng.choice([0.1, 0.2, 0.7, np.nextafter(0.5, 0), 1 / 3], graph.m)
        case _:
            weights = rng.choice([1e15 / 3, 0.1, 1e-9, 0.0], graph.m)
    return graph, weights


def test_no_value_is_above_the_true_distance_by_any_rounding() -> None:
    rng = np.random.default_rng(21)
    naive, rounded, exact_sums = 0, 0, 0
    for _ in range(600):
        graph, weights = adversarial_case(rng)
        exact, nearest = exact_pairs(graph, weights), all_pairs(graph, weights)
        for precision in ("double", "single"):
            potential = DistanceHeuristic(graph, weights, precision=precision)
            rounded += potential._roundings > 0
            exact_sums += potential._roundings == 0
            for goal in range(graph.n):
                rho = [Fraction(x) for x in potential.table(goal).tolist()]
                for v in range(graph.n):
                    true = exact[v][goal]
                    if true is None:
                        continue
                    assert rho[v] <= true
                    assert float(rho[v]) >= float(true) * (1 - 2e-6)
                    naive += Fraction(float(nearest[v, goal])) > true
                if precision == "double" and potential._roundings == 0:  # then it is consistent too, to the last bit
                    for tail, head, weight in zip(graph.tail, graph.head, weights.tolist(), strict=True):
                        assert rho[tail] <= Fraction(weight) + rho[head]
    assert naive > 1000, "the twin: sums rounded to nearest are above the truth"
    assert min(rounded, exact_sums) > 100


def test_the_same_order_serves_other_weights() -> None:
    rng = np.random.default_rng(11)
    for _ in range(100):
        graph, _ = random_case(rng)
        order = elimination_order(graph)
        assert sorted(order.tolist()) == list(range(graph.n))
        for potential, weights in zip(
            DistanceHeuristic.for_rows(graph, rows := rng.uniform(0, 1, (3, graph.m)), precision="double"),
            rows,
            strict=True,
        ):
            goal = int(rng.integers(graph.n))
            exact = rs.distances_to(graph, weights, goal)
            np.testing.assert_allclose(potential.table(goal), np.where(np.isfinite(exact), exact, potential._beyond))
        assert elimination_order(graph) is order


def test_searches_are_those_with_the_table() -> None:
    rng = np.random.default_rng(3)
    for _ in range(150):
        graph, weights = random_case(rng)
        potential = DistanceHeuristic(graph, weights, scale=float(rng.choice([1.0, 1.5])))
        today = rng.integers(0, 9, graph.m).astype(float)
        for _ in range(4):
            source, goal = (int(v) for v in rng.integers(0, graph.n, 2))
            table = potential.table(goal)
            for search in (rs.astar, rs.gbfs):
                found, expected = (search(graph, today, source, goal, rho) for rho in (potential, table))
                assert (found.status, found.cost, found.expanded) == (expected.status, expected.cost, expected.expanded)
                assert found.path.tolist() == expected.path.tolist()


def test_a_vertex_that_is_cut_off_under_the_weights_is_searched_all_the_same() -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 0, 2], [1, 3, 2, 3])
    usual = graph.arrange([1.0, np.inf, 5.0, 5.0])  # 1 -> 3 was always closed
    today = graph.arrange([1.0, 1.0, np.inf, 5.0])  # and is the only way today
    run = rs.astar(graph, today, 0, 3, DistanceHeuristic(graph, usual))
    assert (run.status, run.cost) == (rs.search.Status.SOLVED, 2.0)


def test_the_least_of_several_goals() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        graph, weights = random_case(rng)
        potential = DistanceHeuristic(graph, weights)
        goals = rng.integers(0, graph.n, int(rng.integers(1, 5)))
        least = np.minimum.reduce([potential.table(int(goal)) for goal in goals])
        assert (potential.table(goals) == least).all()
        assert (potential.table(int(goals[0])) == DistanceHeuristic(graph, weights).table(int(goals[0]))).all()


def test_lower_bounds_keep_the_optimum_in_single_precision_too() -> None:
    rng = np.random.default_rng(5)
    graph = rs.Graph.grid(20, 20, neighbors=8)
    lower = rng.uniform(1, 3, graph.m)
    potential = DistanceHeuristic(graph, lower, precision="single")
    weights = lower * rng.choice([1.0, 1.0, 1.3], (30, graph.m))
    instances = rs.InstanceSet(graph, weights, rng.integers(0, 200, 30), rng.integers(200, 400, 30))
    optimal = rs.solve_many(instances, np.zeros(graph.n))
    np.testing.assert_allclose(rs.solve_many(instances, potential).cost, optimal.cost, rtol=1e-14)
    too_far = rs.solve_many(instances, potential.scaled(1.5))
    assert (too_far.cost > optimal.cost * (1 + 1e-9)).any(), "the twin: no lower bounds, no optimum"
    assert (too_far.cost <= 1.5 * optimal.cost * (1 + 1e-12)).all()


def test_a_hierarchy_is_saved_as_arrays_and_checked_when_it_comes_back() -> None:
    graph = rs.Graph.grid(6, 6)
    potential = DistanceHeuristic(graph, graph.length, scale=1.25, precision="single")
    parts, facts = to_parts(potential)
    for again in (from_parts(parts, facts), pickle.loads(pickle.dumps(potential))):
        assert (again.table(7) == potential.table(7)).all()
        assert (again.fingerprint, again.scale, again.nbytes) == (graph.fingerprint, 1.25, potential.nbytes)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        name = str(rng.choice(list(parts)))
        broken = {key: part.copy() for key, part in parts.items()}
        data = broken[name].reshape(-1).view(np.uint8)
        data[rng.integers(data.size)] ^= np.uint8(1 << rng.integers(8))
        try:
            other = from_parts(broken, facts)
        except StorageError:
            refused += 1
        else:  # a wrong number, but nothing that a search could not follow
            assert np.isfinite(other.table(35)).all()
    assert refused > 150
    for change in ({"scale": -1}, {"beyond": np.inf}, {"graph": None, "scale": "x"}):
        with pytest.raises(StorageError, match="damaged"):
            from_parts(parts, facts | change)
    with pytest.raises(StorageError, match="damaged"):
        from_parts({}, facts)
    with pytest.raises(StorageError, match="do not match each other"):
        from_parts(parts | {"up": parts["up"][:-1]}, facts)
    for name in parts:
        with pytest.raises(StorageError, match="damaged"):
            from_parts(parts | {name: parts[name].astype(np.int16)}, facts)


def test_bad_input_is_refused() -> None:
    graph = rs.Graph.grid(3, 3)
    weights = np.ones(graph.m)
    for bad in (-1.0, np.nan):
        weights[5] = bad
        with pytest.raises(WeightError, match=r"weights\[5\] \(edge 2 -> 1\) must be at least 0 and not NaN"):
            DistanceHeuristic(graph, weights)
    with pytest.raises(WeightError, match="all are infinite"):
        DistanceHeuristic(graph, np.full(graph.m, np.inf))
    with pytest.raises(WeightError, match="a path costs more than the largest float64"):
        DistanceHeuristic(graph, np.full(graph.m, 1e308))
    with pytest.raises(ArrayError, match="one value for each of the 24 edges"):
        DistanceHeuristic(graph, np.ones(7))
    with pytest.raises(InputError, match="precision must be"):
        DistanceHeuristic(graph, graph.length, precision="half")
    with pytest.raises(InputError, match="scale"):
        DistanceHeuristic(graph, graph.length, scale=np.inf)
    with pytest.raises(LimitError, match="raise memory_limit, which is 100 bytes"):
        DistanceHeuristic(graph, graph.length, memory_limit=100)
    other = rs.Graph.grid(1, 9)
    with pytest.raises(ModelError, match="another graph: 9 vertices"):
        rs.astar(other, other.length, 0, 8, DistanceHeuristic(graph, graph.length))


def test_graphs_with_too_many_edges_to_count_are_refused() -> None:
    require_dissectable(2**30 - 1)
    with pytest.raises(rs.errors.LimitError, match=r"fewer than 2\*\*30 edges"):
        require_dissectable(2**30)


def delayed(graph: rs.Graph, usual: np.ndarray, today: np.ndarray, goal: int, scale: float) -> np.ndarray:
    """Return what ρ with the delay at the goal should be, by its definition."""
    rho = scale * rs.distances_to(graph, usual, goal)
    into = np.flatnonzero((graph.head == goal) & (today < np.inf))
    delay = (today[into] - scale * usual[into]).min() if into.size else 0.0
    rho += max(delay, 0.0)
    rho[goal] = 0.0
    return rho


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_delay_at_the_goal_raises_the_values_and_keeps_the_optimum(dtype: type) -> None:
    rng = np.random.default_rng(3)
    raised = 0
    for _ in range(30):
        graph = rs.Graph.grid(int(rng.integers(2, 9)), int(rng.integers(2, 9)), neighbors=8)
        usual = rng.integers(1, 9, graph.m).astype(np.float64)
        today = (usual + rng.integers(0, 9, (2, graph.m)) * (rng.random((2, graph.m)) < 0.9)).astype(dtype)
        if dtype is np.float64:
            today[rng.random(today.shape) < 0.05] = np.inf
        plain = DistanceHeuristic(graph, usual, precision="double")
        raising = DistanceHeuristic(graph, usual, precision="double", goal_delay=True)
        assert raising.uses_weights
        assert not plain.uses_weights
        kept = pickle.loads(pickle.dumps(raising))
        pairs = [(int(s), int(t)) for s, t in rng.integers(0, graph.n, (8, 2)) if s != t]
        for row in today:
            for source, goal in pairs:
                for scale in (1.0, 0.5, 2.0):
                    rho = raising.scaled(scale)
                    table = rho.table(goal, row)
                    np.testing.assert_allclose(table, delayed(graph, usual, row, goal, scale), rtol=1e-12)
                    np.testing.assert_array_equal(table, kept.scaled(scale).table(goal, row))
                    runs = [rs.astar(graph, row, source, goal, one) for one in (rho, table)]
                    assert runs[0].expanded == runs[1].expanded
                    assert runs[0].cost == runs[1].cost
                table = raising.table(goal, row)
                assert (table <= rs.distances_to(graph, row, goal)).all()  # by no rounding either
                raised += int(table.sum() > plain.table(goal).sum())
                found, optimum = (rs.astar(graph, row, source, goal, one) for one in (raising, np.zeros(graph.n)))
                assert (found.status, found.cost) == (optimum.status, optimum.cost)
        # The same in a batch, where the goal stays and the weights change.
        both = [(row, *pair) for pair in pairs for row in (0, 1)]
        rows, sources, goals = (list(column) for column in zip(*both, strict=True))
        batch = rs.InstanceSet(graph, today, sources, goals, rows=rows, infeasible="keep")
        runs = rs.solve_many(batch, raising)
        singles = [rs.astar(graph, today[row], source, goal, raising) for row, source, goal in both]
        assert runs.expanded.tolist() == [one.expanded for one in singles]
    assert raised > 50


def test_values_with_a_delay_need_the_weights() -> None:
    graph = rs.Graph.grid(3, 3)
    rho = DistanceHeuristic(graph, graph.length, goal_delay=True)
    with pytest.raises(HeuristicError, match="pass weights"):
        rho.table(8)
    assert rho.table([2, 8], 3 * graph.length)[[0, 2, 8]].tolist() == pytest.approx([4.0, 0.0, 0.0])


def test_a_delay_is_saved_and_damaged_edges_are_refused() -> None:
    graph = rs.Graph.grid(4, 4)
    rho = DistanceHeuristic(graph, graph.length, goal_delay=True)
    parts, facts = to_parts(rho)
    back = from_parts(parts, facts)
    np.testing.assert_array_equal(back.table(5, 2 * graph.length), rho.table(5, 2 * graph.length))
    for name, value in (("entering_first", 99), ("entering_edge", graph.m), ("entering_edge", -1)):
        damaged = next(key for key in parts if key.endswith(name))
        broken = parts[damaged].copy()
        broken[-1] = value
        with pytest.raises(StorageError):
            from_parts(parts | {damaged: broken}, facts)


def test_values_with_a_delay_take_weights_of_one_kind_only() -> None:
    graph = rs.Graph.grid(3, 3)
    rho = DistanceHeuristic(graph, graph.length, goal_delay=True)
    with pytest.raises(ArrayError, match="one value for each of the"):
        rho.table(8, graph.length[:-1])
    np.testing.assert_array_equal(rho.table(8, rs.Snapshot(graph, graph.length)), rho.table(8, graph.length))
