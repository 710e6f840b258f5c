"""One bound for every goal: Σ (ŵ − w)⁺ bounds every answer, and its mean is bounded for all ŵ at once (U6)."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.certificates import certify_any_goal, largest_excess_by_edges
from rhostar.errors import ArrayError, AssumptionError, InputError, InstanceError, NotFittedError
from rhostar.learners import Potentials


def draw(rng: np.random.Generator, count: int, graph: rs.Graph) -> rs.InstanceSet:
    """Weights of 1 or 3 at random, sources and goals anywhere."""
    weights = rng.choice([1.0, 3.0], (count, graph.m)) + rng.uniform(0, 1e-3, (count, graph.m))
    sources, goals = rng.integers(0, graph.n, (2, count))
    goals = np.where(goals == sources, (goals + 1) % graph.n, goals)
    return rs.InstanceSet(graph, weights, sources, goals, infeasible="drop")


@pytest.mark.parametrize("reopen", [True, False])
def test_no_answer_costs_more_than_the_sum_over_its_optimal_path_and_half_of_it_is_exceeded(reopen: bool) -> None:
    rng = np.random.default_rng(0)
    exceeded = 0
    for _ in range(60):
        n = int(rng.integers(4, 14))
        graph = rs.Graph.from_edges(n, rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n))
        instances = draw(rng, 60, graph)
        if len(instances) < 2:
            continue
        learner = Potentials("median", scale=float(rng.choice([1.0, 1.7]))).fit(instances[:4])
        excess = rs.solve_many(instances, learner.heuristic_, reopen=reopen).cost
        excess = excess - rs.solve_many(instances, np.zeros(n)).cost
        bound = largest_excess_by_edges(learner, instances)
        assert (excess <= bound + 1e-9).all()
        exceeded += int((excess > bound / 2 + 1e-9).sum())
    assert exceeded > 0, "the twin: half of it is no bound"


def test_the_bound_holds_and_without_its_width_it_would_not() -> None:
    """ŵ is the mean of few snapshots, so it fits these better than new ones: the measured mean alone is too low."""
    rng = np.random.default_rng(1)
    graph = rs.Graph.grid(3, 3)
    fresh = draw(rng, 20_000, graph)
    wrong = twin = 0
    for _ in range(40):
        train = draw(rng, 25, graph)
        learner = Potentials("median").fit(train)
        found = certify_any_goal(learner, train, caps=3.001, limit=6.0, delta=0.05)
        truth = float(np.minimum(largest_excess_by_edges(learner, fresh), 6.0).mean())
        wrong += truth > found.value
        twin += truth > found.measured["mean sum"]
    assert wrong <= 2
    assert twin > 10, "the twin: what was measured is no bound"


def test_the_sentence_says_the_numbers() -> None:
    rng = np.random.default_rng(2)
    train = draw(rng, 4000, rs.Graph.grid(3, 3))
    found = certify_any_goal(Potentials("median").fit(train), train, caps=3.001, limit=6.0, delta=0.1)
    assert not found.vacuous
    assert found.observed <= found.measured["mean sum"] < found.value < 6.0
    excess = rs.evaluate(Potentials("median").fit(train).heuristic_, train, rs.utilities.Suboptimality(6.0))[0].mean
    assert found.observed == excess, "what is claimed, not the sum that bounds it"
    for words in (
        "With probability at least 0.9 over the draw of the 4000 instances, the mean cost above the optimum (values",
        "of A* to any goal, with or without reopening, with these weights per edge, though they were chosen by looking",
    ):
        assert words in found.sentence
    few = certify_any_goal(Potentials("median").fit(train[:3]), train[:3], caps=3.001, limit=1.0)
    assert few.vacuous


def test_lower_bounds_measure_nothing() -> None:
    train = draw(np.random.default_rng(3), 50, rs.Graph.grid(3, 3))
    exact = Potentials(lower=np.ones(train.graph.m)).fit(train)
    assert (largest_excess_by_edges(exact, train) == 0).all()
    assert certify_any_goal(exact, train, caps=np.full(train.graph.m, 3.001), limit=6.0).measured["mean sum"] == 0


def test_bad_input_is_refused() -> None:
    train = draw(np.random.default_rng(4), 50, rs.Graph.grid(3, 3))
    learner = Potentials("median").fit(train)
    with pytest.raises(NotFittedError):
        certify_any_goal(Potentials(), train, caps=3.001, limit=1.0)
    with pytest.raises(InputError, match="2 clusters"):
        certify_any_goal(Potentials(n_clusters=2).fit(train), train, caps=3.001, limit=1.0)
    with pytest.raises(InputError, match="must be fitted Potentials"):
        certify_any_goal(rs.learners.Landmarks(2).fit(train), train, caps=3.001, limit=1.0)
    with pytest.raises(AssumptionError, match="above its cap, 1"):
        certify_any_goal(learner, train, caps=1.0, limit=1.0)
    with pytest.raises(ArrayError, match="caps must be one number"):
        certify_any_goal(learner, train, caps=np.ones(3), limit=1.0)
    with pytest.raises(InstanceError):
        certify_any_goal(learner, train[:0], caps=3.001, limit=1.0)
    with pytest.raises(InputError):
        certify_any_goal(learner, train, caps=3.001, limit=0.0)


def test_certify_measures_what_is_run() -> None:
    """A clustered potential chooses its weights by the instance: certify runs it as it is, not a table in its place."""
    rng = np.random.default_rng(5)
    graph = rs.Graph.grid(4, 4)
    utility = rs.utilities.Suboptimality(5.0)
    train, holdout = draw(rng, 200, graph), draw(rng, 150, graph)
    for learner in (Potentials(n_clusters=3), Potentials("median")):
        found = rs.certify(learner.fit(train), holdout, utility)
        score = rs.evaluate(learner, holdout, utility)[0]
        assert found.best.observed == pytest.approx(score.mean, abs=1e-12)
        assert found.best.value == rs.bounds.betting(score.values, 5.0).high
        assert found.rho is learner.heuristic_
        with pytest.raises(InputError, match="certify_any_goal"):
            rs.certify_training(learner, train, utility)
        with pytest.raises(AssumptionError, match="200 of its 200 instances were seen"):
            rs.certify(learner, train, utility)
    exact = Potentials(lower=np.ones(graph.m)).fit(train)
    table = rs.certify(exact, holdout, utility, lower=1.0)
    assert table.best.label == "U5"
    assert table.best.value < 1e-9
    assert rs.certify(exact, holdout, utility, lower=0.5).best.label == "H4 betting"
