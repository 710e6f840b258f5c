"""Provenance: a record of the instances that something was learned from, with keys that find copies of them.

A key holds two random projections of a snapshot's weights, their length as a vector, a hash of its absent edges, and
the source and goal. Copies in float32 and copies with a jitter of rounding size have nearly equal projections, so they
are found too. Two different instances are taken for one only if both projections and the length agree to 1e-6 of the
length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
    >>> from rhostar.instances._provenance import ContentKeys
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
        """Return the keys of a set: one pass over the snapshots it uses, the first time; the set keeps them."""
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
        """Return for each of the others whether it is equal in content to one of these."""
        return self.first_match(others) >= 0

    def first_match(self, others: ContentKeys) -> NDArray[np.int64]:
        """Return for each of the others the first of these that is equal in content, or -1."""
        # Exact copies are met once only, so that few candidates are left for each of the others.
        (own, _), (wanted, number) = self._distinct(), others._distinct()
        mine, theirs = self[own], others[wanted]
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
            better = equal & ((found[left] < 0) | (own[candidate] < found[left]))
            found[left[better]] = own[candidate[better]]
            low[left] += 1
            left = left[low[left] < high[left]]
        return found[number]

    def repeats(self) -> NDArray[np.bool_]:
        """Return for each instance whether an earlier one has the same content."""
        return self.first_match(self) < np.arange(len(self))

    def joined(self, *others: ContentKeys) -> ContentKeys:
        """Return the keys of these and the others together; exact copies are kept once."""
        names = ("projections", "length", "rest")
        whole = ContentKeys(*(np.concatenate([getattr(part, name) for part in (self, *others)]) for name in names))
        return whole[np.sort(whole._distinct()[0])]

    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first instance with each exact key, and for each instance the number of its key."""
        bits = (*self.projections.T, self.length)
        key = _mixed(*(np.ascontiguousarray(column).view(np.uint64) for column in bits), self.rest)
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return first, number

    # ------------------------------------------------------------ files

    def to_parts(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the arrays for a file, under names that begin with `name`."""
        return {
            f"{name}_projections": self.projections,
            f"{name}_length": self.length,
            f"{name}_rest": self.rest,
        }

    @classmethod
    def from_parts(cls, stored: Any, name: str) -> ContentKeys | None:
        """Return the keys that :meth:`to_parts` took apart; None if the file has none."""
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


# ---------------------------------------------------------------- records


class Provenance(NamedTuple):
    """A record of some instances, without their weights.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.instances._provenance import Provenance
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=8)
    >>> seen = Provenance.of(instances[:5])
    >>> copy = rs.InstanceSet(graph, weights.astype(np.float32), sources=0, goal=8)
    >>> seen.overlap(instances), seen.overlap(copy)
    (5, 5)
    """

    origin: str
    """The name of the set that the instances are a part of."""
    indices: NDArray[np.int64]
    """Their positions in that set."""
    keys: ContentKeys | None = None
    """What the instances contain, to find copies of them; None if it was not kept."""
    stream: str = ""
    """The name of the random numbers they were drawn with, if a sampler drew them."""
    unknown: str = ""
    """What else had a part, and is of unknown origin, as in "initial is an array"; empty if nothing."""
    others: tuple[Provenance, ...] = ()
    """The same for instances of other sets."""

    @classmethod
    def of(cls, instances: InstanceSet) -> Provenance:
        """Return the provenance of a set.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        Provenance
        """
        return cls(instances.origin, instances.indices, ContentKeys.of(instances), instances._drawn.stream)

    def recorded(self, instances: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance of the set whether it is one of these by origin and index; copies do not count.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        array
            One truth value for each instance.
        """
        return self._any(
            lambda part: part.origin == instances.origin and np.isin(instances.indices, part.indices), instances
        )

    def copies(self, instances: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance of the set whether it is equal in content to one of these.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        array
            One truth value for each instance.
        """
        return self._any(lambda part: part.keys is not None and part.keys.among(ContentKeys.of(instances)), instances)

    def shares_randomness(self, instances: InstanceSet) -> bool:
        """Return whether the set is another draw by the same sampler, with the same seed: not an independent one.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        bool
        """
        stream = instances._drawn.stream
        return any(part.origin != instances.origin and part.stream == stream != "" for part in self.parts)

    def among(self, instances: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance of the set whether it is one of these, or a copy of one.

        In a draw from a declared pool, equal content is a matter of chance and does not count. The same draws count,
        and so do other draws by the same sampler with the same random numbers.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        array
            One truth value for each instance.
        """
        inside = self._any(lambda part: part.shares_randomness(instances), instances) | self.recorded(instances)
        return inside if instances.pool is not None else inside | self.copies(instances)

    def overlap(self, instances: InstanceSet) -> int:
        """Return how many instances of the set are among these.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        int
            How many instances.
        """
        return int(self.among(instances).sum())

    @property
    def parts(self) -> tuple[Provenance, ...]:
        """One record for each origin."""
        return (self._replace(others=()), *self.others)

    @property
    def size(self) -> int:
        """The number of instances."""
        return sum(part.indices.size for part in self.parts)

    def _any(self, found: Callable[[Provenance], NDArray[np.bool_] | bool], among: InstanceSet) -> NDArray[np.bool_]:
        """Return for each instance whether it is found by any part."""
        return np.logical_or.reduce([np.broadcast_to(found(part), len(among)) for part in self.parts])

    def __repr__(self) -> str:
        where = self.origin if not self.others else arrays.counted(len(self.parts), "origin")
        return f"Provenance({arrays.counted(self.size, 'instance')} of {where})"


def provenance(*parts: InstanceSet | Provenance) -> Provenance:
    """Return a record of all of these, with one part for each origin.

    Parameters
    ----------
    *parts
        Sets, or provenances returned before; at least one.

    Returns
    -------
    Provenance

    Examples
    --------
    >>> import rhostar as rs
    >>> from rhostar.instances._provenance import provenance
    >>> graph = rs.Graph.grid(2, 2)
    >>> first, second = (rs.InstanceSet(graph, k * graph.length, sources=[0, 1], goal=3) for k in (1, 2))
    >>> both = provenance(first[:1], first[1:], second[:1])
    >>> both.overlap(first), both.overlap(second), both.size, len(both.parts)
    (2, 1, 3, 2)
    """
    found: dict[str, list[Provenance]] = {}
    for part in parts:
        for record in (part if isinstance(part, Provenance) else Provenance.of(part)).parts:
            found.setdefault(record.origin, []).append(record)
    first, *others = (_together(records) for records in found.values())
    return first._replace(others=tuple(others))


def _together(records: list[Provenance]) -> Provenance:
    """Return one record of instances of one origin."""
    first = records[0]
    if len(records) == 1:
        return first
    keys = [record.keys for record in records if record.keys is not None]
    stream = next((record.stream for record in records if record.stream), "")
    unknown = next((record.unknown for record in records if record.unknown), "")
    indices = np.unique(np.concatenate([record.indices for record in records]))
    return Provenance(first.origin, indices, keys[0].joined(*keys[1:]) if keys else None, stream, unknown)


# ---------------------------------------------------------------- files


def to_parts(records: Iterable[Provenance], name: str) -> tuple[dict[str, NDArray[Any]], list[dict[str, str]]]:
    """Return the arrays of some records, under names that begin with `name`, and their plain values, for a file."""
    stored: dict[str, NDArray[Any]] = {}
    facts = []
    for k, record in enumerate(records):
        stored[f"{name}_{k}"] = record.indices
        if record.keys is not None:
            stored |= record.keys.to_parts(f"{name}_{k}")
        facts.append({"origin": record.origin, "stream": record.stream, "unknown": record.unknown})
    return stored, facts


def from_parts(stored: Mapping[str, NDArray[Any]], facts: Any, name: str) -> tuple[Provenance, ...]:
    """Return the records that :func:`to_parts` took apart.

    Raises
    ------
    InputError
        If an array is missing, or has a wrong shape or type.
    """
    records = []
    for k, fact in enumerate(facts):
        indices = stored.get(f"{name}_{k}")
        if indices is None or indices.ndim != 1 or indices.dtype != np.int64:
            raise InputError(f"{name} must have whole numbers for each of its {len(facts)} records")
        keys = ContentKeys.from_parts(stored, f"{name}_{k}")
        records.append(Provenance(str(fact["origin"]), indices, keys, str(fact["stream"]), str(fact["unknown"])))
    return tuple(records)
