"""``split="day"``: where learners are judged on instances held out, whole days are held out."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.learners import _choosing as choosing
from rhostar.learners import _ranking
from rhostar.learners._contest import Clock, Contest
from rhostar.learners._wrappers import hold_out


def history(days: int = 8, each: int = 4) -> rs.InstanceSet:
    graph, rng = rs.Graph.grid(5, 5), np.random.default_rng(0)
    weights, rows = rng.uniform(1, 2, (days * each, graph.m)), rng.integers(0, days * each, 200)
    when = np.arange(days * each) // each
    return rs.InstanceSet(graph, weights, rng.integers(0, 24, 200), 24, rows=rows, days=when)


def mixed(parts: list[choosing.Part]) -> int:
    """Return how many parts have a day both in the instances to fit on and in those to judge on."""
    both = [[set(one.days[one.rows]) for one in (part.train, part.judged)] for part in parts]
    return sum(not fitted.isdisjoint(judged) for fitted, judged in both)


def test_folds_are_whole_days() -> None:
    instances = history()
    parts = choosing.parts(instances, 4, None, 0, "day")
    assert len(parts) == 4
    assert mixed(parts) == 0
    assert sum(len(part.judged) for part in parts) == len(instances)
    for part in parts:
        assert (part.groups == part.judged.days[part.judged.rows]).all()
    assert mixed(choosing.parts(instances, 4, None, 0)) == 4, "folds of snapshots mix the days"
    few = choosing.parts(history(days=2), 4, None, 0, "day")
    assert (len(few), mixed(few)) == (2, 0)


@pytest.mark.parametrize("limit", [np.inf, 5.0])
@pytest.mark.parametrize("split", ["day", "snapshot"])
def test_a_contest_holds_out_whole_days(split: choosing.Split, limit: float) -> None:
    auto = rs.learners.Auto(split=split, random_state=0)
    contest = Contest(auto, history(), 0.01, Clock(limit))
    assert (mixed(contest.parts) == 0) == (split == "day")
    # The paths of a day depend on each other, also those from further starts.
    assert np.unique(contest.groups).size == (8 if split == "day" else 32)
    judged = contest.judge(rs.learners.MeanDistance().fit(contest.parts[0].train), 0)
    over, bound = contest.excess([judged], certain=False)
    assert 0 <= over <= bound
    assert contest.further[0] is None or contest.further[0].days is not None


def test_learn_takes_days(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = history()
    asked = []
    usual = choosing.parts
    monkeypatch.setattr(choosing, "parts", lambda *args: asked.append(usual(*args)) or asked[-1])
    for goals in (1, 2):
        targets = 24 if goals == 1 else np.where(np.arange(200) % 2, 24, 23)
        sources = np.where(instances.sources == 23, 0, instances.sources)
        given = rs.InstanceSet(
            instances.graph, instances.weights, sources, targets, rows=instances.rows, days=instances.days
        )
        asked.clear()
        rs.learn(given, promise="1%", split="day", time_limit=1)
        assert len(asked) == goals
        assert [mixed(parts) for parts in asked] == [0] * goals


def test_what_is_refused() -> None:
    instances = history()
    plain = rs.InstanceSet(instances.graph, instances.weights, 0, 24)
    for promise in ("optimal", "1%"):
        with pytest.raises(rs.errors.InputError, match="split='day' needs instances that know their days"):
            rs.learn(plain, promise=promise, split="day")
        with pytest.raises(rs.errors.InputError, match="split must be 'snapshot' or 'day', got 'week'"):
            rs.learn(instances, promise=promise, split="week")
    with pytest.raises(rs.errors.InstanceError, match="needs at least 2 days to hold out a part of it, got 1"):
        rs.learn(history(days=1), promise="1%", split="day")


def test_learners_with_their_own_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = history()
    for split in ("day", "snapshot"):
        train, judged = hold_out(instances, 0.4, 0, split)
        assert (mixed([choosing.Part(train, judged, judged.rows)]) == 0) == (split == "day")
        asked = []
        usual = choosing.parts
        with monkeypatch.context() as patch:
            patch.setattr(choosing, "parts", lambda *args: asked.append(usual(*args)) or asked[-1])  # noqa: B023
            rs.learners.BestOf(split=split, random_state=0).fit(instances)
        assert (mixed(asked[0]) == 0) == (split == "day")
        held = []
        with monkeypatch.context() as patch:
            patch.setattr(_ranking, "hold_out", lambda *args: held.append(hold_out(*args)) or held[-1])  # noqa: B023
            learner = rs.learners.SelfImitatedRanking(validation=0.4, split=split, iterations=2, random_state=0)
            learner.fit(instances)
        assert (mixed([choosing.Part(*held[0], held[0][1].rows)]) == 0) == (split == "day")
    with pytest.raises(rs.errors.InstanceError, match="at least 2 days"):
        hold_out(history(days=1), 0.4, 0, "day")
