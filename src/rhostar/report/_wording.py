"""The words of the page: numbers, vertices, units of cost, and names of methods, for readers without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from rhostar.instances import InstanceSet

VERSION = version("rhostar")


def percent(share: float) -> str:
    """Return per cent with two significant digits; a share above 0 never looks like 0.

    >>> [percent(x) for x in (0.0, 0.00001, 0.00123, 0.0456, 0.3, 1.5)]
    ['0 %', '0.001 %', '0.12 %', '4.6 %', '30 %', '150 %']
    """
    if share == 0 or not np.isfinite(share):
        return "0 %" if share == 0 else "?"
    percent = 100 * share
    if percent >= 10:
        return f"{percent:.0f} %"
    digits = min(3, max(1, 1 - int(np.floor(np.log10(percent)))))
    return f"{max(percent, 0.001):.{digits}f} %"


def count(value: float) -> str:
    """Return a mean of counts, rounded for readers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def vertex_name(instances: InstanceSet, v: int) -> str:
    """Return the label of a vertex, or its number."""
    labels, shape = instances.graph.labels, instances.graph.shape
    if labels is not None:
        return str(labels[v])
    return f"cell ({v // shape[1]}, {v % shape[1]})" if shape is not None else f"vertex {v}"


def duration(milliseconds: float) -> str:
    """Return a time with at least two significant digits, always in milliseconds so that times compare at a glance.

    >>> [duration(x) for x in (0.00123, 0.0456, 0.78, 4.56, 123.4, 45_000)]
    ['0.0012 ms', '0.046 ms', '0.78 ms', '4.6 ms', '123 ms', '45,000 ms']
    """
    if milliseconds >= 10:
        return f"{milliseconds:,.0f} ms"
    digits = 1 - int(np.floor(np.log10(max(milliseconds, 1e-6))))
    return f"{milliseconds:.{digits}f} ms"


@dataclass(frozen=True)
class Costs:
    """How the page speaks of costs: their unit, and what a route that costs more is called."""

    unit: str = ""
    best: str = "the best route"
    more: str = "costlier"

    def amount(self, number: str) -> str:
        """Return a number with the unit."""
        return f"{number} {self.unit}" if self.unit else number

    @property
    def above(self) -> str:
        """Such as "longer than the fastest route"."""
        return f"{self.more} than {self.best}"


NO_UNIT = Costs()

_TIMES = {"ms", "s", "sec", "second", "min", "minute", "h", "hr", "hour"}
_LENGTHS = {"m", "meter", "metre", "km", "kilometer", "kilometre", "mi", "mile", "ft", "foot", "feet", "yd"}


def costs(unit: str) -> Costs:
    """Return the words for costs in a unit, which may be empty.

    >>> costs("min").above, costs("km").above, costs("EUR").above, costs("").above
    ('longer than the fastest route', 'longer than the shortest route', 'costlier than the cheapest route', \
'costlier than the best route')
    """
    word = unit.strip().lower()
    for known, best in ((_TIMES, "the fastest route"), (_LENGTHS, "the shortest route")):
        if word in known or word.removesuffix("s") in known:
            return Costs(unit, best, "longer")
    return Costs(unit, "the cheapest route") if unit else NO_UNIT


_NAMES = {"A*": ("A*", "Dijkstra"), "greedy search": ("greedy",)}


def label(name: str, algorithm: str, kind: str) -> str:
    """Return the name of a method, and in brackets what the name does not say.

    >>> label("model", "A*", "learned"), label("A*, learned", "A*", "learned"), label("landmarks", "A*", "baseline")
    ('model (learned, A*)', 'A*, learned', 'landmarks (A*)')
    """
    said = any(word in name for word in _NAMES.get(algorithm, ()))
    missing = ["learned"] if kind == "learned" and "learned" not in name else []
    missing += [] if said else [algorithm]
    return f"{name} ({', '.join(missing)})" if missing else name
