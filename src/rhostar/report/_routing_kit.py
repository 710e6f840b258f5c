"""RoutingKit through ``pyroutingkit``, if it is installed, to be compared with rhostar's own methods."""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph
from rhostar.hierarchy._order import elimination_order

_NONE = 2**31 - 1
"""RoutingKit's weight of an absent edge."""


class RoutingKit:
    """A customizable contraction hierarchy of RoutingKit, with our order of the vertices.

    It finds an order itself only from coordinates, but takes any from a folder that it could have saved.

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        import pyroutingkit

        order = elimination_order(graph)
        begin = time.process_time()
        parts = {
            "node_count": np.array([graph.n]),
            "order": order,
            "rank": np.argsort(order),
            "tail": graph.tail,
            "head": graph.head,
        }
        topology = pyroutingkit.CCHTopology()
        with tempfile.TemporaryDirectory() as folder:
            for name, part in parts.items():
                (Path(folder) / name).write_bytes(part.astype(np.uint32).tobytes())
            topology.load(folder)
        self.seconds = time.process_time() - begin
        """What building took, without the order."""
        self._metric = pyroutingkit.CCHMetric(topology)

    def update(self, weights: NDArray[Any], most: float) -> None:
        """Take new weights as whole numbers, as fine as they can be if no path costs more than `most`."""
        unit = most / (_NONE - 1) if most > 0 else 1.0
        self._metric.customize(np.minimum(np.rint(weights / unit), _NONE).astype(np.uint32))

    def path(self, source: int, target: int) -> NDArray[np.int64]:
        """Return the edges of a shortest path."""
        return np.asarray(self._metric.query(source, target)[2], dtype=np.int64)


def routing_kit(graph: Graph) -> RoutingKit | None:
    """Return RoutingKit for a graph; None if it is not installed or the graph has no edges."""
    return RoutingKit(graph) if graph.m and find_spec("pyroutingkit") is not None else None
