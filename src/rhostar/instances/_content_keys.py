"""Compact keys of what instances contain, to find an instance again in another file, process or number format.

A key holds two random projections of a snapshot's weights, their length as a vector, a hash of its absent edges, and
the source and goal. Copies in float32 and copies with a jitter of rounding size have nearly equal projections, so they
are found too. Two different instances are taken for one only if both projections and the length agree to 1e-6 of the
length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError

if TYPE_CHECKING:
    from rhostar.instances._set import InstanceSet

TOLERANCE = 1e-6
"""Projections that differ by less than this share of the length of the weights are taken as equal."""
_SEED = 0x5EED


@dataclass(frozen=True, eq=False, repr=False)
class ContentKeys:
    """What N instances contain, in 32 bytes each.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.instances._content_keys import ContentKeys
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
        """Return the keys of a set: one pass over the snapshots it uses, the first time; the set keeps them.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        ContentKeys
            One key for each instance.
        """
        if instances._keys is None:
            instances._keys = cls._computed(instances)
        return instances._keys

    @classmethod
    def _computed(cls, instances: InstanceSet) -> ContentKeys:
        used, position = np.unique(instances._stored_rows, return_inverse=True)
        first, second = _directions(instances.graph.m)
        found = _core.content_rows(instances._stored, used, first, second, _core.Stop())
        failures.require_done(found.ending)
        projections = np.stack([found.first, found.second], axis=1)[position]
        rest = _mixed(found.absent[position], instances.sources, instances.goals)
        return cls(*(arrays.frozen(part) for part in (projections, np.sqrt(found.squares)[position], rest)))

    def __len__(self) -> int:
        return self.rest.size

    def __getitem__(self, key: Any) -> ContentKeys:
        """Return the keys of some of the instances: for a slice, integers or a mask."""
        parts = (np.ascontiguousarray(part[key]) for part in (self.projections, self.length, self.rest))
        return ContentKeys(*(arrays.frozen(part) for part in parts))

    def __repr__(self) -> str:
        return f"ContentKeys({arrays.counted(len(self), 'instance')})"

    def among(self, others: ContentKeys) -> NDArray[np.bool_]:
        """Return for each of the others whether it is equal in content to one of these.

        Parameters
        ----------
        others
            Other keys.

        Returns
        -------
        array
            One truth value for each of the others.
        """
        return self.first_match(others) >= 0

    def first_match(self, others: ContentKeys) -> NDArray[np.int64]:
        """Return for each of the others the first of these that is equal in content, or -1.

        Parameters
        ----------
        others
            Other keys.

        Returns
        -------
        array
            One position for each of the others.
        """
        # Exact copies are met once only, so that few candidates are left for each of the others.
        own, wanted = self._distinct(), others._distinct(inverse=True)
        mine, theirs = self[own.first], others[wanted.first]
        found = np.full(len(theirs), -1, dtype=np.int64)
        place, allowed = mine.projections[:, 0], TOLERANCE * theirs.length
        order = np.lexsort((place, mine.rest))
        low = _before(mine.rest, place, theirs.rest, theirs.projections[:, 0] - allowed, equal=False)
        high = _before(mine.rest, place, theirs.rest, theirs.projections[:, 0] + allowed, equal=True)
        left = np.flatnonzero(low < high)
        while left.size:
            candidate = order[low[left]]
            gap = np.abs(mine.projections[candidate] - theirs.projections[left]).max(axis=1)
            gap = np.maximum(gap, np.abs(mine.length[candidate] - theirs.length[left]))
            equal = gap <= allowed[left]
            better = equal & ((found[left] < 0) | (own.first[candidate] < found[left]))
            found[left[better]] = own.first[candidate[better]]
            low[left] += 1
            left = left[low[left] < high[left]]
        return found[wanted.inverse]

    def repeats(self) -> NDArray[np.bool_]:
        """Return for each instance whether an earlier one has the same content.

        Returns
        -------
        array
            One truth value for each instance.
        """
        return self.first_match(self) < np.arange(len(self))

    def joined(self, *others: ContentKeys) -> ContentKeys:
        """Return the keys of these and the others together; exact copies are kept once.

        Parameters
        ----------
        *others
            Other keys.

        Returns
        -------
        ContentKeys
            Of all of them.
        """
        parts = (self, *others)
        whole = ContentKeys(
            np.concatenate([part.projections for part in parts]),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.rest for part in parts]),
        )
        return whole[np.sort(whole._distinct().first)]

    def _distinct(self, *, inverse: bool = False) -> _Distinct:
        """Return the first instance with each exact key, and for each instance the number of its key."""
        bits = (*self.projections.T, self.length)
        key = _mixed(*(np.ascontiguousarray(column).view(np.uint64) for column in bits), self.rest)
        if inverse:
            _, first, number = np.unique(key, return_index=True, return_inverse=True)
            return _Distinct(first, number)
        return _Distinct(np.unique(key, return_index=True)[1], np.empty(0, dtype=np.int64))

    # ------------------------------------------------------------ files

    def to_parts(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the arrays for a file, under names that begin with `name`.

        Parameters
        ----------
        name
            How the names begin.

        Returns
        -------
        dict
            The arrays by name.
        """
        return {
            f"{name}_projections": self.projections,
            f"{name}_length": self.length,
            f"{name}_rest": self.rest,
        }

    @classmethod
    def from_parts(cls, stored: Any, name: str) -> ContentKeys | None:
        """Return the keys that :meth:`to_parts` took apart; None if the file has none.

        Parameters
        ----------
        stored
            The arrays by name.
        name
            How their names begin.

        Returns
        -------
        ContentKeys or None

        Raises
        ------
        InputError
            If their shapes or types are wrong.
        """
        found = [stored.get(f"{name}_{part}") for part in ("projections", "length", "rest")]
        if all(part is None for part in found):
            return None
        if any(part is None for part in found):
            raise InputError(f"content keys {name} are incomplete")
        projections, length, rest = found
        N = rest.size
        shapes = projections.shape == (N, 2) and length.shape == rest.shape == (N,)
        if not shapes or projections.dtype != np.float64 or length.dtype != np.float64 or rest.dtype != np.uint64:
            raise InputError(f"content keys {name} have a wrong shape or type")
        if not (np.isfinite(projections).all() and np.isfinite(length).all()):
            raise InputError(f"content keys {name} are not finite")
        return cls(*(arrays.frozen(part) for part in (projections, length, rest)))


@dataclass(frozen=True, eq=False)
class _Distinct:
    first: NDArray[np.int64]
    inverse: NDArray[np.int64]


@lru_cache(maxsize=2)
def _directions(m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two random directions, whose entries have mean 0 and variance 1."""
    # Directions of real numbers: with signs alone, different integer weights often have equal projections.
    drawn = np.random.default_rng([_SEED, m]).random((2, m))
    drawn -= 0.5
    drawn *= np.sqrt(12)
    return drawn[0], drawn[1]


def _before(
    group: NDArray[np.uint64],
    place: NDArray[np.float64],
    of_group: NDArray[np.uint64],
    of_place: NDArray[np.float64],
    *,
    equal: bool,
) -> NDArray[np.int64]:
    """Return how many pairs (group, place) are less than each of the others, or equal to it if `equal`."""
    N = group.size
    # One sort of both together; the last key decides where pairs are equal.
    tie = np.concatenate([np.zeros(N, dtype=np.int8), np.full(of_group.size, 1 if equal else -1, dtype=np.int8)])
    order = np.lexsort((tie, np.concatenate([place, of_place]), np.concatenate([group, of_group])))
    counted = np.cumsum(order < N)
    position = np.empty(order.size, dtype=np.int64)
    position[order] = counted
    return position[N:]


def _mixed(*columns: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return a hash of the columns, row by row."""
    key = np.zeros(columns[0].size, dtype=np.uint64)
    for column in columns:
        key = (key ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key
