"""The command advise."""

import json
from pathlib import Path

import pytest

import rhostar as rs
from rhostar.cli.main import main


def test_advise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    instances = rs.datasets.city(100, seed=1).draw(20, seed=0)
    instances.save(tmp_path / "set")
    assert main(["advise", str(tmp_path / "set"), "--queries", "1000000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    promises = {option["name"]: option["promise"] for option in found["options"]}
    assert "exact" in promises[found["best"]]
    assert len(found["options"]) >= 5
    assert main(["advise", str(tmp_path / "set"), "-q", "1", "--tolerance", "0.1"]) == 0
    assert "times as fast as Dijkstra" in capsys.readouterr().out
    assert main(["advise", str(tmp_path / "set"), "-q", "0"]) == 2
    assert "queries must be a number above 0" in capsys.readouterr().err
