"""Counts how often a holdout was used: for different heuristics or settings, in this process.

The best of k guarantees is true less often than each of them alone. Certificates and audits count as one use each, and
each factor that :func:`rhostar.choose_weight` or :func:`rhostar.weight_curve` measures counts as one. Nothing is
written to a file; the count is in the notes of a table, and is saved with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rhostar.instances import InstanceSet
from rhostar.instances._provenance import ContentKeys

_KEPT = 1024
"""The instances of a holdout by which an overlap with another one is found: those with the smallest hashes."""
_MOST = 512
"""At most this many holdouts are remembered, the last ones."""
_looks: dict[bytes, tuple[NDArray[np.uint64], set[str]]] = {}
_lock = Lock()


def count_looks(holdout: InstanceSet, looks: Sequence[tuple[str, str]]) -> int:
    """Remember some looks, and return how many different ones there were at instances of this set, these included.

    Parameters
    ----------
    holdout
        The instances. A part of a set, a larger one and a copy of it are the same data; other draws from a pool are
        not, though they share content.
    looks
        For each look a hash of the heuristic and the settings; the same look twice counts once. A heuristic without a
        hash is not counted.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._looks import count_looks
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(7).uniform(1, 2, size=(40, graph.m))
    >>> holdout = rs.InstanceSet(graph, weights, sources=0, goal=8)
    >>> [count_looks(holdout, [(rho, "")]) for rho in ("a", "a", "b")], count_looks(holdout[:20], [("a", "larger")])
    ([1, 1, 2], 3)
    """
    if holdout.pool is None:
        numbers = ContentKeys.of(holdout).numbers()
    else:
        origin = int.from_bytes(hashlib.blake2b(holdout.origin.encode(), digest_size=8).digest(), "little")
        numbers = (holdout.indices.astype(np.uint64) + np.uint64(origin)) * np.uint64(0x9E3779B97F4A7C15)
    kept = np.sort(np.unique(numbers))[:_KEPT]
    # The size is a part of a look: who stops when the bound is good has chosen it.
    new = {f"{about} {settings} {len(holdout)}" for about, settings in looks if about}
    with _lock:
        own = _looks.pop(kept.tobytes(), (kept, set()))[1] | new
        _looks[kept.tobytes()] = kept, own  # the last one
        if len(_looks) > _MOST:
            del _looks[next(iter(_looks))]
        shared = (known for known in _looks.values() if np.isin(kept, known[0], assume_unique=True).any())
        return len(set().union(*(found for _, found in shared)))


def forget_looks() -> None:
    """Forget all looks: for tests, which make the same instances again and again."""
    with _lock:
        _looks.clear()
