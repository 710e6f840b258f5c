"""The pieces of a run along a line, against runs with fractions at every place where anything could change."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.lines._intervals import Interval, Intervals
from rhostar.lines._line import exact_line, fractional_digits
from rhostar.lines._pieces import Pieces, pieces
from support.lines import LineCase, assert_same, random_line, signature_of


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_against_runs_at_every_candidate(block: int) -> None:
    seen: Counter[str] = Counter()
    for i in range(500):
        case = random_line(np.random.default_rng([11, block, i]))
        expected = assert_same(case)
        kinds = {signature[0] for _, signature in expected}
        seen.update(kinds)
        seen["several"] += len(expected) > 2
        seen["points"] += sum(interval.low == interval.high for interval, _ in expected) if len(expected) > 1 else 0
        seen["budget between"] += len(expected) > 1 and "budget" in kinds
        seen["reopened"] += any(signature[3][2] for _, signature in expected)
    # The cases are worth something only if they reach the corners.
    assert min(seen[k] for k in ("solved", "no_path", "several", "points", "budget between", "reopened")) >= 10, seen


@st.composite
def lines(draw: st.DrawFn) -> LineCase:
    n = draw(st.integers(2, 5))
    vertex, small = st.integers(0, n - 1), st.integers(-3, 3)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=12))
    graph = rs.Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])
    weight = st.one_of(st.integers(0, 4).map(float), st.just(np.inf))
    table = st.lists(small, min_size=n, max_size=n).map(lambda x: np.array(x, dtype=float))
    ends = sorted(draw(st.tuples(*2 * [st.fractions(-5, 5, max_denominator=4)])))
    return LineCase(
        graph,
        np.array(draw(st.lists(weight, min_size=graph.m, max_size=graph.m)), dtype=float),
        draw(vertex),
        draw(vertex),
        draw(table),
        draw(table),
        *ends,
        algorithm=draw(st.sampled_from(["gbfs", "astar"])),
        reopen=draw(st.booleans()),
        budget=draw(st.one_of(st.none(), st.integers(0, 6))),
    )


@settings(max_examples=150)
@given(lines())
def test_against_runs_at_every_candidate_of_small_lines(case: LineCase) -> None:
    assert_same(case)


def three_ways() -> LineCase:
    """Cost 10 for θ < 0, 2 at 0 alone, 6 for θ > 0.

    Greedy search chooses among children of values 0, θ and −θ. The first loses on both sides, but at 0 all tie and
    it has the smallest index.
    """
    graph = rs.Graph.from_edges(5, [0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4])
    weights = graph.arrange(np.array([1.0, 5.0, 3.0, 1.0, 5.0, 3.0]))
    direction = np.array([0.0, 0.0, 1.0, -1.0, 0.0])
    return LineCase(graph, weights, 0, 4, np.zeros(5), direction, Fraction(-1), Fraction(1), "gbfs")


def test_a_single_point_can_be_a_piece() -> None:
    case = three_ways()
    found = case.pieces()
    assert [(str(piece.interval), piece.run.cost) for piece in found] == [
        ("[-1, 0)", 10.0),
        ("{0}", 2.0),
        ("(0, 1]", 6.0),
    ]
    assert found.breakpoints == (0,)
    assert found.at(0).run.path.tolist() == [0, 1, 4]
    assert found.at(1e-300).run.cost == 6.0
    assert found.trace(1).selected.tolist() == [0, 1]
    assert_same(case)


def test_ties_close_the_end_of_the_smaller_vertex() -> None:
    # Vertex 1 costs 1 + θ, vertex 2 costs 2: equal at θ = 1, where 1 is selected first.
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    weights = graph.arrange(np.array([1.0, 2.0, 1.0, 1.0]))
    found = pieces(graph, weights, 0, 3, np.array([0.0, 0, 0, 9]), np.array([0.0, 1, 0, 0]), 0, 3)
    assert [str(piece.interval) for piece in found] == ["[0, 1]", "(1, 3]"]
    turned = pieces(graph, weights[[1, 0, 2, 3]], 0, 3, np.array([0.0, 0, 0, 9]), np.array([0.0, 0, 1, 0]), 0, 3)
    assert [str(piece.interval) for piece in turned] == ["[0, 1)", "[1, 3]"]


@pytest.mark.parametrize("direction", [np.zeros(9), np.ones(9)])
def test_a_constant_direction_has_one_piece(direction: np.ndarray) -> None:
    graph = rs.Graph.grid(3, 3)
    found = pieces(graph, graph.length, 0, 8, np.zeros(9), direction, -5, 5)
    assert len(found) == 1
    assert found[0].interval == Interval(Fraction(-5), Fraction(5), True, True)
    assert found[0].run.expanded == rs.astar(graph, graph.length, 0, 8, np.zeros(9)).expanded


def test_a_range_of_one_point() -> None:
    case = three_ways()
    case.low = case.high = Fraction(0)
    assert [(str(piece.interval), piece.run.cost) for piece in case.pieces()] == [("{0}", 2.0)]


def test_budget_and_the_goal_that_comes_just_in_time() -> None:
    # 0 -> 1 -> 2 -> 3 and 0 -> 3; with one expansion it is solved only where the goal's score is the least.
    graph = rs.Graph.from_edges(4, [0, 0, 0, 1, 2], [1, 2, 3, 3, 3])
    weights = graph.arrange(np.array([1.0, 1.0, 5.0, 1.0, 1.0]))
    direction = np.array([0.0, 2.0, 3.0, 0.0])
    found = pieces(graph, weights, 0, 3, np.zeros(4), direction, -10, 10, budget=1)
    # The selection changes from vertex 2 to 1 at θ = 0, but neither is expanded any more: one piece.
    assert [(str(piece.interval), str(piece.run.status)) for piece in found] == [
        ("[-10, 2]", "budget"),
        ("(2, 10]", "solved"),
    ]
    nothing = pieces(graph, weights, 0, 3, np.zeros(4), direction, -10, 10, budget=0)
    assert [str(piece.run.status) for piece in nothing] == ["budget"]


def test_no_path_is_an_outcome() -> None:
    graph = rs.Graph.from_edges(4, [0, 0], [1, 2])
    found = pieces(graph, np.array([1.0, 1.0]), 0, 3, np.zeros(4), np.array([0.0, 1, -1, 0]), -1, 1)
    assert [(str(piece.interval), str(piece.run.status)) for piece in found] == [
        ("[-1, 0]", "no_path"),
        ("(0, 1]", "no_path"),
    ]
    assert found.runs.cost.tolist() == [np.inf, np.inf]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64])
def test_every_piece_of_a_grid_is_confirmed_inside_and_just_beyond(algorithm: str, dtype: type) -> None:
    rng = np.random.default_rng(4)
    graph = rs.Graph.grid(7, 7, neighbors=8)
    weights = rng.integers(1, 30, graph.m).astype(dtype)
    base, direction = rng.integers(0, 60, graph.n).astype(float), rng.integers(-32, 32, graph.n) / 8
    high = Fraction(1 if algorithm == "astar" else 40)
    case = LineCase(graph, weights, 0, 48, base, direction, Fraction(0), high, algorithm)
    found = case.pieces()
    assert len(found) > 5
    assert found.snap.exact
    for i, piece in enumerate(found):
        assert_run(piece.run, case, piece.interval.inside)
        middle = signature_of(case.run(piece.interval.inside))
        for end, closed in (piece.interval[0::2], piece.interval[1::2]):
            assert (signature_of(case.run(end)) == middle) == closed, (i, end)
        if i:
            beyond = found[i - 1].interval.inside
            assert signature_of(case.run(beyond)) != middle
        # The compiled search agrees: integers and short dyadic numbers add up exactly.
        theta = float(piece.interval.inside)
        options = {} if algorithm == "gbfs" else {"reopen": True}
        run = getattr(rs, algorithm)(graph, weights, 0, 48, base + theta * direction, **options)
        if Fraction(theta).denominator < 2**30:
            assert (run.cost, run.expanded) == (piece.run.cost, piece.run.expanded)
            assert run.path.tolist() == piece.run.path.tolist()


def assert_run(run: rs.Run, case: LineCase, theta: Fraction) -> None:
    expected = case.run(theta)
    assert (str(run.status), run.cost, run.path.tolist()) == (expected.status, float(expected.cost), expected.path)
    counts = ("expanded", "generated", "reopened", "peak_open")
    assert [getattr(run, name) for name in counts] == [getattr(expected, name) for name in counts]


def test_the_order_of_records_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(6, 6)
    weights = rng.integers(1, 9, graph.m)
    line = (np.zeros(36), rng.integers(0, 9, 36).astype(float), 0, 2)
    before = pieces(graph, weights, 0, 35, *line)
    assert graph._kernel.rearrange(rng.uniform(size=(36, 2)), -np.inf)
    after = pieces(graph, weights, 0, 35, *line)
    assert before.breakpoints == after.breakpoints
    assert before.runs.expanded.tolist() == after.runs.expanded.tolist()


# ---------------------------------------------------------------- exact numbers


def test_wide_numbers_are_compared_exactly() -> None:
    # Scores of 2^60 units and slopes of 2^60: products of 2^120 that no float could tell apart.
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    base = np.array([0.0, 2.0**60, 2.0**60 + 2**20, 0.0])
    direction = np.array([0.0, 2.0**60 + 2**10, 2.0**60, 0.0])
    case = LineCase(graph, np.ones(4), 0, 3, base, direction, Fraction(0), Fraction(2048), "gbfs")
    assert case.pieces().breakpoints == (Fraction(2**20, 2**10),)
    assert_same(case)


def test_what_does_not_fit_is_rounded_and_said() -> None:
    graph = rs.Graph.grid(5, 5)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, graph.m) + rng.uniform(0, 1e-12, graph.m)
    weights[0] = 1e-12
    found = pieces(graph, weights, 0, 24, np.zeros(25), rng.uniform(0, 1, 25), 0, 0.1)
    assert not found.snap.exact
    assert 0 < found.snap.weights < 1e-16
    assert "rounded: weights by up to" in repr(found)
    assert pieces(graph, np.ones(graph.m), 0, 24, np.zeros(25), np.arange(25.0), 0, 0.1).snap.exact
    # Greedy search compares no costs, so weights need not fit.
    assert pieces(graph, weights, 0, 24, np.zeros(25), np.arange(25.0), 0, 1, algorithm="gbfs").snap.exact


def test_fractional_digits() -> None:
    assert fractional_digits(np.array([0.0, -4.0, 2.0**60])) == 0
    assert fractional_digits(np.array([0.5, 3.0])) == 1
    assert fractional_digits(np.array([-0.1])) == 55
    assert fractional_digits(np.array([5e-324])) == 1074


def test_ends_with_too_many_digits_are_refused() -> None:
    tables = [np.arange(4) / 3]
    with pytest.raises(rs.errors.InputError, match=r"low = 1e-40 has too many digits.*such as"):
        exact_line(tables, tables, Fraction(1e-40), Fraction(1), [])
    exact_line(tables, tables, Fraction(1, 3), Fraction(1), [])


# ---------------------------------------------------------------- intervals


@given(st.fractions(), st.fractions(min_value=Fraction(1, 10**12)))
def test_inside_lies_inside(low: Fraction, width: Fraction) -> None:
    interval = Interval(low, low + width, False, False)
    inside = interval.inside
    assert inside in interval
    assert abs(inside - (interval.low + interval.high) / 2) <= width / 8
    assert interval.low not in interval
    assert interval.high not in interval


def test_index_finds_the_interval() -> None:
    half = Fraction(1, 2)
    parts = Intervals(Fraction(0), Fraction(1), (half, half), (False, True))
    assert [parts.index(theta) for theta in (0, 0.25, 0.5, Fraction(2, 3), 1)] == [0, 0, 1, 2, 2]
    assert parts.edges.tolist() == [0.0, 0.5, 0.5, 1.0]
    with pytest.raises(rs.errors.InputError, match="theta must be between 0 and 1"):
        parts.index(2)
    for theta in (0, 0.25, 0.5, 0.75, 1):
        assert [theta in part for part in parts].index(True) == parts.index(theta)


# ---------------------------------------------------------------- bad input


GRID = rs.Graph.grid(3, 3)


def call(**changes: object) -> Pieces:
    arguments: dict[str, object] = {
        "graph": GRID,
        "weights": GRID.length,
        "source": 0,
        "goal": 8,
        "base": np.zeros(9),
        "direction": np.arange(9.0),
        "low": 0,
        "high": 1,
    }
    return pieces(**{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"graph": 3}, rs.errors.InputError, "graph must be a Graph"),
        ({"weights": np.ones(5)}, rs.errors.ArrayError, "weights must have one value"),
        ({"weights": np.full(GRID.m, np.nan)}, rs.errors.WeightError, "not NaN"),
        ({"weights": -GRID.length}, rs.errors.WeightError, "at least 0"),
        ({"source": 9}, rs.errors.VertexError, "source must be a vertex"),
        ({"base": np.zeros(8)}, rs.errors.ArrayError, "base must have one value"),
        ({"base": np.full(9, np.inf)}, rs.errors.HeuristicError, r"base\[0\] must be finite"),
        ({"direction": np.full(9, np.nan)}, rs.errors.HeuristicError, r"direction\[0\] must be finite"),
        ({"direction": {3: np.zeros(9)}}, rs.errors.HeuristicError, "direction has no values for goal 8"),
        ({"low": 2}, rs.errors.InputError, "low must not exceed high"),
        ({"low": np.nan}, rs.errors.InputError, "low must be a finite number"),
        ({"high": np.inf}, rs.errors.InputError, "high must be a finite number"),
        ({"high": "1"}, rs.errors.InputError, "high must be a finite number"),
        ({"algorithm": "bfs"}, rs.errors.InputError, "algorithm must be"),
        ({"budget": -1}, rs.errors.InputError, "budget must be at least 0"),
        ({"max_pieces": 0}, rs.errors.InputError, "max_pieces must be between"),
        (
            {"max_pieces": 1, "low": -3},
            rs.errors.LimitError,
            r"more than max_pieces=1 pieces: they reach from -3 to .* of 1",
        ),
    ],
)
def test_bad_input(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(**changes)


def test_a_mapping_of_goals_is_taken() -> None:
    one = call(low=-3)
    other = call(low=-3, base={8: np.zeros(9)}, direction={8: np.arange(9.0), 2: np.zeros(9)})
    assert one.breakpoints == other.breakpoints
    assert len(one[:2]) == 2
    assert one[-1].interval.high == 1
