"""The atlas: every entry with the reference alone, and a search that is the same however it is run."""

import dataclasses
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.bounds import _capacity as capacity
from rhostar.theory import _core
from rhostar.theory._behaviours import MEASURES
from rhostar.theory._set_search import LARGEST, Kind, construction, hunt
from support.symbolic_oracle import reference_runs

ENTRIES = rs.theory.atlas.entries()
QUICK = [Kind(4, "gbfs", True, "expanded", "unit"), Kind(5, "gbfs", True, "cost", "small")]


# ---------------------------------------------------------------- what the package carries


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_with_the_reference(name: str) -> None:
    witness = ENTRIES[name]
    assert rs.theory.verify(witness) == len(witness)
    algorithm, *rest, utility, weights, n = name.split("-")
    assert (witness.algorithm, witness.utility, witness.n) == (algorithm, utility, int(n))
    if algorithm == "astar":
        assert rest == ["reopen" if witness.reopen else "closed"]
    used = {w for one in witness.arcs for *_, w in one}
    assert used == {1} if weights == "unit" else max(used) <= LARGEST[weights]


def test_names_are_checked(tmp_path: Path) -> None:
    ENTRIES["gbfs-cost-small-4"].save(tmp_path / "gbfs-cost-small-4.json")
    assert rs.theory.atlas.verify(tmp_path) == {"gbfs-cost-small-4": 2}
    ENTRIES["gbfs-cost-small-4"].save(tmp_path / "gbfs-expanded-unit-4.json")
    with pytest.raises(rs.errors.StorageError, match="holds a set of the kind"):
        rs.theory.atlas.verify(tmp_path)


def test_sizes_are_at_least_what_quick_searches_found() -> None:
    def best(n: int, algorithm: str) -> int:
        return max(len(w) for w in ENTRIES.values() if (w.n, w.algorithm) == (n, algorithm))

    assert (best(4, "gbfs"), best(5, "gbfs")) >= (2, 3)
    assert best(4, "astar") >= 5
    assert best(5, "astar") >= 7
    for witness in ENTRIES.values():
        if witness.algorithm == "gbfs":
            assert len(witness) <= capacity.greedy(witness.n).pseudo_dimension
        else:
            heaviest = max(w for one in witness.arcs for *_, w in one)
            assert len(witness) <= capacity.catalan_in_open(witness.n, heaviest).pseudo_dimension
    assert len(ENTRIES["gbfs-cost-small-6"]) == capacity.greedy(6).pseudo_dimension == 6
    assert capacity.greedy(4).pseudo_dimension == math.floor(math.log2(6)) == best(4, "gbfs")


def test_entries_are_at_least_the_constructions() -> None:
    for kind in rs.theory.atlas.kinds():
        known = construction(kind)
        if known is not None:
            assert len(ENTRIES[kind.name]) >= len(known), kind.name


def test_more_vertices_and_wider_weights_are_no_worse() -> None:
    for kind in rs.theory.atlas.kinds():
        for other in (dataclasses.replace(kind, n=kind.n - 1), dataclasses.replace(kind, weights="unit")):
            if other.name in ENTRIES and kind.name in ENTRIES:
                assert len(ENTRIES[kind.name]) >= len(ENTRIES[other.name])


# ---------------------------------------------------------------- the search


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32 - 1))
def test_sweeps_measure_like_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    matrix = rng.integers(0, 5, (n, n))
    matrix[(rng.random((n, n)) < 0.4) | np.eye(n, dtype=bool)] = -1
    goal, source = (int(v) for v in rng.permutation(n)[:2])
    rho = rng.integers(-9, 10, (6, n))
    tail, head = np.nonzero(matrix >= 0)
    graph = rs.Graph.from_edges(n, tail, head)
    greedy, reopen, measure = bool(rng.random() < 0.4), bool(rng.random() < 0.5), int(rng.integers(5))
    weights, sources = np.ascontiguousarray(matrix[None]), np.array([source], dtype=np.int32)
    values = _core.sweep(weights, sources, goal, greedy, reopen, rho, 1, measure).values
    instances = rs.InstanceSet(
        graph, matrix[graph.tail, graph.head].astype(float)[None], source, goal, infeasible="keep"
    )
    for value, row in zip(values, rho / 2, strict=True):
        run = reference_runs(instances, row.tolist(), "gbfs" if greedy else "astar", reopen)[0]
        assert value == (getattr(run, MEASURES[measure]) if run.status == "solved" else -1)


