"""What all learners share: scikit-learn's conventions, checks of the input, labels, and the same ρ again."""

import pickle
from itertools import pairwise

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_no_attributes_set_in_init, check_parameters_default_constructible
from sklearn.utils.validation import check_is_fitted

import rhostar as rs
from rhostar.learners import _distances as costs_to_go
from rhostar.learners._distances import finite_quantile
from support.instances import changing_graph, square_grid
from support.paths import children_of, optimal_path

LEARNERS = [
    rs.learners.MeanDistance(),
    rs.learners.MeanDistance("quantile", quantile=0.2),
    rs.learners.MeanWeights(),
    rs.learners.MeanWeights(penalty=1.0, blur=1.0),
    rs.learners.LowerEnvelope(),
    rs.learners.Scaled(rs.learners.LowerEnvelope(), 1.2),
    rs.learners.Landmarks(4, random_state=0),
    rs.learners.Auto(candidates=[rs.learners.MeanDistance(), rs.learners.MeanDistance("min")], mean_excess=np.inf),
    rs.learners.InconsistencyLP(2.0),
    rs.learners.Auto(mean_excess=0.0),
]
ids = pytest.mark.parametrize("learner", LEARNERS, ids=str)


# ---------------------------------------------------------------- labels


@given(st.integers(0, 10_000), st.booleans())
def test_labels_are_the_costs_to_go(seed: int, integers: bool) -> None:
    instances = changing_graph(seed, integers=integers)
    every = np.array([rs.distances_to(*instance[:2], instance.goal) for instance in instances])
    matrix, times = costs_to_go.matrix(instances)
    assert np.array_equal(np.unique(np.repeat(matrix, times, axis=0), axis=0), np.unique(every, axis=0))
    found = costs_to_go.sums(instances)
    finite = np.isfinite(every)
    assert np.array_equal(found.reached, finite.sum(axis=0))
    assert np.array_equal(costs_to_go.lowest(instances), every.min(axis=0))
    np.testing.assert_allclose(found.total, np.where(finite, every, 0).sum(axis=0), rtol=1e-12)


@given(st.integers(0, 10_000))
def test_trees_follow_the_fixed_rule(seed: int) -> None:
    instances = changing_graph(seed, n=6, count=2, integers=True, absent=0.2)  # zero weights, many ties
    graph = instances.graph
    distinct = costs_to_go.snapshots(instances)
    start = np.random.default_rng(seed).integers(0, 4, graph.n).astype(float)
    edge, below = costs_to_go.trees(distinct, costs_to_go.same_starts(distinct, start))
    for k, instance in enumerate(distinct.instances):
        passes = np.zeros(graph.n)
        for v in range(graph.n):
            path = optimal_path(children_of(instance), v, instance.goal)
            if path is None or v == instance.goal:
                assert edge[k, v] == -1
                continue
            assert (graph.tail[edge[k, v]], graph.head[edge[k, v]]) == (v, path[1])
            for u, c in pairwise(path):
                assert graph.head[edge[k, u]] == c, "the rest of a path is the path of its second vertex"
            passes[path[1:]] += start[v]
        assert below[k].tolist() == passes.tolist()


def test_a_tree_by_hand() -> None:
    #     4 -> 3 -> 2 -> 0 and 4 -> 1 -> 0, both of cost 3: the second has fewer edges
    graph = rs.Graph.from_edges(6, [4, 3, 2, 4, 1, 5], [3, 2, 0, 1, 0, 4])
    weights = graph.arrange([1.0, 1.0, 1.0, 2.0, 1.0, 0.0])
    distinct = costs_to_go.snapshots(rs.InstanceSet(graph, weights, sources=5, goal=0))
    edge, below = costs_to_go.trees(distinct, costs_to_go.same_starts(distinct, np.ones(6)))
    assert graph.head[edge[0, 1:]].tolist() == [0, 0, 2, 1, 4]
    assert below[0].tolist() == [5, 2, 1, 0, 1, 0]


