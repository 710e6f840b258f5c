"""What the page says: units everywhere, measured times with their noise, subsets, and a guarantee for every goal."""

import re
from dataclasses import replace

import numpy as np
import pytest

import rhostar as rs
from rhostar.certificates._summary import costs
from rhostar.report._guarantee import Guarantee
from rhostar.report._method import Timing, Timings, quick_times
from rhostar.report._page import render
from rhostar.report._wording import duration
from support.reports import certificate, full_report, small_set


def shown(text: str) -> str:
    """Return the words of a page: no markup, no scripts, spaces as one."""
    text = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", text).replace("\u00a0", " ").replace("&lt;", "<").split())


# ---------------------------------------------------------------- promises


def test_a_guarantee_in_the_unit_of_the_page() -> None:
    guarantee = Guarantee((certificate(value=4.745, limit=600.0, observed=1.5),), costs=costs("s"))
    assert guarantee.tile == (
        "≤ 4.75 s",
        "longer than the fastest route, on average, A* to goal 5 with reopening (values above 600 s count as 600 s; "
        "none did); guaranteed on new instances drawn as these were with probability at least 0.95",
    )
    assert guarantee.sentence == (
        "On average, answers of A* to goal 5 with reopening are at most 4.75 s longer than the fastest route (measured "
        "1.5 s; values above 600 s count as 600 s; none did) on new instances drawn as these were, with probability at "
        "least 0.95."
    )
    kilometers = replace(guarantee, costs=costs("km"))
    assert "at most 4.75 km longer than the shortest route" in kilometers.sentence
    assert "at most 4.75 costlier than the best route" in replace(guarantee, costs=costs("")).sentence


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 2.0001, 1e-7])
def test_numbers_are_rounded_away_from_what_was_measured(value: float) -> None:
    for side, better in (("upper", 1), ("lower", -1)):
        guarantee = Guarantee((certificate(value=value, side=side),))
        number = float(re.search(r"at (?:most|least) ([\d.e-]+)", guarantee.sentence).group(1))
        assert better * (number - value) >= 0
        assert float(guarantee.tile[0][2:]) == number


def test_several_goals_are_all_spoken_of() -> None:
    rows = tuple(
        certificate(value=v, goal=g, delta=0.05 / 3, goals=f"to goal {g}") for g, v in ((7, 1.0), (9, 3.0), (12, 2.0))
    )
    guarantee = Guarantee(rows, costs=costs("min"))
    for depot, value in ((7, 1), (9, 3), (12, 2)):
        assert re.search(rf"of A\* to goal {depot} with reopening are at most {value} min longer", guarantee.sentence)
    assert guarantee.sentence.endswith("with probability at least 0.95, for all of them at once.")
    assert guarantee.tile[0] == "≤ 3 min", "the weakest"
    assert ", for each goal" in guarantee.tile[1]
    many = Guarantee(tuple(replace(rows[k % 3], goal=k) for k in range(7)))
    assert "This is the weakest of 7 guarantees, one for each goal." in many.sentence
    assert "at most 3 " in many.sentence
    together = Guarantee((certificate(goals="to goals drawn as these 3 were"),))
    assert "answers of A* to goals drawn as these 3 were with reopening are at most" in together.sentence
    name = "goal shop with café"
    shop = certificate(goal=3, category=name, goals=f"to {name}")
    limited = Guarantee((replace(shop, budget=9),))
    for text in (limited.sentence, limited.tile[1]):
        assert "A* to goal shop with café with reopening and a budget of 9 expansions" in text
    table = rs.certificates.CertificateTable((shop,), (), 0.05, "a title")
    page = render(replace(full_report(small_set()), sections=(rs.report.certificate_section(table),)))
    assert "H4 betting, goal shop with café" in shown(page)


