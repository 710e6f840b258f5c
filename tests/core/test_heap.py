"""Builds and runs the heap's own test, which is in C++: Python never sees the heap."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_heap_is_a_set_ordered_by_score_and_vertex(tmp_path: Path) -> None:
    program = tmp_path / "heap_test"
    flags = ["-std=c++20", "-O2", "-g", "-Wall", "-Wextra", "-ffp-contract=off", "-I", str(ROOT / "src" / "core")]
    # Inside a sanitized run the preloaded library would meet the compiler, too.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    build = [os.environ.get("CXX", "g++"), *flags, str(Path(__file__).with_name("heap_test.cpp")), "-o", str(program)]
    subprocess.run(build, check=True, env=environment)
    run = subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout
