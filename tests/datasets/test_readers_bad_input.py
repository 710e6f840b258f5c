"""Files that are wrong: the error names the file, the line and what was expected, and nothing is half-loaded."""

import gzip
import io
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rhostar as rs
from rhostar import datasets
from rhostar.datasets import _text_files as text
from rhostar.errors import InputError, ReadError, RhostarWarning

GR = "c small\np sp 3 3\na 1 2 803\na 2 3 158\na 3 1 12\n"
CO = "p aux sp co 3\nv 1 10 20\nv 2 11 21\nv 3 12 22\n"
MAP = "type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n"
SCEN = "version 1\n0\tx.map\t3\t2\t0\t0\t2\t0\t4.00000000\n1\tx.map\t3\t2\t0\t1\t2\t1\t2.00000000\n"
NODES = "0 1.5 2.5\n1 3.5 4.5\n2 5.5 6.5\n"
EDGES = "0 0 1 12.5\n1 1 2 30.25\n"
CSV = "tail,head,weight,snapshot\n0,1,12,mon\n1,0,15,mon\n0,1,9,tue\n1,0,8,tue\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, line: int | None, what: str, read: Any, *arguments: Any, **options: Any) -> None:
    with pytest.raises(ReadError) as caught:
        read(*arguments, **options)
    message = str(caught.value)
    assert str(path) in message
    assert what in message, message
    assert caught.value.line == line, message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("p sp 3 3\n", "", 2, "expected the header 'p sp <vertices> <arcs>'"),
        ("p sp 3 3", "p sp 3 4", 2, "declares 4 arcs, the file has 3"),
        ("p sp 3 3", "p sp 3 2", 5, "declares 2 arcs, this is one more"),
        ("p sp 3 3", "p sp 3 x", 2, "expected 'p sp <vertices> <arcs>'"),
        ("p sp 3 3", "p sp 0 3", 2, "at least one vertex"),
        ("p sp 3 3", "p 3", 2, "expected 'p sp <vertices> <arcs>'"),
        ("p sp 3 3", f"p sp {2**31} 3", 2, "below 2**31"),
        ("p sp 3 3", "p sp 3 3\np sp 3 3", 3, "a second header; the first is in line 2"),
        ("a 2 3 158", "a 2 4 158", 4, "vertex must be in 1..3"),
        ("a 2 3 158", "a -1 3 158", 4, "vertex must be in 1..3"),
        ("a 2 3 158", "a 0 3 158", 4, "line 4 has a vertex 0"),
        ("a 2 3 158", "a 2 3 -158", 4, "weight must be finite and non-negative, got -158"),
        ("a 2 3 158", "a 2 3 1e999", 4, "weight must be finite and non-negative, got inf"),
        ("a 2 3 158", "a 2 3", 4, "weight is missing: expected 'a tail head weight'"),
        ("a 2 3 158", "a 2 3 158 7", 4, "nothing more"),
        ("a 2 3 158", "a 2.5 3 158", 4, "tail must be an integer"),
        ("a 2 3 158", "a 2 99999999999999999999 158", 4, "head must be an integer"),
        ("a 2 3 158", "e 2 3 158", 4, "expected a line with the letter c, p, a or v"),
        ("a 2 3 158", "a2 3 158", 4, "expected a line with the letter"),
        ("a 2 3 158", "a 2 3 \xff", 4, "weight must be a number"),
    ],
)
def test_dimacs(old: str, new: str, line: int, what: str, tmp_path: Path) -> None:
    assert old in GR
    path = write(tmp_path, "x.gr", GR.replace(old, new))
    refused(path, line, what, datasets.read_dimacs, path)
    packed = write(tmp_path, "x.gr.gz", gzip.compress(GR.replace(old, new).encode()))
    refused(packed, line, what, datasets.read_dimacs, packed)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("p aux sp co 3\n", "", 1, "expected the header"),
        ("co 3", "co 4", 1, "declares 4 vertices, the graph has 3"),
        ("v 2 11 21", "v 4 11 21", 3, "vertex must be in 1..3, got 4"),
        ("v 2 11 21", "v 1 11 21", 3, "each vertex must have one line"),
        ("v 2 11 21\n", "", None, "vertex 2 has no coordinates"),
        ("v 2 11 21", "v 2 11", 3, "y is missing"),
        ("v 2 11 21", "v 2 11 1e999", 3, "coordinates must be finite"),
    ],
)
def test_dimacs_coordinates(old: str, new: str, line: int | None, what: str, tmp_path: Path) -> None:
    arcs, path = write(tmp_path, "x.gr", GR), write(tmp_path, "x.co", CO.replace(old, new))
    refused(path, line, what, datasets.read_dimacs, arcs, path)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        (".@.\n", ".?.\n", 5, "unknown terrain '?' in column 1"),
        (".@.\n", ".@\n", 5, "expected 3 letters in row 0, got 2"),
        ("...\n", "", 5, "declares 2 rows, the file has 1"),
        ("...\n", "...\n...\n", 7, "declares 2 rows, this is one more"),
        ("height 2\n", "", 3, "expected 'height <rows>'"),
        ("height 2", "height two", 2, "height <rows>"),
        ("height 2", "height 0", 2, "height <rows>"),
        ("height 2", "height 99999999999", 4, "too large"),
        ("map\n.@.\n...\n", "", 3, "ends before the line 'map'"),
        ("...", "..é", 6, "unknown terrain 'é' in column 2"),
    ],
)
def test_maps(old: str, new: str, line: int, what: str, tmp_path: Path) -> None:
    path = write(tmp_path, "x.map", MAP.replace(old, new))
    refused(path, line, what, datasets.read_map, path)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("0\t0\t2\t0\t4.00000000", "0\t0\t2\t0", 2, "expected 'bucket map width height"),
        ("0\t0\t2\t0\t4.00000000", "0\t0\t2\t0\tx", 2, "expected 'bucket map width height"),
        ("0\t0\t2\t0\t4.00000000", "0\t0\t2\t0\t-4", 2, "expected 'bucket map width height"),
        ("0\t0\t2\t0\t4", "0\t0\t3\t0\t4", 2, "the cell x=3, y=0 is outside the map of 3 x 2"),
        ("1\tx.map\t3\t2", "1\tx.map\t4\t2", 3, "expected a map of 3 x 2 as before, got 4 x 2"),
        (SCEN[10:], "", None, "no queries"),
    ],
)
def test_scenarios(old: str, new: str, line: int | None, what: str, tmp_path: Path) -> None:
    assert old in SCEN
    path = write(tmp_path, "x.scen", SCEN.replace(old, new))
    refused(path, line, what, datasets.read_scenario, path)


