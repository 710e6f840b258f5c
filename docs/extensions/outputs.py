"""Blocks without a language: what the Python block before it prints looks like output, and the rest like plain text."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class Outputs(SphinxPostTransform):
    """Give the class ``output`` to each block that shows what the block before it prints."""

    default_priority = 10

    def run(self, **kwargs: object) -> None:
        """Go through the blocks of a page."""
        for block in self.document.findall(nodes.literal_block):
            before = block.previous_sibling()
            follows = isinstance(before, nodes.literal_block) and before.get("language") in ("python", "bash", "sh")
            if follows and block.get("language") in ("text", "default"):
                block["classes"].append("output")
                lines = block.astext().splitlines()
                if max(map(len, lines), default=0) > 110 or not any("  " in line.strip() for line in lines):
                    block["classes"].append("sentences")  # no table: its lines may be wrapped


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the transform known."""
    app.add_post_transform(Outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
