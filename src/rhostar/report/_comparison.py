"""From instances and heuristics to the values of a page."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._method import Method
from rhostar.report._scenes import pick, play
from rhostar.report._view import CertificateView, Curve, Dual, Generalisation, MethodView, Report, TradeOff
from rhostar.report._wording import VERSION, count, percent, vertex_name
from rhostar.search import Rho, Runs, solve_many
from rhostar.search._rho import values_of

_THETAS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.15, 1.3, 1.6, 2.0)
_FEW = 200  # instances behind each point of a trade-off curve


def build(
    instances: InstanceSet,
    methods: Mapping[str, Any],
    *,
    title: str = "Learned heuristic values",
    train: InstanceSet | None = None,
    facts: Sequence[tuple[str, str]] = (),
    certificate: CertificateView | None = None,
    generalisation: Generalisation | None = None,
    dual: Dual | None = None,
    scenes: int = 3,
    budget: int | None = None,
    cost_unit: str = "",
    geographic: bool = False,
    n_jobs: int | None = None,
) -> Report:
    """Compare heuristics on instances none of them has seen, and gather what a page shows of it.

    Parameters
    ----------
    instances
        What the methods are compared on.
    methods
        By name: a :class:`Method`, a fitted learner (taken as learned, for A*) or an array of values
        (taken as a baseline for A*).
    title
        The page's title.
    train
        What was learned from, to be described.
    facts
        Further lines (what, value) for "What was learned, on what".
    certificate, generalisation, dual
        Sections of the page, where there are any; see :func:`rhostar.report.certificate_view`,
        :func:`rhostar.report.generalisation_curve` and :func:`rhostar.report.dual_view`.
    scenes
        How many instances to replay: the one with the median saving, the one with the least, then the
        one with the greatest.
    budget
        Most expansions of one search.
    cost_unit
        What costs are counted in, such as "min".
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
    options: dict[str, Any] = {"budget": budget, "n_jobs": n_jobs}
    optimum, runs = _run(instances, chosen, options)
    first = _first_baseline(chosen)
    views = _views(chosen, runs, optimum)
    hero = next((v for v in views if v.kind == "learned"), views[-1])
    picked = pick(runs[first], runs[hero.name], scenes)
    return Report(
        title=title,
        lead=_lead(hero, first, train),
        tiles=_tiles(hero, first, instances, train, certificate),
        facts=(*_facts(instances, train), *facts),
        methods=views,
        tradeoffs=tuple(_trade_offs(instances, chosen, optimum, options)),
        distributions=tuple(_distribution(name, runs[name]) for name in chosen),
        certificate=certificate,
        generalisation=generalisation,
        dual=dual,
        replay=play(instances, chosen, optimum, picked, budget, cost_unit, geographic) if scenes > 0 else None,
        provenance=_provenance(instances),
        cost_unit=cost_unit,
    )


def compare(
    instances: InstanceSet, methods: Mapping[str, Any], *, budget: int | None = None, n_jobs: int | None = None
) -> tuple[MethodView, ...]:
    """Return how each method does on the instances: the numbers of :func:`build` without a page.

    Parameters and errors are those of :func:`build`.

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


def as_methods(instances: InstanceSet, methods: Mapping[str, Any]) -> dict[str, Method]:
    """Return what was given as methods, or raise :class:`InputError`."""
    if not isinstance(instances, InstanceSet) or len(instances) == 0:
        raise InputError("instances must be an InstanceSet with at least one instance")
    found = {}
    for name, given in methods.items():
        method = given
        if not isinstance(given, Method):
            method = Method(given, kind="learned" if hasattr(given, "rho_") else "baseline")
        if method.algorithm not in ("astar", "gbfs") or method.kind not in ("baseline", "learned"):
            raise InputError(
                f"method {name!r} must be for 'astar' or 'gbfs' and 'baseline' or 'learned', got {method!r}"
            )
        found[str(name)] = method
    if not found:
        raise InputError("methods must name at least one heuristic")
    return found


def _run(
    instances: InstanceSet, methods: Mapping[str, Method], options: Mapping[str, Any]
) -> tuple[NDArray[np.float64], dict[str, Runs]]:
    optimum = solve_many(instances, np.zeros(instances.graph.n), n_jobs=options["n_jobs"]).cost
    runs = {
        name: solve_many(instances, m.rho, algorithm=m.algorithm, reopen=m.reopen, **options)
        for name, m in methods.items()
    }
    return optimum, runs


def _first_baseline(methods: Mapping[str, Method]) -> str:
    return next((name for name, m in methods.items() if m.kind == "baseline"), next(iter(methods)))


def _views(
    methods: Mapping[str, Method], runs: Mapping[str, Runs], optimum: NDArray[np.float64]
) -> tuple[MethodView, ...]:
    reference = float(runs[_first_baseline(methods)].expanded.mean())
    return tuple(_view(name, method, runs[name], optimum, reference) for name, method in methods.items())


# ---------------------------------------------------------------- numbers


def _excess(runs: Runs, optimum: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cost / optimum - 1 of the solved runs; 0 where both are 0, so never below 0."""
    cost, best = runs.cost[runs.solved], optimum[runs.solved]
    excess = np.where(cost > 0, np.inf, 0.0)
    np.divide(cost - best, best, out=excess, where=best > 0)
    return excess


