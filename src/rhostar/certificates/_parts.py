"""The three parts of a table: bounds on the holdout, bounds on train, and what is certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rhostar.certificates._case import Case
from rhostar.certificates._certain import certain, loss_range
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._measured import score
from rhostar.certificates._on_holdout import ON_HOLDOUT, Judged, default_bound, looks, on_holdout
from rhostar.certificates._on_train import on_train
from rhostar.certificates._paths import optimal_paths
from rhostar.certificates._per_answer import most_excess_below
from rhostar.certificates._request import Setting
from rhostar.instances import InstanceSet
from rhostar.search._rho import chooses


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table."""

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    largest: float = 0.0
    """The largest utility that was seen."""
    promises: Mapping[int | None, str] = field(default_factory=dict)
    """The label of the bound that would carry the promise, for each goal that has one of its own, else for None."""


def judged(case: Case, bound: str | None) -> Part:
    """Return the bounds on the holdout; `bound` is what the user asked for."""
    assert case.sample is not None
    request, instances = case.request, case.sample.instances
    paths = optimal_paths(instances) if request.utility.needs_optimum else None
    found = Judged(
        request,
        case.sample,
        score(request, instances, case.measured, paths),
        loss_range(request, case.stated, case.excess, exact=case.exact),
        case.goals["holdout"],
        case.known,
    )
    default = default_bound(found)
    asked = default
    if bound is not None:
        labels = [entry.label for entry in ON_HOLDOUT if entry.binary == found.binary]
        asked = next((label for label in (*labels, "H6 quantile") if same_label(label, bound)), bound)
    rows, dropped = on_holdout(found, asked)
    return Part(tuple(rows), tuple(dropped), tuple(looks(found, rows)), float(found.score.raw.max()), {None: default})


def learned(case: Case) -> Part:
    """Return the bounds on the training instances, goal by goal."""
    train, goals = case.sets["train"], case.goals["train"]
    if case.dependent:
        return Part((), (Dropped("bounds on train", case.dependent),))
    rows: list[Certificate] = []
    dropped: list[Dropped] = []
    notes: list[str] = []
    promises: dict[int | None, str] = {}
    largest = 0.0
    for goal in goals:
        own = train if len(goals) == 1 else train[np.flatnonzero(train.goals == goal)]
        label = goal if len(goals) > 1 else None
        if len(own) < 2:
            dropped.append(Dropped("bounds on train", "a single instance says nothing", label))
            continue
        found = on_train(make_setting(case, goal, own), own, case.placed[goal])
        # Where no bound says anything, the range is worth a row only if there is nothing else.
        rows += [replace(row, goal=label) for row in found.rows if case.sample is None or row.label != "range"]
        dropped += [replace(entry, goal=label) for entry in found.dropped]
        notes += [note if label is None else f"goal {case.request.name_of(goal)}: {note}" for note in found.notes]
        promises[label] = found.promised
        largest = max(largest, found.largest)
    return Part(tuple(rows), tuple(dropped), tuple(notes), largest, promises)


def make_setting(case: Case, goal: int, instances: InstanceSet) -> Setting:
    """Return what is known of a goal and its training instances before any utility is seen."""
    request, graph, family = case.request, case.graph, case.families[goal]
    return Setting(
        request=request,
        graph=graph,
        goal=goal,
        stated=case.stated,
        caps=np.broadcast_to(case.caps.values, graph.m),
        caps_given=case.caps.given,
        excess=most_excess_below(graph, goal, case.caps.values, case.stated.low) if request.per_answer else np.inf,
        delta=request.delta / len(case.goals["train"]),
        samples=len(instances),
        rows=family.capacities(
            graph.n,
            request.algorithm,
            integer_weights=request.integer_weights,
            out_degree=request.out_degree,
            reopen=request.reopen,
        ),
        scope="every rho" if family.every_rho else "every rho of the family",
        exact=case.placed[goal].exact,
    )


def certainties(case: Case, largest: float) -> Part:
    """Return what is certain; `largest` is the largest excess that was seen."""
    if chooses(case.computed):
        return Part((), (Dropped("U5", "rho chooses among tables, which are not bounded one by one"),))
    goals = sorted({goal for own in case.goals.values() for goal in own})
    found = certain(case.request, case.graph, case.stated, case.placed, goals, case.excess, largest)
    rows = tuple(entry for entry in found if isinstance(entry, Certificate))
    return Part(rows, tuple(entry for entry in found if isinstance(entry, Dropped)))


def same_label(label: str, asked: str) -> bool:
    """Return whether a user's words name a bound: "H1-kl Q64" answers to itself, "H1-kl" and "Q64" alike."""
    first, _, rest = label.lower().partition(" ")
    return asked.strip().lower().replace("-", " ") in {
        text.replace("-", " ") for text in (label.lower(), first, rest) if text
    }
