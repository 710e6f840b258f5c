"""Handcrafted heuristics to compare with: distances by coordinates.

Each returns a float64 array of one value per vertex. With `scale` at most the least weight per unit
of length, none of them overestimates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar import arrays
from rhostar.errors import GraphError, InputError
from rhostar.graph import Graph

_EARTH_RADIUS = 6_371_008.8
"""Mean radius of the earth in metres."""


def euclidean(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]:
    """Return the straight-line distance of every vertex to the goal.

    Parameters
    ----------
    graph
        A graph with coordinates.
    goal
        The goal vertex.
    scale
        What a unit of distance costs.

    Raises
    ------
    GraphError
        If the graph has no coordinates.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.heuristics.euclidean(rs.Graph.grid(2, 2), 0).round(3).tolist()
    [0.0, 1.0, 1.0, 1.414]
    """
    dx, dy = _offsets(graph, goal)
    return np.hypot(dx, dy) * _scale(scale)


def octile(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]:
    """Return the length of a cheapest path on an empty grid with 8 neighbours.

    Parameters and errors are those of :func:`euclidean`.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.heuristics.octile(rs.Graph.grid(2, 3, neighbours=8), 0).round(3).tolist()
    [0.0, 1.0, 2.0, 1.0, 1.414, 2.414]
    """
    dx, dy = _offsets(graph, goal)
    return (np.maximum(dx, dy) + (np.sqrt(2.0) - 1.0) * np.minimum(dx, dy)) * _scale(scale)


def haversine(graph: Graph, goal: int, *, scale: float = 1.0) -> NDArray[np.float64]:
    """Return the great-circle distance in metres; coordinates are (longitude, latitude) in degrees.

    Parameters and errors are those of :func:`euclidean`; for travel times, `scale` is one over the
    highest speed.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(2, [0], [1], coordinates=[(2.35, 48.86), (13.40, 52.52)])
    >>> round(rs.heuristics.haversine(graph, 1)[0] / 1000)  # Paris to Berlin in km
    877
    """
    dx, dy = _offsets(graph, goal)
    assert graph.coordinates is not None
    latitude = np.radians(graph.coordinates[:, 1])
    if (np.abs(graph.coordinates) > (360.0, 90.0)).any():
        raise GraphError("coordinates must be (longitude, latitude) in degrees")
    half = np.sin(np.radians(dy) / 2) ** 2
    half += np.cos(latitude) * np.cos(latitude[goal]) * np.sin(np.radians(dx) / 2) ** 2
    return 2 * _EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0))) * _scale(scale)


def _offsets(graph: Graph, goal: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if graph.coordinates is None:
        raise GraphError("the graph has no coordinates")
    goal = arrays.vertex(goal, "goal", graph.n)
    dx, dy = np.abs(graph.coordinates - graph.coordinates[goal]).T
    return dx, dy


def _scale(scale: float) -> float:
    return arrays.number(scale, "scale", "finite and not negative", lambda x: 0 <= x < np.inf)
