"""Where real data is, and the mark of tests that need it."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("RHOSTAR_DATA") or os.devnull)  # never a folder

needs_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="RHOSTAR_DATA names no folder with real data")