def test_a_scenario_of_another_map(tmp_path: Path) -> None:
    town = datasets.read_map(write(tmp_path, "x.map", MAP.replace("height 2", "height 1").replace("...\n", "")))
    with pytest.raises(InputError, match=r"\(2, 3\).*the map has \(1, 3\)"):
        town.queries(datasets.read_scenario(write(tmp_path, "x.scen", SCEN)))


@pytest.mark.parametrize(
    ("nodes", "edges", "which", "line", "what"),
    [
        (NODES.replace("1 3.5 4.5", "0 3.5 4.5"), EDGES, "n", 2, "each id must have one line, 0 has two"),
        (NODES.replace("1 3.5 4.5", "1 3.5"), EDGES, "n", 2, "y is missing: expected 'id x y'"),
        (NODES.replace("1 3.5 4.5", "1 3.5 x"), EDGES, "n", 2, "y must be a number"),
        ("", EDGES, "n", None, "no nodes"),
        (NODES, EDGES.replace("1 1 2", "1 1 3"), "e", 2, "must be ids in the file of nodes, got 3"),
        (NODES, EDGES.replace("30.25", "-30.25"), "e", 2, "finite and non-negative, got -30.25"),
        (NODES, EDGES.replace(" 30.25", ""), "e", 2, "length is missing: expected 'id u v length'"),
    ],
)
def test_node_edge(nodes: str, edges: str, which: str, line: int | None, what: str, tmp_path: Path) -> None:
    paths = {"n": write(tmp_path, "n", nodes), "e": write(tmp_path, "e", edges)}
    refused(paths[which], line, what, datasets.read_node_edge, paths["n"], paths["e"])


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("tail,", "from,", 1, "the column 'tail' is missing; the table has from, head, weight, snapshot"),
        (CSV, "", 1, "the table is empty"),
        (CSV, CSV.replace(",", ";"), 1, "separate columns by commas, not by ';'"),
        (CSV, CSV.replace(",", "\t"), 1, r"separate columns by commas, not by '\t'"),
        ("1,0,15,mon", "1,0,-15,mon", 3, "a non-negative number, got '-15'"),
        ("1,0,15,mon", "1,0,nan,mon", None, "1 -> 0 in snapshot 'mon' (line 3)"),
        ("1,0,15,mon", "1,0,,mon", None, "1 -> 0 in snapshot 'mon' (line 3)"),
        ("1,0,15,mon\n", "", None, "1 of 4 weights is missing: 1 -> 0 in snapshot 'mon' (no row); set missing"),
        ("1,0,15,mon", "1,,15,mon", 3, "head is missing"),
        ("1,0,15,mon", "1,0,15,", 3, "snapshot is missing"),
        ("1,0,15,mon", "1,0,15", 3, "expected 4 columns, got 3"),
        ("1,0,15,mon", '1,0,"15,mon', 5, "CSV"),
        ("0,1,12,mon\n1,0,15,mon\n0,1,9,tue\n1,0,8,tue\n", "", None, "the table has no rows"),
    ],
)
def test_csv(old: str, new: str, line: int | None, what: str, tmp_path: Path) -> None:
    assert old in CSV
    path = write(tmp_path, "x.csv", CSV.replace(old, new))
    refused(path, line, what, datasets.read_edge_table, path)