def test_guarantees_of_other_kinds() -> None:
    certain = certificate(
        "U3", value=1e-13, delta=0.0, statistic="every", optimal=True, limit=None, clipped=None, observed=0.0,
        subject="cost above the optimum", population="on every instance",
        conditions=("no weight falls below its lower bound",),
    )  # fmt: skip
    guarantee = Guarantee((certain,), costs=costs("min"))
    assert guarantee.sentence == (
        "Every answer of A* to goal 5 with reopening is the fastest route, to within 1e-13 min of rounding, on every "
        "instance, for certain, as long as no weight falls below its lower bound."
    )
    assert guarantee.tile == (
        "always",
        "the fastest route, to within 1e-13 min of rounding, A* to goal 5 with reopening; guaranteed on every instance "
        "for certain, as long as no weight falls below its lower bound",
    )
    most = certificate(statistic="quantile", share=0.99, subject="cost above the optimum", limit=None, clipped=None)
    assert Guarantee((most,), costs=costs("h")).sentence.startswith(
        "At least 99% of the answers of A* to goal 5 with reopening are at most 0.401 h longer than the fastest route"
    )
    nothing = Guarantee((certificate(value=9.0),))
    assert nothing.tile is None
    assert nothing.sentence.startswith("Nothing is guaranteed about the mean cost above the optimum of A*")
    work = Guarantee((certificate(utility="expansions", value=81.2, limit=2000.0),))
    assert "answers of A* to goal 5 with reopening need at most 81.2 vertices searched" in work.sentence
    ratio = Guarantee((certificate(utility="ratio", value=1.01),), costs=costs("min"))
    assert "cost at most 1.01 times the cost of the fastest route" in ratio.sentence
    assert "min longer" not in ratio.sentence


def test_the_plain_guarantee_says_no_more_than_the_exact_one() -> None:
    """Every number, goal and condition of the plain sentence is in the certificate."""
    instances = small_set(count=200)
    rho = 2 * rs.heuristics.octile(instances.graph, 71)
    table = rs.certify(rho, instances, rs.utilities.Suboptimality(limit=1.0))
    section = rs.report.certificate_section(table)
    assert section.guarantee.delta == table.best.delta == 0.05
    plain = section.guarantee.sentence
    number = float(re.search(r"at most ([\d.]+)", plain).group(1))
    assert table.best.value <= number <= 1.01 * table.best.value
    assert table.best.population in plain
    assert f"values above {table.best.limit:g} count as {table.best.limit:g}" in plain
    report = rs.report.build(instances, {"Dijkstra": np.zeros(72)}, sections=[section], cost_unit="min")
    text = shown(render(report))
    assert section.sentence in text, "the exact one is on the page too"
    assert "A* to goal 71 with reopening are at most" in text


def test_guarantees_of_several_methods_are_told_apart() -> None:
    instances = small_set(count=200)
    rho = 0.9 * rs.heuristics.octile(instances.graph, 71)
    terms = {"holdout": instances, "utility": rs.utilities.Suboptimality(limit=1.0)}
    exact = rs.certify(rho, lower=instances.graph.length, **terms)
    section = rs.report.certificate_section(rs.certify(2 * rho, **terms), method="bold", also={"safe": exact})
    report = rs.report.build(instances, {"Dijkstra": np.zeros(72)}, sections=[section], cost_unit="min")
    said = [guarantee.sentence for guarantee in report["certificate"].guarantees]
    assert said[0].startswith("“safe”: Every answer of A* to goal 71 with reopening is the fastest route, to within")
    assert said[1].startswith("“bold”: On average, answers of A* to goal 71 with reopening are at most")
    text = shown(render(report))
    assert text.index(said[0]) < text.index(said[1])
    assert exact.best.sentence in text
    assert (report.tiles[2][0], report.tiles[2][1][:25]) == ("always", "“safe”: the fastest route")


# ---------------------------------------------------------------- units


def test_the_unit_is_in_every_tile_axis_and_sentence_about_costs() -> None:
    report = full_report(small_set())
    report = rs.report.build(
        small_set(),
        {"Dijkstra": np.zeros(72), "A*, learned": rs.report.Method(np.zeros(72), kind="learned")},
        sections=[replace(report["certificate"])],
        cost_unit="min",
    )
    text = shown(render(report))
    assert "longer than the fastest route (min), mean" in text
    assert "≤ 0.401 min" in text
    assert "0.2 min" in text
    for word in ("Suboptimality", "cost above the optimum", "clipped", "costlier"):
        assert word not in text
    assert report["replay"].data()["above"] == "longer than the fastest route"


