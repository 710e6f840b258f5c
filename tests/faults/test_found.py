"""Faults that were found by the checks in this folder and in ``make fuzz``, each as small as it can be shown."""

import errno
import os
import threading
from multiprocessing import Process
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _files as files
from rhostar.errors import StorageError
from rhostar.instances import _folder as folders
from support import sequences
from support.differential import DIFFERENTIAL
from support.failures import ctrl_c


def _set(k: float) -> rs.InstanceSet:
    graph = rs.Graph.grid(3, 3)
    return rs.InstanceSet(graph, graph.length * k, [0], goal=8)


def test_a_save_that_runs_out_of_descriptors_after_its_rename_keeps_the_new_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new index was there but could not be read, and the files that it names were removed."""
    _set(1.0).save(tmp_path / "set")

    def none_left(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    def sync(path: Path, real: object = folders.sync) -> None:
        if path == tmp_path / "set":  # the last thing that is synced is the folder
            monkeypatch.setattr(os, "open", none_left)
            none_left()
        real(path)

    monkeypatch.setattr(folders, "sync", sync)
    with pytest.raises(StorageError, match="Too many open files"):
        _set(2.0).save(tmp_path / "set")
    monkeypatch.undo()
    assert rs.InstanceSet.load(tmp_path / "set").weights.max() == 2.0


def test_a_file_that_is_just_being_created_is_not_taken_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread that writes the same file removed it before it was locked, and again while it was written."""
    real, begun = files.fcntl.flock, []

    def flock(descriptor: int, how: int) -> None:
        if not begun:
            begun.append(descriptor)
            files._remove_leftovers(tmp_path / "x.txt")
        real(descriptor, how)

    monkeypatch.setattr(files.fcntl, "flock", flock)
    with files.replacing(tmp_path / "x.txt") as beside:
        beside.write_text("new")
        files._remove_leftovers(tmp_path / "x.txt")
    assert begun
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("length", [240, 250, 255])
def test_names_as_long_as_the_system_allows(length: int, tmp_path: Path) -> None:
    instances = _set(1.0)
    path = tmp_path / ("m" * (length - 4) + ".npz")
    for _ in range(2):
        rs.Model.of(rs.learners.MeanDistance().fit(instances), instances.graph).save(path)
    assert rs.Model.load(path).heuristic.n == 9
    assert len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_ends_the_reading_of_a_table(tmp_path: Path) -> None:
    rows = "".join(f"{k % 997},{(k * 7 + 1) % 997},{k % 13}.5,{k // 100_000}\n" for k in range(500_000))
    (tmp_path / "x.csv").write_text("tail,head,weight,snapshot\n" + rows)

    def read_on() -> None:
        while True:
            rs.datasets.read_edge_table(tmp_path / "x.csv", missing="closed")

    with pytest.raises(KeyboardInterrupt), ctrl_c(computed=0.1):
        read_on()


def test_random_sequences_of_calls_agree_with_brute_force() -> None:
    done = sum((sequences.run(number) for number in range(30)), sequences.Counter())
    assert set(done) == {step.__name__ for step in sequences.STEPS}


@pytest.mark.parametrize("name", ["kernel", "backend"])
def test_two_implementations_agree_on_random_cases(name: str) -> None:
    if name not in DIFFERENTIAL:
        pytest.skip("networkx is not installed")
    for case in range(200):
        DIFFERENTIAL[name](case, 0)


def test_a_wrong_answer_in_a_sequence_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rs.Router.matrix

    def broken(self: rs.Router, *arguments: object, **options: object) -> np.ndarray:
        return real(self, *arguments, **options) + 1e-6

    monkeypatch.setattr(rs.Router, "matrix", broken)
    with pytest.raises(AssertionError):
        sequences.run(0)


def _feed(name: str, m: int, rounds: int) -> None:
    """Another process: writes all weights again and again; the number before them is odd meanwhile."""
    shared = SharedMemory(name=name)
    version, weights = np.ndarray(1, np.int64, shared.buf), np.ndarray(m, np.float64, shared.buf, 8)
    for k in range(rounds):
        version += 1
        weights[:] = 1.0 + k % 5
        version += 1
    del version, weights
    shared.close()


def test_a_router_takes_whole_moments_of_a_feed_in_shared_memory() -> None:
    """As docs/recipes.md does it."""
    graph = rs.Graph.grid(12, 12)
    shared = SharedMemory(create=True, size=8 + 8 * graph.m)
    try:
        version, live = np.ndarray(1, np.int64, shared.buf), np.ndarray(graph.m, np.float64, shared.buf, 8)
        version[0], live[:] = 0, 1.0
        router = rs.Router(graph)
        feed = Process(target=_feed, args=(shared.name, graph.m, 20_000))
        feed.start()
        taken = 0
        while feed.is_alive() or taken == 0:
            before = int(version[0])
            copy = live.copy()
            if before % 2 or int(version[0]) != before:
                continue
            router.update(copy)
            assert router.route(0, 143).cost / 22 in (1.0, 2.0, 3.0, 4.0, 5.0), "all weights are of one moment"
            taken += 1
        feed.join()
        assert feed.exitcode == 0
        live[:] = 9.0
        assert router.route(0, 143).cost / 22 <= 5.0, "the router has a copy"
        del version, live
    finally:
        shared.close()
        shared.unlink()


@pytest.mark.filterwarnings("ignore::rhostar.errors.BoundsWarning")
def test_a_set_over_memory_that_others_write_is_checked_at_each_use() -> None:
    """A snapshot has a copy. A set has none, so bounds are compared with what the memory says now."""
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [3, 1, 2, 3])
    live = bytearray(graph.arrange([25.0, 10.0, 10.0, 10.0]).tobytes())
    weights = np.frombuffer(bytes(live)), np.frombuffer(memoryview(live).toreadonly())
    learner = rs.learners.LowerEnvelope().fit(rs.InstanceSet(graph, weights[0], [0, 0], goal=3))
    snapshot, instances = rs.Snapshot(graph, weights[1]), rs.InstanceSet(graph, weights[1], [0, 0], goal=3)
    assert rs.solve_many(instances, learner).cost.tolist() == [25.0, 25.0]
    np.frombuffer(live)[:] = graph.arrange([25.0, 10.0, 10.0, 1.0])
    assert rs.solve_many(instances, learner).cost.tolist() == [21.0, 21.0]
    assert rs.astar(graph, weights[1], 0, 3, learner).cost == 21.0
    assert rs.astar(graph, snapshot, 0, 3, learner).cost == 25.0


def test_threads_that_load_and_save_one_file_see_whole_ones(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(10):
                _set(float(k + 1)).save(tmp_path / "set")
                (weight,) = np.unique(rs.InstanceSet.load(tmp_path / "set").weights)
                assert weight in (1.0, 2.0, 3.0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
