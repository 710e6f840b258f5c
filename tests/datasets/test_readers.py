"""Readers: what is written is read back, in every variant of the format."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar import datasets
from rhostar.datasets import _text_files as text

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
WEIGHT = st.one_of(
    st.integers(0, 2**40).map(float),
    st.floats(0, 1e300, allow_subnormal=True),
    st.sampled_from([0.1, 1e-7, 123456.789]),
)


@st.composite
def edges(draw, weight=WEIGHT):
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex, weight), max_size=30))


def cheapest(arcs) -> dict:
    found: dict = {}
    for u, v, w in arcs:
        if u != v:
            found[u, v] = min(w, found.get((u, v), np.inf))
    return found


def as_dict(network: datasets.Network, row: int = 0) -> dict:
    names = network.graph.labels or range(network.graph.n)
    ends = zip(network.graph.tail.tolist(), network.graph.head.tolist(), strict=True)
    return {
        (names[u], names[v]): w for (u, v), w in zip(ends, network.weights[row].tolist(), strict=True) if w < np.inf
    }


@given(case=edges(), packed=st.booleans(), header=st.sampled_from(["sp ", "0 ", "", "aux sp "]), crlf=st.booleans())
def test_dimacs_round_trip(case, packed, header, crlf, tmp_path_factory) -> None:
    n, arcs = case
    lines = ["c written by a test", "", f"p {header}{n} {len(arcs)}", "c between"]
    lines += [f"a {u + 1}  {v + 1}\t{w!r}" for u, v, w in arcs] + ["c end"]
    content = "".join(line + ("\r\n" if crlf else "\n") for line in lines).encode()
    path = tmp_path_factory.mktemp("gr") / ("x.gr.gz" if packed else "x.gr")
    path.write_bytes(gzip.compress(content) if packed else content)
    network = datasets.read_dimacs(path)
    assert network.graph.n == n
    assert as_dict(network) == cheapest(arcs)
    zero = [line if line[:1] != "a" else f"a {u} {v} {w!r}" for line, (u, v, w) in zip(lines[4:], arcs, strict=False)]
    path = tmp_path_factory.mktemp("gr") / "zero.gr"
    path.write_text("\n".join([lines[2], *zero, ""]))
    assert as_dict(datasets.read_dimacs(path, base=0)) == cheapest(arcs)
    if any(0 in (u, v) for u, v, _ in arcs):
        assert as_dict(datasets.read_dimacs(path)) == cheapest(arcs)


def test_dimacs_coordinates_and_integers(tmp_path: Path) -> None:
    (tmp_path / "x.gr").write_text("p sp 3 2\na 1 2 803\na 3 1 5\n")
    (tmp_path / "x.co").write_text("c here\np aux sp co 3\nv 2 -73 41\nv 1 -74.5 40\nv 3 0 1e1\n")
    network = datasets.read_dimacs(tmp_path / "x.gr", tmp_path / "x.co")
    assert network.graph.coordinates.tolist() == [[-74.5, 40], [-73, 41], [0, 10]]
    assert network.weights.dtype == np.int32
    (tmp_path / "y.gr").write_text(f"p sp 2 1\na 1 2 {2**33}\n")
    assert datasets.read_dimacs(tmp_path / "y.gr").weights.dtype == np.int64
    (tmp_path / "z.gr").write_text("p sp 2 2\na 1 2 3\na 2 1 3.5\n")
    assert datasets.read_dimacs(tmp_path / "z.gr").weights.tolist() == [[3.0, 3.5]]


@given(st.lists(st.one_of(FINITE, st.integers(-(10**25), 10**25), st.decimals(allow_nan=False, allow_infinity=False))))
def test_numbers_are_read_as_python_reads_them(values) -> None:
    """Bit for bit: the parser rounds correctly. It does not round integers."""
    words = [str(value) for value in values]
    words = [f"{word}.0" if word.lstrip("-").isdigit() and abs(int(word)) >= 2**53 else word for word in words]
    from rhostar import _core

    data = "".join(f"{word}\n" for word in words).encode()
    found = _core.scan_records(data, 0, "", "#", "f")
    assert (found.ending.status, found.offset, found.lines) == (_core.Status.DONE, len(data), len(words))
    assert found.columns[0].tolist() == [float(word) for word in words]


@pytest.mark.parametrize(
    "word",
    [
        *("nan", "inf", "-inf", "0x10", "1_000", "1e", "e5", ".", "-", "+", "1.2.3", "--1", "1,5", "١"),
        *(str(2**53), str(2**53 + 1), str(10**400)),
    ],
)
def test_words_that_are_no_numbers(word: str, tmp_path: Path) -> None:
    (tmp_path / "x.gr").write_text(f"p sp 2 1\na 1 2 {word}\n")
    with pytest.raises(rs.errors.ReadError, match="line 2: weight must be a number"):
        datasets.read_dimacs(tmp_path / "x.gr")


def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arcs = [(i % 7 + 1, (3 * i) % 7 + 1, i * 0.5) for i in range(50)]
    (tmp_path / "x.gr").write_text("p sp 7 50\n" + "".join(f"a {u} {v} {w}\n" for u, v, w in arcs))
    expected = as_dict(datasets.read_dimacs(tmp_path / "x.gr"))
    for size in range(1, 60):
        monkeypatch.setattr(text, "_BLOCK", size)
        assert as_dict(datasets.read_dimacs(tmp_path / "x.gr")) == expected
    (tmp_path / "y.gr").write_text((tmp_path / "x.gr").read_text().replace("a 2 4 4.0", "a 2 4 ?"))
    for size in (1, 7, 50, 10_000):
        monkeypatch.setattr(text, "_BLOCK", size)
        with pytest.raises(rs.errors.ReadError, match="line 10: weight must be a number"):
            datasets.read_dimacs(tmp_path / "y.gr")


@given(case=edges(weight=st.floats(0, 1e9)), directed=st.booleans(), shift=st.sampled_from([0, 5]))
def test_node_edge_round_trip(case, directed, shift, tmp_path_factory) -> None:
    n, arcs = case
    folder = tmp_path_factory.mktemp("roads")
    places = [(v * 0.1, -v / 3) for v in range(n)]
    (folder / "n").write_text("".join(f"{v + shift} {x!r} {y!r}\n" for v, (x, y) in enumerate(places)))
    (folder / "e").write_text("".join(f"{i} {u + shift} {v + shift} {w!r}\n" for i, (u, v, w) in enumerate(arcs)))
    network = datasets.read_node_edge(folder / "n", folder / "e", directed=directed)
    both = arcs if directed else arcs + [(v, u, w) for u, v, w in arcs]
    assert as_dict(network) == cheapest([(u + shift, v + shift, w) for u, v, w in both])
    assert [tuple(place) for place in network.graph.coordinates.tolist()] == places
    assert np.array_equal(network.graph.length, network.weights[0])


@given(case=edges(weight=st.floats(0, 1e9)), kind=st.sampled_from([int, str]), data=st.data())
def test_edge_tables_round_trip(case, kind, data, tmp_path_factory) -> None:
    import pandas as pd

    _, arcs = case
    arcs = [(u, v, w) for u, v, w in arcs if u != v]
    if not arcs:
        return
    name = (lambda v: v + 3) if kind is int else (lambda v: f"crossing, {v}")
    when = data.draw(st.lists(st.sampled_from(["mon", "tue", "wed"]), min_size=len(arcs), max_size=len(arcs)))
    frame = pd.DataFrame(
        {
            "w": [w for *_, w in arcs],
            "to": [name(v) for _, v, _ in arcs],
            "from": [name(u) for u, _, _ in arcs],
            "day": when,
        }
    )
    folder = tmp_path_factory.mktemp("tables")
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    columns = {"tail": "from", "head": "to", "weight": "w", "snapshot": "day", "missing": "closed"}
    for network in (
        datasets.read_edge_table(folder / "t.csv", **columns),
        datasets.read_edge_table(folder / "t.parquet", **columns),
        rs.interop.from_pandas(frame, **columns),
    ):
        assert list(network.names) == list(dict.fromkeys(when))
        assert list(network.graph.labels) == sorted({name(x) for u, v, _ in arcs for x in (u, v)})
        for k, day in enumerate(network.names):
            mine = [(name(u), name(v), w) for (u, v, w), d in zip(arcs, when, strict=True) if d == day]
            assert as_dict(network, k) == cheapest(mine)


def test_edge_tables_in_small(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("head,tail,weight\n1,0,2\n0,1,3\n2,1,1\n")
    network = datasets.read_edge_table(tmp_path / "t.csv")
    assert network.graph.labels is None  # 0..n-1 are vertices as they are
    assert as_dict(network) == {(0, 1): 2, (1, 0): 3, (1, 2): 1}
    assert as_dict(datasets.read_edge_table(tmp_path / "t.csv", directed=False)) == {
        (0, 1): 2,
        (1, 0): 2,
        (1, 2): 1,
        (2, 1): 1,
    }
    (tmp_path / "u.csv").write_text("tail,head,weight\n007,7,2\n")
    assert datasets.read_edge_table(tmp_path / "u.csv").graph.labels == ("007", "7")
    (tmp_path / "v.csv.gz").write_bytes(gzip.compress(b"tail,head,weight,snapshot\n10,9,2,1\n9,10,inf,0\n"))
    network = datasets.read_edge_table(tmp_path / "v.csv.gz", missing="closed")
    assert (network.graph.labels, network.names) == ((9, 10), (1, 0))
    assert network.weights.tolist() == [[np.inf, 2], [np.inf, np.inf]]


MAP = "type octile\nheight 3\nwidth 4\nmap\n.GST\n@OWW\n..WW\n"


def test_map_terrain_by_hand(tmp_path: Path) -> None:
    (tmp_path / "x.map").write_text(MAP)
    town = datasets.read_map(tmp_path / "x.map")
    assert town.blocked.astype(int).tolist() == [[0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0]]
    d = np.sqrt(2)
    steps = {(0, 1): 1, (1, 2): 1, (8, 9): 1, (6, 7): 1, (6, 10): 1, (7, 11): 1, (10, 11): 1, (6, 11): d, (7, 10): d}
    assert as_dict(town) == steps | {(v, u): w for (u, v), w in steps.items()}
    flat = datasets.read_map(tmp_path / "x.map", neighbors=4)
    assert as_dict(flat) == {ends: w for ends, w in as_dict(town).items() if w == 1}
    closed = np.zeros((2, 3, 4), dtype=bool)
    closed[1, 1, 2] = True  # the water at (1, 2) freezes: no step to it, none past its corner
    shut = datasets.Network(town.graph, town.closing(closed))
    assert as_dict(shut, 0) == as_dict(town)
    left = {(0, 1): 1, (1, 2): 1, (8, 9): 1, (7, 11): 1, (10, 11): 1}
    assert as_dict(shut, 1) == left | {(v, u): w for (u, v), w in left.items()}


@given(cells=st.lists(st.text(".GSW@OT", min_size=4, max_size=4), min_size=1, max_size=6))
def test_maps_round_trip_and_agree_with_a_plain_reading(cells, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("map") / "x.map"
    path.write_text(f"type octile\nheight {len(cells)}\nwidth 4\nmap\n" + "".join(row + "\n" for row in cells))
    town = datasets.read_map(path)
    assert [bytes(row).decode() for row in town.letters] == cells
    kind = {**dict.fromkeys(".GS", 1), "W": 2, **dict.fromkeys("@OT", 0)}
    expected = {}
    for r in range(len(cells)):
        for c in range(4):
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    if (dr or dc) and 0 <= r + dr < len(cells) and 0 <= c + dc < 4:
                        four = {kind[cells[y][x]] for y in (r, r + dr) for x in (c, c + dc)}
                        if len(four) == 1 and 0 not in four:
                            expected[4 * r + c, 4 * (r + dr) + c + dc] = np.hypot(dr, dc)
    assert as_dict(town) == expected


def test_scenarios(tmp_path: Path) -> None:
    (tmp_path / "x.map").write_text(MAP)
    (tmp_path / "x.scen").write_text("version 1\n3\tmaps/my town.map\t4\t3\t0\t0\t2\t0\t2\n\n")
    scenario = datasets.read_scenario(tmp_path / "x.scen")
    assert (scenario.map_name, scenario.shape, scenario.buckets.tolist()) == ("maps/my town.map", (3, 4), [3])
    instances = datasets.read_map(tmp_path / "x.map").queries(scenario)
    assert rs.astar(*instances[0], np.zeros(12)).cost == scenario.lengths[0] == 2


def test_worlds_from_pictures(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    blocked = rng.random((12, 6, 9)) < 0.2
    blocked[:, -1, 0] = blocked[:, 0, -1] = False
    for k, world in enumerate(blocked):  # numbers, not letters, give the order: 2 before 10
        picture = Image.fromarray(np.where(world, 100, 200).astype(np.uint8))
        (picture.convert("RGB") if k % 2 else picture).save(tmp_path / f"{k}.png")
    (tmp_path / "notes.txt").write_text("not a world")
    worlds = datasets.read_worlds(tmp_path)
    assert np.array_equal(worlds.blocked, blocked)
    assert worlds.names == tuple(f"{k}.png" for k in range(12))
    instances = worlds.instances(infeasible="drop")
    expected = rs.InstanceSet.from_obstacles(instances.graph, blocked, 5 * 9, 8, corner_cutting=True, infeasible="drop")
    assert np.array_equal(instances.weights, expected.weights)
    assert np.array_equal(instances.indices, expected.indices)
    half = worlds.instances(infeasible="drop", dtype=np.float32)
    assert np.array_equal(half.weights, expected.weights.astype(np.float32))
    part = worlds[[3, 1]]
    assert part.names == ("3.png", "1.png")
    assert np.array_equal(part.blocked, blocked[[3, 1]])
    other = worlds[:1].instances((5, 0), (0, 8), infeasible="keep")
    assert (other.sources[0], other.goal) == (45, 8)
