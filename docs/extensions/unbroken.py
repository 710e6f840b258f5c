"""What stays on one line: a number with its unit, an option of the command line, and short code in a table."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

_SPACE = re.compile(
    r"(?<=\d) (?=(?:%|[nµm]?s|min|kB|KiB|[MG]B)(?!\w))"  # 335 ms
    r"|(?<=[≤<=]) (?=\d)| (?=[≤<=] \d)"  # n ≤ 8
    r"|(?<=\blg) (?=n\b)|(?<=\blg[²³]) (?=n\b)|(?<=\bcity) (?=\d)|(?<=\bH\d) (?=[A-Z]|betting)"
)
_EXACT = (nodes.literal, nodes.literal_block, nodes.raw, nodes.math, nodes.math_block)


class Unbroken(SphinxPostTransform):
    """Put no-break spaces into the text, and give the class ``short`` to code that is not to be broken."""

    default_priority = 11

    def run(self, **kwargs: object) -> None:
        """Go through the text of a page."""
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, _EXACT) and _SPACE.search(text):
                text.parent.replace(text, nodes.Text(_SPACE.sub("\N{NO-BREAK SPACE}", text)))
        for code in self.document.findall(nodes.literal):
            shown = code.astext()
            if shown.startswith("--") or (len(shown) <= 22 and self._in_table(code)):
                code["classes"].append("short")

    def _in_table(self, node: nodes.Element | None) -> bool:
        return node is not None and (isinstance(node, nodes.entry) or self._in_table(node.parent))


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the transform known."""
    app.add_post_transform(Unbroken)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
