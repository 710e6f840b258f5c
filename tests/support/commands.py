"""Runs the command line inside the test, and reads what it printed."""

import json

import pytest

from rhostar.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Return the exit code, and what was printed as result and as complaint."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    """Return the JSON of a command that must succeed without a word of complaint."""
    code, out, err = run(capsys, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)
