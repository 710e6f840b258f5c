"""The command ``audit``: whether the answers of an A* are optimal, and if not, how much longer they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, working
from rhostar.errors import InputError

_EXACT = 20
"""Queries that the page follows exactly along all factors."""


@app.command()
def audit(
    source: Annotated[
        Path, typer.Argument(help="A folder that `rhostar import` wrote, or a log in a CSV file.", show_default=False)
    ],
    model: options.OneModel = [],  # noqa: B006
    distance: Annotated[
        Literal["euclidean", "octile", "haversine"] | None, typer.Option(help="The distance by coordinates.")
    ] = None,
    factor: Annotated[float, typer.Option(help="Factor on the heuristic, such as 1 / speed.", min=0)] = 1.0,
    mean_excess: Annotated[
        str, typer.Option(help="Choose the fastest factor with this mean loss, such as 1%.", show_default=False)
    ] = "",
    limit: Annotated[str, typer.Option("--limit", "-H", help="A larger loss counts as this one.")] = "100%",
    confidence: Annotated[float, typer.Option(help="All sentences together hold with this probability.")] = 0.95,
    anytime: Annotated[bool, typer.Option("--anytime", help="Sentences hold at every size of a growing log.")] = False,
    reopen: options.Reopen = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write an HTML page.")] = None,
    force: options.Force = False,
    json: Json = False,
) -> None:
    """Check whether answers of A* are optimal, or how much longer.

    The heuristic is a model or a distance by coordinates, times a factor. A log needs none: its columns are optimum,
    and estimate or cost or both; factor, effort, group and query are optional.

    Example: rhostar audit trips --distance euclidean --factor 0.02
    """
    if out is not None:
        options.refuse_overwrite(out, force)
    target, most = options.share(mean_excess, "--mean-excess"), options.share(limit, "--limit")
    heuristic, instances = _given(source, model, distance, factor)
    common: dict[str, Any] = {"confidence": confidence, "limit": most}
    if instances is not None:
        common["reopen"] = reopen
    costs = instances is not None or heuristic.cost is not None
    if target is not None and not costs:
        raise InputError("--mean-excess needs a log with the column cost")
    with working("auditing", quiet=json):
        found = rs.audit(heuristic, instances, anytime=anytime, **common)
        choice = None
        if target is not None:
            choice = rs.choose_weight(heuristic, instances, mean_excess=target, anytime=anytime, **common)
        if out is not None:
            exact = 0 if instances is None or heuristic.uses_weights else _EXACT
            curve = rs.weight_curve(heuristic, instances, exact=exact, **common) if costs else None
            rs.report.write(rs.report.audit_page(found, curve, choice), out)
    values = found.to_dict()
    text = str(found)
    if choice is not None:
        values["weight"] = {"factor": choice.factor, "passed": choice.passed, "sentence": choice.sentence}
        text += f"\n\n{choice}"
    if out is not None:
        values["written"] = str(out)
        text += f"\n\n{out}"
    emit(values, json, text)


def _given(source: Path, models: list[str], distance: str | None, factor: float) -> tuple[Any, Any]:
    """Return what is audited, and where: a log and None, or a heuristic and the instances that it has not seen."""
    if source.is_file():
        if models or distance or factor != 1:
            raise InputError("a log needs no --model, no --distance and no --factor")
        return rs.certificates.read_log(source), None
    if bool(models) + bool(distance) != 1:
        raise InputError("give one --model or one --distance")
    instances = rs.InstanceSet.load(source)
    if models:
        model = options.one_model(models)[1]
        instances = options.unseen(instances, [model], False)
        found = rs.heuristics.as_heuristic(model, instances.graph)
    else:
        found = getattr(rs.heuristics, str(distance))(instances.graph)
    return (found if factor == 1 else found.scaled(factor)), instances
