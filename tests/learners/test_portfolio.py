"""Several tables, one chosen per query."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.heuristics import ChosenByWeights, Table


def two_kinds(count: int = 160, side: int = 8, seed: int = 0) -> rs.InstanceSet:
    """Return a grid on which every other edge is jammed, by turns."""
    graph = rs.Graph.grid(side, side)
    rng = np.random.default_rng(seed)
    jam = np.where(np.arange(graph.m) % 2 == np.arange(count)[:, None] % 2, 3.0, 1.0)
    weights = jam * rng.uniform(1, 1.2, jam.shape)
    return rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, count), graph.n - 1)


def test_each_kind_of_snapshot_gets_its_own_table() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    one, two = rs.learners.MeanDistance().fit(train), rs.learners.Portfolio(n_clusters=2).fit(train)
    chosen = two.heuristic_.which_of(test)
    kinds = test.indices % 2
    assert {*chosen[kinds == 0]}.isdisjoint(chosen[kinds == 1])
    assert {*two.cluster_of_} == {0, 1}, "every training snapshot has its group"
    for number in (0, 1):
        # The table of all counts little beside that of so many snapshots of a clear kind.
        own = rs.learners.MeanDistance().fit(train[np.flatnonzero(two.cluster_of_ == number)]).rho_ - one.rho_
        share = (two.heuristic_.members[number].values - one.rho_) @ own / (own @ own)
        np.testing.assert_allclose(two.heuristic_.members[number].values, one.rho_ + share * own)
        assert 0.95 < share < 1
    runs, plain = rs.solve_many(test, two), rs.solve_many(test, one)
    assert runs.expanded.mean() < 0.8 * plain.expanded.mean()
    assert runs.cost.mean() < 1.01 * plain.cost.mean()


def test_it_is_taken_wherever_rho_is() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    portfolio = rs.learners.Portfolio(n_clusters=2).fit(train)
    runs = rs.solve_many(test, portfolio)
    for rho in (portfolio, portfolio.heuristic_):
        assert [rs.astar(*instance, rho).expanded for instance in test] == runs.expanded.tolist()
        assert [rs.gbfs(*instance, rho).cost for instance in test] == rs.solve_many(
            test, rho, algorithm="gbfs"
        ).cost.tolist()
    for i, number in enumerate(portfolio.heuristic_.which_of(test)):
        assert rs.astar(*test[i], portfolio.heuristic_.members[number]).expanded == runs.expanded[i]
    utility = rs.utilities.Expansions(200)
    assert rs.evaluate(portfolio, test, utility)[0].mean == np.minimum(runs.expanded, 200).mean()
    assert portfolio.score(test) == -runs.expanded.mean()
    table = rs.certify(portfolio, test, utility)
    assert table.best.holds_for == "this rho"
    assert table.best.observed == pytest.approx(np.minimum(runs.expanded, 200).mean())
    assert {row.holds_for for row in table.rows} == {"this rho"}
    with pytest.raises(rs.errors.InputError, match="certify it on a holdout"):
        rs.certify_training(portfolio, train, utility)
    with pytest.raises(rs.errors.AssumptionError, match="untouched"):
        rs.certify(portfolio, train, utility)
    both = [rs.learners.MeanDistance(), rs.learners.Portfolio(n_clusters=2)]
    best = rs.learners.Auto(candidates=both, mean_excess=np.inf).fit(train)
    assert isinstance(best.learner_, rs.learners.Portfolio)


def test_a_query_unlike_all_others_takes_the_nearest_table() -> None:
    train = two_kinds()
    portfolio = rs.learners.Portfolio(n_clusters=2).fit(train)
    for number in (0, 1):
        example = train.weights[train.rows[np.flatnonzero(portfolio.cluster_of_ == number)[0]]]
        assert portfolio.heuristic_.which(example**3) == number, "farther out, but on the side of one group"
        assert portfolio.heuristic_.which(np.where(np.arange(example.size) == 3, 1e9, example)) == number, "one jam"
        assert portfolio.heuristic_.which(np.where(np.arange(example.size) == 3, np.inf, example)) == number
        assert portfolio.heuristic_.which(np.where(np.arange(example.size) == 3, 0.0, example)) == number
    same = rs.InstanceSet(train.graph, np.ones((3, train.graph.m)), sources=0, goal=63)
    none = rs.learners.Portfolio(n_clusters=2).fit(same)
    assert len(none.heuristic_.members) == 1, "nothing varies: there is nothing to choose by"


def test_the_nearest_center_wins() -> None:
    rng = np.random.default_rng(0)
    centers = np.exp(rng.uniform(0, 4, (5, 6)))
    members = [Table(np.zeros(3))] * 5
    tables = ChosenByWeights(members, np.arange(6), centers, 6, low=np.full(6, 0.5), high=np.full(6, 90.0))
    numbers = []
    for _ in range(200):
        weights = np.exp(rng.uniform(-2, 6, 6))
        weights[rng.integers(6)] = rng.choice([0.0, 1.0, np.inf])
        away = np.linalg.norm(np.log(np.clip(weights, 0.5, 90.0)) - np.log(centers), axis=1)
        numbers.append(tables.which(weights))
        assert numbers[-1] == away.argmin()
    assert set(numbers) == {0, 1, 2, 3, 4}


def test_what_the_portfolio_refuses() -> None:
    instances = two_kinds(20)
    for wrong in ({"n_clusters": 0}, {"random_state": "x"}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.Portfolio(**wrong).fit(instances)
    portfolio = rs.learners.Portfolio(n_clusters=2).fit(instances)
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
    portfolio = rs.learners.Portfolio(n_clusters=2)
    learner = (portfolio if len(goals) == 1 else rs.learners.PerGoal(portfolio)).fit(instances)
    path = tmp_path / "portfolio.npz"
    rs.Model.of(learner, instances.graph).save(path)
    model = rs.Model.load(path)
    assert (model.heuristic.n, model.goals) == (64, sorted(goals))
    runs, again = rs.solve_many(instances, learner), rs.solve_many(instances, model)
    assert (runs.expanded == again.expanded).all()
    assert [rs.astar(*one, model).expanded for one in instances[:20]] == runs.expanded[:20].tolist()
    one_table = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(instances)
    assert runs.expanded.mean() < rs.solve_many(instances, one_table).expanded.mean(), "tables are chosen"
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    start = "" if len(goals) == 1 else "0_"
    for part, wrong in (
        ("probes", np.array([0, 10**6])),
        ("probes", np.full(32, 10**6)),
        ("0_values", np.zeros((1, 64))),
        ("usual", np.full((2, 32), np.nan)),
        ("usual", np.ones((1, 32))),
        ("usual", np.zeros((2, 32))),
        ("low", None),
    ):
        name = start + part
        assert name in parts
        np.savez_compressed(path, **{key: own for key, own in parts.items() if key != name})
        if wrong is not None:
            np.savez_compressed(path, **parts | {name: wrong})
        with pytest.raises(rs.errors.StorageError):
            rs.Model.load(path)


def test_a_page_shows_tables_that_are_chosen_by_the_weights() -> None:
    train, test = two_kinds().split(0.5, seed=0)
    portfolio = rs.learners.Portfolio(n_clusters=2).fit(train)
    several = rs.learners.PerGoal(rs.learners.Portfolio(n_clusters=2)).fit(train)
    methods = {"Dijkstra": np.zeros(64), "one": portfolio, "by goal": several}
    shown = rs.report.build(test[:12], methods, scenes=1).methods
    expanded = rs.solve_many(test[:12], portfolio).expanded.mean()
    assert [method.expansions for method in shown[1:]] == [expanded, expanded]
    for rho in (portfolio, several):
        scaled = rs.heuristics.as_heuristic(rho, test.graph).scaled(1.0)
        assert rs.solve_many(test[:12], scaled).expanded.mean() == expanded, "a factor of 1 changes nothing"
