"""One moving value of ρ has few courses, a line has exponentially many."""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError
from support.transcript_cases import random_problem


def instance_of(case: object) -> rs.instances.Instance | None:
    arcs = {(u, v): w for u, some in case.children.items() for v, w in some}  # type: ignore[attr-defined]
    try:
        return rs.theory.instance_set(len(case.rho), [arcs], case.source, case.goal)[0]  # type: ignore[attr-defined]
    except rs.errors.InfeasibleError:
        return None


def courses(instance: rs.instances.Instance, rho: list[float], vertex: int, reopen: bool) -> rs.lines.Pieces:  # type: ignore[name-defined]
    direction = np.zeros(len(rho))
    direction[vertex] = 1.0
    base = np.array(rho, dtype=np.float64)
    base[vertex] = 0.0
    far = 2 * (int(instance.weights[np.isfinite(instance.weights)].sum()) + 2 * int(np.abs(base).max()) + 2)
    return rs.theory.pieces(*instance, base, direction, -far, far, reopen=reopen)


@pytest.mark.parametrize("reopen", [True, False])
def test_every_course_begins_at_a_threshold(reopen: bool) -> None:
    rng, most = random.Random(int(reopen)), 0
    for _ in range(250):
        case = random_problem(rng)
        instance, n = instance_of(case), len(case.rho)
        if instance is None:
            continue
        for vertex in range(n):
            pieces = courses(instance, case.rho, vertex, reopen)
            thresholds = rs.theory.moving_thresholds(*instance, case.rho, vertex, reopen=reopen)
            assert set(pieces.breakpoints) <= set(thresholds)
            assert len(pieces) <= len(thresholds) + 1 <= rs.theory.most_courses(n, reopen=reopen)
            if vertex == case.source:
                assert len(pieces) == 1
            most = max(most, len(pieces))
    assert most >= 4


@pytest.mark.parametrize(("n", "count"), [(4, 4), (5, 7), (6, 10), (7, 15)])
def test_the_most_courses_known(n: int, count: int) -> None:
    instance, rho = rs.theory.moving_example(n)
    pieces = courses(instance, rho.tolist(), n - 1, reopen=True)
    assert len(pieces) == count <= rs.theory.most_courses(n)
    runs = {tuple(pieces.trace(i).selected.tolist()) for i in range(len(pieces))}
    assert len(runs) == count, "all different"
    assert set(pieces.breakpoints) <= set(rs.theory.moving_thresholds(*instance, rho, n - 1))


def test_the_thresholds_of_the_run_alone_are_too_few_with_reopening() -> None:
    """A twin without closures misses places where the course changes."""
    instance, rho = rs.theory.moving_example(7)
    pieces = courses(instance, rho.tolist(), 6, reopen=True)
    assert not set(pieces.breakpoints) <= set(rs.theory.moving_thresholds(*instance, rho, 6, reopen=False))


@pytest.mark.slow
def test_the_exact_counts_for_few_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all real weights: the exhaustion finds 2 for n = 3 and 4 for n = 4, where the goal moves."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    exhaust = importlib.import_module("exhaust_moving")
    assert [exhaust.largest(3, moving, True, 3)[0] for moving in (1, 2)] == [2, 2]
    assert exhaust.largest(4, 3, True, 7)[0] == 4
    assert exhaust.largest(4, 3, False, 7)[0] == 3


def test_without_reopening_the_bound_is_reached() -> None:
    """s leads to all: v is selected at any of n − 1 places among the others, the goal last."""
    for n in range(3, 9):
        arcs = {(0, v): v for v in range(1, n)}
        instance = rs.theory.instance_set(n, [arcs], 0, n - 1)[0]
        for reopen in (True, False):
            assert len(courses(instance, [0.0] * n, 1, reopen)) == rs.theory.most_courses(n, reopen=False)


@pytest.mark.parametrize("bits", range(1, 8))
def test_the_converter_along_its_line(bits: int) -> None:
    instance, base, direction, high = rs.theory.converter(bits)
    assert instance.graph.n == 5 * bits + 2
    pieces = rs.theory.pieces(*instance, base, direction, 0, high, reopen=False)
    assert pieces.snap.exact
    checked = set()
    for piece in pieces:  # exactly, for every real x below `high`
        low, top, low_closed, high_closed = piece.interval
        middle = (low + top) / 2
        points = [x for x in [low] * low_closed + [middle] + [top] * high_closed if x < high]
        assert {4 * (x // 4) for x in points} <= {piece.run.cost}
        checked |= {piece.run.cost for x in points}
    assert checked == {4 * x for x in range(2**bits)}
    for x in range(high):
        assert rs.astar(*instance, base + x * direction, reopen=False).cost == 4 * (x // 4)
    again = rs.theory.pieces(*instance, base, direction, 0, high - 1)
    assert len(np.unique(again.runs.cost)) == 1, "with reopening nothing is left of it"


def test_one_moving_vertex_of_the_converter_is_nothing_special() -> None:
    instance, base, direction, _ = rs.theory.converter(4)
    n = instance.graph.n
    for vertex in np.flatnonzero(direction).tolist():
        assert len(courses(instance, base.tolist(), vertex, reopen=False)) <= rs.theory.most_courses(n, reopen=False)


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="bits"):
        rs.theory.converter(21)
    with pytest.raises(InputError, match="bits"):
        rs.theory.converter(0)
    with pytest.raises(InputError, match="between 4 and 7"):
        rs.theory.moving_example(3)
    with pytest.raises(InputError, match="n must be"):
        rs.theory.most_courses(1)
    instance, rho = rs.theory.moving_example(4)
    with pytest.raises(InputError, match="vertex"):
        rs.theory.moving_thresholds(*instance, rho, 4)
