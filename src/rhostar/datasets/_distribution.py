"""The base class of all generators: a known distribution over instances, from which you can draw any number.

A generator returns a :class:`Distribution`. The same seed gives the same network; ``draw(count, seed)`` gives
`count` independent instances of it. To see the number that a certificate bounds, draw a hundred thousand more and take
the mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.instances._pool import Sampler, identify
from rhostar.instances._sampling import iid


class Distribution(ABC):
    """Independent instances on one graph with one goal.

    An instance is a snapshot drawn by :meth:`snapshots` and a start drawn by :meth:`sources`, independently, given
    that there is a path: infeasible pairs are drawn again.

    Examples
    --------
    >>> import rhostar as rs
    >>> roads = rs.datasets.city(100, seed=0)
    >>> isinstance(roads, rs.datasets.Distribution), len(roads.draw(5, seed=0))
    (True, 5)
    """

    graph: Graph
    goal: int
    edge_bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The lowest and the highest weight that each edge can have while it is present."""
    law: str
    """The distribution in words."""

    @property
    def weight_bounds(self) -> tuple[float, float]:
        """The lowest and the highest weight that any edge can have while it is present."""
        return float(self.edge_bounds[0].min(initial=np.inf)), float(self.edge_bounds[1].max(initial=0.0))

    @abstractmethod
    def snapshots(self, count: int, seed: int | np.random.Generator | None) -> NDArray[Any]:
        """Draw (count, m) weights, one row per snapshot; ``inf`` where an edge is absent.

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator; a Generator continues from its current state.

        Returns
        -------
        array
            One row per snapshot.
        """

    def sources(self, count: int, seed: int | np.random.Generator | None) -> NDArray[np.int64]:
        """Draw starts: uniform over all vertices but the goal.

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator; a Generator continues from its current state.

        Returns
        -------
        array
            Vertices.
        """
        drawn = np.random.default_rng(seed).integers(0, self.graph.n - 1, count)
        return drawn + (drawn >= self.goal)

    def draw(self, count: int, seed: int | np.random.Generator | None) -> InstanceSet:
        """Draw independent instances.

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator; a Generator continues from its current state.

        Returns
        -------
        InstanceSet
            It remembers the distribution as its :attr:`~rhostar.InstanceSet.pool`.
        """

        def one_batch(rng: np.random.Generator, size: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
            return self.snapshots(size, rng), np.arange(size), self.sources(size, rng)

        return iid(self.graph, self.goal, one_batch, arrays.integer(count, "count", 1), seed, self._sampler())

    def _sampler(self) -> Sampler:
        """Return what certificates say about draws from this distribution."""
        kind = type(self).__name__
        content = identify(kind, self.law, self.graph.fingerprint, self.goal, *self.edge_bounds)
        return Sampler(kind, content, f"draws from the distribution {kind}")

    def __repr__(self) -> str:
        low, high = self.weight_bounds
        return (
            f"{type(self).__name__}({self.graph.n} vertices, {self.graph.m} edges, goal {self.goal}, "
            f"weights {low:.3g} to {high:.3g})"
        )
