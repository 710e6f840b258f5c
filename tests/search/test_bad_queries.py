"""What a single query or a batch refuses, and what it takes although it looks odd."""

import time
from collections.abc import Callable

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, HeuristicError, InputError, VertexError, WeightError

GRID = rs.Graph.grid(2, 3)
ONES = np.ones(GRID.m)
ZERO = np.zeros(6)


def changed(array: np.ndarray, index: int, value: float) -> np.ndarray:
    copy = array.copy()
    copy[index] = value
    return copy


ARGUMENTS = {"graph": GRID, "weights": ONES, "source": 0, "goal": 5, "rho": ZERO}


@pytest.mark.parametrize("algorithm", [rs.astar, rs.gbfs])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"weights": changed(ONES, 0, np.nan)}, WeightError, r"weights\[0\] \(edge 0 -> 1\) .*not NaN, got nan"),
        ({"weights": changed(ONES, 1, -0.5)}, WeightError, r"weights\[1\] \(edge 0 -> 3\) .*at least 0.*got -0.5"),
        ({"weights": changed(ONES, 0, -np.inf)}, WeightError, r"got -inf"),
        ({"weights": -np.ones(GRID.m, dtype=np.int64)}, WeightError, r"weights\[0\].*got -1"),
        (
            {"weights": ONES[:-1]},
            ArrayError,
            r"weights must have one value for each of the 14 edges, got shape \(13,\)",
        ),
        ({"weights": ONES[None]}, ArrayError, r"got shape \(1, 14\)"),
        ({"weights": np.ones(28)[::2]}, ArrayError, "weights must be contiguous"),
        ({"weights": ONES.astype(np.float16)}, ArrayError, "float64, float32, int32 or int64, got float16"),
        ({"weights": ONES.astype(">f8")}, ArrayError, "got >f8"),
        ({"weights": ["a"] * 14}, ArrayError, "weights must be an array of numbers"),
        ({"weights": None}, ArrayError, "weights must be an array of numbers"),
        ({"rho": ZERO[:-1]}, ArrayError, r"rho must have one value for each of the 6 vertices, got shape \(5,\)"),
        ({"rho": changed(ZERO, 1, np.nan)}, HeuristicError, r"rho\[1\] must be finite, got nan"),
        ({"rho": changed(ZERO, 3, np.inf)}, HeuristicError, r"rho\[3\] must be finite, got inf"),
        ({"rho": changed(ZERO, 0, -np.inf)}, HeuristicError, r"rho\[0\]"),
        ({"rho": ZERO.astype(np.float32)}, ArrayError, r"rho must be a float64 array, got float32; pass rho.astype"),
        ({"rho": ZERO.astype(int)}, ArrayError, "got int64"),
        ({"rho": np.zeros(12)[::2]}, ArrayError, "rho must be contiguous"),
        ({"rho": ["x"] * 6}, ArrayError, "rho must be an array of numbers"),
        ({"rho": object()}, ArrayError, "rho must be an array of numbers"),
        ({"source": 6}, VertexError, r"source must be a vertex in 0..5, got 6"),
        ({"source": -1}, VertexError, "got -1"),
        ({"source": 2**40}, VertexError, "got 1099511627776"),
        ({"source": 2**70}, VertexError, "source must be a vertex"),
        ({"source": 0.0}, VertexError, "source must be a vertex .* got 0.0"),
        ({"goal": "5"}, VertexError, "goal must be a vertex"),
        ({"goal": None}, VertexError, "goal must be a vertex"),
        ({"graph": "grid"}, InputError, "graph must be a Graph, got str"),
        ({"budget": -1}, InputError, "budget must be at least 0, got -1"),
        ({"budget": 2.5}, InputError, "budget must be an integer, got 2.5"),
    ],
)
def test_bad_arguments_are_named(algorithm, change, error, message) -> None:
    arguments = ARGUMENTS | change
    with pytest.raises(error, match=message) as caught:
        algorithm(**arguments)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("algorithm", [rs.astar, rs.gbfs])
