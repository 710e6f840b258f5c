"""Checks that all converters share: of weights, and of coordinates."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import RhostarWarning, WeightError
from rhostar.graph import Graph


def check_weights(graph: Graph, values: NDArray[np.float64], name: str) -> None:
    """Raise :class:`WeightError` naming the first edge whose weight is negative or NaN."""
    bad = ~(values >= 0)
    if bad.any():
        e = int(np.argmax(bad))
        edge = graph._edge_name(e)
        raise WeightError(f"{name!r} of the edge {edge} must be a non-negative number, got {values[e]}")


def coordinates(nodes: Sequence[Any], points: Sequence[tuple[Any, Any]]) -> NDArray[np.float64] | None:
    """Return (n, 2) coordinates; None if a node has none, with a warning if others have some.

    Parameters
    ----------
    nodes
        The names of the nodes, for the warning.
    points
        x and y of each node, None if it has none.
    """
    if not any(x is None or y is None for x, y in points):
        with contextlib.suppress(TypeError, ValueError):  # the first value that is not a number is found below
            return np.array(points, dtype=np.float64).reshape(-1, 2)
    good = [number_or_none(x) is not None and number_or_none(y) is not None for x, y in points]
    if any(good):
        first, missing = nodes[good.index(False)], len(good) - sum(good)
        warnings.warn(
            f"coordinates are left out: x and y of node {first!r} are not numbers ({missing} of {len(good)} nodes)",
            RhostarWarning,
            stacklevel=2,
        )
    return None


def number_or_none(value: Any) -> float | None:
    """Return a number, or None if the value is not one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
