"""A seeded part of ``make validity``: every kind of guarantee a few times, and broken twins that must be found."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy import stats

FILE = Path(__file__).parents[2] / "benchmarks" / "validity.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validity", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["validity"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


VALIDITY = load()
CELLS = [cell for cell in VALIDITY.cells() if cell.delta == 0.05]
# A few of each kind; those with many searches or values are left to make validity.
SOME = [
    cell.name
    for cell in CELLS
    if cell.name.partition(",")[0] not in ("any time", "mean", "range of U5", "chosen weight N = 3000")
    or "coin" in cell.name
    or "N = 100" in cell.name
]
FAST_TWINS = [name for name in VALIDITY.TWINS if name not in ("best of 10, a fifth of the width",)]


def p_value(wrong: int, runs: int) -> float:
    return float(stats.binomtest(wrong, runs, 0.05, alternative="greater").pvalue)


@pytest.mark.parametrize("name", SOME)
def test_no_guarantee_is_false_too_often(name: str) -> None:
    wrong, vacuous = VALIDITY.simulate(name, 0.05, 25, seed=1)
    assert p_value(wrong, 25) > 1e-4
    assert vacuous <= 12, "a vacuous sentence tests nothing"


@pytest.mark.parametrize("twin", FAST_TWINS)
def test_broken_bounds_are_found(twin: str) -> None:
    runs = 60 if "fifth" in twin else 40
    wrong, _ = VALIDITY.simulate(VALIDITY.TWINS[twin][0], 0.05, runs, seed=2, twin=twin)
    assert p_value(wrong, runs) < 1e-3


def test_there_are_enough_runs_to_find_a_bound_that_fails_twice_too_often() -> None:
    """About 560 at 0.05 and 2,960 at 0.01 with 100 cells."""
    assert 480 <= VALIDITY.runs_needed(0.05, 0.05 / 100) <= 640
    assert 2600 <= VALIDITY.runs_needed(0.01, 0.05 / 100) <= 3300
