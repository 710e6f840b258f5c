"""Performance measures of a run, each with its range [0, H] (Assumption 3 of the paper).

A utility is min(u, H). The user chooses H, the `limit`, before looking at the instances; the share of values
that were clipped is always reported. A run that did not find its goal counts as H where the measure is about
the answer (cost, suboptimality, ratio), even if it knows some path by then.

Utilities register themselves. A subclass of :class:`Utility` that sets ``key`` is found by that name everywhere:
in ``evaluate(...)["expansions"]``, on the command line and in reports.

- ``utilities.registry`` maps each key ("expansions", "cost", "solved_within", ...) to its class.
- ``utilities.by_name(key, number, n=graph.n)`` makes one from a key and a number, which is H for most of them.
- ``utility.name`` is the key (a custom utility has its label instead), ``utility.words`` says in plain words what is
  measured, ``utility.better`` which way is better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar._display import html_table, text_table
from rhostar._parallel import map_chunks
from rhostar.errors import ArrayError, InputError, UtilityError
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm, Rho, Runs, Trace, solve_many
from rhostar.search._run import solve

__all__ = [
    "Cost",
    "Custom",
    "Evaluation",
    "Expansions",
    "Generated",
    "PeakOpen",
    "Ratio",
    "Score",
    "SolvedWithin",
    "Suboptimality",
    "Utility",
    "by_name",
    "evaluate",
    "registry",
]

_registered: dict[str, type[Utility]] = {}
registry: Mapping[str, type[Utility]] = MappingProxyType(_registered)
"""Every utility that has a key, by that key."""


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class Utility:
    """What all utilities share: a limit H > 0, and which direction is better.

    A utility of your own is either :class:`Custom` or a subclass with a method ``raw``. A subclass that sets ``key``
    is registered under it.

    Parameters
    ----------
    limit
        H, the upper end of the range: larger values are clipped to it.

    Raises
    ------
    UtilityError
        If `limit` is not a positive finite number.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> class Reopened(rs.utilities.Utility):
    ...     words = "reopened vertices"
    ...
    ...     def raw(self, runs, optimum):
    ...         return runs.reopened.astype(float)
    >>> graph = rs.Graph.grid(4, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=15)
    >>> rs.evaluate(instances, np.zeros(16), Reopened(limit=10))["reopened"].mean
    0.0
    """

    limit: float

    key: ClassVar[str] = ""
    """The name in the registry, in ASCII and with underscores; without one, the name of the class stands for it."""
    words: ClassVar[str] = ""
    """What is measured, for readers of a report."""
    needs_optimum: ClassVar[bool] = False
    """Whether `raw` is given the optimal costs."""
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    """Which way is better."""

    def __post_init__(self) -> None:
        _require(self.limit, "limit", "a positive finite number", lambda x: 0 < x < np.inf)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "key" not in vars(cls):
            cls.key = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
            return
        if not re.fullmatch(r"[a-z][a-z0-9_]*", cls.key):
            raise UtilityError(f"key must be lower-case ASCII letters, digits and underscores, got {cls.key!r}")
        other = _registered.get(cls.key)
        # The same class may be defined again, as when a cell of a notebook is run twice.
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise UtilityError(f"the key {cls.key!r} belongs to {other.__module__}.{other.__qualname__} already")
        _registered[cls.key] = cls

    @property
    def name(self) -> str:
        """How tables call it, and what ``evaluation[name]`` takes: the key."""
        return self.key

    @classmethod
    def from_number(cls, number: float | None, n: int) -> Self:
        """Return the utility for the number a user gave; what :func:`by_name` calls.

        Parameters
        ----------
        number
            H; None where the user gave none.
        n
            Number of vertices, the natural H of counts of vertices.

        Raises
        ------
        UtilityError
            If no number was given and there is no natural H.
        """
        if number is None:
            raise UtilityError(f"{cls.key} needs a limit, the upper end H of its range, chosen beforehand")
        return cls(number)

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return one value per run, before clipping; inf is allowed, negative values and NaN are not."""
        raise NotImplementedError

    def clip(self, raw: ArrayLike) -> Score:
        """Return min(raw, limit).

        Parameters
        ----------
        raw
            One value per instance.

        Returns
        -------
        Score

        Raises
        ------
        UtilityError
            If a value is negative or NaN, naming the first.
        """
        values = np.asarray(raw, dtype=np.float64)
        bad = ~(values >= 0)
        if bad.any():
            first = int(np.argmax(bad))
            raise UtilityError(f"{self.name} of instance {first} must be at least 0, got {values[first]}")
        return Score(self, np.minimum(values, self.limit), float(np.mean(values > self.limit)))


