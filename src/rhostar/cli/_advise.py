"""The command ``advise``: which way of answering queries is the fastest on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, working
from rhostar.cli._weight_bounds import WeightBounds, parse_bounds


@app.command()
def advise(
    folder: options.Folder,
    queries: Annotated[
        float, typer.Option("--queries", "-q", help="Queries between two changes of the weights, to all goals.")
    ],
    goals: Annotated[
        int | None,
        typer.Option(
            help="How many different goals these have; if more than in the set, they are drawn from all vertices."
        ),
    ] = None,
    mean_excess: Annotated[
        str,
        typer.Option(help="How far paths may exceed the optimum on average, such as 1%.", metavar="SHARE"),
    ] = "0",
    weight_bounds: WeightBounds = "",
    json: Json = False,
) -> None:
    """Measure which way of answering queries is the fastest here.

    It compares the router, tables, learned values and, if installed, RoutingKit.

    Exact values are built from --weight-bounds, as in learn, or else from the lowest weights in the set.

    Example: rhostar advise trips --queries 50
    """
    instances = rs.InstanceSet.load(folder)
    bounds = parse_bounds(weight_bounds, instances.graph, instances)
    lower = None if bounds is None else bounds.pair[0]
    excess = options.share(mean_excess, "--mean-excess") or 0.0
    with working("measuring", quiet=json):
        found = rs.advise(instances, queries, goals=goals, mean_excess=excess, lower=lower)
    facts = {} if bounds is None else bounds.facts
    values = {
        "queries": found.queries,
        "goals": found.goals,
        "best": found.best.name,
        "options": [asdict(o) | {"seconds": found.seconds(o)} for o in found.options],
        "left_out": found.left_out,
        **facts,
    }
    told = [f"{name.replace('_', ' ')}: {fact}" for name, fact in facts.items()]
    emit(values, json, "\n".join([str(found), *told]))
