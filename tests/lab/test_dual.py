"""Mean utilities and the mean inconsistency along a line, against runs and sums with fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.lines._means import exact_sums, rank_fractions
from support.lines import LineCase
from support.paths import optimal_path

EXPANSIONS = rs.utilities.Expansions(limit=50)


def most_open(instance: rs.Instance, trace: rs.Trace) -> float:
    return max(len(trace.open_at(i)) for i in range(len(trace) + 1)) + trace.g.max()


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


def instances_and_line(rng: np.random.Generator) -> tuple[rs.InstanceSet, np.ndarray, np.ndarray]:
    n = int(rng.integers(4, 7))
    pairs = rng.integers(0, n, (3 * n, 2))
    star = np.column_stack([np.zeros(n - 2, int), np.arange(1, n - 1)])
    pairs = np.vstack([pairs[pairs[:, 1] != n - 1], [n - 2, n - 1], star])
    graph = rs.Graph.from_edges(n, pairs[:, 0], pairs[:, 1])
    weights = rng.integers(0, 6, (3, graph.m)).astype(float)
    instances = rs.InstanceSet(
        graph, weights, [0, *rng.integers(0, 2, 4)], n - 1, rows=rng.integers(0, 3, 5), infeasible="keep"
    )
    return instances, rng.integers(-3, 4, n).astype(float), rng.integers(-3, 4, n) / 2


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
        dual = rs.lab.dual(instances, base, direction, -2, 2, algorithm, utility, **options)
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
            score = rs.evaluate(instances, rho, utility, algorithm=algorithm, **options)[0]
            means[theta] = score.mean
            assert dual.at(theta) == pytest.approx(score.mean, rel=1e-12, abs=1e-12)
        extreme = max if utility.better == "higher" else min
        assert dual.value == extreme(dual.mean)
        assert pytest.approx(dual.value, rel=1e-12) == extreme(dual.value, extreme(means.values()))
        assert dual.at(dual.theta) == dual.value
        assert dual.behaviours >= len(dual)
        assert (np.diff(dual.mean) != 0).all(), "neighbours differ"
        assert set(dual.intervals.cuts) <= set(points)
        seen["several"] += len(dual) > 1
        seen["point"] += any(part.low == part.high for part in dual.intervals)
        if theta_is_dyadic(dual.theta):
            rho = base + float(dual.theta) * direction
            score = rs.evaluate(instances, rho, utility, algorithm=algorithm, **options)[0]
            assert score.clipped == dual.clipped
    assert seen["several"] >= 15, seen
    assert seen["point"] >= 1, seen


def theta_is_dyadic(theta: Fraction) -> bool:
    return theta.denominator & (theta.denominator - 1) == 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
def test_no_grid_of_theta_beats_the_exact_minimiser(algorithm: str) -> None:
    rng = np.random.default_rng(8)
    graph = rs.Graph.grid(8, 8, neighbours=8)
    weights = rng.integers(1, 20, size=(6, graph.m))
    instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    base, direction = rng.integers(0, 40, 64).astype(float), rng.integers(-20, 20, 64).astype(float)
    dual = rs.lab.dual(instances, base, direction, 0, 4, algorithm, EXPANSIONS)
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
    line = (np.zeros(25), tables, 0, 2, "astar", EXPANSIONS)
    one, two = (rs.lab.dual(instances, *line, n_jobs=jobs) for jobs in (1, 2))
    assert one.intervals.cuts == two.intervals.cuts
    assert one.mean.tolist() == two.mean.tolist()
    parts = [rs.lab.dual(part, *line) for part in instances.by_goal().values()]
    for theta in (0, 0.7, 1, 1.9):
        assert one.at(theta) == pytest.approx(np.mean([part.at(theta) for part in parts]))
    assert one.pieces.sum() == sum(part.pieces.sum() for part in parts)


def test_higher_is_better_where_the_utility_says_so() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    instances = rs.InstanceSet(graph, graph.arrange(np.array([1.0, 2, 1, 2])), 0, 3)
    dual = rs.lab.dual(instances, np.zeros(4), [0.0, 1, -1, 0], -1, 1, "gbfs", rs.utilities.SolvedWithin(1.0))
    assert (dual.value, [str(part) for part in dual.minimisers]) == (1.0, ["[-1, 0]"])
    assert "best 1 at theta = -0.5, exact" in repr(dual)


def test_a_custom_utility_that_is_negative_is_named() -> None:
    graph = rs.Graph.grid(3, 3)
    instances = rs.InstanceSet(graph, graph.length, [0, 1], 8)
    negative = rs.utilities.Custom(1, lambda instance, trace: float(-instance.source))
    with pytest.raises(rs.errors.UtilityError, match="instance 1 of the set"):
        rs.lab.dual(instances, np.zeros(9), np.arange(9.0), 0, 1, "astar", negative)


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
        rs.lab.dual(**arguments)
    if set(changes) & {"instances", "base", "direction"} or changes.get("low") == 3:
        with pytest.raises(rs.errors.InputError, match=message):
            rs.lab.dual_inconsistency(**{k: arguments[k] for k in ("instances", "base", "direction", "low", "high")})


# ---------------------------------------------------------------- inconsistency


def inconsistency(case: LineCase, theta: Fraction) -> Fraction:
    """Δ by the definition, over the optimal path with the fewest edges that is lexicographically smallest."""
    children = case.children
    path = optimal_path(children, case.source, case.goal)
    rho = [Fraction(b) + theta * Fraction(f) for b, f in zip(case.base, case.direction, strict=True)]
    return sum((max(rho[v] - rho[c] - dict(children[v])[c], Fraction(0)) for v, c in pairwise(path[1:])), Fraction(0))


@pytest.mark.parametrize("seed", range(25))
def test_mean_inconsistency_is_exact_and_least_where_it_says(seed: int) -> None:
    instances, base, direction = instances_and_line(np.random.default_rng([5, seed]))
    feasible = [
        i for i, x in enumerate(instances) if np.isfinite(rs.distances_to(x.graph, x.weights, x.goal)[x.source])
    ]
    instances = instances[feasible]
    dual = rs.lab.dual_inconsistency(instances, base, direction, -3, Fraction(10, 3))
    cases = [LineCase(*x, base, direction, Fraction(-3), Fraction(10, 3), "astar") for x in instances]

    def mean(theta: Fraction) -> Fraction:
        return sum((inconsistency(case, theta) for case in cases), Fraction(0)) / len(cases)

    assert [mean(theta) for theta in dual.thetas] == list(dual.values)
    for a, b in pairwise(dual.thetas):  # linear in between, so nothing was missed
        assert mean((a + b) / 2) == (mean(a) + mean(b)) / 2
        assert dual.at((a + b) / 2) == float(mean((a + b) / 2))
    assert dual.value == float(min(dual.values)) == dual.at(dual.theta)
    assert mean(dual.low) == mean(dual.high) == min(dual.values)
    for beyond in (dual.low - Fraction(1, 10**6), dual.high + Fraction(1, 10**6)):
        if dual.thetas[0] <= beyond <= dual.thetas[-1]:
            assert mean(beyond) > min(dual.values)
    with pytest.raises(rs.errors.InputError, match="theta must be between"):
        dual.at(99)


def test_theorem_7_on_the_line() -> None:
    rng = np.random.default_rng(6)
    graph = rs.Graph.grid(4, 4)
    instances = rs.InstanceSet(graph, rng.integers(1, 9, (10, graph.m)), 0, 15)
    line = (np.zeros(16), rng.integers(0, 30, 16).astype(float), 0, 2)
    worse = rs.lab.dual(instances, *line, "astar", rs.utilities.Suboptimality(limit=1e6))
    bound = rs.lab.dual_inconsistency(instances, *line)
    for part, mean in zip(worse.intervals, worse.mean, strict=True):
        assert mean <= bound.at(part.inside) + 1e-12


def test_infeasible_instances_have_no_inconsistency() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    instances = rs.InstanceSet(graph, [[1.0, 1.0], [1.0, np.inf]], 0, 2, infeasible="keep")
    with pytest.raises(rs.errors.InfeasibleError, match="instance 1 has no path from 0 to 2"):
        rs.lab.dual_inconsistency(instances, np.zeros(3), np.ones(3), 0, 1)


# ---------------------------------------------------------------- exact parts, and the picture


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


def test_both_duals_draw_themselves(tmp_path: Path) -> None:
    from matplotlib import pyplot

    graph = rs.Graph.grid(4, 4)
    instances = rs.InstanceSet(graph, np.random.default_rng(0).integers(1, 9, (5, graph.m)), 0, 15)
    line = (np.zeros(16), rs.heuristics.euclidean(graph, 15) * 5, 0, 2)
    for dual in (rs.lab.dual(instances, *line, "astar", EXPANSIONS), rs.lab.dual_inconsistency(instances, *line)):
        ax = dual.plot()
        assert ax.get_xlabel() == "θ"
        assert "5 instances" in ax.get_title()
        assert dual.plot(ax) is ax
        ax.figure.savefig(tmp_path / "dual.png")
        assert (tmp_path / "dual.png").stat().st_size > 5000
        pyplot.close(ax.figure)
