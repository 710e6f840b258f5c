"""Weights that depend on the time of day, and exact routes on them: by departure, or by arrival.

Let w be the lowest weights in a window [a, b], and h the distances to the target under them. For a search that departs
at a and a path known to arrive by b, h is admissible and consistent as far as it matters: edges that the search enters
by b cost at least w, and a label that is later than b costs more than the path that is known. So A* with h is exact.
Going back from an arrival it is the same with distances from the source. h comes from a hierarchy that is customized to
w. The window of a query is one of few, so that those for other queries serve it, too.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, InputError, WeightError
from rhostar.routing import _work as work
from rhostar.routing._edges import UserEdges
from rhostar.routing._route import Found, Route
from rhostar.routing._state import Engine
from rhostar.routing._weights import Weights

Key = tuple[int, int]
"""A window: its size, and which one of that size. Each size is for trips 1 / sqrt(2) as long as the one before."""
WHOLE = 0, 0
"""The window of the whole horizon."""
_SIZES = 12
"""The shortest windows are for trips of up to 1/64 of the horizon."""
_KEPT_BYTES = 2**29
"""Customized windows that are kept, in bytes: the last ones used."""


class TimedRoute(Route):
    """A fastest path from :meth:`Router.route` with `depart` or `arrive`: a :class:`Route` with times.

    Parameters
    ----------
    found, cost, bound, known, cheapest
        As for :class:`Route`.

    Attributes
    ----------
    cost
        How long it takes, waiting included; inf if there is no path.
    depart, arrive
        When it begins and ends. Without a path, `arrive` is inf, or `depart` is -inf.
    times
        The time at each vertex of the path: when it is reached or, with `arrive`, when it must be reached at the
        latest.

    Examples
    --------
    >>> import rhostar as rs
    >>> router = rs.Router(rs.Graph.from_edges(3, [0, 1], [1, 2]))
    >>> router.update_by_time([[1.0, 1.0], [3.0, 3.0]], times=[0, 2])
    >>> route = router.route(0, 2, depart=0.0)
    >>> route.times.tolist(), route.cost
    ([0.0, 1.0, 3.0], 3.0)
    """

    __slots__ = ("arrive", "depart", "times")
    depart: float
    arrive: float
    times: NDArray[np.float64]

    def __repr__(self) -> str:
        if not math.isfinite(self.cost):
            return "TimedRoute(no path)"
        return f"TimedRoute(depart {self.depart:.6g}, arrive {self.arrive:.6g}, {self._found.edges.size} edges)"


class TimedWeights(Weights):
    """Takes weights by time of day, besides the current ones."""

    _by_time: TimeOfDay | None = None

    def update_by_time(
        self, weights: ArrayLike, times: ArrayLike, *, period: float | None = None, waiting: bool = False
    ) -> None:
        """Take weights that depend on the time of day, for :meth:`route` with `depart` or `arrive`.

        Weights are linear between the times. The time for an edge is its weight at the moment in which it is entered.
        All other queries use the weights of :meth:`update`.

        Parameters
        ----------
        weights
            (number of times, number of edges) how long each edge takes at each time, in the unit of the times; inf if
            it is closed. It is also closed between that time and the times next to it.
        times
            At least two, increasing.
        period
            The time after which everything repeats, such as 24 for the hours of a day. With None, the last weights stay
            after the last time.
        waiting
            Whether a vehicle may wait at a vertex. Otherwise, no vehicle may leave an edge earlier by entering it later
            (*first in, first out*): its weight may fall by at most the time that passes. An edge that opens again needs
            waiting.

        Raises
        ------
        WeightError
            If a weight is negative or NaN, or falls too fast and waiting is not allowed. The message names the first
            time and edge.
        ArrayError, InputError
            If shapes do not fit, times do not increase, or the period is too short. The old weights stay.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router.from_edges(3, [0, 1, 0], [1, 2, 2], labels=["home", "bridge", "work"])
        >>> router.update_by_time([[0.2, 0.2, 0.5], [0.2, 0.6, 0.5], [0.2, 0.2, 0.5]], times=[6, 8, 10], period=24)
        >>> early, late = (router.route("home", "work", depart=time) for time in (6, 7.5))
        >>> early.labels, late.labels, late.arrive
        (('home', 'bridge', 'work'), ('home', 'work'), 8.0)
        >>> router.route("home", "work", arrive=9.0)
        TimedRoute(depart 8.5, arrive 9, 1 edges)
        """
        made = TimeOfDay(self._engine, self._edges, weights, times, period, bool(waiting))
        self._by_time = made

    def _route_by_time(self, source: Any, target: Any, depart: Any, arrive: Any, priced: bool) -> TimedRoute:
        if priced:
            raise InputError("depart and arrive exclude a snapshot and costs of one query")
        if self._by_time is None:
            raise InputError("the router has no weights by time of day: call update_by_time(weights, times) first")
        s, t = self._names.one(source, "source"), self._names.one(target, "target")
        return self._by_time.route(s, t, depart, arrive)


class Window(NamedTuple):
    """A hierarchy that is customized to the lowest weights in a window, as potentials."""

    paths: _core.Customization | None
    """For paths; only that of the whole horizon is kept."""
    towards: _core.Potential
    """Distances to a goal."""
    away: _core.Potential
    """Distances from a start, for searches against the edges."""
    nbytes: int


class TimeOfDay:
    """The weights of a graph by time of day.

    Parameters
    ----------
    engine, known
        Of a router: its graph and hierarchy, and the edges as the user knows them.
    weights, times, period, waiting
        As for :meth:`Router.update_by_time`.
    """

    def __init__(
        self,
        engine: Engine,
        known: UserEdges,
        weights: ArrayLike,
        times: ArrayLike,
        period: float | None,
        waiting: bool,
    ) -> None:
        self.engine, self.known = engine, known
        self.times = _times(times)
        self.weights = _rows(weights, self.times.size, known)
        span = float(self.times[-1] - self.times[0])
        if period is None:
            self.period, self.span = math.inf, span
        else:
            self.period = arrays.number(
                period, "period", f"a number above the {span:g} between the first and the last time",
                lambda x: span < x < math.inf,
            )  # fmt: skip
            self.span = self.period
        soonest = self._soonest() if self._must_wait(waiting) else None
        first = member = None
        if known.given is not None:
            member, starts = known.members(np.arange(engine.graph.m))
            first = np.append(np.arange(engine.graph.m) if starts is None else starts, member.size).astype(np.int64)
        self._day = _core.TimeOfDay(self.times, self.period, self.weights, soonest, first, member)
        self._guide_rows: Any = None
        self._lock = threading.Lock()
        self._kept: dict[Key, Window | None] = {}
        self._spent: dict[Key, float] = {}

    # ------------------------------------------------------------ first in, first out

    def _must_wait(self, waiting: bool) -> bool:
        """Return whether who departs later may arrive earlier on some edge; raise if nobody may wait."""
        last = self.times.size if self.period < math.inf else self.times.size - 1
        for bin_ in range(last):
            here, following = self.weights[bin_], self.weights[(bin_ + 1) % self.times.size]
            gap = self._end(bin_) - self.times[bin_]
            with np.errstate(invalid="ignore"):  # inf - inf: closed all the time
                overtaken = here - following > gap
            if not overtaken.any():
                continue
            if waiting:
                return True
            edge = int(np.argmax(overtaken))
            raise WeightError(
                f"weights[{bin_}, {edge}] (edge {self.known.name(edge)}) is {here[edge]:g} at time "
                f"{self.times[bin_]:g} and {following[edge]:g} at {self._end(bin_):g}: who enters later would leave "
                "earlier; allow waiting (waiting=True), or let it fall by at most the time between them"
            )
        return False

    def _end(self, bin_: int) -> float:
        return float(self.times[bin_ + 1] if bin_ + 1 < self.times.size else self.times[0] + self.period)

    def _soonest(self) -> NDArray[np.float64]:
        """Return for each time the earliest arrival by waiting for a later one."""
        found = np.full_like(self.weights, np.inf)
        if self.period < math.inf:
            found[-1] = (self.weights + self.times[:, None]).min(axis=0) + self.period
        for bin_ in range(self.times.size - 2, -1, -1):
            found[bin_] = np.minimum(self.weights[bin_ + 1] + self.times[bin_ + 1], found[bin_ + 1])
        return found

    # ------------------------------------------------------------ windows

    def lowest(self, begin: float, end: float) -> NDArray[np.float64]:
        """Return the lowest weight of each of the user's edges between two times."""
        low = np.minimum(self._row_at(begin), self._row_at(end))
        if self.period < math.inf:
            begin, end = (
                time - math.floor((begin - self.times[0]) / self.period) * self.period for time in (begin, end)
            )
            inside = np.concatenate([self.times, self.times + self.period])
        else:
            inside = self.times
        for bin_ in np.flatnonzero((begin <= inside) & (inside <= end)):
            np.minimum(low, self.weights[bin_ % self.times.size], out=low)
        return low

    def _row_at(self, time: float) -> NDArray[np.float64]:
        """Return all weights at a time; rounded as the core does, which never falls as the time goes on."""
        if self.period < math.inf:
            time -= math.floor((time - self.times[0]) / self.period) * self.period
        bin_ = int(np.searchsorted(self.times, time, side="right")) - 1
        if bin_ < 0 or (bin_ == self.times.size - 1 and self.period == math.inf):
            return self.weights[max(bin_, 0)].copy()
        share = min((time - self.times[bin_]) / (self._end(bin_) - self.times[bin_]), 1.0)
        here, following = self.weights[bin_], self.weights[(bin_ + 1) % self.times.size]
        with np.errstate(invalid="ignore"):
            mixed = here + (following - here) * share if share > 0 else here.copy()
        mixed[~(mixed < np.inf)] = np.inf
        return mixed

    def _window(self, begin: float, end: float) -> Key:
        """Return the window to use for a query between two times; the shortest that covers it."""
        for size in range(_SIZES, 1, -1):
            part = math.floor((begin - self.times[0]) / self._step(size))
            first, last = self._limits((size, part))
            if first <= begin and end <= last:
                return size, part
        return WHOLE

    def _step(self, size: int) -> float:
        """Return how far windows of a size are apart: a quarter of the longest trip that they are for."""
        return self.span / math.sqrt(2) ** size / 4

    def _limits(self, key: Key) -> tuple[float, float]:
        (size, part), begin = key, float(self.times[0])
        return begin + part * self._step(size), begin + (part + 5) * self._step(size)

    def _customized(self, key: Key) -> Window | None:
        """Return a window, which is customized if it was not kept; None if there is no hierarchy for it."""
        with self._lock:
            if key in self._kept:
                self._kept[key] = found = self._kept.pop(key)  # at the end of the dictionary
                return found
        low = self.weights.min(axis=0) if key == WHOLE else self.lowest(*self._limits(key))
        with self.engine.customizing:
            hierarchy = self.engine.build()
        made = None if hierarchy is None else self._potentials(hierarchy, low, whole=key == WHOLE)
        with self._lock:
            self._kept[key] = made
            self._spent.pop(key, None)
            total = sum(window.nbytes for window in self._kept.values() if window is not None)
            for old in list(self._kept):
                if total <= _KEPT_BYTES or len(self._kept) <= 2:
                    break
                if old not in (WHOLE, key) and (gone := self._kept.pop(old)) is not None:
                    total -= gone.nbytes
        return made

    def _potentials(self, hierarchy: Any, low: NDArray[np.float64], *, whole: bool) -> Window | None:
        graph = self.engine.graph
        try:
            index = hierarchy.customize(graph._kernel.cut(self.known.row(low)))._kernel
        except WeightError:  # all are closed, or their sums are too large
            return None
        if self._guide_rows is None:
            self._guide_rows = _core.guide_rows(index)
        up, down, roundings, beyond, _ = _core.guide_lengths(index, True)
        rank, rows, ranks = self._guide_rows
        towards = _core.hierarchy_potential(rank, rows, ranks, up, down, roundings, beyond, 1.0, None)
        away = _core.hierarchy_potential(rank, rows, ranks, down, up, roundings, beyond, 1.0, None)
        assert towards is not None
        assert away is not None
        return Window(index if whole else None, towards, away, up.nbytes + down.nbytes)

    # ------------------------------------------------------------ queries

    def route(self, s: int, t: int, depart: Any, arrive: Any) -> TimedRoute:
        """Return a fastest path from vertex s to vertex t that departs at a time, or the latest that arrives by one."""
        if (depart is None) == (arrive is None):
            raise InputError("give one of depart and arrive")
        against = depart is None
        time = self._moment(arrive if against else depart, "arrive" if against else "depart")
        cost, path = self._search(s, t, time, against)
        kernel = self.engine.graph._kernel
        edges = kernel.edge_index(path[:-1], path[1:]) if path.size else path
        drive = kernel.along(self._day, edges, time, against)
        chosen = edges if self.known.given is None else drive.chosen.astype(np.int32)
        route = TimedRoute(Found(cost, path, chosen), cost, cost, self.known, None)
        route.depart, route.arrive = (time - cost, time) if against else (time, time + cost)
        route.times = drive.times if path.size else np.empty(0)
        return route

    def _moment(self, value: Any, name: str) -> float:
        first, last = float(self.times[0]), float(self.times[-1])
        if self.period < math.inf:
            what = f"a time of day, at least {first:g} and below {first + self.period:g}"
            return arrays.number(value, name, what, lambda x: first <= x < first + self.period)
        return arrays.number(value, name, f"a time from {first:g} to {last:g}", lambda x: first <= x <= last)

    def _search(self, s: int, t: int, time: float, against: bool) -> tuple[float, NDArray[np.int32]]:
        """Return how long a fastest path takes, and its vertices."""
        whole = self._customized(WHOLE)
        if whole is None or whole.paths is None:
            found = self._run(s, t, time, against, None)
            return found.cost, found.path
        known = whole.paths.path(s, t)
        if known.cost == math.inf:  # not even with every edge at its best
            return math.inf, np.empty(0, dtype=np.int32)
        times = self.engine.graph._kernel.along(self._day, known.edges, time, against).times
        begin, end = float(times[0]), float(times[-1])
        key = self._window(begin, end) if math.isfinite(end - begin) else WHOLE
        with self._lock:
            ready = key in self._kept
            left = self.engine.work - self._spent.get(key, 0.0)
        if not ready:
            # As in _state.py: until searches without the window have cost as much as customizing it, they answer.
            found = self._run(s, t, time, against, whole, max(int(left / work.GUIDED), 0))
            with self._lock:
                self._spent[key] = self._spent.get(key, 0.0) + found.expanded * work.GUIDED
            if found.ending.status is not _core.Status.BUDGET:
                return found.cost, found.path
        found = self._run(s, t, time, against, self._customized(key) or whole)
        return found.cost, found.path

    def _run(
        self, s: int, t: int, time: float, against: bool, window: Window | None, budget: int = -1
    ) -> _core.TimedPath:
        """Search with the potential of a window; with None it is Dijkstra's algorithm."""
        potential = None if window is None else window.away if against else window.towards
        begin, end = (t, s) if against else (s, t)
        graph = self.engine.graph
        found = graph._kernel.search_at(self._day, begin, end, time, against, potential, budget, None)
        if found.ending.status not in (_core.Status.SOLVED, _core.Status.NO_PATH, _core.Status.BUDGET):
            raise failures.search_failure(found.ending, graph, self.known.row(self.weights.max(axis=0)))
        return found


