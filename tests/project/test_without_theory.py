"""The library works where ``rhostar.theory`` was not built: it imports, learns, searches and runs commands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from code_map import modules, package_of

TESTS = Path(__file__).resolve().parents[1]

BLOCKED = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name == "rhostar.theory" or name.startswith("rhostar.theory."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
"""

LIBRARY = """
import importlib
import numpy as np
import rhostar as rs
from rhostar.cli.main import main

for name in MODULES:
    importlib.import_module(f"rhostar.{name}")
graph = rs.Graph.grid(6, 6)
weights = np.random.default_rng(0).uniform(1, 2, size=(80, graph.m))
train, holdout = rs.InstanceSet(graph, weights, sources=0, goal=35).split(0.5, seed=0)
learner = rs.learners.MeanDistance().fit(train)
assert rs.astar(*holdout[0], learner).cost > 0
assert len(rs.solve_many(holdout, learner)) == 40
assert rs.pseudo_dimension(50).lower > 0
assert main(["bounds", "-n", "50", "--json"]) == 0
assert main(["theory", "atlas"]) == 2  # no such command
try:
    rs.theory
except ImportError:
    print("no theory")
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_works_without_it() -> None:
    names = [name for name in modules() if package_of(name) not in ("theory", "__main__", "interop")]
    assert run(BLOCKED + LIBRARY.replace("MODULES", repr(names))).endswith("no theory\n")


def test_a_build_without_it_says_so() -> None:
    code = """
    import importlib.util, sys
    find, importlib.util.find_spec = importlib.util.find_spec, lambda name, package=None: None
    try:
        import rhostar.theory
    except ModuleNotFoundError as error:
        print(error)
    """
    assert "built without rhostar.theory" in run("\n".join(line.strip() and line[4:] for line in code.splitlines()))


@pytest.mark.parametrize("folder", sorted(p.name for p in TESTS.iterdir() if p.is_dir() and p.name != "theory"))
def test_no_other_test_needs_it(folder: str) -> None:
    """So that they can be run without it; these are about it, or look whether it is there."""
    known = {Path(__file__).name, "smoke.py", "test_types.py", "transcript_cases.py", "fuzz_targets.py"}
    for path in (TESTS / folder).rglob("*.py"):
        if path.name not in known:
            assert not re.search(r"\brs\.theory\b|\brhostar\.theory\b", path.read_text()), path
