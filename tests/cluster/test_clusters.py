"""On Dask, Ray and other processes: the same bits in the same order as on one thread, whatever happens to workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import WeightError, WorkerError
from rhostar.lines._means import dual
from support.clusters import CLUSTERS, Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]  # a busy machine may need minutes to start a cluster
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with CLUSTERS[request.param]() as made:
        yield made


@pytest.fixture(scope="module")
def instances() -> rs.InstanceSet:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(12, 12, neighbors=8)
    return rs.InstanceSet(graph, rng.uniform(1, 2, (60, graph.m)), rng.integers(0, 100, 60), goal=143)


@pytest.fixture(scope="module", params=["in memory", "mapped"])
def either(request: pytest.FixtureRequest, instances: rs.InstanceSet, tmp_path_factory: Any) -> rs.InstanceSet:
    """The same instances, with snapshots in memory or mapped from a file."""
    if request.param == "in memory":
        return instances
    folder = tmp_path_factory.mktemp("mapped") / "set"
    instances.save(folder)
    return rs.InstanceSet.load(folder)


def plain(result: Any) -> Any:
    """Return everything in a result as plain values, to the last bit."""
    if isinstance(result, rs.search.Runs):
        names = ("status", "cost", "expanded", "generated", "reopened", "peak_open")
        return [getattr(result, name).tolist() for name in names] + [path.tolist() for path in result.path]
    if isinstance(result, np.ndarray):
        return result.tolist()
    return result


def rho(instances: rs.InstanceSet) -> np.ndarray:
    return rs.heuristics.octile(instances.graph, 143) * np.random.default_rng(1).uniform(0, 2, instances.graph.n)


def turns(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    return float(instance.source % 7)


CALLS: dict[str, Callable[[rs.InstanceSet], Any]] = {
    "solve_many": lambda s: plain(rs.solve_many(s, rho(s))),
    "evaluate": lambda s: [
        score.values.tolist()
        for score in rs.evaluate(rho(s), s, [rs.utilities.Suboptimality(9.0), rs.utilities.Custom(9.0, turns)]).scores
    ],
    "certify": lambda s: rs.certify(rho(s), s, rs.utilities.Suboptimality(9.0), lower=1.0).to_json(),
    "dual": lambda s: (
        dual(
            np.zeros(s.graph.n), rho(s), 0.0, 0.1, s[:8], algorithm="astar", utility=rs.utilities.Expansions(144)
        ).value
    ),
}
LEARNERS: dict[str, Callable[[], Any]] = {
    "MeanDistance": rs.learners.MeanDistance,
    "LowerEnvelope": rs.learners.LowerEnvelope,
    "MeanWeights": rs.learners.MeanWeights,
    "InconsistencyLP": rs.learners.InconsistencyLP,
    "SelfImitatedRanking": lambda: rs.learners.SelfImitatedRanking(rounds=[(1.0, 0.0)], iterations=2, random_state=0),
    "BumpSearch": lambda: rs.learners.BumpSearch(max_bumps=3, random_state=0),
}


def test_the_same_bits_in_the_same_order(cluster: Cluster, either: rs.InstanceSet) -> None:
    """One test for all calls: starting a cluster takes longer than any of them."""
    for name, call in CALLS.items():
        expected = call(either)
        with cluster.configured():
            assert call(either) == expected, name
    for name, make in LEARNERS.items():
        expected = make().fit(either).rho_.tolist()
        with cluster.configured():
            assert make().fit(either).rho_.tolist() == expected, name


@pytest.mark.parametrize("searching", [False, True])
def test_a_router_answers_alike_on_a_cluster(cluster: Cluster, searching: bool) -> None:
    """The engine is fixed before the work is spread."""
    rng = np.random.default_rng(0)
    graph = rs.datasets.city(900).graph
    pairs, some = rng.integers(0, graph.n, (60, 2)), rng.integers(0, graph.n, 30)
    weights = rng.uniform(1, 2, graph.m)

    def answers() -> list[Any]:
        router = rs.Router(graph)
        router._engine.declined = searching
        router.update(weights)
        routes = router.routes(pairs)
        assert router.explain().engine == ("search" if searching else "hierarchy")
        return [
            routes.cost.tolist(),
            [(route.path.tolist(), route.edges.tolist(), route.bound) for route in routes],
            router.matrix(some, some[:7]).tolist(),
            router.next_hops(some[:5]).tolist(),
        ]

    alone = answers()
    with cluster.configured():
        assert answers() == alone


def slow(instance: rs.instances.Instance, trace: rs.search.Trace, last: int, sign: Path) -> float:
    """Take some time, and for instances from `last` until the sign is there."""
    time.sleep(0.02)
    while instance.source == last and not sign.exists():
        time.sleep(0.02)
    return float(instance.source)


@pytest.mark.parametrize("delay", [0.05, 0.3])
def test_a_killed_worker_loses_nothing(cluster: Cluster, either: rs.InstanceSet, delay: float, tmp_path: Path) -> None:
    killed: list[int] = []
    done = threading.Event()

    def kill_two() -> None:
        for k in range(2):
            done.wait(delay if k == 0 else 0.3)
            while len(killed) == k and not done.wait(0.02):
                cluster.kill_one(k, killed)
            (tmp_path / "sign").touch()  # one of them is killed for certain before all is done

    with cluster.configured():
        rs.solve_many(either, rho(either))  # the workers are there
        killer = threading.Thread(target=kill_two)
        killer.start()
        measure = partial(slow, last=int(either.sources[-1]), sign=tmp_path / "sign")
        try:
            found = rs.evaluate(rho(either), either, rs.utilities.Custom(1000.0, measure))
        finally:
            done.set()
            killer.join()
    assert killed, "no worker was killed: nothing was tested"
    assert found[0].values.tolist() == either.sources.tolist()
    assert plain(found.runs) == plain(rs.solve_many(either, rho(either)))


def deadly(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    if instance.source == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


def test_a_chunk_that_kills_every_worker_is_named(cluster: Cluster, instances: rs.InstanceSet) -> None:
    sources = np.zeros(16, dtype=int)
    sources[5] = 99
    few = rs.InstanceSet(instances.graph, instances.weights[:16], sources, goal=143)
    with cluster.configured(), pytest.raises(WorkerError, match=r"instances \d+ to \d+ of the set died"):
        rs.evaluate(rho(few), few, rs.utilities.Custom(9.0, deadly))
    with cluster.configured():
        assert plain(rs.solve_many(few, rho(few))) == plain(rs.solve_many(few, rho(few), n_jobs=1)), "it works again"


def broken(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    return 1 / (instance.source - 99)


def test_a_chunk_that_fails_names_its_instances(cluster: Cluster, instances: rs.InstanceSet) -> None:
    sources = np.zeros(16, dtype=int)
    sources[5] = 99
    few = rs.InstanceSet(instances.graph, instances.weights[:16], sources, goal=143)
    with cluster.configured(), pytest.raises(ZeroDivisionError) as caught:
        rs.evaluate(rho(few), few, rs.utilities.Custom(9.0, broken))
    (note,) = caught.value.__notes__
    first, last = (int(word) for word in note.split() if word.isdigit())
    assert first <= 5 <= last < first + 4, note


def test_the_first_error_in_the_set_is_raised(cluster: Cluster, instances: rs.InstanceSet, tmp_path: Path) -> None:
    weights = instances.weights.copy()
    for i in (50, 11):
        weights[i, :] = -1.0
    damaged = instances[:]
    object.__setattr__(damaged, "_stored", weights)
    with cluster.configured(), pytest.raises(WeightError, match="instance 11"):
        rs.solve_many(damaged, rho(instances))


_LEFT_OVER = """
import logging, ray
from rhostar import _workers as workers