def _times(times: ArrayLike) -> NDArray[np.float64]:
    found = arrays.as_array(times, "times")
    if found.ndim != 1 or found.size < 2 or found.dtype.kind not in "iuf":
        raise ArrayError(f"times must be at least two numbers, got shape {found.shape} of {found.dtype}")
    found = np.array(found, dtype=np.float64)
    if not np.isfinite(found).all():
        first = int(np.argmin(np.isfinite(found)))
        raise InputError(f"times[{first}] must be finite, got {found[first]}")
    if (np.diff(found) <= 0).any():
        first = int(np.argmax(np.diff(found) <= 0)) + 1
        raise InputError(f"times must increase; times[{first}] = {found[first]:g} is not above {found[first - 1]:g}")
    return found


def _rows(weights: ArrayLike, bins: int, known: UserEdges) -> NDArray[np.float64]:
    found = arrays.as_array(weights, "weights")
    if found.shape != (bins, known.count) or found.dtype.kind not in "iuf":
        raise ArrayError(
            f"weights must be numbers of shape ({bins}, {known.count}), one row for each time and one column for each "
            f"edge; got shape {found.shape} of {found.dtype}"
        )
    found = np.array(found, dtype=np.float64, order="C")
    ending = _core.check_weights(found, None).ending
    if ending.status is not _core.Status.DONE:
        at, edge = ending.at, ending.offender
        what = f"weights[{at}, {edge}] (edge {known.name(edge)})"
        raise failures.failure(ending, what=what, limit="", value=found[at, edge])
    return found
