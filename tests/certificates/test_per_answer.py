"""U5: no answer of A* with reopening exceeds the optimum by more than B; without reopening some do."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.certificates import largest_excess, limited_excess
from rhostar.errors import InputError


def excess_and_bound(seed: int, reopen: bool) -> tuple[float, float] | None:
    """Return (cost − opt, B) of a random instance with integer weights, exactly; None where there is no path."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    tail, head = (rng.integers(0, n, 3 * n) for _ in range(2))
    graph = rs.Graph.from_edges(n, tail, head)
    weights = rng.integers(0, 8, graph.m).astype(float)
    low = np.maximum(weights - rng.integers(0, 3, graph.m), 0)
    rho = rng.integers(-4, 12, n).astype(float)
    best = rs.astar(graph, weights, 0, n - 1, np.zeros(n))
    if best.status != "solved":
        return None
    run = rs.astar(graph, weights, 0, n - 1, rho, reopen=reopen)
    return run.cost - best.cost, largest_excess(graph, rho, n - 1, low)


def test_every_answer_with_reopening_is_within_the_bound() -> None:
    pairs = [pair for seed in range(6000) if (pair := excess_and_bound(seed, True))]
    assert len(pairs) > 2000
    assert all(excess <= bound for excess, bound in pairs)
    assert any(excess > 0.8 * bound > 0 for excess, bound in pairs)  # a bound a fifth smaller would be false


def test_it_is_reached() -> None:
    # s=1 -> t=0 costs 10, s -> a=2 -> t costs 2; the value of a makes both scores 10, and t wins the tie.
    graph = rs.Graph.from_edges(3, [1, 1, 2], [0, 2, 0])
    weights, rho = graph.arrange(np.array([10.0, 1.0, 1.0])), np.array([0.0, 0.0, 9.0])
    assert rs.astar(graph, weights, 1, 0, rho).cost - 2 == largest_excess(graph, rho, 0, weights) == 8


def test_without_reopening_it_is_false() -> None:
    """Why `certify` refuses U5 there: some answers are worse than B."""
    pairs = [pair for seed in range(6000) if (pair := excess_and_bound(seed, False))]
    assert sum(excess > bound for excess, bound in pairs) >= 3


def test_an_admissible_inconsistent_heuristic_is_the_smallest_counterexample() -> None:
    # s=0 -> a=1 (1) -> b=2 (1) -> c=3 (1) -> t=4 (4), and s -> c (4): a is held back by a large, admissible value.
    graph = rs.Graph.from_edges(5, [0, 1, 2, 3, 0], [1, 2, 3, 4, 3])
    weights = graph.arrange(np.array([1.0, 1.0, 1.0, 4.0, 4.0]))
    rho = np.array([0.0, 6.0, 0.0, 0.0, 0.0])
    assert largest_excess(graph, rho, 4, weights) == 0
    assert rs.astar(graph, weights, 0, 4, rho, reopen=True).cost == 7
    assert rs.astar(graph, weights, 0, 4, rho, reopen=False).cost == 8


def test_a_limit_is_kept_and_nothing_else_is_changed() -> None:
    graph = rs.Graph.grid(8, 8)
    rng = np.random.default_rng(0)
    low = rng.integers(1, 5, graph.m).astype(float)
    rho = rng.integers(0, 60, graph.n).astype(float)
    for most in (0.0, 1.0, 7.0):
        limited = limited_excess(graph, rho, 63, low, most)
        assert largest_excess(graph, limited, 63, low) <= most
        assert (limited <= rho).all()
        assert limited[63] == rho[63]
    with pytest.raises(InputError, match="most must be"):
        limited_excess(graph, rho, 63, low, -1.0)


def test_vertices_that_never_reach_the_goal_do_not_count() -> None:
    graph = rs.Graph.from_edges(3, [0, 0], [1, 2])
    assert largest_excess(graph, [0.0, 99.0, 0.0], 2, [1.0, 1.0]) == 0
