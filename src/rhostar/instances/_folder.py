"""Saves named arrays and plain values in a folder, completely or not at all, and checks them when loading.

A folder holds one plain ``.npy`` file per array and ``rhostar.json``, which lists them with their sizes and checksums.
Saving writes new files beside the old ones and then replaces ``rhostar.json`` in one step: before it the folder holds
the old content, after it the new. A load during a save gets one or the other: it opens all files before it reads any,
and starts again if the save has removed one of them. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar._archives import read_header
from rhostar._files import sync
from rhostar.errors import StorageError

INDEX = "rhostar.json"
VERSION = 2
_BLOCK = 1 << 24
_LONGEST_INDEX = 1 << 24
_TRIES = 1000
"""How often a load begins again; each time another process must have saved to the folder in between."""


class Stored(NamedTuple):
    """The contents of a folder."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]
    token: str
    """Differs from one save to the next, and with the checksums of all files; a copy of the folder has the same."""


class Rows(NamedTuple):
    """Some rows of a matrix, to be written without copying them all first."""

    matrix: NDArray[Any]
    rows: NDArray[np.int64]


def write(
    folder: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any] | Rows],
    facts: dict[str, Any],
) -> str:
    """Save to `folder`, which is made if necessary; its old content stays until everything is written.

    Returns the token of this save. Raises StorageError if the disk refuses, and then leaves no new file.
    """
    home = Path(folder)
    token = secrets.token_hex(8)
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = os.open(home, os.O_RDONLY)
        try:
            # One save at a time; if a process dies, its lock is gone too.
            fcntl.flock(lock, fcntl.LOCK_EX)
            _write_locked(home, token, kind, arrays, facts)
        finally:
            os.close(lock)
    except OSError as error:
        raise StorageError(f"could not save to {home}: {error}") from error
    return token


