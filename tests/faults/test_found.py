"""Faults that were found by the checks in this folder and in ``make fuzz``, each as small as it can be shown."""

import errno
import gc
import os
import threading
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

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
    rows = "".join(f"{k % 997},{(k * 7 + 1) % 997},{k % 13}.5,{k // 997}\n" for k in range(500_000))
    (tmp_path / "x.csv").write_text("tail,head,weight,snapshot\n" + rows)

    def read_on() -> None:
        while True:
            rs.datasets.read_edge_table(tmp_path / "x.csv", missing="closed")

    with pytest.raises(KeyboardInterrupt), ctrl_c(computed=0.1):
        read_on()


def _sequences() -> sequences.Counter[str]:
    return sum((sequences.run(number) for number in range(30)), sequences.Counter())


def test_random_sequences_of_calls_agree_with_brute_force() -> None:
    done = _sequences()
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


@pytest.mark.parametrize("kind", ["avoid", "avoid_vertices", "changes", "factors", "mix"])
def test_costs_of_a_query_that_are_ignored_are_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = rs.Router._priced

    def deaf(self: rs.Router, snapshot: Any, costs: dict[str, Any]) -> Any:
        return real(self, snapshot, {name: value for name, value in costs.items() if name != kind})

    monkeypatch.setattr(rs.Router, "_priced", deaf)
    with pytest.raises(AssertionError):
        _sequences()


@pytest.mark.parametrize("step", [sequences.depart, sequences.arrive])
def test_other_weights_by_time_are_noticed(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = rs.Router.update_by_time

    def slow(self: rs.Router, weights: np.ndarray, *arguments: Any, **options: Any) -> None:
        real(self, weights + 1e-3, *arguments, **options)

    monkeypatch.setattr(rs.Router, "update_by_time", slow)
    monkeypatch.setattr(sequences, "STEPS", {step: 1.0})
    with pytest.raises(AssertionError):
        _sequences()


def _map(path: Path, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weights.tofile(path)
    return np.memmap(path, dtype=float, mode="r"), np.memmap(path, dtype=float, mode="r+")


def _bytes(path: Path, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    live = bytearray(weights.tobytes())
    return np.frombuffer(memoryview(live).toreadonly()), np.frombuffer(live)


def _flag(path: Path, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    read_only = weights.view()
    read_only.flags.writeable = False
    return read_only, weights


@pytest.fixture
def shared() -> Iterator[SharedMemory]:
    memory = SharedMemory(create=True, size=32)
    yield memory
    gc.collect()  # the arrays over it
    memory.close()
    memory.unlink()


@pytest.mark.filterwarnings("ignore::rhostar.errors.BoundsWarning")
@pytest.mark.parametrize("kind", ["memory map", "shared memory", "bytes", "flag", "mapped set"])
def test_bounds_are_compared_with_what_memory_says_now(kind: str, tmp_path: Path, shared: SharedMemory) -> None:
    """An array that cannot be written here may be written by others: only a snapshot, a copy, is compared once."""
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [3, 1, 2, 3])
    first, then = graph.arrange([25.0, 10.0, 10.0, 10.0]), graph.arrange([25.0, 10.0, 10.0, 1.0])
    learner = rs.learners.LowerEnvelope().fit(rs.InstanceSet(graph, np.stack([first] * 2), sources=0, goal=3))
    if kind == "mapped set":
        rs.InstanceSet(graph, first, [0, 0], goal=3).save(tmp_path / "set")
        instances = rs.InstanceSet.load(tmp_path / "set")
        seen, (file,) = instances.weights[0], (path for path in (tmp_path / "set").iterdir() if "weights" in path.name)
        live = np.load(file, mmap_mode="r+")[0]
    else:
        if kind == "shared memory":
            live = np.ndarray(4, float, shared.buf)
            live[:] = first
            seen = np.frombuffer(shared.buf.toreadonly(), dtype=float)
        else:
            seen, live = {"memory map": _map, "bytes": _bytes, "flag": _flag}[kind](tmp_path / "w", first.copy())
        instances = rs.InstanceSet(graph, seen, [0, 0], goal=3)
    snapshot, router = rs.Snapshot(graph, seen), rs.Router(graph, learner)
    router.update(seen)
    today = rs.Hierarchy(graph).customize(seen)
    potential = rs.heuristics.DistanceHeuristic(graph, seen)

    def costs() -> list[float]:
        runs = [rs.astar(graph, seen, 0, 3, learner), rs.astar(*instances[0], learner)]
        return [run.cost for run in runs] + rs.solve_many(instances, learner).cost.tolist()

    def copies() -> list[float]:
        guided = rs.astar(graph, snapshot, 0, 3, potential).cost
        return [router.route(0, 3).cost, today.distance(0, 3), rs.astar(graph, snapshot, 0, 3, learner).cost, guided]

    assert costs() == [25.0] * 4
    assert copies() == [25.0] * 4
    live[:] = then
    assert costs() == [21.0] * 4
    assert copies() == [25.0] * 4
    router.update(seen)
    assert router.route(0, 3).cost == 21.0


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
