"""Imports go downwards only; the rooms of the house and who may enter which."""

import pytest
from housemap import UPWARD, imports, modules, room_of

# Each room may import from the rooms before it. The modules of one room may
# import each other, without going round in a circle. Rooms on one line never import each other.
LAYERS = [
    ["errors"],
    ["_core"],
    ["_archives", "_arrays", "_display", "_failures", "_files"],
    ["bounds"],
    ["graph"],
    ["instances"],
    ["_travel"],
    ["_carriers", "_checkpoints"],
    ["potentials"],
    ["_parallel"],
    ["search"],
    ["heuristics", "utilities", "families"],
    ["_models"],
    ["lines"],
    ["certificates"],
    ["learners", "lab", "datasets", "interop"],
    ["report"],
    ["rhostar"],  # the public names
    ["cli"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
PUBLIC = {"errors", "families", "heuristics"}
"""Modules on the ground floor that are part of the public interface."""


def below(module: str) -> set[str]:
    return {other for other in imports(module) if (module, other) not in UPWARD}


def test_every_module_has_its_place() -> None:
    assert sorted({room_of(name) for name in modules()} - set(LEVEL)) == []


@pytest.mark.parametrize("name", modules())
def test_imports_go_downwards(name: str) -> None:
    mine = room_of(name)
    for other in below(name):
        room = room_of(other)
        assert room in LEVEL, f"{name} imports {other}, which has no place in the layers"
        assert room == mine or LEVEL[room] < LEVEL[mine], f"{name} imports {other}, which is not below it"


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


def test_bounds_receive_numbers() -> None:
    """No models, no graphs: a bound is a function of losses, capacities and ranges."""
    for name in modules():
        if room_of(name) == "bounds":
            assert all(room_of(other) in ("errors", "_arrays", "_display", "bounds") for other in imports(name)), name


def test_internals_have_an_underscore() -> None:
    """A path without one is public on purpose; these are all there are."""
    public = {name for name in modules() if not any(part.startswith("_") for part in name.split("."))}
    neighbours = {f"interop.{name}" for name in ("igraph", "networkx", "osmnx", "pandas")}
    assert public == PUBLIC | neighbours | {"lab.atlas", "search.reference", "cli.main"}


def test_the_test_would_see_an_upward_import() -> None:
    assert LEVEL["graph"] < LEVEL["instances"]
    assert "graph._graph" in imports("instances._set")  # through the door of the room
    assert "instances._folder" in imports("instances._storing")
    assert "joblib" not in imports("_parallel")
