"""The class Witness: a shattered set in plain numbers, which the reference implementation can check.

A set of N instances is shattered if there are thresholds such that each of the 2ᴺ patterns "the utility is above its
threshold on these instances and not on the others" occurs under some ρ. The pseudo-dimension is then at least N.
Witnesses are plain numbers and small JSON files: checking them needs no compiled code and no symbolic execution.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import StorageError, WitnessError
from rhostar.search.reference import astar, children_of, gbfs

_KIND = "rhostar-shattered-set"
_UTILITIES = ("cost", "expanded", "generated", "reopened", "peak_open")
"""Attributes of a run."""


@dataclass(frozen=True)
class Witness:
    """A shattered set, in plain numbers; made by :meth:`Shattering.witness`, checked by :func:`verify`.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.atlas.entries()["gbfs-cost-small-4"]
    Witness(2 instances of 4 vertices, gbfs, cost)
    """

    n: int
    """Number of vertices."""
    goal: int
    """The goal of all instances."""
    algorithm: str
    """"astar" or "gbfs"."""
    reopen: bool
    """Whether A* reopens."""
    utility: str
    """"cost", "expanded", "generated", "reopened" or "peak_open"."""
    sources: tuple[int, ...]
    """The source of each instance."""
    arcs: tuple[tuple[tuple[int, int, int], ...], ...]
    """For each instance its edges: tail, head, weight."""
    thresholds: tuple[float, ...]
    """The threshold of each instance."""
    bits: int
    """Values of ρ are multiples of 2^−bits."""
    rho: tuple[tuple[int, ...], ...]
    """For each pattern, in units of 2^−bits; bit i of a pattern's number says that instance i is above."""

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        kind = self.algorithm if self.algorithm == "gbfs" or self.reopen else "astar without reopening"
        return f"Witness({arrays.counted(len(self), 'instance')} of {self.n} vertices, {kind}, {self.utility})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file; a failed save leaves the old file as it was.

        Parameters
        ----------
        path
            Where to write.

        Raises
        ------
        StorageError
            If it cannot be written.
        """
        with files.replacing(path) as beside:
            beside.write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return the text of the file: one line per instance and pattern, so that diffs are readable.

        Returns
        -------
        str
            JSON.
        """
        facts: dict[str, Any] = {"kind": _KIND, "size": len(self)} | asdict(self)
        lines = []
        for name, value in facts.items():
            if name in ("arcs", "rho"):
                rows = ",\n  ".join(json.dumps(row, separators=(",", ":")) for row in value)
                lines.append(f'"{name}": [\n  {rows}\n ]')
            else:
                lines.append(f'"{name}": {json.dumps(value)}')
        return "{" + ",\n ".join(lines) + "}\n"

    @classmethod
    def from_json(cls, text: str, name: str = "the text") -> Witness:
        """Return the witness of a file's text.

        Parameters
        ----------
        text
            What :meth:`to_json` returned.
        name
            The name of the file, for errors.

        Returns
        -------
        Witness

        Raises
        ------
        StorageError
            If it is damaged or not a witness.
        """
        try:
            facts: Mapping[str, Any] = json.loads(text)
            if any(len(row) != facts["n"] for row in facts["rho"]):
                raise StorageError(f"{name} is not a shattered set: not every ρ has {str(facts['n'])[:60]} values")
            if facts["kind"] != _KIND:
                raise StorageError(f"{name} is not a shattered set: its kind is {facts['kind']!r}")
            return cls(
                n=int(facts["n"]),
                goal=int(facts["goal"]),
                algorithm=str(facts["algorithm"]),
                reopen=bool(facts["reopen"]),
                utility=str(facts["utility"]),
                sources=tuple(int(s) for s in facts["sources"]),
                arcs=tuple(tuple((int(u), int(v), int(w)) for u, v, w in one) for one in facts["arcs"]),
                thresholds=tuple(float(x) for x in facts["thresholds"]),
                bits=int(facts["bits"]),
                rho=tuple(tuple(int(x) for x in row) for row in facts["rho"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{name} is not a shattered set: {repr(error)[:200]}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Witness:
        """Read a JSON file; see :meth:`from_json`.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Witness

        Raises
        ------
        StorageError
            If the file cannot be read, is damaged or not a witness.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise StorageError(f"{path} is not a shattered set: it is not UTF-8 text") from None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error}") from error
        return cls.from_json(text, str(path))


def verify(witness: Witness) -> int:
    """Check a witness with the plain reference implementation and return the number of instances shattered.

    Every run is one of :mod:`rhostar.search.reference`; ρ and weights are such that no sum rounds.

    Parameters
    ----------
    witness
        The shattered set.

    Returns
    -------
    int
        How many instances are shattered.

    Raises
    ------
    WitnessError
        If something is missing, sums could round, or a pattern does not occur; the message names the first.

    Examples
    --------
    >>> import rhostar as rs
    >>> instances = rs.theory.theorem5_instances(6).instances
    >>> witness = rs.theory.shattering(instances, "gbfs", rs.utilities.Cost(9)).witness()
    >>> rs.theory.verify(witness)
    2
    """
    size = len(witness)
    if witness.utility not in _UTILITIES or witness.algorithm not in ("gbfs", "astar"):
        raise WitnessError(f"unknown utility {witness.utility!r} or algorithm {witness.algorithm!r}")
    if not size == len(witness.arcs) == len(witness.thresholds) or len(witness.rho) != 1 << size:
        raise WitnessError(f"{size} instances need {size} thresholds and {1 << size} ρ, got {len(witness.rho)} ρ")
    heaviest = max((w for one in witness.arcs for *_, w in one), default=0) * witness.n
    largest = max((abs(x) for row in witness.rho for x in row), default=0)
    if not 0 <= witness.bits <= 1000 or largest + (heaviest << witness.bits) >= 1 << 52:
        raise WitnessError("sums of weights and ρ could round")
    children = []
    for i, (source, arcs) in enumerate(zip(witness.sources, witness.arcs, strict=True)):
        inside = all(0 <= v < witness.n for u, c, _ in arcs for v in (u, c)) and 0 <= source < witness.n
        inside = inside and 0 <= witness.goal < witness.n and bool(arcs)
        if not inside or source == witness.goal or any(w < 0 for *_, w in arcs):
            raise WitnessError(
                f"instance {i} is not valid: a vertex or weight is out of range, it has no arcs, or starts at its goal"
            )
        children.append(children_of(witness.n, *zip(*sorted(arcs), strict=True)))
    for pattern, row in enumerate(witness.rho):
        if len(row) != witness.n:
            raise WitnessError(f"the ρ of pattern {pattern} has {len(row)} values, not {witness.n}")
        rho = [x / 2.0**witness.bits for x in row]
        for i, one in enumerate(children):
            if witness.algorithm == "gbfs":
                run = gbfs(one, witness.sources[i], witness.goal, rho)
            else:
                run = astar(one, witness.sources[i], witness.goal, rho, witness.reopen)
            value, above = getattr(run, witness.utility), bool(pattern >> i & 1)
            if run.status != "solved" or (value > witness.thresholds[i]) != above:
                raise WitnessError(
                    f"pattern {pattern}: instance {i} has {witness.utility} {value}, "
                    f"which should be {'above' if above else 'at most'} {witness.thresholds[i]}"
                )
    return size
