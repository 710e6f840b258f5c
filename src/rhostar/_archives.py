"""Reads arrays from ``.npz`` and ``.npy`` files that may be damaged or hostile, and spends no more than they weigh.

A few kilobytes can unpack to gigabytes. So the list of members is read first, then the header of each array; an array
is unpacked only if it is wanted, its size agrees with its header, and all of them together are not much larger than
the file. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import StorageError

SMALL = 1 << 26
"""Bytes that any archive may unpack to."""
RATIO = 200
"""A larger archive may unpack to this many times its own size."""

_LONGEST_HEADER = 1 << 14
_KINDS = "biufUS"
"""The kinds of arrays that are read: truth values, numbers and strings."""


def read_arrays(
    path: str | os.PathLike[str],
    wanted: Collection[str] | Callable[[str], bool],
    *,
    strict: bool,
    max_bytes: int | None = None,
    what: str = "numpy archive",
) -> dict[str, NDArray[Any]]:
    """Return the wanted arrays of an ``.npz`` file.

    Parameters
    ----------
    path
        The file.
    wanted
        The names of arrays to read, or a function that says whether to read one.
    strict
        Whether an array that is not wanted is an error; otherwise it is skipped without unpacking it.
    max_bytes
        How much the wanted arrays may take; by default 64 MiB or 200 times the size of the file, if that is more.
    what
        What the file should be, for errors.

    Raises
    ------
    StorageError
        If it is not such a file, is damaged, has other arrays, or would unpack to more than that.
    OSError
        If it cannot be opened.
    """
    chosen = wanted if callable(wanted) else wanted.__contains__
    with open(path, "rb") as stream:
        weight = os.fstat(stream.fileno()).st_size
        limit = max(SMALL, RATIO * weight) if max_bytes is None else max_bytes
        try:
            with zipfile.ZipFile(stream) as archive:
                members: dict[str, zipfile.ZipInfo] = {}
                for entry in archive.infolist():
                    name = entry.filename.removesuffix(".npy")
                    if not chosen(name):
                        if strict:
                            raise StorageError(f"{path}: holds {name[:60]!r}, which does not belong there")
                        continue
                    if name in members:
                        raise StorageError(f"{path}: holds {name!r} twice")
                    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 1:
                        raise StorageError(f"{path}: holds {name!r} in a way that numpy does not write")
                    members[name] = entry
                total = sum(entry.file_size for entry in members.values())
                if total > limit:
                    raise StorageError(
                        f"{path}: has {weight} bytes and would unpack to {total}; "
                        f"set max_bytes={total} to read it if you trust where it comes from"
                    )
                return {name: _read_member(path, archive, name, entry) for name, entry in members.items()}
        except (StorageError, OSError, MemoryError):
            raise
        except Exception as error:  # zipfile, zlib and numpy raise many kinds of errors
            why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise StorageError(f"{path}: not a {what}, or a damaged one ({why[:200]})") from None


def _read_member(path: object, archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as stream:
        begin = stream.read(_LONGEST_HEADER)
        header = read_header(begin, entry.file_size, f"{path}: {name!r}")
        data = begin[header.size :] + stream.read()  # to the end, so that its checksum is compared too
    if len(data) != math.prod(header.shape) * header.dtype.itemsize:
        raise StorageError(f"{path}: {name!r} is truncated")
    array: NDArray[Any] = np.frombuffer(data, dtype=header.dtype)
    codes = np.dtype(np.uint32).newbyteorder(header.dtype.byteorder)
    if header.dtype.kind == "U" and array.size and array.view(codes).max() > 0x10FFFF:
        raise StorageError(f"{path}: {name!r} holds characters that do not exist")
    return array.reshape(header.shape, order="F" if header.fortran else "C")


class Header(NamedTuple):
    """What an ``.npy`` file says about its array."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    size: int
    """The bytes before the array."""


def read_header(begin: bytes, size: int, what: str) -> Header:
    """Read the header of an array.

    Parameters
    ----------
    begin
        The first bytes of the file, at least 16 kB or all; a header that claims to be longer is refused.
    size
        The number of bytes that header and array have.
    what
        What the array is called in errors.

    Raises
    ------
    StorageError
        If it is not a header, the array has another size than it says, or holds anything but numbers and strings.
    """
    stream = io.BytesIO(begin[:_LONGEST_HEADER])
    try:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version}")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except (StorageError, OSError, MemoryError):
        raise
    except Exception as error:  # the header is a Python literal: a damaged one fails in many ways
        raise StorageError(f"{what} is not a numpy array ({type(error).__name__})") from None
    whole = all(type(length) is int and length >= 0 for length in shape)
    if dtype.kind not in _KINDS or dtype.itemsize == 0 or not whole:
        raise StorageError(f"{what} holds {str(dtype)[:60]} of shape {str(shape)[:60]}; expected numbers or strings")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise StorageError(f"{what} has {size} bytes, which does not agree with its shape {str(shape)[:60]}")
    return Header(shape, bool(fortran), dtype, stream.tell())
