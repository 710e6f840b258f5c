"""The commands ``route``, ``matrix`` and ``within``: questions to a router with the weights of today."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._app import app
from rhostar.cli._output import NO_PATH, OK, Json, emit, table, working

if TYPE_CHECKING:
    from rhostar.routing import Router
    from rhostar.routing._query_costs import QueryCosts

Weights = Annotated[
    Path | None, typer.Option(help="A table with the weights of today, by the labels of edges.", show_default=False)
]
Time = Annotated[str, typer.Option(help="Which time of that table, if it has several.", show_default=False)]
Row = Annotated[
    int | None, typer.Option("--snapshot", help="A snapshot of the set instead, by number.", min=0, show_default=False)
]
Model = Annotated[
    list[str], typer.Option("--model", "-m", help="A model that guides the searches.", show_default=False)
]
MaxExcess = Annotated[str, typer.Option(help="By how much a route may exceed the optimum: 5%.", show_default=False)]
MeanExcess = Annotated[str, typer.Option(help="The same on average, as the model was fitted.", show_default=False)]
GeoJson = Annotated[Path | None, typer.Option(help="Write it for a map.", show_default=False)]
Force = options.Force
Avoid = Annotated[
    list[str],
    typer.Option(help="Closed for this query: an edge as TAIL:HEAD, or a vertex; may be repeated.", show_default=False),
]
Change = Annotated[
    list[str],
    typer.Option(help="Another weight for this query: TAIL:HEAD=WEIGHT; may be repeated.", show_default=False),
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
) -> tuple[Router, dict[str, Any]]:
    """Return a router with its weights, and what to say about them; without `required`, weights may be left out."""
    import rhostar as rs
    from rhostar.errors import InputError

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
            raise InputError("--weights and --snapshot exclude each other")
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
        raise InputError(f"the set has {count} snapshots: say which weights with --weights TABLE or --snapshot NUMBER")
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
    avoid: Avoid = [],  # noqa: B006
    change: Change = [],  # noqa: B006
    geojson: GeoJson = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Find a shortest path with the weights of today.

    Example: rhostar route DATA --weights today.csv --from a --to b.

    With - it is a service: each line of standard input is a JSON object such as {"do": "route", "source": "a",
    "target": "b"} or {"do": "update", "edges": [["a", "b"]], "weights": [7.5]}, and each answer is one line. The page
    "Route while costs change" has the protocol. The exit code is 1 if there is no path.
    """
    from rhostar import _files as files
    from rhostar.errors import InputError

    given = (weights, time, snapshot, columns, missing, model, max_excess, mean_excess)
    if queries:
        if queries != "-" or source or target or geojson or avoid or change:
            raise InputError("route takes - to read queries, or --from and --to; got both, or another word")
        from rhostar.cli._service import serve

        return serve(router_for(folder, *given, quiet=True, required=False)[0], sys.stdin, sys.stdout)
    if not source or not target:
        raise InputError("route needs --from and --to, or - to read queries from standard input")
    if geojson is not None:
        options.refuse_overwrite(geojson, force)
    router, facts = router_for(folder, *given, quiet=json)
    s, t = (_label(router, word) for word in (source, target))
    found = router.route(s, t, **_costs(router, avoid, change))
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
            **({} if geojson is None else {"written": str(geojson)}),
        },
        json,
    )
    return OK if found.path.size else NO_PATH


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
    """Print the costs of shortest paths between two sets of vertices."""
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
    max_cost: Annotated[float, typer.Option(help="What it may cost to get there, inclusive.")],
    reverse: Annotated[bool, typer.Option("--reverse", help="What reaches the vertex instead.")] = False,
    weights: Weights = None,
    time: Time = "",
    snapshot: Row = None,
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    json: Json = False,
) -> int:
    """Print what can be reached within a cost, the nearest first."""
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


def _costs(router: Router, avoid: list[str], change: list[str]) -> QueryCosts:
    """Return what the options say about the costs of one query."""
    from rhostar.errors import InputError, VertexError

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
        changed.append(_edge(router, name, "--change"))
    costs: QueryCosts = {}
    if edges:
        costs["avoid"] = edges
    if vertices:
        costs["avoid_vertices"] = vertices
    if changed:
        costs["changes"] = (changed, weights)
    return costs


def _edge(router: Router, word: str, option: str) -> tuple[Any, Any]:
    """Return the ends of the edge that a word TAIL:HEAD names; a label may have a colon itself."""
    from rhostar.errors import InputError, VertexError

    parts = word.split(":")
    for k in range(1, len(parts)):
        try:
            return _label(router, ":".join(parts[:k])), _label(router, ":".join(parts[k:]))
        except VertexError as error:
            if len(parts) == 2:
                raise VertexError(f"{option} {word}: {error}") from None
    raise InputError(f"{option}: {word!r} is neither a vertex nor an edge TAIL:HEAD")


def _label(router: Router, word: str) -> Any:
    """Return the label that a word names, or the vertex if there are no labels."""
    return options.names(router.graph, [options.vertex(router.graph, word)])[0]


def _split(router: Router, words: list[str]) -> list[str]:
    """Return the words of an option that may be repeated or have commas; a label may have a comma itself."""
    known = set() if router.graph.labels is None else {str(label) for label in router.graph.labels}
    return [part for word in words for part in ([word] if word in known else word.split(","))]
