"""A computation that was killed is resumed from its finished parts: the same bits, and nothing is counted twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _checkpoints as checkpoints
from rhostar import _workers as workers


@pytest.fixture(autouse=True)
def _any_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of parts are kept here, and some disks take a fifth of a second to sync one."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def instances() -> rs.InstanceSet:
    return make_instances()


def make_instances() -> rs.InstanceSet:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(12, 12, neighbors=8)
    return rs.InstanceSet(graph, rng.uniform(1, 2, (90, graph.m)), rng.integers(0, 100, 90), goal=143)


def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of every chunk that is computed."""
    computed: list[str] = []
    attempt = workers.attempt

    def watched(function, name, *rest):
        computed.append(name)
        return attempt(function, name, *rest)

    monkeypatch.setattr(workers, "attempt", watched)
    return computed


@pytest.mark.parametrize("jobs", [1, 2])
def test_finished_parts_are_not_computed_again(
    jobs: int, instances: rs.InstanceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rho = rs.heuristics.octile(instances.graph, 143)
    expected = rs.solve_many(instances, rho)
    computed = calls(monkeypatch)
    for lost in (64, 0, 5):
        for path in sorted(tmp_path.iterdir())[:lost]:
            path.unlink()
        computed.clear()
        again = make_instances().resumable(tmp_path)  # another set with the same content
        found = rs.solve_many(again, rho, n_jobs=jobs)
        assert len(computed) == len(set(computed)) == lost
        assert found.cost.tolist() == expected.cost.tolist()
        assert [p.tolist() for p in found.path] == [p.tolist() for p in expected.path]
        assert found.expanded.tolist() == expected.expanded.tolist()


@pytest.mark.parametrize(
    "make",
    [
        rs.learners.MeanDistance,
        rs.learners.LowerEnvelope,
        rs.learners.MeanWeights,
        lambda: rs.learners.SelfImitatedRanking(iterations=2, rounds=[(1.0, 0.0)], random_state=0),
        lambda: rs.learners.BumpSearch(max_bumps=3, random_state=0),
    ],
)
def test_fits_are_resumed(make, instances: rs.InstanceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = make().fit(instances).rho_
    resumed = instances.resumable(tmp_path)
    assert (make().fit(resumed).rho_ == expected).all()
    computed = calls(monkeypatch)
    assert (make().fit(resumed).rho_ == expected).all()
    assert computed == []


def test_other_data_arguments_and_functions_find_nothing(
    instances: rs.InstanceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rho = np.zeros(instances.graph.n)
    few = instances[:10].resumable(tmp_path)
    rs.solve_many(few, rho)
    computed = calls(monkeypatch)
    rs.solve_many(few, rho)
    assert computed == []
    changed = few.weights[:10].copy()
    changed[3, 0] += 1
    for other, options in (
        (rs.InstanceSet(few.graph, changed, few.sources, few.goals), {}),
        (rs.InstanceSet(few.graph, few.weights[:10], few.sources + 1, few.goals), {}),
        (instances[:10], {"algorithm": "gbfs"}),
        (instances[:10], {"reopen": False}),
        (instances[:10], {"budget": 3}),
    ):
        computed.clear()
        found = rs.solve_many(other.resumable(tmp_path), rho, **options)
        assert len(computed) >= 1, options
        assert found.cost.tolist() == rs.solve_many(other, rho, **options).cost.tolist()
    computed.clear()
    rs.solve_many(few, rho + 1)
    assert len(computed) == 10


def test_damaged_parts_are_computed_again(instances: rs.InstanceSet, tmp_path: Path) -> None:
    expected = rs.learners.MeanDistance().fit(instances).rho_
    rng = np.random.default_rng(0)
    resumed = instances.resumable(tmp_path)
    rs.learners.MeanDistance().fit(resumed)
    for path in tmp_path.iterdir():
        content = bytearray(path.read_bytes())
        if rng.random() < 0.5:
            content = content[: int(rng.integers(len(content)))]
        else:
            content[int(rng.integers(len(content)))] ^= 255
        path.write_bytes(content)
    assert (rs.learners.MeanDistance().fit(resumed).rho_ == expected).all()


def write_part(path: Path, value: object, parts: dict[str, np.ndarray]) -> None:
    """Write a whole part with another content, as a program that knows the format could."""
    form = {"digest": checkpoints._digest(path.stem, value, parts), "value": value}
    arrays = parts | {"form": np.frombuffer(json.dumps(form).encode(), dtype=np.uint8)}
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


_COLUMN = {"array0": np.zeros(1)}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (5, {}),
        (None, {}),
        ("array0", _COLUMN),
        (["array0"] * 8, _COLUMN),
        (["array0", "array9"], _COLUMN),
        (["record", ["rhostar.__main__", "x"], {}], {}),
        ([[]] * 3, {}),
        ({"array0": 1}, _COLUMN),
    ],
)
def test_parts_that_hold_something_else_are_computed_again(
    value: object, parts: dict[str, np.ndarray], instances: rs.InstanceSet, tmp_path: Path
) -> None:
    rho = np.zeros(instances.graph.n)
    expected = rs.solve_many(instances, rho)
    resumed = instances.resumable(tmp_path)
    rs.solve_many(resumed, rho)
    for path in tmp_path.iterdir():
        write_part(path, value, parts)
    for _ in range(2):  # the second time from what the first has put there
        assert rs.solve_many(resumed, rho).cost.tolist() == expected.cost.tolist()


def test_a_part_with_a_changed_array_is_computed_again(instances: rs.InstanceSet, tmp_path: Path) -> None:
    rho = np.zeros(instances.graph.n)
    resumed = instances.resumable(tmp_path)
    expected = rs.solve_many(resumed, rho)
    for path in tmp_path.iterdir():
        parts = dict(np.load(path))
        parts["array1"] = parts["array1"] + 1
        np.savez(path, **parts)
    assert rs.solve_many(resumed, rho).cost.tolist() == expected.cost.tolist()


def test_no_name_in_a_part_is_imported(instances: rs.InstanceSet, tmp_path: Path) -> None:
    """The format of an earlier version named classes, and importing this module ends the program."""
    form = {"key": "", "value": ["record", ["rhostar.__main__", "x"], {}]}
    rho = np.zeros(instances.graph.n)
    resumed = instances.resumable(tmp_path)
    expected = rs.solve_many(resumed, rho)
    for path in tmp_path.iterdir():
        form["key"] = path.stem
        np.savez(path, form=np.frombuffer(json.dumps(form).encode(), dtype=np.uint8))
    assert rs.solve_many(resumed, rho).cost.tolist() == expected.cost.tolist()
    assert "rhostar.__main__" not in sys.modules


def test_a_pipe_among_the_parts_is_not_waited_for(instances: rs.InstanceSet, tmp_path: Path) -> None:
    resumed = instances[:3].resumable(tmp_path)
    rs.solve_many(resumed, np.zeros(instances.graph.n))
    for path in tmp_path.iterdir():
        path.unlink()
        os.mkfifo(path)
    with pytest.raises(rs.errors.StorageError, match="it is a device or a pipe, not a file"):
        rs.solve_many(resumed, np.zeros(instances.graph.n))


_KILLED = """
import os, sys, time
os.fsync = lambda descriptor: None  # as in the tests above: what a killed process wrote is there without it
sys.path.insert(0, sys.argv[2])
import rhostar as rs
from search.test_resuming import make_instances
def slow(instance, trace):
    time.sleep(0.02)
    with open(sys.argv[3], "a") as log:
        log.write(f"{instance.source}\\n")
    return float(instance.source)
instances = make_instances().resumable(sys.argv[1])
rho = rs.heuristics.octile(instances.graph, 143)
values = rs.evaluate(rho, instances, rs.utilities.Custom(1e3, slow))[0].values
print(values.tolist() == instances.sources.tolist())
"""


def test_a_killed_process_is_resumed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "parts"), str(Path(__file__).parents[1]), str(log)]
    for least in (15, 40):
        child = subprocess.Popen(command)
        end = time.monotonic() + 60
        while not (log.exists() and log.read_text().count("\n") >= least) and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    last = subprocess.run(command, capture_output=True, text=True, check=True)
    assert last.stdout == "True\n"
    done = log.read_text().count("\n")
    assert 90 <= done <= 90 + 2 * 2, "only the chunk that was running (at most two instances) is run again"
