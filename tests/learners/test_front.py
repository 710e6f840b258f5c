"""What ``learn`` shows: the front of expansions against excess; and that what it chooses is never dominated."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import RhostarWarning
from rhostar.learners import Front
from rhostar.learners import _validation as selection
from rhostar.learners._validation import Candidate
from support.instances import square_grid

LIMITS = (0.0, 0.002, 0.01, 0.05, 0.2, np.inf)


def dominates(one: Candidate, other: Candidate) -> bool:
    """Return whether one candidate is at least as good in both, and better in one."""
    a, b = (one.expanded, one.mean_excess), (other.expanded, other.mean_excess)
    return a != b and a[0] <= b[0] and a[1] <= b[1]


def candidate(expanded: float, excess: float, margin: float) -> Candidate:
    values = np.full(2, float(expanded))
    return Candidate(rs.learners.MeanDistance(), expanded, excess, excess + margin, values, ())


numbers = st.sampled_from([0.0, 0.001, 0.004, 0.01, 0.04, 0.3])
judged = st.lists(st.builds(candidate, st.integers(90, 120), numbers, numbers), min_size=1, max_size=12)


@given(candidates=judged)
def test_the_winner_is_never_dominated_and_larger_limits_never_choose_worse(candidates: list[Candidate]) -> None:
    candidates = [candidate(200, 0.0, 0.0), *candidates]  # exact values are always among them
    chosen = []
    for limit in LIMITS:
        inside = selection.within(candidates, limit)
        winner = selection.thriftiest(inside)
        assert winner.bound <= limit
        assert winner.expanded <= 1.02 * min(one.expanded for one in inside)
        assert not any(dominates(one, winner) for one in inside)
        assert not any(dominates(smaller, winner) for smaller in chosen)
        chosen.append(winner)


@given(candidates=judged)
def test_the_front_is_what_nothing_dominates(candidates: list[Candidate]) -> None:
    front = selection.undominated(candidates)
    for one in candidates:
        beaten = any(dominates(other, one) for other in candidates)
        twin = any((other.expanded, other.mean_excess) == (one.expanded, one.mean_excess) for other in front)
        assert beaten != twin


@given(
    excess=st.lists(st.sampled_from([0.0, 0.0, 0.001, 0.02, 0.5]), min_size=2, max_size=60),
    limit=st.floats(1e-6, 1.0),
)
def test_what_is_kept_is_the_lowest_limit_within_its_own_bound(excess: list[float], limit: float) -> None:
    values, groups = np.array(excess), np.arange(len(excess))
    ones = np.ones(values.size)
    kept = selection.kept(values, groups, ones)

    def bound(limit: float) -> float:
        surprise = min(5.0, 0.2 * values.size) * limit
        return float(selection.upper_bound(values, groups, ones, level=0.998, surprise=surprise))

    if np.isfinite(kept):
        assert bound(kept) <= kept
        assert kept >= values.mean()
        if limit < 0.999 * kept:
            assert bound(limit) > limit
    else:
        assert bound(limit) > limit


def cases() -> list[rs.InstanceSet]:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(9, 9)
    tails = graph.length * (1 + rng.pareto(1.3, (40, graph.m)))  # jams with heavy tails
    ends = rng.integers(0, 40, 40), rng.integers(41, 81, 40)
    return [
        rs.InstanceSet(graph, tails, ends[0], 80),
        rs.InstanceSet(graph, tails, *ends),
        rs.datasets.city(150, seed=3).towards(17).draw(40, 1),
    ]


@pytest.mark.parametrize("case", range(3))
@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")
def test_lower_bounds_times_a_factor_and_smaller_limits_never_win(case: int) -> None:
    train = cases()[case]
    name = "Potentials(goal_delay=True)" if not isinstance(train.goal, int) else "LowerEnvelope()"
    winners = []
    for limit in (0.005, 0.02, 0.1, np.inf):
        learner = rs.learners.Auto(mean_excess=limit, effort="quick").fit(train)
        tried = [one for one in learner.candidates_ if one.losses.size]
        winner = next(one for one, row in zip(tried, learner.front_, strict=True) if row.chosen)
        assert repr(winner.learner) == repr(learner.learner_)
        baseline = [one for one in tried if one.label.split(" × ")[0] == name]
        assert len(baseline) > 3, "lower bounds times several factors are in the race"
        inside = [one for one in baseline if one.bound <= limit]
        assert not any(dominates(one, winner) for one in inside)
        assert not any(dominates(smaller, winner) for smaller in winners)
        winners.append(winner)
    assert winners[-1].expanded <= 1.02 * min(one.expanded for one in winners)


def test_the_front_shows_what_it_costs_to_choose_otherwise(tmp_path: Path) -> None:
    train, test = square_grid(200, side=8).split(0.5, seed=0)
    learner = rs.learn(train, mean_excess=0.05)
    front = learner.front_
    assert sum(row.chosen for row in front) == 1
    best = front.best
    assert [row.expanded for row in best] == sorted((row.expanded for row in best), reverse=True)
    assert best[0].exact
    assert best[0].mean_excess == 0
    runs = rs.solve_many(test, learner)
    excess = runs.cost / rs.solve_many(test, np.zeros(64)).cost - 1
    row = next(row for row in front if row.chosen)
    assert abs(runs.expanded.mean() - row.expanded) < 5 * row.expanded_error
    assert abs(excess.mean() - row.mean_excess) < 5 * row.mean_excess_error
    assert abs(np.quantile(excess, 0.99) - row.excess_99) < 5 * row.excess_99_error + 0.02
    text = str(front)
    assert len(text.splitlines()) == len(best) + 2
    assert sum(line.startswith("chosen") for line in text.splitlines()) == 1
    assert front._repr_html_().count("<tr>") == len(best) + 1
    path = tmp_path / "model.npz"
    rs.Model.of(learner, train.graph).save(path)
    again = Front.from_dict(rs.Model.load(path).front)
    assert (again.rows, again.unit) == (front.rows, "snapshots")
    with pytest.raises(rs.errors.StorageError, match="the front is damaged"):
        Front.from_dict({"rows": [{}], "unit": "days"})
    axis = front.plot()
    assert axis.get_xlabel() == "expansions per query"
    page = rs.report.render(
        rs.report.build(test[:20], {"learned": learner}, sections=[rs.report.front_section({"learned": front})])
    )
    assert "What other choices would cost" in page
    assert "Circled: what was chosen" in page
    assert not hasattr(rs.learn(train, algorithm="gbfs", effort="quick"), "front_"), "paths may cost what they like"


def test_several_goals_have_a_front_together() -> None:
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(6, 6)
    goals = np.where(np.arange(120) % 2, 35, 0)
    instances = rs.InstanceSet(graph, rng.uniform(1, 3, (120, graph.m)), rng.integers(1, 35, 120), goals)
    learner = rs.learn(instances, mean_excess=0.2, effort="quick")
    front = learner.front_
    assert [row.label for row in front if row.chosen] == ["what was chosen for each goal"]
    parts = [one.front_ for one in learner.learners_.values()]
    chosen = [next(row for row in part if row.chosen) for part in parts]
    whole = next(row for row in front if row.chosen)
    assert min(r.expanded for r in chosen) <= whole.expanded <= max(r.expanded for r in chosen)
    assert {row.label for row in front if not row.chosen} <= {row.label for row in parts[0]}


def test_two_snapshots_have_a_front_too() -> None:
    with pytest.warns(RhostarWarning, match="nothing faster than exact values"):
        learner = rs.learn(square_grid(2), mean_excess=0.01)
    assert next(row for row in learner.front_ if row.chosen).exact
