"""Several tables, one chosen per query; and values limited so that no answer is far above the optimum."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.certificates import largest_excess
from rhostar.search._tables import Tables
from support.instances import changing_graph, square_grid


def two_kinds(count: int = 160, side: int = 8, seed: int = 0) -> rs.InstanceSet:
    """Return a grid on which every other edge is jammed, by turns."""
    graph = rs.Graph.grid(side, side)
    rng = np.random.default_rng(seed)
    jam = np.where(np.arange(graph.m) % 2 == np.arange(count)[:, None] % 2, 3.0, 1.0)
    weights = jam * rng.uniform(1, 1.2, jam.shape)
    return rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, count), graph.n - 1)


def test_each_kind_of_snapshot_gets_its_own_table() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    one, two = rs.learners.MeanDistance().fit(train), rs.learners.Portfolio(k=2, excess=np.inf).fit(train)
    chosen = two.rho_.which_of(test)
    kinds = test.rows % 2
    assert set(chosen[kinds == 0]).isdisjoint(chosen[kinds == 1]) or 0 in chosen
    assert np.bincount(two.groups_).tolist() == [0, *np.bincount(two.groups_)[1:]], (
        "every training snapshot has its group"
    )
    for number in np.unique(two.groups_):
        own = np.flatnonzero(two.groups_ == number)
        assert np.array_equal(two.rho_.tables[number], rs.learners.MeanDistance().fit(train[own]).rho_)
    runs, plain = rs.solve_many(test, two), rs.solve_many(test, one)
    assert runs.expanded.mean() < 0.8 * plain.expanded.mean()
    assert runs.cost.mean() < 1.01 * plain.cost.mean()


def test_it_is_taken_wherever_rho_is() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    portfolio = rs.learners.Portfolio(k=2).fit(train)
    runs = rs.solve_many(test, portfolio)
    for rho in (portfolio, portfolio.rho_):
        assert [rs.astar(*instance, rho).expanded for instance in test] == runs.expanded.tolist()
        assert [rs.gbfs(*instance, rho).cost for instance in test] == rs.solve_many(
            test, rho, algorithm="gbfs"
        ).cost.tolist()
    for i, number in enumerate(portfolio.rho_.which_of(test)):
        assert rs.astar(*test[i], portfolio.rho_.tables[number]).expanded == runs.expanded[i]
    utility = rs.utilities.Expansions(200)
    assert rs.evaluate(test, portfolio, utility)[0].mean == np.minimum(runs.expanded, 200).mean()
    assert portfolio.score(test) == -runs.expanded.mean()
    table = rs.certify(portfolio, holdout=test, utility=utility)
    assert table.best.holds_for == "this rho"
    assert table.best.observed == pytest.approx(np.minimum(runs.expanded, 200).mean())
    assert {row.holds_for for row in table.rows} == {"this rho"}
    with pytest.raises(rs.errors.InputError, match="leave train out"):
        rs.certify(portfolio, train=train, utility=utility)
    with pytest.raises(rs.errors.AssumptionError, match="untouched"):
        rs.certify(portfolio, holdout=train, utility=utility)
    best = rs.learners.BestOf([rs.learners.MeanDistance(), rs.learners.Portfolio(k=2)], random_state=0).fit(train)
    assert isinstance(best.learner_, rs.learners.Portfolio)


def test_a_query_between_the_groups_takes_the_common_table() -> None:
    train = two_kinds()
    portfolio = rs.learners.Portfolio(k=2).fit(train)
    odd = np.full(train.graph.m, 2.0)
    assert portfolio.rho_.which(odd) == 0
    assert np.array_equal(portfolio.rho_.rho_for_weights(odd), rs.learners.MeanDistance().fit(train).rho_)
    for number in (1, 2):  # farther out than all others, but on the side of one group
        example = train.weights[train.rows[np.flatnonzero(portfolio.groups_ == number)[0]]]
        assert portfolio.rho_.which(odd + 4 * (example - odd)) == number
    few = rs.learners.Portfolio(k=2, least=1000).fit(train)
    assert len(few.rho_) == 1
    same = rs.InstanceSet(train.graph, np.ones((3, train.graph.m)), sources=0, goal=63)
    assert len(rs.learners.Portfolio(k=2, least=1).fit(same).rho_) == 1, "nothing varies: there is nothing to choose by"


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_no_table_may_be_farther_off_than_the_common_one(seed: int) -> None:
    instances = changing_graph(seed, n=8, count=40, absent=0.0)
    low = instances.weights[instances.rows].min(axis=0)
    portfolio = rs.learners.Portfolio(k=3, least=2).fit(instances)
    bounds = [largest_excess(instances.graph, table, instances.goal, low) for table in portfolio.rho_.tables]
    assert max(bounds) <= bounds[0] + 1e-9
    over = rs.solve_many(instances, portfolio).cost - rs.solve_many(instances, np.zeros(8)).cost
    assert over.max() <= bounds[0] + 1e-9


def test_the_nearest_centre_wins() -> None:
    rng = np.random.default_rng(0)
    tables = Tables(6, np.zeros((5, 3)), np.arange(6), np.full(6, 2.0), np.full(6, 10.0))
    centres = rng.uniform(0, 4, (5, 6))
    tables.place(centres)
    numbers = []
    for _ in range(200):
        weights = rng.uniform(0, 9, 6)
        away = np.linalg.norm(weights / 2 - centres, axis=1)
        numbers.append(tables.which(weights))
        assert numbers[-1] == away.argmin()
    assert set(numbers) == {0, 1, 2, 3, 4}


def test_what_the_portfolio_refuses() -> None:
    instances = two_kinds(20)
    for wrong in ({"k": 0}, {"probes": 0}, {"least": 0}, {"excess": -1.0}, {"random_state": "x"}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.Portfolio(**wrong).fit(instances)
    portfolio = rs.learners.Portfolio(k=2, least=2).fit(instances)
    elsewhere = rs.InstanceSet(instances.graph, instances.weights, sources=5, goal=0)
    with pytest.raises(rs.errors.ModelError, match="goal 63, not for goal 0"):
        rs.solve_many(elsewhere, portfolio)
    with pytest.raises(rs.errors.ModelError, match="goal 63, not for goal 0"):
        rs.astar(*elsewhere[0], portfolio)
    with pytest.raises(rs.errors.InputError, match="one goal"):
        rs.learners.Portfolio(rs.learners.PerGoal()).fit(instances)


@pytest.mark.parametrize("goals", [[63], [63, 7]])
def test_a_model_keeps_the_tables_and_the_rule(goals: list[int], tmp_path: Path) -> None:
    drawn = two_kinds(120)
    instances = rs.InstanceSet(
        drawn.graph, drawn.weights, np.full(120, 20), np.repeat(goals, 120 // len(goals)), rows=drawn.rows
    )
    portfolio = rs.learners.Portfolio(k=2, least=5)
    learner = (portfolio if len(goals) == 1 else rs.learners.PerGoal(portfolio)).fit(instances)
    path = tmp_path / "portfolio.npz"
    rs.Model.of(learner, instances.graph).save(path)
    model = rs.Model.load(path)
    assert (model.n, model.goals) == (64, sorted(goals))
    runs, again = rs.solve_many(instances, learner), rs.solve_many(instances, model)
    assert (runs.expanded == again.expanded).all()
    assert [rs.astar(*one, model).expanded for one in instances[:20]] == runs.expanded[:20].tolist()
    one_table = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(instances)
    assert runs.expanded.mean() < rs.solve_many(instances, one_table).expanded.mean(), "tables are chosen"
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    for name, wrong in (
        ("choice_0_probes", np.array([0, 10**6])),
        ("choice_0_tables", np.zeros((1, 64))),
        ("choice_0_centres", np.full((3, 32), np.nan)),
        ("choice_0_centres", np.zeros((1, 32))),
        ("choice_0_scale", None),
    ):
        np.savez_compressed(path, **{key: part for key, part in parts.items() if key != name})
        if wrong is not None:
            np.savez_compressed(path, **parts | {name: wrong})
        with pytest.raises(rs.errors.StorageError):
            rs.Model.load(path)


# ---------------------------------------------------------------- limited


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), excess=st.sampled_from([0.0, 0.5, 2.0]))
def test_no_answer_exceeds_the_limit(seed: int, excess: float) -> None:
    instances = changing_graph(seed, n=9, count=12, absent=0.2)
    learner = rs.learners.Limited(rs.learners.InconsistencyLP(0.3), excess).fit(instances)
    over = rs.solve_many(instances, learner).cost - rs.solve_many(instances, np.zeros(9)).cost
    assert over.max() <= excess + 1e-9
    assert (learner.rho_ <= learner.learner_.rho_).all()


def test_the_limit_costs_expansions() -> None:
    train, test = square_grid(200, side=12).split(0.5, seed=0)
    optimum = rs.solve_many(test, np.zeros(144)).cost
    expanded, worst = [], []
    for excess in (0.0, 2.0, 4.0, np.inf):
        learner = rs.learners.Limited(rs.learners.InconsistencyLP(0.5), excess, lo=np.ones(train.graph.m)).fit(train)
        runs = rs.solve_many(test, learner)
        expanded.append(runs.expanded.mean())
        worst.append((runs.cost - optimum).max())
        assert worst[-1] <= min(excess, learner.unlimited_) + 1e-9
    assert expanded == sorted(expanded, reverse=True)
    assert worst[0] <= 1e-9 < worst[-1]
    assert np.array_equal(learner.rho_, learner.learner_.rho_)
    with pytest.raises(rs.errors.InputError, match="excess"):
        rs.learners.Limited(excess=-1.0).fit(train)
    with pytest.raises(rs.errors.InputError, match="inside PerGoal"):
        rs.learners.Limited(rs.learners.PerGoal()).fit(train)


def test_a_page_shows_tables_that_are_chosen_by_the_weights() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    portfolio = rs.learners.Portfolio(k=2, excess=np.inf).fit(train)
    several = rs.learners.PerGoal(rs.learners.Portfolio(k=2, excess=np.inf)).fit(train)
    methods = {"Dijkstra": np.zeros(64), "one": portfolio, "by goal": several}
    lines = rs.report.build(test[:12], methods, scenes=1)["comparison"].tradeoffs
    expanded = rs.solve_many(test[:12], portfolio).expanded.mean()
    for line in lines:
        assert line.expansions[line.theta.index(1.0)] == expanded, "a factor of 1 changes nothing"
        assert line.expansions[0] == rs.solve_many(test[:12], np.zeros(64)).expanded.mean()
    assert len(lines) == 2
