"""Loads while another process saves to the same folder: the old set or the new one, never an error."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _files as files
from rhostar.errors import StorageError

_SAVES = """
import itertools, sys
import numpy as np, rhostar as rs
graph = rs.Graph.grid(4, 4)
for k in itertools.count():
    rs.InstanceSet(graph, np.full((3, graph.m), float(k + 1)), [k % 7, 1, 2], goal=15).save(sys.argv[1])
    if k == 0:
        print("saved", flush=True)
"""


@pytest.mark.parametrize("mmap", [True, False])
def test_a_load_gets_the_old_set_or_the_new(tmp_path: Path, mmap: bool) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _SAVES, str(tmp_path / "set")], stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        seen: set[float] = set()
        loads = 0
        # A disk that syncs slowly lets few saves pass in 300 loads: go on until there were some.
        until = time.monotonic() + 120
        while loads < 300 or (len(seen) <= 5 and time.monotonic() < until):
            loads += 1
            found = rs.InstanceSet.load(tmp_path / "set", mmap=mmap)
            (number,) = np.unique(found.weights).tolist()
            assert found.sources.tolist() == [(int(number) - 1) % 7, 1, 2], "all files are of one save"
            seen.add(number)
    finally:
        writer.kill()
        writer.wait()
    assert len(seen) > 5, "the writer was saving meanwhile"


def test_a_file_that_is_really_missing_is_still_an_error(tmp_path: Path) -> None:
    graph = rs.Graph.grid(4, 4)
    rs.InstanceSet(graph, graph.length, [0], goal=15).save(tmp_path / "set")
    next((tmp_path / "set").glob("rows-*.npy")).unlink()
    with pytest.raises(StorageError, match=r"rows-.*\.npy is missing"):
        rs.InstanceSet.load(tmp_path / "set")


_KILLED = """
import sys
from pathlib import Path
from rhostar import _files as files
with files.replacing(sys.argv[1]) as beside:
    beside.write_text("half")
    print("writing", flush=True)
    sys.stdin.read()  # until it is killed
"""


def test_the_next_save_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_text("old")
    (tmp_path / f".{'0' * 16}-other.npz").write_text("of another file")
    command, pipe = [sys.executable, "-c", _KILLED, str(path)], subprocess.PIPE
    writers = [subprocess.Popen(command, stdin=pipe, stdout=pipe) for _ in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    os.kill(writers[0].pid, signal.SIGKILL)
    writers[0].wait()
    assert len(list(tmp_path.iterdir())) == 4
    with files.replacing(path) as beside:
        beside.write_text("new")
    left = sorted(entry.name for entry in tmp_path.iterdir())
    assert len(left) == 3, "the one that is still being written stays"
    assert path.read_text() == "new"
    writers[1].kill()
    writers[1].wait()
    with files.replacing(path) as beside:
        beside.write_text("newer")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [f".{'0' * 16}-other.npz", "model.npz"]


def test_everything_that_is_saved_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that a save leaves was synced under its own inode, and its folder after the rename."""
    synced: set[int] = set()
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    graph = rs.Graph.grid(4, 4)
    instances = rs.InstanceSet(graph, graph.length, [0, 1], goal=15)
    instances.save(tmp_path / "set")
    rs.Model.of(rs.learners.MeanDistance().fit(instances), graph).save(tmp_path / "model.npz")
    rs.solve_many(instances.resumable(tmp_path / "parts"), np.zeros(16))
    paths = [path for path in tmp_path.rglob("*") if path.name != "parts"]
    assert len(paths) > 9
    for path in paths:
        assert path.stat().st_ino in synced, path
    assert (tmp_path / "parts").stat().st_ino in synced
