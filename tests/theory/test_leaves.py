"""One instance with order n² courses for each leaf."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rhostar as rs
from rhostar.bounds import _sizes as sizes
from rhostar.bounds._dimension import lower_for_some_utility, lower_with_reopening
from rhostar.errors import InputError
from rhostar.search import reference


def course(instance: rs.instances.Instance, rho: np.ndarray) -> tuple[int, ...]:
    return tuple(rs.astar(*instance, rho, trace=True).trace.selected.tolist())


@pytest.mark.parametrize(("h", "k", "m"), [(1, 1, 3), (2, 1, 2), (1, 2, 2), (3, 2, 2), (2, 4, 2), (2, 2, 3)])
def test_every_combination_has_its_own_course(h: int, k: int, m: int) -> None:
    instance, rho, leaves, values = rs.theory.leaves(h + k + m + 2, heads=h, scanners=k)
    assert len(leaves) == m
    assert len(values) == h * (k + 1) + 1
    courses = set()
    for rho[leaves] in itertools.product(values, repeat=m):
        courses.add(course(instance, rho))
    assert len(courses) == (h * (k + 1) + 1) ** m


def test_the_reference_agrees() -> None:
    instance, rho, leaves, values = rs.theory.leaves(10, heads=3, scanners=3)
    graph, weights, source, goal = instance
    children = reference.children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), np.asarray(weights).tolist())
    for rho[leaves[0]] in values:
        run = reference.astar(children, source, goal, rho.tolist())
        steps = itertools.pairwise(run.states)  # the vertex selected is in OPEN before, and in CLOSED or the goal after
        expanded = [next(iter(before.open & after.closed)) for before, after in steps if before.open & after.closed]
        assert course(instance, rho) == (*expanded, goal)


@pytest.mark.parametrize(("h", "k"), [(1, 3), (3, 2), (4, 3)])
def test_the_value_of_a_leaf_decides_the_moment_of_its_first_selection(h: int, k: int) -> None:
    """Heads and scanners are selected in the same order always; between which of them the leaf comes first differs."""
    instance, rho, (leaf,), values = rs.theory.leaves(h + k + 3, heads=h, scanners=k)
    round_of = [[2 + z, *range(2 + h, 2 + h + k)] for z in range(h)]
    order = [0, *itertools.chain(*round_of), 1]
    moments = []
    for rho[leaf] in values:
        found = course(instance, rho)
        assert [v for v in found if v != leaf] == order
        moments.append(found.index(leaf) if leaf in found else None)
    # After a head, or after any scanner, and at last never: one moment for each value, in order.
    assert moments == [*range(2, len(order)), None]


@pytest.mark.parametrize("h", [4, 9, 15])
def test_one_leaf_has_the_thresholds_of_the_proof(h: int) -> None:
    n = 2 * h + 3
    instance, rho, (leaf,), values = rs.theory.leaves(n, heads=h, scanners=h)
    pieces = rs.theory.pieces(*instance, rho, np.eye(n)[leaf], -10_000 - rho[leaf], 10_000 - rho[leaf])
    found = {tuple(pieces.trace(i).selected.tolist()) for i in range(len(pieces))}
    assert len(found) == len(values) == h * (h + 1) + 1 > (n - 3) ** 2 / 4
    assert len(found) <= rs.theory.most_courses(n)
    closed = rs.theory.pieces(*instance, rho, np.eye(n)[leaf], -10_000, 10_000, reopen=False)
    assert len(closed) <= n - 1, "without reopening there is nothing to it"


def test_the_size_and_its_growth() -> None:
    for n in (5, 9, 30):
        every = [(h, k) for h in range(1, n) for k in range(1, n) if h + k + 3 <= n]
        most = max(sizes.leaf_courses(n, h, k) for h, k in every)
        assert sizes.leaf_courses(n, *sizes.best_leaves(n)) == pytest.approx(most)
    ratios = [lower_with_reopening(2**e) / (2**e * e) for e in (10, 20, 40, 80)]
    assert ratios == sorted(ratios)
    assert 1.0 < ratios[0] < 1.1
    assert 1.75 < ratios[-1] < 2


@pytest.mark.parametrize("limit", [1, 3, 4, 20, 300])
def test_weights_are_within_the_limit(limit: int) -> None:
    h, k = sizes.best_leaves(60, limit)
    assert (h > 0) == (limit >= 4)
    if h:
        instance = rs.theory.leaves(60, heads=h, scanners=k).instance
        weights = np.asarray(instance.weights)
        assert weights[np.isfinite(weights)].max() <= limit


def test_it_is_below_every_upper_bound() -> None:
    for n in (5, 8, 20, 100, 1000, 10**5):
        for integers in (None, 4, 1000):
            assert lower_with_reopening(n, integers) <= rs.pseudo_dimension(n, integer_weights=integers).upper
    assert rs.pseudo_dimension(1000)["R2"] == 10_633


def test_the_row_is_there_where_it_says_more_than_the_other() -> None:
    larger = [n for n in range(5, 200) if lower_with_reopening(n) > lower_for_some_utility(n)]
    assert larger == list(range(53, 200))
    for n in (52, 53):
        assert ("R2" in {row.label for row in rs.pseudo_dimension(n)}) == (n == 53)
    assert "R2" not in {row.label for row in rs.pseudo_dimension(200, reopen=False)}
    assert "R2" not in {row.label for row in rs.pseudo_dimension(200, "gbfs")}
    assert "R2" not in {row.label for row in rs.pseudo_dimension(200, integer_weights=3)}


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="too few"):
        rs.theory.leaves(8, heads=3, scanners=3)
    with pytest.raises(InputError, match="together"):
        rs.theory.leaves(8, heads=3)
    with pytest.raises(InputError, match="n must be"):
        rs.theory.leaves(4)
