"""The lock files hold hashes for everything, and installs check them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["run", "dev", "peers", "uv"])
def test_every_locked_package_has_hashes(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9._-]+==\S+", line), line
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", line), line


def test_installs_check_them() -> None:
    installs = re.findall(r"^.*-r locks/\w+\.txt.*$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert len(installs) == 4
    assert all("--require-hashes" in line for line in installs)


def test_a_new_lock_has_hashes_too() -> None:
    """There is one target, and every line of it writes hashes."""
    (target,) = re.findall(r"^lock:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    lines = target.splitlines()
    assert len(lines) == 4
    assert all("$(LOCK)" in line for line in lines)
    assert re.search(r"^LOCK := (?:.*\\\n)*.*--generate-hashes$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