class Score(NamedTuple):
    """The values of one utility on a set."""

    utility: Utility
    values: NDArray[np.float64]
    """min(u, H) for each instance."""
    clipped: float
    """The share of instances whose raw value was above H."""

    @property
    def mean(self) -> float:
        """The empirical mean."""
        return float(np.mean(self.values))

    def __repr__(self) -> str:
        count = arrays.counted(self.values.size, "instance")
        return f"Score({self.utility.name}: mean {self.mean:.6g} over {count}, {self.clipped:.1%} clipped)"


class Cost(Utility):
    """Cost of the path; H for runs that are not solved."""

    key = "cost"
    words = "cost"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the costs."""
        return _if_solved(runs, runs.cost)


class Suboptimality(Utility):
    """Cost of the path minus the optimum, in absolute terms; H for runs that are not solved."""

    key = "suboptimality"
    words = "cost above the optimum"
    needs_optimum: ClassVar[bool] = True

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the differences; never below 0, as both costs are added up from the start."""
        assert optimum is not None
        return _if_solved(runs, np.subtract(runs.cost, optimum, where=runs.solved, out=np.zeros(len(runs))))


class Ratio(Utility):
    """Cost of the path divided by the optimum: 1 where both are 0, H where only the optimum is."""

    key = "ratio"
    words = "cost / optimum"
    needs_optimum: ClassVar[bool] = True

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the ratios."""
        assert optimum is not None
        ratio = np.where(runs.cost > 0, np.inf, 1.0)
        np.divide(runs.cost, optimum, out=ratio, where=runs.solved & (optimum > 0))
        return _if_solved(runs, ratio)


class _Count(Utility):
    """A number of vertices; n is its natural limit."""

    @classmethod
    def from_number(cls, number: float | None, n: int) -> Self:
        """Return the utility with H = n unless another is given."""
        return cls(float(n) if number is None else number)


class Expansions(_Count):
    """Expanded vertices, counted each time."""

    key = "expansions"
    words = "expanded vertices"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the counts."""
        return runs.expanded.astype(np.float64)


class Generated(_Count):
    """Insertions into OPEN."""

    key = "generated"
    words = "insertions into OPEN"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the counts."""
        return runs.generated.astype(np.float64)


class PeakOpen(_Count):
    """Largest size of OPEN: the memory of a run."""

    key = "peak_open"
    words = "largest size of OPEN"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sizes."""
        return runs.peak_open.astype(np.float64)


