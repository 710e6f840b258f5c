"""Reads text files in blocks, compressed or not; errors name the line.

A file is read once from beginning to end, a few megabytes at a time. If the last line has no newline, ``a 7 9 12``
may be the first part of ``a 7 9 125``: it is read, with a warning.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar.errors import ReadError, RhostarWarning

Path = str | os.PathLike[str]

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 20
_GZIP = b"\x1f\x8b"
_NUMBER = "a number, and below 2**53 if it is an integer"
_SMALL = 1 << 26
"""Bytes that any gzip file may unpack to."""
_RATIO = 200
"""A larger gzip file may unpack to this many times its own size; road networks unpack to 4 times theirs."""


_told: ContextVar[Callable[[Path], None] | None] = ContextVar("_told", default=None)


@contextmanager
def watched(tell: Callable[[Path], None]) -> Iterator[None]:
    """Call `tell` with each file that is opened meanwhile, such as to show progress."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, and unpack it if it is a gzip file.

    Raises
    ------
    ReadError
        If it is missing or cannot be read, if its name ends with ``.gz`` and it is not a gzip file, or if a
        gzip file is truncated, damaged, or unpacks to far more than its own size.
    """
    if (tell := _told.get()) is not None:
        tell(path)
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == _GZIP
            if not packed and os.fspath(path).endswith(".gz"):
                raise ReadError(path, None, "the name ends with .gz, but the content is not gzip")
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw, mode="rb") as stream:
                    yield _Unpacked(stream, path, os.fstat(raw.fileno()).st_size)  # type: ignore[misc]
            else:
                yield raw
    except EOFError:
        raise ReadError(path, None, "the gzip file is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(path, None, f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise ReadError(path, None, f"cannot be read: {error.strerror or error}") from error


class _Unpacked:
    """The content of a gzip file, as long as it is not far larger than the file."""

    def __init__(self, stream: gzip.GzipFile, path: Path, weight: int) -> None:
        self.stream, self.path, self.weight, self.size = stream, path, weight, 0

    def read(self, size: int) -> bytes:
        return self._counted(self.stream.read(size))

    def readline(self, size: int) -> bytes:
        return self._counted(self.stream.readline(size))

    def _counted(self, data: bytes) -> bytes:
        self.size += len(data)
        if self.size > max(_SMALL, _RATIO * self.weight):
            what = f"the file has {self.weight} bytes and unpacks to more than {_RATIO} times as many"
            raise ReadError(self.path, None, f"{what}; if you trust it, unpack it with gunzip and read the result")
        return data


def lines(path: Path, *, counted: bool = False) -> Iterator[tuple[int, str]]:
    """Return (number, text) of every line, without its end; for small files and headers.

    With `counted`, the caller would notice a truncated line, so the last one may lack its newline.
    """
    with open_text(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE + 1), b""), start=1):
            if len(line) > _LONGEST_LINE:
                raise ReadError(path, number, f"the line is longer than {_LONGEST_LINE} bytes; is this a text file?")
            if not (counted or line.endswith(b"\n")):
                unfinished(path, number)
            yield number, decode(path, number, line)


def decode(path: Path, number: int, line: bytes) -> str:
    """Return a line as text without its end."""
    try:
        return _without_mark(line, number).rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError:
        raise ReadError(path, number, "the line is not UTF-8 text") from None


def _without_mark(data: bytes, number: int) -> bytes:
    """Return data that begins with this line, without the byte order mark that may precede the first line."""
    return data.removeprefix(codecs.BOM_UTF8) if number == 1 else data


def unfinished(path: Path, number: int) -> None:
    """Warn about a last line without a newline: many editors omit it, but a truncated copy looks the same."""
    what = "the last line has no newline; if the file was truncated, its last value is incomplete"
    warnings.warn(f"{os.fspath(path)}, line {number}: {what}", RhostarWarning, stacklevel=2)


def _last_end(path: Path, number: int, rest: bytes) -> bytes:
    """Return the newline that the last line lacks, or nothing."""
    if not rest.strip():
        return b""
    unfinished(path, number)
    return b"\n"


def integer(word: str) -> int:
    """Return an integer written in ASCII digits, or raise ValueError; at most 18 digits, so that it fits 64 bits."""
    if re.fullmatch(r"[+-]?[0-9]{1,18}", word) is None:
        raise ValueError(word[:60])
    return int(word)


def number(word: str) -> float:
    """Return a number written in ASCII, or raise ValueError; Python's own float also takes 1_0 and other digits."""
    if len(word) > 1000 or re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", word) is None:
        raise ValueError(word[:60])
    return float(word)


