"""What a router knows about one set of weights, and which engine answers.

Searches are ready at once; the hierarchy has to be customized first, which is C expansions' worth of work. Until the
searches on these weights have spent C, they answer. The search that would go beyond C is stopped there; the hierarchy
is customized and answers it. Let S be the work if searches had answered everything. If S ≤ C, nothing was customized,
and the work was S. Otherwise it was at most C for searches and C for customizing: twice min(S, C). Queries to the
hierarchy come on top; each replaces a search.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import LimitError, WeightError
from rhostar.graph import Graph
from rhostar.hierarchy import Hierarchy
from rhostar.hierarchy._customized import LARGEST_WHOLE
from rhostar.hierarchy._order import elimination_order
from rhostar.routing import _work as work
from rhostar.routing._guide import Guide, OnRow
from rhostar.routing._route import Found
from rhostar.search._outcome import Run, Status

T = TypeVar("T")
Costs = TypeVar("Costs", float, NDArray[np.float64])

_GOALS_KEPT = 8
"""Sets of goals that are kept prepared: those of a dispatcher recur."""


class Engine:
    """What a router has for all weights: the graph, its hierarchy and the heuristic.

    Parameters
    ----------
    graph
        The graph.
    guide
        The heuristic.
    """

    def __init__(self, graph: Graph, guide: Guide) -> None:
        self.graph, self.guide = graph, guide
        self.customizing = threading.Lock()
        """Held by the one thread that customizes; only :meth:`State.prepare` waits for it."""
        self.counting = threading.Lock()
        self.hierarchy: Hierarchy | None = None
        self.order = "The order of the vertices is built when the hierarchy is first customized."
        self.declined = False
        """Whether the graph has no hierarchy of a reasonable size."""
        self.searched, self.expanded = 0, 0
        """Searches between two vertices that were finished, and their expansions."""
        self._goals: dict[bytes, _core.Goals] = {}

    @property
    def work(self) -> float:
        """The work of customizing in full."""
        if self.hierarchy is None:
            return work.GUESS_PER_VERTEX * self.graph.n
        kernel = self.hierarchy._kernel
        return work.PER_ARC * kernel.arcs + work.PER_TRIANGLE * kernel.triangles

    @property
    def typical(self) -> float:
        """Expansions of a search between two vertices: the mean so far, or a guess."""
        return self.expanded / self.searched if self.searched else self.graph.n / 4

    def build(self, verbose: int = 0) -> Hierarchy | None:
        """Return the hierarchy, which is built at the first call; None if there is none."""
        if self.hierarchy is None and not self.declined:
            begin = process_time()
            try:
                self.hierarchy = Hierarchy(self.graph, verbose=verbose)
                self.order = f"The order of the vertices was built in {process_time() - begin:.2g} s, once."
            except LimitError as error:
                self.declined, self.order = True, f"There is no hierarchy: {error}."
        return self.hierarchy

    def goals(self, many: NDArray[np.int32]) -> _core.Goals:
        """Return goals as the hierarchy reads them; those of the last few calls are kept."""
        assert self.hierarchy is not None
        key = many.tobytes()
        with self.counting:
            found = self._goals.pop(key, None)
        if found is None:
            found = self.hierarchy._kernel.goals(many)
            assert found is not None, "they are vertices"
        with self.counting:
            self._goals[key] = found  # at the end of the dictionary
            if len(self._goals) > _GOALS_KEPT:
                del self._goals[next(iter(self._goals))]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        order = None if self.hierarchy is None else elimination_order(self.graph)
        return _engine_with, (self.graph, self.guide, order)


def _engine_with(graph: Graph, guide: Guide, order: NDArray[np.int32] | None) -> Engine:
    """Return an engine in another process, where the order need not be found again."""
    if order is not None and graph._elimination_order is None:
        object.__setattr__(graph, "_elimination_order", order)
    return Engine(graph, guide)


class State:
    """One set of weights. It never changes, but for what is found out about it.

    Parameters
    ----------
    engine
        Of the router.
    row
        The weights of the graph's edges, checked.
    given
        The weights of the user's edges; None if they are the same.
    before
        The weights that these came from by an update of some edges.
    changed
        These edges.
    """

    __slots__ = (
        "_cheapest",
        "_closes",
        "_float_row",
        "_guide",
        "_row",
        "base",
        "engine",
        "given",
        "index",
        "limit",
        "refused",
        "searches",
        "share",
        "spent",
    )

    def __init__(
        self,
        engine: Engine,
        row: NDArray[Any] | None,
        given: NDArray[Any] | None,
        before: State | None = None,
        changed: NDArray[np.int64] | None = None,
    ) -> None:
        self.engine, self._row, self.given = engine, row, given
        self.base: tuple[_core.Customization, NDArray[np.int64]] | None = None
        """A customized hierarchy for other weights, and the edges in which these differ."""
        self.share = 1.0
        """The work of customizing, as a share of doing it in full."""
        if before is not None and changed is not None:
            self._follow(before, changed)
        self.index: _core.Customization | None = None
        """The customized hierarchy, once there is one."""
        self.limit = LARGEST_WHOLE if row is not None and row.dtype.kind == "i" else math.inf
        self.refused = engine.declined
        """Whether the hierarchy cannot be customized to these weights."""
        self.searches, self.spent = 0, 0.0
        self._guide: OnRow | None = None
        self._cheapest: Any = self
        self._float_row: NDArray[np.float64] | None = None
        self._closes: bool | None = None

    def _follow(self, before: State, changed: NDArray[np.int64]) -> None:
        if before.index is not None:
            kernel = before.index
        elif before.base is not None:
            kernel, changed = before.base[0], np.union1d(before.base[1], changed)
        else:
            return
        share = work.following(changed.size, self.engine.graph.m)
        if share < 1:
            self.base, self.share = (kernel, changed), share

    @property
    def row(self) -> NDArray[Any]:
        """The weights of the graph's edges."""
        assert self._row is not None
        return self._row

    @property
    def float_row(self) -> NDArray[np.float64]:
        """The same in float64."""
        if self._float_row is None:
            self._float_row = np.ascontiguousarray(self.row, dtype=np.float64)
        return self._float_row

    @property
    def closes(self) -> bool:
        """Whether an edge of the user is closed."""
        if self._closes is None:
            self._closes = bool(np.isinf(self.row if self.given is None else self.given).any())
        return self._closes

    @property
    def work(self) -> float:
        """The work of customizing."""
        return self.share * self.engine.work

    @property
    def _left(self) -> float:
        """The work that searches may still take before the hierarchy is customized."""
        return self.work - self.spent

    def cheapest(self, find: Callable[[NDArray[Any]], NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
        """Return the user's edge behind each edge of the graph, which `find` finds once."""
        if self._cheapest is self:
            self._cheapest = None if self.given is None else find(self.given)
        found: NDArray[np.int64] | None = self._cheapest
        return found

    @property
    def guide(self) -> OnRow:
        """What guides searches."""
        if self._guide is None:
            self._guide = self.engine.guide.on(self.row)
        return self._guide

    def expected(self, searches: int) -> float:
        """Return the work that this many searches between two vertices will take, as far as it can be known."""
        rate = work.TABLE if self.guide.heuristic is None else work.GUIDED
        return searches * self.engine.typical * rate

    def exact(self, costs: Costs) -> Costs:
        """Return costs, or raise :class:`WeightError` if sums of integers are not exact."""
        if self.limit < math.inf and np.any((np.greater(costs, self.limit)) & np.isfinite(costs)):
            raise WeightError("a path costs 2**53 or more; sums of integers are exact only below it")
        return costs

    # ------------------------------------------------------------ the choice

    def answer(
        self,
        by_search: Callable[[float], tuple[T | None, float]],
        by_index: Callable[[_core.Customization], T],
        expected: float = 0.0,
    ) -> T:
        """Return the answer of whichever engine is to answer.

        Parameters
        ----------
        by_search
            Searches with an allowance of work; returns the answer, or None if that was not enough, and the work.
        by_index
            Asks the customized hierarchy.
        expected
            The work that searches will take; if it is more than what is left, they do not begin.
        """
        index = self.index
        if index is None:
            left = math.inf if self.refused else self._left
            if left > expected:
                found = self._searched(by_search, left)
                if found is not None:
                    return found
            index = self._customized(wait=False)
            if index is None:  # there is no hierarchy, or another thread is customizing it
                found = self._searched(by_search, math.inf)
                assert found is not None, "a search without a limit ends"
                return found
        return by_index(index)

    def _searched(self, by_search: Callable[[float], tuple[T | None, float]], left: float) -> T | None:
        found, spent = by_search(left)
        with self.engine.counting:
            self._count(spent)
        return found

    def _count(self, spent: float) -> None:
        self.spent += spent
        self.searches += 1

    def prepare(self, verbose: int = 0) -> None:
        """Customize the hierarchy now, unless there is none."""
        self._customized(wait=True, verbose=verbose)

    def _customized(self, *, wait: bool, verbose: int = 0) -> _core.Customization | None:
        """Return the customized hierarchy; None if there is none, or another thread is at it and we do not wait."""
        lock = self.engine.customizing
        if not lock.acquire(blocking=wait):
            return self.index
        try:
            if self.index is None and not self.refused:
                self.index = self._customize(verbose)
                self.base, self.refused = None, self.index is None
            return self.index
        finally:
            lock.release()

    def _customize(self, verbose: int) -> _core.Customization | None:
        """Return the customized hierarchy, or None if there is none for these weights."""
        if self.base is not None:
            kernel, edges = self.base[0], np.unique(self.base[1])
            made = kernel.updated(edges, self._weights_at(edges), self.limit < math.inf, -1, None)
            if made.ending.status is _core.Status.DONE:
                return made
        hierarchy = self.engine.build(verbose)
        with suppress(WeightError):  # all are infinite, or their sums are: searches say so where it matters
            return None if hierarchy is None else hierarchy.customize(self.row)._kernel
        return None

    def _weights_at(self, edges: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.row[edges].astype(np.float64)

    def __reduce__(self) -> tuple[Any, ...]:
        return _state_with, (self.engine, self.row, self.given, self.index is not None)

    # ------------------------------------------------------------ searches

    def search(
        self, source: int, target: int, left: float, stop: _core.Stop | None = None
    ) -> tuple[tuple[Found, float | None] | None, float]:
        """Return a path by A* with its bound, or None if the work is not enough; and the work."""
        engine, aim = self.engine, self.guide.at(target)
        budget = None if left == math.inf else int(left / aim.rate)
        graph = engine.graph
        run = graph._kernel.solve(False, self.row, source, target, aim.rho, aim.reopen, budget, None, False, stop)
        if not isinstance(run, Run):
            raise failures.search_failure(run, graph, self.row, rho=_table(aim.rho, target))
        spent = run.expanded * aim.rate
        if run.status == Status.BUDGET:
            return None, spent
        with engine.counting:
            engine.searched += 1
            engine.expanded += run.expanded
        edges = graph._kernel.edge_index(run.path[:-1], run.path[1:])
        bound = None if aim.share is None else run.cost if aim.share == 1.0 else run.cost * aim.share
        return (Found(run.cost, run.path, edges), bound), spent

    @property
    def _explored(self) -> tuple[NDArray[Any], _core.Prices | None]:
        """The weights that :meth:`explore` reads."""
        return self.row, None

    def explore(
        self,
        source: int,
        *,
        reverse: bool,
        most: float = math.inf,
        goals: NDArray[np.int32] | None = None,
        wanted: int = 0,
        left: float = math.inf,
        stop: _core.Stop | None = None,
    ) -> tuple[_core.Explored | None, float]:
        """Search outward from a vertex; return what was found, or None if the work is not enough, and the work."""
        graph = self.engine.graph
        budget = -1 if left == math.inf else int(left / work.TABLE)
        found = graph._kernel.explore(*self._explored, source, reverse, most, goals, wanted, budget, stop)
        spent = found.expanded * work.TABLE
        if found.ending.status is _core.Status.BUDGET:
            return None, spent
        if found.ending.status is not _core.Status.DONE:
            raise failures.search_failure(found.ending, graph, self.row)
        return found, spent


def _state_with(engine: Engine, row: NDArray[Any], given: NDArray[Any] | None, customized: bool) -> State:
    """Return a state in another process, with the same engine ready."""
    state = State(engine, row, given)
    if customized:
        state.prepare()
    return state


def _table(rho: NDArray[np.float64] | _core.Potential, goal: int) -> NDArray[np.float64]:
    """Return values for a message about one of them."""
    return rho if isinstance(rho, np.ndarray) else rho.values(np.array([goal], dtype=np.int32), None, None).rho
