"""Smooths values over the coordinates of a graph, because vertices close to each other have similar values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph

_REACH = 3.0
"""Vertices farther away than this many standard deviations do not count."""


def step_length(graph: Graph) -> float:
    """Return the median over the vertices of the distance to the nearest neighbor; 1 on grids."""
    if graph.shape is not None:
        return 1.0
    assert graph.coordinates is not None
    along = np.linalg.norm(graph.coordinates[graph.tail] - graph.coordinates[graph.head], axis=1)
    nearest = np.full(graph.n, np.inf)
    np.minimum.at(nearest, graph.tail, along)
    usable = np.isfinite(nearest) & (nearest > 0)
    return float(np.median(nearest[usable])) if usable.any() else 1.0


def blur(graph: Graph, values: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return a Gaussian mean of one value per vertex over the vertices around it.

    Parameters
    ----------
    graph
        With coordinates.
    values
        One per vertex.
    width
        Standard deviation, in steps: one is the median distance of a vertex to its nearest neighbor. With 0
        the values are returned as they are.

    Raises
    ------
    InputError
        If `width` is negative, or the graph has no coordinates.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.learners._smoothing import blur
    >>> blur(rs.Graph.grid(1, 5), np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 1.0).round(2).tolist()
    [0.08, 0.26, 0.4, 0.26, 0.08]
    """
    width = arrays.number(width, "blur", "finite and not negative", lambda x: 0 <= x < np.inf)
    if width == 0:
        return values
    if graph.coordinates is None:
        raise InputError(f"blur must be 0 on a graph without coordinates, got {width}")
    if graph.shape is not None:
        from scipy.ndimage import gaussian_filter, gaussian_filter1d

        # The mean is over existing vertices only, as below. Padding beyond the border would repeat its values: a start
        # and a goal in the corners, which every path passes, would outweigh everything else.
        how = {"sigma": width, "mode": "constant", "truncate": _REACH}
        summed = gaussian_filter(np.asarray(values, dtype=np.float64).reshape(graph.shape), **how)
        down, across = (gaussian_filter1d(np.ones(size), **how) for size in graph.shape)
        return (summed / np.outer(down, across)).ravel()
    from scipy.spatial import cKDTree

    deviation = width * step_length(graph)
    tree = cKDTree(graph.coordinates)
    near = tree.sparse_distance_matrix(tree, _REACH * deviation, output_type="coo_matrix").tocsr()
    near.data = np.exp(-0.5 * (near.data / deviation) ** 2)
    near.setdiag(1.0)  # distances of 0 may or may not be among the entries
    return near @ values / (near @ np.ones(graph.n))
