"""Writes files safely (a crash leaves the whole old file or the whole new one), and arrays larger than memory."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rhostar.errors import StorageError

_LARGE = 1 << 30
"""Bytes beyond which an array that is written row by row is stored in a file."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write, which replaces `path` at the end; if anything fails, nothing changes.

    The new file is written beside `path` and synced to disk before it is renamed, so a crash leaves the old file or
    the new one. Missing folders are made, and a link stays a link. What a process that was killed left beside `path`
    is removed.

    Parameters
    ----------
    path
        The file to replace or create.

    Raises
    ------
    StorageError
        If the disk refuses, or `path` exists and is not a plain file: replacing /dev/null with a file would break
        other programs.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{secrets.token_hex(8)}{_ending(target)}")
    try:
        if target.exists() and not target.is_file():
            kind = "a folder" if target.is_dir() else "a device or a pipe"
            raise StorageError(f"could not write {os.fspath(path)}: it is {kind}, not a file")
        if target.parent.exists() and not target.parent.is_dir():
            raise StorageError(f"could not write {os.fspath(path)}: {target.parent} is not a folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        lock = _created_and_locked(beside)
        try:
            yield beside
            sync(beside)
            beside.replace(target)
            sync(target.parent)
        finally:
            try:
                beside.unlink(missing_ok=True)
            finally:
                os.close(lock)
    except OSError as error:
        raise StorageError(f"could not write {os.fspath(path)}: {error.strerror or error}") from error


def spacious(shape: tuple[int, int], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return a matrix to be written row by row: in memory, or in a nameless temporary file if it is large.

    The system writes the pages of a file to disk when it needs their memory, so snapshots can be larger than memory.
    The file is gone when the matrix is. ``TMPDIR`` says where such files are.

    Raises
    ------
    StorageError
        If there is no space for the file.
    """
    kind = np.dtype(dtype)
    size = shape[0] * shape[1] * kind.itemsize
    if size <= _LARGE:
        return np.empty(shape, dtype=kind)
    try:
        with tempfile.TemporaryFile(prefix="rhostar-") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # now, rather than by a signal when a page is written
            return np.memmap(file, dtype=kind, mode="r+", shape=shape)
    except OSError as error:
        where = tempfile.gettempdir()
        raise StorageError(f"{size} bytes of weights do not fit into {where}: {error.strerror or error}") from error


def _ending(target: Path) -> str:
    """Return how the names end of files that are written beside `target`: no longer than its own name may be."""
    # The suffix stays, because some writers choose the format by it.
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= 16 else ""
    return f"-{zlib.crc32(os.fsencode(target.name)):08x}{suffix}"


def _created_and_locked(beside: Path) -> int:
    """Create a file and return a locked descriptor: somebody writes here. If the process dies, the lock is gone."""
    while True:
        lock = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except BaseException:
            os.close(lock)
            beside.unlink(missing_ok=True)
            raise
        if beside.exists():
            return lock
        os.close(lock)  # somebody took the file for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove the files that killed processes left when they were replacing `target`."""
    form = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(_ending(target))}")
    for path in target.parent.iterdir():
        if form.fullmatch(path.name) is None:
            continue
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while somebody writes it
                path.unlink()
            finally:
                os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
