"""What pytest sets up for all tests: hypothesis, the header that names the tested core, two fixtures.

What tests import from one another is in ``tests/support``.
"""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from rhostar import _core
from rhostar.certificates._looks import forget_looks

# Examples are the same in every run, and no clock judges them: a change fails for what it does, not by luck.
# `make fuzz` takes the profile "random", whose examples are new in every run.
_CALM = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True)
hypothesis.settings.register_profile("rhostar", _CALM, derandomize=True)
hypothesis.settings.register_profile("random", _CALM)
hypothesis.settings.load_profile("rhostar")

# What commands print depends on the terminal, and tests may be started from any, or from none.
os.environ["COLUMNS"] = "80"
for _name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "TERMINAL_WIDTH", "GITHUB_ACTIONS"):
    os.environ.pop(_name, None)

_SANITIZED, _COVERED = (os.environ.get(name) for name in ("RHOSTAR_SANITIZED", "RHOSTAR_COVERED"))


def pytest_report_header() -> str:
    build = _SANITIZED or _COVERED
    assert not build or Path(_core.__file__).is_relative_to(build), f"{_core.__file__} is not the build in {build}"
    return f"core: {_core.__file__}{' (sanitized)' if _SANITIZED else ' (lines are counted)' if _COVERED else ''}"


@pytest.fixture(autouse=True)
def first_look() -> None:
    """Tests make the same instances again and again; each looks at them for the first time."""
    forget_looks()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def sanitized() -> bool:
    return bool(_SANITIZED)


@pytest.fixture
def limited_memory() -> None:
    """What a test asks for that limits the memory of a process, or expects a certain way to crash."""
    if _SANITIZED:
        pytest.skip("the address sanitizer needs memory of its own and ends crashes itself")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on clusters and with other programs, unless ``-m`` asks for them."""
    unasked = [name for name in ("cluster", "peers") if name not in config.option.markexpr]
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in unasked)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