def _view(name: str, method: Method, runs: Runs, optimum: NDArray[np.float64], reference: float) -> MethodView:
    excess = _excess(runs, optimum)
    mean, high, worst = (float(f(excess)) for f in (np.mean, _high, np.max)) if excess.size else (np.nan,) * 3
    expansions = float(runs.expanded.mean())
    return MethodView(
        name=name,
        algorithm=method.words,
        kind=method.kind,
        expansions=expansions,
        expansions_95=_high(runs.expanded),
        excess=mean,
        excess_95=high,
        excess_max=worst,
        solved=int(runs.solved.sum()),
        total=len(runs),
        saving=reference / expansions if expansions > 0 else np.inf,
    )


def _high(values: NDArray[Any]) -> float:
    return float(np.quantile(values, 0.95, method="inverted_cdf"))


def _distribution(name: str, runs: Runs) -> Curve:
    values, counts = np.unique(runs.expanded, return_counts=True)
    share = np.cumsum(counts) / counts.sum()
    if values.size > 200:  # a line needs no more points than pixels
        kept = np.unique(np.searchsorted(share, np.linspace(0, 1, 200)).clip(0, values.size - 1))
        values, share = values[kept], share[kept]
    return Curve(name, tuple(np.maximum(values, 1).astype(float).tolist()), tuple(share.tolist()))


def _trade_offs(
    instances: InstanceSet, methods: Mapping[str, Method], optimum: NDArray[np.float64], options: dict[str, Any]
) -> list[TradeOff]:
    """Return, for the values learned for A*, what scaling them would do: 0 is Dijkstra's algorithm."""
    few, best = instances[:_FEW], optimum[:_FEW]
    found = []
    for name, method in methods.items():
        if method.algorithm != "astar" or method.kind != "learned":
            continue
        points = []
        for theta in _THETAS:
            runs = solve_many(few, _scaled(method.rho, few, theta), reopen=method.reopen, **options)
            excess = _excess(runs, best)
            points.append((theta, float(runs.expanded.mean()), float(excess.mean()) if excess.size else np.nan))
        thetas, expansions, excesses = zip(*points, strict=True)
        found.append(TradeOff(name, method.kind, thetas, expansions, excesses))
    return found


def _scaled(rho: Rho, instances: InstanceSet, theta: float) -> Rho:
    values = values_of(rho, instances.graph)
    if isinstance(values, Mapping):
        return {goal: theta * np.asarray(own) for goal, own in values.items()}
    return theta * np.asarray(values)


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
    certificate: CertificateView | None,
) -> tuple[tuple[str, str], ...]:
    within = f"95 % of paths within {percent(hero.excess_95)}"
    most = "at least 95 % of paths optimal" if hero.excess_95 <= 0 else within
    tiles = [
        (f"{hero.saving:.1f}×", f"fewer expansions than {baseline}"),
        (percent(hero.excess), f"above the optimum on average; {most}"),
    ]
    if certificate is not None and certificate.bounds and not certificate.bounds[0].vacuous:
        best = certificate.bounds[0]
        sign = "≤" if certificate.lower_is_better else "≥"
        sure = f"{100 * (1 - certificate.delta):g} %"
        tiles.append((f"{sign} {best.value:.3g}", f"{certificate.utility} promised on unseen instances, {sure} sure"))
    learned = f"learned from {len(train):,} instances, " if train is not None else ""
    tiles.append((f"{instances.graph.n:,}", f"vertices; {learned}tested on {len(instances):,}"))
    return tuple(tiles)


def _facts(instances: InstanceSet, train: InstanceSet | None) -> list[tuple[str, str]]:
    graph = instances.graph
    grid = f", a grid of {graph.shape[0]} × {graph.shape[1]}" if graph.shape is not None else ""
    facts = [("graph", f"{graph.n:,} vertices, {graph.m:,} edges{grid}")]
    if train is not None:
        facts.append(("learned from", f"{len(train):,} instances on {np.unique(train.rows).size:,} snapshots"))
    facts.append(("compared on", f"{len(instances):,} instances on {np.unique(instances.rows).size:,} snapshots"))
    if train is not None and train.overlap(instances):
        facts.append(("seen before", f"{instances.overlap(train):,} of the instances compared on were learned from"))
    goals = np.unique(instances.goals)
    facts.append(("goals", str(goals.size) if goals.size > 1 else vertex_name(instances, int(goals[0]))))
    sources = np.unique(instances.sources)
    facts.append(("starts", f"{sources.size:,}" if sources.size > 1 else vertex_name(instances, int(sources[0]))))
    return facts


def _provenance(instances: InstanceSet) -> tuple[tuple[str, str], ...]:
    return (
        ("rhostar", VERSION),
        ("Python, numpy", f"{platform.python_version()}, {np.__version__}"),
        ("hash of the graph", instances.graph.fingerprint),
    )
