"""Builds and runs the heap's own test, which is in C++: Python never sees the heap."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Inside a sanitized run the preloaded library would meet the compiler, too.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("heap") / "heap_test"
    flags = ["-std=c++20", "-O2", "-g", "-Wall", "-Wextra", "-ffp-contract=off", "-I", str(ROOT / "src" / "core")]
    build = [os.environ.get("CXX", "g++"), *flags, str(Path(__file__).with_name("heap_test.cpp")), "-o", str(program)]
    subprocess.run(build, check=True, env=ENVIRONMENT)
    return program


def test_the_heap_is_a_set_ordered_by_score_and_vertex(program: Path) -> None:
    run = subprocess.run([program], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("contract", ["pop", "push", "decrease", "top"])
def test_without_ndebug_a_broken_contract_is_noticed(program: Path, contract: str) -> None:
    run = subprocess.run([program, contract], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == -signal.SIGABRT
    assert "Assertion" in run.stderr
