"""The mean inconsistency along a line, against sums with fractions; both duals draw themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.lines import LineCase, instances_and_line
from support.paths import optimal_path

EXPANSIONS = rs.utilities.Expansions(limit=50)


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
    dual = rs.theory.dual_inconsistency(base, direction, -3, Fraction(10, 3), instances)
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
    worse = rs.theory.dual(*line, instances, "astar", rs.utilities.Suboptimality(limit=1e6))
    bound = rs.theory.dual_inconsistency(*line, instances)
    for part, mean in zip(worse.intervals, worse.mean, strict=True):
        assert mean <= bound.at(part.inside) + 1e-12


def test_infeasible_instances_have_no_inconsistency() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    instances = rs.InstanceSet(graph, [[1.0, 1.0], [1.0, np.inf]], 0, 2, infeasible="keep")
    with pytest.raises(rs.errors.InfeasibleError, match="instance 1 has no path from 0 to 2"):
        rs.theory.dual_inconsistency(np.zeros(3), np.ones(3), 0, 1, instances)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"instances": 3}, "instances must be an InstanceSet"),
        ({"base": np.zeros(3)}, "base must have one value"),
        ({"direction": np.full(9, np.nan)}, "direction"),
        ({"low": 3}, "low must not exceed high"),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    graph = rs.Graph.grid(3, 3)
    arguments = {"base": np.zeros(9), "direction": np.arange(9.0), "low": 0, "high": 1}
    arguments |= {"instances": rs.InstanceSet(graph, graph.length, [0, 1], 8)} | changes
    with pytest.raises(rs.errors.InputError, match=message):
        rs.theory.dual_inconsistency(**arguments)


def test_both_duals_draw_themselves(tmp_path: Path) -> None:
    from matplotlib import pyplot

    graph = rs.Graph.grid(4, 4)
    instances = rs.InstanceSet(graph, np.random.default_rng(0).integers(1, 9, (5, graph.m)), 0, 15)
    line = (np.zeros(16), rs.heuristics.euclidean(graph, 15) * 5, 0, 2)
    for dual in (rs.theory.dual(*line, instances, "astar", EXPANSIONS), rs.theory.dual_inconsistency(*line, instances)):
        ax = dual.plot()
        assert ax.get_xlabel() == "θ"
        assert "5 instances" in ax.get_title()
        assert dual.plot(ax) is ax
        ax.figure.savefig(tmp_path / "dual.png")
        assert (tmp_path / "dual.png").stat().st_size > 5000
        pyplot.close(ax.figure)
