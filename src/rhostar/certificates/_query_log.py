"""The data about the queries of an audit: measured here by searches, or read from a log.

A log may come from any program: a hardware router, a game server, a planner in another language. Its columns are the
estimate at the start, the optimal cost, the cost of the answer, the factor on the heuristic, the effort (expanded
vertices, seconds), and the group that a query belongs to (day, snapshot, design).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.certificates._draws import Draws, find_draws
from rhostar.errors import ArrayError, InputError, InstanceError, ReadError
from rhostar.heuristics import Heuristic, PerGoal
from rhostar.heuristics._function import Function
from rhostar.instances import InstanceSet
from rhostar.search import solve_many

Column = NDArray[np.float64]
TOLERANCE = 1e-9
"""Relative differences up to this one are taken for rounding."""
_VALUES_AT_ONCE = 2**24
"""Values of a function that are in memory at once: 128 MB."""
_NUMBERS = ("estimate", "optimum", "cost", "factor", "effort")


@dataclass(frozen=True, eq=False)
class QueryLog:
    """Queries and what they cost, one row for each query and factor; a column that is not known is None.

    Parameters
    ----------
    optimum
        (R,) optimal costs, positive or 0.
    estimate
        (R,) the heuristic at the start of each query, before the factor.
    cost
        (R,) costs of the answers; inf where there was none.
    factor
        (R,) the factor on the heuristic; 0 is a search without one. None means 1.
    effort
        (R,) expanded vertices, seconds, or another measure of work.
    group
        (R,) a label of the independent draw that a row belongs to, such as its day. None states that the queries of
        each factor were drawn independently.
    population
        Which queries the sentences are about, in words.

    Raises
    ------
    ArrayError, InputError
        If columns differ in length, or hold a number that they cannot; it names the row.

    Examples
    --------
    >>> import rhostar as rs
    >>> log = rs.certificates.QueryLog(optimum=[10.0, 20.0], cost=[10.0, 22.0])
    >>> len(log), log.factors, log.loss(1.0).tolist()
    (2, (1.0,), [0.0, 0.1...])
    """

    optimum: Column
    estimate: Column | None = None
    cost: Column | None = None
    factor: Column | None = None
    effort: Column | None = None
    group: NDArray[Any] | None = None
    population: str = "on new queries drawn as those of the log were"
    unit: str = "query"
    """What was drawn independently, in words."""
    queries: tuple[str, ...] | None = None
    """The names of the queries, if known: the rows of each factor are about these, in this order."""

    def __post_init__(self) -> None:
        size = np.size(self.optimum)
        for name in _NUMBERS:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _column(given, name, size))
        if self.group is not None:
            group = np.asarray(self.group)
            if group.shape != (size,):
                raise ArrayError(f"group must have one label for each of the {size} rows, got shape {group.shape}")
            object.__setattr__(self, "group", group)
            if self.unit == "query":
                object.__setattr__(self, "unit", "group")
                object.__setattr__(self, "population", "on new groups drawn as those of the log were")
        if self.estimate is None and self.cost is None:
            raise InputError("a log needs the column estimate, or the column cost, beside optimum")
        if self.cost is not None:
            low = self.cost < self.optimum * (1 - 1e-6) - 1e-12
            if low.any():
                i = int(np.argmax(low))
                raise InputError(f"cost[{i}] must not be below optimum[{i}] = {self.optimum[i]}, got {self.cost[i]}")

    def __len__(self) -> int:
        return self.optimum.size

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors that occur, in ascending order."""
        return (1.0,) if self.factor is None else tuple(np.unique(self.factor).tolist())

    def rows(self, factor: float) -> NDArray[np.intp]:
        """Return the rows with a factor.

        Parameters
        ----------
        factor
            One of :attr:`factors`.

        Returns
        -------
        numpy.ndarray
            Their positions.

        Raises
        ------
        InputError
            If there are none.
        """
        found = np.flatnonzero((np.ones(len(self)) if self.factor is None else self.factor) == factor)
        if not found.size:
            raise InputError(
                f"the log has no rows with factor {factor:g}; it has {', '.join(map('{:g}'.format, self.factors))}"
            )
        return found

    def loss(self, factor: float) -> Column:
        """Return how far each answer with a factor exceeds its optimum, as a fraction of it; inf without an answer.

        Parameters
        ----------
        factor
            One of :attr:`factors`.

        Returns
        -------
        numpy.ndarray
            0 where the answer is optimal up to rounding.

        Raises
        ------
        InputError
            If the log has no costs, or no rows with the factor.
        """
        if self.cost is None:
            raise InputError("the log has no column cost")
        mine = self.rows(factor)
        return losses(self.cost[mine], self.optimum[mine])

    def means(self, values: Column, factor: float) -> Column:
        """Return one value for each independent draw: that of a query, or the mean of a group.

        Parameters
        ----------
        values
            One for each row with the factor.
        factor
            One of :attr:`factors`.

        Returns
        -------
        numpy.ndarray
            In the order in which the draws first occur.
        """
        if self.group is None:
            return values
        which = np.unique(self.group[self.rows(factor)], return_inverse=True)[1].astype(np.int64)
        return Draws(self.unit, which, {}, "").values(values)


