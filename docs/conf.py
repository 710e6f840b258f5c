"""How `make docs` builds the pages: Markdown as it is read in the repository, and the reference from docstrings.

The directive ``public-names`` lists the public names of a package in the reference. It reads them from the package's
``__init__.pyi``, the list that the package itself exports, so a new public name appears without further work.
"""

import re
import sys
import types
from importlib import import_module
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

import rhostar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from code_map import package_of, public_names  # the tools folder is no package

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
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Rho", "Seed")}  # by name, not spelled out
# What scikit-learn adds to every estimator is described there.
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # the signature has the types
nitpicky = False
suppress_warnings = ["ref.python"]  # a name may be public in two packages

# The order in which a reader meets the names of the top level, by the package that defines them.
READING_ORDER = ["graph", "instances", "search", "utilities", "learners", "certificates", "bounds"]


class PublicNames(Directive):
    """``.. public-names:: package`` documents each public name of a package; a name described earlier gets a link."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the entries of the package."""
        environment = self.state.document.settings.env
        described = environment.temp_data.setdefault("described", {})
        package = self.arguments[0]
        module = import_module(package)
        lines, elsewhere = [f".. automodule:: {package}", "   :no-members:", ""], []
        for name in _names(package):
            value, whole = getattr(module, name), f"{package}.{name}"
            if isinstance(value, types.ModuleType):
                continue  # it has a list of its own
            if id(value) in described:
                elsewhere.append(f":py:obj:`{name} <{described[id(value)]}>`")
                continue
            described[id(value)] = whole
            lines += [f".. auto{_kind(value)}:: {whole}", ""]
        if elsewhere:
            lines += ["Described above, and also here: " + ", ".join(elsewhere) + "."]
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, source=package), self.content_offset, parent)
        return parent.children


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def _names(package: str) -> list[str]:
    """Return the public names of a package, from its list, or those that a public module defines."""
    homes = public_names(package.removeprefix("rhostar").removeprefix("."))
    if not homes:
        module = import_module(package)
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == package]
        public = getattr(module, "__all__", [name for name in own if name[0] != "_"])
        return sorted(public, key=[*own, *public].index)  # as they are defined; those made on demand last
    packages = [*READING_ORDER, *(package_of(home) for home in homes.values())]
    return (
        sorted(homes, key=lambda name: packages.index(package_of(homes[name]))) if package == "rhostar" else list(homes)
    )


def _plain_aliases(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write an alias in a union by its name; autodoc writes TypeAliasForwardRef('ArrayLike')."""
    plain = [text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returns)]
    return plain[0], plain[1]


def setup(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-signature", _plain_aliases)
