"""Informedness against inconsistency: the linear program, and the same one instance at a time."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar import _core
from rhostar.learners._inconsistency import inconsistency_terms, merge, solve_program
from support.instances import changing_graph, square_grid
from support.paths import children_of, optimal_path


def mean_inconsistency(instances: rs.InstanceSet, rho: np.ndarray) -> float:
    """Return the mean inconsistency path by path."""
    n, total = instances.graph.n, 0.0
    for instance in instances:
        for v in range(n):
            path = optimal_path(children_of(instance), v, instance.goal) or []
            for u, c in pairwise(path[1:]):
                w = instance.weights[instances.graph.edge_index(u, c)[0]]
                total += max(rho[u] - rho[c] - w, 0) / (n - 1)
    return total / len(instances)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_terms_are_the_mean_inconsistency(seed: int) -> None:
    instances = changing_graph(seed, n=6, count=3, integers=True)
    rho = np.random.default_rng(seed).uniform(0, 8, 6)
    terms = inconsistency_terms(instances)
    assert terms.value(rho) == pytest.approx(mean_inconsistency(instances, rho), abs=1e-12)


def test_terms_by_hand() -> None:
    #  3 -> 2 -> 1 -> 0, and 4 -> 1: below 1 are 2, 3, 4, below 2 is 3
    graph = rs.Graph.from_edges(5, [3, 2, 1, 4], [2, 1, 0, 1])
    weights = graph.arrange([1.0, 2.0, 3.0, 4.0])
    instances = rs.InstanceSet(graph, weights, sources=[3, 4], goal=0)
    terms = inconsistency_terms(instances)
    assert list(zip(*(part.tolist() for part in terms), strict=True)) == [(1, 0, 3.0, 3 / 4), (2, 1, 2.0, 1 / 4)]


def primal(terms, gain, largest, goal, penalty) -> float:
    """Return the optimum of the program as it is written in the paper: one slack for each term."""
    n, count = gain.size, terms.tail.size
    matrix = np.zeros((count, n + count))
    rows = np.arange(count)
    matrix[rows, terms.tail] = 1
    matrix[rows, terms.head] = -1
    matrix[rows, n + rows] = -1
    bounds = [(0, 0 if v == goal else max(largest[v], 0)) for v in range(n)] + [(0, None)] * count
    cost = np.r_[-gain, penalty * terms.share]
    return -scipy.optimize.linprog(cost, A_ub=matrix, b_ub=terms.weight, bounds=bounds, method="highs").fun


def program(instances: rs.InstanceSet) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain of each vertex and its largest cost-to-go, -1 where there is none."""
    every = np.array([rs.distances_to(*instance[:2], instance.goal) for instance in instances])
    largest = np.where(np.isfinite(every), every, -1).max(axis=0)
    return (largest >= 0) / (instances.graph.n - 1), largest


@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0, 5.0, 1e6])
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 12), integers=st.booleans())
def test_the_flow_solves_the_program(penalty: float, seed: int, n: int, integers: bool) -> None:
    rng = np.random.default_rng(seed)
    instances = changing_graph(seed, n=n, count=5, absent=0.2, integers=integers)
    learner = rs.learners.InconsistencyLP(penalty, bins=None).fit(instances)
    gain, largest = program(instances)
    terms = inconsistency_terms(instances)

    def objective(rho: np.ndarray) -> float:
        return float(gain @ rho - penalty * terms.value(rho))

    rho = np.where(largest >= 0, learner.rho_, 0.0)
    assert learner.objective_ == pytest.approx(objective(rho), abs=1e-9)
    assert learner.gap_ < 1e-9 * max(penalty, 1)
    best = primal(terms, gain, largest, instances.goal, penalty)
    assert objective(rho) == pytest.approx(best, rel=1e-9, abs=1e-9 * max(penalty, 1))
    assert (rho >= 0).all()
    assert (rho <= np.maximum(largest, 0)).all()
    assert rho[instances.goal] == 0
    for _ in range(30):  # nothing around it, and nothing anywhere, is better
        other = rng.choice([rho + rng.normal(0, 0.1, n), rng.uniform(0, 1, n) * largest])
        other = np.clip(other, 0, np.maximum(largest, 0))
        other[instances.goal] = 0
        assert objective(other) <= objective(rho) + learner.gap_ + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_flow_equals_highs_on_grids(seed: int) -> None:
    """Many equal weights and supplies: the degenerate programs on which a careless pivot rule goes round in circles."""
    graph = rs.Graph.grid(9, 9, neighbors=8)
    weights = np.random.default_rng(seed).integers(1, 4, (12, graph.m)).astype(float)
    instances = rs.InstanceSet(graph, weights, sources=0, goal=40)
    gain, largest = program(instances)
    terms = inconsistency_terms(instances)
    for penalty in (0.5, 1.0, 4.0):
        rho = solve_program(terms, gain, largest, 40, penalty).rho
        assert gain @ rho - penalty * terms.value(rho) == pytest.approx(
            primal(terms, gain, largest, 40, penalty), rel=1e-9
        )


