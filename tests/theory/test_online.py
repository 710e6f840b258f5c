"""Online learning by convex inconsistency: its losses, its regret and the bound on it."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.theory import OnlineRun, online_inconsistency
from support.instances import changing_graph, square_grid
from support.paths import children_of, optimal_path


def loss(instance: rs.instances.Instance, rho: np.ndarray, penalty: float) -> float:
    """Return f(ρ), path by path."""
    n, total = instance.graph.n, 0.0
    for v in range(n):
        path = optimal_path(children_of(instance), v, instance.goal) or []
        for u, c in pairwise(path[1:]):
            total += max(rho[u] - rho[c] - instance.weights[instance.graph.edge_index(u, c)[0]], 0)
    return (penalty * total - rho.sum()) / (n - 1)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), step=st.sampled_from([None, 0.1, 2.0]))
def test_losses_are_those_of_the_tables_played(seed: int, step: float | None) -> None:
    instances = changing_graph(seed, n=6, count=5, absent=0.2)
    run = online_inconsistency(instances, 9.0, penalty=2.0, step_size=step)
    played = [np.zeros(6)]
    for k in range(1, len(instances)):
        played.append(online_inconsistency(instances[:k], 9.0, penalty=2.0, step_size=step).last)
    assert np.allclose(run.losses, [loss(one, rho, 2.0) for one, rho in zip(instances, played, strict=True)])
    assert np.allclose(run.rho, np.mean(played, axis=0))
    for rho in (*played, run.last):
        assert rho[instances.goal] == 0
        assert (rho >= 0).all()
        assert (rho <= 9.0).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), step=st.sampled_from([None, 0.1, 2.0]))
def test_the_regret_keeps_its_bound(seed: int, step: float | None) -> None:
    instances = changing_graph(seed, n=8, count=30, absent=0.2)
    high = np.random.default_rng(seed).uniform(0, 20, 8)
    run = online_inconsistency(instances, high, penalty=2.0, step_size=step)
    regret = run.regret(instances)
    assert regret <= run.regret_bound + 1e-9
    total = run.losses.sum() - regret
    # No table of the box does better in hindsight than the one of the linear program.
    for share in (0.0, 0.5, 1.0, np.random.default_rng(seed + 1).uniform(size=8)):
        rho = share * run.high
        assert sum(loss(one, rho, 2.0) for one in instances) >= total - 1e-9


def test_regret_falls_and_the_best_is_that_of_the_linear_program() -> None:
    instances = square_grid(400)
    highest = np.max([rs.distances_to(*instance[:2], instances.goal) for instance in instances], axis=0)
    run = online_inconsistency(instances, highest, penalty=2.0, step_size=1.0)
    per_round = [run.regret(instances[:rounds]) / rounds for rounds in (20, 100, 400)]
    assert per_round[0] > per_round[1] > per_round[2] > -1e-9
    assert per_round[2] < 0.4 * per_round[0]
    best = rs.learners.InconsistencyLP(2.0, bins=None).fit(instances)  # by a flow, in the same box
    assert run.losses.mean() - per_round[2] == pytest.approx(-best.objective_, abs=1e-6)


def test_without_edges_beyond_the_first_nothing_holds_it_back() -> None:
    graph = rs.Graph.from_edges(2, [0], [1])
    instances = rs.InstanceSet(graph, [[1.0]] * 5, sources=0, goal=1)
    run = online_inconsistency(instances, 3.0)
    assert run.last.tolist() == [3.0, 0.0]
    assert run.regret(instances) == pytest.approx(15 + run.losses.sum())


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"penalty": np.nan}, "penalty"),
        ({"step_size": 0}, "step_size"),
        ({"high": -1.0}, "high must not be negative"),
        ({"high": np.inf}, "high"),
        ({"instances": square_grid(3)[:0]}, "instances"),
    ],
)
def test_what_is_rejected(wrong: dict[str, Any], word: str) -> None:
    arguments: dict[str, Any] = {"instances": square_grid(3), "high": 9.0} | wrong
    with pytest.raises(rs.errors.InputError, match=word):
        online_inconsistency(**arguments)


def test_regret_needs_the_rounds_that_were_played() -> None:
    instances = square_grid(5)
    run = online_inconsistency(instances[:4], 9.0)
    assert isinstance(run, OnlineRun)
    with pytest.raises(rs.errors.InputError, match="the first of 4 rounds, got 5"):
        run.regret(instances)
