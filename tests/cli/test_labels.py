"""Goals and vertices are called by the labels that the user gave them."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, run


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A set of trips between named crossings, and a model that promises optimal answers."""
    drawn = rs.datasets.city(300, seed=2).draw(120, seed=0)
    graph = rs.Graph.from_edges(
        drawn.graph.n, drawn.graph.tail, drawn.graph.head, labels=[f"x{v}" for v in range(drawn.graph.n)]
    )
    trips = rs.InstanceSet(graph, drawn.weights, drawn.sources, drawn.goal, rows=drawn.rows)
    trips.save(tmp_path / "trips")
    rs.Model.of(rs.learn(trips), graph).save(tmp_path / "exact.npz")
    return tmp_path


def test_info_names_goals_as_the_user_does(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    assert answer(capsys, "info", city / "exact.npz")["goals"] == [f"x{trips.goal}"]
    assert f"goal {trips.goal} ('x{trips.goal}')" in repr(rs.Model.load(city / "exact.npz"))
    assert f"goal {trips.goal} ('x{trips.goal}')" in repr(trips)
    goals = np.where(np.arange(len(trips)) % 2, 9, 5)
    sources = np.where(np.isin(trips.sources, [5, 9]), 7, trips.sources)
    both = rs.InstanceSet(trips.graph, trips.weights, sources, goals, rows=trips.rows)
    rs.Model.of(rs.learn(both), both.graph).save(city / "both.npz")
    out = run(capsys, "info", city / "both.npz")[1]
    assert "\ngoals         x5, x9\n" in out
    code, _, err = run(capsys, "solve", city / "trips", "-m", city / "both.npz", "--goal", "x7")
    assert (code, "the model was fitted for goal x5, x9, not x7" in err) == (2, True)


def test_certificates_name_goals_as_the_user_does(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    goals = np.where(np.arange(len(trips)) % 2, 9, 5)
    sources = np.where(np.isin(trips.sources, [5, 9]), 7, trips.sources)
    both = rs.InstanceSet(trips.graph, trips.weights, sources, goals, rows=trips.rows)
    both.save(city / "both")
    answer(capsys, "fit", city / "both", "-o", city / "m.npz", "-l", "PerGoal", "--fraction", 0.5)
    words = ["certify", city / "both", "-m", city / "m.npz", "-u", "expansions", "-H", 300]
    code, out, _ = run(capsys, *words, "--by", "goal")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    rows = [line for line in out.splitlines() if line.startswith("goal ")]
    assert {line.split()[1] for line in rows} == {"x5", "x9"}
    assert "goal 5" not in out
    found = answer(capsys, *words, "--by", "goal")
    promises = [row for row in found["rows"] if row["role"] == "promise"]
    assert {(row["goal"], row["goal_label"], row["category"]) for row in promises} == {
        (5, "x5", "goal x5"),
        (9, "x9", "goal x9"),
    }
    table = rs.certificates.CertificateTable.from_dict(found)
    assert table.best_for(9).category == "goal x9"
    with pytest.raises(rs.errors.InputError, match="goal 7 has no certificate"):
        table.best_for(7)
