"""Mean utilities along a line, against runs and sums with fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import rhostar as rs
from rhostar.lines import _means as lines
from rhostar.lines._means import exact_sums, rank_fractions
from rhostar.search import Algorithm
from support.instances import square_grid
from support.lines import LineCase, instances_and_line

EXPANSIONS = rs.utilities.Expansions(limit=50)


def most_open(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    return max(len(state.open) for state in trace.states()) + trace.g.max()


UTILITIES = [
    EXPANSIONS,
    rs.utilities.Expansions(limit=3),
    rs.utilities.Cost(limit=9.3),
    rs.utilities.Suboptimality(limit=4),
    rs.utilities.Ratio(limit=1.7),
    rs.utilities.SolvedWithin(1.2),
    rs.utilities.PeakOpen(limit=9),
    rs.utilities.Custom(30, most_open),
]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_the_mean_is_that_of_runs_everywhere(block: int) -> None:
    seen: Counter[str] = Counter()
    for i in range(100):
        rng = np.random.default_rng([3, block, i])
        instances, base, direction = instances_and_line(rng)
        algorithm = ("astar", "gbfs")[i % 2]
        options = {
            "reopen": bool(rng.random() < 0.5),
            "budget": int(rng.integers(1, 6)) if rng.random() < 0.3 else None,
        }
        utility = UTILITIES[int(rng.integers(len(UTILITIES)))]
        dual = lines.dual(base, direction, -2, 2, instances, algorithm, utility, **options)
        points = sorted(
            {
                theta
                for x in instances
                for theta in LineCase(*x, base, direction, Fraction(-2), Fraction(2), algorithm, **options).candidates()
            }
        )
        # Between two candidates nothing changes: the compiled search with exact sums says what is there.
        places = [*points, *((a + b) / 2 for a, b in pairwise(points))]
        means = {}
        for theta in places:
            if theta.denominator & (theta.denominator - 1):
                continue  # a float does not hold it
            rho = base + float(theta) * direction
            score = rs.evaluate(rho, instances, utility, algorithm=algorithm, **options)[0]
            means[theta] = score.mean
            assert dual.at(theta) == pytest.approx(score.mean, rel=1e-12, abs=1e-12)
        extreme = max if utility.better == "higher" else min
        assert dual.value == extreme(dual.mean)
        assert pytest.approx(dual.value, rel=1e-12) == extreme(dual.value, extreme(means.values()))
        assert dual.at(dual.theta) == dual.value
        assert dual.behaviours >= len(dual)
        assert (np.diff(dual.mean) != 0).all(), "neighbors differ"
        assert set(dual.intervals.cuts) <= set(points)
        seen["several"] += len(dual) > 1
        seen["point"] += any(part.low == part.high for part in dual.intervals)
        if theta_is_dyadic(dual.theta):
            rho = base + float(dual.theta) * direction
            score = rs.evaluate(rho, instances, utility, algorithm=algorithm, **options)[0]
            assert score.clipped == dual.clipped
    assert seen["several"] >= 15, seen
    assert seen["point"] >= 1, seen


def theta_is_dyadic(theta: Fraction) -> bool:
    return theta.denominator & (theta.denominator - 1) == 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
def test_no_grid_of_theta_beats_the_exact_minimizer(algorithm: str) -> None:
    rng = np.random.default_rng(8)
    graph = rs.Graph.grid(8, 8, neighbors=8)
    weights = rng.integers(1, 20, size=(6, graph.m))
    instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    base, direction = rng.integers(0, 40, 64).astype(float), rng.integers(-20, 20, 64).astype(float)
    dual = lines.dual(base, direction, 0, 4, instances, algorithm, EXPANSIONS)
    # Multiples of 2^-12 keep float sums exact, so the grid sees what is there: 16,385 values of θ.
    grid = [
        float(EXPANSIONS.clip(rs.solve_many(instances, base + k / 4096 * direction, algorithm=algorithm).expanded).mean)
        for k in range(4 * 4096 + 1)
    ]
    assert dual.value <= min(grid)
    assert [dual.at(Fraction(k, 4096)) for k in range(0, 4 * 4096 + 1, 64)] == grid[::64]
    assert len(set(grid)) > 5


def test_jobs_and_goals_make_no_difference() -> None:
    rng = np.random.default_rng(2)
    graph = rs.Graph.grid(5, 5)
    weights = rng.uniform(1, 2, size=(12, graph.m))
    instances = rs.InstanceSet(graph, weights, sources=0, goal=np.tile([24, 23], 6))
    tables = {goal: rs.heuristics.euclidean(graph, goal) for goal in (23, 24)}
    line, what = (np.zeros(25), tables, 0, 2), ("astar", EXPANSIONS)
    one, two = (lines.dual(*line, instances, *what, n_jobs=jobs) for jobs in (1, 2))
    assert one.intervals.cuts == two.intervals.cuts
    assert one.mean.tolist() == two.mean.tolist()
    parts = [lines.dual(*line, part, *what) for part in instances.by_goal().values()]
    for theta in (0, 0.7, 1, 1.9):
        assert one.at(theta) == pytest.approx(np.mean([part.at(theta) for part in parts]))
    assert one.pieces.sum() == sum(part.pieces.sum() for part in parts)


def test_higher_is_better_where_the_utility_says_so() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    instances = rs.InstanceSet(graph, graph.arrange(np.array([1.0, 2, 1, 2])), 0, 3)
    dual = lines.dual(np.zeros(4), [0.0, 1, -1, 0], -1, 1, instances, "gbfs", rs.utilities.SolvedWithin(1.0))
    assert (dual.value, [str(part) for part in dual.minimizers]) == (1.0, ["[-1, 0]"])
    assert "best 1 at theta = -0.5, exact" in repr(dual)


def test_a_custom_utility_that_is_negative_is_named() -> None:
    graph = rs.Graph.grid(3, 3)
    instances = rs.InstanceSet(graph, graph.length, [0, 1], 8)
    negative = rs.utilities.Custom(1, lambda instance, trace: float(-instance.source))
    with pytest.raises(rs.errors.UtilityError, match="instance 1 of the set"):
        lines.dual(np.zeros(9), np.arange(9.0), 0, 1, instances, "astar", negative)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"instances": 3}, "instances must be an InstanceSet"),
        ({"utility": "cost"}, "utility must be a Utility"),
        ({"algorithm": "dfs"}, "algorithm must be"),
        ({"base": np.zeros(3)}, "base must have one value"),
        ({"direction": np.full(9, np.nan)}, "direction"),
        ({"low": 3}, "low must not exceed high"),
        ({"max_pieces": 1, "low": -4}, "instance 0: there are more than max_pieces=1 pieces"),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    graph = rs.Graph.grid(3, 3)
    arguments = {"base": np.zeros(9), "direction": np.arange(9.0), "low": 0, "high": 1, "algorithm": "astar"}
    arguments |= {"instances": rs.InstanceSet(graph, graph.length, [0, 1], 8), "utility": EXPANSIONS} | changes
    with pytest.raises((rs.errors.InputError, rs.errors.LimitError), match=message):
        lines.dual(**arguments)


# ---------------------------------------------------------------- exact parts


def test_fractions_are_ranked_exactly() -> None:
    # The second and third differ by less than a float can tell.
    big = 2**61 - 1
    p, q = np.array([1, big, big - 1, 2, -1]), np.array([3, big - 1, big - 2, 6, 3])
    values, rank = rank_fractions(p, q)
    assert values == sorted({Fraction(int(a), int(b)) for a, b in zip(p, q, strict=True)})
    assert rank.tolist() == [1, 2, 3, 1, 0]


def test_sums_are_exact_whatever_the_sizes() -> None:
    values = np.array([1e-30, 0.1, 2.0**60, 0.3])
    whole, digits = exact_sums(values, 8)
    assert [Fraction(int(x), 2**digits) for x in whole] == [Fraction(v) for v in values.tolist()]
    assert exact_sums(np.array([3.0, 0.5]), 10)[0].dtype == np.int64


@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
def test_scaling_is_the_line_through_zero(algorithm: Algorithm) -> None:
    instances = square_grid(12)
    heuristic = rs.learners.MeanDistance().fit(instances)
    found = rs.lines.scaling(heuristic, instances, algorithm, EXPANSIONS, high=2)
    line = lines.dual(np.zeros(36), heuristic.rho_, 0, 2, instances, algorithm, EXPANSIONS)
    assert found.intervals.cuts == line.intervals.cuts
    assert found.mean.tolist() == line.mean.tolist()
    for theta in (0.0, 0.5, float(found.theta), 2.0):
        runs = rs.solve_many(instances, theta * heuristic.rho_, algorithm=algorithm)
        assert found.at(theta) == pytest.approx(runs.expanded.mean())
    with pytest.raises(rs.errors.InputError, match="instances must be an InstanceSet"):
        rs.lines.scaling(heuristic, None, algorithm, EXPANSIONS)  # type: ignore[arg-type]
