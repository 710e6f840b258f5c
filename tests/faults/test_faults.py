"""Some of the faults of ``make faults``, and some seconds of the threads of ``make test-threads``."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def _ran(script: str, *options: str) -> str:
    child = subprocess.run(
        [sys.executable, HERE / script, *options], capture_output=True, text=True, timeout=600, check=False
    )
    assert child.returncode == 0, child.stdout[-3000:] + child.stderr[-3000:]
    return child.stdout


@pytest.mark.usefixtures("limited_memory")
@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("g++") is None, reason="needs Linux and g++")
def test_a_call_of_the_system_that_fails_leaves_the_old_or_the_new() -> None:
    found = _ran("inject.py", "--only", "save set", "load model", "of a hierarchy", "--most", "25")
    assert int(found.splitlines()[-1].split()[0]) > 150, found
    assert " 0 failures" in found


@pytest.mark.usefixtures("limited_memory")
@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("g++") is None, reason="needs Linux and g++")
def test_what_a_search_without_memory_left_is_not_used_again() -> None:
    """The next search found entries in the buckets of the one that had failed, and went on forever."""
    found = _ran("inject.py", "--only", "fit MeanDistance", "fit Landmarks", "--kinds", "memory", "--most", "12")
    assert int(found.splitlines()[-1].split()[0]) > 10, found
    assert " 0 failures" in found


def test_threads_get_the_answers_of_one_thread() -> None:
    found = _ran("stress.py", "--seconds", "1")
    assert int(found.split()[0]) > 10, found
