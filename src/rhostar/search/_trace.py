"""The trace of a run: OPEN, CLOSED and the pointers at every iteration (Assumption 3 of the paper).

The core logs events; everything else is rebuilt from them. Iterations are numbered from 1; state 0
is the one before the first, with the source in OPEN. The last iteration of a solved run returns
midway: A* when it selects the goal, which changes nothing, and greedy search when it generates the
goal, with the selected vertex still in OPEN, as in the pseudo-code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core

Event = _core.Event
"""What the core logs.

- SELECT: a vertex is selected, and an iteration begins.
- OPEN: a vertex enters OPEN for the first time; its pointer is the selected vertex.
- IMPROVE: a vertex of OPEN gets a smaller g and a new pointer.
- REOPEN: a vertex moves from CLOSED to OPEN with a smaller g and a new pointer.
- CLOSE: the selected vertex moves from OPEN to CLOSED, and the iteration ends.
- GOAL: greedy search generates the goal, which gets its pointer but does not enter OPEN.
"""


class State(NamedTuple):
    """The sets, pointers and costs between two iterations."""

    open: set[int]
    closed: set[int]
    pointer: dict[int, int | None]
    g: dict[int, float]


@dataclass(frozen=True, eq=False)
class Trace:
    """The event log of one run and what follows from it.

    ``len(trace)`` is the number of iterations.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.from_edges(3, tail=[0, 0, 1], head=[1, 2, 2])
    >>> trace = rs.astar(graph, np.array([1.0, 5.0, 1.0]), 0, 2, np.zeros(3), trace=True).trace
    >>> trace.selected.tolist()
    [0, 1, 2]
    >>> state = trace.state(1)
    >>> state.open, state.closed, state.pointer
    ({1, 2}, {0}, {0: None, 1: 0, 2: 0})
    >>> trace.state(2).pointer[2], trace.path.tolist()
    (1, [0, 1, 2])
    """

    goal: int
    """The goal."""
    kind: NDArray[np.uint8]
    """What happened in each event, as in :class:`Event`."""
    vertex: NDArray[np.int32]
    """The vertex of each event."""
    g: NDArray[np.float64]
    """The cost that the vertex has after the event."""

    def __post_init__(self) -> None:
        for name in ("kind", "vertex", "g"):
            object.__setattr__(self, name, arrays.frozen(getattr(self, name)))

    def __len__(self) -> int:
        return int(np.count_nonzero(self.kind == Event.SELECT))

    def __repr__(self) -> str:
        return f"Trace({len(self)} iterations, {self.kind.size} events)"

    @property
    def selected(self) -> NDArray[np.int32]:
        """The vertex that each iteration selects."""
        return self.vertex[self.kind == Event.SELECT]

    @property
    def parent(self) -> NDArray[np.int32]:
        """For each event, the vertex that was selected last; -1 before the first iteration."""
        last = np.maximum.accumulate(np.where(self.kind == Event.SELECT, np.arange(self.kind.size), -1))
        return np.where(last < 0, -1, self.vertex[last]).astype(np.int32)

    @property
    def path(self) -> NDArray[np.int32]:
        """The path from the source to the goal along the last pointers; empty if there is none."""
        pointer = self.state(len(self)).pointer
        path: list[int] = []
        step = self.goal if self.goal in pointer else None
        while step is not None:
            path.append(step)
            step = pointer[step]
        return np.array(path[::-1], dtype=np.int32)

    def states(self) -> Iterator[State]:
        """Yield the state before the first iteration and after each.

        One state object is changed from step to step: copy what you want to keep.

        Yields
        ------
        State
            OPEN, CLOSED, the pointers and the costs.
        """
        state = State(set(), set(), {}, {})
        selected: int | None = None
        for kind, v, g in zip(self.kind.tolist(), self.vertex.tolist(), self.g.tolist(), strict=True):
            if kind == Event.SELECT:
                yield state
                selected = v
                continue
            if kind == Event.CLOSE:
                state.open.remove(v)
                state.closed.add(v)
                continue
            state.pointer[v] = selected
            state.g[v] = g
            if kind != Event.GOAL:
                state.open.add(v)
                state.closed.discard(v)
        yield state

    def state(self, iteration: int) -> State:
        """Return the state after an iteration.

        Parameters
        ----------
        iteration
            0 is before the first.

        Returns
        -------
        State
            OPEN, CLOSED, the pointers and the costs.

        Raises
        ------
        InputError
            If `iteration` is not in 0..len(trace).
        """
        return next(islice(self.states(), arrays.integer(iteration, "iteration", 0, len(self)), None))
