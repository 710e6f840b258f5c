"""The command ``import``: reads data files and saves a set of instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, entries, pairs, words, working
from rhostar.errors import InfeasibleError, InputError, ReadError, VertexError

_SEVERAL = 20
"""Goals up to this number are looked at one by one."""


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
        typer.Option(
            help="A CSV file with source, goal and, if known, snapshot or time: one trip per line, instead of drawing."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    force: options.Force = False,
    json: Json = False,
) -> None:
    """Read a network and its costs, draw trips on it and save them.

    Files may be compressed (.gz). The parameters of a format's reader in rhostar.datasets can be set by name, such as
    --set coordinates=rome.co or --set snapshot=day. If the snapshots are time stamps, they are sorted; otherwise they
    keep the order of the files. A file without such a column is one snapshot, named like the file. With --trips each
    line of the file is one instance, in the snapshot that it names or the last one before its time; without such a
    column, trips take the snapshots in turn.

    Example: rhostar import times.csv -o trips --goal 131
    """
    import numpy as np

    from rhostar.cli import _trips
    from rhostar.cli._info import describe
    from rhostar.datasets._formats import find
    from rhostar.datasets._text_files import watched

    if sum(map(bool, (goal, any_goal, trips))) > 1:
        raise InputError("give only one of --goal, --any-goal and --trips")
    options.refuse_overwrite(out, force)
    given = tables.columns(columns) | ({"missing": missing} if missing else {}) | options.parameters(settings)
    left_out: list[int] | None = None
    with working("reading", quiet=json) as say, watched(lambda path: say(_progress(path, files))):
        found, draw = find(files, kind).open(files, given)
        network = found if isinstance(found, rs.instances.Network) else None
        if trips is not None:
            base: Any = network or draw(count=count, seed=seed, goal=None)
            instances, left_out = _trips.read(trips, base, getattr(network, "names", None))
        else:
            chosen = _goals(found.graph, goal)
            try:
                instances = draw(count=count, seed=seed, goal=chosen)
            except InfeasibleError as error:
                why = "" if network is None or chosen is None else _reach(network, chosen)
                raise InfeasibleError(f"{error}{why}") from None
            lost = np.setdiff1d([] if chosen is None else chosen, instances.goals)
            if network is not None and lost.size:
                named = ", ".join(map(str, options.names(found.graph, lost.tolist())))
                raise InfeasibleError(f"no instance drawn leads to {named}{_reach(network, lost)}")
        if any_goal:
            instances = _draw_goals(instances, seed)
        reading, names = (None, None) if network is None else (network.reading, network.names)
        facts = _facts(reading, names, instances, left_out)
        instances.save(out)
    told = {"written": str(out), **describe(instances)}
    if json:
        emit(told | facts, json)
    else:
        pairs([*entries(told), *_lines(facts)])


def _progress(path: Any, files: list[Path]) -> str:
    """Return which file is being read."""
    several = f" ({files.index(Path(path)) + 1} of {len(files)})" if len(files) > 1 and Path(path) in files else ""
    return f"{path}{several}"


def _draw_goals(instances: rs.InstanceSet, seed: int) -> rs.InstanceSet:
    """Return the same instances with goals drawn anew; pairs without a path are left out."""
    import numpy as np

    # Not the stream that the sources came from: goals would follow them.
    goals = np.random.default_rng([seed, 1]).integers(0, instances.graph.n, len(instances))
    goals = np.where(goals == instances.sources, (goals + 1) % instances.graph.n, goals)
    sources, rows, days = instances.sources, instances._stored_rows, instances._stored_days
    return rs.InstanceSet(instances.graph, instances._stored, sources, goals, rows=rows, infeasible="drop", days=days)


def _goals(graph: Any, words: Sequence[str]) -> Any:
    """Return the goals that words on the command line name: a vertex, an array of several, or None without words.

    A word is a vertex (on a grid also a cell: row,column), several of them separated by commas, or a file with one goal
    in each line.
    """
    import numpy as np

    found: list[int] = []
    for word in words:
        try:
            found.append(options.vertex(graph, word))
        except VertexError:
            if Path(word).is_file():
                found += _listed(graph, Path(word))
            elif "," in word and graph.shape is None:
                found += [options.vertex(graph, part.strip()) for part in word.split(",")]
            else:
                raise
    several = list(dict.fromkeys(found))
    if not several:
        return None
    return several[0] if len(several) == 1 else np.array(several)


def _listed(graph: Any, path: Path) -> list[int]:
    from rhostar.datasets import _text_files as text

    found = []
    for number, line in text.lines(path, counted=True):
        try:
            found += [options.vertex(graph, line.strip())] if line.strip() else []
        except VertexError as error:
            raise ReadError(path, number, str(error)) from None
    if not found:
        raise ReadError(path, None, "has no goals")
    return found


# ---------------------------------------------------------------- what it says about the data


def _facts(
    reading: rs.instances.Reading | None, names: Any, instances: rs.InstanceSet, left_out: list[int] | None
) -> dict[str, Any]:
    """Return the facts of an import.

    Parameters
    ----------
    reading
        What the reader did, if it says so.
    names
        The names of the snapshots, or None.
    instances
        The set, with all snapshots that were read.
    left_out
        The lines of trips without a path; None if the trips are not from a file.
    """
    import numpy as np

    from rhostar.graph._components import strong_components

    graph, goals = instances.graph, np.unique(instances.goals)
    found: dict[str, Any] = {}
    if reading is not None:
        found |= {"merged_parallel_edges": reading.parallels, "dropped_loops": reading.loops}
        found |= {"missing_weights": reading.missing, "missing_policy": reading.policy}
        found["weights_read"] = int(instances._stored.size)
    read = len(instances._stored)
    found |= {"snapshots_read": read, "snapshots_without_a_trip": read - int(np.unique(instances._stored_rows).size)}
    if names is not None and read > 1:
        found |= {"first_snapshot": str(names[0]), "last_snapshot": str(names[read - 1])}
    if left_out is not None:
        found["trips_without_a_path"] = len(left_out)
        found["first_line_without_a_path"] = left_out[0] if left_out else None
    present = np.zeros(graph.m, dtype=bool)
    closed = []
    for k, row in enumerate(instances._stored):
        here = np.isfinite(row)
        present |= here
        if not here.all():
            closed.append(k)
    found["edges_never_open"] = int((~present).sum())
    if goals.size > _SEVERAL:
        return found
    touched = np.zeros(graph.n, dtype=bool)
    touched[graph.tail[present]] = touched[graph.head[present]] = True
    whole = np.where(present, 1.0, np.inf)
    cut_off = [int((touched & ~graph._kernel.reaches(whole, int(goal))).sum()) for goal in goals]
    found["starts"] = int(touched.sum()) - 1
    found["starts_without_a_path"] = dict(zip(options.names(graph, goals.tolist()), cut_off, strict=True))
    component = strong_components(graph, present)
    sizes = np.bincount(component)
    found["component_of_goal"] = int(sizes[component[goals]].min())
    found["largest_component"] = int(sizes.max())
    dead = []
    for k in np.setdiff1d(closed, instances._stored_rows).tolist():
        row = np.ascontiguousarray(instances._stored[k])
        if not any(graph._kernel.reaches(row, goal).sum() > 1 for goal in goals.tolist()):
            dead.append(k if names is None else str(names[k]))
    found["snapshots_without_a_path"] = dead
    return found


def _reach(network: rs.instances.Network, goals: Any) -> str:
    """Return in words how few vertices reach each goal, for a network on which hardly any draw has a path."""
    import numpy as np

    graph, targets = network.graph, np.atleast_1d(goals)[:_SEVERAL].tolist()
    present = np.zeros(graph.m, dtype=bool)
    for row in network.weights:
        present |= np.isfinite(row)
    whole = np.where(present, 1.0, np.inf)
    counts = [int(graph._kernel.reaches(whole, goal).sum()) - 1 for goal in targets]
    each = ", ".join(
        f"{words(count)} for {goal}" for goal, count in zip(options.names(graph, targets), counts, strict=True)
    )
    return f"; of {words(graph.n)} vertices, those that reach it are {each}: choose another --goal, or a larger --count"


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts in words, one line each, with a hint where something is likely to be wrong."""
    rows: list[tuple[str, str]] = []
    if "dropped_loops" in found:
        rows.append(("parallel edges", f"{words(found['merged_parallel_edges'])} merged (the cheapest counts)"))
        rows.append(("loops", f"{words(found['dropped_loops'])} dropped"))
        counts = found["missing_weights"], found["weights_read"], found["missing_policy"]
        rows.append(("missing weights", tables.filled_in(*counts)))
    if "first_snapshot" in found:  # shows which column was taken for the time
        rows.append(("snapshot names", f"{found['first_snapshot']} to {found['last_snapshot']}"))
    if found["snapshots_without_a_trip"]:
        without, read = words(found["snapshots_without_a_trip"]), words(found["snapshots_read"])
        rows.append(("snapshots without a trip", f"{without} of {read} that were read"))
    if "trips_without_a_path" in found:
        first = found["first_line_without_a_path"]
        where = "" if first is None else f" left out, the first in line {first}"
        rows.append(("trips without a path", f"{words(found['trips_without_a_path'])}{where}"))
    if "starts" not in found:
        return rows
    cut_off, several = found["starts_without_a_path"], len(found["starts_without_a_path"]) > 1
    each = ", ".join(f"{words(count)} for {goal}" if several else words(count) for goal, count in cut_off.items())
    rows.append(("starts without a path", f"{each} of {words(found['starts'])}" if not several else each))
    mine, largest = found["component_of_goal"], found["largest_component"]
    if mine == largest:
        rows.append(
            ("strong component", f"{words(mine)} vertices, the largest, with {'all goals' * several or 'the goal'}")
        )
    else:
        which = "the smallest of a goal" if several else "that of the goal"
        rows.append(("strong components", f"{which} has {words(mine)} vertices, the largest {words(largest)}"))
    if mine < largest:
        what = "a goal is" if several else "the goal is"
        rows.append(("hint", f"{what} not in the largest component; --goal chooses another one"))
    dead = found["snapshots_without_a_path"]
    if dead:
        some = f"{', '.join(map(str, dead[:3]))}{', ...' * (len(dead) > 3)}"
        rows.append(("snapshots without a path", f"{words(len(dead))} left out: {some}"))
    return rows
