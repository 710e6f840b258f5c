"""A seeded part of ``make validity``: every kind of guarantee a few times, and broken twins that must be found."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "validity_cells.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validity_cells", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["validity_cells"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


VALIDITY = load()
CELLS = {cell.name: cell.delta for cell in reversed(list(VALIDITY.cells()))}
# A few of each kind; those with many searches or values are left to make validity.
SOME = [
    name
    for name in CELLS
    if name.partition(",")[0] not in ("any time", "mean", "range of U5", "best of 10", "eight categories")
    or "coin" in name
    or "N = 100" in name
    or "median" in name
]
# Those that are wrong by much: the others need hundreds of runs.
FAST_TWINS = (
    "mean, a fifth of the width",
    "best of 10, not counted",
    "quantile, two ranks too low",
    "days, each trip counted",
    "running mean, 30 % of the width",
    "every answer, half of the bound",
)


@pytest.mark.parametrize("name", SOME)
def test_no_guarantee_is_false_too_often(name: str) -> None:
    wrong, vacuous = VALIDITY.simulate(name, CELLS[name], 20, seed=1)
    assert VALIDITY.p_value(wrong, 20, CELLS[name]) > 1e-4
    assert vacuous <= 10, "a vacuous sentence tests nothing"


@pytest.mark.parametrize("twin", FAST_TWINS)
def test_broken_bounds_are_found(twin: str) -> None:
    cell = VALIDITY.TWINS[twin].cell
    wrong, _ = VALIDITY.simulate(cell, CELLS[cell], 100, seed=2, twin=twin)
    assert VALIDITY.p_value(wrong, 100, CELLS[cell]) < 1e-3


def test_every_twin_breaks_a_cell() -> None:
    assert {twin.cell for twin in VALIDITY.TWINS.values()} <= set(CELLS)
    assert set(FAST_TWINS) <= set(VALIDITY.TWINS)


def test_there_are_enough_runs_to_find_a_bound_that_fails_twice_too_often() -> None:
    """About 560 at 0.05 and 2,960 at 0.01 with 100 cells."""
    assert 480 <= VALIDITY.runs_needed(0.05, 0.05 / 100) <= 640
    assert 2600 <= VALIDITY.runs_needed(0.01, 0.05 / 100) <= 3300
