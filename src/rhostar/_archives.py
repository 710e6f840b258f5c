"""Reads arrays from ``.npz`` and ``.npy`` files that may be damaged or hostile, in bounded memory.

A few kilobytes can unpack to gigabytes. So the list of members is read first, then the header of each array; an array
is unpacked only if it is wanted, its size agrees with its header, and all of them together are not much larger than
the file. Nothing is ever unpickled.

Large arrays can be written uncompressed, at a multiple of 64 bytes in the file. Such arrays are mapped instead of read:
the system loads their pages when they are first used, and several processes share them.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import StorageError

SMALL = 1 << 26
"""Bytes that any archive may unpack to."""
RATIO = 200
"""A larger archive may unpack to this many times its own size."""

_LONGEST_HEADER = 1 << 14
_ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""What stands before a member of an archive: a mark, and at the end the lengths of its name and of the extra field."""
_PADDING = 0xD935
"""The kind of extra field that says: nothing but padding."""
_KINDS = "biufUS"
"""The kinds of arrays that are read: truth values, numbers and strings."""


def write_arrays(
    stream: IO[bytes], parts: Mapping[str, NDArray[Any]], *, mappable: Callable[[str], bool] = lambda _: False
) -> None:
    """Write an ``.npz`` file, which numpy can read too.

    Parameters
    ----------
    stream
        The file, open for writing.
    parts
        The arrays by name.
    mappable
        Says which arrays are written as they are, aligned, so that :func:`read_arrays` can map them; the others are
        compressed.
    """
    with zipfile.ZipFile(stream, "w") as archive:
        for name, part in parts.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.external_attr = 0o600 << 16
            large = part.nbytes >= 1 << 30
            if mappable(name):
                # Before numpy's header, which is a multiple of 64, come the archive's own with the name, the padding
                # with 4 bytes of its own, and for large members 20 bytes more.
                begin = archive.start_dir + _LOCAL_HEADER.size + len(entry.filename) + 4 + (20 if large else 0)
                entry.extra = struct.pack("<HH", _PADDING, -begin % _ALIGNMENT) + bytes(-begin % _ALIGNMENT)
            else:
                entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=large) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(part), allow_pickle=False)


def read_arrays(
    path: str | os.PathLike[str],
    wanted: Collection[str] | Callable[[str], bool],
    *,
    strict: bool,
    max_bytes: int | None = None,
    what: str = "numpy archive",
    mappable: Callable[[str], bool] = lambda _: False,
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
    mappable
        Says which arrays are mapped if they are stored uncompressed and aligned; the others are read. A mapped array
        is read-only, and the file must not be written to while it is in use; replacing the file is fine.

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
                            raise StorageError(f"{path}: contains {name[:60]!r}, which does not belong there")
                        continue
                    if name in members:
                        raise StorageError(f"{path}: contains {name!r} twice")
                    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 1:
                        raise StorageError(f"{path}: {name!r} is stored in a way that numpy does not write")
                    members[name] = entry
                total = sum(entry.file_size for entry in members.values())
                if total > limit:
                    raise StorageError(
                        f"{path}: has {weight} bytes and would unpack to {total}; "
                        f"set max_bytes={total} to read it if you trust where it comes from"
                    )
                found = {}
                for name, entry in members.items():
                    mapped = _map_member(path, stream, name, entry, weight) if mappable(name) else None
                    found[name] = _read_member(path, archive, name, entry) if mapped is None else mapped
                return found
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
        raise StorageError(f"{path}: {name!r} contains invalid characters")
    return array.reshape(header.shape, order="F" if header.fortran else "C")


def _map_member(path: object, stream: IO[bytes], name: str, entry: zipfile.ZipInfo, weight: int) -> NDArray[Any] | None:
    """Return an array that looks into the file, or None if it has to be read."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
        return None
    stream.seek(entry.header_offset)
    mark, name_size, extra_size = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    begin = entry.header_offset + _LOCAL_HEADER.size + name_size + extra_size
    if mark != b"PK\x03\x04" or begin + entry.file_size > weight:
        raise StorageError(f"{path}: {name!r} is truncated")
    stream.seek(begin)
    header = read_header(stream.read(min(_LONGEST_HEADER, entry.file_size)), entry.file_size, f"{path}: {name!r}")
    plain = header.dtype.kind in "iuf" and header.dtype.isnative and not header.fortran
    if not plain or (begin + header.size) % _ALIGNMENT or math.prod(header.shape) == 0:
        return None
    pages = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    if zlib.crc32(memoryview(pages)[begin : begin + entry.file_size]) != entry.CRC:
        raise StorageError(f"{path}: {name!r} is damaged: its checksum differs")
    array: NDArray[Any] = np.frombuffer(pages, header.dtype, math.prod(header.shape), begin + header.size)
    return array.reshape(header.shape)


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
        raise StorageError(f"{what} contains {str(dtype)[:60]} of shape {str(shape)[:60]}; expected numbers or strings")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise StorageError(f"{what} has {size} bytes, which does not agree with its shape {str(shape)[:60]}")
    return Header(shape, bool(fortran), dtype, stream.tell())
