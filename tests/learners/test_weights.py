"""Learners that estimate weights, landmarks, and learners made from others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import rhostar as rs
from rhostar.learners._base import progress
from rhostar.learners._smoothing import Blur
from rhostar.learners._weights import edge_statistics
from support.instances import changing_graph, square_grid


@pytest.mark.parametrize("statistic", ["mean", "min", "quantile"])
@given(seed=st.integers(0, 10_000))
def test_edge_statistics_against_numpy(statistic: str, seed: int) -> None:
    instances = changing_graph(seed)
    every = np.where(np.isfinite(instances.weights), instances.weights, np.nan)[instances.rows]
    present = 1 - np.isnan(every).mean(axis=0)
    function = {"mean": np.nanmean, "min": np.nanmin, "quantile": lambda a, axis: np.nanquantile(a, 0.4, axis=axis)}
    expected = np.full(instances.graph.m, np.inf)
    expected[present > 0] = function[statistic](every[:, present > 0], axis=0)
    found = edge_statistics(instances, statistic, 0.4)
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)
    np.testing.assert_allclose(found.present, present, rtol=1e-12)


def test_mean_weights_by_hand() -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 0, 2], [1, 3, 2, 3], length=[1.0, 1.0, 2.0, 2.0])
    weights = np.array([graph.arrange(row) for row in ([2.0, 2, 4, 4], [4.0, 2, np.inf, 4], [6.0, 2, np.inf, np.inf])])
    instances = rs.InstanceSet(graph, weights, sources=0, goal=3)
    learner = rs.learners.MeanWeights(penalty=3.0).fit(instances)
    # 0 -> 1: mean 4; 0 -> 2: 4 * (1 + 3 * 2/3) = 12; 2 -> 3: 4 * (1 + 3 * 1/3) = 8
    assert learner.weights_.tolist() == [4, 12, 2, 8], "in the order of the graph"
    assert learner.rho_.tolist() == [6, 2, 8, 0]
    assert rs.learners.MeanWeights("min", penalty=0).fit(instances).rho_.tolist() == [4, 2, 4, 0]
    assert rs.learners.MeanWeights("quantile", quantile=1.0, penalty=0).fit(instances).rho_.tolist() == [8, 2, 4, 0]
    never = rs.InstanceSet(graph, np.where(graph.tail == 2, np.inf, weights), sources=0, goal=3)
    # An edge that never was: its length 2 at the median cost of a unit, 2, times 1 + penalty
    assert rs.learners.MeanWeights(penalty=3.0).fit(never).rho_.tolist() == [6, 2, 16, 0]
    bare = rs.Graph(graph.first_out, graph.head)
    nowhere = rs.InstanceSet(bare, never.weights, sources=0, goal=3)
    learner = rs.learners.MeanWeights(penalty=3.0).fit(nowhere)
    assert learner.rho_.tolist() == [6, 2, 6, 0]
    assert learner.heuristic_.consistent_for is None, "2 has a value that is made up"


@given(st.integers(0, 10_000))
def test_a_table_is_consistent_for_weights_that_are_not_below_lower(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instances = changing_graph(seed, integers=True)
    graph = instances.graph
    for learner in (rs.learners.MeanWeights(), rs.learners.LowerEnvelope(), rs.learners.Landmarks(3, random_state=0)):
        learner.fit(instances)
        if learner.heuristic_.consistent_for is None:
            continue
        rho, lower = learner.rho_, learner.heuristic_.consistent_for
        assert (rho[graph.tail] - rho[graph.head] <= lower + 1e-12 * np.abs(rho).max()).all()
        above = np.where(np.isfinite(lower), np.ceil(lower), 50.0) + rng.integers(0, 4, (5, graph.m))
        sources = np.r_[0, rng.integers(0, graph.n - 1, 4)]
        fresh = rs.InstanceSet(graph, above, sources, goal=graph.n - 1, infeasible="drop")
        runs = rs.solve_many(fresh, rho, reopen=False)
        np.testing.assert_allclose(runs.cost, rs.solve_many(fresh, np.zeros(graph.n)).cost, rtol=1e-12)


def test_lower_envelope_keeps_optimality_and_a_twin_with_one_larger_entry_does_not() -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(6, 6)
    lo = rng.integers(1, 4, graph.m).astype(float)
    above = lo + rng.integers(0, 3, (300, graph.m))
    instances = rs.InstanceSet(graph, above, rng.integers(0, 35, 300), goal=35)
    train, test = instances.split(0.2, seed=0)
    learner = rs.learners.LowerEnvelope(lo).fit(train)
    optimum = rs.solve_many(test, np.zeros(36)).cost
    for reopen in (True, False):
        assert np.array_equal(rs.solve_many(test, learner.rho_, reopen=reopen).cost, optimum)
    twin = learner.rho_.copy()
    twin[29] += 6  # beside the goal: half of all optimal paths pass it
    assert (rs.solve_many(test, twin).cost > optimum).any()
    with pytest.raises(rs.errors.WeightError, match=r"lower\[0\].*but a training instance has"):
        rs.learners.LowerEnvelope(lo + 5).fit(train)
    with pytest.raises(rs.errors.ArrayError, match="lower must have one value"):
        rs.learners.LowerEnvelope(lo[:-1]).fit(train)


def test_soft_walls_and_paths_help_greedy_search() -> None:
    rng = np.random.default_rng(1)
    grid = rs.Graph.grid(21, 21, neighbors=8)
    blocked = rng.random((60, 21, 21)) < 0.05
    blocked[:, 10, :] = True  # a wall with a gap near its right end
    gap = rng.integers(16, 20, 60)
    blocked[np.arange(60), 10, gap] = False
    blocked[:, [0, 20], [0, 0]] = False
    instances = rs.InstanceSet.from_obstacles(grid, blocked, 0, 420, corner_cutting=True, infeasible="drop")
    train, test = instances.split(0.6, seed=0)
    straight = rs.solve_many(test, rs.heuristics.euclidean(grid, 420), algorithm="gbfs").expanded.mean()
    for learner in (
        rs.learners.MeanWeights(penalty=100),
        rs.learners.MeanWeights(penalty=100, blur=1.0),
    ):
        rho = learner.fit(train).rho_
        assert rho[420] == 0
        assert rs.solve_many(test, rho, algorithm="gbfs").expanded.mean() < 0.85 * straight, learner


def test_blur_is_a_mean_over_the_vertices_around() -> None:
    rng = np.random.default_rng(0)
    grid = rs.Graph.grid(9, 9)
    plain = rs.Graph(grid.first_out, grid.head)
    for graph in (grid, plain):
        assert np.allclose(Blur(graph, 1.5)(np.ones(81)), 1.0)
        values = rng.uniform(0, 1, 81)
        assert np.ptp(Blur(graph, 1.5)(values)) < np.ptp(values)
        assert Blur(graph, 0)(values) is values
    spike = np.zeros(81)
    spike[40] = 1.0
    corner = np.zeros(81)
    corner[8] = 1.0
    assert Blur(grid, 1.0)(corner).max() < 2.5 * Blur(grid, 1.0)(spike).max(), "a mean over vertices that there are"
    with pytest.raises(rs.errors.InputError, match="blur must be finite"):
        rs.learners.MeanWeights(blur=-1).fit(changing_graph(0))
    without, spread = (rs.learners.MeanWeights(blur=width).fit(changing_graph(0)).weights_ for width in (0.0, 1.0))
    assert not np.array_equal(without, spread)


# ---------------------------------------------------------------- landmarks


@pytest.mark.parametrize("selection", ["farthest", "random"])
def test_landmarks_serve_every_goal(selection: str) -> None:
    instances = square_grid(50)
    graph = instances.graph
    learner = rs.learners.Landmarks(5, selection=selection, random_state=1).fit(instances)
    assert np.unique(learner.landmarks_).size == 5
    lower = learner.heuristic_.consistent_for
    for goal in (0, 17, 35):
        rho = learner.heuristic_.table(goal)
        exact = rs.distances_to(graph, lower, goal)
        assert rho[goal] == 0
        assert (rho <= exact + 1e-9).all()
        assert rho.mean() > 0.5 * exact.mean()
    at = int(learner.landmarks_[0])
    assert np.allclose(learner.heuristic_.table(at), rs.distances_to(graph, lower, at)), (
        "exact for a goal that is a landmark"
    )
    assert np.array_equal(learner.rho_, learner.heuristic_.table(35))
    with pytest.raises(rs.errors.VertexError):
        learner.heuristic_.table(36)
    goals = np.where(np.arange(50) % 2, 35, 30)
    sources = np.where(instances.sources == goals, 0, instances.sources)
    two = rs.InstanceSet(graph, instances.weights, sources, goals)
    several = rs.learners.Landmarks(5, random_state=1).fit(two)
    assert several.heuristic_.has_tables([30, 35])
    assert not hasattr(several, "rho_"), "only one table is rho_"


def test_farthest_landmarks_lie_at_the_ends() -> None:
    graph = rs.Graph.grid(1, 9)
    instances = rs.InstanceSet(graph, graph.length, sources=0, goal=4)
    assert sorted(rs.learners.Landmarks(2, random_state=3).fit(instances).landmarks_) == [0, 8]


def test_landmarks_without_paths_say_nothing() -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 3], [1, 2, 2])
    instances = rs.InstanceSet(graph, [1.0, 2.0, 3.0], sources=0, goal=2)
    rho = rs.learners.Landmarks(4, random_state=0).fit(instances).rho_
    assert (rho <= rs.distances_to(graph, [1.0, 2.0, 3.0], 2)).all()
    assert rho[0] == 3


def test_a_landmark_upstream_counts_by_the_distances_from_it() -> None:
    to, away = np.array([[0.0, np.inf, np.inf]]), np.array([[0.0, 1.0, 3.0]])  # 0 -> 1 -> 2, the landmark is 0
    path = rs.Graph.from_edges(3, [0, 1], [1, 2])
    assert rs.heuristics.Landmarks(path, to, away).table(2).tolist() == [3.0, 2.0, 0.0]
    assert rs.heuristics.Landmarks(path, away, to).table(0).tolist() == [0.0, 1.0, 3.0], "and the other way round"


# ---------------------------------------------------------------- learners made from others


def test_one_table_for_each_goal() -> None:
    graph = rs.Graph.grid(5, 5)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, (60, graph.m))
    goals = rng.choice([4, 20, 24], 60)
    instances = rs.InstanceSet(graph, weights, np.full(60, 12), goals)
    learner = rs.learners.PerGoal(rs.learners.MeanDistance("min")).fit(instances)
    assert sorted(learner.heuristic_.goals) == [4, 20, 24]
    for goal, part in instances.by_goal().items():
        alone = rs.learners.MeanDistance("min").fit(part).rho_
        assert np.array_equal(learner.heuristic_.table(goal), alone)
    assert learner.score(instances) == -rs.solve_many(instances, learner).expanded.mean()
    with pytest.raises(rs.errors.InputError, match=r"fitted for goals .*, not for goal 3"):
        learner.heuristic_.table(3)
    search = GridSearchCV(
        rs.learners.PerGoal(rs.learners.MeanDistance()), {"learner__statistic": ["min", "mean"]}, cv=2
    )
    assert search.fit(instances).best_params_["learner__statistic"] == "mean"
    assert clone(learner).learner is not learner.learner
    with pytest.raises(rs.errors.InputError, match="learner must be a Learner"):
        rs.learners.PerGoal("mean").fit(instances)
    assert rs.learners.PerGoal(rs.learners.SelfImitatedRanking()).algorithm == "gbfs"
    with pytest.raises(rs.errors.InstanceError, match="goal 4: Auto needs at least 2"):
        rs.learners.PerGoal(rs.learners.Auto()).fit(instances[np.flatnonzero(goals == 4)[:1]])


def test_progress_is_shown_to_those_who_ask(capsys: pytest.CaptureFixture[str]) -> None:
    for verbose in (0, 1):
        with progress("ranking", 3, verbose) as advance:
            for k in range(3):
                advance(f"best {k}")
        shown = capsys.readouterr()
        assert ("ranking" in shown.err) == bool(verbose)
        assert shown.out == ""


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_stated_bounds_may_be_rounded_as_the_weights_are(kind: type) -> None:
    graph = rs.Graph.grid(3, 3)
    weights = np.full((2, graph.m), 6.755939524, dtype=np.float32).astype(kind)
    instances = rs.InstanceSet(graph, weights, sources=0, goal=8)
    seen = float(weights[0, 0])
    assert seen < 6.755939524
    learners = (
        rs.learners.LowerEnvelope(lower=6.755939524),
        rs.learners.Potentials(lower=np.full(graph.m, 6.755939524)),
    )
    for learner in learners:
        if kind is np.float32:
            found = learner.fit(instances).heuristic_.consistent_for
            assert (found == seen).all(), "the bound is the lower of both, so that A* stays optimal"
        else:
            with pytest.raises(rs.errors.WeightError, match="the lower of both"):
                learner.fit(instances)
