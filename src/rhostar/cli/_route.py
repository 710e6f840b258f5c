"""The commands ``route``, ``matrix`` and ``within``: queries to a router with today's weights."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._app import app
from rhostar.cli._output import NO_PATH, OK, Json, emit, table, working
from rhostar.errors import EdgeError, InputError, VertexError, WeightError

if TYPE_CHECKING:
    from rhostar.routing._query_costs import QueryCosts

Weights = Annotated[
    Path | None, typer.Option(help="A table with today's weights, by the labels of edges.", show_default=False)
]
Time = Annotated[str, typer.Option(help="Which time of that table, if it has several.", show_default=False)]
Row = Annotated[
    int | None, typer.Option("--snapshot", help="A snapshot of the set instead, by number.", min=0, show_default=False)
]
Model = Annotated[
    list[str], typer.Option("--model", "-m", help="A model that guides the searches.", show_default=False)
]
MaxExcess = Annotated[str, typer.Option(help="How far a route may exceed the optimum, such as 5%.", show_default=False)]
MeanExcess = Annotated[str, typer.Option(help="The same on average, as in learning the model.", show_default=False)]
GeoJson = Annotated[Path | None, typer.Option(help="Write the route as GeoJSON.", show_default=False)]
Depart = Annotated[
    float | None,
    typer.Option(help="Depart at this time, with the times of the table of --weights.", show_default=False),
]
Arrive = Annotated[float | None, typer.Option(help="Or arrive by this time, as late as possible.", show_default=False)]
Period = Annotated[
    float | None,
    typer.Option(help="After how long the times repeat; by default the last weights stay.", show_default=False),
]
Waiting = Annotated[
    bool, typer.Option("--waiting", help="Allow waiting, for weights that fall quickly and edges that open.")
]
Several = Annotated[
    int, typer.Option("--alternatives", help="How many routes, including the shortest.", min=1, show_default=False)
]
Avoid = Annotated[
    list[str],
    typer.Option(help="Close for this query: an edge as TAIL:HEAD, or a vertex; may be repeated.", show_default=False),
]
Change = Annotated[
    list[str],
    typer.Option(help="Change a weight for this query: TAIL:HEAD=WEIGHT; may be repeated.", show_default=False),
]


def router_for(
    folder: Path,
    weights: Path | None,
    time: str,
    row: int | None,
    columns: str,
    missing: str,
    model: list[str],
    max_excess: str,
    mean_excess: str,
    *,
    quiet: bool,
    required: bool = True,
) -> tuple[rs.Router, dict[str, Any]]:
    """Return a router with its weights, and what to say about them; without `required`, weights may be left out."""
    instances = rs.InstanceSet.load(folder)
    heuristic = options.one_model(model)[1] if model else None
    excess = {
        "max_excess": options.share(max_excess, "--max-excess") or 0.0,
        "mean_excess": options.share(mean_excess, "--mean-excess"),
    }
    router = rs.Router(instances.graph, heuristic, **excess)  # type: ignore[arg-type]
    if weights is None and (time or columns or missing):
        raise InputError("--time, --columns and --missing are about the table of --weights, which is not given")
    facts: dict[str, Any] = {}
    if weights is not None:
        if row is not None:
            raise InputError("--weights and --snapshot cannot be combined")
        with working("reading", quiet=quiet):
            today, facts = tables.today(weights, instances, columns, missing, time)
        router.update(today)
        return router, {"weights": str(weights), **facts}
    count = len(instances._stored)
    if row is None and count == 1:
        row = 0
    if row is not None:
        if row >= count:
            raise InputError(f"--snapshot must be below {count}, got {row}")
        router.update(instances._stored[row])
        return router, {"snapshot": row}
    if required:
        raise InputError(f"the set has {count} snapshots: choose the weights with --weights TABLE or --snapshot NUMBER")
    return router, {}


@app.command()
def route(
    folder: options.Folder,
    queries: Annotated[
        str, typer.Argument(help="- answers queries and updates from standard input, one JSON object in each line.")
    ] = "",
    source: Annotated[str, typer.Option("--from", help="A label or vertex.", show_default=False)] = "",
    target: Annotated[str, typer.Option("--to", help="A label or vertex.", show_default=False)] = "",
    weights: Weights = None,
    time: Time = "",
    snapshot: Row = None,
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    model: Model = [],  # noqa: B006
    max_excess: MaxExcess = "",
    mean_excess: MeanExcess = "",
    depart: Depart = None,
    arrive: Arrive = None,
    period: Period = None,
    waiting: Waiting = False,
    alternatives: Several = 1,
    avoid: Avoid = [],  # noqa: B006
    change: Change = [],  # noqa: B006
    geojson: GeoJson = None,
    force: options.Force = False,
    json: Json = False,
) -> int:
    """Find a shortest path with today's weights.

    With --depart or --arrive, the table has a row for each edge and time; weights are linear in between.

    With - it runs as a service: each line of standard input is a JSON object such as {"do": "route", "source": "a",
    "target": "b"} or {"do": "update", "edges": [["a", "b"]], "weights": [7.5]}, and each answer is one line. The page
    "Route while costs change" has the protocol. The exit code is 1 if there is no path.

    Example: rhostar route trips --weights today.csv --from a --to b
    """
    from rhostar import _files as files

    given = (weights, time, snapshot, columns, missing, model, max_excess, mean_excess)
    timed = depart is not None or arrive is not None
    if queries:
        if queries != "-" or source or target or geojson or avoid or change or timed or alternatives > 1:
            raise InputError("route takes - to read queries, or --from and --to with options of one query; "
                             "got both, or another argument")  # fmt: skip
        from rhostar.cli._service import serve

        return serve(router_for(folder, *given, quiet=True, required=False)[0], sys.stdin, sys.stdout)
    if not source or not target:
        raise InputError("route needs --from and --to, or - to read queries from standard input")
    if geojson is not None:
        options.refuse_overwrite(geojson, force)
    if not timed and (period is not None or waiting):
        raise InputError("--period and --waiting are about --depart and --arrive, which are not given")
    if depart is not None and arrive is not None:
        raise InputError("give only one of --depart and --arrive")
    if timed:
        if weights is None or time or snapshot is not None or model or avoid or change or alternatives > 1:
            raise InputError("--depart and --arrive need --weights TABLE, and cannot be combined with --time, "
                             "--snapshot, --model, --avoid, --change and --alternatives")  # fmt: skip
        router, facts = _router_by_time(folder, weights, columns, missing, period, waiting, quiet=json)
    else:
        router, facts = router_for(folder, *given, quiet=json)
    s, t = (_label(router, word) for word in (source, target))
    several: list[Any] = []
    if timed:
        found: Any = router.route(s, t, depart=depart, arrive=arrive)  # type: ignore[call-overload]
        facts |= {"depart": found.depart, "arrive": found.arrive}
    else:
        costs = _costs(router, avoid, change)
        several = router.alternatives(s, t, alternatives, **costs) if alternatives > 1 else []
        found = several[0] if several else router.route(s, t, **costs)
    if geojson is not None:
        with files.replacing(geojson) as beside:
            beside.write_text(json_text.dumps(found.to_geojson()) + "\n", encoding="utf-8")
    path = list(found.labels)
    emit(
        {
            "source": s if json else str(s),
            "target": t if json else str(t),
            **facts,
            "cost": found.cost,
            **({} if found.bound in (None, found.cost) else {"no_path_below": found.bound}),
            "path": path if json or len(path) <= 30 else f"{len(path)} vertices; --json prints them",
            **({"edges": found.edges} if json else {}),
            **_others(several[1:], json),
            **({} if geojson is None else {"written": str(geojson)}),
        },
        json,
    )
    return OK if found.path.size else NO_PATH


def _others(routes: list[Any], json: bool) -> dict[str, Any]:
    """Return alternatives as they are shown."""
    if json:
        return {"alternatives": [{"cost": one.cost, "path": list(one.labels), "edges": one.edges} for one in routes]}
    shown = ((one, " ".join(map(str, one.labels))) for one in routes)
    return {
        f"alternative {k}": f"{one.cost:g}: {path if one.path.size <= 30 else f'{one.path.size} vertices'}"
        for k, (one, path) in enumerate(shown, start=1)
    }


def _router_by_time(
    folder: Path, weights: Path, columns: str, missing: str, period: float | None, waiting: bool, *, quiet: bool
) -> tuple[rs.Router, dict[str, Any]]:
    """Return a router with the weights of a table by time of day, and what to say about them."""
    instances = rs.InstanceSet.load(folder)
    router = rs.Router(instances.graph)
    with working("reading", quiet=quiet):
        rows, times = tables.by_time(weights, instances, columns, missing)
    try:
        router.update_by_time(rows, times, period=period, waiting=waiting)
    except WeightError as error:  # of the options, not of the arguments
        raise WeightError(f"{weights}: {error}".replace("waiting=True", "--waiting")) from None
    return router, {"weights": str(weights)}


@app.command()
def matrix(
    folder: options.Folder,
    sources: Annotated[list[str], typer.Option("--from", help="Labels or vertices; may be repeated, or a,b,c.")],
    targets: Annotated[list[str], typer.Option("--to", help="The same.")],
    weights: Weights = None,
    time: Time = "",
    snapshot: Row = None,
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    jobs: options.Jobs = 1,
    json: Json = False,
) -> int:
    """Print the costs of shortest paths between two sets of vertices.

    Example: rhostar matrix trips --weights today.csv --from a,b --to c
    """
    router, facts = router_for(folder, weights, time, snapshot, columns, missing, [], "", "", quiet=json)
    rows, across = ([_label(router, word) for word in _split(router, all_)] for all_ in (sources, targets))
    costs = router.matrix(rows, across, n_jobs=jobs)
    cells = [[row, *costs[i].tolist()] for i, row in enumerate(map(str, rows))]
    emit(
        {"sources": rows, "targets": across, **facts, "costs": costs},
        json,
        table(["", *map(str, across)], cells),
    )
    return OK


@app.command()
def within(
    folder: options.Folder,
    source: Annotated[str, typer.Option("--from", help="A label or vertex.")],
    max_cost: Annotated[float, typer.Option(help="The highest cost, inclusive.")],
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Print the vertices that can reach this one instead.")
    ] = False,
    weights: Weights = None,
    time: Time = "",
    snapshot: Row = None,
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    json: Json = False,
) -> int:
    """Print the vertices within a cost, the nearest first.

    Example: rhostar within trips --snapshot 0 --from a --max-cost 15
    """
    router, facts = router_for(folder, weights, time, snapshot, columns, missing, [], "", "", quiet=json)
    label = _label(router, source)
    found = router.within(label, max_cost, reverse=reverse)
    head = f"{len(found.vertices)} of {router.graph.n} vertices"
    rows = list(zip(map(str, found.labels), found.costs.tolist(), strict=True))
    shown = rows if len(rows) <= 30 else [*rows[:29], (f"... {len(rows) - 29} more; --json prints them", "")]
    emit(
        {"vertex": label, "max_cost": max_cost, **facts, "vertices": list(found.labels), "costs": found.costs},
        json,
        f"{head}\n{table(['vertex', 'cost'], shown)}",
    )
    return OK


def _costs(router: rs.Router, avoid: list[str], change: list[str]) -> QueryCosts:
    """Return what the options say about the costs of one query."""
    edges, vertices, changed, weights = [], [], [], []
    for word in avoid:
        try:
            vertices.append(_label(router, word))
        except VertexError:
            edges.append(_edge(router, word, "--avoid"))
    for word in change:
        name, _, weight = word.rpartition("=")
        try:
            weights.append(float(weight))
        except ValueError:
            raise InputError(f"--change must be TAIL:HEAD=WEIGHT, got {word!r}") from None
        if not weights[-1] >= 0:
            raise WeightError(f"--change {word}: a weight must be at least 0 and not NaN")
        changed.append(_edge(router, name, "--change"))
    costs: QueryCosts = {}
    if edges:
        costs["avoid"] = edges
    if vertices:
        costs["avoid_vertices"] = vertices
    if changed:
        costs["changes"] = (changed, weights)
    return costs


def _edge(router: rs.Router, word: str, option: str) -> tuple[Any, Any]:
    """Return the ends of the edge that a word TAIL:HEAD names; a label may have a colon itself."""
    parts = word.split(":")
    for k in range(1, len(parts)):
        try:
            tail, head = ends = tuple(_label(router, ":".join(part)) for part in (parts[:k], parts[k:]))
            router.graph.edge_index(router.graph.vertex(tail), router.graph.vertex(head))
            return ends
        except EdgeError:
            raise EdgeError(f"{option} {word}: there is no edge {tail!r} -> {head!r}") from None
        except VertexError as error:
            if len(parts) == 2:
                raise VertexError(f"{option} {word}: {error}") from None
    raise InputError(f"{option}: {word!r} is neither a vertex nor an edge TAIL:HEAD")


def _label(router: rs.Router, word: str) -> Any:
    """Return the label that a word names, or the vertex if there are no labels."""
    return options.names(router.graph, [options.vertex(router.graph, word)])[0]


def _split(router: rs.Router, words: list[str]) -> list[str]:
    """Return the words of an option that may be repeated or have commas; a label may have a comma itself."""
    known = set() if router.graph.labels is None else {str(label) for label in router.graph.labels}
    return [part for word in words for part in ([word] if word in known else word.split(","))]
