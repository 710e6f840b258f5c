"""Traces: the state at any iteration, by number and in order."""

import numpy as np
import pytest

import rhostar as rs
from support.cases import random_case


@pytest.mark.parametrize("seed", range(20))
def test_states_by_number_are_the_states_in_order(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    for _ in range(20):
        case = random_case(rng, 12)
        run = case.run(trace=True)
        trace = run.trace
        count = 0
        for i, state in enumerate(trace.states()):
            assert trace.state(i) == state
            count += 1
        assert count == len(trace) + 1
        assert trace.path.tolist() == run.path.tolist()
        assert len(trace) == run.expanded + (case.algorithm == "astar" and run.status == "solved")


def test_a_trace_changes_nothing(rng: np.random.Generator) -> None:
    for _ in range(200):
        case = random_case(rng, 20)
        with_trace, without = case.run(trace=True), case.run()
        assert with_trace.path.tolist() == without.path.tolist()
        assert with_trace[3:8] == without[3:8]
        assert without.trace is None


def test_an_iteration_that_never_was_is_refused() -> None:
    graph = rs.Graph.grid(2, 2)
    trace = rs.astar(graph, graph.length, 0, 3, np.zeros(4), trace=True).trace
    with pytest.raises(rs.errors.InputError, match=r"iteration must be between 0 and 4, got 5"):
        trace.state(5)
    with pytest.raises(rs.errors.InputError):
        trace.state(-1)
    with pytest.raises(ValueError, match="read-only"):
        trace.vertex[0] = 1
