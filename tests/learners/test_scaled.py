"""ρ times a factor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import rhostar as rs
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
    assert not learner.rho_.flags.writeable
    assert learner.heuristic_.trained_on.overlap(instances) == len(instances)
    assert (learner.heuristic_.consistent_for is None) == (plain.heuristic_.consistent_for is None)
    if learner.heuristic_.consistent_for is not None:
        falls = learner.rho_[graph.tail] - learner.rho_[graph.head]
        assert (falls <= learner.heuristic_.consistent_for + 1e-9).all(), "consistent where no weight is below"
    assert (learner.heuristic_.lower is None) == (plain.heuristic_.lower is None or factor > 1)


@pytest.mark.filterwarnings("ignore::rhostar.errors.BoundsWarning")
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), factor=st.sampled_from([0.3, 1.0]))
def test_a_factor_of_at_most_1_keeps_the_guarantee(seed: int, factor: float) -> None:
    train = changing_graph(seed)
    lower = np.full(train.graph.m, 0.4)
    learner = rs.learners.Scaled(rs.learners.LowerEnvelope(lower), factor).fit(train)
    assert learner.heuristic_.lower is not None
    cheaper = np.where(np.random.default_rng(seed).random(train.weights.shape) < 0.3, 0.1, 1.0)
    test = rs.InstanceSet(train.graph, train.weights * cheaper, train.sources, train.goal, rows=train.rows)
    optimum = rs.solve_many(test, np.zeros(train.graph.n)).cost
    np.testing.assert_allclose(rs.solve_many(test, learner).cost, optimum, rtol=1e-12)


def test_what_scaled_refuses() -> None:
    train = square_grid(20)
    for factor in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(rs.errors.InputError, match="factor"):
            rs.learners.Scaled(factor=factor).fit(train)
    assert rs.learners.PerGoal(rs.learners.Scaled(factor=2.0)).fit(train).heuristic_.table(35).shape == (36,)


def test_several_goals_times_a_factor() -> None:
    graph = rs.Graph.grid(4, 4)
    weights = np.random.default_rng(0).uniform(1, 2, (20, graph.m))
    instances = rs.InstanceSet(graph, weights, 5, np.where(np.arange(20) % 2, 0, 15))
    for inner in (rs.learners.LowerEnvelope(), rs.learners.PerGoal(), rs.learners.Potentials()):
        plain, double = clone(inner).fit(instances), rs.learners.Scaled(inner, 2.0).fit(instances)
        for goal in (0, 15):
            np.testing.assert_allclose(double.heuristic_.table(goal), 2 * plain.heuristic_.table(goal), rtol=1e-6)


def test_auto_is_no_worse_than_the_scaled_envelope() -> None:
    law = rs.datasets.city(900, seed=3).towards(17)
    train, test = law.draw(120, seed=4), law.draw(400, seed=5)
    optimum = rs.solve_many(test, np.zeros(law.graph.n)).cost
    learner = rs.learners.Auto().fit(train)
    runs = rs.solve_many(test, learner)
    assert runs.cost.sum() <= 1.01 * optimum.sum()
    careful = rs.solve_many(test, rs.learners.Scaled(rs.learners.LowerEnvelope(), 1.3).fit(train).rho_)
    assert runs.expanded.mean() < careful.expanded.mean()
