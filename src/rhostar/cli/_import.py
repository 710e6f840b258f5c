"""The command ``import``: reads data files and saves a set of instances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, working


def _formats() -> Iterator[tuple[str, str]]:
    from rhostar.datasets._formats import formats

    for form in formats().values():
        endings = f"{', '.join(form.suffixes)}: " if form.suffixes else ""
        yield form.name, f"{endings}{form.what}"


@app.command("import", cls=listing("Formats", _formats))
def import_(
    files: Annotated[list[Path], typer.Argument(help="A file or a folder; some formats take two files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    kind: Annotated[str, typer.Option("--format", help="One of those below; by default the file name decides.")] = "",
    settings: Annotated[list[str], typer.Option("--set", "-s", help="An option of the reader: name=value.")] = [],  # noqa: B006
    count: Annotated[int, typer.Option("--count", "-n", help="How many instances to draw.", min=1)] = 1000,
    goal: Annotated[str, typer.Option(help="The goal: a label or vertex; by default one in the middle.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Read a network in any format and save a set of instances on it.

    Files may be compressed (.gz). The parameters of a format's reader in rhostar.datasets can be set by name, such as
    --set coordinates=rome.co or --set snapshot=day.
    """
    from rhostar.cli._info import describe
    from rhostar.datasets._formats import find

    given = options.parameters(settings)

    def chosen(found: Any) -> int | None:
        return options.vertex(found.graph, goal) if goal else None

    with working("reading", quiet=json):
        instances = find(files, kind).load(files, given, count=count, seed=seed, goal=chosen)
        instances.save(out)
    emit({"written": str(out), **describe(instances)}, json)
