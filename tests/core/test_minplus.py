"""Builds and runs the test of the products of sums and minima, which is in C++, optimized and with sanitizers."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Inside a sanitized run the preloaded library would meet the compiler, too.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


@pytest.mark.parametrize("mode", [["-O3"], ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]])
def test_all_vectors_give_the_same_bits(mode: list[str], tmp_path: Path) -> None:
    program, source = tmp_path / "minplus_test", Path(__file__).with_name("minplus_test.cpp")
    flags = ["-std=c++20", "-Wall", "-Wextra", "-ffp-contract=off", "-I", str(ROOT / "src" / "core")]
    subprocess.run([os.environ.get("CXX", "g++"), *flags, *mode, source, "-o", program], check=True, env=ENVIRONMENT)
    run = subprocess.run([program], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout + run.stderr