def test_csv_asked_for_another_column(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", CSV)
    refused(path, 1, "the column 'hour' is missing", datasets.read_edge_table, path, snapshot="hour")
    path = write(tmp_path, "y.csv", CSV.encode() + b"\xff,1,2,mon\n")
    with pytest.raises(ReadError, match="UTF-8"):
        datasets.read_edge_table(path)


def test_tables_of_pandas_and_parquet(tmp_path: Path) -> None:
    import pandas as pd

    good = {"tail": [0, 1, 2], "head": [1, 2, 0], "weight": [1.0, 2.0, 3.0]}
    for column, value, what in (
        ("weight", -1.0, "row 1: weight must be a non-negative number"),
        ("weight", np.nan, "1 of 3 weights is missing: 1 -> 2 (row 1)"),
        ("tail", None, "row 1: tail is missing"),
        ("head", 1.5, "row 1: head must be an integer or a string"),
    ):
        frame = pd.DataFrame(good).astype({column: float if value is None or isinstance(value, float) else object})
        frame.loc[1, column] = value
        with pytest.raises(InputError, match=re.escape(what)):
            rs.interop.from_pandas(frame)
        frame.to_parquet(tmp_path / "x.parquet")
        refused(tmp_path / "x.parquet", None, what, datasets.read_edge_table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match="'head' is missing"):
        rs.interop.from_pandas(pd.DataFrame(good).drop(columns="head"))
    with pytest.raises(InputError, match="pandas DataFrame, got dict"):
        rs.interop.from_pandas(good)
    with pytest.raises(InputError, match="all integers or all strings"):
        rs.interop.from_pandas(pd.DataFrame({"tail": ["a"], "head": [1], "weight": [1.0]}))


READERS = {
    "x.gr": (datasets.read_dimacs, GR),
    "x.map": (datasets.read_map, MAP),
    "x.scen": (datasets.read_scenario, SCEN),
    "x.csv": (datasets.read_edge_table, CSV),
}


@pytest.mark.parametrize("name", READERS)
def test_files_that_are_not_what_they_say(name: str, tmp_path: Path) -> None:
    read, content = READERS[name]
    read(write(tmp_path, f"{name}.gz", gzip.compress(content.encode())))
    refused(tmp_path / "none", None, "No such file", read, tmp_path / "none")
    refused(tmp_path, None, "directory", read, tmp_path)
    fake = write(tmp_path, f"fake.{name}.gz", content)
    refused(fake, None, "the name ends with .gz, but the content is not gzip", read, fake)
    packed = gzip.compress(content.encode())
    cut = write(tmp_path, f"cut.{name}.gz", packed[:-5])
    refused(cut, None, "the gzip file is truncated", read, cut)
    broken = write(tmp_path, f"broken.{name}.gz", packed[:12] + bytes(20) + packed[32:])
    with pytest.raises(ReadError):
        read(broken)


@pytest.mark.parametrize("name", READERS)
def test_cut_anywhere_nothing_is_half_loaded(name: str, tmp_path: Path) -> None:
    """A file without counts may end after any whole line: that is another file, not a part of this one."""
    read, content = READERS[name]
    counted = name in ("x.gr", "x.map")
    whole_lines = list(itertools.accumulate(len(line) for line in content.splitlines(keepends=True)))
    loaded = []
    for end in range(len(content)):
        try:
            read(write(tmp_path, f"{end}-{name}", content[:end]))
            loaded.append(end)
        except (ReadError, RhostarWarning):  # a warning is an error in the tests
            continue
    if name == "x.map":
        assert loaded == [len(content) - 1], "the last row is whole without its end"
    else:
        assert loaded == [] if counted else set(loaded) <= set(whole_lines)


@pytest.mark.parametrize("name", READERS)
def test_a_last_line_without_end_is_read(name: str, tmp_path: Path) -> None:
    read, content = READERS[name]
    whole, open_end = write(tmp_path, f"whole-{name}", content), write(tmp_path, f"open-{name}", content.rstrip("\n"))
    if name == "x.map":
        read(open_end)
        return
    with pytest.warns(
        RhostarWarning, match=rf"open-{name}, line {len(content.splitlines())}: the last line has no newline"
    ):
        found = read(open_end)
    assert repr(found) == repr(read(whole))


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_is_passed_over(name: str, tmp_path: Path) -> None:
    read, content = READERS[name]
    marked, plain = write(tmp_path, f"marked-{name}", "\ufeff" + content), write(tmp_path, name, content)
    assert repr(read(marked)) == repr(read(plain))
    with pytest.raises(ReadError):
        read(write(tmp_path, f"twice-{name}", "\ufeff\ufeff" + content))


def test_node_edge_cut_anywhere(tmp_path: Path) -> None:
    for end in range(len(NODES)):
        with pytest.raises((ReadError, RhostarWarning)):
            datasets.read_node_edge(write(tmp_path, "n", NODES[:end]), write(tmp_path, "e", EDGES))
    nodes = write(tmp_path, "n", NODES)
    for end in range(len(EDGES)):
        edges = write(tmp_path, "e", EDGES[:end])
        if end in (0, len("0 0 1 12.5\n")):
            datasets.read_node_edge(nodes, edges)
        else:
            with pytest.raises((ReadError, RhostarWarning)):
                datasets.read_node_edge(nodes, edges)


def test_gzip_cut_anywhere(tmp_path: Path) -> None:
    packed = gzip.compress(GR.encode())
    for end in range(len(packed)):
        with pytest.raises(ReadError):
            datasets.read_dimacs(write(tmp_path, "x.gr.gz", packed[:end]))


def test_a_line_without_end_is_not_collected_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(text, "_BLOCK", 100)
    for name, (read, content) in READERS.items():
        if name != "x.csv":
            path = write(tmp_path, name, content + "9" * 5000 + "\n")
            with pytest.raises(ReadError, match=r"longer than 1000 bytes|one more|expected"):
                read(path)


def picture(size: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", size, 255).save(buffer, "PNG")
    return buffer.getvalue()


def test_worlds(tmp_path: Path) -> None:
    refused(tmp_path / "none", None, "No such file", datasets.read_worlds, tmp_path / "none")
    refused(tmp_path, None, "no .png files", datasets.read_worlds, tmp_path)
    write(tmp_path, "0.png", picture((5, 4)))
    for content, what in (
        (picture((4, 5)), "expected 5 x 4 pixels as before, got 4 x 5"),
        (picture((20000, 1)), "too large; at most 16384 a side"),
        (b"not a picture", "not a picture"),
        (b"", "not a picture"),
    ):
        path = write(tmp_path, "1.png", content)
        refused(path, None, what, datasets.read_worlds, tmp_path)
    path.unlink()
    path.symlink_to("nowhere.png")
    refused(path, None, "cannot be read", datasets.read_worlds, tmp_path)
    path.unlink()
    whole = picture((5, 4))
    end = whole.index(b"IDAT") + 8
    for cut in range(end):
        refused(write(tmp_path, "1.png", whole[:cut]), None, "truncated", datasets.read_worlds, tmp_path)


def test_a_picture_that_claims_to_be_enormous_is_not_unpacked(tmp_path: Path) -> None:
    import struct
    import zlib

    whole = picture((5, 4))
    header = struct.pack(">II", 60_000, 60_000) + whole[24:29]
    claimed = whole[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + whole[33:]
    path = write(tmp_path, "0.png", claimed)
    with pytest.raises(ReadError):
        datasets.read_worlds(path.parent)


def test_worlds_that_are_wrong() -> None:
    worlds = datasets.Worlds(np.zeros((2, 3, 4), dtype=bool))
    with pytest.raises(InputError, match="grid of"):
        worlds.instances(graph=rs.Graph.grid(2, 2))
    with pytest.raises(InputError, match="float64 or float32"):
        worlds.instances(dtype=np.int32)
    with pytest.raises(InputError, match=r"shape \(K, rows, columns\)"):
        datasets.Worlds(np.zeros((3, 4), dtype=bool))
    with pytest.raises(InputError, match="with a slice"):
        worlds[0]


def test_metr_la(tmp_path: Path) -> None:
    good: dict[str, Any] = {
        "speed_mph": np.array([[60, 30], [0, 100]], dtype=np.float32),
        "affinity": np.array([[1, 0.5], [0.4, 1]], dtype=np.float32),
        "latlon": np.array([[34.0, -118.0], [34.1, -118.1]]),
        "sensor_id": np.array(["7", "8"]),
    }
    path = tmp_path / "x.npz"
    np.savez(path, **good)
    network = datasets.read_metr_la(path, speeds=(10, 70), sigma=1000, floor=900)
    forth, back = 900.0, 1000 * np.sqrt(-np.log(np.float64(np.float32(0.4))))
    assert np.allclose(network.graph.length, [forth, back])
    slow = np.array([(1 / 60 + 1 / 30) / 2, (1 / 10 + 1 / 70) / 2]) / 0.44704
    assert np.allclose(network.weights, slow[:, None] * [forth, back])
    assert network.graph.coordinates.tolist() == [[-118.0, 34.0], [-118.1, 34.1]]
    for name, value, what in (
        ("speed_mph", None, "the array 'speed_mph' is missing"),
        ("speed_mph", good["speed_mph"][:, :1], "speed_mph must have shape (2, 2)"),
        ("speed_mph", -good["speed_mph"], "speed_mph[0, 0] is -60.0"),
        ("affinity", good["affinity"] * 2, "affinity[0, 0] is 2.0"),
        ("latlon", good["latlon"] * np.nan, "latlon[0, 0] is nan"),
        ("sensor_id", np.array(["7"]), "sensor_id must have shape (2,)"),
        ("sensor_id", np.array([{}, {}], dtype=object), "expected numbers or strings"),
    ):
        arrays = {key: array for key, array in (good | {name: value}).items() if array is not None}
        np.savez(path, **arrays)
        refused(path, None, what, datasets.read_metr_la, path)
    np.savez(path, **good)
    content = path.read_bytes()
    for end in range(0, len(content), 7):
        with pytest.raises(ReadError):
            datasets.read_metr_la(write(tmp_path, "cut.npz", content[:end]))
    with pytest.raises(ReadError, match="No such file"):
        datasets.read_metr_la(tmp_path / "none.npz")
    for speeds in ((70, 5), (0, 70), (5, np.inf)):
        with pytest.raises(InputError, match="speeds"):
            datasets.read_metr_la(path, speeds=speeds)
