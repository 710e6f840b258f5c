"""What Auto does with most of its time: ranking, bumps, and which of the improved values it keeps."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.learners._contest import Candidate, Clock, Contest
from rhostar.learners._improving import Improvement, continued


def worlds(count: int, side: int = 14, seed: int = 0) -> rs.InstanceSet:
    """Return worlds with a wall whose gap moves."""
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(side, side, neighbours=8)
    blocked = rng.random((count, side, side)) < 0.15
    blocked[:, side // 2, :] = True
    blocked[np.arange(count), side // 2, rng.integers(0, side // 2, count)] = False
    blocked[:, 0, 0] = blocked[:, -1, -1] = False
    return rs.InstanceSet.from_obstacles(
        graph, blocked, 0, graph.n - 1, corner_cutting=True, dtype=np.float32, infeasible="drop"
    )


def contest(instances: rs.InstanceSet) -> Contest:
    return Contest(rs.learners.Auto("gbfs", random_state=0), instances, np.inf, Clock(np.inf))


def improvement(held: Contest) -> Improvement:
    return Improvement(held, {"random_state": 0, "n_jobs": None}, lambda words: None)


@pytest.fixture(scope="module")
def held() -> Contest:
    found = contest(worlds(80))
    found.enter(rs.learners.MeanDistance())
    return found


def entered(held: Contest, learner: rs.learners.Learner, losses: np.ndarray) -> Candidate:
    """Return a candidate with the values of mean distances, and these losses on instances it was not fitted on."""
    return held.tried[0]._replace(learner=learner, losses=losses)


def test_one_lost_search_does_not_decide_against_bumps(held: Contest) -> None:
    compared = improvement(held)
    count = len(held.parts[0].judged)
    before = np.full(count, 100.0)
    lead = entered(held, rs.learners.SelfImitatedRanking(), before)
    lost, overfitted, better = before - 5.0, before + 5.0, before - 5.0
    lost[0], overfitted[0] = 5000.0, 90.0
    assert lost.mean() > before.mean()
    bumps, ranking = rs.learners.BumpSearch(), rs.learners.SelfImitatedRanking()
    for learner, losses, wins in (
        (bumps, better, True),
        (ranking, better, True),
        (bumps, lost, True),
        (ranking, lost, False),  # no search for bumps follows that could deal with it
        (bumps, overfitted, False),
        (bumps, before, False),
    ):
        new = entered(held, learner, losses)
        assert (compared._better(lead, new) is new) is wins, (type(learner).__name__, losses[:2])
    assert compared._better(lead, None) is lead
    assert compared._better(None, lead) is lead
    assert compared._better(lead, lead._replace(fits=())) is lead


def test_values_are_compared_on_those_they_were_fitted_on_too(held: Contest) -> None:
    compared, first = improvement(held), held.tried[0]
    train, judged = held.parts[0].train, held.parts[0].judged
    both = [rs.solve_many(part, first.fits[0].rho_, algorithm="gbfs").expanded for part in (train, judged)]
    assert compared._mean(first) == pytest.approx(np.concatenate(both).mean())


def test_the_search_for_bumps_goes_on_with_all_instances() -> None:
    instances = worlds(80)
    held = contest(instances)
    lead = improvement(held).bumps(held.enter(rs.learners.MeanDistance()), None, np.inf)
    assert lead is not None
    learner, seen = continued(held, lead)
    assert isinstance(learner, rs.learners.BumpSearch)
    assert len(seen) == len(instances)
    found = rs.solve_many(instances, lead.fits[0].rho_, algorithm="gbfs").expanded.mean()
    assert learner.history_[0] == pytest.approx(found), "it starts from what was found"
    assert learner.history_[-1] < found
    assert repr(learner.initial) == repr(lead.learner)
    assert learner.max_bumps == learner.tried_
    held.clock = Clock(0.0)
    last, seen = continued(held, lead)
    assert last is lead.fits[0], "no time is left"
    assert seen is held.parts[0].train


def test_the_winner_has_seen_all_instances() -> None:
    train, test = worlds(160, 24).split(0.5, seed=0)
    learner = rs.learn(train, algorithm="gbfs", time_limit=None)
    assert isinstance(learner.learner_, rs.learners.BumpSearch)
    assert np.array_equal(learner.learner_.initial_, learner.candidates_[-1].fits[0].rho_)
    assert learner.trained_on_.overlap(train) == len(train)
    simple = rs.learners.MeanDistance().fit(train)
    fewer, plain = (rs.solve_many(test, one.rho_, algorithm="gbfs").expanded.mean() for one in (learner, simple))
    assert fewer < plain
