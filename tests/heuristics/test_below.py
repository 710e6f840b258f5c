"""The promise of optimal answers, kept also when weights fall below the bounds that it rests on."""

import warnings
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import rhostar as rs
from rhostar.errors import BoundsWarning, InputError, ModelError, WeightError
from support.instances import square_grid


def unread() -> tuple[rs.Graph, NDArray[np.float64], NDArray[np.float64]]:
    """s → t 25, s → a → b → t with 10 each; today b → t costs 1. A search towards t never reads b → t."""
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [3, 1, 2, 3])
    return graph, graph.arrange([25.0, 10.0, 10.0, 10.0]), graph.arrange([25.0, 10.0, 10.0, 1.0])


@pytest.mark.parametrize("kind", ["learn", "potentials", "model", "per goal"])
def test_an_edge_that_no_search_reads(kind: str, tmp_path: Path) -> None:
    graph, usual, today = unread()
    past = rs.InstanceSet(graph, usual, sources=0, goal=3)
    learner: object = rs.learn(past)
    if kind == "potentials":
        learner = rs.learners.Potentials().fit(past)
    elif kind == "per goal":
        learner = rs.learners.PerGoal(rs.learners.LowerEnvelope()).fit(past)
    elif kind == "model":
        rs.Model.of(learner, graph).save(tmp_path / "model.npz")
        learner = rs.Model.load(tmp_path / "model.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.astar(graph, usual, 0, 3, learner).cost == 25
        # Without the comparison the answer is wrong: nothing else protects it.
        assert rs.astar(graph, today, 0, 3, learner, checked=True).cost == 25
        assert rs.solve_many(rs.InstanceSet(graph, today, 0, 3), learner, checked=True).cost == [25]
    both = rs.InstanceSet(graph, np.stack([usual, today]), sources=[0, 0, 1, 0], goal=3, rows=[0, 1, 1, 0])
    for reopen in (True, False):
        with pytest.warns(BoundsWarning, match=r"1 edge is below .*: 2 -> 3 costs 1, but its lower bound is 10\."):
            assert rs.astar(graph, today, 0, 3, learner, reopen=reopen).cost == 21
    for search in (lambda: rs.astar(graph, today, 0, 3, learner), lambda: rs.solve_many(both, learner)):
        with pytest.warns(BoundsWarning) as told:
            search()
        assert Path(told[0].filename) == Path(__file__), "it names the line of the caller"
        assert told[0].lineno == search.__code__.co_firstlineno
    with pytest.warns(BoundsWarning, match="snapshot 1"):
        runs = rs.solve_many(both, learner)
    assert runs.cost.tolist() == [25, 21, 11, 25]
    assert [path.tolist() for path in runs.path] == [[0, 3], [0, 1, 2, 3], [1, 2, 3], [0, 3]]
    with pytest.warns(BoundsWarning):
        (found,) = rs.evaluate(learner, both, rs.utilities.Suboptimality(10))
    assert found.mean == 0


def test_the_nearest_goal_stays_the_nearest() -> None:
    graph, usual, today = unread()
    learner = rs.learners.Potentials().fit(rs.InstanceSet(graph, usual, sources=0, goal=3))
    assert rs.search.astar_to_nearest(graph, today, 0, [3], learner, checked=True).cost == 25
    with pytest.warns(BoundsWarning):
        assert rs.search.astar_to_nearest(graph, today, 0, [3], learner).cost == 21


@settings(max_examples=300)
@given(st.data())
def test_answers_are_optimal_whatever_the_weights(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 9))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    edges = data.draw(st.lists(ends, min_size=1, max_size=25, unique=True))
    graph = rs.Graph.from_edges(n, *zip(*edges, strict=True))
    weight = st.integers(0, 20).map(float) | st.just(np.inf)
    rows = data.draw(st.lists(st.lists(weight, min_size=graph.m, max_size=graph.m), min_size=2, max_size=4))
    weights = np.array(rows)
    goals = [v for v in range(n) if np.isfinite(rs.distances_to(graph, weights[0], v)).sum() > 1]
    if not goals:
        return
    goal = data.draw(st.sampled_from(goals))
    start = next(v for v in range(n) if v != goal and np.isfinite(rs.distances_to(graph, weights[0], goal)[v]))
    past = rs.InstanceSet(graph, weights[0], sources=start, goal=goal)
    starts = np.delete(np.arange(n), goal)
    rows_of = np.repeat(np.arange(len(weights)), starts.size)
    new = rs.InstanceSet(graph, weights, np.tile(starts, len(weights)), goal, rows=rows_of, infeasible="keep")
    optimum = rs.solve_many(new, np.zeros(n)).cost
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundsWarning)
        for learner in (rs.learn(past), rs.learners.Potentials().fit(past), rs.learners.Landmarks(2).fit(past)):
            for reopen in (True, False):
                assert rs.solve_many(new, learner, reopen=reopen).cost == pytest.approx(optimum, abs=1e-4)
                one = data.draw(st.integers(0, len(new) - 1))
                assert rs.astar(*new[one], learner, reopen=reopen).cost == pytest.approx(optimum[one], abs=1e-4)


