"""How `make docs` builds the pages: Markdown as it is read in the repository, and the reference from docstrings.

What Sphinx does not do by itself is in ``extensions``: lists of public names, the command line, mathematics, output.
"""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import rhostar

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent / "tools")]

project = "rhostar"
author = "The rhostar authors"
copyright = "the rhostar authors"
version = release = rhostar.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["sphinx_copybutton", "sphinx_design"]
extensions += ["public_names", "command_line", "mathml", "outputs", "unbroken", "gallery"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_math_renderer = "mathml"
source_suffix = {".md": "markdown", ".ipynb": "markdown"}  # extensions/gallery.py runs notebooks
highlight_language = "text"  # a block says its language; without one it is what a program printed
myst_heading_anchors = 3
exclude_patterns = ["images"]

html_theme = "furo"
html_title = "rhostar"
html_static_path = ["static"]
html_extra_path = ["../build/example"]  # extensions/gallery.py writes it
html_css_files = ["site.css"]
html_show_sourcelink = False
pygments_dark_style = "github-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Types with a name are shown by it, not spelled out.
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "DTypeLike", "HeuristicLike", "FilePath", "Initial", "Seed", "Weights")
}
# What scikit-learn adds to every estimator is described there.
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # the signature has the types
nitpicky = False
suppress_warnings = ["ref.python"]  # a name may be public in two packages


def _plain_aliases(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write an alias in a union by its name; autodoc writes TypeAliasForwardRef('ArrayLike')."""
    plain = [text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returns)]
    return plain[0], plain[1]


def setup(app: Sphinx) -> None:
    """Connect what conf.py itself does."""
    app.connect("autodoc-process-signature", _plain_aliases)
