"""The command ``demo``: learns, compares, certifies and routes on a generated city, and writes a report."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Annotated

import typer

import rhostar as rs
from rhostar.cli._app import app
from rhostar.cli._output import WIDTH, Json, emit, table, working

_EXACT, _LEARNED = "A*, learned, exact", "A*, learned"
_LIMIT = 10.0  # minutes: the most that a bad answer can count, fixed before anything is drawn
_DELTA = 0.05


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder for the page.")] = Path("demo"),
    size: Annotated[int, typer.Option(help="About how many crossings the city has.", min=100, max=40_000)] = 3600,
    train: Annotated[int, typer.Option(help="Trips to learn from.", min=20)] = 300,
    test: Annotated[int, typer.Option(help="New trips to compare on.", min=100)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the city and its traffic.", min=0)] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")] = 2,
    json: Json = False,
) -> None:
    """Learn, certify and route on a generated city; write a page.

    Nothing is downloaded. Travel times vary by hour, by district and at random; some roads are closed. The demo
    learns heuristic values from past trips, for A* and for greedy search. It compares them on new trips with
    Dijkstra's algorithm, the Euclidean distance and landmarks, and certifies one of them. Then a router takes a day of
    travel times, one update every 15 minutes, and answers queries on them.

    Example: rhostar demo --size 2500
    """
    from rhostar.cli._demo_day import HEAD, spend_day

    began = time.perf_counter()
    with working("building a city and its traffic", quiet=json):
        city = _city(size, seed)
        past, new = city.draw(train, seed=seed + 1), city.draw(test, seed=seed + 2)
    with working(f"learning from {train:,} trips", quiet=json):
        methods = _methods(city, past, jobs)
    with working("routing through a day of updates", quiet=json):
        day = spend_day(city, seed + 3)
    with working(f"certifying and comparing on {test:,} new trips", quiet=json):
        # A road may be closed, but never faster than free: fixed before anything is measured.
        exact, learned = (
            rs.certify(
                methods[name].rho, new, rs.utilities.Suboptimality(_LIMIT), lower=city.edge_bounds[0], delta=_DELTA
            )
            for name in (_EXACT, _LEARNED)
        )
        certificate = rs.report.certificate_section(learned, method=_LEARNED, also={_EXACT: exact})
        page = rs.report.build(
            new,
            methods,
            title="A city in the rush hour",
            train=past,
            facts=[("The traffic", city.law)],
            sections=[certificate, day],
            cost_unit="min",
            n_jobs=jobs,
        )
    with working("writing the page", quiet=json):
        path = rs.report.write(page, folder / "report.html")
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
        *(textwrap.fill(guarantee.sentence, WIDTH) for guarantee in page["certificate"].guarantees),
        textwrap.fill(day.sentences[0], WIDTH),
        table(list(HEAD), day.rows),
        textwrap.fill(day.sentences[1], WIDTH),
        f"The page, with the searches to watch: {path} ({time.perf_counter() - began:.0f} s)",
    ]
    keys = ("name", "algorithm", "expansions", "saving", "excess", "excess_99", "excess_max")
    found = {
        "page": str(path),
        "bytes": path.stat().st_size,
        "seconds": time.perf_counter() - began,
        "exact": exact.best.sentence,
        "guarantee": certificate.sentence,
        "day": day.sentences,
        "methods": [{key: getattr(m, key) for key in keys} for m in page.methods],
    }
    emit(found, json, "\n".join(text))


def _city(size: int, seed: int) -> rs.datasets.City:
    """Return a city whose goal is at the edge, so that trips cross all of it."""
    from rhostar.datasets import city

    made = city(size, seed=seed)
    assert made.graph.coordinates is not None
    return made.towards(int(made.graph.coordinates.sum(axis=1).argmax()))


def _methods(city: rs.datasets.City, past: rs.InstanceSet, jobs: int) -> dict[str, rs.report.Method]:
    import numpy as np

    # No road is faster than its free speed: this is known beforehand, not learned from the trips.
    step = rs.heuristics.euclidean(city.graph, city.goal)
    length = city.graph.length
    assert length is not None
    fastest = float((city.edge_bounds[0] / length).min())
    return {
        "Dijkstra": rs.report.Method(np.zeros(city.graph.n)),
        "A*, Euclidean distance": rs.report.Method(step * fastest),
        "A*, 16 landmarks": rs.report.Method(rs.learners.Landmarks(16, random_state=0).fit(past)),
        _EXACT: rs.report.Method(rs.learn(past, lower=city.edge_bounds[0]), kind="learned"),
        _LEARNED: rs.report.Method(rs.learners.InconsistencyLP(3.0, n_jobs=jobs).fit(past), kind="learned"),
        "A*, learned, bolder": rs.report.Method(rs.learners.MeanDistance(n_jobs=jobs).fit(past), kind="learned"),
        "A*, learned, any goal": rs.report.Method(rs.learners.Potentials(n_clusters=8).fit(past), kind="learned"),
        "greedy, Euclidean distance": rs.report.Method(step, "gbfs"),
        "greedy, learned": rs.report.Method(
            rs.learners.SelfImitatedRanking(random_state=0, n_jobs=jobs).fit(past), "gbfs", kind="learned"
        ),
    }
