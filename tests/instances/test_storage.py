"""Saved sets: everything comes back, damage is refused, an interrupted save leaves the old set intact."""

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _files as files
from rhostar.errors import StorageError
from rhostar.instances import _folder as storage
from support.instances import grid_instances


@pytest.fixture
def instances(rng: np.random.Generator) -> rs.InstanceSet:
    return grid_instances(6, 7, 9, neighbors=8, sources=rng.integers(0, 20, 9), goal=rng.integers(21, 42, 9))


def same(a: rs.InstanceSet, b: rs.InstanceSet) -> bool:
    return (
        a.graph == b.graph
        and a.origin == b.origin
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("sources", "goals", "indices"))
        and np.array_equal(a.weights[a.rows], b.weights[b.rows])
    )


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64])
def test_there_and_back(tmp_path: Path, rng: np.random.Generator, dtype, mmap: bool) -> None:
    graph = rs.Graph.from_edges(
        3,
        [0, 1, 1, 0, 2],
        [1, 2, 2, 2, 2],
        labels=["é", 4, ("a", 1)],
        coordinates=[(0, 0), (1, 1), (2, 0)],
        length=[1, 2, 3, 4, 5],
    )
    weights = graph.arrange(rng.integers(0, 9, (4, 5)).astype(dtype))
    whole = rs.InstanceSet(graph, weights, [0, 1, 0, 1], 2)
    whole.save(tmp_path / "séts")
    loaded = rs.InstanceSet.load(tmp_path / "séts", mmap=mmap)
    assert same(loaded, whole)
    assert loaded.weights.dtype == dtype
    assert loaded.graph.arrange(np.arange(5)).tolist() == graph.arrange(np.arange(5)).tolist()
    assert rs.solve_many(loaded, np.zeros(3)).cost.tolist() == rs.solve_many(whole, np.zeros(3)).cost.tolist()


def test_a_view_saves_its_own_snapshots_and_remembers_its_origin(tmp_path: Path, instances: rs.InstanceSet) -> None:
    train, test = instances.split(0.5, seed=0)
    train.save(tmp_path / "train")
    loaded = rs.InstanceSet.load(tmp_path / "train")
    assert same(loaded, train)
    assert loaded.weights.shape[0] == len(train)
    assert (loaded.overlap(test), loaded.overlap(instances)) == (0, len(train))


def test_a_mapped_set_pickles_as_its_folder(tmp_path: Path, instances: rs.InstanceSet) -> None:
    instances.save(tmp_path / "set")
    loaded = rs.InstanceSet.load(tmp_path / "set")[3:6]
    pickled = pickle.dumps(loaded)
    assert len(pickled) < 1500 < instances.weights.nbytes
    assert same(pickle.loads(pickled), loaded)
    other = instances[1:]
    other.save(tmp_path / "set")
    code = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1]))"
    failed = subprocess.run([sys.executable, "-c", code, pickled.hex()], capture_output=True, text=True, check=False)
    assert "saved again" in failed.stderr


def damage(folder: Path, kind: str) -> None:
    weights = next(folder.glob("weights-*.npy"))
    index = folder / storage.INDEX
    match kind:
        case "truncated":
            os.truncate(weights, weights.stat().st_size - 1)
        case "longer":
            with weights.open("ab") as stream:
                stream.write(b"x")
        case "flipped":
            data = bytearray(weights.read_bytes())
            data[-9] ^= 1
            weights.write_bytes(data)
        case "missing":
            weights.unlink()
        case "no index":
            index.unlink()
        case "cut index":
            index.write_text(index.read_text()[:200])
        case "index of another kind":
            facts = json.loads(index.read_text())
            facts["format"] = "something else"
            del facts["checksum"]
            index.write_text(json.dumps({**facts, "checksum": storage._checksum(facts)}))
        case "changed index":
            index.write_text(index.read_text().replace('"origin": "', '"origin": "0'))
        case "list":
            index.write_text("[]")
        case "deep":
            index.write_text("[" * 100_000)
        case "binary":
            index.write_bytes(b"\xff\xfe\x00")
        case "pipe":
            index.unlink()
            os.mkfifo(index)
        case "device":
            index.unlink()
            index.symlink_to("/dev/zero")
        case "endless":
            os.truncate(index, 1 << 40)
        case "surrogate" | "elsewhere":
            facts = json.loads(index.read_text())
            facts["files"]["weights"]["file"] = "\ud800.npy" if kind == "surrogate" else "../weights.npy"
            del facts["checksum"]
            index.write_text(json.dumps({**facts, "checksum": storage._checksum(facts)}))


