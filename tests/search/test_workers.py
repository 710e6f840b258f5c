"""What is sent to other processes: the graph and ρ once, a chunk only its rows, a mapped set only its folder."""

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import joblib
import numpy as np
import pytest

import rhostar as rs
from rhostar import _parallel as parallel
from rhostar import _workers as workers
from rhostar.errors import StorageError

MOST = 2000
"""Bytes that a chunk may have beyond its rows."""


@pytest.fixture(scope="module")
def instances() -> rs.InstanceSet:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(30, 30, neighbors=8)
    return rs.InstanceSet(
        graph, rng.uniform(1, 2, (40, graph.m)), rng.integers(0, 300, 80), 899, rows=np.arange(80) // 2
    )


@pytest.fixture
def saved(instances: rs.InstanceSet, tmp_path: Path) -> Path:
    instances.save(tmp_path / "here" / "set")
    return tmp_path / "here" / "set"


def sent(instances: rs.InstanceSet, monkeypatch: pytest.MonkeyPatch) -> workers.Packed:
    """Return everything that a call sends to other processes."""
    made: list[workers.Packed] = []

    class Watched(workers.Packed):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(workers, "Packed", Watched)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        rs.solve_many(instances, np.zeros(instances.graph.n))
    (packed,) = made
    return packed


def columns(count: int) -> int:
    """Return the bytes that row, source, goal and index of each instance take."""
    return count * (8 + 4 + 4 + 8)


def test_a_chunk_in_memory_carries_its_rows(instances: rs.InstanceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = sent(instances, monkeypatch)
    rows = 5 * instances.graph.m * 8
    assert len(packed.tasks) == 8
    for task in packed.tasks:
        assert 0 <= len(task) - rows - columns(10) <= MOST
    graph, common = packed.shared.values()
    assert graph is instances.graph
    assert len(common) < 900 * 8 + 80 * 4 + MOST, "ρ, and which table each instance has"


def test_a_chunk_of_a_mapped_set_carries_its_folder(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = sent(rs.InstanceSet.load(saved), monkeypatch)
    for task in packed.tasks:
        assert len(task) - columns(10) <= MOST
    assert len(packed.shared) == 1, "the graph is in the folder"


def where(chunk: rs.InstanceSet, first: int, stop: object) -> tuple[int, int]:
    return os.getpid(), id(chunk.graph)


def test_a_process_opens_a_graph_once(instances: rs.InstanceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        seen = {pair for _ in range(4) for pair in parallel.map_chunks(where, instances)}
    assert len(seen) == len({process for process, _ in seen}) <= 2
    assert os.getpid() not in {process for process, _ in seen}


def test_equal_graphs_have_one_token(instances: rs.InstanceSet) -> None:
    graph = instances.graph
    assert graph._token == rs.Graph.grid(30, 30, neighbors=8)._token
    assert graph._token != rs.Graph.grid(30, 30)._token
    bare = rs.Graph(graph.first_out, graph.head)
    assert bare.fingerprint == graph.fingerprint
    assert bare._token != graph._token, "coordinates and lengths count too"


_ELSEWHERE = """
import pickle, sys
s = pickle.load(sys.stdin.buffer)
mapped = next(line.split()[-1] for line in open("/proc/self/maps") if "weights-" in line)
print(len(s), s.weights[0, 0], mapped)
"""


def elsewhere(data: bytes, roots: str | None) -> str:
    """Unpickle in another process, as on another machine; return what it prints, or its last line of errors."""
    environment = {key: value for key, value in os.environ.items() if key != "RHOSTAR_SETS"}
    environment |= {} if roots is None else {"RHOSTAR_SETS": roots}
    child = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE], input=data, capture_output=True, env=environment, check=False
    )
    return (child.stdout or child.stderr.splitlines()[-1]).decode().strip()


def test_a_copy_of_the_set_is_found_on_another_machine(saved: Path, tmp_path: Path) -> None:
    whole = rs.InstanceSet.load(saved)
    data = pickle.dumps(whole[10:20])
    expected = f"10 {whole.weights[whole.rows[10:20].min(), 0]} "
    assert elsewhere(data, None).startswith(expected + str(saved))
    there = tmp_path / "there" / "set"
    shutil.copytree(saved, there)
    shutil.rmtree(saved.parent)
    assert "RHOSTAR_SETS does not say where copies of sets are" in elsewhere(data, None)
    assert elsewhere(data, f"/nowhere{os.pathsep}{tmp_path / 'there'}").startswith(expected + str(there))
    (weights,) = there.glob("weights-*.npy")
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert "its checksum does not match" in elsewhere(data, str(tmp_path / "there"))
    shutil.rmtree(there)
    rs.InstanceSet(whole.graph, np.ones(whole.graph.m), [0], 899).save(there)
    assert "contains another set than" in elsewhere(data, str(tmp_path / "there"))


def test_a_folder_that_was_saved_again_is_refused(saved: Path, instances: rs.InstanceSet) -> None:
    data = pickle.dumps(rs.InstanceSet.load(saved)[:10])
    instances.save(saved)
    with pytest.raises(StorageError, match="was saved again"):
        pickle.loads(data)


def test_an_error_ends_the_calls_that_still_run() -> None:
    """Not the garbage collector, later: all calls share joblib's processes, and the next one would lose them."""
    ended = []

    def outcomes() -> Generator[tuple[int, workers.Outcome], None, None]:
        try:
            yield 0, workers.Outcome(None, ValueError("the first"))
            yield 1, workers.Outcome("not wanted", None)
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="the first") as kept:
        list(parallel._in_turn(outcomes()))
    assert kept.value.__traceback__ is not None
    assert ended, "whoever keeps the error keeps its frames, and with them what they began"


def pause(k: int, stop: object) -> int:
    time.sleep(0.1)
    return k


def test_calls_go_on_if_another_thread_ends_the_processes() -> None:
    from joblib.externals.loky import reusable_executor
    from joblib.parallel import get_active_backend

    packed = workers.Packed(pause, {}, [(f"call {k}", (k,)) for k in range(8)])
    with joblib.parallel_config(backend="loky", n_jobs=2):
        calls = workers._on_processes(get_active_backend()[0], packed, 2)
        found = [next(calls)]
        reusable_executor._executor.shutdown(kill_workers=True)
        found += calls
    assert sorted((k, pickle.loads(data).result) for k, data in found) == [(k, k) for k in range(8)]
