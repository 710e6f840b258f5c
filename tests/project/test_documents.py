"""The documents: every Python block runs, every plain block after one is what it printed, and the pages build."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_runs_and_prints_what_the_page_says(path: Path) -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    printed = None
    for language, text in re.findall(r"^```(\S*)\n(.*?)^```$", path.read_text(), flags=re.DOTALL | re.MULTILINE):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(path), "exec"), space)
            printed = out.getvalue()
        elif language == "" and printed:
            assert text == printed
            printed = None
        else:
            printed = None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.slow
def test_the_pages_build_without_a_warning(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("the pages are the same under a sanitizer")
    pytest.importorskip("furo", reason="the packages behind make docs are not installed")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        str(ROOT / "docs"),
        str(tmp_path),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "expansion_code" in (tmp_path / "reference.html").read_text()
