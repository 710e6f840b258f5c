"""Families: the sets of heuristics that a bound for every ρ at once covers.

A bound that holds for every ρ at once has to count the ρ of a family. A full family has one free value for each vertex.
Fewer free values, or few levels for each, make a smaller family, and so a certificate can be useful on a large graph.
The parts of a family (a base, features, levels) must not come from the instances that the certificate is computed on,
so a family remembers the instances it was built from, or that these are not known.

To add a family, write a class in this file, and an export line for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar._arrays import Algorithm
from rhostar.errors import ArrayError, AssumptionError, InputError
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance, provenance

_FEATURE_BITS = 20
"""How many bits the base and the features of a linear family keep; the rest of the 52 are for θ."""


class Placed(NamedTuple):
    """A heuristic after :meth:`Family.into_class`."""

    rho: NDArray[np.float64]
    """The values."""
    how: str
    """What was done to it, as in "rho was …"; empty if it was not changed."""


@dataclass(frozen=True, eq=False)
class Family:
    """The base class of all families.

    To write your own family, derive a frozen dataclass from this one and implement at least :meth:`contains`.

    Parameters
    ----------
    built_from
        The instances that shaped the family itself: a list of instances, or of what a heuristic was ``trained_on``;
        empty if it was fixed without looking at any; None if that is not known. Without it, no bound for every ρ is
        computed on training instances.
    """

    built_from: Sequence[InstanceSet | Provenance] | None = ()
    """The instances that shaped the family; None if that is not known."""

    every_rho: ClassVar[bool] = False
    """Whether every finite ρ belongs to it, so that single values may be moved."""
    made_of: ClassVar[str] = "parts"
    """What it is made of, in words."""

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether ρ belongs to the family.

        Parameters
        ----------
        rho
            One value per vertex.

        Returns
        -------
        bool
            Up to rounding.
        """
        raise NotImplementedError

    def check(self, rho: ArrayLike, goal: int) -> None:
        """Raise :class:`AssumptionError` unless ρ belongs to the family and the family to the goal.

        Parameters
        ----------
        rho
            One value per vertex.
        goal
            The goal of the instances.

        Raises
        ------
        AssumptionError
            If ρ does not belong to the family, or the family to the goal.
        """
        if not self.contains(rho):
            raise AssumptionError(f"rho is not in the family that it was chosen from ({type(self).__name__})")

    def overlap(self, instances: InstanceSet) -> int:
        """Return how many of these instances are known to have shaped the family.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        int
            How many instances.
        """
        return provenance(*self.built_from).overlap(instances) if self.built_from else 0

    def check_fixed(self, train: InstanceSet) -> None:
        """Raise :class:`AssumptionError` unless the family was fixed without looking at these instances.

        Parameters
        ----------
        train
            Instances that a bound for every ρ of the family is computed on.

        Raises
        ------
        AssumptionError
            If the family was built from one of these instances, or from unknown ones.
        """
        if self.built_from is None:
            raise AssumptionError(
                f"the {self.made_of} are arrays of unknown origin: pass built_from, the instances they come from, or "
                "built_from=() if they were fixed without looking at any"
            )
        if shaped := self.overlap(train):
            raise AssumptionError(
                f"the family was built from {shaped} instances of train; pass those that it was not built from, or "
                "certify on a holdout"
            )

    @property
    def size(self) -> dict[str, Any]:
        """What :func:`rhostar.bounds.capacities` counts it by: its parameters or levels; empty for all of Rⁿ."""
        return {}

    def capacities(
        self,
        n: int,
        algorithm: Algorithm,
        *,
        integer_weights: int | None = None,
        out_degree: int | None = None,
        reopen: bool = True,
    ) -> tuple[bounds.Capacity, ...]:
        """Return every known count of the runs that the family allows on graphs of n vertices.

        Parameters
        ----------
        n, algorithm, integer_weights, out_degree, reopen
            As for :func:`rhostar.pseudo_dimension`.

        Returns
        -------
        tuple of Capacity
            Every count that applies.
        """
        return bounds.capacities(
            n, algorithm, integer_weights=integer_weights, out_degree=out_degree, reopen=reopen, **self.size
        )

    def exact_sums(self, largest_g: float | None) -> bool:
        """Return whether no sum g + ρ rounds after :meth:`into_class`, which takes the same parameters.

        Parameters
        ----------
        largest_g
            As for :meth:`into_class`.

        Returns
        -------
        bool
            Whether sums are exact.
        """
        return largest_g == 0

    def into_class(self, rho: NDArray[np.float64], largest_g: float | None) -> Placed:
        """Return the nearby ρ of the family to which the counts of :meth:`capacities` apply.

        Parameters
        ----------
        rho
            A heuristic of the family.
        largest_g
            If all weights are integers: no path costs more than this; 0 for greedy search, which adds nothing to ρ.
            None if weights are any numbers, so that sums round.

        Returns
        -------
        Placed
            The values, and what was done to them.
        """
        return Placed(rho, "")