@pytest.mark.parametrize("seed", range(4))
def test_a_hunt_is_the_same_again_and_true(seed: int) -> None:
    for kind in (QUICK[1], Kind(5, "astar", False, "cost", "small")):
        first, again = (hunt(kind, seed, patience=2) for _ in range(2))
        assert first == again
        assert first is not None
        assert rs.theory.verify(first) == len(first) >= 2
    assert hunt(Kind(4, "gbfs", True, "cost", "unit"), seed, patience=2) is None  # one path, whatever ρ


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_interrupted_searches_end_alike(tmp_path: Path) -> None:
    whole, pieces, parallel = tmp_path / "whole", tmp_path / "pieces", tmp_path / "parallel"
    sizes = rs.theory.atlas.search(whole, rounds=3, seed=5, only=QUICK)

    def tired(name: str, number: int, size: int) -> None:
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rs.theory.atlas.search(pieces, rounds=3, seed=5, only=QUICK, progress=tired)
    assert rs.theory.atlas.search(pieces, rounds=3, seed=5, only=QUICK) == sizes
    assert rs.theory.atlas.search(parallel, rounds=3, seed=5, only=QUICK, n_jobs=2) == sizes
    assert files(whole) == files(pieces) == files(parallel)
    before = files(whole)
    rs.theory.atlas.search(whole, rounds=3, seed=5, only=QUICK)
    assert files(whole) == before


def test_what_is_larger_stays(tmp_path: Path) -> None:
    kind = QUICK[1]
    large = rs.theory.shattering(
        rs.theory.sharper_instances(5, "gbfs").instances, "gbfs", rs.utilities.Cost(9)
    ).witness()
    large.save(tmp_path / f"{kind.name}.json")
    rs.theory.atlas.search(tmp_path, rounds=1, only=[kind])
    assert rs.theory.Witness.load(tmp_path / f"{kind.name}.json") == large
    (tmp_path / "rounds.json").write_text("[1")
    with pytest.raises(rs.errors.StorageError, match="how many rounds"):
        rs.theory.atlas.search(tmp_path, rounds=2, only=[kind])


def test_kinds_and_bad_ones() -> None:
    assert len({kind.name for kind in rs.theory.atlas.kinds()}) == 5 * 16
    for change in ({"n": 2}, {"weights": "huge"}, {"utility": "beauty"}):
        with pytest.raises(rs.errors.InputError, match="not a valid kind"):
            dataclasses.replace(QUICK[0], **change)
    with pytest.raises(rs.errors.InputError, match="rounds"):
        rs.theory.atlas.search("nowhere", rounds=-1)


# ---------------------------------------------------------------- the packed file


def test_files_are_small_and_plain() -> None:
    with zipfile.ZipFile(Path(rs.theory.atlas.__file__).with_name("atlas.zip")) as packed:
        assert [member.removesuffix(".json") for member in packed.namelist()] == list(ENTRIES)
        for member in packed.infolist():
            assert member.file_size < 200_000
            assert set(json.loads(packed.read(member))) == {"kind", "size"} | {
                field.name for field in dataclasses.fields(rs.theory.Witness)
            }


def test_packing_again_gives_the_same_entries_and_bytes(tmp_path: Path) -> None:
    assert rs.theory.atlas.unpack(tmp_path / "folder") == len(ENTRIES)
    (tmp_path / "folder" / "rounds.json").write_text("{}")  # what a search leaves there is no entry
    assert rs.theory.atlas.pack(tmp_path / "folder", tmp_path / "one.zip") == len(ENTRIES)
    assert rs.theory.atlas.pack(tmp_path / "one.zip", tmp_path / "two.zip") == len(ENTRIES)
    assert rs.theory.atlas.entries(tmp_path / "one.zip") == rs.theory.atlas.entries(tmp_path / "folder") == ENTRIES
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_what_a_search_finds_is_packed(tmp_path: Path) -> None:
    folder, packed = tmp_path / "folder", tmp_path / "atlas.zip"
    kind = QUICK[1]
    small = hunt(dataclasses.replace(kind, n=4), 0, patience=2)
    assert small is not None
    folder.mkdir()
    # A smaller set than the package's is replaced, a larger one stays.
    small.save(folder / f"{kind.name}.json")
    ENTRIES["gbfs-expanded-unit-8"].save(folder / "gbfs-expanded-unit-4.json")
    assert rs.theory.atlas.unpack(folder) == len(ENTRIES) - 1
    assert len(rs.theory.Witness.load(folder / "gbfs-expanded-unit-4.json")) == 7
    (folder / "gbfs-expanded-unit-4.json").unlink()
    new = Kind(9, "gbfs", True, "expanded", "unit")
    sizes = rs.theory.atlas.search(folder, rounds=1, seed=1, only=[*QUICK, new])
    assert set(sizes) == {*ENTRIES, new.name}
    rs.theory.atlas.pack(folder, packed)
    assert {name: len(one) for name, one in rs.theory.atlas.entries(packed).items()} == sizes
    assert all(sizes[name] >= len(one) for name, one in ENTRIES.items())