@dataclass(frozen=True)
class SolvedWithin(Utility):
    """1 where the run is solved at no more than `factor` times the optimum, else 0; H is 1.

    Parameters
    ----------
    factor
        At least 1.

    Raises
    ------
    UtilityError
        If `factor` is below 1 or not finite.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.SolvedWithin(1.05)
    SolvedWithin(factor=1.05)
    """

    key = "solved_within"
    words = "solved within a factor of the optimum"
    needs_optimum: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    limit: float = field(default=1.0, init=False, repr=False)
    factor: float

    def __post_init__(self) -> None:
        _require(self.factor, "factor", "at least 1 and finite", lambda x: 1 <= x < np.inf)

    @classmethod
    def from_number(cls, number: float | None, n: int) -> Self:
        """Return the utility with this factor, 1.05 unless another is given."""
        return cls(1.05 if number is None else number)

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return zeros and ones."""
        assert optimum is not None
        return (runs.solved & (runs.cost <= self.factor * optimum)).astype(np.float64)


@dataclass(frozen=True)
class Custom(Utility):
    """Any function of the instance and the course of the run: what Assumption 3 allows.

    Parameters
    ----------
    limit
        H.
    function
        Takes an :class:`Instance` and a :class:`Trace`, returns a number that is not negative. Called
        once per instance, in Python; with jobs in other processes it must be a function of a module.
    label
        How tables call it; the name of the function by default.

    Raises
    ------
    UtilityError
        If `limit` is not a positive finite number.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> def widest(instance, trace):
    ...     return max(len(trace.open_at(i)) for i in range(len(trace) + 1))
    >>> graph = rs.Graph.grid(4, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=15)
    >>> rs.evaluate(instances, np.zeros(16), rs.utilities.Custom(100, widest))["widest"].values.tolist()
    [4.0, 4.0]
    """

    function: Callable[[Instance, Trace], float]
    label: str = ""

    @property
    def name(self) -> str:
        """The label, or the name of the function."""
        return self.label or getattr(self.function, "__name__", "Custom")

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Not available: a custom utility sees traces, which runs do not hold. See :func:`evaluate`."""
        raise UtilityError(f"{self.name} needs traces; use evaluate")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What :func:`evaluate` returns: one :class:`Score` for each utility; prints as a table.

    ``evaluation["expansions"]`` and ``evaluation[0]`` are scores; iterating gives them in the order of the utilities.
    """

    runs: Runs
    scores: tuple[Score, ...]
    optimum: NDArray[np.float64] | None
    """Optimal costs, where a utility needed them."""

    def __getitem__(self, utility: int | str) -> Score:
        """Return the score at a position or with a name."""
        if not isinstance(utility, str):
            return self.scores[utility]
        for score in self.scores:
            if score.utility.name == utility:
                return score
        raise InputError(f"no utility {utility!r}; there are {[s.utility.name for s in self.scores]}")

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __repr__(self) -> str:
        means = ", ".join(f"{score.utility.name} {score.mean:.6g}" for score in self)
        return f"Evaluation({means}; {self._solved})"

    def __str__(self) -> str:
        return f"{text_table(self._rows)}\n{self._solved}"

    def _repr_html_(self) -> str:
        head, *rows = self._rows
        return html_table("Evaluation", head, rows, [self._solved])

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("utility", "mean", "std", "max", "limit", "clipped")]
        for score in self:
            numbers = (score.mean, np.std(score.values), np.max(score.values), score.utility.limit)
            rows.append((score.utility.name, *(f"{x:.6g}" for x in numbers), f"{score.clipped:.1%}"))
        return rows

    @property
    def _solved(self) -> str:
        return f"{int(self.runs.solved.sum())} of {len(self.runs)} solved"


def by_name(name: str, number: float | None = None, *, n: int) -> Utility:
    """Return a registered utility by its name.

    Parameters
    ----------
    name
        A key of the registry; hyphens count as underscores.
    number
        H; for "solved_within" the factor. Counts of vertices have H = n without it, "solved_within" a factor of 1.05.
    n
        Number of vertices of the graph.

    Returns
    -------
    Utility

    Raises
    ------
    UtilityError
        If there is no such utility, or it needs a number and none is given.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.by_name("expansions", n=400), rs.utilities.by_name("solved-within", 1.1, n=400)
    (Expansions(limit=400.0), SolvedWithin(factor=1.1))
    """
    kind = registry.get(name.replace("-", "_"))
    if kind is None:
        raise UtilityError(f"the utility must be one of {', '.join(registry)}, got {name!r}")
    return kind.from_number(number, n)


def evaluate(
    instances: InstanceSet,
    rho: Rho,
    utilities: Utility | Sequence[Utility],
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    optimum: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Run a heuristic on every instance and measure it.

    Parameters
    ----------
    instances, rho, algorithm, reopen, budget, n_jobs
        As for :func:`rhostar.solve_many`.
    utilities
        What to measure: one utility or several.
    optimum
        Optimal costs where they are known; else they are computed if a utility needs them. A given
        optimum within rounding of the cost that was found counts as equal to it.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the set is empty or nothing is to be measured.
    UtilityError
        If a utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(50, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> rho = 2 * rs.heuristics.euclidean(graph, graph.n - 1)
    >>> print(rs.evaluate(instances, rho, [rs.utilities.Ratio(2), rs.utilities.Expansions(150)]))
    utility        mean        std      max  limit  clipped
    ratio       1.03528  0.0240319  1.10814      2     0.0%
    expansions    53.74    13.4593      107    150     0.0%
    50 of 50 solved
    >>> rs.evaluate(instances, rho, rs.utilities.Expansions(150))["expansions"].mean
    53.74
    """
    measures = [utilities] if isinstance(utilities, Utility) else list(utilities)
    if not measures:
        raise InputError("utilities must name at least one utility")
    for utility in measures:
        if not isinstance(utility, Utility):
            raise InputError(f"utilities must hold Utility objects, got {utility!r}")
    if len(instances) == 0:
        raise InputError("instances must not be empty: there is no mean over nothing")
    options: dict[str, Any] = {"algorithm": algorithm, "reopen": reopen, "budget": budget, "n_jobs": n_jobs}
    runs = solve_many(instances, rho, **options)
    best = _optimum(instances, runs, optimum, n_jobs) if any(u.needs_optimum for u in measures) else None
    scores = []
    for utility in measures:
        if isinstance(utility, Custom):
            raw = _custom(utility, instances, rho, **options)
        else:
            raw = utility.raw(runs, best)
        scores.append(utility.clip(raw))
    return Evaluation(runs, tuple(scores), best)


