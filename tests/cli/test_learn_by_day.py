"""``import`` of several files as one history, and ``learn --split``: whole days stay on one side."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, run

EDGES = [(u, (u + k) % 20) for u in range(20) for k in (1, 3)]


def rows(day: int, hours: range = range(3), seed: int = 0) -> list[str]:
    rng = np.random.default_rng([seed, day])
    return [f"j{u},j{v},{rng.uniform(1, 2):.4f},2024-05-{day:02}T{8 + hour:02}:00" for hour in hours for u, v in EDGES]


def write(path: Path, *days: int) -> Path:
    lines = [line for day in days for line in rows(day)]
    path.write_text("tail,head,weight,snapshot\n" + "\n".join(lines) + "\n")
    return path


# ---------------------------------------------------------------- several files


def test_several_files_are_one_history(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first, second = write(tmp_path / "first.csv", 1, 2), write(tmp_path / "second.csv", 3)
    whole = write(tmp_path / "whole.csv", 1, 2, 3)
    words = ("--goal", "j7", "-n", 60, "--force")
    expected = answer(capsys, "import", whole, "-o", tmp_path / "set", *words)
    kept = rs.InstanceSet.load(tmp_path / "set")
    # Time stamps decide, not the order on the command line.
    for files in ((first, second), (second, first)):
        assert answer(capsys, "import", *files, "-o", tmp_path / "set", *words) == expected
        found = rs.InstanceSet.load(tmp_path / "set")
        assert (found.weights == kept.weights).all()
        assert (found.days == kept.days).all()
        assert (found.sources == kept.sources).all()
    assert (expected["snapshots"], expected["days"]) == (9, 3)
    network = rs.datasets.read_edge_table([first, second])
    assert (network.weights == rs.datasets.read_edge_table(whole).weights).all()


def test_files_without_a_snapshot_column_are_a_snapshot_each(tmp_path: Path) -> None:
    for name, weight in (("2024-05-02", 5), ("2024-05-01", 3), ("monday", 7), ("may", 3), ("2024-05-09.x", 1)):
        (tmp_path / f"{name}.csv").write_text(f"tail,head,weight\na,b,{weight}\nb,a,1\n")

    def read(*names: str) -> rs.datasets.Network:
        return rs.datasets.read_edge_table([tmp_path / f"{name}.csv" for name in names])

    days = read("2024-05-02", "2024-05-01")
    assert (days.names, days.weights[:, 0].tolist(), days.days.tolist()) == (
        ("2024-05-01", "2024-05-02"),
        [3, 5],
        [0, 1],
    )
    given = read("monday", "may")  # no time stamps: the order given
    assert (given.names, given.weights[:, 0].tolist(), given.days) == (("monday", "may"), [7, 3], None)
    assert read("monday").names is None


def test_errors_name_the_file_and_the_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.csv", 1), tmp_path / "bad.csv"

    def complaint(text: str, *words: object) -> str:
        bad.write_text(text)
        code, out, err = run(capsys, "import", good, bad, "-o", tmp_path / "set", "--goal", "j7", *words)
        assert (code, out) == (2, "")
        assert not (tmp_path / "set").exists()
        return err

    whole = "\n".join(["tail,head,weight,snapshot", *rows(2)]) + "\n"
    assert f"{bad}, line 5: weight must be a number, got 'slow'" in complaint(
        whole.replace(rows(2)[3].split(",")[2], "slow", 1)
    )
    gap = whole.replace(rows(2)[3].split(",")[2], "", 1)
    tail, head = EDGES[3]
    place = f"'j{tail}' -> 'j{head}' in snapshot '2024-05-02T08:00' ({bad}, line 5)"
    assert f"{good} and 1 more: 1 of 240 weights is missing: {place}; set missing" in complaint(gap)
    assert (
        f"{bad}, line 2: the snapshot '2024-05-01T10:00' is also in {good}; each snapshot must be complete in one file"
        in complaint("\n".join(["tail,head,weight,snapshot", *rows(1, range(2, 4))]) + "\n")
    )
    assert f"{bad}: has no column for the snapshot, but {good} has one" in complaint("tail,head,weight\nj1,j2,1\n")
    assert f"{bad}, line 1: the column 'tail' is missing" in complaint("a,b,c\n1,2,3\n")
    assert "cannot recognize the format" in run(capsys, "import", good, tmp_path, "-o", tmp_path / "set")[2]


def test_files_may_be_unusual(tmp_path: Path) -> None:
    usual, odd = write(tmp_path / "usual.csv", 1), tmp_path / "odd.csv"
    odd.write_text(
        "tail,head,weight,snapshot\n\n" + "\n".join(rows(2)).replace("2024-05-02T09:00", " 2024-05-02 09:00")
    )
    with pytest.warns(rs.errors.RhostarWarning, match="no newline"):
        found = rs.datasets.read_edge_table([usual, odd])
    both = write(tmp_path / "both.csv", 1, 2)
    assert (found.weights == rs.datasets.read_edge_table(both).weights).all()


def test_both_kinds_of_tables_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(rs.errors.InputError, match="all CSV or all Parquet"):
        rs.datasets.read_edge_table([write(tmp_path / "a.csv", 1), tmp_path / "b.parquet"])
    with pytest.raises(rs.errors.InputError, match="a file, or several"):
        rs.datasets.read_edge_table([])


# ---------------------------------------------------------------- whole days


@pytest.fixture
def history(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    answer(
        capsys, "import", write(tmp_path / "x.csv", *range(1, 11)), "-o", tmp_path / "set", "-n", 300, "--goal", "j7"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("split", "said"),
    [("day", "whole days, drawn at random"), ("last-days", "whole days, the last ones unseen")],
)
@pytest.mark.parametrize("words", [(), ("--mean-excess", "inf", "--effort", "quick"), ("-l", "MeanDistance")])
def test_whole_days_stay_on_one_side(
    capsys: pytest.CaptureFixture[str], history: Path, split: str, said: str, words: tuple
) -> None:
    found = answer(capsys, "learn", history / "set", "-o", history / "m.npz", "--split", split, *words)
    assert (found["split"], found["days_learned_from"], found["days_unseen"]) == (said, 7, 3)
    instances, model = rs.InstanceSet.load(history / "set"), rs.Model.load(history / "m.npz")
    seen = model.heuristic.trained_on.among(instances)
    day = instances.days[instances.rows]
    assert seen.sum() == found["learned_from"]
    assert set(day[seen]).isdisjoint(day[~seen])
    assert (set(day[seen]) == set(range(7))) == (split == "last-days")
    # The unseen days are what the other commands use.
    assert answer(capsys, "evaluate", history / "set", "-m", history / "m.npz")["instances"] == found["unseen"]
    words = ("certify", history / "set", "-m", history / "m.npz", "-u", "cost", "-H", 40, "--groups", "day")
    out = " ".join(run(capsys, *words)[1].split())
    assert "on new groups drawn as these 3 were" in out
    assert "This is a weak guarantee, because it is based on only 3 groups. About " in out
    assert "over the draw of the 3 groups" in " ".join(run(capsys, *words, "--full")[1].split())


def test_the_summary_of_a_split(capsys: pytest.CaptureFixture[str], history: Path) -> None:
    code, out, _ = run(capsys, "learn", history / "set", "-o", history / "m.npz", "--split", "day", "--fraction", 0.5)
    assert code == 0
    assert max(len(line) for line in out.splitlines() if not line.startswith("written")) <= 80
    lines = {" ".join(line.split()) for line in out.splitlines()}
    assert {"split whole days, drawn at random", "days learned from 5", "days unseen 5"} <= lines
    out = run(capsys, "learn", history / "set", "-o", history / "m.npz", "--force")[1]
    assert "whole days" not in out
    instances, model = rs.InstanceSet.load(history / "set"), rs.Model.load(history / "m.npz")
    seen, day = model.heuristic.trained_on.among(instances), instances.days[instances.rows]
    assert not set(day[seen]).isdisjoint(day[~seen]), "without the option, days are on both sides"


def test_what_a_split_refuses(capsys: pytest.CaptureFixture[str], history: Path) -> None:
    for words, complaint in (
        (("--split", "week"), "'week' is not one of 'auto', 'trip', 'snapshot', 'day', 'last-days'"),
        (("--split", "day", "--fraction", 0.01), "--fraction 0.01 of 10 days leaves no day on one side"),
        (("--split", "last-days", "--fraction", 0.99), "leaves no day on one side"),
    ):
        code, _, err = run(capsys, "learn", history / "set", "-o", history / "m.npz", *words)
        assert (code, complaint in err) == (2, True), err
    found = answer(capsys, "learn", history / "set", "-o", history / "m.npz", "--split", "day", "--fraction", 1)
    assert (found["days_learned_from"], found["days_unseen"]) == (10, 0)
    instances = rs.InstanceSet.load(history / "set")
    rs.InstanceSet(instances.graph, instances.weights, 0, 7).save(history / "plain")
    for split in ("day", "last-days"):
        err = run(capsys, "learn", history / "plain", "-o", history / "n.npz", "--split", split)[2]
        assert f"--split {split}: the snapshots of this set have no time stamps" in err


def test_one_unseen_day_is_not_enough_for_days_as_draws(capsys: pytest.CaptureFixture[str], history: Path) -> None:
    answer(capsys, "learn", history / "set", "-o", history / "m.npz", "--split", "last-days", "--fraction", 0.9)
    words = ("certify", history / "set", "-m", history / "m.npz", "-u", "suboptimality", "-H", 40, "--groups", "day")
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err == "rhostar: there must be at least two groups: they are the independent draws\n"
