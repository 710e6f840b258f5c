"""The command ``solve``: finds one path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._app import app
from rhostar.cli._output import NO_PATH, OK, OUT_OF_BUDGET, Json, emit, words, working


@app.command()
def solve(
    folder: options.Folder,
    model: options.OneModel = [],  # noqa: B006
    baseline: Annotated[str, typer.Option("--baseline", "-b", help="A heuristic to use without a model.")] = "zero",
    index: Annotated[int, typer.Option("--index", "-i", help="Which instance.", min=0)] = 0,
    source: Annotated[str, typer.Option(help="Another start: a label or vertex.")] = "",
    goal: Annotated[str, typer.Option(help="Another goal: a label or vertex.")] = "",
    weights: Annotated[
        Path | None,
        typer.Option(
            help="A table with the weights of today, by the labels of edges; otherwise those of the instance."
        ),
    ] = None,
    columns: tables.Columns = "",
    missing: tables.Missing = "",
    algorithm: options.Algorithm = None,
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    json: Json = False,
) -> int:
    """Find one path.

    Source, goal and weights are those of an instance of the set, or your own: --weights today.csv --source a --goal b.
    A model that guarantees optimal answers compares the weights with its bounds, and answers are optimal in any case.
    The exit code is 1 if there is no path, and 3 if the budget runs out.
    """
    import rhostar as rs
    from rhostar.errors import InputError

    instances = rs.InstanceSet.load(folder)
    if index >= len(instances):
        raise InputError(f"--index must be below {len(instances)}, got {index}")
    if weights is None and (columns or missing):
        raise InputError("--columns and --missing are about the table of --weights, which is not given")
    instance = instances[index]
    graph, row = instances.graph, instance.weights
    facts: dict[str, Any] = {}
    if weights is not None:
        with working("reading", quiet=json):
            row, facts = tables.today(weights, instances, columns, missing)
    start = options.vertex(graph, source) if source else instance.source
    end = options.vertex(graph, goal) if goal else instance.goal
    if model:
        _, found = options.one_model(model)
        rs.heuristics.as_heuristic(found, graph)  # rejects another graph
        rho: Any = found
        if not found.heuristic.serves(end):
            fitted, asked = words(options.names(graph, found.goals)), words(options.names(graph, [end]))
            raise rs.errors.ModelError(f"the model was fitted for goal {fitted}, not {asked}")
        chosen = found.search_with(algorithm)
    else:
        one = rs.InstanceSet(graph, row, [start if start != end else (end + 1) % graph.n], end, infeasible="keep")
        rho = options.baseline(baseline, one)[1]
        chosen = algorithm or "astar"
    if chosen == "gbfs":
        run = rs.gbfs(graph, row, start, end, rho, budget=budget)
    else:
        run = rs.astar(graph, row, start, end, rho, reopen=reopen, budget=budget)
    path, ends = options.names(graph, run.path.tolist()), options.names(graph, [start, end])
    emit(
        {
            "status": str(run.status),
            # A name is not a count: 46134, not 46,134.
            "source": ends[0] if json else str(ends[0]),
            "goal": ends[1] if json else str(ends[1]),
            "snapshot": int(instances.rows[index]) if weights is None else str(weights),
            **facts,
            "cost": run.cost,
            "expanded": run.expanded,
            "generated": run.generated,
            "reopened": run.reopened,
            "peak_open": run.peak_open,
            "path": path if json or len(path) <= 30 else f"{len(path)} vertices; --json prints them",
        },
        json,
    )
    return {"solved": OK, "no_path": NO_PATH, "budget": OUT_OF_BUDGET}[str(run.status)]
