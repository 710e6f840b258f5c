"""The generator of random cities: streets and arterials, rush hours, and incidents that close roads."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.datasets._distribution import Distribution
from rhostar.graph import Graph
from rhostar.instances import Network

_BLOCK = 0.15
"""Kilometers between crossings."""
_STREET, _ARTERIAL = 30.0, 60.0
"""Free speed in km/h."""
_SLOWEST = 6.0
"""The largest factor by which traffic can multiply the free time of a road."""
_FIELDS = 12
"""Districts whose traffic rises and falls together."""
_INCIDENTS = 1.0
"""Mean number of closed roads at a time."""


class City(Distribution):
    """The distribution that :func:`city` returns; weights are minutes.

    Parameters
    ----------
    graph
        The roads, with coordinates and lengths in kilometers.
    arterial
        Which edges are large roads.
    goal
        The goal.
    rng
        Draws what stays the same on every day.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.datasets.city(200, seed=0).draw(10, seed=0).pool.words
    'draws from the distribution City'
    """

    law = (
        "Time of day uniform over 24 hours. The time of a road is its free time times 1 + load, clipped to [1, 6]. "
        "Load is 0.15, plus demand times the rush (toward the center around 8:00, away from it around 17:30, stronger "
        "near the center and on arterials), plus 12 districts whose traffic goes up and down independently (normal, "
        "0.35 each, fading with the square of the distance), plus noise of each road (normal, 0.1). Demand is "
        "log-normal (0, 0.3). A Poisson number of roads (mean 1) is closed in both directions, longer ones more often; "
        "roads within 400 m of a closure carry 0.8 more. Starts are uniform; pairs without a path are drawn again."
    )

    def __init__(self, graph: Graph, arterial: NDArray[np.bool_], goal: int, rng: np.random.Generator) -> None:
        assert graph.coordinates is not None and graph.length is not None  # noqa: PT018
        self.graph, self.goal = graph, goal
        self.arterial = arrays.frozen(arterial)
        """Whether each edge is part of an arterial road."""
        free = graph.length / np.where(arterial, _ARTERIAL, _STREET) * 60
        self.edge_bounds = (arrays.frozen(free), arrays.frozen(free * _SLOWEST))
        ends = graph.coordinates[graph.tail], graph.coordinates[graph.head]
        self._middle = (ends[0] + ends[1]) / 2
        center = graph.coordinates.mean(axis=0)
        away = self._middle - center
        distance = np.hypot(*away.T)
        along = ((ends[1] - ends[0]) * away).sum(axis=1) / np.maximum(graph.length * distance, 1e-9)
        pull = np.exp(-((distance / (0.6 * distance.max())) ** 2)) * np.where(arterial, 1.5, 0.7)
        self._inward, self._outward = (1 - along) / 2 * pull, (1 + along) / 2 * pull
        spots = graph.coordinates[rng.choice(graph.n, _FIELDS)]
        apart = ((self._middle[:, None, :] - spots) ** 2).sum(axis=2)
        self._fields = np.exp(-apart / (0.2 * distance.max()) ** 2).T
        # Both directions of a road are closed together.
        self._back = graph.edge_index(graph.head, graph.tail, missing=-1)

    def towards(self, goal: int) -> City:
        """Return the same city with another goal, as :func:`city` would make it.

        Parameters
        ----------
        goal
            The goal.

        Returns
        -------
        City
            It shares everything else.

        Examples
        --------
        >>> import rhostar as rs
        >>> rs.datasets.city(100, seed=1).towards(7).goal
        7
        """
        other = copy.copy(self)
        other.goal = arrays.vertex(goal, "goal", self.graph.n)
        return other

    def snapshots(
        self, count: int, seed: int | np.random.Generator | None, *, hours: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Draw travel times in minutes, at uniform times of day or at the given ones (0 to 24).

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator; a Generator continues from its current state.
        hours
            The times of day; by default they are drawn.

        Returns
        -------
        array
            (count, m) minutes.
        """
        rng = np.random.default_rng(seed)
        hour = rng.uniform(0, 24, count) if hours is None else np.asarray(hours, dtype=np.float64)
        demand = rng.lognormal(0, 0.3, count)
        return self._times(rng, hour, demand, rng.normal(0, 0.35, (count, _FIELDS)))

    def history(self, days: int, seed: int | np.random.Generator | None, *, per_day: int = 24) -> Network:
        """Return a history such as a traffic office has: snapshots in time order, with their days.

        Unlike :meth:`draw`, these depend on each other: a day has one demand, weekends (days 5 and 6 of each week)
        half of it, and the districts' traffic changes slowly (correlation 0.9 from one snapshot to the next). Split
        them by day and at random to see what the bounds for i.i.d. instances do not cover.

        Parameters
        ----------
        days
            How many days.
        seed
            For numpy's generator.
        per_day
            Snapshots of a day, evenly spaced.

        Returns
        -------
        Network
            With `days`.
        """
        rng = np.random.default_rng(seed)
        days, per_day = arrays.integer(days, "days", 1), arrays.integer(per_day, "per_day", 1)
        day = np.repeat(np.arange(days), per_day)
        hour = np.tile(np.arange(per_day) * 24 / per_day, days)
        demand = (rng.lognormal(0, 0.3, days) * np.where(np.arange(days) % 7 >= 5, 0.5, 1.0))[day]
        amplitude = np.empty((day.size, _FIELDS))
        level = rng.normal(0, 0.35, _FIELDS)
        for k in range(day.size):
            amplitude[k] = level = 0.9 * level + np.sqrt(1 - 0.81) * rng.normal(0, 0.35, _FIELDS)
        names = tuple(f"day {d}, {h:05.2f} h" for d, h in zip(day.tolist(), hour.tolist(), strict=True))
        return Network(self.graph, self._times(rng, hour, demand, amplitude), names, day, self.edge_bounds)

    def _times(
        self, rng: np.random.Generator, hour: NDArray[Any], demand: NDArray[Any], amplitude: NDArray[Any]
    ) -> NDArray[np.float64]:
        morning = np.exp(-(((hour - 8) / 1.2) ** 2)) * demand
        evening = np.exp(-(((hour - 17.5) / 1.6) ** 2)) * demand
        free = self.edge_bounds[0]
        times = np.empty((hour.size, self.graph.m))
        for k in range(hour.size):
            load = 0.15 + 2.5 * (morning[k] * self._inward + evening[k] * self._outward) + amplitude[k] @ self._fields
            load += rng.normal(0, 0.1, self.graph.m)
            closed = rng.choice(self.graph.m, rng.poisson(_INCIDENTS), p=free / free.sum())
            for edge in closed:
                load[((self._middle - self._middle[edge]) ** 2).sum(axis=1) < 0.4**2] += 0.8
            times[k] = free * np.clip(1 + load, 1.0, _SLOWEST)
            times[k, closed] = np.inf
            times[k, self._back[closed][self._back[closed] >= 0]] = np.inf
        return times


