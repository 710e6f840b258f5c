"""The command audit."""

from pathlib import Path

import pytest

import rhostar as rs
from support.commands import answer, run


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    rs.datasets.city(150, seed=1).draw(500, seed=0).save(tmp_path / "trips")
    return tmp_path / "trips"


def test_a_distance(capsys: pytest.CaptureFixture[str], trips: Path, tmp_path: Path) -> None:
    words = ("audit", trips, "--distance", "euclidean", "--factor", 2.5)
    found = answer(capsys, *words)
    instances = rs.InstanceSet.load(trips)
    expected = rs.audit(rs.heuristics.euclidean(instances.graph).scaled(2.5), instances)
    assert found["sentences"] == list(expected.sentences)
    page = tmp_path / "audit.html"
    code, out, err = run(capsys, *words, "--mean-excess", "1%", "-o", page)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "has a mean loss of at most 1%" in " ".join(out.split())
    assert page.stat().st_size > 20_000
    assert run(capsys, *words, "-o", page)[0] == 2, "it exists already"
    tight = answer(capsys, *words, "--limit", "50%", "--confidence", 0.99)
    assert (tight["limit"], tight["confidence"]) == (0.5, 0.99)


def test_a_model(capsys: pytest.CaptureFixture[str], trips: Path, tmp_path: Path) -> None:
    assert run(capsys, "learn", trips, "-o", tmp_path / "model.npz", "--fraction", 0.5)[0] == 0
    found = answer(capsys, "audit", trips, "-m", tmp_path / "model.npz")
    assert found["queries"] == 250, "those that it was not learned from"
    assert found["statements"][1]["measured"] == 0


def test_a_log(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("factor,cost,optimum\n" + "1.2,10,10\n" * 400 + "1.8,11,10\n" * 400)
    found = answer(capsys, "audit", log, "--mean-excess", "2%", "--anytime")
    assert found["weight"]["factor"] == 1.2
    assert found["factor"] == 1.8, "without a row for 1, the largest"
    code, out, _ = run(capsys, "audit", log, "-o", tmp_path / "audit.html")
    assert code == 0
    assert "at every size of a log that grows" not in out
    for words in ((log, "--factor", 2), (log, "--distance", "octile"), (log, "--mean-excess", "x"), (tmp_path,)):
        assert run(capsys, "audit", *words)[0] == 2
    log.write_text("estimate,optimum\n1,2\n3,2\n")
    assert run(capsys, "audit", log, "-o", tmp_path / "two.html")[0] == 0
    code, _, err = run(capsys, "audit", log, "--mean-excess", "1%")
    assert (code, "needs a log with the column cost" in err) == (2, True)
