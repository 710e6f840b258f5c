"""Heuristics as named arrays and plain values, for the files of models and routers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError, StorageError
from rhostar.heuristics._base import KINDS, Heuristic, Parts, scale_of
from rhostar.instances import _provenance as records


def to_parts(heuristic: Heuristic) -> tuple[Parts, dict[str, Any]]:
    """Return arrays and plain values, each by name, from which :func:`from_parts` makes it again.

    Raises
    ------
    InputError
        If it has no values, or is a Python function.
    """
    parts, own = heuristic._parts()
    facts: dict[str, Any] = {"kind": heuristic.kind, "graph": heuristic.fingerprint, "trained_on": None}
    if heuristic.trained_on is not None:
        seen, facts["trained_on"] = records.to_parts(heuristic.trained_on.parts, "trained_on")
        parts |= seen
    if heuristic.lower is not None:
        parts["lower"] = heuristic.lower
    if heuristic._factor != 1.0:
        facts["factor"] = heuristic._factor
    facts["same"] = heuristic.lower is heuristic.consistent_for
    if heuristic.consistent_for is not None and not facts["same"]:
        parts["consistent_for"] = heuristic.consistent_for
    return parts, facts | own


def digest(heuristic: Heuristic) -> str:
    """Return a hash of what a heuristic computes, whatever it was learned from; empty for a Python function."""
    try:
        parts, own = heuristic._parts()
    except InputError:
        return ""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(parts):
        values = np.ascontiguousarray(parts[name])
        found.update(f"{name} {values.dtype.str} {values.shape}".encode())
        found.update(values.reshape(-1).view(np.uint8).data)
    found.update(json.dumps([heuristic.kind, own], sort_keys=True).encode())
    return found.hexdigest()


def from_parts(parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Heuristic:
    """Return the heuristic that :func:`to_parts` took apart, after checking it.

    Raises
    ------
    StorageError
        If the parts are not those of a heuristic.
    """
    try:
        if facts["kind"] not in KINDS:
            raise StorageError(f"the heuristic is damaged: there is no kind {facts['kind']!r}")
        found = KINDS[facts["kind"]]._of_parts(parts, facts)
        lower, consistent_for = (_bounds(parts, name, found.m) for name in ("lower", "consistent_for"))
        graph, seen = facts["graph"], facts["trained_on"]
        if not isinstance(graph, str | None):
            raise StorageError("the heuristic is damaged: the hash of its graph is not text")
        return found.with_facts(
            fingerprint=graph,
            lower=lower,
            consistent_for=lower if facts["same"] else consistent_for,
            _factor=scale_of(facts.get("factor", 1.0)),
            trained_on=None if seen is None else records.provenance(*records.from_parts(parts, seen, "trained_on")),
        )
    except (StorageError, MemoryError):
        raise
    except Exception as error:  # damaged facts can fail in many ways
        raise StorageError(f"the heuristic is damaged: {type(error).__name__}: {error}") from None


def members_to_parts(members: Sequence[Heuristic]) -> tuple[Parts, list[dict[str, Any]]]:
    """Return the parts of several heuristics as those of one, and the plain values of each.

    Arrays that a member shares with the first one are there once.
    """
    parts: Parts = {}
    facts: list[dict[str, Any]] = []
    for k, member in enumerate(members):
        theirs, own = to_parts(member)
        shared = [name for name, part in theirs.items() if k and part is parts.get(f"0_{name}")]
        parts |= {f"{k}_{name}": part for name, part in theirs.items() if name not in shared}
        facts.append(own | {"shared": shared})
    return parts, facts


def members_from_parts(parts: Mapping[str, NDArray[Any]], facts: Sequence[Mapping[str, Any]]) -> list[Heuristic]:
    """Return the heuristics that :func:`members_to_parts` took apart."""
    members = []
    for k, own in enumerate(facts):
        mine = {name.removeprefix(f"{k}_"): part for name, part in parts.items() if name.startswith(f"{k}_")}
        members.append(from_parts(mine | {name: parts[f"0_{name}"] for name in own["shared"]}, own))
    return members


def _bounds(parts: Mapping[str, NDArray[Any]], name: str, m: int | None) -> NDArray[np.float64] | None:
    if name not in parts:
        return None
    found = parts[name]
    if found.dtype != np.float64 or found.ndim != 1 or np.isnan(found).any() or m not in (None, found.size):
        raise StorageError(f"the heuristic is damaged: {name} is not one weight per edge")
    return arrays.frozen(found)