@pytest.mark.parametrize(
    "change",
    [
        {"weights": ONES.tolist()},
        {"weights": [1] * 14},
        {"weights": ONES.astype(np.float32)},
        {"weights": ONES.astype(np.int32)},
        {"weights": ONES.astype(np.int64)},
        {"weights": np.broadcast_to(1.0, 14).copy()},
        {"weights": changed(ONES, 0, -0.0)},
        {"rho": ZERO.tolist()},
        {"rho": [0] * 6},
        {"rho": -ZERO},
        {"rho": {5: ZERO, 4: ZERO}},
        {"rho": {np.int64(5): ZERO.tolist()}},
        {"rho": np.full(6, -1e300)},
        {"source": np.int32(0), "goal": np.uint8(5)},
        {"source": np.array(0), "goal": True + 4},
        {"budget": np.int64(50)},
        {"budget": 10**30},
        {"trace": np.bool_(True)},
    ],
)
def test_odd_arguments_that_work(algorithm, change) -> None:
    run = algorithm(**(ARGUMENTS | change))
    assert run.status == "solved"
    assert run.path[[0, -1]].tolist() == [0, 5]


def test_read_only_arrays_work_and_nothing_is_copied_or_changed() -> None:
    weights, rho = ONES.copy(), ZERO.copy()
    weights.flags.writeable = rho.flags.writeable = False
    assert rs.astar(GRID, weights, 0, 5, rho).cost == 3.0
    assert rs.distances_to(GRID, weights, 5)[0] == 3.0


def test_what_a_query_does_not_reach_it_does_not_read() -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    weights, rho = np.array([1.0, 1.0, np.nan]), np.array([0.0, 0.0, 0.0, np.nan])
    assert rs.astar(graph, weights, 0, 2, rho).cost == 2.0
    with pytest.raises(WeightError):
        rs.astar(graph, weights, 0, 3, rho)
    instances = rs.InstanceSet(graph, np.ones(3), 0, 2)
    with pytest.raises(HeuristicError, match=r"rho\[3\]"):  # a batch checks rho as a whole, once
        rs.solve_many(instances, rho)


@pytest.mark.parametrize(
    ("lower_bound", "error"),
    [
        (np.full(6, np.nan), HeuristicError),
        (np.full(6, -np.inf), HeuristicError),
        (np.zeros(5), ArrayError),
        (np.full(6, 1.0), HeuristicError),
        ({4: ZERO}, HeuristicError),
        ("abc", ArrayError),
    ],
)
def test_bad_lower_bounds(lower_bound, error) -> None:
    with pytest.raises(error, match="lower_bound"):
        rs.astar(GRID, ONES, 0, 5, ZERO, lower_bound=lower_bound)
    with pytest.raises(error, match="lower_bound"):
        rs.solve_many(rs.InstanceSet(GRID, ONES, 0, 5), ZERO, lower_bound=lower_bound)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rho": ZERO[:3]}, ArrayError, "6 vertices"),
        ({"algorithm": "dijkstra"}, InputError, "'astar' or 'gbfs', got 'dijkstra'"),
        ({"algorithm": "gbfs", "lower_bound": ZERO}, InputError, "astar"),
        ({"budget": -3}, InputError, "budget"),
        ({"instances": [1, 2]}, InputError, "InstanceSet, got list"),
    ],
)
def test_bad_batches(arguments, error, message) -> None:
    defaults = {"instances": rs.InstanceSet(GRID, ONES, [0, 1], 5), "rho": ZERO}
    with pytest.raises(error, match=message):
        rs.solve_many(**(defaults | arguments))


def test_a_weight_that_went_bad_after_construction_is_found_and_the_instance_named() -> None:
    weights = np.ones((20, GRID.m))
    instances = rs.InstanceSet(GRID, weights, 0, 5)
    weights[13] = np.nan
    weights[17] = -1  # not the first
    for jobs in (1, 2, 7):
        with pytest.raises(WeightError, match=r"instance 13: weights\[0\] \(edge 0 -> 1\)"):
            rs.solve_many(instances, ZERO, n_jobs=jobs)


