"""Runs the command line inside the test, and reads what it printed."""

import json
from pathlib import Path

import pytest

import rhostar as rs
from rhostar.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Return the exit code, and what was printed as result and as complaint."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    """Return the JSON of a command that must succeed without a word of complaint."""
    code, out, err = run(capsys, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def city_with_names(folder: Path) -> Path:
    """Save trips between named crossings and a model that promises optimal answers, as trips and exact.npz."""
    drawn = rs.datasets.city(300, seed=2).draw(120, seed=0)
    graph = rs.Graph.from_edges(
        drawn.graph.n, drawn.graph.tail, drawn.graph.head, labels=[f"x{v}" for v in range(drawn.graph.n)]
    )
    trips = rs.InstanceSet(graph, drawn.weights, drawn.sources, drawn.goal, rows=drawn.rows)
    trips.save(folder / "trips")
    rs.Model.of(rs.learn(trips), graph).save(folder / "exact.npz")
    return folder
