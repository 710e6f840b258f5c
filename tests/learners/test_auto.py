"""Learning without naming a learner."""

import numpy as np
import pytest
from sklearn.base import clone

import rhostar as rs
from rhostar.errors import FitError
from support.instances import square_grid


def quality(instances: rs.InstanceSet, rho: object) -> tuple[float, float]:
    runs = rs.solve_many(instances, rho)
    return runs.expanded.mean(), runs.cost.sum() / rs.solve_many(instances, np.zeros(instances.graph.n)).cost.sum() - 1


def test_the_fewest_expansions_within_the_tolerance() -> None:
    train, test = square_grid(300, side=8).split(0.5, seed=0)
    results = {}
    for tolerance in (0.0, 0.01, 0.2):
        learner = rs.learn(train, promise=tolerance, time_limit=None)
        inside = [c for c in learner.candidates_ if c.over + c.over_error <= tolerance]
        least = min(inside, key=lambda c: c.expanded)
        best = next(c for c in inside if repr(c.learner) == repr(learner.learner_))
        worse = best.losses - least.losses
        assert worse.mean() <= worse.std(ddof=1) / np.sqrt(worse.size) + 1e-12, "within one standard error"
        assert best.losses.size == len(train), "every instance judged it"
        assert np.array_equal(learner.rho_, clone(best.learner).fit(train).rho_), "fitted again on all of it"
        assert learner.trained_on_.overlap(train) == len(train)
        results[tolerance] = quality(test, learner.rho_)
    assert results[0.2][0] < results[0.01][0] < results[0.0][0] < quality(test, np.zeros(64))[0]
    assert results[0.0][1] < 0.001
    assert results[0.01][1] < 0.015
    assert str(best).startswith(repr(best.learner))


def test_greedy_search_and_utilities() -> None:
    train, test = square_grid(80, side=8).split(0.5, seed=0)
    learner = rs.learn(train, algorithm="gbfs", time_limit=4.0)
    for c in learner.candidates_:
        assert c.expanded == c.losses.mean()
    assert (
        -learner.score(test)
        <= rs.solve_many(test, rs.heuristics.euclidean(test.graph, 63), algorithm="gbfs").expanded.mean()
    )
    for slow in (rs.learners.SelfImitatedRanking, rs.learners.BumpSearch):
        assert any(isinstance(c.learner, slow) for c in learner.candidates_)
    ratio = rs.learn(train, utility=rs.utilities.Ratio(limit=5.0), time_limit=3.0)
    assert quality(test, ratio.rho_)[1] < 0.005, "cost alone decides"
    fewest = rs.learn(train, utility=rs.utilities.Expansions(limit=1000), time_limit=3.0)
    assert quality(test, fewest.rho_)[0] < quality(test, ratio.rho_)[0]


def test_where_no_table_keeps_the_tolerance_the_closest_is_taken() -> None:
    train, other = square_grid(40), square_grid(60, seed=9)
    cheaper = np.random.default_rng(0).uniform(0.02, 1, other.weights.shape)
    wild = rs.InstanceSet(other.graph, other.weights * cheaper, other.sources, 35)  # every learner overestimates there
    learner = rs.learners.Auto(tolerance=0.0, validation=wild, time_limit=None).fit(train)
    over = [c.over + c.over_error for c in learner.candidates_]
    assert min(over) > 0
    assert repr(learner.candidates_[int(np.argmin(over))].learner) == repr(learner.learner_)


def test_goals_that_differ_have_a_table_each() -> None:
    graph = rs.Graph.grid(5, 5)
    rng = np.random.default_rng(0)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (80, graph.m)), np.full(80, 12), rng.choice([0, 24], 80))
    learner = rs.learn(instances, promise="1%")
    assert sorted(learner.rho_) == [0, 24]
    assert quality(instances, learner.rho_)[1] < 0.02


def test_time_is_kept() -> None:
    instances = square_grid(100, side=10)
    learner = rs.learn(instances, promise="1%", time_limit=1e-6)
    assert len(learner.candidates_) == 1, "the quickest is always fitted"
    assert len(rs.learn(instances, promise="1%", time_limit=None).candidates_) > 10


def test_a_fit_that_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise FitError("out of time")

    monkeypatch.setattr("rhostar.learners._inconsistency.solve_program", fail)
    learner = rs.learn(square_grid(40), promise="1%", time_limit=None)
    failed = [c for c in learner.candidates_ if isinstance(c.learner, rs.learners.InconsistencyLP)]
    assert failed
    assert all(c.losses.size == 0 for c in failed)
    assert not isinstance(learner.learner_, rs.learners.InconsistencyLP)


def test_the_program_is_left_out_where_it_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rhostar.learners._auto._PROGRAM_SECONDS", 1.0)
    tried = rs.learn(square_grid(30), promise="1%", time_limit=20.0).candidates_
    assert not any(isinstance(c.learner, rs.learners.InconsistencyLP) for c in tried)


def test_what_learn_refuses() -> None:
    instances = square_grid(30)
    for wrong in ({"algorithm": "dijkstra"}, {"promise": -1}, {"time_limit": 0, "promise": "1%"}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learn(instances, **wrong)
    with pytest.raises(rs.errors.InstanceError, match="at least 2"):
        rs.learn(instances[:1], promise="1%")
    with pytest.raises(rs.errors.InputError, match="InstanceSet"):
        rs.learn([1])