def test_the_solver_refuses_what_is_no_program() -> None:
    def ending(**changed: object) -> _core.Status:
        one = np.array([1])
        program: dict = {"tail": [0], "head": [1], "first": [0, 1], "slope": one, "room": one}
        program |= {"supply": [1, 0], "upper": [5, 0], "guess": [5.0, 0.0], "root": 1, "seconds": 1.0, "stop": None}
        program |= changed
        kinds = {"tail": np.int32, "head": np.int32, "guess": np.float64, "root": int, "seconds": float}
        ready = {
            name: value if np.isscalar(value) or value is None else np.array(value, dtype=kinds.get(name, np.int64))
            for name, value in program.items()
        }
        return _core.solve_flow(**ready).ending.status

    assert ending() is _core.Status.DONE
    wrong = [{"tail": [2]}, {"head": [0]}, {"first": [0, 2]}, {"first": [1, 1]}, {"room": [0]}, {"slope": [-1]}]
    wrong += [{"slope": [2**61]}, {"upper": [-1, 0]}, {"supply": [-1, 0]}, {"root": 2}, {"guess": [1.0]}]
    wrong += [{"first": [0, 2], "slope": [2, 1], "room": [1, 1]}]
    for change in wrong:
        assert ending(**change) is _core.Status.BAD_INPUT, change


def test_bins_are_exact_for_few_weights_and_close_for_many() -> None:
    few = changing_graph(3, n=8, count=20, integers=True, absent=0.0)
    whole, binned = (rs.learners.InconsistencyLP(bins=bins).fit(few) for bins in (None, 5))
    assert binned.objective_ == pytest.approx(whole.objective_, abs=1e-9)
    many = square_grid(200)
    objectives, bounds = [], []
    terms = inconsistency_terms(many)
    for bins in (1, 12, None):
        merged = merge(many.graph, terms, bins)
        assert merged.share.sum() == pytest.approx(terms.share.sum())
        assert merged.share @ merged.weight == pytest.approx(terms.share @ terms.weight), "bins have mean weights"
        if bins is not None:
            assert np.unique(many.graph.edge_index(merged.tail, merged.head), return_counts=True)[1].max() <= bins
        learner = rs.learners.InconsistencyLP(2.0, bins=bins).fit(many)
        objectives.append(learner.rho_.sum() / 35 - 2.0 * learner.inconsistency_)
        assert learner.objective_ == pytest.approx(objectives[-1])
        bounds.append(learner.objective_ + learner.gap_)
        assert learner.inconsistency_ == pytest.approx(terms.value(learner.rho_))
    assert objectives[0] < objectives[1] <= objectives[2] + 1e-9
    assert objectives[1] > 0.99 * objectives[2]
    assert min(bounds) >= objectives[2], "the gap is stated honestly"
    assert bounds[0] > bounds[1] > bounds[2]


def test_the_penalty_trades_expansions_for_optimality() -> None:
    train, test = square_grid(300).split(0.5, seed=0)
    optimum = rs.solve_many(test, np.zeros(36)).cost
    expanded, over = [], []
    for penalty in (1.0, 3.0, 30.0):
        runs = rs.solve_many(test, rs.learners.InconsistencyLP(penalty).fit(train).rho_)
        expanded.append(runs.expanded.mean())
        over.append((runs.cost / optimum - 1).mean())
    assert expanded[0] < expanded[1] < expanded[2] < rs.solve_many(test, np.zeros(36)).expanded.mean()
    assert over[0] > over[1] > over[2]
    assert over[2] < 0.002


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_the_answer_is_at_most_the_inconsistency_above_the_optimum(seed: int) -> None:
    """L1 on the training set, for the same paths that the program counts."""
    graph = rs.Graph.grid(3, 3)
    weights = np.random.default_rng(seed).integers(0, 6, (6, graph.m)).astype(float)
    instances = rs.InstanceSet(graph, weights, np.tile(np.arange(8), 6), 8, rows=np.repeat(np.arange(6), 8))
    learner = rs.learners.InconsistencyLP(0.5).fit(instances)
    over = rs.solve_many(instances, learner.rho_).cost - rs.solve_many(instances, np.zeros(9)).cost
    assert over.mean() <= learner.inconsistency_ + 1e-7


def test_what_the_program_refuses() -> None:
    instances = square_grid(50)
    for wrong in ({"penalty": -1}, {"bins": 0}, {"time_limit": 0.0}):
        with pytest.raises(rs.errors.InputError, match=next(iter(wrong))):
            rs.learners.InconsistencyLP(**wrong).fit(instances)
    learner = rs.learners.InconsistencyLP(bins=None, time_limit=1e-9)
    with pytest.raises(rs.errors.FitError, match="within time_limit = 1e-09 seconds"):
        learner.fit(square_grid(30, side=40))
    assert not hasattr(learner, "rho_")


def test_a_program_of_nothing() -> None:
    graph = rs.Graph.from_edges(2, [0], [1])
    learner = rs.learners.InconsistencyLP().fit(rs.InstanceSet(graph, [0.0], sources=0, goal=1))
    assert learner.rho_.tolist() == [0, 0]
    learner = rs.learners.InconsistencyLP().fit(rs.InstanceSet(graph, [3.0], sources=0, goal=1))
    assert learner.rho_.tolist() == [3, 0], "no edge but the first: nothing holds it back"


def test_solve_program_without_terms() -> None:
    terms = inconsistency_terms(rs.InstanceSet(rs.Graph.from_edges(2, [0], [1]), [1.0], 0, 1))
    assert terms.tail.size == 0
    assert solve_program(terms, np.array([1.0, 0.0]), np.array([4.0, 0.0]), 1, 2.0).rho.tolist() == [4.0, 0.0]