def test_bad_distances() -> None:
    with pytest.raises(VertexError, match="goal"):
        rs.distances_to(GRID, ONES, 6)
    with pytest.raises(ArrayError, match="weights"):
        rs.distances_to(GRID, ONES[:3], 5)
    bad = changed(ONES, int(GRID.edge_index(2, 5)[0]), -2.0)
    with pytest.raises(WeightError, match=r"edge 2 -> 5\).*got -2.0"):
        rs.distances_to(GRID, bad, 5)


def test_costs_beyond_the_largest_float_are_refused_but_scores_may_overflow() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    with pytest.raises(WeightError, match=r"weights\[1\] \(edge 1 -> 2\) is 1.7e\+308: .*largest float64"):
        rs.astar(graph, np.array([1.7e308, 1.7e308]), 0, 2, np.zeros(3))
    run = rs.astar(graph, np.array([1e308, 1.0]), 0, 2, np.full(3, 1.7e308))
    assert (run.status, run.cost, run.path.tolist()) == ("solved", 1e308, [0, 1, 2])


def test_integers_that_float64_cannot_hold_are_refused() -> None:
    graph = rs.Graph.from_edges(2, [0], [1])
    assert rs.astar(graph, np.array([2**53 - 1]), 0, 1, np.zeros(2)).cost == 2**53 - 1
    for weight in (2**53, 2**53 + 1, 2**62):
        with pytest.raises(WeightError, match=r"below 2\*\*53"):
            rs.astar(graph, np.array([weight]), 0, 1, np.zeros(2))
        with pytest.raises(WeightError, match=r"below 2\*\*53"):
            rs.InstanceSet(graph, np.array([[weight]]), 0, 1)


@pytest.mark.parametrize("n", [4, 25_000])
def test_integer_sums_that_float64_cannot_hold_are_refused(n: int) -> None:
    """2**53 + 1 is rounded to 2**53, which would be a tie between 0 -> 1 -> 3 and 0 -> 2 -> 3."""
    half, refused = 2**52, r"costs 2\*\*53 or more, and sums of integers are no longer exact"
    graph, rho = rs.Graph.from_edges(n, [0, 0, 1, 2], [1, 2, 3, 3]), np.zeros(n)
    row = graph.arrange(np.array([half, half, half + 1, half]))
    for run in (rs.astar, rs.gbfs):
        with pytest.raises(WeightError, match=refused):
            run(graph, row, 0, 3, rho)
    with pytest.raises(WeightError, match=refused):
        rs.distances_to(graph, row, 3)
    row = graph.arrange(np.array([half, half - 1, half - 1, half - 1]))
    assert rs.astar(graph, row, 0, 3, rho).cost == 2**53 - 2
    assert rs.distances_to(graph, row, 3)[0] == 2**53 - 2


def test_sums_of_many_int32_weights_are_refused_at_2_to_the_53() -> None:
    n = 2**22 + 2
    graph = rs.Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))
    weights = np.full(n - 1, 2**31 - 1, dtype=np.int32)
    with pytest.raises(WeightError, match=r"costs 2\*\*53 or more"):
        rs.astar(graph, weights, 0, n - 1, np.zeros(n))
    with pytest.raises(WeightError, match=r"costs 2\*\*53 or more"):
        rs.distances_to(graph, weights, n - 1)