def test_a_snapshot_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rhostar.heuristics import _below as below

    instances = square_grid(40, side=8)
    learner = rs.learn(instances[:20])
    compared = []
    compare = below._compare
    monkeypatch.setattr(below, "_compare", lambda some, lower: compared.extend(some) or compare(some, lower))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundsWarning)
        for _ in range(3):
            compared.clear()
            rs.solve_many(instances, learner)
            assert len(compared) == np.unique(instances.rows).size, "once in each call"
        row = 0.5 * instances.weights[0]
        snapshot = rs.Snapshot(instances.graph, row)
        for given, expected in ((snapshot, 1), (row, 3)):
            compared.clear()
            runs = [rs.astar(instances.graph, given, 0, 63, learner) for _ in range(3)]
            assert len(compared) == expected, "an array that may change is compared every time"
            assert len({(run.cost, run.expanded) for run in runs}) == 1
            assert rs.astar(instances.graph, given, 0, 63, learner, checked=True).path.size
    assert len(snapshot._known) == 1
    del learner
    assert len(snapshot._known) == 0, "what is known is forgotten with the heuristic"


@pytest.mark.parametrize("how", ["memmap", "flag", "shared memory"])
def test_read_only_weights_that_change_are_compared_again(how: str, tmp_path: Path) -> None:
    """A read-only array says nothing about who else can write to its memory."""
    graph, usual, today = unread()
    learner = rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3))
    shared = None
    if how == "memmap":
        usual.tofile(tmp_path / "w")
        weights = np.memmap(tmp_path / "w", dtype=float, mode="r")
        writer = np.memmap(tmp_path / "w", dtype=float, mode="r+")
    elif how == "flag":
        writer = weights = usual.copy()
        weights.flags.writeable = False
    else:
        shared = SharedMemory(create=True, size=usual.nbytes)
        writer, weights = (np.ndarray(usual.shape, buffer=shared.buf) for _ in range(2))
        writer[:] = usual
        weights.flags.writeable = False
    snapshot = rs.Snapshot(graph, weights)
    instances = rs.InstanceSet(graph, weights[None], sources=0, goal=3)
    assert rs.astar(graph, weights, 0, 3, learner).cost == 25
    assert rs.solve_many(instances, learner).cost == [25]
    writer.flags.writeable = True
    writer[:] = today
    writer.flags.writeable = False
    with pytest.warns(BoundsWarning):
        assert rs.astar(graph, weights, 0, 3, learner).cost == 21
    with pytest.warns(BoundsWarning):
        assert rs.solve_many(instances, learner).cost == [21]
    assert rs.astar(graph, snapshot, 0, 3, learner).cost == 25, "a snapshot has a copy of its own"
    if shared is not None:
        del writer, weights, instances
        shared.close()
        shared.unlink()


def test_a_mapped_set_that_changes_is_compared_again(tmp_path: Path) -> None:
    graph, usual, today = unread()
    learner = rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3))
    rs.InstanceSet(graph, usual[None], sources=0, goal=3).save(tmp_path / "set")
    loaded = rs.InstanceSet.load(tmp_path / "set", mmap=True)
    assert rs.solve_many(loaded, learner).cost == [25]
    (path,) = (tmp_path / "set").glob("weights*.npy")
    np.load(path, mmap_mode="r+")[:] = today
    with pytest.warns(BoundsWarning):
        assert rs.solve_many(loaded, learner).cost == [21]


