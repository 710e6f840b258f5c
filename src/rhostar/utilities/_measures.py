"""Utilities: measures of a run, within [0, H]. The base class, and the measures that come with rhostar.

To add a measure, write a subclass of :class:`Utility` in this file; its ``key`` registers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, UtilityError
from rhostar.instances import Instance
from rhostar.search import Runs, Trace

registered: dict[str, type[Utility]] = {}
"""Every utility that has a key; filled by ``__init_subclass__``."""

registry: Mapping[str, type[Utility]] = MappingProxyType(registered)
"""The same, for users."""


@dataclass(frozen=True)
class Utility:
    """The base class of all utilities: a limit H > 0, and which direction is better.

    To write your own utility, use :class:`Custom`, or a subclass with a method ``raw``. A subclass that sets ``key``
    is registered under it.

    Parameters
    ----------
    limit
        H, the upper end of the range: larger values are clipped to it. inf clips nothing. It is meant for quantiles; a
        bound on a mean needs a finite limit.

    Raises
    ------
    UtilityError
        If `limit` is not a positive number.

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
    >>> rs.evaluate(np.zeros(16), instances, Reopened(limit=10))["reopened"].mean
    0.0
    """

    limit: float
    """H, the upper end of the range: larger values count as H."""

    key: ClassVar[str] = ""
    """The name in the registry, in ASCII and with underscores; a subclass without one is named after its class."""
    words: ClassVar[str] = ""
    """What is measured, for readers of a report."""
    needs_optimum: ClassVar[bool] = False
    """Whether `raw` is given the optimal costs."""
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    """Which way is better."""

    def __post_init__(self) -> None:
        require(self.limit, "limit", "a positive number", lambda x: x > 0)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "key" not in vars(cls):
            cls.key = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
            return
        if not re.fullmatch(r"[a-z][a-z0-9_]*", cls.key):
            raise UtilityError(f"key must be lower-case ASCII letters, digits and underscores, got {cls.key!r}")
        other = registered.get(cls.key)
        # The same class may be defined again, as when a cell of a notebook is run twice.
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise UtilityError(f"the key {cls.key!r} is already used by {other.__module__}.{other.__qualname__}")
        registered[cls.key] = cls

    @property
    def name(self) -> str:
        """The key: its name in tables and in ``evaluation[name]``."""
        return self.key

    @property
    def quantity(self) -> str:
        """What one run is given, as a noun in a sentence, such as "cost above the optimum"."""
        return self.words or self.name

    @property
    def mean_words(self) -> str:
        """The mean over runs, as it is called in a sentence."""
        return f"the mean {self.quantity}"

    @classmethod
    def from_number(cls, number: float | None, n: int) -> Self:
        """Return the utility for the number that a user gave. :func:`by_name` calls this.

        Parameters
        ----------
        number
            H; None if the user gave none.
        n
            Number of vertices, the natural H of counts of vertices.

        Returns
        -------
        Utility
            Of this class.

        Raises
        ------
        UtilityError
            If no number was given and there is no natural H.
        """
        if number is None:
            raise UtilityError(f"{cls.key} needs a limit (-H), the upper end H of its range, chosen beforehand")
        return cls(number)

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return one value per run, before clipping; inf is allowed, negative values and NaN are not.

        Parameters
        ----------
        runs
            The runs.
        optimum
            Their optimal costs if ``needs_optimum`` is true, else None.
        """
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
        return Score(self, np.minimum(values, self.limit), float(np.mean(values > self.limit)), values)


class Score(NamedTuple):
    """The values of one utility on a set, such as ``evaluation["expansions"]``.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.Cost(limit=5.0).clip([3.0, 7.0])
    Score(cost: mean 4 over 2 instances, 50.0% clipped)
    """

    utility: Utility
    """The utility."""
    values: NDArray[np.float64]
    """min(u, H) for each instance."""
    clipped: float
    """The share of instances whose raw value was above H."""
    raw: NDArray[np.float64]
    """u for each instance, before clipping; inf for a run that is not solved, where the utility says so."""

    @property
    def mean(self) -> float:
        """The empirical mean."""
        return float(np.mean(self.values))

    def __repr__(self) -> str:
        count = arrays.counted(self.values.size, "instance")
        return f"Score({self.utility.name}: mean {self.mean:.6g} over {count}, {self.clipped:.1%} clipped)"


def require(value: float, name: str, what: str, accepted: Callable[[float], bool]) -> None:
    try:
        arrays.number(value, name, what, accepted)
    except InputError as error:
        raise UtilityError(str(error)) from None


# ---------------------------------------------------------------- measures


