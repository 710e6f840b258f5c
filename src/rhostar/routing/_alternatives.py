"""The fourth part of Router: alternatives to a shortest path that a driver would consider.

Paths that are nearly as short as the shortest are mostly the same path with a silly detour. What makes a path s -> t an
alternative (Abraham, Delling, Goldberg and Werneck, *Alternative routes in road networks*, 2013): it shares little with
the routes that are already there, where it differs from the shortest path it is not much longer, and it has no local
detours: every part of it up to a given length is a shortest path itself.

The candidates are the via paths of a vertex v: a shortest path to v, and one from v to the target. Two searches find
all of them. Stretches along which both trees agree, *plateaus*, have one candidate in common.

Let P be such a path and T a length. All parts of P that do not pass through v are shortest paths. Of those that do and
cost at most T, it is enough to look at the longest that begin at each vertex before v: the others are parts of these.
That is one distance for each vertex up to T before v, and mostly the first shows a detour. Nothing need be asked if v
is on a plateau of length T or more: a part of P that begins before the plateau and ends behind it is longer than T, and
every other one is in one of the two trees.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.instances import Snapshot
from rhostar.routing._pairs import PairQuestions
from rhostar.routing._query_costs import QueryCosts
from rhostar.routing._route import Found, Route
from rhostar.routing._state import State

_MOST_TESTS = 100
"""Candidates that are looked at; almost all alternatives are among the first."""
_SAME = 1 + 1e-9
"""Sums of the same weights in another order may differ by less than this factor."""


class Alternatives(PairQuestions):
    """Answers with several routes."""

    def alternatives(
        self,
        source: Any,
        target: Any,
        k: int = 3,
        *,
        max_excess: float = 0.25,
        max_overlap: float = 0.7,
        locality: float = 0.25,
        snapshot: Snapshot | None = None,
        **costs: Unpack[QueryCosts],
    ) -> list[Route]:
        """Return the shortest path and alternatives to it.

        An alternative is a shortest path to some vertex, followed by a shortest path from there (a *via path*). Other
        kinds of alternatives are not found. Often there is none at all: a bridge that every path has to cross counts as
        overlap. The routes do not depend on which engine answers other queries.

        Parameters
        ----------
        source, target
            Vertices, by label or number.
        k
            How many routes, the shortest included.
        max_excess
            The largest extra cost of the part in which an alternative differs from the shortest path, as a fraction of
            the cost of the part that it replaces. So its total cost exceeds the optimum by at most this fraction, too.
        max_overlap
            The largest cost of the edges that an alternative shares with the routes before it, taken together, as a
            fraction of the optimal cost.
        locality
            Every part of an alternative that costs up to this fraction of the optimal cost is a shortest path itself.
        snapshot, **costs
            As for :meth:`route`.

        Returns
        -------
        list of Route
            At most k: first a shortest path, then alternatives, the most attractive first. Empty if there is no path.

        Raises
        ------
        InputError
            If `k` is not positive, a share is negative, or as :meth:`route`.
        VertexError, WeightError
            As :meth:`route`.

        Notes
        -----
        The conditions are those of Abraham, Delling, Goldberg and Werneck (2013). They are tested on the weights
        themselves, and each holds for every route that is returned. Penalties on the edges of earlier routes, the other
        usual method, can find routes that are not via paths. But they need new weights for each route, and do not bound
        local detours.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(20, 20)
        >>> router = rs.Router(graph)
        >>> router.update(np.random.default_rng(1).uniform(1, 1.5, graph.m))
        >>> routes = router.alternatives((0, 0), (19, 19), 3)
        >>> [round(route.cost, 2) for route in routes]
        [43.49, 43.72, 43.6]
        """
        wanted = arrays.integer(k, "k", 1)
        excess, overlap, local = (
            arrays.number(value, name, "a share that is not negative", lambda x: 0 <= x < np.inf)
            for name, value in (("max_excess", max_excess), ("max_overlap", max_overlap), ("locality", locality))
        )
        state = self._priced(snapshot, costs)
        s, t = self._names.one(source, "source"), self._names.one(target, "target")
        first = self._route(state, source, target)  # not optimal if an excess is allowed; the trees are
        if not math.isfinite(first.cost):
            return []
        if wanted == 1 or first.cost == 0:
            return [first]
        trees = _trees(state, s, t, first.cost * (1 + excess) * _SAME)
        optimum, row, cheapest = trees.optimum, state.row, state.cheapest(self._edges.cheapest)
        routes: list[Route] = []
        used = np.zeros(self.graph.m, dtype=bool)
        for via, plateau in _candidates(trees, excess, overlap):
            path, at = trees.path(via)
            edges = self.graph._kernel.edge_index(path[:-1], path[1:])
            each = row[edges].astype(np.float64)
            if routes and (
                np.unique(path).size < path.size
                or each[used[edges]].sum() > overlap * optimum * _SAME
                or not (plateau >= local * optimum or self._has_no_detour(state, path, each, at, local * optimum))
            ):
                continue
            cost = float(each.sum()) if routes else optimum
            routes.append(Route(Found(cost, path, edges), cost, optimum, self._edges, cheapest))
            used[edges] = True
            if len(routes) == wanted:
                break
        return routes

    def _has_no_detour(
        self, state: State, path: NDArray[np.int32], costs: NDArray[np.float64], at: int, length: float
    ) -> bool:
        """Return whether all parts up to a length that pass through the vertex at a place are shortest paths."""
        along = np.concatenate([[0.0], np.cumsum(costs)])
        first = np.flatnonzero(along[:at] > along[at] - length)
        last = np.searchsorted(along, along[first] + length, side="right") - 1
        passing = last > at
        first, last = first[passing], last[passing]
        middle = np.argsort(np.abs(along[first] + along[last] - 2 * along[at]), kind="stable")  # detours show there
        for i, j in zip(first[middle].tolist(), last[middle].tolist(), strict=True):
            x, y = int(path[i]), int(path[j])
            shortest = _distance(state, x, y)
            if along[j] - along[i] > shortest * _SAME:
                return False
        return True


def _distance(state: State, s: int, t: int) -> float:
    """Return the cost of a shortest path, whatever excess is allowed."""
    if state.index is not None:
        return state.index.path(s, t).cost
    found, _ = state.explore(s, reverse=False, goals=np.array([t], dtype=np.int32), wanted=1)
    assert found is not None, "a search without a limit ends"
    return float(found.cost[0]) if found.cost.size else math.inf


class _Trees(NamedTuple):
    """Shortest paths from the source and to the target, for the vertices that are on a path of an allowed cost."""

    vertex: NDArray[np.int32]
    there: NDArray[np.float64]
    """What it costs to get to each of them from the source."""
    onward: NDArray[np.float64]
    """And from there to the target."""
    before: NDArray[np.int64]
    """The one before it on the way from the source, by its place here; itself if there is none."""
    behind: NDArray[np.int64]
    """The one behind it on the way to the target."""
    end: int
    """The place of the target."""

    @property
    def optimum(self) -> float:
        """What a shortest path costs."""
        return float(self.there[self.end])

    def path(self, via: int) -> tuple[NDArray[np.int32], int]:
        """Return the path through a vertex, and its place on it."""
        to, on = ([via], [via])
        for places, step in ((to, self.before), (on, self.behind)):
            while (following := int(step[places[-1]])) != places[-1]:
                places.append(following)
        return self.vertex[to[::-1] + on[1:]], len(to) - 1


def _trees(state: State, s: int, t: int, most: float) -> _Trees:
    n = state.engine.graph.n
    cost, step = np.full((2, n), np.inf), np.full((2, n), -1, dtype=np.int32)
    for side, (root, reverse) in enumerate(((s, False), (t, True))):
        found, _ = state.explore(root, reverse=reverse, most=most)
        assert found is not None, "a search without a limit ends"
        cost[side, found.vertex], step[side, found.vertex] = found.cost, found.parent
    vertex = np.flatnonzero(cost.sum(axis=0) <= most).astype(np.int32)
    place = np.full(n + 1, -1)
    place[vertex] = np.arange(vertex.size)
    steps = place[step[:, vertex]]  # the last entry is for -1
    steps = np.where(steps < 0, np.arange(vertex.size), steps)
    return _Trees(vertex, cost[0, vertex], cost[1, vertex], steps[0], steps[1], int(place[t]))


def _candidates(trees: _Trees, excess: float, overlap: float) -> list[tuple[int, float]]:
    """Return one vertex for each path that may do, and the length of its plateau; the most attractive first.

    The first is the target itself, for the shortest path.
    """
    count, optimum = trees.vertex.size, trees.optimum
    itself = np.arange(count)
    on_best = np.isin(trees.vertex, trees.path(trees.end)[0])
    leaves = _ends(np.where(on_best, itself, trees.before))
    returns = _ends(np.where(on_best, itself, trees.behind))
    cost = trees.there + trees.onward
    shared = trees.there[leaves] + trees.onward[returns]
    continues = trees.behind[trees.before] == itself  # both trees have the edge before it
    begins = _ends(np.where(continues, trees.before, itself))
    plateau = np.zeros(count)
    np.maximum.at(plateau, begins, trees.there - trees.there[begins])
    allowed = (shared <= overlap * optimum * _SAME) & (cost - shared <= (1 + excess) * (optimum - shared) * _SAME)
    chosen = np.flatnonzero(allowed & (begins == itself) & ~on_best)
    # Short ones, with little in common with the shortest path, and with long plateaus.
    order = np.argsort((2 * cost + shared - plateau)[chosen], kind="stable")[:_MOST_TESTS]
    return [(trees.end, optimum), *((int(via), float(plateau[via])) for via in chosen[order])]


def _ends(step: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each place leads, if steps are taken until one leads to itself."""
    while True:
        further = step[step]
        if np.array_equal(further, step):
            return step
        step = further
