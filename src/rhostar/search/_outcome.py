"""The results of searches: :class:`Run` for one instance, :class:`Runs` for many."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.search._trace import Trace

Algorithm = arrays.Algorithm


class Status(StrEnum):
    """How a run ended. Members are strings: ``run.status == "solved"``."""

    SOLVED = "solved"
    NO_PATH = "no_path"
    BUDGET = "budget"


# How the core's statuses and the public ones correspond: a run ends with one of these three, and has the same name in
# both. Every other status of the core is a failure, and _failures.py turns it into an exception.
_NAMES = np.array(sorted(Status, key=lambda status: getattr(_core.Status, status.name).value), dtype=str)


# A tuple, because it is made in a fraction of the time of a frozen dataclass: a short query takes 2 µs.
class Run(NamedTuple):
    """One run of A* or greedy best-first search."""

    status: Status
    """solved, no_path, or budget if the budget ran out."""
    cost: float
    """Cost of `path`; inf if there is none."""
    path: NDArray[np.int32]
    """Vertices from source to goal. If the budget ran out: the best path known so far, or empty."""
    expanded: int
    """Vertices whose children were scanned, counted each time; selecting the goal does not count."""
    generated: int
    """Insertions into OPEN, including the start and reopenings; GBFS does not insert the goal."""
    reopened: int
    """Moves from CLOSED to OPEN."""
    peak_open: int
    """Largest size of OPEN before the first and after each completed iteration; greedy search returns within one."""
    bound: float | None = None
    """If `lower_bound` was given: no path costs less than this, up to rounding of the sums."""
    trace: Trace | None = None
    """The trace, if it was requested."""

    @property
    def gap(self) -> float | None:
        """The certified gap: the cost exceeds the optimum by at most this. None without a lower bound.

        The gap is exact for integer weights and bounds. Otherwise it is exact up to the rounding of sums.
        """
        if self.bound is None:
            return None
        return 0.0 if self.cost == self.bound else self.cost - self.bound

    # Tuples would compare their arrays, and an array comparison has no single truth value.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


_core.results_are(Run, Trace, tuple(Status(name) for name in _NAMES))  # the core makes them by itself


_COUNTS = ("expanded", "generated", "reopened", "peak_open")
_COLUMNS = ("status", "cost", *_COUNTS)


class Paths(Sequence[NDArray[np.int32]]):
    """The paths of many runs: a sequence of arrays, stored in one array."""

    def __init__(self, vertices: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        self.vertices, self.ends = arrays.frozen(vertices), arrays.frozen(ends)

    def __len__(self) -> int:
        return self.ends.size

    @overload
    def __getitem__(self, i: int) -> NDArray[np.int32]: ...
    @overload
    def __getitem__(self, i: slice) -> list[NDArray[np.int32]]: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        i = range(len(self))[i]
        return self.vertices[self.ends[i - 1] if i else 0 : self.ends[i]]

    def __repr__(self) -> str:
        return f"Paths({len(self)} paths, {self.vertices.size} vertices)"


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of many instances, as :func:`rhostar.solve_many` returns them.

    It has the fields of :class:`Run` as arrays. ``runs[i]`` is one Run, and ``len`` and iteration work as for a list.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> instances = rs.InstanceSet(graph, np.ones((1, graph.m)), sources=[0, 7], goal=8, rows=[0, 0])
    >>> runs = rs.solve_many(instances, [0.0] * 9)
    >>> runs.cost.tolist(), runs.expanded.tolist(), runs[1].path.tolist()
    ([4.0, 1.0], [8, 3], [7, 8])
    """

    status: NDArray[np.str_]
    """"solved", "no_path" or "budget"."""
    cost: NDArray[np.float64]
    """inf where no path was found."""
    path: Paths
    """The vertices of each path, from source to goal."""
    expanded: NDArray[np.int64]
    """Vertices whose children were scanned, counted each time."""
    generated: NDArray[np.int64]
    """Insertions into OPEN."""
    reopened: NDArray[np.int64]
    """Moves from CLOSED back to OPEN."""
    peak_open: NDArray[np.int64]
    """The largest size of OPEN."""
    bound: NDArray[np.float64] | None = None
    """A lower bound on each optimum, if lower bounds were given."""

    @classmethod
    def _of_core(cls, columns: _core.RunColumns, *, bounded: bool = False) -> Runs:
        """Return what the core found; with `bounded`, lower bounds were given."""
        counts = {name: getattr(columns, name) for name in _COUNTS}
        path, bound = Paths(columns.path, columns.path_end), columns.bound if bounded else None
        return cls(_NAMES[columns.status], columns.cost, path, bound=bound, **counts)

    @classmethod
    def _joined(cls, parts: Sequence[Runs]) -> Runs:
        """Return the runs of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0] + [part.path.vertices.size for part in parts])
        path = Paths(
            np.concatenate([part.path.vertices for part in parts]),
            np.concatenate([part.path.ends + begin for part, begin in zip(parts, first, strict=False)]),
        )
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
        bounds = [part.bound for part in parts if part.bound is not None]
        return cls(path=path, bound=np.concatenate(bounds) if bounds else None, **columns)

    def _reordered(self, order: NDArray[np.intp]) -> Runs:
        """Return the same runs with run ``order[i]`` at place i."""
        columns = {name: getattr(self, name)[order] for name in _COLUMNS}
        paths = [self.path[i] for i in order.tolist()]
        ends = np.cumsum([path.size for path in paths], dtype=np.int64)
        path = Paths(np.concatenate(paths), ends)
        return Runs(path=path, bound=None if self.bound is None else self.bound[order], **columns)

    def __len__(self) -> int:
        return self.cost.size

    def __getitem__(self, i: int) -> Run:
        i = range(len(self))[operator.index(i)]
        bound = None if self.bound is None else float(self.bound[i])
        counts: dict[str, Any] = {name: int(getattr(self, name)[i]) for name in _COUNTS}
        return Run(Status(str(self.status[i])), float(self.cost[i]), self.path[i], bound=bound, **counts)

    def __iter__(self) -> Iterator[Run]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        solved = int(self.solved.sum())
        return f"Runs({len(self)} runs, {solved} solved, {int(self.expanded.sum())} expansions)"

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Which runs found their goal."""
        return self.status == Status.SOLVED

    def to_pandas(self) -> Any:
        """Return the runs as a table of pandas, one row per instance.

        Returns
        -------
        pandas.DataFrame
            All fields except the paths. Instead of these, the column `edges` has the number of edges of each path.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(3, 3)
        >>> instances = rs.InstanceSet(graph, np.ones((1, graph.m)), sources=[0, 7], goal=8, rows=[0, 0])
        >>> print(rs.solve_many(instances, [0.0] * 9).to_pandas()[["status", "cost", "edges", "expanded"]])
           status  cost  edges  expanded
        0  solved   4.0      4         8
        1  solved   1.0      1         3
        """
        import pandas as pd

        columns = {name: getattr(self, name) for name in (*_COLUMNS, "bound") if getattr(self, name) is not None}
        edges = np.maximum(np.diff(self.path.ends, prepend=0) - 1, 0)
        return pd.DataFrame({"status": columns.pop("status"), "cost": columns.pop("cost"), "edges": edges} | columns)

    @property
    def gap(self) -> NDArray[np.float64] | None:
        """The certified gap of each run; None without a lower bound."""
        if self.bound is None:
            return None
        gap = np.zeros(len(self))
        np.subtract(self.cost, self.bound, out=gap, where=self.cost != self.bound)
        return gap
