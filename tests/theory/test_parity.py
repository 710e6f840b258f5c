"""Shattered sets of order n lg n for the cost: the codes run, the counting, and what greedy search can tell."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.bounds import _sizes as sizes
from rhostar.search import reference
from rhostar.theory import _parity as parity
from support.paths import simple_paths
from support.symbolic_oracle import reference_runs

MODES = [("gbfs", True), ("astar", True), ("astar", False)]


def least_n(layers: int, items: int) -> int:
    return 3 + (2 * layers - 1) * (len(parity.ORDERS[layers][0]) + items)


def pattern_of(code: rs.theory.ShatteredSet, words: list[int]) -> np.ndarray:
    return np.array([word >> i & 1 for word in words for i in range(code.bits)], dtype=bool)


def covers(orders: tuple[tuple[int, ...], ...]) -> bool:
    """Return whether the sums of prefixes are all 2ᴮ vectors.

    A set of vectors is an integer with 2ᴮ bits. Adding the unit vector i to all of its members exchanges neighboring
    blocks of 2ⁱ bits.
    """
    size = len(orders[0])
    blocks = [_every_other_block(1 << i, 1 << size) for i in range(size)]
    found = 1
    for order in orders:
        moved = found
        for i in order:
            moved = (moved & blocks[i]) << (1 << i) | moved >> (1 << i) & blocks[i]
            found |= moved
    return found.bit_count() == 1 << size


def _every_other_block(width: int, total: int) -> int:
    """Return the integer of `total` bits in which blocks of `width` ones and zeros alternate, ones lowest."""
    found, length = (1 << width) - 1, 2 * width
    while length < total:
        found |= found << length
        length *= 2
    return found


# ---------------------------------------------------------------- the codes


def lengths_of(cell: int, bits: int, layers: int) -> list[int]:
    return [cell // (bits + 1) ** j % (bits + 1) for j in range(layers)]


def flipped(orders: tuple[tuple[int, ...], ...], lengths: list[int]) -> list[int]:
    """The sum over F₂ of the prefixes."""
    flips = [i for order, c in zip(orders, lengths, strict=True) for i in order[:c]]
    return [flips.count(i) % 2 for i in range(len(orders[0]))]


@pytest.mark.parametrize("layers", range(1, 6))
def test_prefixes_add_up_to_every_pattern(layers: int) -> None:
    orders = parity.ORDERS[layers]
    bits = len(orders[0])
    patterns, cells = parity.sums_of_prefixes(orders)
    assert patterns.tolist() == list(range(1 << bits))
    for pattern, cell in list(zip(patterns.tolist(), cells.tolist(), strict=True))[:: max(1, len(cells) // 50)]:
        assert flipped(orders, lengths_of(cell, bits, layers)) == [pattern >> i & 1 for i in range(bits)]


@pytest.mark.parametrize("layers", parity.ORDERS)
def test_the_orders_and_the_places_found_on_demand(layers: int) -> None:
    orders = parity.ORDERS[layers]
    bits = len(orders[0])
    assert len(orders) == layers
    assert bits == sizes.PARITY_BITS[layers]
    assert all(sorted(order) == list(range(bits)) for order in orders)
    assert covers(orders)
    words = np.unique(np.random.default_rng(layers).integers(0, 1 << bits, 50))
    for word, cell in zip(words.tolist(), parity.Places(orders)[words].tolist(), strict=True):
        assert flipped(orders, lengths_of(cell, bits, layers)) == [word >> i & 1 for i in range(bits)]


def test_orders_that_do_not_reach_every_pattern_are_told() -> None:
    for layers in (2, 3, 4, 5, 6):
        orders = parity.ORDERS[layers]
        assert not covers(orders[:-1])
        assert not covers((*orders[:-1], orders[0])), "an order twice adds little"


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
def test_every_word_with_the_reference(layers: int, mode: tuple[str, bool]) -> None:
    """No instance has an edge to another item (next test), so all words of each item are all patterns."""
    algorithm, reopen = mode
    code = rs.theory.parity_code(least_n(layers, 2), algorithm, layers=layers)
    assert len(code) == 2 * code.bits
    for word in range(1 << code.bits):
        pattern = pattern_of(code, [word, word ^ 5])
        runs = reference_runs(code.instances, code.rho(pattern).tolist(), algorithm, reopen)
        assert [run.cost > z for run, z in zip(runs, code.thresholds, strict=True)] == pattern.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_every_word_of_four_layers(mode: tuple[str, bool]) -> None:
    code = rs.theory.parity_code(least_n(4, 1), mode[0], layers=4)
    for word in range(1 << 11):
        pattern = pattern_of(code, [word])
        runs = rs.solve_many(code.instances, code.rho(pattern), algorithm=mode[0], reopen=mode[1])
        assert ((runs.cost > code.thresholds) == pattern).all()


@pytest.mark.parametrize("layers", [5, 6, 7])
def test_many_layers(layers: int) -> None:
    code = rs.theory.parity_code(least_n(layers, 3), layers=layers)
    rng = np.random.default_rng(0)
    for _ in range(40):
        pattern = rng.random(len(code)) < 0.5
        for algorithm, reopen in MODES:
            runs = rs.solve_many(code.instances, code.rho(pattern), algorithm=algorithm, reopen=reopen)
            assert ((runs.cost > code.thresholds) == pattern).all()


def test_items_do_not_meet_and_weights_are_one() -> None:
    code = rs.theory.parity_code(least_n(3, 3), layers=3)
    zero = code.rho(np.zeros(len(code)))
    graph, weights = code.instances.graph, code.instances.weights
    assert set(weights[np.isfinite(weights)]) == {1.0}
    for i in range(len(code)):
        present = np.isfinite(weights[code.instances.rows[i]])
        touched = set(graph.tail[present].tolist()) | set(graph.head[present].tolist())
        for other in set(range(3)) - {i // code.bits}:
            for word in range(1, 1 << code.bits):
                moved = code.rho(pattern_of(code, [word if item == other else 0 for item in range(3)])) != zero
                assert not touched & set(np.flatnonzero(moved).tolist())


def test_the_engine_agrees() -> None:
    code = rs.theory.parity_code(least_n(2, 1), layers=2)
    assert rs.theory.shattering(code.instances, "gbfs", code.utility).verify() == 3


def test_more_than_one_instance_per_vertex() -> None:
    """The sets known before for the cost of greedy search, and of A* with reopening, have n − 2 and n − 1 instances."""
    assert len(rs.theory.parity_code(133)) > 133 - 2
    assert len(rs.theory.parity_code(134)) > 131
    per_vertex = [max(sizes.parity(n, m) for m in parity.ORDERS) / n for n in (133, 300, 1000, 10_000)]
    assert per_vertex == sorted(per_vertex)
    assert per_vertex[-1] > 1.85


def test_from_which_size_on_there_are_more_instances_than_vertices() -> None:
    """The number that the docstring states."""
    assert sizes.largest_parity(147) <= 147
    assert all(sizes.largest_parity(n) > n for n in range(148, 20_000))


def test_sizes_that_do_not_exist() -> None:
    with pytest.raises(rs.errors.InputError, match="too few"):
        rs.theory.parity_code(4)
    with pytest.raises(rs.errors.InputError, match="layers are"):
        rs.theory.parity_code(1000, layers=9)
    assert len(rs.theory.parity_code(5)) == 1


# ---------------------------------------------------------------- the counting


@pytest.mark.parametrize("k", range(1, 9))
def test_moments(k: int) -> None:
    """E(1 − 2|C − C′|)ᵏ for independent uniform numbers: |C − C′| has the density 2(1 − p)."""
    p = (np.arange(200_000) + 0.5) / 200_000
    exact = 1 / (k + 1 + k % 2)
    assert np.mean(2 * (1 - p) * (1 - 2 * p) ** k) == pytest.approx(exact, abs=1e-6)


def test_collisions_are_as_likely_as_computed() -> None:
    rng = np.random.default_rng(1)
    m, N, draws = 2, 5, 200_000
    theta, first, second = rng.random((draws, N, m)), rng.random((draws, 1, m)), rng.random((draws, 1, m))
    same = (((first > theta).sum(axis=2) - (second > theta).sum(axis=2)) % 2 == 0).all(axis=1)
    moments = [1.0] + [1 / (k + 1 + k % 2) for k in range(1, N + 1)]
    exact = sum(math.comb(N, k) * moments[k] ** m for k in range(N + 1)) / 2**N
    assert abs(same.mean() - exact) < 4 * math.sqrt(exact / draws)
    assert abs(same.mean() - 2.0**-N) > 8 * math.sqrt(exact / draws)  # independent patterns would collide less often


@pytest.mark.parametrize(("m", "N"), [(3, 6), (4, 9), (5, 13)])
def test_random_orders_show_as_many_patterns_as_promised(m: int, N: int) -> None:
    rng = np.random.default_rng(N)
    promised = 2**N / (1 + parity._excess(N, m))
    counts = [len(parity.sums_of_prefixes([rng.permutation(N) for _ in range(m)])[0]) for _ in range(40)]
    assert np.mean(counts) > promised > 2**N / 3
    alike = np.arange(N)  # the same order in every layer: most choices give the same sums
    assert len(parity.sums_of_prefixes([alike] * m)[0]) < 0.8 * np.mean(counts)


def test_the_guaranteed_size_grows_like_n_lg_n() -> None:
    assert [parity._largest(m) for m in (2, 4, 8)] == [
        max(N for N in range(1, 60) if sum(math.comb(N, k) / (k + 1 + k % 2) ** m for k in range(1, N + 1)) <= 1)
        for m in (2, 4, 8)
    ]
    size = {k: parity.parity_bound(2**k) / 2**k for k in (12, 16, 20, 24)}
    assert size[16] > size[12] + 0.4
    assert size[24] - size[20] == pytest.approx(size[20] - size[16], abs=0.1)
    assert all(value > k / 16 for k, value in size.items())
    assert parity.parity_bound(3) == 0
    assert parity.parity_bound(17) < 17 * math.log2(17) / 16
    assert all(parity.parity_bound(n) >= n * math.log2(n) / 16 for n in [*range(18, 600), *range(600, 20_000, 97)])


@pytest.mark.parametrize("bits", [3, 4, 5])
def test_more_than_half_of_all_patterns_shatter_half_of_the_instances_rounded_up(bits: int) -> None:
    """The lemma of Sauer as `parity_bound` uses it; with half of the patterns and odd D one less may be the most."""

    def largest(family: set[int]) -> int:
        sets = [s for s in range(1 << bits) if len({f & s for f in family}) == 1 << s.bit_count()]
        return max(s.bit_count() for s in sets)

    rng = np.random.default_rng(bits)
    half = (bits + 1) // 2
    for _ in range(200):
        assert largest(set(rng.permutation(1 << bits)[: (1 << bits - 1) + 1].tolist())) >= half
    few = {f for f in range(1 << bits) if f.bit_count() < half}
    assert largest(few) == half - 1
    assert bits % 2 == 0 or len(few) == 1 << bits - 1


def test_two_groups_of_layers_have_every_pattern_if_each_has_more_than_half() -> None:
    """The argument over F₂, on random orders: all sums occur as soon as both groups have more than half."""
    rng, full = np.random.default_rng(3), 0
    for bits, layers in ((7, 2), (9, 3), (11, 3), (12, 4)):
        for _ in range(10):
            groups = [[rng.permutation(bits) for _ in range(layers)] for _ in range(2)]
            sizes_of = [len(parity.sums_of_prefixes(group)[0]) for group in groups]
            together = len(parity.sums_of_prefixes([*groups[0], *groups[1]])[0])
            if min(sizes_of) > 2 ** (bits - 1):
                assert together == 2**bits
                full += 1
    assert full > 5


# ---------------------------------------------------------------- the path of greedy search


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1))
def test_greedy_search_returns_the_path_whose_sorted_values_are_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    tail, head = np.nonzero((rng.random((n, n)) < rng.choice([0.3, 0.5, 0.8])) & ~np.eye(n, dtype=bool))
    children = reference.children_of(n, tail.tolist(), head.tolist(), [1.0] * tail.size)
    rho = rng.permutation(n).tolist()
    paths = [path for _, path in simple_paths(children, 0, n - 1)]
    run = reference.gbfs(children, 0, n - 1, rho)
    if not paths:
        assert run.status == "no_path"
        return
    inner = sorted(paths, key=lambda path: sorted((rho[v] for v in path[1:-1]), reverse=True))
    assert run.path == inner[0]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_one_value_gives_greedy_search_at_most_two_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 6
    tail, head = np.nonzero((rng.random((n, n)) < 0.5) & ~np.eye(n, dtype=bool))
    children = reference.children_of(n, tail.tolist(), head.tolist(), [1.0] * tail.size)
    rho, moving = (2 * rng.permutation(n)).tolist(), int(rng.integers(1, n - 1))
    seen = []
    for value in range(-1, 2 * n + 2, 2):
        rho[moving] = value
        seen.append(tuple(reference.gbfs(children, 0, n - 1, rho).path))
    changes = [a for a, b in itertools.pairwise(seen) if a != b]
    assert len(changes) <= 1
    if changes:
        assert moving in seen[0]
        assert moving not in seen[-1]