def _optimum(instances: InstanceSet, runs: Runs, given: ArrayLike | None, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the optimal costs.

    They are added up from the start like every cost, so no cost is below its optimum. What a user gives
    may come from sums in another order and is levelled where it differs by rounding only.
    """
    if given is None:
        return solve_many(instances, np.zeros(instances.graph.n), n_jobs=n_jobs).cost
    optimum = np.array(given, dtype=np.float64)
    if optimum.shape != (len(instances),):
        raise ArrayError(f"optimum must have one value per instance ({len(instances)}), got shape {optimum.shape}")
    close = runs.solved & np.isclose(optimum, runs.cost, rtol=1e-12, atol=0)
    optimum[close] = runs.cost[close]
    bad = ~(optimum >= 0) | (runs.solved & (optimum > runs.cost))
    if bad.any():
        i = int(np.argmax(bad))
        found = f"; a path of cost {runs.cost[i]} was found" if runs.solved[i] else ""
        raise InputError(f"optimum[{i}] = {optimum[i]} is no optimal cost{found}")
    return optimum


def _custom(
    utility: Custom, instances: InstanceSet, rho: Rho, *, n_jobs: int | None, **options: Any
) -> NDArray[np.float64]:
    parts = map_chunks(_custom_chunk, instances, n_jobs=n_jobs, function=utility.function, rho=rho, **options)
    return np.concatenate(parts)


def _custom_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    function: Callable[[Instance, Trace], float],
    rho: Rho,
    algorithm: Algorithm,
    reopen: bool,
    budget: int | None,
) -> NDArray[np.float64]:
    values = np.full(len(chunk), np.nan)
    for i, instance in enumerate(chunk):
        if stop.is_set():
            break
        run = solve(algorithm == "gbfs", *instance, rho, reopen, budget, None, True, stop)
        assert run.trace is not None
        values[i] = function(instance, run.trace)
    return values


def _if_solved(runs: Runs, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(runs.solved, values, np.inf)


def _require(value: float, name: str, what: str, accepted: Callable[[float], bool]) -> None:
    try:
        arrays.number(value, name, what, accepted)
    except InputError as error:
        raise UtilityError(str(error)) from None
