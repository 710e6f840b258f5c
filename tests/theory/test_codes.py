"""Shattered sets of more than linear size, checked by the plain implementation of the algorithms."""

from __future__ import annotations

import numpy as np
import pytest

import rhostar as rs
from rhostar.search import reference
from rhostar.theory import ShatteredSet
from rhostar.theory import _codes as codes

CODES = {
    "gbfs expansions": lambda n, bits=None: codes.expansion_code(n, bits=bits),
    "astar expansions": lambda n, bits=None: codes.expansion_code(n, "astar", bits=bits),
    "astar reopening": lambda n, bits=None: codes.reopening_code(n, bits=bits),
    "astar cost": lambda n, bits=None: codes.cost_code(n, bits=bits),
}
INTERVALS = {"gbfs": 6, "astar": 3}
LEAST = {
    "gbfs expansions": lambda b: 2 ** (b + 1) + 2,
    "astar expansions": lambda b: 2 ** (b + 1) + 2,
    "astar reopening": lambda b: 2**b + 3,
    "astar cost": lambda b: 5 if b == 1 else 3 + 3 * 2 ** (b - 1),
}


def measured(code: ShatteredSet, i: int, rho: np.ndarray, reopen: bool) -> float:
    """Run one instance with the plain implementation."""
    graph, weights, source, goal = code.instances[i]
    children = reference.children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), weights.tolist())
    if code.algorithm == "gbfs":
        run = reference.gbfs(children, source, goal, rho.tolist())
    else:
        run = reference.astar(children, source, goal, rho.tolist(), reopen=reopen)
    assert run.status == "solved"
    return run.cost if isinstance(code.utility, rs.utilities.Cost) else run.expanded


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
@pytest.mark.parametrize("name", CODES)
def test_every_place_of_every_item(name: str, bits: int) -> None:
    """No instance has an edge to another item, so all words of each item are all patterns."""
    code = CODES[name](LEAST[name](bits) + (2 if "expansions" in name else 1), bits)
    items = len(code) // bits
    assert items == 2
    graph = code.instances.graph
    for i in range(len(code)):
        present = np.isfinite(code.instances.weights[code.instances.rows[i]])
        touched = set(graph.tail[present].tolist()) | set(graph.head[present].tolist())
        own = code.rho(np.zeros(len(code))) != code.rho(np.repeat(np.arange(items) == i // bits, bits))
        others = code.rho(np.zeros(len(code))) != code.rho(np.repeat(np.arange(items) != i // bits, bits))
        assert own.any()
        assert not touched & set(np.flatnonzero(others).tolist()), "an instance sees another item"
    for word in range(1 << bits):
        pattern = np.tile([bool(word >> b & 1) for b in range(bits)], items)
        rho = code.rho(pattern)
        for reopen in {"astar expansions": (True, False)}.get(name, (code.reopen,)):
            assert [measured(code, i, rho, reopen) > code.thresholds[i] for i in range(len(code))] == pattern.tolist()


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("n", range(5, 13))
def test_all_patterns_up_to_twelve_vertices(name: str, n: int) -> None:
    for bits in (1, 2):
        if n < LEAST[name](bits):
            continue
        code = CODES[name](n, bits)
        for word in range(1 << len(code)):
            pattern = np.array([word >> i & 1 for i in range(len(code))], dtype=bool)
            score = rs.evaluate(
                code.rho(pattern), code.instances, code.utility, algorithm=code.algorithm, reopen=code.reopen
            )[0]
            assert ((score.values > code.thresholds) == pattern).all()
            assert score.clipped == 0


@pytest.mark.parametrize("n", range(4, 13))
@pytest.mark.parametrize("algorithm", INTERVALS)
def test_two_bits_per_vertex_up_to_twelve_vertices(algorithm: str, n: int) -> None:
    items = n - INTERVALS[algorithm]
    if items < 1:
        with pytest.raises(rs.errors.InputError, match="too few"):
            codes.interval_code(n, algorithm)
        return
    code = codes.interval_code(n, algorithm)
    assert len(code) == 2 * items
    if n == 12:
        assert len(code) > n - 1, "one instance per vertex was known before"
    for word in range(4):
        pattern = np.tile([bool(word & 1), bool(word & 2)], items)
        for reopen in (True, False) if algorithm == "astar" else (True,):
            values = [measured(code, i, code.rho(pattern), reopen) for i in range(len(code))]
            assert [value > line for value, line in zip(values, code.thresholds, strict=True)] == pattern.tolist()
    for word in range(1 << min(len(code), 10)):  # other items must not matter: many mixed patterns too
        pattern = np.resize([bool(word >> b & 1) for b in range(10)], len(code))
        runs = rs.solve_many(code.instances, code.rho(pattern), algorithm=algorithm)
        assert ((runs.expanded > code.thresholds) == pattern).all()


@pytest.mark.parametrize("name", CODES)
def test_more_than_linear(name: str) -> None:
    """The size per vertex grows like lg n; the paper's sets have less than one instance per vertex."""
    per_vertex = []
    for exponent in (5, 7, 9):
        n = 1 << exponent
        code = CODES[name](n)
        pattern = np.random.default_rng(exponent).random(len(code)) < 0.5
        runs = rs.solve_many(code.instances, code.rho(pattern), algorithm=code.algorithm, reopen=code.reopen)
        value = runs.cost if isinstance(code.utility, rs.utilities.Cost) else runs.expanded
        assert ((value > code.thresholds) == pattern).all()
        per_vertex.append(len(code) / n)
    assert per_vertex[0] < per_vertex[1] < per_vertex[2]
    assert 2.0 < per_vertex[2] < 9


def test_a_wrong_threshold_is_seen() -> None:
    code = codes.expansion_code(12, bits=1)
    rho = code.rho(np.ones(len(code)))
    assert not any(measured(code, i, rho, True) > code.thresholds[i] + 1 for i in range(len(code)))


def test_too_few_vertices() -> None:
    with pytest.raises(rs.errors.InputError, match="too few"):
        codes.expansion_code(5)
    with pytest.raises(rs.errors.InputError, match="too few"):
        codes.reopening_code(10, bits=3)
    with pytest.raises(rs.errors.InputError, match="4 truth values"):
        codes.expansion_code(12, bits=2).rho([True])


@pytest.mark.parametrize("n", [6, 12, 40, 207, 1000])
def test_the_stated_lower_bound_is_the_size_of_a_set_that_exists(n: int) -> None:
    from rhostar.bounds._dimension import lower_expansions

    def best(*makers: object) -> int:
        found = [0]
        for make in makers:
            try:
                found.append(len(make()))  # type: ignore[operator]
            except rs.errors.InputError:
                continue
        return max(found)

    assert lower_expansions(n, "gbfs") == best(lambda: codes.expansion_code(n), lambda: codes.interval_code(n, "gbfs"))
    if n < 1000:
        assert lower_expansions(n, "astar") == best(
            lambda: codes.reopening_code(n), lambda: codes.expansion_code(n, "astar"), lambda: codes.interval_code(n)
        )
    assert lower_expansions(n, "astar", integer_weights=1) == best(lambda: codes.expansion_code(n, "astar"))
