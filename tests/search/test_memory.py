"""Files are streamed and sets are saved and mapped: nobody holds a second copy. Each claim in a process of its own."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

MB = 1 << 20

PEAK = """
import sys
import numpy as np
import rhostar as rs
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
"""


def grown(code: str, *arguments: object) -> float:
    """Run `code`, which prints the bytes by which its largest memory grew; return megabytes."""
    command = [sys.executable, "-c", PEAK + code, *map(str, arguments)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / MB


@pytest.fixture(autouse=True)
def _linux_alone(sanitized: bool) -> None:
    if sanitized or not Path("/proc/self/status").exists():
        pytest.skip("the largest memory of a process is not to be had here")


@pytest.mark.parametrize("packed", [False, True])
def test_text_is_streamed(packed: bool, tmp_path: Path) -> None:
    """60 MB, nearly all of it comments: a reader that kept the file would grow by as much."""
    comment = "c" + "x" * 999 + "\n"
    content = ("p sp 3 2\na 1 2 5\n" + comment * 60_000 + "a 2 3 5\n").encode()
    path = tmp_path / ("x.gr.gz" if packed else "x.gr")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    code = """
rs.datasets.read_dimacs(sys.argv[2])
before = peak()
network = rs.datasets.read_dimacs(sys.argv[1])
assert network.graph.m == 2
print(peak() - before)
"""
    small = tmp_path / "small.gr"
    small.write_text("p sp 2 1\na 1 2 3\n")
    assert grown(code, path, small) < 25


def test_saving_and_loading_hold_one_copy_at_most(tmp_path: Path) -> None:
    """128 MB of snapshots: saving adds next to nothing, loading mapped too."""
    save = """
graph = rs.Graph.grid(100, 100)
weights = np.ones((400, graph.m), dtype=np.float64)
instances = rs.InstanceSet(graph, weights, 0, goal=graph.n - 1)
before = peak()
assert weights.nbytes > 120 << 20
instances.save(sys.argv[1])
print(peak() - before)
"""
    load = """
import rhostar.instances
before = peak()
instances = rs.InstanceSet.load(sys.argv[1], mmap=True)
assert len(instances) == 400
print(peak() - before)
"""
    assert grown(save, tmp_path / "set") < 30
    assert grown(load, tmp_path / "set") < 50
