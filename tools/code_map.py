"""The map of the code, drawn from the imports: which module uses which, and which package is above which.

``python tools/code_map.py`` writes the map into ``docs/architecture.md`` between its two marks; ``--check`` only says
whether the page is up to date. The test of the layers reads imports with the same functions.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "rhostar"
PAGE = ROOT / "docs" / "architecture.md"
UPWARD = {("graph._graph", "interop.networkx"), ("routing._router", "interop.osmnx")}
"""Imports that may go up, inside a function: `Graph.from_networkx` and its like only delegate."""
BEGIN, END = "<!-- map: begin (tools/code_map.py) -->", "<!-- map: end -->"


def modules() -> list[str]:
    """Return every module of rhostar, ``__init__`` left out, without the leading ``rhostar.``."""
    found = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")]
    return sorted(name for name in found if not name.endswith("__init__"))


def package_of(module: str) -> str:
    """Return the package of a module; a module outside all packages counts as one."""
    return module.split(".", maxsplit=1)[0]


@functools.cache
def public_names(package: str) -> dict[str, str]:
    """Return for each public name of a package the module that defines it, from its ``__init__.pyi``."""
    stub = PACKAGE / package / "__init__.pyi"
    names: dict[str, str] = {}
    if not stub.exists():
        return names
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                home = node.module or alias.name
                names[alias.name] = f"{package}.{home}" if package else home
    return names


def _is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.with_suffix(".pyi").exists()


def _targets(module: str, names: list[str]) -> set[str]:
    """Return the modules behind ``from rhostar.<module> import <names>``."""
    found = set()
    for name in names:
        whole = f"{module}.{name}" if module else name
        if _is_module(whole):
            found.add(whole)
        elif module and _is_module(module):
            found.add(module)
        else:
            # A package, or a public name of one; of unknown names the package itself is kept, so they show.
            found.add(public_names(module).get(name, module or whole))
    return found


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of the package that are imported when `module` runs, at its top or inside functions.

    Imports for the type checker do not count.
    """
    tree = ast.parse((PACKAGE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "rhostar":
            home = node.module.removeprefix("rhostar").removeprefix(".")
            found |= _targets(home, [alias.name for alias in node.names])
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if _ours(alias.name)]
            found |= {name.removeprefix("rhostar").removeprefix(".") or "rhostar" for name in names}
    return frozenset(found)


def _ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == "rhostar"


def packages() -> dict[str, set[str]]:
    """Return for each package those that its modules import, upward imports left out."""
    found: dict[str, set[str]] = {}
    for module in modules():
        mine = found.setdefault(package_of(module), set())
        below = {other for other in imports(module) if (module, other) not in UPWARD}
        mine |= {package_of(other) for other in below} - {package_of(module)}
    return found


def summary(module: str) -> str:
    """Return the first sentence of a module's docstring, as Markdown."""
    tree = ast.parse((PACKAGE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
    text = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
    text = re.sub(r":[a-z]+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    return text.replace("``", "`").replace("*", "\\*")


def heights() -> list[list[str]]:
    """Return the packages by height, the lowest first: each is above all that it imports."""
    uses = packages()

    @functools.cache
    def height(package: str) -> int:
        return 1 + max((height(other) for other in uses.get(package, ())), default=-1)

    found: dict[int, list[str]] = {}
    for package in sorted(uses):
        found.setdefault(height(package), []).append(package)
    return [found[level] for level in sorted(found)]


def draw() -> str:
    """Return the map as Markdown: the packages level by level, and what each of them has."""
    levels = heights()
    lines = ["```text"]
    for level in reversed(levels):
        lines += textwrap.wrap("   ".join(_name(package) for package in level), 100, break_on_hyphens=False)
        lines += ["-" * 60]
    lines += ["src/core: compiled, does not depend on Python", "```", "", "| package | has |", "|---|---|"]
    for package in (package for level in reversed(levels) for package in level):
        module = f"{package}.__init__" if (PACKAGE / package).is_dir() else package
        lines.append(f"| `{_name(package)}` | {summary(module)} |")
    return "\n".join(lines) + "\n"


def _name(package: str) -> str:
    return f"{package}/" if (PACKAGE / package).is_dir() else f"{package}.py"


def main(arguments: list[str]) -> int:
    """Write the map into the page, or with ``--check`` compare it."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n\n{draw()}\n{END}{after}"
    if "--check" in arguments:
        if new != text:
            print("docs/architecture.md is out of date: run python tools/code_map.py")
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
