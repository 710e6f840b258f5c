"""Finds the intervals of θ on which a run stays the same along a line ρ(θ) = base + θ · direction, exactly.

A run depends on θ only through its selections: which vertex of OPEN has the lowest score. Each comparison of two
scores is linear in θ, so the whole run (OPEN, CLOSED, pointers, path, counts) is the same on an interval around
any θ. The tie rule decides whether its ends belong to it; an interval may be a single point. This module finds all
of them from left to right: it runs the search at a place, keeps track of the first place beyond it at which a selection
changes, and runs the search again there. A place is a point of the line or infinitely close to one, so no piece is ever
skipped.

All comparisons are exact, for the numbers of :mod:`rhostar.lines._line`: integers, dyadic fractions and most
floats as they are, others after rounding to a fine unit, which the result reports. The compiled searches add floats
and round; on integers and short dyadic numbers they agree with the exact run. On others they may differ close to
a breakpoint, and if exact scores tie along the whole line while their float sums do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import LimitError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.instances import Instance, InstanceSet
from rhostar.instances import _checks as checks
from rhostar.lines._intervals import Interval, Intervals, fraction
from rhostar.lines._line import Line, Snap, Snapshot, exact_line
from rhostar.search import Algorithm, Run, Runs, Trace
from rhostar.search._run import _budget, _require_graph

Theta = int | float | Fraction
"""A value on the line; a float is taken as the exact fraction that it represents."""

MAX_PIECES = 1_000_000
"""How many pieces an instance may have by default."""


class Piece(NamedTuple):
    """One piece: an interval of θ, and the run that is the same for all of it."""

    interval: Interval
    run: Run


class Options(NamedTuple):
    """How the searches run."""

    greedy: bool
    reopen: bool
    budget: int
    """-1 if there is none."""


@dataclass(frozen=True, eq=False)
class Pieces(Sequence[Piece]):
    """All pieces of one instance along a line, from left to right; made by :func:`pieces`.

    ``len(pieces)`` counts them, ``pieces[i]`` is a :class:`Piece`.
    """

    instance: Instance
    runs: Runs
    """The run of each piece; costs are sums of the weights as they were given."""
    snap: Snap
    """How much numbers were rounded to make comparisons exact; ``pieces.snap.exact`` is true if not at all."""
    line: Line
    options: Options
    cuts: NDArray[np.int64]
    """(pieces − 1, 3): numerator and denominator of each cut in the line's units, and whether the piece to its left
    holds the point (0) or ends just before it (-1)."""
    table: tuple[int, int] = (0, 0)
    """Which of the line's bases and directions these are."""

    @cached_property
    def intervals(self) -> Intervals:
        """The intervals of θ."""
        thetas = tuple(self.line.theta(p, q) for p, q, _ in self.cuts.tolist())
        return Intervals(self.line.low, self.line.high, thetas, tuple((self.cuts[:, 2] == 0).tolist()))

    @property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """The values of θ at which the run changes, each once."""
        return tuple(dict.fromkeys(self.intervals.cuts))

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def __getitem__(self, i: Any) -> Any:
        """Return piece `i`, or a list of pieces for a slice."""
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        return Piece(self.intervals[i], self.runs[i])

    def __repr__(self) -> str:
        low, high = float(self.line.low), float(self.line.high)
        return f"Pieces({arrays.counted(len(self), 'piece')} for theta in [{low:g}, {high:g}], {self.snap})"

    def at(self, theta: Theta) -> Piece:
        """Return the piece that contains `theta`."""
        return self[self.intervals.index(theta)]

    def trace(self, i: int, stop: _core.Stop | None = None) -> Trace:
        """Return the trace of the run of piece `i`: OPEN, CLOSED and the pointers at every iteration."""
        i = range(len(self))[i]
        # A piece begins at the cut to its left, or just after it if the cut belongs to the previous piece.
        low, _, closed, _ = self.intervals[i]
        place = self.line.place(low, 0 if closed else 1)
        snapshot = self.line.snapshot(self.instance.weights, self.options.greedy)
        graph, _, source, goal = self.instance
        problem = _problem(self.line, snapshot, source, goal, self.table)
        found = graph._kernel.piece_trace(problem, place, _core.SearchOptions(*self.options), stop)
        failures.require_done(found.ending)
        log = found.log
        return Trace(goal, log.kind, log.vertex, log.g)


