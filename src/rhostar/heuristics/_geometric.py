"""Distances by coordinates: Euclidean, octile and great-circle.

Each function returns a float64 array with one value per vertex, or, if no goal is given, a :class:`Geometric`
heuristic: the same for every goal, computed where a search needs it. None of them overestimates if `scale` is at most
the lowest weight per unit of length; :func:`safe_scale` computes the largest such scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import GraphError, InputError
from rhostar.graph import Graph
from rhostar.heuristics._base import Parts, scale_of
from rhostar.heuristics._computed import Computed
from rhostar.instances import InstanceSet

MetricName = Literal["euclidean", "octile", "haversine"]
METRICS: tuple[MetricName, ...] = ("euclidean", "octile", "haversine")

_EARTH_RADIUS = 6_371_008.8
"""Mean radius of the earth in meters."""


class Geometric(Computed):
    """Distances by coordinates, for every goal; :func:`euclidean` and its like return them if no goal is given.

    Parameters
    ----------
    graph
        A graph with coordinates.
    metric
        "euclidean", "octile" or "haversine", as the functions of these names.
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
    >>> graph = rs.Graph.grid(50, 50, neighbors=8)
    >>> octile = rs.heuristics.Geometric(graph, "octile")
    >>> [rs.astar(graph, graph.length, 0, goal, octile).expanded for goal in (51, 700, 2499)]
    [1, 14, 49]
    >>> octile.table(51)[:3].round(3).tolist()
    [1.414, 1.0, 1.414]
    """

    kind = "geometric"

    def __init__(self, graph: Graph, metric: MetricName = "euclidean", *, scale: float = 1.0) -> None:
        if metric not in METRICS:
            raise InputError(f"metric must be one of {', '.join(map(repr, METRICS))}, got {metric!r}")
        at = _coordinates(graph)
        if metric == "haversine":
            _require_degrees(at)
        self.n, self.fingerprint, self.metric, self.scale = graph.n, graph.fingerprint, metric, scale_of(scale)
        self._coordinates = at
        self._kernel = self._make_kernel()

    def _make_kernel(self) -> _core.Potential:
        self._coordinates = np.require(self._coordinates, np.float64, ["C", "A"])
        return _core.metric_potential(self.metric, self._coordinates, self.scale)

    def _own_parts(self) -> tuple[Parts, dict[str, Any]]:
        return {"coordinates": self._coordinates}, {"metric": self.metric, "scale": self.scale}

    @classmethod
    def _of_own_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Geometric:
        found = cls.__new__(cls)
        at = parts["coordinates"]
        if facts["metric"] not in METRICS or at.ndim != 2 or at.shape[1] != 2 or not np.isfinite(at).all():
            raise InputError("it has no coordinates")
        found.n, found.metric, found.scale, found._coordinates = len(at), facts["metric"], scale_of(facts["scale"]), at
        found._kernel = found._make_kernel()
        return found


@overload
def euclidean(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Geometric: ...
@overload
def euclidean(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def euclidean(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Geometric:
    """Return the straight-line distance of every vertex to the goal.

    Parameters
    ----------
    graph
        A graph with coordinates.
    goal
        The goal vertex; None for a heuristic that serves every goal.
    scale
        The cost of a unit of distance.

    Returns
    -------
    numpy.ndarray or Geometric
        (n,) straight-line distances, times `scale`.

    Raises
    ------
    GraphError
        If the graph has no coordinates.
    VertexError, InputError
        If the goal is not a vertex, or `scale` is negative or not finite.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.heuristics.euclidean(rs.Graph.grid(2, 2), 0).round(3).tolist()
    [0.0, 1.0, 1.0, 1.414]
    """
    return _distance("euclidean", graph, goal, scale)


@overload
def octile(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Geometric: ...
@overload
def octile(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def octile(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Geometric:
    """Return the length of a shortest path to the goal on an empty grid with 8 neighbors.

    Parameters
    ----------
    graph
        A graph with coordinates, in cells.
    goal
        The goal vertex; None for a heuristic that serves every goal.
    scale
        The cost of a unit of distance.

    Returns
    -------
    numpy.ndarray or Geometric
        (n,) octile distances, times `scale`.

    Raises
    ------
    GraphError
        If the graph has no coordinates.
    VertexError, InputError
        If the goal is not a vertex, or `scale` is negative or not finite.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.heuristics.octile(rs.Graph.grid(2, 3, neighbors=8), 0).round(3).tolist()
    [0.0, 1.0, 2.0, 1.0, 1.414, 2.414]
    """
    return _distance("octile", graph, goal, scale)


@overload
def haversine(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Geometric: ...
@overload
def haversine(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def haversine(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Geometric:
    """Return the great-circle distance of every vertex to the goal, in meters.

    Parameters
    ----------
    graph
        A graph with coordinates (longitude, latitude) in degrees.
    goal
        The goal vertex; None for a heuristic that serves every goal.
    scale
        The cost of a unit of distance: for travel times, one over the highest speed in meters per unit of time.

    Returns
    -------
    numpy.ndarray or Geometric
        (n,) distances in meters, times `scale`.

    Raises
    ------
    GraphError
        If the graph has no coordinates, or they are not degrees.
    VertexError, InputError
        If the goal is not a vertex, or `scale` is negative or not finite.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(2, [0], [1], coordinates=[(2.35, 48.86), (13.40, 52.52)])
    >>> round(rs.heuristics.haversine(graph, 1)[0] / 1000)  # Paris to Berlin in km
    877
    """
    return _distance("haversine", graph, goal, scale)


def safe_scale(instances: InstanceSet, metric: MetricName = "euclidean") -> float:
    """Return the largest `scale` with which a heuristic overestimates on no instance.

    That is the lowest weight per unit of its distance, over all edges and snapshots.

    Parameters
    ----------
    instances
        The instances; their graph needs coordinates.
    metric
        "euclidean", "octile" or "haversine".

    Returns
    -------
    float
        0 if no edge has a positive length.

    Raises
    ------
    GraphError
        If the graph has no coordinates.
    InputError
        If there is no such metric.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(2, 2)
    >>> rs.heuristics.safe_scale(rs.InstanceSet(graph, 3 * graph.length, sources=0, goal=3))
    3.0
    """
    if metric not in _METRICS:
        raise InputError(f"metric must be one of {', '.join(map(repr, _METRICS))}, got {metric!r}")
    graph = instances.graph
    at = _coordinates(graph)
    step = _METRICS[metric](at[graph.tail], at[graph.head])
    lowest = np.full(graph.m, np.inf)
    for row in np.unique(instances._stored_rows):
        np.minimum(lowest, instances._stored[row], out=lowest)
    moves = (step > 0) & np.isfinite(lowest)
    return float((lowest[moves] / step[moves]).min()) if moves.any() else 0.0


def _euclidean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    dx, dy = np.abs(a - b).T
    return np.hypot(dx, dy)


def _octile(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    dx, dy = np.abs(a - b).T
    return np.maximum(dx, dy) + (np.sqrt(2.0) - 1.0) * np.minimum(dx, dy)


def _haversine(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    _require_degrees(a)
    _require_degrees(b)
    dx, dy = np.radians(np.abs(a - b)).T
    half = np.sin(dy / 2) ** 2
    half += np.cos(np.radians(a[..., 1])) * np.cos(np.radians(b[..., 1])) * np.sin(dx / 2) ** 2
    return 2 * _EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0)))


_METRICS = {"euclidean": _euclidean, "octile": _octile, "haversine": _haversine}


def _require_degrees(at: NDArray[np.float64]) -> None:
    if (np.abs(at) > (360.0, 90.0)).any():
        raise GraphError("coordinates must be (longitude, latitude) in degrees")


def _coordinates(graph: Graph) -> NDArray[np.float64]:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if graph.coordinates is None:
        raise GraphError("the graph has no coordinates")
    return graph.coordinates


def _distance(metric: MetricName, graph: Graph, goal: int | None, scale: float) -> NDArray[np.float64] | Geometric:
    if goal is None:
        return Geometric(graph, metric, scale=scale)
    at = _coordinates(graph)
    return _METRICS[metric](at, at[arrays.vertex(goal, "goal", graph.n)]) * scale_of(scale)
