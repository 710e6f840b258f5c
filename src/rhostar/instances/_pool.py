"""How a set of instances was drawn: from which declared pool, with which randomness, and how many had no path.

A draw from a pool may contain an instance twice, and may share instances with other draws from it. This is correct as
long as each draw has its own randomness. So a draw is identified by what it is made from: the content of the pool, its
size and its seed. The same call in another process makes the same draw with the same name.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError

if TYPE_CHECKING:
    from rhostar.instances._set import InstanceSet


@dataclass(frozen=True)
class Pool:
    """A declared pool: what the instances of a set were drawn from, independently and with replacement.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> days = rs.InstanceSet(graph, weights, sources=0, goal=8)
    >>> drawn = days.draw(1000, seed=0)
    >>> drawn.pool.size, drawn.pool.words
    (20, 'draws from this pool of 20 instances')
    """

    size: int | None
    """How many different instances it has; None if that is not known, as for a generator."""
    content: str
    """A name of the pool: equal for pools of equal content."""
    draw: str
    """A name of this draw: equal only for the same number of draws from an equal pool with the same seed."""
    words: str
    """What the instances are, as in "the mean over …"."""


class Drawn(NamedTuple):
    """How the instances of a set came to be; views inherit it, and it is saved and pickled."""

    pool: Pool | None = None
    stream: str = ""
    """A name of the random numbers that were used; draws with the same ones are not independent. Empty if unknown."""
    feasible: float = 1.0
    """The share of the given instances that had a path, where others were dropped."""

    def to_fact(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "pool": None if self.pool is None else asdict(self.pool),
            "stream": self.stream,
            "feasible": self.feasible,
        }

    @classmethod
    def from_fact(cls, fact: Any) -> Drawn:
        """Return what :meth:`to_fact` made plain, or raise :class:`InputError`."""
        try:
            pool = None
            if fact["pool"] is not None:
                size = fact["pool"]["size"]
                words = {name: str(fact["pool"][name]) for name in ("content", "draw", "words")}
                pool = Pool(None if size is None else int(size), **words)
            feasible = float(fact["feasible"])
            stream = str(fact["stream"])
        except (KeyError, TypeError, ValueError):
            raise InputError("it is not said how the instances were drawn") from None
        if not 0 < feasible <= 1:
            raise InputError(f"feasible must be above 0 and at most 1, got {feasible}")
        return cls(pool, stream, feasible)


class Sampler(NamedTuple):
    """What draws instances independently: a network with its snapshots, or a generator."""

    name: str
    content: str
    words: str
    exact: bool = False
    """Whether a draw depends on nothing but the content and the random numbers."""


def identify(*parts: Any) -> str:
    """Return a name made from the content of arrays and the words of all else."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        data = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else str(part).encode()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def stream_of(name: str, rng: np.random.Generator) -> str:
    """Return the name of the random numbers that a generator is about to give to the sampler of this name."""
    return identify(name, rng.bit_generator.state)


def digests(weights: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of the weights of each of these snapshots; equal numbers of any type are equal."""
    free = np.zeros(1), np.full(1, np.inf)
    found = _core.survey_rows(weights, np.ascontiguousarray(rows, dtype=np.int64), *free, False, True, _core.Stop())
    failures.require_done(found.ending)
    return found.digest


def snapshot_digests(instances: InstanceSet) -> NDArray[np.uint64]:
    """Return a hash of the snapshot of each instance; equal numbers of any type have equal ones."""
    used, position = np.unique(instances._stored_rows, return_inverse=True)
    return digests(instances._stored, used)[position]


def content_of(instances: InstanceSet) -> str:
    """Return a name of all that a set contains, in its order."""
    return identify(instances.graph.fingerprint, snapshot_digests(instances), instances.sources, instances.goals)


def draw(
    instances: InstanceSet, count: int, seed: int | np.random.Generator | None
) -> tuple[NDArray[np.int64], str, Drawn]:
    """Return the positions of independent uniform draws, the name of the draw, and how they came to be."""
    if len(instances) == 0:
        raise InputError("an empty set has no instances to draw")
    count = arrays.integer(count, "count", 1)
    words = np.random.default_rng(seed).integers(0, 2**63, size=4)
    content = content_of(instances)
    name = identify("draw", content, count, words)
    # The name decides the draw: other pools, sizes or seeds give independent ones, never a longer or shorter copy.
    chosen = np.random.default_rng(int(name, 16)).integers(0, len(instances), size=count)
    many = f"{len(instances):,} instance{'s' * (len(instances) > 1)}"
    pool = Pool(len(instances), content, name, f"draws from this pool of {many}")
    return chosen, name, Drawn(pool, name, instances.feasible)


def describe_sample(instances: InstanceSet, sampler: Sampler, stream: str, feasible: float) -> tuple[str, Drawn]:
    """Return the name of what a sampler drew, and how it came to be."""
    known = "" if sampler.exact else content_of(instances)
    name = identify("sample", sampler.content, len(instances), stream, known)
    return name, Drawn(Pool(None, sampler.content, name, sampler.words), stream, feasible)