def test_names_say_what_is_meant_once() -> None:
    report = full_report(small_set())
    labels = [search["label"] for search in report["replay"].data()["scenes"][0]["searches"]]
    assert labels == ["Dijkstra", "learned (A*)", "greedy (learned)"]
    text = shown(render(report))
    assert "A*, learned (A*)" not in text
    assert text.index("queries (instances)") < text.index("(expansions)")


# ---------------------------------------------------------------- times


def test_times_are_measured_and_their_noise_is_stated() -> None:
    instances = small_set()
    methods = {"Dijkstra": np.zeros(72), "octile": rs.heuristics.octile(instances.graph, 71)}
    report = rs.report.build(instances, methods)
    view = report["comparison"]
    assert [m.milliseconds for m in report.methods] == [t.milliseconds for t in view.timings.methods]
    assert all(0 < m.milliseconds < 50 for m in report.methods)
    text = shown(render(report))
    assert f"the median of {view.timings.rounds} rounds. The middle half of the rounds differed by up to" in text
    assert f"{duration(report.methods[0].milliseconds)}" in text
    assert "a query on one core" in text
    some = replace(view, timings=Timings((Timing("a", 1.0, 0.25),), 7, 5))
    assert "5 rounds on 7 of the queries. The middle half of the rounds differed by up to 25 %." in shown(
        some.body(lambda *words: "")
    )


def test_timing_takes_as_many_instances_as_there_is_time_for() -> None:
    graph = rs.Graph.grid(60, 60)
    weights = np.random.default_rng(0).uniform(1, 2, (60, graph.m))
    instances = rs.InstanceSet(graph, weights, 0, graph.n - 1)
    methods = {"Dijkstra": rs.report.Method(np.zeros(graph.n))}
    small = quick_times(instances, methods, seconds=1e-6)
    assert (small.instances, small.rounds) == (10, 5)
    assert small.methods[0].milliseconds > 0
    whole = quick_times(instances, methods, seconds=60.0)  # more than a slow machine needs
    assert (whole.instances, whole.rounds) == (60, 5)
    assert whole.spread >= 0


# ---------------------------------------------------------------- subsets, and what is folded


def test_warnings_come_before_the_codes_of_bounds_and_those_are_folded() -> None:
    text = render(full_report(small_set(), "NAME"))
    part = text[text.index('<section id="certificate"') : text.index('<section id="setting"')]
    assert (
        part.index("Warning: NAME")
        < part.index("<table")
        < part.index("<details><summary>Other bounds, for comparison")
    )
    folded = part.index("Bounds that were not computed, and why")
    assert part.rindex("<details>", 0, folded) > part.index("What the guarantee assumes")
    visible = re.sub(r"<details>.*?</details>", "", part, flags=re.DOTALL)
    assert "no use" not in visible, "another bound"
    assert "Theorem 4" not in visible


def test_an_exact_method_is_called_exact() -> None:
    instances = small_set()
    rho = rs.heuristics.octile(instances.graph, 71)
    report = rs.report.build(
        instances, {"Dijkstra": np.zeros(72), "mine": rs.report.Method(rho, kind="learned")}, cost_unit="s"
    )
    assert report.methods[1].excess_max == 0
    assert report.lead.endswith("Every answer is the fastest route.")
    assert ("0 %", "longer than the fastest route: every answer is the fastest route") in report.tiles
    wrong = rs.report.build(
        instances, {"Dijkstra": np.zeros(72), "mine": rs.report.Method(5 * rho, kind="learned")}, cost_unit="s"
    )
    assert "Every answer" not in wrong.lead
    assert "longer than the fastest route on average" in wrong.lead


def test_more_work_than_the_baseline_is_not_called_fewer() -> None:
    instances = small_set()
    rho = rs.heuristics.octile(instances.graph, 71)
    report = rs.report.build(instances, {"octile": rho, "mine": rs.report.Method(np.zeros(72), kind="learned")})
    assert report.methods[1].saving < 1
    assert re.search(r"“mine” searches 1\.\d times as many vertices as “octile”", report.lead)
    assert "as many vertices searched as with octile" in report.tiles[0][1]
