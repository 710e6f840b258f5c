"""Smooths values over a graph, because vertices close to each other have similar values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar.graph import Graph

_REACH = 3.0
"""Vertices of a grid that are farther away than this many standard deviations do not count."""


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


class Blur:
    """Smooths values over a graph.

    A Gaussian mean on grids; elsewhere each vertex takes over a part of the mean of its neighbors, several times.

    Parameters
    ----------
    graph
        The graph; edges count in both directions.
    width
        How far values spread, in edges: the standard deviation, on grids along each axis. 0 changes nothing.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.learners._smoothing import Blur
    >>> Blur(rs.Graph.grid(1, 5), 1.0)(np.array([0.0, 0.0, 1.0, 0.0, 0.0])).round(2).tolist()
    [0.08, 0.26, 0.4, 0.26, 0.08]
    """

    def __init__(self, graph: Graph, width: float) -> None:
        self.shape, self.width = graph.shape, width
        self.rounds = 0 if graph.shape is not None else int(np.ceil(2 * width * width))
        if self.rounds == 0:
            return
        from scipy.sparse import csr_array

        arcs = csr_array((np.ones(graph.m), graph.head, graph.first_out), shape=(graph.n, graph.n))
        links = (arcs + arcs.T).tocsr()
        degree = np.diff(links.indptr)
        share = width * width / self.rounds
        links.data[:] = np.repeat(share / np.maximum(degree, 1), degree)
        self.links, self.kept = links, np.where(degree > 0, 1 - share, 1.0)

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the smoothed values."""
        if self.shape is not None and self.width > 0:
            from scipy.ndimage import gaussian_filter, gaussian_filter1d

            # The mean is over existing vertices only. Padding beyond the border would repeat its values: a start and a
            # goal in the corners, which every path passes, would outweigh everything else.
            how = {"sigma": self.width, "mode": "constant", "truncate": _REACH}
            summed = gaussian_filter(np.asarray(values, dtype=np.float64).reshape(self.shape), **how)
            down, across = (gaussian_filter1d(np.ones(size), **how) for size in self.shape)
            return (summed / np.outer(down, across)).ravel()
        for _ in range(self.rounds):
            values = self.kept * values + self.links @ values
        return values
