"""The compiled searches against the paper's pseudo-code, on random instances."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.search import reference
from support.cases import Case, assert_same, inconsistency, random_case

BLOCKS, CASES = 50, 2000  # 100,000 in all


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_hundred_thousand_cases(block: int) -> None:
    rng = np.random.default_rng([2022, block])
    seen: Counter[str] = Counter()
    for i in range(CASES):
        case = random_case(rng)
        expected = case.expected()
        # Every trace is compared on small graphs, every third on large ones, to save the oracle's time.
        run = case.run(trace=case.graph.n <= 12 or i % 3 == 0)
        assert_same(run, expected)
        assert_same(case.run(), expected)  # without a trace: another kernel, for integers with narrow keys
        seen["narrow"] += case.weights.dtype.kind == "i"
        rearrange(case.graph, rng)
        assert_same(case.run(), expected)
        if case.algorithm == "astar" and run.status == "solved":
            _check_theorems(case, run)
        seen.update({str(run.status): 1, "reopened": run.reopened > 0, "gap": bool(run.gap), "long": len(run.path) > 3})
    # The cases are worth something only if they reach the corners.
    assert min(seen[what] for what in ("solved", "no_path", "budget", "reopened", "gap", "long", "narrow")) >= 25, seen


def test_queries_on_one_graph_do_not_see_each_other() -> None:
    rng = np.random.default_rng(9)
    graph = rs.Graph.grid(5, 6, neighbors=8)
    for _ in range(3000):
        integers = rng.random() < 0.3
        weights = rng.integers(0, 9, graph.m).astype(np.int32 if integers else float)
        if not integers:
            weights[rng.random(graph.m) < 0.1] = np.inf
        source, goal = (int(v) for v in rng.integers(0, graph.n, 2))
        # Halves do not fit narrow keys: such a search begins anew with wide ones.
        rho = rng.integers(-4, 9, graph.n) / (1 if rng.random() < 0.5 else 2)
        case = Case(graph, weights, source, goal, rho, str(rng.choice(["astar", "gbfs"])), rng.random() < 0.5)
        case.budget = int(rng.integers(0, 40)) if rng.random() < 0.2 else None
        match rng.integers(8):
            case 0:  # a search that fails midway leaves its marks too
                with pytest.raises(rs.errors.WeightError):
                    rs.astar(graph, np.where(graph.head == 20, -1.0, 1.0), 0, 29, np.zeros(graph.n))
            case 1:
                rs.distances_to(graph, weights, goal)
            case 2:
                case.run(trace=True)
            case 3:
                rearrange(graph, rng)
                case.run()
                graph = rs.Graph(graph.first_out, graph.head)
            case _:
                pass
        assert_same(case.run(), case.expected())


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_large_graphs_have_a_kernel_of_their_own(noise: float) -> None:
    rng = np.random.default_rng(5)
    graph = rs.Graph.grid(150, 150, neighbors=8)
    weights = rng.integers(1, 5, graph.m).astype(float)  # many ties
    source, goal = graph.vertex((20, 30)), graph.vertex((100, 110))
    rho = rs.heuristics.octile(graph, goal) * rng.uniform(1, 1 + noise, graph.n)
    for reopen in (True, False):
        case = Case(graph, weights, source, goal, rho, "astar", reopen, lower_bound=np.zeros(graph.n))
        expected = case.expected()
        assert_same(case.run(), expected)
        case.weights = weights.astype(np.int32)
        assert_same(case.run(), expected)


def rearrange(graph: rs.Graph, rng: np.random.Generator) -> None:
    """Put the records of a small graph into random or breadth-first order."""
    coordinates = rng.uniform(size=(graph.n, 2)) if rng.random() < 0.7 else None
    assert graph._kernel.rearrange(coordinates, -np.inf)


def _check_theorems(case: Case, run: rs.Run) -> None:
    optimum = reference.astar(case.children, case.source, case.goal, [0.0] * case.graph.n)
    tolerance = 1e-12 * (1 + optimum.cost + float(np.abs(case.rho).sum()))
    # Theorem 7: suboptimality is at most the inconsistency along an optimal path.
    assert run.cost <= optimum.cost + inconsistency(case, optimum.path) + tolerance
    assert run.cost >= optimum.cost  # exactly: both are added up from the start
    if case.lower_bound is not None:  # the certified gap is one
        assert run.cost - optimum.cost <= run.gap + tolerance


@st.composite
def instances(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 8))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=24))
    graph = rs.Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])
    number = st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0, 1e-300, 1e300, math.inf]) | st.floats(0, 1e6)
    weights = draw(st.lists(number, min_size=graph.m, max_size=graph.m))
    value = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 1.7e308, -1.7e308]) | st.floats(-1e6, 1e6)
    rho = draw(st.lists(value, min_size=n, max_size=n))
    return Case(
        graph,
        np.array(weights, dtype=float),
        draw(vertex),
        draw(vertex),
        np.array(rho),
        algorithm=draw(st.sampled_from(["gbfs", "astar"])),
        reopen=draw(st.booleans()),
        budget=draw(st.none() | st.integers(0, 12)),
        lower_bound=draw(st.none() | st.just(np.zeros(n))),
    )


@settings(max_examples=2000)
@given(instances())
def test_hypothesis_instances(case: Case) -> None:
    assert_same(case.run(trace=True), case.expected())


@settings(max_examples=300)
@given(instances(), st.integers(1, 3))
def test_batches_are_the_single_runs(case: Case, jobs: int) -> None:
    if case.source == case.goal or case.graph.m == 0:
        return
    if jobs > 1:
        rearrange(case.graph, np.random.default_rng(case.graph.m))
    instances = rs.InstanceSet(case.graph, case.weights, [case.source] * 5, case.goal, infeasible="keep")
    runs = rs.solve_many(
        instances,
        case.rho,
        algorithm=case.algorithm,
        reopen=case.reopen,
        budget=case.budget,
        lower_bound=case.lower_bound if case.algorithm == "astar" else None,
        n_jobs=jobs,
    )
    assert len(runs) == 5
    for run in runs:
        expected = case.expected()
        assert_same(run, expected)


@settings(max_examples=500)
@given(instances())
def test_distances_are_those_of_the_reference(case: Case) -> None:
    distances = rs.distances_to(case.graph, case.weights, case.goal)
    for v in range(case.graph.n):
        found = reference.astar(case.children, v, case.goal, [0.0] * case.graph.n)
        assert distances[v] == pytest.approx(found.cost)
