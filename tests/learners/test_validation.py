"""How candidates are compared: folds of whole snapshots or days, bounds on the mean excess, who wins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.learners import _validation as selection
from rhostar.learners._validation import Candidate, Validation
from support.instances import square_grid


def history(days: int = 8, each: int = 4) -> rs.InstanceSet:
    graph, rng = rs.Graph.grid(5, 5), np.random.default_rng(0)
    weights, rows = rng.uniform(1, 2, (days * each, graph.m)), rng.integers(0, days * each, 200)
    when = np.arange(days * each) // each
    return rs.InstanceSet(graph, weights, rng.integers(0, 24, 200), 24, rows=rows, days=when)


def mixed(validation: Validation) -> int:
    """Return how many folds have a day both in the instances to fit on and in those to judge on."""
    both = [[set(one.days[one.rows]) for one in (fold.train, fold.judged)] for fold in validation.folds]
    return sum(not fitted.isdisjoint(judged) for fitted, judged in both)


# ---------------------------------------------------------------- folds


def test_every_instance_judges_once_and_none_that_was_fitted_on() -> None:
    instances = square_grid(30)
    rows = np.repeat(np.arange(10), 3)
    shared = rs.InstanceSet(instances.graph, instances.weights[:10], instances.sources, 35, rows=rows)
    validation = Validation(shared)
    assert len(validation.folds) == 4
    assert not validation.further, "too few different starts to draw others from them"
    judged = np.concatenate([rows[fold.judged.indices] for fold in validation.folds])
    assert np.array_equal(np.sort(judged), rows)
    optimum = rs.solve_many(shared, np.zeros(36)).cost
    for fold in validation.folds:
        assert not set(rows[fold.train.indices]) & set(rows[fold.judged.indices])
        assert len(fold.train) + len(fold.judged) == 30
        assert np.array_equal(fold.groups, rows[fold.judged.indices])
        np.testing.assert_allclose(fold.optimum, optimum[fold.judged.indices], rtol=1e-12)


def test_further_starts_judge_on_the_same_snapshots() -> None:
    instances = square_grid(60, side=12)
    validation = Validation(instances)
    assert validation.further
    for fold in validation.folds:
        judged = set(fold.judged._stored_rows.tolist())
        assert len(fold.judged) > 6 * len(judged)
        assert judged.isdisjoint(fold.train._stored_rows.tolist())
        assert set(fold.judged.sources) <= set(instances.sources)
        optimum = rs.solve_many(fold.judged, np.zeros(144)).cost
        np.testing.assert_allclose(fold.optimum, optimum, rtol=1e-12)


def test_copies_of_a_snapshot_are_in_one_fold() -> None:
    instances = square_grid(12)
    copies = np.arange(48) % 12
    weights = instances.weights[copies]
    repeated = rs.InstanceSet(instances.graph, weights, instances.sources[copies], 35)
    for seed in range(5):
        validation = Validation(repeated, random_state=seed)
        assert len(validation.folds) == 4
        for fold in validation.folds:
            assert set(copies[fold.train.indices]).isdisjoint(copies[fold.judged.indices])
            assert len(fold.judged) == 12
    equal = rs.InstanceSet(instances.graph, weights[:1].repeat(8, axis=0), instances.sources[:8], 35)
    assert len(Validation(equal).folds) == 4, "of equal snapshots alone, folds are made as of others"


def test_large_graphs_use_fewer_snapshots_and_judges() -> None:
    instances = square_grid(100, side=12)
    small = Validation(instances, work=20 * 144)
    assert np.unique(small.used._stored_rows).size == 80
    assert sum(len(fold.judged) for fold in small.folds) == 64
    few = Validation(instances, work=1)
    assert np.unique(few.used._stored_rows).size == 16


def test_folds_are_whole_days() -> None:
    instances = history()
    validation = Validation(instances, split="day")
    assert (len(validation.folds), mixed(validation)) == (4, 0)
    # The paths of a day depend on each other, also those from further starts.
    assert np.unique(validation.groups).size == 8
    for fold in validation.folds:
        assert (fold.groups == fold.judged.days[fold.judged.rows]).all()
    assert mixed(Validation(instances, split="snapshot")) == 4, "folds of snapshots mix the days"
    few = Validation(history(days=2), split="day")
    assert (len(few.folds), mixed(few)) == (2, 0)


def test_by_default_days_stay_together_where_a_split_of_the_set_keeps_them() -> None:
    instances = history()
    plain = rs.InstanceSet(instances.graph, instances.weights, 0, 24)
    for trips, expected in (
        (instances, "day"),
        (plain, "snapshot"),
        (history(days=1), "snapshot"),
        (instances[instances.days[instances.rows] == 3], "snapshot"),
        (instances.draw(100, 0), "snapshot"),
    ):
        assert Validation(trips).unit == expected
        assert trips._kept_together()[1] in (f"{expected}s", "instances")
        learned = rs.learn(trips, mean_excess=np.inf, effort="quick")
        assert learned.front_.unit == f"{expected}s"


def test_learn_takes_days(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = history()
    asked = []
    monkeypatch.setattr(
        "rhostar.learners._auto.Validation", lambda *a, **k: asked.append(Validation(*a, **k)) or asked[-1]
    )
    for goals in (1, 2):
        targets = 24 if goals == 1 else np.where(np.arange(200) % 2, 24, 23)
        sources = np.where(instances.sources == 23, 0, instances.sources)
        given = rs.InstanceSet(
            instances.graph, instances.weights, sources, targets, rows=instances.rows, days=instances.days
        )
        asked.clear()
        rs.learn(given, mean_excess=0.1, split="day", effort="quick")
        assert len(asked) == goals
        assert [mixed(validation) for validation in asked] == [0] * goals


def test_what_is_refused() -> None:
    instances = history()
    plain = rs.InstanceSet(instances.graph, instances.weights, 0, 24)
    for excess in ({"max_excess": 0.0}, {"mean_excess": 0.01}):
        with pytest.raises(rs.errors.InputError, match="split='day' needs instances that know their days"):
            rs.learn(plain, **excess, split="day")
        with pytest.raises(rs.errors.InputError, match="split must be 'snapshot' or 'day', got 'week'"):
            rs.learn(instances, **excess, split="week")
    with pytest.raises(rs.errors.InstanceError, match="needs at least 2 days to hold out a part of it, got 1"):
        rs.learn(history(days=1), mean_excess=0.01, split="day")
    nowhere = rs.InstanceSet(rs.Graph.from_edges(3, [0], [1]), np.ones((4, 1)), 0, 2, infeasible="keep")
    with pytest.raises(rs.errors.InstanceError, match="no instance of the training set has a path"):
        rs.learn(nowhere, mean_excess=0.01)


# ---------------------------------------------------------------- who wins


def candidates(*losses: np.ndarray) -> list[Candidate]:
    return [Candidate(rs.learners.MeanDistance(), 0.0, 0.0, 0.0, one, ()) for one in losses]


def chosen(groups: np.ndarray, *losses: np.ndarray) -> int:
    listed = candidates(*losses)
    return listed.index(selection.choose(listed, groups))


def test_the_simpler_one_wins_within_one_standard_error() -> None:
    rng = np.random.default_rng(0)
    base, groups = rng.uniform(50, 100, 400), np.arange(400)
    noise = rng.normal(0, 1, 400)
    noise -= noise.mean()
    error = noise.std(ddof=1) / 20
    assert selection.estimate(noise, groups) == pytest.approx((0, error))
    for lead, expected in ((0.5, 0), (2.0, 1)):
        assert chosen(groups, base + noise + lead * error, base) == expected
    assert chosen(groups, base, base + 1.0) == 0
    wide = base + 20 * noise
    best = wide - 0.05 * wide.mean() - (groups % 2 - 0.5) * 200
    assert selection.estimate(wide - best, groups).error > 0.05 * wide.mean()
    assert chosen(groups, wide, best) == 1, "at most 2 %, also within one standard error"
    pairs = np.repeat(np.arange(200), 2)
    twice = np.repeat(noise[:200] - noise[:200].mean(), 2)
    single = selection.estimate(twice[::2], np.arange(200))
    assert selection.estimate(twice, pairs).error == pytest.approx(single.error), "copies of a snapshot prove nothing"
    cost, optimum = 1.02 * base, base
    ratio = selection.estimate(cost - optimum, groups, optimum)
    assert ratio == pytest.approx((0.02, 0.0), abs=1e-12)


def test_who_may_win() -> None:
    one = candidates(np.ones(3))[0]
    listed = [one._replace(bound=bound) for bound in (0.0, 0.02, 0.01)]
    failed = one._replace(losses=np.empty(0), bound=np.nan)
    assert selection.within([failed, *listed], 0.01) == [listed[0], listed[2]]
    assert selection.within(listed[1:], 0.005) == [listed[2]], "the closest one if none is within"
    assert selection.within([one._replace(bound=np.nan)], np.inf)
    assert selection.within([failed], 0.01) == []


# ---------------------------------------------------------------- bounds


def test_the_bound_holds_where_the_standard_error_does_not() -> None:
    # Seven of ten snapshots have no excess, the others 1.67 % in the mean, with a long tail.
    rng = np.random.default_rng(0)
    held = naive = 0
    for _ in range(400):
        excess = np.where(rng.random(60) < 0.3, 0.005 / 0.3 * rng.exponential(1.0, 60), 0.0)
        bound = selection.upper_bound(excess, np.arange(60), np.ones(60), level=0.975)
        mean, error = selection.estimate(excess, np.arange(60))
        held += bound >= 0.005
        naive += mean + error >= 0.005
    assert held >= 0.95 * 400
    assert naive < 0.85 * 400, "the twin: one standard error"


def test_bounds_by_hand() -> None:
    none = np.zeros(9)
    assert selection.upper_bound(none, np.arange(9), np.ones(9), level=0.95) == 0.0
    added = selection.upper_bound(none, np.arange(9), np.ones(9), level=0.95, surprise=0.1)
    # Nine zeros and one of 0.1: mean 0.01, standard error 0.01, Student's t with 9 degrees of freedom.
    assert added == pytest.approx(0.01 + 1.8331 * 0.01, rel=1e-4)
    assert selection.upper_bound(none, np.arange(9), none, level=0.95) == 0.0
    # Instances of one snapshot count as one.
    value = np.repeat([0.0, 0.0, 0.3], 5)
    assert selection.upper_bound(value, np.repeat([0, 1, 2], 5), np.ones(15), level=0.95) == pytest.approx(
        selection.upper_bound(np.array([0.0, 0.0, 0.3]), np.arange(3), np.ones(3), level=0.95)
    )


def test_bounds_by_days_by_hand() -> None:
    # Two days of two snapshots, all alike, and one more that is as bad: only the days that may come differ.
    days, ones = np.repeat([0, 1], 2), np.ones(4)
    t = 4.6041  # of 0.995, with 4 degrees of freedom
    alike = selection.upper_bound(0.01 * ones, np.arange(4), ones, level=0.995, days=days)
    # The mean of five has the sizes 2, 2 and 1 by day and five times 1 by snapshot.
    assert alike == pytest.approx(0.01 + t * 0.4 * 0.01 * np.sqrt(8 - 4) / 5, rel=1e-4)
    # Days differ more than that: 0 and 0.04, and the one added has 0.04; their mean is 0.024.
    apart = selection.upper_bound(0.04 * days, np.arange(4), ones, level=0.995, days=days)
    variance = (0.048**2 + 0.032**2 + 0.016**2) * 3 / 2 / 25
    assert apart == pytest.approx(0.024 + t * np.sqrt(variance), rel=1e-4)


excesses = st.lists(st.sampled_from([0.0, 0.0, 0.001, 0.02, 0.5]), min_size=2, max_size=60)


@given(excess=excesses, each=st.integers(1, 12), limit=st.floats(1e-6, 1.0), factor=st.floats(0.1, 10.0))
def test_days_and_snapshots_agree(excess: list[float], each: int, limit: float, factor: float) -> None:
    values, snapshots = np.array(excess), np.arange(len(excess))
    ones, days = np.ones(values.size), snapshots // each
    by_snapshot, by_day = (selection.kept(values, snapshots, ones, which) for which in (None, days))
    assert by_day >= by_snapshot * (1 - 1e-9), "what holds by days also holds by snapshots"
    if each == 1:
        assert by_day == by_snapshot, "a day of one snapshot is a snapshot"
    if 1e-6 < by_day < 1:
        scaled = selection.kept(factor * values, snapshots, ones, days)
        assert scaled == pytest.approx(factor * by_day, rel=1e-3)

    def bound(limit: float) -> float:
        surprise = min(5.0, 0.2 * values.size) * limit
        return float(selection.upper_bound(values, snapshots, ones, level=0.998, surprise=surprise, days=days))

    if by_day < np.inf:
        assert bound(by_day) <= by_day
    if limit < 0.999 * by_day:
        assert bound(limit) > limit


def test_many_days_need_no_more_than_before() -> None:
    rng = np.random.default_rng(0)
    days = np.repeat(np.arange(400), 6)
    values = 0.01 * rng.lognormal(0, 0.4, 400)[days] * rng.exponential(1.0, days.size)
    ones = np.ones(days.size)
    before = selection.kept(values, days, ones)  # each day one unit
    assert selection.kept(values, np.arange(days.size), ones, days) == pytest.approx(before, rel=0.05)


@pytest.mark.parametrize(("days", "each"), [(4, 12), (4, 36), (7, 12), (14, 12), (20, 12)])
def test_few_days_keep_what_is_allowed(days: int, each: int) -> None:
    """Candidates lose more and more; the last one that seems to keep 1 % is taken. Does it on days still to come?"""
    rng, repeats = np.random.default_rng(days * each), 200
    day, snapshot, ones = np.repeat(np.arange(days), each), np.arange(days * each), np.ones(days * each)
    taken = np.zeros((3, repeats))
    for k in range(repeats):
        # Half of the snapshots lose nothing, the others have a heavy tail, and days differ. The true mean is 1.
        loss = rng.lognormal(-0.125, 0.5, days)[day] * np.where(rng.random(day.size) < 0.5, 2, 0)
        loss = 0.01 * loss * rng.lognormal(-0.5, 1.0, day.size)
        bounds = (selection.kept(loss, snapshot, ones, day), selection.kept(loss, snapshot, ones), loss.mean())
        taken[:, k] = 0.01 / np.array(bounds)  # bounds are proportional to losses
    held = (taken <= 1).mean(axis=1)
    assert held[0] >= 0.95
    assert held[2] < 0.6, "the twin: no margin"
    assert held[0] >= held[1]
    assert taken[0].mean() > 0.35, "and it is not useless"
