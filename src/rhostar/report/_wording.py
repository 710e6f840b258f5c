"""The words of the page: numbers, vertices, units of cost, and names of methods, for readers new to the subject."""

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


def duration(milliseconds: float) -> str:
    """Return a time with at least two significant digits, always in milliseconds so that times compare at a glance.

    >>> [duration(x) for x in (0.00123, 0.0456, 0.78, 4.56, 123.4, 45_000)]
    ['0.0012 ms', '0.046 ms', '0.78 ms', '4.6 ms', '123 ms', '45,000 ms']
    """
    if milliseconds >= 10:
        return f"{milliseconds:,.0f} ms"
    digits = 1 - int(np.floor(np.log10(max(milliseconds, 1e-6))))
    return f"{milliseconds:.{digits}f} ms"


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
