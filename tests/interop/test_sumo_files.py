"""SUMO's files, by hand: which turns there are, and what they cost. tests/peers tries them against SUMO itself."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, InputError, ReadError

LANE = '<lane id="{0}_{1}" index="{1}" speed="{2}" length="100" shape="0,0 {3},0" {4}/>'


def net(tmp_path: Path, *more: str) -> Path:
    """Return a, b, c in a row, d only for buses; a junction between a and b that is crossed in two steps."""
    lanes = [
        ("a", 0, 10, 1, ""),
        ("b", 0, 20, 2, ""),
        ("c", 0, 5, 3, 'disallow="tram"'),
        ("d", 0, 10, 4, 'allow="bus"'),
    ]
    edges = [f'<edge id="{lane[0]}">{LANE.format(*lane)}</edge>' for lane in lanes]
    inside = [
        f'<edge id=":j_{k}" function="internal"><lane id=":j_{k}_0" index="0" speed="5" length="{size}"/></edge>'
        for k, size in enumerate((10, 20))
    ]
    turns = [
        '<connection from="a" to="b" fromLane="0" toLane="0" via=":j_0_0" dir="l" state="m"/>',
        '<connection from="b" to="c" fromLane="0" toLane="0" dir="s" state="M"/>',
        '<connection from="c" to="a" fromLane="0" toLane="0" via=":k_0_0" dir="t" state="m"/>',
        '<connection from="c" to="d" fromLane="0" toLane="0" dir="s" state="M"/>',
        '<connection from=":j_0" to="b" fromLane="0" toLane="0" via=":j_1_0" dir="l" state="m"/>',
        *more,
    ]
    path = tmp_path / "net.xml"
    path.write_text(f"<net>{''.join([*inside, *edges, *turns])}</net>")
    return path


def test_turns_and_their_costs(tmp_path: Path) -> None:
    network = rs.interop.from_sumo(net(tmp_path))
    graph = network.graph
    assert graph.labels == ("a", "b", "c")
    assert network.edge_names == ("a", "b", "c", "d")
    assert network.edge_times.tolist() == [[10, 5, 20]]
    cost = {pair: network.weights[0][graph.edge_index(*pair)[0]] for pair in ((0, 1), (1, 2), (2, 0))}
    assert cost == {(0, 1): 5 + 2 + 4 + 2 * 1.5, (1, 2): 20, (2, 0): 10 + 5}
    assert graph.m == 3
    buses = rs.interop.from_sumo(net(tmp_path), vehicle_class="bus", minor_penalty=0, turnaround_penalty=0)
    assert buses.graph.labels == ("a", "b", "c", "d")
    assert buses.turn_times.max() == 6


def test_intervals_are_snapshots_and_files_are_days(tmp_path: Path) -> None:
    days = []
    for day in range(2):
        days.append(tmp_path / f"day{day}.xml")
        days[-1].write_text(
            '<meandata><interval begin="0.00" end="300"><edge id="a" traveltime="50"/><edge id="b" sampledSeconds="0"/>'
            '<edge id="c" traveltime="1"/></interval><interval begin="300" end="600">'
            f'<edge id="b" traveltime="{60 + day}"/>'
            '<edge id="d" traveltime="9"/></interval></meandata>'
        )
    network = rs.interop.from_sumo(net(tmp_path), days)
    assert network.edge_times.tolist() == [[50, 5, 20], [10, 60, 20], [50, 5, 20], [10, 61, 20]]
    assert network.days.tolist() == [0, 0, 1, 1]
    assert network.names == ((0, 0.0), (0, 300.0), (1, 0.0), (1, 300.0))
    one = rs.interop.from_sumo(net(tmp_path), days[0])
    assert (one.names, one.days) == ((0.0, 300.0), None)
    assert one.weights[1, one.graph.edge_index(0, 1)[0]] == 60 + 2 + 4 + 3


def test_landmarks_are_what_lies_between(tmp_path: Path) -> None:
    network = rs.interop.from_sumo(net(tmp_path))
    path = rs.interop.sumo.write_landmarks(tmp_path / "table.txt", network, network.edge_times[0], landmarks=2)
    *names, first, second, third, other = path.read_text().splitlines()
    assert other == "d -1 -1 -1 -1"
    table = {row.split()[0]: [float(x) for x in row.split()[1:]] for row in (first, second, third)}
    # a -> b -> c -> a: the turns cost 9, 0 and 5, the edges 10, 5 and 20
    turn, edge, ring = {"a": 9, "b": 0, "c": 5}, {"a": 10, "b": 5, "c": 20}, "abc"

    def between(start: str, end: str) -> float:
        if start == end:
            return 0.0
        total, at = float(turn[start]), ring[(ring.index(start) + 1) % 3]
        while at != end:
            total += edge[at] + turn[at]
            at = ring[(ring.index(at) + 1) % 3]
        return total

    for k, landmark in enumerate(names):
        for one in ring:
            assert table[one][2 * k : 2 * k + 2] == [between(landmark, one), between(one, landmark)]


def test_bad_files(tmp_path: Path) -> None:
    empty = tmp_path / "empty.xml"
    empty.write_text("<net></net>")
    with pytest.raises(ReadError, match="no edges, or no connections, for vehicles of class ship"):
        rs.interop.from_sumo(empty, vehicle_class="ship")
    with pytest.raises(ReadError, match="no intervals"):
        rs.interop.from_sumo(net(tmp_path), empty)
    empty.write_text("<net>")
    with pytest.raises(ReadError, match="this is not XML"):
        rs.interop.from_sumo(empty)
    with pytest.raises(InputError, match="could not read"):
        rs.interop.from_sumo(tmp_path / "nothing.xml")
    network = rs.interop.from_sumo(net(tmp_path))
    with pytest.raises(ArrayError, match="one time of at least 0 for each of the 3 edges"):
        rs.interop.sumo.write_landmarks(tmp_path / "x", network, np.ones(2))
    with pytest.raises(InputError, match="minor_penalty must be"):
        rs.interop.from_sumo(net(tmp_path), minor_penalty=-1)
