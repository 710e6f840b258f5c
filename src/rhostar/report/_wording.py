"""Formats numbers and vertices for readers."""

from __future__ import annotations

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


_NAMES = {"A*": ("A*", "Dijkstra"), "greedy search": ("greedy",)}


def unless_said(algorithm: str, name: str) -> str:
    """Return the algorithm of a method, or nothing if the method's name already says it.

    >>> unless_said("A*", "landmarks"), unless_said("A*", "A*, learned"), unless_said("greedy search", "mine")
    ('A*', '', 'greedy search')
    """
    return "" if any(word in name for word in _NAMES.get(algorithm, ())) else algorithm
