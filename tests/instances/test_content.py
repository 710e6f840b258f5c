"""Content keys: copies are found whatever they went through, and different instances are not confused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import InputError
from rhostar.instances._provenance import ContentKeys, _direction

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
    both = ContentKeys.joined([ContentKeys.of(seen[:10]), ContentKeys.of(seen[10:])])
    assert len(both) == 20
    assert both.among(ContentKeys.of(seen)).all()


def test_they_survive_a_file_and_another_process_would_get_the_same(tmp_path: object) -> None:
    seen = draw(30, 0)
    seen.save(f"{tmp_path}/set")
    loaded = rs.InstanceSet.load(f"{tmp_path}/set")
    assert (ContentKeys.of(loaded).numbers() == ContentKeys.of(seen).numbers()).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64])
def test_the_numbers_are_those_of_numpy(dtype: type) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 1000, size=(12, GRAPH.m)).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        weights[3, 5] = weights[7, [0, 1, GRAPH.m - 1]] = np.inf
        weights[8] = weights[7]
    instances = rs.InstanceSet(GRAPH, weights, 0, goal=35, rows=[7, 3, 3, 8, 0], infeasible="keep")
    keys = ContentKeys.of(instances)

    def rough(w: np.ndarray) -> np.ndarray:  # lg, linear between powers of two
        share, power = np.frexp(w)
        return power - 1 + 2 * (share - 0.5) / 1.0

    for row, sketch in zip(instances._stored_rows[[0, 1, 4]], keys.sketches[keys.rows[[0, 1, 4]]], strict=True):
        there = np.isfinite(weights[row])
        snapshot = weights[row].astype(float)[there]
        level = rough(snapshot).mean()
        typical = 2.0 ** np.floor(level) * (1 + level - np.floor(level))
        terms = np.zeros(GRAPH.m)
        terms[there] = _direction(GRAPH.m)[there] * rough(snapshot + typical)
        expected = [terms[k::8].sum() / np.sqrt(GRAPH.m) for k in range(8)]
        np.testing.assert_allclose(sketch, expected, rtol=1e-9, atol=1e-9)
    absent = keys.absent[keys.rows]
    assert absent[1] == absent[2]
    assert absent[0] == absent[3], "the same edges are absent"
    if np.issubdtype(dtype, np.floating):
        assert len(set(absent.tolist())) == 3


def test_the_set_keeps_its_keys_and_views_take_theirs() -> None:
    whole = draw(20, 0)
    keys = ContentKeys.of(whole)
    assert ContentKeys.of(whole) is keys
    part = whole[[4, 2, 9]]
    assert part._keys is not None
    fresh = ContentKeys._computed(part)
    assert np.array_equal(ContentKeys.of(part).numbers(), fresh.numbers())
    assert ContentKeys.of(part).compact().sketches.shape == (3, 8), "no more than it needs"


def test_many_copies_cost_no_quadratic_work() -> None:
    pool = draw(3, 0)
    many = pool[np.random.default_rng(0).integers(0, 3, 200_000)]
    keys = ContentKeys.of(many)
    first = keys.first_match(keys)
    assert np.unique(first).size == 3
    assert (many.rows[first] == many.rows).all()


def test_parts_of_a_file_are_checked() -> None:
    keys = ContentKeys.of(draw(5, 0))
    parts = keys.to_parts("k")
    again = ContentKeys.from_parts(parts, "k")
    assert again is not None
    assert again.among(keys).all()
    assert ContentKeys.from_parts({}, "k") is None
    for name, wrong in (
        ("k_ends", parts["k_ends"].astype(np.int64)),
        ("k_absent", parts["k_absent"][:2]),
        ("k_rows", parts["k_rows"] + 1),
        ("k_sketches", np.full((5, 8), np.nan)),
        ("k_sketches", np.zeros((5, 3))),
    ):
        with pytest.raises(InputError, match="content keys k"):
            ContentKeys.from_parts(parts | {name: wrong}, "k")
    with pytest.raises(InputError, match="incomplete"):
        ContentKeys.from_parts({"k_rows": parts["k_rows"]}, "k")


@pytest.mark.parametrize("code", [1e6, 1e9, 1e12])
def test_codes_for_closed_roads_do_not_hide_the_rest(code: float) -> None:
    """A tenth of the roads has a huge weight; independent snapshots with such codes are not equal, and copies are."""
    rng = np.random.default_rng(0)
    closed = [np.where(rng.random((100, GRAPH.m)) < 0.1, code, rng.uniform(1, 2, (100, GRAPH.m))) for _ in range(2)]
    first, second = (rs.InstanceSet(GRAPH, weights, 0, goal=35) for weights in closed)
    keys = ContentKeys.of(first)
    assert not keys.repeats().any()
    assert not keys.among(ContentKeys.of(second)).any()
    assert keys.among(ContentKeys.of(copy(first, closed[0].astype(np.float32)))).all()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda w, rng: w.round(2), 80),
        (lambda w, rng: w.round(3), 80),
        (lambda w, rng: w + rng.normal(0, 1e-3, w.shape), 80),
        (lambda w, rng: w * (1 + rng.normal(0, 1e-3, w.shape)), 80),
        (lambda w, rng: w, 0),
        (lambda w, rng: rng.uniform(1, 2, w.shape), 0),
    ],
    ids=["2 decimals", "3 decimals", "jitter", "relative jitter", "equal", "independent"],
)
def test_nearly_equal_snapshots_are_found(change: object, found: int) -> None:
    rng = np.random.default_rng(1)
    weights = rng.uniform(1, 2, size=(80, GRAPH.m))
    changed = change(weights, rng)  # type: ignore[operator]
    keys, others = (ContentKeys.of(rs.InstanceSet(GRAPH, w, 0, goal=35)) for w in (weights, changed))
    assert keys.nearly(others) == found


@pytest.mark.parametrize("seed", range(5))
def test_independent_snapshots_are_not_nearly_equal(seed: int) -> None:
    """Whatever their law: one level for all edges, few integers, little noise around a base."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(1, 5, GRAPH.m)
    for draw_weights in (
        lambda: rng.uniform(1, 2, (200, 1)) * base,
        lambda: rng.integers(1, 3, (200, GRAPH.m)).astype(float),
        lambda: base * (1 + 0.001 * rng.random((200, GRAPH.m))),
    ):
        keys, others = (ContentKeys.of(rs.InstanceSet(GRAPH, draw_weights(), 0, goal=35)) for _ in range(2))
        assert keys.nearly(others) < 4


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
