"""Threads, forks, interrupts, a real cluster, and workspaces that are never cleared."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _parallel as parallel


@pytest.fixture(scope="module")
def batch() -> tuple[rs.InstanceSet, np.ndarray, rs.search.Runs]:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(25, 25, neighbors=8)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (60, graph.m)), rng.integers(0, 300, 60), goal=624)
    rho = rs.heuristics.octile(graph, 624) * rng.uniform(0, 2, graph.n)
    return instances, rho, rs.solve_many(instances, rho)


def assert_equal(a: rs.search.Runs, b: rs.search.Runs) -> None:
    for name in ("status", "cost", "expanded", "generated", "reopened", "peak_open"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist()
    assert [path.tolist() for path in a.path] == [path.tolist() for path in b.path]


@pytest.mark.parametrize("jobs", [1, 2, 5, -1])
def test_the_number_of_jobs_changes_nothing(batch, jobs: int) -> None:
    instances, rho, expected = batch
    assert_equal(rs.solve_many(instances, rho, n_jobs=jobs), expected)


def where(chunk: rs.InstanceSet, first: int, stop: object) -> tuple[int, bool]:
    time.sleep(0.01)
    return os.getpid(), threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize(
    ("configured", "chunks", "here", "main_thread"),
    [
        ({"backend": "loky", "n_jobs": 2}, 8, False, True),
        ({"backend": "multiprocessing", "n_jobs": 2}, 8, False, True),
        ({"backend": "threading", "n_jobs": 3}, 12, True, False),
        ({"n_jobs": 2}, 8, True, False),
        ({"backend": "sequential"}, 1, True, True),
    ],
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_joblib_configuration_is_followed(batch, configured, chunks: int, here: bool, main_thread: bool) -> None:
    import joblib

    instances, rho, expected = batch
    with joblib.parallel_config(**configured):
        assert_equal(rs.solve_many(instances, rho), expected)
        seen = parallel.map_chunks(where, instances)
    assert len(seen) == chunks
    assert {process == os.getpid() for process, _ in seen} == {here}
    assert {main for _, main in seen} == {main_thread}


def fails(chunk: rs.InstanceSet, first: int, stop: object) -> None:
    time.sleep(0.05 if first == 0 else 0.0)
    raise ZeroDivisionError(str(first))


def fails_at_once(chunk: rs.InstanceSet, first: int, stop: object) -> None:
    if first == 0:
        raise ZeroDivisionError
    time.sleep(0.3)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_error_of_the_first_chunk_is_raised(batch, jobs: int) -> None:
    with pytest.raises(ZeroDivisionError, match=r"^0\b"):
        parallel.map_chunks(fails, batch[0], n_jobs=jobs)


def test_an_error_does_not_wait_for_calls_that_never_began(batch) -> None:
    begin = time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        parallel.map_chunks(fails_at_once, batch[0], n_jobs=2)
    assert time.perf_counter() - begin < 1.0, "two seconds is how long it waits for calls that run"


def until_stopped(chunk: rs.InstanceSet, first: int, stop, *, saw: list[bool], done: threading.Event) -> None:
    for _ in range(3000):  # half a minute, if nobody says stop
        if stop.is_set():
            break
        time.sleep(0.01)
    saw.append(stop.is_set())
    done.set()


def test_an_interrupt_while_calls_are_handed_out_stops_those_that_run(batch, monkeypatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    submit, calls = ThreadPoolExecutor.submit, []

    def interrupted(pool, *arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return submit(pool, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    saw: list[bool] = []
    done = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        parallel.map_chunks(until_stopped, batch[0], n_jobs=2, saw=saw, done=done)
    assert done.wait(60)
    assert saw[0]


def test_two_threads_share_one_graph(batch) -> None:
    instances, rho, expected = batch
    wrong: list[int] = []

    def work(offset: int) -> None:
        for i in [*range(offset, 60), *range(offset)] * 5:
            run = rs.astar(*instances[i], rho)
            if run.cost != expected.cost[i] or run.expanded != expected.expanded[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(k * 15,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def _in_child(instances: rs.InstanceSet, rho: np.ndarray, costs: list[float]) -> None:
    runs = rs.solve_many(instances, rho)
    again = [rs.astar(*instance, rho).cost for instance in instances]
    os._exit(0 if runs.cost.tolist() == costs == again else 1)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_works_even_if_other_threads_were_searching(batch, busy: bool) -> None:
    instances, rho, expected = batch
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            rs.solve_many(instances, rho)

    threads = [threading.Thread(target=search) for _ in range(2 if busy else 0)]
    for thread in threads:
        thread.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(5):
            child = context.Process(target=_in_child, args=(instances, rho, expected.cost.tolist()))
            child.start()
            child.join(200)
            assert child.exitcode == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_signal_handler_may_search_while_a_search_is_interrupted(batch) -> None:
    instances, rho, expected = batch
    seen: list[float] = []
    old = signal.signal(signal.SIGALRM, lambda *_: seen.append(rs.astar(*instances[0], rho).cost))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.03)
    try:
        while len(seen) < 15:
            assert_equal(rs.solve_many(instances, rho), expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert set(seen) == {expected.cost[0]}


def test_stamps_survive_their_wrap_around(batch) -> None:
    instances, rho, expected = batch
    graph = rs.Graph.grid(25, 25, neighbors=8)  # its own workspace
    rs.astar(graph, graph.length, 0, 624, rho)
    for generation in (2**31, 2**32 - 12):
        graph._kernel.age_workspace(generation)
        for i in range(20):
            run = rs.astar(graph, instances[i].weights, instances[i].source, 624, rho)
            assert (run.cost, run.expanded) == (expected.cost[i], expected.expanded[i])


def test_a_vertex_costs_at_most_24_bytes_in_a_workspace() -> None:
    assert rs.Graph.grid(2, 2)._kernel.bytes_per_vertex <= 24


# Reopening takes 2^44 expansions here: weeks.
_LONG = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
sys.path.insert(0, sys.argv[2])
import numpy as np, rhostar as rs, rhostar.utilities._evaluate
from support.cases import binary_counter
from support.failures import press_ctrl_c
graph, weights, source, goal, rho = binary_counter(45)
instances = rs.InstanceSet(graph, weights, [source] * 8, goal)
few = np.zeros(graph.n)
rs.evaluate(few, instances, rs.utilities.Custom(9, lambda i, t: 0), n_jobs=2)  # imports what it needs
press_ctrl_c(computed=0.5)
try:
    if sys.argv[1] == "0":
        rs.astar(graph, weights, source, goal, rho)
    elif sys.argv[1].startswith("trace"):
        jobs = 2 if sys.argv[1].endswith("2") else 1
        # The batch before the traces is short.
        rhostar.utilities._evaluate.solve_many = lambda instances, rho, **options: rs.solve_many(instances, few)
        rs.evaluate(rho, instances, rs.utilities.Custom(9, lambda i, t: 0), n_jobs=jobs, budget=10**7)
    else:
        rs.solve_many(instances, rho, n_jobs=int(sys.argv[1]))
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("jobs", ["0", "1", "2", "trace", "trace 2"])
def test_ctrl_c_ends_a_long_search_and_all_its_threads(jobs: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", _LONG, jobs, str(Path(__file__).parents[1])],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert (child.returncode, child.stdout) == (0, "interrupted\n"), child.stderr


_EXIT = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import rhostar as rs
from support.cases import binary_counter
case = binary_counter(45)
begun = threading.Semaphore(0)
def search():
    begun.release()
    while True:
        try:
            rs.astar(*case, budget=10**8 if sys.argv[2] == "long" else 5)
        except rs.errors.StoppedError:
            pass
for _ in range(3):
    threading.Thread(target=search, daemon=True).start()
for _ in range(3):
    begun.acquire()
time.sleep(0.3)
"""


@pytest.mark.parametrize("length", ["long", "short"])
def test_the_process_ends_cleanly_while_daemon_threads_search(length: str) -> None:
    for _ in range(3):
        child = subprocess.run(
            [sys.executable, "-c", _EXIT, str(Path(__file__).parents[1]), length],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert (child.returncode, child.stderr) == (0, "")


def test_errors_of_a_signal_handler_are_passed_on() -> None:
    from support.cases import binary_counter

    def handler(*_: object) -> None:
        raise TypeError("from the handler")

    case = binary_counter(45)

    def interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        rs.astar(*case)

    old = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TypeError, match="from the handler"):
            interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
