"""The reference implementation: Algorithms 1 and 2 of the paper line by line in plain Python, for the tests.

It is simple and slow on purpose: OPEN and CLOSED are Python sets, the next vertex is the minimum over OPEN, and the
state is copied after every iteration. Sums are formed in the same order as in the compiled core, so both round in the
same way; with integers or fractions for weights and ``rho`` they do not round at all. Nothing here is used to solve
real problems.

Letters: ``rho`` are the heuristic values, ``g`` is the cost of the path to a vertex that the pointers describe.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Children = Mapping[int, Sequence[tuple[int, float]]]
"""For each vertex its children in index order with the weight of the edge; absent edges left out."""


@dataclass(frozen=True)
class PlainState:
    """OPEN, CLOSED and the pointers after an iteration (Assumption 3)."""

    open: frozenset[int]
    """The vertices in OPEN."""
    closed: frozenset[int]
    """The vertices in CLOSED."""
    pointer: dict[int, int | None]
    """The parent of every vertex that has one; None for the source."""
    g: dict[int, float]
    """The cost of every vertex generated so far."""


@dataclass
class Result:
    """What a run returns; the fields are those of :class:`rhostar.search._run.Run`."""

    status: str = "no_path"
    """"solved", "no_path" or "budget"."""
    cost: float = math.inf
    """inf if no path was found."""
    path: list[int] = field(default_factory=list)
    """The vertices of the path, from source to goal."""
    expanded: int = 0
    """Vertices whose children were scanned, counted each time."""
    generated: int = 0
    """Insertions into OPEN."""
    reopened: int = 0
    """Moves from CLOSED back to OPEN."""
    peak_open: int = 0
    """The largest size of OPEN."""
    bound: float | None = None
    """With a lower bound pi: the optimum is at least this; see :mod:`rhostar.search._run`."""
    states: list[PlainState] = field(default_factory=list)
    """The state before the first iteration, then after each; the last iteration may have returned midway."""


def children_of(n: int, tail: Iterable[int], head: Iterable[int], weight: Iterable[float]) -> Children:
    """Return the children of each vertex; edges must come sorted by tail and head.

    Parameters
    ----------
    n
        Number of vertices.
    tail, head, weight
        The edges; one of weight inf is absent.

    Returns
    -------
    dict
        From each vertex to a list of pairs (child, weight).

    Examples
    --------
    >>> from rhostar.search.reference import children_of
    >>> children_of(2, [0], [1], [3.0])
    {0: [(1, 3.0)], 1: []}
    """
    children: dict[int, list[tuple[int, float]]] = {v: [] for v in range(n)}
    for u, v, w in zip(tail, head, weight, strict=True):
        if w != math.inf:
            children[u].append((v, float(w)))
    return children


def gbfs(children: Children, source: int, goal: int, rho: Sequence[float], budget: float = math.inf) -> Result:
    """Algorithm 1: greedy best-first search.

    Parameters
    ----------
    children
        What :func:`children_of` returned.
    source, goal
        Vertices.
    rho
        One value per vertex.
    budget
        The most expansions.

    Returns
    -------
    Result
        With the state at every iteration.

    Examples
    --------
    >>> from rhostar.search.reference import gbfs, children_of
    >>> gbfs(children_of(3, [0, 0, 1], [1, 2, 2], [1.0, 5.0, 1.0]), 0, 2, [0, 0, 0]).path
    [0, 2]
    """
    out = Result()
    open_: set[int] = {source}
    closed: set[int] = set()
    pointer: dict[int, int | None] = {source: None}
    g: dict[int, float] = {source: 0}  # the cost of the path; not part of the algorithm

    def record() -> None:
        out.states.append(PlainState(frozenset(open_), frozenset(closed), dict(pointer), dict(g)))

    out.generated = out.peak_open = 1
    record()
    if source == goal:  # outside the paper, which assumes s != t
        return _found(out, children, pointer, goal, "solved")
    while open_:
        v = min(open_, key=lambda u: (rho[u], u))  # line 3, ties by index
        if out.expanded == budget:
            return _found(out, children, pointer, goal, "budget")
        out.expanded += 1
        for c, w in children[v]:  # line 4
            if c == goal:  # line 5
                pointer[c] = v
                g[c] = g[v] + w
                record()
                return _found(out, children, pointer, goal, "solved")  # line 6
            if c not in open_ and c not in closed:  # line 8
                pointer[c] = v  # line 9
                g[c] = g[v] + w
                open_.add(c)
                out.generated += 1
        open_.remove(v)  # line 12
        closed.add(v)
        out.peak_open = max(out.peak_open, len(open_))
        record()
    return out


def astar(
    children: Children,
    source: int,
    goal: int,
    rho: Sequence[float],
    reopen: bool = True,
    budget: float = math.inf,
    lower_bound: Sequence[float] | None = None,
) -> Result:
    """Algorithm 2: A* search, with or without lines 13 to 15 (reopening).

    Parameters
    ----------
    children
        What :func:`children_of` returned.
    source, goal
        Vertices.
    rho
        One value per vertex.
    reopen
        Whether an improved vertex moves from CLOSED back to OPEN.
    budget
        The most expansions.
    lower_bound
        Values that never overestimate, for `bound`.

    Returns
    -------
    Result
        With the state at every iteration.

    Examples
    --------
    >>> from rhostar.search.reference import astar, children_of
    >>> astar(children_of(3, [0, 0, 1], [1, 2, 2], [1.0, 5.0, 1.0]), 0, 2, [0, 0, 0]).path
    [0, 1, 2]
    """
    out = Result()
    open_: set[int] = {source}
    closed: set[int] = set()
    pointer: dict[int, int | None] = {source: None}
    g: dict[int, float] = {source: 0}
    ignored = math.inf  # least g_new + pi over improvements of closed vertices that were not taken

    def record() -> None:
        out.states.append(PlainState(frozenset(open_), frozenset(closed), dict(pointer), dict(g)))

    def finish(status: str) -> Result:
        _found(out, children, pointer, goal, status)
        if lower_bound is not None:
            least = min([g[u] + lower_bound[u] for u in open_] + [ignored])
            out.bound = min(out.cost, max(0.0, least))
        return out

    out.generated = out.peak_open = 1
    record()
    while open_:
        v = min(open_, key=lambda u: (g[u] + rho[u], u))  # line 3, ties by index
        if v == goal:  # line 4
            record()
            return finish("solved")  # line 5
        if out.expanded == budget:
            return finish("budget")
        out.expanded += 1
        for c, w in children[v]:  # line 7
            g_new = g[v] + w  # line 8
            if c not in open_ and c not in closed:  # line 9
                g[c], pointer[c] = g_new, v  # line 10
                open_.add(c)
                out.generated += 1
            elif c in open_ and g_new < g[c]:  # line 11
                g[c], pointer[c] = g_new, v  # line 12
            elif c in closed and g_new < g[c]:  # line 13
                if reopen:
                    g[c], pointer[c] = g_new, v  # line 14
                    closed.remove(c)  # line 15
                    open_.add(c)
                    out.generated += 1
                    out.reopened += 1
                elif lower_bound is not None:
                    ignored = min(ignored, g_new + lower_bound[c])
        open_.remove(v)  # line 18
        closed.add(v)
        out.peak_open = max(out.peak_open, len(open_))
        record()
    return finish("no_path")


def _found(out: Result, children: Children, pointer: Mapping[int, int | None], goal: int, status: str) -> Result:
    """Follow the pointers back from the goal, if it has one, and add up the path from its start."""
    out.status = status
    v: int | None = goal if goal in pointer else None
    while v is not None:
        out.path.insert(0, v)
        v = pointer[v]
    if out.path:
        out.cost = 0.0
        for u, c in zip(out.path, out.path[1:], strict=False):
            out.cost += dict(children[u])[c]
    return out
