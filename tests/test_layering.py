"""Imports go downwards only; the rooms of the house and who may enter which."""

import ast
from pathlib import Path

import pytest

import rhostar

PACKAGE = Path(rhostar.__file__).parent

# Each room may import from the rooms before it, and from itself.
LAYERS = [
    ["errors"],
    ["_core"],
    ["arrays", "storage", "mapped"],
    ["construction"],
    ["networks", "derived"],
    ["graph"],
    ["graph_parts", "snapshots"],
    ["instances"],
    ["parallel"],
    ["search.reference", "search.trace"],
    ["search.outcome"],
    ["search.run"],
    ["heuristics", "utilities"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def modules() -> list[str]:
    found = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")]
    return sorted(name for name in found if not name.endswith("__init__"))


def imports(name: str) -> set[str]:
    """Modules of the package that are imported when `name` runs; imports for the type checker do not count."""
    tree = ast.parse((PACKAGE / (name.replace(".", "/") + ".py")).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
        # A lower room may call back into the one that asked it to, from inside a function of that room.
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "rhostar":
            home = node.module.removeprefix("rhostar").removeprefix(".")
            found |= {home} if home else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.removeprefix("rhostar.") for a in node.names if a.name.startswith("rhostar")}
    return found


def test_every_module_has_its_place() -> None:
    assert set(modules()) == set(LEVEL) - {"_core"}


@pytest.mark.parametrize("name", modules())
def test_imports_go_downwards(name: str) -> None:
    for other in imports(name):
        assert other in LEVEL, f"{name} imports {other}, which has no place in the layers"
        assert LEVEL[other] < LEVEL[name], f"{name} imports {other}, which is not below it"


def test_the_test_would_see_an_upward_import() -> None:
    assert LEVEL["graph"] < LEVEL["instances"]
    assert "graph" in imports("instances")
    assert "joblib" not in imports("parallel")
