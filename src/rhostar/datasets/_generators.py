"""Generators of terrains and overlay networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.datasets._distribution import Distribution, goal_or
from rhostar.graph import Graph


class Terrain(Distribution):
    """The distribution that :func:`terrain` returns.

    Parameters
    ----------
    graph
        A grid.
    ground
        (rows, columns): the fixed part of the slowness of each cell, as a logarithm.
    goal
        The goal.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.terrain(10, 10, seed=0).weight_bounds[0]
    1.0
    """

    law = (
        "A step takes its length times the mean slowness of its two cells. Slowness of a cell is exp(ground + weather "
        "+ noise), clipped to [1, 10]. Ground is fixed: a smooth normal field (mean 0.8, standard deviation 0.6). "
        "Weather is drawn for each snapshot: a smoother normal field (0.4); noise is normal (0.1) for each cell. "
        "Starts are uniform."
    )

    def __init__(self, graph: Graph, ground: NDArray[np.float64], goal: int) -> None:
        assert graph.length is not None
        self.graph, self.goal = graph, goal
        self.ground = arrays.frozen(ground)
        """The fixed part of the slowness of each cell, as a logarithm; (rows, columns)."""
        self.edge_bounds = (graph.length, arrays.frozen(graph.length * 10.0))

    def snapshots(self, count: int, seed: int | np.random.Generator | None) -> NDArray[np.float64]:
        """Draw (count, m) times."""
        rng = np.random.default_rng(seed)
        graph = self.graph
        times = np.empty((count, graph.m))
        for k in range(count):
            weather = _smooth(rng, self.ground.shape, 0.2 * min(self.ground.shape))
            level = self.ground + 0.4 * weather + rng.normal(0, 0.1, self.ground.shape)
            slow = np.clip(np.exp(level), 1.0, 10.0).ravel()
            times[k] = graph.length * ((slow[graph.tail] + slow[graph.head]) / 2)
        return times


def terrain(
    rows: int = 40, columns: int = 60, *, seed: int | np.random.Generator | None = 0, goal: int | None = None
) -> Terrain:
    """Make a landscape with changing weather: a grid with 8 neighbors.

    Parameters
    ----------
    rows, columns
        Its size.
    seed
        For numpy's generator: the same seed, the same landscape.
    goal
        The goal; None takes the upper right corner.

    Returns
    -------
    Terrain
        Call its method ``draw``.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.terrain(20, 30).draw(100, seed=0)
    InstanceSet(100 instances, 100 snapshots of 4504 edges, goal 29)
    """
    graph = Graph.grid(rows, columns, neighbors=8)
    goal = goal_or(goal, columns - 1, graph.n)
    ground = 0.8 + 0.6 * _smooth(np.random.default_rng(seed), (rows, columns), 0.08 * min(rows, columns))
    return Terrain(graph, ground, goal)


def _smooth(rng: np.random.Generator, shape: tuple[int, ...], width: float) -> NDArray[np.float64]:
    """Return a smooth normal field, of mean 0 and standard deviation 1 over its cells."""
    from scipy.ndimage import gaussian_filter

    field = gaussian_filter(rng.normal(size=shape), width)
    spread = field.std()
    return (field - field.mean()) / (spread if spread > 0 else 1.0)


class Overlay(Distribution):
    """The distribution that :func:`overlay` returns; weights are milliseconds.

    Parameters
    ----------
    graph
        The sites, with lengths of links in kilometers.
    goal
        The goal.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.overlay(20, seed=0).snapshots(2, seed=0).shape[0]
    2
    """

    law = (
        "The latency of a link is its base (0.005 ms a km, plus 1 ms) plus waiting at its two ends. Waiting at a site "
        "is exponential with mean 2 ms, or 15 ms in a quarter of all sites that are busy in this snapshot, at most "
        "50 ms. Each link is down with probability 0.02, both ways, independently. Starts are uniform; pairs without "
        "a path are drawn again."
    )

    def __init__(self, graph: Graph, goal: int) -> None:
        assert graph.length is not None
        self.graph, self.goal = graph, goal
        base = graph.length * 0.005 + 1.0
        self.edge_bounds = (arrays.frozen(base), arrays.frozen(base + 100.0))
        back = graph.edge_index(graph.head, graph.tail)
        self._link = np.minimum(np.arange(graph.m), back)

    def snapshots(self, count: int, seed: int | np.random.Generator | None) -> NDArray[np.float64]:
        """Draw (count, m) latencies."""
        rng = np.random.default_rng(seed)
        graph = self.graph
        mean = np.where(rng.random((count, graph.n)) < 0.25, 15.0, 2.0)
        wait = np.minimum(rng.exponential(mean), 50.0)
        latency = self.edge_bounds[0] + (wait[:, graph.tail] + wait[:, graph.head])
        down = rng.random((count, graph.m)) < 0.02
        latency[down[:, self._link]] = np.inf
        return latency


def overlay(
    n: int = 80, *, links: int = 4, seed: int | np.random.Generator | None = 0, goal: int | None = None
) -> Overlay:
    """Make an overlay network of sites in a square of 4000 km.

    Parameters
    ----------
    n
        Number of sites.
    links
        How many sites each site links to: half of them its nearest, half random; links go both ways.
    seed
        For numpy's generator.
    goal
        The goal; None takes site 0.

    Returns
    -------
    Overlay
        Call its method ``draw``.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.overlay(30).draw(100, seed=0)
    InstanceSet(100 instances, 100 snapshots of 194 edges, goal 0)
    """
    n = arrays.integer(n, "n", 2)
    links = arrays.integer(links, "links", 1, n - 1)
    goal = goal_or(goal, 0, n)
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 4000, (n, 2))
    apart = np.hypot(*(places[:, None, :] - places).transpose(2, 0, 1))
    nearest = np.argsort(apart, axis=1)[:, 1:]
    pairs = set()
    for site in range(n):
        near = nearest[site, : (links + 1) // 2].tolist()
        far = (
            rng.choice(nearest[site, (links + 1) // 2 :], links - len(near), replace=False).tolist()
            if links > 1
            else []
        )
        pairs |= {(min(site, other), max(site, other)) for other in near + far}
    pairs |= {(site, site + 1) for site in range(n - 1)} if links == 1 else set()
    u, v = np.array(sorted(pairs)).T
    length = np.tile(apart[u, v], 2)
    graph = Graph.from_edges(n, np.r_[u, v], np.r_[v, u], coordinates=places, length=length)
    return Overlay(graph, goal)