def city(n: int = 1000, *, seed: int | np.random.Generator | None = 0, goal: int | None = None) -> City:
    """Make a city: a planar graph of about `n` crossings with coordinates in kilometers.

    Parameters
    ----------
    n
        About how many crossings, at least 16.
    seed
        For numpy's generator: the same seed, the same city.
    goal
        The goal; None takes the crossing nearest to the center.

    Returns
    -------
    City
        A distribution, described by :attr:`~Distribution.law`; :meth:`City.history` gives snapshots in time order.

    Notes
    -----
    Crossings are a jittered lattice, joined by Delaunay edges. Arterials are the shortest routes from eight gates at
    the rim to the center and around it. The roads are the arterials, a minimum spanning tree and the shortest of the
    other Delaunay edges, 1.6 n in all. A fifth of the streets outside the tree are one-way; the tree keeps everything
    connected.

    Examples
    --------
    >>> import rhostar as rs
    >>> town = rs.datasets.city(200, seed=1)
    >>> town.draw(50, seed=0)
    InstanceSet(50 instances, 50 snapshots of 622 edges, goal 91)
    >>> history = town.history(3, seed=0)
    >>> earlier, later = rs.datasets.split_by_day(history.sample(300, goal=town.goal))
    """
    n = arrays.integer(n, "n", 16)
    rng = np.random.default_rng(seed)
    side = round(np.sqrt(n))
    cell = np.arange(side * side)
    places = (np.stack([cell % side, cell // side], axis=1) + rng.uniform(-0.35, 0.35, (cell.size, 2))) * _BLOCK
    roads, in_tree, arterial, length = _roads(places)
    one_way = ~in_tree & ~arterial & (rng.random(len(roads)) < 0.2)
    turned = np.where((rng.random(len(roads)) < 0.5)[:, None], roads, roads[:, ::-1])
    tail = np.concatenate([turned[:, 0], turned[~one_way, 1]])
    head = np.concatenate([turned[:, 1], turned[~one_way, 0]])
    graph = Graph.from_edges(
        cell.size, tail, head, coordinates=places, length=np.concatenate([length, length[~one_way]])
    )
    is_arterial = graph.arrange(np.concatenate([arterial, arterial[~one_way]]))
    central = int(np.argmin(((places - places.mean(axis=0)) ** 2).sum(axis=1)))
    return City(graph, is_arterial, central if goal is None else arrays.vertex(goal, "goal", graph.n), rng)


def _roads(
    places: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
    """Return pairs of crossings, whether each is in the spanning tree and on an arterial, and lengths."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    count = len(places)
    corners = Delaunay(places).simplices.astype(np.int64)
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    length = np.hypot(*(places[pairs[:, 0]] - places[pairs[:, 1]]).T)
    tree = minimum_spanning_tree(coo_array((length, (pairs[:, 0], pairs[:, 1])), shape=(count, count))).tocoo()
    keys = np.minimum(tree.row, tree.col).astype(np.int64) * count + np.maximum(tree.row, tree.col)
    in_tree = np.isin(pairs[:, 0] * count + pairs[:, 1], keys)
    arterial = _arterials(places, pairs, length)
    first = in_tree | arterial
    rest = np.flatnonzero(~first)
    wanted = max(0, round(1.6 * count) - int(first.sum()))
    kept = np.sort(np.concatenate([np.flatnonzero(first), rest[np.argsort(length[rest])[:wanted]]]))
    return pairs[kept], in_tree[kept], arterial[kept], length[kept]


def _arterials(places: NDArray[np.float64], roads: NDArray[np.int64], length: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which roads lie on the routes between gates at the rim and the center, and from gate to gate."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    count = len(places)
    middle = places.mean(axis=0)
    center = int(np.argmin(((places - middle) ** 2).sum(axis=1)))
    angles = np.arange(8) * np.pi / 4
    reach = np.abs(places - middle).max()
    rim = middle + 0.98 * reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ring = middle + 0.55 * reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gates, inner = ([int(np.argmin(((places - spot) ** 2).sum(axis=1))) for spot in spots] for spots in (rim, ring))
    # A road on one arterial counts half its length for the next one, so arterials merge, as real ones do.
    cost = length.copy()
    chosen = np.zeros(len(roads), dtype=bool)
    number = {(u, v): k for k, (u, v) in enumerate(roads.tolist())}
    routes = [(gate, center) for gate in gates]
    routes += [(inner[k], inner[(k + 1) % 8]) for k in range(8)]
    for start, end in routes:
        matrix = coo_array((cost, (roads[:, 0], roads[:, 1])), shape=(count, count)).tocsr()
        _, before = dijkstra(matrix, directed=False, indices=start, return_predecessors=True)
        at = end
        while at != start:
            previous = int(before[at])
            road = number[min(previous, at), max(previous, at)]
            chosen[road] = True
            cost[road] = length[road] * 0.5
            at = previous
    return chosen