@dataclass(frozen=True, eq=False)
class FullTable(Family):
    """Every ρ in Rⁿ.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.certificates.FullTable().contains([0.5, -3.0])
    True
    """

    every_rho: ClassVar[bool] = True

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether ρ belongs to the family: every finite one does."""
        return bool(np.isfinite(np.asarray(rho, dtype=np.float64)).all())

    def exact_sums(self, largest_g: float | None) -> bool:
        """Return whether no sum g + ρ rounds: with integer weights ρ is rounded to few enough bits."""
        return largest_g is not None

    def into_class(self, rho: NDArray[np.float64], largest_g: float | None) -> Placed:
        """Return ρ in multiples of 2^−k with g + abs(ρ) < 2^(52−k): float64 sums with integers are then exact.

        Raises
        ------
        InputError
            If values are so large that k would be negative.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> rs.certificates.FullTable().into_class(np.array([0.1, 2.0]), 2.0**40).rho.tolist()
        [0.10009765625, 2.0]
        """
        if not largest_g:
            return Placed(rho, "")
        bound = largest_g + float(np.abs(rho).max(initial=0.0)) + 1
        k = 52 - math.frexp(bound)[1]
        if k < 0:
            raise InputError(f"rho is too large for exact sums with integer weights: |rho| + g reaches {bound:.3g}")
        snapped = np.ldexp(np.rint(np.ldexp(rho, k)), -k) + 0.0
        return Placed(snapped, "rounded to multiples of a power of two, for which g + rho is exact")


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear(Family):
    """Every ρ = base + features @ θ, θ in Rᵏ.

    Parameters
    ----------
    base
        (n,) values.
    features
        (n, k) values.
    built_from
        What base and features were made from; empty if they were fixed without looking at any instance. None, the
        default, says that it is not known.

    Raises
    ------
    ArrayError
        If the shapes do not fit or a value is not finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> family = rs.certificates.Linear(base=np.zeros(3), features=[[2.0], [1.0], [0.0]], built_from=())
    >>> family
    Linear(3 vertices, 1 parameter)
    >>> family.parameters, family.rank, family.table([1.5]).tolist()
    (1, 1, [3.0, 1.5, 0.0])
    """

    base: NDArray[np.float64]
    features: NDArray[np.float64]
    built_from: Sequence[InstanceSet | Provenance] | None = None

    made_of: ClassVar[str] = "features"

    def __post_init__(self) -> None:
        base = np.array(self.base, dtype=np.float64)
        features = np.array(self.features, dtype=np.float64)
        if base.ndim != 1 or features.ndim != 2 or features.shape[0] != base.size or features.shape[1] < 1:
            raise ArrayError(
                f"features must have shape (n, k) for a base of n values, got {features.shape}, {base.shape}"
            )
        if not (np.isfinite(base).all() and np.isfinite(features).all()):
            raise ArrayError("base and features must be finite")
        object.__setattr__(self, "base", arrays.frozen(base))
        object.__setattr__(self, "features", arrays.frozen(features))

    def __repr__(self) -> str:
        return f"Linear({self.base.size} vertices, {arrays.counted(self.parameters, 'parameter')})"

    @property
    def parameters(self) -> int:
        """k, the number of columns."""
        return self.features.shape[1]

    @property
    def rank(self) -> int:
        """Rank of the column-centered features: what decides comparisons, as a constant added to ρ does not."""
        return int(np.linalg.matrix_rank(self.features - self.features.mean(axis=0)))

    def table(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Return base + features @ theta.

        Parameters
        ----------
        theta
            The parameters.

        Returns
        -------
        array
            One value per vertex.

        Raises
        ------
        ArrayError
            If there are more or fewer parameters than features.
        """
        values = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        if values.shape != (self.parameters,):
            raise ArrayError(f"theta must have {self.parameters} values, got shape {values.shape}")
        return self.base + self.features @ values

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether ρ belongs to the family, up to rounding."""
        rest = np.asarray(rho, dtype=np.float64) - self.base
        theta = np.linalg.lstsq(self.features, rest, rcond=None)[0]
        scale = max(1.0, float(np.abs(rest).max(initial=0.0)), float(np.abs(self.base).max(initial=0.0)))
        return bool(np.abs(self.features @ theta - rest).max(initial=0.0) <= 1e-9 * scale)

    @property
    def size(self) -> dict[str, Any]:
        """Its number of parameters.

        The rank of the features may be smaller, but it is known only up to rounding; and if sums must be exact, the
        features are rounded, which can make dependent columns independent.
        """
        return {"parameters": self.parameters}

    def exact_sums(self, largest_g: float | None) -> bool:
        """Return whether no sum g + ρ rounds: with integer weights ρ is rounded."""
        return largest_g is not None

    def into_class(self, rho: NDArray[np.float64], largest_g: float | None) -> Placed:
        """Return base + features @ θ for the θ behind ρ, in exact arithmetic if possible.

        Raises
        ------
        InputError
            If too few bits are left for θ, or for the base next to the largest g.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> family = rs.certificates.Linear(base=np.zeros(3), features=[[0.1], [0.2], [0.0]])
        >>> family.into_class(family.table([3.0]), 100.0).rho.round(5).tolist()
        [0.3, 0.6, 0.0]
        """
        if largest_g is None:
            # It depends only on the float64 numbers in θ, which is what Q64 counts.
            theta = np.linalg.lstsq(self.features, rho - self.base, rcond=None)[0]
            return Placed(self.table(theta), "recomputed as base + features @ theta")
        how = "rounded to a base and features of 20 bits and a theta for which all sums are exact"
        return Placed(self._exactly(rho, largest_g), how)

    def _exactly(self, rho: NDArray[np.float64], largest_g: float) -> NDArray[np.float64]:
        """Return b′ + Φ′θ′, exactly, near ρ = b + Φθ, in multiples of a power of two.

        b′ and Φ′ keep 20 bits for any ρ, so that they are fixed as long as b and Φ are; θ′ takes the rest.
        """
        size = max(np.abs(self.base).max(initial=0.0), np.abs(self.features).max(initial=0.0))
        kf = _FEATURE_BITS - math.frexp(size)[1] if size > 0 else 0
        base = np.rint(np.ldexp(self.base, kf)).astype(np.int64)
        features = np.rint(np.ldexp(self.features, kf)).astype(np.int64)
        theta = np.linalg.lstsq(np.ldexp(features.astype(np.float64), -kf), rho - self.base, rcond=None)[0]
        reach = float(np.abs(self.base).max(initial=0.0) + (np.abs(self.features) @ np.abs(theta)).max(initial=0.0))
        largest = float(np.abs(theta).max(initial=0.0))
        # Exact sums with g, and products below 2⁶⁰.
        kt = min(50 - kf - math.frexp(largest_g + 2 * reach + 1)[1], 39 - math.frexp(largest)[1])
        whole = np.rint(np.ldexp(theta, kt))
        if largest > 0 and np.abs(whole).max() < 2**10:
            raise InputError("rho and the integer weights together are too large for exact sums of a linear family")
        if kt < 0 and base.any() and largest_g + 2 * reach + 1 >= math.ldexp(1.0, 52 - kf):
            raise InputError("the base has too many digits for exact sums with the integer weights in a linear family")
        total = features @ whole.astype(np.int64)
        return np.ldexp(total.astype(np.float64), -kf - kt) + np.ldexp(base.astype(np.float64), -kf) + 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Quantized(Family):
    """Every ρ whose values are among a few levels fixed beforehand (bound code Q: B to the power n − 1).

    Parameters
    ----------
    levels
        The B values; ρ at the goal is fixed and need not be one of them.
    goal
        The vertex whose value is fixed.
    goal_value
        That value.

    Examples
    --------
    >>> import rhostar as rs
    >>> family = rs.certificates.Quantized(levels=[0.0, 1.0, 2.0], goal=0)
    >>> family
    Quantized(3 levels from 0 to 2, goal 0)
    >>> family.nearest([0.0, 0.8, 7.0]).tolist()
    [0.0, 1.0, 2.0]
    """

    levels: NDArray[np.float64]
    goal: int
    goal_value: float = 0.0

    def __post_init__(self) -> None:
        levels = np.unique(np.asarray(self.levels, dtype=np.float64).ravel())
        if levels.size == 0 or not np.isfinite(levels).all():
            raise InputError("levels must contain at least one finite value")
        if not np.isfinite(self.goal_value):
            raise InputError(f"goal_value must be finite, got {self.goal_value!r}")
        object.__setattr__(self, "levels", arrays.frozen(levels))
        object.__setattr__(self, "goal", arrays.integer(self.goal, "goal", 0))
        object.__setattr__(self, "goal_value", float(self.goal_value))

    def __repr__(self) -> str:
        levels = f"{arrays.counted(self.levels.size, 'level')} from {self.levels[0]:g} to {self.levels[-1]:g}"
        return f"Quantized({levels}, goal {self.goal})"

    def nearest(self, rho: ArrayLike) -> NDArray[np.float64]:
        """Return ρ with each value moved to the nearest level, and the goal's to its fixed value.

        Parameters
        ----------
        rho
            One value per vertex.

        Returns
        -------
        array
            One value per vertex.
        """
        values = np.asarray(rho, dtype=np.float64)
        middle = (self.levels[1:] + self.levels[:-1]) / 2
        rounded = self.levels[np.searchsorted(middle, values)]
        rounded[self.goal] = self.goal_value
        return rounded

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether every value is exactly a level, and the goal's is its fixed value."""
        values = np.asarray(rho, dtype=np.float64)
        inside = np.isin(values, self.levels)
        inside[self.goal] = values[self.goal] == self.goal_value
        return bool(inside.all())

    def check(self, rho: ArrayLike, goal: int) -> None:
        """Raise :class:`AssumptionError` unless ρ belongs to the family and the family to the goal."""
        if goal != self.goal:
            raise AssumptionError(f"the family fixes the value at vertex {self.goal}, but the goal is {goal}")
        super().check(rho, goal)

    @property
    def size(self) -> dict[str, Any]:
        """Its number of levels."""
        return {"levels": self.levels.size}
