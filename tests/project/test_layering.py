"""Imports go downwards only: which package may import which."""

import pytest
from code_map import UPWARD, imports, modules, package_of

# Each package may import from the packages before it. The modules of one package may
# import each other, without going round in a circle. Packages on one line never import each other.
LAYERS = [
    ["errors"],
    ["_core"],
    ["_archives", "_arrays", "_display", "_failures", "_files"],
    ["bounds"],
    ["graph"],
    ["hierarchy"],
    ["instances"],
    ["_workers"],
    ["_checkpoints"],
    ["heuristics"],
    ["_parallel"],
    ["search"],
    ["routing"],
    ["utilities"],
    ["lines"],
    ["certificates"],
    ["learners", "datasets", "interop"],
    ["report"],
    ["rhostar"],  # the public names
    ["cli"],
    ["theory"],
    ["__main__"],
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
PUBLIC = {"errors"}
"""Modules outside all packages that are part of the public interface."""


def below(module: str) -> set[str]:
    return {other for other in imports(module) if (module, other) not in UPWARD}


def test_every_module_has_its_place() -> None:
    assert sorted({package_of(name) for name in modules()} - set(LEVEL)) == []


@pytest.mark.parametrize("name", modules())
def test_imports_go_downwards(name: str) -> None:
    mine = package_of(name)
    for other in below(name):
        package = package_of(other)
        assert package in LEVEL, f"{name} imports {other}, which has no place in the layers"
        assert package == mine or LEVEL[package] < LEVEL[mine], f"{name} imports {other}, which is not below it"


def test_no_package_imports_in_a_circle() -> None:
    left = {name: below(name) for name in modules()}
    while left:
        free = [name for name, others in left.items() if not others & set(left)]
        assert free, f"a circle of imports among {sorted(left)}"
        for name in free:
            del left[name]


def test_every_exception_to_the_order_is_needed() -> None:
    for module, other in UPWARD:
        assert other in imports(module)


def test_nothing_imports_theory() -> None:
    """The library works without it. What users learn with, read and convert has no part in it either."""
    for name in modules():
        packages = {package_of(other) for other in imports(name)}
        if package_of(name) == "theory":
            assert not packages & {"learners", "datasets", "interop", "report"}, name
        else:
            assert "theory" not in packages, name


def test_bounds_receive_numbers() -> None:
    """No models, no graphs: a bound is a function of losses, capacities and ranges."""
    for name in modules():
        if package_of(name) == "bounds":
            assert all(package_of(other) in ("errors", "_arrays", "_display", "bounds") for other in imports(name)), (
                name
            )


def test_internals_have_an_underscore() -> None:
    """A path without one is public on purpose; these are all there are."""
    public = {name for name in modules() if not any(part.startswith("_") for part in name.split("."))}
    neighbors = {f"interop.{name}" for name in ("fleetpy", "igraph", "networkx", "osmnx", "pandas", "sumo", "uxsim")}
    assert public == PUBLIC | neighbors | {"theory.atlas", "search.reference", "cli.main"}


def test_the_test_would_see_an_upward_import() -> None:
    assert LEVEL["graph"] < LEVEL["instances"]
    assert "graph._graph" in imports("instances._set")  # by a public name of the package
    assert "instances._folder" in imports("instances._storage")
    assert "joblib" not in imports("_parallel")
