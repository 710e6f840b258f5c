"""The examples run, with real data and without, print what fits a terminal and end with a picture."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.real_data import FOLDER, needs_data

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    from PIL import Image

    with Image.open(folder / f"{name}.png") as picture:
        assert min(picture.size) > 300
        assert np.unique(np.asarray(picture.convert("L"))).size > 20  # not a blank page
    lines = capsys.readouterr().out.splitlines()
    assert str(folder) in lines[-1]
    assert max(map(len, lines[:-1])) <= 80
    return lines


def first_number(lines: list[str], start: str) -> float:
    line = next(line for line in lines if line.startswith(start))
    return float(re.findall(r"\s([0-9.]+)", line[24:])[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("traffic", ""),
        ("game_map", ""),
        ("robot_worlds", ""),
        pytest.param("traffic", str(FOLDER), marks=needs_data),
        pytest.param("game_map", str(FOLDER), marks=needs_data),
    ],
)
def test_examples(
    name: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path)])
    monkeypatch.setenv("RHOSTAR_DATA", data)
    lines = run(name, tmp_path, capsys)
    assert "With probability at least 0.95" in "\n".join(lines)
    if name == "robot_worlds":
        assert first_number(lines, "ρ by imitation") < 0.8 * first_number(lines, "straight line")
    else:
        assert first_number(lines, "A*, ρ = mean") < 0.8 * first_number(
            lines, "A*, as" if name == "traffic" else "A*, oct"
        )


@pytest.mark.slow
def test_depots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["depots", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "depots.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert "A* that reopens returns shortest paths, for certain" in " ".join(" ".join(lines).split())
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert float(rows["exact"][-2]) == float(rows["Dijkstra"][-2])  # seconds per trip
    assert float(rows["exact"][1]) < 0.6 * float(rows["Dijkstra"][1])
    assert float(rows["within"][3]) < float(rows["exact"][1])
    assert float(rows["within"][-2]) < 1.01 * float(rows["exact"][-2])
    assert "Every answer of A* to any of these 3 goals with reopening and these values" in "\n".join(lines)
    about = "on new trips on one of these 8 snapshots, drawn as these were, with probability at least 0.95."
    assert any(line.startswith("On average") and line.endswith(about) for line in lines)
    assert (tmp_path / "depots.html").stat().st_size > 50_000


@pytest.mark.slow
def test_turn_costs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "turn_costs.py"), run_name="__main__")
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert rows["exact"][4] == rows["Dijkstra"][4]
    assert float(rows["exact"][1]) < 0.5 * float(rows["Dijkstra"][1])


@pytest.mark.slow
def test_nightly(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "nightly.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert text.count("alarm") == 1
    assert re.search(r"day 8: .* until the alarm at query \d+\n\s+then 0.000 with the exact values", text)


def test_a_weight_from_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["congestion_log", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "congestion_log.py"), run_name="__main__")
    text = " ".join(capsys.readouterr().out.split())
    assert "the factor 1.5 has a mean loss of at most 2% on new groups" in text
    assert float(re.search(r"other designs: ([0-9.]+)% mean loss", text)[1]) < 2


def test_live_feed() -> None:
    """In a process of its own: the writer is started from the file."""
    command = [sys.executable, EXAMPLES / "live_feed.py"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert re.fullmatch(r"2001 times written, \d+ times taken; the last route costs 390\n", ran.stdout)
    assert ran.stderr == "", "no shared memory is left over"
