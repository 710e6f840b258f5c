"""The commands ``evaluate`` and ``bench``: compare heuristics by expansions, and by time."""

from __future__ import annotations

from typing import Annotated

import typer

from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, short, table, working


@app.command()
def evaluate(
    folder: options.Folder,
    model: options.Models = [],  # noqa: B006
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    everything: options.Seen = False,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Compare heuristics on unseen instances."""
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


@app.command()
def bench(
    folder: options.Folder,
    model: options.Models = [],  # noqa: B006
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = "",
    reopen: options.Reopen = True,
    rounds: Annotated[int, typer.Option(help="Rounds over all instances; the median counts.", min=1)] = 5,
    everything: options.Seen = False,
    json: Json = False,
) -> None:
    """Time heuristics on this machine, in turn, on one thread."""
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
