"""The command ``bounds``: the pseudo-dimension, sample sizes and accuracies, or the size of a holdout."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer

import rhostar as rs
from rhostar.cli._app import app
from rhostar.cli._output import WIDTH, Json, emit
from rhostar.errors import InputError


@app.command()
def bounds(
    n: Annotated[int | None, typer.Option("-n", "--vertices", help="Number of vertices.")] = None,
    algorithm: Annotated[Literal["astar", "gbfs"], typer.Option("--algorithm", "-a", help="The search.")] = "astar",
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="Accuracy of the mean.")] = None,
    delta: Annotated[float, typer.Option("--delta", "-d", help="Probability of failure.")] = 0.05,
    samples: Annotated[int | None, typer.Option("--samples", "-N", help="Number of instances.")] = None,
    limit: Annotated[float, typer.Option("--limit", "-H", help="Upper end of the utility's range.")] = 1.0,
    degree: Annotated[int | None, typer.Option(help="Largest out-degree of a vertex.")] = None,
    integer_weights: Annotated[int | None, typer.Option(help="Weights are integers from 0 to this.")] = None,
    parameters: Annotated[int | None, typer.Option("--parameters", "-k", help="Parameters k of ρ = b + Φθ.")] = None,
    levels: Annotated[int | None, typer.Option(help="Number of values that each ρ_v can take.")] = None,
    holdout: Annotated[bool, typer.Option("--holdout", help="Plan a holdout for one ρ: no -n, -N.")] = False,
    mean: Annotated[float | None, typer.Option(help="With --holdout: a guess of the mean utility.")] = None,
    share: Annotated[bool, typer.Option("--share", help="With --holdout: every utility is 0 or H.")] = False,
    assurance: Annotated[float, typer.Option(help="With --holdout: how often the bound should be that close.")] = 0.8,
    json: Json = False,
) -> None:
    """Show how many instances a guarantee takes.

    The answer holds for every ρ at once. With -n alone it is the pseudo-dimension; with --epsilon the number of
    instances N; with -N the accuracy ε.

    With --holdout the answer is for one ρ: how many instances to hold out from learning, so that the bound on the mean
    is at most ε above what they show. It needs --epsilon, --limit and --mean.

    Example: rhostar bounds -n 207 --epsilon 0.1
    """
    if holdout:
        about_every = {"-n": n, "-N": samples, "--degree": degree, "--integer-weights": integer_weights}
        about_every |= {"-k": parameters, "--levels": levels}
        if unused := [name for name, value in about_every.items() if value is not None]:
            raise InputError(f"{unused[0]} is about every ρ at once; --holdout is about one ρ and does not use it")
        if epsilon is None:
            raise InputError("--holdout needs --epsilon: how far above the measured mean the bound may be")
        if mean is None:
            raise InputError("--holdout needs --mean, a guess of the mean utility")
        plan = rs.bounds.holdout_size(
            limit=limit, epsilon=epsilon, mean=mean, share=share, delta=delta, assurance=assurance
        )
        emit({"unknown": "holdout", **asdict(plan)}, json, "\n".join(textwrap.wrap(str(plan), WIDTH)))
        return
    if mean is not None or share:
        raise InputError(f"{'--share' if mean is None else '--mean'} is for --holdout")

    of: dict[str, Any] = {
        "algorithm": algorithm,
        "integer_weights": integer_weights,
        "out_degree": degree,
        "parameters": parameters,
        "levels": levels,
    }
    if n is None:
        raise InputError("give -n, the number of vertices")
    if epsilon is not None and samples is not None:
        raise InputError("give --epsilon or --samples, not both: the other one is computed")
    if epsilon is None and samples is None:
        found = rs.pseudo_dimension(n, **of)
        rows = [{"bound": r.label, "origin": r.origin, "value": r.value, "meaning": r.meaning} for r in found.rows]
        emit({"unknown": "pseudo-dimension", "n": n, "value": found.upper, "rows": rows}, json, str(found))
        return
    if epsilon is not None:
        plans = rs.sample_size(n=n, epsilon=epsilon, delta=delta, limit=limit, **of)
    else:
        assert samples is not None
        plans = rs.deviation(n=n, samples=samples, delta=delta, limit=limit, **of)
    rows = [{"bound": r.label, "origin": r.origin, "value": r.value, "about": r.about} for r in plans.rows]
    unknown = "samples" if epsilon is not None else "epsilon"
    emit({"unknown": unknown, "value": plans.best, "rows": rows}, json, str(plans))
