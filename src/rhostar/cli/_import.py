"""The command ``import``: reads data files and saves a set of instances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, entries, pairs, working

if TYPE_CHECKING:
    from rhostar.instances import InstanceSet


def _formats() -> Iterator[tuple[str, str]]:
    from rhostar.datasets._formats import formats

    for form in formats().values():
        endings = f"{', '.join(form.suffixes)}: " if form.suffixes else ""
        yield form.name, f"{endings}{form.what}"


@app.command("import", cls=listing("Formats", _formats))
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A file or a folder; several tables of edges are one history; some formats take two files."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    kind: Annotated[str, typer.Option("--format", help="One of those below; by default the file name decides.")] = "",
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    settings: Annotated[list[str], typer.Option("--set", "-s", help="An option of the reader: name=value.")] = [],  # noqa: B006
    count: Annotated[int, typer.Option("--count", "-n", help="How many instances to draw.", min=1)] = 1000,
    goal: Annotated[
        list[str],
        typer.Option(help="A label or vertex, several (a,b or repeated), or a file with one per line."),
    ] = [],  # noqa: B006
    any_goal: Annotated[bool, typer.Option("--any-goal", help="Draw a goal for each instance.")] = False,
    trips: Annotated[
        Path | None,
        typer.Option(help="A CSV file with source, goal and, if known, snapshot or time: a trip per line, no draw."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    force: options.Force = False,
    json: Json = False,
) -> None:
    """Read a network in any format and save a set of instances on it.

    Files may be compressed (.gz). The parameters of a format's reader in rhostar.datasets can be set by name, such as
    --set coordinates=rome.co or --set snapshot=day. If the snapshots are time stamps, they are put in order; otherwise
    they keep that of the files. Files without such a column are one snapshot each, named like the file. With --trips
    each line of the file is one instance, in the snapshot that it names or the last one before its time;
    without such a column, trips take the snapshots in turn.
    """
    import numpy as np

    from rhostar.cli import _import_summary as summary
    from rhostar.cli import _trips
    from rhostar.cli._info import describe
    from rhostar.datasets._formats import find
    from rhostar.errors import InfeasibleError, InputError
    from rhostar.instances import Network

    if sum(map(bool, (goal, any_goal, trips))) > 1:
        raise InputError("give only one of --goal, --any-goal and --trips")
    options.refuse_overwrite(out, force)
    given = tables.columns(columns) | ({"missing": missing} if missing else {}) | options.parameters(settings)
    left_out: list[int] | None = None
    with working("reading", quiet=json):
        found, draw = find(files, kind).open(files, given)
        network = found if isinstance(found, Network) else None
        if trips is not None:
            base: Any = network or draw(count=count, seed=seed, goal=None)
            instances, left_out = _trips.read(trips, base, getattr(network, "names", None))
        else:
            chosen = _trips.goals(found.graph, goal)
            try:
                instances = draw(count=count, seed=seed, goal=chosen)
            except InfeasibleError as error:
                why = "" if network is None or chosen is None else summary.reach(network, chosen)
                raise InfeasibleError(f"{error}{why}") from None
            lost = np.setdiff1d([] if chosen is None else chosen, instances.goals)
            if network is not None and lost.size:
                named = ", ".join(map(str, options.names(found.graph, lost.tolist())))
                raise InfeasibleError(f"no instance drawn leads to {named}{summary.reach(network, lost)}")
        if any_goal:
            instances = _draw_goals(instances, seed)
        reading, names = (None, None) if network is None else (network.reading, network.names)
        facts = summary.facts(reading, names, instances, left_out)
        instances.save(out)
    told = {"written": str(out), **describe(instances)}
    if json:
        emit(told | facts, json)
    else:
        pairs([*entries(told), *summary.lines(facts)])


def _draw_goals(instances: InstanceSet, seed: int) -> InstanceSet:
    """Return the same instances with goals drawn anew; pairs without a path are left out."""
    import numpy as np

    from rhostar.instances import InstanceSet

    # Not the stream that the sources came from: goals would follow them.
    goals = np.random.default_rng([seed, 1]).integers(0, instances.graph.n, len(instances))
    goals = np.where(goals == instances.sources, (goals + 1) % instances.graph.n, goals)
    sources, rows, days = instances.sources, instances._stored_rows, instances._stored_days
    return InstanceSet(instances.graph, instances._stored, sources, goals, rows=rows, infeasible="drop", days=days)
