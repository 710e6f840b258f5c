"""The registry of file formats that ``rhostar import`` reads, and the decorator that readers register with.

To add a format, write ``datasets/_x.py`` with a function ``read_x`` under ``@reader(...)``, and add a line for
``read_x`` to ``datasets/__init__.pyi``. The line makes the function public, and :func:`formats` imports every public
reader; the decorator then registers it.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rhostar.errors import InputError
from rhostar.instances import InstanceSet

Read = TypeVar("Read", bound=Callable[..., Any])

REGISTRY: dict[str, Format] = {}
"""By name. :func:`formats` fills it: readers are imported only when they are needed."""


def sample(found: Any, *, count: int, goal: Any, seed: int) -> InstanceSet:
    """Draw instances from the network that a reader returned.

    The names of the snapshots are part of the seed: draws from another day are then independent, with the same `seed`.
    """
    names = getattr(found, "names", None)
    rng: Any = seed
    if names is not None:
        rng = np.random.default_rng([seed, zlib.crc32("\n".join(map(str, names)).encode())])
    drawn: InstanceSet = found.sample(count, goal=goal, seed=rng)
    return drawn


@dataclass(frozen=True)
class Format:
    """A file format by name, and how files of it become instances."""

    name: str
    what: str
    """A short description of such a file."""
    read: Callable[..., Any]
    """Takes the files and the reader's own options."""
    suffixes: tuple[str, ...]
    """Endings by which a file is recognized, without .gz."""
    files: int | None
    """How many files it takes; None for one or more, which the reader takes as a list if they are several."""
    folder: bool
    """Whether a folder is recognized as this format."""
    draw: Callable[..., InstanceSet]
    """Turns what was read into instances; its further keyword arguments are options too."""

    def fits(self, paths: Sequence[Path]) -> bool:
        """Return whether the files look like this format."""
        if (self.files or len(paths)) != len(paths) or any(path.is_dir() != self.folder for path in paths):
            return False
        # Of two files of different kinds, the first decides.
        seen = paths[:1] if self.files else paths
        return not self.suffixes or all(_suffix(path) in self.suffixes for path in seen)

    def open(self, paths: Sequence[Path], options: Mapping[str, Any]) -> tuple[Any, Callable[..., InstanceSet]]:
        """Read files of this format.

        Parameters
        ----------
        paths
            The files.
        options
            Keyword arguments of the reader or of :attr:`draw`.

        Returns
        -------
        tuple
            What the reader returned, and a function that takes `count`, `seed` and `goal` (a vertex, several, or None
            for one in the middle), and returns the instances in the files or drawn from the network in them.

        Raises
        ------
        InputError
            If the number of files is wrong, or there is no option with that name.
        """
        if self.files and len(paths) != self.files:
            raise InputError(f"format {self.name} takes {self.files} file{'s' * (self.files > 1)}, got {len(paths)}")
        reading, drawing = _options(self.read), _options(self.draw)
        for name in options:
            if name not in reading | drawing:
                known = ", ".join(sorted(reading | drawing)) or "none"
                raise InputError(f"format {self.name} has no option {name!r}; it has {known}")
        given: Any = [list(paths)] if self.files is None and len(paths) > 1 else paths
        found = self.read(*given, **{name: value for name, value in options.items() if name in reading})
        rest = {name: value for name, value in options.items() if name in drawing}
        return found, partial(self.draw, found, **rest)


def _suffix(path: Path) -> str:
    """Return the ending of a file name, without .gz."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _options(function: Callable[..., Any]) -> set[str]:
    """Return the arguments of a function that have a default."""
    return {name for name, p in inspect.signature(function).parameters.items() if p.default is not p.empty}


def reader(
    name: str,
    what: str,
    *,
    suffixes: Sequence[str] = (),
    files: int | None = 1,
    folder: bool = False,
    draw: Callable[..., InstanceSet] = sample,
) -> Callable[[Read], Read]:
    """Register the function below as the reader of a format.

    Parameters
    ----------
    name
        Its name in ``rhostar import --format``.
    what
        A short description of such a file, for ``rhostar import --help``.
    suffixes
        Endings by which a file is recognized, without ``.gz``.
    files
        How many files the reader takes; None for one or more, and several come as a list.
    folder
        Whether it takes a folder.
    draw
        Turns what the reader returns into instances; by default it draws from a :class:`~rhostar.datasets.Network`.

    Returns
    -------
    function
        A decorator that returns the reader unchanged.
    """

    def register(read: Read) -> Read:
        REGISTRY[name] = Format(name, what, read, tuple(suffixes), files, folder, draw)
        return read

    return register


def formats() -> dict[str, Format]:
    """Return every format by name.

    >>> from rhostar.datasets._formats import formats
    >>> print(*formats())
    dimacs edges map metr-la nodes worlds
    """
    from rhostar import datasets

    for name in dir(datasets):
        if name.startswith("read_"):
            getattr(datasets, name)  # imports the module, whose decorator registers it
    return dict(sorted(REGISTRY.items()))


def find(paths: Sequence[Path], name: str = "") -> Format:
    """Return the format with this name, or the one that the files look like.

    Raises
    ------
    InputError
        If there is none.
    """
    known = formats()
    if name:
        if name not in known:
            raise InputError(f"--format must be one of {', '.join(known)}, got {name!r}")
        return known[name]
    for path in paths:
        if not path.exists():
            raise InputError(f"there is no file {path}")
    # An ending says more than the number of files.
    for form in sorted(known.values(), key=lambda form: not form.suffixes):
        if form.fits(paths):
            return form
    names = " ".join(str(path) for path in paths)
    raise InputError(f"cannot recognize the format of {names} by name; use --format with one of {', '.join(known)}")
