"""Single calls: their arguments are read, and their results made, with the C interfaces of Python and numpy."""

import contextlib
import copy
import gc
import pickle
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

import rhostar as rs
from support.cases import binary_counter

GRAPH = rs.Graph.grid(4, 5)
RHO = np.zeros(GRAPH.n)


def test_nothing_leaks_and_nothing_is_given_back_twice() -> None:
    weights, rho, bound = GRAPH.length.copy(), RHO.copy(), RHO.copy()
    held = (weights, rho, bound, rs.search.Status.SOLVED, rs.search.Status.NO_PATH, rs.Run, None, GRAPH)
    bad = np.where(np.arange(GRAPH.m) == 3, -1.0, weights)

    def calls() -> None:
        rs.astar(GRAPH, weights, 0, 19, rho)
        rs.astar(GRAPH, weights, np.int64(0), 19, rho, lower_bound=bound, budget=3)
        rs.astar(GRAPH, weights, 0, 19, rho, trace=True)
        rs.gbfs(GRAPH, np.full(GRAPH.m, np.inf), 0, 19, rho)
        rs.astar(GRAPH, weights, 0, 19, {19: rho})
        for arguments in ((weights[:3], 0, 19, rho), (weights, 0, 20, rho), (bad, 0, 19, rho), (weights, "a", 19, rho)):
            with contextlib.suppress(rs.errors.InputError):
                rs.astar(GRAPH, *arguments)

    calls()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in held]
    tracemalloc.start()
    calls()
    gc.collect()  # what was raised refers to itself
    memory = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        calls()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in held]
    grown = tracemalloc.get_traced_memory()[0] - memory
    tracemalloc.stop()
    assert all(abs(a - b) < 250 for a, b in zip(after, before, strict=True)), (before, after)
    assert grown < 50_000


def test_a_run_is_a_tuple_that_can_be_copied_and_sent() -> None:
    run = rs.astar(GRAPH, GRAPH.length, 0, 19, RHO)
    assert type(run) is rs.Run
    for other in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run), run._replace(cost=7.0)):
        assert type(other) is rs.Run
        assert other.path.tolist() == run.path.tolist()
        assert other[3:] == run[3:]
    status, cost, path, *_ = run
    assert (status, cost, path.dtype, path[0], path[-1]) == ("solved", 7.0, np.int32, 0, 19)
    assert run.path.flags.writeable
    assert run.path.flags.owndata


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, np.int64, np.longlong, np.intc])
def test_every_accepted_type_gives_the_same_run(kind) -> None:
    weights = np.arange(1, GRAPH.m + 1) % 7 + 1
    expected = rs.astar(GRAPH, weights.astype(float), 0, 19, RHO)
    run = rs.astar(GRAPH, weights.astype(kind), 0, 19, RHO)
    assert run[:2] + run[3:] == expected[:2] + expected[3:]
    assert run.path.tolist() == expected.path.tolist()


@pytest.mark.parametrize("kind", [">f8", "<i2", np.uint64, np.longdouble, np.bool_, np.complex128, object])
def test_other_types_are_refused(kind) -> None:
    with pytest.raises(rs.errors.ArrayError):
        rs.astar(GRAPH, np.ones(GRAPH.m).astype(kind), 0, 19, RHO)
    with pytest.raises(rs.errors.ArrayError):
        rs.astar(GRAPH, GRAPH.length, 0, 19, RHO.astype(kind))


def test_a_vertex_whose_index_runs_code_is_taken() -> None:
    class Vertex:
        def __index__(self) -> int:
            return 19

    assert rs.astar(GRAPH, GRAPH.length, 0, Vertex(), RHO).cost == 7.0


def test_a_long_query_lets_other_threads_run() -> None:
    case = binary_counter(45)  # takes weeks without a budget
    most = 0
    for budget in (10**6, 10**7, 10**8, 10**9):  # more if this thread had no turn on a busy machine
        search = threading.Thread(target=lambda: rs.astar(*case, budget=budget))  # noqa: B023
        search.start()
        turns = 0
        while search.is_alive():
            time.sleep(0.0005)
            turns += 1
        most = max(most, turns)
        if most > 5:
            break
    assert most > 5
