"""What the package's own page promises: three lines from a file to a set of instances, whatever the format."""

import itertools
import re
from pathlib import Path

import networkx as nx
import pytest

import rhostar as rs
from support.real_data import FOLDER, needs_data

BLOCKS = [
    block for block in re.split(r"\n\s*\n", rs.datasets.__doc__ or "") if re.match(r"    \w", block) and " = " in block
]


def test_there_is_a_block_for_every_format() -> None:
    text = "\n".join(BLOCKS)
    readers = [name for name in rs.datasets.__all__ if name.startswith("read_")]
    readers.remove("read_snapshot")  # one more row of weights for a graph that was read
    assert [name for name in readers if name not in text] == []
    assert len(BLOCKS) == 8
    assert {len(block.splitlines()) for block in BLOCKS} == {3}


@needs_data
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: re.findall(r"(?:datasets|interop)\.(\w+)", block)[0])
def test_three_lines(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in itertools.chain(*((FOLDER / part).iterdir() for part in ("roads", "movingai", "metr_la"))):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "forest").mkdir()
    (tmp_path / "forest" / "train").symlink_to(FOLDER / "worlds" / "forest" / "test")
    (tmp_path / "times.csv").write_text(
        "tail,head,weight,snapshot\nhome,work,12,mon\nhome,work,15,tue\nshop,work,3,tue\nshop,work,3,mon\n"
    )
    streets = nx.MultiDiGraph([(53137, 53138, {"travel_time": 4.5}), (53138, 53137, {"travel_time": 5.5})])
    monkeypatch.chdir(tmp_path)
    names = {"rs": rs, "streets": streets}
    exec(block.replace("\n    ", "\n").strip(), names)
    sets = [value for value in names.values() if isinstance(value, rs.InstanceSet)]
    assert sets
    for instances in sets:
        assert len(instances) > 10
        assert rs.astar(*instances[0], [0.0] * instances.graph.n).status == "solved"