def test_lowered_tables_are_solved_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from rhostar.search import _many

    past = square_grid(30, side=6)
    goals = np.where(np.arange(30) % 3, 35, 7)
    sources = np.where(past.sources == goals, 20, past.sources)
    learner = rs.learn(rs.InstanceSet(past.graph, past.weights, sources, goals))
    weights = past.weights * np.where(np.arange(30) % 2, 1.0, 0.8)[:, None]
    new = rs.InstanceSet(past.graph, weights, sources, goals)
    with pytest.warns(BoundsWarning):
        whole = rs.solve_many(new, learner)
    assert whole.cost == pytest.approx(rs.solve_many(new, np.zeros(36)).cost)
    assert (whole.expanded != rs.solve_many(new, learner, checked=True).expanded).any(), "something was lowered"
    for most in (1, 100):
        monkeypatch.setattr(_many, "_LOWERED_AT_ONCE", most)
        with pytest.warns(BoundsWarning):
            found = rs.solve_many(new, learner, n_jobs=2)
        assert np.array_equal(found.expanded, whole.expanded)
        assert np.array_equal(found.cost, whole.cost)


def test_a_set_over_an_array_that_changes_is_compared_again() -> None:
    graph, usual, today = unread()
    learner = rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3))
    buffer = usual[None].copy()
    stream = rs.InstanceSet(graph, buffer, sources=0, goal=3)
    assert rs.solve_many(stream, learner).cost == [25]
    buffer[0] = today  # the set is a view of this array
    with pytest.warns(BoundsWarning):
        assert rs.solve_many(stream, learner).cost == [21]


def test_a_changed_array_is_seen() -> None:
    graph, usual, today = unread()
    learner = rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3))
    weights = usual.copy()
    assert rs.astar(graph, weights, 0, 3, learner).cost == 25
    weights[:] = today
    with pytest.warns(BoundsWarning):
        assert rs.astar(graph, weights, 0, 3, learner).cost == 21


def test_stated_bounds() -> None:
    instances = square_grid(40, side=8)
    graph = instances.graph
    learner = rs.learn(instances, lower=0.5)
    assert isinstance(learner, rs.learners.LowerEnvelope)
    assert learner.heuristic_.consistent_for.tolist() == [0.5] * graph.m
    per_edge = instances.weights.min(axis=0) / 2
    learner = rs.learn(instances, lower=per_edge)
    assert np.array_equal(learner.heuristic_.consistent_for, per_edge)
    with pytest.raises(WeightError, match="below lower"):
        rs.learn(instances, lower=100)
    named = rs.Graph.from_edges(2, [0], [1], labels=["home", "work"])
    with pytest.raises(WeightError, match="edge 'home' -> 'work'"):
        rs.learn(rs.InstanceSet(named, [[1.0]], sources=0, goal=1), lower=2)
    with pytest.raises(InputError, match="lower belongs to max_excess"):
        rs.learn(instances, mean_excess=0.01, lower=0)


def test_each_kind_of_excess() -> None:
    instances = square_grid(60, side=8)
    assert rs.learn(instances).heuristic_.lower is not None
    assert np.array_equal(rs.learn(instances, max_excess=0).rho_, rs.learn(instances).rho_)
    bold = rs.learn(instances, max_excess=0.2)
    assert np.array_equal(bold.rho_, 1.2 * rs.learn(instances).rho_)
    runs, optimum = rs.solve_many(instances, bold), rs.solve_many(instances, np.zeros(64))
    assert (runs.cost <= 1.2 * optimum.cost).all()
    assert runs.expanded.sum() < rs.solve_many(instances, rs.learn(instances)).expanded.sum()
    one = rs.learn(instances, mean_excess=0.01, effort="quick")
    assert one.mean_excess == 0.01
    assert one.heuristic_.lower is None
    assert rs.learn(instances, mean_excess=np.inf, effort="quick").heuristic_.lower is None
    assert rs.learn(instances, algorithm="gbfs", effort="quick").algorithm == "gbfs"
    for name, values in (("max_excess", (-0.1, np.nan, np.inf, "1%")), ("mean_excess", (-0.1, np.nan, "1%", [0.1]))):
        for wrong in values:
            with pytest.raises(InputError, match=f"{name} must be"):
                rs.learn(instances, **{name: wrong})
    for name in ("max_excess", "mean_excess"):
        with pytest.raises(InputError, match="greedy search ignores what a path costs"):
            rs.learn(instances, **{name: 0.01}, algorithm="gbfs")
        with pytest.raises(InputError, match=f"{name} and utility cannot be combined"):
            rs.learn(instances, **{name: 0.01}, utility=rs.utilities.Expansions(limit=10))
    with pytest.raises(InputError, match="max_excess and mean_excess cannot be combined"):
        rs.learn(instances, max_excess=0.1, mean_excess=0.01)
    with pytest.raises(InputError, match="effort must be one of 'quick', 'normal', 'thorough', got 'much'"):
        rs.learn(instances, mean_excess=0.01, effort="much")


