"""Weights of one query: those of today with some edges closed or changed, for one vehicle, or a mix of criteria.

Nothing is copied for a query. A search computes each weight that it reads (src/core/engine/prices.hpp), and what guides
it are the hierarchies that are customized already (src/core/hierarchy/reprice.hpp).

Let w be weights that a hierarchy is customized to, d(v) the distance from v to the target under w, and p the weights of
the query.

- **Where p ≥ w**, d is consistent for p: d(v) ≤ w(v, u) + d(u) ≤ p(v, u) + d(u) for every edge. So A* with d finds an
  optimal path. If the optimal path under w costs the same under p, it is optimal under p too, as every path costs at
  least as much as under w: no search is needed.
- **Where p ≥ f · w with a factor f > 0**, f · d is consistent: multiply by f.
- **Where p = a · w₁ + b · w₂ with a, b > 0**, a · d₁ + b · d₂ is consistent: add up. No path is shorter under the mix
  than a times the shortest under w₁ plus b times the shortest under w₂.
- **Where p = Σ f_c · w_c over criteria and classes of edges**, distances under other such sums guide the search, too:
  see :mod:`rhostar.routing._related`.
- **Where p < w on some edges**, w is lowered to p there. A shortest path under the lowered weights goes to the tail of
  such an edge, or to the target, without using any of them, and then on. So its length is the minimum of d(v) and, over
  these edges, of the distance to the tail plus what comes after it. The hierarchy finds the distances among the ends of
  k edges once for each query, k² of them. The result is consistent for p, with nothing to reopen. If the k² distances
  are more work than following the change in the hierarchy, that is done instead.

Sums of integers below 2**53 are exact, and so are the answers. Sums of other numbers round. Then the guiding values are
made smaller by more than all roundings together, so that they never overestimate; the cost of a route is the sum of its
weights from the source on, and no other path costs less but for rounding.

A variant that recurs is customized itself, by the rule of the router (:mod:`rhostar.routing._state`): when its searches
have taken as much work as that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar import _failures as failures
from rhostar.routing import _work as work
from rhostar.routing._related import Related
from rhostar.routing._route import Found
from rhostar.routing._state import Engine, State


class Own(NamedTuple):
    """Edges of the graph that have a weight of their own."""

    edges: NDArray[np.int64]
    """If one is there several times, its last weight counts."""
    weights: NDArray[np.float64]
    behind: NDArray[np.int64] | None
    """The user's edge behind each; None if they are the same."""


