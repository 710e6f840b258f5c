"""The command import: columns, missing weights, goals, trips, time stamps, and what it says about the data."""

import re
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.datasets import _formats
from support.commands import answer, run

TIMES = """from_id,to_id,seconds,time
a,b,3,2024-05-02T08:00
a,b,4,2024-05-01T08:00
a,b,5,2024-05-01T08:00
b,c,2,2024-05-01T08:00
b,c,,2024-05-02T08:00
c,a,1,2024-05-01T08:00
c,a,1,2024-05-02T08:00
x,y,1,2024-05-01T08:00
y,x,1,2024-05-01T08:00
y,x,1,2024-05-02T08:00
c,c,1,2024-05-02T08:00
"""
COLUMNS = ("--columns", "tail=from_id,head=to_id,weight=seconds,snapshot=time")


@pytest.fixture
def times(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    path.write_text(TIMES)
    return path


def lines(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, str]:
    """Return what a command prints, by the words in front."""
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert max(len(line) for line in out.splitlines() if not line.startswith("written")) <= 80
    rows = out.replace("\n   ", " ").splitlines()
    return {what.strip(): " ".join(value.split()) for what, _, value in (row.partition("  ") for row in rows)}


# ---------------------------------------------------------------- tables


def test_missing_weights_are_asked_about(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    code, out, err = run(capsys, "import", times, "-o", tmp_path / "set", *COLUMNS)
    assert (code, out) == (2, "")
    assert err == (
        f"rhostar: {times}: 2 of 10 weights are missing: 'b' -> 'c' in snapshot '2024-05-02T08:00' (line 6), "
        "'x' -> 'y' in snapshot '2024-05-02T08:00' (no row); set missing (--missing) to closed (no way through), last "
        "(the snapshot before) or median (of the edge)\n"
    )
    assert not (tmp_path / "set").exists()
    for policy, words, weight in (
        ("closed", "2 of 10: closed", np.inf),
        ("last", "2 of 10: as in the snapshot before", 2),
        ("median", "2 of 10: the median of the edge", 2),
    ):
        found = lines(capsys, "import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", policy, "--force")
        assert found["missing weights"] == words
        instances = rs.InstanceSet.load(tmp_path / "set")
        b, c = (instances.graph.vertex(name) for name in "bc")
        assert instances.weights[-1, instances.graph.edge_index([b], [c])].tolist() == [weight]
    code, _, err = run(capsys, "import", times, "-o", tmp_path / "other", *COLUMNS, "--missing", "zero")
    assert (code, err) == (2, "rhostar: missing must be one of error, closed, last, median, got 'zero'\n")


def test_the_summary_counts(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last", "--force")
    found = lines(capsys, *words, "--goal", "y")
    assert found["parallel edges"] == "1 merged (the cheapest counts)"
    assert found["loops"] == "1 dropped"
    assert found["starts without a path"] == "3 of 4"
    assert found["strong components"] == "that of the goal has 2 vertices, the largest 3"
    assert found["hint"] == "the goal is not in the largest component; --goal chooses another one"
    assert (found["goal"], found["snapshots"], found["days"]) == ("y", "2", "2")
    found = lines(capsys, *words, "--goal", "a")
    assert found["starts without a path"] == "2 of 4"
    assert "hint" not in found
    facts = answer(capsys, *words, "--goal", "a,y")
    assert (facts["merged_parallel_edges"], facts["dropped_loops"], facts["missing_weights"]) == (1, 1, 2)
    assert facts["starts_without_a_path"] == {"a": 2, "y": 3}
    assert (facts["component_of_goal"], facts["largest_component"]) == (2, 3)


def test_a_goal_that_hardly_any_start_reaches_is_refused_with_counts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ring = "".join(f"{k},{(k + 1) % 3000},1\n" for k in range(3000))
    (tmp_path / "x.csv").write_text(f"tail,head,weight\n{ring}3000,3001,1\n")
    code, _, err = run(capsys, "import", tmp_path / "x.csv", "-o", tmp_path / "set", "--goal", "3001", "-n", 1000)
    assert code == 2
    assert "have a path to the goal 3001; of 3002 vertices, those that reach it are 1 for 3001: choose another" in err
    assert not (tmp_path / "set").exists()


def test_a_day_does_not_vanish_without_a_word(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("tail,head,weight,snapshot\na,b,1,mon\nb,c,1,mon\na,b,2,tue\nb,c,inf,tue\n")
    found = lines(capsys, "import", path, "-o", tmp_path / "set", "--goal", "c")
    assert (found["snapshots"], found["snapshots without a path"]) == ("1", "1 left out: tue")
    path.write_text("tail,head,weight,snapshot\na,b,1,mon\nb,c,1,mon\na,b,2,tue\n")
    assert run(capsys, "import", path, "-o", tmp_path / "other", "--goal", "c")[0] == 2
    found = lines(capsys, "import", path, "-o", tmp_path / "other", "--goal", "c", "--missing", "last")
    assert found["snapshots"] == "2"
    assert "snapshots without a path" not in found


def test_columns_by_name(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    words = ("import", times, "-o", tmp_path / "set", "--missing", "last", "--force", "-n", 5)
    expected = answer(capsys, *words, *COLUMNS)
    separate = [f"--set={name}" for name in ("tail=from_id", "head=to_id", "weight=seconds", "snapshot=time")]
    assert answer(capsys, *words, *separate) == expected
    mixed = ("--columns", "tail=from_id, head=to_id,weight=seconds", "--set", "snapshot=time")
    assert answer(capsys, *words, *mixed) == expected
    code, _, err = run(capsys, *words)
    assert code == 2
    assert (
        "the table has from_id, to_id, seconds, time; say which they are with "
        "tail=from_id, head=to_id, weight=seconds (--columns tail=from_id,head=to_id,weight=seconds)" in err
    )
    for wrong in ("tail", "tail=", "color=red"):
        code, _, err = run(capsys, *words, "--columns", wrong)
        assert code == 2
        assert f"--columns takes name=column with a name of tail, head, weight, snapshot, got {wrong!r}" in err
    (tmp_path / "two.gr").write_text("p sp 2 1\na 1 2 7\n")
    code, _, err = run(capsys, "import", tmp_path / "two.gr", "-o", tmp_path / "g", "--columns", "tail=x")
    assert (code, "format dimacs has no option 'tail'" in err) == (2, True)


def test_time_stamps_are_days(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last", "--goal", "c")
    assert answer(capsys, *words)["days"] == 2
    instances = rs.InstanceSet.load(tmp_path / "set")
    assert instances.days.tolist() == [0, 1]
    earlier, later = rs.datasets.split_by_day(instances)
    a, b = (instances.graph.vertex(name) for name in "ab")
    edge = instances.graph.edge_index([a], [b])[0]
    assert {float(x.weights[edge]) for x in earlier} == {4.0}
    assert {float(x.weights[edge]) for x in later} == {3.0}
    assert answer(capsys, "info", tmp_path / "set")["days"] == 2


# ---------------------------------------------------------------- goals and trips


def test_several_goals(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last", "--force", "-n", 90)
    depots = tmp_path / "depots.txt"
    depots.write_text("a\n\n c \ny")
    expected = answer(capsys, *words, "--goal", "a,c,y")
    assert expected["goals"] == ["a", "c", "y"]
    for given in (("--goal", "a", "--goal", "c, y"), ("--goal", depots), ("--goal", "a,c", "--goal", "y,a")):
        assert answer(capsys, *words, *given) == expected
    instances = rs.InstanceSet.load(tmp_path / "set")
    assert len(instances) == 90
    assert instances.pool is not None  # independent draws, as certificates need them
    assert instances.pool.words.endswith("to 3 goals")
    assert (np.bincount(instances.goals, minlength=5)[[0, 2, 4]] > 10).all()
    depots.write_text("a\nnowhere\n")
    code, _, err = run(capsys, *words, "--goal", depots)
    assert (code, "depots.txt, line 2: 'nowhere' is not a label" in err) == (2, True)
    depots.write_text("\n")
    assert "has no goals" in run(capsys, *words, "--goal", depots)[2]
    assert "'nowhere' is not a label" in run(capsys, *words, "--goal", "a,nowhere")[2]


def test_a_goal_that_few_vertices_reach_is_not_lost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ring = "".join(f"{k},{(k + 1) % 5000},1\n{(k + 1) % 5000},{k},1\n" for k in range(5000))
    (tmp_path / "x.csv").write_text(f"tail,head,weight\n{ring}6000,6001,1\n")
    words = ("import", tmp_path / "x.csv", "-o", tmp_path / "set", "-n", 30)
    code, _, err = run(capsys, *words, "--goal", "7,6001")
    assert code == 2
    assert "no instance drawn leads to 6001; of 5002 vertices, those that reach it are 1 for 6001" in err
    assert not (tmp_path / "set").exists()
    assert answer(capsys, *words, "--goal", "7,8")["goals"] == [7, 8]


def test_two_numbers_are_a_cell_on_a_grid_and_two_goals_elsewhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "x.map").write_text("type octile\nheight 3\nwidth 4\nmap\n....\n....\n....\n")
    words = ("-o", tmp_path / "set", "--force", "-n", 30)
    assert answer(capsys, "import", tmp_path / "x.map", *words, "--goal", "1,3")["goals"] == [7]
    assert answer(capsys, "import", tmp_path / "x.map", *words, "--goal", "1,3", "--goal", "0,0")["goals"] == [0, 7]
    assert run(capsys, "import", tmp_path / "x.map", *words, "--goal", "3,4")[0] == 2  # no such row
    (tmp_path / "x.csv").write_text("tail,head,weight\n" + "".join(f"{k},{(k + 1) % 5},1\n" for k in range(5)))
    assert answer(capsys, "import", tmp_path / "x.csv", *words, "--goal", "3,4")["goals"] == [3, 4]


def test_worlds_take_one_goal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "w").mkdir()
    Image.fromarray(np.full((3, 3), 255, dtype=np.uint8)).save(tmp_path / "w" / "0.png")
    code, _, err = run(capsys, "import", tmp_path / "w", "-o", tmp_path / "set", "--goal", "0", "--goal", "1")
    assert (code, err) == (2, "rhostar: a folder of worlds has one goal, got 2\n")
    found = lines(capsys, "import", tmp_path / "w", "-o", tmp_path / "set", "--goal", "0,1")
    assert (found["goal"], "loops" in found) == ("1", False)


def test_trips_name_their_snapshot_or_their_time(
    capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path
) -> None:
    trips = tmp_path / "trips.csv"
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last", "--force", "--trips", trips)

    def read(text: str) -> list[tuple[int, int, int]]:
        trips.write_text(text)
        answer(capsys, *words)
        found = rs.InstanceSet.load(tmp_path / "set")
        days = found.days[found.rows].tolist()
        return list(zip(days, found.sources.tolist(), found.goals.tolist(), strict=True))

    # Vertices are a, b, c, x, y; the second day is day 1.
    assert read("a,c,2024-05-02T08:00\nb,a,2024-05-01T08:00\n") == [(1, 0, 2), (0, 1, 0)]
    assert read("source,goal,time\na,c,2024-05-02 07:59\nb,a,2024-05-09\n") == [(0, 0, 2), (1, 1, 0)]
    assert read("Time,Goal,Source\n2024-05-02T12:00,c,a\n2024-05-01T12:00,c,a\n") == [(1, 0, 2), (0, 0, 2)]
    assert read("source,goal\na,c\na,c\na,c\n") == [(0, 0, 2), (1, 0, 2), (0, 0, 2)]
    for text, message in (
        ("a,c,2024-04-30\n", "line 1: '2024-04-30' is before the first snapshot, '2024-05-01T08:00'"),
        ("a,c,monday\n", "line 1: there is no snapshot 'monday'; the table has 2024-05-01T08:00, 2024-05-02T08:00"),
        ("a,c,2024-05-02T08:00Z\n", "must both have a time zone, or none"),
        ("a,c\na,a\n", "line 2: the trip starts at its goal, 'a'"),
        ("a,c,1,2\n", "line 1: expected 'source,goal[,snapshot]', got 'a,c,1,2'"),
        ("a\n", "line 1: expected 'source,goal[,snapshot]', got 'a'"),
        (f"a,{'9' * 5000}\n", f"line 1: '{'9' * 60}' is not a label of the graph; a label looks like 'a'"),
    ):
        trips.write_text(text)
        code, _, err = run(capsys, *words)
        assert code == 2
        assert message in err


def test_trips_without_a_path_are_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path
) -> None:
    (tmp_path / "trips.csv").write_text("source,goal\na,c\nx,a\nb,a\na,y\n")
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last", "--force")
    found = lines(capsys, *words, "--trips", tmp_path / "trips.csv")
    assert (found["instances"], found["trips without a path"]) == ("2", "2 left out, the first in line 3")
    (tmp_path / "trips.csv").write_text("source,goal\na,c\n")
    assert lines(capsys, *words, "--trips", tmp_path / "trips.csv")["trips without a path"] == "0"


# ---------------------------------------------------------------- what is there already


def test_a_set_is_not_replaced_without_force(capsys: pytest.CaptureFixture[str], times: Path, tmp_path: Path) -> None:
    words = ("import", times, "-o", tmp_path / "set", *COLUMNS, "--missing", "last")
    answer(capsys, *words, "-n", 5)
    code, out, err = run(capsys, *words, "-n", 7)
    assert (code, out) == (2, "")
    assert err == f"rhostar: {tmp_path / 'set'} exists already; give another name, or --force to replace it\n"
    assert len(rs.InstanceSet.load(tmp_path / "set")) == 5
    answer(capsys, *words, "-n", 7, "--force")
    assert len(rs.InstanceSet.load(tmp_path / "set")) == 7


def test_formats_open_and_draw(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("tail,head,weight\na,b,1\nb,a,2\n")
    found, draw = _formats.find([tmp_path / "x.csv"]).open([tmp_path / "x.csv"], {})
    assert found.weights.tolist() == [[1, 2]]
    assert draw(count=3, seed=0, goal=None).goal == 0


def test_a_number_that_is_no_label_is_no_goal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("tail,head,weight\n700,800,1\n800,900,2\n900,700,3\n")
    code, _, err = run(capsys, "import", table, "-o", tmp_path / "set", "--goal", "1")
    assert (code, "'1' is not a label of the graph" in err) == (2, True)
    assert answer(capsys, "import", table, "-o", tmp_path / "set", "--goal", "900")["goals"] == [900]


def test_a_new_day_is_not_a_training_set(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for day in (1, 2):
        rows = [
            f"{u},{(u + k) % 20},{rng.uniform(1, 2):.3f},2024-05-0{day}T{h:02}:00"
            for h in range(9)
            for u in range(20)
            for k in (1, 3)
        ]
        (tmp_path / f"{day}.csv").write_text("tail,head,weight,snapshot\n" + "\n".join(rows) + "\n")
        answer(capsys, "import", tmp_path / f"{day}.csv", "-o", tmp_path / f"day{day}", "--goal", "7", "-n", 60)
    answer(capsys, "learn", tmp_path / "day1", "-o", tmp_path / "m.npz")
    found = answer(capsys, "evaluate", tmp_path / "day2", "-m", tmp_path / "m.npz")
    assert found["instances"] == 60
    code, out, _ = run(capsys, "certify", tmp_path / "day2", "-m", tmp_path / "m.npz", "-u", "cost", "-H", 30)
    assert (code, "with probability" in " ".join(out.split())) == (0, True)


def test_snapshots_without_a_trip_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "times.csv"
    rows = [f"{a},{b},{k + 1},{k}" for k in range(6) for a, b in (("a", "b"), ("b", "a"))]
    table.write_text("\n".join(["tail,head,weight,snapshot", *rows]) + "\n")
    few = lines(capsys, "import", table, "-o", tmp_path / "few", "--goal", "a", "--count", "1")
    assert few["snapshots without a trip"] == "5 of 6 that were read"
    assert "snapshots without a trip" not in lines(
        capsys, "import", table, "-o", tmp_path / "many", "--goal", "a", "--count", "200"
    )


def test_a_column_with_times_is_the_snapshot_and_the_summary_shows_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [f"{ends},{1 + day},2026-01-0{day}" for day in (1, 2) for ends in ("a,b", "b,a")]
    (tmp_path / "x.csv").write_text("tail,head,weight,date\n" + "\n".join(rows))
    code, out, _ = run(capsys, "import", tmp_path / "x.csv", "-o", tmp_path / "trips", "--goal", "b", "--count", 5)
    assert code == 0
    assert re.search(r"^snapshots +2$", out, re.MULTILINE)
    assert re.search(r"^snapshot names +2026-01-01 to 2026-01-02$", out, re.MULTILINE)
