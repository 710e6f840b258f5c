"""Sets of instances: construction and its checks, views, splits, obstacles."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import ArrayError, InfeasibleError, InputError, InstanceError, VertexError, WeightError
from support.instances import grid_instances


@pytest.fixture
def grid() -> rs.Graph:
    return rs.Graph.grid(4, 5)


@pytest.fixture
def instances(rng: np.random.Generator) -> rs.InstanceSet:
    return grid_instances(4, 5, 12, sources=rng.integers(0, 10, 12))


def test_the_example_of_the_design(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(20, 20, neighbors=8)
    weights = rng.uniform(1, 2, size=(500, graph.m))
    sources = rng.integers(0, graph.n - 1, size=500)
    instances = rs.InstanceSet(graph, weights, sources, goal=graph.n - 1)
    train, test = instances.split(0.8, seed=0)
    assert (len(train), len(test), train.shape, train.overlap(test)) == (400, 100, (400,), 0)
    run = rs.astar(*test[0], np.zeros(graph.n), reopen=True)
    assert run.status == "solved"
    runs = rs.solve_many(test, np.zeros(graph.n), algorithm="gbfs")
    assert len(runs) == 100
    assert runs.solved.all()


def test_one_instance_is_what_a_search_takes(instances: rs.InstanceSet) -> None:
    graph, weights, source, goal = instances[3]
    assert graph is instances.graph
    assert np.shares_memory(weights, instances.weights)
    assert (source, goal) == (instances.sources[3], 19)
    assert instances[-1].source == instances.sources[-1]
    assert instances[np.int64(3)].source == source
    with pytest.raises(IndexError):
        instances[12]
    assert [i.source for i in instances] == instances.sources.tolist()


@given(st.data())
def test_views_of_views_never_copy_and_know_where_they_come_from(data: st.DataObject) -> None:
    graph = rs.Graph.grid(2, 2)
    whole = rs.InstanceSet(graph, np.arange(80.0).reshape(10, 8), [0] * 10, goal=3)
    view, expected = whole, np.arange(10)
    for _ in range(3):
        key = data.draw(
            st.builds(
                slice,
                st.none() | st.integers(-12, 12),
                st.none() | st.integers(-12, 12),
                st.sampled_from([None, 1, 2, -1]),
            )
            | st.lists(st.integers(0, max(0, len(expected) - 1)), max_size=5 if len(expected) else 0)
            | st.lists(st.booleans(), min_size=len(expected), max_size=len(expected))
        )
        index = key if isinstance(key, slice) else np.array(key, dtype=None if key else np.int64)
        view, expected = view[index], expected[index]
        assert view._stored is whole._stored
        assert np.array_equal(view.weights, whole.weights[np.unique(expected)])
        assert view.indices.tolist() == view.snapshot_indices[view.rows].tolist() == expected.tolist()
        assert view.origin == whole.origin
        assert whole.overlap(view) == len(set(expected.tolist()))


def test_scikit_learn_takes_rows_and_folds(instances: rs.InstanceSet) -> None:
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")

    class Constant(base.BaseEstimator):
        def __init__(self, scale: float = 1.0) -> None:
            self.scale = scale

        def fit(self, instances: rs.InstanceSet, y: None = None) -> "Constant":
            assert isinstance(instances, rs.InstanceSet)
            self.rho_ = np.full(instances.graph.n, self.scale)
            return self

        def score(self, instances: rs.InstanceSet, y: None = None) -> float:
            assert isinstance(instances, rs.InstanceSet)
            return -self.scale * len(instances)

    search = selection.GridSearchCV(Constant(), {"scale": [1.0, 2.0]}, cv=3).fit(instances)
    assert search.best_params_ == {"scale": 1.0}
    first, second = selection.train_test_split(instances, test_size=0.25, random_state=0)
    assert (len(first), len(second), first.overlap(second)) == (9, 3, 0)


def test_splits(instances: rs.InstanceSet) -> None:
    first, second = instances.split(0.5, seed=3)
    again, _ = instances.split(0.5, seed=3)
    other, _ = instances.split(0.5, seed=4)
    assert first.indices.tolist() == again.indices.tolist() != other.indices.tolist()
    assert sorted([*first.indices, *second.indices]) == list(range(12))
    days = np.repeat(["mo", "tu", "we", "th"], 3)
    first, second = instances.split(0.75, seed=0, groups=days)
    assert (len(first), len(second)) == (9, 3)
    assert not set(days[first.indices]) & set(days[second.indices])


@pytest.mark.parametrize(
    ("fraction", "groups", "error"),
    [
        (0, None, InputError),
        (1.5, None, InputError),
        (0.01, None, InputError),
        (0.5, [1] * 12, InputError),
        (0.5, [1, 2], ArrayError),
    ],
)
def test_splits_that_leave_nothing_are_refused(instances: rs.InstanceSet, fraction, groups, error) -> None:
    with pytest.raises(error):
        instances.split(fraction, seed=0, groups=groups)


def test_many_starts_share_a_snapshot(grid: rs.Graph) -> None:
    one = rs.InstanceSet(grid, grid.length, [0, 1, 2], goal=19)
    assert (len(one), one.rows.tolist()) == (3, [0, 0, 0])
    weights = np.stack([grid.length, 2 * grid.length])
    some = rs.InstanceSet(grid, weights, [0, 1, 2], [19, 18, 17], rows=[0, 1, 1])
    assert rs.solve_many(some, np.zeros(20)).cost.tolist() == [7.0, 2 * 5.0, 2 * 3.0]


def test_by_goal(grid: rs.Graph) -> None:
    some = rs.InstanceSet(grid, grid.length, [0, 1, 2], [19, 18, 19])
    assert some.goal.tolist() == [19, 18, 19]
    parts = some.by_goal()
    assert list(parts) == [18, 19]
    assert parts[19].indices.tolist() == [0, 2]
    assert parts[19].goal == 19


def test_rho_for_each_goal(grid: rs.Graph) -> None:
    some = rs.InstanceSet(grid, grid.length, [0, 1, 2], [19, 18, 19])
    rho = {goal: rs.distances_to(grid, grid.length, goal) for goal in (18, 19)}
    runs = rs.solve_many(some, rho, lower_bound=rho)
    for i, run in enumerate(runs):
        single = rs.astar(*some[i], rho, lower_bound=rho)
        assert run.path.tolist() == single.path.tolist()
        assert run[3:8] == single[3:8]
        assert run.gap == 0.0
    zero = np.zeros(20)
    assert rs.solve_many(some, zero, lower_bound=rho).gap.tolist() == [0, 0, 0]
    shared = {18: zero, 19: zero}
    assert rs.solve_many(some, shared).expanded.tolist() == rs.solve_many(some, zero).expanded.tolist()

    # Values made on the spot may reuse the memory of the ones before.
    class Made(dict):
        def __getitem__(self, goal: int) -> list[float]:
            return rho[goal].tolist()

    assert rs.solve_many(some, Made()).expanded.tolist() == runs.expanded.tolist()
    with pytest.raises(rs.errors.HeuristicError, match="no values for goal 19"):
        rs.solve_many(some, {18: zero})
    with pytest.raises(rs.errors.HeuristicError, match="no values for goal 19; it has values for 18"):
        rs.astar(*some[0], {18: zero})


@pytest.mark.parametrize(
    "dtype",
    [
        bool,
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.int32,
        np.uint32,
        np.int64,
        np.uint64,
        np.float16,
        np.float32,
        np.float64,
    ],
)
def test_all_types_of_weights(grid: rs.Graph, dtype) -> None:
    some = rs.InstanceSet(grid, np.ones((1, grid.m), dtype=dtype), 0, 19)
    assert some.weights.dtype in (np.float32, np.float64, np.int32, np.int64)
    assert rs.solve_many(some, np.zeros(20)).cost.tolist() == [7.0]
    assert rs.astar(*some[0], np.zeros(20)).cost == 7.0


def test_layouts(grid: rs.Graph, rng: np.random.Generator) -> None:
    weights = rng.uniform(1, 2, (6, grid.m))
    expected = rs.solve_many(rs.InstanceSet(grid, weights, 0, 19), np.zeros(20)).cost
    for layout in (
        np.asfortranarray(weights),
        np.repeat(weights, 2, axis=1)[:, ::2],
        weights[::-1][::-1],
        weights.tolist(),
    ):
        assert rs.solve_many(rs.InstanceSet(grid, layout, 0, 19), np.zeros(20)).cost.tolist() == expected.tolist()
    every_other = rs.InstanceSet(grid, weights[::2], 0, 19)
    assert np.shares_memory(every_other.weights, weights)
    assert rs.solve_many(every_other, np.zeros(20)).cost.tolist() == expected[::2].tolist()
    backwards = rs.InstanceSet(grid, weights[::-1], 0, 19)
    assert rs.solve_many(backwards, np.zeros(20)).cost.tolist() == expected[::-1].tolist()
    weights.flags.writeable = False
    assert rs.solve_many(rs.InstanceSet(grid, weights, 0, 19), np.zeros(20)).cost.tolist() == expected.tolist()


@pytest.mark.slow
def test_more_weights_than_32_bits_can_count(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(100, 100)
    row = rng.uniform(1, 2, graph.m).astype(np.float32)
    count = 2**31 // graph.m + 10
    weights = np.broadcast_to(row, (count, graph.m))  # takes no memory
    some = rs.InstanceSet(graph, weights, [0, 0], goal=9999, rows=[0, count - 1])
    assert weights.size > 2**31
    first, last = rs.solve_many(some, np.zeros(graph.n)).cost
    assert first == last


def test_a_set_that_comes_through_a_pipe_may_lie_askew(instances: rs.InstanceSet) -> None:
    def askew(buffer: pickle.PickleBuffer) -> memoryview:
        raw = bytearray(1) + bytes(buffer.raw())
        return memoryview(raw)[1:]

    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(instances, protocol=5, buffer_callback=buffers.append)
    copy = pickle.loads(pickled, buffers=[askew(buffer) for buffer in buffers])
    assert len(buffers) > 3
    assert all(getattr(copy, name).flags.aligned for name in ("weights", "rows", "sources", "goals"))
    zero = np.zeros(20)
    assert rs.solve_many(copy, zero).cost.tolist() == rs.solve_many(instances, zero).cost.tolist()


def test_unused_snapshots_do_not_travel(instances: rs.InstanceSet) -> None:
    copy = pickle.loads(pickle.dumps(instances[[2, 7]]))
    assert copy.weights.shape[0] == 2
    assert copy.indices.tolist() == [2, 7]
    assert copy.origin == instances.origin
    zero = np.zeros(20)
    assert rs.solve_many(copy, zero).cost.tolist() == rs.solve_many(instances, zero).cost[[2, 7]].tolist()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"weights": np.full((2, 62), np.nan)}, WeightError, r"weights\[0, 0\] \(edge 0 -> 1, instance 0\).* got nan"),
        ({"weights": np.full((2, 62), -1)}, WeightError, r"weights\[0, 0\].* got -1"),
        ({"weights": np.full((2, 62), 2**60)}, WeightError, r"below 2\*\*53"),
        ({"weights": np.full((2, 62), 2**64 - 1, dtype=np.uint64)}, WeightError, r"2\*\*53"),
        ({"weights": np.ones((2, 61))}, ArrayError, r"\(K, 62\).* got \(2, 61\)"),
        ({"weights": np.ones((2, 2, 62))}, ArrayError, r"\(K, 62\)"),
        ({"weights": np.ones((0, 62))}, InstanceError, "at least one instance"),
        ({"weights": np.full((2, 62), "a")}, ArrayError, "must be numbers"),
        ({"weights": np.full((2, 62), 1j)}, ArrayError, "must be numbers"),
        ({"sources": []}, InstanceError, "at least one instance"),
        ({"sources": [0, 20]}, VertexError, r"sources\[1\] must be a vertex in 0..19, got 20"),
        ({"sources": [0, -1]}, VertexError, r"sources\[1\]"),
        ({"sources": [0.0, 1.0]}, ArrayError, "sources must contain integers"),
        ({"sources": [0, 1, 2]}, ArrayError, "sources has 3 entries for 2 snapshots"),
        ({"sources": [0, 19]}, InstanceError, r"instance 1 starts at its goal \(vertex 19\)"),
        ({"goal": 20}, VertexError, r"goal\[0\].* got 20"),
        ({"goal": "x"}, ArrayError, "goal must contain integers"),
        ({"rows": [0, 2]}, VertexError, r"rows\[1\] must be a snapshot in 0..1, got 2"),
        ({"weights": [[1], [1, 2]]}, ArrayError, "weights .* ragged"),
        ({"sources": [[1], [1, 2]]}, ArrayError, "sources .* ragged"),
        ({"rows": [0, 0, 1]}, ArrayError, "sources has 2 entries for 3 rows"),
        ({"infeasible": "maybe"}, InputError, "'raise', 'drop' or 'keep', got 'maybe'"),
        ({"graph": "grid"}, InputError, "graph must be a Graph"),
    ],
)
def test_bad_sets_are_named(grid: rs.Graph, change, error, message) -> None:
    arguments = {"graph": grid, "weights": np.ones((2, 62)), "sources": [0, 1], "goal": 19} | change
    with pytest.raises(error, match=message) as caught:
        rs.InstanceSet(**arguments)
    assert isinstance(caught.value, ValueError)


def test_one_bad_weight_among_many_is_found(grid: rs.Graph, rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(100, 60)
    for dtype, bad in ((np.float64, np.nan), (np.float32, -1e-30), (np.int64, -1), (np.int32, -5)):
        weights = rng.integers(0, 9, (7, graph.m)).astype(dtype)
        weights[5, 20_011] = weights[6, 3] = bad
        with pytest.raises(WeightError, match=r"weights\[5, 20011\].*no instance uses"):
            rs.InstanceSet(graph, weights, [0, 1], goal=9, rows=[0, 6])


def test_a_graph_of_one_vertex_has_no_instances() -> None:
    with pytest.raises(InstanceError, match="starts at its goal"):
        rs.InstanceSet(rs.Graph.from_edges(1, [], []), np.ones((1, 0)), 0, 0)


def test_infeasible_instances(rng: np.random.Generator) -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    weights = np.array([[1, 1, 1], [1, np.inf, 1], [1, 1, 1], [np.inf, 1, 1]])
    with pytest.raises(InfeasibleError, match=r"instance 1 has no path from 0 to 3 \(snapshot 1\)"):
        rs.InstanceSet(graph, weights, 0, 3)
    dropped = rs.InstanceSet(graph, weights, 0, 3, infeasible="drop")
    assert (dropped.indices.tolist(), dropped.snapshot_indices.tolist()) == ([0, 2], [0, 2])
    kept = rs.InstanceSet(graph, weights, 0, 3, infeasible="keep")
    assert rs.solve_many(kept, np.zeros(4)).status.tolist() == ["solved", "no_path", "solved", "no_path"]
    with pytest.raises(InfeasibleError, match=r"no instance \(of 1\)"):
        rs.InstanceSet(graph, [1, 1, 1], 3, 0, infeasible="drop")


def test_feasibility_is_what_a_search_finds(rng: np.random.Generator) -> None:
    for _ in range(30):
        n = int(rng.integers(3, 12))
        graph = rs.Graph.from_edges(n, rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n))
        weights = np.where(rng.random((8, graph.m)) < rng.choice([0, 0.4], 8)[:, None], np.inf, 1.0)
        sources = rng.integers(0, n - 1, 8)
        goals = rng.integers(sources + 1, n)
        kept = rs.InstanceSet(graph, weights, sources, goals, infeasible="keep")
        solved = np.flatnonzero(rs.solve_many(kept, np.zeros(n)).solved)
        if solved.size:
            dropped = rs.InstanceSet(graph, weights, sources, goals, infeasible="drop")
            assert dropped.indices.tolist() == solved.tolist()


def test_obstacles_and_corners() -> None:
    grid = rs.Graph.grid(3, 3, neighbors=8)
    blocked = np.zeros((2, 3, 3), dtype=np.uint8)
    blocked[0, 0, 1] = blocked[1, 1, 1] = 255
    cut = rs.InstanceSet.from_obstacles(grid, blocked, 0, 8, corner_cutting=True)
    around = rs.InstanceSet.from_obstacles(grid, blocked, 0, 8, corner_cutting=False, dtype=np.float32)
    assert rs.solve_many(cut, np.zeros(9)).cost.tolist() == pytest.approx([2 * 2**0.5, 2 + 2**0.5])
    assert rs.solve_many(around, np.zeros(9)).cost.tolist() == pytest.approx([2 + 2**0.5, 4.0])
    assert around.weights.dtype == np.float32
    with pytest.raises(InfeasibleError):
        rs.InstanceSet.from_obstacles(grid, np.ones((3, 3)), 0, 8, corner_cutting=True)
    with pytest.raises(ArrayError, match="blocked must have shape"):
        rs.InstanceSet.from_obstacles(grid, np.zeros((3, 4)), 0, 8, corner_cutting=True)
    with pytest.raises(InputError, match=r"Graph\.grid"):
        rs.InstanceSet.from_obstacles(rs.Graph.from_edges(2, [0], [1]), np.zeros((1, 2)), 0, 1, corner_cutting=True)
    with pytest.raises(InputError, match="float32"):
        rs.InstanceSet.from_obstacles(grid, blocked, 0, 8, corner_cutting=True, dtype=int)
    with pytest.raises(ArrayError, match="truth values or numbers"):
        rs.InstanceSet.from_obstacles(grid, np.full((3, 3), "."), 0, 8, corner_cutting=True)
    with pytest.raises(TypeError):
        rs.InstanceSet.from_obstacles(grid, blocked, 0, 8)  # cutting corners is always stated


def test_an_empty_view_is_fine_until_a_mean_is_asked_for(instances: rs.InstanceSet) -> None:
    empty = instances[:0]
    assert (len(empty), len(list(empty)), repr(empty)) == (
        0,
        0,
        "InstanceSet(0 instances, 0 snapshots of 62 edges, 0 goals)",
    )
    assert len(rs.solve_many(empty, np.zeros(20))) == 0
    assert len(rs.solve_many(empty, np.zeros(20), lower_bound=np.zeros(20), n_jobs=2)) == 0
    assert len(rs.solve_many(empty, {19: np.zeros(20)}, lower_bound={19: np.zeros(20)})) == 0
    with pytest.raises(InputError, match="must not be empty"):
        rs.evaluate(np.zeros(20), empty, [rs.utilities.Cost(9)])
    with pytest.raises(ArrayError, match="an index must be"):
        instances[[0.5]]


def test_a_part_shows_only_its_own_snapshots(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(3, 3)
    weights = rng.uniform(1, 2, (8, graph.m))
    whole = rs.InstanceSet(graph, weights, 0, 8, rows=[6, 1, 4, 4, 3, 0], days=np.arange(8) // 2)
    assert whole.snapshot_indices.tolist() == [0, 1, 3, 4, 6]
    for part in (whole, *whole.split(0.5, seed=0), whole[2:4], whole[[0, 1]], whole[:0], whole.draw(4, seed=0)):
        own = sorted({int(row) for row in part.snapshot_indices})
        assert np.array_equal(part.weights, weights[own])
        assert part.days.tolist() == [row // 2 for row in own]
        assert sorted(set(part.rows.tolist())) == list(range(len(part.weights)))
        for i, instance in enumerate(part):
            assert np.array_equal(part.weights[part.rows[i]], instance.weights)
        assert not any(array.flags.writeable for array in (part.weights, part.rows, part.days, part.snapshot_indices))
        assert part.weights is part.weights
    # Evenly spaced snapshots are not copied.
    assert all(np.shares_memory(part.weights, weights) for part in (whole[2:4], whole[[0, 2]], whole[[4, 0]]))


class FirstWeights(rs.learners.Learner):
    """As a user writes a learner: it reads what the set shows."""

    def _learn(self, instances: rs.InstanceSet) -> dict[str, np.ndarray]:
        return {"rho_": rs.distances_to(instances.graph, instances.weights.mean(axis=0), instances.goal)}


def test_an_own_learner_does_not_see_the_other_half(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(4, 4)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (40, graph.m)), 0, 15)
    train, holdout = instances.split(0.5, seed=0)
    learned = FirstWeights().fit(train).rho_
    assert not np.array_equal(learned, FirstWeights().fit(holdout).rho_)
    # What the other half contains changes nothing.
    changed = instances.weights.copy()
    changed[holdout.indices] *= 3
    again = rs.InstanceSet(graph, changed, 0, 15)[train.indices]
    assert np.array_equal(FirstWeights().fit(again).rho_, learned)