def require_plausible(path: Path, line: int | None, declared: int, what: str, bound: int, option: str) -> None:
    """Raise if a file declares more than is plausible for its length; the message names the option for it."""
    if declared > bound:
        raise ReadError(
            path,
            line,
            f"{declared} {what} are more than a file of its size should have; "
            f"set {option}={declared} to read it if you trust where it comes from",
        )


class Block(NamedTuple):
    """Some records of a file, column by column."""

    columns: list[NDArray[Any]]
    """int64 and float64 arrays, one for each kind."""
    line: NDArray[np.int64]
    """The line of each record."""
    whole: bool
    """Whether all numbers so far were written as integers."""


def records(
    path: Path,
    kinds: str,
    names: tuple[str, ...],
    *,
    letter: str = "",
    comments: str = "#",
    other: Callable[[int, str], None] | None = None,
) -> Iterator[Block]:
    """Read lines of numbers.

    Parameters
    ----------
    path
        The file.
    kinds
        "i" for an integer, "f" for any number, one for each field of a line.
    names
        What the fields are called in errors.
    letter
        The letter that such a line begins with, if any.
    comments
        A line that begins with one of these is skipped, as are blank lines.
    other
        Called with (number, text) for lines that begin differently; None rejects them.

    Raises
    ------
    ReadError
        Naming the file, the line, the field and what was expected.
    """
    form = " ".join([letter, *names] if letter else names)
    rest, first, whole = b"", 1, True
    with open_text(path) as stream:
        while data := stream.read(_BLOCK) or _last_end(path, first, rest):
            data = _without_mark(rest + data, first)
            offset = 0
            while True:
                found = _core.scan_records(data, offset, letter, comments, kinds)
                offset, whole = found.offset, whole and found.whole
                if found.line.size:
                    yield Block(found.columns, found.line + np.int64(first), whole)
                first += found.lines
                if found.ending.status is _core.Status.DONE:
                    break
                end = data.index(b"\n", offset)
                text = decode(path, first, data[offset:end])
                if found.ending.status is not _core.Status.OTHER_LINE or other is None:
                    raise _wrong(path, first, text, found.ending, kinds, names, form)
                other(first, text)
                first, offset = first + 1, end + 1
            rest = data[offset:]
            if len(rest) > _LONGEST_LINE:
                raise ReadError(path, first, f"the line is longer than {_LONGEST_LINE} bytes; is this a text file?")


def _wrong(
    path: Path, number: int, text: str, ending: _core.Ending, kinds: str, names: tuple[str, ...], form: str
) -> ReadError:
    gaps = {"form": form, "text": repr(text[:60])}
    if 0 <= ending.offender < len(names):
        gaps["field"] = names[ending.offender]
        gaps["wanted"] = "an integer" if kinds[ending.offender] == "i" else _NUMBER
    return ReadError(path, number, ending.status.message.format(**gaps))


def require(path: Path, block: Block, good: NDArray[np.bool_], values: NDArray[Any], what: str) -> None:
    """Raise at the first record that is not `good`, naming its line and value."""
    if not good.all():
        first = int(np.argmin(good))
        raise ReadError(path, int(block.line[first]), f"{what}, got {values[first]}")


def repeats(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value whether it occurred before."""
    return ~np.isin(np.arange(values.size), np.unique(values, return_index=True)[1])


def narrowed(weights: NDArray[np.float64], whole: bool) -> NDArray[Any]:
    """Return weights as integers where they were written as such, so that sums are exact and searches faster."""
    if not whole or not weights.size:
        return weights
    return weights.astype(np.int32 if weights.max() <= np.iinfo(np.int32).max else np.int64)
