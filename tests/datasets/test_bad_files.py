"""Bad files cost what they weigh, and every error is one of rhostar; ``make fuzz`` runs thousands more cases."""

import gzip
import pickle
import resource
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rhostar as rs
from rhostar import datasets
from rhostar.errors import ReadError, RhostarWarning, StorageError
from support.fuzz_targets import CORPUS, CSV, GR, MAP, SCEN, TARGETS, Sound


@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_or_refused(name: str) -> None:
    sound = Sound(name)
    assert sound.run(None), "the files are sound before they are damaged"
    read = sum(sound.run(case) for case in range(100))
    if name == "parts":
        assert read == 100, "what is damaged is computed again"
    else:
        assert 0 < read < 100, "some damage is harmless, some is not: else nothing was tested"


KNOWN = [path for path in sorted(CORPUS.glob("*/*")) if path.parent.name in TARGETS]


@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")
@pytest.mark.parametrize("path", KNOWN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_failed_is_read_or_refused(path: Path) -> None:
    read = Sound(path.parent.name).run(path)
    assert read == path.name.startswith("read-"), "names of files that can be read begin with read-"


def test_a_case_that_failed_is_kept(tmp_path: Path) -> None:
    sound = Sound("set")
    case = next(case for case in range(100) if not sound.run(case))
    sound.keep(case, 0, tmp_path / "kept")
    assert sum(path.is_file() for path in (tmp_path / "kept").rglob("*")) in (1, 2), (
        "a file, and the index that has its sum"
    )
    assert not sound.run(tmp_path / "kept")


@pytest.mark.usefixtures("limited_memory")
def test_the_fuzzer_notices_other_errors_memory_and_crashes(tmp_path: Path) -> None:
    """A reader that is broken in each of these ways fails."""
    code = f"""
import sys; sys.path[:0] = [{str(Path(__file__).parents[1])!r}, {str(Path(__file__).parents[2] / "tools")!r}]
import ctypes, fuzz
from support import fuzz_targets as t
def broken(folder):
    if folder is not None and next(turns): return
    {{}}
turns = iter([1] + [0] * 99)
t.TARGETS["gr"] = t.TARGETS["gr"]._replace(read=broken)
sys.exit(fuzz.main(["--inside", "--only", "gr", "--count", "3", "--megabytes", "256", "--seconds", sys.argv[1]]))
"""
    for breakage, seconds, status in (
        ("raise KeyError('x')", "60", 3),
        ("b'x' * (1 << 30)", "60", 3),
        ("import time; time.sleep(60)", "0.5", 3),
        ("ctypes.string_at(0)", "60", -11),
        ("pass", "60", 0),
    ):
        command = [sys.executable, "-c", code.replace("{}", breakage), seconds]
        child = subprocess.run(command, capture_output=True, check=False)
        assert child.returncode == status, child.stdout.decode() + child.stderr.decode()


def _refused(read: Any, *arguments: Any, match: str, **options: Any) -> str:
    """Return the message; reading must not have taken more memory than a few files of that size."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises((ReadError, StorageError), match=match) as caught:
        read(*arguments, **options)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    return str(caught.value)


def test_a_header_is_believed_only_as_far_as_the_bytes_carry_it(tmp_path: Path) -> None:
    path = tmp_path / "x.gr"
    path.write_text("p sp 300000000 1\na 1 2 3\n")
    _refused(datasets.read_dimacs, path, match=r"300000000 vertices \(with 1 arcs\).*max_vertices=300000000")
    path.write_text("p sp 1100000 1\na 1 2 3\n")
    _refused(datasets.read_dimacs, path, match="max_vertices")
    assert datasets.read_dimacs(path, max_vertices=1_100_000).graph.n == 1_100_000
    path.write_text("p sp 1000 1\na 1 2 3\n")
    assert datasets.read_dimacs(path).graph.n == 1000


def test_maps_and_pictures_are_bounded_beside_their_packed_size(tmp_path: Path) -> None:
    path = tmp_path / "x.map.gz"
    path.write_bytes(gzip.compress(b"type octile\nheight 8192\nwidth 8192\nmap\n" + b"." * 1_000_000, 9))
    _refused(datasets.read_map, path, match=r"67108864 cells \(8192 x 8192\).*max_cells=67108864")
    small = tmp_path / "small.map"
    small.write_text(MAP)
    _refused(datasets.read_map, small, match="max_cells=20", max_cells=19)
    assert datasets.read_map(small, max_cells=20).graph.n == 20
    folder = tmp_path / "worlds"
    folder.mkdir()
    Image.fromarray(np.full((2048, 2048), 255, dtype=np.uint8)).save(folder / "0.png")
    assert (folder / "0.png").stat().st_size < 10_000
    _refused(datasets.read_worlds, folder, match=r"4194304 pixels \(2048 x 2048\).*max_cells=4194304")
    assert datasets.read_worlds(folder, max_cells=1 << 22).shape == (2048, 2048)


def test_a_gzip_file_does_not_unpack_to_far_more_than_it_weighs(tmp_path: Path) -> None:
    path = tmp_path / "x.gr.gz"
    path.write_bytes(gzip.compress(b"c" + b"\n" * (65 << 20), 6))
    _refused(datasets.read_dimacs, path, match="more than 200 times as many.*gunzip")


def _bomb(path: Path, member: str) -> None:
    """Add an array of 256 MiB to an archive, without ever having it in memory."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open(member, "w") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (1 << 25,)})
        for _ in range(256):
            out.write(bytes(1 << 20))


def test_archives_are_read_member_by_member(tmp_path: Path) -> None:
    for name, read in (("model", rs.Model.load), ("metr-la", datasets.read_metr_la)):
        folder = tmp_path / name
        folder.mkdir()
        TARGETS[name].make(folder)
        _bomb(folder / "x.npz", "unrelated.npy")
        if name == "model":
            _refused(read, folder / "x.npz", match="'unrelated', which does not belong there")
        else:
            assert len(read(folder / "x.npz").weights) == 6, "it is skipped"


def test_a_known_member_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    rho = np.zeros(20_000_000)
    values = rs.heuristics.Table(rho).with_facts(fingerprint=rs.Graph.grid(2, 2).fingerprint)
    model = rs.Model(values)
    model.save(tmp_path / "x.npz")
    del rho, values, model
    assert (tmp_path / "x.npz").stat().st_size < 400_000
    message = _refused(rs.Model.load, tmp_path / "x.npz", match="would unpack to 160000")
    most = int(message.split("max_bytes=")[1].split()[0])
    assert rs.Model.load(tmp_path / "x.npz", max_bytes=most).heuristic.n == 20_000_000


def test_a_time_stamp_as_snapshot_is_refused_with_the_likely_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = "".join(f"{k},{k + 1},1,moment {k}\n" for k in range(6000))
    path.write_text("tail,head,weight,snapshot\n" + rows)
    _refused(datasets.read_edge_table, path, match="6000 rows would make 6000 snapshots of 6000 edges.*time stamp")
    stamps = (datetime(2012, 3, 1) + timedelta(seconds=k) for k in range(6000))
    rows = "".join(f"{k},{k + 1},1,{stamp.isoformat()}\n" for k, stamp in enumerate(stamps))
    path.write_text("tail,head,weight,snapshot\n" + rows)
    for missing in ("error", "closed", "last"):
        words = "6000 rows would make 6000 snapshots of 6000 edges.*time stamp"
        _refused(datasets.read_edge_table, path, match=words, missing=missing)
    rows = "".join(f"{k % 50},{k % 50 + 1},1,{k}\n" for k in range(6000))
    path.write_text("tail,head,weight,snapshot\n" + rows)
    assert datasets.read_edge_table(path, missing="last").weights.shape == (6000, 50)
    _refused(datasets.read_edge_table, path, match="max_entries=300000", max_entries=299_999)


@pytest.mark.parametrize(
    ("name", "content", "read", "what"),
    [
        ("x.gr", GR.replace("a 3 4 1.5", "\x0c"), "read_dimacs", "expected a line with the letter"),
        ("x.gr", GR.replace("a 3 4 1.5", "\xa0"), "read_dimacs", "expected a line with the letter"),
        ("x.gr", GR.replace("p sp 6 8", "p sp 6_0 8"), "read_dimacs", "expected 'p sp"),
        ("x.gr", GR.replace("p sp 6 8", "p sp ٦ 8"), "read_dimacs", "expected 'p sp"),
        ("x.map", MAP.replace("height 4", "height " + "4" * 5000), "read_map", "expected 'type octile'"),
        ("x.map", MAP.replace("height 4", "height ٤"), "read_map", "expected 'type octile'"),
        ("x.scen", SCEN.replace("0\tx.map", "9" * 30 + "\tx.map"), "read_scenario", "expected 'bucket map"),
        ("x.scen", SCEN.replace("0.5\n", "1_0\n"), "read_scenario", "expected 'bucket map"),
        ("x.csv", CSV.replace("0.5", "1_0"), "read_edge_table", "weight must be a number, got '1_0'"),
        ("x.csv", CSV.replace("0.5", "٥"), "read_edge_table", "weight must be a number, got '٥'"),
    ],
)
def test_odd_numbers_and_lines_are_refused(name: str, content: str, read: str, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ReadError, match=what):
        getattr(datasets, read)(tmp_path / name)


def test_names_of_thousands_of_digits_are_names(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"tail,head,weight\n{'1' * 5000},2,3\n")
    assert datasets.read_edge_table(tmp_path / "x.csv").graph.labels == ("1" * 5000, "2")


def test_a_file_without_its_last_newline_still_warns(tmp_path: Path) -> None:
    (tmp_path / "x.gr").write_text(GR[:-1])
    with pytest.warns(RhostarWarning, match="no newline"):
        datasets.read_dimacs(tmp_path / "x.gr")


@pytest.mark.parametrize("name", ["csv", "metr-la", "worlds"])
def test_large_snapshots_lie_in_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written as they are read, and the set that is drawn from them can be saved and sent."""
    TARGETS[name].make(tmp_path)
    made = {
        "csv": lambda: datasets.read_edge_table(tmp_path / "x.csv").sample(9, goal=0),
        "metr-la": lambda: datasets.read_metr_la(tmp_path / "x.npz").sample(9),
        "worlds": lambda: datasets.read_worlds(tmp_path).instances(infeasible="keep"),
    }[name]
    expected = made()
    monkeypatch.setattr("rhostar._files._LARGE", 0)
    found = made()
    assert isinstance(found._stored, np.memmap)
    assert not isinstance(expected._stored, np.memmap)
    assert found.weights.tolist() == expected.weights.tolist()
    assert pickle.loads(pickle.dumps(found)).weights.tolist() == expected.weights.tolist()
    found.save(tmp_path / "saved")
    assert rs.InstanceSet.load(tmp_path / "saved").sources.tolist() == expected.sources.tolist()
