"""Distances by coordinates as a potential: Euclidean, octile, great-circle."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.errors import GraphError, InputError
from rhostar.graph import Graph
from rhostar.potentials._base import Potential, scale_of

MetricName = Literal["euclidean", "octile", "haversine"]
METRICS: tuple[MetricName, ...] = ("euclidean", "octile", "haversine")


class Metric(Potential):
    """Distances by coordinates, for every goal; :mod:`rhostar.heuristics` returns them when no goal is given.

    Parameters
    ----------
    graph
        A graph with coordinates.
    metric
        "euclidean", "octile" or "haversine", as the functions of :mod:`rhostar.heuristics`.
    scale
        The cost of a unit of distance.

    Raises
    ------
    GraphError
        If the graph has no coordinates; for "haversine", if they are not degrees.
    InputError
        If there is no such metric, or `scale` is negative or not finite.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> rs.potentials.Metric(graph, "euclidean", scale=2.0).rho_for(4).round(2).tolist()
    [2.83, 2.0, 2.83, 2.0, 0.0, 2.0, 2.83, 2.0, 2.83]
    """

    def __init__(self, graph: Graph, metric: MetricName = "euclidean", *, scale: float = 1.0) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        if metric not in METRICS:
            raise InputError(f"metric must be one of {', '.join(map(repr, METRICS))}, got {metric!r}")
        if graph.coordinates is None:
            raise GraphError("the graph has no coordinates")
        if metric == "haversine" and (np.abs(graph.coordinates) > (360.0, 90.0)).any():
            raise GraphError("coordinates must be (longitude, latitude) in degrees")
        self._set(graph.fingerprint, metric, graph.coordinates, scale_of(scale))

    def _set(self, fingerprint: str, metric: MetricName, coordinates: NDArray[np.float64], scale: float) -> None:
        self.n, self.fingerprint, self.metric, self.scale = len(coordinates), fingerprint, metric, scale
        self._coordinates = coordinates
        self._kernel = _core.metric_potential(metric, np.ascontiguousarray(coordinates), scale)

    def scaled(self, factor: float) -> Metric:
        """Return `factor` times this potential."""
        return _restored(self.fingerprint, self.metric, self._coordinates, scale_of(self.scale * scale_of(factor)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.fingerprint, self.metric, self._coordinates, self.scale)


def _restored(fingerprint: str, metric: MetricName, coordinates: NDArray[np.float64], scale: float) -> Metric:
    potential = Metric.__new__(Metric)
    potential._set(fingerprint, metric, np.require(coordinates, requirements=["C", "A"]), scale)
    return potential
