"""The class ShatteredSet, which constructions return: shattered instances with a heuristic for every pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, WitnessError
from rhostar.instances import InstanceSet
from rhostar.search import Algorithm
from rhostar.utilities import Utility, evaluate

_ALL_UP_TO = 12
"""Up to this many instances, all patterns are run."""


class Places(Protocol):
    """Which place has which code word: an array, or what finds it when asked."""

    def __getitem__(self, words: NDArray[np.int64], /) -> NDArray[np.int64]:
        """Return the place of each word."""


@dataclass(frozen=True, eq=False)
class ShatteredSet:
    """Instances, thresholds and a heuristic for each of the 2ᴺ patterns.

    Examples
    --------
    >>> import rhostar as rs
    >>> shattered = rs.theory.sharper_instances(6)
    >>> runs = rs.solve_many(shattered.instances, shattered.rho([1, 0, 0, 1, 1]))
    >>> (runs.cost > shattered.thresholds).tolist()
    [True, False, False, True, True]
    """

    instances: InstanceSet
    """The instances."""
    algorithm: Algorithm
    """"astar" or "gbfs"."""
    reopen: bool
    """Whether A* reopens."""
    utility: Utility
    """The utility."""
    thresholds: NDArray[np.float64]
    """For each instance, the value that the utility exceeds exactly if the pattern says 1."""
    bits: int
    """Instances per item."""
    _place: Places
    """Which place has which code word."""
    _table: Callable[[NDArray[np.int64]], NDArray[np.float64]]

    def rho(self, pattern: ArrayLike) -> NDArray[np.float64]:
        """Return the heuristic under which utility > threshold exactly on the instances of a pattern.

        Parameters
        ----------
        pattern
            One truth value for each instance.

        Returns
        -------
        array
            One value per vertex.

        Raises
        ------
        InputError
            If there is not one value per instance.
        """
        wanted = np.asarray(pattern, dtype=bool)
        if wanted.shape != self.thresholds.shape:
            raise InputError(f"pattern must have {self.thresholds.size} truth values, got shape {wanted.shape}")
        words = wanted.reshape(-1, self.bits) @ (1 << np.arange(self.bits))
        return self._table(self._place[words])

    def __len__(self) -> int:
        return len(self.instances)

    def __repr__(self) -> str:
        size, name = arrays.counted(len(self), "instance"), self.utility.name
        return f"ShatteredSet({size} on {self.instances.graph.n} vertices, {name} of {self.algorithm})"

    def verify(self, *, most: int = 1000, seed: int = 0) -> int:
        """Run the patterns and check that each occurs; return how many were run.

        Parameters
        ----------
        most
            How many random patterns to run if there are more than 12 instances; up to 12, all are run.
        seed
            For numpy's generator, which draws the patterns.

        Returns
        -------
        int
            The number of patterns that were run.

        Raises
        ------
        WitnessError
            If a pattern does not occur.

        Examples
        --------
        >>> import rhostar as rs
        >>> rs.theory.theorem5_instances(8).verify()
        16
        """
        size = len(self)
        if size <= _ALL_UP_TO:
            patterns = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
        else:
            patterns = np.random.default_rng(seed).integers(0, 2, (arrays.integer(most, "most", 1), size))
        for pattern in patterns.astype(bool):
            score = evaluate(
                self.rho(pattern), self.instances, self.utility, algorithm=self.algorithm, reopen=self.reopen
            )[0]
            wrong = (score.values > self.thresholds) != pattern
            if wrong.any():
                i = int(np.argmax(wrong))
                raise WitnessError(
                    f"{self.utility.name} of instance {i} is {score.values[i]}, which contradicts its pattern"
                )
        return len(patterns)
