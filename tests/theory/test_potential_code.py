"""Potentials over all goals: the set of order n² that they shatter, what breaks it, and the upper bounds."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from decimal import Decimal

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError
from rhostar.search import reference

SMALL = [(1, 1), (2, 1), (3, 1), (1, 3), (2, 2), (3, 2), (2, 3)]


@pytest.mark.parametrize(("bits", "goals"), SMALL)
def test_all_patterns_of_small_sets(bits: int, goals: int) -> None:
    found = rs.theory.potential_code(bits, goals)
    assert found.graph.n == 5 * bits + goals + 5
    assert found.graph.m == 16 * bits + 4 * goals - 2
    patterns = itertools.product([False, True], repeat=bits * goals)
    assert found.verify(patterns) == 1 << bits * goals


def test_with_the_plain_implementation() -> None:
    """All patterns of one set again, by Bellman and Ford and by the reference search, without the library's kernels."""
    found = rs.theory.potential_code(2, 2)
    graph = found.graph
    for pattern in itertools.product([False, True], repeat=4):
        guess = found.weights(pattern)
        for bit, (_, weights, source, goal) in zip(pattern, found.instances, strict=True):
            table = [math.inf] * graph.n
            table[goal] = 0
            for _ in range(graph.n):
                for u, v, w in zip(graph.tail.tolist(), graph.head.tolist(), guess.tolist(), strict=True):
                    table[u] = min(table[u], w + table[v])
            children = {
                u: [
                    (int(v), float(w))
                    for v, w in zip(graph.head[graph.tail == u], weights[graph.tail == u], strict=True)
                    if w < math.inf
                ]
                for u in range(graph.n)
            }
            table = [x if x < math.inf else 0 for x in table]
            run = reference.astar(children, source, goal, table, reopen=False)
            assert (run.cost >= found.threshold) == bit


def test_larger_sets_by_samples() -> None:
    rng = random.Random(0)
    for bits, goals in ((5, 25), (10, 50), (20, 3)):
        found = rs.theory.potential_code(bits, goals)
        assert found.verify([[rng.random() < 0.5 for _ in found.instances] for _ in range(3)]) == 3
    n, N = 10 * 10 + 5, 10 * 50
    assert rs.theory.potential_code(10, 50).graph.n == n
    assert 0.045 < N / n**2 < 0.05
    assert rs.theory.potential_code(10, 50).graph.m < 4 * n


def test_what_breaks_it() -> None:
    """With reopening, or with a converter whose edges have other weights, patterns are lost."""
    found = rs.theory.potential_code(3, 2)
    every = list(itertools.product([False, True], repeat=6))
    tables = [
        {one.goal: rs.distances_to(found.graph, found.weights(p), one.goal) for one in found.instances} for p in every
    ]
    reopened = {
        tuple(rs.astar(*one, table[one.goal]).cost >= found.threshold for one in found.instances) for table in tables
    }
    assert len(reopened) < len(every)
    rng = np.random.default_rng(0)
    shuffled = dataclasses.replace(found, base=rng.permutation(found.base))
    with pytest.raises(InputError, match="does not occur"):
        shuffled.verify(every)


def test_bad_arguments() -> None:
    for bits, goals, match in ((0, 1, "bits"), (21, 1, "between 1 and 20"), (1, 0, "goals")):
        with pytest.raises(InputError, match=match):
            rs.theory.potential_code(bits, goals)
    with pytest.raises(InputError, match="pattern must have 2"):
        rs.theory.potential_code(2, 1).weights([True])
    with pytest.raises(InputError, match="edges"):
        rs.theory.potential_bounds(5, 0)


@pytest.mark.parametrize(("n", "m"), [(3, 2), (5, 9), (18, 42), (105, 358), (207, 1515)])
def test_the_upper_bounds(n: int, m: int) -> None:
    """In exact numbers: so many patterns may fit, one more may not."""
    found = rs.theory.potential_bounds(n, m)
    N = found["hyperplanes"]
    for count, fits in ((N, True), (N + 1, False)):
        planes = count * math.factorial(n) ** 4 // 2
        term = total = 1
        if planes <= 10**6 or m <= 60:
            for i in range(1, m + 1):
                term = term * (planes - i + 1) // i
                total += term
            assert (total >= 1 << count) == fits
        else:  # the last term decides, up to far less than one pattern
            lg = sum((Decimal(planes - i) / (i + 1)).ln() for i in range(m)) / Decimal(2).ln()
            assert (lg >= count) == fits or abs(lg - count) < 1
    assert found["float64"] == 64 * m
    row = rs.pseudo_dimension(n)["Wp"]
    assert n * row < found["tables"] < 4 * n * row


def test_the_bounds_hold_for_the_sets() -> None:
    for bits, goals in (*SMALL, (10, 50)):
        found = rs.theory.potential_code(bits, goals)
        bounds = rs.theory.potential_bounds(found.graph.n, found.graph.m)
        assert len(found.instances) < min(bounds.values())
