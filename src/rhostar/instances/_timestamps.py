"""Reads the names of snapshots as time stamps: their order in time, and the day of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?", re.ASCII)


def moment(name: Any) -> datetime | None:
    """Return the time that a name states as an ISO time stamp or a date; None if it is something else.

    >>> moment("2024-05-01T08:15"), moment("2024-05-01"), moment("20240501")
    (datetime.datetime(2024, 5, 1, 8, 15), datetime.datetime(2024, 5, 1, 0, 0), None)
    """
    if isinstance(name, datetime):
        return name
    if isinstance(name, date):
        return datetime(name.year, name.month, name.day)
    if isinstance(name, str) and _ISO.fullmatch(name.strip()):
        try:
            return datetime.fromisoformat(name.strip())
        except ValueError:
            return None
    return None


def moments(names: Sequence[Any]) -> list[datetime] | None:
    """Return the time of each name; None if one is not a time stamp, or only some have a time zone."""
    found = []
    for name in names:
        when = moment(name)
        if when is None:
            return None
        found.append(when)
    return found if len({when.tzinfo is None for when in found}) == 1 else None


def days_of(when: Sequence[datetime]) -> NDArray[np.int64]:
    """Return the calendar day of each time, as written, counted from the first day."""
    days = np.array([one.toordinal() for one in when], dtype=np.int64)
    return days - days.min(initial=days[0] if days.size else 0)
