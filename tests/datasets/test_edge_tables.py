"""Edge tables: missing measurements, time stamps as snapshots, what was merged, and CSV files."""

import csv
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar import datasets
from rhostar.datasets import _edge_table as edge_files
from rhostar.errors import InputError, ReadError, RhostarWarning
from rhostar.instances import _edge_rows as edge_rows
from rhostar.instances._columns import columns
from rhostar.instances._row_types import check_types

inf = np.inf
GAPS = """tail,head,weight,snapshot
a,b,1,mon
b,a,,mon
a,b,,tue
b,a,4,tue
a,b,8,wed
b,a,6,wed
a,c,inf,wed
a,c,5,tue
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    path.write_text(GAPS)
    return path


# ---------------------------------------------------------------- missing measurements


def test_missing_weights_are_named_and_counted(table: Path) -> None:
    with pytest.raises(ReadError) as caught:
        datasets.read_edge_table(table)
    assert str(caught.value) == (
        f"{table}: 3 of 9 weights are missing: 'a' -> 'c' in snapshot 'mon' (no row), 'b' -> 'a' in snapshot 'mon' "
        "(line 3), 'a' -> 'b' in snapshot 'tue' (line 4); set missing (--missing) to closed (no way through), "
        "last (the snapshot before) or median (of the edge)"
    )
    table.write_text(GAPS.replace("b,a,4,tue", "b,a,NaN,tue").replace("b,a,6,wed", "b,a,NA,wed"))
    with pytest.raises(ReadError, match=r"5 of 9 weights are missing: .* and 2 more; set missing"):
        datasets.read_edge_table(table)
    with pytest.raises(InputError, match="missing must be one of error, closed, last, median, got 'zero'"):
        datasets.read_edge_table(table, missing="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("closed", [[1, inf, inf], [inf, 5, 4], [8, inf, 6]]),
        ("last", [[1, 5, 4], [1, 5, 4], [8, inf, 6]]),
        ("median", [[1, inf, 5], [4.5, 5, 4], [8, inf, 6]]),
    ],
)
def test_missing_weights_are_filled_in(table: Path, missing: str, expected: list[list[float]]) -> None:
    import pandas as pd

    frame = pd.read_csv(table)
    for network in (
        datasets.read_edge_table(table, missing=missing),
        rs.interop.from_pandas(frame, missing=missing),
    ):
        assert network.names == ("mon", "tue", "wed")
        assert network.weights.tolist() == expected
        assert (network.reading.missing, network.reading.policy) == (3, missing)


@given(
    cells=st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=2, max_size=40),
    snapshots=st.integers(1, 4),
    missing=st.sampled_from(["closed", "last", "median"]),
)
def test_filling_in_follows_its_definition(cells, snapshots, missing, tmp_path_factory) -> None:
    edges = len(cells) // snapshots
    if not edges:
        return
    values = np.array([np.nan if cell is None else cell for cell in cells[: edges * snapshots]]).reshape(-1, edges)
    lines = [f"0,{e + 1},{'' if np.isnan(w) else repr(float(w))},{k}" for (k, e), w in np.ndenumerate(values)]
    path = tmp_path_factory.mktemp("gaps") / "x.csv"
    path.write_text("tail,head,weight,snapshot\n" + "\n".join(lines) + "\n")
    if missing != "closed" and np.isnan(values).all(axis=0).any():
        with pytest.raises(ReadError, match="has no weight in any snapshot"):
            datasets.read_edge_table(path, missing=missing)
        return
    expected = values.copy()
    for k, e in zip(*np.nonzero(np.isnan(values)), strict=True):
        known = [j for j in range(len(values)) if not np.isnan(values[j, e])]
        if missing == "closed":
            expected[k, e] = inf
        elif missing == "median":
            expected[k, e] = np.median(values[known, e])
        else:
            expected[k, e] = values[max((j for j in known if j < k), default=known[0]), e]
    assert np.array_equal(datasets.read_edge_table(path, missing=missing).weights, expected)


def test_one_row_without_a_weight_beside_another_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("tail,head,weight\na,b,\na,b,3\n")
    assert datasets.read_edge_table(tmp_path / "x.csv").weights.tolist() == [[3]]
    (tmp_path / "x.csv").write_text("tail,head,weight\na,b,\n")
    with pytest.raises(ReadError, match=re.escape("1 of 1 weights is missing: 'a' -> 'b' (line 2)")):
        datasets.read_edge_table(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("tail,head,weight\nb,a,\n")
    with pytest.raises(ReadError, match=re.escape("'a' -> 'b' (line 2), 'b' -> 'a' (line 2)")):
        datasets.read_edge_table(tmp_path / "x.csv", directed=False)


def test_pandas_has_missing_values_of_its_own() -> None:
    import pandas as pd

    frame = pd.DataFrame({"tail": [0, 0], "head": [1, 1], "weight": [2, 3], "snapshot": ["x", "y"]})
    frame["weight"] = frame["weight"].astype("Int64")
    frame.loc[1, "weight"] = pd.NA
    assert rs.interop.from_pandas(frame, missing="last").weights.tolist() == [[2], [2]]
    for nothing in (None, np.nan, pd.NA, pd.NaT):
        frame["snapshot"] = pd.Series(["x", nothing], dtype=object)
        with pytest.raises(InputError, match="row 1: snapshot is missing"):
            rs.interop.from_pandas(frame)


# ---------------------------------------------------------------- what was dropped and merged


def test_loops_and_parallels_are_counted(tmp_path: Path) -> None:
    rows = "a,b,3,{k}\na,b,2,{k}\na,b,4,{k}\nb,b,1,{k}\nb,a,1,{k}\n"
    (tmp_path / "x.csv").write_text("tail,head,weight,snapshot\n" + rows.format(k=0) + rows.format(k=1))
    network = datasets.read_edge_table(tmp_path / "x.csv")
    assert network.weights.tolist() == [[2, 1], [2, 1]]
    assert (network.reading.loops, network.reading.parallels, network.reading.missing) == (1, 2, 0)
    (tmp_path / "x.gr").write_text("p sp 3 5\na 1 2 7\na 1 2 5\na 2 2 1\na 2 3 1\na 3 1 1\n")
    reading = datasets.read_dimacs(tmp_path / "x.gr").reading
    assert (reading.loops, reading.parallels, reading.policy) == (1, 1, None)
    assert datasets.Network(rs.Graph.grid(2, 2), np.ones(8)).reading == datasets.Reading()


# ---------------------------------------------------------------- time stamps


def test_time_stamps_are_snapshots_in_order_with_days(tmp_path: Path) -> None:
    stamps = ["2024-05-03 08:00", "2024-05-01T23:30", "2024-05-02", "2024-05-01T07:15:30"]
    lines = "".join(f"a,b,{k + 1},{stamp}\n" for k, stamp in enumerate(stamps))
    path = tmp_path / "x.csv"
    path.write_text("tail,head,weight,time\n" + lines)
    network = datasets.read_edge_table(path, snapshot="time")
    assert network.names == tuple(stamps[k] for k in (3, 1, 2, 0))
    assert network.weights.ravel().tolist() == [4, 2, 3, 1]
    assert network.days.tolist() == [0, 0, 1, 2]
    instances = network.instances(0, 1)
    earlier, later = datasets.split_by_day(instances)
    assert (earlier.indices.tolist(), later.indices.tolist()) == ([0, 1, 2], [3])
    # Zones order by time, and days are those written.
    path.write_text("tail,head,weight,time\na,b,1,2024-05-02T00:30+02:00\na,b,2,2024-05-01T22:00+00:00\n")
    network = datasets.read_edge_table(path, snapshot="time")
    assert (network.weights.ravel().tolist(), network.days.tolist()) == ([2, 1], [0, 1])


@pytest.mark.parametrize("names", [("monday", "day"), ("20240502", "20240501"), ("2024-13-02", "x")])
def test_other_names_keep_their_order(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / "x.csv").write_text(f"tail,head,weight,snapshot\na,b,1,{names[0]}\na,b,2,{names[1]}\n")
    network = datasets.read_edge_table(tmp_path / "x.csv")
    assert tuple(map(str, network.names)) == names
    assert network.days is None


@pytest.mark.parametrize("odd", ["2024-05-O3 08:00", "day", "2024-13-02", "2024-05-03T08:00Z", "7"])
def test_a_malformed_time_stamp_is_no_snapshot(tmp_path: Path, odd: str) -> None:
    rows = [("2024-05-01", 1), ("2024-05-02", 2), (odd, 3), ("2024-05-04", 4), (odd, 5)]
    path = tmp_path / "x.csv"
    path.write_text("tail,head,weight,time\n" + "".join(f"a,b,{weight},{when}\n" for when, weight in rows))
    what = f"line 4: snapshots must be all time stamps or none, got '{odd}' and '2024-05-01'"
    for missing in ("error", "last"):
        with pytest.raises(ReadError, match=re.escape(what)):
            datasets.read_edge_table(path, snapshot="time", missing=missing)


def test_several_times_are_not_merged_into_one(tmp_path: Path) -> None:
    """The minimum over a day is the time of no moment."""
    graph = rs.Graph.from_edges(2, [0, 1], [1, 0], labels=["a", "b"])
    path = tmp_path / "today.csv"
    for column in ("time", "Timestamp", "snapshot", "hour"):
        path.write_text(f"tail,head,weight,{column}\na,b,5,07:00\nb,a,6,07:00\na,b,9,08:00\nb,a,8,08:00\n")
        with pytest.raises(ReadError, match="expected one snapshot, got 2: 07:00, 08:00; say which with time"):
            datasets.read_snapshot(path, graph)
        # Each edge once, measured at different times: today's weights.
        path.write_text(f"tail,head,weight,{column}\na,b,5,07:00\nb,a,6,07:01\n")
        assert datasets.read_snapshot(path, graph).tolist() == [5, 6]
    # Without a column that says the time, rows for the same edge are parallel edges.
    path.write_text("tail,head,weight,lane\na,b,5,1\na,b,4,2\nb,a,6,1\n")
    assert datasets.read_snapshot(path, graph).tolist() == [4, 6]


def test_a_file_in_another_encoding_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for before in (0, 1, 5000):
        path.write_bytes(
            b"tail,head,weight\n" + b"a,b,1\n" * before + "München,b,1\n".encode("latin-1") + b"a,b,1\n" * 9
        )
        with pytest.raises(ReadError, match=f"line {before + 2}: the line is not UTF-8 text"):
            datasets.read_edge_table(path)


def test_times_of_pandas_and_parquet(tmp_path: Path) -> None:
    import pandas as pd

    when = pd.to_datetime(["2024-05-02 10:00", "2024-05-01 09:00"])
    frame = pd.DataFrame({"tail": "a", "head": "b", "weight": [1.0, 2.0], "snapshot": when})
    frame.to_parquet(tmp_path / "x.parquet")
    for network in (rs.interop.from_pandas(frame), datasets.read_edge_table(tmp_path / "x.parquet")):
        assert (network.weights.ravel().tolist(), network.days.tolist()) == ([2, 1], [0, 1])


# ---------------------------------------------------------------- what a newcomer reads


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the table is empty"),
        ("tail;head;weight\na;b;1,5\n", "separate columns by commas, not by ';', and write decimals with a point"),
        ("tail,head,weight\na,b,1,5\n", "line 2: expected 3 columns, got 4; is there a comma in a value, such as 1,5?"),
        ('tail,head,weight\na,b,"1,5"\n', "line 2: weight must be a number, got '1,5'; write decimals with a point"),
        ("a,b,1.5\n", "the table has a, b, 1.5; is the first line, with the names of the columns, missing?"),
        ("Tail,Head,travel_time_s,time\n", r"--columns tail=Tail,head=Head,weight=travel_time_s\)"),
        ("tail,head,weight,date,time\n", "date and time may all say which.*into one, or say which.*snapshot=date"),
    ],
)
def test_an_error_says_what_to_do(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ReadError, match=words):
        datasets.read_edge_table(path)


def test_a_column_for_the_time_needs_no_name(tmp_path: Path) -> None:
    """The minimum over a day is the time of no moment."""
    path = tmp_path / "x.csv"
    rows = "".join(f"a,b,{k},2026-03-0{k} 08:00\nb,a,{k},2026-03-0{k} 08:00\n" for k in (1, 2, 3))
    for name in ("time", "Date", "snapshot", "hour"):
        path.write_text(f"tail,head,weight,{name}\n{rows}")
        assert datasets.read_edge_table(path).weights.tolist() == [[1, 1], [2, 2], [3, 3]]
    path.write_text(f"tail,head,weight,ts\n{rows}")
    with pytest.warns(
        RhostarWarning, match="3 rows for each edge and snapshot, of which the cheapest counts.*snapshot="
    ):
        assert datasets.read_edge_table(path).weights.tolist() == [[1, 1]]


def test_spaces_around_commas_are_not_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("tail, head, weight, time\na, b, 1, 2026-03-01\nb, a, 2, 2026-03-01\n")
    network = datasets.read_edge_table(path)
    assert (network.graph.labels, network.names) == (("a", "b"), ("2026-03-01",))


def test_dates_in_another_form_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("tail,head,weight,day\na,b,1,02.03.2026\na,b,2,01.04.2026\n")
    with pytest.warns(RhostarWarning, match="such as '02.03.2026' are not ISO time stamps.*days are not known"):
        assert datasets.read_edge_table(path).days is None


def test_missing_weights_are_reported_before_all_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_rows, "_EARLY", 3)
    monkeypatch.setattr(edge_files, "_BLOCK", 60)
    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    whole = "".join(f"v{k},v{k + 1},1,mon\n" for k in range(40))
    path.write_text("tail,head,weight,snapshot\na,b,1,mon\nb,a,,mon\n" + whole)
    other.write_text("not read")
    with pytest.raises(
        ReadError, match=r"1 of the first \d+ weights is missing: 'b' -> 'a' in snapshot 'mon' \(.*line 3"
    ):
        datasets.read_edge_table([path, other])
    # The same street has a weight in another row: nothing is missing.
    path.write_text("tail,head,weight,snapshot\nb,a,2,mon\nb,a,,mon\n" + whole)
    assert datasets.read_edge_table(path).reading.missing == 0
    path.write_text("tail,head,weight,snapshot\nb,a,,mon\n" + whole)
    assert datasets.read_edge_table(path, missing="closed").reading.missing == 1


# ---------------------------------------------------------------- CSV


def _by_python(path: Path) -> Iterator[edge_rows.EdgeRows]:
    """Read a table with Python's own reader, as a reference."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True)
        names = [name.strip() for name in next(reader, [])]
        found = columns(path, 1, names, ("tail", "head", "weight"), None)
        for row in reader:
            if row and len(row) != len(names):
                more = "; is there a comma in a value, such as 1,5?" if len(row) > len(names) else ""
                raise ReadError(path, reader.line_num, f"expected {len(names)} columns, got {len(row)}{more}")
            if row:
                yield check_types(path, [[row[k].strip() or row[k]] for k in found], [reader.line_num].__getitem__)


