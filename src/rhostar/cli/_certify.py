"""The command ``certify``: what can be guaranteed for unseen instances."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, working
from rhostar.cli._weight_bounds import FROM_DATA, WeightBounds, parse_bounds
from rhostar.errors import InputError


@app.command(cls=listing("Utilities", options.utilities))
def certify(
    folder: options.Folder,
    model: options.OneModel,
    utility: Annotated[str, typer.Option("--utility", "-u", help="What to bound: one of those below.")],
    limit: options.Limit = None,
    delta: Annotated[float, typer.Option("--delta", "-d", help="Probability that the guarantee fails.")] = 0.05,
    algorithm: options.Algorithm = None,
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    weight_bounds: WeightBounds = "",
    bound: Annotated[str | None, typer.Option(help="The bound that is the guarantee.")] = None,
    quantile: Annotated[float | None, typer.Option(help="Bound this share of answers, such as 0.99.")] = None,
    by: Annotated[Literal["goal"] | None, typer.Option(help="One guarantee for each goal.")] = None,
    groups: Annotated[
        Literal["day", "none"] | None,
        typer.Option(help="day: trips of a day depend on each other. none: independent trips."),
    ] = None,
    candidates: Annotated[int, typer.Option(help="Models compared on this holdout.", min=1)] = 1,
    duplicates: options.Duplicates = "raise",
    training: Annotated[
        bool, typer.Option("--training", help="Certify on the instances that were used for learning.")
    ] = False,
    integer_weights: Annotated[
        int | None, typer.Option(help="With --training: weights are integers up to this.")
    ] = None,
    degree: Annotated[int | None, typer.Option(help="With --training: largest out-degree of a vertex.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Also show all bounds, conditions and assumptions.")] = False,
    save: Annotated[bool, typer.Option("--save", help="Store the certificate in the model file.")] = False,
    json: Json = False,
) -> None:
    """Show what can be guaranteed for unseen instances.

    The holdout consists of the instances of the folder that were not used to learn the model. With --training, or if
    there are none, the bounds hold for every heuristic at once, on the instances that were used. The guarantee is
    printed in one line; --full adds its conditions, and --json is for programs. With --quantile no limit is needed.

    Example: rhostar certify trips -m model.npz -u suboptimality -H 10
    """
    instances = rs.InstanceSet.load(folder)
    path, fitted = options.one_model(model)
    train, holdout = options.parts(instances, fitted)
    training = training or holdout is None
    chosen = fitted.search_with(algorithm)
    given = parse_bounds(weight_bounds, instances.graph)
    if weight_bounds == FROM_DATA and (chosen != "astar" or fitted.heuristic.lower is None):
        raise InputError(
            "--weight-bounds from-data needs a model whose answers are optimal (learn without --mean-excess)"
        )
    most = math.inf if limit is None and quantile is not None else limit
    measured = rs.utilities.by_name(utility, most, n=instances.graph.n)
    common: dict[str, Any] = {"algorithm": chosen, "reopen": reopen, "budget": budget, "bound": bound, "delta": delta}
    options.refuse_others(
        training,
        {"--integer-weights": integer_weights, "--degree": degree},
        {"--quantile": quantile, "--by": by, "--groups": None if groups == "none" else groups},
    )
    lower, upper = (None, None) if given is None else given.pair
    with working(f"certifying on {len(instances):,} instances", quiet=json):
        if not training:
            assert holdout is not None
            found = rs.certify(
                fitted,
                holdout,
                measured,
                lower=lower,
                quantile=quantile,
                by=by,
                groups=options.groups(groups, holdout),
                candidates=candidates,
                duplicates=duplicates,
                **common,
            )
        elif train is None:
            raise InputError("--training: no instance of this folder can be used for bounds on every heuristic at once")
        else:
            found = rs.certify_training(
                fitted,
                train,
                measured,
                lower=lower,
                upper=upper,
                integer_weights=integer_weights,
                out_degree=degree,
                duplicates="allow" if groups == "none" else "raise",
                **common,
            )
    if save:
        fitted.with_certificate(found.to_dict()).save(path)
    emit(found.to_dict(), json, str(found) if full else f"{found.brief}\nAll bounds and conditions: --full")
