"""The network folder of FleetPy."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ReadError

NODES = "node_index,is_stop_only,pos_x,pos_y\n{}"
EDGES = "from_node,to_node,distance,travel_time,source_edge_id\n{}"
TIMES = "from_node,to_node,edge_tt\n{}"


def folder(tmp_path: Path, nodes: str, edges: str, times: dict[str, str]) -> Path:
    files = {"base/nodes.csv": NODES.format(nodes), "base/edges.csv": EDGES.format(edges)}
    files |= {f"{time}/edges_td_att.csv": TIMES.format(rows) for time, rows in times.items()}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


GOOD = ("7,False,0,0\n8,True,1,0\n9,False,2,0\n", "7,8,10,1,a\n8,9,10,2,b\n9,7,30,3,c\n8,7,10,4,d\n")


def test_times_are_snapshots_in_order(tmp_path: Path) -> None:
    network = rs.interop.from_fleetpy(folder(tmp_path, *GOOD, {"900": "7,8,5\n", "0": "", "10800": "9,7,0.5\n8,9,9\n"}))
    assert network.graph.labels == (7, 8, 9)
    assert network.names == (0.0, 900.0, 10800.0)
    at = network.graph.edge_index([0, 1, 2, 1], [1, 2, 0, 0])
    assert network.weights[:, at].tolist() == [[1, 2, 3, 4], [5, 2, 3, 4], [1, 9, 0.5, 4]]
    assert network.graph.length[at].tolist() == [10, 10, 30, 10]
    np.testing.assert_array_equal(network.graph.coordinates, [[0, 0], [1, 0], [2, 0]])
    router = rs.Router(network.graph)
    router.update(network.weights[1])
    assert router.route(7, 9).cost == 7


def test_without_times_there_is_one_snapshot(tmp_path: Path) -> None:
    network = rs.interop.from_fleetpy(folder(tmp_path, "0,False,0,0\n1,False,1,0\n", "0,1,10,1,a\n", {}))
    assert (network.graph.labels, network.names, network.weights.tolist()) == (None, None, [[1.0]])


@pytest.mark.parametrize(
    ("nodes", "edges", "times", "message"),
    [
        (*GOOD, {"0": "7,9,1\n"}, r"0/edges_td_att.csv, line 2: there is no edge 7 -> 9"),
        (*GOOD, {"0": "7,8,x\n"}, "line 2: from_node, to_node, edge_tt must be numbers"),
        ("7,False,0,0\n7,False,0,0\n", "", {}, r"nodes.csv, line 3: node_index must be a new whole number, got 7"),
        ("7,False,0,nan\n", "", {}, "must be finite"),
        (GOOD[0], "7,5,1,1,a\n", {}, r"edges.csv, line 2: there is no node 5"),
    ],
)
def test_bad_files(tmp_path: Path, nodes: str, edges: str, times: dict[str, str], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        rs.interop.from_fleetpy(folder(tmp_path, nodes, edges, times))
    with pytest.raises(ReadError, match="could not read it"):
        rs.interop.from_fleetpy(tmp_path / "nowhere")
