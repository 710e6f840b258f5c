"""A pytest plugin for networkx's own tests: counts which calls the backend answers, and why it refuses others.

``python -m pytest --pyargs networkx -p support.networkx_calls`` with ``NETWORKX_TEST_BACKEND=rhostar`` and
``NETWORKX_FALLBACK_TO_NX=1``. Prints a table; if RHOSTAR_CALLS names a file, the counts go there as JSON: for each file
of tests and each function the number of answers, and of refusals by reason.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rhostar.interop import _networkx_backend
from rhostar.interop._networkx_info import FUNCTIONS
from rhostar.interop._networkx_paths import RefusedError

ANSWERED = "answered"
counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
here = {"file": "collection"}


def _counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = function(*args, **kwargs)
        except RefusedError as reason:
            counts[here["file"]][name][str(reason)] += 1
            raise
        except Exception:  # networkx's exceptions are answers, too
            counts[here["file"]][name][ANSWERED] += 1
            raise
        counts[here["file"]][name][ANSWERED] += 1
        return answer

    return call


def pytest_configure() -> None:
    for name in FUNCTIONS:
        setattr(_networkx_backend, name, _counting(name, getattr(_networkx_backend, name)))
    asked = _networkx_backend.can_run

    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        reply = asked(name, args, kwargs)
        if reply is not True:
            counts[here["file"]][name][str(reply)] += 1
        return reply

    _networkx_backend.can_run = can_run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    here["file"] = Path(str(item.path)).name
    # Many of networkx's tests draw graphs without a seed; a run that fails should fail again.
    random.seed(0)
    np.random.seed(0)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for functions in counts.values():
        for name, seen in functions.items():
            total[name] += seen
    terminalreporter.write_line("calls to the backend: answered, refused")
    for name in FUNCTIONS:
        refused = total[name].total() - total[name][ANSWERED]
        terminalreporter.write_line(f"  {name:40}{total[name][ANSWERED]:8}{refused:8}")
        for reason, times in total[name].items():
            if reason != ANSWERED:
                terminalreporter.write_line(f"      {times} times: {reason}")
    if path := os.environ.get("RHOSTAR_CALLS"):
        Path(path).write_text(json.dumps(counts, indent=1))