class Cost(Utility):
    """Cost of the path; H for runs that are not solved.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.Cost(limit=2.0).clip([3.0, 1.0])
    Score(cost: mean 1.5 over 2 instances, 50.0% clipped)
    """

    key = "cost"
    words = "cost"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the costs."""
        return _if_solved(runs, runs.cost)


class Suboptimality(Utility):
    """Cost of the path minus the optimum, in absolute terms; H for runs that are not solved.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.Suboptimality(limit=40.0).clip([0.0, 12.5, 99.0]).values.tolist()
    [0.0, 12.5, 40.0]
    """

    key = "suboptimality"
    words = "cost above the optimum"
    needs_optimum: ClassVar[bool] = True

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the differences; never below 0, as both costs are added up from the start."""
        assert optimum is not None
        return _if_solved(runs, np.subtract(runs.cost, optimum, where=runs.solved, out=np.zeros(len(runs))))


class Ratio(Utility):
    """Cost of the path divided by the optimum: 1 if both are 0, H if only the optimum is.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.Ratio(limit=3.0).words
    'cost / optimum'
    """

    key = "ratio"
    words = "cost / optimum"
    needs_optimum: ClassVar[bool] = True

    @property
    def quantity(self) -> str:
        """The ratio, as a noun in a sentence."""
        return "ratio of cost to optimum"

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the ratios."""
        assert optimum is not None
        ratio = np.where(runs.cost > 0, np.inf, 1.0)
        np.divide(runs.cost, optimum, out=ratio, where=runs.solved & (optimum > 0))
        return _if_solved(runs, ratio)


class _Count(Utility):
    """A number of vertices; n is its natural limit."""

    column: ClassVar[str]
    """Which field of the runs holds it."""

    @property
    def quantity(self) -> str:
        """The count, as a noun in a sentence."""
        return f"number of {self.words}"

    @classmethod
    def from_number(cls, number: float | None, n: int) -> Self:
        """Return the utility with H = n unless another is given."""
        return cls(float(n) if number is None else number)

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the counts."""
        return np.asarray(getattr(runs, self.column), dtype=np.float64)


class Expansions(_Count):
    """Expanded vertices, counted each time.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 2], goal=3)
    >>> rs.evaluate([0.0] * 4, instances, rs.utilities.Expansions(limit=4.0))["expansions"].values.tolist()
    [3.0, 2.0]
    """

    key = "expansions"
    words = "expanded vertices"
    column = "expanded"


class Generated(_Count):
    """Insertions into OPEN.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.Generated(limit=500).name
    'generated'
    """

    key = "generated"
    words = "insertions into OPEN"
    column = "generated"


class PeakOpen(_Count):
    """Largest size of OPEN: the memory of a run.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.utilities.by_name("peak_open", n=400)
    PeakOpen(limit=400.0)
    """

    key = "peak_open"
    words = "largest size of OPEN"
    column = "peak_open"

    @property
    def quantity(self) -> str:
        """The size, as a noun in a sentence."""
        return self.words


@dataclass(frozen=True)
class SolvedWithin(Utility):
    """1 if the run finds a path of at most `factor` times the optimum, else 0; H is 1.

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
        require(self.factor, "factor", "at least 1 and finite", lambda x: 1 <= x < np.inf)

    @property
    def mean_words(self) -> str:
        """The share of answers that it counts, with the factor."""
        if self.factor == 1:
            return "the share of optimal answers"
        return f"the share of near-optimal answers (at most {self.factor:g} times the optimum)"

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
    """Any function of the instance and the trace of its run, as Assumption 3 allows.

    Parameters
    ----------
    limit
        H.
    function
        Takes an :class:`Instance` and a :class:`Trace` and returns a non-negative number. It is called
        once per instance, in Python; to run in other processes it must be defined in a module.
    label
        Its name in tables; the name of the function by default.

    Raises
    ------
    UtilityError
        If `limit` is not a positive number.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> def widest(instance, trace):
    ...     return max(len(state.open) for state in trace.states())
    >>> graph = rs.Graph.grid(4, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=15)
    >>> rs.evaluate(np.zeros(16), instances, rs.utilities.Custom(100, widest))["widest"].values.tolist()
    [4.0, 4.0]
    """

    function: Callable[[Instance, Trace], float]
    label: str = ""

    @property
    def name(self) -> str:
        """The label, or the name of the function."""
        return self.label or getattr(self.function, "__name__", "Custom")

    def raw(self, runs: Runs, optimum: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Not available: a custom utility needs traces, which runs do not have. See :func:`evaluate`."""
        raise UtilityError(f"{self.name} needs traces; use evaluate")


def by_name(name: str, number: float | None = None, *, n: int) -> Utility:
    """Return a registered utility by its name.

    Parameters
    ----------
    name
        A key of the registry; hyphens count as underscores.
    number
        H; for "solved_within" the factor. Without it, counts of vertices have H = n, "solved_within" a factor of 1.05.
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


def _if_solved(runs: Runs, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(runs.solved, values, np.inf)