def test_changing_the_mapping_changes_nothing_for_others() -> None:
    rs.theory.atlas.entries().clear()
    assert rs.theory.atlas.entries() == ENTRIES


def test_damaged_packed_files_say_so(tmp_path: Path) -> None:
    whole = Path(rs.theory.atlas.__file__).with_name("atlas.zip").read_bytes()
    path = tmp_path / "atlas.zip"
    for data in (b"", b"no zip", whole[:-30], whole[:2000] + b"\0" * 200 + whole[2200:]):
        path.write_bytes(data)
        with pytest.raises(rs.errors.StorageError, match="not a packed atlas"):
            rs.theory.atlas.entries(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("gbfs-cost-small-4.json", "{}")
    with pytest.raises(rs.errors.StorageError, match="gbfs-cost-small-4"):
        rs.theory.atlas.entries(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(rs.errors.StorageError, match="no entries to pack"):
        rs.theory.atlas.pack(tmp_path / "empty", path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_members_compressed_in_another_way_are_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "atlas.zip"
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("gbfs-cost-small-4.json", ENTRIES["gbfs-cost-small-4"].to_json())
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(rs.errors.StorageError):
            rs.theory.atlas.entries(path)


def test_a_flipped_byte_in_the_name_of_an_entry_is_noticed(tmp_path: Path) -> None:
    name, path = b"gbfs-cost-small-4", tmp_path / "atlas.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{name.decode()}.json", ENTRIES[name.decode()].to_json())
    whole = path.read_bytes()
    for at in range(len(name) + len(".json")):
        for bit in range(8):
            wrong = bytearray(name + b".json")
            wrong[at] ^= 1 << bit
            path.write_bytes(whole.replace(name + b".json", bytes(wrong)))  # in both places that have it
            with pytest.raises(rs.errors.StorageError):
                rs.theory.atlas.entries(path)


def test_every_entry_has_the_name_of_its_kind(tmp_path: Path) -> None:
    witness = ENTRIES["gbfs-cost-small-4"]
    witness.save(tmp_path / "gbfs-cost-large-4.json")  # small weights are among the large
    assert rs.theory.atlas.pack(tmp_path, tmp_path / "atlas.zip") == 1
    for wrong in ("gbfs-cost-unit-4", "gbfs-cost-small-5", "mine"):
        witness.save(tmp_path / f"{wrong}.json")
        with pytest.raises(rs.errors.StorageError, match=f"'{wrong}' holds a set of the kind gbfs-cost-small-4"):
            rs.theory.atlas.pack(tmp_path, tmp_path / "atlas.zip")
        (tmp_path / f"{wrong}.json").unlink()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"n": 100_000_000}, "not every ρ has 100000000 values"),
        ({"goal": float("inf")}, "OverflowError"),
        ({"arcs": [[], []]}, "it has no arcs"),
        ({"arcs": []}, "2 instances need 2 thresholds"),
        ({"bits": 10**9}, "could round"),
        ({"goal": 9}, "is not valid"),
    ],
)
def test_damaged_witnesses(change: dict[str, Any], what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    ENTRIES["gbfs-cost-small-4"].save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises((rs.errors.StorageError, rs.errors.WitnessError), match=what):
        rs.theory.verify(rs.theory.Witness.load(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(rs.errors.StorageError, match="not UTF-8"):
        rs.theory.Witness.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(rs.errors.StorageError, match="RecursionError"):
        rs.theory.Witness.load(path)


def test_a_witness_that_is_saved_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[int] = set()
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    ENTRIES["gbfs-cost-small-4"].save(tmp_path / "witness.json")
    assert {(tmp_path / "witness.json").stat().st_ino, tmp_path.stat().st_ino} <= synced


def test_a_flipped_bit_in_a_packed_atlas_changes_or_loses_no_entry(tmp_path: Path) -> None:
    atlas = rs.theory.atlas
    for name in ("gbfs-cost-small-4", "gbfs-expanded-unit-4"):
        atlas.entries()[name].save(tmp_path / f"{name}.json")
    atlas.pack(tmp_path, tmp_path / "atlas.zip")
    data, sound = (tmp_path / "atlas.zip").read_bytes(), atlas.entries(tmp_path / "atlas.zip")
    read = 0
    for at in range(len(data)):
        (tmp_path / "damaged").write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        try:
            assert atlas.entries(tmp_path / "damaged") == sound, at
            read += 1
        except rs.errors.RhostarError:
            pass
    assert 0 < read < len(data)
