"""Draws the pictures of the gallery: each Python block of the page is run, and its figure is put above it."""

import contextlib
import io
import re
from pathlib import Path

import matplotlib as mpl
from sphinx.application import Sphinx

mpl.use("agg")
import matplotlib.pyplot as plt

_BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def draw(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run the blocks of the page and write an image before each that draws one."""
    if docname != "gallery":
        return
    folder = Path(app.srcdir).parent / "build" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    space: dict[str, object] = {}

    def drawn(block: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block[1], "gallery.md", "exec"), space)
        if not plt.get_fignums():
            return block[0]
        name = f"{len(list(folder.glob('*.png')))}.png"
        plt.gcf().savefig(folder / name, dpi=110, bbox_inches="tight")
        plt.close("all")
        return f"![](../build/gallery/{name})\n\n{block[0]}"

    for old in folder.glob("*.png"):
        old.unlink()
    source[0] = _BLOCK.sub(drawn, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw when the page is read."""
    app.connect("source-read", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
