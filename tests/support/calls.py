"""How much Python a call runs, counted instead of timed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType


def count_calls(function: Callable[[], object]) -> Counter[str]:
    """Run `function` and return how many Python functions ("call") and functions in C ("c_call") ran, itself too."""
    events: Counter[str] = Counter()

    def listen(_frame: FrameType, event: str, _argument: object) -> None:
        events[event] += 1

    before = sys.getprofile()
    sys.setprofile(listen)
    try:
        function()
    finally:
        sys.setprofile(before)
    events["c_call"] -= 1  # sys.setprofile itself
    return events
