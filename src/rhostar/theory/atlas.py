"""The atlas of the largest known shattered sets of each kind, with witnesses that anyone can check.

The pseudo-dimension is known up to constants at best, so for few vertices one has to search for large sets. Each entry
is a small JSON file with instances, thresholds and one ρ for each of the 2ᴺ patterns (see
:class:`rhostar.theory.Witness`). The entries found so far come with the package in one zip file, ``atlas.zip``, which
:func:`entries` reads on its first call. :func:`verify` checks every entry with the plain reference implementation
alone.

To extend the atlas: :func:`unpack` it into a folder, :func:`search` there, and :func:`pack` the folder again.
"""

from __future__ import annotations

import functools
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np

from rhostar import _archives as archives
from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _files as files
from rhostar._parallel import map_calls
from rhostar.errors import InputError, StorageError, WitnessError
from rhostar.theory._set_search import LARGEST, Kind, hunt, known
from rhostar.theory._witness import Witness
from rhostar.theory._witness import verify as verify_witness

_STATE = "rounds.json"
_PACKED = "atlas.zip"


def kinds(vertices: Iterable[int] = range(4, 9)) -> list[Kind]:
    """Return the kinds of entries in the atlas, for some numbers of vertices.

    Both algorithms, A* with and without reopening, cost and expansions, three types of weights. The expansions of
    greedy search do not depend on weights, so they occur once.

    Parameters
    ----------
    vertices
        Numbers of vertices.

    Returns
    -------
    list of Kind

    Examples
    --------
    >>> import rhostar as rs
    >>> len(rs.theory.atlas.kinds([5])), rs.theory.atlas.kinds([5])[0].name
    (16, 'astar-closed-cost-large-5')
    """
    found = []
    for n in vertices:
        for weights in ("unit", "small", "large"):
            for utility in ("cost", "expanded"):
                if weights == "unit" or utility == "cost":
                    found.append(Kind(n, "gbfs", True, utility, weights))
                found.append(Kind(n, "astar", True, utility, weights))
                found.append(Kind(n, "astar", False, utility, weights))
    return sorted(found, key=lambda kind: (kind.n, kind.name))


def entries(folder: str | os.PathLike[str] | None = None) -> dict[str, Witness]:
    """Return the entries by name, in the order of their names.

    Parameters
    ----------
    folder
        A folder of entries, or a file made by :func:`pack`; by default the entries of the package.

    Returns
    -------
    dict
        From names to witnesses.

    Raises
    ------
    StorageError
        If a file is damaged.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.atlas.entries()["gbfs-cost-small-4"]
    Witness(2 instances of 4 vertices, gbfs, cost)
    """
    if folder is None:
        return dict(_carried())
    if Path(folder).is_file():
        return _unzipped(Path(folder).read_bytes(), str(folder))
    paths = sorted(path for path in Path(folder).glob("*.json") if path.name != _STATE and path.name[0] != ".")
    return {path.stem: Witness.load(path) for path in paths}


