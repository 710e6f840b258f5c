"""Which tables ρ a learner chooses among: what a bound for every ρ at once has to count.

A full table has one free value for each vertex. Fewer free values, or few levels for each, make a
smaller class, and with it a certificate that says something on a large graph. What the family itself
is made of (a base, features, levels) must not come from the instances that the certificate is computed
on, so a family remembers the instances it was built from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.instances import InstanceSet, Provenance


@dataclass(frozen=True, eq=False)
class Family:
    """What all families share.

    Parameters
    ----------
    built_from
        The instances that shaped the family itself, as :class:`Provenance`; empty where it was fixed
        without looking at any.
    """

    built_from: tuple[Provenance, ...] = ()

    def overlap(self, instances: InstanceSet) -> int:
        """Return how many of these instances shaped the family."""
        return sum(part.overlap(instances) for part in self.built_from)


@dataclass(frozen=True, eq=False)
class FullTable(Family):
    """Every ρ in Rⁿ.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.families.FullTable().contains([0.5, -3.0])
    True
    """

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether the table is one of the family: every finite one is."""
        return bool(np.isfinite(np.asarray(rho, dtype=np.float64)).all())


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear(Family):
    """Every ρ = base + features @ θ, θ in Rᵏ.

    Parameters
    ----------
    base
        (n,) values.
    features
        (n, k) values.

    Raises
    ------
    ArrayError
        If the shapes do not fit or a value is not finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> family = rs.families.Linear(base=np.zeros(3), features=[[2.0], [1.0], [0.0]])
    >>> family.parameters, family.rank, family.table([1.5]).tolist()
    (1, 1, [3.0, 1.5, 0.0])
    """

    base: NDArray[np.float64]
    features: NDArray[np.float64]

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

    @property
    def parameters(self) -> int:
        """k, the number of columns."""
        return self.features.shape[1]

    @property
    def rank(self) -> int:
        """Rank of the column-centred features: what decides comparisons, as a constant added to ρ does not."""
        return int(np.linalg.matrix_rank(self.features - self.features.mean(axis=0)))

    def table(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Return base + features @ theta."""
        values = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        if values.shape != (self.parameters,):
            raise ArrayError(f"theta must have {self.parameters} values, got shape {values.shape}")
        return self.base + self.features @ values

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether the table lies in the family, up to rounding."""
        rest = np.asarray(rho, dtype=np.float64) - self.base
        theta = np.linalg.lstsq(self.features, rest, rcond=None)[0]
        scale = max(1.0, float(np.abs(rest).max(initial=0.0)), float(np.abs(self.base).max(initial=0.0)))
        return bool(np.abs(self.features @ theta - rest).max(initial=0.0) <= 1e-9 * scale)


@dataclass(frozen=True, eq=False, kw_only=True)
class Quantised(Family):
    """Every ρ whose values are among a few levels fixed beforehand (row Q: B to the n − 1 tables).

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
    >>> family = rs.families.Quantised(levels=[0.0, 1.0, 2.0], goal=0)
    >>> family.nearest([0.0, 0.8, 7.0]).tolist()
    [0.0, 1.0, 2.0]
    """

    levels: NDArray[np.float64]
    goal: int
    goal_value: float = 0.0

    def __post_init__(self) -> None:
        levels = np.unique(np.asarray(self.levels, dtype=np.float64).ravel())
        if levels.size == 0 or not np.isfinite(levels).all():
            raise InputError("levels must hold at least one finite value")
        if not np.isfinite(self.goal_value):
            raise InputError(f"goal_value must be finite, got {self.goal_value!r}")
        object.__setattr__(self, "levels", arrays.frozen(levels))

    def nearest(self, rho: ArrayLike) -> NDArray[np.float64]:
        """Return the table with each value moved to the nearest level, and the goal's to the one that is fixed."""
        table = np.asarray(rho, dtype=np.float64)
        middle = (self.levels[1:] + self.levels[:-1]) / 2
        rounded = self.levels[np.searchsorted(middle, table)]
        rounded[self.goal] = self.goal_value
        return rounded

    def contains(self, rho: ArrayLike) -> bool:
        """Return whether every value is a level, and the goal's the one that is fixed, exactly."""
        table = np.asarray(rho, dtype=np.float64)
        inside = np.isin(table, self.levels)
        inside[self.goal] = table[self.goal] == self.goal_value
        return bool(inside.all())
