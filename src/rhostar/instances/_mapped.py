"""Finds the file and position of a memory-mapped matrix, so that another process can map it too."""

from __future__ import annotations

import mmap
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import StorageError


class File(NamedTuple):
    """A contiguous matrix inside a file."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    identity: tuple[int, int]
    """Inode and size, to recognize the file."""


def describe(array: NDArray[Any]) -> File | None:
    """Return where `array` is on disk, or None if it is not a contiguous part of a mapped file."""
    mapping = getattr(array, "_mmap", None)
    name = getattr(array, "filename", None)
    if mapping is None or name is None or not array.flags.c_contiguous or array.size == 0:
        return None
    if getattr(array, "mode", None) == "c":  # copy on write: only this process has what was written
        return None
    try:
        identity = _identity(name)
    except OSError:  # deleted while it is mapped: only this process still has it
        return None
    # A slice keeps the offset of the array it was cut from, so its own offset is computed from addresses.
    begin = np.frombuffer(mapping, dtype=np.uint8).__array_interface__["data"][0]
    first_page = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY  # type: ignore[attr-defined]
    offset = array.__array_interface__["data"][0] - begin + first_page
    return File(os.path.abspath(name), offset, array.shape, array.dtype.str, identity)


def open_file(file: File) -> NDArray[Any]:
    """Map the file again, read-only.

    Raises
    ------
    StorageError
        If it is gone, too short or another file now.
    """
    try:
        if _identity(file.path) != file.identity:
            raise StorageError(f"{file.path} can no longer be mapped: it was replaced")
        return np.memmap(file.path, dtype=file.dtype, mode="r", offset=file.offset, shape=file.shape)
    except StorageError:
        raise
    except (OSError, ValueError) as error:
        raise StorageError(f"{file.path} can no longer be mapped: {error}") from error


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size