def pack(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write the entries of a folder to one zip file, like the one in the package.

    The same entries give the same bytes. A failed call leaves the old file as it was.

    Parameters
    ----------
    folder
        Where the entries are.
    path
        The file to write.

    Returns
    -------
    int
        The number of entries.

    Raises
    ------
    StorageError
        If the folder has no entries, one of them is damaged or has a wrong name, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, rhostar as rs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.theory.atlas.unpack(folder)
    ...     rs.theory.atlas.pack(folder, f"{folder}/atlas.zip")
    ...     rs.theory.atlas.entries(f"{folder}/atlas.zip") == rs.theory.atlas.entries()
    77
    77
    True
    """
    found = entries(folder)
    if not found:
        raise StorageError(f"{folder} has no entries to pack")
    for name, witness in found.items():
        _check_name(name, witness)
    with files.replacing(path) as beside, zipfile.ZipFile(beside, "w") as packed:
        for name, witness in sorted(found.items()):
            # A fresh ZipInfo has a fixed date; the system is the only trace of the machine, and we fix it too.
            member = zipfile.ZipInfo(f"{name}.json")
            member.create_system = 3
            packed.writestr(member, witness.to_json(), zipfile.ZIP_DEFLATED, compresslevel=9)
    return len(found)


def unpack(folder: str | os.PathLike[str]) -> int:
    """Write the package's entries to a folder, one JSON file each, and return how many were written.

    Entries that the folder already has are replaced only by larger ones. See :func:`pack` for an example.

    Parameters
    ----------
    folder
        The folder to write to.

    Returns
    -------
    int
        How many were written.

    Raises
    ------
    StorageError
        If an entry in the folder is damaged or a file cannot be written.

    Examples
    --------
    >>> import tempfile, rhostar as rs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.theory.atlas.unpack(folder) == len(rs.theory.atlas.entries())
    True
    """
    there = entries(folder)
    larger = {name: one for name, one in entries().items() if name not in there or len(one) > len(there[name])}
    for name, witness in larger.items():
        witness.save(Path(folder) / f"{name}.json")
    return len(larger)


def verify(folder: str | os.PathLike[str] | None = None) -> dict[str, int]:
    """Check every entry with the reference implementation and return the sizes.

    Parameters
    ----------
    folder
        As for :func:`entries`.

    Returns
    -------
    dict
        From names to numbers of instances.

    Raises
    ------
    WitnessError
        If an entry does not show what it claims.
    StorageError
        If a file is damaged, or its name is not that of the set in it.

    Examples
    --------
    >>> import rhostar as rs
    >>> sizes = rs.theory.atlas.verify()  # doctest: +SKIP
    """
    sizes = {}
    for name, witness in entries(folder).items():
        sizes[name] = verify_witness(witness)
        _check_name(name, witness)
    return sizes


def search(
    folder: str | os.PathLike[str],
    *,
    rounds: int = 1,
    seed: int = 0,
    only: Sequence[Kind] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str, int, int], object] | None = None,
) -> dict[str, int]:
    """Hunt for larger shattered sets than the known constructions and keep the largest of each kind in a folder.

    Each round of each kind has its own seed, made from `seed`, and the folder records how many rounds were done. So a
    search can be interrupted and continued, and ends with the same files as one that was not, for any number of jobs.

    Parameters
    ----------
    folder
        Where the entries are; created if missing. Sets that are there already, also from other seeds, are replaced only
        by larger ones.
    rounds
        The total number of rounds for each kind, earlier ones included.
    seed
        Seeds all rounds.
    only
        Some kinds; all of :func:`kinds` by default.
    n_jobs
        As in joblib.
    progress
        Called with the name, the round and the size found.

    Returns
    -------
    dict
        The size of each entry.

    Examples
    --------
    >>> import tempfile, rhostar as rs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.theory.atlas.search(folder, only=[rs.theory.Kind(4, "gbfs", True, "expanded", "unit")])
    {'gbfs-expanded-unit-4': 2}
    """
    rounds, seed = arrays.integer(rounds, "rounds", 0), arrays.integer(seed, "seed", 0)
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    done = _read_state(home)
    wanted = list(kinds()) if only is None else list(only)
    tasks = [
        (kind, number) for number in range(rounds) for kind in wanted if number >= done.get(f"{seed}:{kind.name}", 0)
    ]
    sizes = {name: len(witness) for name, witness in entries(home).items()}

    def keep(kind: Kind, found: Witness | None) -> None:
        if found is not None and len(found) > sizes.get(kind.name, 0):
            verify_witness(found)
            found.save(home / f"{kind.name}.json")
            sizes[kind.name] = len(found)

    for kind in wanted:
        keep(kind, known(kind))
    rounds_by_name = {f"round {number} of {kind.name}": (kind, number) for kind, number in tasks}
    results = map_calls(_one_round, rounds_by_name, n_jobs=n_jobs, seed=seed)
    for (kind, number), found in zip(tasks, results, strict=True):
        keep(kind, found)
        done[f"{seed}:{kind.name}"] = number + 1
        _write_state(home, done)
        if progress is not None:
            progress(kind.name, number, 0 if found is None else len(found))
    for kind in sorted(wanted, key=lambda kind: (kind.n, -_NARROWER.index(kind.weights))):
        for other in _contained(kind):
            if sizes.get(other.name, 0) > sizes.get(kind.name, 0):
                keep(kind, _as_kind(Witness.load(home / f"{other.name}.json"), kind))
    return dict(sorted(sizes.items()))


_NARROWER = ("large", "small", "unit")


def _contained(kind: Kind) -> list[Kind]:
    """Return the kinds whose sets are of this kind too.

    These have one vertex fewer, or the next narrower weights. Also, A* behaves like greedy search if ρ outweighs all
    weights and the goal has the lowest value, unless improvements get in the way.
    """
    found = [replace(kind, n=kind.n - 1)] if kind.n > 3 else []
    if kind.algorithm == "astar":
        found.append(replace(kind, algorithm="gbfs", reopen=True))
    narrower = _NARROWER[_NARROWER.index(kind.weights) + 1 :][:1]
    return found + [replace(kind, weights=weights) for weights in narrower]  # type: ignore[arg-type]


def _as_kind(witness: Witness, kind: Kind) -> Witness | None:
    """Return the same set as one of another kind, or None if that does not work.

    Vertices that no instance uses come before the goal, which is the last.
    """
    more = kind.n - witness.n
    moved = {v: v for v in range(witness.n - 1)} | {witness.goal: kind.n - 1}
    found = replace(
        witness,
        n=kind.n,
        goal=kind.n - 1,
        arcs=tuple(tuple((moved[u], moved[v], w) for u, v, w in one) for one in witness.arcs),
        rho=tuple((*row[:-1], *(0,) * more, row[-1]) for row in witness.rho),
    )
    if kind.algorithm == witness.algorithm:
        return found
    step = (1 + kind.n * max(w for one in witness.arcs for *_, w in one)) << witness.bits
    ranks = [[sorted(set(row)).index(x) for x in row[:-1]] for row in found.rho]
    found = replace(
        found,
        algorithm=kind.algorithm,
        reopen=kind.reopen,
        rho=tuple((*(2 * step * (r + 1) for r in row), -2 * step) for row in ranks),
    )
    try:
        verify_witness(found)
    except WitnessError:
        return None
    return found


def _one_round(kind: Kind, number: int, stop: _core.Stop, *, seed: int) -> Witness | None:
    own = np.random.SeedSequence([seed, number, *kind.name.encode()])
    return hunt(kind, int(own.generate_state(1, np.uint64)[0]))


def _check_name(name: str, witness: Witness) -> None:
    """Raise StorageError unless an entry has the name of a kind that its set is of."""
    weights = {w for one in witness.arcs for *_, w in one}
    narrowest = "unit" if weights == {1} else "small" if max(weights, default=0) <= LARGEST["small"] else "large"
    wider = _NARROWER[: _NARROWER.index(narrowest) + 1]
    try:
        names = [Kind(witness.n, witness.algorithm, witness.reopen, witness.utility, w).name for w in wider]  # type: ignore[arg-type]
    except InputError as error:
        raise StorageError(f"the entry {name[:60]!r} holds a set of another kind: {error}") from error
    if name not in names:
        raise StorageError(f"the entry {name[:60]!r} holds a set of the kind {names[-1]}")


@functools.cache
def _carried() -> dict[str, Witness]:
    """Return the package's entries, read once in a process; callers get copies of the mapping."""
    return _unzipped(resources.files("rhostar.theory").joinpath(_PACKED).read_bytes(), _PACKED)


def _unzipped(data: bytes, name: str) -> dict[str, Witness]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            # The last 22 bytes say how many there are; zipfile does not compare, so a damaged list can lose some.
            if len(packed.infolist()) != int.from_bytes(data[-12:-10], "little"):
                raise StorageError(f"{name} is damaged: its list of entries is not complete")
            for entry in packed.infolist():
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise StorageError(f"{name} is not a packed atlas: {entry.filename[:60]!r} is not deflated")
            total = sum(member.file_size for member in packed.infolist())
            if total > max(archives.SMALL, archives.RATIO * len(data)):
                raise StorageError(f"{name} has {len(data)} bytes and would unpack to {total}")
            texts = {member: packed.read(member).decode() for member in sorted(packed.namelist())}
    except StorageError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise StorageError(f"{name} is not a packed atlas: {error}") from error
    found = {}
    for member, text in texts.items():
        found[member.removesuffix(".json")] = witness = Witness.from_json(text, f"{member} in {name}")
        _check_name(member.removesuffix(".json"), witness)
    return found


def _read_state(home: Path) -> dict[str, int]:
    path = home / _STATE
    if not path.exists():
        return {}
    try:
        return {str(name): int(count) for name, count in json.loads(path.read_text()).items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, OSError) as error:
        raise StorageError(f"{path} does not say how many rounds were done: {error}") from error


def _write_state(home: Path, done: dict[str, int]) -> None:
    with files.replacing(home / _STATE) as beside:
        beside.write_text(json.dumps(done, indent=0, sort_keys=True))
