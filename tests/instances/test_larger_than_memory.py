"""A mapped set that is larger than the memory of the process: saved, fitted, evaluated, certified and described."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_SCALE = Path(__file__).parents[2] / "benchmarks" / "scale.py"


def limited(size_mb: int, limit_mb: int) -> subprocess.CompletedProcess[str]:
    """Run the steps of the benchmark on so many megabytes of snapshots, with so much memory beyond the libraries."""
    command = [sys.executable, str(_SCALE), "--inside", "beyond_memory", str(size_mb), str(limit_mb)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.usefixtures("limited_memory")
def test_a_set_larger_than_memory() -> None:
    """``benchmarks/scale.py --large`` has larger numbers."""
    child = limited(600, 250)
    assert child.returncode == 0, child.stderr[-3000:]
    found = json.loads(child.stdout)
    steps = {name.removesuffix("_s") for name in found if name.endswith("_s")}
    assert {"save", "MeanDistance", "MeanWeights", "LowerEnvelope", "Potentials", "evaluate", "certify", "info"} < steps
    assert {"SelfImitatedRanking", "BumpSearch"} < steps
    assert found["peak_mb"] < 100


@pytest.mark.usefixtures("limited_memory")
def test_the_limit_would_be_noticed() -> None:
    child = limited(60, 20)
    assert child.returncode != 0
    assert "MemoryError" in child.stderr
