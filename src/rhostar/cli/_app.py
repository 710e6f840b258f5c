"""The object ``app`` that every command registers with. A command is one file, and one line in ``main.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer
from typer.core import TyperCommand

app = typer.Typer(
    name="rhostar",
    help="Shortest paths on a network whose costs change: import, route, learn, certify or audit, report.",
    epilog="Exit codes: 0 done, 1 no path, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def listing(title: str, entries: Callable[[], Iterable[tuple[str, str]]]) -> type[TyperCommand]:
    """Return the class of a command whose help ends with a list, such as the formats that ``import`` reads.

    The entries come from a registry that imports numpy, so they are looked up only when the help is printed.
    """

    class Listed(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            with formatter.section(title):
                formatter.write_dl(list(entries()))

    return Listed
