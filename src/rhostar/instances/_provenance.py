"""Provenance: a record of the instances that something was learned from, without their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.instances._set import InstanceSet


class Provenance(NamedTuple):
    """A record of some instances of one set, without their weights."""

    origin: str
    indices: NDArray[np.int64]

    @classmethod
    def of(cls, instances: InstanceSet) -> Provenance:
        """Return the provenance of a set."""
        return cls(instances.origin, instances.indices)

    def among(self, instances: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance of the set whether it is one of these."""
        if self.origin != instances.origin:
            return np.zeros(len(instances), dtype=bool)
        return np.isin(instances.indices, self.indices)

    def overlap(self, instances: InstanceSet) -> int:
        """Return how many instances of the set are among these."""
        return int(self.among(instances).sum())

    @property
    def parts(self) -> tuple[Provenance, ...]:
        """A tuple with only itself."""
        return (self,)

    @property
    def size(self) -> int:
        """The number of instances."""
        return int(self.indices.size)

    def __repr__(self) -> str:
        return f"Provenance({arrays.counted(self.size, 'instance')} of {self.origin})"


class Provenances(tuple[Provenance, ...]):
    """A record of instances of several sets, with the methods of a single :class:`Provenance`.

    Examples
    --------
    >>> import rhostar as rs
    >>> from rhostar.instances import provenance
    >>> graph = rs.Graph.grid(2, 2)
    >>> first, second = (rs.InstanceSet(graph, graph.length, sources=[0, 1], goal=3) for _ in range(2))
    >>> both = provenance(first, second[:1])
    >>> both.overlap(first), both.overlap(second), both.size
    (2, 1, 3)
    """

    __slots__ = ()

    def among(self, instances: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance of the set whether it is one of these."""
        inside = np.zeros(len(instances), dtype=bool)
        for part in self:
            inside |= part.among(instances)
        return inside

    def overlap(self, instances: InstanceSet) -> int:
        """Return how many instances of the set are among these."""
        return int(self.among(instances).sum())

    @property
    def parts(self) -> tuple[Provenance, ...]:
        """One for each origin."""
        return tuple(self)

    @property
    def size(self) -> int:
        """The number of instances."""
        return sum(part.size for part in self)

    def __repr__(self) -> str:
        return f"Provenances({arrays.counted(self.size, 'instance')} of {arrays.counted(len(self), 'origin')})"


def provenance(*parts: InstanceSet | Provenance | Provenances) -> Provenance | Provenances:
    """Return where all of these come from: a single :class:`Provenance` if they have one origin.

    Parameters
    ----------
    *parts
        Sets, or provenances returned before; at least one.
    """
    found: dict[str, list[NDArray[np.int64]]] = {}
    for part in parts:
        for origin, indices in (Provenance.of(part) if isinstance(part, InstanceSet) else part).parts:
            found.setdefault(origin, []).append(indices)
    merged = [
        Provenance(origin, lists[0] if len(lists) == 1 else np.unique(np.concatenate(lists)))
        for origin, lists in found.items()
    ]
    return merged[0] if len(merged) == 1 else Provenances(merged)
