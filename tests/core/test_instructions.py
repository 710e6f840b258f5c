"""No later change slows the loop unseen: its instructions against those of a textbook A*, counted, not timed.

Both are built by the same compiler in the same run, so neither the machine nor its load matters. When the loop
has become better, or worse for a good reason, record the new ratios:

    python tests/core/test_instructions.py
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "benchmarks" / "results" / "instructions.json"


def build(folder: str) -> Path:
    program = Path(folder) / "instructions"
    compiler = os.environ.get("CXX", "g++")
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-ffp-contract=off", "-I", str(ROOT / "src" / "core")]
    subprocess.run([compiler, *flags, ROOT / "benchmarks" / "native" / "instructions.cpp", "-o", program], check=True)
    return program


def count(program: Path, which: str, rho: str, side: int) -> tuple[int, float]:
    """Return the instructions of one search, without setting it up, and the cost it found."""
    run = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect=search_{which}",
            "--callgrind-out-file=/dev/null",
            program,
            which,
            rho,
            str(side),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
    )
    return int(re.search(r"Collected : (\d+)", run.stderr)[1]), float(run.stdout)


def ratios() -> dict[str, float]:
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        # Graphs of up to 20,000 vertices have a kernel of their own.
        for rho, side in (("consistent", 150), ("noisy", 150), ("consistent", 90), ("noisy", 90)):
            ours, cost = count(program, "core", rho, side)
            textbook, expected = count(program, "textbook", rho, side)
            assert cost == expected
            result[f"{rho}, {side * side} vertices"] = ours / textbook
    return result


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed, so instructions are not counted")
def test_instructions_are_within_a_tenth_of_the_record() -> None:
    record = json.loads(RECORD.read_text())
    for rho, ratio in ratios().items():
        assert ratio < 1.1 * record[rho], f"{rho}: {ratio:.3f} of a textbook A*, recorded {record[rho]:.3f}"


if __name__ == "__main__":
    RECORD.write_text(json.dumps(ratios(), indent=1) + "\n")
    print(RECORD.read_text())