def losses(cost: Column, optimum: Column) -> Column:
    """Return cost / optimum − 1, and 0 within rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.certificates._query_log import losses
    >>> losses(np.array([3.0, 1.0, 0.0, 1.0]), np.array([2.0, 1.0, 0.0, 0.0])).tolist()
    [0.5, 0.0, 0.0, inf]
    """
    found = np.where(cost > 0, np.inf, 0.0)
    np.divide(cost - optimum, optimum, out=found, where=(optimum > 0) & np.isfinite(cost))
    return np.where(found <= TOLERANCE, 0.0, found)


def measure_queries(
    heuristic: Heuristic,
    instances: InstanceSet,
    factors: Sequence[float],
    *,
    reopen: bool,
    groups: Any = None,
    population: str | None = None,
) -> QueryLog:
    """Run A* with each factor on every instance and return the log.

    Parameters
    ----------
    heuristic
        The heuristic.
    instances
        The set; every instance must have a path.
    factors
        Factors on it, 0 among them for the optimum; the rows of one factor follow those of another.
    reopen
        Whether A* reopens closed vertices.
    groups, population
        As for :func:`rhostar.audit`.
    """
    count = len(instances)
    estimate = np.empty(count)
    cost, effort = np.empty((len(factors), count)), np.empty((len(factors), count))
    for some in _portions(heuristic, instances):
        part, own = instances[some], heuristic
        if isinstance(heuristic, Function):  # each goal is asked for once, not once for each factor
            own = PerGoal({goal: heuristic.table(goal) for goal in np.unique(part.goals).tolist()}, heuristic.n)
        estimate[some] = _estimates(own, part)
        for k, factor in enumerate(factors):
            given: Any = np.zeros(heuristic.n) if factor == 0 else own if factor == 1 else own.scaled(factor)
            runs = solve_many(part, given, reopen=reopen)
            cost[k, some], effort[k, some] = np.where(runs.solved, runs.cost, np.inf), runs.expanded
    optimum = cost[list(factors).index(0)].copy()
    if not np.isfinite(optimum).all():
        raise InstanceError(f"instance {int(np.argmin(np.isfinite(optimum)))} has no path; leave such instances out")
    draws = _draws(instances, groups)
    graph = instances.graph
    names = zip(instances.sources.tolist(), instances.goals.tolist(), strict=True)
    times = len(factors)
    return QueryLog(
        np.tile(optimum, times),
        estimate=np.tile(estimate, times),
        cost=cost.ravel(),
        factor=np.repeat(np.asarray(factors, dtype=np.float64), count),
        effort=effort.ravel(),
        group=None if draws.groups is None else np.tile(draws.groups, times),
        population=population or draws.population,
        unit="query" if draws.groups is None else draws.unit,
        queries=tuple(f"from {graph._name_of(s)} to {graph._name_of(t)}" for s, t in names),
    )


def _draws(instances: InstanceSet, groups: Any) -> Draws:
    """Return what was drawn independently: what the caller says, else days, else snapshots, else instances."""
    if groups is None and instances.pool is None and instances.days is not None:
        day = np.unique(instances.days[instances.rows], return_inverse=True)[1].astype(np.int64)
        if (days := int(day.max()) + 1) > 1:
            return Draws("day", day, {}, f"on new days drawn as these {days} were, each counting the same")
    return find_draws(instances, groups=groups)


def _portions(heuristic: Heuristic, instances: InstanceSet) -> list[NDArray[np.intp]]:
    """Return the instances in parts whose tables fit into memory at once."""
    if not isinstance(heuristic, Function):
        return [np.arange(len(instances))]
    goal = np.unique(instances.goals, return_inverse=True)[1]
    part = goal // max(1, _VALUES_AT_ONCE // heuristic.n)
    return [np.flatnonzero(part == k) for k in range(int(part.max()) + 1)]