@pytest.mark.parametrize(
    "kind",
    [
        "truncated",
        "longer",
        "flipped",
        "missing",
        "no index",
        "cut index",
        "index of another kind",
        "changed index",
        "list",
        "deep",
        "binary",
        "pipe",
        "device",
        "endless",
        "surrogate",
        "elsewhere",
    ],
)
def test_damage_is_refused(tmp_path: Path, instances: rs.InstanceSet, kind: str) -> None:
    instances.save(tmp_path / "set")
    damage(tmp_path / "set", kind)
    with pytest.raises(StorageError, match=str(tmp_path)) as caught:
        rs.InstanceSet.load(tmp_path / "set")
    assert isinstance(caught.value, ValueError)


def test_nothing_is_unpickled(tmp_path: Path, instances: rs.InstanceSet) -> None:
    """A file that holds pickled objects, with everything else in order, is refused."""
    folder = tmp_path / "set"
    instances.save(folder)
    facts = json.loads((folder / storage.INDEX).read_text())
    del facts["checksum"]
    entry = facts["files"]["sources"]
    path = folder / entry["file"]
    np.save(path, np.array([print] * 9, dtype=object), allow_pickle=True)
    entry |= {"bytes": path.stat().st_size, "crc32": zlib.crc32(path.read_bytes()), "dtype": "|O"}
    (folder / storage.INDEX).write_text(json.dumps({**facts, "checksum": storage._checksum(facts)}))
    with pytest.raises(StorageError, match="expected numbers or strings"):
        rs.InstanceSet.load(folder)


def test_a_forged_graph_cannot_send_a_query_out_of_bounds(tmp_path: Path, instances: rs.InstanceSet) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    facts = json.loads((folder / storage.INDEX).read_text())
    del facts["checksum"]
    for name, value in (("head", 10**6), ("rows", 99), ("sources", 42)):
        forged = json.loads(json.dumps(facts))
        entry = forged["files"][name]
        path = folder / entry["file"]
        original = path.read_bytes()
        array = np.load(path)
        array[0] = value
        np.lib.format.write_array(path.open("wb"), array, version=(2, 0))
        entry |= {"bytes": path.stat().st_size, "crc32": zlib.crc32(path.read_bytes())}
        (folder / storage.INDEX).write_text(json.dumps({**forged, "checksum": storage._checksum(forged)}))
        with pytest.raises(StorageError, match="does not contain a set of instances"):
            rs.InstanceSet.load(folder)
        path.write_bytes(original)


def test_saving_over_itself_and_over_an_older_one(tmp_path: Path, instances: rs.InstanceSet) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    mapped = rs.InstanceSet.load(folder)
    mapped[2:5].save(folder)
    assert same(rs.InstanceSet.load(folder), instances[2:5])
    assert np.array_equal(mapped.weights, instances.weights)  # still readable where it is open
    names = {path.name.split("-")[0] for path in folder.iterdir()}
    assert len(list(folder.iterdir())) == len(names), "files of the older set are left over"


def test_a_folder_with_other_files_is_not_touched(tmp_path: Path, instances: rs.InstanceSet) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StorageError, match="contains other files"):
        instances.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(StorageError, match="could not save"):
        instances.save(tmp_path / "thesis.tex")


def test_labels_that_cannot_be_saved_are_named(tmp_path: Path) -> None:
    graph = rs.Graph.from_edges(2, [0], [1], labels=[frozenset(), "b"])
    with pytest.raises(StorageError, match="frozenset"):
        rs.InstanceSet(graph, [1.0], 0, 1).save(tmp_path / "set")