packed = workers.Packed(abs, {}, [("a call", (-1,))] * 4)
ray.init("local", num_cpus=1, object_store_memory=200 << 20, include_dashboard=False, log_to_driver=False,
         logging_level=logging.ERROR)
calls = workers._on_ray(None, packed, 2)
next(calls)  # another call has begun
ray.shutdown()
calls.close()  # as the garbage collector does with what an error left
print(ray.is_initialized())
"""


def test_what_is_left_over_does_not_start_ray_again() -> None:
    pytest.importorskip("ray")
    ran = subprocess.run([sys.executable, "-c", _LEFT_OVER], capture_output=True, text=True, timeout=500, check=True)
    assert ran.stdout.split() == ["False"]


_INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[2])
import numpy as np, psutil, rhostar as rs
from support.clusters import CLUSTERS
from support.cases import binary_counter
signal.signal(signal.SIGINT, signal.default_int_handler)

def seconds(pids):
    # How long these processes have computed; those that are gone compute no more.
    total = 0.0
    for pid in pids:
        try:
            total += sum(psutil.Process(pid).cpu_times()[:2])
        except psutil.NoSuchProcess:
            pass
    return total


if __name__ == "__main__":
    graph, weights, source, goal, rho = binary_counter(45)  # reopening takes 2^44 expansions: weeks
    instances = rs.InstanceSet(graph, weights, [source] * 8, goal)
    with CLUSTERS[sys.argv[1]]() as cluster, cluster.configured():
        rs.solve_many(instances, np.zeros(graph.n))  # the workers are there
        begin = time.perf_counter()
        rs.solve_many(instances, np.zeros(graph.n))
        print("call", time.perf_counter() - begin)
        pids, times = [], []
        before = seconds(cluster.workers())
        time.sleep(1.0)
        nothing = seconds(cluster.workers()) - before  # what workers take that have nothing to do: heartbeats

        def interrupt():
            before = seconds(cluster.workers())
            while seconds(cluster.workers()) < before + 0.5:  # something is computed that can be interrupted
                time.sleep(0.1)
            pids.extend(cluster.workers())
            times.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        try:
            rs.solve_many(instances, rho)
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - times[0])
        while True:
            before, then = seconds(pids), time.perf_counter()
            time.sleep(1.0)
            if seconds(pids) - before < 2 * nothing + 0.2:  # a chunk that goes on would take much of the time
                break
        print("idle", then - times[0])
        begin = time.perf_counter()
        rs.solve_many(instances, np.zeros(graph.n))  # needs workers that are free
        print("free", time.perf_counter() - begin)
"""


@pytest.mark.parametrize("name", ["dask", "ray", "loky"])
def test_ctrl_c_reaches_the_workers(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_INTERRUPTED)
    tests = str(Path(__file__).parents[1])
    child = subprocess.run(
        [sys.executable, str(script), name, tests], capture_output=True, text=True, timeout=500, check=False
    )
    words = child.stdout.split()
    assert words[::2] == ["call", "interrupted", "idle", "free"], child.stdout + child.stderr[-2000:]
    call, waited, idle, freed = (float(word) for word in words[1::2])
    # Not interrupted, it would take weeks; how busy the machine is shows in how long a short call takes.
    assert waited < 10 + 20 * call, "the call ended late"
    assert idle < 10 + 20 * call, "workers went on"
    # Ray and joblib end the processes; a new one takes seconds to start on a busy machine.
    assert freed < (10 if name == "dask" else 60) + 20 * call
