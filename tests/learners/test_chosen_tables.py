"""Several tables for greedy search, and the rule that chooses among them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import rhostar as rs
from rhostar.heuristics import ChosenByWeights
from rhostar.learners import ChosenTables, MeanDistance
from rhostar.learners._choice import nearest_points
from rhostar.learners._distances import CostsToGo


def walls(count: int = 160, side: int = 21, seed: int = 0) -> rs.InstanceSet:
    """Return worlds with two walls, each open at one of its ends, and rubble."""
    rng = np.random.default_rng(seed)
    blocked = rng.random((count, side, side)) < 0.03
    for world in blocked:
        world[[side // 3, 2 * side // 3]] = True
        world[[side // 3, 2 * side // 3], rng.choice([1, side - 2], 2)] = False
    blocked[:, -1, 0] = blocked[:, 0, -1] = False
    graph = rs.Graph.grid(side, side, neighbors=8)
    return rs.InstanceSet.from_obstacles(
        graph, blocked, graph.n - side, side - 1, corner_cutting=True, infeasible="drop"
    )


@given(seed=st.integers(0, 2**32 - 1), tables=st.integers(1, 8), probes=st.integers(1, 20))
def test_a_linear_rule_is_one_of_nearest_points(seed: int, tables: int, probes: int) -> None:
    rng = np.random.default_rng(seed)
    slope, intercept = rng.normal(size=(tables, probes)), 10.0 ** rng.integers(-3, 4) * rng.normal(size=tables)
    center, x = rng.normal(size=probes), rng.normal(size=(50, probes))
    points = nearest_points(slope, intercept, center)
    wanted = (x - center) @ slope.T + intercept
    lifted = np.column_stack([x, np.zeros(len(x))])
    found = ((lifted[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
    close = wanted[np.arange(len(x)), found] - wanted.min(axis=1)
    assert (close <= 1e-9 * np.abs(wanted).max()).all()


def test_the_right_table_is_chosen_in_worlds_never_seen() -> None:
    train, test = walls().split(0.5, seed=0)
    shortest = np.mean([path.size - 1 for path in rs.solve_many(test, np.zeros(test.graph.n)).path])
    one, several = MeanDistance().fit(train), ChosenTables(n_clusters=8).fit(train)
    fewer, plain = (rs.solve_many(test, learner, algorithm="gbfs").expanded.mean() for learner in (several, one))
    assert fewer < 1.2 * shortest
    assert fewer < 0.7 * plain
    assert len(several.heuristic_.members) == 9
    assert np.array_equal(several.heuristic_.members[0].values, one.rho_), "the table for all worlds is the first"
    best = rs.learners.Auto("gbfs", candidates=[MeanDistance(), clone(several)]).fit(train)
    assert isinstance(best.learner_, ChosenTables)
    assert best.heuristic_.trained_on.overlap(train) == len(train)


def test_learn_tries_it_on_its_best_table() -> None:
    train, _ = walls(40, side=12).split(0.5, seed=0)
    *others, last = rs.learn(train, algorithm="gbfs").candidates_
    assert isinstance(last.learner, ChosenTables)
    first = min(others, key=lambda one: one.expanded)
    assert repr(last.learner.initial) == repr(first.learner)
    for fitted, start in zip(last.fits, first.fits, strict=True):
        table = fitted.only_table() or fitted.members[0]
        assert np.array_equal(table.values, start.only_table().values), "nothing is ranked twice"
    for other in ({"effort": "quick"}, {"utility": rs.utilities.Expansions(100)}):
        tried = rs.learn(train, algorithm="gbfs", **other).candidates_
        assert not any(isinstance(one.learner, ChosenTables) for one in tried)


def test_costs_known_before_and_jobs_change_nothing() -> None:
    train, test = walls(60).split(0.8, seed=0)
    plain = ChosenTables(n_clusters=4).fit(train)
    others = ChosenTables(n_clusters=4, n_jobs=2).fit(train), ChosenTables(n_clusters=4)._fit(train, CostsToGo(train))
    for other in (*others, clone(plain).fit(train)):
        assert np.array_equal(other.heuristic_.usual, plain.heuristic_.usual)
        assert np.array_equal(other.heuristic_.which_of(test), plain.heuristic_.which_of(test))


def test_with_few_or_equal_snapshots_there_is_one_table() -> None:
    few = walls(60)[:7]
    assert np.array_equal(ChosenTables().fit(few).rho_, MeanDistance().fit(few).rho_)
    values = np.arange(few.graph.n, dtype=np.float64)
    assert np.array_equal(ChosenTables(values).fit(few).rho_, values), "those that were given"
    graph = rs.Graph.grid(4, 4)
    equal = rs.InstanceSet(graph, np.ones((40, graph.m)), sources=0, goal=15)
    assert ChosenTables().fit(equal).heuristic_.only_table() is not None
    assert isinstance(ChosenTables().fit(walls(60)).heuristic_, ChosenByWeights)
    with pytest.raises(rs.errors.InputError, match="n_clusters"):
        ChosenTables(n_clusters=0).fit(few)


def test_large_sets_are_left_to_one_table() -> None:
    """Each table is run on every instance: that must not take longer than the ranking before."""
    learner = ChosenTables(n_clusters=9)
    assert learner.most_work(50, 20.0) == 10 * 50 * 10 * 20
    assert learner.most_work(10**6, 20.0) == learner.most_work(1000, 20.0)
