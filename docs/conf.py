"""How `make docs` builds the pages: Markdown as it is read in the repository, and the reference from docstrings."""

import rhostar

project = "rhostar"
author = "The rhostar authors"
copyright = "the rhostar authors"
version = release = rhostar.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
exclude_patterns = ["images"]

html_theme = "furo"
html_title = "rhostar"
html_show_sourcelink = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# What scikit-learn adds to every estimator is described there.
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
nitpicky = False
suppress_warnings = ["ref.python"]  # one name, documented where it is defined and where it is exported