def test_a_full_disk_leaves_the_old_set_intact(tmp_path: Path, instances: rs.InstanceSet) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    before = sorted(path.name for path in folder.iterdir())
    graph = rs.Graph.grid(60, 60)
    large = rs.InstanceSet(graph, np.ones((20, graph.m)), 0, 9)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))  # no file beyond 1 MiB, like a full disk
    try:
        with pytest.raises(StorageError, match="could not save"):
            large.save(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert same(rs.InstanceSet.load(folder), instances)


_SAVING = """
import numpy as np, rhostar as rs, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
graph = rs.Graph.grid(400, 400, neighbors=8)
large = rs.InstanceSet(graph, np.broadcast_to(graph.length, (200, graph.m)), 0, 9)
print("saving", flush=True)
large.save(sys.argv[1])
print("saved", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_save_leaves_the_old_set_intact(tmp_path: Path, instances: rs.InstanceSet, blow) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    before = sorted(path.name for path in folder.iterdir())
    child = subprocess.Popen(
        [sys.executable, "-c", _SAVING, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "saving\n"
    while len(list(folder.iterdir())) < len(before) + 4:
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.001)
    child.send_signal(blow)
    out, _ = child.communicate()
    assert "saved" not in out
    assert same(rs.InstanceSet.load(folder), instances)
    if blow == signal.SIGINT:
        assert sorted(path.name for path in folder.iterdir()) == before
    instances.save(folder)  # and what was left over goes with the next save
    assert len(list(folder.iterdir())) == len(before)
    assert same(rs.InstanceSet.load(folder), instances)


def test_files_of_others_are_never_removed(tmp_path: Path, instances: rs.InstanceSet) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    mine = folder / "traffic-weights_20230101.npy"
    np.save(mine, np.ones(3))
    instances.save(folder)
    assert mine.exists()


def test_two_saves_at_once_leave_one_whole_set(tmp_path: Path, instances: rs.InstanceSet) -> None:
    folder = tmp_path / "set"
    parts = [instances[:5], instances[5:]]
    failures: list[Exception] = []

    def save(part: rs.InstanceSet) -> None:
        try:
            for _ in range(15):
                part.save(folder)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    loaded = rs.InstanceSet.load(folder)
    assert any(same(loaded, part) for part in parts)


def test_an_interrupt_right_after_the_replacement_keeps_the_new_set(
    tmp_path: Path, instances: rs.InstanceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    instances.save(folder)
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> None:
        replace(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            instances[2:4].save(folder)
    assert same(rs.InstanceSet.load(folder), instances[2:4])


def test_an_empty_view_can_be_saved(tmp_path: Path, instances: rs.InstanceSet) -> None:
    instances[:0].save(tmp_path / "none")
    assert len(rs.InstanceSet.load(tmp_path / "none")) == 0


def test_what_was_written_to_a_private_mapping_is_sent(tmp_path: Path) -> None:
    graph = rs.Graph.grid(4, 4)
    np.save(tmp_path / "w.npy", np.ones((2, graph.m)))
    private = np.load(tmp_path / "w.npy", mmap_mode="c")
    private *= 10
    copy = pickle.loads(pickle.dumps(rs.InstanceSet(graph, private, 0, 15)))
    assert rs.solve_many(copy, np.zeros(16)).cost.tolist() == [60, 60]


def test_without_verification_sizes_are_still_checked(tmp_path: Path, instances: rs.InstanceSet) -> None:
    instances.save(tmp_path / "set")
    damage(tmp_path / "set", "flipped")
    rs.InstanceSet.load(tmp_path / "set", verify=False)
    damage(tmp_path / "set", "truncated")
    with pytest.raises(StorageError, match="truncated"):
        rs.InstanceSet.load(tmp_path / "set", verify=False)


# ---------------------------------------------------------------- single files


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "new" / "page.html"
    for text in ("one", "two"):
        with files.replacing(target) as beside:
            assert (beside.parent, beside.suffix) == (target.parent, ".html")
            beside.write_text(text)
        assert target.read_text() == text

    def interrupted() -> None:
        with files.replacing(target) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "two"
    assert [path.name for path in target.parent.iterdir()] == ["page.html"]


def test_names_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    for name in ("a" * 250 + ".npz", "a." + "b" * 253, "ä" * 127, ".." + "a" * 250):
        with files.replacing(tmp_path / name) as beside:
            beside.write_text("new")
        assert (tmp_path / name).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with files.replacing(tmp_path / "link") as beside:
        beside.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_only_plain_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # stands for /dev/null, which root could replace
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    for name, what in (
        ("pipe", "it is a device or a pipe, not a file"),
        ("link", "it is a device or a pipe, not a file"),
        ("folder", "it is a folder, not a file"),
        ("file/below", "file is not a folder"),
    ):
        with pytest.raises(StorageError, match=what), files.replacing(tmp_path / name) as beside:
            beside.write_text("new")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "link", "pipe"]