@pytest.mark.parametrize(
    ("scale", "odd"),
    [
        (1, 0.0),
        (1, 0.5),
        (2**27, 0.0),
        (2**31 - 1, 0.0),
        (1, 2.0**31),
        (1, -(2.0**31)),
        (1, -(2.0**31) - 1),
        (1, 1e300),
    ],
)
def test_integer_scores_that_leave_31_bits_midway_change_nothing(scale: int, odd: float) -> None:
    """Narrow keys are given up and wide ones taken; a run with a trace has wide ones from the start."""
    rng = np.random.default_rng(5)
    graph = rs.Graph.grid(12, 12)
    for dtype in (np.int32, np.int64):
        weights = np.minimum(rng.integers(0, 5, graph.m) * scale, 2**31 - 1).astype(dtype)
        rho = rng.integers(-5, 20, graph.n) * float(scale)
        rho[rng.integers(0, graph.n, 3)] = odd
        exact = rs.distances_to(graph, weights.astype(float), 143)
        assert rs.distances_to(graph, weights, 143).tolist() == exact.tolist()
        for algorithm in (rs.astar, rs.gbfs):
            narrow, wide = (algorithm(graph, weights, 0, 143, rho, trace=trace) for trace in (False, True))
            assert narrow.path.tolist() == wide.path.tolist()
            assert (narrow.cost, *narrow[3:7]) == (wide.cost, *wide[3:7])


def test_misaligned_arrays_are_refused() -> None:
    def misaligned(values: np.ndarray) -> np.ndarray:
        raw = np.zeros(values.nbytes + 1, dtype=np.uint8)
        raw[1:] = values.view(np.uint8)
        return raw[1:].view(values.dtype)

    assert not misaligned(ONES).flags.aligned
    with pytest.raises(ArrayError, match="weights must be contiguous and aligned"):
        rs.astar(GRID, misaligned(ONES), 0, 5, ZERO)
    with pytest.raises(ArrayError, match="rho must be contiguous and aligned"):
        rs.astar(GRID, ONES, 0, 5, misaligned(ZERO))
    with pytest.raises(ArrayError, match="rho must be contiguous and aligned"):
        rs.solve_many(rs.InstanceSet(GRID, ONES, 0, 5), misaligned(ZERO))
    instances = rs.InstanceSet(GRID, misaligned(ONES), 0, 5)  # copied once, like every other layout
    assert rs.solve_many(instances, ZERO).cost.tolist() == [3.0]


def test_a_query_costs_what_it_touches_whatever_form_rho_has() -> None:
    graph = rs.Graph.grid(1000, 1000)
    rho, near = np.zeros(graph.n), 2

    def fastest(call: Callable[[], object]) -> float:
        times = []
        for _ in range(30):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    plain = fastest(lambda: rs.astar(graph, graph.length, 0, near, rho))
    one_pass = fastest(lambda: np.isfinite(rho).all())
    for options in ({"rho": {near: rho}}, {"rho": rho, "lower_bound": rho}, {"rho": rho, "lower_bound": {near: rho}}):
        assert fastest(lambda: rs.astar(graph, graph.length, 0, near, **options)) < plain + one_pass / 2  # noqa: B023


def test_other_things_than_graphs_are_named() -> None:
    for call in (
        lambda: rs.astar("x", ONES, 0, 5, ZERO, lower_bound=ZERO),
        lambda: rs.distances_to("x", ONES, 5),
        lambda: rs.heuristics.octile("x", 5),
        lambda: rs.InstanceSet("x", ONES, 0, 5),
    ):
        with pytest.raises(InputError, match="graph must be a Graph, got str"):
            call()
    with pytest.raises(HeuristicError, match="it is empty"):
        rs.astar(GRID, ONES, 0, 5, {})


def test_runs_compare_by_identity_and_count_from_the_end() -> None:
    runs = rs.solve_many(rs.InstanceSet(GRID, ONES, [0, 0], 5), ZERO)
    assert runs[0] != runs[1]
    assert runs[-1].cost == runs[1].cost
    assert len({runs[0], runs[1]}) == 2
    with pytest.raises(IndexError):
        runs[2]
    with pytest.raises(TypeError):
        runs[0:2]
    assert [path.tolist() for path in runs.path[:1]] == [runs[0].path.tolist()]
