"""Imports go downwards only; the rooms of the house and who may enter which."""

import ast
import functools
from pathlib import Path

import pytest

import rhostar

PACKAGE = Path(rhostar.__file__).parent

# Each room may import from the rooms before it. A name with a star is a whole package: its modules may
# import each other, without going round in a circle.
LAYERS = [
    ["errors", "lazy"],
    ["_core"],
    ["arrays", "storage", "mapped", "failures"],
    ["construction"],
    ["networks", "derived"],
    ["graph"],
    ["graph_parts", "snapshots"],
    ["instances"],
    ["parallel"],
    ["search.reference", "search.trace", "search.intervals", "search.line"],
    ["search.outcome"],
    ["search.run"],
    ["search.pieces"],
    ["drop_in", "heuristics", "utilities", "families"],
    ["duals"],
    ["models"],
    ["certificates.*"],
    ["certifying.*"],
    ["learners.*", "lab.*", "datasets.*"],
    ["report.*"],
    ["rhostar"],  # the public names, for those who use the package as its users do
    ["cli.*"],
]
ROOM = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def room_of(name: str) -> str | None:
    """Return the room that a module or package of ours stands in."""
    package = name.split(".", maxsplit=1)[0] + ".*"
    return name if name in ROOM else package if package in ROOM else None


def modules() -> list[str]:
    found = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")]
    return sorted(name for name in found if not name.endswith("__init__"))


@functools.cache
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
    assert [name for name in modules() if room_of(name) is None] == []


@pytest.mark.parametrize("name", modules())
def test_imports_go_downwards(name: str) -> None:
    mine = room_of(name)
    assert mine is not None
    for other in imports(name):
        room = room_of(other)
        assert room is not None, f"{name} imports {other}, which has no place in the layers"
        same_package = room == mine and room.endswith(".*")
        assert same_package or ROOM[room] < ROOM[mine], f"{name} imports {other}, which is not below it"


def test_no_package_imports_in_a_circle() -> None:
    below = {name: imports(name) for name in modules()}
    while below:
        free = [name for name, others in below.items() if not others & set(below)]
        assert free, f"a circle of imports among {sorted(below)}"
        for name in free:
            del below[name]


def test_certificates_receive_numbers() -> None:
    """No models, no graphs: a bound is a function of losses, capacities and ranges."""
    for name in modules():
        if name.startswith("certificates."):
            assert all(other == "errors" or other.startswith("certificates") for other in imports(name)), name


def test_the_test_would_see_an_upward_import() -> None:
    assert ROOM["graph"] < ROOM["instances"]
    assert "graph" in imports("instances")
    assert "joblib" not in imports("parallel")
