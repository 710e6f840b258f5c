"""The functions build and compare: run every heuristic and collect the values that the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._summary import Costs, costs
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._comparison import Comparison, MethodView, distribution, method_view
from rhostar.report._method import Method, Timings, as_methods, quick_times
from rhostar.report._page import Report
from rhostar.report._replay import pick, play
from rhostar.report._section import Section
from rhostar.report._setting import Setting, describe
from rhostar.report._wording import count, duration, percent
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
        Further sections of the page; see :func:`rhostar.report.certificate_section`.
    scenes
        How many instances to replay: the one with the median saving, the one with the smallest, then the
        one with the greatest.
    budget
        The most expansions that one search may make.
    cost_unit
        The unit of costs, such as "min" or "km". The page then says "longer than the fastest route" or "the shortest
        route", and gives differences in this unit.
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
            raise InputError(f"sections must contain sections of rhostar.report, got {type(section).__name__}")
    options: dict[str, Any] = {"budget": budget, "n_jobs": n_jobs}
    optimum, runs = _run(instances, chosen, options)
    first = _first_baseline(chosen)
    timings = quick_times(instances, chosen, budget=budget)
    views = _views(chosen, runs, optimum, timings)
    hero = next((v for v in views if v.kind == "learned"), views[-1])
    words = costs(cost_unit)
    comparison = Comparison(
        methods=views,
        distributions=tuple(distribution(name, runs[name]) for name in chosen),
        unseen=train is None or not train.overlap(instances),
        timings=timings,
        costs=words,
    )
    picked = pick(runs[first], runs[hero.name], scenes)
    replay = play(instances, chosen, optimum, picked, budget, words, geographic) if scenes > 0 else None
    spoken = [section.in_words(words) for section in sections]
    baseline = next(v for v in views if v.name == first)
    setting = Setting((*describe(instances, train), *facts), instances.graph.fingerprint)
    return Report(
        title=title,
        lead=_lead(hero, baseline, comparison, train, words),
        tiles=_tiles(hero, baseline, instances, train, spoken, words),
        sections=(*([replay] if replay is not None else []), comparison, *spoken, setting),
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
    return _views(chosen, runs, optimum, quick_times(instances, chosen, budget=budget))


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
    methods: Mapping[str, Method], runs: Mapping[str, Runs], optimum: NDArray[np.float64], timings: Timings
) -> tuple[MethodView, ...]:
    reference = float(runs[_first_baseline(methods)].expanded.mean())
    times = {timing.name: timing.milliseconds for timing in timings.methods}
    return tuple(
        method_view(name, method, runs[name], optimum, reference, times[name]) for name, method in methods.items()
    )


# ---------------------------------------------------------------- words


def _lead(
    hero: MethodView, baseline: MethodView, comparison: Comparison, train: InstanceSet | None, words: Costs
) -> str:
    new = "new " if comparison.unseen else ""
    queries = f"On one {new}query" if hero.total == 1 else f"On {hero.total:,} {new}queries"
    if hero.excess_max <= 0:
        quality = f"Every answer is {words.best}."
    else:
        quality = f"Its answers are {percent(hero.excess)} {words.above} on average."
    if hero.solved < hero.total:
        quality += f" It answers {hero.solved:,} of them within the budget."
    if hero.name == baseline.name:
        work = (
            f"{hero.name} searches {count(hero.expansions)} vertices and takes {duration(hero.milliseconds)} on average"
        )
        return f"{queries}, {work}. {quality}"
    origin = f", learned from {len(train):,} solved queries," if train is not None and hero.kind == "learned" else ""
    times = f"{duration(hero.milliseconds)} instead of {duration(baseline.milliseconds)} a query"
    times_fewer = f"{hero.saving:.1f} times fewer" if hero.saving >= 1 else f"{1 / hero.saving:.1f} times as many"
    work = f"searches {times_fewer} vertices {'than' if hero.saving >= 1 else 'as'} “{baseline.name}”"
    return f"{queries}, “{hero.name}”{origin} {work} and takes {times}. {quality}"


def _tiles(
    hero: MethodView,
    baseline: MethodView,
    instances: InstanceSet,
    train: InstanceSet | None,
    sections: Sequence[Section],
    words: Costs,
) -> tuple[tuple[str, str], ...]:
    fewer = (f"{hero.saving:.1f}×", "fewer") if hero.saving >= 1 else (f"{1 / hero.saving:.1f}×", "as many")
    than = "than" if hero.saving >= 1 else "as"
    if hero.excess_max <= 0:
        quality = (percent(0.0), f"{words.above}: every answer is {words.best}")
    else:
        most = f"99 % of answers are {words.best}" if hero.excess_99 <= 0 else f"99 % within {percent(hero.excess_99)}"
        quality = (percent(hero.excess), f"{words.above} on average; {most}, the worst {percent(hero.excess_max)}")
    tiles = []
    if hero.name != baseline.name:
        tiles.append((fewer[0], f"{fewer[1]} vertices searched {than} with {baseline.name}"))
    other = "" if hero.name == baseline.name else f"; {baseline.name}: {duration(baseline.milliseconds)}"
    tiles.append((duration(hero.milliseconds), f"a query on one core{other}"))
    tiles.append(quality)
    tiles += [tile for section in sections for tile in section.tiles()]
    learned = f"learned from {len(train):,} queries, " if train is not None else ""
    tiles.append((f"{instances.graph.n:,}", f"vertices; {learned}tested on {len(instances):,}"))
    return tuple(tiles)
