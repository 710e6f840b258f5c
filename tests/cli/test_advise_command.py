"""The command advise."""

import json
from pathlib import Path

import pytest

import rhostar as rs
from rhostar.cli.main import main
from support.commands import answer, run


def test_advise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    instances = rs.datasets.city(100, seed=1).draw(20, seed=0)
    instances.save(tmp_path / "set")
    assert main(["advise", str(tmp_path / "set"), "--queries", "1000000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    guarantees = {option["name"]: option["guarantee"] for option in found["options"]}
    assert "exact" in guarantees[found["best"]]
    assert len(found["options"]) >= 5
    assert main(["advise", str(tmp_path / "set"), "-q", "1", "--mean-excess", "10%"]) == 0
    assert "\nUse " in capsys.readouterr().out
    assert main(["advise", str(tmp_path / "set"), "-q", "100", "--goals", "100"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("100 queries per update, to 100 different goals\n")
    assert len(out.splitlines()) < 24  # a screen
    assert main(["advise", str(tmp_path / "set"), "-q", "0"]) == 2
    assert "queries must be a number above 0" in capsys.readouterr().err


def test_bounds_on_the_weights(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    city = rs.datasets.city(150, seed=1)
    graph, drawn = city.graph, city.draw(60, seed=0)
    drawn.save(tmp_path / "set")
    ends = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    least = city.edge_bounds[0].tolist()
    lines = [f"{t},{h},{w!r}" for (t, h), w in zip(ends, least, strict=True)]
    (tmp_path / "free.csv").write_text("tail,head,weight\n" + "\n".join(lines[:-2]) + "\n")
    words = ("advise", tmp_path / "set", "-q", 5, "--weight-bounds")
    found = answer(capsys, *words, tmp_path / "free.csv")
    options = {option["name"]: option for option in found["options"]}
    mine = options["A*, lower envelope"]
    assert mine["guarantee"] == "exact; slower where weights fall below the bounds given"
    assert mine["excess"] == 0
    assert options["A*, landmarks"]["guarantee"] == "exact; slower where weights fall below the lowest seen"
    assert found["edges_without_a_bound"] == f"2 of {graph.m:,}, taken as 0"
    code, out, err = run(capsys, *words, tmp_path / "free.csv")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert f"edges without a bound: 2 of {graph.m:,}, taken as 0" in out
    assert "bounds given" in out
    for plain in (("from-data",), ()):
        given = words if plain else words[:-1]
        assert "bounds given" not in run(capsys, *given, *plain)[1]
    code, _, err = run(capsys, *words, "1000,2000")
    assert (code, "edges have training weights below lower" in err) == (2, True)


def test_the_bounds_are_used() -> None:
    instances = rs.datasets.city(200, seed=1).draw(60, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        used = []
        usual = rs.learners.LowerEnvelope.fit
        patch.setattr(rs.learners.LowerEnvelope, "fit", lambda self, part: used.append(self.lower) or usual(self, part))
        rs.advise(instances, 5, lower=0.001)
        rs.advise(instances, 5)
    assert used[0] == 0.001
    assert used[1] is None
