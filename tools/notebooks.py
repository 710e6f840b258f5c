"""Run notebooks without Jupyter: the pages show them with their output, and the tests check that their code runs.

nbclient with a kernel would do the same and bring some thirty packages; these notebooks need print and matplotlib only.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def cells(text: str) -> list[tuple[str, str]]:
    """Return the kind (markdown or code) and the text of each cell of a notebook."""
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]


def run(code: str, space: dict[str, Any], picture: Path) -> tuple[str, bool]:
    """Run code; return what it prints, and whether it drew a figure, which is saved as a picture."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, picture.stem, "exec"), space)
    drawn = bool(plt.get_fignums())
    if drawn:
        picture.parent.mkdir(parents=True, exist_ok=True)
        plt.gcf().savefig(picture, dpi=110, bbox_inches="tight")
        plt.close("all")
    return out.getvalue(), drawn


def page(text: str, name: str, pictures: Path) -> str:
    """Return a notebook as Markdown, with what its cells print and draw; links to pictures are absolute paths."""
    space: dict[str, Any] = {}
    parts, heading = [], ""
    for number, (kind, content) in enumerate(cells(text)):
        if kind == "markdown":
            parts.append(content)
            heading = content.partition("\n")[0].strip("# ")
            continue
        picture = pictures / f"{name}-{number}.png"
        printed, drawn = run(content, space, picture)
        parts.append(f"```python\n{content}\n```")
        parts += [f"```\n{printed}```"] * bool(printed) + [f"![{heading}]({picture})"] * drawn
    return "\n\n".join(parts) + "\n"
