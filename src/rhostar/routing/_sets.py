"""The third part of Router: questions about one vertex and many."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.instances import Snapshot
from rhostar.routing import _bulk as bulk
from rhostar.routing._answers import Nearest, Within
from rhostar.routing._query_costs import QueryCosts
from rhostar.routing._state import State
from rhostar.routing._weights import Weights


class SetQuestions(Weights):
    """Answers between one vertex and many: the nearest, what is within a cost, and where to go next."""

    def nearest(
        self, source: Any, goals: Any, k: int = 1, *, snapshot: Snapshot | None = None, **costs: Unpack[QueryCosts]
    ) -> Nearest:
        """Return the goals that are nearest to a vertex.

        Parameters
        ----------
        source
            A vertex, by label or number.
        goals
            Vertices to choose from; each counts once.
        k
            How many.
        snapshot, **costs
            As for :meth:`route`.

        Returns
        -------
        Nearest
            At most k of them, the nearest first, and of equal costs the smallest number. Those that cannot be reached
            are left out.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex.
        InputError, WeightError
            If `k` is not positive, or as :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> found = router.nearest(0, [15, 10, 3], k=2)
        >>> found.goal, found.goals.tolist(), found.costs.tolist()
        (3, [3, 10], [3.0, 4.0])
        """
        start = self._names.one(source, "source")
        return self._nearest(start, self._names.many(goals, "goals"), k, self._priced(snapshot, costs), reverse=False)

    def nearest_source(
        self, sources: Any, target: Any, k: int = 1, *, snapshot: Snapshot | None = None, **costs: Unpack[QueryCosts]
    ) -> Nearest:
        """Return the sources nearest to a vertex, such as the vehicles that can be there first.

        Parameters
        ----------
        sources
            Vertices to choose from; each counts once.
        target
            A vertex, by label or number.
        k
            How many.
        snapshot, **costs
            As for :meth:`route`.

        Returns
        -------
        Nearest
            As :meth:`nearest`, with the sources as its goals.

        Raises
        ------
        VertexError, ArrayError, InputError, WeightError
            As :meth:`nearest`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.from_edges(3, [0, 1, 2], [1, 2, 0]))
        >>> router.update([1.0, 1.0, 5.0])
        >>> router.nearest_source([1, 2], 0).goal, router.nearest(0, [1, 2]).goal
        (2, 1)
        """
        end = self._names.one(target, "target")
        return self._nearest(end, self._names.many(sources, "sources"), k, self._priced(snapshot, costs), reverse=True)

    def _nearest(self, one: int, many: NDArray[np.int32], k: int, state: State, *, reverse: bool) -> Nearest:
        wanted = min(arrays.integer(k, "k", 1), many.size)
        if many.size == 0:
            return Nearest(many, np.empty(0), self._names)

        def by_search(left: float) -> tuple[Nearest | None, float]:
            found, spent = state.explore(one, reverse=reverse, goals=many, wanted=wanted, left=left)
            return None if found is None else Nearest(found.vertex, found.cost, self._names), spent

        def by_index(index: _core.Customization) -> Nearest:
            found = index.nearest(one, self._engine.goals(many), reverse, wanted, None)
            failures.require_done(found.ending)
            return Nearest(found.vertex, state.exact(found.cost), self._names)

        return state.answer(by_search, by_index)

    def within(
        self,
        vertex: Any,
        max_cost: float,
        *,
        reverse: bool = False,
        snapshot: Snapshot | None = None,
        **costs: Unpack[QueryCosts],
    ) -> Within:
        """Return all vertices that can be reached within a cost, such as the area within 15 minutes.

        Parameters
        ----------
        vertex
            A vertex, by label or number.
        max_cost
            The highest cost to get there, inclusive; at least 0.
        reverse
            Whether to return what reaches the vertex instead.
        snapshot, **costs
            As for :meth:`route`.

        Returns
        -------
        Within
            Vertices, costs, and the tree of shortest paths.

        Raises
        ------
        VertexError
            If there is no such vertex.
        InputError, WeightError
            If `max_cost` is negative or NaN, or as :meth:`route`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(4, 4))
        >>> router.update(router.graph.length)
        >>> found = router.within(0, 1.0)
        >>> found.vertices.tolist(), found.costs.tolist(), found.parents.tolist()
        ([0, 1, 4], [0.0, 1.0, 1.0], [-1, 0, 0])
        """
        state = self._priced(snapshot, costs)
        start = self._names.one(vertex, "vertex")
        most = arrays.number(max_cost, "max_cost", "a number that is not negative", lambda x: x >= 0)
        found, _ = state.explore(start, reverse=bool(reverse), most=most)  # a hierarchy would not have saved this work
        assert found is not None
        return Within(found.vertex, found.cost, found.parent, self._names)

    def next_hops(
        self,
        goals: Any,
        *,
        snapshot: Snapshot | None = None,
        n_jobs: int | None = None,
        **costs: Unpack[QueryCosts],
    ) -> NDArray[np.int32]:
        """Return, for each goal, the next vertex on a shortest path from every vertex.

        Parameters
        ----------
        goals
            Vertices, by label or number.
        snapshot, n_jobs, **costs
            As for :meth:`routes`.

        Returns
        -------
        numpy.ndarray
            (number of goals, n) the next vertex; -1 at the goal, and where the goal cannot be reached. Each row is a
            tree: following it leads to the goal, also where weights are zero.

        Raises
        ------
        VertexError, ArrayError, InputError, WeightError
            As :meth:`matrix`.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.grid(1, 4))
        >>> router.update(router.graph.length)
        >>> router.next_hops([0, 2]).tolist()
        [[-1, 0, 1, 2], [1, 2, -1, 2]]
        """
        state = self._priced(snapshot, costs)
        ends = self._names.many(goals, "goals")
        if ends.size == 0:
            return np.empty((0, self.graph.n), dtype=np.int32)
        return np.concatenate(bulk.in_chunks(bulk.hops, state, "goals", n_jobs, ends))
