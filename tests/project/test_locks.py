"""The lock files hold hashes for everything, and installs check them."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = {path.stem: path.read_text().replace("\\\n", " ") for path in sorted((ROOT / "locks").glob("*.txt"))}


def locked(name: str) -> list[str]:
    """Return the packages in a lock file, a line for each version."""
    return [line for line in LOCKS[name].splitlines() if line.strip() and not line.startswith("#")]


def test_every_group_of_dependencies_is_locked() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert set(LOCKS) == set(groups) - {"build"} | {"run", "uv"}  # what a build needs is in the lock for running


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes(name: str) -> None:
    assert locked(name)
    for line in locked(name):
        assert re.match(r"[a-z0-9._-]+==\S+", line), line
        hashes = re.findall(r"--hash=(\S+)", line)
        assert hashes, line
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes), line


def test_one_package_has_the_same_hashes_in_all_groups() -> None:
    found: dict[str, set[str]] = {}
    for name in LOCKS:
        for line in locked(name):
            package, hashes = line.split()[0], set(re.findall(r"--hash=(\S+)", line))
            assert found.setdefault(package, hashes) == hashes, (name, package)


def installed(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let uv install a lock file into a folder, or try to."""
    uv = shutil.which("uv", path=str(Path(sys.prefix) / "bin"))
    if uv is None:
        pytest.skip("uv is not installed")
    (folder / "lock.txt").write_text(text)
    command = [uv, "pip", "install", *options, "--target", folder / "target", "--require-hashes"]
    command += ["--python", sys.executable, "-r", folder / "lock.txt"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("name", LOCKS)
def test_no_package_of_a_group_is_without_hashes(name: str, tmp_path: Path) -> None:
    """Whatever a group needs is in its lock: uv refuses one that lacks a package that another one needs."""
    ran = installed(LOCKS[name], tmp_path, "--dry-run")
    assert "hash" not in ran.stderr, ran.stderr
    if ran.returncode != 0:
        pytest.skip("packages cannot be looked up here")
    if name == "run":
        text = "\n".join(line for line in locked(name) if not line.startswith("threadpoolctl=="))  # for scikit-learn
        ran = installed(text, tmp_path, "--dry-run")
        assert ran.returncode != 0
        assert "hash" in ran.stderr
        assert "threadpoolctl" in ran.stderr


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    (line,) = (line for line in locked("run") if line.startswith("lazy-loader=="))
    wrong = re.sub(r"sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, line)

    once = ("--no-cache", "--no-deps")
    if installed(line, tmp_path, *once).returncode != 0:
        pytest.skip("packages cannot be fetched here")
    shutil.rmtree(tmp_path / "target")
    ran = installed(wrong, tmp_path, *once)
    assert ran.returncode != 0
    assert "hash" in ran.stderr.lower()
    assert not (tmp_path / "target" / "lazy_loader").exists()


def test_installs_check_them() -> None:
    installs = re.findall(r"^.*-r locks/\w+\.txt.*$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert len(installs) == 5
    assert all("--require-hashes" in line for line in installs)


def test_a_new_lock_has_hashes_too() -> None:
    """There is one target, and every line of it writes hashes."""
    (target,) = re.findall(r"^lock:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    lines = target.splitlines()
    assert len(lines) == 5
    assert all("$(LOCK)" in line for line in lines)
    assert re.search(r"^LOCK := (?:.*\\\n)*.*--generate-hashes$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
