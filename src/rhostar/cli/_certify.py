"""The command ``certify``: what can be guaranteed for unseen instances."""

from __future__ import annotations

from typing import Annotated

import typer

from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, working
from rhostar.cli._weight_bounds import FROM_DATA, WeightBounds, of_model, stated


@app.command(cls=listing("Utilities", options.utilities))
def certify(
    folder: options.Folder,
    model: options.OneModel,
    utility: Annotated[str, typer.Option("--utility", "-u", help="What to bound: one of those below.")],
    limit: options.Limit = None,
    delta: Annotated[float, typer.Option("--delta", "-d", help="Probability that the promise fails.")] = 0.05,
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    weight_bounds: WeightBounds = "",
    integer_weights: Annotated[int | None, typer.Option(help="Weights are integers up to this.")] = None,
    degree: Annotated[int | None, typer.Option(help="Most children that a vertex can have.")] = None,
    quantile: Annotated[float | None, typer.Option(help="Promise a share of answers, such as 0.99.")] = None,
    by: Annotated[str | None, typer.Option(help="'goal': one promise for each goal.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="'day': trips of a day depend on each other, days do not. 'none': no trip does.")
    ] = None,
    bound: Annotated[str | None, typer.Option(help="The bound that carries the promise.")] = None,
    candidates: Annotated[int, typer.Option(help="Models compared on these instances before.", min=1)] = 1,
    seen: options.SeenPolicy = "refuse",
    random_state: Annotated[int, typer.Option(help="Seed of the orders that are averaged over.", min=0)] = 0,
    save: Annotated[bool, typer.Option("--save", help="Keep the certificate in the model file.")] = False,
    json: Json = False,
) -> None:
    """Show what can be promised for unseen instances.

    Instances of the folder that the model was learned from are the training set, the others the holdout. A model that
    promises optimal answers brings its own bounds on the weights, unless others are given.
    """
    from functools import partial

    import rhostar as rs
    from rhostar.errors import AssumptionError, InputError

    instances = rs.InstanceSet.load(folder)
    path, fitted = options.one_model(model)
    # If the model was learned from all of them, the bounds for every rho at once still apply.
    train, holdout = options.parts(instances, fitted)
    chosen = fitted.search_with(options.algorithm_of(algorithm))
    bounds = stated(weight_bounds, instances.graph)
    own = chosen == "astar" and bounds is None and fitted.promise_ == "optimal"
    if weight_bounds == FROM_DATA and not own:
        raise InputError(
            "--weight-bounds from-data needs a model that promises optimal answers (fit --promise optimal)"
        )
    with working(f"certifying on {len(instances):,} instances", quiet=json):
        run = partial(
            rs.certify,
            fitted,
            train=train,
            holdout=holdout,
            algorithm=chosen,
            reopen=reopen,
            budget=budget,
            utility=options.utility(utility, limit, instances),
            integer_weights=integer_weights,
            out_degree=degree,
            quantile=quantile,
            by=options.categories(by),
            groups=options.groups(groups, holdout),
            bound=bound,
            candidates=candidates,
            seen=options.seen_policy(seen),
            delta=delta,
            random_state=random_state,
        )
        try:
            pair = of_model(fitted, instances.graph) if own else None if bounds is None else bounds.pair
            found = run(weight_bounds=pair)
        except AssumptionError as error:
            if not own:
                raise
            found = run()  # may raise for another reason, which is then the one to tell
            typer.echo(f"note: the bounds of the model do not hold here, so nothing is certain: {error}", err=True)
    if save:
        fitted.with_certificate(found.to_dict()).save(path)
    emit(found.to_dict(), json, str(found))
