"""The page for readers who are no theorists: its table is what the code computes."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_table_is_what_the_code_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    meaning = importlib.import_module("meaning")
    assert meaning.table() in (ROOT / "docs" / "what-it-means.md").read_text()
    assert meaning.holdout() == 150