def _both(path: Path, missing: str = "error") -> list[object]:
    """Read a file by each reader, and return what they found, or the error."""
    found: list[object] = []
    for read in (
        lambda: datasets.read_edge_table(path, missing=missing),
        lambda: edge_rows.assemble(_by_python(path), directed=True, path=path, textual=True, missing=missing),
    ):
        try:
            network = read()
            days = None if network.days is None else network.days.tolist()
            found.append((network.graph.fingerprint, network.names, network.weights.tolist(), days, network.reading))
        except (ReadError, csv.Error, UnicodeDecodeError) as error:
            found.append(str(error))
    return found


_word = st.text(st.sampled_from('ab1 0,"\n-é'), max_size=4)
_cell = st.one_of(
    st.floats(-1, 100).map(repr),
    st.integers(0, 9).map(str),
    st.sampled_from(["", "nan", "NaN", "NA", "inf", "+1", "1_0", " 2 ", "x", "1e3", "none", "Infinity", "-inf", "٥"]),
)


@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")
@given(
    rows=st.lists(
        st.tuples(st.one_of(st.integers(0, 3).map(str), _word), st.integers(0, 3).map(str), _cell, _word), max_size=9
    ),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    cut=st.integers(0, 3),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    block=st.integers(40, 400),
    missing=st.sampled_from(["error", "closed"]),
)
def test_tables_are_read_as_python_reads_them(rows, ends, cut, quoting, block, missing, tmp_path_factory) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=ends, quoting=quoting)
    writer.writerow(["tail", "head", "weight", "snapshot"])
    writer.writerows(rows)
    text = stream.getvalue()
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(text[: len(text) - cut].encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_files, "_BLOCK", block)
        found, expected = _both(path, missing)
    assert isinstance(found, str) == isinstance(expected, str), (found, expected)
    assert isinstance(found, str) or found == expected


