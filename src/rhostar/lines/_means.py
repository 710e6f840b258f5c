"""Computes the mean utility of many instances as an exact function of θ along a line ρ = base + θ · direction.

For one instance a utility is constant on each piece of its run (:mod:`rhostar.lines._pieces`). The mean over N
instances is constant between two neighboring cuts of any of them. Cuts are merged as fractions and values are
added as integers, so that equal means compare equal, and the best θ is the best on the whole line, not only on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar._display import axes_or_new
from rhostar._parallel import map_chunks
from rhostar.errors import InputError, UtilityError
from rhostar.heuristics import HeuristicLike
from rhostar.instances import InstanceSet
from rhostar.lines._intervals import Interval, Intervals
from rhostar.lines._line import Line, Snap, fractional_digits
from rhostar.lines._pieces import MAX_PIECES, LineOf, Options, Pieces, Theta, line_of, make_options, pieces_on
from rhostar.search import Algorithm, solve_many
from rhostar.utilities import Custom, Utility

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NARROW = 2**62


@dataclass(frozen=True, eq=False)
class Dual:
    """The mean utility along a line, with all its pieces: it is piecewise constant. Made by :func:`scaling`.

    ``len(dual)`` counts the pieces, ``dual.at(theta)`` is the mean at a value of θ.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(2, 2)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=3)
    >>> rs.lines.scaling([2.0, 1.0, 1.0, 0.0], instances, "astar", rs.utilities.Expansions(4), high=2)
    Dual(2 pieces of mean expansions over 1 instance for theta in [0, 2], best 2 at theta = 1.5, exact)
    """

    intervals: Intervals
    """Where the mean is constant; neighbors differ."""
    mean: NDArray[np.float64]
    """Its value on each interval."""
    best: NDArray[np.int64]
    """The intervals with the best mean, exactly: the lowest, or the highest if that is better."""
    theta: Fraction
    """A value in the widest of the best intervals, near its middle."""
    clipped: float
    """The share of instances whose utility exceeds its limit at `theta`."""
    utility: Utility
    """The utility."""
    behaviours: int
    """The number of intervals on which no run of any instance changes; several may have the same utility."""
    pieces: NDArray[np.int64]
    """How many pieces each instance has."""
    snap: Snap
    """By how much numbers were rounded to make comparisons exact, over all instances."""

    @property
    def value(self) -> float:
        """The best mean."""
        return float(self.mean[self.best[0]])

    @property
    def minimizers(self) -> list[Interval]:
        """The best intervals themselves."""
        return [self.intervals[i] for i in self.best.tolist()]

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
            If it is outside.
        """
        return float(self.mean[self.intervals.index(theta)])

    def __len__(self) -> int:
        return len(self.intervals)

    def __repr__(self) -> str:
        low, high = float(self.intervals.low), float(self.intervals.high)
        pieces, over = arrays.counted(len(self), "piece"), arrays.counted(self.pieces.size, "instance")
        return (
            f"Dual({pieces} of mean {self.utility.name} over {over} for theta in "
            f"[{low:g}, {high:g}], best {self.value:g} at theta = {float(self.theta):g}, {self.snap})"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean against θ: pieces as lines, single points as dots, the best ones in color.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        edges, best = self.intervals.edges, np.zeros(len(self), dtype=bool)
        best[self.best] = True
        low, high = edges[:-1], edges[1:]
        point = np.array([part.low == part.high for part in self.intervals])
        for chosen, color, width, name in ((~best, "0.35", 1.5, ""), (best, "tab:red", 3.0, "best")):
            drawn = chosen & ~point
            ax.hlines(self.mean[drawn], low[drawn], high[drawn], colors=color, linewidths=width, label=name)
            dots = chosen & point
            ax.plot(low[dots], self.mean[dots], ".", color=color, markersize=2 * width + 3)
        inner = edges[1:-1]
        ax.vlines(inner, self.mean[:-1], self.mean[1:], colors="0.8", linewidths=0.8, zorder=0)
        ax.set_xlabel("θ")
        ax.set_ylabel(f"mean {self.utility.name}")
        ax.set_title(
            f"{arrays.counted(self.pieces.size, 'instance')}, {arrays.counted(len(self), 'piece')}, "
            f"best {self.value:g} at θ = {float(self.theta):g}"
        )
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return ax


def scaling(
    heuristic: HeuristicLike,
    instances: InstanceSet,
    algorithm: Algorithm,
    utility: Utility,
    *,
    low: Theta = 0,
    high: Theta = 4,
    reopen: bool = True,
    budget: int | None = None,
    max_pieces: int = MAX_PIECES,
    n_jobs: int | None = None,
) -> Dual:
    """Return the mean utility of a heuristic times θ as an exact function of θ, with its best θ.

    Parameters
    ----------
    heuristic
        Anything that :func:`rhostar.heuristics.as_heuristic` takes.
    instances
        N instances.
    algorithm
        "astar" or "gbfs".
    utility
        What to measure. The best θ has the lowest mean, or the highest if that is better.
    low, high
        The range of θ, both ends included: integers, floats or fractions.
    reopen
        Whether A* reopens closed vertices.
    budget
        How many vertices a run may expand.
    max_pieces
        How many pieces an instance may have. A search that expands k vertices can change about as often as pairs of
        those vertices swap their order, so there are very many where most of a large graph is expanded.
    n_jobs
        As in joblib.

    Returns
    -------
    Dual

    Raises
    ------
    InputError
        If the set is empty, low exceeds high, or an argument has the wrong shape or values.
    LimitError
        If an instance has more than `max_pieces`; it names the first.
    UtilityError
        If the utility is negative or NaN.

    See Also
    --------
    rhostar.theory.dual : the same along any line ρ = base + θ · direction.

    Examples
    --------
    Weighted A*: how many expansions does each factor take?

    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).integers(1, 10, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> rho = rs.learners.MeanDistance().fit(instances)
    >>> found = rs.lines.scaling(rho, instances, "astar", rs.utilities.Expansions(limit=1000), high=3)
    >>> len(found), found.value, found.at(0), found.at(1)
    (782, 14.05, 62.35, 26.95)
    """
    how: dict[str, Any] = {"reopen": reopen, "budget": budget, "max_pieces": max_pieces, "n_jobs": n_jobs}
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    return dual(np.zeros(instances.graph.n), heuristic, low, high, instances, algorithm, utility, **how)


def dual(
    base: HeuristicLike,
    direction: HeuristicLike,
    low: Theta,
    high: Theta,
    instances: InstanceSet,
    algorithm: Algorithm,
    utility: Utility,
    *,
    reopen: bool = True,
    budget: int | None = None,
    max_pieces: int = MAX_PIECES,
    optimum: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> Dual:
    """Return the mean utility along ρ = base + θ · direction, all pieces of it, with its exact best θ.

    Parameters
    ----------
    base, direction
        One finite float64 per vertex, or mappings from goals to such arrays.
    low, high
        The range of θ, both ends included: integers, floats or fractions.
    instances
        N instances.
    algorithm
        "astar" or "gbfs".
    utility
        What to measure. The best θ has the lowest mean, or the highest if that is better. A custom utility gets the
        trace of one run for each piece.
    max_pieces
        How many pieces an instance may have. A search that expands k vertices can change about as often as pairs of
        those vertices swap their order, so there are very many where most of a large graph is expanded.
    reopen
        Whether A* reopens closed vertices.
    budget
        How many vertices a run may expand.
    optimum
        Optimal costs, if known; otherwise they are computed if the utility needs them.
    n_jobs
        As in joblib.

    Returns
    -------
    Dual

    Raises
    ------
    InputError
        If the set is empty, low exceeds high, or an argument has the wrong shape or values.
    LimitError
        If an instance has more than `max_pieces`; it names the first.
    UtilityError
        If the utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.lines._means import dual
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).integers(1, 10, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> mean = np.mean([rs.distances_to(graph, w, graph.n - 1) for w in weights], axis=0)
    >>> found = dual(np.zeros(graph.n), mean, 0, 3, instances, "astar", rs.utilities.Expansions(limit=1000))
    >>> len(found), found.behaviours, found.value, found.at(0), found.minimizers[0].low > 1
    (782, 3913, 14.05, 62.35, True)
    """
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    if not isinstance(utility, Utility):
        raise InputError(f"utility must be a Utility, got {utility!r}")
    if len(instances) == 0:
        raise InputError("instances must not be empty: the mean of nothing is undefined")
    options = make_options(algorithm, reopen, budget)
    line = line_of(instances, base, direction, low, high, options.greedy)
    if utility.needs_optimum and optimum is None:
        optimum = solve_many(instances, np.zeros(instances.graph.n), n_jobs=n_jobs).cost
    arguments: dict[str, Any] = {
        "line": line,
        "options": options,
        "utility": utility,
        "optimum": optimum,
        "max_pieces": max_pieces,
    }
    parts = map_chunks(_measure, instances, n_jobs=n_jobs, **arguments)
    measured = [one for part in parts for one in part]
    return _merge(measured, line.line, utility)


# ---------------------------------------------------------------- one instance


class _Measured(NamedTuple):
    """The pieces of one instance, reduced to what the mean needs."""

    cuts: NDArray[np.int64]
    values: NDArray[np.float64]
    clipped: NDArray[np.bool_]
    snap: float


def _measure(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    line: LineOf,
    options: Options,
    utility: Utility,
    optimum: NDArray[np.float64] | None,
    max_pieces: int,
) -> list[_Measured]:
    measured = []
    for i, instance in enumerate(chunk, first):
        table = (int(line.base_of[i]), int(line.direction_of[i]))
        try:
            found = pieces_on(line.line, instance, options, max_pieces, table=table, stop=stop, where=f"instance {i}: ")
            raw = _raw(utility, found, None if optimum is None else float(optimum[i]), stop)
            values = utility.clip(raw).values
        except UtilityError as error:
            raise UtilityError(f"{error} (instance {i} of the set, piece by piece)") from None
        measured.append(_Measured(found.cuts, values, raw > utility.limit, found.snap.weights))
    return measured


def _raw(utility: Utility, found: Pieces, optimum: float | None, stop: _core.Stop) -> NDArray[np.float64]:
    if isinstance(utility, Custom):
        return np.array(
            [utility.function(found.instance, found.trace(k, stop)) for k in range(len(found))], dtype=float
        )
    return utility.raw(found.runs, None if optimum is None else np.full(len(found), optimum))


# ---------------------------------------------------------------- all of them


def rank_fractions(p: NDArray[np.int64], q: NDArray[np.int64]) -> tuple[list[Fraction], NDArray[np.int64]]:
    """Return the distinct values of p / q in order, and for each pair which of them it is; q is positive."""
    divisor = np.gcd(p, q)
    pairs, which = np.unique(np.column_stack([p // divisor, q // divisor]), axis=0, return_inverse=True)
    # Division of Python's integers rounds correctly, so it never reverses an order; only ties are left to decide.
    rough = [(a / b, k) for k, (a, b) in enumerate(pairs.tolist())]
    rough.sort()
    values = [Fraction(a, b) for a, b in pairs.tolist()]
    order: list[int] = []
    for _, group in groupby(rough, key=lambda item: item[0]):
        order += sorted((k for _, k in group), key=lambda k: values[k])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [values[k] for k in order], rank[which.ravel()]


def exact_sums(values: NDArray[np.float64], terms: int) -> tuple[NDArray[Any], int]:
    """Return (values as integers in units of 2^-digits, digits), in a type that holds sums of `terms` of them."""
    digits = fractional_digits(values)
    if float(np.abs(values).max(initial=0.0)) * 2.0 ** min(digits, 900) * terms < _NARROW:
        return np.ldexp(values, digits).astype(np.int64), digits
    whole = np.empty(values.size, dtype=object)
    whole[:] = [int(Fraction(value) * 2**digits) for value in values.tolist()]
    return whole, digits


def _merge(measured: list[_Measured], line: Line, utility: Utility) -> Dual:
    counts = np.array([part.values.size for part in measured])
    ends = np.cumsum(counts)
    whole, digits = exact_sums(np.concatenate([part.values for part in measured]), 2 * len(measured))
    first = np.zeros(whole.size, dtype=bool)
    first[ends - counts] = True
    steps = (whole[1:] - whole[:-1])[~first[1:]]
    cuts = np.concatenate([part.cuts for part in measured])
    thetas, rank = rank_fractions(cuts[:, 0], cuts[:, 1])
    # A cut just before a point comes before the cut at the point.
    places, group = np.unique(2 * rank + (cuts[:, 2] + 1), return_inverse=True)
    changes = np.zeros(places.size, dtype=whole.dtype)
    np.add.at(changes, group.ravel(), steps)
    sums = np.concatenate([[whole[first].sum()], changes]).cumsum()

    kept = np.flatnonzero(changes != 0)
    sums = sums[np.concatenate([[0], kept + 1])]
    scale = Fraction(2) ** (line.direction_digits - line.base_digits)
    intervals = Intervals(
        line.low,
        line.high,
        tuple(thetas[place // 2] * scale for place in places[kept].tolist()),
        tuple(place % 2 == 1 for place in places[kept].tolist()),
    )
    target = max(sums) if utility.better == "higher" else min(sums)
    best = np.flatnonzero(sums == target)
    theta = max((intervals[i] for i in best.tolist()), key=lambda part: part.width).inside
    total = len(measured) * 2**digits
    mean = np.array([int(x) / total for x in sums.tolist()])
    clipped = np.mean([bool(part.clipped[_piece_of(part, line, theta)]) for part in measured])
    snap = line.snap._replace(weights=max(part.snap for part in measured))
    return Dual(intervals, mean, best, theta, float(clipped), utility, places.size + 1, counts, snap)


def _piece_of(part: _Measured, line: Line, theta: Fraction) -> int:
    """Return which piece of an instance contains θ, by bisection."""
    low, high = 0, len(part.cuts)
    while low < high:
        middle = (low + high) // 2
        p, q, side = part.cuts[middle].tolist()
        cut = line.theta(p, q)
        if theta < cut or (theta == cut and side == 0):
            high = middle
        else:
            low = middle + 1
    return low
