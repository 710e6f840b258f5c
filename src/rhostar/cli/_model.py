"""``fit``, ``solve``, ``evaluate``, ``certify``, ``bench`` and ``report``: what is done with a set of instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rhostar.cli import _options as options
from rhostar.cli._data import Folder, names, vertex
from rhostar.cli._output import NO_PATH, OK, OUT_OF_BUDGET, Json, emit, short, table, watching, words, working


def fit(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write (.npz).")],
    learner: Annotated[str, typer.Option("--learner", "-l", help="A learner by name, or auto.")] = "auto",
    settings: Annotated[list[str], typer.Option("--set", "-s", help="A parameter of the learner: name=value.")] = [],  # noqa: B006
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="auto: astar or gbfs.")] = "astar",
    time_limit: Annotated[float, typer.Option(help="Seconds that auto may take.", min=0.1)] = 10.0,
    fraction: Annotated[float, typer.Option(help="Share of the instances to learn from.", min=0.0, max=1.0)] = 0.7,
    seed: Annotated[int, typer.Option(help="For the split and the learner.", min=0)] = 0,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Learn ρ from a part of the instances and save it as a model.

    The rest stays unseen: evaluate, certify, bench and report use it.
    """
    import time

    import rhostar as rs

    instances = rs.InstanceSet.load(folder)
    chosen: Any = options.algorithm_of(algorithm) or "astar"
    train = instances if fraction == 1 else instances.split(fraction, seed)[0]
    given = options.parameters(settings)
    start = time.perf_counter()
    with working(f"learning from {len(train):,} instances", quiet=json or learner != "auto"):
        if learner == "auto":
            fitted: Any = rs.learn(train, algorithm=chosen, time_limit=time_limit, seed=seed, n_jobs=jobs, **given)
        else:
            fitted = _learner(learner, given, seed, jobs, watching(json)).fit(train)
    model = rs.Model.of(fitted, instances.graph)
    model.save(out)
    seconds = time.perf_counter() - start
    emit(
        {
            "written": str(out),
            "learner": model.learner,
            "for": model.algorithm,
            "learned_from": len(train),
            "unseen": len(instances) - len(train),
            "seconds": round(seconds, 3),
        },
        json,
    )


def _learner(name: str, given: dict[str, Any], seed: int, jobs: int, verbose: bool) -> Any:
    from rhostar import learners
    from rhostar.errors import InputError

    known = sorted(n for n in learners.__all__ if n not in ("Learner", "Scorer") and n[0].isupper())
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


