"""Provenance: a record of the instances that something was learned from, with keys that find copies of them.

A key holds eight random sums of the logarithms of a snapshot's weights (a sketch), a hash of its absent edges, and the
source and goal of each instance. Copies in float32 and copies with a jitter of rounding size have nearly equal sums, so
they are found too. Two snapshots are taken for one only if their weights differ by about a millionth of themselves, on
average over the edges; a huge weight, such as a code for a closed road, counts no more than another edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""Sketches that are closer than this are taken as equal; the unit is the mean change of a weight, as a share of it."""
_SIZE = 8
_SEED = 0x5EED
_NEAR = 0.25
"""A snapshot is suspiciously near another if it is closer than this share of what is usual among the others."""
_MOST_COMPARED = 4000
"""At most this many snapshots of each side are compared in search of nearly equal ones."""


@dataclass(frozen=True, eq=False, repr=False)
class ContentKeys:
    """What N instances contain: 72 bytes for each snapshot, 16 for each instance.

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
    >>> seen.snapshots_among(ContentKeys.of(copy)).tolist()  # on the same snapshot
    [True, True]
    """

    sketches: NDArray[np.float64]
    """(K, 8), one for each snapshot; there may be more of them than the instances have."""
    absent: NDArray[np.uint64]
    """A hash of the absent edges of each snapshot."""
    rows: NDArray[np.int64]
    """The snapshot of each instance."""
    ends: NDArray[np.uint64]
    """A hash of the source and the goal of each instance."""

    @classmethod
    def of(cls, instances: InstanceSet) -> ContentKeys:
        """Return the keys of a set: one pass over the snapshots it uses, the first time; the set keeps them."""
        if instances._keys is None:
            instances._keys = cls._computed(instances)
        return instances._keys

    @classmethod
    def _computed(cls, instances: InstanceSet) -> ContentKeys:
        used, rows = np.unique(instances._stored_rows, return_inverse=True)
        m = instances.graph.m
        found = _core.content_rows(instances._stored, used, _direction(m), _core.Stop())
        failures.require_done(found.ending)
        sketches = found.sketches.reshape(-1, _SIZE) / np.sqrt(max(m, 1))
        ends = _mixed(instances.sources, instances.goals)
        return cls(*(arrays.frozen(part) for part in (sketches, found.absent, rows.astype(np.int64), ends)))

    def __len__(self) -> int:
        return self.rows.size

    def __getitem__(self, key: Any) -> ContentKeys:
        """Return the keys of some of the instances: for a slice, integers or a mask."""
        rows, ends = (arrays.frozen(np.ascontiguousarray(part[key])) for part in (self.rows, self.ends))
        return ContentKeys(self.sketches, self.absent, rows, ends)

    def __repr__(self) -> str:
        return f"ContentKeys({arrays.counted(len(self), 'instance')})"

    def among(self, others: ContentKeys) -> NDArray[np.bool_]:
        """Return for each of the others whether it is equal in content to one of these."""
        return self.first_match(others) >= 0

    def snapshots_among(self, others: ContentKeys) -> NDArray[np.bool_]:
        """Return for each of the others whether its snapshot is that of one of these."""
        return self._snapshot_match(others) >= 0

    def first_match(self, others: ContentKeys) -> NDArray[np.int64]:
        """Return for each of the others the first of these that is equal in content, or -1."""
        # Snapshots that are equal have one number, that of the first; instances are then equal if two numbers are.
        if not len(self):
            return np.full(len(others), -1, dtype=np.int64)
        own, wanted = self._snapshot_match(self), self._snapshot_match(others)
        number = np.full(len(self.sketches), -1, dtype=np.int64)
        number[self.rows] = own
        wanted = np.where(wanted >= 0, number[wanted], -1)
        keys, first = np.unique(_pairs(own, self.ends), return_index=True)
        asked = _pairs(wanted, others.ends)
        place = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
        return np.where((wanted >= 0) & (keys[place] == asked), first[place], -1)

    def _snapshot_match(self, others: ContentKeys) -> NDArray[np.int64]:
        """Return for each of the others the row of the first snapshot of these that is equal to its own, or -1."""
        mine, theirs = np.unique(self.rows), np.unique(others.rows)
        found = np.full(len(others.sketches), -1, dtype=np.int64)
        match = _match(self.sketches[mine], self.absent[mine], others.sketches[theirs], others.absent[theirs])
        found[theirs] = np.where(match >= 0, mine[match] if mine.size else -1, -1)
        return found[others.rows]

    def nearly(self, others: ContentKeys) -> int:
        """Return how many snapshots of the others are suspiciously close to one of these, and yet not equal to it.

        Close is less than a quarter of the least distance between two different snapshots of one side. If both sides
        are independent draws, a snapshot of the others is as far from these as these are from each other.
        """
        from scipy.spatial import cKDTree

        mine, theirs = (np.unique(part.sketches[np.unique(part.rows)], axis=0) for part in (self, others))
        mine, theirs = (part[:: -(-len(part) // _MOST_COMPARED)] if len(part) else part for part in (mine, theirs))
        if len(mine) < 3 or len(theirs) < 3:
            return 0
        tree = cKDTree(mine)
        usual = min(float(cKDTree(part).query(part, k=2)[0][:, 1].min()) for part in (mine, theirs))
        distance = tree.query(theirs)[0]
        return int(((distance > TOLERANCE) & (distance < _NEAR * usual)).sum())

    def repeats(self) -> NDArray[np.bool_]:
        """Return for each instance whether an earlier one has the same content."""
        return self.first_match(self) < np.arange(len(self))

    def numbers(self) -> NDArray[np.uint64]:
        """Return a hash of each instance, equal for equal bits."""
        bits = (np.ascontiguousarray(column).view(np.uint64) for column in self.sketches.T)
        return _mixed(_mixed(*bits, self.absent)[self.rows], self.ends)

    @classmethod
    def joined(cls, parts: Sequence[ContentKeys]) -> ContentKeys:
        """Return the keys of all instances of these, one after the other."""
        first = np.cumsum([0, *(len(part.sketches) for part in parts)])
        return cls(
            np.concatenate([part.sketches for part in parts]),
            np.concatenate([part.absent for part in parts]),
            np.concatenate([part.rows + k for part, k in zip(parts, first, strict=False)]),
            np.concatenate([part.ends for part in parts]),
        )

    def compact(self) -> ContentKeys:
        """Return the same without the snapshots that no instance has; equal ones are kept once."""
        used, rows = np.unique(self.rows, return_inverse=True)
        first, number = _distinct(self.sketches[used], self.absent[used])
        kept = used[first]
        parts = (self.sketches[kept], self.absent[kept], number[rows].astype(np.int64), self.ends)
        return ContentKeys(*(arrays.frozen(np.ascontiguousarray(part)) for part in parts))

    # ------------------------------------------------------------ files

    def to_parts(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the arrays for a file, under names that begin with `name`."""
        found = self.compact()
        return {f"{name}_{part}": getattr(found, part) for part in ("sketches", "absent", "rows", "ends")}

    @classmethod
    def from_parts(cls, stored: Any, name: str) -> ContentKeys | None:
        """Return the keys that :meth:`to_parts` took apart; None if the file has none."""
        found = [stored.get(f"{name}_{part}") for part in ("sketches", "absent", "rows", "ends")]
        if all(part is None for part in found):
            return None
        if any(part is None for part in found):
            raise InputError(f"content keys {name} are incomplete")
        sketches, absent, rows, ends = found
        shapes = sketches.shape == (absent.size, _SIZE) and absent.ndim == rows.ndim == 1 and rows.shape == ends.shape
        types = tuple(part.dtype for part in found) == (np.float64, np.uint64, np.int64, np.uint64)
        if not shapes or not types:
            raise InputError(f"content keys {name} have a wrong shape or type")
        if not np.isfinite(sketches).all() or not ((rows >= 0) & (rows < absent.size)).all():
            raise InputError(f"content keys {name} are damaged")
        return cls(*(arrays.frozen(part) for part in found))


@lru_cache(maxsize=2)
def _direction(m: int) -> NDArray[np.float64]:
    """Return a random direction, whose entries have mean 0 and variance 1."""
    # Real numbers: with signs alone, different integer weights often have equal sums.
    return (np.random.default_rng([_SEED, m]).random(m) - 0.5) * np.sqrt(12)


def _match(
    mine: NDArray[np.float64], absent: NDArray[np.uint64], theirs: NDArray[np.float64], missing: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return for each of their sketches the first of mine within the tolerance, with the same absent edges, or -1."""
    # Exact copies are met once only, so that few candidates are left for each of them.
    own, wanted = (_distinct(*part)[0] for part in ((mine, absent), (theirs, missing)))
    number = _distinct(theirs, missing)[1]
    mine, absent, theirs, missing = mine[own], absent[own], theirs[wanted], missing[wanted]
    found = np.full(len(theirs), -1, dtype=np.int64)
    line = np.random.default_rng(_SEED).normal(size=_SIZE)
    line /= np.sqrt((line**2).sum())
    place, asked = mine @ line, theirs @ line
    order = np.lexsort((place, absent))
    low = _before(absent, place, missing, asked - TOLERANCE, equal=False)
    high = _before(absent, place, missing, asked + TOLERANCE, equal=True)
    left = np.flatnonzero(low < high)
    while left.size:
        candidate = order[low[left]]
        equal = ((mine[candidate] - theirs[left]) ** 2).sum(axis=1) <= TOLERANCE**2
        better = equal & ((found[left] < 0) | (own[candidate] < found[left]))
        found[left[better]] = own[candidate[better]]
        low[left] += 1
        left = left[low[left] < high[left]]
    return found[number]


def _distinct(sketches: NDArray[np.float64], absent: NDArray[np.uint64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first snapshot with each exact key, and for each snapshot the number of its key."""
    key = _mixed(*(np.ascontiguousarray(column).view(np.uint64) for column in sketches.T), absent)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number


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


def _pairs(snapshot: NDArray[np.int64], ends: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each pair of a snapshot and two ends."""
    # The ends are hashes of two vertices. Without the constant, that of 0 and b on snapshot a would equal that of 0
    # and a on snapshot b.
    return _mixed(snapshot.astype(np.uint64) ^ np.uint64(0xD1B54A32D192ED03), ends)


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
    days: NDArray[np.int64] | None = None
    """Their days, where these are known; they are comparable within one origin."""

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
        days = None if instances.days is None else np.unique(instances.days)
        keys = ContentKeys.of(instances).compact()
        return cls(instances.origin, instances.indices, keys, instances._drawn.stream, days=days)

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

    def snapshots(self, instances: InstanceSet, *, content: bool = True) -> NDArray[np.bool_]:
        """Return for each instance of the set whether its snapshot, or its day if known, is that of one of these.

        Parameters
        ----------
        instances
            The set.
        content
            Whether snapshots of equal content are the same one; else only days are compared, within one origin.

        Returns
        -------
        array
            One truth value for each instance.
        """
        day = None if instances.days is None else instances.days[instances.rows]

        def found(part: Provenance) -> NDArray[np.bool_]:
            seen = np.zeros(len(instances), dtype=bool)
            if content and part.keys is not None:
                seen |= part.keys.snapshots_among(ContentKeys.of(instances))
            if part.origin == instances.origin and part.days is not None and day is not None:
                seen |= np.isin(day, part.days)
            return seen

        return self._any(found, instances)

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
    stream = next((record.stream for record in records if record.stream), "")
    unknown = next((record.unknown for record in records if record.unknown), "")
    indices = np.unique(np.concatenate([record.indices for record in records]))
    days = [record.days for record in records if record.days is not None]
    together = np.unique(np.concatenate(days)) if days else None
    joined, known = None, [record for record in records if record.keys is not None]
    if known:  # every instance once, though several records have it
        once = np.unique(np.concatenate([record.indices for record in known]), return_index=True)[1]
        joined = ContentKeys.joined([record.keys for record in known if record.keys is not None])[once].compact()
    return Provenance(first.origin, indices, joined, stream, unknown, days=together)


# ---------------------------------------------------------------- files


def to_parts(records: Iterable[Provenance], name: str) -> tuple[dict[str, NDArray[Any]], list[dict[str, str]]]:
    """Return the arrays of some records, under names that begin with `name`, and their plain values, for a file."""
    stored: dict[str, NDArray[Any]] = {}
    facts = []
    for k, record in enumerate(records):
        stored[f"{name}_{k}"] = record.indices
        if record.keys is not None:
            stored |= record.keys.to_parts(f"{name}_{k}")
        if record.days is not None:
            stored[f"{name}_{k}_days"] = record.days
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
        days = stored.get(f"{name}_{k}_days")
        if indices is None or any(a is not None and (a.ndim != 1 or a.dtype != np.int64) for a in (indices, days)):
            raise InputError(f"{name} must have whole numbers for each of its {len(facts)} records")
        keys = ContentKeys.from_parts(stored, f"{name}_{k}")
        stream, unknown = str(fact["stream"]), str(fact["unknown"])
        records.append(Provenance(str(fact["origin"]), indices, keys, stream, unknown, days=days))
    return tuple(records)
