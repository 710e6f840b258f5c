"""Mathematics in the pages as MathML, which browsers show by themselves: nothing is loaded from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def _spaced(tex: str) -> str:
    """Put the small spaces around logarithms that TeX puts there, and docutils does not."""
    tex = re.sub(r"(?<=[\w)}!])\s*(?=\\(?:lg|ln)(?![a-z]))", r"\\,", tex)
    return re.sub(r"(\\(?:lg|ln)(?![a-z])(?:\^\w)?)\s*(?=[^\s(^]|$)", r"\1\\,", tex)


def _shown(node: nodes.Element, as_block: bool) -> str:
    try:
        shown: str = tex2mathml(_spaced(node.astext()), as_block=as_block)
        # docutils sets the index of a letter with an accent below the letter.
        shown = re.sub(
            r"<munderover>\s*(<mi>\w</mi>)\s*((?:(?!</?m(?:under)?over).)*?)\s*(<mo[^>]*>[ˆˉ˜]</mo>)\s*</munderover>",
            r'<msub><mover accent="true">\1\3</mover>\2</msub>',
            shown,
            flags=re.DOTALL,
        )
        shown = re.sub(r"<msub>(?=\s*<mi>[gjpqyρμφψηχβγ]</mi>)", '<msub class="low">', shown)
        return shown.replace('class="capital-greek"', 'mathvariant="normal"')
    except MathError as error:
        logger.warning("mathematics: %s in %s", error, node.astext(), location=node)
        return node.astext()


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a line."""
    self.body.append(_shown(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    self.body.append(f'<div class="formula">{_shown(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the renderer known."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