def solve(
    folder: Folder,
    model: options.Models = [],  # noqa: B006
    baseline: Annotated[str, typer.Option("--baseline", "-b", help="Instead of a model.")] = "zero",
    index: Annotated[int, typer.Option("--index", "-i", help="Which instance.", min=0)] = 0,
    source: Annotated[str, typer.Option(help="Another start: a label or vertex.")] = "",
    goal: Annotated[str, typer.Option(help="Another goal: a label or vertex.")] = "",
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    json: Json = False,
) -> int:
    """Find one path; exit code 1: there is none, 3: out of budget."""
    import rhostar as rs
    from rhostar.errors import InputError

    instances = rs.InstanceSet.load(folder)
    if index >= len(instances):
        raise InputError(f"--index must be below {len(instances)}, got {index}")
    instance = instances[index]
    graph = instances.graph
    start = vertex(graph, source) if source else instance.source
    end = vertex(graph, goal) if goal else instance.goal
    loaded = options.load_models(model)
    if len(loaded) > 1:
        raise InputError("solve takes one --model")
    if loaded:
        found = next(iter(loaded.values()))
        rho: Any = found.rho_on(graph)
        if found.goals and end not in found.goals:
            fitted, asked = words(names(graph, found.goals)), words(names(graph, [end]))
            raise rs.errors.ModelError(f"the model was fitted for goal {fitted}, not {asked}")
        chosen = found.search_with(options.algorithm_of(algorithm))
    else:
        one = rs.InstanceSet(
            graph, instance.weights, [start if start != end else (end + 1) % graph.n], end, infeasible="keep"
        )
        rho = options.baseline(baseline, one)[1]
        chosen = options.algorithm_of(algorithm) or "astar"
    if chosen == "gbfs":
        run = rs.gbfs(graph, instance.weights, start, end, rho, budget=budget)
    else:
        run = rs.astar(graph, instance.weights, start, end, rho, reopen=reopen, budget=budget)
    path = names(graph, run.path.tolist())
    emit(
        {
            "status": str(run.status),
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


def evaluate(
    folder: Folder,
    model: options.Models = [],  # noqa: B006
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    everything: options.Seen = False,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Compare heuristics on instances that were not learned from."""
    import rhostar as rs

    instances = rs.InstanceSet.load(folder)
    models = options.load_models(model)
    test = options.unseen(instances, list(models.values()), everything)
    with working(f"solving {len(test):,} instances", quiet=json):
        compared = options.methods(test, models, baseline, algorithm, reopen)
        found = rs.report.compare(test, compared, budget=budget, n_jobs=jobs)
    rows = [
        (m.name, m.algorithm, m.expansions, m.expansions_95, 100 * m.excess, 100 * m.excess_max, m.saving, m.solved)
        for m in found
    ]
    head = ["heuristic", "algorithm", "expanded", "95 %", "excess %", "worst %", "saving", "solved"]
    shown = [(r[0], r[1], *(short(x) for x in r[2:7]), str(r[7])) for r in rows]
    kind = "instances, learned from or not" if everything else "unseen instances"
    text = f"{len(test):,} {kind}\n{table(head, shown, text_columns=2)}"
    keys = ["name", "algorithm", "expansions", "expansions_95", "excess", "excess_max", "saving", "solved"]
    methods = [{key: getattr(m, key) for key in keys} for m in found]
    emit({"instances": len(test), "methods": methods}, json, text)


def certify(
    folder: Folder,
    model: options.Models,
    utility: Annotated[str, typer.Option("--utility", "-u", help=f"One of {', '.join(options.UTILITIES)}.")],
    limit: Annotated[float | None, typer.Option("--limit", "-H", help="Upper end H of its range.")] = None,
    delta: Annotated[float, typer.Option("--delta", "-d", help="Probability that the promise fails.")] = 0.05,
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    weight_bounds: Annotated[tuple[float, float] | None, typer.Option(help="All weights lie between these.")] = None,
    integer_weights: Annotated[int | None, typer.Option(help="Weights are integers up to this.")] = None,
    degree: Annotated[int | None, typer.Option(help="No vertex has more children.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Keep the certificate in the model file.")] = False,
    json: Json = False,
) -> None:
    """Say what can be promised for unseen instances.

    Every bound that applies, tightest first. Instances of the folder that the model was learned from are the training
    set, the others the holdout.
    """
    import rhostar as rs
    from rhostar.errors import InputError

    instances = rs.InstanceSet.load(folder)
    loaded = options.load_models(model)
    if len(loaded) != 1:
        raise InputError("certify takes one --model")
    (fitted,) = loaded.values()
    train = options.seen(instances, fitted)
    # Where all were learned from, there are still the bounds for every rho at once.
    holdout = None if train is not None and len(train) == len(instances) else options.unseen(instances, [fitted], False)
    with working(f"certifying on {len(instances):,} instances", quiet=json):
        found = rs.certify(
            fitted,
            train=train,
            holdout=holdout,
            algorithm=fitted.search_with(options.algorithm_of(algorithm)),
            reopen=reopen,
            budget=budget,
            utility=options.utility(utility, limit, instances),
            weight_bounds=weight_bounds,
            integer_weights=integer_weights,
            out_degree=degree,
            delta=delta,
        )
    if save:
        fitted.with_certificate(found.to_dict()).save(model[0].partition("=")[2] or model[0])
    emit(found.to_dict(), json, str(found))


def bench(
    folder: Folder,
    model: options.Models = [],  # noqa: B006
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    rounds: Annotated[int, typer.Option(help="Rounds over all instances; the median counts.", min=1)] = 5,
    everything: options.Seen = False,
    json: Json = False,
) -> None:
    """Time heuristics on this machine, one thread, in turn."""
    import rhostar as rs

    instances = rs.InstanceSet.load(folder)
    models = options.load_models(model)
    test = options.unseen(instances, list(models.values()), everything)
    with working(f"{rounds} rounds of {len(test):,} instances", quiet=json):
        compared = options.methods(test, models, baseline, algorithm, reopen)
        found = rs.report.time_methods(test, compared, rounds=rounds)
    rows = [(t.name, f"{t.microseconds:.1f}", f"{t.nanoseconds:.0f}", f"{t.speedup:.2f}") for t in found]
    head = ["heuristic", "µs a query", "ns an expansion", "speed-up"]
    emit(
        {"instances": len(test), "rounds": rounds, "methods": [t._asdict() for t in found]},
        json,
        f"{len(test):,} instances, {rounds} rounds\n{table(head, rows)}",
    )


def report(
    folder: Folder,
    model: options.Models = [],  # noqa: B006
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    figures: Annotated[Path | None, typer.Option(help="A folder for the figures as SVG and PNG.")] = None,
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Learned heuristic values",
    unit: Annotated[str, typer.Option(help="What costs are counted in.")] = "",
    scenes: Annotated[int, typer.Option(help="How many instances to replay.", min=0, max=7)] = 3,
    geographic: Annotated[bool, typer.Option("--geographic", help="Coordinates are degrees.")] = False,
    everything: options.Seen = False,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Write one HTML page, with searches to watch.

    It shows the comparison and the certificate kept in a model (`rhostar certify --save`).
    """
    import rhostar as rs

    instances = rs.InstanceSet.load(folder)
    models = options.load_models(model)
    test = options.unseen(instances, list(models.values()), everything)
    kept = next((m.certificate for m in models.values() if m.certificate is not None), None)
    with working(f"solving {len(test):,} instances", quiet=json):
        page = rs.report.build(
            test,
            options.methods(test, models, baseline, algorithm, reopen),
            title=title,
            train=options.seen(instances, *models.values()),
            certificate=None if kept is None else rs.report.certificate_view(kept),
            scenes=scenes,
            budget=budget,
            cost_unit=unit,
            geographic=geographic,
            n_jobs=jobs,
        )
        path = rs.report.write(page, out, figures_folder=figures)
    emit({"written": str(path), "bytes": path.stat().st_size, "figures": figures and str(figures)}, json)