def test_a_bad_weight_in_a_mapped_file_is_named(tmp_path: object) -> None:
    graph = rs.Graph.grid(3, 3)
    weights = np.lib.format.open_memmap(tmp_path / "w.npy", mode="w+", dtype=np.float64, shape=(4, graph.m))
    weights[:] = 1.0
    instances = rs.InstanceSet(graph, weights, sources=0, goal=8)
    weights[2, 5] = -1.0  # changed behind its back
    for n_jobs in (1, 2):
        with pytest.raises(rs.errors.WeightError, match=r"snapshot 2: weights\[5\].*got -1"):
            rs.learners.MeanDistance(n_jobs=n_jobs).fit(instances)


# ---------------------------------------------------------------- mean distances


@pytest.mark.parametrize("statistic", ["mean", "median", "min", "quantile"])
@given(seed=st.integers(0, 10_000))
def test_mean_distance_against_numpy(statistic: str, seed: int) -> None:
    instances = changing_graph(seed)
    every = np.array([rs.distances_to(*instance[:2], instance.goal) for instance in instances])
    every[~np.isfinite(every)] = np.nan
    known = ~np.isnan(every).all(axis=0)
    function = {
        "mean": np.nanmean,
        "median": np.nanmedian,
        "min": np.nanmin,
        "quantile": lambda a, axis: np.nanquantile(a, 0.3, axis=axis),
    }[statistic]
    expected = np.full(instances.graph.n, np.nan)
    expected[known] = function(every[:, known], axis=0)
    expected[~known] = np.nanmax(expected)
    learner = rs.learners.MeanDistance(statistic, quantile=0.3).fit(instances)
    np.testing.assert_allclose(learner.rho_, expected, rtol=1e-12)
    assert learner.rho_[learner.heuristic_.goals[0]] == 0


@pytest.mark.parametrize("level", [0.0, 0.1, 0.5, 1.0])
def test_quantiles_in_several_blocks(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.uniform(0, 1, (13, 50))
    matrix[rng.random(matrix.shape) < 0.4] = np.inf
    matrix[:, 7] = np.inf
    times = rng.integers(1, 4, 13)
    whole = finite_quantile(matrix, times, level)
    monkeypatch.setattr("rhostar.learners._distances._SORTED", 60)
    assert np.array_equal(finite_quantile(matrix, times, level), whole)
    assert whole[7] == np.inf


@given(st.integers(0, 10_000))
def test_the_least_never_overestimates_on_the_training_set(seed: int) -> None:
    instances = changing_graph(seed, integers=True)
    rho = rs.learners.MeanDistance("min").fit(instances).rho_
    for instance in instances:
        assert (rho <= rs.distances_to(*instance[:2], instance.goal)).all()
    optimum = rs.solve_many(instances, np.zeros(instances.graph.n)).cost
    assert np.array_equal(rs.solve_many(instances, rho).cost, optimum)


def test_vertices_that_never_reach_the_goal() -> None:
    grid = rs.Graph.grid(1, 5)
    blocked = np.array([[[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]])
    walls = rs.InstanceSet.from_obstacles(grid, blocked, sources=3, goal=4, corner_cutting=True)
    assert rs.learners.MeanDistance().fit(walls).rho_.tolist() == [4, 3, 2, 1, 0]
    slow = rs.InstanceSet(grid, 5.0 * walls.weights, sources=3, goal=4)
    assert rs.learners.MeanDistance().fit(slow).rho_.tolist() == [20, 15, 10, 5, 0], "a step costs 5"
    plain = rs.Graph(grid.first_out, grid.head)
    bare = rs.InstanceSet(plain, walls.weights, sources=3, goal=4)
    assert rs.learners.MeanDistance().fit(bare).rho_.tolist() == [2, 2, 2, 1, 0]


# ---------------------------------------------------------------- conventions


@ids
def test_parameters_follow_the_conventions_of_scikit_learn(learner: rs.learners.Learner) -> None:
    check_no_attributes_set_in_init("learner", clone(learner))
    check_parameters_default_constructible("learner", clone(learner))


@ids
def test_the_same_table_again(learner: rs.learners.Learner) -> None:
    train, other = square_grid(60).split(0.7, seed=0)
    learner = clone(learner)
    rho = learner.fit(train).rho_
    assert rho.dtype == np.float64
    assert np.isfinite(rho).all()
    assert learner.heuristic_.trained_on.overlap(train) == len(train)
    assert learner.heuristic_.trained_on.overlap(other) == 0
    twins = [clone(learner).fit(train), pickle.loads(pickle.dumps(learner)), clone(learner).fit(other).fit(train)]
    jobs = {name: 2 for name in learner.get_params() if name.split("__")[-1] == "n_jobs"}
    twins.append(clone(learner).set_params(**jobs).fit(train))
    with joblib.parallel_config(n_jobs=2):
        twins.append(clone(learner).fit(train))
    for twin in twins:
        assert np.array_equal(twin.rho_, rho), "bit for bit"


@ids
def test_what_a_fit_refuses(learner: rs.learners.Learner) -> None:
    learner = clone(learner)
    instances = square_grid(20)
    with pytest.raises(rs.errors.NotFittedError, match="call fit first"):
        learner.score(instances)
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(learner)
    goals = np.where(np.arange(20) < 7, 35, 34)
    mixed = rs.InstanceSet(instances.graph, instances.weights, np.zeros(20, dtype=int), goals)
    if learner.one_goal:
        with pytest.raises(rs.errors.InstanceError, match="instance 7 has goal 34"):
            learner.fit(mixed)
    with pytest.raises(rs.errors.InstanceError, match=r"at least \d instances?, got 0"):
        learner.fit(instances[:0])
    with pytest.raises(rs.errors.InputError, match="must be an InstanceSet, got list"):
        learner.fit([1, 2])
    assert not [name for name in vars(learner) if name.endswith("_")], "nothing is half fitted"
    rho = learner.fit(instances).rho_
    check_is_fitted(learner)
    with pytest.raises(rs.errors.InstanceError):
        learner.fit(instances[:0])
    assert learner.rho_ is rho, "an error leaves the earlier fit"
    assert np.array_equal(learner.heuristic_.table(35), rho)
    if learner.one_goal:
        with pytest.raises(rs.errors.InputError, match="fitted for goal 35, not for goal 3"):
            learner.heuristic_.table(3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"statistic": "mode"}, "statistic must be one of 'mean'"),
        ({"statistic": "quantile", "quantile": 1.5}, "quantile must be between 0 and 1, got 1.5"),
        ({"quantile": "a"}, "quantile must be"),
    ],
)
def test_mean_distance_refuses(parameters: dict, message: str) -> None:
    with pytest.raises(rs.errors.InputError, match=message):
        rs.learners.MeanDistance(**parameters).fit(square_grid(5))


