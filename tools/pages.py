"""Run the Python blocks of pages and compare or update what they print.

A block without a language right after a Python block, with no text in between, is what that block prints. The blocks of
a page share their variables. ``python tools/pages.py`` updates the printed blocks of the README and of all pages in
``docs``; name files to update only those. The tests check that there is nothing to update.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def outputs(path: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Run the blocks of a page in order; yield each block of output as it is on the page, and what was printed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    page = path.read_text(encoding="utf-8")
    printed, end = "", 0
    for block in BLOCK.finditer(page):
        language, text = block.groups()
        between, end = page[end : block.start()], block.end()
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(path), "exec"), space)
            printed = out.getvalue()
            continue
        if language == "" and printed and not between.strip():
            yield block, printed
        printed = ""


def update(path: Path) -> bool:
    """Write what the blocks print into the page, and return whether anything changed."""
    text, parts, end = path.read_text(encoding="utf-8"), [], 0
    for block, printed in outputs(path):
        parts += [text[end : block.start(2)], printed]
        end = block.end(2)
    new = "".join([*parts, text[end:]])
    if new != text:
        path.write_text(new, encoding="utf-8")
    return new != text


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or PAGES:
        if update(page):
            print(f"updated {page}")
