"""What all converters check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import WeightError
from rhostar.graph import Graph


def check_weights(graph: Graph, values: NDArray[np.float64], name: str) -> None:
    """Raise :class:`WeightError` naming the first edge whose weight is negative or NaN."""
    bad = ~(values >= 0)
    if bad.any():
        e = int(np.argmax(bad))
        names: Any = graph.labels or range(graph.n)
        ends = f"{names[graph.tail[e]]!r} -> {names[graph.head[e]]!r}"
        raise WeightError(f"{name!r} of the edge {ends} must be a number that is not negative, got {values[e]}")
