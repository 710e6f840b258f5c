"""The examples run, with real data and without, print what fits a terminal and end with a picture."""

import re
import runpy
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
