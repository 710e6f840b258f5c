"""The commands of ``rhostar theory``."""

import os
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.cli.main import main
from support.commands import answer, run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved set and a model fitted on a part of it."""
    home = tmp_path_factory.mktemp("commands")
    graph = rs.Graph.grid(6, 7)
    weights = np.random.default_rng(0).integers(1, 9, size=(60, graph.m)).astype(float)
    rs.InstanceSet(graph, weights, sources=np.arange(30).repeat(2), goal=41).save(home / "set")
    assert main(["learn", str(home / "set"), "-o", str(home / "model.npz"), "-l", "MeanDistance", "--json"]) == 0
    return home


def test_every_command(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    found = answer(capsys, "theory", "shatter", "-n", 8)
    assert (found["instances"], found["patterns"]) == (4, 16)
    for kind, known in rs.theory.constructions.items():
        code, out, _ = run(capsys, "theory", "shatter", "-n", 9, "-a", known.algorithms[0], "--set", kind)
        assert code == 0
        assert "patterns occurred" in out
    found = answer(capsys, "theory", "growth", "-n", 8, "-a", "astar")
    assert (found["behaviours"][-1], found["vectors"]) == (3121, [2, 4, 8, 16])
    found = answer(capsys, "theory", "atlas")["entries"]
    assert found["gbfs-cost-small-4"] == 2
    mine = tmp_path / "atlas"
    found = answer(capsys, "theory", "atlas", "-f", mine, "--rounds", 1, "--vertices", 4, 4)["entries"]
    assert found["gbfs-cost-small-4"] == 2
    assert answer(capsys, "theory", "atlas", "-f", mine)["entries"] == found
    words = ("theory", "dual", data / "set", "-m", data / "model.npz", "-n", 3, "--figure", tmp_path / "dual.svg")
    found = answer(capsys, *words)
    assert len(found["mean"]) == found["pieces"] == len(found["edges"]) - 1
    assert min(found["mean"]) == found["best"]
    assert (tmp_path / "dual.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["theory", "shatter", "--set", "magic"], "--set must be one of"),
        (["theory", "shatter", "--set", "cost"], "is for astar"),
        (["theory", "atlas", "--rounds", "1"], "--rounds needs --folder"),
        (["theory", "atlas", "-f", "nowhere"], "there is no folder"),
        (["theory", "dual", "{data}/set", "-m", "{data}/model.npz", "--low", "2", "--high", "1"], "low"),
    ],
    ids=lambda words: " ".join(words)[:50] if isinstance(words, list) else "",
)
def test_bad_input_is_one_line_and_two(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    code, out, err = run(capsys, *(word.format(data=data, tmp=tmp_path) for word in words))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("rhostar: ")
    assert message in err


def test_a_device_is_not_replaced(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.svg"  # stands for /dev/null
    os.mkfifo(pipe)
    code, out, err = run(capsys, "theory", "dual", data / "set", "-m", data / "model.npz", "--figure", pipe)
    assert (code, out, err) == (2, "", f"rhostar: could not write {pipe}: it is a device or a pipe, not a file\n")
    assert pipe.is_fifo()
