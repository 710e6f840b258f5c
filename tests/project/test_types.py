"""What a type checker sees: exactly the public names, each with a type of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rhostar as rs

SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = sorted(path.parent for path in (SOURCE / "rhostar").rglob("__init__.pyi"))

SNIPPET = """
import numpy as np
import rhostar as rs

graph = rs.Graph.grid(4, 4)
zeros = np.zeros(graph.n)
instances = rs.InstanceSet(graph, np.ones(graph.m), 0, 15)
reveal_type(rs.theory.growth(instances, "astar", rs.utilities.Cost(9.0)))
reveal_type(rs.theory.dual(zeros, zeros, 0, 1, instances, "astar", rs.utilities.Cost(9.0)))
reveal_type(rs.theory.constructions["parity"].build(20))
reveal_type(rs.learn(instances))
reveal_type(rs.evaluate(zeros, instances, rs.utilities.Cost(9.0))["cost"].mean)
reveal_type(rs.certify(zeros, instances, rs.utilities.Cost(9.0), algorithm="astar"))
rs.astarr(graph, np.ones(graph.m), 0, 15, zeros)
rs.theory.growht(instances, rs.utilities.Cost(9.0))
rs.learners.MeanDistanse()
rs.utilities.Expansion(9.0)
rs.solve_many(instances, zeros, algorithm="dijkstra")
"""
REVEALED = [
    "rhostar.theory._growth.Growth",
    "rhostar.lines._means.Dual",
    "rhostar.theory._shattered_set.ShatteredSet",
    "rhostar.learners._base.Learner",
    "float",
    "rhostar.certificates._table.CertificateTable",
]
ERRORS = ["astarr", "growht", "MeanDistanse", "Expansion", "dijkstra"]


def public_names() -> list[str]:
    """Return every name of every package, as a user writes it."""
    found = []
    for package in PACKAGES:
        prefix = ".".join(package.relative_to(SOURCE).parts)
        for node in ast.parse((package / "__init__.pyi").read_text()).body:
            if isinstance(node, ast.ImportFrom):
                found += [f"{prefix}.{alias.asname or alias.name}" for alias in node.names]
    return found


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says to a user's file: one run for all tests, and quick where the cache of ``make lint`` is."""
    folder = tmp_path_factory.mktemp("types")
    names = public_names()
    packages = sorted({name.rpartition(".")[0] for name in names})
    lines = [f"import {package}" for package in packages] + [f"reveal_type({name})" for name in names]
    (folder / "snippet.py").write_text(SNIPPET)
    (folder / "names.py").write_text("\n".join(lines) + "\n")
    root = SOURCE.parent
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(root / "pyproject.toml")]
    run = subprocess.run(
        [*command, str(folder / "snippet.py"), str(folder / "names.py")],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(SOURCE), "PATH": ""},
    )
    assert not run.stderr, run.stderr
    return run.stdout.splitlines()


def test_results_have_types_of_their_own(checked: list[str]) -> None:
    revealed = [line.split('"')[1] for line in checked if "snippet.py" in line and "Revealed type" in line]
    assert [name.removeprefix("builtins.") for name in revealed] == REVEALED


def test_a_typo_is_an_error(checked: list[str]) -> None:
    errors = [line for line in checked if "snippet.py" in line and "error:" in line]
    assert len(errors) == len(ERRORS), "\n".join(errors)
    for line, name in zip(errors, ERRORS, strict=True):
        assert name in line


def test_every_public_name_has_a_type(checked: list[str]) -> None:
    found = [line for line in checked if "names.py" in line and "Revealed type" in line]
    assert len(found) == len(public_names())
    unknown = [line for line in checked if "names.py" in line and ("error:" in line or 'is "Any"' in line)]
    assert unknown == []


def test_every_public_name_is_there() -> None:
    for name in public_names():
        value: object = rs
        for part in name.split(".")[1:]:
            value = getattr(value, part) if hasattr(value, part) else __import__(f"rhostar.{part}", fromlist=["_"])
        assert value is not None
