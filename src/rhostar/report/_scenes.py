"""Which searches the page plays back, and what it keeps of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rhostar.instances import InstanceSet
from rhostar.report import _replay as replay
from rhostar.report._method import Method
from rhostar.report._view import Replay, Scene, SearchView
from rhostar.search import Run, Runs

REPLAY_BYTES = 1_500_000
"""What the searches of a page may take, before base64 makes four bytes of three."""

_NAMES = 5000  # graphs up to this size have all their labels on the page


def pick(baseline: Runs, hero: Runs, scenes: int) -> list[tuple[str, int]]:
    """Return the instances to replay: a typical one, the worst and the best, by what is saved against the baseline."""
    saving = baseline.expanded / np.maximum(hero.expanded, 1)
    order = np.argsort(saving, kind="stable")
    both = [i for i in order.tolist() if hero.solved[i]] or order.tolist()
    wanted = [
        ("a typical instance (median saving)", both[len(both) // 2]),
        ("the worst instance (least saving)", both[0]),
        ("the best instance (greatest saving)", both[-1]),
    ]
    wanted += [(f"at {q} % of all savings", both[int(q / 100 * (len(both) - 1))]) for q in (25, 75, 10, 90)]
    found: list[tuple[str, int]] = []
    for label, i in wanted:
        if len(found) < scenes and i not in [j for _, j in found]:
            found.append((label, i))
    return found


def play(
    instances: InstanceSet,
    methods: Mapping[str, Method],
    optimum: NDArray[np.float64],
    picked: Sequence[tuple[str, int]],
    budget: int | None,
    cost_unit: str,
    geographic: bool,
) -> Replay | None:
    """Return the searches of all methods on the picked instances, as many as there is room for."""
    graph = instances.graph
    drawing = replay.drawing(graph, goal=int(instances.goals[picked[0][1]]), geographic=geographic)
    lightest, heaviest = _extremes(instances)
    left = REPLAY_BYTES - len(drawing.x) - len(drawing.y) - len(drawing.edges)
    scenes: list[Scene] = []
    for label, i in picked:
        instance = instances[i]
        shade = replay.shade(instance, lightest, heaviest)
        room = left - len(shade)
        searches, too_long = [], []
        for name, method in methods.items():
            run = method.trace(instance, budget)
            search = _search(name, method, run, float(optimum[i]), instance.source)
            if len(search.events) > room:
                too_long.append(name)
                continue
            room -= len(search.events)
            searches.append(search)
        if len(searches) < min(2, len(methods)):
            continue
        left = room
        scenes.append(Scene(label, instance.source, instance.goal, shade, tuple(searches), tuple(too_long)))
    if not scenes:
        return None
    labels: dict[int, str] = {}
    if graph.labels is not None:
        ends = {v for scene in scenes for v in (scene.source, scene.goal)}
        shown = range(graph.n) if graph.n <= _NAMES else sorted(ends)
        labels = {v: str(graph.labels[v]) for v in shown}
    return Replay(drawing, tuple(scenes), labels, cost_unit)


def _search(name: str, method: Method, run: Run, optimum: float, source: int) -> SearchView:
    assert run.trace is not None
    events, last_closed = replay.encode(run.trace, source)
    excess = 0.0 if run.cost == optimum else run.cost / optimum - 1 if optimum > 0 else float("inf")
    return SearchView(
        method=name,
        algorithm=method.words,
        kind=method.kind,
        status=str(run.status),
        cost=run.cost,
        excess=excess,
        expanded=run.expanded,
        generated=run.generated,
        reopened=run.reopened,
        iterations=len(run.trace),
        last_closed=last_closed,
        path=run.path.astype("<i4").tobytes(),
        events=events,
    )


def _extremes(instances: InstanceSet, most: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and largest finite weight of each edge over some snapshots."""
    rows = np.unique(instances.rows)
    low = np.full(instances.graph.m, np.inf)
    high = np.zeros(instances.graph.m)
    for row in rows[np.linspace(0, rows.size - 1, min(rows.size, most)).astype(int)]:
        weights = np.asarray(instances.weights[row], dtype=np.float64)
        np.minimum(low, weights, out=low)
        np.maximum(high, np.where(np.isfinite(weights), weights, 0.0), out=high)
    return np.where(np.isfinite(low), low, 0.0), high