def pieces(
    graph: Graph,
    weights: ArrayLike,
    source: int,
    goal: int,
    base: HeuristicLike,
    direction: HeuristicLike,
    low: Theta,
    high: Theta,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    max_pieces: int = MAX_PIECES,
) -> Pieces:
    """Find where a run changes along a line ρ(θ) = base + θ · direction, exactly.

    Parameters
    ----------
    graph, weights, source, goal
        One instance: a graph, one weight per edge, and two vertices.
    base, direction
        As `rho` of :func:`rhostar.astar`: one finite float64 per vertex, or any object that carries such values.
    low, high
        The range of θ, both ends included: integers, floats or fractions.
    algorithm
        "astar" or "gbfs" (which has no reopening).
    reopen
        Whether A* reopens closed vertices.
    budget
        How many vertices a run may expand.
    max_pieces
        How many pieces there may be.

    Returns
    -------
    Pieces

    Raises
    ------
    InputError
        If low exceeds high, or an argument has the wrong shape or values.
    LimitError
        If there are more than `max_pieces`; it says how far they reach.

    Examples
    --------
    Two paths lead to the goal 3: through vertex 1 at cost 10, and through vertex 2 at cost 6. Greedy search goes
    through the vertex with the smaller value, or through vertex 1 if they tie.

    >>> import numpy as np, rhostar as rs
    >>> from rhostar.lines._pieces import pieces
    >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
    >>> weights = np.array([5.0, 3.0, 5.0, 3.0])
    >>> direction = np.array([0.0, 3.0, 1.0, 0.0])
    >>> found = pieces(graph, weights, 0, 3, np.array([0.0, 0.0, 1.0, 0.0]), direction, -1, 1, algorithm="gbfs")
    >>> for piece in found:
    ...     print(piece.interval, piece.run.cost)
    [-1, 1/2] 10.0
    (1/2, 1] 6.0
    >>> found.breakpoints, found.snap.exact
    ((Fraction(1, 2),), True)
    """
    _require_graph(graph)
    source, goal = arrays.vertex(source, "source", graph.n), arrays.vertex(goal, "goal", graph.n)
    row = arrays.weight_row(weights, "weights", graph.m)
    checks.check_weights(graph, row[None], np.zeros(1, dtype=np.int64))
    options = make_options(algorithm, reopen, budget)
    bases, directions = (
        [as_heuristic(given, graph, [goal], name=name).table(goal)]
        for given, name in ((base, "base"), (direction, "direction"))
    )
    line = exact_line(bases, directions, fraction(low, "low"), fraction(high, "high"), [] if options.greedy else [row])
    return pieces_on(
        line, Instance(graph, row, source, goal), options, arrays.integer(max_pieces, "max_pieces", 1, 2**30)
    )


def make_options(algorithm: str, reopen: bool, budget: int | None) -> Options:
    """Return the options of a search, checked."""
    return Options(arrays.algorithm(algorithm) == "gbfs", bool(reopen), _budget(budget))


class LineOf(NamedTuple):
    """A line for a whole set."""

    line: Line
    base_of: NDArray[np.int32]
    """Which base of the line each instance uses."""
    direction_of: NDArray[np.int32]


def line_of(
    instances: InstanceSet, base: HeuristicLike, direction: HeuristicLike, low: Theta, high: Theta, greedy: bool
) -> LineOf:
    """Return one line for all instances of a set, in units that fit all of them."""
    graph, goals = instances.graph, instances.goals
    bases, base_of = as_heuristic(base, graph, goals, name="base").tables(goals)
    directions, direction_of = as_heuristic(direction, graph, goals, name="direction").tables(goals)
    weights = () if greedy else (instances._stored[k] for k in np.unique(instances._stored_rows))
    line = exact_line(bases, directions, fraction(low, "low"), fraction(high, "high"), weights)
    return LineOf(line, base_of, direction_of)


def pieces_on(
    line: Line,
    instance: Instance,
    options: Options,
    max_pieces: int,
    *,
    table: tuple[int, int] = (0, 0),
    snapshot: Snapshot | None = None,
    stop: _core.Stop | None = None,
    where: str = "",
) -> Pieces:
    """Find the pieces of one instance on a line that is already in whole numbers."""
    graph, weights, source, goal = instance
    snapshot = line.snapshot(weights, options.greedy) if snapshot is None else snapshot
    found = graph._kernel.pieces(
        _problem(line, snapshot, source, goal, table),
        line.place(line.low),
        line.place(line.high),
        _core.SearchOptions(*options),
        max_pieces,
        stop,
    )
    if found.ending.status is _core.Status.LIMIT:
        reached = float(line.theta(int(found.p[-1]), int(found.q[-1])))
        raise LimitError(
            f"{where}there are more than max_pieces={max_pieces} pieces: they reach from {float(line.low):g} to "
            f"{reached:g} of {float(line.high):g}; raise max_pieces or narrow the range"
        )
    failures.require_done(found.ending, where)
    snap = line.snap._replace(weights=snapshot.snap)
    cuts = np.column_stack([found.p, found.q, found.side.astype(np.int64)])
    return Pieces(instance, Runs._of_core(found.runs), snap, line, options, cuts, table)


def _problem(line: Line, snapshot: Snapshot, source: int, goal: int, table: tuple[int, int]) -> _core.LineProblem:
    return _core.LineProblem(
        snapshot.exact,
        snapshot.weights,
        line.unit,
        source,
        goal,
        line.base[table[0]],
        line.direction[table[1]],
    )
