"""The command ``demo``: learns, compares and certifies on a generated city, and writes a report."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, table, working

if TYPE_CHECKING:
    from rhostar.datasets import City
    from rhostar.instances import InstanceSet
    from rhostar.report import Method

_EXACT, _LEARNED = "A*, learned, exact", "A*, learned"
_LIMIT = 10.0  # minutes: the most that a bad answer can count, fixed before anything is drawn
_DELTA = 0.05
_SIZES = (2, 5, 10, 20, 50, 100, 300)
_HELD = (100, 200, 500, 1000)
_DUAL = 20  # trips behind the plot of the dual function
_PRICE = 1000  # vertices: what it weighs an extra minute on the road


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder for the page and its figures.")] = Path(
        "demo"
    ),
    size: Annotated[int, typer.Option(help="About how many crossings the city has.", min=100, max=40_000)] = 3600,
    train: Annotated[int, typer.Option(help="Trips to learn from.", min=20)] = 300,
    test: Annotated[int, typer.Option(help="New trips to compare on.", min=100)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the city and its traffic.", min=0)] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")] = 2,
    json: Json = False,
) -> None:
    """Learn, compare and certify on a made-up city; write a page.

    Nothing is downloaded. Travel times vary by hour, by district and at random; some roads are closed. The demo
    learns heuristic values from past trips, for A* and for greedy search. It compares them on new trips with
    Dijkstra's algorithm, the Euclidean distance and landmarks, and certifies one of them.
    """
    from rhostar import report
    from rhostar.certificates import certify

    began = time.perf_counter()
    with working("building a city and its traffic", quiet=json):
        city = _city(size, seed)
        past, new = city.draw(train, seed=seed + 1), city.draw(test, seed=seed + 2)
    with working(f"learning from {train:,} trips", quiet=json):
        methods = _methods(city, past, jobs)
    with working(f"certifying and comparing on {test:,} new trips", quiet=json):
        exact = certify(methods[_EXACT].rho, holdout=new, **_terms(city))
        certificate = _certificate(city, methods[_LEARNED], past, new, exact)
        page = report.build(
            new,
            methods,
            title="A city in the rush hour",
            train=past,
            facts=[("The traffic", city.law)],
            sections=[
                certificate,
                _learning(methods, past, new),
            ],
            cost_unit="min",
            n_jobs=jobs,
        )
    with working("writing the page", quiet=json):
        path = report.write(page, folder / "report.html", figures_folder=folder / "figures")
    rows = [
        (
            m.name,
            f"{m.expansions:.0f}",
            f"{m.saving:.1f}",
            f"{100 * m.excess:.3f} %",
            *(f"{100 * share:.1f} %" for share in (m.excess_99, m.excess_max)),
        )
        for m in page.methods
    ]
    text = [
        f"{test:,} new trips in a city of {city.graph.n:,} crossings, values learned from {train:,}:",
        table(["", "expanded", "fewer", "above optimum", "99 %", "worst"], rows),
        *(line for promise in page["certificate"].promises for line in _wrapped(promise.sentence)),
        f"The page, with the searches to watch: {path} ({time.perf_counter() - began:.0f} s)",
    ]
    keys = ("name", "algorithm", "expansions", "saving", "excess", "excess_99", "excess_max")
    found = {
        "page": str(path),
        "bytes": path.stat().st_size,
        "seconds": time.perf_counter() - began,
        "exact": exact.best.sentence,
        "promise": certificate.sentence,
        "methods": [{key: getattr(m, key) for key in keys} for m in page.methods],
    }
    emit(found, json, "\n".join(text))


def _city(size: int, seed: int) -> City:
    """Return a city whose goal is at the edge, so that trips cross all of it."""
    from rhostar.datasets import city

    made = city(size, seed=seed)
    assert made.graph.coordinates is not None
    return made.towards(int(made.graph.coordinates.sum(axis=1).argmax()))


def _methods(city: City, past: InstanceSet, jobs: int) -> dict[str, Method]:
    import numpy as np

    from rhostar import heuristics, learners
    from rhostar.learners._learn import learn
    from rhostar.report import Method

    # No road is faster than its free speed: this is known beforehand, not learned from the trips.
    step = heuristics.euclidean(city.graph, city.goal)
    length = city.graph.length
    assert length is not None
    fastest = float((city.edge_bounds[0] / length).min())
    return {
        "Dijkstra": Method(np.zeros(city.graph.n)),
        "A*, Euclidean distance": Method(step * fastest),
        "A*, 16 landmarks": Method(learners.Landmarks(16, random_state=0).fit(past)),
        _EXACT: Method(learn(past, promise="optimal", weight_bounds=_known(city)), kind="learned"),
        _LEARNED: Method(learners.InconsistencyLP(3.0, n_jobs=jobs).fit(past), kind="learned"),
        "A*, learned, bolder": Method(learners.MeanDistance(n_jobs=jobs).fit(past), kind="learned"),
        "A*, learned, any goal": Method(learners.Potentials(clusters=8).fit(past), kind="learned"),
        "greedy, Euclidean distance": Method(step, "gbfs"),
        "greedy, learned": Method(
            learners.SelfImitatedRanking(random_state=0, n_jobs=jobs).fit(past), "gbfs", kind="learned"
        ),
    }


def _certificate(city: City, method: Method, past: InstanceSet, new: InstanceSet, exact: Any) -> Any:
    from rhostar import report
    from rhostar.certificates import certify

    options = _terms(city)
    found = certify(method.rho, train=past, holdout=new, **options)
    curves = report.certificate_curves(method.rho, _HELD, train=past, holdout=new, whole=found, **options)
    return report.certificate_section(found, curves=curves, method=_LEARNED, also={_EXACT: exact})


def _known(city: City) -> tuple[Any, float]:
    """Return the bounds on the weights: a road may be closed, so only the least weight is known."""
    return city.edge_bounds[0], math.inf


def _terms(city: City) -> dict[str, Any]:
    """Return what is certified, fixed before anything is measured."""
    from rhostar.utilities import Suboptimality

    return {
        "algorithm": "astar",
        "utility": Suboptimality(_LIMIT),
        "weight_bounds": _known(city),
        "delta": _DELTA,
    }


def _learning(methods: dict[str, Method], past: InstanceSet, new: InstanceSet) -> Any:
    """Return the section on learning: about the headline, or if that learns nothing from trips, about the next."""
    from rhostar import report

    headline = _learning_curve(_EXACT, methods[_EXACT], past, new)
    if headline is not None and not headline.flat:
        return report.learning_section(headline, _dual(_EXACT, methods[_EXACT], past))
    why = "" if headline is None else f"{headline.flatness} "
    return report.learning_section(
        _learning_curve(_LEARNED, methods[_LEARNED], past, new),
        _dual(_LEARNED, methods[_LEARNED], past),
        notes=[f"{why}So both plots are about “{_LEARNED}”."],
    )


def _learning_curve(name: str, method: Method, past: InstanceSet, new: InstanceSet) -> Any:
    """Return how the method of the headline does when it is learned from fewer trips; None if it has no learner."""
    from rhostar import report
    from rhostar.learners import Learner
    from rhostar.utilities import Suboptimality

    if not isinstance(method.rho, Learner):
        return None
    sizes = [size for size in _SIZES if size <= len(past)]
    return report.generalisation_curve(
        method.rho,
        past,
        new,
        sizes,
        Suboptimality(_LIMIT),
        algorithm=method.algorithm,
        reopen=method.reopen,
        most=len(past),
        name=name,
    )


def _dual(name: str, method: Method, past: InstanceSet) -> Any:
    """Return how well the headline's method does as its values grow, around the best size, in exact pieces."""
    import numpy as np

    from rhostar import evaluate, lab, report
    from rhostar.utilities import Utility

    class WorkAndDelay(Utility):
        # Larger values always save work, and sooner or later they cost time on the road: only both together have
        # a minimum.
        words = f"vertices searched, plus {_PRICE:,} for each extra minute"
        needs_optimum = True

        def raw(self, runs: Any, optimum: Any) -> Any:
            return runs.expanded + _PRICE * np.maximum(runs.cost - optimum, 0.0)

    few, both = past[:_DUAL], WorkAndDelay(limit=past.graph.n + _PRICE * _LIMIT)
    given: Any = method.rho
    values = np.asarray(getattr(given, "rho_", given))
    options: dict[str, Any] = {"algorithm": method.algorithm, "reopen": method.reopen}
    # Two looks, coarse and fine, find the range; the pieces in it are then exact.
    best, thetas = 1.0, np.linspace(0.5, 3.0, 51)
    for _ in range(2):
        seen = [evaluate(few, theta * values, both, **options)[0].mean for theta in thetas]
        best = float(thetas[int(np.argmin(seen))])
        thetas = np.linspace(best - 0.05, best + 0.05, 41)
    found = lab.dual(few, np.zeros(past.graph.n), values, best - 0.03, best + 0.03, method.algorithm, both)
    return report.dual_view(found, direction=f"“{name}” with its values times a factor θ", total=len(past))


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 80)
