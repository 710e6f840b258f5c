"""Provenance: a record of the instances that something was learned from, without their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.instances._content_keys import ContentKeys

if TYPE_CHECKING:
    from rhostar.instances._set import InstanceSet


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