def test_several_and_many_goals() -> None:
    graph = rs.Graph.grid(8, 8)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 3, size=(40, graph.m))
    few = rs.InstanceSet(graph, weights, sources=0, goal=np.repeat([63, 60], 20))
    learner = rs.learn(few)
    assert sorted(learner.heuristic_.goals) == [60, 63]
    assert learner.heuristic_.lower is not None
    assert np.array_equal(learner.heuristic_.consistent_for, weights.min(axis=0)), (
        "bounds come from all snapshots, whatever the goal"
    )
    many = rs.InstanceSet(graph, weights, sources=0, goal=rng.integers(20, 64, 40))
    potential = rs.learn(many)
    assert isinstance(potential, rs.learners.Potentials)
    for found, instances in ((learner, few), (potential, many)):
        assert np.allclose(rs.solve_many(instances, found).cost, rs.solve_many(instances, np.zeros(64)).cost)


def test_a_model_with_bounds_of_another_length() -> None:
    graph, usual, _ = unread()
    model = rs.Model.of(rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3)), graph)
    with pytest.raises(ModelError, match="for a graph with 3 edges; this one has 4 vertices and 4 edges"):
        rs.astar(graph, usual, 0, 3, model.heuristic.with_facts(lower=np.ones(3)))


def test_networkx_keeps_the_promise() -> None:
    nx = pytest.importorskip("networkx")
    rng = np.random.default_rng(0)
    town = nx.DiGraph(nx.grid_2d_graph(9, 9))
    for _, _, road in town.edges(data=True):
        road["secs"] = float(rng.uniform(10, 20))
    network = rs.interop.from_networkx(town, "secs")
    goal = (8, 8)
    learner = rs.learn(rs.InstanceSet(network.graph, network.weights, 0, network.graph.vertex(goal)))
    model = rs.Model.of(learner, network.graph)
    for _, _, road in list(town.edges(data=True))[::5]:
        road["secs"] *= 0.2
    bare = learner.rho_
    wrong = 0
    for start in list(town)[:-1:7]:
        best = nx.dijkstra_path_length(town, start, goal, weight="secs")
        for heuristic in (learner, model):
            with pytest.warns(BoundsWarning):
                path = rs.astar_path(town, start, goal, heuristic, weight="secs")
            assert nx.path_weight(town, path, "secs") == pytest.approx(best)
            with pytest.warns(BoundsWarning):
                length = nx.astar_path_length(town, start, goal, heuristic, weight="secs", backend="rhostar")
            assert length == pytest.approx(best)
        wrong += nx.path_weight(town, rs.astar_path(town, start, goal, bare, weight="secs"), "secs") > best + 1e-9
    assert wrong, "the array alone does not protect"


@pytest.mark.parametrize("weight", [-1.0, np.nan])
def test_a_weight_that_is_none_is_found_anywhere(weight: float) -> None:
    graph, usual, _ = unread()
    learner = rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3))
    wrong = usual.copy()
    wrong[graph.edge_index([2], [3])] = weight
    assert rs.astar(graph, wrong, 0, 3, learner.rho_).cost == 25, "the search does not read it"
    potential = rs.learners.Potentials().fit(rs.InstanceSet(graph, usual, sources=0, goal=3))
    with pytest.raises(WeightError, match="2 -> 3"):
        rs.astar(graph, wrong, 0, 3, learner)
    with pytest.raises(WeightError, match="2 -> 3"):
        rs.search.astar_to_nearest(graph, wrong, 0, [3], potential)
