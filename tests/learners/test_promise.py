"""The promise of optimal answers, kept also when weights fall below the bounds that it rests on."""

import warnings
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
        (found,) = rs.evaluate(both, learner, rs.utilities.Suboptimality(10))
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
    from rhostar.search import _exact as exact

    drawn = square_grid(40, side=8)
    weights = drawn.weights.copy()
    weights.flags.writeable = False
    instances = rs.InstanceSet(drawn.graph, weights, drawn.sources, drawn.goal)
    learner = rs.learn(instances[:20])
    compared = []
    compare = exact._compare
    monkeypatch.setattr(exact, "_compare", lambda some, lower: compared.extend(some) or compare(some, lower))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundsWarning)
        for _ in range(3):
            rs.solve_many(instances, learner)
            rs.solve_many(instances[5:], learner)
        assert len(compared) == np.unique(instances.rows).size
        frozen, open_ = instances.weights[0].copy(), instances.weights[0].copy()
        frozen.flags.writeable = False
        for array, expected in ((frozen, 1), (open_, 3)):
            compared.clear()
            for _ in range(3):
                rs.astar(instances.graph, array, 0, 63, learner)
            assert len(compared) == expected, "an array that may change is compared every time"
            assert rs.astar(instances.graph, array, 0, 63, learner, checked=True).path.size
    known = len(exact._answers)
    del frozen, array
    assert len(exact._answers) == known - 1, "what is known is forgotten with the array"


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
    learner = rs.learn(instances, weight_bounds=(0.5, 100))
    assert isinstance(learner, rs.learners.LowerEnvelope)
    assert learner.lower_.tolist() == [0.5] * graph.m
    per_edge = instances.weights.min(axis=0) / 2
    learner = rs.learn(instances, weight_bounds=(per_edge, np.inf))
    assert np.array_equal(learner.lower_, per_edge)
    with pytest.raises(WeightError, match="below weight_bounds"):
        rs.learn(instances, weight_bounds=(100, 200))
    named = rs.Graph.from_edges(2, [0], [1], labels=["home", "work"])
    with pytest.raises(WeightError, match="edge 'home' -> 'work'"):
        rs.learn(rs.InstanceSet(named, [[1.0]], sources=0, goal=1), weight_bounds=(2, 3))
    with pytest.raises(InputError, match="weight_bounds belong to promise='optimal'"):
        rs.learn(instances, promise="1%", weight_bounds=(0, 1))


def test_each_kind_of_promise() -> None:
    instances = square_grid(60, side=8)
    assert rs.learn(instances).promise_ == "optimal"
    one = rs.learn(instances, promise="1 %", time_limit=1.0)
    assert one.tolerance == 0.01
    assert one.promise_ is None
    assert rs.learn(instances, promise=0.01, time_limit=1.0).tolerance == 0.01
    assert rs.learn(instances, promise="fast", time_limit=1.0).promise_ is None
    assert rs.learn(instances, algorithm="gbfs", time_limit=1.0).algorithm == "gbfs"
    for wrong in ("quick", "-1%", "1", -0.1, np.nan, np.inf, True, [0.1]):
        with pytest.raises(InputError, match="promise must be"):
            rs.learn(instances, promise=wrong)
    with pytest.raises(InputError, match="greedy search can only be 'fast'"):
        rs.learn(instances, promise="optimal", algorithm="gbfs")
    with pytest.raises(InputError, match="only one of them"):
        rs.learn(instances, promise="1%", utility=rs.utilities.Expansions(limit=10))


def test_several_and_many_goals() -> None:
    graph = rs.Graph.grid(8, 8)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 3, size=(40, graph.m))
    few = rs.InstanceSet(graph, weights, sources=0, goal=np.repeat([63, 60], 20))
    learner = rs.learn(few)
    assert sorted(learner.rho_) == [60, 63]
    assert learner.promise_ == "optimal"
    assert np.array_equal(learner.lower_, weights.min(axis=0)), "bounds come from all snapshots, whatever the goal"
    many = rs.InstanceSet(graph, weights, sources=0, goal=rng.integers(20, 64, 40))
    potential = rs.learn(many)
    assert isinstance(potential, rs.learners.Potentials)
    for found, instances in ((learner, few), (potential, many)):
        assert np.allclose(rs.solve_many(instances, found).cost, rs.solve_many(instances, np.zeros(64)).cost)


def test_a_model_with_bounds_of_another_length() -> None:
    graph, usual, _ = unread()
    model = rs.Model.of(rs.learn(rs.InstanceSet(graph, usual, sources=0, goal=3)), graph)
    from dataclasses import replace

    with pytest.raises(ModelError, match="lower_ must have one weight for each of the 4 edges"):
        rs.astar(graph, usual, 0, 3, replace(model, lower_=np.ones(3)))


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
