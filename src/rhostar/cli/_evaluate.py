"""The command ``evaluate``: compares heuristics by expansions, time and excess cost."""

from __future__ import annotations

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, short, table, working


@app.command()
def evaluate(
    folder: options.Folder,
    model: options.Models = [],  # noqa: B006
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = None,
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    everything: options.Seen = False,
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Compare heuristics on unseen instances.

    The columns: vertices expanded on average; how many times fewer that is than with the first heuristic; milliseconds
    per query, on one core of this machine; cost above the optimum in percent, on average, at most for 99 % of the
    answers, and at worst. With --json also how many vertices 95 % of the instances need at most.

    Example: rhostar evaluate trips -m model.npz
    """
    instances = rs.InstanceSet.load(folder)
    models = options.load_models(model)
    test = options.unseen(instances, list(models.values()), everything)
    with working(f"solving {len(test):,} instances", quiet=json):
        compared = options.methods(test, models, baseline, algorithm, reopen)
        found = rs.report.compare(test, compared, budget=budget, n_jobs=jobs)
    unsolved = any(m.solved < m.total for m in found)
    searches = list(dict.fromkeys(m.algorithm for m in found))
    several = len(searches) > 1
    rows = [
        (
            m.name,
            *([m.algorithm.partition(" ")[0]] if several else []),  # all of A* reopens, or none: the first line says it
            *(short(number) for number in (m.expansions, m.saving, m.milliseconds)),
            *(short(100 * share) for share in (m.excess, m.excess_99, m.excess_max)),
            *([str(m.solved)] if unsolved else []),
        )
        for m in found
    ]
    head = ["heuristic", *(["search"] if several else []), "expanded", "fewer", "ms", "excess %", "99 %", "worst"]
    head += ["solved"] if unsolved else []
    kind = "instances, learned from or not" if everything else "unseen instances"
    text = f"{len(test):,} {kind}; {' and '.join(searches)}\n{table(head, rows, text_columns=1 + several)}"
    keys = ["name", "algorithm", "expansions", "expansions_95", "saving", "milliseconds"]
    keys += ["excess", "excess_99", "excess_max", "solved"]
    methods = [{key: getattr(m, key) for key in keys} for m in found]
    emit({"instances": len(test), "methods": methods}, json, text)
