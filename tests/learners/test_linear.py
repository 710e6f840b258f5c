"""Few parameters, chosen exactly along lines: against grids of θ, and what the family remembers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar.errors import AssumptionError, InputError, NotFittedError
from rhostar.families import Linear
from rhostar.learners import LinearFamily, MeanDistance, PerGoal


def make_set(side: int = 6, count: int = 12, seed: int = 0) -> rs.InstanceSet:
    graph = rs.Graph.grid(side, side, neighbors=8)
    weights = np.random.default_rng(seed).integers(1, 20, size=(count, graph.m))
    return rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)


def euclidean(instances: rs.InstanceSet) -> np.ndarray:
    return rs.heuristics.euclidean(instances.graph, int(instances.goals[0]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "utility"),
    [
        ("astar", None),
        ("gbfs", None),
        ("astar", rs.utilities.Suboptimality(limit=60)),
        ("gbfs", rs.utilities.SolvedWithin(1.25)),
    ],
)
def test_no_grid_of_ten_thousand_values_does_better(algorithm: str, utility: rs.utilities.Utility | None) -> None:
    instances = make_set(count=5)
    rng = np.random.default_rng(1)
    base, feature = np.round(MeanDistance().fit(instances).rho_), rng.integers(-16, 16, 36).astype(float)
    learner = LinearFamily(feature, base, low=-2, high=3, algorithm=algorithm, utility=utility).fit(instances)
    assert learner.exact_
    measure = utility or rs.utilities.Expansions(limit=3600)
    options = {"algorithm": algorithm, "budget": 3600, "optimum": rs.solve_many(instances, np.zeros(36)).cost}

    def mean(rho: np.ndarray) -> float:
        return rs.evaluate(instances, rho, measure, **options)[0].mean

    # Multiples of 2^-11 from -2 to 3: the sums of the searches do not round, 10,241 values.
    grid = [mean(base + k / 2048 * feature) for k in range(-2 * 2048, 3 * 2048 + 1)]
    best = max(grid) if measure.better == "higher" else min(grid)
    assert len(set(grid)) > 2
    assert learner.value_ == mean(learner.rho_) == pytest.approx(learner.dual_.value)
    assert learner.value_ >= best if measure.better == "higher" else learner.value_ <= best
    assert learner.theta_.tolist() == [float(learner.dual_.theta)]
    np.testing.assert_array_equal(learner.rho_, base + learner.theta_[0] * feature)


def test_learned_features_are_learned_from_a_part_that_theta_does_not_see() -> None:
    train, other = make_set(count=20).split(0.6, seed=0)
    seen: list[rs.InstanceSet] = []

    def spy(instances: rs.InstanceSet) -> np.ndarray:
        seen.append(instances)
        return np.zeros(instances.graph.n)

    learner = LinearFamily([MeanDistance(), spy], high=2, max_lines=3, random_state=3).fit(train)
    family = learner.heuristic_.family
    assert isinstance(family, Linear)
    assert family.parameters == 2
    assert len(seen) == 1
    part = seen[0]
    chosen = train[np.isin(train.indices, learner.chosen_on_.indices)]
    assert (len(part), len(chosen)) == (6, 6)
    assert part.overlap(chosen) == 0
    assert (family.overlap(part), family.overlap(chosen), family.overlap(train), family.overlap(other)) == (6, 0, 6, 0)
    np.testing.assert_array_equal(family.features[:, 0], MeanDistance().fit(part).rho_)
    assert family.contains(learner.rho_)
    assert learner.heuristic_.trained_on.overlap(train) == 12
    # What is stated to be made without any instance: all of them choose θ.
    fixed = LinearFamily(euclidean(train), built_from=()).fit(train)
    assert fixed.heuristic_.family.built_from == ()
    assert fixed.chosen_on_.overlap(train) == 12


def test_a_learned_base_counts_too() -> None:
    train = make_set()
    options: dict[str, Any] = {"low": -1, "high": 1, "feature_fraction": 0.25}
    learner = LinearFamily(euclidean(train), MeanDistance(), built_from=(), **options).fit(train)
    assert learner.heuristic_.family.overlap(train) == 3
    assert learner.heuristic_.family.base.any()
    assert LinearFamily(euclidean(train), MeanDistance(), **options).fit(train).heuristic_.family.built_from is None


def test_arrays_have_no_known_origin_unless_it_is_stated() -> None:
    first, second = make_set().split(0.5, seed=0)
    fitted = MeanDistance().fit(first)
    unknown = LinearFamily(fitted.rho_).fit(second).heuristic_.family
    assert unknown.built_from is None
    with pytest.raises(AssumptionError, match=r"features are arrays of unknown origin.*learners.*built_from=\(\)"):
        unknown.check_fixed(second)
    for stated in ([fitted], [first], [fitted.heuristic_.trained_on]):
        learner = LinearFamily(fitted.rho_, built_from=stated).fit(second)
        learner.heuristic_.family.check_fixed(second)
        assert learner.heuristic_.trained_on.overlap(first) == 6
        with pytest.raises(AssumptionError, match="built from 6 instances of train"):
            learner.heuristic_.family.check_fixed(first)
    nested = LinearFamily(LinearFamily(np.ones(36)), low=1).fit(second)
    assert nested.heuristic_.family.built_from is None, "a learner inside took an array"
    for wrong in (fitted, fitted.heuristic_.trained_on, [3], [MeanDistance()]):
        with pytest.raises((InputError, NotFittedError)):
            LinearFamily(fitted.rho_, built_from=wrong).fit(second)  # type: ignore[arg-type]


def test_a_function_may_give_several_columns_and_a_list_may_be_a_table() -> None:
    train = make_set(4)

    def both(instances: rs.InstanceSet) -> np.ndarray:
        return np.column_stack([euclidean(instances), np.arange(16.0)])

    assert LinearFamily(both, max_lines=1).fit(train).theta_.size == 2
    assert LinearFamily(euclidean(train).tolist()).fit(train).theta_.size == 1
    assert LinearFamily([[float(v), 1.0] for v in range(16)], max_lines=1).fit(train).theta_.size == 2
    assert LinearFamily().fit(train).theta_.size == 1


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
def test_several_features_never_do_worse_than_the_first_alone(algorithm: str) -> None:
    train = make_set()
    columns = [euclidean(train) * 10, np.random.default_rng(2).integers(-40, 40, 36).astype(float), np.arange(36.0)]
    one = LinearFamily(columns[0], low=-4, algorithm=algorithm).fit(train)
    options = {"low": -4, "algorithm": algorithm, "random_state": 5}
    several = LinearFamily(columns, **options).fit(train)
    assert several.value_ <= one.value_
    assert several.value_ < several.history_[0]
    assert several.history_.size == 8 * 3 + 8 + 1
    assert (np.diff(several.history_) <= 0).all()
    assert several.value_ == several.history_[-1]
    assert (np.abs(several.theta_) <= 4).all()
    np.testing.assert_array_equal(several.rho_, several.heuristic_.family.table(several.theta_))
    again, threads = (LinearFamily(columns, **options, n_jobs=jobs).fit(train) for jobs in (1, 2))
    assert again.theta_.tolist() == several.theta_.tolist() == threads.theta_.tolist()
    assert clone(several).fit(train).theta_.tolist() == several.theta_.tolist()


def test_a_line_with_too_many_pieces_is_scanned_and_a_part_of_it_searched() -> None:
    train = make_set()
    table = MeanDistance().fit(train).rho_
    whole = LinearFamily(table, high=3).fit(train)
    little = LinearFamily(table, high=3, work=4_000).fit(train)
    assert (whole.exact_, little.exact_) == (True, False)
    grid = [rs.solve_many(train, t * table).expanded.mean() for t in np.linspace(0, 3, 64)]
    assert whole.value_ <= little.value_ <= min(grid)
    assert little.dual_ is not None
    assert little.dual_.intervals.high - little.dual_.intervals.low < 3
    least = LinearFamily(table, high=3, work=1).fit(train)
    assert whole.value_ <= least.value_ <= min(grid)


def test_no_new_line_after_the_time_limit() -> None:
    train = make_set(4)
    learner = LinearFamily([euclidean(train), np.arange(16.0)], time_limit=0).fit(train)
    assert learner.history_.size == 2


def test_a_range_of_one_value() -> None:
    train = make_set(4)
    learner = LinearFamily(euclidean(train), low=1.5, high=1.5).fit(train)
    assert learner.theta_.tolist() == [1.5]
    both = LinearFamily([euclidean(train), np.arange(16.0)], low=1.5, high=1.5, max_lines=2).fit(train)
    assert both.theta_.tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": np.zeros(5)}, r"features must have shape \(16,\) or \(16, k\), got \(5,\)"),
        ({"features": np.zeros((16, 0))}, "features must have shape"),
        ({"features": np.zeros((16, 2, 2))}, "features must have shape"),
        ({"features": []}, "features must hold at least one feature"),
        ({"features": [np.zeros(16), np.zeros(3)]}, r"features\[1\] must have shape"),
        ({"features": np.full(16, np.nan)}, r"features must be finite, got nan at \(0,\)"),
        ({"features": "euclidean"}, "features must be numbers, a learner or a function"),
        ({"features": lambda instances: np.zeros(3)}, "features must have shape"),
        ({"features": PerGoal()}, "features must fit values for one goal"),
        ({"base": np.zeros(3)}, "base must have one value for each of the 16 vertices"),
        ({"low": 2, "high": 1}, "high must be finite and not below low"),
        ({"low": np.nan}, "low must be finite"),
        ({"feature_fraction": 1.0}, "feature_fraction must be between 0 and 1"),
        ({"algorithm": "dfs"}, "algorithm must be one of"),
        ({"utility": "cost"}, "utility must be a Utility or None"),
        ({"max_lines": 0}, "max_lines must be at least 1"),
        ({"work": 0}, "work must be at least 1"),
        ({"time_limit": -1}, "time_limit must be a number of seconds"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters_leave_nothing_fitted(parameters: dict[str, object], message: str) -> None:
    learner = LinearFamily(**parameters)
    with pytest.raises(rs.errors.InputError, match=message):
        learner.fit(make_set(4))
    assert not hasattr(learner, "rho_")


def test_learned_features_need_two_snapshots() -> None:
    graph = rs.Graph.grid(4, 4)
    single = rs.InstanceSet(graph, graph.length, [0, 1, 2], 15)
    with pytest.raises(rs.errors.InstanceError, match="at least 2 snapshots"):
        LinearFamily().fit(single)
    assert LinearFamily(rs.heuristics.euclidean(graph, 15)).fit(single).exact_
