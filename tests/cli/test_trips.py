"""The command line with any goal: import trips, fit potentials, route to goals that nobody has seen."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, run


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(6, 7)
    weights = rng.uniform(1, 2, (40, graph.m))
    rs.InstanceSet(graph, weights, rng.integers(0, 20, 40), rng.integers(20, 42, 40)).save(tmp_path / "trips")
    return tmp_path


def test_fit_and_route_to_any_goal(capsys: pytest.CaptureFixture[str], trips: Path) -> None:
    model = trips / "any.npz"
    found = answer(capsys, "learn", trips / "trips", "-o", model, "--any-goal")
    assert (found["learner"], found["goals"]) == ("Potentials", "any")
    instances = rs.InstanceSet.load(trips / "trips")
    for goal in (3, 41):
        solved = answer(capsys, "route", trips / "trips", "-m", model, "--snapshot", 0, "--from", 8, "--to", goal)
        expected = rs.astar(instances.graph, instances[0].weights, 8, goal, np.zeros(42))
        assert solved["cost"] == pytest.approx(expected.cost)
        assert solved["path"][-1] == goal
    shown = answer(capsys, "info", model)
    assert (shown["model"], shown["goals"]) == ("Potentials", "any")
    assert run(capsys, "evaluate", trips / "trips", "-m", model, "-b", "euclidean", "-b", "landmarks")[0] == 0
    clusters = answer(capsys, "learn", trips / "trips", "-o", model, "--any-goal", "-s", "n_clusters=2", "--force")
    assert clusters["learner"] == "Potentials"
    assert (
        answer(capsys, "learn", trips / "trips", "-o", model, "--any-goal", "-l", "Landmarks", "--force")["goals"]
        == "any"
    )


def test_a_learner_for_one_goal_is_refused(capsys: pytest.CaptureFixture[str], trips: Path) -> None:
    code, _, err = run(
        capsys, "learn", trips / "trips", "-o", trips / "m.npz", "--any-goal", "-l", "PerGoal", "-s", "learner=None"
    )
    assert code == 2
    graph = rs.Graph.grid(3, 3)
    rs.InstanceSet(graph, np.ones((4, graph.m)), 0, 8).save(trips / "one")
    code, _, err = run(capsys, "learn", trips / "one", "-o", trips / "m.npz", "--any-goal", "-l", "MeanDistance")
    assert code == 2
    assert err == (
        "rhostar: MeanDistance learns values for given goals only; with --any-goal use Potentials or Landmarks\n"
    )
    assert not (trips / "m.npz").exists()


def test_import_draws_or_reads_trips(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    edges, out = tmp_path / "edges.csv", tmp_path / "set"
    edges.write_text("tail,head,weight\na,b,1\nb,c,2\nc,a,3\nc,d,1\nd,a,1\n")
    answer(capsys, "import", edges, "-o", out, "-n", 60, "--any-goal")
    drawn = rs.InstanceSet.load(out)
    assert len(drawn) == 60
    assert len(set(drawn.goals.tolist())) == 4
    assert (drawn.goals != drawn.sources).all()
    lines = tmp_path / "trips.csv"
    lines.write_text("source,goal\na,d\n\nd, b\n")
    answer(capsys, "import", edges, "-o", out, "--trips", lines, "--force")
    read = rs.InstanceSet.load(out)
    names = read.graph.labels
    assert [(names[x.source], names[x.goal]) for x in read] == [("a", "d"), ("d", "b")]
    for text, message in (
        ("a,b,c\n", "line 1: there is no snapshot 'c'; the table has none with a name"),
        ("a,d\na,x\n", "line 2: 'x' is not a label of the graph"),
        ("source,goal\n", "has no trips"),
    ):
        lines.write_text(text)
        code, _, err = run(capsys, "import", edges, "-o", out, "--trips", lines, "--force")
        assert code == 2
        assert message in err
    code, _, err = run(capsys, "import", edges, "-o", out, "--trips", tmp_path / "missing.csv", "--force")
    assert (code, "cannot be read" in err) == (2, True)
    code, _, err = run(capsys, "import", edges, "-o", out, "--any-goal", "--goal", "a")
    assert (code, err) == (2, "rhostar: give only one of --goal, --any-goal and --trips\n")
