"""Printed text as words and numbers, so that numbers can be compared with a tolerance."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.IGNORECASE)


def words_and_numbers(text: str) -> tuple[str, list[float]]:
    """Return the text with ``#`` for every number, and the numbers.

    Spaces and line breaks are all alike: a longer number moves them.
    """
    numbers = [float(found.replace(",", "")) for found in _NUMBER.findall(text)]
    return " ".join(_NUMBER.sub("#", text).split()), numbers
