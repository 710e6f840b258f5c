"""Prints results to standard output, as text or JSON, and progress to standard error."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rhostar._display import text_table

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table.")]

OK, NO_PATH, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""
WIDTH = 80
"""The width of the output, in columns."""


def emit(value: Mapping[str, Any], as_json: bool, text: str | None = None) -> None:
    """Print a result: as JSON, as the given text, or as a list of its entries."""
    if as_json:
        print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))
    elif text is not None:
        print(text)
    else:
        pairs(entries(value))


def entries(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the lines of a result: what, and its value."""
    return [(_called(key, entry), entry) for key, entry in value.items()]


def pairs(rows: Sequence[tuple[str, Any]]) -> None:
    """Print (what, value) lines, long values on several."""
    width = max((len(what) for what, _ in rows), default=0)
    for what, value in rows:
        lines = textwrap.wrap(words(value), WIDTH - width - 2, break_long_words=False, break_on_hyphens=False)
        print(f"{what:{width}}  {f'{chr(10):{width + 3}}'.join(lines)}")


def _called(key: str, value: Any) -> str:
    """Return the words of a key, in the singular for a list of one: the goals [131] are "goal 131"."""
    one = isinstance(value, list | tuple) and len(value) == 1
    return (key.removesuffix("s") if one else key).replace("_", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, text_columns: int = 1) -> str:
    """Return a table; the first columns are text, the others numbers."""
    return text_table([list(head), *([words(cell) for cell in row] for row in rows)], words=text_columns)


def words(value: Any) -> str:
    """Return a value as text for readers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {words(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        # Whole numbers in a list are names, such as those of goals.
        return ", ".join(str(entry) if isinstance(entry, int) else words(entry) for entry in value)
    return "none" if value is None else str(value)


def short(value: float) -> str:
    """Return a measurement in few characters: four digits, no exponents, and no rounding errors.

    >>> [short(x) for x in (14294.3, 5308.4, 2.0333, 0.02436, 7e-14, 0.0)]
    ['14,294', '5308', '2.033', '0.02436', '0', '0']
    """
    if abs(value) < 1e-9:
        return "0"
    return words(round(value)) if 1000 <= abs(value) < math.inf else f"{value:.4g}"


def plain(value: Any) -> Any:
    """Return a value for JSON: numbers that are not finite become null, arrays become lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show what the program is busy with, if standard error is a terminal; call what it returns to say more."""
    if quiet or not sys.stderr.isatty():
        yield lambda more: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda more: status.update(f"{what} {more}")


def watching(as_json: bool) -> bool:
    """Return whether to show progress bars: only on a terminal, and not with JSON."""
    return sys.stderr.isatty() and not as_json
