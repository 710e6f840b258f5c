"""Content keys: copies are found whatever they went through, and different instances are not confused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.instances import ContentKeys

GRAPH = rs.Graph.grid(6, 6)


def draw(N: int, seed: int, **options: object) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(1, 100, size=(N, GRAPH.m))
    return rs.InstanceSet(GRAPH, weights, rng.integers(0, 35, N), goal=35, **options)  # type: ignore[arg-type]


def copy(instances: rs.InstanceSet, weights: np.ndarray) -> rs.InstanceSet:
    return rs.InstanceSet(instances.graph, weights, instances.sources, goal=35, rows=instances.rows)


@pytest.mark.parametrize(
    "changed",
    [
        lambda w: w.copy(),
        lambda w: w.astype(np.float32),
        lambda w: w * (1 + 1e-12),
        lambda w: w + np.random.default_rng(9).normal(0, 1e-9, w.shape),
    ],
    ids=["copy", "float32", "scaled", "jitter"],
)
def test_copies_are_found(changed: object) -> None:
    seen = draw(300, 0)
    again = copy(seen, changed(seen.weights))[::3]  # type: ignore[operator]
    found = ContentKeys.of(seen).first_match(ContentKeys.of(again))
    assert found.tolist() == list(range(0, 300, 3))


def test_others_are_not() -> None:
    seen, others = draw(2000, 0), draw(2000, 1)
    assert not ContentKeys.of(seen).among(ContentKeys.of(others)).any()
    assert not ContentKeys.of(seen).repeats().any()


def test_one_edge_the_start_and_absent_edges_tell_instances_apart() -> None:
    seen = draw(50, 0)
    weights = seen.weights.copy()
    weights[:, 7] *= 1.01
    assert not ContentKeys.of(seen).among(ContentKeys.of(copy(seen, weights))).any()
    moved = rs.InstanceSet(GRAPH, seen.weights, (seen.sources + 1) % 35, goal=35)
    assert not ContentKeys.of(seen).among(ContentKeys.of(moved)).any()
    weights = seen.weights.copy()
    weights[:, 7] = np.inf
    closed = copy(seen, weights)
    assert not ContentKeys.of(seen).among(ContentKeys.of(closed)).any()
    assert ContentKeys.of(closed).among(ContentKeys.of(copy(closed, weights.astype(np.float32)))).all()


def test_repeats_and_joined() -> None:
    seen = draw(20, 0)
    twice = seen[np.r_[0:20, 5, 5, 7]]
    assert np.flatnonzero(ContentKeys.of(twice).repeats()).tolist() == [20, 21, 22]
    both = ContentKeys.of(seen[:10]).joined(ContentKeys.of(seen[10:]))
    assert len(both) == 20
    assert both.among(ContentKeys.of(seen)).all()


def test_they_survive_a_file_and_another_process_would_get_the_same(tmp_path: object) -> None:
    seen = draw(30, 0)
    seen.save(f"{tmp_path}/set")
    loaded = rs.InstanceSet.load(f"{tmp_path}/set")
    assert (ContentKeys.of(loaded).projections == ContentKeys.of(seen).projections).all()
    assert (ContentKeys.of(loaded).rest == ContentKeys.of(seen).rest).all()


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 40))
def test_matches_are_those_of_a_plain_comparison(seed: int, first: int, second: int) -> None:
    rng = np.random.default_rng(seed)
    pool = rng.integers(1, 3, size=(4, GRAPH.m)).astype(float)
    sets = [
        rs.InstanceSet(GRAPH, pool, rng.integers(0, 3, N), goal=35, rows=rng.integers(0, 4, N)) for N in (first, second)
    ]
    plain = [[(tuple(w), s) for _, w, s, _ in part] for part in sets]
    found = ContentKeys.of(sets[0]).first_match(ContentKeys.of(sets[1]))
    assert found.tolist() == [plain[0].index(x) if x in plain[0] else -1 for x in plain[1]]