def _write_locked(
    home: Path, token: str, kind: str, arrays: Mapping[str, NDArray[Any] | Rows], facts: dict[str, Any]
) -> None:
    written: list[Path] = []
    replaced = False
    try:
        if not (home / INDEX).exists() and not all(_is_of_a_save(path.name) for path in home.iterdir()):
            raise StorageError(f"{home} contains other files; save to a new folder")
        files = {}
        for name, array in arrays.items():
            path = home / f"{name}-{token}.npy"
            written.append(path)
            files[name] = {"file": path.name, **_write_array(path, array)}
        index = {"format": kind, "version": VERSION, "token": token, "files": files, "facts": facts}
        beside = home / f"index-{token}.tmp"
        written.append(beside)
        text = json.dumps({**index, "checksum": _checksum(index)}, indent=1)
        beside.write_text(text, encoding="utf-8")
        sync(beside)
        beside.replace(home / INDEX)
        replaced = True
        sync(home)
    except BaseException:
        # Otherwise the new content is already in place; Ctrl-C may come before that is noted.
        if not replaced and _token(home) != token:
            for path in written:
                path.unlink(missing_ok=True)
        raise
    keep = {INDEX, *(entry["file"] for entry in files.values())}
    for path in home.iterdir():
        if path.name not in keep and _is_of_a_save(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


def read(folder: str | os.PathLike[str], kind: str, *, mmap: bool = True, verify: bool = True) -> Stored:
    """Load what :func:`write` saved.

    Parameters
    ----------
    folder, kind
        As given to :func:`write`.
    mmap
        Map matrices into memory instead of reading them.
    verify
        Compare every file with its checksum; sizes and types are always checked.

    Raises
    ------
    StorageError
        If anything is missing, damaged, truncated or of another kind.
    """
    home = Path(folder)
    try:
        with contextlib.ExitStack() as opened:
            index, files = _open_all(home, kind, opened)
            arrays = {
                name: _read_array(home / entry["file"], files[name], entry, mmap, verify)
                for name, entry in index["files"].items()
            }
    except OSError as error:  # from closing the files; others are a StorageError by now
        raise StorageError(f"{home} cannot be read: {error}") from error
    return Stored(arrays, index["facts"], _whole_token(index))


def token_of(folder: str | os.PathLike[str], kind: str) -> str | None:
    """Return the token of what is saved in a folder, or None if nothing of this kind is; reads only the index."""
    try:
        return _whole_token(_read_index(Path(folder), kind))
    except StorageError:
        return None


def _whole_token(index: dict[str, Any]) -> str:
    return f"{index['token']}-{_checksum(index):08x}"


def _open_all(home: Path, kind: str, opened: contextlib.ExitStack) -> tuple[dict[str, Any], dict[str, IO[bytes]]]:
    """Open every file of one save; open files can be read even if another save removes them."""
    index = _read_index(home, kind)
    for _ in range(_TRIES):
        with contextlib.ExitStack() as trial:
            missing = None
            files: dict[str, IO[bytes]] = {}
            for name, entry in index["files"].items():
                path = home / entry["file"]
                try:
                    files[name] = trial.enter_context(_opened(path))
                except FileNotFoundError:
                    missing = path
                    break
                except OSError as error:
                    raise StorageError(f"{path} cannot be read: {error}") from error
            if missing is None:
                opened.enter_context(trial.pop_all())
                return index, files
        before, index = index["token"], _read_index(home, kind)
        if index["token"] == before:
            raise StorageError(f"{missing} is missing")
    raise StorageError(f"{home} is being saved repeatedly; it could not be read between two saves")


def _read_index(home: Path, kind: str) -> dict[str, Any]:
    path = home / INDEX
    try:
        index = _parsed(path)
        checksum = index.pop("checksum")
        entries = index["files"].values()
        sound = (
            checksum == _checksum(index)
            and isinstance(index["facts"], dict)
            and isinstance(index["token"], str)
            and {"format", "version"} <= set(index)
            and all(map(_is_sound, entries))
        )
    except StorageError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        here = "contains nothing that rhostar saved" if os.path.exists(home) else "does not exist"
        raise StorageError(f"{home} {here}; `rhostar import` and `save` write such folders") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise StorageError(f"{path} is damaged: {error}") from None
    if not sound:
        raise StorageError(f"{path} is damaged: its checksum does not match")
    if index["format"] != kind or index["version"] != VERSION:
        raise StorageError(
            f"{path} contains {index['format']!r} version {index['version']}, expected {kind!r} version {VERSION}"
        )
    return index


def _opened(path: Path) -> IO[bytes]:
    """Open a plain file, or raise StorageError: a pipe would wait for somebody to write to it, a device may not end."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise StorageError(f"{path} is not a plain file")
    return file


def _parsed(path: Path) -> Any:
    """Return what an index contains."""
    with _opened(path) as file:
        data = file.read(_LONGEST_INDEX + 1)
    if len(data) > _LONGEST_INDEX:
        raise StorageError(f"{path} is damaged: an index has no more than {_LONGEST_INDEX} bytes")
    return json.loads(data)


def _is_sound(entry: dict[str, Any]) -> bool:
    """Return whether the entry of a file has all fields, each of its type, and names a file in the folder itself."""
    file, shape = entry["file"], entry["shape"]
    return (
        isinstance(file, str)
        and _is_of_a_save(file)
        and isinstance(entry["dtype"], str)
        and all(type(entry[name]) is int for name in ("bytes", "crc32"))
        and isinstance(shape, list)
        and all(type(length) is int and length >= 0 for length in shape)
    )


def _read_array(path: Path, file: IO[bytes], entry: dict[str, Any], mmap: bool, verify: bool) -> NDArray[Any]:
    try:
        size = os.fstat(file.fileno()).st_size
        if size != entry["bytes"]:
            raise StorageError(f"{path} is truncated or damaged: {size} bytes, expected {entry['bytes']}")
        if verify and _crc32(file) != entry["crc32"]:
            raise StorageError(f"{path} is damaged: its checksum does not match")
        file.seek(0)
        shape, fortran, dtype, offset = read_header(file.read(1 << 14), size, str(path))
        if fortran or dtype.str != entry["dtype"] or list(shape) != entry["shape"]:
            raise StorageError(f"{path} holds {dtype.str}{shape}, expected {entry['dtype']}{entry['shape']}")
        file.seek(offset)
        if mmap and len(shape) == 2 and 0 not in shape:
            return np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape)
        found: NDArray[Any] = np.fromfile(file, dtype=dtype)
        return found.reshape(shape)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{path} cannot be read: {error}") from error


class _Summing:
    """A file that keeps the size and checksum of what is written to it."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.size, self.crc32 = stream, 0, 0

    def write(self, data: Any) -> int:
        self.stream.write(data)
        self.crc32 = zlib.crc32(data, self.crc32)
        self.size += memoryview(data).nbytes
        return self.size


def _write_array(path: Path, array: NDArray[Any] | Rows) -> dict[str, Any]:
    matrix = array.matrix if isinstance(array, Rows) else array
    shape = (array.rows.size, *matrix.shape[1:]) if isinstance(array, Rows) else matrix.shape
    dtype = matrix.dtype.newbyteorder("<")
    with path.open("wb") as stream:
        out = _Summing(stream)
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(out, header)
        if isinstance(array, Rows):
            for row in array.rows:
                out.write(np.ascontiguousarray(matrix[row], dtype=dtype).data)
        elif matrix.size:
            out.write(np.ascontiguousarray(matrix, dtype=dtype).data.cast("B"))
    sync(path)
    return {"bytes": out.size, "crc32": out.crc32, "dtype": dtype.str, "shape": list(shape)}


def _crc32(file: IO[bytes]) -> int:
    total = 0
    while block := file.read(_BLOCK):
        total = zlib.crc32(block, total)
    return total


def _checksum(index: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(index, sort_keys=True).encode())


def _is_of_a_save(name: str) -> bool:
    """Return whether a file is an array or index of some save, judging by its name."""
    return re.fullmatch(r"[a-z_]+-[0-9a-f]{16}\.(npy|tmp)", name) is not None


def _token(home: Path) -> str | None:
    try:
        return str(_parsed(home / INDEX)["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
