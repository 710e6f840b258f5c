"""Handcrafted heuristics to compare with: Euclidean, octile and great-circle distances.

Each function returns a float64 array with one value per vertex, or, if no goal is given, a
:class:`rhostar.potentials.Metric`: the same for every goal, computed where a search looks. None of them overestimates
if `scale` is at most the least weight per unit of length; :func:`safe_scale` computes the largest such scale.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import GraphError, InputError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.potentials import Metric
from rhostar.potentials._base import scale_of as _scale
from rhostar.potentials._metric import MetricName

__all__ = ["euclidean", "haversine", "octile", "safe_scale"]


def __dir__() -> list[str]:
    return __all__


_EARTH_RADIUS = 6_371_008.8
"""Mean radius of the earth in metres."""


@overload
def euclidean(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Metric: ...
@overload
def euclidean(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def euclidean(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Metric:
    """Return the straight-line distance of every vertex to the goal.

    Parameters
    ----------
    graph
        A graph with coordinates.
    goal
        The goal vertex; None for a potential, which serves every goal.
    scale
        The cost of a unit of distance.

    Returns
    -------
    numpy.ndarray or rhostar.potentials.Metric
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
    if goal is None:
        return Metric(graph, "euclidean", scale=scale)
    return _euclidean(*_places(graph, goal)) * _scale(scale)


@overload
def octile(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Metric: ...
@overload
def octile(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def octile(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Metric:
    """Return the length of a shortest path to the goal on an empty grid with 8 neighbours.

    Parameters
    ----------
    graph
        A graph with coordinates, in cells.
    goal
        The goal vertex; None for a potential, which serves every goal.
    scale
        The cost of a unit of distance.

    Returns
    -------
    numpy.ndarray or rhostar.potentials.Metric
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
    >>> rs.heuristics.octile(rs.Graph.grid(2, 3, neighbours=8), 0).round(3).tolist()
    [0.0, 1.0, 2.0, 1.0, 1.414, 2.414]
    """
    if goal is None:
        return Metric(graph, "octile", scale=scale)
    return _octile(*_places(graph, goal)) * _scale(scale)


@overload
def haversine(graph: Graph, goal: None = None, *, scale: float = 1.0) -> Metric: ...
@overload
def haversine(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]: ...
def haversine(graph: Graph, goal: int | None = None, *, scale: float = 1.0) -> NDArray[np.float64] | Metric:
    """Return the great-circle distance of every vertex to the goal, in metres.

    Parameters
    ----------
    graph
        A graph with coordinates (longitude, latitude) in degrees.
    goal
        The goal vertex; None for a potential, which serves every goal.
    scale
        The cost of a unit of distance: for travel times, one over the highest speed in metres per unit of time.

    Returns
    -------
    numpy.ndarray or rhostar.potentials.Metric
        (n,) distances in metres, times `scale`.

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
    if goal is None:
        return Metric(graph, "haversine", scale=scale)
    return _haversine(*_places(graph, goal)) * _scale(scale)


def safe_scale(instances: InstanceSet, metric: MetricName = "euclidean") -> float:
    """Return the largest `scale` with which a heuristic overestimates on no instance.

    That is the least weight per unit of its distance, over all edges and snapshots.

    Parameters
    ----------
    instances
        The instances; their graph needs coordinates.
    metric
        One of the heuristics of this module.

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
    if graph.coordinates is None:
        raise GraphError("the graph has no coordinates")
    step = _METRICS[metric](graph.coordinates[graph.tail], graph.coordinates[graph.head])
    least = np.full(graph.m, np.inf)
    for row in np.unique(instances.rows):
        np.minimum(least, instances.weights[row], out=least)
    moves = (step > 0) & np.isfinite(least)
    return float((least[moves] / step[moves]).min()) if moves.any() else 0.0


def _euclidean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    dx, dy = np.abs(a - b).T
    return np.hypot(dx, dy)


def _octile(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    dx, dy = np.abs(a - b).T
    return np.maximum(dx, dy) + (np.sqrt(2.0) - 1.0) * np.minimum(dx, dy)


def _haversine(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    if (np.abs(a) > (360.0, 90.0)).any() or (np.abs(b) > (360.0, 90.0)).any():
        raise GraphError("coordinates must be (longitude, latitude) in degrees")
    dx, dy = np.radians(np.abs(a - b)).T
    half = np.sin(dy / 2) ** 2
    half += np.cos(np.radians(a[..., 1])) * np.cos(np.radians(b[..., 1])) * np.sin(dx / 2) ** 2
    return 2 * _EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0)))


_METRICS = {"euclidean": _euclidean, "octile": _octile, "haversine": _haversine}


def _places(graph: Graph, goal: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if graph.coordinates is None:
        raise GraphError("the graph has no coordinates")
    goal = arrays.vertex(goal, "goal", graph.n)
    return graph.coordinates, graph.coordinates[goal]
