"""Goals and vertices are called by the labels that the user gave them."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, city_with_names, run


@pytest.fixture
def city(tmp_path: Path) -> Path:
    return city_with_names(tmp_path)


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


def test_certificates_name_goals_as_the_user_does(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    goals = np.where(np.arange(len(trips)) % 2, 9, 5)
    sources = np.where(np.isin(trips.sources, [5, 9]), 7, trips.sources)
    both = rs.InstanceSet(trips.graph, trips.weights, sources, goals, rows=trips.rows)
    both.save(city / "both")
    answer(capsys, "learn", city / "both", "-o", city / "m.npz", "-l", "PerGoal", "--fraction", 0.5)
    words = ["certify", city / "both", "-m", city / "m.npz", "-u", "expansions", "-H", 300]
    code, out, _ = run(capsys, *words, "--by", "goal", "--full")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    rows = [line for line in out.splitlines() if line.startswith("goal ") and "H4" in line]
    assert {line.split()[1] for line in rows} == {"x5", "x9"}
    assert "goal 5" not in out
    found = answer(capsys, *words, "--by", "goal")
    guarantees = [row for row in found["rows"] if row["role"] == "guarantee"]
    assert {(row["goal"], row["category"], row["goals"]) for row in guarantees} == {
        (5, "goal x5", 'to goal "x5"'),
        (9, "goal x9", 'to goal "x9"'),
    }
    table = rs.certificates.CertificateTable.from_dict(found)
    assert table.best_for(9).category == "goal x9"
    with pytest.raises(rs.errors.InputError, match="goal 7 has no certificate"):
        table.best_for(7)


def test_errors_name_vertices_as_the_user_does(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    graph = trips.graph
    sources = np.where(trips.sources == 9, 7, trips.sources)
    rs.InstanceSet(graph, trips.weights, sources, 9, rows=trips.rows).save(city / "others")
    code, _, err = run(capsys, "evaluate", city / "others", "-m", city / "exact.npz", "--all")
    assert (code, f"was fitted for goal {trips.goal} ('x{trips.goal}'), not for goal 9 ('x9')" in err) == (2, True)
    names = f"'x{graph.tail[4]}' -> 'x{graph.head[4]}'"
    bad = trips.weights[:1].copy()
    bad[0, 4] = -1.0
    with pytest.raises(rs.errors.WeightError, match=rf"edge {names}"):
        rs.InstanceSet(graph, bad, 5, 9)
    high = np.where(np.arange(graph.m) == 4, 1e6, 0.0)
    with pytest.raises(rs.errors.WeightError, match=rf"edge {names}"):
        rs.learn(trips, lower=high)
    with pytest.raises(rs.errors.AssumptionError, match=names):
        rs.certify(np.zeros(graph.n), trips, rs.utilities.Expansions(300), lower=high)
    shut = np.full((1, graph.m), np.inf)
    with pytest.raises(rs.errors.InfeasibleError, match="no path from 'x5' to 'x9'"):
        rs.InstanceSet(graph, shut, 5, 9)
    with pytest.raises(rs.errors.InstanceError, match=r"starts at its goal \(vertex 'x5'\)"):
        rs.InstanceSet(graph, trips.weights[:1], 5, 5)
    mixed = rs.InstanceSet(graph, trips.weights[:2], [7, 7], [5, 9])
    with pytest.raises(rs.errors.InstanceError, match="instance 0 has goal 'x5', instance 1 has goal 'x9'"):
        rs.learners.MeanDistance().fit(mixed)
    with pytest.raises(rs.errors.HeuristicError, match=r"no values for goal 9 \('x9'\); it has values for 5 \('x5'\)"):
        rs.solve_many(mixed, {5: np.zeros(graph.n)})


def test_long_labels_fit_into_80_columns(city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    names = [
        f"the crossing of a very long street with another very long street, number {v}" for v in range(trips.graph.n)
    ]
    graph = rs.Graph.from_edges(trips.graph.n, trips.graph.tail, trips.graph.head, labels=names)
    goals = np.where(np.arange(len(trips)) % 2, 9, 5)
    sources = np.where(np.isin(trips.sources, [5, 9]), 7, trips.sources)
    both = rs.InstanceSet(graph, trips.weights, sources, goals, rows=trips.rows)
    table = rs.certify(np.zeros(graph.n), both, rs.utilities.Expansions(300), by="goal")
    assert max(map(len, str(table).splitlines())) <= 80
    shown = {line[:13].rstrip() for line in str(table).splitlines() if line.startswith("goal ")}
    assert len(shown) >= 1
    assert all(str(v) in str(table) for v in (5, 9))


def test_models_with_unusual_labels_are_saved(tmp_path: Path) -> None:
    for labels in ([(0, 0), (0, 1)], [frozenset("a"), frozenset("b")], [7, 3]):
        graph = rs.Graph.from_edges(2, [0, 1], [1, 0], labels=labels)
        learner = rs.learners.MeanDistance().fit(rs.InstanceSet(graph, [[1.0, 2.0], [2.0, 1.0]], 0, 1))
        rs.Model.of(learner, graph).save(tmp_path / "m.npz")
        found = rs.Model.load(tmp_path / "m.npz").goal_labels
        assert found == {1: str(labels[1]) if isinstance(labels[1], frozenset) else labels[1]}


def test_numbers_that_are_names_are_printed_as_such(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("tail,head,weight\n46134,90802,1\n90802,365325,2\n365325,46134,3\n")
    answer(capsys, "import", table, "-o", tmp_path / "set", "--goal", "90802", "-n", 9)
    words = ["route", tmp_path / "set", "--from", "365325", "--to", "90802"]
    out = run(capsys, *words)[1]
    assert out.startswith("source    365325\ntarget    90802\n")
    assert "path      365325, 46134, 90802" in out
    found = answer(capsys, *words)
    assert (found["source"], found["target"]) == (365325, 90802)