class Repriced(State):
    """Weights that are computed from those of other states.

    Parameters
    ----------
    engine
        Of the router.
    parts
        The weights are the sum of these coefficients times the weights of these states. With the coefficient 0, a
        state only closes edges; the first one is positive.
    own
        Edges with weights of their own.
    near
        A state with the same weights but for `own`, if there is one.
    classes, factors
        The class of each edge of the graph, and the factor of each class.
    related
        The hierarchies of other vehicles and mixes; None if this one does not count among them.
    """

    __slots__ = ("_near", "_own", "_parts", "_prices", "_related", "_scales", "_shares")

    def __init__(
        self,
        engine: Engine,
        parts: tuple[tuple[float, State], ...],
        own: Own,
        near: State | None,
        classes: _core.EdgeClasses | None = None,
        factors: NDArray[np.float64] | None = None,
        related: Related | None = None,
    ) -> None:
        super().__init__(engine, None, None)
        self._parts, self._own, self._near, self._related = parts, own, near, related
        least = 1.0 if factors is None else float(factors.min())
        self._scales = [coefficient * least for coefficient, _ in parts]
        prices = _core.prices(
            [state.float_row for _, state in parts],
            [coefficient for coefficient, _ in parts],
            classes,
            [] if factors is None else factors.tolist(),
            own.edges,
            own.weights,
        )
        self._shares: NDArray[np.float64] | None = None
        """Of each part in the weights, by class."""
        if related is not None:
            each = np.ones(related.classes) if factors is None else factors
            self._shares = np.array([coefficient * each for coefficient, _ in parts])
        assert prices is not None, "rows, classes and edges are of this graph"
        self._prices: _core.Prices = prices
        if near is not None:
            self._follow(near, own.edges)
            self.share = min(1.0, work.ON_ROUTES * self.share)
            if near.limit < math.inf and bool((np.floor(own.weights) == own.weights).all()):
                self.limit = near.limit

    @property
    def _left(self) -> float:
        own = self.work - self.spent
        return own if self._related is None else min(own, self._related.allowance(self.work))

    def _count(self, spent: float) -> None:
        super()._count(spent)
        if self._related is not None:
            self._related.spent += spent

    def _customize(self, verbose: int) -> _core.Customization | None:
        made = super()._customize(verbose)
        if made is not None and self._related is not None and self._shares is not None:
            self._related.add([state for _, state in self._parts], self._shares, made)
        return made

    def is_of(self, states: list[State]) -> bool:
        """Whether the weights come from these states."""
        return len(states) == len(self._parts) and all(a is b for (_, a), b in zip(self._parts, states, strict=True))

    @property
    def row(self) -> NDArray[Any]:
        """The weights of the graph's edges, computed when they are first needed: for customizing, and for errors."""
        if self._row is None:
            self._row = self._prices.at(None)
        return self._row

    def _weights_at(self, edges: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._prices.at(edges)

    def cheapest(self, find: Callable[[NDArray[Any]], NDArray[np.int64] | None]) -> Any:
        """Return the user's edge behind each edge of the graph, which `find` finds once for other states."""
        known = self._parts[0][1].cheapest(find)
        return known if known is None or self._own.behind is None else _Behind(known, self._own)

    def expected(self, searches: int) -> float:
        """Return the work that this many searches will take, as far as it can be known."""
        return 0.0 if self._guides()[0] else super().expected(searches)

    # ------------------------------------------------------------ searches

    def _guides(self) -> tuple[list[_core.Customization], list[float]]:
        """Return the hierarchies that guide searches, with a factor for each."""
        if self._near is not None and self._near.index is not None:
            return [self._near.index], [1.0]
        if isinstance(self._near, Repriced):
            return self._near._guides()
        if self._related is not None and self._shares is not None:
            pairs = self._related.guides([state for _, state in self._parts], self._shares)
            if pairs:
                return [index for index, _ in pairs], [scale for _, scale in pairs]
        ready = [
            (state.index, scale)
            for (_, state), scale in zip(self._parts, self._scales, strict=True)
            if state.index is not None and scale > 0
        ]
        return [index for index, _ in ready], [scale for _, scale in ready]

    def search(
        self, source: int, target: int, left: float, stop: _core.Stop | None = None
    ) -> tuple[tuple[Found, float | None] | None, float]:
        """Return a shortest path with its cost, or None if the work is not enough; and the work."""
        lacking = [state for x, state in self._parts if x > 0 and state.index is None and not state.refused]
        spent = 0.0
        if lacking and (self._near is None or self._near.index is None):
            # As for queries on the weights of today: searches without a guide, until a hierarchy is worth its work.
            room = min(state.work - state.spent for state in lacking)
            if room > 0:
                found, spent = self._run(source, target, ([], []), min(left, room), stop)
                with self.engine.counting:
                    for state in lacking:
                        state.spent += spent
                        state.searches += 1
                if found is not None or left <= room:
                    return found, spent
            for state in lacking:
                state._customized(wait=False)
        found, more = self._run(source, target, self._guides(), left - spent, stop)
        return found, spent + more

    def _run(
        self,
        source: int,
        target: int,
        guides: tuple[list[_core.Customization], list[float]],
        left: float,
        stop: _core.Stop | None,
    ) -> tuple[tuple[Found, float | None] | None, float]:
        graph, (indexes, scales) = self.engine.graph, guides
        rate = work.GUIDED if indexes else work.TABLE
        budget = -1 if left == math.inf else max(int(left / rate), 0)
        same = self._near is not None and indexes == [self._near.index]
        found = graph._kernel.search_repriced(
            self._prices, indexes, scales, same, self.limit < math.inf, source, target, budget, stop
        )
        spent = found.expanded * rate
        if found.ending.status is _core.Status.BUDGET:
            return None, spent
        if found.ending.status is not _core.Status.DONE:
            raise failures.search_failure(found.ending, graph, self.row)
        self.exact(found.cost)
        return (Found(found.cost, found.vertices, found.edges), found.cost), spent

    @property
    def _explored(self) -> tuple[NDArray[Any], _core.Prices | None]:
        return self._parts[0][1].float_row, self._prices

    def explore(self, source: int, **options: Any) -> tuple[_core.Explored | None, float]:
        """Search outward from a vertex; return what was found, or None if the work is not enough, and the work."""
        found, spent = super().explore(source, **options)
        if found is not None:
            self.exact(found.cost)
        return found, spent


class _Behind:
    """The user's edge behind each edge of the graph, where a few differ from what is known."""

    __slots__ = ("_behind", "_edges", "_known")

    def __init__(self, known: NDArray[np.int64], own: Own) -> None:
        assert own.behind is not None
        order = np.argsort(own.edges, kind="stable")
        self._known, self._edges, self._behind = known, own.edges[order], own.behind[order]

    def __getitem__(self, edges: NDArray[np.int32]) -> NDArray[np.int64]:
        found = self._known[edges]
        differs, at = last_places(self._edges, edges)
        found[differs] = self._behind[at]
        return found


def last_places(ordered: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which values are in an increasing array, and the last place of each of these."""
    at = np.searchsorted(ordered, values, side="right") - 1
    there = at >= 0
    there[there] = ordered[at[there]] == values[there]
    return there, at[there]
