"""How many random queries the tests of routers ask: few by default, ``make test-routes`` for many."""

from __future__ import annotations

import os

ASKED = int(os.environ.get("RHOSTAR_RANDOM_QUERIES", "0"))


def queries(usual: int) -> int:
    """Return how many queries to ask."""
    return ASKED or usual


def seeds(usual: int, each: int) -> range:
    """Return the seeds of random cases with so many queries each."""
    return range(-(-ASKED // each) if ASKED else usual)
