"""The base class of all utilities: the range [0, H], clipping, and the registry that subclasses enter automatically."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, UtilityError
from rhostar.search import Runs

registered: dict[str, type[Utility]] = {}
"""Every utility that has a key; filled by ``__init_subclass__``."""


@dataclass(frozen=True)
class Utility:
    """The base class of all utilities: a limit H > 0, and which direction is better.

    To write your own utility, use :class:`Custom`, or a subclass with a method ``raw``. A subclass that sets ``key``
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
        require(self.limit, "limit", "a positive finite number", lambda x: 0 < x < np.inf)

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
            raise UtilityError(f"the key {cls.key!r} belongs to {other.__module__}.{other.__qualname__} already")
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
            raise UtilityError(f"{cls.key} needs a limit, the upper end H of its range, chosen beforehand")
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