@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")
@pytest.mark.parametrize(
    "text",
    [
        'tail,head,weight\n"a"z,b,1\n',  # a strict reader refuses it
        'tail,head,weight\na"z,b,1\n',
        'tail,head,weight\na,b,"1\n',
        '"tail","head","weight"\n"a, b","b\nc",1\n',
        '"tail","head","weight"\n"a ""b""","b\r\nc",1\n',
        "\ufefftail, head ,weight\na,b,1\n",
        "tail,head,weight,weight\na,b,1,2\n",
        "tail,head,weight\ra,b,1\r",
        "tail,head,weight\n",
        "tail,head\n",
        "",
        "\n",
        "tail,head,weight\na,b\n",
        "tail,head,weight\na,b,1\n\nb,a,2,3\n",
        "tail,head,weight\na,b,1\n , ,2\n",
        "tail,head,weight\na,b,1\n,a,2\n",
        "tail,head,weight\na,b,x\n",
        "tail,head,weight\na,b,-1\n",
        "tail,head,weight,snapshot\na,b,1,\n",
    ],
)
def test_unusual_files_are_read_alike(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for data in (text.encode(), text.encode().replace(b"a", b"\xff")):
        path.write_bytes(data)
        found, expected = _both(path)
        assert isinstance(found, str) == isinstance(expected, str), (found, expected)
        if str(expected).startswith(str(path)):  # otherwise it is Python's own, without the line
            assert found == expected


def test_a_large_table_is_read_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{u},{v},{w:.3f},2024-05-{1 + k // 24:02}T{k % 24:02}:00"
        for k in range(48)
        for u, v, w in zip(range(50), rng.permutation(50), rng.uniform(1, 9, 50), strict=True)
    ]
    path = tmp_path / "x.csv"
    path.write_text("tail,head,weight,snapshot\n" + "\n".join(lines) + "\n")
    expected, reference = _both(path, missing="closed")
    assert expected == reference
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert datasets.read_edge_table(packed, missing="closed").weights.tolist() == expected[2]


def test_numbers_that_would_be_rounded_or_closed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for word in (str(2**53), str(2**53 + 1), "1e999"):
        path.write_text(f"tail,head,weight\na,b,{word}\n")
        with pytest.raises(ReadError, match=f"line 2: weight must be a number, got '{word}'"):
            datasets.read_edge_table(path)
    path.write_text(f"tail,head,weight\na,b,{2**53 - 1}\nb,a,1e300\n")
    assert datasets.read_edge_table(path).weights.tolist() == [[2**53 - 1, 1e300]]


def test_places_are_right_behind_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text, line in (("tail,head,weight\na,b,1\nb,a,\n", 3), ("tail,head,weight\na,b,1\n\n\nb,a,\n", 5)):
        path.write_text(text)
        for found in _both(path):
            assert f"'b' -> 'a' (line {line})" in str(found)
    path.write_text("tail,head,weight\na,b,1")
    with pytest.warns(RhostarWarning, match="line 2: the last line has no newline"):
        datasets.read_edge_table(path)
