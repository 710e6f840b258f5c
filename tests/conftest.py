"""What pytest sets up for all tests: hypothesis, the header that names the tested core, two fixtures.

What tests import from one another is in ``tests/support``.
"""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from rhostar import _core

hypothesis.settings.register_profile("rhostar", deadline=None, print_blob=True)
hypothesis.settings.load_profile("rhostar")

_SANITIZED = os.environ.get("RHOSTAR_SANITIZED")


def pytest_report_header() -> str:
    if _SANITIZED:
        assert Path(_core.__file__).is_relative_to(_SANITIZED), f"{_core.__file__} is not the sanitized build"
    return f"core: {_core.__file__}{' (sanitized)' if _SANITIZED else ''}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def sanitized() -> bool:
    return bool(_SANITIZED)
