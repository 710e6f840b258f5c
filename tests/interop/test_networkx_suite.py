"""networkx's own tests of shortest paths, run through the backend. `make test-networkx` runs all of its tests so."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rhostar.interop._networkx_info import FUNCTIONS

TESTS = Path(__file__).parents[1]
PLUGINS = ["-p", "no:cacheprovider", "-p", "support.networkx_calls"]


@pytest.mark.slow
def test_networkx_tests_pass_through_the_backend(tmp_path: Path) -> None:
    calls = tmp_path / "calls.json"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS, "--pyargs", "networkx.algorithms.shortest_paths"],
        cwd=tmp_path,  # away from this project's settings
        env=os.environ
        | {"NETWORKX_TEST_BACKEND": "rhostar", "NETWORKX_FALLBACK_TO_NX": "1", "RHOSTAR_CALLS": str(calls)}
        | {"PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"},  # the order of sets of names is not left to chance
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    counts = json.loads(calls.read_text())
    # A backend that answers nothing would pass as well.
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for functions in counts.values():
        for name, seen in functions.items():
            total[name] += seen.pop("answered", 0)
            reasons.update(seen)
    assert [name for name in FUNCTIONS if total[name] == 0] == []
    assert not any(counts["test_astar.py"].values()), "a call of test_astar was refused"
    assert set(reasons) <= {
        "paths without weights are found by breadth-first search, which is networkx's own",
        "only Dijkstra's algorithm is here",
        "a source is needed",
    }
