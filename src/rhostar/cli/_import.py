"""The command ``import``: reads data files and saves a set of instances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, working

if TYPE_CHECKING:
    from rhostar.instances import InstanceSet


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
    any_goal: Annotated[bool, typer.Option("--any-goal", help="Draw a goal for each instance.")] = False,
    trips: Annotated[
        Path | None, typer.Option(help="A CSV file with a source and a goal per line, instead of a draw.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Read a network in any format and save a set of instances on it.

    Files may be compressed (.gz). The parameters of a format's reader in rhostar.datasets can be set by name, such as
    --set coordinates=rome.co or --set snapshot=day. With --trips each line of the file is one instance; trips take the
    snapshots in turn, and their sources and goals are labels or vertices.
    """
    from rhostar.cli._info import describe
    from rhostar.datasets._formats import find
    from rhostar.errors import InputError

    if sum(map(bool, (goal, any_goal, trips))) > 1:
        raise InputError("give only one of --goal, --any-goal and --trips")

    given = options.parameters(settings)

    def chosen(found: Any) -> int | None:
        return options.vertex(found.graph, goal) if goal else None

    with working("reading", quiet=json):
        instances = find(files, kind).load(files, given, count=count, seed=seed, goal=chosen)
        if any_goal:
            instances = _drawn(instances, seed)
        elif trips is not None:
            instances = _read(instances, trips)
        instances.save(out)
    emit({"written": str(out), **describe(instances)}, json)


def _drawn(instances: InstanceSet, seed: int) -> InstanceSet:
    """Return the same instances with goals drawn anew; pairs without a path are left out."""
    import numpy as np

    from rhostar.instances import InstanceSet

    # Not the stream that the sources came from: goals would follow them.
    goals = np.random.default_rng([seed, 1]).integers(0, instances.graph.n, len(instances))
    goals = np.where(goals == instances.sources, (goals + 1) % instances.graph.n, goals)
    return InstanceSet(
        instances.graph, instances.weights, instances.sources, goals, rows=instances.rows, infeasible="drop"
    )


def _read(instances: InstanceSet, path: Path) -> InstanceSet:
    """Return one instance for each line of a file of trips, on the snapshots in turn."""
    import csv

    import numpy as np

    from rhostar.errors import ReadError, VertexError
    from rhostar.instances import InstanceSet

    pairs = []
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            for number, fields in enumerate(csv.reader(stream), start=1):
                words = [field.strip() for field in fields]
                if not any(words) or (number == 1 and [word.lower() for word in words] == ["source", "goal"]):
                    continue
                if len(words) != 2:
                    raise ReadError(path, number, f"expected 'source,goal', got {','.join(fields)!r}")
                try:
                    pairs.append([options.vertex(instances.graph, word) for word in words])
                except VertexError as error:
                    raise ReadError(path, number, str(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if not pairs:
        raise ReadError(path, None, "has no trips")
    sources, goals = np.array(pairs).T
    rows = np.arange(len(pairs)) % len(instances.weights)
    return InstanceSet(instances.graph, instances.weights, sources, goals, rows=rows)