def _estimates(heuristic: Heuristic, instances: InstanceSet) -> Column:
    """Return the value of each instance at its start."""
    found = np.empty(len(instances))
    rows = instances._stored_rows if heuristic.uses_weights else np.zeros(len(instances), dtype=np.int64)
    for goal, row in np.unique(np.stack([instances.goals, rows]), axis=1).T.tolist():
        mine = (instances.goals == goal) & (rows == row)
        weights = instances._stored[row] if heuristic.uses_weights else None
        found[mine] = heuristic.table(goal, weights)[instances.sources[mine]]
    return found


# ---------------------------------------------------------------- files


def read_log(path: str | os.PathLike[str]) -> QueryLog:
    r"""Read a log of queries from a CSV file.

    Parameters
    ----------
    path
        A file with a heading. It has the column ``optimum`` (or ``true``, ``true_cost``), and ``estimate`` or ``cost``
        or both. Optional columns are ``factor``, ``effort`` (or ``expanded``, ``seconds``), ``group`` (or ``day``,
        ``snapshot``), and ``query``: the name of the query, so that efforts with different factors can be compared.
        Other columns are ignored.

    Returns
    -------
    QueryLog

    Raises
    ------
    ReadError
        If the file is missing, or is not a CSV file in UTF-8.
    InputError
        If a column is missing, or a cell is not a number; it names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rhostar as rs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "log.csv")
    ...     _ = path.write_text("estimate,true cost\n90,100\n130,120\n")
    ...     rs.certificates.read_log(path).estimate.tolist()
    [90.0, 130.0]
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if len(rows) < 2:
        raise InputError(f"{os.fspath(path)!r} must have a heading and at least one row")
    place: dict[str, int] = {}
    for k, cell in enumerate(rows[0]):
        word = cell.strip().lower().replace(" ", "_")
        place.setdefault(_NAMES.get(word, word), k)
    if "optimum" not in place or not {"estimate", "cost"} & set(place):
        raise InputError(
            f"{os.fspath(path)!r} must have the column optimum, and estimate or cost, got {','.join(rows[0])}"
        )
    columns: dict[str, Any] = {}
    for name in (*_NUMBERS, "group"):
        if name in place:
            columns[name] = [_cell(row, place[name], i, name) for i, row in enumerate(rows[1:], 2)]
    if "query" in place and "factor" in columns:
        return _by_query(columns, [_cell(row, place["query"], 0, "group") for row in rows[1:]])
    return QueryLog(**columns)


def _by_query(columns: dict[str, list[Any]], query: list[str]) -> QueryLog:
    """Return the log with the same queries in the same order for every factor."""
    factor = np.array(columns["factor"])
    order = np.lexsort((np.array(query), factor))
    names = np.array(query)[order]
    parts = np.split(names, np.cumsum(np.unique(factor, return_counts=True)[1])[:-1])
    for part in parts:
        if not np.array_equal(part, parts[0]) or np.unique(part).size < part.size:
            raise InputError("each factor must have one row for each query, and the same queries")
    sorted_columns: dict[str, Any] = {name: np.array(values)[order] for name, values in columns.items()}
    return QueryLog(**sorted_columns, queries=tuple(parts[0].tolist()))


_NAMES = {
    **dict.fromkeys(("true", "true_cost", "optimal", "optimal_cost"), "optimum"),
    **dict.fromkeys(("expanded", "expansions", "seconds", "time"), "effort"),
    **dict.fromkeys(("day", "snapshot", "design"), "group"),
    **dict.fromkeys(("weight", "theta", "astar_fac"), "factor"),
}


def _cell(row: list[str], place: int, line: int, name: str) -> Any:
    text = row[place].strip() if place < len(row) else ""
    if name == "group":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"line {line}: {name} must be a number, got {text!r}") from None


def _column(values: ArrayLike, name: str, size: int) -> Column:
    array = arrays.as_array(values, name).astype(np.float64)
    if array.shape != (size,) or not size:
        raise ArrayError(f"{name} must have one number for each of the {size} rows, got shape {array.shape}")
    # The costs of queries without an answer may be infinite, estimates negative.
    bad = np.isnan(array) | ((array < 0) & (name != "estimate")) | (np.isinf(array) & (name != "cost"))
    arrays.require_all(~bad, array, name, "a finite number of at least 0", InputError)
    return arrays.frozen(array)