def test_score_and_searches_over_parameters() -> None:
    instances = square_grid(60)
    learner = rs.learners.MeanDistance().fit(instances)
    assert learner.score(instances) == -rs.solve_many(instances, learner.rho_).expanded.mean()
    grid = {"statistic": ["min", "mean", "quantile"], "quantile": [0.1, 0.9]}
    search = GridSearchCV(rs.learners.MeanDistance(), grid, cv=3, error_score="raise").fit(instances)
    assert isinstance(search.best_estimator_.rho_, np.ndarray)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() < 0
    scorer = rs.learners.Scorer(rs.utilities.SolvedWithin(1.0), reopen=True)
    least = cross_val_score(rs.learners.MeanDistance("min"), instances, scoring=scorer, cv=2)
    most = cross_val_score(rs.learners.MeanDistance("quantile", quantile=1.0), instances, scoring=scorer, cv=2)
    assert least.mean() > most.mean()
    assert scorer(learner, instances) == rs.evaluate(learner.rho_, instances, scorer.utility)[0].mean
    with pytest.raises(rs.errors.InputError, match="utility"):
        rs.learners.Scorer("expansions")


def test_nothing_of_an_earlier_fit_remains() -> None:
    class Moody(rs.learners.Learner):
        def __init__(self, chatty: bool = True) -> None:
            self.chatty = chatty

        def _learn(self, instances: rs.InstanceSet) -> dict:
            return {"rho_": np.zeros(instances.graph.n)} | ({"word_": 1} if self.chatty else {})

    learner = Moody().fit(square_grid(3))
    assert learner.word_ == 1
    assert not hasattr(learner.set_params(chatty=False).fit(square_grid(3)), "word_")


def test_public_names() -> None:
    for name in rs.learners.__all__:
        assert getattr(rs.learners, name).__doc__
    assert dir(rs.learners) == sorted(rs.learners.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        rs.learners.nonsense  # noqa: B018
