"""The section that plays searches back: chooses the instances and stores their searches."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from string import Template
from typing import Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._summary import NO_UNIT, Costs
from rhostar.heuristics import ChosenByWeights
from rhostar.instances import Instance, InstanceSet
from rhostar.learners import Potentials
from rhostar.report import _encoding as encoding
from rhostar.report._encoding import Drawing
from rhostar.report._layout import LANDMARKS
from rhostar.report._method import Method
from rhostar.report._section import Chart, Kind, Section, template
from rhostar.report._wording import label
from rhostar.search import Run, Runs

REPLAY_BYTES = 1_500_000
"""The most bytes that the searches of a page may take, before base64 turns three bytes into four."""

_NAMES = 5000  # graphs up to this size have all their labels on the page


@dataclass(frozen=True)
class SearchView:
    """One search of a replay, encoded in a few bytes per event (see _encoding.py)."""

    method: str
    algorithm: str
    kind: Kind
    status: str
    cost: float
    excess: float
    expanded: int
    reopened: int
    last_closed: bool
    """Whether the vertex selected last was closed; not if the search returned in the middle of an iteration."""
    events: bytes


@dataclass(frozen=True)
class Scene:
    """One instance and the searches on it."""

    label: str
    source: int
    goal: int
    shade: bytes
    """How slow each cell or edge is on this instance: 0..254, and 255 if blocked or absent."""
    searches: tuple[SearchView, ...]
    left_out: tuple[str, ...] = ()
    """Searches too long to be stored."""


@dataclass(frozen=True)
class OwnQuery:
    """What the page needs to answer a query of the reader's own: the graph, today's weights, and the methods."""

    counts: bytes
    heads: bytes
    weights: NDArray[np.float64]
    methods: tuple[tuple[str, str, NDArray[np.float64] | None], ...]
    """Name, label, and the weights whose distances are the heuristic; None for a search without one."""


@dataclass(frozen=True)
class Replay(Section):
    """The searches that the page plays back."""

    name: ClassVar[str] = "replay"
    title: ClassVar[str] = "Replay"
    heading: ClassVar[str] = "Watch the searches"
    scripts: ClassVar[tuple[str, ...]] = ("search.js", "replay.js")

    drawing: Drawing
    scenes: tuple[Scene, ...]
    labels: Mapping[int, str] = field(default_factory=dict)
    """Labels of vertices, if there are any: of all vertices on small graphs, else of starts and goals."""
    costs: Costs = NO_UNIT
    own: OwnQuery | None = None

    def body(self, chart: Chart) -> str:
        """Return the two panels and their controls."""
        panel = Template(template("panel.html"))
        sides = (("a", "Left"), ("b", "Right"))
        panels = "\n".join(panel.substitute(side=side, which=which) for side, which in sides)
        again = any(search.reopened for scene in self.scenes for search in scene.searches)
        what = "darker a cell" if self.drawing.kind == "grid" else "heavier a line"
        slow = "slower" if self.costs.best == "the fastest route" else "costlier"
        ground = f"The {what}, the {slow} it is in this query."
        if self.drawing.placed_by == "steps":
            ground += (
                " The network has no coordinates: vertices are placed by their steps to"
                f" {LANDMARKS} landmarks, so that near in the network is near in the picture."
            )
        return Template(template("replay.html")).substitute(panels=panels, ground=ground, again="" if again else "none")

    def data(self) -> dict[str, Any]:
        """Return the drawing and the searches."""
        drawn = {name: value for name, value in asdict(self.drawing).items() if name != "placed_by"}
        searches = self.scenes[0].searches
        learned = [i for i, s in enumerate(searches) if s.kind == "learned"]
        return {
            "unit": self.costs.unit,
            "best": self.costs.best,
            "above": self.costs.above,
            "labels": {str(v): label for v, label in self.labels.items()},
            "start": [0, learned[0] if learned else len(searches) - 1],
            "drawing": {name: _base64(x) if isinstance(x, bytes) else x for name, x in drawn.items()},
            "own": None if self.own is None else _own_data(self.own),
            "scenes": [
                {
                    "label": scene.label,
                    "source": scene.source,
                    "goal": scene.goal,
                    "shade": _base64(scene.shade),
                    "leftOut": list(scene.left_out),
                    "searches": [
                        {
                            "method": s.method,
                            "label": label(s.method, s.algorithm, s.kind),
                            "status": s.status,
                            "cost": s.cost if math.isfinite(s.cost) else None,
                            "excess": s.excess if math.isfinite(s.excess) else None,
                            "lastClosed": s.last_closed,
                            "events": _base64(s.events),
                        }
                        for s in scene.searches
                    ],
                }
                for scene in self.scenes
            ],
        }


def pick(baseline: Runs, hero: Runs, scenes: int) -> list[tuple[str, int]]:
    """Return the instances to replay: a typical one, the worst and the best, by the saving over the baseline."""
    saving = baseline.expanded / np.maximum(hero.expanded, 1)
    order = np.argsort(saving, kind="stable")
    both = [i for i in order.tolist() if hero.solved[i]] or order.tolist()
    wanted = [
        ("typical query: median saving", both[len(both) // 2]),
        ("worst query: smallest saving", both[0]),
        ("best query: greatest saving", both[-1]),
    ]
    wanted += [(f"{q} % of queries save less", both[int(q / 100 * (len(both) - 1))]) for q in (25, 75, 10, 90)]
    found: list[tuple[str, int]] = []
    for words, i in wanted:
        if len(found) < scenes and i not in [j for _, j in found]:
            found.append((words, i))
    return found


def play(
    instances: InstanceSet,
    methods: Mapping[str, Method],
    optimum: NDArray[np.float64],
    picked: Sequence[tuple[str, int]],
    budget: int | None,
    costs: Costs,
    geographic: bool,
) -> Replay | None:
    """Return the searches of all methods on the picked instances, as many as there is room for."""
    graph = instances.graph
    if graph.shape is None and 4 * graph.n > REPLAY_BYTES:  # the places alone would not fit
        return None
    drawing = encoding.drawing(graph, geographic=geographic)
    lightest, heaviest = _extremes(instances)
    left = REPLAY_BYTES - len(drawing.x) - len(drawing.y) - len(drawing.edges)
    scenes: list[Scene] = []
    for words, i in picked:
        instance = instances[i]
        shade = encoding.shade(instance, lightest, heaviest)
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
        scenes.append(Scene(words, instance.source, instance.goal, shade, tuple(searches), tuple(too_long)))
    if not scenes:
        return None
    labels: dict[int, str] = {}
    if graph.labels is not None:
        ends = {v for scene in scenes for v in (scene.source, scene.goal)}
        shown = range(graph.n) if graph.n <= _NAMES else sorted(ends)
        labels = {v: str(graph.labels[v]) for v in shown}
    own = _own_query(instances[picked[0][1]], methods) if drawing.kind == "graph" else None
    if own is not None and len(own.heads) + own.weights.nbytes * (1 + len(own.methods)) > left:
        own = None
    return Replay(drawing, tuple(scenes), labels, costs, own)


def _own_query(instance: Instance, methods: Mapping[str, Method]) -> OwnQuery | None:
    """Return what the page needs to search by itself; None unless a method is a distance under learned weights."""
    graph, weights = instance.graph, np.asarray(instance.weights, dtype=np.float64)
    offered: list[tuple[str, str, NDArray[np.float64] | None]] = []
    for name, method in methods.items():
        shown = label(name, method.words, method.kind)
        if method.is_dijkstra:
            offered.append((name, shown, None))
        elif method.algorithm == "astar" and method.reopen and _is_plain_distance(method.rho):
            chosen = method.rho.heuristic_
            row = chosen.which(weights) if isinstance(chosen, ChosenByWeights) else 0
            offered.append((name, shown, method.rho.weights_[row]))
    if len(offered) < 2:
        return None
    counts = np.bincount(graph.tail, minlength=graph.n).astype(np.int64)
    return OwnQuery(encoding.varints(counts), encoding.varints(graph.head.astype(np.int64)), weights, tuple(offered))


def _is_plain_distance(rho: Any) -> TypeGuard[Potentials]:
    """Return whether values are distances under learned weights and nothing else, as the page computes them."""
    return isinstance(rho, Potentials) and rho.scale == 1 and not rho.goal_delay


def _own_data(own: OwnQuery) -> dict[str, Any]:
    return {
        "counts": _base64(own.counts),
        "heads": _base64(own.heads),
        "weights": _base64(own.weights.astype("<f8").tobytes()),
        "methods": [
            {"method": name, "label": shown, "edges": None if edges is None else _base64(edges.astype("<f8").tobytes())}
            for name, shown, edges in own.methods
        ],
    }


def _search(name: str, method: Method, run: Run, optimum: float, source: int) -> SearchView:
    assert run.trace is not None
    events, last_closed = encoding.encode(run.trace, source)
    excess = 0.0 if run.cost == optimum else run.cost / optimum - 1 if optimum > 0 else float("inf")
    return SearchView(
        method=name,
        algorithm=method.words,
        kind=method.kind,
        status=str(run.status),
        cost=run.cost,
        excess=excess,
        expanded=run.expanded,
        reopened=run.reopened,
        last_closed=last_closed,
        events=events,
    )


def _extremes(instances: InstanceSet, most: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and largest finite weight of each edge over some snapshots."""
    rows = np.unique(instances._stored_rows)
    low = np.full(instances.graph.m, np.inf)
    high = np.zeros(instances.graph.m)
    for row in rows[np.linspace(0, rows.size - 1, min(rows.size, most)).astype(int)]:
        weights = np.asarray(instances._stored[row], dtype=np.float64)
        np.minimum(low, weights, out=low)
        np.maximum(high, np.where(np.isfinite(weights), weights, 0.0), out=high)
    return np.where(np.isfinite(low), low, 0.0), high


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
