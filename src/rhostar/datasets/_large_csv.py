"""Reads large CSV tables of edges with pyarrow; what looks odd is left to the slower reader, which names the line."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from rhostar.datasets import _text as text
from rhostar.errors import RhostarWarning
from rhostar.instances import _edge_rows as edge_rows

_BLOCK = 1 << 24
"""Bytes that become one part of the table."""
_ODD_QUOTE = re.compile(rb'[^,\r\n"]"[^,\r\n"]')
"""A quote inside a field: pyarrow reads what a strict reader refuses."""
_LONG = 1 << 26
"""Bytes from which on the slower reader takes long enough to say so."""


class UnfitError(Exception):
    """The table is not one that this module reads: pyarrow is not installed, or a cell is unusual."""


def rows(path: text.Path, wanted: tuple[str, ...], snapshot: str | None) -> Iterator[edge_rows.EdgeRows]:
    """Return the rows of a table; the parameters are those of :func:`rhostar.instances._edge_rows.columns`.

    Raises
    ------
    UnfitError
        If the slower reader must read the table: there is something wrong in it, or something that needs care.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        if os.path.getsize(path) >= _LONG:
            what = "reads large tables about ten times faster: pip install 'rhostar[tables]'"
            warnings.warn(f"{os.fspath(path)} is large; pyarrow {what}", RhostarWarning, stacklevel=2)
        raise UnfitError from None
    with text.opened(path) as raw:
        watched = _Strict(raw)
        stream = io.BufferedReader(watched, 1 << 20)
        header = stream.peek(1 << 20).split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf")
        try:
            names = [name.strip() for name in next(csv.reader([header.decode()], strict=True), [])]
        except (csv.Error, UnicodeDecodeError):
            raise UnfitError from None
        if b"\r" in header.rstrip(b"\r"):  # lines end in another way
            raise UnfitError
        found = [str(k) for k in edge_rows.columns(path, 1, names, wanted, snapshot)]
        coded = pa.dictionary(pa.int32(), pa.string())
        kinds = {name: pa.float64() if k == 2 else coded for k, name in enumerate(found)}
        if len(kinds) < len(found):  # one column is asked for twice
            raise UnfitError
        count, gaps = 0, False
        try:
            parts = arrow_csv.open_csv(
                stream,
                read_options=arrow_csv.ReadOptions(
                    block_size=_BLOCK, skip_rows=1, column_names=[str(k) for k in range(len(names))]
                ),
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=kinds, include_columns=found, null_values=_spellings(), strings_can_be_null=False
                ),
            )
            for part in parts:
                if not part.num_rows:
                    continue
                made = _part([part.column(k) for k in range(len(found))], count)
                count, gaps = count + part.num_rows, gaps or bool(np.isnan(made.weight).any())
                yield made
        except pa.ArrowException:
            raise UnfitError from None
        if watched.quotes % 2:  # the last field is still open
            raise UnfitError
        finished = watched.last in (b"\n", b"")
        if gaps and watched.ends + (not finished) != count + 1:  # blank lines: places would be wrong
            raise UnfitError
        if not finished:
            text.unfinished(path, count + 1)


def _spellings() -> list[str]:
    """Return the words for a missing weight in the usual cases."""
    return sorted({case for word in edge_rows.MISSING for case in (word, word.upper(), word.title(), "NaN")})


def _part(columns: list[Any], begin: int) -> edge_rows.EdgeRows:
    """Return one part of the table, if all of it is as usual; `begin` is its first row."""
    weight = columns[2].to_numpy(zero_copy_only=False)
    if (weight < 0).any():
        raise UnfitError
    coded = []
    for column in (*columns[:2], *columns[3:]):
        values = column.dictionary.to_pylist()
        if any(not value.strip() for value in values):
            raise UnfitError
        coded.append(edge_rows.Coded(values, column.indices.to_numpy()))
    return edge_rows.EdgeRows(
        coded[0], coded[1], weight, coded[2] if len(coded) == 3 else None, lambda k: f"line {begin + k + 2}"
    )


class _Strict(text.Watched):
    """A stream that refuses quotes inside fields, and counts quotes."""

    quotes = 0

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        data = bytes(buffer[:size])
        if b'"' in data:
            self.quotes += data.count(b'"')
            if _ODD_QUOTE.search(data):
                raise UnfitError
        return size
