"""tools/release.py in a small repository of its own: what it refuses, and the tag it makes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("make")), reason="git and make are needed to try a release"
)

FILES = {
    "src/rhostar/__init__.py": '"""A package."""\n\n__version__ = "1.2.3"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2024-02-29)\n\n- New.\n\n## 1.2.2 (2024-01-01)\n",
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\ndate-released: 2024-02-29\n",
    "Makefile": "test wheel docs:\n\t@mkdir -p build && echo $@ >> build/log\n",
    ".gitignore": "build/\n",
}


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def release(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(root / "tools" / "release.py"), *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def change(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    git(root, "commit", "--all", "--message", f"Change {name}")


@pytest.fixture
def repository(tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Inside a git hook these point at the repository that is tested.
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tools").mkdir()
    shutil.copy(pytestconfig.rootpath / "tools" / "release.py", tmp_path / "tools")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "First")
    return tmp_path


def test_a_dry_run_reports_and_changes_nothing(repository: Path) -> None:
    code, said = release(repository, "--dry-run")
    assert code == 0, said
    assert "MISSING" not in said
    assert "Would run make test, make wheel, make docs and then tag v1.2.3." in said
    assert git(repository, "tag") == ""
    assert not (repository / "build").exists()


def test_a_release_runs_everything_and_tags_the_commit(repository: Path) -> None:
    code, said = release(repository)
    assert code == 0, said
    assert (repository / "build" / "log").read_text().split() == ["test", "wheel", "docs"]
    assert git(repository, "cat-file", "-t", "v1.2.3") == "tag"  # annotated
    assert git(repository, "rev-parse", "v1.2.3^{commit}") == git(repository, "rev-parse", "HEAD")
    code, said = release(repository)
    assert code == 1
    assert "the tag v1.2.3 is already there" in said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("src/rhostar/__init__.py", '__version__ = "1.2"\n', "must be of the form 1.2.3"),
        ("src/rhostar/__init__.py", '__version__ = "1.3.0"\n', 'must be "## 1.3.0 (YYYY-MM-DD)", it is "1.2.3'),
        ("CHANGELOG.md", "## 1.2.3 (unreleased)\n", 'it is "1.2.3 (unreleased)"'),
        ("CHANGELOG.md", "# Changelog\n", 'it is "nothing"'),
        ("CHANGELOG.md", "## 1.2.3 (2023-02-29)\n", "2023-02-29 is no date"),
        ("CITATION.cff", "version: 1.2.2\ndate-released: 2024-02-29\n", 'no line "version: 1.2.3"'),
        ("CITATION.cff", "version: 1.2.3\n", 'no line "date-released: 2024-02-29"'),
    ],
)
def test_files_that_disagree_are_refused(repository: Path, name: str, text: str, said: str) -> None:
    change(repository, name, text)
    for arguments in ([], ["--dry-run"]):
        code, printed = release(repository, *arguments)
        assert code == 1
        assert printed.count(said) == 1
    assert git(repository, "tag") == ""
    assert not (repository / "build").exists()


def test_only_a_clean_main_is_released(repository: Path) -> None:
    (repository / "notes.txt").write_text("not committed")
    code, said = release(repository)
    assert (code, "not committed: notes.txt\n" in said) == (1, True)
    (repository / "more.txt").write_text("nor this")
    assert "not committed: more.txt and 1 more\n" in release(repository, "--dry-run")[1]
    (repository / "notes.txt").unlink()
    (repository / "more.txt").unlink()
    git(repository, "switch", "--quiet", "--create", "other")
    code, said = release(repository)
    assert (code, "the branch must be main, it is other" in said) == (1, True)
    assert git(repository, "tag") == ""


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("false", "make wheel failed"),
        ("touch left_behind", "not committed: left_behind"),
        ("git commit --quiet --allow-empty --message More", "new commits since the checks began"),
    ],
)
def test_what_goes_wrong_on_the_way_leaves_no_tag(repository: Path, recipe: str, said: str) -> None:
    change(repository, "Makefile", f"test docs:\n\t@true\nwheel:\n\t@{recipe}\n")
    code, printed = release(repository)
    assert code == 1
    assert said in printed
    assert git(repository, "tag") == ""
