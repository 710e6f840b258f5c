"""Compact keys of what instances contain, to find an instance again in another file, process or number format.

A key holds two random projections of a snapshot's weights, a hash of its absent edges, and the source and goal. Copies
in float32 and copies with a jitter of rounding size have nearly equal projections, so they are found too. Two different
instances are taken for one only if both projections agree to 1e-6 of the length of the weight vector.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.instances._set import InstanceSet

TOLERANCE = 1e-6
"""Projections that differ by less than this share of the length of the weights are taken as equal."""
_SEED = 0x5EED
_PROJECTIONS = 2


@dataclass(frozen=True, eq=False, repr=False)
class ContentKeys:
    """What N instances contain, in 32 bytes each.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.instances import ContentKeys
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(5, graph.m))
    >>> seen = ContentKeys.of(rs.InstanceSet(graph, weights, sources=0, goal=8))
    >>> copy = rs.InstanceSet(graph, weights[3:].astype(np.float32), sources=[0, 1], goal=8)
    >>> seen.among(ContentKeys.of(copy)).tolist()  # the second starts elsewhere
    [True, False]
    """

    projections: NDArray[np.float64]
    """(N, 2)."""
    length: NDArray[np.float64]
    """The length of each weight vector, by which differences are judged."""
    rest: NDArray[np.uint64]
    """A hash of the absent edges, the source and the goal."""

    @classmethod
    def of(cls, instances: InstanceSet) -> ContentKeys:
        """Return the keys of a set: one pass over the snapshots it uses, one row at a time."""
        used, position = np.unique(instances.rows, return_inverse=True)
        # Directions of real numbers: with signs alone, different integer weights often have equal projections.
        directions = np.random.default_rng([_SEED, instances.graph.m]).normal(size=(_PROJECTIONS, instances.graph.m))
        projections, length = np.empty((used.size, _PROJECTIONS)), np.empty(used.size)
        absent = np.zeros(used.size, dtype=np.uint64)
        for k, row in enumerate(used):
            weights = np.asarray(instances.weights[row], dtype=np.float64)
            missing = np.isinf(weights)
            if missing.any():
                digest = hashlib.blake2b(np.packbits(missing).tobytes(), digest_size=8).digest()
                absent[k] = np.frombuffer(digest, dtype="<u8")[0]
                weights = np.where(missing, 0.0, weights)
            projections[k] = directions @ weights
            length[k] = np.sqrt(weights @ weights)
        rest = _mixed(absent[position], instances.sources, instances.goals)
        return cls(arrays.frozen(projections[position]), arrays.frozen(length[position]), arrays.frozen(rest))

    def __len__(self) -> int:
        return self.rest.size

    def __repr__(self) -> str:
        return f"ContentKeys({arrays.counted(len(self), 'instance')})"

    def among(self, others: ContentKeys) -> NDArray[np.bool_]:
        """Return for each of the others whether it is equal in content to one of these."""
        return self.first_match(others) >= 0

    def first_match(self, others: ContentKeys) -> NDArray[np.int64]:
        """Return for each of the others the first of these that is equal in content, or -1."""
        found = np.full(len(others), -1, dtype=np.int64)
        order = np.lexsort((self.projections[:, 0], self.rest))
        rest = self.rest[order]
        for i in np.flatnonzero(np.isin(others.rest, self.rest)):
            begin, end = np.searchsorted(rest, others.rest[i], "left"), np.searchsorted(rest, others.rest[i], "right")
            same = order[begin:end]
            allowed = TOLERANCE * others.length[i]
            place, value = self.projections[same, 0], others.projections[i]
            near = same[
                np.searchsorted(place, value[0] - allowed) : np.searchsorted(place, value[0] + allowed, "right")
            ]
            equal = near[(np.abs(self.projections[near] - value) <= allowed).all(axis=1)]
            if equal.size:
                found[i] = int(equal.min())
        return found

    def repeats(self) -> NDArray[np.bool_]:
        """Return for each instance whether an earlier one has the same content."""
        return self.first_match(self) < np.arange(len(self))

    def joined(self, *others: ContentKeys) -> ContentKeys:
        """Return the keys of these and the others together."""
        parts = (self, *others)
        return ContentKeys(
            arrays.frozen(np.concatenate([part.projections for part in parts])),
            arrays.frozen(np.concatenate([part.length for part in parts])),
            arrays.frozen(np.concatenate([part.rest for part in parts])),
        )


def _mixed(*columns: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return a hash of the columns, row by row."""
    key = np.zeros(columns[0].size, dtype=np.uint64)
    for column in columns:
        key = (key ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key
