"""The functions build and compare: run every heuristic and collect the values that the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._comparison import Comparison, MethodView, distribution, method_view, trade_offs
from rhostar.report._method import Method, as_methods
from rhostar.report._page import Report
from rhostar.report._scenes import pick, play
from rhostar.report._section import Section
from rhostar.report._setting import Setting, describe
from rhostar.report._wording import count, percent
from rhostar.search import Runs, solve_many


def build(
    instances: InstanceSet,
    methods: Mapping[str, Any],
    *,
    title: str = "Learned heuristic values",
    train: InstanceSet | None = None,
    facts: Sequence[tuple[str, str]] = (),
    sections: Sequence[Section] = (),
    scenes: int = 3,
    budget: int | None = None,
    cost_unit: str = "",
    geographic: bool = False,
    n_jobs: int | None = None,
) -> Report:
    """Compare heuristics on instances that none of them has seen, and collect what the page shows.

    Parameters
    ----------
    instances
        The instances to compare on.
    methods
        By name: a :class:`Method`, a fitted learner (shown as learned, for A*) or an array of values
        (shown as a baseline, for A*).
    title
        The page's title.
    train
        The training instances, which the page describes.
    facts
        Further lines (name, value) for the section on the data.
    sections
        Further sections of the page; see :func:`rhostar.report.certificate_section` and
        :func:`rhostar.report.learning_section`.
    scenes
        How many instances to replay: the one with the median saving, the one with the least, then the
        one with the greatest.
    budget
        The most expansions that one search may make.
    cost_unit
        The unit of costs, such as "min".
    geographic
        Whether coordinates are (longitude, latitude) in degrees.
    n_jobs
        As for :func:`rhostar.solve_many`.

    Returns
    -------
    Report
        For :func:`rhostar.report.write`.

    Raises
    ------
    InputError
        If there are no instances or methods, or a method's values do not fit the graph.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(40, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> report = rs.report.build(instances, {
    ...     "Dijkstra": np.zeros(graph.n),
    ...     "Euclid": rs.heuristics.euclidean(graph, graph.n - 1)})
    >>> [(m.name, round(m.expansions, 1), m.excess) for m in report.methods]
    [('Dijkstra', 399.0, 0.0), ('Euclid', 396.0, 0.0)]
    """
    chosen = as_methods(instances, methods)
    for section in sections:
        if not isinstance(section, Section):
            raise InputError(f"sections must hold sections of rhostar.report, got {type(section).__name__}")
    options: dict[str, Any] = {"budget": budget, "n_jobs": n_jobs}
    optimum, runs = _run(instances, chosen, options)
    first = _first_baseline(chosen)
    views = _views(chosen, runs, optimum)
    hero = next((v for v in views if v.kind == "learned"), views[-1])
    comparison = Comparison(
        methods=views,
        tradeoffs=tuple(trade_offs(instances, chosen, optimum, options)),
        distributions=tuple(distribution(name, runs[name]) for name in chosen),
        unseen=train is None or not train.overlap(instances),
    )
    picked = pick(runs[first], runs[hero.name], scenes)
    replay = play(instances, chosen, optimum, picked, budget, cost_unit, geographic) if scenes > 0 else None
    setting = Setting((*describe(instances, train), *facts), instances.graph.fingerprint)
    return Report(
        title=title,
        lead=_lead(hero, first, train),
        tiles=_tiles(hero, first, instances, train, sections),
        sections=(*([replay] if replay is not None else []), comparison, *sections, setting),
    )


def compare(
    instances: InstanceSet, methods: Mapping[str, Any], *, budget: int | None = None, n_jobs: int | None = None
) -> tuple[MethodView, ...]:
    """Return how each method does on the instances: the numbers that :func:`build` shows, without a page.

    Parameters
    ----------
    instances
        The instances to compare on.
    methods
        By name: a :class:`Method`, a fitted learner or an array of values, as for :func:`build`.
    budget
        The most expansions that one search may make.
    n_jobs
        As for :func:`rhostar.solve_many`.

    Returns
    -------
    tuple of MethodView
        In the order of the methods.

    Raises
    ------
    InputError
        If there are no instances or methods, or a method's values do not fit the graph.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 20], goal=399)
    >>> rs.report.compare(instances, {"Dijkstra": np.zeros(400)})[0].expansions
    399.0
    """
    chosen = as_methods(instances, methods)
    optimum, runs = _run(instances, chosen, {"budget": budget, "n_jobs": n_jobs})
    return _views(chosen, runs, optimum)


def _run(
    instances: InstanceSet, methods: Mapping[str, Method], options: Mapping[str, Any]
) -> tuple[NDArray[np.float64], dict[str, Runs]]:
    """Return the optimal costs and the runs of every method."""
    runs = {
        name: solve_many(instances, m.rho, algorithm=m.algorithm, reopen=m.reopen, **options)
        for name, m in methods.items()
    }
    # Dijkstra's algorithm finds the optimum; if it is among the methods, it need not run again.
    dijkstra = next((name for name, m in methods.items() if options["budget"] is None and m.is_dijkstra), None)
    if dijkstra is not None:
        return runs[dijkstra].cost, runs
    return solve_many(instances, np.zeros(instances.graph.n), n_jobs=options["n_jobs"]).cost, runs


def _first_baseline(methods: Mapping[str, Method]) -> str:
    return next((name for name, m in methods.items() if m.kind == "baseline"), next(iter(methods)))


def _views(
    methods: Mapping[str, Method], runs: Mapping[str, Runs], optimum: NDArray[np.float64]
) -> tuple[MethodView, ...]:
    reference = float(runs[_first_baseline(methods)].expanded.mean())
    return tuple(method_view(name, method, runs[name], optimum, reference) for name, method in methods.items())


# ---------------------------------------------------------------- words


def _lead(hero: MethodView, baseline: str, train: InstanceSet | None) -> str:
    origin = f" learned from {len(train):,} solved instances" if train is not None else ""
    quality = (
        "and every path is optimal"
        if hero.excess_max <= 0
        else f"on paths {percent(hero.excess)} above the optimum on average"
    )
    if hero.name == baseline:
        return f"{hero.algorithm} with {hero.name} expands {count(hero.expansions)} vertices on average, {quality}."
    if hero.saving >= 1:
        work = f"does the work of {baseline} with {hero.saving:.1f} times fewer expansions"
    else:
        work = f"needs {1 / hero.saving:.1f} times as many expansions as {baseline}"
    return f"On {hero.total:,} unseen instances, {hero.algorithm} with values{origin} {work}, {quality}."


def _tiles(
    hero: MethodView,
    baseline: str,
    instances: InstanceSet,
    train: InstanceSet | None,
    sections: Sequence[Section],
) -> tuple[tuple[str, str], ...]:
    within = f"95 % of paths within {percent(hero.excess_95)}"
    most = "at least 95 % of paths optimal" if hero.excess_95 <= 0 else within
    tiles = [
        (f"{hero.saving:.1f}×", f"fewer expansions than {baseline}"),
        (percent(hero.excess), f"above the optimum on average; {most}"),
    ]
    tiles += [tile for section in sections for tile in section.tiles()]
    learned = f"learned from {len(train):,} instances, " if train is not None else ""
    tiles.append((f"{instances.graph.n:,}", f"vertices; {learned}tested on {len(instances):,}"))
    return tuple(tiles)
