"""Dual functions: the mean utility and the mean inconsistency of a set as exact functions of θ along a line."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar._display import axes_or_new
from rhostar._parallel import map_chunks
from rhostar.errors import InfeasibleError, InputError
from rhostar.heuristics import HeuristicLike
from rhostar.instances import InstanceSet
from rhostar.lines._intervals import fraction
from rhostar.lines._line import Line, Snap
from rhostar.lines._means import Dual, dual, rank_fractions
from rhostar.lines._pieces import LineOf, Theta, line_of, pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["ConvexDual", "Dual", "dual", "dual_inconsistency", "pieces"]


@dataclass(frozen=True, eq=False)
class ConvexDual:
    """The mean inconsistency along a line: convex and piecewise linear; made by :func:`dual_inconsistency`.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 3)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=2)
    >>> rs.theory.dual_inconsistency([0.0] * 3, [2.0, 1.0, 0.0], 0, 3, instances).at(2.5)
    1.5
    """

    thetas: tuple[Fraction, ...]
    """The ends of the range, and between them every value of θ at which the slope changes."""
    values: tuple[Fraction, ...]
    """The mean at each of them, exactly; it is linear in between."""
    low: Fraction
    """The least value of θ at which the mean is least."""
    high: Fraction
    """The largest; the mean is least on all of [low, high]."""
    instances: int
    """How many instances."""
    snap: Snap
    """How weights and values were rounded."""

    @property
    def value(self) -> float:
        """The lowest mean."""
        return float(min(self.values))

    @property
    def theta(self) -> Fraction:
        """The middle of the values of θ at which the mean is lowest."""
        return (self.low + self.high) / 2

    def at(self, theta: Theta) -> float:
        """Return the mean at a value of θ.

        Parameters
        ----------
        theta
            A value within the range.

        Returns
        -------
        float
            The value.

        Raises
        ------
        InputError
            If it is outside the range.
        """
        place = fraction(theta, "theta")
        if not self.thetas[0] <= place <= self.thetas[-1]:
            raise InputError(f"theta must be between {self.thetas[0]} and {self.thetas[-1]}, got {theta!r}")
        i = next(k for k, end in enumerate(self.thetas) if place <= end)
        if self.thetas[i] == place:
            return float(self.values[i])
        share = (place - self.thetas[i - 1]) / (self.thetas[i] - self.thetas[i - 1])
        return float(self.values[i - 1] + share * (self.values[i] - self.values[i - 1]))

    def __len__(self) -> int:
        return max(1, len(self.thetas) - 1)

    def __repr__(self) -> str:
        place = f"theta in [{float(self.low):g}, {float(self.high):g}]"
        pieces, over = arrays.counted(len(self), "piece"), arrays.counted(self.instances, "instance")
        return f"ConvexDual({pieces} over {over}, least {self.value:g} at {place})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean against θ; the part where it is lowest is in color.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        thetas, values = [float(x) for x in self.thetas], [float(x) for x in self.values]
        ax.plot(thetas, values, ".-", color="0.35", markersize=3, linewidth=1.2)
        ends = [float(self.low), float(self.high)]
        ax.plot(
            ends, [self.value] * 2, "-" if self.low < self.high else "o", color="tab:red", linewidth=3, label="least"
        )
        ax.set_xlabel("θ")
        ax.set_ylabel("mean inconsistency Δ")
        instances, pieces = arrays.counted(self.instances, "instance"), arrays.counted(len(self), "piece")
        ax.set_title(f"{instances}, {pieces}, least {self.value:g}")
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return ax


def dual_inconsistency(
    base: HeuristicLike,
    direction: HeuristicLike,
    low: Theta,
    high: Theta,
    instances: InstanceSet,
    *,
    n_jobs: int | None = None,
) -> ConvexDual:
    """Return the mean inconsistency Δ along ρ = base + θ · direction, with the exact set of its minimizers.

    Δ is the sum of max(ρ_v − ρ_c − w, 0) over the edges (v, c) of an optimal path, except the one that leaves the
    source. The cost of an A* run exceeds the optimum by at most Δ (Theorem 7 of the paper). The path is the one with
    the fewest edges among the optimal ones, and of those the lexicographically smallest.

    Parameters
    ----------
    base, direction
        One finite float64 per vertex, or mappings from goals to such arrays.
    low, high
        The range of θ, both ends included: integers, floats or fractions.
    instances
        N instances.
    n_jobs
        As in joblib.

    Returns
    -------
    ConvexDual

    Raises
    ------
    InputError
        If the set is empty, low exceeds high, or an argument has the wrong shape or values.
    InfeasibleError
        If an instance has no path.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=3)
    >>> rs.theory.dual_inconsistency(np.zeros(4), np.array([3.0, 2.0, 1.0, 0.0]), -1, 4, instances)
    ConvexDual(2 pieces over 1 instance, least 0 at theta in [-1, 1])
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    if len(instances) == 0:
        raise InputError("instances must not be empty: the mean of nothing is undefined")
    line = line_of(instances, base, direction, low, high, greedy=False)
    parts = map_chunks(_hinges, instances, n_jobs=n_jobs, line=line)
    level, slope, snaps = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _convex(level, slope, line.line, len(instances), line.line.snap._replace(weights=float(snaps.max())))


