"""Draws the pictures of the gallery and of the notebooks, and writes the example of a report, when the pages are built.

In the gallery, the figure of each Python block is put above it. In a notebook, what a cell prints and draws is put
below it.
"""

import os
import re
from pathlib import Path

import notebooks  # in the tools folder
from sphinx.application import Sphinx

from rhostar.report import write

_BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def draw(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the source of the gallery or of a notebook by the page with its pictures."""
    folder = Path(app.srcdir).parent / "build" / "gallery"
    here = os.path.relpath(folder, Path(app.srcdir, docname).parent)
    if docname.startswith("notebooks/"):
        text = notebooks.page(source[0], Path(docname).name, folder)
        source[0] = text.replace(f"]({folder}", f"]({here}")
    elif docname == "gallery":
        space: dict[str, object] = {}
        numbers = iter(range(100))

        def drawn(block: re.Match[str]) -> str:
            name = f"{next(numbers)}.png"
            found = notebooks.run(block[1], space, folder / name)[1]
            heading = block.string[: block.start()].rpartition("\n## ")[2].partition("\n")[0]
            return f"![{heading}]({here}/{name})\n\n{block[0]}" if found else block[0]

        source[0] = _BLOCK.sub(drawn, source[0])


def write_report(app: Sphinx) -> None:
    """Run the page on the report and write what it makes next to it."""
    space: dict[str, object] = {}
    exec(_BLOCK.findall(Path(app.srcdir, "report.md").read_text(encoding="utf-8"))[0], space)
    write(space["report"], _example(app) / "example-report.html")


def _example(app: Sphinx) -> Path:
    """Return the folder of the example; ``html_extra_path`` in conf.py names it, so it must exist early."""
    folder = Path(app.srcdir).parent / "build" / "example"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw when the page is read."""
    app.connect("source-read", draw)
    app.connect("builder-inited", write_report)
    _example(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
