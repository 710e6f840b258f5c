"""ρ times a factor, and the factor that Auto finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import rhostar as rs
from rhostar.learners import _scaling as scaling
from rhostar.learners._contest import Clock, Contest
from rhostar.learners._wrappers import scaled
from support.instances import changing_graph, square_grid

INNER = st.sampled_from([rs.learners.LowerEnvelope(), rs.learners.MeanWeights(), rs.learners.MeanDistance()])


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), inner=INNER, factor=st.sampled_from([0.5, 1.0, 1.7]))
def test_values_and_bounds_times_the_factor(seed: int, inner: rs.learners.Learner, factor: float) -> None:
    instances = changing_graph(seed)
    graph = instances.graph
    plain = clone(inner).fit(instances)
    learner = rs.learners.Scaled(inner, factor).fit(instances)
    assert np.array_equal(learner.rho_, factor * plain.rho_)
    assert np.array_equal(scaled(plain, factor).rho_, learner.rho_)
    assert not learner.rho_.flags.writeable
    assert learner.trained_on_.overlap(instances) == len(instances)
    assert (learner.lower_ is None) == (plain.lower_ is None)
    if learner.lower_ is not None:
        falls = learner.rho_[graph.tail] - learner.rho_[graph.head]
        assert (falls <= learner.lower_ + 1e-9).all(), "consistent where weights are at least lower_"
    assert learner.promise_ == (plain.promise_ if factor <= 1 else None)


@pytest.mark.filterwarnings("ignore::rhostar.errors.BoundsWarning")
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), factor=st.sampled_from([0.3, 1.0]))
def test_a_factor_of_at_most_1_keeps_the_promise(seed: int, factor: float) -> None:
    train = changing_graph(seed)
    lower = np.full(train.graph.m, 0.4)
    learner = rs.learners.Scaled(rs.learners.LowerEnvelope(lower), factor).fit(train)
    assert learner.promise_ == "optimal"
    cheaper = np.where(np.random.default_rng(seed).random(train.weights.shape) < 0.3, 0.1, 1.0)
    test = rs.InstanceSet(train.graph, train.weights * cheaper, train.sources, train.goal, rows=train.rows)
    optimum = rs.solve_many(test, np.zeros(train.graph.n)).cost
    np.testing.assert_allclose(rs.solve_many(test, learner).cost, optimum, rtol=1e-12)


def test_what_scaled_refuses() -> None:
    train = square_grid(20)
    for factor in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(rs.errors.InputError, match="factor"):
            rs.learners.Scaled(factor=factor).fit(train)
    with pytest.raises(rs.errors.InputError, match="inside PerGoal"):
        rs.learners.Scaled(rs.learners.PerGoal()).fit(train)
    assert rs.learners.PerGoal(rs.learners.Scaled(factor=2.0)).fit(train).rho_[35].shape == (36,)


# ---------------------------------------------------------------- the factor that Auto finds


@pytest.mark.parametrize("true", [0.2, 1.0, 7.0])
def test_a_bracket_closes_in(true: float) -> None:
    bracket = scaling.Bracket(0.01)
    for number in (true / 3, true * 2):  # the bound falls as the number rises
        bracket.add(number, 0.01 * (true / number) ** 2)
    for _ in range(8):
        found = bracket.next(0.02)
        if found is None:
            break
        bracket.add(found, 0.01 * (true / found) ** 2)
    assert found is None
    assert true <= np.exp(bracket.inside[0]) < 1.1 * true
    assert np.exp(bracket.outside[0]) < true


def contest_of(instances: rs.InstanceSet, tolerance: float = 0.01) -> Contest:
    return Contest(rs.learners.Auto(time_limit=None), instances, tolerance, Clock(np.inf))


@pytest.mark.parametrize(
    "learner", [rs.learners.LowerEnvelope(), rs.learners.Scaled(rs.learners.MeanDistance("mean"), 1.3)], ids=str
)
def test_factors_go_to_the_tolerance_without_a_fit(
    learner: rs.learners.Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = contest_of(square_grid(200, side=12))
    start = contest.enter(learner)

    def fail(*arguments: object) -> None:
        raise AssertionError("a factor needs no fit")

    for kind in (rs.learners.LowerEnvelope, rs.learners.MeanDistance, rs.learners.Scaled):
        monkeypatch.setattr(kind, "_learn", fail)
    scaling.try_factors(contest, start)
    tried = contest.tried[1:]
    assert 3 <= len(tried) <= scaling._TRIES
    assert all(isinstance(one.learner, rs.learners.Scaled) for one in tried)
    assert not any(isinstance(one.learner.learner, rs.learners.Scaled) for one in tried), "one factor, not two"
    inside = [one for one in tried if one.over_bound <= 0.01]
    outside = [one for one in contest.tried if one.over_bound > 0.01]
    assert inside
    assert outside
    nearest = max(one.learner.factor for one in inside)
    beyond = min(getattr(one.learner, "factor", 1.0) for one in outside)
    assert nearest < beyond < 1.2 * nearest
    assert start.over_bound > 0.01 or contest.best.expanded < 0.9 * start.expanded


def test_no_factors_where_none_can_help() -> None:
    instances = square_grid(60)
    for contest in (contest_of(instances, 0.0), contest_of(instances, np.inf)):
        scaling.try_factors(contest, contest.enter(rs.learners.LowerEnvelope()))
        assert len(contest.tried) == 1
    contest = contest_of(instances)
    contest.enter(rs.learners.LowerEnvelope())
    scaling.try_factors(contest, contest.enter(rs.learners.Scaled(rs.learners.MeanDistance(), 50.0)))
    assert len(contest.tried) <= 2 + scaling._TRIES
    contest = contest_of(instances)
    best = contest.enter(rs.learners.LowerEnvelope())
    worse = best._replace(over_bound=1.0, over=1.0)
    scaling.try_factors(contest, worse)
    assert len(contest.tried) == 1, "outside the tolerance, and no better than the best"


def test_auto_is_no_worse_than_the_scaled_envelope() -> None:
    law = rs.datasets.city(900, seed=3).towards(17)
    train, test = law.draw(120, seed=4), law.draw(400, seed=5)
    optimum = rs.solve_many(test, np.zeros(law.graph.n)).cost
    learner = rs.learners.Auto(time_limit=None).fit(train)
    runs = rs.solve_many(test, learner.rho_)
    assert runs.cost.sum() <= 1.01 * optimum.sum()
    careful = rs.solve_many(test, rs.learners.Scaled(rs.learners.LowerEnvelope(), 1.3).fit(train).rho_)
    assert runs.expanded.mean() < careful.expanded.mean()
