"""Replaces the route search of UXsim: a router's next hops instead of all pairs of shortest paths by scipy."""

from __future__ import annotations

from types import MethodType
from typing import Any

import numpy as np

from rhostar.errors import InputError
from rhostar.routing import Router

__all__ = ["use_router"]

_NOWHERE = -9999
"""What UXsim expects where there is no next node."""


def use_router(world: Any) -> Router:
    """Let a UXsim world find its routes with a :class:`rhostar.Router`.

    At each update of routes UXsim builds a dense matrix of travel times and computes all pairs of shortest paths.
    This hands the travel times of the links to a router instead, which finds the next node toward every node. The
    simulation stays the same, unless two routes cost exactly the same.

    Parameters
    ----------
    world
        A ``uxsim.World`` after ``finalize_scenario()``.

    Returns
    -------
    Router
        The router, with the travel times of the last update.

    Raises
    ------
    InputError
        If the world is not finalized.

    Examples
    --------
    >>> world.finalize_scenario()  # doctest: +SKIP
    >>> router = rs.interop.uxsim.use_router(world)  # doctest: +SKIP
    >>> world.exec_simulation()  # doctest: +SKIP
    """
    choice = getattr(world, "ROUTECHOICE", None)
    if choice is None:
        raise InputError("world must be finalized: call world.finalize_scenario() first")
    n = len(world.NODES)
    ends = np.array([(link.start_node.id, link.end_node.id) for link in world.LINKS], dtype=np.int32).reshape(-1, 2)
    # UXsim takes the mean time of links between the same nodes.
    pairs, of = np.unique(ends, axis=0, return_inverse=True)
    of = of.ravel()
    count = np.bincount(of)
    router = Router.from_edges(n, pairs[:, 0], pairs[:, 1])

    def search(self: Any, t: float, infty: float = np.inf, noise: float = 0) -> None:
        times = np.array([link.traveltime_instant[-1] for link in world.LINKS], dtype=np.float64)
        if not world.hard_deterministic_mode:  # the same random numbers as UXsim draws, one for each link
            times *= np.array([world.rng.uniform(1, 1 + noise) for _ in times])
        times += np.array([link.get_toll(t) for link in world.LINKS])
        closed = np.array([link.capacity_in == 0 for link in world.LINKS]) | ~_open(world, ends)
        mean = np.bincount(of, weights=times) / count
        mean[np.unique(of[closed])] = np.inf
        router.update(mean)
        nodes = np.arange(n)
        hops = router.next_hops(nodes).T.astype(np.int64)
        hops[hops < 0] = _NOWHERE
        self.next = hops
        self.dist = router.matrix(nodes, nodes)
        self.dist_record[world.T] = self.dist

    choice.route_search_all = MethodType(search, choice)
    return router


def _open(world: Any, ends: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return which links UXsim's adjacency matrix has."""
    return np.asarray(world.ADJ_MAT)[ends[:, 0], ends[:, 1]] != 0