def _hinges(chunk: InstanceSet, first: int, stop: _core.Stop, *, line: LineOf) -> Any:
    """Return for each edge of each optimal path but the first the terms of max(level + θ · slope, 0), in units."""
    graph = chunk.graph
    levels, slopes, snaps = [], [], []
    for i, (_, weights, source, goal) in enumerate(chunk, first):
        base, direction = line.line.base[line.base_of[i]], line.line.direction[line.direction_of[i]]
        edge, below = np.empty((1, graph.n), dtype=np.int32), np.empty((1, graph.n))
        none = np.zeros(1, dtype=np.int64)
        starts = (none, none, np.empty(0, dtype=np.int32), np.empty(0))
        row = weights if weights.flags.c_contiguous else weights.copy()
        ending = graph._kernel.label_trees(row[None], none, goal, *starts, edge, below, stop)
        if ending.status is not _core.Status.DONE:
            raise failures.search_failure(ending, graph, row, where=f"instance {i}: ")
        if edge[0, source] < 0:
            raise InfeasibleError(f"instance {i} has no path from {source} to {goal}")
        path, v = [], int(graph.head[edge[0, source]])
        while v != goal:
            path.append(int(edge[0, v]))
            v = int(graph.head[path[-1]])
        snapshot = line.line.snapshot(weights, greedy=False)
        tail, head = graph.tail[path], graph.head[path]
        levels.append(base[tail] - base[head] - snapshot.exact[path])
        slopes.append(direction[tail] - direction[head])
        snaps.append(snapshot.snap)
    return np.concatenate(levels), np.concatenate(slopes), np.array(snaps)


def _convex(level: NDArray[np.int64], slope: NDArray[np.int64], line: Line, count: int, snap: Snap) -> ConvexDual:
    scale = Fraction(2) ** (line.direction_digits - line.base_digits)
    start, stop = line.low / scale, line.high / scale
    # Below, Python's integers: sums of many numbers of 62 bits.
    kinked = slope != 0
    p, q = np.where(slope > 0, -level, level)[kinked], np.abs(slope)[kinked]
    places, rank = rank_fractions(p, q)
    bends = np.zeros(len(places), dtype=object)
    np.add.at(bends, rank, q.astype(object))
    pairs = list(zip(level.tolist(), slope.tolist(), strict=True))
    value = sum((max(a + start * f, Fraction(0)) for a, f in pairs), Fraction(0))
    # The slope of the mean just after the start comes from the hinges that are open there.
    rise = sum(f for a, f in pairs if a + start * f > 0 or (a + start * f == 0 and f > 0))
    thetas, values = [start], [value]
    for place, bend in zip(places, bends.tolist(), strict=True):
        if not start < place < stop:
            continue
        value += rise * (place - thetas[-1])
        thetas.append(place)
        values.append(value)
        rise += bend
    if stop > start:
        values.append(value + rise * (stop - thetas[-1]))
        thetas.append(stop)
    least = [theta for theta, v in zip(thetas, values, strict=True) if v == min(values)]
    unit = Fraction(2) ** -line.base_digits / count
    return ConvexDual(
        tuple(theta * scale for theta in thetas),
        tuple(v * unit for v in values),
        least[0] * scale,
        least[-1] * scale,
        count,
        snap,
    )
