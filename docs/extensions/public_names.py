"""The directive ``public-names``: the reference of a package, from the list of names that it exports.

It reads ``__init__.pyi``, so a new public name appears without further work. Each name is described once, on the page
of the package that defines it, and under its shortest name: ``rhostar.Router``, not ``rhostar.routing.Router``.
"""

import inspect
import types
from importlib import import_module

from code_map import package_of, public_names  # in the tools folder
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx


class PublicNames(Directive):
    """``.. public-names:: package`` describes each public name of a package, after a table of all of them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table and the entries."""
        package = self.arguments[0]
        described = described_names()
        lines = [f".. automodule:: {package}", "   :no-members:", ""]
        entries = _exported(package)
        if package == "rhostar":
            homes = public_names("")
            entries = {name: entries[name] for name in sorted(entries, key=lambda name: _place(homes[name]))}
        if entries:
            lines += [".. list-table::", "   :class: summary", ""]
        for name, value in entries.items():
            lines += [f"   * - :py:obj:`{name} <{described[id(value)]}>`", f"     - {_summary(value)}"]
        lines.append("")
        for value in {id(value): value for value in _home(package).values()}.values():
            derived = isinstance(value, type) and value.__bases__ != (object,)
            lines += [f".. auto{_kind(value)}:: {described[id(value)]}", *["   :show-inheritance:"] * derived, ""]
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, source=package), self.content_offset, parent)
        return parent.children


def described_names() -> dict[int, str]:
    """Return for the address of each public object the name under which the reference describes it."""
    names: dict[int, str] = {}
    for package in ["rhostar", *packages()]:
        for name, value in _exported(package).items():
            names.setdefault(id(value), f"{package}.{name}")
    return names


def packages() -> list[str]:
    """Return the public modules below the top level, packages first."""
    top = [f"rhostar.{name}" for name, value in _values("rhostar").items() if isinstance(value, types.ModuleType)]
    below = [
        f"{package}.{name}"
        for package in top
        for name, value in _values(package).items()
        if isinstance(value, types.ModuleType) and package != "rhostar.interop"
    ]
    return [*top, *below, "rhostar.search.reference"]


def _values(package: str) -> dict[str, object]:
    """Return what a package exports, or what a public module defines."""
    module = import_module(package)
    listed = public_names(package.removeprefix("rhostar").removeprefix("."))
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == package]
    names = list(listed) or getattr(module, "__all__", [name for name in own if name[0] != "_"])
    return {name: getattr(module, name) for name in names}


def _exported(package: str) -> dict[str, object]:
    return {name: value for name, value in _values(package).items() if not isinstance(value, types.ModuleType)}


def _home(package: str) -> dict[str, object]:
    """Return the names that the page of a package describes: those whose home it is, of the top level too."""
    if package == "rhostar":
        return {}
    short = package.removeprefix("rhostar.")
    top = {
        name: getattr(import_module("rhostar"), name)
        for name, home in public_names("").items()
        if package_of(home) == short and home != short
    }
    described = described_names()
    own = {name: value for name, value in _exported(package).items() if described[id(value)].startswith(package + ".")}
    return top | own


def _place(module: str) -> int:
    """Return where a reader meets the names of a module: those who route first."""
    order = ["routing", "hierarchy", "graph", "instances", "search", "learners", "heuristics", "utilities"]
    package = package_of(module)
    return order.index(package) if package in order else len(order)


def _summary(value: object) -> str:
    first = (inspect.getdoc(value) or "").split("\n\n")[0] if callable(value) else ""
    return " ".join(first.split()) or "\\ "


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
