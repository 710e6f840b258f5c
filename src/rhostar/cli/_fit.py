"""The command ``fit``: learns ρ from a set of instances and saves it as a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import Json, emit, watching, working


def _learners() -> Iterator[tuple[str, str]]:
    from rhostar import learners

    for name in dir(learners):
        found = getattr(learners, name)
        if isinstance(found, type) and issubclass(found, learners.Learner) and found is not learners.Learner:
            yield name, options.first_sentence(found)


@app.command(cls=listing("Learners", _learners))
def fit(
    folder: options.Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write (.npz).")],
    learner: Annotated[str, typer.Option("--learner", "-l", help="One of those below; auto picks one for you.")] = (
        "auto"
    ),
    any_goal: Annotated[
        bool, typer.Option("--any-goal", help="Learn values for every goal, not only those of the instances.")
    ] = False,
    settings: Annotated[list[str], typer.Option("--set", "-s", help="A parameter of the learner: name=value.")] = [],  # noqa: B006
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", help="The search that auto chooses for: astar or gbfs.")
    ] = "astar",
    time_limit: Annotated[float, typer.Option(help="Seconds that auto may take.", min=0.1)] = 10.0,
    fraction: Annotated[float, typer.Option(help="Share of the instances to learn from.", min=0.0, max=1.0)] = 0.7,
    seed: Annotated[int, typer.Option(help="Seed of the split and the learner.", min=0)] = 0,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Learn ρ from a part of the instances and save it as a model.

    The rest stays unseen: evaluate, certify, bench and report use it. With --any-goal the learner is Potentials, unless
    another one is given.
    """
    import time

    import rhostar as rs
    from rhostar.errors import InputError

    instances = rs.InstanceSet.load(folder)
    chosen: Any = options.algorithm_of(algorithm) or "astar"
    train = instances if fraction == 1 else instances.split(fraction, seed)[0]
    given = options.parameters(settings)
    if any_goal and learner == "auto":
        learner = "Potentials"
    start = time.perf_counter()
    with working(f"learning from {len(train):,} instances", quiet=json or learner != "auto"):
        if learner == "auto":
            fitted: Any = rs.learn(train, algorithm=chosen, time_limit=time_limit, seed=seed, n_jobs=jobs, **given)
        else:
            fitted = _learner(learner, given, seed, jobs, watching(json)).fit(train)
    model = rs.Model.of(fitted, instances.graph)
    if any_goal and model.potential_ is None:
        raise InputError(f"{learner} learns values for given goals only; with --any-goal use Potentials or Landmarks")
    model.save(out)
    seconds = time.perf_counter() - start
    emit(
        {
            "written": str(out),
            "learner": model.learner,
            "for": model.algorithm,
            "goals": "any" if model.potential_ is not None else len(model.goals) or "any",
            "learned_from": len(train),
            "unseen": len(instances) - len(train),
            "seconds": round(seconds, 3),
        },
        json,
    )


def _learner(name: str, given: dict[str, Any], seed: int, jobs: int, verbose: bool) -> Any:
    """Return a learner by its name in ``rhostar.learners``, with its parameters."""
    from rhostar import learners
    from rhostar.errors import InputError

    known = [known for known, _ in _learners()]
    if name not in known:
        raise InputError(f"--learner must be auto or one of {', '.join(known)}, got {name!r}")
    kind = getattr(learners, name)
    accepted = kind._get_param_names()
    for key in given:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join(accepted)}")
    usual = {"random_state": seed, "n_jobs": jobs, "verbose": int(verbose)}
    try:
        return kind(**{key: value for key, value in usual.items() if key in accepted} | given)
    except TypeError as error:
        raise InputError(f"{name}: {error}; give it with --set") from None
